"""What a result shows of itself, in the REPL and in a notebook: its conclusion and one table, at most a screen.

A result that is a table derives from `TableShown`. A result of an analysis derives from `SelfShown` and names the module
of its page. The whole of it is that document: `longmark.compare(...).page()`; its figures are `figures`, by heading.
"""

from __future__ import annotations

from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

from longmark.errors import UserError

if TYPE_CHECKING:  # imported where something is shown: `longmark.run` alone needs no page
    from longmark.report.document import Document
    from longmark.report.figures import Figure
    from longmark.report.tables import Table

_ROWS = 20  # of the table


class ShownInForms:
    """What the REPL and notebooks ask a result for. Foreign text is escaped."""

    __slots__ = ()

    def _shown_as(self, form: str) -> str:
        """The result as `text`, `html` or `markdown`."""
        raise NotImplementedError

    def __repr__(self) -> str:
        try:
            return self._shown_as("text")
        except UserError as error:  # the folder is gone
            return f"<{type(self).__name__}: {error}>"

    def _repr_html_(self) -> str:
        return self._shown_as("html")

    def _repr_markdown_(self) -> str:
        return self._shown_as("markdown")


class TableShown(ShownInForms):
    """A result that shows its table."""

    __slots__ = ()

    def table(self) -> Table:
        raise NotImplementedError

    def _shown_as(self, form: str) -> str:
        return _table_as(form, self.table())


class SelfShown(ShownInForms):
    """A result that shows its conclusion and its first table."""

    __slots__ = ()
    PAGE: ClassVar[str]
    """The module whose `document` makes the page: named, since that module imports this class."""

    def page(self) -> Document:
        """The whole result as a document: every section with its tables and figures."""
        document: Document = import_module(self.PAGE).document(self)
        return document

    @property
    def figures(self) -> dict[str, Figure]:
        """The figures of the page by their headings, each of which a notebook draws (extra `stats`). A heading that an
        earlier section has, too, is followed by that of its own section."""
        figures: dict[str, Figure] = {}
        for section in self.page().sections:
            for figure in section.figures:
                if figure.draw is not None:
                    is_new = figure.label not in figures
                    heading = figure.label if is_new else f"{figure.label} ({section.title})"
                    figures[heading] = figure
        return figures

    def _shown_as(self, form: str) -> str:
        from longmark.report.tables import markdown

        title, says, table, remarks = _screen(self.page())
        drawn = _table_as(form, table) if table else ""
        if form == "html":
            return f"<p><b>{escape(title)}</b><br>{escape(says)}</p>{drawn}<p>{escape(remarks)}</p>"
        if form == "markdown":
            return f"**{markdown(title)}**\n\n{markdown(says)}\n\n{drawn}\n{markdown(remarks)}\n"
        return "\n".join(part for part in (title, says, "", drawn, remarks) if part or drawn)


def _table_as(form: str, table: Table) -> str:
    from longmark.report.tables import as_html, as_markdown, as_text

    if form == "text":
        return as_text(table).rstrip("\n")
    return as_html(table) if form == "html" else as_markdown(table)


def _screen(document: Document) -> tuple[str, str, Table | None, str]:
    """The title, what the first section says, its first table, and what there is besides."""
    from dataclasses import replace

    from longmark.report.document import Section
    from longmark.report.tables import main_columns

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
