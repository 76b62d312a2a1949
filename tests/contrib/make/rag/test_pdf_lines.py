"""Lines of the pages of PDF files: running heads, divided words."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contrib.make.rag.make import pdf, pdf_of
from tests.fuzz.engine import limited

from longmark.contrib.make.rag.documents import Documents, SourceDocument
from longmark.contrib.make.rag.pdf import pdf_text
from longmark.contrib.make.rag.pdf_lines import joined_words, without_running_heads

pytest.importorskip("pypdf")

WORDS = ("ice", "rain", "snow", "wind", "heat", "fog", "hail", "dew", "frost", "storm")


def book(head: str, foot: str, count: int = 10) -> list[str]:
    """Pages with a head and a foot; `#` is the number of the page, `%` in Roman numerals."""
    roman = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
    pages = []
    for number in range(count):
        lines = [
            head,
            f"On {WORDS[number]}.",
            f"It is {WORDS[number]}.",
            f"The end of {WORDS[number]}.",
            foot,
        ]
        page = "\n".join(line for line in lines if line)
        pages.append(page.replace("#", str(number + 1)).replace("%", roman[number]))
    return pages


RUNNING = {
    "a title with the page number": ("Dams 2026, page #", "", 10),
    "a page number alone": ("", "#", 10),
    "Roman numerals": ("", "Preface %", 10),
    "a number of all pages": ("", "# / 10", 10),
    "an address with numbers of its own": ("", "file:///docs4/a.html #/10", 10),
    "a title at the head and a number at the foot": ("On Dams", "- # -", 10 + 9),
}


@pytest.mark.parametrize("case", RUNNING)
def test_running_heads_and_feet_are_left_out_and_counted(case: str) -> None:
    head, foot, count = RUNNING[case]
    pages, left_out = without_running_heads(book(head, foot))
    assert left_out == count
    assert pages[1] == "On rain.\nIt is rain.\nThe end of rain."


def test_words_that_recur_are_kept_where_they_are_first() -> None:
    pages, left_out = without_running_heads(book("Chapter 3: Dams", ""))
    assert left_out == 9
    assert [page.startswith("Chapter 3: Dams\n") for page in pages] == [True, *[False] * 9]


@pytest.mark.parametrize(
    "pages",
    [
        book("Dams", "#", 2),
        [f"Agenda\n{word}\nmore" for word in WORDS[:4]],
        [f"{word}\n}}\n{word}s" for word in WORDS],
        [f"In {1900 + 7 * n} it was {word}." for n, word in enumerate(WORDS)],
        [f"Well {n} of the province gives water that is fit to drink." for n in range(9)],
        [
            f"{word}\n{'Agenda' if n in (0, 30, 60, 90, 99) else n * n}"
            for n, word in enumerate(WORDS * 10)
        ],
        [],
        ["", "", ""],
    ],
)
def test_lines_that_are_no_running_heads_stay(pages: list[str]) -> None:
    assert without_running_heads(pages) == (pages, 0)


DIVIDED = {
    "a word": (["The reser-\nvoir is full."], "The reservoir is full."),
    "a word that has a hyphen elsewhere": (
        ["A well-known dam, well-\nknown to all."],
        "A well-known dam, well-known to all.",
    ),
    "a compound of three": (["It is state-of-the-\nart work."], "It is state-of-the-art work."),
    "a name": (["of Baden-\nBaden"], "of Baden-Baden"),
    "twice": (["Donau-\ndampf-\nschiff"], "Donaudampfschiff"),
    "a soft hyphen": (["Klima\u00ad\nwandel"], "Klimawandel"),
    "a dash and a list": (["so -\nthen\n1-\n2"], "so -\nthen\n1-\n2"),
    "Cyrillic": (["водо-\nхранилище"], "водохранилище"),
    "ligatures": (["the \ufb01rst \ufb02ood, a\ufb00ected"], "the first flood, affected"),
    "an option": (["use --no-\ncache here"], "use --no-cache here"),
}


@pytest.mark.parametrize("case", DIVIDED)
def test_a_word_that_is_divided_at_the_end_of_a_line_is_written_in_one(case: str) -> None:
    pages, text = DIVIDED[case]
    assert joined_words(pages) == [text]


def test_a_word_that_goes_on_on_the_next_page_ends_on_its_own() -> None:
    assert joined_words(["The reser-", "voir, full.\nIt is."]) == [
        "The reservoir,",
        "full.\nIt is.",
    ]
    assert joined_words(["A list:\n-", "ice"]) == ["A list:\n-", "ice"]


def test_pages_still_begin_where_the_document_says(tmp_path: Path) -> None:
    lines = [f"({word}) Tj 0 -20 Td (Page {n}) Tj" for n, word in enumerate(WORDS, 1)]
    raw = pdf(["x" * 40] * len(WORDS))
    for line in lines:
        raw = raw.replace(b"(" + b"x" * 40 + b") Tj", line.encode().ljust(45), 1)
    (tmp_path / "a.pdf").write_bytes(raw)
    documents = Documents(tmp_path / "a.pdf")
    (document,) = documents
    assert isinstance(document, SourceDocument)
    assert document.text == "\n\n".join(WORDS)
    assert documents.omitted == {"running heads and feet": len(WORDS)}
    assert [document.page_at(document.text.index(word)) for word in WORDS] == list(range(1, 11))


def test_pages_that_are_pictures_are_counted(tmp_path: Path) -> None:
    image = "<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray "
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R 4 0 R 5 0 R] /Count 3 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Resources << /XObject << /I 6 0 R >> >> >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 7 0 R "
        "/Resources << /Font << /F1 8 0 R >> >> >>",
        image + "/BitsPerComponent 8 /Length 1 >>\nstream\nx\nendstream",
        "<< /Length 40 >>\nstream\nBT /F1 12 Tf 72 720 Td (Rain.) Tj ET    \nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    (tmp_path / "a.pdf").write_bytes(pdf_of(objects))
    read = pdf_text(tmp_path / "a.pdf", 1 << 20)
    assert read.text.strip() == "Rain."
    assert read.left_out == {"pages that are pictures, as of a scan (ocrmypdf adds their text)": 1}


@pytest.mark.parametrize("piece", ["a", "a-\n", "a\n", "-\n", "1 ", "i ", "\ufb01-\n"])
def test_the_time_of_reading_lines_grows_with_their_length(piece: str) -> None:
    pages = [piece * (50_000 // len(piece))] * 4
    with limited():
        joined_words(without_running_heads(pages)[0])


COMPOUNDS = {
    "a compound of words": ("low here, pressure there, a low-\npressure system", "low-pressure system"),
    "a word in one": ("low here, a low-\npressure system", "lowpressure system"),  # no such word alone
    "a word that is met": ("comment, ing; a comment-\ning word, commenting", "commenting word, commenting"),
    "parts that are words": ("Der Rand, die Einstellungen: Rand-\neinstellungen", "Randeinstellungen"),
    "a word cut short": ("Haupt-\nund Nebensatz", "Haupt- und Nebensatz"),
    "a pronoun": ("il est là. Où est-\nil donc", "est-il donc"),
    "a syllable like one": ("il y a. Le prof-\nil donc", "profil donc"),
    "a Russian compound": ("он из дома за ней, из-\nза дождя", "из-за дождя"),
}  # fmt: skip


@pytest.mark.parametrize("case", COMPOUNDS)
def test_a_divided_word_keeps_a_hyphen_of_its_own(case: str) -> None:
    page, text = COMPOUNDS[case]
    assert joined_words([page])[0].endswith(text)
