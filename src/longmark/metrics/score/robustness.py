"""Robustness: similarity of the answers to a question and to a variant of it (SCORE, section 3.2).

    robustness = cosine of the embeddings of the two answers

It scores variants: examples with `variant_of`, `variant` and `base_answer`. Each gives one row: `paraphrase` (the same
question in other words), where the answer should not change, or `perturbation` (any other kind: another hazard, place,
profession), where it should change with the question.
Unscored (`undefined`): one of the answers is empty. Cost: 1 batch of the embedder.
An answer of more than 256 tokens, the limit of all-MiniLM-L6-v2, is embedded in chunks. The evidence has the number of
tokens, whether the embedder counted or longmark estimated them, and the chunks.

Parameters: long_answers: `mean` of the chunks' embeddings, weighted by their tokens, or `cut`: only the first 256
tokens, as when MiniLM is given the complete answer.
Deviations: the mean over chunks. The passages of the variant's answer were chosen when it was made: new retrieval, as
in the paper's figure 2, or as in the authors' code (`rag answer --variant-context original`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from longmark.domain import PARAPHRASE
from longmark.errors import NoScore
from longmark.metric import Metric, Score, ScoreSpec, Silence, paper
from longmark.metrics.score._similarity import cosine, embed_whole
from longmark.models.handles import Models
from longmark.records import Example


@dataclass(frozen=True)
class RobustnessParams:
    long_answers: Literal["mean", "cut"] = paper("mean", "cut")


async def score(
    example: Example, models: Models, params: RobustnessParams
) -> dict[str, Score | NoScore]:
    """One score: of the kind of variant that the example is."""
    answer = example.answer or ""
    base_answer = example.base_answer or ""
    for name, text in (("answer", answer), ("base answer", base_answer)):
        if not text.strip():
            raise NoScore(
                "undefined", f"The {name} is empty, so it has no similarity to the other."
            )
    variant, base = await embed_whole(models, [answer, base_answer], params.long_answers)
    evidence = {
        "variant": example.variant,
        "long_answers": params.long_answers,
        "answer": variant.evidence,
        "base_answer": base.evidence,
    }
    return {_part(example.variant): Score(cosine(variant.vector, base.vector), evidence)}


def _part(kind: str | None) -> str:
    return "paraphrase" if kind == PARAPHRASE else "perturbation"


METRIC = Metric(
    score,
    needs=("answer", "base_answer", "variant"),
    scores={
        "paraphrase": ScoreSpec(bounds=(-1, 1), higher_is_better=True),
        "perturbation": ScoreSpec(bounds=(-1, 1), higher_is_better=False),
    },
    models=("embedder",),
    params=RobustnessParams,
    calls=lambda _example, _params, _judges: 1,
    variants=True,
    applies=lambda part, kind: (
        kind is None or part == _part(kind)
    ),  # no kind: both rows state what is missing
    silence=Silence(empty="undefined"),
)
