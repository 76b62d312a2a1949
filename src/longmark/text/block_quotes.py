"""Block quotes of Markdown: their lines, and the line that names who is quoted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from longmark.text.citation_lists import PLACEHOLDER

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


def without_attributions(text: str) -> str:
    """A text without the lines of block quotes that name who is quoted; their markers stay, and so belong to what is
    quoted."""
    lines = text.split("\n")
    blocks = groupby(range(len(lines)), lambda place: BLOCK_LINE.match(lines[place]) is not None)
    for places in [list(group) for is_quoted, group in blocks if is_quoted]:
        quoted_lines = [BLOCK_LINE.sub("", lines[place], count=1).strip() for place in places]
        attribution = attribution_of(quoted_lines)
        if attribution is not None:
            lines[places[attribution]] = "".join(
                match[0] for match in PLACEHOLDER.finditer(quoted_lines[attribution])
            )
    return "\n".join(lines)
