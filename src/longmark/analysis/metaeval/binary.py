"""A metric against a yes or no: the area under the ROC curve, and calibration.

    AUC   the chance that the metric ranks an answer with a yes above one with a no, ties by half; .5 by chance
          interval: DeLong's variance (DeLong, DeLong & Clarke-Pearson 1988, by midranks: Sun & Xu 2014) on the logit;
          of clusters Obuchowski's (1997), and Student's t with one degree less than there are clusters
    ECE   sum over ten equal bins of [0, 1] of (answers in the bin / all) |mean of the metric - share of yes|

An answer's label is what most of its raters said. Clusters: answers to one question. Only metrics on the scale from 0
to 1 have a calibration.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import NormalDist

import numpy as np
from scipy import stats as scipy_stats
from scipy.special import expit
from scipy.stats import rankdata

from longmark.analysis.metaeval.questions import Clusters, taken
from longmark.stats.clustered_share import clustered_share
from longmark.stats.multiplicity import adjust
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats, Ints, cluster_numbers, complete_rows
from longmark.stats.student import t_quantile

BINS = 10
_FEWEST = 5
_ROUNDING = 1e-12  # areas this close are equal, and their metrics stay in the order given


@dataclass(frozen=True, slots=True, kw_only=True)
class Auc(Estimate):
    """yes, no: answers with each label and a score. clusters: questions they belong to, None if each has its own."""

    metric: str
    yes: int
    no: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AucDifference(Estimate):
    """AUC(first) - AUC(second) on the answers that have both; p: two-sided; adjusted: Holm over all pairs."""

    first: str
    second: str
    p: float | None = None
    adjusted: float | None = None


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers whose metric is in [low, high) ([low, high] in the last). mean: of the metric; yes: share with a yes;
    questions: that they belong to."""

    low: float
    high: float
    mean: float | None
    yes: Estimate
    questions: int


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


def auc(metric: str, values: Floats, yes: Floats, level: float, clusters: Clusters = None) -> Auc:
    """values: more is better; yes: 1, 0 or NaN. No interval with fewer than five of a label or at 0 and 1."""
    (v, y), keep = complete_rows(values, yes)
    numbers, count = (None, None) if clusters is None else cluster_numbers(clusters, keep)
    m, n, missing = int((y == 1).sum()), int((y == 0).sum()), int((~keep).sum())

    def made(value: float | None, low: float | None, high: float | None, why: str | None = None) -> Auc:
        return Auc(value, low, high, m + n, level, "logit", why, missing, count, metric=metric, yes=m, no=n)

    def none(value: float | None, why: str) -> Auc:
        return made(value, None, None, why)

    if not m or not n:
        return none(None, f"people said {'no' if not m else 'yes'} of every answer" if m + n else "no answer has both")
    value, first, second = _components(v[y == 1], v[y == 0])
    if why := _too_few(y, numbers, count, "an interval"):
        return none(value, why)
    variance = _variance(first, second, y, numbers)
    if not 0 < value < 1 or variance <= 0:
        return none(value, "the metric orders all answers alike, so its spread is not known")
    centre = math.log(value / (1 - value))
    half = _quantile(level, count) * math.sqrt(variance) / (value * (1 - value))
    low, high = float(expit(centre - half)), float(expit(centre + half))
    return made(value, low, high)


def auc_differences(
    columns: Mapping[str, Floats], yes: Floats, alpha: float, clusters: Clusters = None
) -> tuple[AucDifference, ...]:
    """Every pair of metrics, the larger AUC first."""
    found = [_difference(one, other, columns, yes, 1 - alpha, clusters) for one, other in combinations(columns, 2)]
    adjusted = adjust([each.p for each in found], alpha=alpha).adjusted
    return tuple(replace(each, adjusted=p) for each, p in zip(found, adjusted, strict=True))


def _difference(
    one: str, other: str, columns: Mapping[str, Floats], yes: Floats, level: float, clusters: Clusters
) -> AucDifference:
    (v, w, y), keep = complete_rows(columns[one], columns[other], yes)
    numbers, count = (None, None) if clusters is None else cluster_numbers(clusters, keep)

    def made(value: float | None, half: float | None, p: float | None = None, why: str | None = None) -> AucDifference:
        low, high = (None, None) if value is None or half is None else (value - half, value + half)
        return AucDifference(value, low, high, len(y), level, "DeLong", why, 0, count, first=one, second=other, p=p)

    def none(value: float | None, why: str) -> AucDifference:
        return made(value, None, None, why)

    if not (y == 1).any() or not (y == 0).any():
        return none(None, "only one label is left")
    a, a_first, a_second = _components(v[y == 1], v[y == 0])
    b, b_first, b_second = _components(w[y == 1], w[y == 0])
    if b > a + _ROUNDING:
        return _difference(other, one, columns, yes, level, clusters)
    if why := _too_few(y, numbers, count, "a test"):
        return none(a - b, why)
    error = math.sqrt(max(0.0, _variance(a_first - b_first, a_second - b_second, y, numbers)))
    if error <= _ROUNDING:
        return none(a - b, "the two metrics order the answers alike")
    half = _quantile(level, count) * error
    reach = abs(a - b) / error
    p = 2 * (NormalDist().cdf(-reach) if count is None else float(scipy_stats.t.sf(reach, count - 1)))
    return made(a - b, half, p)


def _too_few(yes: Floats, numbers: Ints | None, count: int | None, what: str) -> str | None:
    m, n = int((yes == 1).sum()), int((yes == 0).sum())
    if min(m, n) < _FEWEST:
        return f"{what} needs at least {_FEWEST} answers with yes and {_FEWEST} with no"
    if numbers is None or count is None:
        return None
    if count < _FEWEST or min(len(set(numbers[yes == label].tolist())) for label in (0, 1)) < 2:
        return f"{what} needs answers to at least {_FEWEST} questions, with yes and with no to two of them each"
    return None


def _variance(first: Floats, second: Floats, yes: Floats, numbers: Ints | None) -> float:
    """The variance of an AUC, or of a difference, from its components: of each yes, and of each no."""
    m, n = len(first), len(second)
    if numbers is None:
        return float(first.var(ddof=1) / m + second.var(ddof=1) / n)
    count = int(numbers.max()) + 1
    of_yes, of_no = numbers[yes == 1], numbers[yes == 0]
    up = np.bincount(of_yes, first - first.mean(), count) / m
    down = np.bincount(of_no, second - second.mean(), count) / n

    def grown(groups: int) -> float:
        return groups / (groups - 1)

    both = 2 * grown(count) * float(up @ down)
    return (
        grown(len(set(of_yes.tolist()))) * float(up @ up) + grown(len(set(of_no.tolist()))) * float(down @ down) + both
    )


def _components(above: Floats, below: Floats) -> tuple[float, Floats, Floats]:
    """The AUC, for each yes the share of nos beneath it, and for each no the share of yeses above it."""
    m, n = len(above), len(below)
    ranks = rankdata(np.concatenate([above, below]))
    first = (ranks[:m] - rankdata(above)) / n
    second = 1 - (ranks[m:] - rankdata(below)) / m
    return float(first.mean()), first, second


def _quantile(level: float, clusters: int | None) -> float:
    return NormalDist().inv_cdf((1 + level) / 2) if clusters is None else t_quantile(level, clusters - 1)


def calibration(
    metric: str, values: Floats | None, yes: Floats, level: float, clusters: Clusters = None
) -> Calibration:
    """values: on the scale from 0 to 1, None where the metric is on another."""
    if values is None:
        return Calibration(metric, (), None, None, 0, 0, "the metric is not on the scale from 0 to 1")
    (v, y), keep = complete_rows(values, yes)
    missing = int((~keep).sum())
    its = taken(clusters, keep.tolist())
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
        those = taken(its, here.tolist())
        found = clustered_share(y[here], those, level)
        if mean is not None and found.value is not None:
            error += count / len(v) * abs(mean - found.value)
        bins.append(Bin(number / BINS, (number + 1) / BINS, mean, found, count if those is None else len(set(those))))
    return Calibration(metric, tuple(bins), error, float(((v - y) ** 2).mean()), len(v), missing)
