"""The page of a study-like verb: sections with a sentence, a figure and its tables, in one file that opens offline.

It has the look and the rules of the report of a run (`html.py`), and no script at all. Its figures are also files, in
`figures/` beside it. The same document gives the same bytes on the same machine.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import quote

import longmark
from longmark.report.figures import WIDTH, Figure, inline, rendered, write_figure
from longmark.report.markup import flat, line, pairs, plural, scrolling, text, upright
from longmark.report.numbers import whole
from longmark.report.page import head, refuse_to_destroy, template, write_page
from longmark.tables import Cell, Column, Table, cell_text, filled

MOST_ROWS = 500
"""Rows of a table on the page; the files of the table have all of them."""
_LONG = 24
"""A table of more rows scrolls inside its frame, its head staying in sight."""
_WORDS = 40
"""Characters; a column of text with a longer cell than this is set as sentences."""
_PHONE, _BETWEEN = 44, 3
"""Characters that a telephone is wide, and that stand between two columns: a broader table is cards there."""
_BREAK = re.compile(r"(?<=\w)([._-])(?=[^\W\d])")
"""Where a name may go on in the next line: after a dot, a low line or a hyphen inside it."""
_OF_THE_ARRAYS = ("numpy", "scipy", "matplotlib")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page. title: its heading; says: what it shows, in a sentence or two; note: how to read it; points:
    what was found, in words, a sentence or two each; links: to pages that belong to this one, (path from its folder,
    words). All plain text."""

    title: str
    says: str
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()
    note: str = ""
    points: Sequence[str] = ()
    links: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A page. kind: what it is, as `comparison`; title, lede: its heading and the line below it; notices: what a reader
    must know before believing it; settings: how it was made, name -> a JSON value. All plain text."""

    kind: str
    title: str
    lede: str
    sections: Sequence[Section]
    notices: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


def write_document(document: Document, path: Path) -> None:
    """Writes each figure as `figures/NAME.svg`, `.pdf` and `.png` beside the page, then the page, whole or not at all.

    Errors: UserError where `path` cannot be written, does not end in .html or .htm, or is a file that is not an earlier
    page of longmark; MissingExtra where there is a figure to draw and matplotlib is not installed.
    """
    refuse_to_destroy(path)
    names = _names([section.title for section in document.sections], {"settings", "content"})
    drawn = _drawn(document, path.parent / "figures")
    write_page(path, _page(document, names, drawn))


def _drawn(document: Document, folder: Path) -> list[list[str]]:
    """The figures of each section as HTML. Their files are written to the folder, named after section and label."""
    titles = [
        f"{section.title} {one.label.partition(' (')[0]}" for section in document.sections for one in section.figures
    ]
    names = iter(_names(titles, set(), 100))
    found: list[list[str]] = []
    for section in document.sections:
        found.append([])
        for figure in section.figures:
            name = next(names)
            files = rendered(figure, salt=name)
            if files:
                write_figure(files, folder, name)
            found[-1].append(_framed(figure, inline(files["svg"]) if files else ""))
    return found


def _framed(figure: Figure, svg: str) -> str:
    """A figure under its label, what it shows and how it is read. A broad one scrolls inside its own frame."""
    parts = [f'<p class="plot-name"><strong>{text(figure.label)}</strong></p>']
    parts += [f'<p class="finding">{text(figure.says)}</p>'] if figure.says else []
    parts += [f'<p class="{"reading" if svg else "none"}">{text(figure.reading)}</p>'] if figure.reading else []
    broad = figure.width > WIDTH
    kind = "plot broad" if broad else "plot"
    drawn = scrolling(figure.label, svg) if broad else svg
    return f'<figure class="{kind}"><figcaption>{"".join(parts)}</figcaption>{drawn}</figure>\n'


def _page(document: Document, names: Sequence[str], drawn: Sequence[Sequence[str]]) -> Iterator[bytes]:
    fill = {
        **head(),
        "title": line(upright(document.title)),
        "kind": text(document.kind),
        "heading": text(document.title),
        "lede": text(document.lede),
        "notices": "".join(f'<p class="notice"><strong>Note.</strong> {text(said)}</p>' for said in document.notices),
        "contents": _contents(document.sections, names),
        "settings": _settings(document.settings),
        "made": line(f"longmark {longmark.__version__}"),
    }
    for part, is_text in template("document.html"):
        if is_text:
            yield part.encode()
        elif part == "sections":
            for section, name, figures in zip(document.sections, names, drawn, strict=True):
                yield _section(section, name, "".join(figures)).encode("utf-8", "replace")
        else:
            yield fill[part].encode("utf-8", "replace")


def _names(titles: Sequence[str], taken: set[str], most: int = 60) -> list[str]:
    """A name for each title, for addresses and files: its letters and digits, at most so many, numbered where two would
    be alike. taken: names that are not given."""
    names: list[str] = []
    for title in titles:
        plain = "".join(char if char.isascii() and char.isalnum() else " " for char in title.casefold())
        name = "-".join(plain.split())[:most].strip("-") or "part"
        others = {*names, *taken}
        names.append(
            name if name not in others else next(f"{name}-{i}" for i in range(2, 9999) if f"{name}-{i}" not in others)
        )
    return names


def _contents(sections: Sequence[Section], names: Sequence[str]) -> str:
    links = [f'<a href="#{name}">{text(section.title)}</a>' for section, name in zip(sections, names, strict=True)]
    return "".join([*links, '<a href="#settings">How it was made</a>'])


def _section(section: Section, name: str, figures: str) -> str:
    tables = list(section.tables)
    alone = len(tables) == 1 and tables[0].title == section.title
    shown = tables[:1] if figures else tables
    folded = tables[len(shown) :]
    parts = [f'<section id="{name}">\n<h2>{text(section.title)}</h2>\n']
    if section.says:
        parts.append(f'<p class="says">{text(section.says)}</p>\n')
    if section.points:
        parts.append(f'<ul class="points">{"".join(f"<li>{text(point)}</li>" for point in section.points)}</ul>\n')
    if section.links:
        links = (f'<li><a href="{escape(quote(path))}">{text(words)}</a></li>' for path, words in section.links)
        parts.append(f'<ul class="points">{"".join(links)}</ul>\n')
    if figures:
        parts.append(f'<div class="drawings">{figures}</div>\n')
    parts += [_titled(table, "" if alone else f"<h3>{text(table.title)}</h3>") for table in shown]
    for table in folded:
        words = f"{text(table.title)} ({plural(len(table.rows), 'row')})"
        parts.append(f"<details><summary>{words}</summary>{_titled(table, '')}</details>\n")
    if section.note:
        parts.append(f'<p class="about after">{text(section.note)}</p>\n')
    return "".join([*parts, "</section>\n"])


def _titled(table: Table, heading: str) -> str:
    note = f'<p class="about">{text(table.note)}</p>' if table.note else ""
    return f'<div class="tabled">{heading}{note}{_table(table)}</div>\n'


def _table(table: Table) -> str:
    if not table.rows:
        return '<p class="none">No rows.</p>'
    table = filled(table)
    shown = table.rows[:MOST_ROWS]
    widths = [_width(column, (row[i] for row in shown)) for i, column in enumerate(table.columns)]
    kinds = ["number" if table.is_numeric(i) else "words" if widths[i] > _WORDS else "" for i in range(len(widths))]
    heads = "".join(
        f'<th scope="col"{_class(kind)}>{text(column.name)}</th>'
        for column, kind in zip(table.columns, kinds, strict=True)
    )
    rows = "".join(f"<tr>{_row(row, table.columns, kinds)}</tr>" for row in shown)
    looks = "figures" + (" broad" if sum(widths) + _BETWEEN * len(widths) > _PHONE else "")
    drawn = f'<table class="{looks}"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    framed = scrolling(table.title, drawn)
    if len(table.rows) > _LONG:
        framed = framed.replace('class="scroll"', 'class="scroll long"', 1)
    if len(table.rows) <= MOST_ROWS:
        return framed
    return (
        f'<p class="about">The first {whole(MOST_ROWS)} of {plural(len(table.rows), "row")}; all of them are in '
        f"<code>tables/{line(table.name)}.csv</code>, beside this page.</p>{framed}"
    )


def _width(column: Column, cells: Iterable[Cell]) -> int:
    """Characters that a column takes: of its longest cell, or of the longest word of its head."""
    longest = max((len(cell_text(cell, column)) for cell in cells), default=0)
    return max(longest, *map(len, column.name.split()), 1)


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _row(row: Sequence[Cell], columns: Sequence[Column], kinds: Sequence[str]) -> str:
    cells = []
    for i, (cell, column, kind) in enumerate(zip(row, columns, kinds, strict=True)):
        shown = _BREAK.sub(r"\1<wbr>", text(cell)) if isinstance(cell, str) else escape(cell_text(cell, column))
        if i == 0:
            cells.append(f'<th scope="row"{_class(kind)}>{shown}</th>')
        else:
            kind = kind if cell is not None or kind == "number" else "blank"
            cells.append(f'<td{_class(kind)} data-label="{line(upright(column.name))}">{shown}</td>')
    return "".join(cells)


def _settings(settings: Mapping[str, Any]) -> str:
    facts = [
        *((name, _value(value)) for name, value in settings.items()),
        ("longmark", text(longmark.__version__)),
        ("Python", text(platform.python_version())),
        ("Packages", pairs(_arrays(), "none beyond longmark’s own")),
    ]
    rows = "".join(f"<div><dt>{text(name)}</dt><dd>{value}</dd></div>" for name, value in facts)
    return f'<dl class="facts">{rows}</dl>'


def _value(value: Any) -> str:
    if value is None or value == "" or value == [] or value == {}:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return pairs(flat(dict(value)), "none")
    if isinstance(value, list | tuple):
        return f"<ul class='pairs'>{''.join(f'<li>{_value(entry)}</li>' for entry in value)}</ul>"
    return text(value)


def _arrays() -> dict[str, Any]:
    """Versions of the packages that did the arithmetic, where they are installed."""
    found = {}
    for name in _OF_THE_ARRAYS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
