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
from functools import cached_property
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

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
    items = _Items.matched(human, judge, clusters)
    y = items.y
    empty = PpiMean(
        None,
        None,
        None,
        len(y),
        level,
        method,
        missing=int((~items.scored).sum()),
        clusters=items.labelled_clusters,
        tuned=weight is None,
        labelled=len(y),
        unlabelled=len(items.unlabelled_scores),
        judge=items.judge_mean,
    )
    if len(y) < _FEWEST:
        reason = f"at least {_FEWEST} items with a label and a score; found {len(y)}"
        return replace(empty, reason=reason)
    used = items.tuned_weight() if weight is None else weight
    if not len(items.unlabelled_scores):
        used = 0.0
    value = items.mean(used)
    empty = replace(empty, value=value, weight=used)
    ddof = 1 if method == "t" else 0
    if items.numbers is None:
        df = len(y) - 1.0
        label_variance, variance = items.variances(used, ddof)
    elif (items.labelled_clusters or 0) < _FEWEST_CLUSTERS:
        reason = (
            f"an interval needs labels of at least {_FEWEST_CLUSTERS} clusters; "
            f"found {items.labelled_clusters}"
        )
        return replace(empty, reason=reason)
    else:
        _, sizes = np.unique(items.numbers[items.labelled], return_counts=True)
        df = degrees_of_freedom(sizes.tolist())
        empty = replace(empty, effective=df + 1, remark=few_clusters(df + 1))
        label_variance, variance = items.variances_between_clusters(items.numbers, used, ddof)
    ends = _Ends.from_labels(y, method, level, df)
    people = ends.of_people(label_variance)
    if people.method == ALL_EQUAL and used == 0:
        return replace(empty, low=people.low, high=people.high, method=ALL_EQUAL, human=people)
    error = math.sqrt(variance)
    if error <= 1e-12 * max(1.0, float(np.abs(y).max())):
        why = "labels and scores differ by a constant only, and the scores are equal: there is no spread"
        return replace(empty, human=people, reason=why)
    low, high = ends.around(value, error)
    return replace(
        empty,
        low=low,
        high=high,
        error=error,
        human=people,
        worth=len(y) * label_variance / variance,
    )


@dataclass(frozen=True)
class _Items:
    """Labels and scores by item. scored: items with a score of the judge; labelled: those of them with a label, unlabelled:
    the others. numbers: the cluster of each item; None: each counts by itself."""

    labels: Floats
    scores: Floats
    numbers: Ints | None

    @classmethod
    def matched(
        cls, human: Values, judge: Values, clusters: Sequence[Hashable] | Ints | None
    ) -> _Items:
        labels = as_floats(human, "human")
        scores = as_floats(judge, "judge")
        if len(labels) != len(scores):
            raise UserError(
                f"human and judge are matched by position: {len(labels)} labels and {len(scores)} scores"
            )
        numbers = None
        if clusters is not None:
            numbers = cluster_numbers(clusters, np.ones(len(scores), dtype=np.bool_))[0]
        return cls(labels, scores, numbers)

    @cached_property
    def scored(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.scores)

    @cached_property
    def labelled(self) -> NDArray[np.bool_]:
        return self.scored & ~np.isnan(self.labels)

    @cached_property
    def unlabelled(self) -> NDArray[np.bool_]:
        return self.scored & ~self.labelled

    @cached_property
    def y(self) -> Floats:
        """The labels of the labelled items."""
        return self.labels[self.labelled]

    @cached_property
    def f(self) -> Floats:
        """The judge's scores of the labelled items."""
        return self.scores[self.labelled]

    @cached_property
    def unlabelled_scores(self) -> Floats:
        return self.scores[self.unlabelled]

    @property
    def labelled_clusters(self) -> int | None:
        if self.numbers is None:
            return None
        return len(set(self.numbers[self.labelled].tolist()))

    @property
    def judge_mean(self) -> float | None:
        return float(self.scores[self.scored].mean()) if self.scored.any() else None

    def mean(self, weight: float) -> float:
        corrected = (self.y - weight * self.f).mean()
        if len(self.unlabelled_scores):
            corrected += weight * self.unlabelled_scores.mean()
        return float(corrected)

    def tuned_weight(self) -> float:
        """λ with the least variance, clipped to [0, 1]; 0 if the judge gives all items one score, or scored none without
        a label."""
        y = self.y
        f = self.f
        unlabelled_scores = self.unlabelled_scores
        if not len(unlabelled_scores):
            return 0.0
        variance = float(np.concatenate([f, unlabelled_scores]).var(ddof=1))
        if variance <= 1e-24 * max(1.0, float(np.abs(unlabelled_scores).max()) ** 2):
            return 0.0
        covariance = float(((y - y.mean()) * (f - f.mean())).mean())
        return min(1.0, max(0.0, covariance / ((1 + len(y) / len(unlabelled_scores)) * variance)))

    def variances(self, weight: float, ddof: int) -> tuple[float, float]:
        """The variance of the mean of the labels alone, and of the prediction-powered one."""
        n = len(self.y)
        unlabelled_scores = self.unlabelled_scores
        variance = float((self.y - weight * self.f).var(ddof=ddof)) / n
        if len(unlabelled_scores) > 1:
            variance += (
                weight * weight * float(unlabelled_scores.var(ddof=ddof)) / len(unlabelled_scores)
            )
        return float(self.y.var(ddof=ddof)) / n, variance

    def variances_between_clusters(
        self, numbers: Ints, weight: float, ddof: int
    ) -> tuple[float, float]:
        """The same two, from what each cluster adds to the mean by all its items."""
        n = len(self.y)
        groups = self.labelled_clusters or 0
        label_variance = _between(
            numbers[self.labelled], (self.y - self.y.mean()) / n, groups, ddof
        )
        residuals = self.y - weight * self.f
        adds = np.zeros(len(self.scores))
        adds[self.labelled] = (residuals - residuals.mean()) / n
        unlabelled_scores = self.unlabelled_scores
        if len(unlabelled_scores):
            adds[self.unlabelled] = (
                weight * (unlabelled_scores - unlabelled_scores.mean()) / len(unlabelled_scores)
            )
        return label_variance, _between(numbers[self.scored], adds[self.scored], groups, ddof)


@dataclass(frozen=True)
class _Ends:
    """How far an interval reaches from a mean, by its standard error.

    y: the labels; binary: they are 0 or 1, which have Wilson's interval for as many labels as would give this variance.
    name: of the method; df: degrees of freedom; quantile: of t or the normal distribution."""

    y: Floats
    binary: bool
    name: str
    level: float
    df: float
    quantile: float

    @classmethod
    def from_labels(cls, y: Floats, method: Method, level: float, df: float) -> _Ends:
        if method == "t":
            binary = bool(np.isin(y, (0, 1)).all())
            return cls(y, binary, STUDENT, level, df, t_quantile(level, df))
        return cls(y, False, "normal", level, df, NormalDist().inv_cdf((1 + level) / 2))

    def around(self, centre: float, error: float) -> tuple[float, float]:
        half = self.quantile * error
        if self.binary and half > 0 and 0 < centre < 1:
            labels_worth = centre * (1 - centre) / error**2
            return wilson(centre, labels_worth, self.quantile)
        return centre - half, centre + half

    def of_people(self, label_variance: float) -> Estimate:
        """The mean of the labels alone, with its interval."""
        n = len(self.y)
        mean = float(self.y.mean())
        if self.binary and label_variance == 0:
            low, high = equal_interval(mean, self.df + 1, 0, 1, self.level)
            return Estimate(mean, low, high, n, self.level, ALL_EQUAL)
        method = WILSON if self.binary else self.name
        return Estimate(mean, *self.around(mean, math.sqrt(label_variance)), n, self.level, method)


def _between(clusters: Ints, adds: Floats, labelled: int, ddof: int) -> float:
    """The variance of a sum from what each item adds to it. labelled: clusters with a label."""
    sums = np.bincount(clusters, adds)
    return labelled / (labelled - ddof) * float(sums @ sums)
