"""Criteria relative to a reference report: RACE of DeepResearch Bench (Ayanami0730/deep_research_bench at 214741e).

    score = answer / (answer + reference), each the sum over criteria of points x rating, from 0 to 10

The judge rates answer and reference by each criterion, in one call, without the points (deepresearch_bench_race.py:
66-91). RACE's weights are dimension_weight x weight / sum of the dimension's weights, which gives the same totals as its
mean by dimension (utils/score_calculator.py); the score of each dimension is the same formula over its criteria (157-165).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import ConfigDict

from longmark.concurrency import concurrently
from longmark.errors import NoScore
from longmark.judge import Reader, ReplyForm, Unreadable, ask, numbered, structure
from longmark.metric import Score
from longmark.models.handles import Models
from longmark.prompts import prompt
from longmark.records import Example
from longmark.records.expected import RubricItem
from longmark.reply_schema import object_schema
from longmark.text.pieces import groups

HIGHEST = 10
_BATCH = 60  # criteria in a call: RACE has about 25 of a question, in one
_BYTES = 24_000  # of them

RATES = prompt("""criteria.relative(answer, reference, question, criteria)
The answer and the reference are two reports on the question. Compare them by each numbered criterion, and rate both by \
it, from 0 to 10:
0-2: very poor, it hardly meets the criterion.
2-4: poor, with significant deficiencies.
4-6: average, neither good nor bad.
6-8: good, with strengths.
8-10: excellent, it meets the criterion in full.
Take the criteria one by one, each without the others. Which text is the reference says nothing of its quality.
Reply with a JSON object and nothing else. It has the ratings of each text, with one key for each number, in this form: \
$form""")


class _Ratings(ReplyForm):
    model_config = ConfigDict(strict=True)

    answer: dict[str, float]
    reference: dict[str, float]


@dataclass(frozen=True, slots=True)
class RatedCriterion:
    """A criterion with the ratings of both texts, from 0 to 10."""

    item: RubricItem
    answer: float
    reference: float

    @property
    def shortfall(self) -> float:
        """The points by which the answer is behind the reference; negative where it is ahead."""
        return self.item.points * (self.reference - self.answer)


def relative_score(rated: Sequence[RatedCriterion]) -> float | None:
    """The answer's share of what both texts get, in [0, 1]; .5: as good as the reference. None where both get 0."""
    answer = math.fsum(criterion.item.points * criterion.answer for criterion in rated)
    reference = math.fsum(criterion.item.points * criterion.reference for criterion in rated)
    return answer / (answer + reference) if answer + reference else None


def counted_items(items: Sequence[RubricItem]) -> list[RubricItem]:
    """The criteria that are rated: a rating of a fault would reward it."""
    return [item for item in items if item.points > 0]


def relative_batches(items: Sequence[RubricItem]) -> list[list[str]]:
    """The criteria of each call."""
    texts = list(dict.fromkeys(item.criterion for item in counted_items(items)))
    return groups(texts, _BYTES, _BATCH)


def counts(item: RubricItem, tag: str) -> bool:
    """Whether a criterion counts for the score of a tag; "": all do."""
    return not tag or tag in item.tags


async def score_relative(
    example: Example, models: Models, items: Sequence[RubricItem], tag: str = ""
) -> Score:
    """The score beside the reference, by the criteria with the tag; of several references, the one beside which the score
    by all criteria is highest."""
    if not example.references:
        raise NoScore("missing_input", "The example has no reference answer (form=relative).")
    rated_by_reference = await concurrently(
        lambda reference: _rated(example, reference, models, items), example.references
    )
    scored = [(relative_score(rated), rated) for rated in rated_by_reference]
    best, best_rated = max(scored, key=lambda pair: -1.0 if pair[0] is None else pair[0])
    if best is None:
        raise NoScore("undefined", "Answer and reference are rated 0 by every criterion.")
    if tag:
        best = relative_score([rated for rated in best_rated if counts(rated.item, tag)])
    if best is None:
        raise NoScore("undefined", f"Answer and reference are rated 0 by every criterion of {tag}.")
    return Score(best, _evidence(best_rated, models.judges[0].name))


async def _rated(
    example: Example, reference: str, models: Models, items: Sequence[RubricItem]
) -> list[RatedCriterion]:
    async def ratings_of(batch: Sequence[str]) -> list[tuple[float, float]]:
        texts = {
            "answer": example.answer or "",
            "reference": reference,
            "question": example.asked,
            "criteria": numbered(batch),
            "form": '{"answer": {"1": 6.5, "2": 3, …}, "reference": {"1": 7, "2": 4.5, …}}',
        }
        return (await ask(models, models.judges[0], RATES, texts, _reader(len(batch)))).value

    batches = relative_batches(items)
    ratings = await concurrently(ratings_of, batches)
    by_text = {
        text: pair
        for batch, pairs in zip(batches, ratings, strict=True)
        for text, pair in zip(batch, pairs, strict=True)
    }
    return [RatedCriterion(item, *by_text[item.criterion]) for item in counted_items(items)]


@lru_cache
def _reader(count: int) -> Reader[list[tuple[float, float]]]:
    """Reads a rating from 0 to 10 of both texts for each number from 1 to count; unreadable unless there is exactly one
    for each."""
    numbers = [str(number) for number in range(1, count + 1)]
    rating = {"type": "number", "minimum": 0, "maximum": HIGHEST}
    ratings = object_schema(dict.fromkeys(numbers, rating))
    schema = object_schema({"answer": ratings, "reference": ratings})

    def complete(reply: _Ratings) -> list[tuple[float, float]]:
        for name, of_text in (("answer", reply.answer), ("reference", reply.reference)):
            if differing := sorted(set(numbers) ^ set(of_text)):
                raise Unreadable(
                    f"{name}: it needs one rating for each number from 1 to {count}; see {differing[0]}"
                )
            for number, value in of_text.items():
                if not 0 <= value <= HIGHEST:
                    raise Unreadable(
                        f"{name}: {number}: {value:g} is no rating from 0 to {HIGHEST}"
                    )
        return [(reply.answer[number], reply.reference[number]) for number in numbers]

    return structure(_Ratings, 64 + 32 * count, schema).then(complete)


def _evidence(rated: Sequence[RatedCriterion], judge: str) -> dict[str, Any]:
    """The criteria, those first by which the answer is furthest behind, and the score of each tag."""
    in_order = sorted(rated, key=lambda criterion: -criterion.shortfall)
    entries = [
        {
            "text": criterion.item.criterion,
            "points": criterion.item.points,
            "answer": criterion.answer,
            "reference": criterion.reference,
            "effect": "lost" if criterion.shortfall > 0 else "kept",
            "tags": ", ".join(criterion.item.tags),
        }
        for criterion in in_order
    ]
    tags = list(dict.fromkeys(tag for criterion in rated for tag in criterion.item.tags))
    by_tag = [
        {"tag": tag, "score": relative_score([c for c in rated if tag in c.item.tags])}
        for tag in tags
    ]
    return {
        "criteria": entries,
        "by_tag": [entry for entry in by_tag if entry["score"] is not None],
        "judge": judge,
    }
