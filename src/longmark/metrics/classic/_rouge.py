"""The arithmetic of ROUGE (Lin 2004), as the package rouge-score has it, on tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from longmark.concurrency import aside
from longmark.errors import library
from longmark.metric import Metric, Score, Silence
from longmark.records import Example
from longmark.text.citations import Citations, forms_added, scored_texts
from longmark.text.tokens import EXTRA, Tokenizer, divided, tokens

Overlap = Callable[[Sequence[str], Sequence[str]], tuple[int, int, int]]


@dataclass(frozen=True)
class RougeParams:
    tokenizer: Tokenizer = "rouge"
    measure: Literal["f1", "precision", "recall"] = "f1"
    citations: Citations = "keep"

    def ready(self) -> None:
        """Loads the tokenizer, before anything is paid for. UserError where it is not installed."""
        tokens("a", self.tokenizer)


@dataclass(frozen=True)
class SequenceParams(RougeParams):
    def ready(self) -> None:
        super().ready()
        longest_in_common("", "")


@dataclass(frozen=True, slots=True)
class OverlapScores:
    """precision: the shared part of the answer; recall: of the reference; f1: 0 where both are 0."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def ngrams_in_common(
    n: int, answer: Sequence[str], reference: Sequence[str]
) -> tuple[int, int, int]:
    """n-grams that both have (as often as the one that has fewer), that the answer has, that the reference has."""
    ours, theirs = (
        Counter(zip(*(text_tokens[i:] for i in range(n)), strict=False))
        for text_tokens in (answer, reference)
    )
    return (
        sum((ours & theirs).values()),
        max(0, len(answer) - n + 1),
        max(0, len(reference) - n + 1),
    )


def longest_in_common(answer: Sequence[str], reference: Sequence[str]) -> tuple[int, int, int]:
    """The length of the longest common subsequence of tokens, of the answer, of the reference."""
    lcs = library("rapidfuzz.distance", "classic.rouge_l", EXTRA).LCSseq
    number: dict[str, int] = {}
    first, second = (
        [number.setdefault(token, len(number)) for token in text_tokens]
        for text_tokens in (answer, reference)
    )
    return lcs.similarity(first, second), len(answer), len(reference)


def rouge(overlap: Overlap, answer: Sequence[str], reference: Sequence[str]) -> OverlapScores:
    """Both shares; 0 for a text with nothing to share."""
    shared, ours, theirs = overlap(answer, reference)
    return OverlapScores(shared / max(1, ours), shared / max(1, theirs))


def best(overlap: Overlap, answer: str, references: Sequence[str], params: RougeParams) -> Score:
    """The score of an answer against the reference that it shares most with, by F1."""
    ours, theirs = divided(answer, references, params.tokenizer)
    shares = {place: rouge(overlap, ours, some) for place, some in theirs.items()}
    place = max(shares, key=lambda candidate: shares[candidate].f1)
    best_shares = shares[place]
    measures = {
        "precision": best_shares.precision,
        "recall": best_shares.recall,
        "f1": best_shares.f1,
    }
    counts = {"answer_tokens": len(ours), "reference_tokens": len(theirs[place])}
    return Score(
        measures[params.measure],
        {**measures, **counts, **({"reference": place} if len(references) > 1 else {})},
    )


def metric(overlap: Overlap, params: type[RougeParams] = RougeParams) -> Metric:
    scored = _scored_by(overlap)
    return Metric(
        scored,
        needs=("answer", "references"),
        bounds=(0, 1),
        params=params,
        silence=Silence(empty=0),
        version=2,
        raised=forms_added,
    )


def _scored_by(overlap: Overlap) -> Callable[[Example, object, RougeParams], Awaitable[Score]]:
    async def score(example: Example, _models: object, params: RougeParams) -> Score:
        answer, references = scored_texts(example, params.citations)
        size = len(answer) + sum(map(len, references))
        return await aside(size, partial(best, overlap, answer, references, params))

    return score
