"""A table of figures, and the forms it goes out in: aligned text, Markdown, LaTeX, CSV, JSON.

People's forms (text, Markdown, LaTeX) round as the columns say and write a dash where there is no figure; machines'
forms (CSV, JSON) hold the unrounded figures, and an empty field or null where there is none. Foreign text is put on one
line and escaped for each form.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from longmark.errors import UserError
from longmark.latex import latex
from longmark.records.write import replacing

if TYPE_CHECKING:
    from rich.console import Console

NONE = "–"
_SUFFIXES = ("csv", "md", "tex", "json")


@dataclass(frozen=True, slots=True)
class Range:
    """An interval in one cell; in CSV and JSON two fields, `KEY_low` and `KEY_high`."""

    low: float | None
    high: float | None


Cell = str | int | float | bool | Range | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column. name: its head; places: decimals of its numbers, None for whole numbers and text.

    kind: "text", "number", "range" (of `Range` cells) or "p" (a p-value: three decimals, `<0.001` below them).
    key: its name in CSV and JSON; made of the head where it is not given.
    """

    name: str
    places: int | None = None
    kind: str = ""
    key: str = ""

    @property
    def field(self) -> str:
        return self.key or "_".join("".join(c if c.isalnum() else " " for c in self.name.casefold()).split())

    @property
    def fields(self) -> tuple[str, ...]:
        return (f"{self.field}_low", f"{self.field}_high") if self.kind == "range" else (self.field,)

    @property
    def numeric(self) -> bool:
        return self.kind in ("number", "range", "p") or (not self.kind and self.places is not None)


@dataclass(frozen=True, slots=True)
class Table:
    """name: the stem of its files; title: its heading; note: how it was made, in a sentence or two."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.name}: {len(self.columns)} columns, but a row of {len(row)} cells")
        fields = [field for column in self.columns for field in column.fields]
        if len(set(fields)) < len(fields):
            raise ValueError(f"table {self.name}: two columns share a key: {', '.join(fields)}")

    def is_numeric(self, place: int) -> bool:
        """Whether the column at this place is set to the right: it says so, or holds nothing but numbers."""
        column = self.columns[place]
        if column.kind or column.places is not None:
            return column.numeric
        cells = [row[place] for row in self.rows if row[place] is not None]
        return bool(cells) and all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells)


def cell_text(cell: Cell, column: Column) -> str:
    """A cell for people."""
    if cell is None:
        return NONE
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, Range):
        if cell.low is None and cell.high is None:
            return NONE
        return f"[{_number(cell.low, column.places)}, {_number(cell.high, column.places)}]"
    if isinstance(cell, str):
        return one_line(cell)
    if column.kind == "p":
        return "<0.001" if cell < 0.001 else f"{cell:.3f}"
    return _number(cell, column.places)


def _number(value: float | None, places: int | None) -> str:
    """As many decimals as asked, thousands with a comma; never a minus before a zero."""
    if value is None:
        return NONE
    if places is None:
        return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
    text = f"{value:,.{places}f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.,") else text


def filled(table: Table) -> Table:
    """The table without columns that have no cell, for people; its first column stays."""
    places = [
        i
        for i in range(len(table.columns))
        if not i or not table.rows or any(row[i] not in (None, Range(None, None)) for row in table.rows)
    ]
    columns = tuple(table.columns[i] for i in places)
    return replace(table, columns=columns, rows=tuple(tuple(row[i] for i in places) for row in table.rows))


def one_line(text: str) -> str:
    """Foreign text on one line, without control characters: it may go to a terminal."""
    return "".join(char if char.isprintable() else " " for char in " ".join(text.split()))


def texts(table: Table) -> list[list[str]]:
    """The cells of all rows, for people."""
    return [[cell_text(cell, column) for cell, column in zip(row, table.columns, strict=True)] for row in table.rows]


def as_text(table: Table) -> str:
    """Aligned columns, two spaces or more between them."""
    heads = [one_line(column.name) for column in table.columns]
    return aligned(heads, texts(table), [table.is_numeric(i) for i in range(len(heads))])


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """Lines of cells under their heads. right: which columns are set to the right."""
    lines = [heads, *rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(heads))]
    return "".join(
        "  ".join(
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(line, widths, right, strict=True)
        ).rstrip()
        + "\n"
        for line in lines
    )


def as_markdown(table: Table) -> str:
    """A table for a README or an issue; what Markdown would read as markup is escaped."""
    marks = ["---:" if table.is_numeric(i) else "---" for i in range(len(table.columns))]
    body = [[markdown(cell) for cell in row] for row in texts(table)]
    lines = [[markdown(one_line(column.name)) for column in table.columns], marks, *body]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def markdown(text: str) -> str:
    for char in "\\|<>`*_[]":
        text = text.replace(char, "\\" + char)
    return text


def as_latex(table: Table, of: str = "") -> str:
    """A `table` with `booktabs` rules and the note below it; its label is `tab:NAME`, or `tab:OF:NAME` where it is said
    what the table belongs to. Its first line, a comment, says what it needs to compile."""
    heads = [one_line(column.name) for column in table.columns]
    right = [table.is_numeric(i) for i in range(len(heads))]
    name = f"{of}:{table.name}" if of else table.name
    return latex(name, one_line(table.title), heads, texts(table), right, one_line(table.note))


def as_csv(table: Table) -> str:
    """Unrounded figures; an empty field is a figure that does not exist."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([field for column in table.columns for field in column.fields])
    writer.writerows([_plain(row, table.columns) for row in table.rows])
    return out.getvalue()


def as_json(table: Table) -> bytes:
    """`{"name", "title", "note", "rows": [{field: value}]}`, unrounded."""
    fields = [field for column in table.columns for field in column.fields]
    rows = [dict(zip(fields, _plain(row, table.columns), strict=True)) for row in table.rows]
    whole = {"name": table.name, "title": table.title, "note": table.note, "rows": rows}
    return orjson.dumps(whole, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _plain(row: Sequence[Cell], columns: Sequence[Column]) -> list[str | int | float | bool | None]:
    plain: list[str | int | float | bool | None] = []
    for cell, column in zip(row, columns, strict=True):
        if isinstance(cell, Range):
            plain += [cell.low, cell.high]
        elif column.kind == "range":
            plain += [None, None]
        else:
            plain.append(cell)
    return plain


def write_tables(tables: Iterable[Table], folder: Path, of: str = "") -> None:
    """Writes NAME.csv, NAME.md, NAME.tex and NAME.json of every table. of: what they belong to, for their labels in
    LaTeX, since two documents may have tables of one name. UserError where the folder cannot be had."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make the folder {folder} ({error.strerror}); give another --out") from error
    for table in tables:
        title, note = markdown(one_line(table.title)), markdown(one_line(table.note))
        document = f"## {title}\n\n{as_markdown(table)}" + (f"\n{note}\n" if note else "")
        forms = (as_csv(table).encode(), document.encode(), as_latex(table, of).encode(), as_json(table))
        for suffix, data in zip(_SUFFIXES, forms, strict=True):
            with replacing(folder / f"{table.name}.{suffix}") as file:
                file.write(data)


def print_table(table: Table, console: Console) -> None:
    """Prints the table: drawn where the console is a terminal that is wide enough, else as `as_text` gives it. No name
    is cut or wrapped."""
    heads = [one_line(column.name) for column in table.columns]
    print_cells(heads, texts(table), [table.is_numeric(i) for i in range(len(heads))], console)


def print_cells(
    heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool], console: Console, last: int = 0
) -> None:
    """Prints cells under their heads. last: room in characters that the last column may be folded into; 0: never."""
    plain = aligned(heads, rows, right)
    widths = [max(len(line[place]) for line in [heads, *rows]) for place in range(len(heads))]
    needed = sum(width + 2 for width in widths) if not last else sum(width + 2 for width in widths[:-1]) + last
    if not console.is_terminal or console.width < needed:
        console.file.write(plain)
        return
    from rich import box
    from rich.table import Table as Drawn
    from rich.text import Text

    drawn = Drawn(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for place, head in enumerate(heads):
        folded = bool(last) and place == len(heads) - 1
        drawn.add_column(Text(head), justify="right" if right[place] else "left", no_wrap=not folded, overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    console.print(drawn)
