"""Segment attribution: an answer's relevance to a reranker, and what each point adds (SCORE, section 3.3, equation 3).

    relevance      R(q, a)                                  (-inf, inf), higher is better
    delta_i        R(q, a) - R(q, a without point i)        in the evidence of both
    order_changed  1 where sorting the points by descending delta changes their order, else 0

R is the reranker's raw score (no sigmoid) of the question and the answer's intro and points; a closing part (a
statement of confidence, say) is set apart first and comes back at the end of the rewritten answer, and the intro stays
first (`text.segments` says what counts as which). Raw scores of different rerankers are not comparable, and neither end
of `order_changed` is better: the paper reports how often it is 1. Deltas that differ by less than 1e-6 are equal, and
equal ones keep their order. Points without any effect are named: rerankers cut what they read (bge-reranker-base at 512
tokens), and points behind the cut have none.
An answer of one point has a relevance but no order (`undefined`); so has one of more than `max_points` points. An empty
answer has neither. Cost: 1 reranker call with n + 1 documents for n points.
Parameters: max_points, the most points that are left out one by one.
Deviations: the published counts of changed orders (1,393 and 1,397 of 1,412) also count the closing part, which the
authors' code drops from the rewritten answer; ours compares points with points. There an answer of one point counts as
unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from longmark.errors import NoScore
from longmark.metric import Metric, Score, Value
from longmark.models.handles import Models
from longmark.models.leave_one_out import order
from longmark.records import Example
from longmark.text.segments import Segment, content, points, reorder, split, without

_DIGITS = 6  # of a delta that count: what is left differs with the batch that a document was read in


@dataclass(frozen=True, slots=True)
class Params:
    max_points: int = 100

    def __post_init__(self) -> None:
        if self.max_points < 2:
            raise ValueError("max_points is at least 2: one point has no order")


async def score(example: Example, models: Models, params: Params) -> dict[str, Score | NoScore]:
    """The relevance of one answer, and whether its points change places."""
    segments = split(example.answer or "")
    found = points(segments)
    if not content(segments):
        raise NoScore("undefined", "The answer is empty.")
    in_order = 1 < len(found) <= params.max_points
    left_out = order(len(found)) if in_order else [None]
    documents = [content(segments) if left is None else without(segments, left) for left in left_out]
    scores = (await models.rerank(example.question or "", documents)).scores
    relevance, shown = scores[0], _parts(segments)
    if not in_order:
        return {"relevance": Score(relevance, shown), "order_changed": _no_order(len(found), params, shown)}
    deltas = [0.0] * len(found)
    for left, without_it in zip(left_out[1:], scores[1:], strict=True):
        assert left is not None
        deltas[left] = relevance - without_it
    shown["points"] = [
        {"point": number, "text": point.text, "delta": delta}
        for number, (point, delta) in enumerate(zip(found, deltas, strict=True), start=1)
    ]
    shown["without_effect"] = [number for number, delta in enumerate(deltas, start=1) if not round(delta, _DIGITS)]
    new = by_delta(deltas)
    moved = {"new_order": [i + 1 for i in new], "rewritten_answer": reorder(segments, new)}
    return {
        "relevance": Score(relevance, shown),
        "order_changed": Score(float(new != sorted(new)), {"relevance": relevance, **shown, **moved}),
    }


def by_delta(deltas: list[float]) -> list[int]:
    """The numbers (from 0) of points by descending delta; equal ones in their order."""
    return sorted(range(len(deltas)), key=lambda i: -round(deltas[i], _DIGITS))


def _parts(segments: tuple[Segment, ...]) -> dict[str, Any]:
    """Intro, points and closing part, as evidence."""
    texts = {kind: next((s.text for s in segments if s.kind == kind), None) for kind in ("intro", "closing")}
    shown = [{"point": number, "text": point.text} for number, point in enumerate(points(segments), start=1)]
    return {"intro": texts["intro"], "points": shown, "closing": texts["closing"]}


def _no_order(count: int, params: Params, shown: dict[str, Any]) -> NoScore:
    if count == 1:
        return NoScore("undefined", "The answer has one point, so its points have no order.", shown)
    reason = (
        f"The answer has {count:,} points; at most {params.max_points:,} are left out one by one "
        "(--param score.segment_attribution.max_points)."
    )
    return NoScore("undefined", reason, {"intro": shown["intro"], "count": count, "closing": shown["closing"]})


METRIC = Metric(
    score,
    needs=("question", "answer"),
    values={
        "relevance": Value(bounds=(None, None), higher_is_better=True),
        "order_changed": Value(bounds=(0, 1), higher_is_better=None),
    },
    models=("reranker",),
    params=Params,
    calls=lambda example, _params, _judges: int(bool((example.answer or "").strip())),
)
