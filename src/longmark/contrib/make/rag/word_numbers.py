"""The numbers of lists and headings that Word writes by itself: `word/numbering.xml`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from longmark.contrib.make.rag.list_numbers import numeral, whole_number
from longmark.contrib.make.rag.word_styles import OFF
from longmark.contrib.make.rag.xml_tree import attribute, child, local_name

_DEEPEST = 9
_PLACE = re.compile("%([1-9])")
_FORMS = {
    "lowerLetter": "lower-alpha",
    "upperLetter": "upper-alpha",
    "lowerRoman": "lower-roman",
    "upperRoman": "upper-roman",
    "russianLower": "lower-cyrillic",
    "russianUpper": "upper-cyrillic",
    **dict.fromkeys(
        (
            "chineseCounting",
            "chineseCountingThousand",
            "taiwaneseCounting",
            "taiwaneseCountingThousand",
            "japaneseCounting",
        ),
        "han",
    ),
}
_ORDINALS = {1: "st", 2: "nd", 3: "rd"}


@dataclass
class _Level:
    """A level of a list. text: with %1 for the number of the first level; style: of paragraphs that are of this level."""

    start: int = 1
    form: str = "decimal"
    text: str = ""
    restarts: bool = True
    in_digits: bool = False
    style: str = ""


@dataclass
class _NumberedList:
    """A list that paragraphs name. definition: lists with the same one count together; starts: level -> its first number
    where this list begins."""

    definition: str
    levels: dict[int, _Level]
    starts: dict[int, int]


@dataclass
class WordNumbers:
    """Counts the paragraphs of lists."""

    _lists: dict[str, _NumberedList] = field(default_factory=dict)
    _counts: dict[str, list[int | None]] = field(default_factory=dict)  # definition -> by level
    _begun: set[tuple[str, int]] = field(
        default_factory=set
    )  # list and level, whose own start was used

    @classmethod
    def of(cls, part: Any) -> WordNumbers:
        numbers = cls()
        definitions: dict[str, dict[int, _Level]] = {}
        by_style: dict[str, str] = {}
        links: dict[str, str] = {}
        for node in part:
            if local_name(node) != "abstractNum":
                continue
            definition = attribute(node, "abstractNumId")
            definitions[definition] = _levels(node)
            for name, names in (("styleLink", by_style), ("numStyleLink", links)):
                link = child(node, name)
                if link is not None:
                    style = attribute(link, "val")
                    names.update({style: definition} if names is by_style else {definition: style})
        for node in part:
            reference = child(node, "abstractNumId")
            if local_name(node) != "num" or reference is None:
                continue
            definition = attribute(reference, "val")
            definition = by_style.get(links.get(definition, ""), definition)
            numbers._lists[attribute(node, "numId")] = _list(
                node, definition, definitions.get(definition, {})
            )
        return numbers

    def level_of_style(self, list_id: str, style_id: str) -> int:
        """The level of a list whose paragraphs have a style."""
        listed = self._lists.get(list_id)
        levels = {} if listed is None else listed.levels
        return next((level for level, of_list in levels.items() if of_list.style == style_id), 0)

    def next_label(self, list_id: str, level: int) -> str:
        """What Word writes before the next paragraph of a list; empty for a bullet or an unknown list."""
        listed = self._lists.get(list_id)
        if listed is None or level not in listed.levels:
            return ""
        counts = self._counts.setdefault(listed.definition, [None] * _DEEPEST)
        self._count(counts, listed, list_id, level)
        current = listed.levels[level]
        if current.form == "bullet":
            return ""

        def number(match: re.Match[str]) -> str:
            place = int(match[1]) - 1
            of_place = listed.levels.get(place, _Level())
            value = counts[place] if place < _DEEPEST else None
            form = "decimal" if current.in_digits else of_place.form
            return _numeral(of_place.start if value is None else value, form)

        return " ".join(_PLACE.sub(number, current.text).split())

    def _count(
        self, counts: list[int | None], listed: _NumberedList, list_id: str, level: int
    ) -> None:
        current = listed.levels[level]
        before = counts[level]
        counts[level] = current.start if before is None else before + 1
        if level in listed.starts and (list_id, level) not in self._begun:
            counts[level] = listed.starts[level]
        self._begun.add((list_id, level))
        for deeper in range(level + 1, _DEEPEST):
            if listed.levels.get(deeper, current).restarts:
                counts[deeper] = None


def _levels(node: Any) -> dict[int, _Level]:
    levels = {}
    for part in node:
        if local_name(part) == "lvl":
            number = whole_number(attribute(part, "ilvl"))
            if number is not None and 0 <= number < _DEEPEST:
                levels[number] = _level(part)
    return levels


def _level(part: Any) -> _Level:
    def value(name: str, usual: str) -> str:
        node = child(part, name)
        return usual if node is None else attribute(node, "val")

    form = value("numFmt", "decimal")
    if child(part, "numFmt") is None:  # a form of Word 2010, beside one that older ones know
        choice = child(part, "AlternateContent", "Choice", "numFmt")
        form = form if choice is None else attribute(choice, "val")
    in_digits = child(part, "isLgl")
    start = whole_number(value("start", "0"))
    return _Level(
        start=0 if start is None else start,
        form=form,
        text=value("lvlText", ""),
        restarts=value("lvlRestart", "1") != "0",
        in_digits=in_digits is not None and attribute(in_digits, "val") not in OFF,
        style=value("pStyle", ""),
    )


def _list(node: Any, definition: str, levels: dict[int, _Level]) -> _NumberedList:
    """A list with what it says otherwise than its definition."""
    own_levels = dict(levels)
    starts: dict[int, int] = {}
    for part in node:
        number = whole_number(attribute(part, "ilvl"))
        if local_name(part) != "lvlOverride" or number is None:
            continue
        own_levels |= _levels(part)
        start = child(part, "startOverride")
        value = None if start is None else whole_number(attribute(start, "val"))
        if value is not None:
            starts[number] = value
    return _NumberedList(definition, own_levels, starts)


def _numeral(value: int, form: str) -> str:
    if form == "none":
        return ""
    if form == "decimalZero":
        return f"{value:02}"
    if form == "ordinal":
        ending = "th" if value % 100 in (11, 12, 13) else _ORDINALS.get(value % 10, "th")
        return f"{value}{ending}"
    if form in ("lowerLetter", "upperLetter") and 26 < value <= 780:  # aa, bb, cc
        return numeral((value - 1) % 26 + 1, _FORMS[form]) * ((value - 1) // 26 + 1)
    return numeral(value, _FORMS.get(form, "decimal"))
