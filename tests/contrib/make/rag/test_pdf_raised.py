"""Raised and lowered digits of PDF files."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contrib.make.rag.make import pdf_of

from longmark.contrib.make.rag.pdf import pdf_text

pytest.importorskip("pypdf")

# How programs set 10⁶: the operators that draw the six, with the size and the rise of each.
PROGRAMS = {
    "TeX": "/F1 10 Tf 72 700 Td (10) Tj /F1 7 Tf 11 3.6 Td (6) Tj /F1 10 Tf 4 -3.6 Td ( m) Tj",
    "browsers": (
        "/F1 12 Tf 1 0 0 1 72 700 Tm (10) Tj ET BT /F1 10 Tf 1 0 0 1 85.3 704 Tm (6) Tj ET "
        "BT /F1 12 Tf 1 0 0 1 91 700 Tm ( m) Tj"
    ),
    "Word": (
        "/F1 12 Tf 1 0 0 1 72 700 Tm (10) Tj ET BT /F1 8.04 Tf 1 0 0 1 85.3 704 Tm (6) Tj ET "
        "BT /F1 12 Tf 1 0 0 1 90 700 Tm ( m) Tj"
    ),
    "a scale in the matrix": (
        "/F1 1 Tf 10 0 0 10 72 700 Tm (10) Tj /F1 .7 Tf 1.112 .36 Td (6) Tj "
        "/F1 1 Tf .39 -.36 Td ( m) Tj"
    ),
    "text rise": "/F1 10 Tf 72 700 Td (10) Tj /F1 7 Tf 3 Ts (6) Tj /F1 10 Tf 0 Ts ( m) Tj",
    "a page on its side": (
        "/F1 10 Tf 0 1 -1 0 300 72 Tm (10) Tj ET BT /F1 7 Tf 0 1 -1 0 296.4 83.2 Tm (6) Tj ET "
        "BT /F1 10 Tf 0 1 -1 0 300 87.1 Tm ( m) Tj"
    ),
}
SIZE = 10


def text_of(stream: str, folder: Path) -> str:
    """What is read of a page that this draws."""
    body = f"BT {stream} ET"
    fonts = "/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Courier >> >> >>"
    path = folder / "page.pdf"
    path.write_bytes(
        pdf_of(
            [
                "<< /Type /Catalog /Pages 2 0 R >>",
                "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] {fonts} /Contents 4 0 R >>",
                f"<< /Length {len(body)} >>\nstream\n{body}\nendstream",
            ]
        )
    )
    return pdf_text(path, 1 << 20).text


def line(text: str) -> str:
    """Operators for a line as TeX sets it: `^{...}` is raised, `_{...}` lowered."""
    operators = ["1 0 0 1 72 700 Tm"]
    place, last_place, last_level = 0.0, 0.0, 0.0
    for part in text.replace("^{", "\0^").replace("_{", "\0_").replace("}", "\0").split("\0"):
        mark = part[:1]
        level = {"^": 3.6, "_": -1.5}.get(mark, 0.0)
        words = part.lstrip("^_") if level else part
        size = 7 if level else SIZE
        if not words:
            continue
        escaped = words.replace("(", "\\(").replace(")", "\\)")
        operators.append(
            f"/F1 {size} Tf {place - last_place:.2f} {level - last_level:.2f} Td ({escaped}) Tj"
        )
        last_place, last_level = place, level
        place += 0.6 * size * len(words)
    return " ".join(operators)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_power_of_ten_is_no_longer_number(program: str, tmp_path: Path) -> None:
    assert text_of(PROGRAMS[program], tmp_path) == "10⁶ m"


LINES = {
    "a unit": ("120 m^{2} of land", "120 m² of land"),
    "a negative power": ("3 x 10^{-3} km", "3 x 10⁻³ km"),
    "the mark of a note behind a year": ("in 1998^{1} and", "in 1998¹ and"),
    "the mark of a note behind a full stop": ("It broke.^{2} Then", "It broke.[2] Then"),
    "a list of marks behind a number": ("in 1998^{4,5} and", "in 1998[4,5] and"),
    "a range of marks": ("others^{4-6} agree", "others[4-6] agree"),
    "a mark at the start of a note": ("^{1}A note", "¹A note"),
    "an isotope": ("dates by ^{14}C are", "dates by ¹⁴C are"),
    "the base of a number": ("is 101_{2} here", "is 101₂ here"),
    "a formula of chemistry": ("H_{2}O and CO_{2}", "H2O and CO2"),
    "a fraction behind a number": ("of 3^{1}/_{2} miles", "of 3 1/2 miles"),
    "an ending": ("the 19^{th} century", "the 19th century"),
    "letters": ("a Mac^{OS} and 5^{n}", "a MacOS and 5n"),
}


@pytest.mark.parametrize("case", LINES)
def test_raised_digits_are_told_from_the_others(case: str, tmp_path: Path) -> None:
    drawn, read = LINES[case]
    assert text_of(line(drawn), tmp_path) == read


def test_a_number_above_another_is_a_fraction(tmp_path: Path) -> None:
    rule = "ET q 1 0 0 1 90 702 cm Q BT"
    stream = (
        "/F1 10 Tf 1 0 0 1 72 700 Tm (of ) Tj /F1 7 Tf 18 3.9 Td (1) Tj "
        f"{rule} /F1 7 Tf 1 0 0 1 90 696.5 Tm (2) Tj /F1 10 Tf 4.2 3.5 Td ( mile) Tj"
    )
    assert text_of(stream, tmp_path) == "of 1/2 mile"


@pytest.mark.parametrize(("size", "rise"), [(9, 3), (7, 0), (7, 0.5), (10, 3)])
def test_digits_of_nearly_the_same_size_or_height_stay(
    size: float, rise: float, tmp_path: Path
) -> None:
    stream = f"/F1 10 Tf 72 700 Td (10) Tj /F1 {size} Tf 12 {rise} Td (6) Tj"
    assert text_of(stream, tmp_path) == "106"


def test_nothing_is_raised_against_another_line(tmp_path: Path) -> None:
    stream = "/F1 10 Tf 72 700 Td (In all 10) Tj /F1 7 Tf 0 12 Td (6) Tj"
    assert text_of(stream, tmp_path) == "In all 10\n6"
