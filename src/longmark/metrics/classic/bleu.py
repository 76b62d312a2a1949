"""BLEU: n-grams of up to four tokens that one answer shares with the references (Papineni et al. 2002).

    BLEU = BP exp( mean over n of log p_n )    BP = 1, or exp(1 - r/c) if the answer (c tokens) is shorter than r

p_n is the share of the answer's n-grams that occur in a reference, each counted at most as often as it occurs there; r
is the length of the reference that is closest in length. sacrebleu's value, divided by 100 (extra `classic`). An answer
without a shared token scores 0. The evidence has the four precisions, BP and the lengths.
Parameters: form: `sentence` is sacrebleu's sentence BLEU (orders without n-grams are left out); `climaqa` is the BLEU
of ClimaQA's tables, of characters as they stand, white space included, with a numerator of 0.1 where no n-gram is
shared (the other parameters do not apply). smoothing and smoothing_value: sacrebleu's, for orders without a shared
n-gram (none: its default, 0.1 for floor and 1 for add-k).
Deviations: BLEU was made for corpora; this is that of one answer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from longmark.concurrency import aside
from longmark.errors import NoScore, library
from longmark.metric import Metric, Score, Silence
from longmark.records import Example
from longmark.records.same import canonical
from longmark.text.citations import Citations, forms_added, scored_texts
from longmark.text.tokens import EXTRA, Tokenizer, divided

ORDER = 4
_FLOOR = 0.1  # ClimaQA: NLTK's smoothing method 1 (Chen and Cherry 2014) with its default


@dataclass(frozen=True)
class BleuParams:
    form: Literal["sentence", "climaqa"] = "sentence"
    tokenizer: Tokenizer = "13a"
    lowercase: bool = False
    smoothing: Literal["exp", "floor", "add-k", "none"] = "exp"
    smoothing_value: float | None = None
    citations: Citations = "keep"

    def __post_init__(self) -> None:
        if self.smoothing_value is not None and not 0 < self.smoothing_value < math.inf:
            raise ValueError(f"smoothing_value is a number above 0, not {self.smoothing_value}")

    def ready(self) -> None:
        """Scores a text, before anything is paid for. UserError where the form's libraries are not installed."""
        bleu("a", ("a",), self)


@dataclass(frozen=True, slots=True)
class NgramCounts:
    """What BLEU is computed from: shared n-grams and n-grams of the answer for each order, and the two lengths."""

    shared: tuple[int, ...]
    total: tuple[int, ...]
    answer: int
    reference: int


def counts(answer: Sequence[str], references: Sequence[Sequence[str]]) -> NgramCounts:
    """The counts of one answer. reference: the length nearest to the answer's, of two equally near ones the shorter."""
    shared = []
    for n in range(1, ORDER + 1):
        ours = _ngrams(answer, n)
        theirs = _ngrams(references[0], n)
        for reference in references[1:]:
            theirs |= _ngrams(reference, n)
        shared.append(sum(min(ours[ngram], theirs[ngram]) for ngram in ours.keys() & theirs.keys()))
    length = len(answer)
    total = tuple(max(0, length - n) for n in range(ORDER))
    return NgramCounts(
        tuple(shared), total, length, min(map(len, references), key=lambda r: (abs(r - length), r))
    )


def bleu(answer: str, references: Sequence[str], params: BleuParams) -> Score:
    if params.form == "climaqa":
        return characters(answer, references)
    if params.lowercase:
        answer = answer.lower()
        references = [reference.lower() for reference in references]
    ours, theirs = divided(answer, references, params.tokenizer)
    ngram_counts = counts(ours, list(theirs.values()))
    compute = library("sacrebleu", "classic.bleu", EXTRA).BLEU.compute_bleu
    computed = compute(
        list(ngram_counts.shared),
        list(ngram_counts.total),
        ngram_counts.answer,
        ngram_counts.reference,
        smooth_method=params.smoothing,
        smooth_value=params.smoothing_value,
        effective_order=True,
    )
    return _score(
        computed.score / 100,
        [precision / 100 for precision in computed.precisions],
        computed.bp,
        ngram_counts,
    )


def characters(answer: str, references: Sequence[str]) -> Score:
    """ClimaQA's BLEU: tokens are characters as they stand; where an order shares nothing, its numerator is 0.1."""
    answer = canonical(answer)
    theirs = [canonical(reference) for reference in references if reference.strip()]
    if not theirs:
        raise NoScore("undefined", "The reference is empty.")
    ngram_counts = counts(answer, theirs)
    precisions = [
        (s or _FLOOR) / max(1, t)
        for s, t in zip(ngram_counts.shared, ngram_counts.total, strict=True)
    ]
    brevity = (
        1.0
        if ngram_counts.answer >= ngram_counts.reference
        else math.exp(1 - ngram_counts.reference / max(1, ngram_counts.answer))
    )
    value = (
        brevity * math.exp(math.fsum(map(math.log, precisions)) / ORDER)
        if ngram_counts.shared[0]
        else 0.0
    )
    return _score(value, precisions, brevity, ngram_counts)


def _score(
    value: float, precisions: list[float], brevity: float, ngram_counts: NgramCounts
) -> Score:
    lengths = {"answer_tokens": ngram_counts.answer, "reference_tokens": ngram_counts.reference}
    return Score(min(1.0, value), {"precisions": precisions, "brevity_penalty": brevity, **lengths})


def _ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[i:] for i in range(n)), strict=False))


async def score(example: Example, _models: object, params: BleuParams) -> Score:
    answer, references = scored_texts(example, params.citations)
    size = len(answer) + sum(map(len, references))
    return await aside(size, partial(bleu, answer, references, params))


METRIC = Metric(
    score,
    needs=("answer", "references"),
    bounds=(0, 1),
    params=BleuParams,
    silence=Silence(empty=0),
    version=2,
    raised=forms_added,
)
