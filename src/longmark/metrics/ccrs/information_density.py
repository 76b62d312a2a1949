"""Information density (CCRS, section 2.3.2, ID): whether the answer is as long as needed, and no longer.

ID(r, C, q) = judge(r, C, q) / 100; padding and omissions lower the score. The judge sees the passages, the answer and
the question (appendix B).
"""

from __future__ import annotations

from longmark.judged import judged_metric, score_prompts
from longmark.metrics.ccrs import EMPTY_ANSWER

_TASK = """\
Grade how dense the answer is: whether it gives what the question needs, drawing on the context, in no more words \
than that takes. {best}: all that is needed and nothing that is not. {worst}: so much that is beside the point that \
the answer drowns in it, or so little that the question stays open."""

PROMPTS = score_prompts(
    "ccrs.information_density",
    ("context", "answer", "question"),
    number=_TASK.format(best=100, worst=0),
    digit=_TASK.format(best=9, worst=0),
)

METRIC = judged_metric(PROMPTS, empty_answer=EMPTY_ANSWER)
