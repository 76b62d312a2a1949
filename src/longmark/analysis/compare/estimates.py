"""The estimates of a pair of systems: a mean (of scores or of differences), the share of questions won, and d_z.

    mean         Hall's t, clipped to the bounds (`stats.means`)
    d_z          mean of d / standard deviation of d (divisor n - 1), d: the differences of a pair. Interval: Student's
                 t with the delete-one jackknife's standard error, over clusters if there are any (d.f. of
                 `stats.clusters`); below 15 questions noncentral t, exact for normal differences
    share won    (won + ties / 2) / n, the mean of points 1, 1/2 and 0, with the interval of a mean between 0 and 1

d_z has no interval if too few differences are unlike the rest: fewer than 8, and than half of them. The spread is then
that of a handful, which no interval covers (docs/coverage.md).
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.special import nctdtrinc

from longmark.stats.clusters import degrees_of_freedom
from longmark.stats.correlation import JACKKNIFE
from longmark.stats.means import Bounds, few_clusters, mean_of_groups
from longmark.stats.permutation import rounding
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats, Ints
from longmark.stats.student import t_quantile

TIE = 1e-9
"""Differences up to this size are none."""
NONCENTRAL = "noncentral t"
FEWEST_JACKKNIFE = 15
"""Questions from which the interval of d_z is the jackknife's."""

_FEWEST = 3
_UNLIKE = 8  # questions or clusters; those whose difference is unlike the most frequent one


def of_mean(
    values: Floats,
    clusters: Ints | None,
    bounds: Bounds,
    largest: float,
    level: float,
    missing: int = 0,
    null: float | None = None,
) -> Estimate:
    """The mean of scores, or of differences of scores. clusters: what each belongs to; largest: the largest score in
    size that they were made of, which decides what is rounding; missing: questions left out; null: as in
    `stats.means`."""
    if len(values) and np.ptp(values) <= rounding(0.0, largest):
        values = np.full(len(values), values[0])
    return replace(
        mean_of_groups(groups_of(values, clusters), bounds, level, null=null), missing=missing
    )


def groups_of(values: Floats, clusters: Ints | None) -> Iterator[Sequence[float]]:
    """The values of each cluster; without clusters each value is one."""
    cuts = np.arange(1, len(values))
    if clusters is not None:
        order = np.argsort(clusters, kind="stable")
        values = values[order]
        cuts = np.flatnonzero(np.diff(clusters[order])) + 1
    numbers = array(
        "d", values.astype(np.float64).tobytes()
    )  # a list would hold an object for each
    ends = array("q", np.concatenate([[0], cuts, [len(numbers)]]).astype(np.int64).tobytes())
    return (numbers[start:end] for start, end in pairwise(ends) if end > start)


def of_share(ahead: Floats, clusters: Ints | None, level: float, missing: int = 0) -> Estimate:
    """The share of questions won, ties counted half. ahead: differences, above 0 where the first system is better."""
    points = (ahead > TIE) + 0.5 * (np.abs(ahead) <= TIE)
    return of_mean(points, clusters, (0, 1), 1.0, level, missing, null=0.5)


def of_d_z(
    differences: Floats, clusters: Ints | None, largest: float, level: float, missing: int = 0
) -> Estimate:
    """The mean difference in standard deviations. clusters, largest, missing: as in `of_mean`."""
    n = len(differences)
    number = np.arange(n) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    sizes = np.bincount(number)
    units = len(sizes)
    units_name = "questions" if clusters is None else "clusters"
    empty = Estimate(
        None,
        None,
        None,
        n,
        level,
        JACKKNIFE,
        missing=missing,
        clusters=None if clusters is None else units,
    )
    if n < 2 or np.ptp(differences) <= rounding(0.0, largest):
        return replace(
            empty, reason="all differences are equal" if n > 1 else "d_z needs two questions"
        )
    centre = float(differences.mean())
    deviations = differences - centre
    value = centre / float(np.std(differences, ddof=1))
    empty = replace(empty, value=value)
    if units < _FEWEST:
        return replace(
            empty, reason=f"an interval needs at least {_FEWEST} {units_name}; found {units}"
        )
    rounded = np.round(differences / TIE)
    _, places, counts = np.unique(rounded, return_inverse=True, return_counts=True)
    unlike = len(np.unique(number[places != int(counts.argmax())]))
    if unlike < min(_UNLIKE, -(-units // 2)):
        return replace(
            empty,
            reason=f"d_z has no interval: only {unlike} of {units} {units_name} differ from the rest",
        )
    if clusters is None and n < FEWEST_JACKKNIFE:
        tail = (1 - level) / 2
        root = math.sqrt(n)
        low, high = (
            float(nctdtrinc(n - 1, share, value * root)) / root for share in (1 - tail, tail)
        )
        if not low < value < high:
            return replace(
                empty, reason="the differences are nearly equal, so d_z has no finite interval"
            )
        return replace(empty, low=low, high=high, method=NONCENTRAL)
    remaining = n - sizes
    means = -np.bincount(number, deviations) / remaining  # of the others, from the centre
    squares = (
        (deviations @ deviations)
        - np.bincount(number, deviations * deviations)
        - remaining * means**2
    )
    if squares.min() <= 1e-12 * float(deviations @ deviations) or remaining.min() < 2:
        return replace(empty, reason=f"without one of the {units_name} all differences are equal")
    left_out = (centre + means) / np.sqrt(squares / (remaining - 1))
    error = math.sqrt((units - 1) / units * float(((left_out - left_out.mean()) ** 2).sum()))
    df = degrees_of_freedom(sizes.tolist())
    half = t_quantile(level, df) * error
    size = None if clusters is None else df + 1
    remark = None if size is None else few_clusters(size)
    return replace(empty, low=value - half, high=value + half, effective=size, remark=remark)
