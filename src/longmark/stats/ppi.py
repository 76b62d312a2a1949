"""A mean from a few human labels and many judge scores: prediction-powered inference.

    mean = λ mean(judge on the unlabelled) + mean(human - λ judge on the labelled)

The second term removes the judge's bias, so the mean estimates that of the human labels had all items been labelled,
*provided the labelled items are a random sample of all*. The better the judge follows the people, the narrower the
interval. λ (Angelopoulos, Duchi & Zrnic 2023, PPI++) weighs the judge by how well it does, from 0 (human labels alone)
to 1 (Angelopoulos et al. 2023). For a difference between two systems give the differences. Units: the labels'.

Deviation: the interval takes Student's t with (labelled - 1) degrees of freedom and variances with divisor n - 1, since
labels are few; labels that are only 0 or 1 have Wilson's interval, for as many labels as would give this variance
(mean (1 - mean) / variance), or if all are equal that of `stats.means.equal_interval`; `method="normal"` gives the
published one (normal quantile, divisor n). With clusters the variance is G / (G - 1) times the sum of squares of what
each cluster adds to the mean by all its items, G of them having a label.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

import numpy as np

from longmark.errors import UnknownName, UserError
from longmark.stats.clusters import degrees_of_freedom
from longmark.stats.means import ALL_EQUAL, WILSON, equal_interval, few_clusters, wilson
from longmark.stats.results import Estimate, check_level
from longmark.stats.samples import Floats, Ints, Values, as_floats, cluster_numbers
from longmark.stats.student import STUDENT, t_quantile

Method = Literal["t", "normal"]
METHODS = ("t", "normal")

_FEWEST = 3
_FEWEST_CLUSTERS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class PpiMean(Estimate):
    """The prediction-powered mean and its interval, beside those of people and judge alone.

    weight: λ, and whether it was tuned. human: the mean of the labels alone with its interval, by the same method;
    judge: the mean of all the judge's scores, without an interval since its bias is not known. worth: how many labels
    alone would give as narrow an interval. missing: items without a score of the judge. clusters: how many the labelled
    items belong to; None: each counts by itself.
    """

    tuned: bool
    labelled: int
    unlabelled: int
    judge: float | None
    error: float | None = None
    weight: float | None = None
    human: Estimate | None = None
    worth: float | None = None


def ppi_mean(
    human: Values,
    judge: Values,
    *,
    weight: float | None = None,
    level: float = 0.95,
    method: Method = "t",
    clusters: Sequence[Hashable] | Ints | None = None,
) -> PpiMean:
    """human: a label for each item, None if nobody labelled it; judge: a score for each item.

    clusters: for each item what it belongs to, labelled or not; then variances are between clusters, and t has the
    degrees of freedom of the labels' clusters (`stats.clusters`). No interval for labels of fewer than 5 clusters.
    weight: λ; None: tuned to the narrowest interval. No value with fewer than 3 labelled items. UserError for columns
    of unequal length and for a level, method or weight out of range.
    """
    check_level(level)
    if method not in METHODS:
        raise UnknownName("interval", method, METHODS, f"There are {' and '.join(METHODS)}.")
    if weight is not None and not 0 <= weight <= 1:
        raise UserError(f"the judge's weight is between 0 and 1; found {weight}")
    labels = as_floats(human, "human")
    scores = as_floats(judge, "judge")
    if len(labels) != len(scores):
        raise UserError(
            f"human and judge are matched by position: {len(labels)} labels and {len(scores)} scores"
        )
    scored = ~np.isnan(scores)
    scored_labels = scored & ~np.isnan(labels)
    alone = scored & ~scored_labels
    y = labels[scored_labels]
    f = scores[scored_labels]
    unlabelled_scores = scores[alone]
    n = len(y)
    n_unlabelled = len(unlabelled_scores)
    numbers = (
        None
        if clusters is None
        else cluster_numbers(clusters, np.ones(len(scores), dtype=np.bool_))[0]
    )
    count = None if numbers is None else len(set(numbers[scored_labels].tolist()))
    units = n if count is None else count
    empty = PpiMean(
        None,
        None,
        None,
        n,
        level,
        method,
        missing=int((~scored).sum()),
        clusters=count,
        tuned=weight is None,
        labelled=n,
        unlabelled=n_unlabelled,
        judge=float(scores[scored].mean()) if scored.any() else None,
    )
    if n < _FEWEST:
        return replace(
            empty, reason=f"at least {_FEWEST} items with a label and a score; found {n}"
        )
    ddof = 1 if method == "t" else 0
    mean = float(y.mean())
    used = (_tuned(y, f, unlabelled_scores) if weight is None else weight) if n_unlabelled else 0.0
    value = float(
        (y - used * f).mean() + (used * unlabelled_scores.mean() if n_unlabelled else 0.0)
    )
    empty = replace(empty, value=value, weight=used)
    df = n - 1.0
    if numbers is None:
        label_variance = float(y.var(ddof=ddof)) / n
        spread = float((y - used * f).var(ddof=ddof)) / n
        if n_unlabelled > 1:
            spread += used * used * float(unlabelled_scores.var(ddof=ddof)) / n_unlabelled
    elif units < _FEWEST_CLUSTERS:
        return replace(
            empty,
            reason=f"an interval needs labels of at least {_FEWEST_CLUSTERS} clusters; found {units}",
        )
    else:
        _, sizes = np.unique(numbers[scored_labels], return_counts=True)
        df = degrees_of_freedom(sizes.tolist())
        empty = replace(empty, effective=df + 1, remark=few_clusters(df + 1))
        label_variance = _between(numbers[scored_labels], (y - mean) / n, units, ddof)
        adds = np.zeros(len(scores))
        adds[scored_labels] = (y - used * f - (y - used * f).mean()) / n
        if n_unlabelled:
            adds[alone] = used * (unlabelled_scores - unlabelled_scores.mean()) / n_unlabelled
        spread = _between(numbers[scored], adds[scored], units, ddof)
    quantile = t_quantile(level, df) if method == "t" else NormalDist().inv_cdf((1 + level) / 2)
    half = quantile * math.sqrt(label_variance)
    error = math.sqrt(spread)
    name = STUDENT if method == "t" else "normal"
    binary = method == "t" and bool(np.isin(y, (0, 1)).all())

    def ends(centre: float, half: float) -> tuple[float, float]:
        if binary and half > 0 and 0 < centre < 1:
            return wilson(centre, centre * (1 - centre) * (quantile / half) ** 2, quantile)
        return centre - half, centre + half

    if binary and half == 0:  # all labels are equal, and no judge's score is weighed
        low, high = equal_interval(mean, df + 1, 0, 1, level)
        people = Estimate(mean, low, high, n, level, ALL_EQUAL)
        if used == 0:
            return replace(empty, low=low, high=high, method=ALL_EQUAL, human=people)
    else:
        people = Estimate(mean, *ends(mean, half), n, level, WILSON if binary else name)
    if error <= 1e-12 * max(1.0, float(np.abs(y).max())):
        why = "labels and scores differ by a constant only, and the scores are equal: there is no spread"
        return replace(empty, human=people, reason=why)
    low, high = ends(value, quantile * error)
    return replace(
        empty, low=low, high=high, error=error, human=people, worth=n * label_variance / spread
    )


def _between(clusters: Ints, adds: Floats, labelled: int, ddof: int) -> float:
    """The variance of a sum from what each item adds to it. labelled: clusters with a label."""
    sums = np.bincount(clusters, adds)
    return labelled / (labelled - ddof) * float(sums @ sums)


def _tuned(y: np.ndarray, f: np.ndarray, unlabelled_scores: np.ndarray) -> float:
    """λ with the least variance, clipped to [0, 1]; 0 if the judge gives all items one score."""
    variance = float(np.concatenate([f, unlabelled_scores]).var(ddof=1))
    if variance <= 1e-24 * max(1.0, float(np.abs(unlabelled_scores).max()) ** 2):
        return 0.0
    covariance = float(((y - y.mean()) * (f - f.mean())).mean())
    return min(1.0, max(0.0, covariance / ((1 + len(y) / len(unlabelled_scores)) * variance)))
