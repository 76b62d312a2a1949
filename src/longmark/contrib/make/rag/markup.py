"""HTML as plain text: the article of a page, as paragraphs.py writes it. page_parts.py says what of a page is not its
article; references and their numerals, edit links and hidden elements are counted.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from longmark.contrib.make.rag import page_parts
from longmark.contrib.make.rag.file_text import FileText
from longmark.contrib.make.rag.paragraphs import ParagraphCollector, joined
from longmark.errors import library

HTML = frozenset({".html", ".htm", ".xhtml"})
_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
MOST_TAGS = 1_500_000  # of a page, or of all the pages of a book: reading them takes two seconds
_LEAST_DEPTH = 256
_MOST_STEPS = 5 * 10**8
_FED = 1 << 16  # of open elements, steps through them, bytes fed at once
_IS_XML = re.compile(r"<\?xml|xmlns\s*=\s*[\"']http://www\.w3\.org/1999/xhtml")
_CDATA = re.compile(r"<!\[CDATA\[((?:[^\]]|\](?!\]>))*+)\]\]>")
_MATHML_PREFIX = re.compile(
    r"""xmlns:([A-Za-z][\w.-]{0,20})\s*=\s*["']http://www\.w3\.org/1998/Math/MathML["']"""
)
_NUMERAL = re.compile(r"\[?\s*[0-9]{1,4}\s*\]?")
_WITHIN_NOTES = frozenset({"ltx_note_mark", "ltx_tag_note", "ltx_note_type"})


class _LeftOut(NamedTuple):
    """An element that is not read and has not ended. depth: of its start."""

    depth: int
    reason: str


class ArticleCollector(ParagraphCollector):
    """Collects the paragraphs of a page's article."""

    def __init__(self, deepest: int) -> None:
        super().__init__(deepest)
        self._of_wiki = False
        self._article_at = 0  # the depth of the element that holds the article; 0: none was met
        self._leaving_out: list[_LeftOut] = []
        self._numeral_at = 0  # the depth of a mark of a reference
        self._equation_at = 0  # the depth of the row of a table that holds a formula
        self._notes: list[str] = []
        self._note_at: tuple[int, int] | None = None  # the depth of a note; the words before it

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        classes = page_parts.classes_of(attributes)
        if tag in ("td", "th") and self._equation_at and self._depth == self._equation_at:
            self.data(" ")
            tag = "span"
        super().start(tag, attributes)
        if self._formula:
            return
        if self._dropped:
            self._count_reference(tag, classes)
            return
        self._of_wiki = self._of_wiki or page_parts.is_of_wiki(classes)
        if not self._article_at and page_parts.is_article(tag, classes, attributes, self._of_wiki):
            self._begin_article()
        reason = page_parts.reason_to_leave_out(classes, attributes, self._of_wiki)
        if self._note_at and not _WITHIN_NOTES.isdisjoint(classes):
            reason = page_parts.TWICE
        if reason is not None:
            self._dropped += 1
            self._leaving_out.append(_LeftOut(self._depth, reason))
            if reason not in (page_parts.TWICE, page_parts.REFERENCES):
                self.left_out[reason] += 1
        elif classes:
            self._mark(tag, classes)

    def _mark(self, tag: str, classes: list[str]) -> None:
        """Notes where an element begins that is read in a way of its own."""
        if tag == "sup" and self._of_wiki and "reference" in classes:
            self._numeral_at = self._depth
        elif tag == "sup" and "ltx_note_mark" in classes:
            self._raised[-1] = self._raised[-1]._replace(linked=True)
        elif tag == "tr" and ("ltx_equation" in classes or "ltx_eqn_row" in classes):
            self._equation_at = self._depth
        elif "ltx_note_outer" in classes and self._note_at is None:
            self._note_at = (self._depth, len(self._words))

    def end(self, tag: str) -> None:
        depth = self._depth
        if self._formula:
            super().end(tag)
            return
        if self._leaving_out and self._leaving_out[-1].depth == depth:
            self._leaving_out.pop()
            self._dropped -= 1
        elif not self._dropped:
            if depth == self._numeral_at:
                self._end_numeral()
            elif self._note_at and depth == self._note_at[0]:
                self._end_note(self._note_at[1])
        if self._equation_at and depth == self._equation_at + 1 and tag in ("td", "th"):
            tag = "span"
        super().end(tag)
        if depth == self._equation_at:
            self._equation_at = 0
        elif depth == self._article_at:
            self._dropped += 1  # what follows is no part of it

    def _count_reference(self, tag: str, classes: list[str]) -> None:
        if self._leaving_out and self._leaving_out[-1].reason == page_parts.REFERENCES:
            is_entry = tag in page_parts.ENTRIES or not page_parts.ENTRIES.isdisjoint(classes)
            self.left_out[page_parts.REFERENCES] += is_entry

    def _begin_article(self) -> None:
        """What came before is no part of the article."""
        self._article_at = self._depth
        if self.paragraphs:
            self.left_out[page_parts.NOT_ARTICLE] += 1
        self.paragraphs.clear()
        self.headings.clear()

    def _end_numeral(self) -> None:
        """Leaves out the numeral of a reference; a letter is that of a note."""
        self._numeral_at = 0
        if not self._raised:
            return
        at = self._raised[-1].at
        text = self._short_text(at)
        if text is not None and _NUMERAL.fullmatch(text.strip()):
            self._words[at:] = []
            self.left_out["numerals of references"] += 1

    def _end_note(self, at: int) -> None:
        """Keeps the text of a note for the end, behind its mark."""
        self._note_at = None
        mark = self._words[at - 1].strip() if 0 < at <= len(self._words) else ""
        note = " ".join("".join(self._words[at:]).split())
        if note:
            self._notes.append(f"{mark} {note}".strip())
            self._words[at:] = []

    def close(self) -> None:
        super().close()
        self.paragraphs += self._notes
        self._notes = []


def _paragraphs(text: str) -> ArticleCollector:
    """The paragraphs of a page, read in a time that grows with its length. ValueError for a page with too many tags.

    An end tag that fits no element costs as many steps as elements are open, so that their product is limited."""
    etree = library("lxml.etree", "reading HTML and EPUB files", "rag")
    if (tags := text.count("<")) > MOST_TAGS:
        raise ValueError(f"has {tags:,} tags, more than the {MOST_TAGS:,} that are read; split it")
    paragraphs = ArticleCollector(max(_LEAST_DEPTH, _MOST_STEPS // (text.count("</") + 1)))
    raw = text.replace("\0", "").encode("utf-8", "replace")
    if raw.strip():
        parser = etree.HTMLParser(target=paragraphs, encoding="utf-8", huge_tree=True)
        for start in range(0, len(raw), _FED):
            parser.feed(raw[start : start + _FED])
        parser.close()
    return paragraphs


def _as_html(text: str) -> str:
    """A page of XHTML in the syntax of HTML: marked text (CDATA) as text, MathML without its prefix."""
    text = _CDATA.sub(lambda match: html.escape(match[1], quote=False), text)
    for prefix in set(_MATHML_PREFIX.findall(text[:1_000_000])):
        text = re.sub(rf"(</?){re.escape(prefix)}:(?=[a-z])", r"\1", text)
    return text


def html_file_text(path: Path, _limit: int) -> FileText:
    """The text of an HTML file."""
    return html_text(path.read_bytes())


def html_text(raw: bytes) -> FileText:
    """The text of a page of HTML; its characters by byte order mark, by `charset` in its first 4,096
    bytes, or UTF-8. ValueError for characters that it does not have."""
    charset = _CHARSET.search(raw[:4096])
    encoding = (
        "utf-16"
        if raw[:2] in (b"\xff\xfe", b"\xfe\xff")
        else charset[1].decode("ascii")
        if charset
        else "utf-8-sig"
    )
    try:
        text = raw.removeprefix(b"\xef\xbb\xbf").decode(
            "utf-8-sig" if encoding.lower() == "utf-8" else encoding
        )
    except (LookupError, UnicodeError):
        name = encoding.removesuffix("-sig")
        raise ValueError(f"is not in its encoding, {name}; save it as UTF-8") from None
    paragraphs = _paragraphs(_as_html(text) if _IS_XML.search(text[:4096]) else text)
    text, headings = joined(paragraphs)
    return FileText(
        text,
        headings=headings,
        left_out=dict(+paragraphs.left_out),
    )
