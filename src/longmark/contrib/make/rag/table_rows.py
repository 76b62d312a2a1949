"""Rows of tables as lines of text: a cell that spans several rows or columns stands in each row and column of them, so
that a row says what it is about, and a column keeps its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

_MOST_COLUMNS = 200  # of a table whose spans are followed
_LINE_END = re.compile(r"(?<=.) ?\n+")
_MOST_ROWS = 65_534  # that a cell may span, as in HTML


_ENDS = tuple(".!?;:,…。！？；：、")


def in_one_line(paragraphs: Sequence[str]) -> str:
    """What a cell holds, with `; ` between its paragraphs, and where a line ends between digits."""
    text = ""
    for paragraph in paragraphs:
        if text:
            goes_on = text.endswith(_ENDS) or paragraph.startswith("(")
            text += " " if goes_on else "; "
        text += paragraph
    return _LINE_END.sub(_line_end, text)


def _line_end(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1]
    behind = match.string[match.end() : match.end() + 1]
    return "; " if before.isdecimal() and behind.isdecimal() else " "


class TableCell(NamedTuple):
    """A cell that has begun. at: how many paragraphs were before it; columns, rows: how many it spans; continued: it
    belongs to the cell above it, as a cell of Word with `vMerge` does."""

    at: int
    columns: int = 1
    rows: int = 1
    continued: bool = False


def cell_of(at: int, attributes: Mapping[str, str]) -> TableCell:
    """A cell by the attributes of HTML; `continued` is ours."""
    columns = _number(attributes.get("colspan", ""), _MOST_COLUMNS) or 1
    rowspan = attributes.get("rowspan", "").strip()
    rows = _MOST_ROWS if rowspan == "0" else _number(rowspan, _MOST_ROWS) or 1
    return TableCell(at, columns, rows, "continued" in attributes)


def _number(text: str, limit: int) -> int:
    text = text.strip()
    if not (text.isascii() and text.isdigit()):
        return 0
    return min(int(text[:6]), limit)


class _Spanning(NamedTuple):
    """A cell that reaches into rows to come. last: the last of them."""

    last: int
    text: str


@dataclass
class TableRows:
    """Knows which cells of earlier rows reach into the next one."""

    _row: int = 0
    _spanning: dict[int, _Spanning] = field(default_factory=dict)  # column -> the cell
    _above: list[str] = field(default_factory=list)  # the last row by columns

    def end_group(self) -> None:
        """The end of a head, body or foot: no cell reaches beyond it."""
        self._spanning.clear()

    def forget(self) -> None:
        """No cell so far reaches into another row."""
        self._spanning.clear()
        self._above = []

    def row(self, cells: Sequence[TableCell], texts: Sequence[str]) -> list[str]:
        """The texts of a row by columns: those of its own cells and of cells of earlier rows that reach into it."""
        self._row += 1
        if len(cells) > _MOST_COLUMNS:
            self.forget()
            return list(texts)
        columns: list[str] = []
        for cell, own_text in zip(cells, texts, strict=True):
            self._fill(columns)
            text = own_text
            if cell.continued and not own_text and len(columns) < len(self._above):
                text = self._above[len(columns)]
            for _ in range(min(cell.columns, _MOST_COLUMNS + 1 - len(columns))):
                if cell.rows > 1:
                    self._spanning[len(columns)] = _Spanning(self._row + cell.rows - 1, text)
                columns.append(text)
        self._fill(columns)
        if len(columns) > _MOST_COLUMNS:
            self.forget()
            return list(texts)
        self._above = columns
        return columns

    def _fill(self, columns: list[str]) -> None:
        """Adds what earlier rows have in the next columns."""
        while (spanning := self._spanning.get(len(columns))) is not None:
            if spanning.last <= self._row:
                del self._spanning[len(columns)]
                if spanning.last < self._row:
                    return
            columns.append(spanning.text)
