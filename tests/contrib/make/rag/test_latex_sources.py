"""LaTeX sources as the reader of the printed page sees them. The documents are made up."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from tests.fuzz.engine import limited

from longmark.contrib.make.rag.documents import Documents, SourceDocument, Unread
from longmark.contrib.make.rag.latex import latex_text

PAPER = r"""\documentclass[a4paper]{article}
\usepackage[utf8]{inputenc} % a package
\newcommand{\method}{Dam\-Watch\xspace}
\newcommand{\pct}[2][about]{#1 #2\,\%}
\def\ie{i.e.\ }
\newtheorem{thm}{Theorem}
\title[Short]{Dams \& rivers\thanks{Paid by the state.}}
\author{Doe}
\begin{document}
\maketitle
\begin{abstract}
Rain   fell in
K\"oln, na\"{\i}ve \v{C}apek.
\end{abstract}
\section{Methods}\label{sec:m}
We pumped \SI{10}{\kilo\metre} of water\footnote{By night, $10^6$ litres.} as
\citet{doe99, roe} and others~\cite[see][p.~3]{poe} say. % TODO: more
%\section{Old}

\method is \pct{7} better, \pct[over]{9} at times, \ie ``good'' --- see \ref{sec:m}.
CO\textsubscript{2}, 5\textsuperscript{th} and $n = 12$ of $\alpha_i$.
\begin{equation*}
  E = mc^2 \label{eq:e}
\end{equation*}
\begin{table}[t]
\caption{Heights}
\begin{tabular}{l|rr}
\toprule
Dam & \multicolumn{2}{c}{Height} \\ \cmidrule(lr){2-3}
 & m & ft \\ \midrule
\multirow{2}{*}{Elm} & 12 & 39 \\[2pt]
 & 13 & \textbf{43} \\
\bottomrule
\end{tabular}
\end{table}
\begin{itemize}
\item first
\item[b)] second, \verb|a_b %c| at \url{http://x.y/%7E} or \href{http://z}{here}
\end{itemize}
\begin{thm}[Doe] Dams hold. \end{thm}
\iffalse never \ifx a b \fi printed \fi
\includegraphics[width=3cm]{dam.png} \sout{gone}
\begin{verbatim}
 raw \x % kept
\end{verbatim}
\begin{thebibliography}{9}\bibitem{roe} Roe. \bibitem{poe} Poe.\end{thebibliography}
\end{document}
Never read.
"""
PRINTED = [
    "Dams & rivers[1]",
    "Doe",
    "Rain fell in Köln, naïve Čapek.",
    "Methods",
    "We pumped 10 kilo metre of water[2] as [doe99, roe] and others [see poe, p. 3] say.",
    "DamWatch is about 7 % better, over 9 % at times, i.e. “good” — see [sec:m]. "
    "CO₂, 5th and n = 12 of $\\alpha_i$.",
    "$E = mc^2$",
    "Heights",
    "Dam | Height | Height",
    " | m | ft",
    "Elm | 12 | 39",
    "Elm | 13 | 43",
    "first",
    "b) second, a_b %c at http://x.y/%7E or here",
    "Theorem (Doe). Dams hold.",
    "raw \\x % kept",
    "[1] Paid by the state.",
    "[2] By night, $10^6$ litres.",
]


def printed(tmp_path: Path, source: str) -> tuple[str, dict[str, int]]:
    path = tmp_path / "a.tex"
    path.write_text(source, encoding="utf-8")
    read = latex_text(path, 1 << 20)
    return read.text, dict(read.left_out)


def test_a_paper_as_it_is_printed(tmp_path: Path) -> None:
    path = tmp_path / "paper.tex"
    path.write_text(PAPER, encoding="utf-8")
    documents = Documents(path)
    (paper,) = documents
    assert isinstance(paper, SourceDocument)
    assert paper.text.split("\n\n") == PRINTED
    assert [words for _, words in paper.headings] == ["Dams & rivers[1]", "Methods"]
    assert documents.omitted == {
        "comments": 4,
        "references": 2,
        "pictures": 1,
        "passages that are struck out": 1,
    }


CASES = {
    "a fragment without a document": (r"\chapter{One} Rain.", "One\n\nRain."),
    "a macro in a formula": (r"\newcommand{\R}{\mathbb{R}} In $\R^2$", r"In $\mathbb{R}^2$"),
    "a formula of a number alone": (r"$50\%$ of \(7\) and \[x\]", "50% of 7 and\n\nx"),
    "a dollar that is none": (r"It is \$5 or 5\% of $6", "It is $5 or 5% of $6"),
    "braces and fonts": (r"{\em very} \textbf{good}", "very good"),
    "right to left": ("\\section{سد}\nارتفع النهر.", "سد\n\nارتفع النهر."),
    "ranges and angles": (r"\SIrange{1}{2}{m}, \ang{45}, \num{1e6}", "1–2 m, 45°, 1e6"),
    "a comment that ends a line": ("one%\n  two % no\n\nthree", "onetwo\n\nthree"),
    "slides": (r"\begin{frame}{Plan} \only<2>{Later.} \end{frame}", "Plan\n\nLater."),
    "colour": (r"\textcolor{red}{Stop} \color{blue} go", "Stop go"),
    "a table in two rows of head": (
        r"\begin{longtable}{ll} a&b\\ \endfirsthead a&b\\ \endhead 1&2\\ \end{longtable}",
        "a | b\n\n1 | 2",
    ),
    "a cell of two lines": (r"\begin{tabular}{ll}\makecell{a\\b} & c\end{tabular}", "a b | c"),
    "a document command": (r"\NewDocumentCommand{\k}{m}{<#1>} \k{x}", "<x>"),
    "a title in the document": (
        r"\begin{document}\title{Dams}\author{Doe} Rain.\end{document}",
        "Dams\n\nDoe\n\nRain.",
    ),
    "a note in a note": (r"a\footnote{b\footnote{c}}", "a[1]\n\n[1] b[2]\n\n[2] c"),
}


@pytest.mark.parametrize("case", CASES)
def test_commands_are_read_as_they_are_printed(tmp_path: Path, case: str) -> None:
    source, text = CASES[case]
    assert printed(tmp_path, source)[0] == text


def test_files_are_read_where_they_are_named_and_are_no_documents_of_their_own(
    tmp_path: Path,
) -> None:
    docs = tmp_path / "docs"
    (docs / "parts").mkdir(parents=True)
    (tmp_path / "secret.tex").write_text("A key.")
    (docs / "main.tex").write_text(
        "\\documentclass{book}\\begin{document}\\input{parts/one}\n\\include{two}\n"
        "%\\input{parts/free}\n\\input{../secret}\\input{gone} End.\\end{document}"
    )
    (docs / "parts" / "one.tex").write_text("One. \\input{parts/deep.tex}")
    (docs / "parts" / "deep.tex").write_text("Deep.")
    (docs / "parts" / "free.tex").write_text("Free.")
    (docs / "two.tex").write_text(
        "\\documentclass[main]{subfiles}\\begin{document}Two.\\end{document} no"
    )
    documents = Documents(docs)
    texts = {read.id: read.text for read in documents if isinstance(read, SourceDocument)}
    assert {name: text.split() for name, text in texts.items()} == {
        "main.tex": ["One.", "Deep.", "Two.", "End."],
        "parts/free.tex": ["Free."],
    }
    assert documents.omitted == {
        "comments": 1,
        "missing file gone": 1,
        "file outside the folder, ../secret": 1,
        "files that are part of another one (LaTeX)": 3,
    }
    (deep,) = Documents(docs / "parts" / "deep.tex")  # named by the user
    assert isinstance(deep, SourceDocument)
    assert deep.text == "Deep."


def test_a_file_that_reads_itself_ends(tmp_path: Path) -> None:
    text, left_out = printed(tmp_path, "x \\input{a}")
    assert text.split() == ["x"] * 21
    assert left_out == {"files that read themselves": 1}


def test_a_source_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.tex"
    path.write_bytes("\\usepackage[latin1]{inputenc} Füße".encode("latin-1"))
    assert latex_text(path, 1000).text == "Füße"
    path.write_bytes("Füße".encode("latin-1"))
    (unread,) = Documents(path)
    assert isinstance(unread, Unread)
    assert unread.why == "is not UTF-8 (byte 0xFC at 1); save it as UTF-8"
    with pytest.raises(ValueError, match="more than 0 MiB with its files"):
        latex_text(path, 3)


@pytest.mark.parametrize(
    "source",
    [r"\def\a{\a\a}\a", r"\def\a{x\footnote{\a}}\a", r"\newcommand{\a}{\b}\newcommand{\b}{\a}\a"],
)
def test_macros_that_grow_without_end_are_refused(tmp_path: Path, source: str) -> None:
    (tmp_path / "a.tex").write_text(source)
    with limited():
        (unread,) = Documents(tmp_path)
    assert isinstance(unread, Unread)
    assert unread.why.startswith("has macros that grow without end")


@pytest.mark.parametrize(
    "piece",
    [
        "{",
        "$",
        "$a\n\n",
        "\\[ ",
        "\\x[",
        "\\footnote{",
        "\\label{a\n\n",
        "\\begin{equation}",
        "\\begin{tabular}{l}",
        "&\\\\",
        "%\n",
        "\\def",
        "\\newcommand",
        "\\verb|",
        "\\iffalse ",
        "\\multirow{9}{*}{x}",
        "\\textcolor{a}{",
    ],
)
def test_the_time_of_reading_a_source_grows_with_its_length(tmp_path: Path, piece: str) -> None:
    path = tmp_path / "a.tex"
    path.write_text(piece * (100_000 // len(piece)))
    with limited(), suppress(ValueError):
        latex_text(path, 1 << 20)
    path.write_text("\\begin{tabular}{l}" + piece * (100_000 // len(piece)))
    with limited(), suppress(ValueError):
        latex_text(path, 1 << 20)


def test_a_file_is_named_without_braces_as_in_plain_tex(tmp_path: Path) -> None:
    (tmp_path / "part.tex").write_text("One.")
    assert printed(tmp_path, "\\input part Two.")[0].split() == ["One.", "Two."]
    assert printed(tmp_path, "\\input gone Two.")[1] == {"missing file gone": 1}
