"""Records inside a record, by paths with `[]`: `annotations[].result[].value.rating` is a value for each result of each
annotation.

Paths are those of `records.paths`. What stands in a list is read together with all else that the same list holds: with
`rater=annotations[].completed_by` each value has the annotator of its own annotation. Lists beside each other, such as
`responses[]` and `users[]`, are read in step and must be equally long. A path without a list is the same for all values.
`[?…]` takes the elements that a condition of JMESPath selects, and `[*]` is as `[]`. A path with `|`, `&` or a comma
outside brackets is one expression, and no list is taken apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from longmark.records import messages, paths
from longmark.records.values import Problem, found

_OPENING = "([{"
_CLOSING = ")]}"
_QUOTES = "'\"`"
_WHOLE = "@"
"""The path of the value itself, in JMESPath."""


class NestedFields:
    """Fields of a record by name -> path. `never_seen`: paths at which no record had a value so far."""

    def __init__(self, path_of: Mapping[str, str]) -> None:
        self._path_of = dict(path_of)
        self.never_seen = set(self._path_of.values())

    def see(self, record: Mapping[str, Any]) -> None:
        """Takes from `never_seen` what the record has."""
        for path in list(self.never_seen):
            try:
                rows = list(_rows(record, {path: path}))
            except Problem:
                continue
            if any(row[path] is not None for row in rows):
                self.never_seen.discard(path)

    def rows(self, record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Name -> value, for each element of the innermost lists; nothing where a list is empty or missing. Raises
        Problem for what is no list, and for lists of different lengths."""
        yield from _rows(record, self._path_of)


def _rows(value: Any, path_of: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    read = _reader(value)
    flat: dict[str, Any] = {}
    inner_paths: dict[str, dict[str, str]] = {}
    for name, path in path_of.items():
        if (parts := _cut(path)) is None:
            flat[name] = read(path)
        else:
            inner_paths.setdefault(parts[0], {})[name] = parts[1]
    if not inner_paths:
        yield flat
        return
    lists = {path: _list(path, read(path)) for path in inner_paths}
    _check_lengths(lists)
    for elements in zip(*lists.values(), strict=True):
        parts_of_row = [
            list(_rows(element, inner))
            for element, inner in zip(elements, inner_paths.values(), strict=True)
        ]
        for row in _in_step(parts_of_row, list(inner_paths)):
            yield flat | row


def _in_step(rows_of_lists: list[list[dict[str, Any]]], list_paths: list[str]) -> Iterator[Any]:
    """One row of each list at a time; a single row belongs to all of the others."""
    lengths = {len(rows) for rows in rows_of_lists if len(rows) != 1} or {1}
    if len(lengths) > 1:
        raise Problem(f"the lists in {' and '.join(list_paths)} have different lengths")
    for place in range(lengths.pop()):
        row: dict[str, Any] = {}
        for rows in rows_of_lists:
            row |= rows[place] if len(rows) != 1 else rows[0]
        yield row


def _reader(value: Any) -> Callable[[str], Any]:
    """A function of a path: what the value has there."""
    value = messages.parsed(value)
    if isinstance(value, Mapping):
        return lambda path: value if path == _WHOLE else _source(path).column(value)

    def read(path: str) -> Any:
        if path == _WHOLE:
            return value
        find = paths.compiled(path)
        return None if find is None else find(value)

    return read


@lru_cache(maxsize=1_000)
def _source(path: str) -> paths.PathSource:
    return paths.PathSource(path, "label")


def _list(path: str, value: Any) -> list[Any]:
    value = messages.parsed(value)
    if value is None:
        return []
    if not isinstance(value, list):
        raise Problem(f"{path}: expected a list, found {found(value)}")
    return value


def _check_lengths(lists: Mapping[str, list[Any]]) -> None:
    (first, values), *later_lists = lists.items()
    for path, other_values in later_lists:
        if len(other_values) != len(values):
            raise Problem(
                f"{first} has {len(values):,} values, and {path} has {len(other_values):,}; lists that are read in step "
                "have as many"
            )


@lru_cache(maxsize=1_000)
def _cut(path: str) -> tuple[str, str] | None:
    """The path of the first list that is taken apart, and the path inside its elements; None where there is none."""
    depth = 0
    quote = ""
    first: tuple[int, int] | None = None
    opened = 0
    for place, letter in enumerate(path):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in _QUOTES:
            quote = letter
        elif letter in _OPENING:
            opened = place if not depth else opened
            depth += 1
        elif letter in _CLOSING:
            depth -= 1
            if not depth and first is None and _takes_apart(path[opened : place + 1]):
                first = (opened, place + 1)
        elif letter in "|&," and not depth:
            return None
    if first is None:
        return None
    start, end = first
    before = path[:end] if path[start:end].startswith("[?") else path[:start]
    inside = path[end:].removeprefix(".")
    return before.strip() or _WHOLE, inside.strip() or _WHOLE


def _takes_apart(bracket: str) -> bool:
    return bracket in ("[]", "[*]") or bracket.startswith("[?")
