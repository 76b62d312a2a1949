"""Spreadsheets (.xlsx), read in a process of their own (`records.sheet_reader`)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from longmark.errors import library
from longmark.records import reader_process, sheet_reader

MOST_CELLS = 20_000_000
"""Of a sheet, empty ones included: a million rows of twenty columns."""


def rows_of(path: Path) -> Iterator[tuple[int, list[Any]]]:
    """(row, cells) of the first sheet with a table, or else with cells: texts, numbers that are whole without a point, and
    {"unreadable": why} for an error value. UserError for a file that cannot be read."""
    library("python_calamine", "reading .xlsx", "xlsx")
    words = (path.absolute(), MOST_CELLS, reader_process.MOST_BYTES, reader_process.MOST_SECONDS)
    with reader_process.reading(
        sheet_reader.__file__, words, f"{path} cannot be read as .xlsx"
    ) as output:
        for number, line in enumerate(output, 1):
            yield number, json.loads(line)
