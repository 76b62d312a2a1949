"""Block quotes of Markdown: their lines, and the line that names who is quoted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from longmark.text.citation_lists import PLACEHOLDER
from longmark.text.sentences import sentence_spans

BLOCK_LINE = re.compile(r" {0,3}(?:> ?)+")
_DASHED = re.compile(r"(?:—|–|--|―|-(?= ))\s*\S")


def attribution_of(lines: Sequence[str]) -> int | None:
    """The place of the line of a block quote, its lines without >, that names who is quoted: the only one that begins with
    a dash, behind what is quoted; begun by a hyphen the last one. None without such a line: several are a list or a
    dialogue."""
    filled = [place for place, line in enumerate(lines) if line.strip()]
    dashed = [place for place in filled if _DASHED.match(lines[place])]
    if len(dashed) != 1 or dashed[0] == filled[0]:
        return None
    (place,) = dashed
    is_hyphen = lines[place].startswith("- ")
    return None if is_hyphen and place != filled[-1] else place


def with_quotations_cited(text: str) -> str:
    """A text with the markers of each block quote, which are placeholders, behind its sentences: those of the line that
    names who is quoted, which is left out, or of the sentence that introduces the quote ("The report says [1]:"), which
    keeps them. A quote that has markers itself gets those of the line behind it at its end alone."""
    lines = text.split("\n")
    blocks = groupby(range(len(lines)), lambda place: BLOCK_LINE.match(lines[place]) is not None)
    for places in [list(group) for is_quoted, group in blocks if is_quoted]:
        quoted_lines = [BLOCK_LINE.sub("", lines[place], count=1).strip() for place in places]
        attribution = attribution_of(quoted_lines)
        quotation = [place for number, place in enumerate(places) if number != attribution]
        marks = _marks(_introduction(lines, places[0]))
        if attribution is not None:
            marks_behind = _marks(quoted_lines[attribution])
            lines[places[attribution]] = marks_behind
            marks = marks_behind or marks
        if marks and not any(PLACEHOLDER.search(lines[place]) for place in quotation):
            for place in quotation:
                lines[place] = _cited(lines[place], marks)
    return "\n".join(lines)


def _marks(line: str) -> str:
    return "".join(match[0] for match in PLACEHOLDER.finditer(line))


def _introduction(lines: Sequence[str], block: int) -> str:
    """The last sentence before the line `block`, if it ends with a colon, else ""."""
    line = next((lines[place] for place in range(block - 1, -1, -1) if lines[place].strip()), "")
    if not PLACEHOLDER.sub("", line).rstrip(" *_").endswith((":", "：")):
        return ""
    spans = sentence_spans(line)
    return line[spans[-1][0] :] if spans else ""


def _cited(line: str, marks: str) -> str:
    """A line with these marks behind each sentence."""
    pieces: list[str] = []
    position = 0
    for _, end in sentence_spans(line):
        pieces += [line[position:end], marks]
        position = end
    return "".join([*pieces, line[position:]])
