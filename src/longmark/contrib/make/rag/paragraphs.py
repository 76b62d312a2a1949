"""The paragraphs of a page: a paragraph for each block, a line for each row of a table. Headings of the first two levels
are noted.

Scripts, navigation and the readings of Japanese words (rt, rp) are left out, and so are the soft hyphens and zero-width
characters that only say where a line may break; text that is struck out (del, s, strike), drawings and pictures are
counted. Items of lists have the numbers that a browser writes. Superscripts and subscripts
are told from digits (`text.raised`), and formulas (MathML) are written in one line: (a+b)/c, x^2, √(2).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import accumulate, pairwise
from typing import NamedTuple

from longmark.contrib.make.rag.file_text import BETWEEN, Headings
from longmark.contrib.make.rag.formula import Formula
from longmark.contrib.make.rag.html_lists import HtmlLists
from longmark.contrib.make.rag.kinds import STRUCK
from longmark.contrib.make.rag.table_rows import TableCell, TableRows, cell_of, in_one_line
from longmark.text.raised import lowered, mixed_numbers, raised

_DROPPED = frozenset(
    {
        "script",
        "style",
        "nav",
        "template",
        "noscript",
        "svg",
        "head",
        "button",
        "select",
        "del",
        "s",
        "strike",
        "rt",
        "rp",
        "rtc",
    }
)
_COUNTED = {  # of these, why they are not read
    "del": "deleted passages",
    "s": STRUCK,
    "strike": STRUCK,
    "svg": "drawings",
}
_RAISED = frozenset({"sup", "sub"})
_LONGEST_RAISED = 200  # characters; a longer one is text
_BREAKS_ONLY = re.compile("[\u00ad\u200b\u2060\ufeff]+")
_BLOCKS = frozenset(
    {
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "center",
        "dd",
        "dl",
        "dt",
        "details",
        "div",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "main",
        "ol",
        "ul",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "th",
        "tr",
        "tfoot",
        "thead",
    }
)
_HEADINGS = ("h1", "h2")
_CELLS = frozenset({"td", "th"})
_WHOLE = frozenset({"pre", "table"})  # a row that holds one is not written in a line
_ROW_GROUPS = frozenset({"thead", "tbody", "tfoot"})
_BETWEEN_CELLS = " | "
_LONGEST_ROW = 2000  # characters; the cells of a longer one are paragraphs
_ALWAYS_REPEATED = 1 << 16  # characters of cells that span others; beyond it, as many as
_REPEATED = 4  # times what the page says
_BREAK = "\0"  # in place of <br>
_SPACE = re.compile(r"\s+")
_BROKEN = re.compile(f" ?{_BREAK} ?")


class _Raised(NamedTuple):
    """A sup or sub that has begun. at: how many pieces of text were before it; links: how many had begun; linked: a
    link begins just before it."""

    tag: str
    at: int
    links: int
    linked: bool


class ParagraphCollector:
    """Collects the paragraphs of a page, as lxml's parser tells of it: every element that begins also ends. deepest:
    how many elements may stand in each other. left_out: what was not read -> how often it occurs."""

    def __init__(self, deepest: int) -> None:
        self.paragraphs: list[str] = []
        self.left_out: Counter[str] = Counter()
        self.headings: list[int] = []  # which paragraphs they are
        self._words: list[str] = []
        self.label = ""  # of the next paragraph, as the number of an item
        self._depth = 0
        self._deepest = deepest
        self._dropped = self._verbatim = 0  # elements of these kinds that have not ended
        self._links = 0
        self._link_at = -1  # how many began; where the one that has not ended did
        self._raised: list[_Raised] = []  # those that have not ended
        self._formula: Formula | None = None
        self._in_formula = 0  # elements in it that have not ended
        self._after_formula = False
        self._lists = HtmlLists()
        self._rows: list[list[TableCell]] = []  # the cells of open rows
        self._in_blocks: list[bool] = []  # whether open rows hold code or tables
        self._tables: list[TableRows] = []  # those that have not ended
        self._said = 0  # characters of the page
        self._repeated = 0  # those of cells that stand in further rows or columns

    @property
    def last_character(self) -> str:
        """The last character of the paragraph so far; empty at its beginning."""
        return self._words[-1][-1:] if self._words else ""

    def strip_end(self) -> None:
        """Takes the room at the end of the paragraph so far away."""
        while self._words and not (text := self._words[-1].rstrip()):
            self._words.pop()
        if self._words:
            self._words[-1] = text

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        if self._depth > self._deepest:
            raise ValueError(
                f"has {self._depth:,} elements in each other, too many to be read; save it as text"
            )
        if self._formula:
            self._in_formula += 1
            self._formula.start(tag, attributes)
            return
        if tag in _DROPPED:
            if tag in _COUNTED and not self._dropped:
                self.left_out[_COUNTED[tag]] += 1
            self._dropped += 1
        if tag in _BLOCKS:
            self._end()
            if tag in ("ol", "ul"):
                self._lists.begin(tag, attributes, len(self.paragraphs))
            elif tag == "li" and not self._dropped:
                self.label += self._lists.next_label(attributes)
            self._verbatim += tag == "pre"
            if tag in _WHOLE and self._in_blocks:
                self._in_blocks[-1] = True
            if tag == "table":
                self._tables.append(TableRows())
            elif tag == "tr":
                self._rows.append([])
                self._in_blocks.append(False)
            elif tag in _CELLS and self._rows:
                self._rows[-1].append(cell_of(len(self.paragraphs), attributes))
        elif self._dropped:
            return
        elif tag == "img":
            is_formula = "math-fallback" in attributes.get("class", "")  # of a formula that is read
            self.left_out["pictures"] += not is_formula
        elif tag == "br":
            self._words.append(_BREAK)
        elif tag == "math":
            self._formula = Formula(attributes.get("alttext", ""))
        elif tag in _RAISED:
            self._raised.append(
                _Raised(tag, len(self._words), self._links, self._link_at == len(self._words))
            )
        elif tag == "a":
            self._links += 1
            self._link_at = len(self._words)
            if "noteref" in attributes.get("epub:type", "").split() and not self._raised:
                self._raised.append(_Raised(tag, self._link_at, self._links, True))

    def end(self, tag: str) -> None:
        self._depth -= 1
        if self._formula:
            self._end_in_formula()
            return
        if tag in _DROPPED:
            self._dropped -= 1
        if tag in _BLOCKS:
            before = len(self.paragraphs)
            self._end()
            if tag in _HEADINGS and len(self.paragraphs) > before:
                self.headings.append(before)
            self._verbatim -= tag == "pre"
            if tag in ("ol", "ul"):
                self._lists.end(self.paragraphs)
            elif tag == "li":
                self.label = ""
            elif tag == "tr" and self._rows:
                self._end_row(self._rows.pop(), self._in_blocks.pop())
            elif tag in _ROW_GROUPS and self._tables:
                self._tables[-1].end_group()
            elif tag == "table" and self._tables:
                self._tables.pop()
        elif tag in _RAISED and not self._dropped and self._raised and self._raised[-1].tag == tag:
            self._end_raised(self._raised.pop())
        elif tag == "a":
            self._link_at = -1
            if self._raised and self._raised[-1].tag == tag and not self._dropped:
                self._end_raised(self._raised.pop())

    def data(self, data: str) -> None:
        if self._formula:
            self._formula.data(data)
        elif not self._dropped and (data := _BREAKS_ONLY.sub("", data)):
            parted = self._after_formula and data[0].isalnum()
            self._words.append(f" {data}" if parted else data)
            self._said += len(data)
            self._after_formula = False

    def _end_row(self, cells: list[TableCell], holds_blocks: bool) -> None:
        """Writes the cells of a row in one line, unless it is long, as those of tables for layout are, or holds code or
        tables."""
        ends = [*(cell.at for cell in cells), len(self.paragraphs)]
        paragraphs = [self.paragraphs[start:end] for start, end in pairwise(ends)]
        is_long = sum(len(text) for texts in paragraphs for text in texts) > _LONGEST_ROW
        is_long = is_long or holds_blocks
        texts = ["" if is_long else in_one_line(texts) for texts in paragraphs]
        columns = self._columns(cells, texts)
        if is_long or not any(texts):
            return
        if len(cells) == 1 and len(columns) == cells[0].columns:  # a heading across the table
            return
        if sum(map(len, columns)) > _LONGEST_ROW:
            columns = texts
        if len(columns) < 2:
            return
        first = cells[0].at
        self.paragraphs[first:] = [_BETWEEN_CELLS.join(columns)]
        while self.headings and self.headings[-1] >= first:
            self.headings.pop()

    def _columns(self, cells: list[TableCell], texts: list[str]) -> list[str]:
        """The texts of a row with those that span into it, as long as a page repeats little of what it says."""
        if not self._tables:
            return texts
        if self._repeated > _ALWAYS_REPEATED + _REPEATED * self._said:
            self._tables[-1].forget()
            return texts
        columns = self._tables[-1].row(cells, texts)
        between = len(_BETWEEN_CELLS) * (len(columns) - len(texts))
        self._repeated += sum(map(len, columns)) - sum(map(len, texts)) + between
        return columns

    def _end_in_formula(self) -> None:
        if self._formula and self._in_formula:
            self._in_formula -= 1
            self._formula.end()
        elif self._formula:
            text = self._formula.text()
            if self._formula.struck:
                self.left_out[STRUCK] += self._formula.struck
            self._formula = None
            parted = bool(self._words) and self._words[-1][-1:].isalnum()
            self._words.append(f" {text}" if parted else text)
            self._after_formula = True

    def _end_raised(self, begun: _Raised) -> None:
        """Writes a superscript or subscript in plain characters, if it is short."""
        text = self._short_text(begun.at)
        if text is None or _BREAK in text:
            return
        if begun.tag == "sub":
            plain = lowered(text)
        else:
            before = "".join(self._words[max(0, begun.at - 3) : begun.at])
            plain = raised(text, before, linked=begun.linked or self._links > begun.links)
        self._words[begun.at :] = [plain]

    def _short_text(self, at: int) -> str | None:
        """What was collected from a place on; None if it is long."""
        length = 0
        for place in range(len(self._words) - 1, at - 1, -1):
            length += len(self._words[place]) + 1
            if length > _LONGEST_RAISED:
                return None
        return "".join(self._words[at:])

    def _end(self) -> None:
        self._raised.clear()
        self._link_at = -1
        self._after_formula = False
        if not self._words:
            return
        text = "".join(self._words)
        self._words = []
        text = (
            text.replace(_BREAK, "\n")
            if self._verbatim
            else _BROKEN.sub("\n", _SPACE.sub(" ", text))
        )
        if text := text.strip():
            label = self.label
            self.label = ""
            self.paragraphs.append(label + mixed_numbers(text))

    @property
    def has_text(self) -> bool:
        """Whether the paragraph so far has a text."""
        return any(words.strip() for words in self._words)

    def close(self) -> None:
        self._end()


def joined(paragraphs: ParagraphCollector) -> tuple[str, Headings]:
    """The text of what was collected, a blank line between paragraphs, and its headings."""
    starts = list(
        accumulate(
            (len(paragraph) + len(BETWEEN) for paragraph in paragraphs.paragraphs), initial=0
        )
    )
    headings = tuple(
        (starts[place], " ".join(paragraphs.paragraphs[place].split()))
        for place in paragraphs.headings
    )
    return BETWEEN.join(paragraphs.paragraphs), headings
