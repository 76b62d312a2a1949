"""Factual accuracy (ClimaQA, section 3.2.1, FA): whether the answer agrees with what the reference states.

The judge sees the reference as evidence and the answer as a claim, and replies SUPPORTS or REFUTES. With
`--scoring expected`, the paper's way, l_s and l_r are the log-probabilities of the first token of each label, and

    p = sigmoid(l_s - l_r),    FA = p^(1/T) / (p^(1/T) + (1 - p)^(1/T)),    T = 5

Above .5 the judge prefers SUPPORTS. With `--scoring text` the label that the judge writes gives 1 or 0. With several
references the highest score counts. Cost: 1 call for each judge and reference. An empty answer scores 0. A label's
first token is any token that begins the label; the probabilities of several such tokens are added. Unscored
(`unparsable`): no label has a token among the most likely ones.

Parameters: t: the temperature T of the smoothing, above 0; 1: none.
Deviations: the prompt is ours. A label without a token gets -100 in the authors' code; here at most one of the two
labels may be missing. Several judges are averaged (the paper has one, GPT-4o-mini; GPT-4 in the code).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from longmark.judge import choice, first_token
from longmark.judged import ScorePrompts, judged_metric
from longmark.metric import Score
from longmark.prompts import Prompt
from longmark.records import Example
from longmark.records.evidence import Judgements

SUPPORTS, REFUTES = LABELS = ("SUPPORTS", "REFUTES")
EMPTY_ANSWER = Score(
    0.0, {"rule": "the answer is empty: it supports nothing, no judge was asked"}, automatic=True
)
_TASK = """\
The reference is established evidence, the answer a claim. Decide whether the claim agrees with the evidence.
SUPPORTS: what the claim states follows from the evidence, or says the same in other words.
REFUTES: it contradicts the evidence, or states something else.
Reply with one word, SUPPORTS or REFUTES, and nothing else."""


@dataclass(frozen=True)
class FactualAccuracyParams:
    t: float = 5.0  # ClimaQA, section 3.2.1

    def __post_init__(self) -> None:
        if not (self.t > 0 and math.isfinite(self.t)):
            raise ValueError(f"t is a temperature above 0, not {self.t:g}")


def smoothed(p: float, t: float = 5.0) -> float:
    """p^(1/t) / (p^(1/t) + (1 - p)^(1/t)); 0, .5 and 1 stay as they are."""
    if p in (0.0, 1.0):
        return p
    return 1 / (1 + math.exp((math.log1p(-p) - math.log(p)) / t))


PROMPTS = ScorePrompts(
    text=Prompt("climaqa.factual_accuracy", ("answer", "reference"), _TASK),
    expected=Prompt("climaqa.factual_accuracy.expected", ("answer", "reference"), _TASK),
    token=first_token(SUPPORTS, REFUTES),
    number=choice(LABELS).then(lambda label: (float(label == SUPPORTS), {"label": label})),
)


def _with_smoothing(
    judged: Score, _example: Example, _reference: str, params: FactualAccuracyParams
) -> Score:
    judges = Judgements.model_validate(judged.evidence).judges
    judge_scores = [judge.score for judge in judges if judge.score is not None]
    return Score(
        math.fsum(smoothed(p, params.t) for p in judge_scores) / len(judge_scores), judged.evidence
    )


METRIC = judged_metric(
    PROMPTS, empty_answer=EMPTY_ANSWER, params=FactualAccuracyParams, combine=_with_smoothing
)
