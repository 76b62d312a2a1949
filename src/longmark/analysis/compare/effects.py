"""Means, differences and effect sizes of every pair of systems, with intervals over questions.

                        15 questions or more    fewer, or if BCa is undefined
    mean                Hall's t, clipped to the bounds (`stats.means`)
    difference          the interval that inverts the deciding test, clipped to the bounds; `all equal` for equal ones;
                        Hall's t, extended to hold 0, if no difference could be significant
    d_z                 BCa                     noncentral t, exact for normal differences (fewer than 15 only)
    share won           BCa                     Wilson's, on the points 1, 1/2 and 0; also if all points are equal

All pairs share the resamples of the questions. Where questions belong to clusters, these are drawn as a whole, and the
intervals for few questions, which know no clusters, are not used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from scipy.sparse import csr_array
from scipy.special import nctdtrinc

from longmark.stats.bootstrap import FEWEST_BCA, interval, resampled_sums
from longmark.stats.means import WILSON, Bounds, mean_estimate, wilson
from longmark.stats.permutation import rounding
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats, Ints

TIE = 1e-9
NONCENTRAL = "noncentral t"


@dataclass(frozen=True, slots=True)
class Effects:
    """BCa estimates of each pair."""

    d_z: tuple[Estimate, ...]
    share: tuple[Estimate, ...]


def resampled(
    table: Floats,
    pairs: Sequence[tuple[int, int]],
    sign: int,
    empty: Estimate,
    seed: int,
    clusters: Ints | None = None,
) -> Effects:
    """table: questions x systems, NaN where a score is missing; pairs: places of two systems; sign: 1 if the higher
    score wins a question, -1 if the lower one does; empty: an estimate without numbers, for its settings. A pair counts
    the questions with a score of both. clusters: of the questions, which are drawn together."""
    raw = table[:, [a for a, _ in pairs]] - table[:, [b for _, b in pairs]]
    there = ~np.isnan(raw)
    n = there.sum(axis=0)
    differences = np.where(there, raw, 0.0)
    ahead = sign * differences
    points = ((ahead > TIE) + 0.5 * (np.abs(ahead) <= TIE)) * there
    centre = differences.sum(axis=0) / np.where(n > 0, n, np.nan)
    centred = np.where(there, differences - centre, 0.0)
    squares = centred**2
    # variances up to this size are rounding: of the squares, or of the scores themselves
    largest = float(np.nanmax(np.abs(table), initial=0.0))
    none = np.maximum(1e-13 * squares.max(axis=0, initial=0.0), (1e-12 * largest) ** 2)
    counts = there[:, :1] if there.all() else there  # one column counts for all pairs
    ends = [len(pairs), 2 * len(pairs), 3 * len(pairs)]

    def formula(sums: Floats) -> Floats:
        off, square, won, number = np.split(sums, ends, axis=1)
        off, square, won = off / number, square / number, won / number
        variance = (square - off**2) * number / np.maximum(number - 1, 1)
        return np.hstack([(centre + off) / np.sqrt(np.where(variance > none, variance, np.nan)), won])

    features = np.hstack([centred, squares, points, counts.astype(np.float64)])
    if clusters is not None:
        _, places = np.unique(clusters, return_inverse=True)
        of = csr_array((np.ones(len(places)), (places, np.arange(len(places)))))
        features, there = of @ features, (of @ there) > 0
    units = there.sum(axis=0)
    value, drawn, left_out = resampled_sums(features, formula, empty.resamples, np.random.default_rng(seed))
    estimates = []
    for i in range(2 * len(pairs)):
        number, groups = int(n[i % len(pairs)]), None if clusters is None else int(units[i % len(pairs)])
        settings = replace(empty, n=number, missing=len(table) - number, seed=seed, clusters=groups)
        estimates.append(interval(settings, float(value[0, i]), drawn[:, i], left_out[:, i]))
    return Effects(tuple(estimates[: len(pairs)]), tuple(estimates[len(pairs) :]))


def of_mean(
    values: Floats, clusters: Ints | None, bounds: Bounds, largest: float, level: float, missing: int = 0
) -> Estimate:
    """The mean of scores, or of differences of scores. clusters: what each belongs to; largest: the largest score in
    size that they were made of, which decides what is rounding; missing: questions left out."""
    if len(values) and np.ptp(values) <= rounding(0.0, largest):
        values = np.full(len(values), values[0])
    return replace(
        mean_estimate(values.tolist(), None if clusters is None else clusters.tolist(), bounds, level), missing=missing
    )


def of_d_z(drawn: Estimate) -> Estimate:
    """The interval of a mean difference in standard deviations. drawn: by BCa."""
    n = drawn.n
    if n >= FEWEST_BCA or drawn.value is None or drawn.clusters is not None:
        return drawn
    tail, root = (1 - drawn.level) / 2, math.sqrt(n)
    low, high = (float(nctdtrinc(n - 1, share, drawn.value * root)) / root for share in (1 - tail, tail))
    if not low < drawn.value < high:
        return _without_draws(drawn, "", None, "the differences are nearly equal, so d_z has no finite interval")
    return _without_draws(drawn, NONCENTRAL, (low, high))


def of_share(drawn: Estimate) -> Estimate:
    """The interval of the share of questions won, ties counted half. drawn: by BCa."""
    if drawn.value is None or drawn.clusters is not None or (drawn.n >= FEWEST_BCA and drawn.low is not None):
        return drawn
    quantile = NormalDist().inv_cdf((1 + drawn.level) / 2)
    return _without_draws(drawn, WILSON, wilson(drawn.value, drawn.n, quantile))


def _without_draws(
    drawn: Estimate, method: str, ends: tuple[float, float] | None, reason: str | None = None
) -> Estimate:
    low, high = ends or (None, None)
    return replace(drawn, low=low, high=high, method=method, resamples=0, seed=None, undefined=0, reason=reason)
