"""LaTeX sources as plain text: what a reader of the printed page sees, with formulas as TeX.

Read: title, authors, date, headings, paragraphs, lists with their numbers, tables by row, captions, footnotes (at the
end, each behind its number), citations by their keys, addresses, code, the files that `\\input` names in the folder,
and the macros that the document defines. Left out and counted: comments, pictures and drawings, the list of references,
struck-out words, files that are missing or outside the folder. Conditions (`\\ifdraft`) are read with both branches,
`\\iffalse` is a comment.

pylatexenc 2.11 leaves out the keys of citations, macros of the document's own and `\\verb`, cuts an address at its `%`
and writes `\\multicolumn` as its arguments, without a word of it; so sources are read here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from longmark.contrib.make.rag import latex_words as words
from longmark.contrib.make.rag.file_text import FileText
from longmark.contrib.make.rag.latex_columns import columns_of
from longmark.contrib.make.rag.latex_files import DEEPEST, LatexFiles
from longmark.contrib.make.rag.latex_inline import INLINE, citation
from longmark.contrib.make.rag.latex_lists import FORMS, NUMBERED, OTHERS, LatexLists
from longmark.contrib.make.rag.latex_macros import DEFINITIONS
from longmark.contrib.make.rag.latex_quantity import QUANTITIES, quantity
from longmark.contrib.make.rag.latex_writer import LatexWriter
from longmark.contrib.make.rag.list_numbers import numeral
from longmark.contrib.make.rag.paragraphs import joined

_CITES = re.compile(r"(?:[a-zA-Z]*[cC]ite[a-zA-Z]*)")
_PLAIN_NAME = re.compile(r"[^\s{}\\%\[]+")
_TITLE_OPTION = re.compile(r"(?:^|,)\s*title\s*=\s*(\{[^{}]*\}|[^,{}]*)")
_OF_PREAMBLES = (
    DEFINITIONS | words.FRONT | {"title", "iffalse", "input", "include", "import", "subimport"}
)


def latex_text(path: Path, limit: int, folder: Path | None = None) -> FileText:
    """The text of a LaTeX document. limit: bytes of it and the files that it reads; folder: what these may lie in
    (default: its own). ValueError, with the remedy, for a file that is none or whose macros have no end."""
    files = LatexFiles(path, folder or path.parent, limit)
    source = files.source()
    return _LatexReader(files, len(source)).read(source)


class _LatexReader(LatexWriter):
    """Reads one document."""

    def __init__(self, files: LatexFiles, length: int) -> None:
        super().__init__(length)
        self._files = files
        self._notes: list[str] = []
        self._title = ""
        self._front: list[str] = []  # what the preamble says beside the title
        self._lists = LatexLists()
        self._files_open = 0
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
            **dict.fromkeys(INLINE, self._inline),
            **dict.fromkeys(FORMS, self._number_of_list),
            **dict.fromkeys(("setcounter", "addtocounter"), self._set_counter),
            **dict.fromkeys(words.FRONT, self._front_matter),
            **dict.fromkeys(words.PARTS, self._part),
            **dict.fromkeys(("and", "And", "AND"), self._next_author),
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
            self._write(citation(self._scanner), in_line=True)
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
            if name not in words.FONTS and self._scanner.next_character() == "{":
                self._begin_argument()
        return True

    def _text_last(self, before: int) -> None:
        self._scanner.option()
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
        name = self._scanner.match(_PLAIN_NAME)  # \input name, as in plain TeX
        self._read_file(name[0] if name else self._scanner.argument(is_address=True), None)

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
        if self._muted:
            return
        title = self._title
        front = self._front
        self._title = ""
        self._front = []
        if title:
            self._block("h1", title)
        for source in front:
            self._block("p", source)

    def _front_matter(self, _name: str) -> None:
        """What stands beside the title: that of the preamble is printed with it."""
        self._scanner.option()
        source = self._scanner.argument()
        if self._muted:
            self._front.append(source)
        else:
            self._block("p", source)

    def _next_author(self, _name: str) -> None:
        self._page.paragraphs.strip_end()
        self._text(", ")

    def _part(self, _name: str) -> None:
        self._text(" ")
        self._write(self._scanner.argument(), in_line=True)
        self._text(" ")

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
        if label is None:
            label = self._lists.next_label(f"label{self._lists.counter}" in self._macros)
        self._page.whole("li", "")
        if label:
            self._write(label, in_line=True)
            self._text(" ")

    def _number_of_list(self, form: str) -> None:
        """The number of a counter of lists; other counters are not known."""
        number = self._lists.number_of(self._scanner.argument().strip())
        if number is not None:
            self._text(numeral(number, FORMS[form]))

    def _set_counter(self, name: str) -> None:
        counter = self._scanner.argument().strip()
        self._lists.set(counter, self._scanner.argument(), is_added=name == "addtocounter")

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
        if name in NUMBERED or name in OTHERS:
            self._scanner.skip_aside()
            option = self._scanner.option()
            self._lists.begin(name, option)
        else:
            option = self._scanner.option()
        for _ in range(words.ENVIRONMENTS.get(name, 0)):
            self._scanner.argument()
        self._break()
        if name in words.BLOCKS:
            self._scanner.skip_aside()
            self._block("p", self._scanner.argument())
        elif option and (title_option := _TITLE_OPTION.search(option)):
            self._block("p", title_option[1])
        if name not in words.ENVIRONMENTS and self._scanner.next_character() == "{":
            self._write(self._scanner.argument(), in_line=True)
            self._text(" ")
        if name in self._macros.theorems:
            title = f" ({option})" if option else ""
            self._write(f"{self._macros.theorems[name]}{title}. ", in_line=True)

    def _end(self, starred: str) -> bool:
        if starred == "document":
            return False
        if starred in words.TABLES and self._tables:
            self._end_text()
            self._tables.end()
        elif not self._muted:
            if starred in NUMBERED or starred in OTHERS:
                self._lists.end()
            self._break()
        return True

    def _begin_table(self, arguments: int) -> None:
        self._scanner.option()
        declared = [self._scanner.argument() for _ in range(arguments)]
        self._tables.begin(columns_of(declared[-1]))

    def _multicolumn(self, _name: str) -> None:
        columns = self._scanner.argument()
        self._scanner.argument()
        content = self._scanner.argument()
        if self._tables and not self._in_line:
            self._tables.begin_cell(columns=_count(columns), is_own_form=True)
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
