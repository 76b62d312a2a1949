"""A metric against a yes or no: the area under the ROC curve, and calibration.

    AUC   the probability that the metric ranks an answer labelled yes above one labelled no, ties by half; .5 by chance
          interval: DeLong's variance (DeLong, DeLong & Clarke-Pearson 1988, by midranks: Sun & Xu 2014) on the logit;
          of clusters Obuchowski's (1997), and Student's t with the degrees of freedom of `stats.clusters`;
          at 1 and 0: the bound of Clopper and Pearson for k of k disjoint pairs of a yes and a no, 0.025^(1/k), which
          are independent (k: the rarer label's answers; of clusters at most half of them)
    ECE   sum over ten equal bins of [0, 1] of (answers in the bin / all) |mean score - share of yes|

An answer's label is the majority of its raters. Clusters: answers to one question. Only metrics on the scale from 0 to
1 have a calibration.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from scipy.special import expit, stdtr
from scipy.stats import rankdata

from longmark.analysis.grid import ROUNDING
from longmark.analysis.metaeval.results import Clusters, subset
from longmark.stats.clusters import degrees_of_freedom
from longmark.stats.means import few_clusters
from longmark.stats.proportion import clustered_share
from longmark.stats.results import Difference, Estimate
from longmark.stats.samples import Floats, Ints, cluster_numbers, complete_rows
from longmark.stats.student import t_quantile

BINS = 10
NO_PAIR = "no answer has both a score and a label"
_FEWEST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Auc(Estimate):
    """yes, no: answers with each label and a score. clusters: questions they belong to, None if each has its own."""

    yes: int
    no: int


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Answers whose score is in [low, high) ([low, high] in the last). mean: of the scores; yes: share with a yes;
    questions: that they belong to."""

    low: float
    high: float
    mean: float | None
    yes: Estimate
    questions: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """error: the expected calibration error; brier: mean squared distance of score and label. reason: why none."""

    bins: tuple[CalibrationBin, ...]
    error: float | None
    brier: float | None
    n: int
    missing: int
    reason: str | None = None


def auc(scores: Floats, yes: Floats, level: float, clusters: Clusters = None) -> Auc:
    """scores: higher is better; yes: 1, 0 or NaN. No interval with fewer than five of a label."""
    (x, y), keep = complete_rows(scores, yes)
    numbers, count = (None, None) if clusters is None else cluster_numbers(clusters, keep)
    m = int((y == 1).sum())
    n = int((y == 0).sum())
    missing = int((~keep).sum())

    df = (
        None
        if numbers is None or len(y) < 2 or count == 1
        else degrees_of_freedom(np.bincount(numbers).tolist())
    )

    def made(
        value: float | None, reason: str | None, low: float | None = None, high: float | None = None
    ) -> Auc:
        size = None if df is None or low is None else df + 1
        method = "logit" if value is None or 0 < value < 1 else "disjoint pairs"
        area = Auc(
            value,
            low,
            high,
            m + n,
            level,
            method,
            reason,
            missing,
            count,
            effective=size,
            yes=m,
            no=n,
        )
        return replace(area, remark=None if size is None else few_clusters(size))

    if not m or not n:
        return made(None, f"every answer is labelled {'yes' if m else 'no'}" if m + n else NO_PAIR)
    value, first, second = _components(x[y == 1], x[y == 0])
    if reason := _too_few(y, numbers, count, "an interval"):
        return made(value, reason)
    variance = _variance(first, second, y, numbers)
    if not 0 < value < 1:
        pairs = min(m, n)
        if numbers is not None and count is not None:
            pairs = min(count // 2, *(len(set(numbers[y == label].tolist())) for label in (0, 1)))
        bound = ((1 - level) / 2) ** (1 / pairs)
        return made(value, None, bound if value else 0.0, 1.0 if value else 1 - bound)
    if variance <= 0:
        return made(value, "the scores do not vary enough for an estimate of the variance")
    centre = math.log(value / (1 - value))
    half = _quantile(level, df) * math.sqrt(variance) / (value * (1 - value))
    return made(value, None, float(expit(centre - half)), float(expit(centre + half)))


def auc_difference(
    first: Floats, second: Floats, yes: Floats, level: float, clusters: Clusters = None
) -> Difference:
    """AUC(first) - AUC(second) on the answers that have both, with DeLong's test."""
    (v, w, y), keep = complete_rows(first, second, yes)
    numbers, count = (None, None) if clusters is None else cluster_numbers(clusters, keep)

    def made(
        value: float | None, reason: str | None, half: float | None = None, p: float | None = None
    ) -> Difference:
        low, high = (None, None) if value is None or half is None else (value - half, value + half)
        return Difference(
            value,
            low,
            high,
            len(y),
            level,
            "DeLong",
            reason,
            clusters=count,
            p=p,
        )

    if not (y == 1).any() or not (y == 0).any():
        return made(None, "only one label is left")
    a, a_first, a_second = _components(v[y == 1], v[y == 0])
    b, b_first, b_second = _components(w[y == 1], w[y == 0])
    if reason := _too_few(y, numbers, count, "a test"):
        return made(a - b, reason)
    error = math.sqrt(max(0.0, _variance(a_first - b_first, a_second - b_second, y, numbers)))
    if error <= ROUNDING:
        return made(a - b, "the two metrics rank the answers alike")
    t = abs(a - b) / error
    df = None if numbers is None else degrees_of_freedom(np.bincount(numbers).tolist())
    p = 2 * (NormalDist().cdf(-t) if df is None else float(stdtr(df, -t)))
    return made(a - b, None, _quantile(level, df) * error, p)


def _too_few(
    yes: Floats,
    numbers: Ints | None,
    count: int | None,
    measure: str,
) -> str | None:
    m = int((yes == 1).sum())
    n = int((yes == 0).sum())
    if min(m, n) < _FEWEST:
        return f"{measure} needs at least {_FEWEST} answers with yes and {_FEWEST} with no"
    if numbers is None or count is None:
        return None
    if count < _FEWEST or min(len(set(numbers[yes == label].tolist())) for label in (0, 1)) < 2:
        return f"{measure} needs answers to at least {_FEWEST} questions, with yes and with no to two of them each"
    return None


def _variance(first: Floats, second: Floats, yes: Floats, numbers: Ints | None) -> float:
    """The variance of an AUC, or of a difference, from its components: of each yes, and of each no."""
    m = len(first)
    n = len(second)
    if numbers is None:
        return float(first.var(ddof=1) / m + second.var(ddof=1) / n)
    count = int(numbers.max()) + 1
    of_yes = numbers[yes == 1]
    of_no = numbers[yes == 0]
    up = np.bincount(of_yes, first - first.mean(), count) / m
    down = np.bincount(of_no, second - second.mean(), count) / n

    def unbiased(groups: int, product: float) -> float:
        return groups / (groups - 1) * product

    return (
        unbiased(len(set(of_yes.tolist())), float(up @ up))
        + unbiased(len(set(of_no.tolist())), float(down @ down))
        + unbiased(count, 2 * float(up @ down))
    )


def _components(above: Floats, below: Floats) -> tuple[float, Floats, Floats]:
    """The AUC, for each yes the share of nos below it, and for each no the share of yeses above it."""
    m = len(above)
    n = len(below)
    ranks = rankdata(np.concatenate([above, below]))
    first = (ranks[:m] - rankdata(above)) / n
    second = 1 - (ranks[m:] - rankdata(below)) / m
    return float(first.mean()), first, second


def _quantile(level: float, df: float | None) -> float:
    return NormalDist().inv_cdf((1 + level) / 2) if df is None else t_quantile(level, df)


def calibration(
    scores: Floats | None, yes: Floats, level: float, clusters: Clusters = None
) -> Calibration:
    """scores: on the scale from 0 to 1, None if the metric is on another."""
    if scores is None:
        return Calibration((), None, None, 0, 0, "the metric is not on the scale from 0 to 1")
    (x, y), keep = complete_rows(scores, yes)
    missing = int((~keep).sum())
    kept_clusters = subset(clusters, keep)
    if not len(x):
        return Calibration((), None, None, 0, missing, NO_PAIR)
    # rounding does not move .3 out of the bin that begins there
    place = np.minimum(np.floor(x * BINS + 1e-9).astype(np.int64), BINS - 1)
    bins = []
    error = 0.0
    for number in range(BINS):
        in_bin = place == number
        count = int(in_bin.sum())
        those = subset(kept_clusters, in_bin)
        mean = float(x[in_bin].mean()) if count else None
        share = clustered_share(y[in_bin], those, level)
        if mean is not None and share.value is not None:
            error += count / len(x) * abs(mean - share.value)
        bins.append(
            CalibrationBin(
                number / BINS,
                (number + 1) / BINS,
                mean,
                share,
                count if those is None else len(set(those)),
            )
        )
    return Calibration(tuple(bins), error, float(((x - y) ** 2).mean()), len(x), missing)
