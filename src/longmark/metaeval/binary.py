"""A metric against a yes or no: the area under the ROC curve, and calibration.

    AUC   the chance that the metric ranks an answer with a yes above one with a no, ties by half; .5 by chance
          interval: DeLong's variance (DeLong, DeLong & Clarke-Pearson 1988, by midranks: Sun & Xu 2014) on the logit
    ECE   sum over ten equal bins of [0, 1] of (answers in the bin / all) |mean of the metric - share of yes|

An answer's label is what most of its raters said. Only metrics on the scale from 0 to 1 have a calibration.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist

import numpy as np
from scipy.special import expit
from scipy.stats import rankdata

from longmark.stats.multiplicity import adjust
from longmark.stats.proportion import Share, share
from longmark.stats.samples import Floats, complete_rows

BINS = 10
_FEWEST = 5


@dataclass(frozen=True, slots=True)
class Auc:
    """yes, no: answers with each label and a value. value: None, or no interval, with a reason."""

    metric: str
    value: float | None
    low: float | None
    high: float | None
    yes: int
    no: int
    missing: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class AucDifference:
    """AUC(first) - AUC(second) on the answers that have both; p: two-sided, normal; adjusted: Holm over all pairs."""

    first: str
    second: str
    value: float | None
    low: float | None
    high: float | None
    p: float | None
    adjusted: float | None
    n: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers whose metric is in [low, high) ([low, high] in the last). mean: of the metric; yes: share with a yes."""

    low: float
    high: float
    mean: float | None
    yes: Share


@dataclass(frozen=True, slots=True)
class Calibration:
    """error: the expected calibration error; brier: mean squared distance of metric and label. reason: why none."""

    metric: str
    bins: tuple[Bin, ...]
    error: float | None
    brier: float | None
    n: int
    missing: int
    reason: str | None = None


def auc(metric: str, values: Floats, yes: Floats, level: float) -> Auc:
    """values: more is better; yes: 1, 0 or NaN. No interval with fewer than five of a label or at 0 and 1."""
    (v, y), keep = complete_rows(values, yes)
    above, below = v[y == 1], v[y == 0]
    m, n, missing = len(above), len(below), int((~keep).sum())

    def none(value: float | None, why: str) -> Auc:
        return Auc(metric, value, None, None, m, n, missing, why)

    if not m or not n:
        return none(None, f"people said {'no' if not m else 'yes'} of every answer" if m + n else "no answer has both")
    value, first, second = _components(above, below)
    if min(m, n) < _FEWEST:
        return none(value, f"an interval needs at least {_FEWEST} answers with yes and {_FEWEST} with no")
    variance = first.var(ddof=1) / m + second.var(ddof=1) / n
    if not 0 < value < 1 or variance <= 0:
        return none(value, "the metric orders all answers alike, so its spread is not known")
    centre = math.log(value / (1 - value))
    half = _z(level) * math.sqrt(variance) / (value * (1 - value))
    return Auc(metric, value, float(expit(centre - half)), float(expit(centre + half)), m, n, missing)


def auc_differences(columns: Mapping[str, Floats], yes: Floats, alpha: float) -> tuple[AucDifference, ...]:
    """Every pair of metrics, the larger AUC first."""
    found = [_difference(one, other, columns, yes, 1 - alpha) for one, other in combinations(columns, 2)]
    adjusted = adjust([each.p for each in found], alpha=alpha).adjusted
    return tuple(
        AucDifference(e.first, e.second, e.value, e.low, e.high, e.p, p, e.n, e.reason)
        for e, p in zip(found, adjusted, strict=True)
    )


def _difference(one: str, other: str, columns: Mapping[str, Floats], yes: Floats, level: float) -> AucDifference:
    (v, w, y), _ = complete_rows(columns[one], columns[other], yes)
    m, n = int((y == 1).sum()), int((y == 0).sum())
    if not m or not n:
        return AucDifference(one, other, None, None, None, None, None, len(y), "only one label is left")
    a, a_first, a_second = _components(v[y == 1], v[y == 0])
    b, b_first, b_second = _components(w[y == 1], w[y == 0])
    if b > a:
        return _difference(other, one, columns, yes, level)
    if min(m, n) < _FEWEST:
        why = f"a test needs at least {_FEWEST} answers with yes and {_FEWEST} with no"
        return AucDifference(one, other, a - b, None, None, None, None, len(y), why)
    error = math.sqrt((a_first - b_first).var(ddof=1) / m + (a_second - b_second).var(ddof=1) / n)
    if error <= 1e-12:
        return AucDifference(
            one, other, a - b, None, None, None, None, len(y), "the two metrics order the answers alike"
        )
    half = _z(level) * error
    p = 2 * NormalDist().cdf(-abs(a - b) / error)
    return AucDifference(one, other, a - b, a - b - half, a - b + half, p, None, len(y))


def _components(above: Floats, below: Floats) -> tuple[float, Floats, Floats]:
    """The AUC, for each yes the share of nos beneath it, and for each no the share of yeses above it."""
    m, n = len(above), len(below)
    ranks = rankdata(np.concatenate([above, below]))
    first = (ranks[:m] - rankdata(above)) / n
    second = 1 - (ranks[m:] - rankdata(below)) / m
    return float(first.mean()), first, second


def _z(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)


def calibration(metric: str, values: Floats | None, yes: Floats, level: float) -> Calibration:
    """values: on the scale from 0 to 1, None where the metric is on another."""
    if values is None:
        return Calibration(metric, (), None, None, 0, 0, "the metric is not on the scale from 0 to 1")
    (v, y), keep = complete_rows(values, yes)
    missing = int((~keep).sum())
    if not len(v):
        return Calibration(metric, (), None, None, 0, missing, "no answer has both")
    # rounding does not move .3 out of the bin that begins there
    place = np.minimum(np.floor(v * BINS + 1e-9).astype(np.int64), BINS - 1)
    bins = []
    error = 0.0
    for number in range(BINS):
        here = place == number
        count = int(here.sum())
        mean = float(v[here].mean()) if count else None
        found = share(int(y[here].sum()), count, level)
        if mean is not None and found.value is not None:
            error += count / len(v) * abs(mean - found.value)
        bins.append(Bin(number / BINS, (number + 1) / BINS, mean, found))
    return Calibration(metric, tuple(bins), error, float(((v - y) ** 2).mean()), len(v), missing)
