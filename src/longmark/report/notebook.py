"""What a result shows of itself, in the REPL and in a notebook: its conclusion and one table, at most a screen.

A result of an analysis derives from `SelfShown` and names the module of its page. The whole of it is that
document: `longmark.compare(...).page()`.
"""

from __future__ import annotations

from dataclasses import replace
from html import escape
from importlib import import_module
from typing import ClassVar

from longmark.report.document import Document, Section
from longmark.report.tables import Table, as_html, as_markdown, as_text, main_columns, markdown

_ROWS = 20  # of the table


class SelfShown:
    """A result that shows its conclusion and its first table. Foreign text is escaped."""

    __slots__ = ()
    PAGE: ClassVar[str]
    """The module whose `document` makes the page: named, since that module imports this class."""

    def page(self) -> Document:
        """The whole result as a document: every section with its tables and figures."""
        document: Document = import_module(self.PAGE).document(self)
        return document

    def __repr__(self) -> str:
        title, says, table, remarks = _screen(self.page())
        text = as_text(table) if table else ""
        return "\n".join(
            part for part in (title, says, "", text.rstrip("\n"), remarks) if part or text
        )

    def _repr_html_(self) -> str:
        title, says, table, remarks = _screen(self.page())
        html = as_html(table) if table else ""
        return f"<p><b>{escape(title)}</b><br>{escape(says)}</p>{html}<p>{escape(remarks)}</p>"

    def _repr_markdown_(self) -> str:
        title, says, table, remarks = _screen(self.page())
        text = as_markdown(table) if table else ""
        return f"**{markdown(title)}**\n\n{markdown(says)}\n\n{text}\n{markdown(remarks)}\n"


def _screen(document: Document) -> tuple[str, str, Table | None, str]:
    """The title, what the first section says, its first table, and what there is besides."""
    first = next(
        (section for section in document.sections if section.says or section.tables),
        Section("", ""),
    )
    remarks = []
    table = next(iter(first.tables), None)
    if table is not None:
        table = main_columns(table)
        if len(table.rows) > _ROWS:
            remarks.append(f"{len(table.rows) - _ROWS:,} more rows")
            table = replace(table, items=table.items[:_ROWS])
    tables = sum(len(section.tables) for section in document.sections)
    if tables > 1:
        remarks.append(f"{tables:,} tables: .page().sections")
    if document.notices:
        remarks.append(f"Notices: {len(document.notices):,}, the first: {document.notices[0]}")
    return document.title, first.says, table, ". ".join(remarks)
