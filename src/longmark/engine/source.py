"""Where a run's examples come from: a file, or records and Examples that Python code hands over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from longmark.errors import UserError
from longmark.records import Example
from longmark.records.columns import BadRecord, Columns
from longmark.records.read import Bad, Checked, Good, Reading

ExampleSource = str | Path | Iterable[Example | Mapping[str, Any]]


def reading(given: ExampleSource, *, mapping: Mapping[str, str], limit: int | None, skip_bad: bool) -> Checked:
    """The examples, to be read once and to the end; `name` is for messages and the manifest."""
    if isinstance(given, str | Path):
        return Reading(given, mapping=mapping, limit=limit, skip_bad=skip_bad)
    columns = Columns(mapping)
    return Checked("records", lambda: _handed(given, columns), limit=limit, skip_bad=skip_bad)


def _handed(given: Iterable[Example | Mapping[str, Any]], columns: Columns) -> Iterator[Good | Bad]:
    """Records that are there already; a record's number takes the place of its line. UserError where there are none,
    or no record has a mapped column."""
    number = mapped = 0
    for number, record in enumerate(given, start=1):
        if isinstance(record, Example):
            yield Good(number, record)
            continue
        try:
            yield Good(number, columns.example(dict(record) if isinstance(record, Mapping) else record))
            mapped += 1
        except BadRecord as bad:
            yield Bad(number, str(bad))
    if not number:
        raise UserError("there are no examples: what was given is empty (a generator gives its records only once)")
    if mapped and columns.never_seen:
        raise UserError(f"mapping: no record has the column {', '.join(sorted(columns.never_seen))}")
