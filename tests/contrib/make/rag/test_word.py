"""Word documents as their reader sees them. The packages are written here, by hand, as Word writes them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from longmark.contrib.make.rag import word
from longmark.contrib.make.rag.documents import Documents, SourceDocument, Unread

NAMESPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:v="urn:schemas-microsoft-com:vml"'
)
STYLES = """<w:style w:type="paragraph" w:styleId="Kop1">
<w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Own"><w:name w:val="Own"/><w:basedOn w:val="Kop1"/></w:style>
<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:type="character" w:styleId="Hoch"><w:rPr><w:vertAlign w:val="superscript"/></w:rPr></w:style>"""


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(content: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{content}</w:p>"


def styled(name: str, text: str) -> str:
    return paragraph(run(text), f'<w:pStyle w:val="{name}"/>')


def mark(kind: str, number: int) -> str:
    return f'<w:r><w:{kind}Reference w:id="{number}"/></w:r>'


def docx(path: Path, body: str, parts: dict[str, str] | None = None) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        whole = f"<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>"
        archive.writestr("word/document.xml", whole)
        archive.writestr("word/styles.xml", f"<w:styles {NAMESPACES}>{STYLES}</w:styles>")
        for name, content in (parts or {}).items():
            archive.writestr(name, content)
    return path


def read(path: Path) -> tuple[SourceDocument, dict[str, int]]:
    documents = Documents(path)
    (document,) = documents
    assert isinstance(document, SourceDocument), document
    return document, dict(documents.omitted)


def paragraphs(tmp_path: Path, body: str, parts: dict[str, str] | None = None) -> list[str]:
    return read(docx(tmp_path / "a.docx", body, parts))[0].text.split("\n\n")


def test_headings_are_known_by_the_style_s_level_in_any_language(tmp_path: Path) -> None:
    body = styled("Titel", "Dams") + styled("Kop1", "Rain") + styled("Own", "Snow")
    document, _ = read(docx(tmp_path / "a.docx", body + paragraph(run("Text."))))
    assert [words for _, words in document.headings] == ["Dams", "Rain", "Snow"]
    assert document.text == "Dams\n\nRain\n\nSnow\n\nText."


def test_tracked_changes_are_read_as_accepted_and_what_goes_is_counted(tmp_path: Path) -> None:
    changed = (
        run("The fee is ")
        + f'<w:del w:id="1"><w:r><w:delText>300</w:delText></w:r></w:del><w:ins w:id="2">{run("400")}</w:ins>'
        + run(" euros.")
    )
    moved = f'<w:moveFrom w:id="3">{run("old place")}</w:moveFrom><w:moveTo w:id="4">{run("Moved.")}</w:moveTo>'
    gone = run("struck", "<w:strike/>") + run("hidden", "<w:vanish/>")
    kept = run("kept", '<w:strike w:val="0"/>') + run(" seen", '<w:vanish w:val="false"/>')
    body = paragraph(changed) + paragraph(moved) + paragraph(gone) + paragraph(kept)
    document, omitted = read(docx(tmp_path / "a.docx", body))
    assert document.text == "The fee is 400 euros.\n\nMoved.\n\nkept seen"
    assert omitted == {
        "deleted passages": 2,
        "passages that are struck out": 1,
        "hidden passages": 1,
    }


def test_notes_stand_at_the_end_behind_their_numbers(tmp_path: Path) -> None:
    note = "<w:{0} {1}><w:{2} w:id='-1'><w:p/></w:{2}><w:{2} w:id='1'>{3}</w:{2}></w:{0}>"
    parts = {
        "word/footnotes.xml": note.format(
            "footnotes", NAMESPACES, "footnote", paragraph(run("A note.")) + paragraph(run("More."))
        ),
        "word/endnotes.xml": note.format(
            "endnotes", NAMESPACES, "endnote", paragraph(run("At the end."))
        ),
        "word/header1.xml": f"<w:hdr {NAMESPACES}>{paragraph(run('Head'))}</w:hdr>",
    }
    body = paragraph(run("Rain") + mark("footnote", 1) + run(" fell.") + mark("endnote", 1))
    document, omitted = read(docx(tmp_path / "a.docx", body, parts))
    assert document.text == "Rain[1] fell.[2]\n\n[1] A note. More.\n\n[2] At the end."
    assert omitted == {"running heads and feet": 1}


def test_each_note_is_written_once_and_its_part_is_read_once(tmp_path: Path) -> None:
    numbers = range(1, 301)
    notes = "".join(
        f"<w:footnote w:id='{n}'>{paragraph(run(f'Note {n}.') + mark('footnote', n))}</w:footnote>"
        for n in numbers
    )
    parts = {"word/footnotes.xml": f"<w:footnotes {NAMESPACES}>{notes}</w:footnotes>"}
    body = paragraph("".join(run("x") + mark("footnote", n) for n in (*numbers, 1, 999)))
    path = docx(tmp_path / "a.docx", body, parts)
    # A limit that holds each part once, and not the notes once for each of their marks.
    paragraphs_of_text = word.word_text(
        path, 2 * sum(map(len, (body, parts["word/footnotes.xml"])))
    ).text.split("\n\n")
    assert len(paragraphs_of_text) == 301
    assert paragraphs_of_text[0].endswith("x[300]x[1]x")
    assert paragraphs_of_text[300] == "[300] Note 300.[300]"


def test_equations_raised_digits_and_ruby_keep_their_meaning(tmp_path: Path) -> None:
    fraction = (
        "<m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"
    )
    power = (
        "<m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>"
    )
    root = "<m:rad><m:radPr/><m:deg/><m:e><m:r><m:t>y</m:t></m:r></m:e></m:rad>"
    total = (
        '<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub><m:r><m:t>i</m:t></m:r></m:sub>'
        "<m:sup><m:r><m:t>n</m:t></m:r></m:sup><m:e><m:r><m:t>z</m:t></m:r></m:e></m:nary>"
    )
    brackets = (
        f'<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr><m:e>{power}</m:e></m:d>'
    )
    equations = [fraction, power, root, total, brackets]
    ruby = (
        "<w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>あめ</w:t></w:r></w:rt>"
        "<w:rubyBase><w:r><w:t>雨</w:t></w:r></w:rubyBase></w:ruby></w:r>"
    )
    million = run("10") + run("6", '<w:vertAlign w:val="superscript"/>') + run(" L of H")
    water = million + run("2", '<w:vertAlign w:val="subscript"/>') + run("O")
    body = "".join(paragraph(f"<m:oMath>{equation}</m:oMath>") for equation in equations)
    assert paragraphs(tmp_path, body + paragraph(ruby) + paragraph(water)) == [
        "(a+b)/2",
        "x²",
        "√(y)",
        "∑_iⁿz",
        "[x²]",
        "雨",
        "10⁶ L of H₂O",
    ]


def test_tables_lists_text_boxes_and_breaks(tmp_path: Path) -> None:
    cells = "".join(f"<w:tc>{paragraph(run(text))}</w:tc>" for text in ("Elm", "12"))
    table = f"<w:tbl><w:tblPr/><w:tr>{cells}</w:tr></w:tbl>"
    listed = paragraph(run("first"), '<w:numPr><w:ilvl w:val="0"/></w:numPr>')
    box = f"<w:txbxContent>{paragraph(run('In a box.'))}</w:txbxContent>"
    shape = (
        f"<w:r><mc:AlternateContent><mc:Choice><w:drawing><wps:txbx>{box}</wps:txbx></w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict><v:textbox>{box}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )
    beside = paragraph(run("Be") + shape + run("side."))
    lines = paragraph(
        run("one") + "<w:r><w:br/></w:r>" + run("two") + "<w:r><w:tab/></w:r>" + run("3")
    )
    field = paragraph(
        '<w:r><w:instrText> PAGE </w:instrText></w:r><w:hyperlink r:id="x" xmlns:r="r">'
        f"{run('link')}</w:hyperlink><w:sdt><w:sdtContent>{run(' set')}</w:sdtContent></w:sdt>"
    )
    picture = paragraph("<w:r><w:drawing/></w:r>")
    document, omitted = read(
        docx(tmp_path / "a.docx", table + listed + beside + lines + field + picture)
    )
    assert document.text.split("\n\n") == [
        "Elm | 12",
        "first",
        "Beside.",
        "In a box.",
        "one\ntwo 3",
        "link set",
    ]
    assert omitted == {"pictures": 1}


def test_a_row_of_a_table_has_the_cells_that_are_merged_into_it(tmp_path: Path) -> None:
    def cell(text: str, properties: str = "") -> str:
        return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(run(text))}</w:tc>"

    begun, continued = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    wide = '<w:gridSpan w:val="2"/>'
    rows = [
        cell("Dam", begun) + cell("Height", wide),
        cell("", continued) + cell("m") + cell("ft"),
        cell("Elm", begun) + cell("12") + cell("39"),
        cell("", continued) + cell("13") + cell("43"),
        '<w:trPr><w:gridBefore w:val="1"/></w:trPr>' + cell("all", wide),
    ]
    table = f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"
    assert paragraphs(tmp_path, table) == [
        "Dam | Height | Height",
        "Dam | m | ft",
        "Elm | 12 | 39",
        "Elm | 13 | 43",
        " | all | all",
    ]


def test_text_from_right_to_left_and_symbols(tmp_path: Path) -> None:
    symbol = (
        '<w:r><w:sym w:font="X" w:char="F061"/></w:r><w:r><w:sym w:font="X" w:char="00B5"/></w:r>'
    )
    arabic = paragraph(run("ارتفع النهر", "<w:rtl/>"), "<w:bidi/>")
    document, omitted = read(docx(tmp_path / "a.docx", arabic + paragraph(symbol + run("m"))))
    assert document.text == "ارتفع النهر\n\nµm"
    assert omitted == {"symbols of a font": 1}


def test_digits_are_raised_by_a_style_as_by_themselves(tmp_path: Path) -> None:
    style = '<w:rStyle w:val="Hoch"/>'
    text = run("10") + run("6", style) + run(" and 10")
    level = '<w:vertAlign w:val="baseline"/>'
    assert paragraphs(tmp_path, paragraph(text + run("7", style + level))) == ["10⁶ and 107"]


def test_the_font_symbol_is_read_as_unicode(tmp_path: Path) -> None:
    font = '<w:rFonts w:ascii="Symbol" w:hAnsi="Symbol"/>'
    parts = (
        run("4 ")
        + '<w:r><w:sym w:font="Symbol" w:char="F0B1"/></w:r>'
        + run(" 1 ")
        + run("\uf06d", font)
        + run("g, p \uf0a3 .05, ")
        + run("\uf0a3", font)
        + '<w:r><w:sym w:font="Symbol" w:char="F0E6"/></w:r>'
    )
    document, omitted = read(docx(tmp_path / "a.docx", paragraph(parts)))
    assert document.text == "4 ± 1 μg, p \uf0a3 .05, ≤"  # a private character of another font stays
    assert omitted == {"symbols of a font": 1}  # a part of a tall bracket


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "cannot be read as DOCX"),
        (b"plain text", "cannot be read as DOCX"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "encrypted, or of Word 97"),
    ],
)
def test_what_is_no_package_is_a_line_with_its_reason(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(content)
    (unread,) = Documents(path)
    assert isinstance(unread, Unread)
    assert reason in unread.why


def test_a_broken_empty_or_large_package_is_a_line_with_its_reason(tmp_path: Path) -> None:
    def why(path: Path) -> str:
        (unread,) = Documents(path)
        assert isinstance(unread, Unread)
        return unread.why

    with zipfile.ZipFile(tmp_path / "other.docx", "w") as archive:
        archive.writestr("xl/workbook.xml", "<x/>")
    assert "has no text of Word in it" in why(tmp_path / "other.docx")
    assert why(docx(tmp_path / "empty.docx", "")) == "is empty"
    with zipfile.ZipFile(tmp_path / "cut.docx", "w") as archive:
        archive.writestr("word/document.xml", f"<w:document {NAMESPACES}><w:body>")
    assert "cannot be read as XML" in why(tmp_path / "cut.docx")
    with pytest.raises(ValueError, match="more than 0 MiB when unpacked"):
        word.word_text(docx(tmp_path / "a.docx", paragraph(run("x" * 5000))), 1000)
