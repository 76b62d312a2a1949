"""What the checkers are measured against, and chosen sentences by: shared words, and MiniLM's closest sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from longmark.contrib.local.minilm import MiniLM
from longmark.text.overlap import FUNCTION_WORDS, words

_VECTORS: dict[str, NDArray[np.float32]] = {}


def shared_words(claim: str, sentence: str) -> int:
    """How many of the claim's distinct content words a sentence has."""
    return len((words([claim]) - FUNCTION_WORDS) & words([sentence]))


def cosines(claim: str, evidence: Sequence[str]) -> NDArray[np.float32]:
    """The cosine of the claim and each sentence, in [-1, 1], by MiniLM."""
    embed([claim, *evidence])
    found: NDArray[np.float32] = np.stack([_VECTORS[text] for text in evidence]) @ _VECTORS[claim]
    return found


def closest(claim: str, evidence: Sequence[str], count: int) -> list[str]:
    """The sentences closest to the claim, the closest first."""
    order = np.argsort(-cosines(claim, evidence), kind="stable")
    return [evidence[index] for index in order[:count]]


def embed(texts: Iterable[str]) -> None:
    """Embeds the texts that are not yet known."""
    new = list(dict.fromkeys(text for text in texts if text not in _VECTORS))
    if new:
        _VECTORS.update(
            zip(new, np.array(_model()._embed(new).vectors, dtype=np.float32), strict=True)
        )


@cache
def _model() -> MiniLM:
    return MiniLM()
