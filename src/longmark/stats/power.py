"""How many questions it takes to show a difference: the paired t test with a pilot's spread, by the noncentral t.

`variance_per_question` has an interval; `detectable` and `questions_needed` follow from it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import nctdtrinc, stdtrit

from longmark.stats.results import Estimate
from longmark.stats.samples import Floats, Values, cluster_numbers, complete_rows
from longmark.stats.student import t_quantile

_FEWEST, _FEWEST_FOR_INTERVAL = 3, 8
MOST = 10**9
"""Questions beyond which no number is given."""
JACKKNIFE_LOG = "jackknife of the logarithm"


def variance_per_question(
    differences: Values, *, clusters: Sequence[Hashable] | None = None, level: float = 0.95
) -> Estimate:
    """What one question adds to the variance of a mean difference: n times the squared standard error of the mean.

    differences: of two systems, one a question, None where a score is missing; clusters: for each question, what it
    belongs to (the value then holds for clusters of the pilot's mean size). Without clusters it is the variance of the
    differences, divisor n - 1. The interval is the delete-one jackknife's of the logarithm, around the mean of the
    pseudo-values, Student's t (Miller 1974, "The jackknife - a review", Biometrika 61): the usual one by chi-squared
    holds for normal differences only, and covers .70 to .86 where they are heavy-tailed. No value for fewer than 3
    clusters or equal differences, no interval for fewer than 8.
    """
    (d,), keep = complete_rows(differences)
    numbers, count = cluster_numbers(range(len(keep)) if clusters is None else clusters, keep)
    empty = Estimate(None, None, None, len(d), level, JACKKNIFE_LOG, None, len(keep) - len(d))
    empty = empty if clusters is None else replace(empty, clusters=count)
    if count < _FEWEST:
        return replace(empty, reason=f"a pilot needs at least {_FEWEST} {_units(clusters)}; found {count}")
    centred = d - d.mean()
    sums, sizes = np.bincount(numbers, centred), np.bincount(numbers).astype(np.float64)
    parts = np.array([sums * sums, sums * sizes, sizes * sizes, sums, sizes])

    def variance(total: Floats, groups: int) -> Floats:
        squares, products, square_sizes, sum_, n = total
        mean = sum_ / n
        return np.asarray(groups / (groups - 1) * (squares - 2 * mean * products + mean**2 * square_sizes) / n)

    total = parts.sum(axis=1, keepdims=True)
    value = float(variance(total, count)[0])
    if value <= (1e-12 * float(np.abs(d).max(initial=0.0))) ** 2:
        return replace(empty, reason="all differences of the pilot are equal, so their spread is unknown")
    if count < _FEWEST_FOR_INTERVAL:
        return replace(
            empty, value=value, reason=f"an interval needs at least {_FEWEST_FOR_INTERVAL} {_units(clusters)}"
        )
    left_out = variance(total - parts, count - 1)
    if left_out.min() <= 1e-9 * value:
        return replace(empty, value=value, reason="only one of the differences is unlike the others")
    pseudo = count * math.log(value) - (count - 1) * np.log(left_out)
    half = t_quantile(level, count - 1) * float(pseudo.std(ddof=1)) / math.sqrt(count)
    low, high = (math.exp(float(pseudo.mean()) + end) for end in (-half, half))
    return replace(empty, value=value, low=min(low, value), high=max(high, value))


def _units(clusters: object) -> str:
    return "questions" if clusters is None else "clusters"


def standard_errors_apart(clusters: float, critical: float, wanted: float = 0.8) -> float:
    """The true difference, in standard errors of the mean, that a t test of so many questions (or clusters) finds with
    the probability `wanted`: the noncentrality with which |t| exceeds the critical value so often."""
    return float(nctdtrinc(clusters - 1, 1 - wanted, critical))


def detectable(
    variance: float, n: float, *, per_cluster: float = 1.0, alpha: float = 0.05, wanted: float = 0.8
) -> float:
    """The true difference that n questions show with the power wanted. variance: of `variance_per_question`;
    per_cluster: questions in a cluster."""
    clusters = n / per_cluster
    critical = float(stdtrit(clusters - 1, 1 - alpha / 2))
    return math.sqrt(variance / n) * standard_errors_apart(clusters, critical, wanted)


def questions_needed(
    variance: float, difference: float, *, per_cluster: float = 1.0, alpha: float = 0.05, wanted: float = 0.8
) -> int | None:
    """The fewest questions with which a difference is detectable; None beyond a billion. The inverse of `detectable`.
    At least three questions (or clusters) are needed."""
    low, high = math.ceil(_FEWEST * per_cluster), math.ceil(_FEWEST * per_cluster)

    def shows(n: int) -> bool:
        return detectable(variance, n, per_cluster=per_cluster, alpha=alpha, wanted=wanted) <= abs(difference)

    while not shows(high):
        low, high = high, 2 * high
        if high > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(middle) else (middle, high)
    return high
