"""What could tell labels apart of which one replaced the other: a column that is not read, such as the model or the
criterion. For a message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from longmark.options import named
from longmark.records.recurring import is_system
from longmark.scores.label_columns import LabelColumns

_MOST_LABELS = 100_000  # of which one with the same rater is looked for
_MOST_VALUES = 50
_VALUES = ("value", "choice")


def told_apart(records: Iterable[tuple[int, Any]], columns: LabelColumns) -> str:
    """A sentence with the options that read these columns, "" without any. A column counts if it differs between labels
    of one answer, label and rater, and each of its values occurs more than once or all differ in one such group."""
    fields = [name for name in columns.form.columns if name not in _VALUES]
    labels: dict[tuple[str, ...], dict[str, set[str]]] = {}
    counts: dict[str, dict[str, int]] = {}
    read_columns = {columns.column(name) for name in (*fields, *_VALUES)}
    for place, (_, record) in enumerate(records):
        if not isinstance(record, Mapping) or place == _MOST_LABELS:
            break
        key = tuple(str(record.get(columns.column(name))) for name in fields)
        for column, value in record.items():
            if column in read_columns or not isinstance(value, str | int) or value == "":
                continue
            labels.setdefault(key, {}).setdefault(str(column), set()).add(str(value))
            values = counts.setdefault(str(column), {})
            values[str(value)] = values.get(str(value), 0) + 1
    differing = dict.fromkeys(
        column
        for values_of in labels.values()
        for column, values in values_of.items()
        if 1 < len(values) <= len(counts[column]) <= _MOST_VALUES
        and (len(values) == len(counts[column]) or min(counts[column].values()) > 1)
    )
    free = [name for name in ("system", "label") if name in fields and not columns.has(name)]
    options = [
        named("mapping", {field: column})
        for column in differing
        if (field := "system" if is_system(column) else "label") in free
    ]
    if not options:
        return ""
    return f" If a column tells them apart, name it: {' or '.join(options)}."
