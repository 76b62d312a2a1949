"""A table and its forms: aligned text, Markdown, LaTeX, CSV, JSON.

A table has items (the objects of a result) and columns; each column gets its cell from an item. The forms for people
(text, Markdown, LaTeX) round as the columns say and show a dash where there is no figure. CSV and JSON hold unrounded
figures, and an empty field or null where there is none. Foreign text is put on one line and escaped for each form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter, itemgetter
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import orjson

from longmark.records.metric_name import CITED
from longmark.records.write import spreadsheet
from longmark.report.format import NONE, fixed
from longmark.report.latex import Texts, fits, latex
from longmark.report.shown import PartShown
from longmark.stats.results import Estimate
from longmark.writing import folder as make_folder
from longmark.writing import replacing

if TYPE_CHECKING:
    from rich.console import Console

_LAST = 24
"""Characters; a last column of text may be folded into lines of this width."""
_WISHED = 32
_FIRST = 20
_NARROW = 16
"""Characters, in a narrow terminal: the width of the first column that others make room for, its least width, and the
width of the last column of text."""
_METHODS = 3
"""Methods of intervals that the note of a table names."""
_CLEARLY = 0.9
"""Effective clusters are shown below this share of the clusters."""
_SIGNATURES = 8  # printed below the tables, at most
_SUFFIXES = ("csv", "md", "tex", "json")


@dataclass(frozen=True, slots=True)
class Range:
    """The least and the greatest, in one cell; in CSV and JSON two fields, `KEY_low` and `KEY_high`."""

    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Best:
    """A cell in bold: the best of its column."""

    cell: Estimate | float | str | None


@dataclass(frozen=True, slots=True)
class PlacedEstimate(Estimate):
    """An estimate with decimals of its own (`format.decimals`), in a column of estimates of several metrics."""

    places: int = 3


def placed(estimate: Estimate | None, places: int) -> PlacedEstimate | None:
    """The estimate with these decimals, in place of its column's."""
    if estimate is None:
        return None
    values = {part.name: getattr(estimate, part.name) for part in fields(Estimate)}
    return PlacedEstimate(**values, places=places)


Cell = str | int | float | bool | Range | Estimate | Best | None
_EMPTY = (None, Range(None, None))
_OF_ESTIMATES = ("value", "low", "high", "n", "missing", "clusters", "method", "reason")
"""What CSV and JSON have of an estimate, a field each: `KEY`, `KEY_low`, `KEY_high`, `KEY_n`, ..."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    name    its head
    get     gives the cell of an item: a function, or an attribute path (`difference.estimate`); where it is not given,
            the attribute named like the field
    places  decimals of its numbers; None for whole numbers and text
    kind    "text", "number", "extremes" (`Range` cells, the least to the greatest), "estimate" (`Estimate` cells:
            value and interval in one cell; what else an estimate says is in further fields of the files, and for
            people in the columns of `readable`), "value" (the same, without its interval for people: for tables of many
            columns), "method" (text, only in CSV, JSON and on the page), "p" (a p-value: three decimals, `<0.001` below
            them) or "metric" (a metric's name; the page shows it in words too)
    key     its name in CSV and JSON; made from the head where it is not given
    words   its head in words, which the page shows above its name
    spare   a narrow terminal, and a LaTeX table too wide for a page, leave out the columns with a number here, the
            greatest first
    """

    name: str
    get: Callable[[Any], Any] | str | None = None
    places: int | None = None
    kind: str = ""
    key: str = ""
    spare: int = 0
    words: str = ""

    @property
    def field(self) -> str:
        return self.key or "_".join(
            "".join(c if c.isalnum() else " " for c in self.name.casefold()).split()
        )

    @property
    def fields(self) -> tuple[str, ...]:
        ends = (f"{self.field}_low", f"{self.field}_high")
        estimate = tuple(
            self.field if part == "value" else f"{self.field}_{part}" for part in _OF_ESTIMATES
        )
        fields = {"extremes": ends, "estimate": estimate, "value": estimate}
        return fields.get(self.kind, (self.field,))

    @property
    def numeric(self) -> bool:
        return self.kind in ("number", "extremes", "estimate", "value", "p") or (
            not self.kind and self.places is not None
        )


@dataclass(frozen=True, slots=True, repr=False)
class Table(PartShown):
    """name: the stem of its files; title: its heading; items: what its rows are about; note: how it was made, in a
    sentence or two; unit: what the first estimate of a row counts, "" for no count, None once that is shown
    (`readable`); linked: other parts of its page link to its rows. rows: the cells, made from the items by the columns."""

    name: str
    title: str
    columns: tuple[Column, ...]
    items: Sequence[Any]
    note: str = ""
    unit: str | None = "n"
    linked: bool = False
    rows: tuple[tuple[Any, ...], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        fields = [field for column in self.columns for field in column.fields]
        if len(set(fields)) < len(fields):
            raise ValueError(f"table {self.name}: two columns share a key: {', '.join(fields)}")
        # whether the columns say how to read an item, which may then be a tuple
        reads_items = all(callable(column.get) for column in self.columns)
        tuples = [] if reads_items else [item for item in self.items if type(item) is tuple]
        for row in tuples:
            if len(row) != len(self.columns):
                raise ValueError(
                    f"table {self.name}: {len(self.columns)} columns, but a row of {len(row)} cells"
                )
        getters = [_getter(column, i, bool(tuples)) for i, column in enumerate(self.columns)]
        object.__setattr__(
            self, "rows", tuple(tuple(get(item) for get in getters) for item in self.items)
        )

    def is_numeric(self, place: int) -> bool:
        """Whether the column at this place is set to the right: it says so, or holds nothing but numbers."""
        column = self.columns[place]
        if column.kind or column.places is not None:
            return column.numeric
        cells = [row[place] for row in self.rows if row[place] is not None]
        return bool(cells) and all(
            isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells
        )


def _getter(column: Column, place: int, tuples: bool) -> Callable[[Any], Cell]:
    if callable(column.get):
        return column.get
    return itemgetter(place) if tuples else attrgetter(str(column.get or column.field))


def cell_text(cell: Cell, column: Column) -> str:
    """A cell for people, without markup."""
    cell = cell.cell if isinstance(cell, Best) else cell
    if is_empty(cell):
        return NONE
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, Estimate):
        places = cell.places if isinstance(cell, PlacedEstimate) else column.places
        value, low, high = (_number(number, places) for number in (cell.value, cell.low, cell.high))
        return (
            f"{value} [{low}, {high}]" if cell.low is not None and column.kind != "value" else value
        )
    if isinstance(cell, Range):
        low = _number(cell.low, column.places)
        high = _number(cell.high, column.places)
        return low if cell.low == cell.high else f"{low} to {high}"
    if isinstance(cell, str):
        return one_line(cell)
    if column.kind == "p":
        return "<0.001" if cell is not None and cell < 0.001 else fixed(cell, 3)
    return _number(cell, column.places)


def _number(value: float | None, places: int | None) -> str:
    if places is not None or value is None:
        return fixed(value, places or 0)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def is_empty(cell: Cell) -> bool:
    """Whether there is nothing to show: no value, and of an estimate none either."""
    cell = cell.cell if isinstance(cell, Best) else cell
    return cell in _EMPTY or (isinstance(cell, Estimate) and cell.value is None)


def is_best(cell: Cell) -> bool:
    return isinstance(cell, Best)


def readable(table: Table) -> Table:
    """The table for people. Without columns that have no cell; its first column stays. Behind the estimates stands what
    they were made of: the count of each row's first estimate (`38 of 40` where some are missing), its clusters, and why
    an estimate or its interval is missing, unless another cell of the row says so; the note says what the brackets are.
    """
    places = [i for i, column in enumerate(table.columns) if column.kind == "estimate"]
    if places and table.unit is not None:
        table = _with_counts(table, places)
    return _kept(
        table, lambda i: not i or not table.rows or any(not is_empty(row[i]) for row in table.rows)
    )


def _with_counts(table: Table, places: Sequence[int]) -> Table:
    cells = [[_estimate(row[i]) for i in places] for row in table.rows]
    present = [[cell for cell in row if cell is not None] for row in cells]
    heads = []
    # counts stand right behind the estimates that they are of
    last = places[-1] + 1
    if table.unit:
        heads = [
            Column(table.unit, kind="number", key="(n)"),
            Column("clusters", kind="number", key="(clusters)", spare=1),
        ]
    heads.append(Column("reason", key="(reason)"))
    # the reason stands last: it is the widest, and wraps
    rows: list[list[Cell]] = []
    for row, estimates, row_cells in zip(table.rows, present, cells, strict=True):
        count_cells: list[Cell] = [_count(estimates), _clusters(estimates)] if table.unit else []
        names = [
            table.columns[i].name
            for i, cell in zip(places, row_cells, strict=True)
            if cell is not None
        ]
        why = _reasons(names, estimates)
        # a column of the table's own may say the same already
        texts_of_row = [cell for cell in row if isinstance(cell, str)]
        rows.append(
            [
                *row[:last],
                *count_cells,
                *row[last:],
                "; ".join(w for w in why if not any(w in x for x in texts_of_row)) or None,
            ]
        )
    columns = (*table.columns[:last], *heads[:-1], *table.columns[last:], heads[-1])
    table = replace(table, note=f"{table.note} {brackets(table)}".strip())
    columns = tuple(replace(column, get=itemgetter(i)) for i, column in enumerate(columns))
    return replace(table, columns=columns, items=rows, unit=None)


def brackets(table: Table) -> str:
    """What the brackets of estimates are: level and methods of the intervals; "" without one."""
    places = [place for place, column in enumerate(table.columns) if column.kind == "estimate"]
    cells = (_estimate(row[place]) for row in table.rows for place in places)
    drawn = [cell for cell in cells if cell is not None and cell.low is not None]
    methods_used = list(dict.fromkeys(cell.method for cell in drawn if cell.method))
    methods = f" ({', '.join(methods_used)})" if 0 < len(methods_used) <= _METHODS else ""
    levels = " and ".join(f"{100 * level:g} %" for level in sorted({cell.level for cell in drawn}))
    return f"In brackets: {levels} CI{methods}." if drawn else ""


def _reasons(names: Sequence[str], estimates: Sequence[Estimate]) -> list[str]:
    """Why estimates or intervals of a row are missing, each reason once; with the estimate's name if others have none
    or another."""
    why: dict[str, list[str]] = {}
    for name, estimate in zip(names, estimates, strict=True):
        for text in filter(None, dict.fromkeys((estimate.reason, estimate.remark))):
            why.setdefault(text, []).append(name)
    return [
        text if len(names_with) == len(estimates) else f"{', '.join(names_with)}: {text}"
        for text, names_with in why.items()
    ]


def _estimate(cell: Cell) -> Estimate | None:
    cell = cell.cell if isinstance(cell, Best) else cell
    return cell if isinstance(cell, Estimate) else None


def _count(estimates: Sequence[Estimate]) -> Cell:
    if not estimates:
        return None
    return (
        f"{estimates[0].n:,} of {estimates[0].n + estimates[0].missing:,}"
        if estimates[0].missing
        else estimates[0].n
    )


def _clusters(estimates: Sequence[Estimate]) -> Cell:
    """The clusters of the first estimate, and how many of one size would do as well where these are clearly fewer."""
    if not estimates or estimates[0].clusters is None or estimates[0].clusters == estimates[0].n:
        return None
    few = (
        estimates[0].effective is not None
        and estimates[0].effective < _CLEARLY * estimates[0].clusters
    )
    return (
        f"{estimates[0].clusters:,} ({estimates[0].effective:.1f} effective)"
        if few
        else estimates[0].clusters
    )


def main_columns(table: Table) -> Table:
    """The table without its columns of kind "method", which a terminal and a paper have no room for."""
    return _kept(table, lambda i: table.columns[i].kind != "method")


def _kept(table: Table, keep: Callable[[int], bool]) -> Table:
    columns = tuple(
        replace(column, get=itemgetter(i)) for i, column in enumerate(table.columns) if keep(i)
    )
    return replace(table, columns=columns, items=[list(row) for row in table.rows])


def one_line(text: str) -> str:
    """Foreign text on one line, without control characters: it may go to a terminal."""
    return "".join(char if char.isprintable() else " " for char in " ".join(text.split()))


def texts(table: Table, bold: str = "{}*", escape: Callable[[str], str] = str) -> list[list[str]]:
    """The cells of all rows, for people. bold: the form of the best cell of a column; escape: for each cell."""
    rows = []
    for row in table.rows:
        cells = [
            escape(cell_text(cell, column)) for cell, column in zip(row, table.columns, strict=True)
        ]
        rows.append(
            [
                bold.format(text) if is_best(cell) else text
                for text, cell in zip(cells, row, strict=True)
            ]
        )
    return rows


def _heads(table: Table) -> tuple[list[str], list[bool]]:
    """The heads, and which columns are set to the right."""
    return [one_line(column.name) for column in table.columns], [
        table.is_numeric(i) for i in range(len(table.columns))
    ]


def as_text(table: Table) -> str:
    """Aligned columns, two spaces between them."""
    table = readable(table)
    heads, right = _heads(table)
    # heads as a row: given as heads, tabulate would widen their columns
    return tabulated([heads, *texts(table)], (), "plain", right) + "\n"


def tabulated(
    rows: Sequence[Sequence[str]], heads: Sequence[str], form: str, right: Sequence[bool]
) -> str:
    """Cells in a form of tabulate, as they are. right: which columns are set to the right."""
    from tabulate import tabulate

    sides = ["right" if to_right else "left" for to_right in right]
    return tabulate(rows, heads, form, colalign=sides if rows else None, disable_numparse=True)


def as_markdown(table: Table) -> str:
    """A table for a README or an issue; what Markdown would read as markup is escaped."""
    table = readable(table)
    heads, right = _heads(table)
    return (
        tabulated(
            texts(table, "**{}**", markdown), [markdown(head) for head in heads], "pipe", right
        )
        + "\n"
    )


def as_html(table: Table) -> str:
    """A table for a notebook; every cell is escaped."""
    table = readable(table)
    heads, right = _heads(table)
    return tabulated(texts(table), heads, "html", right)


def markdown(text: str) -> str:
    for char in "\\|<>`*_[]":
        text = text.replace(char, "\\" + char)
    return text


def as_latex(table: Table, of: str = "", width: str = "") -> str:
    """A `table` with `booktabs` rules and the note below it; its label is `tab:NAME`, or `tab:OF:NAME` where it is said
    what the table belongs to. Its first line, a comment, says what it needs to compile. Columns with the
    highest `spare` are left out until the others fit the width of a page; the note names them. width: `column` or `page`
    of a document in two columns, where the table is a float (`table`, `table*`)."""
    narrowed = full = main_columns(readable(table))
    spare = [column.spare for column in full.columns]
    note = one_line(full.note)
    for most_spare in sorted({0, *spare}, reverse=True):
        narrowed = _kept(full, [spare_of <= most_spare for spare_of in spare].__getitem__)
        if fits(_plain_texts(narrowed), width):
            break
    if missing := ", ".join(column.name for column in full.columns if column.spare > most_spare):
        note = (
            f"{note} Left out for lack of room, but in the CSV file: {one_line(missing)}.".strip()
        )
    return latex(
        f"{of}:{table.name}" if of else table.name,
        one_line(table.title),
        _plain_texts(narrowed),
        note,
        width,
    )


def _plain_texts(table: Table) -> Texts:
    heads, right = _heads(table)
    bold = [list(map(is_best, row)) for row in table.rows]
    return Texts(heads, texts(table, "{}"), right, bold)


def as_csv(table: Table) -> str:
    """Unrounded figures; an empty field is a figure that does not exist."""
    heads = [field for column in table.columns for field in column.fields]
    return spreadsheet([heads, *(_plain(row, table.columns) for row in table.rows)])


def as_json(table: Table, signatures: Sequence[str] = ()) -> bytes:
    """`{"name", "title", "note", "rows": [{field: value}]}`, unrounded; `signatures` of the scores where there are
    any."""
    fields = [field for column in table.columns for field in column.fields]
    rows = [dict(zip(fields, _plain(row, table.columns), strict=True)) for row in table.rows]
    data: dict[str, Any] = {"name": table.name, "title": table.title, "note": table.note}
    data |= {"signatures": list(signatures)} if signatures else {}
    data["rows"] = rows
    return orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _plain(row: Sequence[Cell], columns: Sequence[Column]) -> list[str | int | float | bool | None]:
    plain: list[str | int | float | bool | None] = []
    for shown_cell, column in zip(row, columns, strict=True):
        cell = shown_cell.cell if isinstance(shown_cell, Best) else shown_cell
        if isinstance(cell, Estimate):
            plain += [getattr(cell, part) for part in _OF_ESTIMATES]
        elif isinstance(cell, Range):
            plain += [cell.low, cell.high]
        else:
            plain += [cell] if cell is not None else [None] * len(column.fields)
    return plain


def write_tables(
    tables: Iterable[Table],
    folder: Path,
    of: str = "",
    signatures: Sequence[str] = (),
    width: str = "",
) -> None:
    """Writes NAME.csv, NAME.md, NAME.tex and NAME.json of every table. of: what they belong to, for their labels in
    LaTeX, since two documents may have tables of one name; signatures: of the scores, for JSON; width: as for
    `as_latex`. UserError where the folder cannot be had."""
    make_folder(folder)
    for table in tables:
        title = markdown(one_line(table.title))
        note = markdown(one_line(readable(table).note))
        document = f"## {title}\n\n{as_markdown(table)}" + (f"\n{note}\n" if note else "")
        forms = (
            as_csv(table).encode(),
            document.encode(),
            as_latex(table, of, width).encode(),
            as_json(table, signatures),
        )
        for suffix, data in zip(_SUFFIXES, forms, strict=True):
            with replacing(folder / f"{table.name}.{suffix}") as file:
                file.write(data)


def signature_lines(signatures: Sequence[str], where: str) -> list[str]:
    """The signatures as they stand below printed tables; of more than eight their number. where: all of them are."""
    if len(signatures) > _SIGNATURES:
        return [f"{len(signatures)} signatures: see {where}."]
    return [f"{CITED} {one_line(line)}" for line in signatures]


def print_table(table: Table, console: Console) -> None:
    """Prints the table: drawn where the console is a terminal, else as `as_text` gives it.

    A last column of text may be folded. In a narrow terminal heads and the first column are folded too, and columns
    with `spare` are left out; a table that is still too wide is printed as `as_text` gives it.
    """
    table = main_columns(readable(table))
    (heads, right), rows = _heads(table), texts(table)
    cells = [max([len(row[place]) for row in rows], default=0) for place in range(len(heads))]
    widths = [max(pair) for pair in zip(cells, map(len, heads), strict=True)]
    places_shown = list(range(len(heads)))
    end = len(heads) - 1

    def room(last: int) -> int:
        """What the other columns leave for the first; there are two spaces between columns."""
        other_widths = sum(widths[place] + 2 for place in places_shown if place not in (0, end))
        return console.width - other_widths - (last + 2 if end else 0)

    first = widths[0]
    last = widths[-1] if right[-1] else min(widths[-1], _LAST)
    if console.is_terminal and room(last) < first:
        words = [max(map(len, head.split()), default=0) for head in heads]
        widths = [max(pair) for pair in zip(cells, words, strict=True)]
        last = widths[-1] if right[-1] else min(widths[-1], max(_NARROW, words[-1]))
        spare = sorted(
            (i for i in range(1, end) if table.columns[i].spare),
            key=lambda i: table.columns[i].spare,
        )
        while spare and room(last) < min(widths[0], _WISHED):
            places_shown.remove(spare.pop())
        first = min(widths[0], max(_FIRST, room(last)))
    if not console.is_terminal or room(last) < first:
        console.file.write(as_text(table))
        return
    from rich import box
    from rich.table import Table as Drawn
    from rich.text import Text

    if end:
        widths[0], widths[end] = first, min(widths[end], last + room(last) - first)
    drawn = Drawn(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        collapse_padding=True,
        header_style="bold",
    )
    for place in places_shown:
        side: Any = "right" if right[place] else "left"
        drawn.add_column(Text(heads[place]), justify=side, overflow="fold", width=widths[place])
    for row in rows:
        drawn.add_row(*(Text(row[place]) for place in places_shown))
    console.print(drawn)
    if len(places_shown) < len(heads):
        missing = ", ".join(head for place, head in enumerate(heads) if place not in places_shown)
        console.file.write(fill(f"Left out for lack of room: {missing}", console.width) + "\n")
