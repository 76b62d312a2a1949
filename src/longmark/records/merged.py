"""Answers of several experiments, models or versions that have one name of a system, or none: a notice names them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longmark.options import named
from longmark.records import paths
from longmark.records.example import Example

_MOST = 1_000  # values that are told apart


class MergedSystems:
    """What tells the answers of one system apart in the records of a tool. merged: `Shape.merged`."""

    def __init__(self, merged: Mapping[str, str]) -> None:
        self._merged = merged
        self._values: dict[tuple[str, str, str | None], set[str]] = {}

    def add(self, record: dict[str, Any], example: Example) -> None:
        """Adds an answer, with the record that it was read from."""
        at = paths.reader(record)
        for kind, path in self._merged.items():
            value = at(path)
            values = self._values.setdefault((kind, path, example.system), set())
            if isinstance(value, str | int) and value != "" and len(values) < _MOST:
                values.add(str(value))

    def notices(self) -> tuple[str, ...]:
        """A line for each system that has several, with the option that tells them apart."""
        lines = []
        for (kind, path, system), values in self._values.items():
            if len(values) > 1:
                count = f"{_MOST:,} or more" if len(values) == _MOST else f"{len(values):,}"
                name = "" if system is None else f', "{system}"'
                lines.append(
                    f"The answers of {count} {kind} ({path}) are one system{name}. To tell them apart: "
                    f"{named('mapping', {'system': path})}"
                )
        return tuple(lines)
