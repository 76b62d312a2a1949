"""The cosine of texts by their embeddings, whatever their length.

all-MiniLM-L6-v2 reads at most 256 tokens of a text (SCORE embeds complete answers with it). A longer text is divided
into chunks, and its vector is the mean of theirs, each scaled to length 1 and weighted by its tokens; or it is
truncated there. This holds for every embedder, whatever its own limit, so that two embedders read the same text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from longmark.concurrency import aside
from longmark.errors import NoScore
from longmark.models.handles import Models
from longmark.text.pieces import pieces, utf8_size

LongTexts = Literal["mean", "cut"]
Vector = tuple[float, ...]

MOST_TOKENS = 256  # max_seq_length of all-MiniLM-L6-v2, with its two markers
_BYTES_PER_TOKEN = 3  # for embedders that count no tokens: few texts have more, in any language


@dataclass(frozen=True, slots=True)
class Embedded:
    """A text's vector, of any length, and how it was made."""

    vector: Vector
    evidence: dict[str, Any]


def cosine(first: Sequence[float], second: Sequence[float]) -> float:
    """The cosine of two vectors, in [-1, 1]; exactly 1 for a vector with itself. NoScore (`undefined`) if one of
    them is 0 or not finite."""
    product = math.fsum(a * b for a, b in zip(first, second, strict=True))
    lengths = math.sqrt(math.fsum(a * a for a in first) * math.fsum(b * b for b in second))
    if not lengths or not math.isfinite(lengths):
        raise NoScore(
            "undefined", "The embedder returned a zero or non-finite vector, which has no cosine."
        )
    return max(-1.0, min(1.0, product / lengths))


async def embed_whole(
    models: Models, texts: Sequence[str], long_texts: LongTexts = "mean"
) -> list[Embedded]:
    """Each text's embedding, all of them in one batch. long_texts: the mean of the chunks, or only the beginning.

    NoScore (`undefined`) for a blank text, which has no embedding.
    """
    if not all(text.strip() for text in texts):
        raise NoScore("undefined", "An empty text has no embedding.")
    counter = _Counter(models)
    chunks = [await aside(math.inf, partial(counter.chunks, text, long_texts)) for text in texts]
    vectors = iter(await models.embed([chunk for some in chunks for chunk in some]))
    embedded = []
    for text, some in zip(texts, chunks, strict=True):
        sizes = [counter.count(chunk) for chunk in some]
        tokens = counter.count(text)
        evidence: dict[str, Any] = {"tokens": tokens, "counted": counter.how}
        if len(some) > 1:
            evidence["mean_of_chunks"] = sizes
        elif tokens > MOST_TOKENS:
            evidence["cut_at"] = min(sizes[0], MOST_TOKENS)
        embedded.append(Embedded(_mean([next(vectors) for _ in some], sizes), evidence))
    return embedded


class _Counter:
    """Counts a text's tokens as the embedder does, or estimates them if it has no `token_count`."""

    def __init__(self, models: Models) -> None:
        token_count: Callable[[str], int] | None = getattr(
            models.backends.embedder, "token_count", None
        )
        self.count = token_count or _estimate
        self.how = (
            "by the embedder" if token_count else f"estimated, {_BYTES_PER_TOKEN} bytes a token"
        )
        self._cuts_itself = token_count is not None

    def chunks(self, text: str, long_texts: LongTexts) -> list[str]:
        """The parts of a text to embed. An embedder that counts tokens truncates by itself, exactly at its limit."""
        if self.count(text) <= MOST_TOKENS or (long_texts == "cut" and self._cuts_itself):
            return [text]
        markers = self.count("")
        text_pieces = pieces(text, MOST_TOKENS - markers, lambda part: self.count(part) - markers)
        return text_pieces if long_texts == "mean" else text_pieces[:1]


def _estimate(text: str) -> int:
    return math.ceil(utf8_size(text) / _BYTES_PER_TOKEN)


def _mean(vectors: Sequence[Vector], weights: Sequence[int]) -> Vector:
    """The weighted mean of vectors, each scaled to length 1."""
    if len(vectors) == 1:
        return vectors[0]
    scaled = [
        weight / (math.hypot(*vector) or 1.0)
        for vector, weight in zip(vectors, weights, strict=True)
    ]
    total = math.fsum(weights)
    return tuple(
        math.fsum(scale * x for scale, x in zip(scaled, column, strict=True)) / total
        for column in zip(*vectors, strict=True)
    )
