"""Where a nested record has its texts, as paths to paste: for a file of which no column has a known name.

An element of a list is named by what tells it from the others, as a span by its name and a message by its role:
spans[?name==`"llm"`] | [-1].output.text, messages[?role==`"user"`] | [-1].content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from longmark.records import messages, paths
from longmark.records.turn import PASSAGE_TEXT

TEXT_KEYS = (*PASSAGE_TEXT, "sentence")
"""Keys under which a passage has its text."""
_TELLS_APART = ("role", "name", "type", "kind", "step")
"""Keys whose values name the elements of a list, the likeliest first."""
_PLAIN = re.compile(r"[\w .:/-]{1,40}")  # needs no escape in a path
_NO_TEXTS_OF = frozenset(("system", "developer", "tool", "function"))
"""Roles of messages that neither ask nor answer."""
_LEVELS = 8
_MOST_PATHS = 300
_MOST_RECORDS = 50
_NEARLY_ALL = 0.8
"""The share of the records that must have a text at a path."""


def nested_columns(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of each record path -> text or passages, of the paths at which nearly all of the first records have some."""
    sample = records[:_MOST_RECORDS]
    places = dict.fromkeys(
        path
        for record in sample[:1]
        for column, value in record.items()
        if isinstance(column, str)
        for path in islice(_places(value, paths.step(column)), _MOST_PATHS)
    )
    readers = [paths.reader(record) for record in sample]
    columns: list[dict[str, Any]] = [{} for _ in sample]
    for path in places:
        values = [read(path) for read in readers]
        if sum(map(bool, values)) >= _NEARLY_ALL * len(sample):
            for column, value in zip(columns, values, strict=True):
                column[path] = value
    return columns


def is_passages(value: Any) -> bool:
    """Whether a value is a list of passages: texts, or objects with a text and no role."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(part, str)
            or (
                isinstance(part, dict)
                and "role" not in part
                and any(isinstance(part.get(key), str) for key in TEXT_KEYS)
            )
            for part in value
        )
    )


def _places(value: Any, path: str, levels: int = _LEVELS) -> Iterator[str]:
    """The paths of the texts and passages inside a value."""
    value = messages.parsed(value)
    if isinstance(value, str) or is_passages(value):
        yield path
    elif not levels:
        return
    elif isinstance(value, dict) and not _is_one_for_each(value):
        for key, part in value.items():
            if isinstance(key, str):
                yield from _places(part, f"{path}.{paths.step(key)}", levels - 1)
    elif isinstance(value, list) and all(isinstance(part, dict) for part in value):
        for step, part in _elements(value):
            yield from _places(part, f"{path}{step}", levels - 1)


def _is_one_for_each(value: Mapping[str, Any]) -> bool:
    """Whether an object has objects of the same keys, as one for each system: a text of one is not that of the record."""
    parts = [*value.values()]
    return len(parts) > 1 and all(
        isinstance(part, dict) and part.keys() == parts[0].keys() for part in parts
    )


def _elements(parts: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    """(step to it, element) of a list of objects: the last element of each name; without names the last one."""
    for key in _TELLS_APART:
        names = [part.get(key) for part in parts]
        if len(parts) > 1 and all(
            isinstance(name, str) and _PLAIN.fullmatch(name) for name in names
        ):
            last_of_name = dict(zip(names, parts, strict=True))
            if len(last_of_name) > 1:
                for name, part in last_of_name.items():
                    if name not in _NO_TEXTS_OF:
                        yield f'[?{key}==`"{name}"`] | [-1]', part
                return
    if parts:
        yield "[0]" if len(parts) == 1 else "[-1]", parts[-1]
