"""A conversation on the page: its turns in their order, of which the answer has its scores beside it.

The answers of a conversation (`--turns each`) have the turns since the answer before, so that one after the other they
are the conversation, and the page does not grow with its square.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from longmark.records import Pair, Question
from longmark.report.reasons import Places

MOST = 12  # turns that are not folded
LAST = 6  # of more of them


def starts(examples: Iterable[tuple[Any, Question | None]]) -> list[int]:
    """For each example, which of its turns are on the page with the answer before it. examples: in their order, each
    with its run and system."""
    first_turns: list[int] = []
    before: tuple[Any, str | None, int] = (None, None, 0)
    for source, example in examples:
        conversation = (source, example.turn_of if example else None)
        first_turns.append(
            before[2] if conversation[1] is not None and conversation == before[:2] else 0
        )
        before = (*conversation, len(example.turns) if example else 0)
    return first_turns


def turns_view(example: Question | None, start: int, quoted: Places) -> dict[str, Any] | None:
    """What the template needs of an example's turns, from `start` on; None where it has none. quoted: places in the
    answer, which is the last turn, or all turns of the assistant."""
    if example is None or not example.turns:
        return None
    whole_conversation = example.turn_of == example.id
    offset = 0
    lines = []
    for number, turn in enumerate(example.turns, 1):
        is_last = (
            number == len(example.turns)
            and turn.role == "assistant"
            and not isinstance(example, Pair)
        )
        of_answer = turn.role == "assistant" if whole_conversation else is_last
        own_quotes = {
            (left - offset, right - offset): n
            for (left, right), n in quoted.items()
            if left >= offset
        }
        lines.append(
            {
                "number": number,
                "turn": turn,
                "scored": is_last and not whole_conversation,
                "quoted": own_quotes if of_answer else {},
            }
        )
        offset += len(turn.text) + 2 if whole_conversation and of_answer and turn.text else 0
    lines = lines[start:]
    folded = len(lines) - LAST if len(lines) > MOST else 0
    return {
        "before": start,
        "folded": lines[:folded],
        "lines": lines[folded:],
        "whole": whole_conversation,
    }
