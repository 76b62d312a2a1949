"""Marks of a SCORE study made by hand, for the tests of its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from longmark.study.score.found import Found
from longmark.study.score.marks import Confidence, Mark

WEIGHTS = {"hazard": 0.6, "location": 0.2, "timeline": 0.1, "intensity": 0.1}


def mark(question: str, value: float | None, **more: Any) -> Mark:
    """The mark of the answer `a-QUESTION`; `undefined` where it has no value."""
    gap = {"status": "ok", "reason": None} if value is not None else {"status": "undefined", "reason": "No claims."}
    return Mark(**{"example": f"a-{question}", "question": question, "variant": "", "value": value, **gap, **more})


def marks(values: Sequence[float | None]) -> list[Mark]:
    """A mark for each value, of the questions q0, q1, …"""
    return [mark(f"q{i}", value) for i, value in enumerate(values)]


def confident(pairs: Sequence[tuple[float, float]], values: Sequence[float | None]) -> list[Mark]:
    """Marks of context utilization with (f(q, C), f(q, D)) of each."""
    return [
        mark(f"q{i}", value, confidence=Confidence(*pair, None, None))
        for i, (pair, value) in enumerate(zip(pairs, values, strict=True))
    ]


def found(**more: Mapping[Any, Any] | Sequence[str]) -> Found:
    """A study of the generator `g`, the evaluator `e` and the proxies `p` and `q`."""
    given: dict[str, Any] = {
        "generators": ("g",),
        "evaluators": ("e",),
        "proxies": ("p", "q"),
        "weights": WEIGHTS,
        **more,
    }
    return Found(**given)
