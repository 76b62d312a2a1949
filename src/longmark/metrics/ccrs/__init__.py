"""CCRS (Muhamed 2025): five zero-shot grades by a judge, and what they share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from longmark.metric import Score
from longmark.records import Example

_TEXT_FORM = "Reply with one whole number from 0 to 100 and nothing else."
_YES_NO_FORM = "Reply with one word, yes or no, and nothing else."
_DIGIT_FORM = "Reply with one digit from 0 to 9 and nothing else."


def as_number(task: str) -> str:
    """A task whose grade is a number from 0 to 100."""
    return f"{task}\n{_TEXT_FORM}"


def as_yes_no(task: str) -> str:
    """A task whose grade is the probability of yes."""
    return f"{task}\n{_YES_NO_FORM}"


def as_digit(task: str) -> str:
    """A task whose grade is a digit from 0 to 9."""
    return f"{task}\n{_DIGIT_FORM}"


def passages(example: Example) -> str:
    """The retrieved passages in one text, numbered from 1."""
    return "\n\n".join(f"[{i}] {context.text}" for i, context in enumerate(example.contexts, start=1))


def empty_answer(example: Example) -> Score | None:
    """CCRS, appendix B: where no response was generated the score is 0, without a call."""
    if example.answer is not None and example.answer.strip():
        return None
    return Score(0.0, {"rule": "the answer is empty: CCRS scores it 0, no judge was asked"})


def calls_each_judge(example: Example, _params: Any, judges: int) -> int:
    """Calls of a metric that asks every judge once."""
    return 0 if empty_answer(example) else judges


def calls_each_reference(example: Example, _params: Any, judges: int) -> int:
    """Calls of a metric that asks every judge once about every reference."""
    return 0 if empty_answer(example) else judges * len(example.references)


async def best_reference(example: Example, against: Callable[[str], Awaitable[Score]]) -> Score:
    """The greatest score over the references, with the reference that gave it named in the evidence where there are
    several. Equal scores: the first."""
    scores = [await against(reference) for reference in example.references]
    best = max(range(len(scores)), key=lambda i: scores[i].value)
    if len(scores) == 1:
        return scores[0]
    return replace(
        scores[best],
        evidence={
            "reference": example.references[best],
            "scores_by_reference": [score.value for score in scores],
            **scores[best].evidence,
        },
    )
