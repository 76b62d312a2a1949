"""The intervals of a comparison: resampled where there are values enough, else by what holds for few.

                        15 values or more    fewer, or where BCa has none
    mean, difference    BCa                  Student's t, clipped to the bounds; equal values: `stats.equal`
    d_z                 BCa                  from the noncentral t, exact for normal differences (fewer than 15 only)
    share won           BCa                  Wilson's, on the points 1, 1/2 and 0; also where all points are alike

Means follow the rule of the run's own table (`report.summary`), so that a mean has the same kind of interval in both.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.special import nctdtrinc

from longmark.report.summary import FEWEST_BCA, by_student, not_resampled
from longmark.stats.permutation import rounding
from longmark.stats.proportion import wilson
from longmark.stats.results import Interval
from longmark.stats.samples import Floats
from longmark.stats.student import Moments

WILSON, NONCENTRAL = "Wilson", "noncentral t"
Bounds = tuple[float | None, float | None]


def of_mean(drawn: Interval, values: Floats, bounds: Bounds, largest: float) -> Interval:
    """The interval of a mean, or of a mean difference. drawn: by BCa; values: what the mean is of; largest: the largest
    value in size that they were made of, which tells what is rounding."""
    if len(values) >= FEWEST_BCA and drawn.low is not None:
        return drawn
    if len(values) and np.ptp(values) <= rounding(0.0, largest):
        values = np.full(len(values), values[0])
    seen = Moments.of(values.tolist())
    made = not_resampled(seen, bounds, drawn.level) or by_student(seen, bounds, drawn.level)
    return _without_draws(drawn, made.method, made.ends, made.reason)


def of_differences(bounds: Bounds) -> Bounds:
    """Between what a difference of two values lies."""
    lo, hi = bounds
    return (None, None) if lo is None or hi is None else (lo - hi, hi - lo)


def of_d_z(drawn: Interval) -> Interval:
    """The interval of a mean difference in standard deviations. drawn: by BCa."""
    n = drawn.n
    if n >= FEWEST_BCA or drawn.estimate is None:
        return drawn
    tail, root = (1 - drawn.level) / 2, math.sqrt(n)
    low, high = (float(nctdtrinc(n - 1, share, drawn.estimate * root)) / root for share in (1 - tail, tail))
    if not low < drawn.estimate < high:
        return _without_draws(drawn, "", None, "the differences are nearly equal, so d_z has no bounds that can be had")
    return _without_draws(drawn, NONCENTRAL, (low, high), "")


def of_share(drawn: Interval) -> Interval:
    """The interval of the share of questions won, ties counted half. drawn: by BCa."""
    if drawn.estimate is None or (drawn.n >= FEWEST_BCA and drawn.low is not None):
        return drawn
    return _without_draws(drawn, WILSON, wilson(drawn.estimate, drawn.n, drawn.level), "")


def _without_draws(drawn: Interval, method: str, ends: tuple[float, float] | None, reason: str) -> Interval:
    low, high = ends or (None, None)
    return replace(
        drawn, low=low, high=high, method=method, resamples=0, seed=None, undefined=0, reason=reason or None
    )  # fmt: skip
