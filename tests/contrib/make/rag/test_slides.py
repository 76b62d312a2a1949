"""Presentations as their audience sees them. The packages are written here, by hand, as PowerPoint writes them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from longmark.contrib.make.rag import slides
from longmark.contrib.make.rag.documents import Documents, SourceDocument, Unread

NAMESPACES = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main" '
    'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def run(text: str, properties: str = "") -> str:
    return f"<a:r><a:rPr {properties}/><a:t>{text}</a:t></a:r>"


def shape(*paragraphs: str, kind: str = "") -> str:
    """A shape with paragraphs. kind: what it is in the layout, as `title`."""
    mark = f'<p:ph type="{kind}"/>' if kind else ""
    inside = "".join(f"<a:p>{content}</a:p>" for content in paragraphs)
    return f"<p:sp><p:nvSpPr><p:nvPr>{mark}</p:nvPr></p:nvSpPr><p:txBody>{inside}</p:txBody></p:sp>"


def frame(content: str) -> str:
    return (
        "<p:graphicFrame><a:graphic><a:graphicData>"
        f"{content}</a:graphicData></a:graphic></p:graphicFrame>"
    )


def part(name: str, shapes: str, attributes: str = "") -> str:
    tree = f"<p:cSld><p:spTree>{shapes}</p:spTree></p:cSld>"
    return f"<p:{name} {NAMESPACES} {attributes}>{tree}</p:{name}>"


def related(*relations: tuple[str, str, str]) -> str:
    """Relations as (id, kind, target)."""
    listed = "".join(
        f'<Relationship Id="{relation}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
        for relation, kind, target in relations
    )
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{space}">{listed}</Relationships>'


def pptx(path: Path, *shapes: str, parts: dict[str, str] | None = None) -> Path:
    """A presentation with a slide for each text of shapes; a slide may be given whole."""
    numbers = range(1, len(shapes) + 1)
    listed = "".join(f'<p:sldId id="{255 + n}" r:id="rId{n}"/>' for n in numbers)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "ppt/presentation.xml",
            f"<p:presentation {NAMESPACES}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>",
        )
        # The slides' files are numbered against their order, as after moving them.
        order = {n: len(shapes) + 1 - n for n in numbers}
        archive.writestr(
            "ppt/_rels/presentation.xml.rels",
            related(*((f"rId{n}", "slide", f"slides/slide{order[n]}.xml") for n in numbers)),
        )
        for n, content in zip(numbers, shapes, strict=True):
            slide = content if content.startswith("<p:sld ") else part("sld", content)
            archive.writestr(f"ppt/slides/slide{order[n]}.xml", slide)
        for name, content in (parts or {}).items():
            archive.writestr(name, content)
    return path


def read(path: Path) -> tuple[SourceDocument, dict[str, int]]:
    documents = Documents(path)
    (document,) = documents
    assert isinstance(document, SourceDocument), document
    return document, dict(documents.omitted)


def test_slides_are_read_in_their_order_each_with_its_title_first(tmp_path: Path) -> None:
    opening = shape(run("by Doe"), kind="subTitle") + shape(run("Dams"), kind="ctrTitle")
    rain = shape(run("first"), run("second")) + shape(run("Ra") + run("in"), kind="title")
    document, omitted = read(pptx(tmp_path / "a.pptx", opening, rain))
    assert document.text.split("\n\n") == ["Dams", "by Doe", "Rain", "first", "second"]
    assert [words for _, words in document.headings] == ["Dams", "Rain"]
    assert document.pages == (0, document.text.index("Rain"))
    assert document.page_at(document.text.index("second")) == 2
    assert omitted == {}


def test_groups_tables_diagrams_and_notes_are_read(tmp_path: Path) -> None:
    group = f"<p:grpSp>{shape(run('outer'))}<p:grpSp>{shape(run('inner'))}</p:grpSp></p:grpSp>"

    def cell(text: str, merged: str = "") -> str:
        return f"<a:tc {merged}><a:txBody><a:p>{text and run(text)}</a:p></a:txBody></a:tc>"

    rows = [
        cell("Dam", 'rowSpan="2"') + cell("Height", 'gridSpan="2"') + cell("", 'hMerge="1"'),
        cell("", 'vMerge="1"') + cell("m") + cell("ft"),
        cell("Elm") + cell("12") + cell("39</a:t></a:r><a:br/></a:p><a:p><a:r><a:t>(about)"),
    ]
    table = frame(f"<a:tbl>{''.join(f'<a:tr>{row}</a:tr>' for row in rows)}</a:tbl>")
    diagram = frame('<dgm:relIds r:dm="rId1" r:lo="rId9"/>')
    point = "<dgm:pt {}><dgm:t><a:p>{}</a:p></dgm:t></dgm:pt>"
    points = point.format("", run("Plan")) + point.format('type="pres"', run("not shown"))
    notes = shape(run("Say this."), kind="body") + shape(run("7"), kind="sldNum")
    parts = {
        "ppt/slides/_rels/slide1.xml.rels": related(
            ("rId1", "diagramData", "../diagrams/data1.xml"),
            ("rId2", "notesSlide", "/ppt/notesSlides/notesSlide1.xml"),
            ("rId3", "comments", "../comments/comment1.xml"),
            ("rId4", "notesSlide", "../notesSlides/gone.xml"),
        ),
        "ppt/diagrams/data1.xml": f"<dgm:dataModel {NAMESPACES}>{points}</dgm:dataModel>",
        "ppt/notesSlides/notesSlide1.xml": part("notes", notes),
        "ppt/comments/comment1.xml": f"<p:cmLst {NAMESPACES}><p:cm/><p:cm/></p:cmLst>",
    }
    document, omitted = read(pptx(tmp_path / "a.pptx", group + table + diagram, parts=parts))
    assert document.text.split("\n\n") == [
        "outer",
        "inner",
        "Dam | Height | Height",
        "Dam | m | ft",
        "Elm | 12 | 39 (about)",
        "Plan",
        "Say this.",
    ]
    assert omitted == {"comments": 2, "numbers, dates and feet of slides": 1}


def test_what_is_not_read_is_counted(tmp_path: Path) -> None:
    chart = '<c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"/>'
    shown = (
        shape(run("kept"), run("gone", 'strike="sngStrike"'), run("stays", 'strike="noStrike"'))
        + "<p:pic/>"
        + frame(chart)
        + frame("<p:oleObj/>")
        + frame('<dgm:relIds r:dm="rId7"/>')
        + shape(run("Confidential"), kind="ftr")
    )
    hidden = part("sld", shape(run("A draft.")), 'show="0"')
    document, omitted = read(pptx(tmp_path / "a.pptm", shown, hidden, shape(run("end"))))
    assert document.text.split("\n\n") == ["kept", "stays", "end"]
    assert document.page_at(document.text.index("end")) == 3
    assert omitted == {
        "passages that are struck out": 1,
        "pictures": 1,
        "charts": 1,
        "objects of other programs": 1,
        "diagrams without their texts": 1,
        "numbers, dates and feet of slides": 1,
        "hidden slides": 1,
    }


def test_equations_raised_digits_and_breaks_keep_their_meaning(tmp_path: Path) -> None:
    power = (
        "<m:oMath><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e>"
        "<m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>"
    )
    formula = shape(f"{run('so ')}<a14:m>{power}</a14:m>")
    both = (
        f'<mc:AlternateContent><mc:Choice Requires="a14">{formula}</mc:Choice>'
        f"<mc:Fallback>{shape(run('a picture'))}</mc:Fallback></mc:AlternateContent>"
    )
    water = run("10") + run("6", 'baseline="30000"') + run(" L of H") + run("2", 'baseline="-25%"')
    lines = run("one") + "<a:br/>" + run("two") + '<a:fld type="datetime"><a:t> 2026</a:t></a:fld>'
    title = shape(run("Ice_x000B_roads"), kind="title")
    font = '<a:rPr><a:latin typeface="Symbol"/><a:sym typeface="Symbol"/></a:rPr>'
    tolerance = shape(f"{run('4 ')}<a:r>{font}<a:t>\uf0b1</a:t></a:r>{run(' 1')}")
    arabic = shape(run("ارتفع النهر"))
    shapes = title + both + shape(water + run("O"), lines) + tolerance + arabic
    document, _ = read(pptx(tmp_path / "a.pptx", shapes))
    assert document.text.split("\n\n") == [
        "Ice roads",
        "so x²",
        "10⁶ L of H₂O",
        "one\ntwo 2026",
        "4 ± 1",
        "ارتفع النهر",
    ]


def test_a_slide_that_is_listed_twice_or_missing(tmp_path: Path) -> None:
    path = pptx(tmp_path / "a.pptx", shape(run("once")))
    with zipfile.ZipFile(path, "a") as archive:
        ids = '<p:sldId id="1" r:id="rId1"/>' * 500 + '<p:sldId id="2" r:id="rId2"/>'
        main = f"<p:presentation {NAMESPACES}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("ppt/presentation.xml", main)
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr(
                "ppt/_rels/presentation.xml.rels",
                related(("rId1", "slide", "slides/slide1.xml"), ("rId2", "slide", "slides/x.xml")),
            )
    document, omitted = read(path)
    assert document.text == "once"
    assert omitted == {"slides that are missing in the file": 1}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "cannot be read as PPTX; save it again"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "encrypted, or of PowerPoint 97"),
    ],
)
def test_what_is_no_package_is_a_line_with_its_reason(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = tmp_path / "a.pptx"
    path.write_bytes(content)
    (unread,) = Documents(path)
    assert isinstance(unread, Unread)
    assert reason in unread.why


def test_a_broken_empty_or_large_package_is_a_line_with_its_reason(tmp_path: Path) -> None:
    def why(path: Path) -> str:
        (unread,) = Documents(path)
        assert isinstance(unread, Unread)
        return unread.why

    with zipfile.ZipFile(tmp_path / "other.pptx", "w") as archive:
        archive.writestr("word/document.xml", "<x/>")
    assert "has no slides of PowerPoint in it" in why(tmp_path / "other.pptx")
    assert why(pptx(tmp_path / "none.pptx")) == "is empty"
    assert why(pptx(tmp_path / "empty.pptx", "<p:pic/>")) == "is empty"
    assert "cannot be read as XML" in why(pptx(tmp_path / "cut.pptx", "<p:sld <"))
    with pytest.raises(ValueError, match="more than 0 MiB when unpacked"):
        slides.slides_text(pptx(tmp_path / "a.pptx", shape(run("x" * 5000))), 1000)
    torn = bytearray(pptx(tmp_path / "torn.pptx", shape(run("x"))).read_bytes())
    torn[60:90] = bytes(30)
    (tmp_path / "torn.pptx").write_bytes(torn)
    assert "cannot be read as" in why(tmp_path / "torn.pptx")


def test_paragraphs_have_the_numbers_that_powerpoint_writes(tmp_path: Path) -> None:
    def numbered(text: str, kind: str = "arabicPeriod", level: int = 0, start: str = "") -> str:
        mark = f'<a:buAutoNum type="{kind}"{start}/>'
        return f'<a:p><a:pPr lvl="{level}">{mark}</a:pPr>{run(text)}</a:p>'

    body = (
        numbered("one")
        + numbered("a", "alphaLcParenBoth", 1)
        + numbered("b", "alphaLcParenBoth", 1)
        + numbered("two")
        + numbered("a again", "alphaLcParenBoth", 1)
        + f"<a:p>{run('Between.')}</a:p>"
        + numbered("four", "romanUcParenR", 0, ' startAt="4"')
        + numbered("five", "romanUcParenR", 0, ' startAt="4"')
    )
    slide = f"<p:sp><p:txBody>{body}</p:txBody></p:sp>"
    document, _ = read(pptx(tmp_path / "a.pptx", slide))
    assert document.text.split("\n\n") == [
        *("1. one", "(a) a", "(b) b", "2. two", "(a) a again", "Between."),
        *("IV) four", "V) five"),
    ]
