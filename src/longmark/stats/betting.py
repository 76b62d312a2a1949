"""A confidence sequence for the mean of bounded values: it holds at every number of values at once, so that whoever
looks after each value and stops when they like is wrong no more often than the level says.

A bet that the mean is above m starts with a capital of 1 and stakes a part of it on each unit (a question, or a cluster
of them), in the order in which the units came. With the values scaled to [0, 1]:

    K+(m) = product over units of 1 + λ (s - m k)      s: the sum of the unit's values, k: how many it has, both divided
                                                       by the size of the largest unit
    λ     = min(sqrt(2 log(2 / α) / (v t log(t + 1))), c / m); v: the variance of the units before this one, t: its
            place from 1; c: 1/2 with one half of the capital, 9/10 with the other

If the mean is m, the expected capital stays 1 whatever was staked, so it ever reaches 2 / α with probability α / 2 at
most (Ville's inequality). The sequence holds each m for which neither K+ nor the bet on the other side, K-, has reached
2 / α. It only becomes narrower. Source: the hedged capital process with predictable plug-in bets of Waudby-Smith and
Ramdas 2024, "Estimating means of bounded random variables by betting" (J. R. Statist. Soc. B 86), Theorem 3.

The mean of clusters is that over their values (sum of s / sum of k), as elsewhere in longmark. Deviations: that paper
has units of one value and one c, for which this is the same to the digit. Two halves find small, even differences in
two thirds of the questions that c = 1/2 needs, and lose little where c = 1/2 is better (design/decide.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from longmark.errors import UserError
from longmark.stats.means import Bounds
from longmark.stats.results import Estimate, check_level
from longmark.stats.samples import Floats, Ints

HEDGED = "hedged capital"
CUTS = (0.5, 0.9)
"""c of each part of the capital."""
_HALVINGS = 40
_ROUNDING = 1e-9


def confidence_sequence(
    values: Floats,
    bounds: Bounds,
    *,
    level: float,
    units: Ints | None = None,
    largest: int | None = None,
    cuts: Sequence[float] = CUTS,
) -> Estimate:
    """The mean with the ends of the sequence after these values.

    values: in the order in which they are looked at; bounds: the least and the greatest value that can occur; units: of
    each value the number of its unit, which never falls, None: each value is one; largest: how many values a unit can
    have, fixed before the first value is seen (None: the largest there is, which only tests may say). UserError for
    values outside the bounds, bounds that are missing, and a level outside (0, 1). cuts: c of each part of the capital.
    """
    check_level(level)
    low, high = bounds
    if low is None or high is None or not low < high:
        raise UserError(
            "a confidence sequence needs the least and the greatest value that can occur"
        )
    shares = np.clip((values - low) / (high - low), 0.0, 1.0)
    if (np.abs(shares * (high - low) + low - values) > _ROUNDING * (high - low)).any():
        raise UserError(
            f"values from {values.min():g} to {values.max():g}: expected {low:g} to {high:g}"
        )
    if units is None:
        sums = shares
        counts = np.ones(len(values))
    else:
        starts = (
            np.flatnonzero(np.diff(units, prepend=-1))
            if len(units)
            else np.zeros(0, dtype=np.int64)
        )
        largest_unit = max(largest or 0, int(np.diff(starts, append=len(units)).max(initial=1)))
        sums = np.add.reduceat(shares, starts) / largest_unit if len(starts) else shares
        counts = np.diff(starts, append=len(units)) / largest_unit
    alpha = 1 - level
    below = 1 - _end(counts - sums, counts, alpha, cuts)
    above = _end(sums, counts, alpha, cuts)
    ends = (low + above * (high - low), low + below * (high - low))
    mean = float(values.mean()) if len(values) else None
    return Estimate(
        mean, *ends, len(values), level, HEDGED, clusters=None if units is None else len(sums)
    )


def units_needed(
    sizes: Sequence[int], value: float, mean: float, *, level: float, largest: int | None = None
) -> int | None:
    """How many units it takes at the earliest, if every value is this one, until the sequence excludes the mean.

    Both are shares of the range, in [0, 1]; sizes: values of each unit, in their order; largest: as for
    `confidence_sequence`. None if these units are not enough."""
    counts = np.array(sizes, dtype=np.float64) / max(largest or 0, *sizes)
    if value < mean:
        value = 1 - value
        mean = 1 - mean
    sums = value * counts
    alpha = 1 - level
    over = log_capital(sums, counts, plug_in_bets(sums, counts, alpha), mean) >= math.log(2 / alpha)
    return int(over.argmax()) + 1 if over.any() else None


def _end(sums: Floats, counts: Floats, alpha: float, cuts: Sequence[float]) -> float:
    """The largest m from 0 to 1 that was not too small, by halving: capital falls as m grows."""
    bets = plug_in_bets(sums, counts, alpha)
    low = 0.0
    high = 1.0
    for _ in range(_HALVINGS if len(sums) else 0):
        m = (low + high) / 2
        low, high = (
            (m, high)
            if log_capital(sums, counts, bets, m, cuts).max() >= math.log(2 / alpha)
            else (low, m)
        )
    return low


def plug_in_bets(sums: Floats, counts: Floats, alpha: float) -> Floats:
    """λ of each unit, from the units before it, not yet cut at c / m."""
    t = np.arange(1, len(sums) + 1)
    means = (0.5 + np.cumsum(sums)) / (1 + np.cumsum(counts))
    variances = np.concatenate(
        [[0.25], (0.25 + np.cumsum((sums - means * counts) ** 2)) / (t + 1)]
    )[:-1]
    bets: Floats = np.sqrt(2 * math.log(2 / alpha) / (variances * t * np.log(t + 1)))
    return bets


def log_capital(
    sums: Floats, counts: Floats, bets: Floats, m: float, cuts: Sequence[float] = CUTS
) -> Floats:
    """log K+(m) after each unit. The bet on the other side: `counts - sums` and 1 - m, with the same λ."""
    parts = [np.cumsum(np.log1p(np.minimum(bets, cut / m) * (sums - m * counts))) for cut in cuts]
    logs: Floats = np.logaddexp.reduce(parts) - math.log(len(cuts))
    return logs
