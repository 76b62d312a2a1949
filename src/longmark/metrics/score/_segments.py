"""The points of an answer, its intro and its closing part, split without losing a character (segment attribution).

Every character of the text is in exactly one segment: `join(split(text)) == text`. A segment has a marker (`2. `, `- `;
a heading belongs to its section), a body, and a gap: the white space after it.

Points. The items of the outermost list with two or more items; at the same margin, a numbered list before a bulleted
one. Else a single item after an intro of one paragraph. Else the paragraphs.

Items begin a line, with one of
    1. 1) (1)              digits of any script, then a space; before Chinese, Japanese and Korean writing also without
    １． １、 （１）           with full-width punctuation, unless a digit follows it (3、4 is no item)
    一、 （二）  ① ⑴ ❶       Chinese numbers up to ninety-nine; encircled ones
    a) (a) A.              letters that run a, b, c in order
    - * + – — ·  • ◦ ● ■ ・   bullets; those of the first group need a space
A number of four or more digits is an item only if it continues the item before it (999, 1000): years are not items.
Roman numerals and numbers in words are not recognised.

Lists in a paragraph. A single paragraph that counts 1, 2, 3 in order, at least to three, is a list too. Every `1. ` and
`①` must follow punctuation; of `1) ` and `(1) ` only the first must. The paragraph stays one point if it has any other
number in such a form, if its last item ends without punctuation, or if the numbers have no space (1.…2.…).

A single item counts if it is a bullet other than `–` and `—`, or numbered 1; if one paragraph or heading comes before
it; and if no paragraph at the margin follows it (a statement of confidence may). Otherwise it is a paragraph.

Intro. The text before the first item of a list. Among paragraphs: a first one that ends in a colon, and a title, which
is a first heading directly above the next one and of a higher level than all others.

Closing part. A last part that begins with a statement of confidence at the start of a line ("Confidence score: 85 %",
also as the last item of the list), with everything after it. Also paragraphs after the last item of a list, unless the
other items have such paragraphs too. A statement of confidence is recognised in English, and in eleven other languages
by the words of `CONFIDENCE` before a colon or a number; in any other language it belongs to the last point, or is one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["intro", "point", "closing"]

# The words for a statement of confidence, by language
CONFIDENCE: Mapping[str, tuple[str, ...]] = {
    "Chinese": (
        "置信度", "置信度评分", "置信度分数", "置信度得分", "置信度水平", "置信度評分", "置信度分數",
        "信心度", "信心评分", "信心分数", "信心指数", "信心水平", "信心評分", "信心分數", "信心指數",
        "可信度", "可信度评分", "可信度評分",
    ),
    "Dutch": ("betrouwbaarheidsscore", "betrouwbaarheidsniveau", "vertrouwensscore", "vertrouwensniveau"),
    "French": ("confiance", "score de confiance", "niveau de confiance", "degré de confiance", "indice de confiance"),
    "German": (
        "Konfidenz", "Konfidenzwert", "Konfidenzniveau", "Konfidenzgrad", "Konfidenzscore", "Konfidenz-Score",
        "Vertrauenswert", "Vertrauensniveau", "Vertrauensgrad", "Vertrauensscore",
    ),
    "Italian": ("punteggio di confidenza", "livello di confidenza", "livello di fiducia", "grado di fiducia"),
    "Japanese": ("信頼度", "信頼度スコア", "信頼スコア", "信頼性スコア", "確信度", "確信度スコア", "自信度"),
    "Korean": ("신뢰도", "신뢰도 점수", "신뢰도 수준", "신뢰 점수", "확신도"),
    "Polish": ("poziom pewności", "poziom ufności", "ocena pewności"),
    "Portuguese": ("confiança", "pontuação de confiança", "nível de confiança", "grau de confiança"),
    "Russian": ("уверенность", "уровень уверенности", "степень уверенности", "оценка уверенности"),
    "Spanish": ("confianza", "puntuación de confianza", "nivel de confianza", "grado de confianza"),
}  # fmt: skip

_SPACE = r"[ \t\u3000]"
_UNSPACED = r"[\u3001-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff01-\uff0f\uff1a-\uff60]"  # writing, not digits
_ENCIRCLED = "①-⑳㉑-㉟㊱-㊿⑴-⒇⒈-⒛❶-❿➀-➓"
_CHINESE = "一二三四五六七八九十"
_OPENS = rf"{_SPACE}*(?:#{{1,6}}[ \t]+)?(?P<bold>\*\*|__)?"
_ENDS = rf"(?:(?:\*\*|__)?(?:{_SPACE}+|(?=\r?\n|\*\*))"  # of a marker; open for more
_ENDS_BARE = rf"(?(bold)(?:\*\*|__)?){_SPACE}*"


@dataclass(frozen=True, slots=True)
class _List:
    """How the items of a list begin. in_order: they must run from a."""

    marker: re.Pattern[str]
    numbered: bool = True
    in_order: bool = False


_DIGITS = _List(
    re.compile(
        rf"{_OPENS}[(（]?(?P<number>\d{{1,6}})(?:(?:[.)]|\\\.){_ENDS}|(?(bold)(?:\*\*|__)?)(?={_UNSPACED}))"
        rf"|[．）、](?!\d){_ENDS_BARE})"
    )
)
_LISTS = (  # the first one first, at the same margin
    _DIGITS,
    _List(re.compile(rf"{_OPENS}[(（]?[{_CHINESE}]{{1,3}}[．）、)]{_ENDS_BARE}")),
    _List(re.compile(rf"{_OPENS}[{_ENCIRCLED}][.．、)）]?{_ENDS_BARE}")),
    _List(re.compile(rf"{_OPENS}\(?(?P<letter>[A-Za-z])[.)]{_ENDS})"), in_order=True),
    _List(
        re.compile(rf"{_SPACE}*(?:[-*+·–—]{_SPACE}+|([•◦▪‣●○■□◆◇・])(?!\1){_SPACE}*)"),
        numbered=False,
    ),
)
_BULLET = _LISTS[-1].marker
_COUNT = re.compile(
    rf"\d+|[{_ENCIRCLED}]|[{_CHINESE}]+|[A-Za-z]"
)  # the number in the marker of an item
_INLINE = re.compile(
    r"(?<!\S)(?P<open>\()?(?P<number>\d{1,3})(?P<end>[.)])(?=\s+\S)|(?P<encircled>[①-⑳])"
)
_IN_PARAGRAPH = _List(re.compile(rf"\(?\d{{1,3}}[.)]{_SPACE}*|[①-⑳]{_SPACE}*"))
_STOPS = tuple(
    '.!?:;,。！？：；，、…)）"”»」』*_'
)  # after them a number may begin an item of a paragraph
_LEAST_IN_PARAGRAPH = 3  # items: fewer may be chance

_WORDS = "|".join(
    re.escape(words).replace(r"\ ", r"\s+")
    for words in sorted(
        (words for level_words in CONFIDENCE.values() for words in level_words),
        key=len,
        reverse=True,
    )
)
_CONFIDENCE = re.compile(
    rf"[\s#>*_\-•・【]*(?:[(（]?(?:\d{{1,6}}[.)]\s+|\d{{1,6}}[.)．）、]\s*(?=[^\s\d])|[{_ENCIRCLED}]\s*))?[*_【]*(?:"
    r"(?:my\s+|overall\s+|final\s+|estimated\s+)*confidence"
    r"(?:\s+(?:score|level|rating|estimate|in\s+this\s+(?:answer|response)))*[*_]*\s*"
    r"(?:\([^()\n]{1,40}\)\s*)?[*_]*\s*(?:[:：=–—-]|is\b|of\b|\d)"
    rf"|(?:{_WORDS})[*_】]*\s*(?:[(（][^()（）\n]{{1,40}}[)）]\s*)?[*_】]*\s*(?:[:：=]|(?:は|为|為|是|는)?\s*\d))",
    re.IGNORECASE,
)
_IN_SIGHT = 200  # characters of a line that can hold the beginning of a statement of confidence
_HEADING = re.compile(
    r"\s{0,3}(?P<level>#{1,6})\s+\S.*|\s*(?:\d{1,3}[.)]\s+)?(?:\*\*|__)[^*_\n]+(?:\*\*|__):?\s*"
)
_FENCE = re.compile(r"\s*(?:```|~~~)")


@dataclass(frozen=True, slots=True)
class Segment:
    """marker + body + gap is the segment's text in the answer. numbered: the marker is a number."""

    kind: Kind
    marker: str
    body: str
    gap: str
    numbered: bool = False

    @property
    def text(self) -> str:
        """Marker and body."""
        return (self.marker + self.body).strip()


def split(text: str) -> tuple[Segment, ...]:
    """The segments of a text in their order: at most one intro, the points, at most one closing part.

    A text without a word is one point; an empty text has no segment.
    """
    if not text:
        return ()
    starts, items = _starts(text)
    end = _closing(text, starts, items is not None)
    starts = [start for start in starts if start < end]
    if items is None:
        if single := _single(text, end):
            starts = [single[0]]
            items = single[1]
        else:
            starts[0] = max(starts[0], _below_titles(text[:end]))
        if len(starts) > 1 and text[starts[0] : starts[1]].rstrip().endswith((":", "：")):
            starts = starts[1:]  # a first paragraph that leads to the others is no point
        inline = _in_paragraph(text, starts[0], end) if len(starts) == 1 else []
        starts, items = (inline, _IN_PARAGRAPH) if inline else (starts, items)
    segments: list[Segment] = []
    if text[: starts[0]].strip():
        segments.append(_segment("intro", text[: starts[0]], None))
    else:
        starts[0] = 0
    for start, stop in zip(starts, [*starts[1:], end], strict=True):
        segments.append(_segment("point", text[start:stop], items))
    if end < len(text):
        segments.append(_segment("closing", text[end:], None))
    return tuple(segments)


def join(segments: Iterable[Segment]) -> str:
    return "".join(segment.marker + segment.body + segment.gap for segment in segments)


def points(segments: Iterable[Segment]) -> list[Segment]:
    return [segment for segment in segments if segment.kind == "point"]


def content(segments: Iterable[Segment]) -> str:
    """Intro and points, without the closing part and surrounding white space."""
    return join(segment for segment in segments if segment.kind != "closing").strip()


def without(segments: Sequence[Segment], point: int) -> str:
    """`content` without the point of this number (from 0). The other points keep their markers."""
    left = points(segments)[point]
    return content(segment for segment in segments if segment is not left)


def reorder(segments: Sequence[Segment], order: Sequence[int]) -> str:
    """The text with its points in another order (their numbers, from 0). Intro and closing part stay. The numbers of a
    list and the white space between points keep their places, so a list still counts from 1."""
    old = points(segments)
    if sorted(order) != list(range(len(old))):
        raise ValueError(
            f"an order of {len(old)} points has each number from 0 to {len(old) - 1} once: {list(order)}"
        )
    new = iter(old[i] for i in order)
    return join(
        _in_place_of(segment, next(new)) if segment.kind == "point" else segment
        for segment in segments
    )


def _in_place_of(place: Segment, moved: Segment) -> Segment:
    """The marker keeps its form, which the body may need (`1.` without a space), and gets the number of the place."""
    number = _COUNT.search(place.marker) if place.numbered and moved.numbered else None
    marker = _COUNT.sub(lambda _: number[0], moved.marker, count=1) if number else moved.marker
    return replace(
        moved, marker=place.marker[: _lead(place.marker)] + marker[_lead(marker) :], gap=place.gap
    )


def _lead(text: str) -> int:
    """How many line breaks a text begins with."""
    return len(text) - len(text.lstrip("\r\n"))


def _segment(kind: Kind, text: str, items: _List | None) -> Segment:
    match = items.marker.match(text, _lead(text)) if items else None
    marker = text[: match.end()] if match else ""
    after_marker = text[len(marker) :]
    body = after_marker.rstrip()
    return Segment(
        kind, marker, body, after_marker[len(body) :], bool(items and items.numbered and match)
    )


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Each line with its position, without the lines inside a code fence."""
    fenced = False
    position = 0
    for line in text.splitlines(keepends=True):
        edge = _FENCE.match(line) is not None
        if not fenced and not edge:
            yield position, line
        fenced ^= edge
        position += len(line)


def _starts(text: str) -> tuple[list[int], _List | None]:
    """Where the points begin, and their kind of marker (None: they are paragraphs). Never empty."""
    lists: list[tuple[int, list[int], _List]] = []
    lines = [(start, line, _indent(line)) for start, line in _lines(text) if line.strip()]
    for items in _LISTS:
        begun = _items(lines, items)
        least = min((indent for _, indent, _ in begun), default=0)
        top = [(start, letter) for start, indent, letter in begun if indent <= least + 1]
        letters = "".join(letter for _, letter in top).casefold()
        if len(top) > 1 and (
            not items.in_order or "abcdefghijklmnopqrstuvwxyz".startswith(letters)
        ):
            lists.append((least, [start for start, _ in top], items))
    margin = min((least for least, _, _ in lists), default=0)
    for least, starts, items in lists:
        if least <= margin + 1:
            return starts, items
    return _paragraphs(text), None


def _items(lines: Iterable[tuple[int, str, int]], items: _List) -> list[tuple[int, int, str]]:
    """The lines that begin an item: position, indent, and letter."""
    starts: list[tuple[int, int, str]] = []
    last: dict[int, int] = {}  # indent -> the number of the last item there
    for start, line, indent in lines:
        marker = items.marker.match(line)
        if marker is None or (not items.numbered and _is_drawn(line)):
            continue
        if items is _DIGITS:
            number = int(marker["number"])
            if len(marker["number"]) > 3 and last.get(indent) != number - 1:
                continue  # a year
            last[indent] = number
        starts.append((start, indent, marker["letter"] if items.in_order else ""))
    return starts


def _single(text: str, end: int) -> tuple[int, _List] | None:
    """Where the only item of a list begins, and its kind of marker; None without such a list."""
    for start, line in _lines(text[:end]):
        marked = ((items, match[0]) for items in _LISTS if (match := items.marker.match(line)))
        items, marker = next(marked, (None, ""))
        if items and not _is_drawn(line) and _is_first(items, marker):
            paragraphs = _paragraphs(text[:end])
            before = sum(begun < start for begun in paragraphs)
            after = any(begun > start and not text[begun].isspace() for begun in paragraphs)
            return (start, items) if before == 1 and not after else None
    return None


def _is_first(items: _List, marker: str) -> bool:
    """Whether a marker can be that of the only item: a bullet, or the number 1."""
    if not items.numbered:
        return marker.strip() not in ("–", "—")  # prose has those too
    numbers = _COUNT.findall(marker)
    return len(numbers[0]) == 1 and unicodedata.numeric(numbers[0], 0) == 1


def _below_titles(text: str) -> int:
    """Where the first section begins, below titles: headings directly above the next one and of a higher level than all
    that follow; 0 without titles."""
    lines = [(start, line.rstrip("\r\n")) for start, line in _lines(text) if not _is_drawn(line)]
    levels = [_level(line) for _, line in lines]
    titles = 0
    while any(levels[titles + 1 : titles + 2]) and 0 < levels[titles] < min(
        filter(None, levels[titles + 1 :])
    ):
        titles += 1
    return lines[titles][0] if titles else 0


def _level(line: str) -> int:
    """1 to 6 for a heading, 7 for a bold line, 0 for any other."""
    heading = _HEADING.fullmatch(line)
    return len(heading["level"] or "#######") if heading else 0


def _in_paragraph(text: str, start: int, end: int) -> list[int]:
    """Where the items of a list in a paragraph begin; empty if it is no list, or would not be one in another order."""
    marks = list(_INLINE.finditer(text, start, end))
    numbers = ["①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳".find(mark[0]) + 1 or int(mark["number"]) for mark in marks]
    if len(marks) < _LEAST_IN_PARAGRAPH or numbers != list(range(1, len(marks) + 1)):
        return []
    if len({(mark["open"], mark["end"]) for mark in marks}) > 1 or any(
        map(_FENCE.match, text.splitlines())
    ):
        return []
    before = [text[start : mark.start()].rstrip() for mark in marks]
    if before[0] and not before[0].endswith(_STOPS):
        return []
    if marks[0]["end"] != ")" and not all(
        before_text.endswith(_STOPS) for before_text in [*before[1:], text[:end].rstrip()]
    ):
        return []
    return [mark.start() for mark in marks]


def _indent(line: str) -> int:
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())


def _is_drawn(line: str) -> bool:
    """A line such as `* * *` that only separates."""
    return not any(char.isalnum() for char in line)


def _paragraphs(text: str, start: int = 0) -> list[int]:
    """Where paragraphs begin from `start` on: after a blank line. A heading begins one, together with its section; so
    does a line such as `* * *`, with the text after it."""
    positions: list[int] = []
    blank = True
    alone = False  # the paragraph so far is a heading, or has no word
    position = start
    for line in text[start:].splitlines(keepends=True):
        if not line.strip():
            blank = True
        else:
            if (blank or _HEADING.fullmatch(line.rstrip("\r\n"))) and not alone:
                positions.append(position)
                alone = True
            alone = alone and (
                _is_drawn(line) or _HEADING.fullmatch(line.rstrip("\r\n")) is not None
            )
            blank = False
        position += len(line)
    return positions or [start]


def _closing(text: str, starts: list[int], listed: bool) -> int:
    """Where the closing part begins; the length of the text without one. Never before the end of the first point."""
    first = starts[0] if listed else len(text) - len(text.lstrip())
    confident = [
        start
        for start, line in _lines(text)
        if start > first and _CONFIDENCE.match(line[:_IN_SIGHT])
    ]
    if confident:
        end = confident[-1]
        heading = [start for start in _paragraphs(text) if first < start <= end]
        if heading and _HEADING.fullmatch(text[heading[-1] : end].strip()):
            end = heading[-1]
        return end
    if not listed:
        return len(text)
    loose = [
        _loose(text, start, stop)
        for start, stop in zip(starts, [*starts[1:], len(text)], strict=True)
    ]
    usual = max(len(paragraphs) for paragraphs in loose[:-1])
    return loose[-1][usual] if len(loose[-1]) > usual else len(text)


def _loose(text: str, start: int, stop: int) -> list[int]:
    """Where the paragraphs of a list item begin that are at the margin, without its first one."""
    return [
        position
        for position in _paragraphs(text[:stop], start)[1:]
        if not text[position].isspace() and not _BULLET.match(text[position:stop].split("\n", 1)[0])
    ]
