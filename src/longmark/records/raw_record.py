"""A record as a reader of files gives it: a value, or why it cannot be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longmark.errors import UserError

LONGEST_CELL = (
    1 << 26
)  # characters of a CSV cell (Python's own limit is 131,072), bytes of a Parquet value


@dataclass(frozen=True, slots=True)
class UnreadableRecord:
    """A record that cannot be read; message: why, on one line."""

    message: str


Records = Iterator[tuple[int, Any]]
"""(line or number, record or Unreadable). A line in JSON Lines, CSV and TSV; a number in JSON and Parquet."""


def check_names(path: Path | str, names: list[str]) -> None:
    """UserError if two columns have one name: a record could keep only one of them."""
    if twice := sorted(name for name, count in Counter(names).items() if count > 1):
        raise UserError(f"{path}: the column {', '.join(twice[:8])} appears twice; rename one")
