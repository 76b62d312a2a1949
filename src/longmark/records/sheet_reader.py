"""Run as a program: prints the rows of a spreadsheet, so that a damaged or lying file can only end this process.

`python sheet_reader.py FILE MOST_CELLS MOST_BYTES MOST_SECONDS` prints a JSON list a row: texts, and {"unreadable":
why} for an error value and for a formula without a stored value. The exit code is 3 for a file that cannot be read; the
reason is on the error output. It imports nothing of longmark, since starting it must be quick (`records.sheets` starts
it).
"""

from __future__ import annotations

import json
import posixpath
import re
import sys
import zipfile
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

REFUSED = 3
_MARKS = re.compile(rb"""t\s*=\s*["']e["']|<(?:\w+:)?f[\s>/]""")
Unreadable = dict[tuple[int, int], str]


def main(path: str, most_cells: int, most_bytes: int, most_seconds: int) -> int:
    _limit(most_bytes, most_seconds)
    try:
        import python_calamine as calamine

        book = calamine.CalamineWorkbook.from_path(path)
        remarks: tuple[int, list[list[Any]]] | None = None  # the first sheet that is no table
        for number, name in enumerate(book.sheet_names):
            sheet = book.get_sheet_by_index(number)
            last_row, last_column = sheet.end or (-1, -1)
            if (last_row + 1) * (last_column + 1) > most_cells:
                raise ValueError(
                    f"the sheet {name} has {last_row + 1:,} rows of {last_column + 1:,} columns, more than "
                    f"{most_cells:,} cells; delete empty rows and columns, or save it as CSV"
                )
            rows = sheet.to_python(skip_empty_area=False)
            if _is_table(rows):
                _print(rows, _unreadable(path, number))
                return 0
            if rows and remarks is None:
                remarks = number, rows
        if remarks is not None:
            number, rows = remarks
            _print(rows, _unreadable(path, number))
    except MemoryError:
        print(
            f"it needs more than {most_bytes >> 20:,} MiB of memory; save it as CSV",
            file=sys.stderr,
        )
        return REFUSED
    except Exception as error:
        print(" ".join(str(error).split()) or type(error).__name__, file=sys.stderr)
        return REFUSED
    return 0


def _is_table(rows: list[list[Any]]) -> bool:
    """Whether a sheet has two rows of several cells; one of remarks has none, nor has a list in one column."""
    return len([row for row in rows if sum(cell != "" for cell in row) > 1]) > 1


def _limit(most_bytes: int, most_seconds: int) -> None:
    """Of memory and CPU, where the system has such limits."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = {
        resource.RLIMIT_AS: most_bytes,
        resource.RLIMIT_CPU: most_seconds,
        resource.RLIMIT_CORE: 0,
    }
    for kind, limit in limits.items():
        try:
            resource.setrlimit(kind, (limit, limit))
        except (ValueError, OSError):  # macOS refuses a limit of the address space
            continue


def _print(rows: list[list[Any]], unreadable: Unreadable) -> None:
    out = sys.stdout
    for number, row in enumerate(rows):
        cells = [
            {"unreadable": unreadable[number, column]}
            if (number, column) in unreadable
            else _cell(value)
            for column, value in enumerate(row)
        ]
        out.write(json.dumps(cells) + "\n")
    out.flush()


def _cell(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _unreadable(path: str, number: int) -> Unreadable:
    """(row, column), from 0 -> why the cell has no value, though it is not empty. calamine gives "" for these."""
    unreadable: Unreadable = {}
    with zipfile.ZipFile(path) as book:
        member = _member(book, number)
        if member is None or not _may_have_some(book, member):
            return unreadable
        row = column = -1
        with book.open(member) as file:
            for event, element in ElementTree.iterparse(file, ("start", "end")):
                tag = element.tag.rpartition("}")[2]
                if tag == "row" and event == "start":
                    row = int(element.get("r", row + 2)) - 1
                    column = -1
                elif tag == "c" and event == "start":
                    column = _column(element.get("r", ""), column + 1)
                elif tag == "c":
                    value = next((child for child in element if child.tag.endswith("}v")), None)
                    formula = any(child.tag.endswith("}f") for child in element)
                    text = "" if value is None else value.text or ""
                    if element.get("t") == "e":
                        unreadable[row, column] = f"holds the error {text}"
                    elif formula and value is None:
                        unreadable[row, column] = (
                            "holds a formula without a stored value; open and save the file"
                        )
                    element.clear()
                elif tag == "row":
                    element.clear()
    return unreadable


def _may_have_some(book: zipfile.ZipFile, member: str) -> bool:
    """Whether the sheet's text has a mark of an error or of a formula; most have none, and need not be parsed again."""
    before = b""
    with book.open(member) as file:
        while piece := file.read(1 << 20):
            if _MARKS.search(before + piece):
                return True
            before = piece[-20:]
    return False


def _column(reference: str, otherwise: int) -> int:
    """The column of a reference such as AB12, from 0."""
    letters = reference.rstrip("0123456789")
    if not letters:
        return otherwise
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter.upper()) - ord("A") + 1
    return number - 1


def _member(book: zipfile.ZipFile, number: int) -> str | None:
    """The part of the archive that holds this sheet; None where the book does not say."""
    try:
        sheets = ElementTree.fromstring(book.read("xl/workbook.xml"))
        links = ElementTree.fromstring(book.read("xl/_rels/workbook.xml.rels"))
    except (KeyError, ElementTree.ParseError):
        return None
    entries = list(_of(sheets, "sheet"))
    if number >= len(entries):
        return None
    relation = next(
        (value for key, value in entries[number].attrib.items() if key.endswith("}id")), None
    )
    target = next(
        (
            link.get("Target", "")
            for link in _of(links, "Relationship")
            if link.get("Id") == relation
        ),
        None,
    )
    if target is None:
        return None
    member = (
        target.lstrip("/")
        if target.startswith("/")
        else posixpath.normpath(posixpath.join("xl", target))
    )
    return member if member in book.namelist() else None


def _of(root: ElementTree.Element, tag: str) -> Iterator[ElementTree.Element]:
    return (element for element in root.iter() if element.tag.rpartition("}")[2] == tag)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1], *map(int, sys.argv[2:5])))
