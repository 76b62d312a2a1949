"""Question relevance (CCRS, section 2.3.2, QR): does the answer address what was asked?

QR(r, q) = judge(r, q) / 100. Range [0, 1], higher is better. The judge sees the question and the answer, never the
passages (appendix B). An empty answer is 0. Cost: 1 call for each judge.
With `--scoring expected` the grade is the judge's probability of "yes" to a yes-or-no question: another prompt, never
pooled with the first.
Deviations: the prompt is ours; several judges are averaged (the paper has one, Llama-3-70B-Instruct).
"""

from __future__ import annotations

from longmark.judge import YES_NO, Scale, grade
from longmark.metric import Metric, NoParams, Score
from longmark.metrics.ccrs import as_number, as_yes_no, calls_each_judge, empty_answer
from longmark.models.handles import Models
from longmark.prompts import Prompt
from longmark.records import Example

SCALE = Scale(
    text=Prompt(
        "ccrs.question_relevance",
        ("answer", "question"),
        as_number("""\
Grade how directly the answer speaks to the question. 100: it answers exactly what was asked. 50: it is on the topic \
but leaves what was asked half open. 0: it is about something else, or says nothing. Whether the answer is true is \
not your concern here."""),
    ),
    expected=Prompt(
        "ccrs.question_relevance.expected",
        ("answer", "question"),
        as_yes_no("Does the answer directly address the question, and answer what was asked?"),
    ),
    tokens=YES_NO,
)


async def score(example: Example, models: Models, params: NoParams) -> Score:
    if (zero := empty_answer(example)) is not None:
        return zero
    return await grade(models, SCALE, {"question": example.question or "", "answer": example.answer or ""})


METRIC = Metric(
    score,
    needs=("question", "answer"),
    bounds=(0, 1),
    models=("judge",),
    prompts=SCALE.prompts,
    calls=calls_each_judge,
    scorings=("text", "expected"),
)
