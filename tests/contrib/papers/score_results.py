"""Handmade scores of a SCORE study, for the tests of its tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.report.runs import row

from longmark.analysis.grid import Grid
from longmark.contrib.papers.recipe.page import pages_of
from longmark.contrib.papers.score.results import AnswerScore, Intervals, ScoreResults
from longmark.contrib.papers.score.sources import VOCABULARY, sources

FAST = Intervals(resamples=500)
WEIGHTS = {"hazard": 0.6, "location": 0.2, "timeline": 0.1, "intensity": 0.1}


def score(question: str, value: float | None, variant: str = "", **evidence: Any) -> AnswerScore:
    """The score of the answer `a-QUESTION`; `undefined` if it is None. evidence: see `_evidence`; status, reason: of
    the row."""
    why = (
        {"status": "ok", "reason": None}
        if value is not None
        else {"status": "undefined", "reason": "No claims."}
    )
    why |= {key: evidence.pop(key) for key in ("status", "reason") if key in evidence}
    made = row(
        f"a-{question}", "made", value, question_id=question, evidence=_evidence(**evidence), **why
    )
    return AnswerScore(made, question, variant)


def _evidence(**given: Any) -> dict[str, Any]:
    """votes, band: as in rows; verdicts: (dimension, verdicts) of claims; deltas: (absolute, relative) of facts;
    confidence: given the facts and given the passages."""
    if "band" in given:
        return {"words": 9, "sentences": 1, "syllables": 30, "band": given["band"]}
    if "votes" in given:
        return {"votes": given["votes"], "claims": []}
    votes = [
        {name: {"vote": "n/a", "labels": list(labels)}}
        for name, labels in given.get("verdicts", ())
    ]
    found: dict[str, Any] = {"claims": [{"claim": "Ice fell.", "dimensions": one} for one in votes]}
    found["claims"] += [
        {"claim": "Ice fell.", "delta": d, "relative": r} for d, r in given.get("deltas", ())
    ]
    if "confidence" in given:
        facts, passages = given["confidence"]
        found |= {"confidence": facts, "given_the_passages": {"confidence": passages}}
    return found


def scores(values: Sequence[float | None]) -> list[AnswerScore]:
    """A score for each value, of the questions q0, q1, …"""
    return [score(f"q{i}", value) for i, value in enumerate(values)]


def confident(
    pairs: Sequence[tuple[float, float]], values: Sequence[float | None]
) -> list[AnswerScore]:
    """Scores of context utilization with (f(q, C), f(q, D)) of each."""
    return [
        score(f"q{i}", value, confidence=pair)
        for i, (pair, value) in enumerate(zip(pairs, values, strict=True))
    ]


def results(**more: Any) -> ScoreResults:
    """A study of the generator `g`, the evaluator `e` and the proxies `p` and `q`."""
    given: dict[str, Any] = {
        "generators": ("g",),
        "evaluators": ("e",),
        "proxies": ("p", "q"),
        "weights": WEIGHTS,
        "intervals": FAST,
        **more,
    }
    return ScoreResults(**given)


def grids(study: ScoreResults, *names: str) -> list[Grid[Any]]:
    """Tables of the study's recipe."""
    tables = pages_of("score", VOCABULARY, sources(study, 1)).grids
    return [tables[name] for name in names]
