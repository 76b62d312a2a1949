"""HTML and EPUB files as plain text: a paragraph for each block; scripts and navigation are left out. Headings of the
first two levels are noted."""

from __future__ import annotations

import posixpath
import re
import zipfile
from html.parser import HTMLParser
from itertools import accumulate
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

HTML = frozenset({".html", ".htm", ".xhtml"})
_DROPPED = frozenset({"script", "style", "nav", "template", "noscript", "svg", "math", "head", "button", "select"})
_BLOCKS = re.compile(
    "address|article|aside|blockquote|body|caption|center|d[dlt]|details|div|fieldset|fig(?:caption|ure)|footer|form|"
    "h[1-6]|header|hr|li|main|[ou]l|p|pre|section|summary|table|t(?:body|[dhr]|foot|head)"
)
_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_CONTAINER = "META-INF/container.xml"
_HEADINGS = ("h1", "h2")
_BETWEEN = "\n\n"

Headings = tuple[tuple[int, str], ...]
"""Where each begins in a text, and its words."""


class _Text(HTMLParser):
    """Collects the paragraphs of a page. Tags that are never closed drop nothing but what they may contain."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.paragraphs: list[str] = []
        self.headings: list[int] = []  # which paragraphs they are
        self._words: list[str] = []
        self._dropped: list[str] = []
        self._verbatim = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in _DROPPED:
            self._dropped.append(tag)
        elif tag == "body":
            self._dropped.clear()  # a head that was never closed
        if _BLOCKS.fullmatch(tag):
            self._end()
        elif tag == "br":
            self._words.append("\n")
        self._verbatim += tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        if tag in self._dropped:
            del self._dropped[self._dropped.index(tag) :]
        before = len(self.paragraphs)
        if _BLOCKS.fullmatch(tag):
            self._end()
        if tag in _HEADINGS and len(self.paragraphs) > before:
            self.headings.append(before)
        self._verbatim = max(0, self._verbatim - (tag == "pre"))

    def handle_data(self, data: str) -> None:
        if not self._dropped:
            self._words.append(data if self._verbatim else re.sub(r"\s+", " ", data))

    def _end(self) -> None:
        text = re.sub(r"[ \t]*\n[ \t]*" if not self._verbatim else r"(?!)", "\n", "".join(self._words)).strip()
        if text:
            self.paragraphs.append(text)
        self._words = []

    def close(self) -> None:
        super().close()
        self._end()


def html_text(raw: bytes) -> tuple[str, Headings]:
    """The text of an HTML file, and its headings; its characters by byte order mark, by `charset` in its first 4,096
    bytes, or UTF-8. ValueError for characters that it does not have."""
    named = _CHARSET.search(raw[:4096])
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else named[1].decode("ascii") if named else "utf-8-sig"
    try:
        text = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8-sig" if encoding.lower() == "utf-8" else encoding)
    except (LookupError, UnicodeError):
        raise ValueError(f"is not in its encoding, {encoding}; save it as UTF-8") from None
    parser = _Text()
    parser.feed(text.replace("\0", ""))
    parser.close()
    starts = list(accumulate((len(one) + len(_BETWEEN) for one in parser.paragraphs), initial=0))
    headings = tuple((starts[at], " ".join(parser.paragraphs[at].split())) for at in parser.headings)
    return _BETWEEN.join(parser.paragraphs), headings


def epub_text(path: Path, most: int) -> tuple[str, Headings]:
    """The chapters of an EPUB file in their order of reading, a blank line between them, and their headings. most:
    bytes when unpacked. ValueError, with the remedy, for a file that is none, is encrypted or too large."""
    try:
        with zipfile.ZipFile(path) as archive:
            if (size := sum(entry.file_size for entry in archive.infolist())) > most:
                raise ValueError(f"has {size >> 20:,} MiB when unpacked, more than the {most >> 20} that are read")
            if "META-INF/encryption.xml" in archive.namelist() and "rights.xml" in " ".join(archive.namelist()):
                raise ValueError("is encrypted; save it without encryption")
            found = [html_text(archive.read(name)) for name in _chapters(archive)]
    except (zipfile.BadZipFile, KeyError, ElementTree.ParseError, RuntimeError, NotImplementedError) as error:
        why = " ".join(str(error).split())[:120] or type(error).__name__
        raise ValueError(f"cannot be read as EPUB ({why}); save it again, or remove it") from None
    found = [chapter for chapter in found if chapter[0]]
    starts = accumulate((len(text) + len(_BETWEEN) for text, _ in found), initial=0)
    headings = ((start + at, words) for start, (_, own) in zip(starts, found, strict=False) for at, words in own)
    return _BETWEEN.join(text for text, _ in found), tuple(headings)


def _chapters(archive: zipfile.ZipFile) -> list[str]:
    """The names of the HTML files in the package's spine."""
    container = ElementTree.fromstring(archive.read(_CONTAINER))
    package = next((node.get("full-path", "") for node in container.iter() if node.tag.endswith("}rootfile")), "")
    root = ElementTree.fromstring(archive.read(package))
    files = {node.get("id"): node.get("href", "") for node in root.iter() if node.tag.endswith("}item")}
    order = [files.get(node.get("idref")) for node in root.iter() if node.tag.endswith("}itemref")]
    folder = posixpath.dirname(package)
    return [posixpath.normpath(posixpath.join(folder, unquote(href))) for href in order if href]
