"""The best k passages of questions: by BM25, by vectors (dense), or by both (hybrid).

Hybrid is reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): a passage's score is the sum, over the two
lists that hold it, of 1 / (60 + its rank there), ranks from 1; each list is 100 long, or 5 k if that is more. Scores
of one method cannot be compared with those of another: BM25's are sums without an upper end, dense ones are cosines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from longmark.contrib.make.rag import dense
from longmark.contrib.make.rag.index import Index
from longmark.contrib.make.rag.passages import Stored
from longmark.errors import UnknownName, UserError
from longmark.models.handles import Models

METHODS = ("bm25", "dense", "hybrid")

_FUSION = 60  # the constant of Cormack et al.
_DEPTH = 100
_AT_ONCE = 64  # questions that share a pass over the vectors


@dataclass(frozen=True, slots=True)
class Hit:
    passage: Stored
    score: float


class Retriever:
    """An index with a method. method: None: dense if the index has vectors, else bm25. It looks for each question once,
    however many readers ask. UserError if the index and the models cannot do it."""

    def __init__(
        self, index: Index, models: Models | None = None, method: str | None = None
    ) -> None:
        if method is not None and method not in METHODS:
            raise UnknownName("retriever", method, METHODS, f"It is one of {', '.join(METHODS)}.")
        self.index = index
        self.method = method or ("dense" if index.embedder else "bm25")
        self._models = models
        self._found: dict[tuple[str, int], dense.Found] = {}
        if self.method != "bm25":
            if index.embedder is None:
                needs = "has no vectors; index the documents with --embedder"
                raise UserError(f"{self.method} retrieval: {index.path} {needs}")
            if models is None or models.backends.embedder is None:
                raise UserError(
                    f"{self.method} retrieval needs --embedder {index.embedder['name']}"
                )
            index.check_embedder(models.backends.embedder)

    async def retrieve(self, questions: Sequence[str], k: int) -> list[list[Hit]]:
        """The best k passages of each question, best first; fewer if the index has fewer, or BM25 finds no more."""
        if k < 1:
            raise UserError(f"--k {k}: expected a whole number from 1")
        fresh = [
            question for question in dict.fromkeys(questions) if (question, k) not in self._found
        ]
        for at in range(0, len(fresh), _AT_ONCE):
            part = fresh[at : at + _AT_ONCE]
            for question, ranked in zip(part, await self._ranked(part, k), strict=True):
                self._found[question, k] = ranked
        passages = self.index.passages
        return [
            [Hit(passages[number], round(score, 6)) for number, score in self._found[question, k]]
            for question in questions
        ]

    async def _ranked(self, questions: Sequence[str], k: int) -> list[dense.Found]:
        depth = max(_DEPTH, 5 * k) if self.method == "hybrid" else k
        by_words = (
            [self.index.bm25.search(question, depth) for question in questions]
            if self.method != "dense"
            else []
        )
        if self.method == "bm25":
            return by_words
        by_vector = await self._dense(questions, depth)
        if self.method == "dense":
            return by_vector
        return [fused(rankings, k) for rankings in zip(by_words, by_vector, strict=True)]

    async def _dense(self, questions: Sequence[str], k: int) -> list[dense.Found]:
        assert self._models is not None
        assert self.index.vectors is not None
        instruction = (self.index.embedder or {}).get("query", "")
        if not isinstance(instruction, str):
            raise UserError(
                "the index's index.json is damaged (embedder.query is no text); make the index again"
            )
        rows = dense.unit_rows(
            await self._models.embed([instruction + question for question in questions])
        )
        if rows.shape[1] != self.index.vectors.shape[1]:
            raise UserError(
                f"the embedder gave vectors of {rows.shape[1]} numbers, and {self.index.path} has vectors of "
                f"{self.index.vectors.shape[1]}; index the documents again"
            )
        if self.index.approximate is not None:
            return self.index.approximate.search(rows, k)
        return dense.search(self.index.vectors, rows, k)


def fused(lists: Sequence[dense.Found], k: int) -> dense.Found:
    """The best k by reciprocal rank; of equals, the one with the lower number first."""
    scores: dict[int, float] = {}
    for ranked in lists:
        for rank, (number, _) in enumerate(ranked, 1):
            scores[number] = scores.get(number, 0.0) + 1 / (_FUSION + rank)
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:k]
