"""A document of sections on its way to people: printed, and written as tables and as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from longmark.errors import UserError
from longmark.report.document import Document, write_document
from longmark.tables import one_line, print_table, write_tables

if TYPE_CHECKING:
    from rich.console import Console


def publish(document: Document, out: Path | None, console: Console) -> None:
    """Prints every section: its title, what it says, its tables. With `out` also writes `out/report.html` and every
    table as `out/tables/NAME.csv`, `.md`, `.tex` and `.json`.

    UserError where `out` cannot be a folder, or holds a `report.html` that is none of ours.
    """
    write = console.file.write
    for notice in document.notices:
        write(f"Note: {one_line(notice)}\n")
    for section in document.sections:
        write(f"\n{one_line(section.title)}\n{one_line(section.says)}\n")
        for table in section.tables:
            if len(section.tables) > 1:
                write(f"\n{one_line(table.title)}")
            write("\n")
            print_table(table, console)
        if section.note:
            write(f"{one_line(section.note)}\n")
    if out is None:
        return
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; give a folder to --out")
    write_tables([table for section in document.sections for table in section.tables], out / "tables")
    write_document(document, out / "report.html")
    write(f"\nTables: {out / 'tables'}\nReport: {out / 'report.html'}\n")
