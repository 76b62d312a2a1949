"""The results of a SCORE study: the rows of its run folders by who answered and who judged, and their means.

A variant belongs to the question that it is a variant of. Intervals of means are by Hall's t
(`stats.means`), clipped to the metric's bounds, with a question as the cluster of its rows (its variants, its facts).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from longmark.contrib.papers.score.labels import DimensionLabels
from longmark.contrib.papers.score.plan import (
    EVALUATOR,
    ONCE,
    PARAPHRASER,
    POINTS,
    PROXY,
    ScorePlan,
)
from longmark.domain import Domain
from longmark.records import Row
from longmark.records.evidence import Claims, DimensionScore, Facts, VoteLabel
from longmark.records.metric_name import base_of
from longmark.scores.files import examples_of, rows_of
from longmark.scores.manifest import read_manifest
from longmark.stats.means import Bounds, mean_estimate
from longmark.stats.results import Estimate

SPECIFICITY = "score.specificity"
MASKED = "score.answer_relevance.masked"
PLAIN = "score.answer_relevance.plain"
PARAPHRASE = "score.robustness.paraphrase"
PERTURBATION = "score.robustness.perturbation"
RELEVANCE = "score.segment_attribution.relevance"
CHANGED = "score.segment_attribution.order_changed"
ABSOLUTE = "score.context_utilization.absolute"
RELATIVE = "score.context_utilization.relative"
EASE = "score.readability.reading_ease"
GRADE = "score.readability.grade_level"

PAPER_CHANGES = frozenset(("hazard", "location"))
"""What the perturbations of the paper change: one of these slots, or both (section 3.2)."""
UNBOUNDED: Bounds = (None, None)
SHARE: Bounds = (0.0, 1.0)


@dataclass(frozen=True)
class AnswerScore:
    """A row of a run. question: the question_id of the original; variant: the kind of variant, "" for an original; by:
    the evaluator that wrote a paraphrase, "" if all evaluators share it."""

    row: Row
    question: str
    variant: str = ""
    by: str = ""

    @property
    def example(self) -> str:
        return self.row.example_id

    @property
    def score(self) -> float | None:
        return self.row.score

    @cached_property
    def facts(self) -> Facts | None:
        """Of context utilization; None where the row has none."""
        return Facts.of(self.row.evidence)

    @cached_property
    def votes(self) -> Mapping[VoteLabel, int] | None:
        """Label -> number of claims, of one dimension of specificity; None where the evidence has another form."""
        dimension = DimensionScore.of(self.row.evidence)
        return dimension.votes if dimension else None

    def verdicts(self, dimension: str) -> list[Sequence[VoteLabel | None]]:
        """Of each claim the verdict of each juror on the dimension, None where a judge left it out."""
        claims = Claims.of(self.row.evidence)
        by_claim = [claim.dimensions for claim in claims.claims] if claims else []
        return [votes[dimension].labels for votes in by_claim if dimension in votes]


Scores = dict[str, list[AnswerScore]]
"""Name of a score -> its rows, in the order of the examples."""


@dataclass(frozen=True, slots=True)
class Intervals:
    """How intervals are made."""

    seed: int = 0
    level: float = 0.95
    resamples: int = 10_000

    @property
    def name(self) -> str:
        return f"{100 * self.level:g} % CI"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean(Estimate):
    """The mean of the rows with a score. sd: with n - 1, None below two. reason: why scores, or the interval, are
    missing."""

    sd: float | None = None
    least: float | None = None
    greatest: float | None = None

    @property
    def total(self) -> int:
        return self.n + self.missing

    def scaled(self, by: float) -> Mean:
        """The mean in another unit: by = 100 for percent."""
        names = ("value", "low", "high", "sd", "least", "greatest")
        numbers: dict[str, Any] = {
            name: by * number for name in names if (number := getattr(self, name)) is not None
        }
        return replace(self, **numbers)


@dataclass(frozen=True)
class ScoreResults:
    """once, points: by generator; judged: by generator and evaluator; proxied: by generator and proxy; runs without
    scores are absent. weights: of the dimensions of specificity; bounds: of the metrics; pooled: the kinds of
    perturbation that table 1 takes together, None: all; labels: of raters, if a file was given."""

    generators: tuple[str, ...]
    evaluators: tuple[str, ...]
    proxies: tuple[str, ...]
    weights: Mapping[str, float]
    once: Mapping[str, Scores] = field(default_factory=dict)
    points: Mapping[str, Scores] = field(default_factory=dict)
    judged: Mapping[tuple[str, str], Scores] = field(default_factory=dict)
    proxied: Mapping[tuple[str, str], Scores] = field(default_factory=dict)
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    pooled: tuple[str, ...] | None = None
    labels: DimensionLabels | None = None
    intervals: Intervals = field(default_factory=Intervals)

    def unscored(self) -> list[str]:
        """The metrics of which every row failed; a row that is undefined did not."""
        runs = [
            *self.once.values(),
            *self.points.values(),
            *self.judged.values(),
            *self.proxied.values(),
        ]
        names = dict.fromkeys(metric for scores in runs for metric in scores)
        rows = {
            name: {score.row.status for scores in runs for score in scores.get(name, ())}
            for name in names
        }
        return [
            name
            for name, statuses in rows.items()
            if not statuses & {"ok", "undefined", "missing_input"}
        ]

    def mean(self, metric: str, scores: Sequence[AnswerScore]) -> Mean:
        values = [score.score for score in scores]
        questions = [score.question for score in scores]
        return mean_of(
            values,
            questions,
            self.intervals,
            self.bounds.get(metric, UNBOUNDED),
            why_unscored(scores),
        )


def results_of(
    plan: ScorePlan, domain: Domain, labels: DimensionLabels | None = None
) -> ScoreResults:
    """The scores that the runs of a study have so far."""
    bounds: dict[str, Bounds] = {}
    scores_by_kind: dict[str, dict[tuple[str, str], Scores]] = {
        kind: {} for kind in (ONCE, POINTS, EVALUATOR, PROXY)
    }
    for written_by in plan.generators:
        for kind, label, name in plan.runs():
            run = plan.run_path(written_by, name)
            bounds |= bounds_in(run)
            if scores := read(run):
                scores_by_kind[kind][written_by.label, label] = scores
    return ScoreResults(
        generators=tuple(generator.label for generator in plan.generators),
        evaluators=tuple(evaluator.label for evaluator in plan.evaluators),
        proxies=tuple(proxy.label for proxy in plan.proxies),
        weights=dict(domain.weights),
        once={generator: scores for (generator, _), scores in scores_by_kind[ONCE].items()},
        points={generator: scores for (generator, _), scores in scores_by_kind[POINTS].items()},
        judged=scores_by_kind[EVALUATOR],
        proxied=scores_by_kind[PROXY],
        bounds=bounds,
        pooled=_pooled(domain),
        labels=labels,
    )


def _pooled(domain: Domain) -> tuple[str, ...] | None:
    """Of a domain with hazards and locations the kinds that change nothing else, as the paper's; of others all."""
    if not {slot.name for slot in domain.slots} >= PAPER_CHANGES:
        return None
    return tuple(
        variant.name for variant in domain.variants if set(variant.change) <= PAPER_CHANGES
    )


def read(run: Path) -> Scores:
    """The scores of a run folder; {} if there is none, or none yet."""
    scores: Scores = {}
    if (run / "rows.jsonl").exists():
        examples = {
            example.id: (
                example.variant_of or example.question_id,
                example.variant or "",
                str(example.meta.get(PARAPHRASER, "")),
            )
            for example in examples_of(run)
        }
        for row in rows_of(run):
            original = examples.get(row.example_id, (row.question_id, "", ""))
            scores.setdefault(base_of(row.metric), []).append(AnswerScore(row, *original))
    return scores


def bounds_in(run: Path) -> dict[str, Bounds]:
    """The bounds of a run's metrics, from its manifest; {} if there are no scores yet."""
    if not (run / "rows.jsonl").exists():
        return {}
    return {
        base_of(name): (facts.lo, facts.hi) for name, facts in read_manifest(run).metrics().items()
    }


# Means --------------------------------------------------------------------------------------------------------------


def why_unscored(scores: Iterable[AnswerScore]) -> str:
    """Why rows have no score: each status with its count, and its most frequent reason."""
    reasons: dict[str, Counter[str | None]] = {}
    for score in scores:
        if score.score is None:
            reasons.setdefault(score.row.status, Counter())[score.row.reason] += 1
    most_frequent = sorted(reasons.items(), key=lambda item: -item[1].total())
    return "; ".join(
        f"{status_reasons.total():,} {status} ({status_reasons.most_common(1)[0][0]})"
        for status, status_reasons in most_frequent
    )


def in_words(*parts: str | None) -> str | None:
    """Several reasons as one; None if there is none."""
    return "; ".join(part for part in parts if part) or None


def mean_of(
    values: Sequence[float | None],
    questions: Sequence[str],
    intervals: Intervals,
    bounds: Bounds = UNBOUNDED,
    unscored: str = "",
) -> Mean:
    """The mean of the values that are not None. questions: of each value; bounds: of the values; unscored: why others
    are missing."""
    known_values = [
        (value, question)
        for value, question in zip(values, questions, strict=True)
        if value is not None
    ]
    missing = len(values) - len(known_values)
    if not known_values:
        return Mean(None, None, None, 0, reason=unscored or "there is no value", missing=missing)
    numbers = [value for value, _ in known_values]
    value_questions = [question for _, question in known_values]
    estimate = mean_estimate(numbers, value_questions, bounds, intervals.level)
    why = "all values belong to one question" if estimate.clusters == 1 else estimate.reason
    return Mean(
        **{
            field.name: getattr(estimate, field.name)
            for field in fields(Estimate)
            if field.name not in ("missing", "reason")
        },
        missing=missing,
        reason=in_words(unscored, why and f"no interval: {why}"),
        sd=float(np.std(sorted(numbers), ddof=1)) if len(numbers) > 1 else None,
        least=min(numbers),
        greatest=max(numbers),
    )
