"""Contextual coherence (CCRS, section 2.3.2, CC): does the answer follow from the passages and not contradict them?

CC(r, C) = judge(r, C) / 100. Range [0, 1], higher is better. The judge sees the passages and the answer, never the
question (appendix B). An empty answer is 0. Cost: 1 call for each judge.
With `--scoring expected` the grade is the judge's probability of "yes": another prompt, never pooled with the first.
Deviations: the prompt is ours; several judges are averaged (the paper has one, Llama-3-70B-Instruct).
"""

from __future__ import annotations

from longmark.judge import YES_NO, Scale, grade
from longmark.metric import Metric, NoParams, Score
from longmark.metrics.ccrs import as_number, as_yes_no, calls_each_judge, empty_answer, passages
from longmark.models.handles import Models
from longmark.prompts import Prompt
from longmark.records import Example

SCALE = Scale(
    text=Prompt(
        "ccrs.contextual_coherence",
        ("context", "answer"),
        as_number("""\
Grade how well the answer holds together with the context. 100: everything it says follows from the context or agrees \
with it, in a sound order. 50: part of it has no footing there. 0: it contradicts the context or makes no sense \
beside it."""),
    ),
    expected=Prompt(
        "ccrs.contextual_coherence.expected",
        ("context", "answer"),
        as_yes_no("Does what the answer says follow from the context, without contradicting it?"),
    ),
    tokens=YES_NO,
)


async def score(example: Example, models: Models, params: NoParams) -> Score:
    if (zero := empty_answer(example)) is not None:
        return zero
    return await grade(models, SCALE, {"context": passages(example), "answer": example.answer or ""})


METRIC = Metric(
    score,
    needs=("answer", "contexts"),
    bounds=(0, 1),
    models=("judge",),
    prompts=SCALE.prompts,
    calls=calls_each_judge,
    scorings=("text", "expected"),
)
