"""The page of compare, metrics-study, metaeval and the studies: sections with a sentence, figures and tables.

It is one file that opens offline, with the look and the rules of a run's report (`html.py`) and no script. Its figures
are also files, in `figures/` beside it. The same document gives the same bytes on the same machine.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from itertools import accumulate, groupby
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markupsafe import Markup

import longmark
from longmark.errors import UserError
from longmark.report.figures import WIDTH, Figure, inline, rendered, write_figure
from longmark.report.format import metric_titles, upright
from longmark.report.page import breaks, refuse_to_destroy, render, write_page
from longmark.report.reasons import Places
from longmark.report.shown import PartShown
from longmark.report.support import Piece
from longmark.report.tables import (
    Cell,
    Column,
    Table,
    brackets,
    cell_text,
    is_best,
    is_empty,
    one_line,
    print_table,
    readable,
    signature_lines,
    write_tables,
)
from longmark.writing import check_within

if TYPE_CHECKING:
    from rich.console import Console

MOST_ROWS = 500
"""Rows of a table on the page; the files of the table have all of them."""
_LONG = 24
"""A table with more rows scrolls inside its frame, and its head stays in sight."""
_BESIDE = 8
"""Rows; a longer table is folded where figures show it."""
_LONG_NOTE = 200
"""Characters; a longer note of a section is folded."""
_WORDS = 40
"""Characters; a column of text with a longer cell than this is set as sentences."""
_ALIKE = 3
"""Sections in a row whose titles begin alike, that have a link each."""
_OPEN = 6_900
_PART = 2_600
"""Pixels on a screen 390 wide, about: of what is open on a page, and of the figures of a section or a table. What does
not fit is folded."""
_PHONE = 44
_BETWEEN = 3
"""Characters: the width of a phone's screen, and the space between two columns. A broader table is cards there."""
_OF_THE_ARRAYS = ("numpy", "scipy", "matplotlib")
_PRINTED = 60
"""Rows of a table that are printed; a longer one is for the files."""


@dataclass(frozen=True, slots=True)
class MarkedAnswer:
    """An answer with its evidence in the text. title: its heading; sentences: pieces (`support.sentences_view`), each
    with the places that are highlighted in it; notes: what these are, a line each."""

    title: str
    sentences: Sequence[tuple[Piece, Places]]
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class AnswerSide:
    """An answer beside another one. shown_id: what it is called, "" for as its question; about: what it is, in words;
    html: its text, with what the other does not have marked (`rich_diff`), foreign text escaped."""

    system: str
    shown_id: str
    about: str
    html: Markup


@dataclass(frozen=True, slots=True)
class AnswersBeside:
    """Two answers to a question, old and new. title: the question; about: what it is; changes: of each metric its title,
    both scores and what became of them, the one that matters most first; row: the id of the row of a table about them
    (`row_id`); groups: the choices they are in; reason: why no word is marked, "" where some are."""

    title: str
    about: str
    old: AnswerSide
    new: AnswerSide
    changes: Sequence[tuple[str, str, str, str]] = ()
    row: str = ""
    groups: Sequence[str] = ()
    reason: str = ""
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class ChoiceOfPairs:
    """A set of the pairs of a section that a reader can choose. on_page: how many of them the page has, of `total`."""

    name: str
    on_page: int
    total: int


@dataclass(frozen=True, slots=True, repr=False)
class Section(PartShown):
    """A part of the page. title: its heading; says: what it shows, in a sentence or two; points: what it shows of each
    of several things, a line each; note: how to read it; links: to pages that belong to this one, (path from its folder,
    words); folded: the page shows its heading, and the rest once that is opened; brief: how many of its first tables are
    printed without --verbose; answers: on the page alone, the first of them open if it is short; beside: pairs of
    answers, on the page alone; choices: sets of these, the first of which is chosen at first. All plain text."""

    title: str
    says: str
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()
    note: str = ""
    links: Sequence[tuple[str, str]] = ()
    folded: bool = False
    brief: int = 0
    answers: Sequence[MarkedAnswer] = ()
    beside: Sequence[AnswersBeside] = ()
    choices: Sequence[ChoiceOfPairs] = ()
    points: Sequence[str] = ()

    @property
    def in_words(self) -> str:
        return " ".join(filter(None, (self.says, *self.points)))


def folded_after(sections: Sequence[Section], first: int = 2) -> tuple[Section, ...]:
    """The sections, folded but for the first ones: a page is read from its conclusions."""
    return tuple(replace(section, folded=place >= first) for place, section in enumerate(sections))


@dataclass(frozen=True, slots=True, repr=False)
class Document(PartShown):
    """A page. kind: what it is, as `comparison`; title, lede: its heading and the line below it; notices: what a reader
    must know before believing it; settings: how it was made, name -> a JSON value; signatures: what to cite of each
    score. All plain text."""

    kind: str
    title: str
    lede: str
    sections: Sequence[Section]
    notices: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    signatures: Sequence[str] = ()


def write_document(document: Document, path: Path) -> None:
    """Writes each figure as `figures/NAME.svg`, `.pdf` and `.png` beside the page, then the page, whole or not at all.

    Errors: UserError where `path` cannot be written, does not end in .html or .htm, or is a file that is not an earlier
    page of longmark; MissingExtra where there is a figure to draw and matplotlib is not installed.
    """
    refuse_to_destroy(path)
    check_within(path.parent, path.parent / "figures")
    ids = _names([section.title for section in document.sections], {"settings", "content"})
    pairs = list(zip(ids, document.sections, strict=True))
    drawn = _drawn(document, path.parent / "figures")
    versions = {
        "longmark": longmark.__version__,
        "Python": platform.python_version(),
        "Packages": _arrays(),
    }
    values: dict[str, Any] = {
        "made": f"longmark {longmark.__version__}",
        "title": upright(document.title),
        "heading": document.title,
        "lede": document.lede,
        "notices": document.notices,
        "contents": [*_contents(pairs), ("settings", "Provenance")],
        "settings": {**document.settings, **versions},
        "signatures": document.signatures,
        "sections": _laid_out(
            document, [(*pair, figures) for pair, figures in zip(pairs, drawn, strict=True)]
        ),
        "long_note": _LONG_NOTE,
        "quote": quote,
        "width": WIDTH,
    }
    write_page(path, render("document.html.j2", **values))


def _contents(sections: Sequence[tuple[str, Section]]) -> Iterator[tuple[str, str]]:
    """A link to each section; one to more than three whose titles begin alike (`Distribution: …`)."""
    for kind, group in groupby(
        sections, key=lambda named_section: named_section[1].title.partition(": ")[0]
    ):
        links = [(name, section.title) for name, section in group]
        yield from links if len(links) <= _ALIKE else [(links[0][0], f"{kind} ({len(links)})")]


_Drawn = list[tuple[Figure, str]]


def _laid_out(
    document: Document, drawn: Sequence[tuple[str, Section, _Drawn]]
) -> list[dict[str, Any]]:
    """The sections for the template. Folded is what the section says, what its figures show in fewer words, and what
    would make the page too long on a phone: of the figures of a section those behind the first, of tables the high
    ones but for the page's first, which scrolls in its frame; then whole sections."""
    closed = sum(70 if section.folded else 25 for _, section, _ in drawn)
    left = _OPEN - closed - sum(map(_lines, document.notices))
    laid_out = list[dict[str, Any]]()
    for name, section, figures in drawn:
        height = 60 + sum(map(_lines, (section.says, *section.points))) + _beside_height(section)
        height += 50 * len(section.answers)
        answer_height = _answer_height(section.answers[0]) if section.answers else 0.0
        opens_answer = answer_height <= _ANSWER
        height += answer_height if opens_answer else 0.0
        table_height = 0.0
        tables = list[tuple[dict[str, Any], bool]]()
        heights = accumulate(figure.height + 50 for figure, _ in figures)
        first = [
            figure for figure, high in zip(figures, heights, strict=True) if high <= _PART
        ] or figures[:1]
        height += sum(figure.height + 50 for figure, _ in first)
        for place, table in enumerate(section.tables):
            data = table_data(table)
            table_height = _height(data)
            if not laid_out and not place and table_height > _PART:
                data["long"] = True
            beside = bool(figures) and (place > 0 or len(table.rows) > _BESIDE)
            folded = beside or (bool(laid_out or place) and table_height > _PART)
            tables.append((data, folded))
            height += 30 if folded else min(table_height, _FRAME) if data["long"] else table_height
        folded = section.folded or (bool(laid_out) and height > left)
        left -= 0 if folded else height
        parts = {"figures": first, "more": figures[len(first) :], "tables": tables}
        parts["opens_answer"] = opens_answer
        laid_out.append({"id": name, "section": section, "folded": folded, **parts})
    return laid_out


def _beside_height(section: Section) -> float:
    """The height on a phone, about, of the pairs of answers that are shown at first."""
    chosen = section.choices[0].name if section.choices else None
    visible = [pair for pair in section.beside if chosen is None or chosen in pair.groups]
    opened = [pair for pair in visible if pair.is_open]
    texts = [side.html.striptags() for pair in opened for side in (pair.old, pair.new)]
    return 110 * len(visible) + sum(100 + _lines(text) for text in texts)


_ANSWER = 1_600
"""Pixels on a phone of an answer by its sentences that is open at first."""


def _answer_height(answer: MarkedAnswer) -> float:
    """The height of an answer on a phone, about: its sentences, and what stands beside each."""
    height = 0.0
    for piece, _ in answer.sentences:
        height += _lines(piece.text)
        for note in piece.notes:
            words = [note.get("claim", ""), note.get("says", "")]
            words += [(text or "")[:300] for _, _, text in note.get("passages", ())]
            height += sum(map(_lines, words))
    return height


_FRAME = 700
"""Pixels of a table that scrolls, with its title and note."""


def _lines(text: str) -> float:
    """The height of a text on a phone, about."""
    return 25 * (len(text) / 42 + 1) if text else 0


def _height(data: Mapping[str, Any]) -> float:
    """The height of a table on a phone, about: a line for each cell where its rows are cards."""
    filled = sum(1 + sum(kind != "blank" for _, kind in row) for row in data["rows"])
    return 40 + _lines(data["note"]) + (30 * filled if data["broad"] else 40 * len(data["rows"]))


def check_out(out: Path | None) -> None:
    """UserError where `out` cannot be a folder, or its `report.html` is not an earlier page of longmark. Called before
    anything is computed."""
    if out is None:
        return
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; give a folder to --out")
    if out.suffix.lower() in (".html", ".htm") and not out.exists():
        folder = out.with_suffix("")
        raise UserError(
            f"--out is a folder, for tables, figures and a page; with --out {folder} the page is "
            f"{folder / 'report.html'}"
        )
    refuse_to_destroy(out / "report.html")


def brief(document: Document) -> Document:
    """What is printed without --verbose: of each section as many tables as it says, and how to print all of them."""
    printed = [
        replace(section, tables=section.tables[: section.brief])
        for section in document.sections
        if section.brief
    ]
    if printed:
        note = f"{printed[-1].note} --verbose prints every table; --out DIR writes them, with figures.".strip()
        printed[-1] = replace(printed[-1], note=note)
    return replace(document, sections=printed)


def publish(
    document: Document,
    out: Path | None,
    console: Console,
    *,
    verbose: bool = True,
    width: str | None = None,
) -> None:
    """Prints every section: its title, what it says, its tables. With `out` first writes
    `out/report.html`, every figure as `out/figures/NAME.svg`, `.pdf` and `.png`, and every table as
    `out/tables/NAME.csv`, `.md`, `.tex` and `.json`, so that `| head` still leaves all files. verbose: prints the
    whole document, else what is `brief`; width: of the tables in LaTeX (`tables.as_latex`).

    Errors: those of `check_out` and of `write_document`.
    """
    check_out(out)
    if out is not None:
        tables = [table for section in document.sections for table in section.tables]
        check_within(out, out / "tables")
        write_tables(tables, out / "tables", document.kind, document.signatures, width or "")
        write_document(document, out / "report.html")
    _print(document if verbose else brief(document), out, console)
    if out is not None:
        figures = (
            f"Figures: {out / 'figures'}\n"
            if any(section.figures for section in document.sections)
            else ""
        )
        console.file.write(f"\nTables: {out / 'tables'}\n{figures}Report: {out / 'report.html'}\n")


def _print(document: Document, folder: Path | None, console: Console) -> None:
    write = console.file.write

    def lines(text: str) -> str:
        return (
            fill(one_line(text), console.width, break_on_hyphens=False)
            if console.is_terminal
            else one_line(text)
        )

    for notice in document.notices:
        write(f"{lines(f'Note: {notice}')}\n")
    for section in document.sections:
        write(f"\n{one_line(section.title)}\n")
        says = [section.says] if section.says else []
        for text in [*says, *section.points] or [""]:
            write(f"{lines(text)}\n")
        for table in section.tables:
            if len(section.tables) > 1 and table.title != section.title:
                write(f"\n{one_line(table.title)}")
            write("\n")
            print_table(replace(table, items=table.items[:_PRINTED]), console)
            if note := brackets(table):
                write(f"{lines(note)}\n")
            if (unprinted := len(table.rows) - _PRINTED) > 0:
                remedy = (
                    f"all are in {folder / 'tables' / table.name}.csv"
                    if folder
                    else "--out DIR writes them all"
                )
                write(f"… and {unprinted:,} more rows; {remedy}\n")
        if section.note:
            write(f"{lines(section.note)}\n")
    if document.signatures:
        remedy = (
            f"Provenance in {folder / 'report.html'}"
            if folder
            else "Provenance on the page that --out DIR writes"
        )
        write("\n" + "".join(f"{line}\n" for line in signature_lines(document.signatures, remedy)))


def _drawn(document: Document, folder: Path) -> list[list[tuple[Figure, str]]]:
    """The figures of each section with their SVG. Their files are written to the folder, named by section and label."""
    all_ = [(section.title, figure) for section in document.sections for figure in section.figures]
    names = iter(
        _names([f"{title} {figure.label.partition(' (')[0]}" for title, figure in all_], set(), 100)
    )
    by_section: list[list[tuple[Figure, str]]] = []
    for section in document.sections:
        by_section.append([])
        for figure, name in zip(section.figures, names, strict=False):
            files = rendered(figure, salt=name)
            if files:
                write_figure(files, folder, name)
            # `rendered` escapes every text in the SVG
            by_section[-1].append((figure, Markup(inline(files["svg"])) if files else ""))
    return by_section


def _names(titles: Sequence[str], taken_names: set[str], longest: int = 60) -> list[str]:
    """A name for each title, for addresses and files: its letters and digits, at most `longest`, numbered where two would
    be alike. taken_names: names that are not given."""
    names: list[str] = []
    for title in titles:
        plain = "".join(
            char if char.isascii() and char.isalnum() else " " for char in title.casefold()
        )
        name = "-".join(plain.split())[:longest].strip("-") or "part"
        names_in_use = {*names, *taken_names}
        names.append(
            name
            if name not in names_in_use
            else next(f"{name}-{i}" for i in range(2, 9999) if f"{name}-{i}" not in names_in_use)
        )
    return names


def table_data(table: Table, limit: int | None = MOST_ROWS) -> dict[str, Any]:
    """The table as its template needs it: texts with a class for each cell (`number`, `words`, `blank`). limit: rows;
    None: all, where no file has them."""
    whole_table = readable(table)
    rows = whole_table.rows[:limit]
    widths = [  # characters of the longest cell, or of the longest word of the head
        max([1, *(len(cell_text(row[i], column)) for row in rows), *map(len, column.name.split())])
        for i, column in enumerate(whole_table.columns)
    ]
    kinds = [
        "number" if whole_table.is_numeric(i) else "words" if widths[i] > _WORDS else ""
        for i in range(len(widths))
    ]
    heads = [_named(column.words or column.name, column.name) for column in whole_table.columns]
    metrics = [i for i, column in enumerate(whole_table.columns) if column.kind == "metric"]
    titles = metric_titles({str(row[i]): None for row in rows for i in metrics})
    return {
        "name": table.name,
        "ids": [row_id(table, place) for place in range(len(rows))] if table.linked else [],
        "title": table.title,
        "note": whole_table.note,
        "columns": list(zip(heads, kinds, strict=True)),
        "labels": [upright(column.words or column.name) for column in whole_table.columns],
        "rows": [
            [_cell(*cell, titles) for cell in zip(row, whole_table.columns, kinds, strict=True)]
            for row in rows
        ],
        "total": len(table.rows),
        "long": len(table.rows) > _LONG,
        "broad": sum(widths) + _BETWEEN * len(widths) > _PHONE,
    }


def row_id(table: Table, place: int) -> str:
    """The id on the page of a row of a table that is linked to."""
    return f"row-{table.name}-{place + 1}"


def _cell(cell: Cell, column: Column, kind: str, titles: Mapping[str, str]) -> tuple[str, str]:
    """The cell's HTML or text, and its class. titles: metrics' names in words."""
    kind = kind if not is_empty(cell) or kind == "number" else "blank"
    if not isinstance(cell, str):
        text = cell_text(cell, column)
        return Markup("<strong>{}</strong>").format(text) if is_best(cell) else text, kind
    return _named(titles[cell] if column.kind == "metric" else cell, cell), kind


def _named(words: str, name: str) -> Markup:
    """A name in words with the name itself below, or the name alone where they are alike."""
    if words.casefold() == name.casefold():
        return Markup(f"<bdi>{breaks(name)}</bdi>")
    return Markup(f"<bdi>{breaks(words)}</bdi> <code>{breaks(name)}</code>")


def _arrays() -> dict[str, Any]:
    """Versions of the packages that did the arithmetic, where they are installed."""
    versions = {}
    for name in _OF_THE_ARRAYS:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions
