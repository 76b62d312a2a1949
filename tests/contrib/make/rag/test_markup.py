"""HTML and EPUB files as text."""

from __future__ import annotations

import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from tests.fuzz.engine import limited

from longmark.contrib.make.rag import archives, markup
from longmark.contrib.make.rag.documents import Documents, SourceDocument, Unread
from longmark.contrib.make.rag.epub import epub_text
from longmark.contrib.make.rag.markup import html_text

PAGE = """<!DOCTYPE html><html><head><title>Not shown</title><style>p {}</style></head><body>
<nav><a href="x">Menu</a></nav><h1>Rain &amp; <i>wind</i></h1><p>One
   line<br>and another.<p>Never closed <script>alert("<p>no</p>")</script>paragraph
<ul><li>first</li><li>second</li></ul><pre>a
  b</pre><table><tr><td>1</td><td>2</td></tr></table><p>雨</body></html>"""


def test_a_row_of_a_table_is_a_line_and_a_table_for_layout_is_not():
    def read(rows: str) -> list[str]:
        return html_text(f"<table>{rows}</table>".encode()).text.split("\n\n")

    assert read("<tr><th>dam<th>m<tr><td>Elm<td><p>12</p>") == ["dam | m", "Elm | 12"]
    assert read("<tr><td>Elm<td><td>12") == ["Elm |  | 12"]
    assert read("<tr><td>alone") == ["alone"]
    assert read("<tr><td><p>One.<p>Two<p>Three<td>4") == ["One. Two; Three | 4"]
    assert read("<tr><td>12<br>(3)<br>New<br>York<td>5<br>6") == ["12 (3) New York | 5; 6"]
    assert read("<tr><td><ul><li>a<li>b</ul><td>c") == ["a; b | c"]
    assert read("<tr><td><pre>a\nb</pre><td>c") == ["a\nb", "c"]
    inner = "<table><tr><td>1<td>2</table>"
    assert read(f"<tr><td>Side<td>{inner}<p>Text.</p>") == ["Side", "1 | 2", "Text."]
    long = "x" * 1500
    assert read(f"<tr><td>{long}<td>{long}") == [long, long]
    assert html_text(b"<table><tr><td><h2>H</h2><td>1</table><h2>I</h2>").headings == ((7, "I"),)


SPANS = {
    "rows and columns": (
        "<tr><th rowspan=2>Dam<th colspan=2>Height<tr><th>m<th>ft"
        "<tr><td rowspan=2>Elm<td>12<td>39<tr><td>13<td>43<tr><td>Oak<td colspan=2>none",
        [
            "Dam | Height | Height",
            "Dam | m | ft",
            "Elm | 12 | 39",
            "Elm | 13 | 43",
            "Oak | none | none",
        ],
    ),
    "a heading across the table": ("<tr><td colspan=2>Old<tr><td>Elm<td>12", ["Old", "Elm | 12"]),
    "the last column": ("<tr><td>1<td rowspan=2>m<tr><td>2", ["1 | m", "2 | m"]),
    "to the end of its group": (
        "<tbody><tr><td rowspan=0>A<td>1<tr><td>2<tbody><tr><td>B<td>3",
        ["A | 1", "A | 2", "B | 3"],
    ),
    "a row without cells of its own": (
        "<tr><td rowspan=3>A<td rowspan=2>x<tr><tr><td>y",
        ["A | x", "A | y"],
    ),
    "no number": ("<tr><td colspan=two rowspan=-1>A<td>1<tr><td>B<td>2", ["A | 1", "B | 2"]),
    "too many columns": ("<tr><td colspan=5000>A<td rowspan=2>1<tr><td>B<td>2", ["A | 1", "B | 2"]),
}


@pytest.mark.parametrize("case", SPANS)
def test_a_row_has_each_cell_that_spans_into_it(case: str):
    rows, lines = SPANS[case]
    assert html_text(f"<table>{rows}</table>".encode()).text.split("\n\n") == lines


@pytest.mark.parametrize(
    "rows", ["<tr><td rowspan=0>x", "<tr>" + "<td rowspan=0>x" * 150, "<tr><td colspan=99>x<td>y"]
)
def test_what_cells_that_span_others_add_is_a_small_multiple_of_the_page(rows: str):
    page = rows * (100_000 // len(rows))
    with limited():
        assert len(html_text(f"<table>{page}".encode()).text) < 6 * 100_000


def test_blocks_are_paragraphs_and_scripts_are_left_out():
    read = html_text(PAGE.encode())
    assert read.headings == ((0, "Rain & wind"),)
    assert read.text.split("\n\n") == [
        *(
            "Rain & wind",
            "One line\nand another.",
            "Never closed paragraph",
            "first",
            "second",
            "a\n  b",
            "1 | 2",
            "雨",
        )
    ]


def test_encodings():
    assert html_text("<p>Füße".encode("utf-16")).text == "Füße"
    assert html_text(b'<meta charset="iso-8859-1"><p>F\xfc\xdfe').text == "Füße"
    assert html_text("\ufeff<p>Füße".encode()).text == "Füße"
    with pytest.raises(ValueError, match="is not in its encoding, utf-8"):
        html_text(b"<p>F\xfc\xdfe")
    assert html_text(b"").text == ""
    assert html_text(b"<div>" * 50_000 + b"deep").text == "deep"
    assert html_text(b"<head><meta x><style>a</style><body><p>b").text == "b"
    assert html_text(b"<html><head><title/><script src='x'/></head><body><p>b").text == "b"  # XHTML


@pytest.mark.parametrize(
    "text",
    [
        *(
            "<!--",
            "</",
            "<?",
            "<![CDATA[",
            "<",
            "<p a='",
            "<div>",
            "<!",
            "<!DOCTYPE",
            "&#",
            "</p>",
            "<b></i>",
            "<pre>",
        ),
        *(
            "<table>",
            "<select><option>",
            "<title>",
            "<script>",
            "<svg>",
            "<ul><li>",
            "<br> ",
            "<!--!-",
            "<p>",
            "<sup>",
            "<sup>1",
            "<sub>x</sub>",
            "<math>",
            "<msup>",
            "<a><sup>1",
        ),
    ],
)
def test_the_time_of_reading_grows_with_the_length(text: str):
    """At most two seconds of work for 400,000 characters, where some took more than a minute."""
    with limited(), suppress(ValueError):
        html_text((text * (400_000 // len(text))).encode())
        html_text(b"<script>" + (text * (400_000 // len(text))).encode())


def test_what_would_take_too_long_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(
        ValueError, match="500 elements in each other"
    ):  # 5 * 10^8 steps / 10^6 end tags
        html_text(b"<b>" * 1_000 + b"</i>" * 1_000_000)
    monkeypatch.setattr(markup, "MOST_TAGS", 100)
    with pytest.raises(ValueError, match="has 101 tags, more than the 100 that are read"):
        html_text(b"<p>" * 101)


def book(path: Path, spine: str = '<itemref idref="b"/><itemref idref="a"/>', **files: str) -> Path:
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a%20one.xhtml"/>'
        f'<item id="b" href="text/b.xhtml"/></manifest><spine>{spine}</spine></package>'
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    )
    own = {"META-INF/container.xml": container, "OEBPS/book.opf": package}
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in (
            own
            | {"OEBPS/a one.xhtml": "<h2>End</h2><p>Last", "OEBPS/text/b.xhtml": "<p>First"}
            | files
        ).items():
            archive.writestr(name, text)
    return path


def test_a_chapter_is_read_once_and_what_is_unpacked_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = book(tmp_path / "b.epub", '<itemref idref="b"/>' * 2_000)
    assert epub_text(path, 10_000_000).text == "First"
    size = sum(len(zipfile.ZipFile(path).read(name)) for name in zipfile.ZipFile(path).namelist())
    last = len("<h2>End</h2><p>Last")  # not in the spine
    assert epub_text(path, size - last).text == "First"
    with pytest.raises(ValueError, match="when unpacked"):
        epub_text(path, size - last - 1)
    monkeypatch.setattr(archives, "MOST_TAGS", 100)
    with pytest.raises(ValueError, match="tags, more than the 100"):
        epub_text(path, 10_000_000)


def test_the_chapters_of_an_epub_in_their_order(tmp_path: Path):
    book(tmp_path / "good.epub")
    book(tmp_path / "torn.epub", '<itemref idref="a"/>', **{"OEBPS/book.opf": "<package>"})
    book(tmp_path / "empty.epub", "")
    (tmp_path / "no.epub").write_bytes(b"no zip")
    found = {
        one.id if isinstance(one, SourceDocument) else one.where: one for one in Documents(tmp_path)
    }
    good = found["good.epub"]
    assert isinstance(good, SourceDocument)
    assert good.text == "First\n\nEnd\n\nLast"
    assert [good.text[at : at + len(words)] for at, words in good.headings] == ["End"]
    (tmp_path / "a.md").write_text("# Rain #\n\nText\n### Too deep\n\n## Wind\n#none")
    (markdown,) = Documents(tmp_path / "a.md")
    assert isinstance(markdown, SourceDocument)
    assert markdown.headings == (
        (0, "Rain"),
        (29, "Wind"),
    )  # (8 + 2) + (4 + 1) + (12 + 2) characters before
    for name, words in (
        ("torn.epub", "cannot be read as EPUB"),
        ("no.epub", "is not a zip"),
        ("empty.epub", "empty"),
    ):
        bad = found[name]
        assert isinstance(bad, Unread)
        assert words in bad.why


READ = {
    "a power": (
        "The sheet covers 14 &times; 10<sup>6</sup> km<sup>2</sup>; the gate opened in 1953.<sup>2</sup>",
        "The sheet covers 14 × 10⁶ km²; the gate opened in 1953.[2]",
    ),
    "a note that is a link": ('in 1953<sup><a href="#n2">2</a></sup> and', "in 1953[2] and"),
    "a note inside a link": (
        'in 1953<a epub:type="noteref" href="#n2"><sup>2</sup></a> and',
        "in 1953[2] and",
    ),
    "a note in brackets": (
        'so<sup class="reference"><a href="#c"><span>[</span>1<span>]</span></a></sup>.',
        "so[1].",
    ),
    "a power in a link": ('<a href="x">some 10<sup>6</sup> people</a>', "some 10⁶ people"),
    "subscripts": ("CO<sub>2</sub>, v<sub>max</sub>, x<sub>i+1</sub>", "CO₂, v_max, x_(i+1)"),
    "endings": (
        "the 19<sup>th</sup>, M<sup>lle</sup>, e<sup>kx</sup> and x<sup>a</sup>",
        "the 19th, Mlle, e^kx and x^a",
    ),
    "an isotope": ("by <sup>14</sup>C", "by ¹⁴C"),
    "deleted and inserted": (
        "The fee is <del>300</del><ins>400</ins> euros.",
        "The fee is 400 euros.",
    ),
    "struck out": ("now <s>$9</s> <strike>$8</strike> $7", "now $7"),
    "furigana": (
        "<ruby>水<rt>すい</rt>門<rp>(</rp><rt>もん</rt><rp>)</rp></ruby>は夜に閉まる。",
        "水門は夜に閉まる。",
    ),
    "a soft hyphen": (
        "Klima&shy;wandel Donau<wbr>dampf\u200bschiff",
        "Klimawandel Donaudampfschiff",
    ),
    "a fraction": (
        "so <math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac></math>.",
        "so (a+b)/2.",
    ),
    "a mixed number": (
        "<math><mn>2</mn><mfrac><mn>1</mn><mn>2</mn></mfrac></math> m",
        "2 1/2 m",
    ),
    "a times without a sign": (
        "<math><mn>6</mn><mo>\u2062</mo><msup><mn>10</mn><mn>23</mn></msup></math> and "
        "<math><mn>2</mn><mo>\u2062</mo><mi>x</mi></math>",
        "6·10²³ and 2x",
    ),
    "a formula between letters": (
        "x<math><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math>z",
        "x E = mc² z",
    ),
    "a root and indices": (
        "<math><semantics><mrow><msqrt><mn>2</mn></msqrt><mo>&lt;</mo><msub><mi>x</mi><mi>i</mi></msub></mrow>"
        '<annotation encoding="application/x-tex">\\sqrt 2 &lt; x_i</annotation></semantics></math>',
        "√(2) < x_i",
    ),
    "a formula of text alone": ('is <math alttext="x^2"></math>', "is x^2"),
}


@pytest.mark.parametrize("case", READ)
def test_a_reader_of_the_text_reads_what_the_page_shows(case: str):
    page, text = READ[case]
    assert html_text(f'<meta charset="utf-8"><p>{page}</p>'.encode()).text == text


def test_what_is_not_read_ends_no_paragraph_and_hides_none():
    assert html_text(b"<p>a<del>b<p>c</p></del>d<p>e").text.split("\n\n") == ["a", "d", "e"]
    assert html_text(b"<p>x<sup>1<p>2</sup>3").text.split() == ["x1", "2", "3"]
    assert html_text(b"<p>a<math><mi>x<p>b").text.startswith("a x")
    assert html_text(b"<math>" * 300 + b"deep").text == "deep"


LISTS = {
    "from one": ("<ol><li>a<li>b</ol>", ["1. a", "2. b"]),
    "a start and a value": (
        '<ol start="5"><li>a<li value="9">b<li>c</ol>',
        ["5. a", "9. b", "10. c"],
    ),
    "backwards": ("<ol reversed><li>a<li>b<li><p>c</ol>", ["3. a", "2. b", "1. c"]),
    "backwards from a start": ('<ol reversed start="7"><li>a<li>b</ol>', ["7. a", "6. b"]),
    "letters": ('<ol type="a"><li>a<li>b</ol>', ["a. a", "b. b"]),
    "Roman numbers by their style": (
        '<ol style="list-style: outside upper-roman"><li>a<li>b</ol>',
        ["I. a", "II. b"],
    ),
    "no numbers by their style": ('<ol style="list-style-type:none"><li>a</ol>', ["a"]),
    "a list in a list": (
        '<ol><li>a<ul><li>x<ol type="i"><li>y</ol></ul><p>more<li>b</ol>',
        ["1. a", "x", "i. y", "more", "2. b"],
    ),
    "an item of a list alone": ("<ol><li><ol type=a><li>x</ol><li>y</ol>", ["1. a. x", "2. y"]),
    "an item without a text": ("<ol><li></li></ol><p>x", ["x"]),
    "no list": ("<li>a", ["a"]),
    "a start that is no number": ('<ol start="x"><li value="y">a</ol>', ["1. a"]),
}


@pytest.mark.parametrize("case", LISTS)
def test_items_have_the_numbers_that_a_browser_writes(case: str):
    page, lines = LISTS[case]
    assert html_text(page.encode()).text.split("\n\n") == lines


def test_what_is_deleted_or_drawn_is_counted():
    page = html_text(
        b"<p>now <del>old</del><s>1</s><strike>2</strike><svg><text>3</text><svg/></svg>5"
        b'<img alt="4"><span style="visibility: hidden">6</span><del><img></del>'
    )
    assert page.text == "now 5"
    assert page.left_out == {
        "deleted passages": 2,
        "passages that are struck out": 2,
        "drawings": 1,
        "pictures": 1,
        "hidden elements": 1,
    }


def test_pages_of_xhtml_keep_marked_text_formulas_with_a_prefix_and_marks_of_notes():
    page = html_text(
        b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml" '
        b'xmlns:m="http://www.w3.org/1998/Math/MathML"><body><p>so <![CDATA[5 < 6 & ]] x]]> '
        b"<m:math><m:mn>2</m:mn><m:mfrac><m:mn>1</m:mn><m:mn>2</m:mn></m:mfrac></m:math> cups"
        b'<a epub:type="noteref" href="#n">3</a> A<span epub:type="pagebreak">12</span>B'
        b'<a epub:type="noteref"><sup>4</sup></a><sup><a epub:type="noteref">5</a></sup></p>'
        b"<svg><text>x</text></svg></body></html>"
    )
    assert page.text == "so 5 < 6 & ]] x 2 1/2 cups[3] AB[4][5]"
    assert page.left_out == {"numbers of pages": 1, "drawings": 1}
    assert html_text(b"<p>a<![CDATA[b]]>c").text == "ac"  # as a browser reads HTML
