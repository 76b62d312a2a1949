"""Splits a long text into pieces that fit a call: between paragraphs, else lines, sentences, words, characters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

# Where a text may be split, the best places first; the split is after the match.
_CUTS = (
    re.compile(r"\n\s*\n"),
    re.compile(r"\n"),
    re.compile(r"(?<=[.!?…])[)\]\"'”’]{0,3}\s+|(?<=[。！？।॥؟۔])"),
    re.compile(r"\s+"),
    re.compile(r"(?s)."),
)


def utf8_size(text: str) -> int:
    """Bytes of a text in UTF-8: about four to a token, whatever the language."""
    return len(text.encode("utf-8", "surrogatepass"))


def pieces(text: str, size: int, measure: Callable[[str], int] = utf8_size) -> list[str]:
    """The text in order, split into pieces of at most `size`, each as long as possible; none for a blank text.

    Only white space at a split is dropped. measure: the size of a text; the size of two texts joined must not be more
    than the sum of theirs. A single character greater than `size` is a piece.
    """
    pieces_so_far: list[str] = []
    room = 0
    for part, part_size in _parts(text.strip(), size, measure, 0):
        if pieces_so_far and part_size <= room:
            pieces_so_far[-1] += part
            room -= part_size
        else:
            pieces_so_far.append(part)
            room = size - part_size
    return [stripped for piece in pieces_so_far if (stripped := piece.strip())]


def groups(texts: Sequence[str], size: int, longest: int | None = None) -> list[list[str]]:
    """Texts in order, in lists of at most `size` bytes and at most `longest` texts (None: any number); each as long as
    possible. A text greater than `size` is a list of its own."""
    lists: list[list[str]] = []
    room = 0
    for text in texts:
        text_size = utf8_size(text)
        if not lists or text_size > room or len(lists[-1]) == longest:
            lists.append([])
            room = size
        lists[-1].append(text)
        room -= text_size
    return lists


def _parts(
    text: str, size: int, measure: Callable[[str], int], level: int
) -> Iterator[tuple[str, int]]:
    """The parts of a text with their sizes, split no finer than necessary."""
    total = measure(text)
    if total <= size or level == len(_CUTS):
        yield text, total
        return
    start = 0
    for cut in (*(match.end() for match in _CUTS[level].finditer(text)), len(text)):
        if cut > start:
            yield from _parts(text[start:cut], size, measure, level + 1)
            start = cut
