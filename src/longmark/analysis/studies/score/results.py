"""The results of a SCORE study: the scores in its run folders by who answered and who judged, and their means.

A variant belongs to the question that it is a variant of, so that rows which share a question are resampled together.

Intervals are BCa from 15 values on, Student's t below, clipped to the metric's bounds (`mean_estimate`). Where rows
share a question (its variants, its facts), questions are counted and resampled: below 15 of them t is computed on what
each adds to the mean (the linearised ratio),

    u_q = m + (sum_q - n_q m) Q / n     of Q questions with n_q of the n values; mean m, and with n_q = 1 the values
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from longmark.analysis.studies.score.labels import Item, Labels
from longmark.analysis.studies.score.plan import ONCE_RUN, POINTS_RUN, Member, Plan, evaluator_run, proxy_run
from longmark.domain import Domain
from longmark.records import Row
from longmark.records.read import Reading
from longmark.report.tables import Range
from longmark.scores.files import examples_of, rows_of
from longmark.scores.manifest import read_manifest
from longmark.stats.bootstrap import FEWEST_BCA, bootstrap_mean
from longmark.stats.permutation import rounding
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats
from longmark.stats.student import STUDENT, Moments, mean_estimate

SPECIFICITY = "score.specificity"
MASKED, PLAIN = "score.answer_relevance.masked", "score.answer_relevance.plain"
PARAPHRASE, PERTURBATION = "score.robustness.paraphrase", "score.robustness.perturbation"
RELEVANCE, CHANGED = "score.segment_attribution.relevance", "score.segment_attribution.order_changed"
ABSOLUTE, RELATIVE = "score.context_utilization.absolute", "score.context_utilization.relative"
EASE, GRADE = "score.readability.reading_ease", "score.readability.grade_level"

PAPER_CHANGES = frozenset(("hazard", "location"))
"""What the perturbations of the paper change: one of these slots, or both (section 3.2)."""

Bounds = tuple[float | None, float | None]
"""Least and greatest score of a metric; None: no limit."""
UNBOUNDED: Bounds = (None, None)
SHARE: Bounds = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Confidence:
    """The proxy's confidence in an answer given the facts (f(q, C)) and given the passages (f(q, D)), each as a
    geometric mean of probabilities and as an entropy; None where the proxy did not give it."""

    facts: float | None
    documents: float | None
    facts_entropy: float | None
    documents_entropy: float | None


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """One row. question: the question_id of the original; variant: the kind of variant, "" for an original.

    votes: how many claims were voted yes, no and n/a on the dimension of the row; verdicts: for each claim its
    dimension and the verdict of each juror, None where it left it out; deltas: of each fact, absolute and relative;
    band: of readability.
    """

    example: str
    question: str
    variant: str
    score: float | None
    status: str
    reason: str | None
    votes: Mapping[str, int] = field(default_factory=dict)
    verdicts: Sequence[tuple[str, Sequence[str | None]]] = ()
    deltas: Sequence[tuple[float, float | None]] = ()
    confidence: Confidence | None = None
    band: str = ""


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
        return f"{self.level:.0%} CI"


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of the `scored` of `total` rows. sd: with n - 1; None below two. method: of the interval; reason: why
    there is none; unscored: why rows have no score, in words."""

    value: float | None
    sd: float | None
    low: float | None
    high: float | None
    least: float | None
    greatest: float | None
    scored: int
    total: int
    reason: str = ""
    unscored: str = ""
    method: str = ""

    @property
    def interval(self) -> Range:
        return Range(self.low, self.high)

    @property
    def missing(self) -> str | None:
        """What is missing and why: scores, and the interval where there is a mean; None: nothing is."""
        return in_words(self.unscored, f"no interval: {self.reason}" if self.reason and self.scored else "")


@dataclass(frozen=True)
class Results:
    """once, points: by generator; judged: by generator and evaluator; proxied: by generator and proxy; what was not
    scored is absent. weights: of the dimensions of specificity; bounds: of the metrics; pooled: the kinds of
    perturbation that table 1 takes together, None: all; labels: people's, where a file was given."""

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
    labels: Labels | None = None
    intervals: Intervals = field(default_factory=Intervals)

    @property
    def any(self) -> bool:
        return any((self.once, self.points, self.judged, self.proxied))

    def mean(self, metric: str, scores: Sequence[AnswerScore]) -> Mean:
        """The mean of scores of a metric."""
        values, questions = [one.score for one in scores], [one.question for one in scores]
        return mean_of(values, questions, self.intervals, self.bounds.get(metric, UNBOUNDED), why_unscored(scores))


def results_of(plan: Plan, domain: Domain, labels: Labels | None = None) -> Results:
    """The scores that the runs of a study hold by now."""

    def of_each(name: str) -> dict[str, Scores]:
        runs = ((one.label, read(plan.run_path(one, name))) for one in plan.generators)
        return {label: scores for label, scores in runs if scores}

    def of_pairs(members: Sequence[Member], name: Callable[[Member], str]) -> dict[tuple[str, str], Scores]:
        pairs = product(plan.generators, members)
        runs = ((one.label, other.label, read(plan.run_path(one, name(other)))) for one, other in pairs)
        return {(label, other): scores for label, other, scores in runs if scores}

    names = [ONCE_RUN, POINTS_RUN, *map(evaluator_run, plan.evaluators), *map(proxy_run, plan.proxies)]
    bounds: dict[str, Bounds] = {}
    for generator, name in product(plan.generators, names):
        bounds |= bounds_in(plan.run_path(generator, name))
    return Results(
        generators=tuple(one.label for one in plan.generators),
        evaluators=tuple(one.label for one in plan.evaluators),
        proxies=tuple(one.label for one in plan.proxies),
        weights=dict(domain.weights),
        once=of_each(ONCE_RUN),
        points=of_each(POINTS_RUN),
        judged=of_pairs(plan.evaluators, evaluator_run),
        proxied=of_pairs(plan.proxies, proxy_run),
        bounds=bounds,
        pooled=_pooled(domain),
        labels=labels,
    )


def _pooled(domain: Domain) -> tuple[str, ...] | None:
    """Of a domain with hazards and locations the kinds that change nothing else, as the paper's; of others all."""
    if not {slot.name for slot in domain.slots} >= PAPER_CHANGES:
        return None
    return tuple(variant.name for variant in domain.variants if set(variant.change) <= PAPER_CHANGES)


def answers_of(plan: Plan) -> dict[str, dict[str, Item]]:
    """generator -> id of an answer to an original, or of its question -> the answer."""
    found: dict[str, dict[str, Item]] = {}
    for generator in plan.generators:
        items = found.setdefault(generator.label, {})
        path = plan.answers_path(generator)
        for example in Reading(path) if path.exists() else ():
            if example.variant_of is None:
                item = Item(generator.label, example.id, example.question_id)
                items.setdefault(example.question_id, item)
                items[example.id] = item
    return found


# Reading ------------------------------------------------------------------------------------------------------------


def read(run: Path) -> Scores:
    """The scores of a run folder; {} where there is none, or none yet."""
    if not (run / "rows.jsonl").exists():
        return {}
    originals: dict[str, tuple[str, str]] = {}
    for example in examples_of(run):
        originals[example.id] = (example.variant_of or example.question_id, example.variant or "")
    found: Scores = {}
    for row in rows_of(run):
        found.setdefault(row.metric, []).append(_score(row, *originals.get(row.example_id, (row.question_id, ""))))
    return found


def bounds_in(run: Path) -> dict[str, Bounds]:
    """The bounds of a run's metrics, as its manifest has them; {} where there are no scores yet."""
    if not (run / "rows.jsonl").exists():
        return {}
    return {name: (facts.lo, facts.hi) for name, facts in read_manifest(run).metrics().items()}


def _score(row: Row, question: str, variant: str) -> AnswerScore:
    evidence: Mapping[str, Any] = row.evidence
    claims, more = evidence.get("claims", ()), dict[str, Any]()
    if row.metric == SPECIFICITY:
        more["verdicts"] = [(name, of["labels"]) for claim in claims for name, of in claim["dimensions"].items()]
    if row.metric == ABSOLUTE:
        more["deltas"] = [(claim["delta"], claim["relative"]) for claim in claims]
        if "confidence" in evidence:
            passages = evidence.get("given_the_passages", {})
            both = (evidence["confidence"], passages.get("confidence"))
            more["confidence"] = Confidence(*both, evidence.get("entropy"), passages.get("entropy"))
    votes, band = evidence.get("votes", {}), evidence.get("band", "")
    identity = (row.example_id, question, variant)
    return AnswerScore(*identity, row.score, row.status, row.reason, votes, band=band, **more)


def why_unscored(scores: Iterable[AnswerScore]) -> str:
    """Why rows have no score: each status with how often it occurs, and the most frequent reason of each."""
    reasons: dict[str, Counter[str | None]] = {}
    for one in scores:
        if one.score is None:
            reasons.setdefault(one.status, Counter())[one.reason] += 1
    most_frequent = sorted(reasons.items(), key=lambda item: -item[1].total())
    return "; ".join(f"{of.total():,} {status} ({of.most_common(1)[0][0]})" for status, of in most_frequent)


# Means --------------------------------------------------------------------------------------------------------------


def in_words(*parts: str | None) -> str | None:
    """Several reasons as one; None where there is none."""
    return "; ".join(part for part in parts if part) or None


def mean_of(
    values: Sequence[float | None],
    questions: Sequence[str],
    intervals: Intervals,
    bounds: Bounds = UNBOUNDED,
    unscored: str = "",
) -> Mean:
    """The mean of the values that are there. questions: of each value; bounds: of the values; unscored: why others are
    missing."""
    there = [(value, question) for value, question in zip(values, questions, strict=True) if value is not None]
    if not there:
        return Mean(None, None, None, None, None, None, 0, len(values), "there is no value", unscored)
    there.sort(key=lambda pair: pair[0])  # so that the interval does not depend on the order of the rows
    numbers = np.array([value for value, _ in there], dtype=np.float64)
    made = _interval(numbers, [question for _, question in there], intervals, bounds)
    return Mean(
        float(numbers.mean()),
        float(numbers.std(ddof=1)) if len(numbers) > 1 else None,
        made.low,
        made.high,
        float(numbers[0]),
        float(numbers[-1]),
        len(numbers),
        len(values),
        made.reason or "",
        unscored,
        made.method,
    )


def _interval(values: Floats, questions: Sequence[str], intervals: Intervals, bounds: Bounds) -> Estimate:
    units = _units(values, questions)
    made = mean_estimate(Moments.of(units.tolist()), bounds, intervals.level)
    if made.method == STUDENT and len(units) >= FEWEST_BCA:
        clusters, how = questions if len(units) < len(values) else None, asdict(intervals)
        drawn = bootstrap_mean(values, clusters=clusters, **how)
        if drawn.ends is not None:
            return drawn
    if len(units) == 1 < len(values):
        return replace(made, reason="all values belong to one question")
    return made


def _units(values: Floats, questions: Sequence[str]) -> Floats:
    """What the interval counts: the values, or for values that share questions a number for each question."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(questions))}
    largest = float(np.abs(values).max())
    if np.ptp(values) <= rounding(0.0, largest):
        return np.full(len(numbers), values[0])
    if len(numbers) == len(values):
        return values
    of = [numbers[name] for name in questions]
    mean, sizes = float(values.mean()), np.bincount(of)
    units = mean + (np.bincount(of, values) - sizes * mean) * len(numbers) / len(values)
    alike = np.ptp(units) <= rounding(0.0, largest)
    return np.full(len(units), mean) if alike else np.asarray(units, dtype=np.float64)
