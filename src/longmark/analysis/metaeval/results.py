"""What results on ratings and on choices share: metrics with a direction, pairs of metrics, groups, clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from longmark.errors import UserError
from longmark.options import named
from longmark.report.format import direction
from longmark.scores.answers import AnswerScores
from longmark.scores.labels import MOST_GROUPS
from longmark.scores.manifest import MetricFacts, without_descriptive
from longmark.stats.max_t import ALL_ZERO, inverted, max_t
from longmark.stats.means import ALL_EQUAL, few_clusters, few_values, mean_estimate
from longmark.stats.permutation import rounding
from longmark.stats.results import Difference, Estimate
from longmark.stats.samples import Floats

Clusters = Sequence[str] | None
"""The question of each answer; None if no question has two answers, and each answer counts by itself."""


def clusters_of(questions: Sequence[str]) -> Clusters:
    """None if all differ."""
    return questions if len(set(questions)) < len(questions) else None


def subset(clusters: Clusters, keep: Iterable[Any]) -> Clusters:
    """The clusters of the rows whose flag is true."""
    return (
        None
        if clusters is None
        else [name for name, kept in zip(clusters, keep, strict=True) if kept]
    )


# Metrics ------------------------------------------------------------------------------------------------------------


def directions(metrics: Mapping[str, MetricFacts]) -> dict[str, str]:
    """Metric -> its direction in words, by the rule of reports and comparisons: one that only describes answers, as
    their length, has none beside one that says how good they are. As a baseline it counts in its own direction."""
    return {name: direction(facts) for name, facts in without_descriptive(metrics).items()}


def oriented(scores: Floats, facts: MetricFacts) -> Floats:
    """The scores, times -1 if lower is better."""
    return -scores if facts.higher_is_better is False else scores


def on_scale(scores: Floats, facts: MetricFacts, low: float, high: float) -> Floats | None:
    """The scores if they are on the scale of a label with values from `low` to `high`, else None.

    They are if the metric's bounds contain the label's values and are at most twice as far apart, or, without bounds,
    if both lie between 0 and 1. A metric of which lower is better is reflected within its bounds.
    """
    seen = scores[~np.isnan(scores)]
    lo, hi = (facts.lo or 0.0, facts.hi or 0.0) if facts.bounded else (0.0, 1.0)
    if not len(seen) or not (lo <= low and high <= hi):
        return None
    fits = 2 * (high - low) >= hi - lo if facts.bounded else seen.min() >= 0 and seen.max() <= 1
    if not fits:
        return None
    return lo + hi - scores if facts.higher_is_better is False else scores


def unscored(scores: AnswerScores, metric: str, items: Sequence[Sequence[int]]) -> dict[str, int]:
    """status -> the number of items (places of answers) without a score of the metric; `no row` if there is none."""
    status = scores.unscored[metric]
    missing = np.isnan(scores.scores[metric])
    first = [next((place for place in places if missing[place]), None) for places in items]
    return dict(
        Counter(status.get(place, "no row") for place in first if place is not None).most_common()
    )


# Pairs of metrics, groups -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceOfChoices(Difference):
    """The difference of two accuracies. only_first, only_second: pairs on which only that one is right."""

    only_first: int = 0
    only_second: int = 0


def paired(
    first: Sequence[float],
    second: Sequence[float],
    questions: Sequence[str],
    width: float,
    level: float,
    seed: int,
) -> Difference:
    """The mean of first - second, by one test (`stats.max_t` of one column) and its inversion: the interval excludes 0
    exactly if p is at most 1 - level. width: the greatest difference that there can be.

    Equal differences other than 0 show no spread: their interval is of values that were not seen. It can hold 0
    although p is small, and p decides.
    """
    left = np.array(first, dtype=np.float64)
    right = np.array(second, dtype=np.float64)
    differences = left - right
    largest = float(np.abs(np.concatenate([left, right])).max(initial=0.0))
    differences[
        np.abs(differences) <= rounding(float(np.abs(differences).max(initial=0.0)), largest)
    ] = 0.0
    test = max_t(differences[:, None], clusters=clusters_of(questions), alpha=1 - level, seed=seed)
    (p,), (why,), (remark,), (low,), (high,) = (
        test.adjusted,
        test.reasons,
        test.remarks,
        test.low,
        test.high,
    )
    estimate = mean_estimate(differences.tolist(), questions, (-width, width), level)
    if estimate.method != ALL_EQUAL or p is None or p > 1 - level:
        estimate = inverted(
            estimate, None if low is None or high is None else (low, high), (-width, width), level
        )
    few = (
        few_values(len(differences))
        if estimate.effective is None
        else few_clusters(estimate.effective)
    )
    return Difference(
        estimate.value,
        estimate.low,
        estimate.high,
        len(differences),
        level,
        estimate.method,
        reason=why or estimate.reason or remark,
        clusters=estimate.clusters,
        effective=estimate.effective,
        remark=few or remark,
        p=1.0 if why == ALL_ZERO else p,
    )


@dataclass(frozen=True, slots=True)
class GroupResult:
    """A metric among the items of one group of a column. estimate: Spearman's rho, or accuracy; without_ties: accuracy
    on the pairs on which raters decided."""

    column: str
    group: str
    metric: str
    estimate: Estimate
    without_ties: Estimate | None = None


def groups_of(
    groups: Sequence[Sequence[str | None]], by: Sequence[str]
) -> Iterator[tuple[str, str, list[int]]]:
    """(column, group, rows of its items). groups: the values of each item; an empty one is the group `(empty)`.
    UserError for too many groups."""
    columns = [[group[place] or "(empty)" for group in groups] for place in range(len(by))]
    for column, cells in zip(by, columns, strict=True):
        if (count := len(set(cells))) > MOST_GROUPS:
            raise UserError(
                f"the column {column} has {count:,} different values, too many for groups (at most {MOST_GROUPS}); "
                f"name another with {named('by', 'COLUMN')}"
            )
    for column, cells in zip(by, columns, strict=True):
        for group in sorted(set(cells)):
            yield column, group, [row for row, cell in enumerate(cells) if cell == group]
