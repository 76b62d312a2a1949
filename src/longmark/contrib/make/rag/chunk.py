"""A text in overlapping passages, each a stretch of the text as it stands.

A passage holds at most `size` units and ends, if one can be found in its second half, at the end of a paragraph, else
of a sentence, else of a word. The next one begins at most `overlap` units before that end, at the beginning of a word.
Units are characters, or the tokens of a tokenizer.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from longmark.errors import ModelNotInstalled, UserError, library
from longmark.text.words import in_pairs, is_mark

UNITS = ("characters", "tokens")

# What a passage may end with, best first.
_ENDS = (
    re.compile(r"\n\s*\n"),
    re.compile(r"[.!?…]['\")\]’”]*\s+|[。！？｡।॥؟۔]['\")\]’”」』]*|\n"),
    re.compile(r"\s+"),
)
_LONGEST_END = 8  # characters that an end has before what follows it, about
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Chunking:
    """How documents are cut. size and overlap in units; size 0: not at all. tokenizer: a tokenizer.json, for tokens;
    None: that of the embedded embedder. Construction raises UserError for numbers that do not fit."""

    size: int = 1200
    overlap: int = 150
    unit: str = "characters"
    tokenizer: Path | None = None

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise UserError(f"--unit {self.unit}: the unit is {' or '.join(UNITS)}")
        if self.size < 0 or self.overlap < 0:
            raise UserError("--chunk and --overlap are whole numbers from 0")
        if self.size and self.overlap > self.size // 2:
            limit = f"passages of {self.size} {self.unit} can share at most half, {self.size // 2}"
            raise UserError(f"--overlap {self.overlap}: {limit}")
        if self.tokenizer is not None and self.unit != "tokens":
            raise UserError("--tokenizer is for passages measured in tokens: add --unit tokens")


class PassageSpan(NamedTuple):
    """text[start:end] of a document, in characters."""

    start: int
    end: int


class Ruler:
    """Measures a text in characters."""

    def __init__(self, text: str) -> None:
        self.length = len(text)

    def after(self, start: int, n: int) -> int:
        """The furthest end of a stretch from `start` with at most n units, and with one at least."""
        return min(start + n, self.length)

    def before(self, end: int, n: int) -> int:
        """The earliest start of a stretch up to `end` with at most n units."""
        return max(end - n, 0)


class TokenRuler(Ruler):
    """Measures in tokens. spans: the character range of each token, in their order (empty ones do not count)."""

    def __init__(self, text: str, spans: Sequence[tuple[int, int]]) -> None:
        super().__init__(text)
        filled_spans = [(start, end) for start, end in spans if start < end]
        self._starts = [start for start, _ in filled_spans]
        self._ends = [end for _, end in filled_spans]

    def after(self, start: int, n: int) -> int:
        first = bisect_left(self._starts, start)
        return (
            self.length
            if first + n >= len(self._starts)
            else max(self._starts[first + n], start + 1)
        )

    def before(self, end: int, n: int) -> int:
        past = bisect_right(self._ends, end)
        return end if n == 0 else self._starts[max(past - n, 0)] if self._starts else 0


class Chunker:
    """Cuts texts. Construction raises UserError if the tokenizer cannot be loaded."""

    def __init__(self, chunking: Chunking) -> None:
        self._chunking = chunking
        in_tokens = chunking.unit == "tokens" and chunking.size > 0
        self._ruler: Callable[[str], Ruler] = _tokens(chunking.tokenizer) if in_tokens else Ruler

    def passages(self, text: str) -> Iterator[PassageSpan]:
        """The passages of a text, in their order; none of a blank text. Together they hold all that is not space."""
        size = self._chunking.size
        overlap = self._chunking.overlap
        ruler = self._ruler(text)
        start = _skip_space(text, 0)
        length = len(text.rstrip())
        fresh = start  # where what no passage holds yet begins; each passage goes beyond it
        while start < length:
            furthest = length if size == 0 else min(ruler.after(start, size), length)
            if furthest <= fresh and start < fresh:
                start = fresh  # what would be shared leaves no room
                continue
            least = max(start + (furthest - start) // 2, fresh)
            end = furthest if furthest == length else _break(text, least, furthest)
            yield PassageSpan(start, start + len(text[start:end].rstrip()))
            if end >= length:
                return
            start = _next_start(text, start, end, ruler.before(end, overlap))
            fresh = _skip_space(text, end)


def _break(text: str, least: int, furthest: int) -> int:
    """Where a passage best ends, after `least` and at `furthest` at most."""
    for ends in _ENDS:
        matches = ends.finditer(text, max(least - _LONGEST_END, 0), furthest)
        if (last := max((match.end() for match in matches), default=0)) > least:
            return last
    while furthest > least + 1 and is_mark(text[furthest]):
        furthest -= 1  # a mark belongs to the letter before it
    return furthest


def _next_start(text: str, start: int, end: int, earliest: int) -> int:
    """The beginning of the next passage: the first beginning of a word from `earliest` on, at most `end`."""
    at = max(earliest, start + 1)
    while at < end and is_mark(text[at]):
        at += 1
    if (
        at < end
        and not text[at - 1].isspace()
        and not text[at].isspace()
        and not in_pairs(text[at])
    ):
        space = _SPACE.search(text, at, end)
        at = space.end() if space else end
    return _skip_space(text, min(at, end))


def _skip_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _tokens(path: Path | None) -> Callable[[str], Ruler]:
    tokenizers = library("tokenizers", "--unit tokens", "embedded")
    if path is None:
        from longmark.contrib.local import catalogue

        try:
            path = catalogue.model_path("embedder").with_name("tokenizer.json")
        except ModelNotInstalled as error:
            raise UserError(
                f"--unit tokens counts with the embedder's tokenizer: {error}; or --tokenizer FILE"
            ) from None
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain Exceptions
        raise UserError(
            f"--tokenizer {path}: cannot be read as a tokenizer.json ({str(error)[:200]})"
        ) from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: TokenRuler(text, tokenizer.encode(text, add_special_tokens=False).offsets)
