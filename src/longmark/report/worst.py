"""Which scores of an answer are low, and what their rows say about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import itemgetter
from typing import Any

from longmark.records import Row
from longmark.records.evidence import (
    Claims,
    DimensionScore,
    Facts,
    Judgements,
    Passages,
    Points,
    Questions,
    Support,
)
from longmark.report.support import Basis
from longmark.scores.manifest import MetricFacts
from longmark.text.graph import Recorded

GOOD = 2 / 3
FAIR = 1 / 3
"""Places on a metric's scale from which a score is drawn as good and as fair; below it is drawn as poor."""
_MOST_REASONS = 2


def place_of(facts: MetricFacts, score: float) -> float | None:
    """A score's place between its metric's bounds, 0 (lowest) to 1 (highest); None without bounds."""
    lo = facts.lo
    hi = facts.hi
    return None if lo is None or hi is None or hi <= lo else (score - lo) / (hi - lo)


def goodness(facts: MetricFacts, score: float) -> float | None:
    """The place between the lower bound and the greatest score that an answer in its own words can get, 0 (bad) to 1
    (good): reversed if lower is better; None without a direction or without bounds."""
    place = place_of(replace(facts, hi=facts.attainable), score)
    if place is None or facts.higher_is_better is None:
        return None
    place = min(place, 1.0)
    return place if facts.higher_is_better else 1 - place


def kind_of(facts: MetricFacts, score: float) -> str:
    """`good`, `fair`, `poor`, or `plain` for a metric without a direction or bounds."""
    place = goodness(facts, score)
    return (
        "plain"
        if place is None
        else "good"
        if place >= GOOD
        else "fair"
        if place >= FAIR
        else "poor"
    )


def worst_of(
    results: Mapping[str, Row], facts: Mapping[str, MetricFacts]
) -> list[tuple[str, tuple[str, str] | None]]:
    """The lowest scores of an answer that are not good, at most two of different evidence, and one missing score; each
    metric with what its row says about it: a label and a text."""
    rows = [(name, results[name]) for name in facts if name in results]
    places = {name: goodness(facts[name], row.score) for name, row in rows if row.score is not None}
    low = [(place, name) for name, place in places.items() if place is not None and place < GOOD]
    reasons: dict[str, tuple[str, str] | None] = {}
    for _, name in sorted(low, key=itemgetter(0)):
        why = why_of(results[name], facts[name])
        if why is None or why[1] not in {reason[1] for reason in reasons.values() if reason}:
            reasons[name] = why
        if len(reasons) == _MOST_REASONS:
            break
    missing = next(
        ((name, why_of(row, facts[name])) for name, row in rows if row.score is None), None
    )
    return [*reasons.items(), *([missing] if missing else [])]


def worst_or_lowest(
    results: Mapping[str, Row], facts: Mapping[str, MetricFacts]
) -> list[tuple[str, tuple[str, str] | None]]:
    """Those of `worst_of`; of an answer whose scores are all good the lowest score, of which there is nothing to say."""
    if reasons := worst_of(results, facts):
        return reasons
    places = [
        (place, name)
        for name in facts
        if name in results
        if (score := results[name].score) is not None
        if (place := goodness(facts[name], score)) is not None
    ]
    return [(name, None) for _, name in sorted(places, key=itemgetter(0))[:1]]


def why_of(row: Row, facts: MetricFacts) -> tuple[str, str] | None:
    """What makes a score bad: as the metric declares it, else as its view shows it, else the reason in its evidence."""
    if row.score is None:
        return ("Not scored", row.reason) if row.reason else None
    label, key, field, value = facts.why
    entries = [
        entry
        for entry in _list(row.evidence.get(key))
        if not (isinstance(entry, dict) and entry.get(field) == value)
    ]
    by_view = _BY_VIEW.get(facts.view[0])
    if key:
        labelled_entries = [(label, entries)]
    elif facts.view[0] == "support":
        labelled_entries = _support(row, facts)
    else:
        labelled_entries = by_view(row.evidence) if by_view else []
    labelled_entries.append(("Reason", [row.evidence.get("reason") or row.evidence.get("rule")]))
    for label, entries in labelled_entries:
        candidates = (
            entry.get("text") or entry.get("claim") if isinstance(entry, dict) else entry
            for entry in entries
        )
        texts: list[str] = [text for text in candidates if isinstance(text, str) and text.strip()]
        if texts:
            return (f"{label} (1 of {len(texts)})" if len(texts) > 1 else label), texts[0]
    return None


Found = list[tuple[str, list[Any]]]


def _claims(evidence: Mapping[str, Any]) -> Found:
    if overall := Claims.of(evidence):
        no = [
            claim.claim
            for claim in overall.claims
            if any(vote.vote == "no" for vote in claim.dimensions.values())
        ]
    else:
        dimension = DimensionScore.of(evidence)
        no = [claim.claim for claim in dimension.claims if claim.vote == "no"] if dimension else []
    return [("Unsupported claim", no)]


def _judges(evidence: Mapping[str, Any]) -> Found:
    judgements = Judgements.of(evidence)
    scored = (
        [(judge.score, judge) for judge in judgements.judges if judge.score is not None]
        if judgements
        else []
    )
    if not scored:
        return []
    _, judge = min(scored, key=itemgetter(0))
    judge_name = judge.model.partition("@")[0] if judge.model else "the judge"
    return [(f"Reason of {judge_name}", [judge.reason]), (f"Reply of {judge_name}", [judge.text])]


def _points(evidence: Mapping[str, Any]) -> Found:
    points = Points.of(evidence)
    worse = (
        [
            (point.delta, point.text)
            for point in points.points
            if point.delta is not None and point.delta < 0
        ]
        if points
        else []
    )
    return [("Least relevant point", [min(worse, key=itemgetter(0))[1]])] if worse else []


def _facts(evidence: Mapping[str, Any]) -> Found:
    facts = Facts.of(evidence)
    return [("Most distracting fact", [facts.most_distracting if facts else None])]


def _questions(evidence: Mapping[str, Any]) -> Found:
    questions = Questions.of(evidence)
    nearest = (
        min(questions.questions, key=lambda question: question.cosine, default=None)
        if questions
        else None
    )
    return [("The answer fits another question", [nearest.question if nearest else None])]


def _marked(evidence: Mapping[str, Any]) -> Found:
    passages = Passages.of(evidence)
    return [("Passage", [passage.text for passage in passages.marked] if passages else [])]


def _support(row: Row, facts: MetricFacts) -> Found:
    evidence = Support.of(row.evidence)
    basis = Basis.of([(row, facts)])
    label = (
        "Claim that the reference does not entail"
        if basis.source == "references"
        else "Unsupported claim"
    )
    unsupported = (
        [claim.claim for claim in evidence.claims if basis.state(claim) in ("no", "wrong")]
        if evidence
        else []
    )
    return [(label, unsupported)]


def _graph(evidence: Mapping[str, Any]) -> Found:
    try:
        recorded = Recorded.of(evidence)
    except ValueError:
        return []
    return [
        (
            "Missing statement",
            [statement.text for statement in recorded.statements if statement.id in recorded.basis],
        )
    ]


_BY_VIEW: Mapping[str, Callable[[Mapping[str, Any]], Found]] = {
    "claims": _claims,
    "judges": _judges,
    "graph": _graph,
    "points": _points,
    "facts": _facts,
    "questions": _questions,
    "marked": _marked,
}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
