"""The records of CSV and TSV files: lines, what separates the columns, and the mistakes of a line."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO

from longmark.errors import UserError
from longmark.records.answer_tables import own_names
from longmark.records.columns import field_of
from longmark.records.files import (
    LONGEST_LINE,
    MOST_VALUES,
    at,
)
from longmark.records.raw_record import LONGEST_CELL, Records, UnreadableRecord, check_names

MOST_COLUMNS = 100_000
"""Columns that the first line of a table names."""
_HINT = re.compile(
    r'"?sep=([,;:|\t])"?', re.IGNORECASE
)  # the first line of a CSV file that Excel takes for no data
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", ":": "colons", "|": "bars"}


def csv_records(path: Path, usual: str, encoding: str) -> Records:
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    with path.open(encoding=encoding or "utf-8-sig", errors="surrogateescape", newline="") as file:
        first = file.readline(LONGEST_LINE + 1)
        if len(first) > LONGEST_LINE or max(map(first.count, _SEPARATORS)) > MOST_COLUMNS:
            limits = f"{MOST_COLUMNS:,} at most, in {LONGEST_LINE >> 20} MiB"
            raise UserError(f"{path}: the first line must name the columns, {limits}")
        hint = _HINT.fullmatch(first.rstrip("\r\n"))
        if hint is None:
            file.seek(0)
        before = 1 if hint is None else 2  # the number of the line that names the columns
        try:
            delimiter = _delimiter(path, first, usual) if hint is None else hint[1]
            lines_read = _CsvLines(path, file)
            rows = csv.reader(lines_read, delimiter=delimiter, strict=True)
            cells = next(rows, [])
        except csv.Error as error:
            raise UserError(
                at(path, before, f"the names of the columns cannot be read: {error}")
            ) from None
        if not any(cell.strip() for cell in cells):
            raise UserError(f"{path}: the first line must name the columns")
        names = own_names(
            [cell.strip() or f"column_{number}" for number, cell in enumerate(cells, 1)]
        )
        copies = _copies(names)
        while True:
            line = rows.line_num + before
            lines_read.size = 0
            try:
                cells = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                yield (
                    line,
                    UnreadableRecord(
                        f"is not CSV: {error}; quotes inside a quoted cell are doubled"
                    ),
                )
                continue
            if len(cells) == len(names):
                if any(cells[first] != cells[later] for first, later in copies):
                    check_names(path, names)
                yield line, dict(zip(names, cells, strict=True))
            elif cells:
                yield (
                    line,
                    UnreadableRecord(_miscounted(len(cells), len(names), _SEPARATORS[delimiter])),
                )


def _copies(names: list[str]) -> list[tuple[int, int]]:
    """The places of columns with one name, the first and a later one. pandas writes an index that has the name of a
    column, as that of Phoenix's spans, a second time; such a column is read once as long as its cells are the same."""
    first: dict[str, int] = {}
    return [
        (first[name], place)
        for place, name in enumerate(names)
        if first.setdefault(name, place) != place
    ]


class _CsvLines:
    """The lines of a CSV file, for a reader that takes one or several for a record. size: characters of the record so
    far, set to 0 before each. UserError for a record that is too long, before it is read."""

    def __init__(self, path: Path, file: IO[str]) -> None:
        self.size = 0
        self._path = path
        self._file = file

    def __iter__(self) -> Iterator[str]:
        for number, line in enumerate(iter(partial(self._file.readline, LONGEST_LINE + 1), ""), 1):
            self.size += len(line)
            if self.size > LONGEST_LINE:
                limit = f"the limit of {LONGEST_LINE >> 20} MiB"
                raise UserError(
                    at(self._path, number, f"a record is longer than {limit}; is a quote missing?")
                )
            if len(line) > MOST_VALUES and sum(map(line.count, _SEPARATORS)) > MOST_VALUES:
                raise UserError(
                    at(self._path, number, f"has more than the limit of {MOST_VALUES:,} cells")
                )
            yield line


def _delimiter(path: Path, line: str, usual: str) -> str:
    """What separates the columns that a line names: it gives the most names we know, and then the most names.

    One that leaves quotes where none may be comes last. UserError if two are equally good.
    """

    def quality(mark: str) -> tuple[bool, int, int]:
        names = next(csv.reader([line], delimiter=mark), [])
        try:
            proper = next(csv.reader([line], delimiter=mark, strict=True), None) is not None
        except csv.Error:
            proper = False
        return proper, sum(field_of(name) is not None for name in names), len(names)

    counts = {mark: quality(mark) for mark in ",;\t"}
    greatest = max(counts.values())
    best = [mark for mark, count in counts.items() if count == greatest]
    if len(best) == 1:
        return best[0]
    if greatest[-1] > 1:
        raise UserError(
            f"{path}: the first line has {' and '.join(_SEPARATORS[mark] for mark in best)} between the names of the "
            "columns; use one of them, and quote names that hold the other"
        )
    return usual


def _miscounted(cells: int, names: int, separators: str) -> str:
    counts = (
        f"{cells} cell{'' if cells == 1 else 's'} for {names} column{'' if names == 1 else 's'}"
    )
    if cells > names:
        return f"{counts}; quote cells that hold {separators}"
    return f"{counts}; they are separated by {separators}, like the names in the first line"
