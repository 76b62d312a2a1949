"""Graded preferences between two answers (-2 to 2, say; above 0 for b) against the difference of a metric's scores.

There are several ways to set the labels of several raters against one metric, and they give different figures:

    all labels        every label beside its pair's difference of scores, as RAGChecker's authors do (Ru et al. 2024)
    RATER             the labels of one rater
    mean of raters    the mean of the raters' correlations
    raters' mean      each pair's mean label

The difference is b - a (a - b where lower is better), unrounded. Raters against each other: `plain`, the labels of one
against those of another, in this order; `symmetrised`, every two labels of a pair in both orders, so that it does not
matter who is called the first (the human ceiling of `agreement` is of this kind). Intervals are by jackknife over
questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from longmark.analysis.metaeval.labels import RatedAnswer
from longmark.stats.correlation import Kind, correlation, mean_correlation
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats

ALL = "all labels"
MEAN_OF_RATERS = "mean of raters"
RATERS_MEAN = "raters' mean"
PLAIN = "plain"
SYMMETRISED = "symmetrised"
_MOST_RATERS = 10


@dataclass(frozen=True, slots=True)
class GradedResult:
    """A figure of the module's table. metric: or `raters` for raters against each other; n: labels, or pairs."""

    metric: str
    figure: str
    pearson: Estimate
    spearman: Estimate


def graded(
    pairs: Sequence[RatedAnswer], differences: Mapping[str, Floats], level: float
) -> tuple[tuple[GradedResult, ...], tuple[GradedResult, ...]]:
    """Of the metrics, and of the raters; empty without grades. differences: metric -> of each pair, NaN for none."""
    grades = [_by_rater(pair) for pair in pairs]
    raters = sorted({rater for grade in grades for rater in grade})
    if not raters:
        return (), ()
    columns = {rater: np.array([grade.get(rater, np.nan) for grade in grades]) for rater in raters}
    questions = [pair.question for pair in pairs]
    metrics = [
        result
        for name, column in differences.items()
        for result in _metric(name, column, columns, questions, level)
    ]
    return tuple(metrics), tuple(_raters(columns, questions, level))


def _by_rater(pair: RatedAnswer) -> dict[str, float]:
    """Each rater's mean grade, if the pair was shown in both orders."""
    grades_of: dict[str, list[float]] = {}
    for rater, grade in pair.grades:
        grades_of.setdefault(rater, []).append(grade)
    return {rater: sum(grades) / len(grades) for rater, grades in grades_of.items()}


def _result(
    metric: str, figure: str, labels: Floats, scores: Floats, questions: Sequence[str], level: float
) -> GradedResult:
    kinds: tuple[Kind, ...] = ("pearson", "spearman")
    return GradedResult(
        metric,
        figure,
        *(correlation(labels, scores, kind, clusters=questions, level=level) for kind in kinds),
    )


def _metric(
    name: str, scores: Floats, columns: Mapping[str, Floats], questions: Sequence[str], level: float
) -> Iterator[GradedResult]:
    several = len(columns)
    all_grades = np.concatenate(list(columns.values()))
    is_given = ~np.isnan(all_grades)
    repeated = [question for _ in columns for question in questions]
    graded_questions = [
        question for question, graded in zip(repeated, is_given, strict=True) if graded
    ]
    yield _result(
        name, ALL, all_grades[is_given], np.tile(scores, several)[is_given], graded_questions, level
    )
    for rater, column in list(columns.items())[:_MOST_RATERS] if several > 1 else ():
        yield _result(name, rater, column, scores, questions, level)
    if several > 1:
        same_scores = dict.fromkeys(columns, scores)
        kinds: tuple[Kind, ...] = ("pearson", "spearman")
        means = (
            mean_correlation(
                columns, same_scores, kind, clusters=questions, level=level, through_z=False
            )
            for kind in kinds
        )
        yield GradedResult(name, MEAN_OF_RATERS, *means)
        table = np.array(list(columns.values()))
        count = (~np.isnan(table)).sum(axis=0)
        mean = np.where(count > 0, np.nansum(table, axis=0) / np.maximum(count, 1), np.nan)
        yield _result(name, RATERS_MEAN, mean, scores, questions, level)


def _raters(
    columns: Mapping[str, Floats], questions: Sequence[str], level: float
) -> Iterator[GradedResult]:
    pairs = list(combinations(columns, 2))
    for first, second in pairs[: _MOST_RATERS * (_MOST_RATERS - 1) // 2]:
        yield _result(
            f"{first}, {second}", PLAIN, columns[first], columns[second], questions, level
        )
    if pairs:
        ordered_pairs = [*pairs, *((second, first) for first, second in pairs)]
        first_grades, second_grades = (
            np.concatenate([columns[pair[place]] for pair in ordered_pairs]) for place in (0, 1)
        )
        yield _result(
            "all raters",
            SYMMETRISED,
            first_grades,
            second_grades,
            [name for _ in ordered_pairs for name in questions],
            level,
        )
