"""Columns that could each hold the answers of one system: experts write the answers of several beside their question."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from statistics import median
from typing import Any

from longmark.options import named
from longmark.records import proposals
from longmark.records.columns import columns_shown

_FEWEST_WORDS = 6
"""Of the texts of a column, in the middle: a shorter one is a remark or a class."""
_REMARKS = frozenset(
    (
        "comment",
        "comments",
        "note",
        "notes",
        "remark",
        "remarks",
        "feedback",
        "reason",
        "reasons",
        "reasoning",
        "rationale",
        "explanation",
        "justification",
        "review",
        "reviewer",
        "rater",
        "annotator",
        "metadata",
        "url",
        "link",
        "kommentar",
        "bemerkung",
        "begründung",
        "commentaire",
        "comentario",
    )
)
"""Words of the name of a column that holds what somebody wrote about an answer."""
_MOST = 20
_UNUSUAL = re.compile(r"[^\w.-]+")  # what the name of a folder does without


def columns_of_answers(
    records: Sequence[Mapping[str, Any]], read: Collection[str]
) -> tuple[str, ...]:
    """The columns of long texts that no name gives to another field, if there are several. read: the columns that are
    read already."""
    columns = [
        column
        for column in dict.fromkeys(column for record in records for column in record)
        if isinstance(column, str)
        and column not in read
        and not proposals.is_about(column, _REMARKS)
        and _is_long([record.get(column) for record in records])
    ]
    return tuple(columns) if 1 < len(columns) <= _MOST else ()


def a_run_for_each(columns: Sequence[str]) -> str:
    """What to do with such columns."""
    options = " or ".join(named("mapping", {"answer": column}) for column in columns[:2])
    return (
        f"{columns_shown(columns)} could hold the answers of {len(columns)} systems. Score each into a run of its own "
        f"({options}), then compare the runs"
    )


def run_names(columns: Sequence[str]) -> dict[str, str]:
    """Column -> a name for the folder of its run: the column's, or its number where that is none of its own."""
    names = [_UNUSUAL.sub("-", column).strip("-.").lower() for column in columns]
    if not all(names) or len({*names}) < len(names):
        names = [str(place) for place, _ in enumerate(columns, 1)]
    return dict(zip(columns, names, strict=True))


def _is_long(values: Sequence[Any]) -> bool:
    texts = [value for value in values if isinstance(value, str) and value.strip()]
    return bool(texts) and median(len(text.split()) for text in texts) >= _FEWEST_WORDS
