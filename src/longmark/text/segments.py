"""The points of an answer, its intro and its closing part, cut so that nothing is lost.

Every character of the text is in exactly one segment: `join(split(text)) == text`. The points are the items of a
numbered list where the answer has two or more, else the items of a bulleted list, else its paragraphs. A segment has a
marker (`2. `, `- `; a heading stays with what it heads), a body, and a gap: the white space up to the next segment.

Intro: what stands before the first item of a list; among paragraphs, a first one that ends in a colon. Closing part: a
last part that begins with a statement of confidence ("Confidence score: 85 %", also as the last item of the list), and
what follows it; also paragraphs after the last item of a list, unless the other items too have such paragraphs. The
statement of confidence is known in English only; in other languages it is a point.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["intro", "point", "closing"]

_NUMBER = re.compile(r"[ \t]*(?:#{1,6}[ \t]+)?(?:\*\*|__)?\(?\d{1,3}(?:[.)]|\\\.)(?:\*\*|__)?(?:[ \t]+|(?=\r?\n|\*\*))")
_BULLET = re.compile(r"[ \t]*[-*+•◦▪‣●○·–—][ \t]+")
_CONFIDENCE = re.compile(
    r"[\s#>*_\-•]*(?:\(?\d{1,3}[.)]\s+)?[*_]*(?:my\s+|overall\s+|final\s+|estimated\s+)*confidence"
    r"(?:\s+(?:score|level|rating|estimate|in\s+this\s+(?:answer|response)))*[*_]*\s*"
    r"(?:\([^()\n]{1,40}\)\s*)?[*_]*\s*(?:[:=–—-]|is\b|of\b|\d)",
    re.IGNORECASE,
)
_IN_SIGHT = 200  # characters of a line that can hold the beginning of a statement of confidence
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+\S.*|\s*(?:\*\*|__)[^*_\n]+(?:\*\*|__):?\s*")
_FENCE = re.compile(r"\s*(?:```|~~~)")


@dataclass(frozen=True, slots=True)
class Segment:
    """marker + body + gap is the segment as it stands in the text. numbered: the marker is a number."""

    kind: Kind
    marker: str
    body: str
    gap: str
    numbered: bool = False

    @property
    def text(self) -> str:
        """What a reader sees of it: marker and body."""
        return (self.marker + self.body).strip()


def split(text: str) -> tuple[Segment, ...]:
    """The segments of a text in their order: at most one intro, the points, at most one closing part.

    A text without a word is one point, or nothing where it is empty.
    """
    if not text:
        return ()
    starts, numbered = _starts(text)
    end = _closing(text, starts, numbered is not None)
    starts = [start for start in starts if start < end]
    if numbered is None and len(starts) > 1 and text[starts[0] : starts[1]].rstrip().endswith((":", "：")):
        starts = starts[1:]  # a first paragraph that leads to the others is no point
    found: list[Segment] = []
    if text[: starts[0]].strip():
        found.append(_segment("intro", text[: starts[0]], None))
    else:
        starts[0] = 0
    for start, stop in zip(starts, [*starts[1:], end], strict=True):
        found.append(_segment("point", text[start:stop], numbered))
    if end < len(text):
        found.append(_segment("closing", text[end:], None))
    return tuple(found)


def join(segments: Iterable[Segment]) -> str:
    """The text of segments."""
    return "".join(segment.marker + segment.body + segment.gap for segment in segments)


def points(segments: Iterable[Segment]) -> list[Segment]:
    return [segment for segment in segments if segment.kind == "point"]


def content(segments: Iterable[Segment]) -> str:
    """Intro and points, without the closing part and the white space around."""
    return join(segment for segment in segments if segment.kind != "closing").strip()


def without(segments: Sequence[Segment], point: int) -> str:
    """`content` without the point of this number (from 0). The other points keep their markers."""
    left = points(segments)[point]
    return content(segment for segment in segments if segment is not left)


def reorder(segments: Sequence[Segment], order: Sequence[int]) -> str:
    """The text with its points in another order (numbers of points, from 0). Intro and closing part stay; numbers of a
    list and the white space between points belong to the place, not to the point, so a list still counts from 1."""
    old = points(segments)
    if sorted(order) != list(range(len(old))):
        raise ValueError(f"an order of {len(old)} points has each number from 0 to {len(old) - 1} once: {list(order)}")
    new = iter(old[i] for i in order)
    return join(_in_place_of(segment, next(new)) if segment.kind == "point" else segment for segment in segments)


def _in_place_of(place: Segment, moved: Segment) -> Segment:
    marker = place.marker if place.numbered and moved.numbered else moved.marker
    return replace(moved, marker=marker, gap=place.gap)


def _segment(kind: Kind, text: str, numbered: bool | None) -> Segment:
    pattern = None if numbered is None else _NUMBER if numbered else _BULLET
    lead = len(text) - len(text.lstrip("\r\n"))
    found = pattern.match(text, lead) if pattern else None
    marker = text[: found.end()] if found else ""
    rest = text[len(marker) :]
    body = rest.rstrip()
    return Segment(kind, marker, body, rest[len(body) :], bool(numbered and found))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Each line with where it begins; lines inside a code fence are left out."""
    fenced = False
    position = 0
    for line in text.splitlines(keepends=True):
        edge = _FENCE.match(line) is not None
        if not fenced and not edge:
            yield position, line
        fenced ^= edge
        position += len(line)


def _starts(text: str) -> tuple[list[int], bool | None]:
    """Where the points begin, and whether they are numbered (False: bulleted, None: paragraphs). Never empty."""
    for pattern, numbered in ((_NUMBER, True), (_BULLET, False)):
        items = [
            (start, _indent(line))
            for start, line in _lines(text)
            if pattern.match(line) and (numbered or not _is_drawn(line)) and line.strip()
        ]
        if items:
            least = min(indent for _, indent in items)
            top = [start for start, indent in items if indent <= least + 1]
            if len(top) > 1:
                return top, numbered
    return _paragraphs(text), None


def _indent(line: str) -> int:
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())


def _is_drawn(line: str) -> bool:
    """A line such as `* * *` that only separates."""
    return not any(char.isalnum() for char in line)


def _paragraphs(text: str, start: int = 0) -> list[int]:
    """Where paragraphs begin from `start` on: after a blank line. A heading begins one, and what it heads belongs to
    it; so does what follows a line that only draws."""
    found: list[int] = []
    blank, alone = True, False  # alone: the paragraph so far is a heading, or has no word
    position = start
    for line in text[start:].splitlines(keepends=True):
        if not line.strip():
            blank = True
        else:
            if (blank or _HEADING.fullmatch(line.rstrip("\r\n"))) and not alone:
                found.append(position)
                alone = True
            alone = alone and (_is_drawn(line) or _HEADING.fullmatch(line.rstrip("\r\n")) is not None)
            blank = False
        position += len(line)
    return found or [start]


def _closing(text: str, starts: list[int], listed: bool) -> int:
    """Where the closing part begins; the length of the text where there is none. Never before the first point ends."""
    first = starts[0] if listed else _first_word(text)
    confident = [start for start, line in _lines(text) if start > first and _CONFIDENCE.match(line[:_IN_SIGHT])]
    if confident:
        end = confident[-1]
        heading = [start for start in _paragraphs(text) if first < start <= end]
        if heading and _HEADING.fullmatch(text[heading[-1] : end].strip()):
            end = heading[-1]
        return end
    if not listed:
        return len(text)
    loose = [_loose(text, start, stop) for start, stop in zip(starts, [*starts[1:], len(text)], strict=True)]
    usual = max(len(paragraphs) for paragraphs in loose[:-1])
    return loose[-1][usual] if len(loose[-1]) > usual else len(text)


def _loose(text: str, start: int, stop: int) -> list[int]:
    """Where the paragraphs of a list item begin that stand at the margin, its first one left out."""
    found = []
    for position in _paragraphs(text[:stop], start)[1:]:
        line = text[position:stop].split("\n", 1)[0]
        if not line[:1].isspace() and not _BULLET.match(line):
            found.append(position)
    return found


def _first_word(text: str) -> int:
    return len(text) - len(text.lstrip())
