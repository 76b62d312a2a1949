"""Information density (CCRS, section 2.3.2, ID): is the answer as long as it must be, and no longer?

ID(r, C, q) = judge(r, C, q) / 100. Range [0, 1], higher is better: both padding and gaps cost. The judge sees the
passages, the answer and the question (appendix B). An empty answer is 0. Cost: 1 call for each judge.
With `--scoring expected` the grade is the expected digit from 0 to 9, divided by 9: another prompt, never pooled with
the first.
Deviations: the prompt is ours; several judges are averaged (the paper has one, Llama-3-70B-Instruct).
"""

from __future__ import annotations

from longmark.judge import DIGITS, Scale, grade
from longmark.metric import Metric, NoParams, Score
from longmark.metrics.ccrs import as_digit, as_number, calls_each_judge, empty_answer, passages
from longmark.models.handles import Models
from longmark.prompts import Prompt
from longmark.records import Example

_TASK = """\
Grade how dense the answer is: whether it gives what the question needs, drawing on the context, in no more words \
than that takes. {best}: all that is needed and nothing that is not. {worst}: so much that is beside the point that \
the answer drowns in it, or so little that the question stays open."""

SCALE = Scale(
    text=Prompt(
        "ccrs.information_density",
        ("context", "answer", "question"),
        as_number(_TASK.format(best=100, worst=0)),
    ),
    expected=Prompt(
        "ccrs.information_density.expected",
        ("context", "answer", "question"),
        as_digit(_TASK.format(best=9, worst=0)),
    ),
    tokens=DIGITS,
)


async def score(example: Example, models: Models, params: NoParams) -> Score:
    if (zero := empty_answer(example)) is not None:
        return zero
    inputs = {"context": passages(example), "answer": example.answer or "", "question": example.question or ""}
    return await grade(models, SCALE, inputs)


METRIC = Metric(
    score,
    needs=("question", "answer", "contexts"),
    bounds=(0, 1),
    models=("judge",),
    prompts=SCALE.prompts,
    calls=calls_each_judge,
    scorings=("text", "expected"),
)
