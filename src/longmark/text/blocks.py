"""The blocks of an answer: paragraphs, headings, list items and table rows, without their Markdown syntax.

A line break ends a block only where a reader would stop: at a heading, a list item, a table row or a blank line, and
between short lines (a list without markers). A wrapped line continues the block before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_LINE_END = re.compile(r"\r\n?|[\v\f\u0085\u2028\u2029]|<br\s*/?>", re.IGNORECASE)
_WIDE_GAP = re.compile(r"[^\S\n]{3,}")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_RULE = re.compile(r"\s*(?:(?:[-*_]\s*){3,}|={3,})\s*$")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_QUOTE = re.compile(r"\s*(?:>\s?)+")
_ITEM = re.compile(r"\s*(?:[-*+•◦▪‣●○·–—]|\(?\d{1,3}[.)]|\(?[A-Za-z]\)|\(?[ivx]{1,4}\))\s+(?:\[[ xX]\]\s+)?")
_TABLE_ROW = re.compile(r"\s*\|(.*)\|\s*$")
_TABLE_RULE = re.compile(r"[\s|:-]*$")

# Lists that lost their line breaks: `…: - first. - second` and `….  2. Second` and `… - **Second** …`.
_INLINE_ITEM = re.compile(
    r"(?<=[.!?:;])\s+(?:[-*•]\s+|\(?\d{1,2}[.)]\s+(?=[\"“(*]{0,3}[A-Z]))|\s{2,}[-*•]\s+(?=\S)|\s+•\s+"
    r"|(?:^|\s)<?-\s+(?=\*\*)"
)

_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,20}\]")
_TAG = re.compile(
    r"</?(?:b|i|u|em|strong|sub|sup|p|ul|ol|li|span|div|code|h[1-6]|small|mark)(?:\s[^<>]*)?>", re.IGNORECASE
)
_EMPHASIS = re.compile(
    r"\*\*+|~~|`+|(?<![\w*\\])\*(?=\S)|(?<=[^\s\\])\*(?![\w*])|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)"
)
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|~>])")

WRAPPED = 50
"""A line of at least so many characters without end punctuation is wrapped, not a line of a list; half of it where the
next line begins in lower case."""

_ENDS = tuple(".!?:;。！？")


def blocks(text: str) -> list[str]:
    """The blocks of a text in their order, with single spaces and without Markdown syntax; without empty ones."""
    found = []
    text = _WIDE_GAP.sub("  ", _LINE_END.sub("\n", text))  # two spaces can be a lost line break; more add nothing
    for raw in _raw_blocks(text):
        for part in _INLINE_ITEM.split(raw):
            block = " ".join(_without_syntax(part).split())
            if block:
                found.append(block)
    return found


def prose(text: str) -> Iterator[tuple[int, int]]:
    """Where paragraphs and list items stand in a text, (start, end) in characters, without the marker of an item.
    Headings, table rows, rules and fenced code are left out."""
    start, end, before, fenced, at = -1, 0, "", False, 0
    for whole in text.splitlines(keepends=True):
        line, here = whole.rstrip(), at
        at += len(whole)
        fence = bool(_FENCE.match(line))
        fenced ^= fence
        alone = "" if fenced or fence else _line_alone(line)
        item = _ITEM.match(line) if alone is None else None
        if start >= 0 and (alone is not None or item or not _continues(before, line)):
            yield start, end
            start = -1
        if alone is None and start < 0:
            mark = item or _QUOTE.match(line)
            start = here + (mark.end() if mark else len(line) - len(line.lstrip()))
        end, before = here + len(line), line
    if start >= 0:
        yield start, end


def _raw_blocks(text: str) -> Iterator[str]:
    open_lines: list[str] = []
    for line in text.split("\n"):
        line = _QUOTE.sub("", line, count=1) if line.lstrip().startswith(">") else line
        alone = _line_alone(line)
        item = _ITEM.match(line) if alone is None else None
        if open_lines and (alone is not None or item or not _continues(open_lines[-1], line)):
            yield " ".join(open_lines)
            open_lines = []
        if alone:
            yield alone
        elif item:
            open_lines = [line[item.end() :]]
        elif alone is None:
            open_lines.append(line)
    if open_lines:
        yield " ".join(open_lines)


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
    text = _LINK.sub(r"\1", text)
    text = _FOOTNOTE.sub("", text)
    text = _TAG.sub("", text)
    text = _EMPHASIS.sub("", text)
    return _ESCAPE.sub(r"\1", text)
