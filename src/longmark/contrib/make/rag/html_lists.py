"""The numbers of lists in HTML, as a browser writes them: `start`, `reversed`, `type`, `value`, and the style's type."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from longmark.contrib.make.rag.list_numbers import numeral, whole_number

_TYPES = {
    "1": "decimal",
    "a": "lower-alpha",
    "A": "upper-alpha",
    "i": "lower-roman",
    "I": "upper-roman",
}
_STYLE = re.compile(
    r"list-style(?:-type)?\s*:[^;]*?\b(none|decimal|(?:lower|upper)-[a-z]+)", re.IGNORECASE
)
_OF_STYLE = {
    "lower-latin": "lower-alpha",
    "upper-latin": "upper-alpha",
}
_OF_NOTES = frozenset(_TYPES.values())
_NUMBER = re.compile("\0([0-9]+):([a-z-]+)\0")


@dataclass
class _BegunList:
    """A list that has begun. form: of its numbers, `none` for no numbers; at: how many paragraphs were before it;
    is_reversed: its numbers go down to 1, and are known at its end."""

    form: str
    number: int
    step: int
    at: int
    is_reversed: bool = False


class HtmlLists:
    """Counts the items of lists, also in each other."""

    def __init__(self) -> None:
        self._open: list[_BegunList] = []

    def begin(self, tag: str, attributes: Mapping[str, str], at: int) -> None:
        form = "none"
        if tag == "ol":
            form = _form(attributes, "decimal")
        start = whole_number(attributes.get("start", ""))
        goes_down = "reversed" in attributes
        begun = _BegunList(form, 1 if start is None else start, -1 if goes_down else 1, at)
        if goes_down and start is None:
            begun.number = 0
            begun.step = 1
            begun.is_reversed = True
        begun.number -= begun.step * (not begun.is_reversed)
        self._open.append(begun)

    def next_label(self, attributes: Mapping[str, str]) -> str:
        """What stands before the next item; empty for a bullet."""
        if not self._open or self._open[-1].form == "none":
            return ""
        current = self._open[-1]
        form = _form(attributes, current.form)
        current.number += current.step
        value = whole_number(attributes.get("value", ""))
        if value is not None and not current.is_reversed:
            current.number = value
        if form == "none":
            return ""
        if current.is_reversed:
            return f"\0{current.number}:{form}\0. "
        return f"{numeral(current.number, form)}. "

    def end(self, paragraphs: list[str]) -> None:
        """The end of a list; numbers that go down are written now."""
        if not self._open:
            return
        ended = self._open.pop()
        if not ended.is_reversed:
            return

        def number(match: re.Match[str]) -> str:
            return numeral(ended.number - int(match[1]) + 1, match[2])

        for place in range(ended.at, len(paragraphs)):
            paragraphs[place] = _NUMBER.sub(number, paragraphs[place])


def _form(attributes: Mapping[str, str], usual: str) -> str:
    """The form of numbers that an element says, else the usual one."""
    group = attributes.get("data-mw-group", "")  # notes of MediaWiki
    if group in _OF_NOTES:
        return group
    style = _STYLE.search(attributes.get("style", ""))
    if style is not None:
        name = style[1].lower()
        return _OF_STYLE.get(name, name)
    return _TYPES.get(attributes.get("type", "").strip(), usual)
