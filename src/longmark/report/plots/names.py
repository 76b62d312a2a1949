"""How wide a text will be, and what of a name fits its place."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Sequence

from longmark.report.plots.draw import JOINTS, SIZE, one_line

_NARROW, _SLIM, _BROAD = frozenset("ijlI|!'.,:;"), frozenset('ftr()[]{}/\\- "*'), frozenset("mwMWOQGD%@…—&")


def text_width(words: str) -> float:
    """An upper estimate of the width in drawing units: the fonts of a reader are not known here, so each class of
    characters counts as wide as in DejaVu Sans, the widest of the common ones."""
    return SIZE * sum(map(_width, words))


def _width(char: str) -> float:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Cf", "Mn", "Me"):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.3 if ord(char) >= 0x1F000 else 1.05
    if char in _NARROW:
        return 0.36
    if char in _SLIM:
        return 0.43
    if char in _BROAD:
        return 1.0
    return 0.72 if char.isupper() else 0.65


def fitted(whole: str, room: float) -> str:
    """The text, or its beginning and end around an ellipsis: what tells names apart is often at their end. Of a pair of
    names, as `a − b` and `a against b`, each is shortened by itself."""
    words = one_line(whole)
    if text_width(words) <= room:
        return words
    for joint in JOINTS:
        if words.count(joint) == 1 and room > 3 * text_width(joint):
            first, second = words.split(joint)
            return _pair(first, second, joint, room)
    return _shortened(words, room)


def _pair(first: str, second: str, joint: str, room: float) -> str:
    """The longer of the two gives way first."""
    free = room - text_width(joint)
    widths = text_width(first), text_width(second)
    for_first = max(free / 2, free - widths[1])
    head = _shortened(first, for_first) if widths[0] > for_first else first
    rest = free - text_width(head)
    return head + joint + (_shortened(second, rest) if widths[1] > rest else second)


def _shortened(words: str, room: float) -> str:
    """As many characters as fit. The width rises with their number, so a search by halves finds it: a name may be as
    long as a page."""
    kept = bisect_right(range(len(words)), room, lo=1, key=lambda kept: text_width(_around(words, kept))) - 1
    return _around(words, kept)


def _around(words: str, kept: int) -> str:
    """The beginning and the end around an ellipsis, of so many characters together."""
    head = words[: (kept + 1) // 2].rstrip()
    tail = words[len(words) - kept // 2 :].lstrip()
    while tail and unicodedata.combining(tail[0]):
        tail = tail[1:]
    return f"{head}…{tail}"


def begun(whole: str, room: float) -> str:
    """A sentence, or as much of its beginning as fits."""
    words = one_line(whole)
    if text_width(words) <= room:
        return words
    kept = bisect_right(range(len(words)), room - text_width("…"), lo=1, key=lambda kept: text_width(words[:kept])) - 1
    return words[:kept].rstrip() + "…"


def fitted_names(names: Sequence[str], room: float) -> list[str]:
    """Names that fit and differ: those that would look alike when shortened carry their place in the list."""
    short = [fitted(name, room) for name in names]
    alike = {text for name, text in zip(names, short, strict=True) if short.count(text) > 1 and text != one_line(name)}
    found = []
    for place, (name, text) in enumerate(zip(names, short, strict=True), start=1):
        number = f" #{place}"
        found.append(fitted(name, room - text_width(number)) + number if text in alike else text)
    return found
