"""Robustness: how alike are the answers to a question and to a variant of it? (SCORE, section 3.2)

    robustness = cosine of the embeddings of the two whole answers

It runs on variants, lines with `variant_of`, `variant` and `base_answer`; each gives one row. `paraphrase` (the same
question in other words): [-1, 1], higher is better, for the answer should stay. `perturbation` (any other kind: another
hazard, place, profession): [-1, 1], lower is better, for the answer should follow the change. No value (`undefined`):
one of the answers is empty. Cost: 1 batch of the embedder.
An answer of more than 256 tokens, which is what all-MiniLM-L6-v2 reads, is embedded in chunks; the evidence says how
many tokens there were, whether the embedder counted them or we estimated them, and the chunks.

Parameters: long_answers: `mean` of the chunks' embeddings, weighted by their tokens, or `cut`: only what the embedder
reads of the beginning, which is what a whole answer given to MiniLM comes to.
Deviations: the mean over chunks. Whether the variant's answer was made from passages retrieved anew, as in the paper's
figure 2, or a paraphrase's from the original ones, as in the authors' code, was decided when it was made.
"""

from __future__ import annotations

from dataclasses import dataclass

from longmark.domain import PARAPHRASE
from longmark.errors import NoScore
from longmark.metric import Metric, Score, Value
from longmark.models.handles import Models
from longmark.records import Example
from longmark.text.similarity import LongTexts, cosine, embed_whole


@dataclass(frozen=True)
class Params:
    long_answers: LongTexts = "mean"


async def score(example: Example, models: Models, params: Params) -> dict[str, Score | NoScore]:
    """One value: of what kind of variant the example is."""
    answer, base_answer = example.answer or "", example.base_answer or ""
    for name, text in (("answer", answer), ("base answer", base_answer)):
        if not text.strip():
            raise NoScore("undefined", f"The {name} is empty: it is like no other.")
    one, other = await embed_whole(models, [answer, base_answer], params.long_answers)
    evidence = {
        "variant": example.variant,
        "long_answers": params.long_answers,
        "answer": one.evidence,
        "base_answer": other.evidence,
    }
    return {_part(example.variant): Score(cosine(one.vector, other.vector), evidence)}


def _part(kind: str | None) -> str:
    return "paraphrase" if kind == PARAPHRASE else "perturbation"


METRIC = Metric(
    score,
    needs=("answer", "base_answer", "variant"),
    values={
        "paraphrase": Value(bounds=(-1, 1), higher_is_better=True),
        "perturbation": Value(bounds=(-1, 1), higher_is_better=False),
    },
    models=("embedder",),
    params=Params,
    calls=lambda _example, _params, _judges: 1,
    variants=True,
    applies=lambda part, kind: kind is None or part == _part(kind),  # of no kind: both rows say what is missing
)
