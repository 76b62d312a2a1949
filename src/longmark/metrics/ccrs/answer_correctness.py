"""Answer correctness (CCRS, section 2.3.2, AC): how far the reference answer bears the answer out.

AC(r, g, C) = weight EM(r, g) + (1 - weight) judge(r, g, C) / 100, weight = 0.7. EM is 1 if answer and reference are
the same string, else 0: an answer in its own words scores 0.3 at most. The judge sees passages, answer and reference,
not the question (appendix B).

Parameters: weight: the weight of EM, in [0, 1]. as_published: the scale of the paper's tables 5 and 6, whose highest
score is .307: (0.7 EM + 0.3 judge) / 100, with EM on a scale of 0 to 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from longmark.judged import judged_metric, score_prompts
from longmark.metric import Score, paper
from longmark.metrics.ccrs import EMPTY_ANSWER
from longmark.records import Example

PROMPTS = score_prompts(
    "ccrs.answer_correctness",
    ("context", "answer", "reference"),
    number="""\
Grade how correct the answer is, taking the reference as the truth and the context as help in reading it. 100: it \
states what the reference states. 50: right and wrong are mixed. 0: what it states is wrong. Other words for the same \
facts cost nothing.""",
    yes_no="""\
Taking the reference as the truth, is what the answer states correct? Other words for the same facts count as \
correct.""",
)


@dataclass(frozen=True)
class AnswerCorrectnessParams:
    weight: float = 0.7  # CCRS, section 2.3.2: lambda
    as_published: bool = paper(False, True)

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= 1:
            raise ValueError(f"weight is a share from 0 to 1, not {self.weight:g}")


def answer_correctness(
    exact_match: float, judge_score: float, params: AnswerCorrectnessParams
) -> float:
    """AC from EM (0 or 1) and the judge's score in [0, 1]."""
    em_part = params.weight * exact_match / (100 if params.as_published else 1)
    return em_part + (1 - params.weight) * judge_score


def _with_exact_match(
    judged: Score, example: Example, reference: str, params: AnswerCorrectnessParams
) -> Score:
    exact_match = float(example.answer == reference)
    evidence = {"exact_match": exact_match, "judge_score": judged.value, **judged.evidence}
    return Score(answer_correctness(exact_match, judged.value, params), evidence)


def reach(params: AnswerCorrectnessParams) -> float | None:
    """What the judge alone can give: EM is 0 for an answer in its own words."""
    return 1 - params.weight if 0 < params.weight < 1 else None


def caution(params: AnswerCorrectnessParams, limit: float) -> str:
    """What a mean of at least `limit` asks for, where answers in their own words cannot reach it."""
    if limit <= 1 - params.weight + 1e-9 or not params.weight:
        return ""
    needed = (limit - (1 - params.weight)) / params.weight
    return (
        f"only exact matches get above {1 - params.weight:.2g} ({params.weight:g} x exact match + "
        f"{1 - params.weight:.2g} x judge). At least {needed:.0%} of the answers must equal their reference, letter by "
        "letter. For answers in their own words use a lower limit, or ccrs.information_recall."
    )


METRIC = replace(
    judged_metric(
        PROMPTS,
        empty_answer=EMPTY_ANSWER,
        params=AnswerCorrectnessParams,
        combine=_with_exact_match,
    ),
    reach=reach,
    caution=caution,
)
