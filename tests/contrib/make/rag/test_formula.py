"""Formulas of MathML and of Office as one line of text that means the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contrib.make.rag.test_word import docx, paragraph, read

from longmark.contrib.make.rag.markup import html_text

BINOMIAL = '<mfrac linethickness="0"><mi>n</mi><mi>k</mi></mfrac>'
MATHML = {
    "an isotope": (
        "<mn>3</mn><mmultiscripts><mi>C</mi><mprescripts/><mn>6</mn><mn>14</mn></mmultiscripts>",
        "3 ¹⁴₆C",
    ),
    "an isotope by an empty base": ("<mn>3</mn><msup><mi/><mn>14</mn></msup><mi>C</mi>", "3 ¹⁴C"),
    "scripts behind and before": (
        "<mmultiscripts><mi>F</mi><mn>2</mn><none/><mprescripts/><mi>a</mi><mi>b</mi></mmultiscripts>",
        "^b_a F₂",
    ),
    "a binomial": (f"<mo>(</mo>{BINOMIAL}<mo>)</mo>", "(n choose k)"),
    "a binomial in a fence": (f"<mfenced>{BINOMIAL}</mfenced>", "(n choose k)"),
    "terms above each other": (f"<mo>{{</mo>{BINOMIAL}<mo>}}</mo>", "{(n; k)}"),
    "a line of no thickness in pixels": (BINOMIAL.replace('"0"', '"0px"'), "(n; k)"),
    "a line of some thickness": (BINOMIAL.replace('"0"', '"2px"'), "n/k"),
    "an interval": (
        '<mfenced open="[" close=")" separators=";"><mn>0</mn><mn>1</mn></mfenced>',
        "[0; 1)",
    ),
    "brackets as usual": ("<mfenced><mn>0</mn><mn>1</mn></mfenced>", "(0, 1)"),
    "no separators": ('<mfenced separators=""><mi>a</mi><mi>b</mi></mfenced>', "(ab)"),
    "a mean": ("<mover><mi>x</mi><mo>¯</mo></mover><mo>=</mo><mn>5</mn>", "x\u0304 = 5"),
    "an estimate": ("<mover><mi>p</mi><mo>^</mo></mover>", "p\u0302"),
    "a mean of a term": (
        "<mover><mrow><mi>x</mi><mo>+</mo><mi>y</mi></mrow><mo>¯</mo></mover>",
        "bar(x+y)",
    ),
    "digits that are repeated": (
        "<mn>0.</mn><mover><mn>12</mn><mo>¯</mo></mover>",
        "0.1\u03052\u0305",
    ),
    "a brace above": (
        "<mover><mover><mi>x</mi><mo>⏞</mo></mover><mi>n</mi></mover>",
        "xⁿ",
    ),
    "a prime and degrees": (
        "<msup><mi>x</mi><mo>′</mo></msup><mo>,</mo><msup><mn>20</mn><mo>∘</mo></msup>",
        "x′,20°",
    ),
    "a power of a bracket": ("<msup><mrow><mo>(</mo><mi>a</mi><mo>)</mo></mrow><mn>2</mn></msup>", "(a)²"),
    "a power of two brackets": (
        "<msup><mrow><mi>(a)</mi><mi>(b)</mi></mrow><mn>2</mn></msup>",
        "((a)(b))²",
    ),
    "room": ("<mphantom><mn>9</mn></mphantom><mn>5</mn>", "5"),
    "equations below each other": (
        "<mtable><mtr><mtd><mi>a</mi></mtd><mtd><mo>=</mo><mn>1</mn></mtd></mtr>"
        "<mtr><mtd><mi>b</mi></mtd><mtd><mo>=</mo><mn>2</mn></mtd></mtr></mtable>",
        "a = 1; b = 2",
    ),
    "a matrix": (
        "<mtable><mtr><mtd>1</mtd><mtd>2</mtd></mtr><mtr><mtd>3</mtd><mtd>4</mtd></mtr></mtable>",
        "(1, 2)(3, 4)",
    ),
    "a power behind a sign": ("<mo>−</mo><msup><mn>2</mn><mn>3</mn></msup>", "−2³"),
}  # fmt: skip


@pytest.mark.parametrize("case", MATHML)
def test_a_formula_of_mathml_keeps_its_meaning(case: str) -> None:
    mathml, text = MATHML[case]
    assert html_text(f"<p><math>{mathml}</math></p>".encode()).text == text


def test_a_term_that_is_struck_out_is_counted() -> None:
    page = html_text(
        b'<p>so <math><menclose notation="updiagonalstrike"><mi>z</mi></menclose><mn>5</mn></math>'
        b'<math><menclose notation="box"><mi>k</mi></menclose></math>'
    )
    assert page.text == "so 5 k"
    assert page.left_out == {"passages that are struck out": 1}


def r(text: str, properties: str = "") -> str:
    return f"<m:r>{properties}<m:t>{text}</m:t></m:r>"


def element(name: str, content: str, properties: str = "") -> str:
    return f"<m:{name}>{properties}{content}</m:{name}>"


def e(text: str) -> str:
    return element("e", r(text))


TWO_TERMS = element("num", r("n")) + element("den", r("k"))
NO_BAR = '<m:fPr><m:type m:val="noBar"/></m:fPr>'
OFFICE = {
    "a binomial": (element("d", element("e", element("f", TWO_TERMS, NO_BAR))), "(n choose k)"),
    "an isotope": (
        element("sPre", element("sub", r("6")) + element("sup", r("14")) + e("C")),
        "¹⁴₆C",
    ),
    "room": (
        element("phant", e("9"), '<m:phantPr><m:show m:val="0"/></m:phantPr>') + r("5"),
        "5",
    ),
    "a phantom that is shown": (element("phant", e("9")) + r("5"), "95"),
    "a bar above": (element("bar", e("x"), '<m:barPr><m:pos m:val="top"/></m:barPr>'), "x\u0304"),
    "a bar below": (element("bar", e("x")), "x\u0332"),
    "a hat": (element("acc", e("p")), "p\u0302"),
    "a dot": (element("acc", e("p"), '<m:accPr><m:chr m:val="̇"/></m:accPr>'), "p\u0307"),
    "equations below each other": (element("eqArr", e("a=1") + e("b=2")), "a=1; b=2"),
    "a function": (element("func", element("fName", r("sin")) + e("x")), "sin x"),
    "a brace below": (element("groupChr", e("k")), "k"),
    "deleted text": (
        f'{r("5")}<w:del w:id="1">{r("6")}</w:del><w:ins w:id="2">{r("7")}</w:ins>',
        "57",
    ),
    "hidden text": (r("5") + r("6", "<m:rPr/><w:rPr><w:vanish/></w:rPr>"), "5"),
    "a box": (element("borderBox", e("x")), "x"),
    "a term that is struck out": (
        element("borderBox", e("x"), '<m:borderBoxPr><m:strikeH m:val="1"/></m:borderBoxPr>')
        + r("y"),
        "y",
    ),
}


@pytest.mark.parametrize("case", OFFICE)
def test_an_equation_of_office_keeps_its_meaning(case: str, tmp_path: Path) -> None:
    equation, text = OFFICE[case]
    document, _ = read(docx(tmp_path / "a.docx", paragraph(f"<m:oMath>{equation}</m:oMath>")))
    assert document.text == text


def test_what_an_equation_leaves_out_is_counted(tmp_path: Path) -> None:
    parts = [
        OFFICE[case][0] for case in ("deleted text", "hidden text", "a term that is struck out")
    ]
    body = paragraph(f"<m:oMath>{''.join(parts)}</m:oMath>")
    assert read(docx(tmp_path / "a.docx", body))[1] == {
        "deleted passages": 1,
        "hidden passages": 1,
        "passages that are struck out": 1,
    }


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("3<sup>3</sup>/<sub>4</sub> in", "3 3/4 in"),
        ("5<sup>1</sup>&frasl;<sub>2</sub> cups", "5 1/2 cups"),
        ("<sup>1</sup>/<sub>2</sub> cup", "¹/₂ cup"),
        ("10<sup>3</sup>/m<sub>2</sub>", "10³/m₂"),
    ],
)
def test_a_mixed_number_is_no_power(html: str, text: str) -> None:
    assert html_text(f"<p>{html}".encode()).text == text
