"""Tables of LaTeX as those of HTML."""

from __future__ import annotations

from dataclasses import dataclass, field

from longmark.contrib.make.rag.latex_columns import LatexColumn
from longmark.contrib.make.rag.xml_tree import PageOfXml

_MOST_COLUMNS = 200  # that a cell may span


@dataclass
class _OpenTable:
    """A table that has begun. column: how many have begun in this row; spanning: column -> rows that a cell of an
    earlier row spans yet; joint: what is to be written before the next text of the cell."""

    columns: list[LatexColumn]
    row_open: bool = False
    cell_open: bool = False
    column: int = 0
    joint: str = ""
    behind: str = ""
    is_own_form: bool = False
    spanning: dict[int, int] = field(default_factory=dict)


@dataclass
class LatexTables:
    """Writes tables, also in each other."""

    _page: PageOfXml
    _open: list[_OpenTable] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether a table is open."""
        return bool(self._open)

    @property
    def cell_open(self) -> bool:
        return self._open[-1].cell_open

    def begin(self, columns: list[LatexColumn]) -> None:
        if self._open:
            self.begin_cell()
        self._page.start("table")
        self._open.append(_OpenTable(columns))

    def end(self) -> None:
        self.end_row()
        self._open.pop()
        self._page.end("table")

    def begin_cell(self, columns: int = 1, rows: int = 1, is_own_form: bool = False) -> None:
        """Begins a cell, unless one is open. is_own_form: it does not look as its column says."""
        table = self._open[-1]
        if table.cell_open:
            return
        if not table.row_open:
            self._page.start("tr")
            table.row_open = True
        span = table.columns[table.column : table.column + columns - 1]
        attributes = {"colspan": str(columns - sum(bool(column.joint) for column in span))}
        if table.spanning.get(table.column, 0):
            attributes["continued"] = ""
        self._page.start("td", attributes)
        table.cell_open = True
        table.is_own_form = is_own_form
        for column in range(table.column, table.column + min(columns, _MOST_COLUMNS)):
            table.spanning[column] = max(rows, table.spanning.get(column, 0)) - 1
        table.column += columns

    def begin_text(self) -> str:
        """Begins the text of a cell; what its column prints before it."""
        table = self._open[-1]
        before = table.joint
        table.joint = ""
        if table.cell_open:
            return before
        place = table.column
        self.begin_cell()
        if place < len(table.columns):
            before = table.columns[place].before + before
            table.behind = table.columns[place].behind
        return before

    def behind(self) -> str:
        """What the column of the cell prints behind its text."""
        table = self._open[-1]
        behind = table.behind if table.cell_open else ""
        table.behind = ""
        return behind

    def join(self) -> bool:
        """Whether the next column continues this one, as in `r@{.}l`; what parts them is then written."""
        self.begin_cell()
        table = self._open[-1]
        place = table.column - 1
        if place >= len(table.columns) or not table.columns[place].joint:
            return False
        table.joint = " " if table.is_own_form else table.columns[place].joint
        table.column += 1
        table.is_own_form = False
        return True

    def end_cell(self) -> None:
        table = self._open[-1]
        self.begin_cell()
        self._page.end("td")
        table.cell_open = False
        table.joint = table.behind = ""

    def end_row(self) -> None:
        table = self._open[-1]
        if table.row_open:
            self.end_cell()
            self._page.end("tr")
        table.row_open = False
        table.column = 0
