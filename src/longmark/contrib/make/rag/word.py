"""Word documents (DOCX) as plain text, as a reader sees them.

Read: paragraphs, headings, lists, tables, text boxes, foot- and endnotes (at the end, each behind its number), equations
in one line, base texts of ruby, and the text as it is once all tracked changes are accepted. Left out and counted:
deleted and struck-out text, hidden text, comments, pictures, running heads.

Libraries that were tried lose text that a reader sees: python-docx 1.2.0 what was inserted by a tracked change, mammoth
1.13.0 equations and ruby; both print no word of it. So the package is read here, by lxml.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from longmark.contrib.make.rag.file_text import FileText
from longmark.contrib.make.rag.omml import write_equation
from longmark.contrib.make.rag.ooxml import Package, opened
from longmark.contrib.make.rag.paragraphs import joined
from longmark.contrib.make.rag.symbol_font import LEFT_OUT, character_of, in_unicode
from longmark.contrib.make.rag.xml_tree import (
    PageOfXml,
    attribute,
    child,
    descendants,
    local_name,
)

SUFFIXES = frozenset({".docx", ".docm"})
_MAIN = "word/document.xml"
_NOTES = {"footnoteReference": "word/footnotes.xml", "endnoteReference": "word/endnotes.xml"}
_LEFT_OUT = {
    "del": "deleted passages",
    "moveFrom": "deleted passages",
    "commentReference": "comments",
    "drawing": "pictures",
    "pict": "pictures",
    "object": "objects of other programs",
    "altChunk": "parts of other formats",
}
_PROPERTIES = frozenset({"rPr", "pPr", "tblPr", "trPr", "tcPr", "sectPr", "ctrlPr"})


def word_text(path: Path, limit: int) -> FileText:
    """The text of a Word document. limit: bytes when unpacked. ValueError, with the
    remedy, for a file that is none, is encrypted or too large."""
    with opened(path, limit, ".docx", "Word") as package:
        if _MAIN not in package.names:
            raise ValueError("has no text of Word in it; save it as .docx again")
        return _WordReader(package).read()


class _WordReader:
    """Reads the parts of one document."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._page = PageOfXml()
        self._levels = self._heading_levels()
        self._raised_styles = self._styles_that_raise()
        self._marked: list[Any] = []  # notes, in the order of their first marks
        self._numbers: dict[tuple[str, str], int] = {}  # kind of mark, id -> number
        self._parts_of_notes: dict[str, dict[str, Any]] = {}  # kind of mark -> id -> note
        self._boxes: list[Any] = []  # text boxes of the paragraph that is being read

    def read(self) -> FileText:
        body = child(self._package.part(_MAIN), "body")
        if body is None:
            raise ValueError("has no body; save it as .docx again")
        heads = [n for n in self._package.names if n.startswith(("word/header", "word/footer"))]
        if heads:
            self._page.left_out["running heads and feet"] += len(heads)
        self._blocks(body)
        for number, note in enumerate(self._marked, 1):  # a note may have marks of further notes
            self._page.whole("p", f"[{number}] " + self._note_text(note))
        self._page.paragraphs.close()
        text, headings = joined(self._page.paragraphs)
        return FileText(
            text,
            headings=headings,
            left_out=dict(+self._page.left_out),
        )

    def _heading_levels(self) -> dict[str, int]:
        """Style -> its level from 0, for the styles of headings and of the title."""
        if "word/styles.xml" not in self._package.names:
            return {}
        levels: dict[str, int] = {}
        based_on: dict[str, str] = {}
        for style in descendants(self._package.part("word/styles.xml"), "style"):
            style_id = attribute(style, "styleId")
            name = child(style, "name")
            outline = child(style, "pPr", "outlineLvl")
            base = child(style, "basedOn")
            if name is not None and attribute(name, "val").lower() == "title":
                levels[style_id] = 0
            elif outline is not None and attribute(outline, "val").isdigit():
                levels[style_id] = int(attribute(outline, "val"))
            elif base is not None:
                based_on[style_id] = attribute(base, "val")
        for style_id in based_on:
            ancestor = style_id
            for _ in range(20):
                ancestor = based_on.get(ancestor, "")
                if ancestor in levels:
                    levels[style_id] = levels[ancestor]
                    break
        return levels

    def _styles_that_raise(self) -> dict[str, str]:
        """Style of characters -> `superscript` or `subscript`."""
        if "word/styles.xml" not in self._package.names:
            return {}
        styles: dict[str, str] = {}
        for style in descendants(self._package.part("word/styles.xml"), "style"):
            align = child(style, "rPr", "vertAlign")
            if align is not None and attribute(style, "type") == "character":
                styles[attribute(style, "styleId")] = attribute(align, "val")
        return styles

    def _alignment(self, run: Any) -> str:
        """How the characters of a run stand: as it says itself, else as its style."""
        align = child(run, "rPr", "vertAlign")
        if align is not None:
            return attribute(align, "val")
        style = child(run, "rPr", "rStyle")
        return "" if style is None else self._raised_styles.get(attribute(style, "val"), "")

    def _note_text(self, note: Any) -> str:
        """The text of a note, its paragraphs in one."""
        page = self._page
        self._page = PageOfXml(left_out=page.left_out)
        self._blocks(note)
        self._page.paragraphs.close()
        paragraphs = self._page.paragraphs.paragraphs
        self._page = page
        return " ".join(paragraphs)

    # Blocks ----------------------------------------------------------------------------------------------------------

    def _blocks(self, parts: Iterable[Any]) -> None:
        for part in parts:
            name = local_name(part)
            if name == "p":
                self._paragraph(part)
            elif name == "tbl":
                self._table(part)
            elif name in ("sdt", "customXml", "smartTag", "ins", "moveTo", "sdtContent"):
                self._blocks(part)
            elif name in _LEFT_OUT:
                self._page.left_out[_LEFT_OUT[name]] += 1

    def _paragraph(self, paragraph: Any) -> None:
        tag = self._tag(paragraph)
        self._page.start(tag)
        self._inline(paragraph)
        self._page.end(tag)
        boxes = self._boxes
        self._boxes = []  # those in a box come after it
        for box in boxes:
            self._blocks(box)

    def _tag(self, paragraph: Any) -> str:
        style = child(paragraph, "pPr", "pStyle")
        outline = child(paragraph, "pPr", "outlineLvl")
        level = self._levels.get(attribute(style, "val")) if style is not None else None
        if outline is not None and attribute(outline, "val").isdigit():
            level = int(attribute(outline, "val"))
        if level is not None and level < 9:
            return f"h{min(level, 5) + 1}"
        return "li" if child(paragraph, "pPr", "numPr") is not None else "p"

    def _table(self, table: Any) -> None:
        self._page.start("table")
        for row in _through(table, "tr"):
            self._page.start("tr")
            before = child(row, "trPr", "gridBefore")  # columns that the row begins after
            if before is not None:
                self._page.start("td", {"colspan": attribute(before, "val")})
                self._page.end("td")
            for cell in _through(row, "tc"):
                self._page.start("td", _spans(cell))
                self._blocks(cell)
                self._page.end("td")
            self._page.end("tr")
        self._page.end("table")

    # Within a paragraph ----------------------------------------------------------------------------------------------

    def _inline(self, parts: Iterable[Any]) -> None:
        for part in parts:
            name = local_name(part)
            if name == "r":
                self._run(part)
            elif name in _LEFT_OUT:
                self._page.left_out[_LEFT_OUT[name]] += 1
            elif name == "oMathPara":
                self._inline(part)
            elif name == "oMath":
                write_equation(self._page, part)
            elif name not in _PROPERTIES:  # hyperlink, ins, moveTo, sdt, smartTag, fldSimple …
                self._inline(part)

    def _run(self, run: Any) -> None:
        if _is_on(run, "vanish"):
            self._page.left_out["hidden passages"] += 1
            return
        if _is_on(run, "strike") or _is_on(run, "dstrike"):
            self._page.left_out["passages that are struck out"] += 1
            return
        tag = {"superscript": "sup", "subscript": "sub"}.get(self._alignment(run), "span")
        if any(local_name(part) in _NOTES for part in run):
            tag = "span"  # the mark of a note is written with brackets
        self._page.start(tag)
        fonts = child(run, "rPr", "rFonts")
        font = "" if fonts is None else attribute(fonts, "ascii")
        for part in run:
            self._run_part(part, font)
        self._page.end(tag)

    def _run_part(self, part: Any, font: str) -> None:
        page = self._page
        match local_name(part):
            case "t":
                page.text(in_unicode(part.text or "", font))
            case "tab" | "ptab":
                page.text(" ")
            case "br" | "cr":
                page.start("br")
                page.end("br")
            case "noBreakHyphen":
                page.text("-")
            case "sym":
                self._symbol(attribute(part, "char"), attribute(part, "font"))
            case "ruby":
                base = child(part, "rubyBase")
                self._inline(() if base is None else base)
            case "footnoteReference" | "endnoteReference" as kind:
                self._note(kind, attribute(part, "id"))
            case "AlternateContent":
                choice = child(part, "Choice")
                for inner in () if choice is None else choice:
                    self._run_part(inner, font)
            case "drawing" | "pict":
                boxes = list(descendants(part, "txbxContent"))
                self._boxes += boxes
                page.left_out["pictures"] += not boxes
            case "commentReference" | "object" as kind:
                page.left_out[_LEFT_OUT[kind]] += 1
            case _:  # properties, fields' instructions, marks of pages
                pass

    def _symbol(self, code: str, font: str) -> None:
        hexadecimal = bool(code) and all(c in "0123456789abcdefABCDEF" for c in code)
        character = character_of(int(code, 16), font) if hexadecimal else None
        if character is None:
            self._page.left_out[LEFT_OUT] += 1
        else:
            self._page.text(character)

    def _note(self, kind: str, note_id: str) -> None:
        """The mark of a note; its text is written at the end."""
        if kind not in self._parts_of_notes:
            part = self._package.part(_NOTES[kind]) if _NOTES[kind] in self._package.names else ()
            self._parts_of_notes[kind] = {attribute(note, "id"): note for note in part}
        note = self._parts_of_notes[kind].get(note_id)
        if note is None:
            return
        if (kind, note_id) not in self._numbers:  # two marks may name one note
            self._marked.append(note)
            self._numbers[kind, note_id] = len(self._marked)
        self._page.text(f"[{self._numbers[kind, note_id]}]")


def _through(node: Any, name: str) -> Iterable[Any]:
    """The rows or cells of a table, also those in content controls and tracked changes."""
    for part in node:
        if local_name(part) == name:
            yield part
        elif local_name(part) in ("sdt", "sdtContent", "customXml", "ins", "moveTo"):
            yield from _through(part, name)


def _spans(cell: Any) -> dict[str, str]:
    """The columns that a cell spans, and whether it continues the cell above it, as HTML's attributes."""
    spans = {}
    columns = child(cell, "tcPr", "gridSpan")
    if columns is not None:
        spans["colspan"] = attribute(columns, "val")
    merged = child(cell, "tcPr", "vMerge")
    if merged is not None and attribute(merged, "val") != "restart":
        spans["continued"] = ""
    return spans


def _is_on(run: Any, name: str) -> bool:
    """Whether a property of a run is there and not switched off."""
    switch = child(run, "rPr", name)
    return switch is not None and attribute(switch, "val") not in ("0", "false", "off", "none")
