"""The refusal of a file of which no column has a known name, with the options that would read it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from longmark.errors import UnknownColumns, UserError
from longmark.options import named
from longmark.records import paths, proposals
from longmark.records.columns import columns_shown
from longmark.records.pair import Answered
from longmark.records.recurring import recurring, repeated_by_systems
from longmark.records.system_columns import a_run_for_each, columns_of_answers

_UNNAMED = re.compile(r"column_\d+")  # what a cell without a name is called (`sources`)


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
    fields = {*mapping, *proposed}
    absent = [field for field in ("question", "answer") if field not in fields]
    if is_enough(fields):
        absent = []
    option = named("mapping", {**dict.fromkeys(absent, "COLUMN"), **proposed})
    nested = [path for path in paths.known(sample[0]) if path.strip('"') not in sample[0]]
    columns += f"; in them {columns_shown(nested)}" if nested and not proposed else ""
    message = (
        f"{name}: no known column in any of {count:,} records (found {columns}); name the columns"
        + (", for example" if proposed else " with")
        + (" (COLUMN stands for one of them):" if absent else ":")
    )
    remedies = [*_systems_as_keys(sample), *_names_below(sample), *_other_sheet(name)]
    read = {*mapping.values(), *proposed.values()}
    systems = columns_of_answers(sample, read) if "answer" in absent and not remedies else ()
    remedies += [a_run_for_each(systems)] if systems else []
    return UnknownColumns([message, f"  {option}", *remedies], proposed)


def is_enough(fields: Collection[str]) -> bool:
    """Whether metrics can score what is read of these fields: an answer, and its question or a reference."""
    return "answer" in fields and ("question" in fields or "references" in fields)


def _systems_as_keys(sample: Sequence[Mapping[str, Any]]) -> list[str]:
    """What to do with a column whose keys are systems, each with an object of a text: no mapping reads it."""
    for column, value in sample[0].items():
        inner = [*value.values()] if isinstance(value, Mapping) else []
        if len(inner) > 1 and all(isinstance(part, Mapping) for part in inner):
            texts = [key for key in inner[0] if proposals.is_text(part.get(key) for part in inner)]
            if texts and all(texts[0] in part for part in inner):
                return [
                    f"{column} has an object for each of {columns_shown(value)}, which no mapping takes apart: write a "
                    f"record for each, with its name as system and its {texts[0]} as answer"
                ]
    return []


def _names_below(sample: Sequence[Mapping[str, Any]]) -> list[str]:
    """What to do with a table whose first row names few of its columns."""
    unnamed = [column for column in sample[0] if _UNNAMED.fullmatch(str(column))]
    if 2 * len(unnamed) < len(sample[0]):
        return []
    return ["Its first row names few of its columns: delete the rows above the one with the names"]


def _other_sheet(name: str) -> list[str]:
    """Which sheet of a spreadsheet is read."""
    is_sheet = name.lower().endswith(".xlsx")
    return (
        ["The first sheet with a table is read; move another one to the front"] if is_sheet else []
    )


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
    if not is_enough(whole):
        return proposed
    if "question" not in whole and "id" not in whole:
        system = whole.get("system", "")
        if question_id := repeated_by_systems(sample, system):
            ids = {"id": f"{system},{question_id}", "question_id": question_id}
            return proposed | {field: path for field, path in ids.items() if field not in mapping}
    try:
        recurring_columns = recurring(with_mapping(whole))
    except UserError:  # the message is of the file as it was asked for
        return proposed
    unnamed = {field: path for field, path in recurring_columns.items() if field not in whole}
    return {**proposed, **unnamed}
