"""Metrics against people's mean: correlation over answers, within questions and over systems; two metrics compared.

Every figure is of the metric turned so that more is better: above 0 it agrees with people. Where a question has
several answers, intervals and tests leave out whole questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from longmark.analysis.metaeval.draws import draws
from longmark.analysis.metaeval.orient import direction, turned
from longmark.analysis.metaeval.questions import Clusters, taken
from longmark.scores.answers import AnswerScores
from longmark.stats.bootstrap import bootstrap_mean
from longmark.stats.correlation import (
    CorrelationDifference,
    Kind,
    correlation,
    correlation_difference,
)
from longmark.stats.multiplicity import adjust
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats

_LEVELS = 1_000_000_000  # pairs of different values beyond which ranks of every pair of metrics take too long
_QUESTIONS = 2_000
_ROUNDING = 1e-12  # correlations this close are equal, and their metrics stay in the order given
_SYSTEMS = 3


@dataclass(frozen=True, slots=True)
class Correlations:
    """A metric's correlations with people's mean over answers, by kind. direction: how the metric was taken."""

    metric: str
    direction: str
    by_kind: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class Grouping:
    """Spearman's rho of a metric with people: within questions (mean over questions), and of the systems' means.

    questions: those with three systems or more in which both vary; no_value: questions in which one does not.
    """

    metric: str
    within: Estimate
    questions: int
    no_value: int
    systems: Estimate


@dataclass(frozen=True, slots=True)
class ByGroup:
    """Spearman's rho of a metric with people among the answers of one group. column: which column the group is of."""

    column: str
    group: str
    metric: str
    correlation: Estimate


@dataclass(frozen=True, slots=True)
class Difference:
    """Two metrics against the same people on the same answers; adjusted: p after Holm over all pairs of metrics."""

    first: str
    second: str
    result: CorrelationDifference
    adjusted: float | None


def columns_of(marks: AnswerScores, places: Sequence[int]) -> dict[str, Floats]:
    """The values of every metric on these answers, turned so that more is better."""
    index = np.asarray(places, dtype=np.int64)
    return {name: turned(marks.column(name)[index], facts) for name, facts in marks.metrics.items()}


def correlations(
    marks: AnswerScores, columns: Mapping[str, Floats], people: Floats, clusters: Clusters, level: float
) -> tuple[Correlations, ...]:
    """The three kinds for each metric."""
    kinds: tuple[Kind, ...] = ("pearson", "spearman", "kendall")
    return tuple(
        Correlations(
            name,
            direction(marks.metrics[name]),
            {kind: correlation(people, values, kind, clusters=clusters, level=level) for kind in kinds},
        )
        for name, values in columns.items()
    )


def _distinct(values: Floats) -> int:
    return len(np.unique(values[~np.isnan(values)]))


def differences(
    columns: Mapping[str, Floats], people: Floats, clusters: Clusters, alpha: float
) -> tuple[Difference, ...]:
    """Spearman's rho of every pair of metrics compared, the one that follows people more closely first."""
    found = []
    for one, other in combinations(columns, 2):
        sizes = [_distinct(columns[name]) * _distinct(people) for name in (one, other)]
        kind: Kind = "pearson" if max(sizes) > _LEVELS else "spearman"
        result = correlation_difference(columns[one], columns[other], people, kind, clusters=clusters, level=1 - alpha)
        if result.value is not None and result.value < -_ROUNDING:
            result = correlation_difference(
                columns[other], columns[one], people, kind, clusters=clusters, level=1 - alpha
            )
            one, other = other, one
        found.append((one, other, result))
    adjusted = adjust([result.p for _, _, result in found], alpha=alpha).adjusted
    return tuple(Difference(one, other, result, p) for (one, other, result), p in zip(found, adjusted, strict=True))


def by_group(
    columns: Mapping[str, Floats],
    people: Floats,
    by: Sequence[str],
    groups: Sequence[Sequence[str | None]],
    clusters: Clusters,
    level: float,
) -> tuple[ByGroup, ...]:
    """For each column to break down by, each of its groups and each metric. An empty cell is the group `(empty)`."""
    found = []
    for place, column in enumerate(by):
        names = np.array([each[place] or "(empty)" for each in groups], dtype=object)
        for group in sorted(set(names)):
            here = names == group
            its = taken(clusters, here.tolist())
            found += [
                ByGroup(
                    column,
                    group,
                    name,
                    correlation(people[here], values[here], "spearman", clusters=its, level=level),
                )
                for name, values in columns.items()
            ]
    return tuple(found)


def grouping(
    marks: AnswerScores, places: Sequence[int], columns: Mapping[str, Floats], people: Floats, level: float, seed: int
) -> tuple[Grouping, ...]:
    """() where fewer than three systems were rated. Of more than 2,000 questions a seeded sample is taken."""
    answers = [marks.answers[place] for place in places]
    systems = tuple(dict.fromkeys(answer.system for answer in answers))
    if len(systems) < _SYSTEMS:
        return ()
    by_question: dict[str, list[int]] = {}
    for row, answer in enumerate(answers):
        by_question.setdefault(answer.question_id, []).append(row)
    several = [np.array(rows) for rows in by_question.values() if len(rows) >= _SYSTEMS]
    if len(several) > _QUESTIONS:
        chosen = np.random.default_rng(seed).choice(len(several), _QUESTIONS, replace=False)
        several = [several[place] for place in sorted(chosen)]
    of = np.array([systems.index(answer.system) for answer in answers])
    return tuple(
        _grouping(name, values, people, several, of, len(systems), level, seed) for name, values in columns.items()
    )


def _grouping(
    name: str,
    values: Floats,
    people: Floats,
    questions: Sequence[np.ndarray],
    system: np.ndarray,
    systems: int,
    level: float,
    seed: int,
) -> Grouping:
    rhos = [
        correlation(people[rows], values[rows], "spearman", level=level, method="fisher").value for rows in questions
    ]
    within = bootstrap_mean(rhos, level=level, seed=seed, resamples=draws(len(rhos)))
    both = ~np.isnan(values)
    means = [
        (people[here].mean(), values[here].mean()) if (here := both & (system == one)).any() else (None, None)
        for one in range(systems)
    ]
    over = correlation([mean for mean, _ in means], [mean for _, mean in means], "spearman", level=level)
    return Grouping(name, within, within.n, within.missing, over)
