"""The marks of a study, read from its run folders: of each row what the tables need, and the question it belongs to.

A variant belongs to the question that it is a variant of, so that rows which share a question are resampled together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longmark.records import Row
from longmark.scores.files import examples_of, rows_of
from longmark.scores.manifest import read_manifest

SPECIFICITY = "score.specificity"
MASKED, PLAIN = "score.answer_relevance.masked", "score.answer_relevance.plain"
PARAPHRASE, PERTURBATION = "score.robustness.paraphrase", "score.robustness.perturbation"
RELEVANCE, CHANGED = "score.segment_attribution.relevance", "score.segment_attribution.order_changed"
ABSOLUTE, RELATIVE = "score.context_utilization.absolute", "score.context_utilization.relative"
EASE, GRADE = "score.readability.reading_ease", "score.readability.grade_level"

Bounds = tuple[float | None, float | None]
"""Least and greatest value that a metric can have; None: no limit."""
UNBOUNDED: Bounds = (None, None)


@dataclass(frozen=True, slots=True)
class Confidence:
    """The proxy's confidence in an answer given the facts (f(q, C)) and given the passages (f(q, D)), each as a
    geometric mean of probabilities and as an entropy; None where the proxy did not give it."""

    facts: float | None
    documents: float | None
    facts_entropy: float | None
    documents_entropy: float | None


@dataclass(frozen=True, slots=True)
class Mark:
    """One row. question: the question_id of the original; variant: the kind of variant, "" for an original.

    votes: how many claims were voted yes, no and n/a on the dimension of the row; labels: for each claim and dimension
    the label of each juror, None where it left it out; deltas: of each fact, absolute and relative; band: of
    readability.
    """

    example: str
    question: str
    variant: str
    value: float | None
    status: str
    reason: str | None
    votes: Mapping[str, int] = field(default_factory=dict)
    labels: Sequence[tuple[str, Sequence[str | None]]] = ()
    deltas: Sequence[tuple[float, float | None]] = ()
    confidence: Confidence | None = None
    band: str = ""


Marks = dict[str, list[Mark]]
"""Value of a metric -> its rows, in the order of the examples."""


def read(run: Path) -> Marks:
    """The marks of a run folder; {} where there is none, or none yet."""
    if not (run / "rows.jsonl").exists():
        return {}
    originals: dict[str, tuple[str, str]] = {}
    for example in examples_of(run):
        originals[example.id] = (example.variant_of or example.question_id, example.variant or "")
    found: Marks = {}
    for row in rows_of(run):
        found.setdefault(row.metric, []).append(_mark(row, *originals.get(row.example_id, (row.question_id, ""))))
    return found


def bounds_in(run: Path) -> dict[str, Bounds]:
    """The bounds of a run's metrics, as its manifest has them; {} where there are no marks yet."""
    if not (run / "rows.jsonl").exists():
        return {}
    return {name: (facts.lo, facts.hi) for name, facts in read_manifest(run).metrics().items()}


def _mark(row: Row, question: str, variant: str) -> Mark:
    evidence = row.evidence
    return Mark(
        example=row.example_id,
        question=question,
        variant=variant,
        value=row.score,
        status=row.status,
        reason=row.reason,
        votes=evidence.get("votes", {}),
        labels=_labels(evidence) if row.metric == SPECIFICITY else (),
        deltas=_deltas(evidence) if row.metric == ABSOLUTE else (),
        confidence=_confidence(evidence) if row.metric == ABSOLUTE and "confidence" in evidence else None,
        band=evidence.get("band", ""),
    )


def _labels(evidence: Mapping[str, Any]) -> list[tuple[str, Sequence[str | None]]]:
    return [
        (dimension, shown["labels"])
        for claim in evidence.get("claims", ())
        for dimension, shown in claim["dimensions"].items()
    ]


def _deltas(evidence: Mapping[str, Any]) -> list[tuple[float, float | None]]:
    return [(claim["delta"], claim["relative"]) for claim in evidence.get("claims", ())]


def _confidence(evidence: Mapping[str, Any]) -> Confidence:
    passages = evidence.get("given_the_passages", {})
    return Confidence(
        evidence["confidence"], passages.get("confidence"), evidence.get("entropy"), passages.get("entropy")
    )


def gaps(marks: Sequence[Mark]) -> str:
    """Why rows have no value: each status with how often it occurs, and the most frequent reason of each."""
    statuses: Counter[str] = Counter(mark.status for mark in marks if mark.value is None)
    told = []
    for status, count in statuses.most_common():
        reasons = Counter(mark.reason for mark in marks if mark.status == status)
        told.append(f"{count:,} {status} ({reasons.most_common(1)[0][0]})")
    return "; ".join(told)
