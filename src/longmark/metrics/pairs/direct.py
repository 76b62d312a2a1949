"""Vanilla prompt: which answer is better? The judge is asked for A, B or tie and nothing else (CALF, 4.1).

The judge sees the question, the context and the reference where the pair has them, and both answers. With `--scoring
expected` the choice is read from the probabilities of A, B and tie as the first token; over both orders the log-odds
are averaged, so a preference for the first place cancels out (`metrics/pairs/_verdicts.py` has the formula).
Samples (`--samples`) count as judges do. Cost: 1 call for each judge, order and sample.
Deviations: the paper's temperature is 1 and its order is balanced (`--temperature 1`, `orders=balanced`).
"""

from __future__ import annotations

from longmark.metrics.pairs._verdicts import (
    ABSENT,
    BASIS,
    FORM,
    INPUTS,
    ChoicePrompt,
    VerdictParams,
    judged_pairs,
)
from longmark.prompts import Prompt

_TASK = f"Two answers to the question are shown, A and B. Decide which is better.\n{BASIS}\n{FORM}"
QUESTION = ChoicePrompt(
    Prompt("pairs.direct", INPUTS, _TASK, use="text", may_be_absent=ABSENT),
    Prompt("pairs.direct.expected", INPUTS, _TASK, use="expected", may_be_absent=ABSENT),
)

METRIC = judged_pairs(lambda _pair, _params, _seed: QUESTION, QUESTION.prompts, VerdictParams)
