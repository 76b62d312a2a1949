"""EPUB files as plain text: the pages of HTML in them."""

from __future__ import annotations

import posixpath
import zipfile
from collections import Counter
from itertools import accumulate
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

from longmark.contrib.make.rag.archives import BROKEN, Unpacked
from longmark.contrib.make.rag.file_text import BETWEEN, FileText
from longmark.contrib.make.rag.markup import html_text

_CONTAINER = "META-INF/container.xml"


def epub_text(path: Path, limit: int) -> FileText:
    """The chapters of an EPUB file in their order of reading, a blank line between them, and what was left out. limit:
    bytes when unpacked. ValueError, with the remedy, for a file that is none, is encrypted or too large."""
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = Unpacked(archive, limit)
            if "META-INF/encryption.xml" in archive.namelist() and "rights.xml" in " ".join(
                archive.namelist()
            ):
                raise ValueError("is encrypted; save it without encryption")
            chapters = [html_text(unpacked.read(name)) for name in _chapters(unpacked)]
    except (zipfile.BadZipFile, ElementTree.ParseError, *BROKEN) as error:
        why = " ".join(str(error).split())[:120] or type(error).__name__
        raise ValueError(f"cannot be read as EPUB ({why}); save it again, or remove it") from None
    chapters = [chapter for chapter in chapters if chapter.text]
    starts = accumulate((len(chapter.text) + len(BETWEEN) for chapter in chapters), initial=0)
    headings = (
        (start + place, words)
        for start, chapter in zip(starts, chapters, strict=False)
        for place, words in chapter.headings
    )
    left_out = sum((Counter(chapter.left_out) for chapter in chapters), Counter[str]())
    text = BETWEEN.join(chapter.text for chapter in chapters)
    return FileText(
        text,
        headings=tuple(headings),
        left_out=left_out,
    )


def _chapters(archive: Unpacked) -> list[str]:
    """The names of the HTML files in the package's spine, each once."""
    container = ElementTree.fromstring(archive.read(_CONTAINER))
    package = next(
        (node.get("full-path", "") for node in container.iter() if node.tag.endswith("}rootfile")),
        "",
    )
    root = ElementTree.fromstring(archive.read(package))
    files = {
        node.get("id"): node.get("href", "") for node in root.iter() if node.tag.endswith("}item")
    }
    order = [files.get(node.get("idref")) for node in root.iter() if node.tag.endswith("}itemref")]
    folder = posixpath.dirname(package)
    return list(
        dict.fromkeys(
            posixpath.normpath(posixpath.join(folder, unquote(href))) for href in order if href
        )
    )
