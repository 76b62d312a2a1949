"""The refusal of a file of which no column has a known name, with the options that would read it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from longmark.errors import UnknownColumns, UserError
from longmark.options import named
from longmark.records import paths, proposals
from longmark.records.columns import columns_shown
from longmark.records.pair import Answered
from longmark.records.recurring import recurring


def unknown_columns(
    name: str,
    count: int,
    sample: Sequence[Mapping[str, Any]],
    mapping: Mapping[str, str],
    with_mapping: Callable[[Mapping[str, str]], Iterable[Answered]],
) -> UnknownColumns:
    """That no record of a file has a known column, once. This is the only proposal for such a file: every command
    shows it. sample: the first of `count` records; mapping: as the caller gave it; with_mapping: reads the examples."""
    columns = columns_shown(dict.fromkeys(column for record in sample for column in record))
    proposed = _proposed(sample, mapping, with_mapping)
    absent = [field for field in ("question", "answer") if field not in {*mapping, *proposed}]
    option = named("mapping", {**dict.fromkeys(absent, "COLUMN"), **proposed})
    nested = [path for path in paths.known(sample[0]) if path.strip('"') not in sample[0]]
    columns += f"; in them {columns_shown(nested)}" if nested and not proposed else ""
    message = (
        f"{name}: no known column in any of {count:,} records (found {columns}); name the columns"
        + (", for example" if proposed else " with")
        + (" (COLUMN stands for one of them):" if absent else ":")
    )
    return UnknownColumns([message, f"  {option}"], proposed)


def _proposed(
    sample: Sequence[Mapping[str, Any]],
    mapping: Mapping[str, str],
    with_mapping: Callable[[Mapping[str, str]], Iterable[Answered]],
) -> dict[str, str]:
    """By the names and texts; then, where these read answers, the id of their question and their system, which only show
    in how they recur: without them two systems would be read as one."""
    fields = [field for field in proposals.FIELDS if field not in mapping]
    free = [
        {column: value for column, value in record.items() if column not in mapping.values()}
        for record in sample
    ]
    proposed = proposals.proposed(free, fields)
    whole = {**mapping, **proposed}
    if not {"question", "answer"} <= {*whole}:
        return proposed
    try:
        recurring_columns = recurring(with_mapping(whole))
    except UserError:  # the message is of the file as it was asked for
        return proposed
    unnamed = {field: path for field, path in recurring_columns.items() if field not in whole}
    return {**proposed, **unnamed}
