"""Which columns of a wide table could be the ids of answers, scores and raters: for a command to paste. Nothing is read by
it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from longmark.errors import UserError
from longmark.records import sources
from longmark.records.values import Problem, folded, missing
from longmark.records.write import of_spreadsheet
from longmark.scores.label_values import plain_value

_RATER_WORDS = frozenset(
    (
        "rater",
        "raters",
        "annotator",
        "annotators",
        "expert",
        "experts",
        "reviewer",
        "reviewers",
        "grader",
        "graders",
        "labeler",
        "labeller",
        "human",
        "humans",
        "rating",
        "label",
    )
)
_ID_WORDS = frozenset(
    (
        "id",
        "item",
        "key",
        "ticket",
        "case",
        "uid",
        "uuid",
        "example",
    )
)
_NUMBER_WORDS = frozenset(
    (
        "nr",
        "no",
        "number",
    )
)
"""Of a name of ids where no column has one of `_ID_WORDS`."""
_LABEL_WORDS = frozenset(("rating", "label", "human", "humans"))
"""Those of a rater's column that say nothing of who rated."""
_SYSTEM_WORDS = frozenset(("system", "model", "build", "version", "release"))
_NO_SCORES = frozenset(
    (
        "time",
        "latency",
        "ms",
        "seconds",
        "cost",
        "price",
        "tokens",
        "year",
        "date",
        "index",
        "no",
    )
)
"""Words of the names of columns of numbers that say nothing of how good an answer is."""
_BOUNDARY = re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])")
_LOOKED_AT = 500  # records that a proposal reads
_LONGEST = 80  # characters of an id
_MOST_CLASSES = 12  # of a rater's labels in words


@dataclass(frozen=True, slots=True)
class WideColumns:
    """Which columns of a wide table could hold what. keys: example_id, and system where there is one -> column."""

    keys: Mapping[str, str]
    scores: tuple[str, ...]
    raters: tuple[str, ...]


def wide_columns(path: Path) -> WideColumns | None:
    """By the names and the first values; None where no column names the answers or none is of a rater."""
    records, cells = _first_cells(path)
    words = _words_of(cells)
    raters = [name for name in cells if words[name] & _RATER_WORDS and _are_labels(cells[name])]
    keys = _keys(records, [name for name in cells if name not in raters], words)
    if not keys or not raters:
        return None
    return WideColumns(keys, _numbers(cells, words, {*raters, *keys.values()}), tuple(raters))


def rating_columns(path: Path) -> WideColumns | None:
    """Of a file of ratings, without texts or with a column of raters: keys has `value` and, where there are several ratings
    of an answer, `rater`; where each line is an answer with several numbers, these are its raters. None where it is no
    such file."""
    records, cells = _first_cells(path)
    words = _words_of(cells)
    people = [name for name in cells if words[name] & (_RATER_WORDS - _LABEL_WORDS)]
    rater = next((name for name in people if not _is_unique_column(records, name)), "")
    keys = _keys(records, [name for name in cells if name != rater], words, rater)
    values = _numbers(cells, words, {rater, *keys.values()})
    values = tuple(name for name in values if folded(name) == "value") or values
    if not keys or not values:
        return None
    has_texts = any(
        not _are_labels(column) for name, column in cells.items() if name not in keys.values()
    )
    if has_texts and not rater:
        return None
    if len(values) > 1 and not rater:
        return WideColumns(keys, (), values)
    keys["value"] = values[0]
    if rater:
        keys["rater"] = rater
    return WideColumns(keys, (), ())


def _first_cells(path: Path) -> tuple[list[Mapping[Any, Any]], dict[str, list[Any]]]:
    """The first records, and of each column that most of them fill its cells; nothing of a file that cannot be read."""
    try:
        places = sources.records(path, sources.kind_of(path))
        first = [record for _, record in islice(places, _LOOKED_AT)]
    except UserError:  # the caller says what is wrong with the file
        return [], {}
    records = [record for record in first if isinstance(record, Mapping)]
    names = list(dict.fromkeys(str(column) for record in records for column in record))
    names = [name for name in names if "," not in name]  # a list of names could not name it
    cells = {
        name: [cell for record in records if not _is_blank(cell := record.get(name))]
        for name in names
    }
    return records, {
        name: column for name, column in cells.items() if 2 * len(column) > len(records)
    }


def _words_of(names: Iterable[str]) -> dict[str, set[str]]:
    return {name: {part.lower() for part in _BOUNDARY.split(name) if part} for name in names}


def _numbers(
    cells: Mapping[str, Sequence[Any]], words: Mapping[str, set[str]], taken: Collection[str]
) -> tuple[str, ...]:
    """The columns of numbers that could say how good an answer is."""
    return tuple(
        name
        for name, column in cells.items()
        if name not in taken
        if not words[name] & (_NO_SCORES | _ID_WORDS | _NUMBER_WORDS)
        if all(map(_is_number, column))
    )


def _keys(
    records: Sequence[Mapping[Any, Any]],
    names: Sequence[str],
    words: Mapping[str, set[str]],
    rater: str = "",
) -> dict[str, str]:
    """The column of ids, with that of systems where an id occurs once for each. rater: a column that an id occurs once
    for each of, too."""
    ids = [name for name in names if folded(name) == "example_id" or words[name] & _ID_WORDS]
    ids += [name for name in names if name not in ids and words[name] & _NUMBER_WORDS]
    systems = [name for name in names if words[name] & _SYSTEM_WORDS and name not in ids]
    for name in ids:
        if _are_unique((record.get(name), record.get(rater, "-")) for record in records):
            return {"example_id": name}
        for system in systems:
            if _are_unique(
                (record.get(name), record.get(system), record.get(rater, "-")) for record in records
            ):
                return {"example_id": name, "system": system}
    return {}


def _is_unique_column(records: Sequence[Mapping[Any, Any]], name: str) -> bool:
    return _are_unique((record.get(name),) for record in records)


def _are_unique(values: Iterable[tuple[Any, ...]]) -> bool:
    listed = list(values)
    are_names = all(
        isinstance(cell, str | int)
        and not isinstance(cell, bool)
        and 0 < len(str(cell)) <= _LONGEST
        for cells in listed
        for cell in cells
    )
    return are_names and len({*listed}) == len(listed)


def _are_labels(column: Sequence[Any]) -> bool:
    if all(map(_is_number, column)):
        return True
    are_words = all(isinstance(cell, str) and len(cell) <= _LONGEST for cell in column)
    return are_words and len({*column}) <= _MOST_CLASSES


def _is_number(cell: Any) -> bool:
    try:
        return isinstance(plain_value("", of_spreadsheet(cell)), float)
    except Problem:
        return False


def _is_blank(cell: Any) -> bool:
    return missing(cell) or (isinstance(cell, str) and not cell.strip())
