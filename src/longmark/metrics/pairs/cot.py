"""Chain of thought: the judge compares the answers step by step, then chooses the better one (CALF, 4.1).

As `pairs.direct`, but the choice is the last line of a reply that reasons first. It is always read from text, with
`--scoring expected` too. A reply that is cut off before its last line is asked for once more.
"""

from __future__ import annotations

from dataclasses import dataclass

from longmark.metrics.pairs._verdicts import (
    ABSENT,
    BASIS,
    INPUTS,
    LAST_LINE,
    ChoicePrompt,
    VerdictParams,
    check_reply,
    judged_pairs,
)
from longmark.prompts import Prompt

PROMPT = Prompt(
    "pairs.cot",
    INPUTS,
    f"""\
Two answers to the question are shown, A and B. Decide which is better.
{BASIS}
Go step by step, in a few short sentences: what a good answer needs, what A has of it, what B has of it. {LAST_LINE}""",
    may_be_absent=ABSENT,
)


@dataclass(frozen=True)
class CotParams(VerdictParams):
    max_tokens: int = 512

    def __post_init__(self) -> None:
        check_reply(self.max_tokens)


METRIC = judged_pairs(
    lambda _pair, params, _seed: ChoicePrompt(PROMPT, None, params.max_tokens), (PROMPT,), CotParams
)
