"""Information recall (CCRS, section 2.3.2, IR): how much of the reference answer does the answer hold?

IR(r, g, C) = judge(r, g, C) / 100. Range [0, 1], higher is better. The judge sees passages, answer and reference,
never the question (appendix B). An empty answer is 0. Of several references the one that gives the most counts; the
evidence names it. Cost: 1 call for each judge and reference.
With `--scoring expected` the grade is the expected digit from 0 to 9, divided by 9: another prompt, never pooled with
the first.
Deviations: the prompt is ours; several judges are averaged (the paper has one, Llama-3-70B-Instruct).
"""

from __future__ import annotations

from longmark.judge import DIGITS, Scale, grade
from longmark.metric import Metric, NoParams, Score
from longmark.metrics.ccrs import as_digit, as_number, best_reference, calls_each_reference, empty_answer, passages
from longmark.models.handles import Models
from longmark.prompts import Prompt
from longmark.records import Example

_TASK = """\
Grade how much of the essential information in the reference the answer also gives, with the context as help in \
reading it. {best}: every key fact of the reference is there. {middle}: about half of them are. {worst}: none is. \
What the answer gives beyond the reference neither adds nor costs."""

SCALE = Scale(
    text=Prompt(
        "ccrs.information_recall",
        ("context", "answer", "reference"),
        as_number(_TASK.format(best=100, middle=50, worst=0)),
    ),
    expected=Prompt(
        "ccrs.information_recall.expected",
        ("context", "answer", "reference"),
        as_digit(_TASK.format(best=9, middle="4 or 5", worst=0)),
    ),
    tokens=DIGITS,
)


async def score(example: Example, models: Models, params: NoParams) -> Score:
    if (zero := empty_answer(example)) is not None:
        return zero

    async def against(reference: str) -> Score:
        inputs = {"context": passages(example), "answer": example.answer or "", "reference": reference}
        return await grade(models, SCALE, inputs)

    return await best_reference(example, against)


METRIC = Metric(
    score,
    needs=("answer", "contexts", "references"),
    bounds=(0, 1),
    models=("judge",),
    prompts=SCALE.prompts,
    calls=calls_each_reference,
    scorings=("text", "expected"),
)
