"""Fuzzers of documents: Word, PowerPoint, EPUB (their parts, or the package around them), LaTeX, HTML, JATS and PDF.

A case ends in a document or in a reason why there is none (`Unread`). A document is text that can be written, whose
pages and headings lie in it, and that has at most `GROWTH` characters for each byte of the unpacked file.
"""

from __future__ import annotations

import copy
import io
import random
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.contrib.make.rag.make import pdf
from tests.contrib.make.rag.test_jats import ARTICLE, DOCTYPE
from tests.contrib.make.rag.test_latex_sources import PAPER
from tests.contrib.make.rag.test_markup import PAGE, book
from tests.contrib.make.rag.test_slides import frame, part, pptx, related, shape
from tests.contrib.make.rag.test_slides import run as run_of_slide
from tests.contrib.make.rag.test_word import NAMESPACES, docx, mark, paragraph, styled
from tests.contrib.make.rag.test_word import run as run_of_word
from tests.fuzz.engine import Fuzzer
from tests.fuzz.mutate import damaged, each

from longmark.contrib.make.rag.chunk import Chunker, Chunking
from longmark.contrib.make.rag.documents import Documents, SourceDocument, Unread

GROWTH = 100
_LEAST = 20_000  # characters that a file of a few bytes may have

_LAUGHS = (
    '<!DOCTYPE x [<!ENTITY a "'
    + "a" * 99
    + '">'
    + "".join(
        f'<!ENTITY {name} "{f"&{inner};" * 9}">'
        for inner, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "]>"
)
_XML = [
    *map(str.encode, each("<|>|</|/>|&|&#0;|&#x110000;|&#xD800;|&lt;|&none;|&i;|]]>|<![CDATA[|<?x|<!--|xmlns=|\"")),
    _LAUGHS.encode(),
    b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>&a;',
    b"<p>" * 3000,
    b"<b><i>" * 2000,
    b' colspan="99999999999"',
    b' rowspan="99999999"',
    b' a="1"' * 2000,
]  # fmt: skip
_OFFICE = [
    *_XML,
    b"<w:tbl><w:tr><w:tc>" * 400,
    b'<w:gridSpan w:val="1000000"/>',
    b'<w:basedOn w:val="Own"/>',
    b"<w:footnoteReference w:id='1'/>" * 200,
    b'<a:tc gridSpan="1000000" rowSpan="1000000">',
    b"<p:grpSp>" * 2000,
    b"<m:f><m:num>" * 500,
    b"<mc:AlternateContent><mc:Choice>" * 500,
    b"../../../../etc/passwd",
]
_HTML = [
    *_XML,
    *map(str.encode, each("<table><tr><td>|</table>|<script>|<style>|<svg>|<math><mfrac>|<ruby><rt>|<plaintext>|<base>")),
    b"<table><tr><td>" * 800,
    b"<ul><li>" * 1500,
    b"<math><mfrac>" * 900,
    b'<p style="display:none">' * 500,
    b"<td colspan=1000 rowspan=1000>x" * 40,
    b"&nbsp;" * 9000,
]  # fmt: skip
_TEX = [
    *map(str.encode, each("{|}|[|]|$|$$|\\(|\\[|%|#1|&|~|^^00|\\|\\\\|\\begin{|\\verb|\\input{a}|\\input{../b}")),
    b"\\end{document}",
    b"{" * 5000,
    b"\\begin{a}" * 2000,
    b"\\newcommand{\\a}{\\a\\a}\\a",
    b"\\newcommand{\\a}[9]{#1#1#1#1}" + b"\\a{" * 400,
    b"\\def\\b{\\c\\c}\\def\\c{\\d\\d}\\def\\d{\\e\\e}\\def\\e{" + b"x" * 500 + b"}\\b",
    b"\\frac{" * 900,
    b"\\footnote{" * 600,
    b"\\begin{tabular}{l}" * 300,
    b"\\multicolumn{99999999}{c}{x}",
    b"\\SI{10}{" * 300,
    b"$" + b"x^{" * 900,
    b"\\item " * 3000,
]  # fmt: skip
_PDF = [
    *map(str.encode, each("(|)|<<|>>|BT|ET|Tj|TJ|[|]|endobj|endstream|obj|R|xref|startxref|%|/|<")),
    b"[" * 2000,
    b"/Kids [2 0 R 2 0 R]",
    b"/Length 99999999",
    b"/Filter [/FlateDecode /FlateDecode]",
    b"(a) Tj " * 2000,
    b"0 -99999999 Td ",
    b"/F1 1e30 Tf ",
]


_VALUES = each(
    "|0|1|-1|2|true|false|continue|restart|99999999|1e9|none|title|Own|Kop1|rId1|rId2|r1|../a|%41|cite|a b"
)


def _replanted(rng: random.Random, raw: bytes) -> bytes:
    """XML that is still XML, with one to four changes of its tree; other bytes as they are."""
    try:
        root = ElementTree.fromstring(raw)
    except ElementTree.ParseError:
        return raw
    for _ in range(rng.choice((1, 1, 2, 4))):
        elements = list(root.iter())
        if len(elements) > 5000:
            break
        element = rng.choice(elements)
        other_element = rng.choice(elements)
        match rng.randrange(8):
            case 0:  # many times
                element.extend([copy.deepcopy(child) for child in element] * rng.choice((2, 30)))
            case 1:  # deep in itself
                inner = copy.deepcopy(element)
                for _ in range(rng.choice((3, 60, 190))):
                    outer = ElementTree.Element(element.tag, element.attrib)
                    outer.append(inner)
                    inner = outer
                element.append(inner)
            case 2:
                element.tag = other_element.tag
            case 3 | 4:
                names = [name for node in elements for name in node.attrib] or ["colspan"]
                element.set(rng.choice([*names, "colspan", "rowspan"]), rng.choice(_VALUES))
            case 5:
                element.attrib.clear()
            case 6:
                for child in list(element)[: rng.choice((1, 9))]:
                    element.remove(child)
            case _:
                element.append(copy.deepcopy(other_element))
                element.text = rng.choice((None, " ", "x" * 3000, "\u202e\u0301", "\U0001f600" * 9))
    changed: bytes = ElementTree.tostring(root, encoding="utf-8")
    return changed


def _unpacked(raw: bytes) -> int:
    """Bytes of a file, or of what is packed in it."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return len(raw)


def read(path: Path) -> list[str]:
    """The passages of a file, as an index has them; what was said above of its documents is checked."""
    chunker = Chunker(Chunking())
    most = _LEAST + GROWTH * _unpacked(path.read_bytes())
    passages: list[str] = []
    for document in Documents(path):
        if isinstance(document, Unread):
            assert document.why
            continue
        assert isinstance(document, SourceDocument)
        text = document.text
        text.encode()
        assert text.strip()
        assert len(text) <= most, f"{len(text):,} characters of a file of {most // GROWTH:,} bytes"
        for places in (list(document.pages), [place for place, _ in document.headings]):
            assert places == sorted(places)
            assert all(0 <= place <= len(text) for place in places)
        assert all(words for _, words in document.headings)
        passages += [text[span.start : span.end] for span in chunker.passages(text)]
    return passages


def _plain(
    name: str, raw: bytes, tokens: Sequence[bytes]
) -> Callable[[random.Random, Path], object]:
    """Cases of a file that is damaged as it is, or in the tree of its elements."""

    def case(rng: random.Random, folder: Path) -> object:
        path = folder / name
        changed = _replanted(rng, raw)
        path.write_bytes(
            changed if changed != raw and rng.random() < 0.6 else damaged(rng, raw, tokens)
        )
        return read(path)

    return case


def _packed(
    name: str, pack: Callable[[Path], Path], tokens: Sequence[bytes]
) -> Callable[[random.Random, Path], object]:
    """Cases of a package of which a part, or the package itself, is damaged; parts may be missing or stand twice."""

    def case(rng: random.Random, folder: Path) -> object:
        path = pack(folder / name)
        with zipfile.ZipFile(path) as archive:
            parts = {entry: archive.read(entry) for entry in archive.namelist()}
        hurt = rng.choice(list(parts))
        match rng.randrange(10):
            case 0:
                path.write_bytes(damaged(rng, path.read_bytes()))
                return read(path)
            case 1:
                del parts[hurt]
            case 2:
                parts[f"{hurt}/../{hurt}"] = parts[hurt]
            case 3:
                parts[hurt] = parts[rng.choice(list(parts))]
            case 4 | 5:
                parts[hurt] = damaged(rng, parts[hurt], tokens)
            case _:
                parts[hurt] = _replanted(rng, parts[hurt])
        _write(path, parts)
        return read(path)

    return case


def _write(path: Path, parts: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, content in parts.items():
            archive.writestr(entry, content)


def _docx(path: Path) -> Path:
    table = "".join(
        f"<w:tr>{''.join(f'<w:tc>{paragraph(run_of_word(text))}</w:tc>' for text in row)}</w:tr>"
        for row in (("Dam", "m"), ("Elm", "12"))
    )
    fraction = (
        "<m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den>"
        "</m:f></m:oMath>"
    )
    body = (
        styled("Titel", "Dams")
        + styled("Own", "Methods")
        + paragraph(run_of_word("A dam held.") + mark("footnote", 2) + fraction)
        + f"<w:tbl>{table}</w:tbl>"
        + paragraph("<w:del><w:r><w:delText>no</w:delText></w:r></w:del>" + run_of_word("End."))
    )
    note = f'<w:footnote w:id="2">{paragraph(run_of_word("By night."))}</w:footnote>'
    return docx(
        path, body, {"word/footnotes.xml": f"<w:footnotes {NAMESPACES}>{note}</w:footnotes>"}
    )


def _pptx(path: Path) -> Path:
    cells = "".join(
        f"<a:tc><a:txBody><a:p>{run_of_slide(text)}</a:p></a:txBody></a:tc>"
        for text in ("Elm", "12")
    )
    first = shape(run_of_slide("Dams"), kind="ctrTitle") + frame(
        f"<a:tbl><a:tr>{cells}</a:tr></a:tbl>"
    )
    second = f"<p:grpSp>{shape(run_of_slide('inner'))}</p:grpSp>" + shape(
        run_of_slide("1"), kind="sldNum"
    )
    return pptx(
        path,
        first,
        second,
        parts={
            "ppt/slides/_rels/slide1.xml.rels": related(
                ("rId1", "notesSlide", "../notesSlides/notesSlide1.xml")
            ),
            "ppt/notesSlides/notesSlide1.xml": part("notes", shape(run_of_slide("Speak slowly."))),
        },
    )


def _epub(path: Path) -> Path:
    return book(path, **{"OEBPS/text/b.xhtml": PAGE})


DOCUMENTS = [
    Fuzzer("docx", 200, _packed("a.docx", _docx, _OFFICE)),
    Fuzzer("pptx", 150, _packed("a.pptx", _pptx, _OFFICE)),
    Fuzzer("epub", 150, _packed("a.epub", _epub, _HTML)),
    Fuzzer("tex", 250, _plain("a.tex", PAPER.encode(), _TEX)),
    Fuzzer("html", 250, _plain("a.html", PAGE.encode(), _HTML)),
    Fuzzer("jats", 150, _plain("a.xml", (DOCTYPE + ARTICLE).encode(), _XML)),
    Fuzzer("pdf", 150, _plain("a.pdf", pdf(["A dam is high.", "It is old.", "It held."]), _PDF)),
]
