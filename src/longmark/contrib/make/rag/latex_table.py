"""Tables of LaTeX as those of HTML."""

from __future__ import annotations

from dataclasses import dataclass, field

from longmark.contrib.make.rag.xml_tree import PageOfXml

_MOST_COLUMNS = 200  # that a cell may span


@dataclass
class _OpenTable:
    """A table that has begun. spanning: column -> rows that a cell of an earlier row spans yet."""

    row_open: bool = False
    cell_open: bool = False
    column: int = 0
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

    def begin(self) -> None:
        if self._open:
            self.begin_cell()
        self._page.start("table")
        self._open.append(_OpenTable())

    def end(self) -> None:
        self.end_row()
        self._open.pop()
        self._page.end("table")

    def begin_cell(self, columns: int = 1, rows: int = 1) -> None:
        """Begins a cell, unless one is open."""
        table = self._open[-1]
        if table.cell_open:
            return
        if not table.row_open:
            self._page.start("tr")
            table.row_open = True
        attributes = {"colspan": str(columns)}
        if table.spanning.get(table.column, 0):
            attributes["continued"] = ""
        self._page.start("td", attributes)
        table.cell_open = True
        for column in range(table.column, table.column + min(columns, _MOST_COLUMNS)):
            table.spanning[column] = max(rows, table.spanning.get(column, 0)) - 1
        table.column += columns

    def end_cell(self) -> None:
        self.begin_cell()
        self._page.end("td")
        self._open[-1].cell_open = False

    def end_row(self) -> None:
        table = self._open[-1]
        if table.row_open:
            self.end_cell()
            self._page.end("tr")
        table.row_open = False
        table.column = 0
