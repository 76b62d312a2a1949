"""LaTeX sources as plain text: what a reader of the printed page sees, with formulas as TeX.

Read: title, headings, paragraphs, lists, tables by row, captions, footnotes (at the end, each behind its number),
citations by their keys, addresses, code, the files that `\\input` names in the folder, and the macros that the document
defines. Left out and counted: comments, pictures and drawings, the list of references, struck-out words, files that are
missing or outside the folder. Conditions (`\\ifdraft`) are read with both branches, `\\iffalse` is a comment.

pylatexenc 2.11 leaves out the keys of citations, macros of the document's own and `\\verb`, cuts an address at its `%`
and writes `\\multicolumn` as its arguments, without a word of it; so sources are read here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

from longmark.contrib.make.rag import latex_words as words
from longmark.contrib.make.rag.file_text import FileText
from longmark.contrib.make.rag.latex_files import DEEPEST, LatexFiles
from longmark.contrib.make.rag.latex_macros import DEFINITIONS, LatexMacros
from longmark.contrib.make.rag.latex_quantity import QUANTITIES, quantity
from longmark.contrib.make.rag.latex_scan import LatexScanner
from longmark.contrib.make.rag.latex_table import LatexTables
from longmark.contrib.make.rag.paragraphs import joined
from longmark.contrib.make.rag.xml_tree import PageOfXml

_DEEPEST_ARGUMENT = 40  # arguments in each other that are read

_CITES = re.compile(r"(?:[a-zA-Z]*[cC]ite[a-zA-Z]*)")
_KEYS = re.compile(r"\s*,\s*")
_OF_PREAMBLES = DEFINITIONS | {"title", "iffalse", "input", "include", "import", "subimport"}


def latex_text(path: Path, limit: int, folder: Path | None = None) -> FileText:
    """The text of a LaTeX document. limit: bytes of it and the files that it reads; folder: what these may lie in
    (default: its own). ValueError, with the remedy, for a file that is none or whose macros have no end."""
    files = LatexFiles(path, folder or path.parent, limit)
    source = files.source()
    return _LatexReader(files, len(source)).read(source)


class _LatexReader:
    """Reads one document. muted: in its preamble."""

    def __init__(self, files: LatexFiles, length: int) -> None:
        self._files = files
        self._page = PageOfXml()
        self._scanner = LatexScanner("")
        self._macros = LatexMacros.of_source(length)
        self._notes: list[str] = []
        self._title = ""
        self._muted = False
        self._depth = 0
        self._files_open = 0
        self._tables = LatexTables(self._page)
        self._in_line = 0
        self._handlers = self._commands()

    def read(self, source: str) -> FileText:
        self._muted = re.search(r"\\begin\s*\{document\}", source) is not None
        self._write(source)
        self._write_title()
        self._muted = False
        while self._tables:
            self._tables.end()
        for number, note in enumerate(self._notes, 1):  # a note may have notes
            self._page.start("p")
            self._write(f"[{number}] {note}", in_line=True)
            self._page.end("p")
        self._page.paragraphs.close()
        text, headings = joined(self._page.paragraphs)
        left_out = self._page.left_out + self._files.left_out
        return FileText(text, headings, left_out=dict(+left_out))

    # Tokens ----------------------------------------------------------------------------------------------------------

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
            self._tables.begin_cell()
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
                self._tables.end_cell()
            else:
                self._text(" ")
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

    def _accent(self, accent: str) -> None:
        letter = self._scanner.argument().strip()
        plain = {"\\i": "i", "\\j": "j"}.get(letter, letter)
        if not plain:
            return
        composed = unicodedata.normalize("NFC", plain[0] + words.ACCENTS[accent])
        self._text(composed + plain[1:])

    def _formula(self, formula: str | None, is_paragraph: bool = False) -> None:
        """A formula in the text, or as a paragraph."""
        if formula is None or self._muted:
            return
        text = self._macros.formula(formula)
        if is_paragraph and not (self._tables or self._in_line):
            self._page.whole("p", text)
        else:
            self._text(text)

    # Commands --------------------------------------------------------------------------------------------------------

    def _commands(self) -> dict[str, Callable[[str], None]]:
        """Commands with a function of their own, also in the preamble where they define something."""
        return {
            **dict.fromkeys(DEFINITIONS, self._define),
            "title": self._take_title,
            "maketitle": self._write_title,
            "iffalse": self._skip_condition,
            **dict.fromkeys(("input", "include", "subfile"), self._include),
            **dict.fromkeys(("import", "subimport"), self._import),
            **dict.fromkeys(words.NOTES, self._note),
            "footnotemark": self._note_mark,
            "footnotetext": self._note_text,
            **dict.fromkeys(words.HEADINGS, self._heading),
            **dict.fromkeys(words.REFERENCES, self._reference),
            **dict.fromkeys(QUANTITIES, self._quantity),
            **dict.fromkeys(words.LEFT_OUT, self._leave_out),
            **dict.fromkeys(words.RAISED, self._raised),
            **dict.fromkeys(("url", "path", "nolinkurl"), self._address),
            "href": self._link,
            **dict.fromkeys(("verb", "lstinline"), self._code),
            "mintinline": self._code,
            **dict.fromkeys(("caption", "captionof"), self._caption),
            "item": self._item,
            "bibitem": self._bibitem,
            **dict.fromkeys(("par", "newpage", "clearpage", "cleardoublepage"), self._break),
            **dict.fromkeys(("newline", "linebreak", "tabularnewline"), self._line_break),
            "xspace": self._xspace,
            "ensuremath": self._mathematical,
            "endfirsthead": self._head_of_further_pages,
            "multicolumn": self._multicolumn,
            "multirow": self._multirow,
            **dict.fromkeys(words.ACCENTS.keys() - set("`'^~=.\""), self._accent),
        }

    def _command(self, starred: str) -> bool:
        """A command; False at the end of the document."""
        name = starred.rstrip("*")
        if name == "begin":
            self._begin(self._scanner.argument().strip())
            return True
        if name == "end":
            return self._end(self._scanner.argument().strip())
        if self._muted and name not in _OF_PREAMBLES:
            return True
        handler = self._handlers.get(name)
        if name in self._macros and (handler is None or name in words.ACCENTS):
            self._macros.use(name, self._scanner)
        elif handler is not None:
            handler(name)
        elif name in words.CHARACTERS:
            self._text(words.CHARACTERS[name])
        elif _CITES.fullmatch(name) and name != "nocite":
            self._cite()
        elif name in words.NO_TEXT or name in words.TABLE_RULES:
            self._scanner.skip_aside()
            self._scanner.option()
            for _ in range(words.NO_TEXT.get(name, 0)):
                self._scanner.argument()
        elif name in words.TEXT_LAST:
            self._text_last(words.TEXT_LAST[name])
        elif self._scanner.next_character() == "[" and name not in words.WITHOUT_OPTION:
            self._scanner.option()
        else:
            self._scanner.skip_aside()
        return True

    def _text_last(self, before: int) -> None:
        self._scanner.option()
        for _ in range(before):
            self._scanner.argument()
            self._scanner.option()
        self._write(self._scanner.argument(), in_line=bool(self._tables))

    def _define(self, name: str) -> None:
        self._macros.define(name, self._scanner)

    def _skip_condition(self, _name: str) -> None:
        self._page.left_out["comments"] += 1
        self._scanner.skip_branch()

    def _include(self, _name: str) -> None:
        self._read_file(self._scanner.argument(is_address=True), None)

    def _import(self, name: str) -> None:
        folder = self._scanner.argument(is_address=True)
        self._read_file(self._scanner.argument(is_address=True), self._files.main.parent / folder)

    def _read_file(self, name: str, within: Path | None) -> None:
        if self._files_open >= DEEPEST:
            self._page.left_out["files that read themselves"] += 1
            return
        text = self._files.included(name, within)
        if text is None:
            return
        self._files_open += 1
        self._write(text)
        self._files_open -= 1

    # Text ------------------------------------------------------------------------------------------------------------

    def _take_title(self, _name: str) -> None:
        self._scanner.option()
        self._title = self._scanner.argument()
        self._write_title()  # in the preamble it waits

    def _write_title(self, _name: str = "") -> None:
        if self._title and not self._muted:
            title = self._title
            self._title = ""
            self._block("h1", title)

    def _block(self, tag: str, text: str) -> None:
        self._page.start(tag)
        self._write(text, in_line=True)
        self._page.end(tag)

    def _heading(self, name: str) -> None:
        self._scanner.skip_aside()
        self._scanner.option()
        self._block(words.HEADINGS[name], self._scanner.argument())

    def _caption(self, name: str) -> None:
        if name == "captionof":
            self._scanner.argument()
        self._scanner.option()
        text = self._scanner.argument()
        if self._tables:  # of a table over several pages
            self._page.left_out["captions within tables"] += 1
        else:
            self._block("p", text)

    def _note(self, _name: str) -> None:
        self._scanner.option()
        self._notes.append(self._scanner.argument())
        self._text(f"[{len(self._notes)}]")

    def _note_mark(self, _name: str) -> None:
        self._scanner.option()
        self._text(f"[{len(self._notes) + 1}]")

    def _note_text(self, _name: str) -> None:
        self._scanner.option()
        self._notes.append(self._scanner.argument())

    def _cite(self) -> None:
        """A citation: what stands before the keys, the keys, what stands behind them."""
        options = [option for _ in range(2) if (option := self._scanner.option()) is not None]
        keys = ", ".join(key for key in _KEYS.split(self._scanner.argument().strip()) if key)
        before = f"{options[0]} " if len(options) == 2 and options[0] else ""
        behind = f", {options[-1]}" if options and options[-1] else ""
        self._text("[")
        self._write(f"{before}{keys}{behind}", in_line=True)
        self._text("]")

    def _reference(self, _name: str) -> None:
        self._text(f"[{self._scanner.argument()}]")

    def _quantity(self, name: str) -> None:
        self._text(quantity(name, self._scanner))

    def _raised(self, name: str) -> None:
        text = self._scanner.argument()
        self._text("")
        self._page.start(words.RAISED[name])
        self._write(text, in_line=True)
        self._page.end(words.RAISED[name])

    def _address(self, _name: str) -> None:
        self._text(self._scanner.argument(is_address=True).replace("\\%", "%"))

    def _link(self, _name: str) -> None:
        self._scanner.option()
        self._scanner.argument(is_address=True)

    def _code(self, name: str) -> None:
        self._scanner.option()
        if name == "mintinline":
            self._scanner.argument()
        self._text(self._scanner.verbatim())

    def _item(self, _name: str) -> None:
        self._scanner.skip_aside()
        label = self._scanner.option()
        self._page.whole("li", "")
        if label:
            self._write(label, in_line=True)
            self._text(" ")

    def _bibitem(self, _name: str) -> None:
        self._scanner.option()
        self._scanner.argument()

    def _leave_out(self, name: str) -> None:
        self._scanner.option()
        if self._scanner.next_character() == "{":
            self._scanner.argument(is_address=True)
        self._page.left_out[words.LEFT_OUT[name]] += 1

    def _line_break(self, name: str) -> None:
        if name == "tabularnewline":
            self._symbol("\\")
        elif self._tables or self._in_line:
            self._text(" ")
        else:
            self._page.whole("br", "")

    def _xspace(self, _name: str) -> None:
        if self._scanner.next_character() not in words.NO_SPACE_BEFORE:
            self._text(" ")

    def _mathematical(self, _name: str) -> None:
        self._formula(self._scanner.argument())

    def _head_of_further_pages(self, _name: str) -> None:
        """Passes over the head that a long table repeats."""
        self._scanner.until("\\endhead")

    # Environments ----------------------------------------------------------------------------------------------------

    def _begin(self, starred: str) -> None:
        name = starred.rstrip("*")
        if name == "document":
            self._muted = False
            return
        if self._muted:
            return
        if name in words.MATH:
            self._formula(self._content(starred), is_paragraph=True)
        elif name in words.VERBATIM:
            self._verbatim(starred)
        elif name in words.DRAWINGS:
            self._content(starred)
            self._page.left_out["drawings"] += 1
        elif name == "comment":
            self._content(starred)
            self._page.left_out["comments"] += 1
        elif name in ("thebibliography", "filecontents"):
            content = self._content(starred)
            self._page.left_out["references"] += content.count("\\bibitem")
        elif starred in words.TABLES:
            self._begin_table(words.TABLES[starred])
        elif name == "frame":
            self._frame()
        else:
            self._begin_block(name)

    def _content(self, name: str) -> str:
        """What an environment holds; to the end of the source, if it does not end."""
        content = self._scanner.until(f"\\end{{{name}}}")
        if content is None:
            self._page.left_out["environments without an end"] += 1
        return content or ""

    def _verbatim(self, name: str) -> None:
        self._scanner.option()
        if name.startswith("minted"):
            self._scanner.argument()
        self._page.start("pre")
        self._page.text(self._content(name).strip("\n"))
        self._page.end("pre")

    def _frame(self) -> None:
        """A slide, with its title."""
        self._scanner.skip_aside()
        self._scanner.option()
        self._break()
        if self._scanner.next_character() == "{":
            self._block("h2", self._scanner.argument())

    def _begin_block(self, name: str) -> None:
        option = self._scanner.option()
        for _ in range(words.ENVIRONMENTS.get(name, 0)):
            self._scanner.argument()
        self._break()
        if name in self._macros.theorems:
            title = f" ({option})" if option else ""
            self._write(f"{self._macros.theorems[name]}{title}. ", in_line=True)

    def _end(self, starred: str) -> bool:
        if starred == "document":
            return False
        if starred in words.TABLES and self._tables:
            self._tables.end()
        elif not self._muted:
            self._break()
        return True

    def _begin_table(self, arguments: int) -> None:
        self._scanner.option()
        for _ in range(arguments):
            self._scanner.argument()
        self._tables.begin()

    def _multicolumn(self, _name: str) -> None:
        columns = self._scanner.argument()
        self._scanner.argument()
        content = self._scanner.argument()
        if self._tables and not self._in_line:
            self._tables.begin_cell(columns=_count(columns))
        self._write(content, in_line=True)

    def _multirow(self, _name: str) -> None:
        self._scanner.option()
        rows = self._scanner.argument()
        self._scanner.option()
        self._scanner.argument()
        self._scanner.option()
        content = self._scanner.argument()
        if self._tables and not self._in_line:
            self._tables.begin_cell(rows=_count(rows))
        self._write(content, in_line=True)


def _count(number: str) -> int:
    """How many columns or rows a cell spans."""
    number = number.strip()
    return max(1, int(number[:4])) if number.isascii() and number.isdigit() else 1
