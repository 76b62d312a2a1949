"""Numbers, tables and lists of LaTeX sources say what the printed page says."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contrib.make.rag.test_latex_sources import printed

CASES = {
    "fractions": (r"2\nicefrac{1}{2} cups, 3 \sfrac{1}{4}, \nicefrac[\texttt]{a+b}{2}", "2 1/2 cups, 3 1/4, (a+b)/2"),
    "a fraction in a formula": (r"$2\nicefrac12$", r"$2\nicefrac12$"),
    "a minus": (r"\textminus 5 to \textminus{}3", "−5 to −3"),
    "characters by their names": (r"5\textperthousand, 3\textonequarter, a\slash b", "5‰, 3¼, a/b"),
    "characters by their codes": ('\\char65\\char`\\%\\symbol{66}\\char"43 \\char\'104', "A%BC D"),
    "accents alone": (r"\~{}5 \^{}6", "~5 ^6"),
    "products": (r"\qtyproduct{2 x 3}{\metre}, \numproduct{4 \times 5}", "2 metre × 3 metre, 4 × 5"),
    "several numbers": (r"\SIlist{1;2}{\kg}, \numlist{3;4}", "1 kg, 2 kg, 3, 4"),
    "an uncertain number": (r"\num{5 \pm 1}, \SI{5 +- 1}{\kg}", "5 ± 1, 5 ± 1 kg"),
    "a range below zero": (r"\SIrange{-5}{5}{\degreeCelsius}", "-5 to 5 °C"),
    "parts of a degree": (r"\ang{12;3;4}, \ang{-5}", "12°3′4″, -5°"),
    "room": (r"A \phantom{0}5 \hphantom{9}$\phantom{1}7$", "A 5 7"),
    "several arguments": (r"\unknown{12}{34} \textbf{a}{b} \lettrine{T}{he}", "12 34 ab The"),
    "an argument of an environment": (r"\begin{own}{12}34\end{own}", "12 34"),
    "a box of two options": (r"\makebox[2cm][l]{mb}", "mb"),
    "a title for bookmarks": (r"\section{\texorpdfstring{CO\textsubscript{2}}{CO2} now}", "CO₂ now"),
    "a box with a title": (r"\begin{tcolorbox}[title={Rain 5}]x\end{tcolorbox}", "Rain 5\n\nx"),
    "a block of a slide": (r"\begin{block}{Rain}x\end{block}", "Rain\n\nx"),
    "a theorem": (r"\begin{theorem}[Euler] x\end{theorem}", "Theorem (Euler). x"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_numbers_are_read_as_they_are_printed(tmp_path: Path, case: str) -> None:
    source, text = CASES[case]
    assert printed(tmp_path, source)[0] == text


TABLES = {
    "a decimal point between columns": ("l r@{.}l", r"a & 3 & 14 \\ b & 12&5", ["a | 3.14", "b | 12.5"]),
    "a sign between columns": (r"r@{\,$\pm$\,}l r", r"3 & 1 & 7 \\", [r"3 $\pm$ 1 | 7"]),
    "columns that are repeated": ("*{2}{r@{.}l}", r"1&2&3&4", ["1.2 | 3.4"]),
    "a head over both": (
        "l r@{.}l l",
        r"x & \multicolumn{2}{c}{m} & y \\ a & 3 & 14 & z",
        ["x | m | y", "a | 3.14 | z"],
    ),
    "one part in its own form": (
        "r@{.}l l",
        r"\multicolumn{1}{r}{none} & & z \\ 3 & 1 & y",
        ["none | z", "3.1 | y"],
    ),
    "a number without its first part": ("l r@{.}l", r"a & & 5 \\ b & 7 & \\ c & & ", ["a | .5", "b | 7", "c | "]),
    "signs around the text": (r"l<{\%} >{\$}r", r"5 & 7 \\ & 8", ["5% | $7", " | $8"]),
    "room between columns": (
        r"@{\extracolsep{\fill}}l@{\hspace{1em}}r!{\vrule}>{\centering\arraybackslash}p{2cm}",
        "a & b & c",
        ["a | b | c"],
    ),
    "room of numbers": ("lr", r"a & \phantom{0}5 \\ b & 1\phantom{1}", ["a | 5", "b | 1"]),
}  # fmt: skip


@pytest.mark.parametrize("case", TABLES)
def test_cells_are_read_as_their_columns_print_them(tmp_path: Path, case: str) -> None:
    columns, rows, lines = TABLES[case]
    source = f"\\begin{{tabular}}{{{columns}}} {rows} \\end{{tabular}}"
    assert printed(tmp_path, source)[0].split("\n\n") == lines


def listed(option: str, *items: str) -> str:
    return f"\\begin{{enumerate}}{option}{''.join(items)}\\end{{enumerate}}"


ITEM = r"\item x "
LISTS = {
    "levels": (
        listed("", ITEM, listed("", ITEM, listed("", ITEM, listed("", ITEM))), ITEM),
        ["1. x", "(a) x", "i. x", "A. x", "2. x"],
    ),
    "an own mark": (listed("", ITEM, r"\item[*] y", ITEM), ["1. x", "* y", "2. x"]),
    "a form by its sign": (listed("[(i)]", ITEM, ITEM), ["(i) x", "(ii) x"]),
    "a form with a word": (listed("[{Step} 1:]", ITEM, ITEM), ["Step 1: x", "Step 2: x"]),
    "a form by its label": (listed(r"[label=\textbf{Q\arabic*.}]", ITEM), ["Q1. x"]),
    "a start": (listed("[start=5]", ITEM), ["5. x"]),
    "options without a form": (listed("[noitemsep]", ITEM), ["1. x"]),
    "a list that goes on": (
        listed("", ITEM, ITEM) + "y" + listed("[resume]", ITEM),
        ["1. x", "2. x", "y", "3. x"],
    ),
    "a counter that is set": (
        listed("", r"\setcounter{enumi}{6}", ITEM, r"\addtocounter{enumi}{1}", ITEM),
        ["7. x", "9. x"],
    ),
    "a form of the document": (
        r"\renewcommand{\labelenumi}{[\Roman{enumi}]}" + listed("", ITEM, ITEM),
        ["[I] x", "[II] x"],
    ),
    "a list without numbers": (
        rf"\begin{{itemize}}{ITEM}{listed('', ITEM)}{ITEM}\end{{itemize}}",
        ["x", "1. x", "x"],
    ),
}


@pytest.mark.parametrize("case", LISTS)
def test_items_have_the_numbers_that_are_printed(tmp_path: Path, case: str) -> None:
    source, lines = LISTS[case]
    assert printed(tmp_path, source)[0].split("\n\n") == lines


def test_the_first_page_has_authors_and_what_else_the_preamble_says(tmp_path: Path) -> None:
    source = r"""\documentclass{article}\title{Dams}\author{Jane Doe\thanks{Paid by 7.} \and R. Roe}
\date{3 May 2020}\abstract{Short.}\keywords{rain, 5}\affiliation{\institution{Elm}\city{Ulm}}
\begin{document}\maketitle Text.\end{document}"""
    assert printed(tmp_path, source)[0].split("\n\n") == [
        "Dams",
        "Jane Doe[1], R. Roe",
        "3 May 2020",
        "Short.",
        "rain, 5",
        "Elm Ulm",
        "Text.",
        "[1] Paid by 7.",
    ]
