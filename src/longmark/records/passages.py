"""Tables with a row for each passage: rows of one id that differ in their passage alone are one answer.

A join of answers and passages in a database has this layout, and so have the results of open-rag-eval, which write the
answer into the first row of an answer only (github.com/vectara/open-rag-eval, data/test_csv_connector.csv).

A row continues the row before it if both have the same id in the file and one passage each (the first may have none),
and every other field is equal, or empty in one of them. Columns that are no field may differ, such as the passage's
number: `meta` then has a list of them. Those that number the times a question was answered (`epoch`, `run`) may not.
Rows of one id that are apart, or that have other answers, are refused, as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from longmark.progress import counted
from longmark.records.example import Example
from longmark.records.values import folded

MOST_PASSAGES = 10_000
"""Rows of one answer; more are refused as repeated ids."""

_APART = frozenset(
    (
        "turns",
        "context_claims",
        "claims_by_contexts",
        "reference_claims_by_contexts",
    )
)
"""Fields that say something of each passage, or that have passages of their own."""
_JOINED = frozenset(("contexts", "meta"))
_TIMES = frozenset(
    (
        "epoch",
        "run",
        "run_id",
        "repeat",
        "repetition",
        "trial",
        "attempt",
        "sample",
        "seed",
        "generation",
    )
)
"""Columns in which rows of one answer are alike: where they differ, the question was answered again."""
Record = TypeVar("Record")


class PassageRows:
    """Makes one example of the rows of an answer. rows: how many were read as further passages; answers: of how many
    answers."""

    def __init__(self) -> None:
        self.rows = 0
        self.answers = 0

    def joined(self, records: Iterable[tuple[int, Record]]) -> Iterator[tuple[int, Record]]:
        """The records, an answer's rows as one with the place of the first."""
        waiting: list[tuple[int, Record]] = []
        fields: dict[str, Any] = {}
        for line, record in records:
            if waiting and len(waiting) < MOST_PASSAGES:
                continued = _continued(fields, waiting[-1][1], record)
                if continued is not None:
                    fields = continued
                    waiting.append((line, record))
                    continue
            if waiting:
                yield self._as_one(waiting, fields)
            waiting = [(line, record)]
            fields = _fields(record) if isinstance(record, Example) else {}
        if waiting:
            yield self._as_one(waiting, fields)

    def notice(self, name: str) -> str:
        """That rows were put together; "" where none was. name: of the file."""
        if not self.rows:
            return ""
        rows = counted(self.rows, "record")
        answers = counted(self.answers, "answer")
        return (
            f"{rows} of {name} with the id of the record before, and no other answer, read as further passages of "
            f"{answers}."
        )

    def _as_one(
        self, waiting: list[tuple[int, Record]], fields: dict[str, Any]
    ) -> tuple[int, Record]:
        line, first = waiting[0]
        if len(waiting) == 1 or not isinstance(first, Example):
            return line, first
        self.rows += len(waiting) - 1
        self.answers += 1
        examples = [record for _, record in waiting if isinstance(record, Example)]
        contexts = tuple(context for example in examples for context in example.contexts)
        metas = [example.meta for example in examples]
        together = fields | {"contexts": contexts, "meta": _meta(metas)}
        return line, type(first)(**together)


def _fields(example: Example) -> dict[str, Any]:
    """The fields that a record has, but for the passage and what is kept beside."""
    return {
        name: getattr(example, name) for name in example.model_fields_set if name not in _JOINED
    }


def _continued(fields: dict[str, Any], last: object, record: object) -> dict[str, Any] | None:
    """The fields of an answer with those of a further row; None if the record is none. fields: of the rows so far;
    last: the row before."""
    if not isinstance(record, Example) or not isinstance(last, Example):
        return None
    if "id" not in record.model_fields_set or fields.get("id") != record.id:
        return None
    if len(record.contexts) != 1 or len(last.contexts) > 1:
        return None
    if record.contexts == last.contexts:  # the same row once more, or the same answer given again
        return None
    if any(record.meta.get(name) != last.meta.get(name) for name in _again(record, last)):
        return None
    further = _fields(record)
    if _APART & (fields.keys() | further.keys()):
        return None
    together = dict(fields)
    for name, value in further.items():
        if _is_empty(value):
            together.setdefault(name, value)
        elif _is_empty(fields.get(name)):
            together[name] = value
        elif fields[name] != value:
            return None
    return together


def _again(*records: Example) -> set[str]:
    """The columns of some records that number the times a question was answered."""
    return {name for record in records for name in record.meta if folded(name) in _TIMES}


def _is_empty(value: Any) -> bool:
    return value is None or value in ("", ())


def _meta(metas: list[dict[str, Any]]) -> dict[str, Any]:
    """What is kept beside the fields: a value that all rows share or one row has alone, else a list of all rows'."""
    names = dict.fromkeys(name for meta in metas for name in meta)
    together: dict[str, Any] = {}
    for name in names:
        values = [meta.get(name) for meta in metas]
        present = [value for value in values if value is not None]
        alike = all(value == present[0] for value in present)
        together[name] = present[0] if alike else values
    return together
