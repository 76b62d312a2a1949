"""Segment attribution: an answer's relevance to a reranker, and what each point adds (SCORE, section 3.3, equation 3).

    relevance      R(q, a)
    delta_i        R(q, a) - R(q, a without point i)        in the evidence of both
    order_changed  1 if sorting the points by descending delta changes their order, else 0

R is the reranker's raw score (no sigmoid) of the question and the answer's intro and points, without a closing part
such as a statement of confidence (`metrics/score/_segments.py` defines the parts). Raw scores of different rerankers are
not comparable. The paper reports how often `order_changed` is 1. Points whose deltas differ by less than 1e-6 keep their
order. Rerankers truncate long texts (bge-reranker-base after 512 tokens), so points near the end may have no effect; the
evidence lists them.
Unscored (`undefined`): an empty answer; the order of an answer of one point, or of more than `max_points`.
Cost: 1 reranker call with n + 1 documents for n points.

Deviations: the published counts of changed orders (1,393 and 1,397 of 1,412) also count the closing part, which the
authors' code drops from the rewritten answer, and an answer of one point as unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from longmark.errors import NoScore
from longmark.metric import Metric, Score, ScoreSpec, Silence
from longmark.metrics.score._segments import Segment, content, points, reorder, split, without
from longmark.models.handles import Models
from longmark.models.leave_one_out import order
from longmark.records import Example
from longmark.records.evidence import Point, Points

_DIGITS = (
    6  # significant decimals of a delta: the rest varies with the batch that a document was read in
)


@dataclass(frozen=True, slots=True)
class SegmentAttributionParams:
    max_points: int = 100

    def __post_init__(self) -> None:
        if self.max_points < 2:
            raise ValueError("max_points is at least 2: one point has no order")


def by_delta(deltas: Sequence[float]) -> list[int]:
    """The numbers (from 0) of points by descending delta; equal ones in their order."""
    return sorted(range(len(deltas)), key=lambda i: -round(deltas[i], _DIGITS))


async def score(
    example: Example, models: Models, params: SegmentAttributionParams
) -> dict[str, Score | NoScore]:
    """The relevance of one answer, and whether its points change their order."""
    segments = split(example.answer or "")
    count = len(points(segments))
    if not content(segments):
        raise NoScore("undefined", "The answer is empty.")
    in_order = 1 < count <= params.max_points
    left_out = order(count) if in_order else [None]
    documents = [
        content(segments) if left is None else without(segments, left) for left in left_out
    ]
    relevance, *relevance_without = (await models.rerank(example.question or "", documents)).scores
    if not in_order:
        evidence = _evidence(segments)
        return {
            "relevance": Score(relevance, evidence),
            "order_changed": _no_order(segments, params),
        }
    by_point = dict(zip(left_out[1:], relevance_without, strict=True))
    deltas = [relevance - by_point[i] for i in range(count)]
    new = by_delta(deltas)
    moved = {"new_order": [i + 1 for i in new], "rewritten_answer": reorder(segments, new)}
    evidence = _evidence(segments, deltas, relevance=relevance, **moved)
    return {
        "relevance": Score(relevance, _evidence(segments, deltas)),
        "order_changed": Score(float(new != sorted(new)), evidence),
    }


def _evidence(
    segments: Sequence[Segment], deltas: Sequence[float] | None = None, **further: Any
) -> dict[str, Any]:
    """Intro, points with their deltas (if there are any), and closing part. more: further fields of `Points`."""
    listed = [Point(point=i, text=point.text) for i, point in enumerate(points(segments), 1)]
    if deltas is not None:
        listed = [
            point.model_copy(update={"delta": delta})
            for point, delta in zip(listed, deltas, strict=True)
        ]
        further["without_effect"] = [
            number for number, delta in enumerate(deltas, 1) if not round(delta, _DIGITS)
        ]
    ends: dict[str, Any] = {
        "intro": _text(segments, "intro"),
        "closing": _text(segments, "closing"),
    }
    return Points(points=listed, **ends, **further).evidence()


def _text(segments: Sequence[Segment], kind: str) -> str | None:
    return next((segment.text for segment in segments if segment.kind == kind), None)


def _no_order(segments: Sequence[Segment], params: SegmentAttributionParams) -> NoScore:
    count = len(points(segments))
    if count == 1:
        return NoScore(
            "undefined",
            "The answer has one point, so its points have no order.",
            _evidence(segments),
        )
    reason = (
        f"The answer has {count:,} points; at most {params.max_points:,} are left out one by one "
        "(score.segment_attribution@max_points=N)."
    )
    parts = {
        "intro": _text(segments, "intro"),
        "count": count,
        "closing": _text(segments, "closing"),
    }
    return NoScore("undefined", reason, parts)


_NO_ORDER = Silence("undefined", "undefined", "undefined")  # fewer than two points have no order

METRIC = Metric(
    score,
    needs=("question", "answer"),
    scores={
        "relevance": ScoreSpec(bounds=(None, None), higher_is_better=True),
        "order_changed": ScoreSpec(bounds=(0, 1), higher_is_better=None),
    },
    models=("reranker",),
    params=SegmentAttributionParams,
    calls=lambda example, _params, _judges: int(bool((example.answer or "").strip())),
    silence={"relevance": Silence("undefined"), "order_changed": _NO_ORDER},
    view="points",
)
