"""Scores in a wide table: a line for each answer, a column for each metric, often beside the columns of raters.

A cell is a number; an empty one is an answer without a score. The answer is named by `example_id` (or the column that
is mapped to it), and by `system` and `question_id` where the table has them. A line that repeats an answer with the same
scores, as one of another rater, counts once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from longmark.errors import UnknownName, UserError
from longmark.options import named
from longmark.options.analyses import MetaevalGroups
from longmark.records import Row, Signature, Usage, sources
from longmark.records.files import BadLines, at
from longmark.records.values import Problem, folded, found, missing
from longmark.records.values import name as name_of
from longmark.records.write import of_spreadsheet
from longmark.scores.answers import ScoredParts
from longmark.scores.label_forms import columns_listed
from longmark.scores.label_values import EMPTY_CELLS, plain_value

_KEYS = ("example_id", "system", "question_id")


def wide_scores(path: Path, columns: Sequence[str], mapping: Mapping[str, str]) -> ScoredParts:
    """The scores in these columns. mapping: example_id, system and question_id -> their columns; those that the table
    does not have are left to the labels.

    UnknownName for a column that is not there; BadInput with the first lines that are wrong.
    """
    rows = list[Row]()
    seen: dict[tuple[str, str], tuple[int, tuple[float | None, ...]]] = {}
    bad = BadLines()
    names_seen: dict[str, None] = {}
    for _, record in _records(path):
        if isinstance(record, Mapping):
            names_seen.update(dict.fromkeys(map(str, record)))
    keys = _key_columns(path, names_seen, columns, mapping) if names_seen else {}
    for place, record in _records(path):
        try:
            if not isinstance(record, Mapping):
                raise Problem(f"expected named fields, found {found(record)}")
            names = {key: _name(record, column) for key, column in keys.items()}
            if not names["example_id"]:
                raise Problem(f"{keys['example_id']}: is empty")
            scores = tuple(_score(column, record.get(column)) for column in columns)
            answer = (names["example_id"], names.get("system", ""))
            earlier = seen.setdefault(answer, (place, scores))
            if earlier[0] == place:
                rows += _rows(columns, scores, names)
            elif earlier[1] != scores:
                raise Problem(
                    f"{' of '.join(filter(None, answer))} has other scores in line {earlier[0]}; "
                    f"keep one of them, or name the column of systems with "
                    f"{named('mapping', {'system': 'COLUMN'}, group=MetaevalGroups)}"
                )
        except Problem as problem:
            bad.add(at(path, place, str(problem)))
    bad.check()
    return ScoredParts(
        path,
        rows,
        facts={},
        texts={},
    )


def _records(path: Path) -> Iterator[tuple[int, Any]]:
    for place, record in sources.records(path, sources.kind_of(path)):
        if isinstance(record, sources.UnreadableRecord):
            raise UserError(at(path, place, record.message))
        yield place, record


def _key_columns(
    path: Path, names: Mapping[str, None], columns: Sequence[str], mapping: Mapping[str, str]
) -> dict[str, str]:
    listed = columns_listed(names, f" of {path}")
    for column in columns:
        if column not in names:
            option = named("scores", group=MetaevalGroups)
            raise UnknownName(
                f"column in {option}",
                column,
                names,
                listed,
            )
    folded_names = {folded(name): name for name in names}
    keys = dict[str, str]()
    for key in _KEYS:
        column = mapping.get(key, key)
        if column in names:
            keys[key] = column
        elif key in folded_names:
            keys[key] = folded_names[key]
    if "example_id" not in keys:
        option = named("mapping", {"example_id": "COLUMN"}, group=MetaevalGroups)
        raise UserError(
            f"{path}: scores need a column that names the answer; name it with {option}. {listed}"
        )
    return keys


def _name(record: Mapping[Any, Any], column: str) -> str:
    cell = of_spreadsheet(record.get(column))
    return "" if missing(cell) else (name_of(column, cell) or "").strip()


def _score(column: str, cell: Any) -> float | None:
    if missing(cell) or (isinstance(cell, str) and cell.strip().casefold() in {"", *EMPTY_CELLS}):
        return None
    value = plain_value(column, of_spreadsheet(cell))
    if isinstance(value, str):
        raise Problem(f"{column}: expected a number, found {found(cell)}")
    return value


def _rows(
    columns: Sequence[str], scores: Sequence[float | None], names: Mapping[str, str]
) -> Iterator[Row]:
    for column, score in zip(columns, scores, strict=True):
        yield Row(
            example_id=names["example_id"],
            question_id=names.get("question_id") or names["example_id"],
            system=names.get("system") or "",
            metric=column,
            score=score,
            status="undefined" if score is None else "ok",
            reason="the cell is empty" if score is None else None,
            evidence={},
            signature=Signature(),
            usage=Usage(),
        )
