"""Word documents: the numbers of lists, what styles and tracked changes hide, fields and forms."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from tests.contrib.make.rag.test_word import (
    NAMESPACES,
    docx,
    paragraph,
    paragraphs,
    read,
    run,
)

from longmark.contrib.make.rag.list_numbers import numeral
from longmark.contrib.make.rag.word_fields import equation


def level(place: int, text: str, form: str = "decimal", more: str = "") -> str:
    return (
        f'<w:lvl w:ilvl="{place}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>{more}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


def definition(number: int, *levels: str) -> str:
    return f'<w:abstractNum w:abstractNumId="{number}">{"".join(levels)}</w:abstractNum>'


def num(number: int, of: int, more: str = "") -> str:
    return f'<w:num w:numId="{number}"><w:abstractNumId w:val="{of}"/>{more}</w:num>'


RESTARTED = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'
NUMBERING = f"""<w:numbering {NAMESPACES}>
{definition(0, level(0, "%1."), level(1, "%1.%2", "lowerLetter"), level(2, "", "bullet"))}
{definition(1, level(0, "Article %1", "upperRoman"), level(1, "%1.%2", "decimal", "<w:isLgl/>"))}
{definition(2, level(0, "%1)", "lowerLetter", '<w:pStyle w:val="Listed"/>'))}
{num(1, 0)}{num(2, 0, RESTARTED)}{num(3, 1)}{num(4, 2)}</w:numbering>"""
STYLES = f"""<w:styles {NAMESPACES}>
<w:style w:type="paragraph" w:styleId="Head"><w:name w:val="heading 1"/>
<w:pPr><w:numPr><w:numId w:val="3"/></w:numPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Listed"><w:pPr><w:numPr><w:numId w:val="4"/></w:numPr></w:pPr></w:style>
<w:style w:type="character" w:styleId="Away"><w:rPr><w:vanish/></w:rPr></w:style>
<w:style w:type="character" w:styleId="Further"><w:basedOn w:val="Away"/></w:style>
<w:style w:type="character" w:styleId="Struck"><w:rPr><w:strike/></w:rPr></w:style>
<w:style w:type="paragraph" w:styleId="AwayP"><w:rPr><w:vanish/></w:rPr></w:style></w:styles>"""
PARTS = {"word/numbering.xml": NUMBERING}


def item(text: str, of: int = 1, place: int = 0) -> str:
    numbers = f'<w:numPr><w:ilvl w:val="{place}"/><w:numId w:val="{of}"/></w:numPr>'
    return paragraph(run(text), numbers)


def styled_docx(tmp_path: Path, body: str) -> tuple[list[str], dict[str, int]]:
    """The paragraphs of a document with the styles above."""
    path = docx(tmp_path / "a.docx", body, PARTS | {"word/styles.xml": STYLES})
    document, omitted = read(path)
    return document.text.split("\n\n"), omitted


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_items_and_headings_have_the_numbers_that_word_writes(tmp_path: Path) -> None:
    body = (
        paragraph(run("Rain"), '<w:pStyle w:val="Head"/>')
        + item("one")
        + item("two")
        + item("a", place=1)
        + item("b", place=1)
        + item("bullet", place=2)
        + item("three")
        + item("again", place=1)
        + paragraph(run("Between."))
        + item("five", of=2)
        + item("six", of=2)
        + paragraph(run("Snow"), '<w:pStyle w:val="Head"/>')
        + item("in digits", of=3, place=1)
        + paragraph(run("by its style"), '<w:pStyle w:val="Listed"/>')
        + item("none", of=0)
    )
    assert styled_docx(tmp_path, body)[0] == [
        *("Article I Rain", "1. one", "2. two", "2.a a", "2.b b", "bullet", "3. three"),
        *("3.a again", "Between.", "5. five", "6. six", "Article II Snow", "2.1 in digits"),
        *("a) by its style", "none"),
    ]


@pytest.mark.parametrize(("switch", "label"), [("", "2.1"), ("on", "2.1"), ("off", "II.1")])
def test_numbers_of_outer_levels_are_in_digits_where_a_switch_says_so(
    tmp_path: Path, switch: str, label: str
) -> None:
    in_digits = f'<w:isLgl w:val="{switch}"/>' if switch else "<w:isLgl/>"
    levels = (level(0, "%1", "upperRoman"), level(1, "%1.%2", more=in_digits))
    numbering = f"<w:numbering {NAMESPACES}>{definition(0, *levels)}{num(1, 0)}</w:numbering>"
    body = item("Rain") + item("Snow") + item("Hail", place=1)
    parts = {"word/numbering.xml": numbering}
    assert paragraphs(tmp_path, body, parts) == ["I Rain", "II Snow", f"{label} Hail"]


def test_a_paragraph_that_is_not_there_has_no_number(tmp_path: Path) -> None:
    numbers = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    deleted = paragraph(
        f'<w:del w:id="1">{run("gone")}</w:del>', f'{numbers}<w:rPr><w:del w:id="2"/></w:rPr>'
    )
    empty = paragraph("", numbers)
    body = item("one") + deleted + item("two") + empty + paragraph(run("Text.")) + item("four")
    assert paragraphs(tmp_path, body, PARTS) == ["1. one", "2. two", "Text.", "4. four"]


def test_a_paragraph_whose_end_is_deleted_goes_on_in_the_next_one(tmp_path: Path) -> None:
    deleted_end = '<w:rPr><w:del w:id="2"/></w:rPr>'
    body = paragraph(run("The dam "), deleted_end) + paragraph(run("holds.")) + paragraph(run("x"))
    assert paragraphs(tmp_path, body) == ["The dam holds.", "x"]
    table = f"<w:tbl><w:tr><w:tc>{paragraph(run('in'))}</w:tc></w:tr></w:tbl>"
    assert paragraphs(tmp_path, paragraph(run("a"), deleted_end) + table) == ["a", "in"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_what_a_style_hides_or_strikes_out_is_counted(tmp_path: Path) -> None:
    away = run("never", '<w:rStyle w:val="Further"/>') + run("struck", '<w:rStyle w:val="Struck"/>')
    seen = run("seen", '<w:rStyle w:val="Away"/><w:vanish w:val="0"/>')
    hidden = paragraph(run("hidden"), '<w:pStyle w:val="AwayP"/>')
    texts, omitted = styled_docx(tmp_path, paragraph(away + seen) + hidden)
    assert texts == ["seen"]
    assert omitted == {"hidden passages": 2, "passages that are struck out": 1}


def test_deleted_and_hidden_rows_and_cells_are_counted(tmp_path: Path) -> None:
    def row(texts: str, properties: str = "", of_cells: str = "") -> str:
        cells = "".join(
            f"<w:tc><w:tcPr>{of_cells * (text == 'x')}</w:tcPr>{paragraph(run(text))}</w:tc>"
            for text in texts
        )
        return f"<w:tr><w:trPr>{properties}</w:trPr>{cells}</w:tr>"

    rows = (
        row("ab")
        + row("cd", '<w:del w:id="1"/>')
        + row("ef", "<w:hidden/>")
        + row("xg", of_cells='<w:cellDel w:id="2"/>')
        + row("hi", '<w:ins w:id="3"/>')
    )
    document, omitted = read(docx(tmp_path / "a.docx", f"<w:tbl>{rows}</w:tbl>"))
    assert document.text.split("\n\n") == ["a | b", " | g", "h | i"]
    assert omitted == {"deleted passages": 2, "hidden passages": 1}


def test_one_of_several_forms_is_read_once(tmp_path: Path) -> None:
    forms = "<mc:AlternateContent><mc:Choice>{}</mc:Choice><mc:Fallback>{}</mc:Fallback></mc:AlternateContent>"
    old = "<mc:AlternateContent><mc:Fallback>{}</mc:Fallback></mc:AlternateContent>"
    body = forms.format(paragraph(run("new")), paragraph(run("old")))
    body += paragraph(forms.format(run("new"), run("old")) + old.format(run(" and old")))
    assert paragraphs(tmp_path, body) == ["new", "new and old"]


def test_digits_that_are_moved_up_or_down_are_raised_or_lowered(tmp_path: Path) -> None:
    text = (
        run("10")
        + run("9", '<w:position w:val="6"/>')
        + run(" of H")
        + run("2", '<w:position w:val="-6"/>')
        + run("O")
        + run(" a bit higher", '<w:position w:val="6"/>')
        + run(" 1")
        + run("7", '<w:position w:val="1"/>')
    )
    assert paragraphs(tmp_path, paragraph(text)) == ["10⁹ of H₂O a bit higher 17"]


def field(code: str, result: str | None = None, form: str = "") -> str:
    def char(kind: str, content: str = "") -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}">{content}</w:fldChar></w:r>'

    shown = "" if result is None else char("separate") + run(result)
    code_run = f"<w:r><w:instrText>{code}</w:instrText></w:r>"
    return char("begin", form) + code_run + shown + char("end")


def test_fields_show_their_results_and_forms_what_is_chosen(tmp_path: Path) -> None:
    ticked = "<w:ffData><w:checkBox><w:default w:val='0'/><w:checked/></w:checkBox></w:ffData>"
    free = "<w:ffData><w:checkBox><w:default w:val='0'/></w:checkBox></w:ffData>"
    entries = "<w:listEntry w:val='No'/><w:listEntry w:val='Yes'/>"
    choice = f"<w:ffData><w:ddList><w:result w:val='1'/>{entries}</w:ddList></w:ffData>"
    prompt = "<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>"
    nested = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>IF </w:instrText></w:r>'
        + field("PAGE", "7")
        + '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
        + run("shown")
        + '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    body = (
        paragraph(run("page ") + field("PAGE", "12"))
        + paragraph(field("FORMCHECKBOX", form=ticked) + run(" yes"))
        + paragraph(field("FORMCHECKBOX", form=free) + run(" no"))
        + paragraph(field("FORMDROPDOWN", form=choice))
        + paragraph(nested)
        + paragraph('<w:r><w:fldChar w:fldCharType="begin"/></w:r>' + run("unseen"))
        + paragraph(run("after a field without an end"))
        + paragraph(prompt.format(run("Click here")))
        + prompt.format(paragraph(run("Click here")))
    )
    document, omitted = read(docx(tmp_path / "a.docx", body))
    assert document.text.split("\n\n") == [
        *("page 12", "☒ yes", "☐ no", "Yes", "shown", "after a field without an end"),
    ]
    assert omitted == {"empty fields of forms": 2}


EQUATIONS = {
    r"EQ \f(1,2)": "1/2",
    r" eq 2\f(1;2) m": "2 1/2 m",
    r"EQ \r(3,x+1)": "(x+1)^(1/3)",
    r"EQ \r(x)": "√(x)",
    r"EQ x\s\up8(2)\s\do8(i)": "x²_i",
    r"EQ \b\bc\[(\f(a,b))": "[a/b]",
    r"EQ \b\lc\{(x)": "{x)",
    r"EQ \i\su(i=1,n,x)": "∑_(i=1)ⁿx",
    r"EQ \l(1,2)": "1, 2",
    r'EQ \* jc2 \* "Font:MS Mincho" \* hps10 \o\ad(\s\up 9(あめ),雨)': "雨",
    r"EQ \f(1\,5,2)": "(1,5)/2",
    r"EQ \f(1,2": None,
    r"EQ 1)": "1)",
    "PAGE": None,
    "EQ " + r"\f(" * 500: None,
}


@pytest.mark.parametrize("code", EQUATIONS)
def test_an_equation_of_a_field_is_read_in_one_line(code: str) -> None:
    assert equation(code) == EQUATIONS[code]


def test_an_equation_that_cannot_be_read_is_counted(tmp_path: Path) -> None:
    body = paragraph(run("2") + field(r"EQ \f(1,2)") + field(r"EQ \f(1"))
    document, omitted = read(docx(tmp_path / "a.docx", body))
    assert document.text == "2 1/2"
    assert omitted == {"equations of fields": 1}


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (4, "lower-roman", "iv"),
        (1994, "upper-roman", "MCMXCIV"),
        (0, "lower-roman", "0"),
        (26, "lower-alpha", "z"),
        (28, "upper-alpha", "AB"),
        (-1, "lower-alpha", "-1"),
        (21, "han", "二十一"),
        (10, "han", "十"),
        (3, "lower-cyrillic", "в"),
        (7, "decimal", "7"),
    ],
)
def test_numerals(value: int, form: str, text: str) -> None:
    assert numeral(value, form) == text


RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def relations(*parts: tuple[str, str, str]) -> str:
    """The relations of a part: id, kind and target of each."""
    listed = "".join(
        f'<Relationship Id="{name}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
        for name, kind, target in parts
    )
    return f"<Relationships>{listed}</Relationships>"


def test_the_texts_of_a_diagram_follow_its_paragraph_and_charts_are_counted(tmp_path: Path) -> None:
    def drawing(content: str) -> str:
        return f"<w:r><w:drawing><graphicData>{content}</graphicData></w:drawing></w:r>"

    linked = f'xmlns:r="{RELATIONS}"'
    body = paragraph(
        run("Steps:")
        + drawing(f'<relIds {linked} r:dm="rId7"/>')
        + drawing("<chart/>")
        + drawing("<pic/>")
        + drawing(f'<relIds {linked} r:dm="rId8"/>')
    )
    points = '<pt><t><p><r><t>Rain</t></r></p></t></pt><pt type="pres"><t><p/></t></pt>'
    parts = {
        "word/_rels/document.xml.rels": relations(("rId7", "diagramData", "diagrams/data1.xml")),
        "word/diagrams/data1.xml": f"<dataModel><ptLst>{points}</ptLst></dataModel>",
    }
    document, omitted = read(docx(tmp_path / "a.docx", body + paragraph(run("End.")), parts))
    assert document.text == "Steps:\n\nRain\n\nEnd."
    assert omitted == {"charts": 1, "pictures": 1, "diagrams without their texts": 1}


def test_a_document_whose_parts_have_other_names_is_read(tmp_path: Path) -> None:
    note = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    body = f"<w:body>{item('Rain.')}{paragraph(run('Snow') + note)}</w:body>"
    notes = f'<w:footnote w:id="2">{paragraph(run("Wet."))}</w:footnote>'
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        for name, content in {
            "_rels/.rels": relations(("rId1", "officeDocument", "/word/document2.xml")),
            "word/_rels/document2.xml.rels": relations(
                ("rId1", "numbering", "numbering2.xml"), ("rId2", "footnotes", "footnotes2.xml")
            ),
            "word/document2.xml": f"<w:document {NAMESPACES}>{body}</w:document>",
            "word/numbering2.xml": NUMBERING,
            "word/footnotes2.xml": f"<w:footnotes {NAMESPACES}>{notes}</w:footnotes>",
        }.items():
            archive.writestr(name, content)
    assert read(tmp_path / "a.docx")[0].text == "1. Rain.\n\nSnow[1]\n\n[1] Wet."


@pytest.mark.parametrize("place", ["drop", "margin"])
def test_an_initial_is_the_first_letter_of_its_word(place: str, tmp_path: Path) -> None:
    lowered = '<w:rPr><w:position w:val="-12"/><w:sz w:val="112"/></w:rPr>'
    initial = paragraph(
        f"<w:r>{lowered}<w:t>D</w:t></w:r>", f'<w:framePr w:dropCap="{place}" w:lines="3"/>'
    )
    body = paragraph(run("Rain.")) + initial + paragraph(run("ams hold.")) + paragraph(run("Snow."))
    assert paragraphs(tmp_path, body) == ["Rain.", "Dams hold.", "Snow."]


def test_a_frame_that_is_no_initial_is_a_paragraph(tmp_path: Path) -> None:
    body = paragraph(run("Aside."), '<w:framePr w:dropCap="none"/>') + paragraph(run("Text."))
    assert paragraphs(tmp_path, body) == ["Aside.", "Text."]
