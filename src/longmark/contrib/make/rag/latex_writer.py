"""The text of a LaTeX source, token by token: characters, formulas, cells of tables, paragraphs."""

from __future__ import annotations

from abc import ABC, abstractmethod

from longmark.contrib.make.rag import latex_words as words
from longmark.contrib.make.rag.latex_inline import FRACTIONS, INLINE, accented
from longmark.contrib.make.rag.latex_macros import LatexMacros
from longmark.contrib.make.rag.latex_scan import LatexScanner
from longmark.contrib.make.rag.latex_table import LatexTables
from longmark.contrib.make.rag.xml_tree import PageOfXml

_DEEPEST_ARGUMENT = 40  # arguments in each other that are read


class LatexWriter(ABC):
    """Writes a source on a page; what commands do is up to its kind. length: of the source; muted: in its preamble."""

    def __init__(self, length: int) -> None:
        self._page = PageOfXml()
        self._scanner = LatexScanner("")
        self._macros = LatexMacros.of_source(length)
        self._tables = LatexTables(self._page)
        self._groups: list[
            bool
        ] = []  # open braces; whether each is an argument of an unknown command
        self._muted = False
        self._depth = 0
        self._in_line = 0

    @abstractmethod
    def _command(self, starred: str) -> bool:
        """A command; False at the end of the document."""

    def _write(self, text: str, in_line: bool = False) -> None:
        """Writes a source. in_line: without paragraphs of its own, as in a heading."""
        if self._depth >= _DEEPEST_ARGUMENT:
            self._page.left_out["arguments that are too deep in each other"] += 1
            return
        outer = self._scanner
        self._scanner = LatexScanner(text)
        self._depth += 1
        self._in_line += in_line
        while (token := self._scanner.token()) is not None:
            if not self._token(*token):
                break
        self._page.left_out["arguments without an end"] += self._scanner.unclosed
        self._page.left_out["comments"] += self._scanner.comments
        self._in_line -= in_line
        self._depth -= 1
        self._scanner = outer

    def _token(self, kind: str, text: str) -> bool:
        """Writes a token; False at the end of the document."""
        if kind == "macro":
            return self._command(text)
        if kind == "paragraph":
            self._break()
        elif kind == "symbol":
            self._symbol(text)
        elif kind == "mark":
            self._mark(text)
        elif kind == "text":
            self._text(words.QUOTES.sub(lambda match: words.AS_PRINTED[match[0]], text))
        return True

    def _text(self, text: str) -> None:
        if self._muted:
            return
        if self._tables and text.strip():
            before = self._tables.begin_text()
            if before:
                self._page.paragraphs.strip_end()
                self._write(before, in_line=True)
                text = text.lstrip()
        if not self._tables or text.strip() or self._tables.cell_open:
            self._page.text(text)

    def _break(self, _name: str = "") -> None:
        """The end of a paragraph."""
        if self._in_line or self._tables:
            self._text(" ")
        elif not self._muted:
            self._page.whole("p", "")

    def _mark(self, mark: str) -> None:
        if mark == "~":
            self._text(" ")
        elif mark == "&":
            if self._tables and not self._in_line:
                self._next_cell()
            else:
                self._text(" ")
        elif mark == "{":
            self._groups.append(False)
        elif mark == "}":
            self._end_group()
        elif mark[0] == "$":
            formula = (
                self._scanner.until("$$") if mark == "$$" else None
            ) or self._scanner.formula()
            if formula is None:
                self._text(mark)
            else:
                self._formula(formula, is_paragraph=mark == "$$")
        elif mark == "\\":
            self._text(mark)

    def _symbol(self, symbol: str) -> None:
        if symbol == "\\":
            self._scanner.option()
            if self._tables and not self._in_line:
                self._end_text()
                self._tables.end_row()
            elif self._in_line or self._muted:
                self._text(" ")
            else:
                self._page.whole("br", "")
        elif symbol == "(":
            self._formula(self._scanner.until("\\)"))
        elif symbol == "[":
            self._formula(self._scanner.until("\\]"), is_paragraph=True)
        elif symbol in words.SYMBOLS:
            self._text(words.SYMBOLS[symbol])
        elif symbol in words.ACCENTS:
            self._accent(symbol)

    def _end_text(self) -> None:
        """Writes what the column of a table prints behind the text of a cell."""
        if behind := self._tables.behind():
            self._page.paragraphs.strip_end()
            self._write(behind, in_line=True)

    def _next_cell(self) -> None:
        self._end_text()
        if not self._tables.join():
            self._tables.end_cell()

    def _end_group(self) -> None:
        """The end of a group; several arguments of a command that is not known are parted."""
        is_of_unknown = self._groups.pop() if self._groups else False
        if is_of_unknown and self._scanner.next_character() == "{":
            self._text(" ")
            self._begin_argument()

    def _begin_argument(self) -> None:
        self._scanner.token()
        self._groups.append(True)

    def _accent(self, accent: str) -> None:
        self._write(accented(accent, self._scanner), in_line=True)

    def _inline(self, name: str) -> None:
        """What a command stands for; a fraction behind a whole number is none of its digits."""
        source = INLINE[name](self._scanner)
        if name in FRACTIONS and self._page.paragraphs.last_character.isdigit():
            source = f" {source}"
        self._write(source, in_line=True)

    def _formula(self, formula: str | None, is_paragraph: bool = False) -> None:
        """A formula in the text, or as a paragraph."""
        if formula is None or self._muted:
            return
        text = self._macros.formula(formula)
        if is_paragraph and not (self._tables or self._in_line):
            self._page.whole("p", text)
        else:
            self._text(text)

    def _block(self, tag: str, text: str) -> None:
        self._page.start(tag)
        self._write(text, in_line=True)
        self._page.end(tag)
