"""Word documents (DOCX) as plain text, as a reader sees them.

Read: paragraphs, headings and lists with the numbers that Word writes, tables, text boxes, diagrams, foot- and endnotes
(at the end, each behind its number), equations in one line, base texts of ruby, the choices of forms, and the text as it
is once all tracked changes are accepted. Left out and counted: deleted and struck-out text, hidden text, also where a
style says so, empty fields of forms, comments, pictures, charts, running heads.

Libraries that were tried lose text that a reader sees: python-docx 1.2.0 what was inserted by a tracked change, mammoth
1.13.0 equations and ruby; both print no word of it. So the package is read here, by lxml.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from longmark.contrib.make.rag.file_text import FileText
from longmark.contrib.make.rag.kinds import STRUCK
from longmark.contrib.make.rag.list_numbers import whole_number
from longmark.contrib.make.rag.omml import write_equation
from longmark.contrib.make.rag.ooxml import Package, chosen, opened, relation_id, texts_of_diagram
from longmark.contrib.make.rag.paragraphs import joined
from longmark.contrib.make.rag.symbol_font import LEFT_OUT, character_of, in_unicode
from longmark.contrib.make.rag.word_fields import WordFields
from longmark.contrib.make.rag.word_numbers import WordNumbers
from longmark.contrib.make.rag.word_styles import OFF, WordStyles, characters_of, number_of
from longmark.contrib.make.rag.xml_tree import (
    PageOfXml,
    attribute,
    child,
    descendants,
    local_name,
)

SUFFIXES = frozenset({".docx", ".docm"})
# Parts by the kind of the relation that names them; without relations they have these names.
_PARTS = {
    "officeDocument": "word/document.xml",
    "styles": "word/styles.xml",
    "numbering": "word/numbering.xml",
    "footnotes": "word/footnotes.xml",
    "endnotes": "word/endnotes.xml",
}
_NOTES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}
_LEFT_OUT = {
    "del": "deleted passages",
    "moveFrom": "deleted passages",
    "commentReference": "comments",
    "drawing": "pictures",
    "pict": "pictures",
    "object": "objects of other programs",
    "altChunk": "parts of other formats",
    "subDoc": "documents within the document",
}
_PROPERTIES = frozenset({"rPr", "pPr", "tblPr", "trPr", "tcPr", "sectPr", "ctrlPr"})


_UNSEEN = {  # properties of characters -> why they are not read
    "vanish": "hidden passages",
    "strike": STRUCK,
    "dstrike": STRUCK,
}
_INITIALS = ("drop", "margin")
_MOVED = 4  # half points; text that is as much above or below the line and has
_LONGEST_MOVED = 6  # so few characters is raised or lowered


def word_text(path: Path, limit: int) -> FileText:
    """The text of a Word document. limit: bytes when unpacked. ValueError, with the
    remedy, for a file that is none, is encrypted or too large."""
    with opened(path, limit, ".docx", "Word") as package:
        parts = _parts_by_kind(package)
        if parts["officeDocument"] not in package.names:
            raise ValueError("has no text of Word in it; save it as .docx again")
        return _WordReader(package, parts).read()


def _parts_by_kind(package: Package) -> dict[str, str]:
    """The names of the parts of a document; some programs call the text word/document2.xml."""
    parts = dict(_PARTS)
    for source in ("", "officeDocument"):
        for relation in package.relations(parts.get(source, source)).values():
            if relation.kind in parts and relation.target in package.names:
                parts[relation.kind] = relation.target
    return parts


class _WordReader:
    """Reads the parts of one document."""

    def __init__(self, package: Package, parts: Mapping[str, str]) -> None:
        self._package = package
        self._parts = parts
        self._relations = package.relations(parts["officeDocument"])
        self._page = PageOfXml()
        styles = self._part("styles")
        numbers = self._part("numbering")
        self._styles = WordStyles() if styles is None else WordStyles.of(styles)
        self._list_numbers = WordNumbers() if numbers is None else WordNumbers.of(numbers)
        self._fields = WordFields()
        self._style = ""  # of the paragraph that is being read
        self._goes_on = ""  # the tag of a paragraph whose end is deleted, or which is an initial
        self._is_initial = False  # the paragraph is the large first letter of the next one
        self._marked: list[Any] = []  # notes, in the order of their first marks
        self._numbers: dict[tuple[str, str], int] = {}  # kind of mark, id -> number
        self._parts_of_notes: dict[str, dict[str, Any]] = {}  # kind of mark -> id -> note
        self._boxes: list[Any] = []  # text boxes of the paragraph that is being read
        self._diagrams: list[str] = []  # the texts of its diagrams

    def _part(self, kind: str) -> Any:
        """The root of a part; None if there is none."""
        name = self._parts[kind]
        return self._package.part(name) if name in self._package.names else None

    def read(self) -> FileText:
        body = child(self._part("officeDocument"), "body")
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
            elif name == "sdt" and self._is_placeholder(part):
                continue
            elif name in ("sdt", "customXml", "smartTag", "ins", "moveTo", "sdtContent"):
                self._blocks(part)
            elif name == "AlternateContent":
                self._blocks(chosen(part))
            elif name in _LEFT_OUT:
                self._page.left_out[_LEFT_OUT[name]] += 1
        self._end_paragraph()

    def _paragraph(self, paragraph: Any) -> None:
        style = child(paragraph, "pPr", "pStyle")
        self._style = "" if style is None else attribute(style, "val")
        if not self._goes_on:
            self._goes_on = self._tag(paragraph)
            self._page.start(self._goes_on)
        frame = child(paragraph, "pPr", "framePr")
        self._is_initial = frame is not None and attribute(frame, "dropCap") in _INITIALS
        self._inline(paragraph)
        self._fields.end_paragraph()
        mark = child(paragraph, "pPr", "rPr")
        is_deleted = mark is not None and any(local_name(p) in ("del", "moveFrom") for p in mark)
        if self._page.paragraphs.has_text or not (is_deleted or _is_on(mark, "vanish")):
            self._number(paragraph)
        if not (is_deleted or self._is_initial):
            self._end_paragraph()
        boxes = self._boxes
        self._boxes = []  # those in a box come after it
        for box in boxes:
            self._blocks(box)
        for text in self._diagrams:
            self._page.whole("p", text)
        self._diagrams = []

    def _end_paragraph(self) -> None:
        """Ends the paragraph; one whose end is deleted, or an initial, goes on in the next one."""
        if self._goes_on:
            self._page.end(self._goes_on)
        self._goes_on = self._page.paragraphs.label = ""

    def _tag(self, paragraph: Any) -> str:
        outline = child(paragraph, "pPr", "outlineLvl")
        level = self._styles.level(self._style or self._styles.default)
        if outline is not None and attribute(outline, "val").isdigit():
            level = int(attribute(outline, "val"))
        if level is not None and level < 9:
            return f"h{min(level, 5) + 1}"
        return "li" if child(paragraph, "pPr", "numPr") is not None else "p"

    def _number(self, paragraph: Any) -> None:
        """Puts the number of a list or heading before the paragraph."""
        style = self._style or self._styles.default
        list_id, level = number_of(child(paragraph, "pPr")) or ("", "")
        place = whole_number(level)
        if not list_id:
            of_style = self._styles.number(style)
            if of_style is None:
                return
            list_id = of_style[1]
            if place is None:
                place = whole_number(of_style[2])
            if place is None:
                place = self._list_numbers.level_of_style(list_id, of_style[0])
        if label := self._list_numbers.next_label(list_id, place or 0):
            self._page.paragraphs.label = f"{label} "

    def _table(self, table: Any) -> None:
        self._end_paragraph()
        self._page.start("table")
        for row in _through(table, "tr"):
            changes = child(row, "trPr")
            reason = _reason_for_row(changes)
            if reason:
                self._page.left_out[reason] += 1
                continue
            self._page.start("tr")
            before = child(row, "trPr", "gridBefore")  # columns that the row begins after
            if before is not None:
                self._page.start("td", {"colspan": attribute(before, "val")})
                self._page.end("td")
            for cell in _through(row, "tc"):
                self._page.start("td", _spans(cell))
                if child(cell, "tcPr", "cellDel") is None:
                    self._blocks(cell)
                else:
                    self._page.left_out["deleted passages"] += 1
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
            elif name == "AlternateContent":
                self._inline(chosen(part))
            elif name == "sdt" and self._is_placeholder(part):
                continue
            elif name == "oMath":
                write_equation(self._page, part)
            elif name not in _PROPERTIES:  # hyperlink, ins, moveTo, sdt, smartTag, fldSimple …
                self._inline(part)

    def _is_placeholder(self, control: Any) -> bool:
        """Whether a content control has not been filled in: it shows what to do with it."""
        mark = child(control, "sdtPr", "showingPlcHdr")
        is_empty = mark is not None and attribute(mark, "val") not in OFF
        self._page.left_out["empty fields of forms"] += is_empty
        return is_empty

    def _characters(self, run: Any) -> dict[str, str]:
        """What a run says of its characters itself, else its style, else that of its paragraph."""
        style = child(run, "rPr", "rStyle")
        of_style = self._styles.characters(
            "" if style is None else attribute(style, "val"), self._style
        )
        properties = child(run, "rPr")
        return {**of_style, **({} if properties is None else characters_of(properties))}

    def _run(self, run: Any) -> None:
        characters = self._characters(run)
        for name, reason in _UNSEEN.items():
            if characters.get(name, "none") not in OFF:
                self._page.left_out[reason] += 1
                return
        tag = _alignment(run, characters)
        if self._is_initial or any(local_name(part) in _NOTES for part in run):
            tag = "span"  # an initial is set lower; the mark of a note is written with brackets
        self._page.start(tag)
        font = characters.get("rFonts", "")
        for part in run:
            self._run_part(part, font)
        self._page.end(tag)

    def _run_part(self, part: Any, font: str) -> None:
        page = self._page
        match local_name(part):
            case "t":
                if not self._fields.is_code:
                    page.text(in_unicode(part.text or "", font))
            case "fldChar":
                self._field(part)
            case "instrText":
                self._fields.instruct(part.text or "")
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
                for inner in chosen(part):
                    self._run_part(inner, font)
            case "drawing" | "pict":
                boxes = list(descendants(part, "txbxContent"))
                self._boxes += boxes
                letters = [attribute(path, "string") for path in descendants(part, "textpath")]
                page.text(" ".join(letters))  # WordArt
                if not (boxes or any(letters)):
                    self._graphic(part)
            case "commentReference" | "object" as kind:
                page.left_out[_LEFT_OUT[kind]] += 1
            case _:  # properties, fields' instructions, marks of pages
                pass

    def _graphic(self, drawing: Any) -> None:
        """A drawing without text boxes: a diagram has texts, which follow the paragraph."""
        diagram = next(descendants(drawing, "relIds"), None)
        if diagram is None:
            is_chart = next(descendants(drawing, "chart"), None) is not None
            self._page.left_out["charts" if is_chart else "pictures"] += 1
            return
        relation = self._relations.get(relation_id(diagram, "dm"))
        if relation is None or relation.target not in self._package.names:
            self._page.left_out["diagrams without their texts"] += 1
            return
        self._diagrams += texts_of_diagram(self._package.part(relation.target))

    def _field(self, mark: Any) -> None:
        kind = attribute(mark, "fldCharType")
        if kind == "begin":
            self._fields.begin(mark)
        elif kind == "separate":
            self._fields.separate()
        elif kind == "end":
            text = self._fields.end()
            if text is None:
                self._page.left_out["equations of fields"] += 1
            elif text:
                is_glued = self._page.paragraphs.last_character.isdigit() and text[0].isdigit()
                self._page.text(f" {text}" if is_glued else text)

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
            part = self._part(_NOTES[kind])
            notes = () if part is None else part
            self._parts_of_notes[kind] = {attribute(note, "id"): note for note in notes}
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


def _alignment(run: Any, characters: dict[str, str]) -> str:
    """The element of HTML for how the characters of a run stand."""
    align = characters.get("vertAlign", "")
    if align in ("superscript", "subscript"):
        return align[:3]
    height = whole_number(characters.get("position", "")) or 0
    text = "".join(part.text or "" for part in run if local_name(part) == "t").strip()
    if abs(height) < _MOVED or len(text) > _LONGEST_MOVED or " " in text:
        return "span"
    return "sup" if height > 0 else "sub"


def _reason_for_row(properties: Any | None) -> str:
    """Why a row is not read; empty: it is."""
    if properties is None:
        return ""
    if child(properties, "del") is not None:
        return "deleted passages"
    return "hidden passages" if _is_on(properties, "hidden") else ""


def _is_on(properties: Any | None, name: str) -> bool:
    """Whether a property is there and not switched off."""
    switch = None if properties is None else child(properties, name)
    return switch is not None and attribute(switch, "val") not in OFF
