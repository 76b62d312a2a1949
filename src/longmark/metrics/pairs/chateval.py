"""ChatEval: which answer is better, by referees in different roles who discuss it (CALF, appendix C.6).

The referees speak one by one, `rounds` times. Each sees the answers and the discussion so far, gives a short
argument, and ends with a choice. The most frequent of their last choices counts; a draw is a tie. With several judges
the roles are assigned to them in turn, or as the panel's `roles` set. With `orders=both` there are two discussions. The
choice is always read from text. The evidence has every turn.
Cost: roles x rounds calls for each order.
Deviations: the roles are those of the paper's figure 14; its text names an engineer in place of the scientist.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from longmark.judge import Sampling, ask, choice
from longmark.metric import Score
from longmark.metrics._signed_file import BUILT_IN, signed
from longmark.metrics.pairs._files import PANEL_FILE, parts, played_by
from longmark.metrics.pairs._verdicts import (
    ABSENT,
    BASIS,
    INPUTS,
    LAST_LINE,
    LETTERS,
    Opinion,
    VerdictParams,
    check_reply,
    decide,
    orders_of,
    pair_metric,
)
from longmark.models.handles import Models
from longmark.prompts import Prompt
from longmark.records.pair import Pair, plurality

PROMPT = Prompt(
    "pairs.chateval",
    (*INPUTS, "discussion"),
    f"""\
Two answers to the question are shown, A and B. Several referees discuss which is better, and you are one of them: \
$role.
$description
{BASIS}
If a discussion is shown, it is what the referees said so far. Test it: say where you agree, where you do not, and \
why. Your choice is your own. Speak in two or three short sentences. {LAST_LINE}""",
    may_be_absent=ABSENT | {"discussion"},
)


@dataclass(frozen=True)
class ChatEvalParams(VerdictParams):
    rounds: int = 1
    temperature: float = 0.7
    panel: str = BUILT_IN
    max_tokens: int = 256

    def __post_init__(self) -> None:
        object.__setattr__(self, "panel", signed(self.panel, PANEL_FILE))
        if not 1 <= self.rounds <= 20:
            raise ValueError(f"rounds is between 1 and 20, not {self.rounds}")
        check_reply(self.max_tokens, self.temperature)


async def score(pair: Pair, models: Models, params: Any) -> Score:
    """The verdict of the discussion, or of both discussions."""

    async def panel(texts: dict[str, str]) -> Opinion:
        return await discuss(models, params, texts)

    return await decide(pair, models, params, {"panel": panel})


async def discuss(models: Models, params: Any, texts: dict[str, str]) -> Opinion:
    """What the referees choose after a discussion of one order."""
    roles = parts(params.panel, "roles")
    reader = choice(LETTERS, params.max_tokens)
    turns: list[dict[str, Any]] = []
    for turn in range(params.rounds * len(roles)):
        place = turn % len(roles)
        role = roles[place]
        discussion = "\n\n".join(f"{turn['role']}: {turn['reply']}" for turn in turns)
        filled = {**texts, "discussion": discussion, "role": role.name, "description": role.text}
        # Every turn is a sample of its own: roles with equal texts do not repeat each other.
        number = (
            models.judging.seed * params.rounds * len(roles) + turn if params.temperature else 0
        )
        judge = played_by(role, place, models.judges)
        verdict = await ask(
            models, judge, PROMPT, filled, reader, Sampling(params.temperature, number)
        )
        turns.append(
            {"role": role.name, "judge": judge.name, "said": verdict.value, "reply": verdict.said}
        )
    votes = tuple(turn["said"].lower() for turn in turns[-len(roles) :])
    return Opinion(plurality(votes) or "tie", votes, evidence={"turns": turns})


METRIC = pair_metric(
    score,
    (PROMPT,),
    ChatEvalParams,
    lambda params, _judges: orders_of(params) * params.rounds * len(parts(params.panel, "roles")),
)
