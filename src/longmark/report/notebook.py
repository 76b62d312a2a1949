"""What a result shows of itself, in the REPL and in a notebook: its conclusion and one table, at most a screen.

A result that is a table derives from `TableShown`. A result of an analysis derives from `SelfShown` and names the module
of its page. The whole of it is that document: `longmark.compare(...).page()`; its figures are `figures`, by heading. The
document, its sections and their tables show themselves alike.
"""

from __future__ import annotations

from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, Protocol

from longmark.report.shown import ShownInForms

if TYPE_CHECKING:  # imported where something is shown: `longmark.run` alone needs no page
    from collections.abc import Sequence

    from longmark.report.document import Document, Section
    from longmark.report.figures import Figure
    from longmark.report.tables import Table

_ROWS = 20  # of the table


class TableShown(ShownInForms):
    """A result that shows its table."""

    __slots__ = ()

    def table(self) -> Table:
        raise NotImplementedError

    def _shown_as(self, form: str) -> str:
        return _table_as(form, self.table())


class HasTable(Protocol):
    """A grid."""

    def table(self) -> Table: ...


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
        return document_as(form, self.page(), ".page()")


def document_as(form: str, document: Document, name: str = "") -> str:
    """The title, what the first section says, its first table, and what there is besides. name: how the reader gets at
    the document from what is shown."""
    conclusion = next((part for part in document.sections if part.in_words or part.tables), None)
    tables = sum(len(section.tables) for section in document.sections)
    remarks = [f"{tables:,} tables: {name}.sections"] if tables > 1 else []
    if document.notices:
        remarks.append(f"Notices: {len(document.notices):,}, the first: {document.notices[0]}")
    if conclusion is None:
        return _shown(
            form,
            title=document.title,
            remarks=remarks,
        )
    return _shown(
        form,
        title=document.title,
        says=conclusion.in_words,
        tables=conclusion.tables,
        remarks=remarks,
    )


def part_as(form: str, part: Document | Section | HasTable | Table) -> str:
    from longmark.report.document import Document, Section
    from longmark.report.tables import Table

    if isinstance(part, Document):
        return document_as(form, part)
    if isinstance(part, Section):
        tables = len(part.tables)
        remarks = [f"{tables:,} tables: .tables"] if tables > 1 else []
        if part.note:
            remarks.append(part.note)
        return _shown(
            form,
            title=part.title,
            says=part.in_words,
            tables=part.tables,
            remarks=remarks,
        )
    table = part if isinstance(part, Table) else part.table()
    return _shown(
        form,
        title=table.title,
        says=table.note,
        tables=[table],
    )


def _shown(
    form: str,
    *,
    title: str,
    says: str = "",
    tables: Sequence[Table] = (),
    remarks: Sequence[str] = (),
) -> str:
    """A part by its first table."""
    from dataclasses import replace

    from longmark.report.tables import main_columns, markdown

    drawn = ""
    if tables:
        table = main_columns(tables[0])
        if len(table.rows) > _ROWS:
            remarks = [f"{len(table.rows) - _ROWS:,} more rows", *remarks]
            table = replace(table, items=table.items[:_ROWS])
        drawn = _table_as(form, table)
    end = ". ".join(remarks)
    if form == "html":
        heading = f"<p><b>{escape(title)}</b><br>{escape(says)}</p>"
        return f"{heading}{drawn}<p>{escape(end)}</p>"
    if form == "markdown":
        heading = f"**{markdown(title)}**"
        return f"{heading}\n\n{markdown(says)}\n\n{drawn}\n{markdown(end)}\n"
    return "\n".join(part for part in (title, says, "", drawn, end) if part or drawn)


def _table_as(form: str, table: Table) -> str:
    from longmark.report.tables import as_html, as_markdown, as_text

    if form == "text":
        return as_text(table).rstrip("\n")
    return as_html(table) if form == "html" else as_markdown(table)
