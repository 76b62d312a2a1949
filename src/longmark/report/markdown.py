"""Markdown as HTML of our own elements, in which every shown character knows its place in the source.

The tokens are markdown-it's. Foreign text becomes text nodes only: no HTML of its own, no link, no image, no attribute.
A leaf is `<span data-at="N">`: its characters stand in the source from code point N on. A text whose places cannot all
be followed, or of which a line would be hidden, is shown as it is written.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from html import escape
from unicodedata import bidirectional

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline, link
from markdown_it.token import Token
from markupsafe import Markup

_LONGEST = 200_000
_MATH = re.compile(
    r"\$\$(?!\$)[^$]{1,500}\$\$|\$(?![\s$])(?:[^$\n]{0,300}[^\s$\\])?\$(?![\d$])|\\\(.{1,500}?\\\)|\\\[.{1,500}?\\\]",
    re.DOTALL,
)
_LEAF = re.compile(r'<span data-at="\d+"(?: data-length="\d+")?>[^<]*</span>')
_SYNTAX = re.compile(r"[*_`|~\\$\[]|^ {0,3}(?:#{1,6} |> |[-+] |\d{1,9}[.)] )", re.MULTILINE)
_NUMBER = re.compile(r"\d+[.)]\s*$")  # an item of a list without a text: its number is shown
_FENCES = (("$$", "$$"), ("\\[", "\\]"))
_TAGS = {
    name: name
    for name in ("blockquote", "table", "thead", "tbody", "tr", "th", "td", "em", "strong", "s")
}
_TAGS |= {
    "paragraph": "p",
    "heading": "p",
    "bullet_list": "ul",
    "ordered_list": "ol",
    "list_item": "li",
    "link": "u",
}
_CONTAINERS = frozenset(("ul", "ol", "blockquote", "table"))
_DIRECTED = frozenset(("p", "ul", "ol", "blockquote", "table", "td", "th"))


class _Lost(Exception):
    """A place in the source cannot be followed."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """text: as shown; start: its first code point in the source; length: how many it stands for there."""

    text: str
    start: int
    length: int


@dataclass(frozen=True, slots=True)
class Rich:
    html: str
    leaves: tuple[Leaf, ...]

    def find(self, quote: str) -> tuple[int, int] | None:
        """Where words stand in the source that are read on the page: start and end."""
        places = [
            (leaf.start + i, leaf.start + (i + 1 if leaf.length == len(leaf.text) else leaf.length))
            for leaf in self.leaves
            for i in range(len(leaf.text))
        ]
        at = "".join(leaf.text for leaf in self.leaves).find(quote) if quote else -1
        return None if at < 0 else (places[at][0], places[at + len(quote) - 1][1])


@lru_cache(512)
def rich(text: str) -> Rich:
    """A text rendered; as it is written where that fails."""
    same_length = text.replace("\r\n", " \n").replace("\r", "\n").replace("\0", "\ufffd")
    if len(text) <= _LONGEST:
        try:
            return _Writer(same_length).written()
        except _Lost:
            pass
    return plain(text)


def plain(text: str) -> Rich:
    """A text as it is written. A carriage return stays one, as a browser counts it."""
    html = escape(text).replace("\r", "&#13;")
    return Rich(f'<span data-at="0">{html}</span>', (Leaf(text, 0, len(text)),))


def page(text: str, level: int = 2) -> Markup:
    """Guidelines and help: links work; there are no images and no HTML. level: of the highest heading on the page."""
    renderer = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    tokens = renderer.parse(text)
    headings = [token for token in tokens if token.type in ("heading_open", "heading_close")]
    highest = min((int(token.tag[1]) for token in headings), default=1)
    for token in headings:
        token.tag = f"h{min(int(token.tag[1]) - highest + level, 6)}"
    return Markup(
        renderer.renderer.render(tokens, renderer.options, {})
    )  # links have a scheme that runs nothing


def marked_rich(text: str, mark: Callable[[Leaf], str]) -> Markup:
    """A text rendered, in which `mark` writes each leaf: its HTML, with all that is foreign in it escaped."""
    rendered = rich(text)
    leaves = iter(rendered.leaves)
    return Markup(_LEAF.sub(lambda _match: mark(next(leaves)), rendered.html))


def has_markup(text: str) -> bool:
    """Whether something of a text can be Markdown, so that it is worth rendering."""
    return _SYNTAX.search(text) is not None


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable(
        ["table", "strikethrough"]
    )
    parser.disable(
        ["image", "autolink", "html_inline", "html_block", "reference", "lheading", "text_join"]
    )
    parser.inline.ruler.before("escape", "math", _math)
    parser.inline.ruler.at("link", _link)
    parser.block.ruler.before(
        "paragraph", "math_block", _math_block, {"alt": ["paragraph", "blockquote", "list"]}
    )
    return parser


def _math(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "$\\" or not (
        match := _MATH.match(state.src, state.pos, state.posMax)
    ):
        return False
    if not silent:
        state.push("math", "", 0).content = match[0]
    state.pos = match.end()
    return True


def _link(state: StateInline, silent: bool) -> bool:
    """A link, whose end is noted. An image stays as it is written."""
    if state.pos and state.src[state.pos - 1] == "!":
        return False
    matched = link(state, silent)
    if matched and not silent:
        state.tokens[-1].meta["end"] = state.pos
    return matched


def _math_block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Lines from $$ or \\[ to the line that ends with $$ or \\]."""
    line = state.src[state.bMarks[first] + state.tShift[first] : state.eMarks[first]].strip()
    for opening, closing in _FENCES:
        if not line.startswith(opening):
            continue
        remaining = line[len(opening) :]
        number = first
        while not remaining.endswith(closing):
            number += 1
            if number >= last or not (
                remaining := state.src[state.bMarks[number] : state.eMarks[number]].strip()
            ):
                return False
        if not silent:
            state.push("math_block", "", 0).map = [first, number + 1]
            state.line = number + 1
        return True
    return False


class _Writer:
    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = source.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.html: list[str] = []
        self.leaves: list[Leaf] = []
        self.open: list[str] = []
        self.column = 0  # in a row of a table: where the last cell ended

    def written(self) -> Rich:
        tokens = _parser().parse(self.source)
        for place, token in enumerate(tokens):
            self._block(token, tokens[place + 1] if place + 1 < len(tokens) else None)
        shown_lines = {bisect_right(self.starts, leaf.start) - 1 for leaf in self.leaves}
        if any(
            n not in shown_lines and any(c.isalnum() or c > "\x7f" for c in _NUMBER.sub("", line))
            for n, line in enumerate(self.lines)
        ):
            raise _Lost
        return Rich("".join(self.html), tuple(self.leaves))

    def _block(self, token: Token, after: Token | None) -> None:
        kind, _, end = token.type.rpartition("_")
        if token.type == "inline":
            self._inline(token.content, token.children or (), self._places(token))
        elif token.type in ("fence", "code_block", "math_block"):
            self._code(token)
        elif token.type == "hr":
            self.html.append("<hr>")
        elif end == "open":
            if kind == "tr":
                self.column = 0
            self._start(
                "td" if kind == "th" and after is not None and not after.content else _TAGS[kind],
                token,
            )
        elif end == "close":
            self._end(token)
        else:
            raise _Lost

    def _start(self, tag: str, token: Token) -> None:
        if token.hidden:
            tag = ""
        self.open.append(tag)
        attributes = f' dir="{self._direction(tag, token)}"' if tag in _DIRECTED else ""
        if token.type == "heading_open":
            attributes += f' class="h h{token.tag[1]}"'
        if token.type == "ordered_list_open" and (start := token.attrGet("start")) is not None:
            attributes += f' start="{int(start)}"'
        if tag == "table":
            right = ' dir="rtl"' if 'dir="rtl"' in attributes else ""
            self.html.append(
                f'<div class="scroll"{right} tabindex="0" role="group" aria-label="Table">'
            )
        self.html.append(f"<{tag}{attributes}>" if tag else "")

    def _direction(self, tag: str, token: Token) -> str:
        """Of an element. A browser reads auto of what has no direction of its own, so that of a table, whose cells have
        one, it is left to right; the columns of an Arabic table begin at the right."""
        if tag not in _CONTAINERS or token.map is None:
            return "auto"
        first, last = token.map
        strong = next(
            (
                direction
                for line in self.lines[first:last]
                for character in line
                if (direction := bidirectional(character)) in ("L", "R", "AL")
            ),
            "L",
        )
        return "auto" if strong == "L" else "rtl"

    def _end(self, token: Token) -> None:
        tag = self.open.pop()
        self.html.append(f"</{tag}>" if tag else "")
        if tag == "table":
            self.html.append("</div>")

    def _leaf(self, start: int, end: int, replacement: str | None = None) -> None:
        """The source from start to end; `replacement` where that is another text."""
        if start >= end:
            return
        text = self.source[start:end] if replacement is None else replacement
        self.leaves.append(Leaf(text, start, end - start))
        attribute = "" if replacement is None else f' data-length="{end - start}"'
        self.html.append(f'<span data-at="{start}"{attribute}>{escape(text)}</span>')

    def _suffix(self, number: int, text: str) -> int:
        """Where a text begins that a line of the source ends with."""
        line = self.lines[number]
        for end in (
            line,
            line.rstrip(),
            line.rstrip("# \t"),
        ):  # a heading may be closed by number signs
            if end.endswith(text):
                return self.starts[number] + len(end) - len(text)
        raise _Lost

    def _code(self, token: Token) -> None:
        first, last = token.map or (0, 0)
        self.html.append('<pre dir="ltr">')
        if token.type == "math_block":
            for number in range(first, last):
                self._leaf(self.starts[number], min(self.starts[number + 1], len(self.source)))
        else:
            if token.type == "fence":
                if info := self.lines[first].rpartition(token.markup)[2].strip():
                    at = self._suffix(first, info)
                    self.html.append("<small>")
                    self._leaf(at, min(at + len(info) + 1, len(self.source)))
                    self.html.append("</small>")
                first += 1
            for number, line in enumerate(
                token.content.removesuffix("\n").split("\n") if token.content else (), first
            ):
                at = self._suffix(number, line)
                self._leaf(at, min(at + len(line) + 1, len(self.source)))
        self.html.append("</pre>")

    def _places(self, token: Token) -> Callable[[int], int]:
        """From a place in the content of a block to the one in the source."""
        number = (token.map or (0, 0))[0]
        places: list[int] = []
        if self.open[-1] in ("td", "th"):
            line = self.lines[number]
            at = self.column
            while token.content and at < len(line) and line[at] in " \t|":
                at += 1
            for char in token.content:
                at += char == "|" and line.startswith(
                    "\\|", at
                )  # an escaped pipe has lost its backslash
                if not line.startswith(char, at):
                    raise _Lost
                places.append(self.starts[number] + at)
                at += 1
            self.column = at
        else:
            for row, text in enumerate(token.content.split("\n"), number):
                start = self._suffix(row, text)
                places += range(start, start + len(text) + 1)
        return lambda place: places[place]

    def _inline(self, content: str, children: Sequence[Token], place: Callable[[int], int]) -> None:
        position = 0

        def passed(text: str) -> int:
            if not content.startswith(text, position):
                raise _Lost
            return position + len(text)

        def leaves(start: int, end: int) -> None:
            """A leaf for each stretch that stands in the source in one piece."""
            while start < end:
                stop = start + 1
                while stop < end and place(stop) == place(stop - 1) + 1:
                    stop += 1
                self._leaf(place(start), place(stop - 1) + 1)
                start = stop

        for child in children:
            before = position
            if child.type in ("text", "math"):
                position = passed(child.content)
                if child.type == "math":
                    self.html.append("<code>")
                leaves(before, position)
                if child.type == "math":
                    self.html.append("</code>")
            elif child.type == "text_special":
                position = passed(child.markup)
                self._leaf(place(before), place(position - 1) + 1, child.content)
            elif child.type == "code_inline":
                position = passed(child.markup)
                end = re.compile(f"(?<!`){child.markup}(?!`)").search(content, position)
                if end is None:
                    raise _Lost
                inner = content[position : end.start()]
                shift = inner.replace("\n", " ").find(child.content)
                self.html.append("<code>")
                leaves(position + shift, position + shift + len(child.content))
                self.html.append("</code>")
                position = end.end()
            elif child.type in ("softbreak", "hardbreak"):
                line_break = re.compile(r" *\\?\n[ \t]*").match(content, position)
                if line_break is None:
                    raise _Lost
                position = line_break.end()
                newline = place(content.index("\n", before))
                self._leaf(newline, newline + 1)
            elif child.type == "link_close":
                self._end(child)
                position = int(child.meta["end"])
                self.html.append('<small class="address">')
                leaves(*_inside(content, before, position))
                self.html.append("</small>")
            elif child.type == "link_open":
                position = passed("[")
                self._start("u", child)
            elif child.nesting:
                position = passed(child.markup)
                if child.nesting > 0:
                    self._start(_TAGS[child.type.rpartition("_")[0]], child)
                else:
                    self._end(child)
            else:
                raise _Lost
        if content[position:].strip():
            raise _Lost


def _inside(content: str, start: int, end: int) -> tuple[int, int]:
    """What stands between `](` and `)`."""
    if content[start : start + 2] != "](" or content[end - 1] != ")":
        raise _Lost
    return start + 2, end - 1
