"""Metrics against human ratings: correlation, AUC, calibration, error by class, differences, groups, PPI.

Results are of the metric oriented so that higher is better: above 0 it agrees with people. If a question has several
answers, intervals and tests leave out or resample whole questions.

An answer's class is the majority of its raters. If classes are numbers and the metric is on their scale, `error` is the
mean distance of the score from the class's number, and `nearest` counts the class whose number is nearest to the score
(the lower one of two). The prediction-powered mean (`stats.ppi`) is over all scored answers, and over those of each
system with a rating; it assumes that the rated answers are a random sample of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from longmark.analysis.grid import Compared, compared
from longmark.analysis.metaeval.agreement import RatedItems, RaterAgreement, Vote, agreement
from longmark.analysis.metaeval.binary import (
    NO_PAIR,
    Auc,
    Calibration,
    auc,
    auc_difference,
    calibration,
)
from longmark.analysis.metaeval.labels import (
    BINARY,
    Join,
    LabelScale,
    RatedAnswer,
    scale_of,
    text_of,
)
from longmark.analysis.metaeval.options import MetaevalOptions
from longmark.analysis.metaeval.results import (
    Clusters,
    GroupResult,
    clusters_of,
    directions,
    groups_of,
    on_scale,
    oriented,
    subset,
    unscored,
)
from longmark.records.pair import plurality
from longmark.scores.answer_parts import CRITERION
from longmark.scores.answers import AnswerScores
from longmark.scores.labels import Labels, order_for
from longmark.stats.correlation import Kind, coefficient, correlation, correlation_difference
from longmark.stats.means import mean_estimate
from longmark.stats.pairwise import pairs_right, soft_pairwise
from longmark.stats.ppi import PpiMean, ppi_mean
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats

ALL = "all"
_MOST_DISTINCT = 1_000_000_000  # pairs of different values beyond which ranks of every pair of metrics take too long
_MOST_QUESTIONS = 2_000
_MOST_POINTS = 2_000
_FEWEST_SYSTEMS = 3


@dataclass(frozen=True, slots=True)
class ClassResult:
    """A metric on the answers of one class. mean: in the metric's own units; auc: of this class and higher ones against
    lower ones, or without an order against the others, None for the lowest; nearest: () without a scale."""

    metric: str
    name: str
    n: int
    missing: int
    mean: Estimate
    error: float | None
    auc: float | None
    nearest: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ClassErrors:
    """A metric on all classes. error: over all answers; right: share of answers nearest to their class; reason: why the
    two are None."""

    classes: tuple[ClassResult, ...]
    n: int
    error: float | None
    right: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class RatedMetric:
    """A metric on one label; None for what the label does not allow.

    scored: rated answers with a score; unscored: status -> number of the others. within: mean over questions of
    Spearman's rho between the systems' answers (missing: questions in which scores or ratings are all equal); systems:
    between the systems' means; pairs: of answers to a question in the raters' order; soft: pairs of systems
    (`stats.pairwise`). points: (mean rating, score) for a figure, at most 2,000.
    """

    metric: str
    direction: str
    scored: int
    unscored: Mapping[str, int]
    pearson: Estimate | None = None
    spearman: Estimate | None = None
    kendall: Estimate | None = None
    within: Estimate | None = None
    systems: Estimate | None = None
    pairs: Estimate | None = None
    soft: Estimate | None = None
    auc: Auc | None = None
    calibration: Calibration | None = None
    classes: ClassErrors | None = None
    points: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class PoweredMean:
    """A prediction-powered mean rating. system: `all` for every answer together."""

    metric: str
    system: str
    mean: PpiMean


@dataclass(frozen=True, slots=True)
class RatingLabel:
    """All results on one label that people rated answers on.

    undecided: rated answers without a majority, which have no class. clustered: whether a question has several of the
    answers, so that intervals and tests are over questions. unit: what was rated, an answer, a sentence or a citation.
    """

    label: str
    join: Join
    scale: LabelScale
    undecided: int
    agreement: RaterAgreement
    metrics: tuple[RatedMetric, ...]
    groups: tuple[GroupResult, ...]
    differences: tuple[Compared, ...]
    auc_differences: tuple[Compared, ...]
    powered: tuple[PoweredMean, ...]
    clustered: bool
    unit: str = "answer"

    @property
    def clusters(self) -> str:
        """What a cluster is, in the plural: of criteria a notice says it (`named_part_scores.clusters_of_criteria`)."""
        return "clusters" if self.unit == CRITERION else "questions"


def rating_label(
    label: str,
    items: Sequence[RatedAnswer],
    join: Join,
    human: Labels,
    scores: AnswerScores,
    options: MetaevalOptions,
) -> RatingLabel:
    """The results of a label. items: its rated answers, with and without a row."""
    ratings = [rating for item in items for rating in item.ratings]
    scale = scale_of(ratings, order_for(options.order, label), human.name, human.scales.get(label))
    rated = [item for item in items if item.places]
    sample = _Sample(scores, rated, scale, options, parts=bool(human.parts))
    binary = scale.kind == BINARY
    numeric = scale.numeric
    return RatingLabel(
        label=label,
        join=join,
        scale=scale,
        undecided=sample.classes.count(None),
        agreement=_agreement(items, sample),
        metrics=tuple(sample.metric(name) for name in scores.metrics),
        groups=tuple(sample.groups(human.by)) if numeric else (),
        differences=compared(scores.metrics, sample.rho_difference, options.alpha)
        if numeric
        else (),
        auc_differences=compared(scores.metrics, sample.auc_difference, options.alpha)
        if binary
        else (),
        powered=tuple(sample.powered()) if numeric else (),
        clustered=sample.clusters is not None,
        unit=human.parts or "answer",
    )


class _Sample:
    """The rated answers of a label that have a row. ratings: the mean of each (NaN for categories); own: each metric's
    scores of them; oriented: higher is better."""

    def __init__(
        self,
        scores: AnswerScores,
        items: Sequence[RatedAnswer],
        scale: LabelScale,
        options: MetaevalOptions,
        *,
        parts: bool = False,
    ) -> None:
        self.scores = scores
        self.parts = parts
        self.items = items
        self.scale = scale
        self.options = options
        self.places = np.array([item.places[0] for item in items], dtype=np.int64)
        means = [scale.mean_of(item.ratings) for item in items]
        self.ratings = np.array(
            [np.nan if mean is None else mean for mean in means], dtype=np.float64
        )
        self.classes = [
            plurality(scale.class_of(rating.value) for rating in item.ratings) for item in items
        ]
        self.clusters: Clusters = clusters_of([item.question for item in items])

        self.own = {name: scores.scores[name][self.places] for name in scores.metrics}
        self.oriented = {
            name: oriented(self.own[name], facts) for name, facts in scores.metrics.items()
        }

    def scaled(self, metric: str, low: float, high: float) -> Floats | None:
        return on_scale(self.own[metric], self.scores.metrics[metric], low, high)

    @cached_property
    def yes(self) -> Floats:
        return np.array(
            [np.nan if name is None else self.scale.number[name] for name in self.classes]
        )

    def metric(self, name: str) -> RatedMetric:
        missing = unscored(self.scores, name, [item.places for item in self.items])
        results: dict[str, Any] = {}
        if self.scale.numeric:
            for kind in ("pearson", "spearman", "kendall"):
                results[kind] = self._rho(self.oriented[name], self.ratings, kind, self.clusters)
            results |= {**self._levels(name), "points": self._points(name)}
        if self.scale.kind == BINARY:
            binary_settings = (self.yes, self.options.level, self.clusters)
            results["auc"] = auc(self.oriented[name], *binary_settings)
            results["calibration"] = calibration(self.scaled(name, 0, 1), *binary_settings)
        if self.scale.classes:
            results["classes"] = self._classes(name)
        scored = len(self.items) - sum(missing.values())
        direction_words = directions(self.scores.metrics)[name]
        return RatedMetric(name, direction_words, scored, missing, **results)

    def _rho(
        self, scores: Floats, ratings: Floats, kind: Kind = "spearman", clusters: Clusters = None
    ) -> Estimate:
        return correlation(ratings, scores, kind, clusters=clusters, level=self.options.level)

    def rho_difference(self, first: str, second: str) -> Estimate:
        """Of Spearman's rho; of Pearson's where the sample is too large for ranks."""
        distinct = [_distinct(self.own[name]) * _distinct(self.ratings) for name in (first, second)]
        kind: Kind = "pearson" if max(distinct) > _MOST_DISTINCT else "spearman"
        columns = self.oriented[first], self.oriented[second], self.ratings
        return correlation_difference(
            *columns, kind, clusters=self.clusters, level=self.options.level
        )

    def auc_difference(self, first: str, second: str) -> Estimate:
        return auc_difference(
            self.oriented[first], self.oriented[second], self.yes, self.options.level, self.clusters
        )

    def groups(self, columns: Sequence[str]) -> Iterator[GroupResult]:
        for column, group, rows in groups_of([item.groups for item in self.items], columns):
            in_group = np.isin(np.arange(len(self.items)), rows)
            for name in self.scores.metrics:
                clusters = subset(self.clusters, in_group)
                rho = self._rho(self.oriented[name][rows], self.ratings[rows], clusters=clusters)
                yield GroupResult(column, group, name, rho)

    def _points(self, name: str) -> tuple[tuple[float, float], ...]:
        scores = self.own[name]
        rows_with_both = np.flatnonzero(~(np.isnan(self.ratings) | np.isnan(scores)))
        if len(rows_with_both) > _MOST_POINTS:
            rows_with_both = np.sort(
                np.random.default_rng(self.options.seed).choice(
                    rows_with_both, _MOST_POINTS, replace=False
                )
            )
        return tuple((float(self.ratings[row]), float(scores[row])) for row in rows_with_both)

    @cached_property
    def _by_system(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The rows of each question with three answers or more (a sample of 2,000), and of each system."""
        answers = Counter(item.question for item in self.items)
        questions: dict[str, list[int]] = {}
        systems: dict[str, list[int]] = {}
        for row, item in enumerate(self.items):
            if answers[item.question] >= _FEWEST_SYSTEMS:
                questions.setdefault(item.question, []).append(row)
            systems.setdefault(self.scores.answers[item.places[0]].system, []).append(row)
        several = [np.array(rows) for rows in questions.values()]
        if len(several) > _MOST_QUESTIONS:
            random = np.random.default_rng(self.options.seed)
            chosen = random.choice(len(several), _MOST_QUESTIONS, replace=False)
            several = [several[place] for place in sorted(chosen)]
        return several, [np.array(rows) for rows in systems.values()]

    def _levels(self, name: str) -> dict[str, Estimate]:
        """Agreement within questions and over systems; {} for fewer than three systems, and for parts of answers: those
        of two systems are no two versions of the same."""
        questions, systems = self._by_system
        if self.parts or len(systems) < _FEWEST_SYSTEMS:
            return {}
        scores = self.oriented[name]
        ratings = self.ratings
        level = self.options.level
        rhos = [coefficient(ratings[rows], scores[rows], "spearman") for rows in questions]
        within_questions = mean_estimate(
            [rho for rho in rhos if rho is not None], bounds=(-1, 1), level=level
        )
        within_questions = replace(within_questions, missing=len(rhos) - within_questions.n)
        scored = [rows[~np.isnan(scores[rows])] for rows in systems]
        means = [
            (ratings[rows].mean(), scores[rows].mean()) if len(rows) else (np.nan, np.nan)
            for rows in scored
        ]
        x, y = np.array(means).T
        settings: dict[str, Any] = {"level": level, "seed": self.options.seed}
        tables = self._question_means(systems, ratings, scores)
        return {
            "within": within_questions,
            "systems": correlation(x, y, "spearman", level=level),
            "pairs": pairs_right([(ratings[rows], scores[rows]) for rows in questions], **settings),
            "soft": soft_pairwise(*tables, **settings),
        }

    def _question_means(self, systems: Sequence[np.ndarray], *columns: Floats) -> Floats:
        """Each column as a table, questions x systems, NaN for no value: of several answers of a system to a question
        the mean of those that have all columns, as in `compare`. systems: the rows of each."""
        places = {
            question: place
            for place, question in enumerate(dict.fromkeys(item.question for item in self.items))
        }
        question_places = np.array([places[item.question] for item in self.items], dtype=np.int64)
        complete = np.asarray(~np.isnan(np.stack(columns)).any(axis=0))
        tables = np.full((len(columns), len(places), len(systems)), np.nan)
        for system, rows in enumerate(systems):
            used = rows[complete[rows]]
            answers = np.bincount(question_places[used], minlength=len(places))
            answered = answers > 0
            for table, column in zip(tables, columns, strict=True):
                sums = np.bincount(question_places[used], column[used], len(places))
                table[answered, system] = sums[answered] / answers[answered]
        return tables

    def _classes(self, name: str) -> ClassErrors:
        scale = self.scale
        own_scores = self.own[name]
        labels = np.array([label or "" for label in self.classes], dtype=object)
        labelled = np.array([label is not None for label in self.classes], dtype=bool)
        has_both = labelled & ~np.isnan(own_scores)
        bounded = scale.low is not None and scale.high is not None
        scaled = self.scaled(name, scale.low or 0.0, scale.high or 0.0) if bounded else None
        numbers = np.array([scale.number.get(class_, np.nan) for class_ in scale.classes])
        if scaled is not None:
            distance = np.abs(np.nan_to_num(scaled)[:, None] - numbers[None, :])
            nearest = np.asarray(np.argmin(np.round(distance, 9), axis=1))
        results = []
        for place, class_name in enumerate(scale.classes):
            of_class = labelled & (labels == class_name)
            class_rows = of_class & has_both
            n = int(class_rows.sum())
            facts = self.scores.metrics[name]
            clusters = subset(self.clusters, class_rows)
            mean = mean_estimate(
                own_scores[class_rows].tolist(), clusters, (facts.lo, facts.hi), self.options.level
            )
            error = None
            counts = ()
            if scaled is not None:
                error = float(np.abs(scaled[class_rows] - numbers[place]).mean()) if n else None
                counts = tuple(np.bincount(nearest[class_rows], minlength=len(numbers)).tolist())
            reached = [
                scale.number[label] >= numbers[place] if scale.number else label == class_name
                for label in labels[has_both]
            ]
            above = auc(
                self.oriented[name][has_both],
                np.array(reached, dtype=np.float64),
                self.options.level,
            ).value
            results.append(
                ClassResult(
                    name, class_name, n, int(of_class.sum()) - n, mean, error, above, counts
                )
            )
        n = int(has_both.sum())
        if scaled is None or not n:
            reason = (
                "the metric is not on the label's scale"
                if scale.number
                else "the classes are not numbers"
            )
            return ClassErrors(tuple(results), n, None, None, reason if n else NO_PAIR)
        error = float(
            np.abs(
                scaled[has_both] - np.array([scale.number[label] for label in labels[has_both]])
            ).mean()
        )
        right = np.mean(
            [
                scale.classes[i] == label
                for i, label in zip(nearest[has_both], labels[has_both], strict=True)
            ]
        )
        return ClassErrors(tuple(results), n, error, float(right), None)

    def powered(self) -> Iterator[PoweredMean]:
        all_scores = self.scores
        low = self.scale.low or 0.0
        high = self.scale.high or 0.0
        ratings = np.full(len(all_scores.questions), np.nan)
        ratings[self.places] = self.ratings
        rated = ~np.isnan(ratings)
        groups = [(ALL, np.ones(len(ratings), dtype=bool))]
        if len(all_scores.systems) > 1:
            groups += [
                (name, all_scores.system_of == place)
                for place, name in enumerate(all_scores.systems)
            ]
        for metric, facts in all_scores.metrics.items():
            scores = on_scale(all_scores.scores[metric], facts, low, high)
            if scores is None:
                continue
            for system, in_group in groups:
                if (in_group & ~rated & ~np.isnan(scores)).any() and (in_group & rated).any():
                    questions = all_scores.questions[in_group]
                    clusters = questions if np.bincount(questions).max() > 1 else None
                    mean = ppi_mean(
                        ratings[in_group],
                        scores[in_group],
                        clusters=clusters,
                        level=self.options.level,
                    )
                    yield PoweredMean(metric, system, mean)


def _distinct(values: Floats) -> int:
    return len(np.unique(values[~np.isnan(values)]))


@dataclass(frozen=True)
class _Votes(Sequence[Sequence[Vote]]):
    """The votes on each item, made when they are looked at: a million of them are not held."""

    items: Sequence[RatedAnswer]
    scale: LabelScale

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, place: Any) -> Any:
        scale = self.scale
        return [
            Vote(
                rating.rater,
                scale.class_of(rating.value),
                scale.number[text_of(rating.value)] if scale.numeric else None,
            )
            for rating in self.items[place].ratings
        ]


def _agreement(items: Sequence[RatedAnswer], sample: _Sample) -> RaterAgreement:
    """Of all rated answers, with and without a row; the ceiling is over those with one."""
    scale = sample.scale
    scores: dict[str, Floats] = {}
    rows = [row for row, item in enumerate(items) if item.places]
    for name in sample.scores.metrics if scale.numeric else ():
        scores[name] = np.full(len(items), np.nan)
        scores[name][rows] = sample.oriented[name]
    questions = clusters_of([item.question for item in items])
    with_rows = [bool(item.places) for item in items]
    rated = RatedItems(
        _Votes(items, scale),
        questions,
        numeric=scale.numeric,
        classes=bool(scale.classes),
        rows=with_rows,
        declared=scale.declared,
    )
    return agreement(rated, scores, {}, sample.options)
