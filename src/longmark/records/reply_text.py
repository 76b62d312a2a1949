"""A reply of a model API that cites, as an answer with markers: how its text and its sources are put together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from longmark.records.cited import CitedSource

NOWHERE = "citations whose place is not in the reply"
ABSENT = "citations of a source that the reply does not list"
QUOTATION_JOINT = "\n"  # between quotations of one source
_WITHIN = re.compile(
    r"(?:[^\W\d_]{4}|\d|[)\]\"'”’*_%])[.!?](?:[\"'”’)*_]{0,3})(?=\s+[^\W\da-z_])|[。！？](?=\S)"
)
"""Ends of sentences in a span, with a word of four letters before them, so that no abbreviation is one."""
_LINE_END = re.compile(r"[.!?。！？…][\"'”’)*_|\s]*(?=\n)")


@dataclass(frozen=True, slots=True)
class CitedReply:
    """A reply as an answer. text: with a marker, ` [1]`, behind what cites; sources: what the numbers name; ignored:
    citations that could not be read, counted by their reason."""

    text: str
    sources: tuple[CitedSource, ...] = ()
    ignored: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class ReplyParts:
    """The text so far, where its markers go, and the sources by their keys, in the order of their numbers."""

    text: str = ""
    marks: list[tuple[int, int]] = field(default_factory=list)
    keys: dict[object, int] = field(default_factory=dict)
    ids: list[str | None] = field(default_factory=list)
    texts: list[dict[str, None]] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)

    def number(self, key: object, source_id: Any, quotation: Any = None) -> int:
        """The number of a source, from 1; what is quoted of it is kept once."""
        number = self.keys.setdefault(key, len(self.keys) + 1)
        if number > len(self.ids):
            self.ids.append(source_id if isinstance(source_id, str) and source_id else None)
            self.texts.append({})
        if isinstance(quotation, str) and quotation.strip():
            self.texts[number - 1][quotation.strip()] = None
        return number

    def mark(self, start: int, end: int, number: int) -> None:
        """Puts a marker behind each sentence of a span of the text."""
        span = self.text[start:end]
        # a marker at the end of a long span alone would leave the sentences before it uncited
        ends = [match.end() for match in _WITHIN.finditer(span)]
        ends += [match.end() for match in _LINE_END.finditer(span.rstrip())]
        places = {start + place for place in ends} | {end}
        self.marks += [(marker_place(self.text, place), number) for place in sorted(places)]

    def reply(self) -> CitedReply:
        numbers_at: dict[int, dict[int, None]] = {}
        for place, number in self.marks:
            numbers_at.setdefault(place, {})[number] = None
        pieces = []
        position = 0
        for place in sorted(numbers_at):
            pieces.append(self.text[position:place])
            pieces.append(" " + "".join(f"[{number}]" for number in numbers_at[place]))
            position = place
        pieces.append(self.text[position:])
        sources = (
            CitedSource(id=source_id, text=QUOTATION_JOINT.join(quotations) or None)
            for source_id, quotations in zip(self.ids, self.texts, strict=True)
        )
        return CitedReply("".join(pieces), tuple(sources), dict(self.ignored))


def marker_place(text: str, place: int) -> int:
    """The place of a marker: not inside a word, and before white space."""
    while 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum():
        if not text[place - 1].isascii():  # scripts that do not separate words
            break
        place += 1
    # behind the sentence that it belongs to, not before the next one
    while place > 0 and text[place - 1].isspace():
        place -= 1
    return place
