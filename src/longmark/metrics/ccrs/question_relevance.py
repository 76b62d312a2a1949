"""Question relevance (CCRS, section 2.3.2, QR): how well the answer addresses the question.

QR(r, q) = judge(r, q) / 100. The judge sees the question and the answer, not the passages (appendix B).
"""

from __future__ import annotations

from longmark.judged import judged_metric, score_prompts
from longmark.metrics.ccrs import EMPTY_ANSWER

PROMPTS = score_prompts(
    "ccrs.question_relevance",
    ("answer", "question"),
    number="""\
Grade how directly the answer speaks to the question. 100: it answers exactly what was asked. 50: it is on the topic \
but leaves what was asked half open. 0: it is about something else, or says nothing. Whether the answer is true is \
not your concern here.""",
    yes_no="Does the answer directly address the question, and answer what was asked?",
)

METRIC = judged_metric(PROMPTS, empty_answer=EMPTY_ANSWER)
