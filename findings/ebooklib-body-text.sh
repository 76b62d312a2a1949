#!/usr/bin/env bash
# EbookLib 0.20, get_content() of a chapter of a book that was read with epub.read_epub.
# The chapter is written anew: text that stands in the body before its first element is gone, as are the title, the attributes of the body
# and the language of the chapter, which becomes that of a new book (en). linear="no" in the spine is is_linear True. The bytes of the file
# are in .content, and get_body_content() has the body with its tag and that text.
# An expert would guess that get_content() returns the chapter as it stands in the book.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check EbookLib==0.20
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import zipfile
from importlib.metadata import version

from ebooklib import epub

NAMES = 'xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"'
FILES = {
    "mimetype": "application/epub+zip",
    "META-INF/container.xml": '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
    "book.opf": '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">'
    '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">x</dc:identifier>'
    "<dc:title>Deiche</dc:title><dc:language>de</dc:language></metadata><manifest>"
    '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
    '<item id="one" href="one.xhtml" media-type="application/xhtml+xml"/></manifest>'
    '<spine><itemref idref="one" linear="no"/></spine></package>',
    "nav.xhtml": f'<html {NAMES}><body><nav epub:type="toc"><ol><li><a href="one.xhtml">1</a></li></ol></nav></body></html>',
    "one.xhtml": f'<html {NAMES} xml:lang="de"><head><title>Vom Bau</title></head>'
    '<body epub:type="bodymatter">Vorab: <p>Er hielt.</p> Ende.</body></html>',
}
with zipfile.ZipFile("book.epub", "w") as archive:
    for name, text in FILES.items():
        archive.writestr(name, text)
chapter = epub.read_epub("book.epub").get_item_with_id("one")
content = chapter.get_content().decode()
print("EbookLib", version("EbookLib"), " ".join(content.split())[-80:])
assert "Er hielt." in content and "Ende." in content
assert not any(words in content for words in ("Vorab", "Vom Bau", "bodymatter", 'lang="de"')), content
assert 'xml:lang="en"' in content, content
assert "Vorab" in chapter.get_body_content().decode()
assert chapter.is_linear is True
PYTHON
