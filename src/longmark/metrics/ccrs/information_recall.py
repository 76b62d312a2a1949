"""Information recall (CCRS, section 2.3.2, IR): how much of the reference answer the answer contains.

IR(r, g, C) = judge(r, g, C) / 100. The judge sees passages, answer and reference, not the question (appendix B).
"""

from __future__ import annotations

from longmark.judged import judged_metric, score_prompts
from longmark.metrics.ccrs import EMPTY_ANSWER

_TASK = """\
Grade how much of the essential information in the reference the answer also gives, with the context as help in \
reading it. {best}: every key fact of the reference is there. {middle}: about half of them are. {worst}: none is. \
What the answer gives beyond the reference neither adds nor costs."""

PROMPTS = score_prompts(
    "ccrs.information_recall",
    ("context", "answer", "reference"),
    number=_TASK.format(best=100, middle=50, worst=0),
    digit=_TASK.format(best=9, middle="4 or 5", worst=0),
)

METRIC = judged_metric(PROMPTS, empty_answer=EMPTY_ANSWER)
