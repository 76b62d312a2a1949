"""Vanilla prompt: which answer is better? The judge is asked for A, B or tie and nothing else (CALF, 4.1).

    score = 1 (a is better), 0 (a tie), -1 (b is better)

The judge sees the question, the context and the reference where the pair has them, and both answers. With `--scoring
expected` the choice is read from the probabilities of A, B and tie as the first token; over both orders the log-odds
are averaged, so a preference for the first place cancels out (`metrics/pairs/_verdicts.py` has the formula).
Of several judges, and of several samples (`--samples`), the most frequent choice counts; a draw is a tie.
Unscored: a reply that is no choice, twice (`unparsable`), or a refusal (`refused`), in any order.
Cost: 1 call for each judge, order and sample.

Parameters: orders: `both` asks in both orders; `balanced` asks in one, and shows b first in about half of the pairs, as
the paper does; `given` shows a first. on_flip: with `both` and `--scoring text`, two different choices are a `tie`, or
the choice of the `first` order (a first) stands. equal: answers that are the same are a `tie` without a call, or the
judge is asked (`ask`).
Deviations: the prompt is ours. The paper's temperature is 1 and its order is balanced (`--temperature 1`,
`orders=balanced`).
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
