"""G-Eval: which answer is better by written criteria, from several samples of a judge (CALF, 4.1; Liu et al. 2023).

The judge compares the answers on each criterion and then chooses. It is asked `votes` times at `votes_temperature`,
for each judge and order, and the most frequent choice counts. The evidence has every vote. With `--scoring expected` the
judge is asked once for the choice alone, and its probabilities replace the votes, as in G-Eval.
Cost: `votes` calls for each judge and order; with `--scoring expected` 1.
Deviations: the words of the criteria (`criteria` of the panel) are ours. They are accuracy, clarity and completeness, as
in the paper's table 20.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from longmark.metrics._signed_file import BUILT_IN, signed
from longmark.metrics.pairs._files import PANEL_FILE, parts
from longmark.metrics.pairs._verdicts import (
    ABSENT,
    BASIS,
    FORM,
    INPUTS,
    LAST_LINE,
    ChoicePrompt,
    VerdictParams,
    check_reply,
    judged_pairs,
)
from longmark.prompts import Prompt
from longmark.records.pair import Pair

_TASK = f"""\
Two answers to the question are shown, A and B. Decide which is better on the whole, by these criteria:
$criteria
{BASIS}
"""
TEXT = Prompt(
    "pairs.geval",
    INPUTS,
    f"{_TASK}Say in one short sentence for each criterion which answer does better. {LAST_LINE}",
    use="text",
    may_be_absent=ABSENT,
)
EXPECTED = Prompt(
    "pairs.geval.expected", INPUTS, f"{_TASK}{FORM}", use="expected", may_be_absent=ABSENT
)
_MOST_VOTES = 1000


@dataclass(frozen=True)
class GEvalParams(VerdictParams):
    votes: int = 5
    votes_temperature: float = 1.0
    panel: str = BUILT_IN
    max_tokens: int = 512

    def __post_init__(self) -> None:
        object.__setattr__(self, "panel", signed(self.panel, PANEL_FILE))
        if not 1 <= self.votes <= _MOST_VOTES:
            raise ValueError(f"votes is between 1 and {_MOST_VOTES:,}, not {self.votes}")
        if self.votes > 1 and self.votes_temperature == 0:
            raise ValueError(
                "at temperature 0 all votes are equal: set votes=1, or votes_temperature above 0"
            )
        check_reply(self.max_tokens, self.votes_temperature)


def question(_pair: Pair, params: Any, _seed: int) -> ChoicePrompt:
    listed = "\n".join(f"{part.name}: {part.text}" for part in parts(params.panel, "criteria"))
    return ChoicePrompt(TEXT, EXPECTED, params.max_tokens, {"criteria": listed})


METRIC = judged_pairs(
    question,
    (TEXT, EXPECTED),
    GEvalParams,
    lambda params: {"samples": params.votes, "temperature": params.votes_temperature},
    lambda params: params.votes,
)
