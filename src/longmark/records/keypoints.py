"""Labels of key points: whether an answer of a pair has a key point of the reference (CALF, appendix B.1).

A line: pair (its id), key_point, answer (`a` or `b`), value, rater. CSV, TSV, JSON Lines, JSON or Parquet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import orjson

from longmark.errors import UserError
from longmark.records import sources
from longmark.records.files import BadLines, at
from longmark.records.pair import Side
from longmark.records.values import Problem, folded, found, missing, name

Value = Literal["totally", "partially", "wrong", "absent"]
"""Totally correct, partially correct, totally wrong, or not in the answer."""


@dataclass(frozen=True, slots=True)
class KeyPointLabel:
    """One rater's label of one key point in one answer of a pair."""

    pair: str
    key_point: str
    answer: Side
    value: Value
    rater: str

    def to_json(self) -> bytes:
        return orjson.dumps(asdict(self))

    @classmethod
    def of(cls, record: Any) -> KeyPointLabel:
        """The label of a record. Raises Problem."""
        if not isinstance(record, Mapping):
            raise Problem(f"expected named fields, found {found(record)}")
        cells = {folded(str(column)): cell for column, cell in record.items() if not missing(cell)}
        given: dict[str, str] = {}
        for field in ("pair", "key_point", "answer", "value", "rater"):
            text = (name(field, cells[field]) or "").strip() if field in cells else ""
            if not text:
                raise Problem(f"{field}: is missing")
            given[field] = text
        for field, known in (("answer", get_args(Side)), ("value", get_args(Value))):
            given[field] = given[field].casefold()
            if given[field] not in known:
                raise Problem(f"{field}: expected {' or '.join(known)}, found {found(given[field])}")
        return cls(**given)  # type: ignore[arg-type]


def read_key_points(path: str | Path) -> list[KeyPointLabel]:
    """The labels of a file. BadInput with the first lines that are wrong, among them a second label of one rater for
    the same key point and answer; UserError for a file that cannot be read or is empty."""
    path, wrong = Path(path), BadLines()
    read: dict[tuple[str, ...], KeyPointLabel] = {}
    for line, record in sources.records(path, sources.kind_of(path)):
        try:
            if isinstance(record, sources.Unreadable):
                raise Problem(record.message)
            one = KeyPointLabel.of(record)
            if read.setdefault((one.pair, one.key_point, one.answer, one.rater), one) is not one:
                raise Problem(f'{one.rater} labelled this key point of "{one.pair}" in answer {one.answer} before')
        except Problem as problem:
            wrong.add(at(path, line, str(problem)))
    wrong.check()
    if not read:
        raise UserError(f"{path} has no records; write one label of a key point per line")
    return list(read.values())
