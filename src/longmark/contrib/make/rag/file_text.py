"""What was read of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Headings = tuple[tuple[int, str], ...]  # where each begins in a text, and its words
BETWEEN = "\n\n"  # between the paragraphs of a text


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of a file. headings: where each begins, and its words; pages: where each page or slide begins; left_out:
    what was not read -> how often it occurs."""

    text: str
    headings: Headings = ()
    pages: tuple[int, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
