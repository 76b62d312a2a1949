"""A table with a column for each label of an answer: coherence, fluency, … Read as a line for each of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from longmark.errors import UnknownName, UserError
from longmark.options import named
from longmark.records.values import folded
from longmark.scores.label_forms import ColumnOptions, columns_listed, first_few

_CRITERIA = frozenset(
    (
        "accuracy",
        "adequacy",
        "attribution",
        "clarity",
        "coherence",
        "completeness",
        "comprehensiveness",
        "conciseness",
        "consistency",
        "correctness",
        "coverage",
        "depth",
        "engagement",
        "factuality",
        "faithfulness",
        "fluency",
        "grammar",
        "grammaticality",
        "groundedness",
        "harmlessness",
        "helpfulness",
        "informativeness",
        "naturalness",
        "readability",
        "relevance",
        "relevancy",
        "safety",
        "specificity",
        "toxicity",
        "truthfulness",
        "understandability",
        "usefulness",
        "verbosity",
    )
)
"""What answers are rated for: in SummEval, USR, HelpSteer, RAGAS, G-Eval and others."""
_BOUNDARY = re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])")

Records = Callable[[], Iterable[tuple[int, Any]]]


def named_like_criteria(columns: Iterable[str]) -> list[str]:
    """The columns that are named like labels, and not like people."""
    return [
        column
        for column in columns
        if {word.lower() for word in _BOUNDARY.split(column)} & _CRITERIA
    ]


def criteria_as_raters(raters: Sequence[str]) -> str:
    """A notice that columns of raters are named like labels; "" where at most one of them is."""
    criteria = named_like_criteria(raters)
    if len(criteria) < 2:
        return ""
    return (
        f"The columns {first_few(criteria)} are read as raters of one label, but are named like labels. If they are, read "
        f"each as a label of its own: {named('label_columns', criteria)}"
    )


def columns_unread(names: Iterable[object], options: ColumnOptions) -> tuple[str, ...]:
    """The columns named like labels that are neither read as a label each nor as another field."""
    mapped = {part for path in (options.mapping or {}).values() for part in path.split(",")}
    taken = {*(options.label_columns or ()), *mapped, *options.by}
    return tuple(named_like_criteria(name for name in map(str, names) if name not in taken))


def a_line_a_label(
    records: Records, file: str, options: ColumnOptions
) -> tuple[Records, ColumnOptions]:
    """Records with a label and a value each, in place of those with a column for each label. UnknownName for a column
    that no record has; UserError where the file, or the caller, names a label or a value otherwise."""
    columns = tuple(dict.fromkeys(options.label_columns or ()))
    option = named("label_columns")
    names = dict.fromkeys(
        str(name) for _, record in records() if isinstance(record, Mapping) for name in record
    )
    for column in columns:
        if column not in names:
            hint = columns_listed(names)
            raise UnknownName(f"column in {option}", column, names, hint)
    if options.raters:
        raise UserError(f"{named('raters')} and {option} name the columns of one file; omit one")
    fields = {folded(name) for name in names if name not in columns} | {*(options.mapping or {})}
    twice = sorted(fields & {"label", "value", "choice"})
    if twice:
        raise UserError(f"{file} has a {twice[0]} and a column for each label; omit {option}")
    return partial(_lines, records, columns), replace(options, label_columns=None)


def _lines(records: Records, columns: Sequence[str]) -> Iterator[tuple[int, Any]]:
    for line, record in records():
        if not isinstance(record, Mapping):
            yield line, record
            continue
        shared = {name: cell for name, cell in record.items() if name not in columns}
        for column in columns:
            yield line, {**shared, "label": column, "value": record.get(column)}
