"""Presentations (PPTX) as plain text: the slides in their order, each with its title first, its notes last.

Read: text boxes and shapes, also in groups, lists, tables, the texts of diagrams (SmartArt), equations in one line, and
the speaker's notes. Left out and counted: hidden slides, struck-out text, pictures, charts, comments, numbers, dates and
feet of slides.

python-pptx 1.0.2 is from August 2024, brings Pillow and XlsxWriter, and knows neither equations nor diagrams, without a
word of it. So the package is read here, as that of Word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import accumulate, compress
from pathlib import Path
from typing import Any

from longmark.contrib.make.rag.file_text import BETWEEN, FileText
from longmark.contrib.make.rag.kinds import STRUCK
from longmark.contrib.make.rag.list_numbers import numeral, whole_number
from longmark.contrib.make.rag.omml import write_equation
from longmark.contrib.make.rag.ooxml import Package, PackageRelation, chosen, opened, relation_id
from longmark.contrib.make.rag.paragraphs import joined
from longmark.contrib.make.rag.symbol_font import in_unicode
from longmark.contrib.make.rag.xml_tree import (
    PageOfXml,
    attribute,
    child,
    descendants,
    local_name,
)

SUFFIXES = frozenset({".pptx", ".pptm", ".ppsx"})
_MAIN = "ppt/presentation.xml"
_TITLES = {"ctrTitle": "h1", "title": "h2"}
_NOT_TEXT = frozenset({"dt", "ftr", "hdr", "sldNum", "sldImg"})
_FORMS = {
    "alphaLc": "lower-alpha",
    "alphaUc": "upper-alpha",
    "romanLc": "lower-roman",
    "romanUc": "upper-roman",
}
_LINE_BREAK = re.compile("_x000B_")  # a vertical tab, which XML cannot hold


def slides_text(path: Path, limit: int) -> FileText:
    """The text of a presentation; its pages are its slides. limit: bytes when unpacked. ValueError, with the remedy, for
    a file that is none, is encrypted or too large."""
    with opened(path, limit, ".pptx", "PowerPoint") as package:
        if _MAIN not in package.names:
            raise ValueError("has no slides of PowerPoint in it; save it as .pptx again")
        return _presentation(package)


def _presentation(package: Package) -> FileText:
    relations = package.relations(_MAIN)
    slide_ids = descendants(package.part(_MAIN), "sldId")
    relations_of_slides = (relations.get(relation_id(node)) for node in slide_ids)
    names = dict.fromkeys(
        relation.target for relation in relations_of_slides if relation is not None
    )
    page = PageOfXml()
    begins = []  # how many paragraphs were before each slide
    for name in names:
        if name not in package.names:
            page.left_out["slides that are missing in the file"] += 1
            continue
        slide = package.part(name)
        if attribute(slide, "show") in ("0", "false"):
            page.left_out["hidden slides"] += 1
            begins.append(len(page.paragraphs.paragraphs))  # as PowerPoint numbers them
            continue
        begins.append(len(page.paragraphs.paragraphs))
        _SlideReader(page, package, package.relations(name)).read(slide)
    page.paragraphs.close()
    text, headings = joined(page.paragraphs)
    starts = list(
        accumulate((len(p) + len(BETWEEN) for p in page.paragraphs.paragraphs), initial=0)
    )
    pages = tuple(starts[count] for count in begins)
    return FileText(
        text,
        headings=headings,
        pages=pages,
        left_out=dict(+page.left_out),
    )


class _SlideReader:
    """Writes a slide. relations: what it refers to."""

    def __init__(
        self, page: PageOfXml, package: Package, relations: Mapping[str, PackageRelation]
    ) -> None:
        self._page = page
        self._package = package
        self._relations = relations

    def read(self, slide: Any) -> None:
        shapes = list(_parts(slide, "cSld", "spTree"))
        is_title = [_placeholder(shape) in _TITLES for shape in shapes]
        self._shapes(compress(shapes, is_title))
        self._shapes(shape for shape, title in zip(shapes, is_title, strict=True) if not title)
        for relation in self._relations.values():
            if relation.target not in self._package.names:
                continue
            if relation.kind == "notesSlide":
                self._shapes(_parts(self._package.part(relation.target), "cSld", "spTree"))
            elif relation.kind == "comments":
                comments = self._package.part(relation.target)
                self._page.left_out["comments"] += sum(1 for _ in descendants(comments, "cm"))

    def _shapes(self, shapes: Iterable[Any]) -> None:
        for shape in shapes:
            match local_name(shape):
                case "sp":
                    self._shape(shape)
                case "grpSp":
                    self._shapes(shape)
                case "AlternateContent":
                    self._shapes(chosen(shape))
                case "graphicFrame":
                    self._frame(shape)
                case "pic":
                    self._page.left_out["pictures"] += 1
                case _:  # lines between shapes, properties
                    pass

    def _shape(self, shape: Any) -> None:
        kind = _placeholder(shape)
        body = child(shape, "txBody")
        if body is None:
            return
        if kind in _NOT_TEXT:
            self._page.left_out["numbers, dates and feet of slides"] += kind != "sldImg"
            return
        if kind in _TITLES:
            self._page.start(_TITLES[kind])
            self._in_one_line(body)
            self._page.end(_TITLES[kind])
            return
        self._body(body)

    def _body(self, body: Any) -> None:
        numbers = SlideNumbers()
        for paragraph in body:
            if local_name(paragraph) == "p":
                self._page.start("p")
                self._inline(paragraph)
                if self._page.paragraphs.has_text:
                    self._page.paragraphs.label = numbers.next_label(child(paragraph, "pPr"))
                self._page.end("p")

    def _in_one_line(self, body: Iterable[Any]) -> None:
        for paragraph in body:
            if local_name(paragraph) == "p":
                self._page.text(" ")
                self._inline(paragraph, in_one_line=True)

    def _frame(self, frame: Any) -> None:
        """A table, a diagram, or something else."""
        for part in _parts(frame, "graphic", "graphicData"):
            name = local_name(part)
            if name == "tbl":
                self._table(part)
            elif name == "relIds":
                self._diagram(self._relations.get(relation_id(part, "dm")))
            else:
                self._page.left_out[
                    "charts" if name == "chart" else "objects of other programs"
                ] += 1

    def _table(self, table: Any) -> None:
        self._page.start("table")
        for row in (part for part in table if local_name(part) == "tr"):
            self._page.start("tr")
            for cell in (part for part in row if local_name(part) == "tc"):
                if {attribute(cell, "hMerge"), attribute(cell, "vMerge")} & {"1", "true"}:
                    continue  # it belongs to the cell before or above it, which says how far it spans
                spans = {
                    "colspan": attribute(cell, "gridSpan"),
                    "rowspan": attribute(cell, "rowSpan"),
                }
                self._page.start("td", spans)
                self._body(_parts(cell, "txBody"))
                self._page.end("td")
            self._page.end("tr")
        self._page.end("table")

    def _diagram(self, relation: PackageRelation | None) -> None:
        """The texts of a diagram, in the order in which they were entered."""
        if relation is None or relation.target not in self._package.names:
            self._page.left_out["diagrams without their texts"] += 1
            return
        for point in descendants(self._package.part(relation.target), "pt"):
            if attribute(point, "type") in ("", "node", "asst"):
                self._body(_parts(point, "t"))

    def _inline(self, parts: Iterable[Any], in_one_line: bool = False) -> None:
        page = self._page
        for part in parts:
            match local_name(part):
                case "r":
                    self._run(part)
                case "fld":
                    page.text("".join(text.text or "" for text in descendants(part, "t")))
                case "br" if in_one_line:
                    page.text(" ")
                case "br":
                    page.start("br")
                    page.end("br")
                case "AlternateContent":
                    self._inline(chosen(part), in_one_line)
                case "oMath":
                    write_equation(page, part)
                case "m" | "oMathPara":
                    self._inline(part, in_one_line)
                case _:  # properties
                    pass

    def _run(self, run: Any) -> None:
        properties = child(run, "rPr")
        text = child(run, "t")
        if text is None:
            return
        strike = "" if properties is None else attribute(properties, "strike")
        if strike not in ("", "noStrike"):
            self._page.left_out[STRUCK] += 1
            return
        baseline = "" if properties is None else attribute(properties, "baseline").rstrip("%")
        tag = "span" if not baseline.strip("-0.") else "sub" if baseline[0] == "-" else "sup"
        font = child(run, "rPr", "sym")
        symbols = in_unicode(text.text or "", "" if font is None else attribute(font, "typeface"))
        self._page.whole(tag, _LINE_BREAK.sub(" ", symbols))


class SlideNumbers:
    """Counts the paragraphs of a shape that have numbers, by their levels."""

    def __init__(self) -> None:
        self._counts: dict[
            int, tuple[str, int]
        ] = {}  # level -> the kind of its numbers, the last one

    def next_label(self, properties: Any | None) -> str:
        """What stands before the next paragraph; empty if it has no number."""
        level = 0 if properties is None else whole_number(attribute(properties, "lvl")) or 0
        mark = None if properties is None else child(properties, "buAutoNum")
        for deeper in [place for place in self._counts if place > level]:
            del self._counts[deeper]
        if mark is None:
            self._counts.pop(level, None)
            return ""
        kind = attribute(mark, "type") + attribute(mark, "startAt")
        start = whole_number(attribute(mark, "startAt"))
        before = self._counts.get(level)
        is_first = before is None or before[0] != kind
        number = (1 if start is None else start) if is_first or before is None else before[1] + 1
        self._counts[level] = (kind, number)
        return _label(attribute(mark, "type"), number)


def _label(kind: str, number: int) -> str:
    """A number in a form as `alphaLcParenBoth`."""
    form = next((form for start, form in _FORMS.items() if kind.startswith(start)), "decimal")
    text = numeral(number, form)
    if kind.endswith("ParenBoth"):
        return f"({text}) "
    ending = ")" if kind.endswith("ParenR") else "." if kind.endswith("Period") else ""
    return f"{text}{ending} "


def _parts(node: Any, *path: str) -> Iterable[Any]:
    """The elements in the one at a path; none if there is none."""
    element = child(node, *path)
    return () if element is None else element


def _placeholder(shape: Any) -> str:
    """What a shape is in its slide's layout, as `title`; empty if it is nothing of it."""
    for properties in ("nvSpPr", "nvGraphicFramePr", "nvPicPr"):
        mark = child(shape, properties, "nvPr", "ph")
        if mark is not None:
            return attribute(mark, "type")
    return ""
