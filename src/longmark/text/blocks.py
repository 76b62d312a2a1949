"""The blocks of an answer: paragraphs, headings, list items and table rows, without their Markdown syntax.

A line break ends a block only where a reader would stop: at a heading, a list item, a table row or a blank line, and
between short lines (a list without markers). A wrapped line continues the block before it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from longmark.text.abbreviations import abbreviation
from longmark.text.raised import lowered, mixed_numbers, raised

_LINE_END = re.compile(r"\r\n?|[\v\f\u0085\u2028\u2029]|<br\s*/?>", re.IGNORECASE)
_WIDE_GAP = re.compile(r"[^\S\n]{3,}")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_RULE = re.compile(r"\s*(?:(?:[-*_]\s*){3,}|={3,})\s*$")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_QUOTE = re.compile(r"\s*(?:>\s?)+")
_ITEM = re.compile(
    r"\s*(?:[-*+•◦▪‣●○·–—]|\(?(?P<number>\d{1,3})[.)]|\(?[A-Za-z]\)|\(?[ivx]{1,4}\))\s+(?:\[[ xX]\]\s+)?"
)
_TABLE_ROW = re.compile(r"\s*\|(.*)\|\s*$")
_TABLE_RULE = re.compile(r"[\s|:-]*$")

# Lists that lost their line breaks: `…: - first. - second` and `….  2. Second` and `… - **Second** …`.
_INLINE_ITEM = re.compile(
    r"(?<=[.!?:;])\s+(?:[-*•]\s+|\(?(?P<number>\d{1,2})[.)]\s+(?=[\"“(*]{0,3}[A-ZÄÖÜ]))|\s{2,}[-*•]\s+(?=\S)|\s+•\s+"
    r"|(?:^|\s)<?-\s+(?=\*\*)"
)

_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,20}\]")
_TAG = re.compile(
    r"</?(?:b|i|u|em|strong|sub|sup|p|ul|ol|li|span|div|code|h[1-6]|small|mark|ins|del|s|strike|a)(?:\s[^<>]*)?>",
    re.IGNORECASE,
)
_RAISED = re.compile(
    r"<(?P<tag>su[pb])(?:\s[^<>]*)?>(?P<text>(?:(?!</?su[pb]\b)[^\n]){0,200}?)</(?P=tag)\s*>",
    re.IGNORECASE,
)
_OPEN_RAISED = re.compile(r"<(su[pb])(?:\s[^<>]*)?>", re.IGNORECASE)
_DELETED = re.compile(
    r"<(?P<tag>del|s|strike)(?:\s[^<>]*)?>(?:(?!</?(?P=tag)\b)[^\n]){0,2000}?</(?P=tag)\s*>"
    r"|~~(?=\S)(?:(?!~~)[^\n]){1,2000}?(?<=\S)~~",
    re.IGNORECASE,
)
_SEQUENCES = re.compile(r"\s*(?:<s>(?:(?!</?s>).)*</s>\s*)+", re.IGNORECASE | re.DOTALL)
"""Answers between the marks with which models such as Llama begin and end a sequence: nothing is struck out there."""
_SEQUENCE_MARK = re.compile(r"</?s>", re.IGNORECASE)
_EMPHASIS = re.compile(
    r"\*\*+|~~|`+|(?<![\w*\\])\*(?=\S)|(?<=[^\s\\])\*(?![\w*])|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)"
)
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|~>])")

_MONTH = re.compile(
    r"\s*1\.\s+(?:Jan|Feb|März|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)(?:uar|ruar|il|i|ust|tember|ober|ember)?\b"
)
_IN_SIGHT = 60  # characters before a mark in which an abbreviation is looked for

WRAPPED = 50
"""A line of at least so many characters without end punctuation is wrapped, not a line of a list; half of it where the
next line begins in lower case."""

_ENDS = tuple(".!?:;。！？")


def blocks(text: str) -> list[str]:
    """The blocks of a text in their order, with single spaces and without Markdown syntax; without empty ones. What is
    struck out is left out, and superscripts and subscripts are told from digits (`text.raised`)."""
    block_texts = []
    if _SEQUENCES.fullmatch(text):
        text = _SEQUENCE_MARK.sub("\n", text)
    text = _WIDE_GAP.sub(
        "  ", _LINE_END.sub("\n", text)
    )  # two spaces can be a lost line break; more add nothing
    for number, raw in _raw_blocks(text):
        for part in _inline_items(raw, number):
            block = " ".join(_without_syntax(part).split())
            if block:
                block_texts.append(block)
    return block_texts


def prose(text: str) -> Iterator[tuple[int, int]]:
    """Where paragraphs and list items stand in a text, (start, end) in characters, without the marker of an item.
    Headings, table rows, rules and fenced code are left out."""
    start = -1
    end = 0
    before = ""
    fenced = False
    at = 0
    lines = text.splitlines(keepends=True)
    for whole, listed in zip(lines, _in_lists(lines), strict=True):
        line = whole.rstrip()
        line_start = at
        at += len(whole)
        fence = bool(_FENCE.match(line))
        fenced ^= fence
        alone = "" if fenced or fence else _line_alone(line)
        item = _item(line, listed) if alone is None else None
        if start >= 0 and (alone is not None or item or not _continues(before, line)):
            yield start, end
            start = -1
        if alone is None and start < 0:
            mark = item or _QUOTE.match(line)
            start = line_start + (mark.end() if mark else len(line) - len(line.lstrip()))
        end = line_start + len(line)
        before = line
    if start >= 0:
        yield start, end


def _raw_blocks(text: str) -> Iterator[tuple[int | None, str]]:
    """The blocks, each with its number if it is an item of a numbered list."""
    open_lines: list[str] = []
    number: int | None = None
    lines = [
        _QUOTE.sub("", line, count=1) if line.lstrip().startswith(">") else line
        for line in text.split("\n")
    ]
    for line, listed in zip(lines, _in_lists(lines), strict=True):
        alone = _line_alone(line)
        item = _item(line, listed) if alone is None else None
        if open_lines and (alone is not None or item or not _continues(open_lines[-1], line)):
            yield number, " ".join(open_lines)
            open_lines = []
            number = None
        if alone:
            yield None, alone
        elif item:
            open_lines = [line[item.end() :]]
            number = _number_of(item)
        elif alone is None:
            open_lines.append(line)
    if open_lines:
        yield number, " ".join(open_lines)


def _item(line: str, listed: bool) -> re.Match[str] | None:
    """The marker of a list item. listed: a number at the beginning of the line counts the items of a list."""
    item = _ITEM.match(line)
    return None if item and item["number"] and not listed else item


def _number_of(mark: re.Match[str]) -> int | None:
    return int(mark["number"]) if mark["number"] else None


def _in_lists(lines: Sequence[str]) -> list[bool]:
    """Of each line, whether the number that it begins with counts the items of a list: the one before or behind it
    begins another line (or all items have the same: Markdown counts them itself). A 1 alone begins a list, too, as in
    CommonMark, unless it is a German date (`1. Januar`). A line that only happens to begin with another number, as a
    wrapped `in A.D. / 79. The city` does, keeps it."""
    first = list[int]()
    numbers = list[int | None]()
    for line in lines:
        first.append(len(numbers))
        item = _ITEM.match(line)
        numbers.append(_number_of(item) if item else None)
        numbers += map(_number_of, _inline_marks(line))
    counted = _counted(numbers)
    return [
        counted[place] or (numbers[place] == 1 and not _MONTH.match(line))
        for place, line in zip(first, lines, strict=True)
    ]


def _counted(numbers: Sequence[int | None]) -> list[bool]:
    """Of each number, whether one before it is the next lower one, or one behind it the next higher one or, of 0 and 1,
    the same one."""
    behind = Counter(numbers)
    before = set[int | None]()
    is_counted = []
    for number in numbers:
        behind[number] -= 1
        if number is None:
            is_counted.append(False)
            continue
        again = number <= 1 and (number in before or behind[number] > 0)
        is_counted.append(number - 1 in before or behind[number + 1] > 0 or again)
        before.add(number)
    return is_counted


def _inline_marks(text: str) -> list[re.Match[str]]:
    """What may mark items inside a line: no number behind an abbreviation."""
    return [
        mark
        for mark in _INLINE_ITEM.finditer(text)
        if not (
            mark["number"]
            and text[mark.start() - 1] == "."
            and abbreviation(
                text[max(0, mark.start() - _IN_SIGHT) : mark.start() - 1], language="en"
            )
        )
    ]


def _inline_items(raw: str, number: int | None) -> Iterator[str]:
    """The items of a list that lost its line breaks. number: of the item that the text is, if it is one. Numbers mark
    items only if at least two of them count up, and none stands behind an abbreviation (`Fig. 3.`, `A.D. 79.`)."""
    marks = _inline_marks(raw)
    counted = _counted([number, *map(_number_of, marks)])[1:]
    start = 0
    for mark, in_list in zip(marks, counted, strict=True):
        if in_list or not mark["number"]:
            yield raw[start : mark.start()]
            start = mark.end()
    yield raw[start:]


def _line_alone(line: str) -> str | None:
    """The text of a line that is a block of its own ("" for a rule), None for any other line."""
    if not line.strip() or _FENCE.match(line) or _RULE.match(line):
        return ""
    if heading := _HEADING.match(line):
        return heading[1]
    if row := _TABLE_ROW.match(line):
        if _TABLE_RULE.match(row[1]):
            return ""
        return ", ".join(cell.strip() for cell in row[1].split("|") if cell.strip())
    return None


def _continues(before: str, line: str) -> bool:
    """Whether a plain line continues the sentence of the line before it."""
    before = before.rstrip()
    if before[-1:] in _ENDS:
        return False
    if line.lstrip()[:1].islower():
        return len(before) >= WRAPPED // 2 or line[0].isspace()
    return len(before) >= WRAPPED


def _without_syntax(text: str) -> str:
    text = _DELETED.sub(" ", text)
    text = _raised(text)
    text = _LINK.sub(r"\1", text)
    text = _FOOTNOTE.sub("", text)
    text = _TAG.sub("", text)
    text = _EMPHASIS.sub("", text)
    return _ESCAPE.sub(r"\1", text)


def _raised(text: str) -> str:
    """A text with its superscripts and subscripts in plain characters."""

    def plain(match: re.Match[str]) -> str:
        inner = _TAG.sub("", match["text"])
        if match["tag"].lower() == "sub":
            return lowered(inner)
        return raised(
            inner,
            _TAG.sub("", text[max(0, match.start() - 20) : match.start()]),
            "<a " in match["text"],
        )

    if "<" not in text:
        return text
    text = _RAISED.sub(plain, text)
    text = mixed_numbers(text)
    return _OPEN_RAISED.sub(lambda match: "^" if match[1].lower() == "sup" else "_", text)
