"""Markdown as its reader sees it: without comments and text that is struck out, which are counted; code stays as it is."""

from __future__ import annotations

import re
from collections import Counter

from longmark.contrib.make.rag.kinds import STRUCK

_MARKS = re.compile(
    r"^[ ]{0,3}(?P<fence>`{3,}|~{3,})|(?P<code>`+)|(?P<comment><!--)"
    r"|~~(?=[^\s~])|<(?P<tag>del|s|strike)>",
    re.MULTILINE | re.IGNORECASE,
)
_BLANK = re.compile(r"\n[ \t]*\n|\Z")
_END_OF_STRUCK = r"(?<=[^\s~])~~(?!~)"


def as_seen(text: str) -> tuple[str, Counter[str]]:
    """The text, and what was left out of it -> how often."""
    pieces = []
    left_out: Counter[str] = Counter()
    at = 0
    ends = _EndsOfMarks(text)
    while (mark := _MARKS.search(text, at)) is not None:
        pieces.append(text[at : mark.start()])
        at = mark.end()
        end = ends.of(mark)
        if end is None:  # a mark that nothing ends is text
            pieces.append(mark[0])
            continue
        if reason := _reason(mark):
            left_out[reason] += 1
        else:
            pieces.append(text[mark.start() : end])
        at = end
    pieces.append(text[at:])
    return "".join(pieces), left_out


def _reason(mark: re.Match[str]) -> str:
    """Why what a mark begins is not read; empty: it is code."""
    if mark["comment"]:
        return "comments"
    if mark["fence"] or mark["code"]:
        return ""
    return "deleted passages" if (mark["tag"] or "").lower() == "del" else STRUCK


class _EndsOfMarks:
    """Seeks where marks end, each search once: what is missing behind a place is missing behind later ones, too."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._paragraph_end = -1
        self._missing: dict[str, int] = {}  # what was sought -> up to where it is not there

    def of(self, mark: re.Match[str]) -> int | None:
        at = mark.end()
        if mark["fence"]:
            return _end_of_fence(self._text, at, mark["fence"])
        if mark["comment"]:
            return self._sought("-->", at, len(self._text))
        if self._paragraph_end < at:
            blank = _BLANK.search(self._text, at)
            self._paragraph_end = blank.start() if blank else len(self._text)
        if mark["code"]:
            return self._sought(rf"(?<!`){mark['code']}(?!`)", at, self._paragraph_end)
        if mark["tag"]:
            return self._sought(f"(?i:</{mark['tag'].lower()}>)", at, self._paragraph_end)
        return self._sought(_END_OF_STRUCK, at, self._paragraph_end)

    def _sought(self, pattern: str, at: int, limit: int) -> int | None:
        if self._missing.get(pattern, -1) >= limit:
            return None
        match = re.compile(pattern).search(self._text, at, limit)
        if match is None:
            self._missing[pattern] = limit
            return None
        return match.end()


def _end_of_fence(text: str, at: int, fence: str) -> int:
    """Where a block of code ends; at the end of the text, if nothing ends it."""
    closing = re.compile(rf"^[ ]{{0,3}}{re.escape(fence)}{fence[0]}*[ \t]*$", re.MULTILINE)
    match = closing.search(text, at)
    return match.end() if match else len(text)
