"""Answer correctness (CCRS, section 2.3.2, AC): is what the answer says true by the reference answer?

AC(r, g, C) = weight EM(r, g) + (1 - weight) judge(r, g, C) / 100, weight = 0.7. EM is 1 where answer and reference are
the same string, else 0. Range [0, 1], higher is better; an answer in its own words reaches 0.3 at most, by the
formula. The judge sees passages, answer and reference, never the question (appendix B). An empty answer is 0. Of
several references the one that gives the most counts; the evidence names it. Cost: 1 call for each judge and reference.
With `--scoring expected` the judge's part is its probability of "yes": another prompt, never pooled with the first.

Parameters: weight, of EM, in [0, 1]. as_published: the scale of the paper's tables, whose greatest value is .307 in
all six systems (tables 5 and 6): (0.7 EM + 0.3 judge) / 100, EM left on a scale of 0 to 1.
Deviations: the prompt is ours; several judges are averaged (the paper has one, Llama-3-70B-Instruct).
"""

from __future__ import annotations

from dataclasses import dataclass

from longmark.judge import YES_NO, Scale, grade
from longmark.metric import Metric, Score
from longmark.metrics.ccrs import as_number, as_yes_no, best_reference, calls_each_reference, empty_answer, passages
from longmark.models.handles import Models
from longmark.prompts import Prompt
from longmark.records import Example

SCALE = Scale(
    text=Prompt(
        "ccrs.answer_correctness",
        ("context", "answer", "reference"),
        as_number("""\
Grade how correct the answer is, taking the reference as the truth and the context as help in reading it. 100: it \
states what the reference states. 50: right and wrong are mixed. 0: what it states is wrong. Other words for the same \
facts cost nothing."""),
    ),
    expected=Prompt(
        "ccrs.answer_correctness.expected",
        ("context", "answer", "reference"),
        as_yes_no("""\
Taking the reference as the truth, is what the answer states correct? Other words for the same facts count as \
correct."""),
    ),
    tokens=YES_NO,
)


@dataclass(frozen=True)
class Params:
    weight: float = 0.7  # CCRS, section 2.3.2: lambda
    as_published: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= 1:
            raise ValueError(f"weight is a share from 0 to 1, not {self.weight:g}")


async def score(example: Example, models: Models, params: Params) -> Score:
    if (zero := empty_answer(example)) is not None:
        return zero

    async def against(reference: str) -> Score:
        inputs = {"context": passages(example), "answer": example.answer or "", "reference": reference}
        judged = await grade(models, SCALE, inputs)
        exact_match = float(example.answer == reference)
        em_part = params.weight * exact_match / (100 if params.as_published else 1)
        value = em_part + (1 - params.weight) * judged.value
        return Score(value, {"exact_match": exact_match, "judge_score": judged.value, **judged.evidence})

    return await best_reference(example, against)


METRIC = Metric(
    score,
    needs=("answer", "contexts", "references"),
    bounds=(0, 1),
    models=("judge",),
    prompts=SCALE.prompts,
    params=Params,
    calls=calls_each_reference,
    scorings=("text", "expected"),
)
