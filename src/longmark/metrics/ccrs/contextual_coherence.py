"""Contextual coherence (CCRS, section 2.3.2, CC): how well the answer follows from the passages.

CC(r, C) = judge(r, C) / 100. The judge sees the passages and the answer, not the question (appendix B).
"""

from __future__ import annotations

from longmark.judged import judged_metric, score_prompts
from longmark.metrics.ccrs import EMPTY_ANSWER

PROMPTS = score_prompts(
    "ccrs.contextual_coherence",
    ("context", "answer"),
    number="""\
Grade how well the answer holds together with the context. 100: everything it says follows from the context or agrees \
with it, in a sound order. 50: part of it has no footing there. 0: it contradicts the context or makes no sense \
beside it.""",
    yes_no="Does what the answer says follow from the context, without contradicting it?",
)

METRIC = judged_metric(PROMPTS, empty_answer=EMPTY_ANSWER)
