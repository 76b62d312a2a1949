"""In-context learning: which answer is better, after examples of other questions with the choice that people made.

As `pairs.direct`, with `shown` labelled pairs of the file `examples` in the prompt. The file of the run can be used:
a pair is never an example for its own question. The pair's id and the seed determine which pairs are shown, and in
which order their answers are.
Unscored (`missing_input`): no pair of another question in the file.

Parameters: examples: a file of pairs with labels; required. shown: how many of them; 3 in the paper (CALF, section 5
and table 5: ChatGPT-ICL, GPT-4o-ICL). longest: characters that are shown of each text of an example.
Deviations: the paper states no limit of length: `longest=1000000` (`--as-published`), and does not say which pairs it
shows.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

from longmark.errors import NoScore, UserError
from longmark.metric import paper
from longmark.metrics._signed_file import signed
from longmark.metrics.pairs._files import labelled, others
from longmark.metrics.pairs._verdicts import (
    ABSENT,
    BASIS,
    FORM,
    INPUTS,
    ChoicePrompt,
    VerdictParams,
    judged_pairs,
    texts_of,
)
from longmark.prompts import Prompt, fence
from longmark.records.pair import Pair, Side

_INPUTS = ("examples", *INPUTS)
_TASK = f"""\
The examples are pairs of answers to other questions, each with the choice that people made. After them two answers to \
the question are shown, A and B. Decide which is better, by the standard of the examples.
{BASIS}
{FORM}"""
QUESTION = ChoicePrompt(
    Prompt("pairs.icl", _INPUTS, _TASK, use="text", may_be_absent=ABSENT),
    Prompt("pairs.icl.expected", _INPUTS, _TASK, use="expected", may_be_absent=ABSENT),
)


@dataclass(frozen=True)
class IclParams(VerdictParams):
    examples: str = ""
    shown: int = 3
    longest: int = paper(600, 1_000_000)

    def __post_init__(self) -> None:
        if self.examples:
            object.__setattr__(self, "examples", signed(self.examples))
        if not 1 <= self.shown <= 100:
            raise ValueError(f"shown is between 1 and 100, not {self.shown}")
        if not 1 <= self.longest <= 1_000_000:
            raise ValueError(f"longest is between 1 and 1,000,000 characters, not {self.longest}")


def question(pair: Pair, params: Any, seed: int) -> ChoicePrompt:
    if not params.examples:
        raise UserError(
            "pairs.icl needs labelled pairs to show: name it --metrics pairs.icl@examples=FILE"
        )
    shown_pairs = others(labelled(params.examples), pair, params.shown, seed)
    if not shown_pairs:
        raise NoScore(
            "missing_input", "The file of examples has no labelled pair of another question."
        )
    drawn = random.Random(f"{seed}\0{pair.id}\0order")
    sides: tuple[Side, Side] = ("a", "b")
    listed = "\n\n".join(
        shown(shown_pair, i, drawn.choice(sides), params.longest)
        for i, shown_pair in enumerate(shown_pairs, 1)
    )
    return replace(QUESTION, fields={"examples": listed})


def shown(pair: Pair, number: int, first: Side, longest: int) -> str:
    """One example: its texts, each between tags, and the choice in terms of A and B."""
    texts = {
        name: _cut(text, longest) for name, text in texts_of(pair, first).items() if text.strip()
    }
    choice = "tie" if pair.label == "tie" else "A" if pair.label == first else "B"
    return "\n".join(
        (
            f"Example {number}",
            *(fence(f"example_{name}", text) for name, text in texts.items()),
            f"Choice: {choice}",
        )
    )


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]} …"


METRIC = judged_pairs(question, QUESTION.prompts, IclParams)
