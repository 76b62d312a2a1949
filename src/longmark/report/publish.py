"""Publishes a document of sections: prints it, and writes its tables and its HTML page."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from longmark.errors import UserError
from longmark.report.document import Document
from longmark.report.document import write_document as write_page
from longmark.report.page import refuse_to_destroy
from longmark.report.tables import Table, filled, main_columns, one_line, print_table, write_tables

if TYPE_CHECKING:
    from rich.console import Console

_PRINTED = 60
"""Rows of a table that are printed; a longer one is for the files."""


def check_out(out: Path | None) -> None:
    """UserError where `out` cannot be a folder, or its `report.html` is not an earlier page of longmark. Called before
    anything is computed."""
    if out is None:
        return
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; give a folder to --out")
    refuse_to_destroy(out / "report.html")


def publish(document: Document, out: Path | None, console: Console, *, printed: Document | None = None) -> None:
    """Prints every section: its title, what it says, what was found, its tables. With `out` first writes
    `out/report.html`, every figure as `out/figures/NAME.svg`, `.pdf` and `.png`, and every table as
    `out/tables/NAME.csv`, `.md`, `.tex` and `.json`, so that `| head` still leaves all files. printed: what is
    printed, if it is not the whole document.

    Errors: those of `check_out` and of `document.write_document`.
    """
    check_out(out)
    if out is not None:
        tables = [table for section in document.sections for table in section.tables]
        write_tables(tables, out / "tables", document.kind)
        write_page(document, out / "report.html")
    _print(printed or document, out, console)
    if out is not None:
        figures = f"Figures: {out / 'figures'}\n" if any(section.figures for section in document.sections) else ""
        console.file.write(f"\nTables: {out / 'tables'}\n{figures}Report: {out / 'report.html'}\n")


def _print(document: Document, out: Path | None, console: Console) -> None:
    write: Callable[[str], object] = console.file.write
    for notice in document.notices:
        write(f"Note: {one_line(notice)}\n")
    for section in document.sections:
        write(f"\n{one_line(section.title)}\n{one_line(section.says)}\n")
        for point in section.points:
            write(f"{_wrapped(point, console.width)}\n")
        for table in section.tables:
            if len(section.tables) > 1:
                write(f"\n{one_line(table.title)}")
            write("\n")
            print_table(filled(main_columns(replace(table, items=table.items[:_PRINTED]))), console)
            write(_rest(table, out))
        if section.note:
            write(f"{one_line(section.note)}\n")


def _wrapped(point: str, width: int) -> str:
    """The lines of one finding; no word is cut, and no name broken at its hyphens."""
    return textwrap.fill(
        one_line(point),
        width=max(width, 20),
        initial_indent="- ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _rest(table: Table, out: Path | None) -> str:
    more = len(table.rows) - _PRINTED
    if more <= 0:
        return ""
    where = f"all are in {out / 'tables' / table.name}.csv" if out else "--out DIR writes them all"
    return f"… and {more:,} more rows; {where}\n"
