"""Arabic and Hebrew in PDF files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.contrib.make.rag.make import pdf_of

from longmark.contrib.make.rag.file_text import FileText
from longmark.contrib.make.rag.pdf import pdf_text
from longmark.contrib.make.rag.pdf_bidi import read_lines
from longmark.contrib.make.rag.pdf_page import UNNAMED, WITHOUT_SPACES

pytest.importorskip("pypdf")

# As it is seen, left to right -> as it is read.
HEBREW = {
    "numbers": ("םירטמ 111 והבוגו 1998 תנשב הנבנ", "נבנה בשנת 1998 וגובהו 111 מטרים"),
    "signs of numbers": (".35% םהש 2.5 יכ", "כי 2.5 שהם 35%."),
    "years with a dash": ("2020-2021 תונשב", "בשנות 2020-2021"),
    "a hyphen before a number": ("לגר 364-כ", "כ-364 רגל"),
    "Latin words": ("םימ לע World Bank 2025 ןוגרא", "ארגון World Bank 2025 על מים"),
    "brackets": ("(לגר 364) ,[12] םייקנ", "נקיים [12], (364 רגל)"),
    "brackets that are not mirrored": (")לגר 364( ,]12[ םייקנ", "נקיים [12], (364 רגל)"),
}
ARABIC = {
    "signs of numbers": ("%35 يأ", "أي 35%"),
    "Arabic digits": ("نم ٪٣٥ يأ", "أي ٣٥٪ من"),
    "years with a dash": ("2021-2020 يف", "في 2020-2021"),
    "presentation forms": ("\ufee2\ufee0\ufecb \ufefb", "لا علم"),
    "a mark behind its letter": ("ىنبُ", "بُنى"),
    "a mark before its letter": ("ىنُب", "بُنى"),
    "a phrase in one sign": ("\ufdfa ملع", "علم \ufdfa"),
}


@pytest.mark.parametrize("case", HEBREW)
def test_hebrew_is_as_it_is_read(case: str) -> None:
    seen, read = HEBREW[case]
    assert read_lines([seen]) == read


@pytest.mark.parametrize("case", ARABIC)
def test_arabic_is_as_it_is_read(case: str) -> None:
    seen, read = ARABIC[case]
    assert read_lines([seen]) == read


def test_hebrew_words_in_an_english_page_are_turned_alone() -> None:
    lines = ["The words רכסה רהנה (1998) and", "more of them", "תיב was read."]
    assert read_lines(lines) == "The words הנהר הסכר (1998) and\nmore of them\nבית was read."


def page(strings: Sequence[str], letters: str, folder: Path) -> FileText:
    """What is read of a page of strings, whose font names A, B and so on as the letters; `|` parts ligatures."""
    pairs = [
        f"<{65 + number:02X}> <{name.encode('utf-16-be').hex()}>"
        for number, name in enumerate(letters.split("|") if "|" in letters else letters)
    ]
    table = f"{len(pairs)} beginbfchar\n" + "\n".join(pairs) + "\nendbfchar"
    body = f"BT /F1 10 Tf {' '.join(strings)} ET"
    font = "/Type /Font /Subtype /Type1 /BaseFont /Courier /ToUnicode 5 0 R"
    path = folder / "page.pdf"
    path.write_bytes(
        pdf_of(
            [
                "<< /Type /Catalog /Pages 2 0 R >>",
                "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
                f"/Resources << /Font << /F1 << {font} >> >> >> /Contents 4 0 R >>",
                f"<< /Length {len(body)} >>\nstream\n{body}\nendstream",
                f"<< /Length {len(table)} >>\nstream\n{table}\nendstream",
            ]
        )
    )
    return pdf_text(path, 1 << 20)


def test_a_line_is_read_from_right_to_left_in_whatever_order_it_is_drawn(tmp_path: Path) -> None:
    left = "1 0 0 1 72 700 Tm (CB ) Tj /F1 10 Tf"
    number = "1 0 0 1 90 700 Tm (12) Tj /F1 10 Tf"
    right = "1 0 0 1 102 700 Tm ( BA) Tj /F1 10 Tf"
    for drawn in ([left, number, right], [right, number, left], [number, right, left]):
        assert page(drawn, "אבג", tmp_path).text == "אב 12 בג"


def test_lines_stay_in_their_order(tmp_path: Path) -> None:
    lines = ["1 0 0 1 72 700 Tm (BA) Tj", "1 0 0 1 72 686 Tm (CB) Tj"]
    assert page(lines, "אבג", tmp_path).text == "אב\nבג"


def test_a_ligature_keeps_the_order_of_its_letters(tmp_path: Path) -> None:
    assert page(["1 0 0 1 72 700 Tm (BAC) Tj"], "لا|م|س", tmp_path).text == "سلام"


def test_pages_that_are_drawn_from_right_to_left_without_spaces_are_counted(tmp_path: Path) -> None:
    content = page(["1 0 0 1 172 700 Tm [(A) 1200 (B) 1500 (C)] TJ"], "אבג", tmp_path)
    assert content.text == "אבג"
    assert content.left_out == {WITHOUT_SPACES: 1}


def test_letters_that_a_font_does_not_name_are_counted(tmp_path: Path) -> None:
    content = page(["1 0 0 1 72 700 Tm (CBA) Tj"], "א|\0|ג", tmp_path)
    assert content.text == "אג"
    assert content.left_out == {UNNAMED: 1}
