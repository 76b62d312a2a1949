"""Where the sentences of a span end, for markers that each of them gets.

Metrics divide texts by `text.sentences`, which stands above the records. A place that is missed here leaves a sentence
without its citation, and one too many puts a marker within a sentence: so all that can end a sentence does, but for
letters, titles and short forms before a full stop.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_STOP = re.compile(
    r"(?P<latin>[.!?…]+)(?:[\"'”’»)\]*_]{0,3})(?=\s+[\"'“‘«(\[*_¿¡]{0,3}[^\W\da-z_])"
    r"|(?P<full>[。！？।॥؟۔]+)[”’」』）)]{0,2}(?=\s*\w)"
)
_LINE_BREAK = re.compile(r"\s*\n\s*")
_LINE_END = re.compile(r"[.!?。！？।॥؟۔…]+[\"'”’»)\]*_]{0,3}$")
_ITEM = re.compile(r"(?:[-*+•]|\d{1,3}[.)])\s")
_LAST_WORD = re.compile(r"[^\W\d_]+$")
_SHORT_FORM = re.compile(
    r"dr|mrs?|ms|mx|prof|st|mt|ft|sen|rep|gov|gen|col|lt|capt|sgt|hon|rev|vs|cf|eds|approx|ca|al|jr|sr|bzw|vgl|inc|ltd|co|corp",
    re.IGNORECASE,
)
_BEFORE_NUMBERS = re.compile(
    r"nos?|nr|figs?|eqs?|sec|ch|vol|pp|ed|abb|tab|núm|art|abs|kap", re.IGNORECASE
)
_NUMBER = re.compile(r"\s*\d")
_UNIT_BEFORE = re.compile(r"(?:\d\s?|[°/])$")  # 3 K, 1.5 °C
_LONGEST_WORD = 20  # characters before a full stop in which a short form stands


def sentence_ends(span: str) -> Iterator[tuple[int, int]]:
    """The ends of the sentences of a span, without that of the last one: (before the full stop, behind it and what
    closes it), in their order."""
    ends: dict[int, int] = {}
    for match in _STOP.finditer(span):
        if match["full"] or not _is_short(span, match):
            ends[match.start()] = match.end()
    for line_break in _LINE_BREAK.finditer(span):
        line = span[max(0, line_break.start() - _LONGEST_WORD) : line_break.start()]
        stop = _LINE_END.search(line)
        begins_block = line_break[0].count("\n") > 1 or _ITEM.match(span, line_break.end())
        if line and (stop or begins_block) and line_break.end() < len(span):
            start = line_break.start() - (len(line) - stop.start() if stop else 0)
            ends.setdefault(start, line_break.start())
    yield from sorted(ends.items())


def _is_short(span: str, stop: re.Match[str]) -> bool:
    """Whether a full stop stands behind an initial or a short form, which end no sentence."""
    if stop[0] != ".":
        return False
    word = _LAST_WORD.search(span, max(0, stop.start() - _LONGEST_WORD), stop.start())
    if word is None:
        return False
    if len(word[0]) == 1:
        return not _UNIT_BEFORE.search(span, max(0, word.start() - 2), word.start())
    before_number = _NUMBER.match(span, stop.end()) and _BEFORE_NUMBERS.fullmatch(word[0])
    return bool(before_number or _SHORT_FORM.fullmatch(word[0]))
