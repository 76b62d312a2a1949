"""What the styles of a Word document say of its paragraphs and characters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from longmark.contrib.make.rag.xml_tree import attribute, child, descendants, local_name

OFF = ("0", "false", "off", "none")
_MOST_BASES = 20  # styles that are based on each other
_OF_CHARACTERS = frozenset({"vanish", "strike", "dstrike", "vertAlign", "position", "rFonts"})


@dataclass
class _Style:
    """A style. level: of a heading, from 0; characters: property -> its value; number: the list and level of lists."""

    base: str
    level: int | None
    characters: Mapping[str, str]
    number: tuple[str, str] | None


@dataclass
class WordStyles:
    """The styles of a document. default: of paragraphs without a style of their own."""

    default: str = ""
    _styles: dict[str, _Style] = field(default_factory=dict)
    _of_document: Mapping[str, str] = field(default_factory=dict)
    _inherited: dict[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, part: Any) -> WordStyles:
        """The styles of `word/styles.xml`."""
        styles = cls()
        defaults = child(part, "docDefaults", "rPrDefault", "rPr")
        if defaults is not None:
            styles._of_document = characters_of(defaults)
        for node in descendants(part, "style"):
            style_id = attribute(node, "styleId")
            is_of_paragraphs = attribute(node, "type") == "paragraph"
            if is_of_paragraphs and attribute(node, "default") in ("1", "true", "on"):
                styles.default = style_id
            styles._styles[style_id] = _style(node)
        return styles

    def level(self, style_id: str) -> int | None:
        """The level of a heading's style, from 0; that of the title is 0."""
        return next(
            (style.level for style in self._with_bases(style_id) if style.level is not None), None
        )

    def number(self, style_id: str) -> tuple[str, str, str] | None:
        """The style that numbers paragraphs of this one, its list, and its level in it, if it says one."""
        current = style_id
        for style in self._with_bases(style_id):
            if style.number is not None:
                return (current, *style.number)
            current = style.base
        return None

    def characters(self, of_characters: str, of_paragraph: str) -> Mapping[str, str]:
        """What two styles say of characters: property -> value."""
        key = (of_characters, of_paragraph)
        if key not in self._inherited:
            merged = dict(self._of_document)
            for style_id in (of_paragraph or self.default, of_characters):
                for style in reversed(self._with_bases(style_id)):
                    merged.update(style.characters)
            self._inherited[key] = merged
        return self._inherited[key]

    def _with_bases(self, style_id: str) -> list[_Style]:
        """A style and those that it is based on, the nearest first."""
        styles: list[_Style] = []
        while len(styles) < _MOST_BASES and style_id in self._styles:
            styles.append(self._styles[style_id])
            style_id = styles[-1].base
        return styles


def characters_of(properties: Any) -> dict[str, str]:
    """The properties of characters that change what a reader reads."""
    values = {}
    for part in properties:
        name = local_name(part)
        if name in _OF_CHARACTERS:
            values[name] = attribute(part, "ascii" if name == "rFonts" else "val")
    return values


def _style(node: Any) -> _Style:
    name = child(node, "name")
    base = child(node, "basedOn")
    outline = child(node, "pPr", "outlineLvl")
    level = None
    if name is not None and attribute(name, "val").lower() == "title":
        level = 0
    elif outline is not None and attribute(outline, "val").isdigit():
        level = int(attribute(outline, "val"))
    properties = child(node, "rPr")
    return _Style(
        base="" if base is None else attribute(base, "val"),
        level=level,
        characters={} if properties is None else characters_of(properties),
        number=number_of(child(node, "pPr")),
    )


def number_of(properties: Any | None) -> tuple[str, str] | None:
    """The list that properties of a paragraph name, and the level; each may be empty."""
    numbers = None if properties is None else child(properties, "numPr")
    if numbers is None:
        return None
    values = [child(numbers, name) for name in ("numId", "ilvl")]
    listed, level = ("" if value is None else attribute(value, "val") for value in values)
    return listed, level
