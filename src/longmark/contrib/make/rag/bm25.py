"""BM25 over passages, by bm25s: the scores of every word in every passage are computed when the index is built.

Lucene's form of the formula, by default with k1 = 1.5 and b = 0.75 (those of bm25s; OpenSearch, which CCRS uses, has
k1 = 1.2). Scores are sums over the question's words, at least 0, without an upper end; a passage that shares no word
with the question is never found. The words are those of `text.words`: no stemming and no list of stop words, so that
every language is treated alike; scripts that put no spaces between words, and Korean, give pairs of characters.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark.errors import UserError, library
from longmark.text.words import words as tokenize

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

METHOD = "lucene"


@dataclass(frozen=True, slots=True)
class Weights:
    """The parameters of BM25. k1: how much a word that occurs again adds, from 0; b: how much a passage's length
    counts, from 0 to 1."""

    k1: float = 1.5
    b: float = 0.75

    def __post_init__(self) -> None:
        if not (math.isfinite(self.k1) and self.k1 >= 0):
            raise UserError(f"--k1 {self.k1:g}: expected a number from 0")
        if not 0 <= self.b <= 1:
            raise UserError(f"--b {self.b:g}: expected a number from 0 to 1")


class Bm25:
    """An index that was built or loaded; `search` asks it."""

    def __init__(self, index: Any) -> None:
        self._index = index

    @classmethod
    def build(cls, texts: Iterable[str], weights: Weights | None = None) -> Bm25:
        """The index of texts, read once; in memory: four bytes a word of them, and the index itself."""
        bm25s = library("bm25s", "BM25", "rag")
        vocabulary: dict[str, int] = {}
        numbers: list[array[int]] = []
        for text in texts:
            numbers.append(
                array(
                    "i", [vocabulary.setdefault(word, len(vocabulary)) for word in tokenize(text)]
                )
            )
        weights = weights or Weights()
        index = bm25s.BM25(k1=weights.k1, b=weights.b, method=METHOD, backend="numpy")
        if not vocabulary:
            vocabulary[""] = (
                0  # texts of signs only: an index that finds nothing, of one word that nobody can ask
            )
            numbers = [array("i", [0]) for _ in numbers]
        index.index((numbers, vocabulary), show_progress=False)
        return cls(index)

    def save(self, folder: Path) -> None:
        self._index.save(folder, show_progress=False)

    @classmethod
    def load(cls, folder: Path) -> Bm25:
        """The index of a folder; its arrays stay on disk and are read where they are needed."""
        return cls(
            library("bm25s", "BM25", "rag").BM25.load(
                folder, mmap=True, backend="numpy", show_progress=False
            )
        )

    def search(self, question: str, k: int) -> list[tuple[int, float]]:
        """(passage, score) of the best k that share a word with the question, best first. UserError if the files of the
        index do not fit each other."""
        try:
            token_ids = self._index.get_tokens_ids(tokenize(question))
            if not token_ids:
                return []
            scores = self._index.get_scores_from_ids(token_ids)
        except (IndexError, TypeError, ValueError):
            raise damaged() from None
        return [(number, score) for number, score in best(scores, k) if score > 0]


def best(scores: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
    """(index, score) of the k highest of scores (n,), highest first, the first of equals first on every machine; all of
    them if there are fewer."""
    import numpy as np

    k = min(k, len(scores))
    if k <= 0:
        return []
    least = np.partition(scores, len(scores) - k)[len(scores) - k]
    above = np.flatnonzero(scores > least)
    equal = np.flatnonzero(scores == least)[: k - len(above)]
    chosen = np.concatenate((above, equal))
    order = chosen[np.lexsort((chosen, -scores[chosen]))]
    return [(int(index), float(scores[index])) for index in order]


def damaged() -> UserError:
    """The error of an index whose files do not fit each other."""
    return UserError("a passage of the index cannot be read; index the documents again")
