"""Scores of a SCORE study made by hand, for the tests of its tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from longmark.analysis.studies.score.results import AnswerScore, Confidence, Intervals, Results

FAST = Intervals(resamples=500)
WEIGHTS = {"hazard": 0.6, "location": 0.2, "timeline": 0.1, "intensity": 0.1}


def score(question: str, value: float | None, **more: Any) -> AnswerScore:
    """The score of the answer `a-QUESTION`; `undefined` where it is None."""
    why = {"status": "ok", "reason": None} if value is not None else {"status": "undefined", "reason": "No claims."}
    return AnswerScore(
        **{"example": f"a-{question}", "question": question, "variant": "", "score": value, **why, **more}
    )


def scores(values: Sequence[float | None]) -> list[AnswerScore]:
    """A score for each value, of the questions q0, q1, …"""
    return [score(f"q{i}", value) for i, value in enumerate(values)]


def confident(pairs: Sequence[tuple[float, float]], values: Sequence[float | None]) -> list[AnswerScore]:
    """Scores of context utilization with (f(q, C), f(q, D)) of each."""
    return [
        score(f"q{i}", value, confidence=Confidence(*pair, None, None))
        for i, (pair, value) in enumerate(zip(pairs, values, strict=True))
    ]


def results(**more: Any) -> Results:
    """A study of the generator `g`, the evaluator `e` and the proxies `p` and `q`."""
    given: dict[str, Any] = {
        "generators": ("g",),
        "evaluators": ("e",),
        "proxies": ("p", "q"),
        "weights": WEIGHTS,
        "intervals": FAST,
        **more,
    }
    return Results(**given)
