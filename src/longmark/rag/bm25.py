"""BM25 over passages, by bm25s: the scores of every word in every passage are computed when the index is built.

Lucene's form of the formula, k1 = 1.5, b = 0.75 (the defaults of bm25s). Scores are sums over the question's words, at
least 0, without an upper end; a passage that shares no word with the question is never found.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from longmark.errors import MissingExtra
from longmark.rag.best import best
from longmark.rag.passages import damaged
from longmark.rag.words import words

K1, B, METHOD = 1.5, 0.75, "lucene"


class Bm25:
    """An index that was built or loaded; `search` asks it."""

    def __init__(self, index: Any) -> None:
        self._index = index

    @classmethod
    def build(cls, texts: Iterable[str]) -> Bm25:
        """The index of texts, read once; in memory: four bytes a word of them, and the index itself."""
        bm25s = _library()
        vocabulary: dict[str, int] = {}
        numbers: list[array[int]] = []
        for text in texts:
            numbers.append(array("i", [vocabulary.setdefault(word, len(vocabulary)) for word in words(text)]))
        index = bm25s.BM25(k1=K1, b=B, method=METHOD, backend="numpy")
        if not vocabulary:
            vocabulary[""] = 0  # texts of signs only: an index that finds nothing, of one word that nobody can ask
            numbers = [array("i", [0]) for _ in numbers]
        index.index((numbers, vocabulary), show_progress=False)
        return cls(index)

    def save(self, folder: Path) -> None:
        self._index.save(folder, show_progress=False)

    @classmethod
    def load(cls, folder: Path) -> Bm25:
        """The index of a folder; its arrays stay on disk and are read where they are needed."""
        return cls(_library().BM25.load(folder, mmap=True, backend="numpy", show_progress=False))

    def search(self, question: str, k: int) -> list[tuple[int, float]]:
        """(passage, score) of the best k that share a word with the question, best first. UserError where the files
        of the index do not fit each other."""
        try:
            known = self._index.get_tokens_ids(words(question))
            if not known:
                return []
            scores = self._index.get_scores_from_ids(known)
        except (IndexError, TypeError, ValueError):
            raise damaged() from None
        return [(number, score) for number, score in best(scores, k) if score > 0]


def _library() -> Any:
    try:
        import bm25s
    except ImportError:
        raise MissingExtra("BM25", "rag") from None
    return bm25s
