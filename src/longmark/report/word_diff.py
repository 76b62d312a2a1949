"""Which words of two answers differ, for pages that show them side by side.

Words are runs of characters without white space, compared as they are (`difflib`, Ratcliff and Obershelp 1988). A word
alone between two that differ is marked with them, so that a page does not flicker between marked and not. Nothing is
marked, and the reason says so, where the answers have too little in common (marks on all words say nothing), and where
they are so long that the comparison would take long: its cost grows with the pairs of equal words, which are counted
first, so that two answers of 60,000 words cost no more than the count.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from longmark.report.format import counted, share

_MOST_PAIRS = 300_000
"""Pairs of equal words up to which answers are compared, in about a second: some 5,000 words of English each."""
_LEAST_SHARED = 0.3
"""Of all words of both answers, the share in common from which on the others are marked."""
_ALONE = 1
"""Words in common between two that differ, up to which they are marked, too."""
_WORD = re.compile(r"\S+\s*")


@dataclass(frozen=True, slots=True)
class DiffPiece:
    """A part of an answer; differs: the other answer does not have these words here."""

    text: str
    differs: bool


@dataclass(frozen=True, slots=True)
class WordDiff:
    """The pieces of each answer, whose texts are the whole answer; reason: why no word is marked, "" where some are or
    the answers are equal."""

    old: tuple[DiffPiece, ...]
    new: tuple[DiffPiece, ...]
    reason: str = ""


def word_diff(old: str, new: str) -> WordDiff:
    texts = [_words(old), _words(new)]
    old_words, new_words = ([word.strip() for word in words] for words in texts)
    if old_words == new_words:
        return _unmarked(old, new, "both answers have the same words" if old_words else "")
    if reason := _too_long(old_words, new_words):
        return _unmarked(old, new, reason)
    matcher = difflib.SequenceMatcher(None, old_words, new_words, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    common = sum(block.size for block in blocks)
    words = len(old_words) + len(new_words)
    if 2 * common < _LEAST_SHARED * words:
        return _unmarked(
            old,
            new,
            f"{share(2 * common, words)} of the words are in common, too few to mark the others",
        )
    unmarked = [block for place, block in enumerate(blocks) if not _is_alone(block, place, blocks)]
    same_places = [
        {place for block in unmarked for place in range(block.a, block.a + block.size)},
        {place for block in unmarked for place in range(block.b, block.b + block.size)},
    ]
    return WordDiff(_pieces(texts[0], same_places[0]), _pieces(texts[1], same_places[1]))


def _words(text: str) -> list[str]:
    """The words, each with the white space behind it; white space at the start belongs to the first."""
    words = _WORD.findall(text)
    start = text[: len(text) - len(text.lstrip())]
    return [start + words[0], *words[1:]] if words else []


def _too_long(old_words: Sequence[str], new_words: Sequence[str]) -> str:
    new_counts = Counter(new_words)
    pairs = sum(count * new_counts[word] for word, count in Counter(old_words).items())
    if pairs <= _MOST_PAIRS:
        return ""
    return f"{counted(len(old_words), 'word')} and {len(new_words):,} are too many to compare"


def _is_alone(block: difflib.Match, place: int, blocks: Sequence[difflib.Match]) -> bool:
    """Whether what is in common stands between words that differ, in the middle of both answers."""
    return block.size <= _ALONE and 0 < place < len(blocks) - 1


def _pieces(words: Sequence[str], same_places: set[int]) -> tuple[DiffPiece, ...]:
    runs = groupby(range(len(words)), key=lambda place: place not in same_places)
    return tuple(
        DiffPiece("".join(words[place] for place in places), differs) for differs, places in runs
    )


def _unmarked(old: str, new: str, reason: str) -> WordDiff:
    return WordDiff((DiffPiece(old, differs=False),), (DiffPiece(new, differs=False),), reason)
