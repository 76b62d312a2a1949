"""Means of systems and their differences from a judge's scores of all answers, corrected by people's labels of some.

    m_i   = y_h + λ (g_i - g_h)          g_i: a score, calibrated or as it is; h: the stratum of answer i
    mean  = average of m_i over all answers that have a score
    y_h, g_h: the means of labels and of scores over the labelled answers of stratum h, weighted by w_i = 1 / (the
              probability that the answer was chosen for labelling)

With one stratum this is y + λ (mean g of all - mean g of the labelled): the labels' mean, moved by how much the chosen
answers differ from all. For every λ it estimates the mean of the labels had every answer been labelled, *provided the
labelled answers are a probability sample with these probabilities*. λ between 0 (labels alone) and 1 has the least
estimated variance of what is asked, so that of a difference is that of the difference. Sources: prediction-powered
inference (Angelopoulos et al. 2023) with power tuning (Angelopoulos, Duchi and Zrnic 2023, PPI++); cross-fitted
predictions (Zrnic and Candès 2024); weights and strata as in the survey literature (Särndal, Swensson and Wretman 1992,
chapter 6: the generalised difference estimator).

The estimate is linear in what each question adds, so its variance is the sum of squares of what each cluster adds (all
answers to its questions, of both systems), the labelled part of stratum h times sqrt(G_h / (G_h - 1)), G_h clusters of
it having a label. The interval takes Student's t with the degrees of freedom of the labelled clusters
(`stats.clusters`), less one for each further stratum and for λ. Labels that are 0 or 1 have Wilson's interval of a
mean, for as many labels as would give this variance. What raters have in common is added: sum over raters of (their
share of the labels of one side less that of the other)² times the variance between raters (`between_raters`).

Deviations: Hájek's weights (shares, not totals) instead of Horvitz and Thompson's; λ is clipped to [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longmark.errors import UserError
from longmark.stats.clusters import FEWEST_EFFECTIVE, degrees_of_freedom
from longmark.stats.means import WILSON, few_clusters, wilson
from longmark.stats.results import Estimate, check_level
from longmark.stats.samples import Floats, Ints, Seed, generator
from longmark.stats.student import STUDENT, t_quantile, two_sided

FEWEST = 10
"""Labels of a system below which nothing is corrected."""
FEWEST_COVERED = 50
"""Labels from which on the intervals kept their level in simulation (docs/coverage.md); below, a remark says so."""
UNLIKELY = 0.001
"""A system is not corrected if so many of its scores lie outside the range of the labelled ones as a random sample
would leave there with a probability below this."""
_FOLDS = 5
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedEstimate(Estimate):
    """A corrected mean, or difference, in the labels' units.

    raw: that of the scores alone, in their units; people: that of the labels alone, by the same method; weight: λ;
    labelled: answers with a label and a score, n: answers with a score; worth: how many labels alone would give as
    narrow an interval; p: two-sided, that a difference is 0; bias: the same of score - label.
    """

    labelled: int = 0
    raw: float | None = None
    people: Estimate | None = None
    weight: float | None = None
    worth: float | None = None
    p: float | None = None
    bias: Estimate | None = None


@dataclass(frozen=True, slots=True)
class LabelledScores:
    """Scores of all answers and labels of some, all of shape (questions, systems).

    scores, labels   NaN for none. A score that is missing leaves its label out
    weights          1 / probability of having been chosen, above 0; None: all equal within a stratum
    strata           of each question a number from 0; None: one
    clusters         of each question a number from 0; None: each question is one
    raters           for each rater the share of a cell's label that is theirs; empty: one nobody knows
    rater_variance   between raters, in squared units of the labels (`between_raters`)
    """

    scores: Floats
    labels: Floats
    weights: Floats | None = None
    strata: Ints | None = None
    clusters: Ints | None = None
    raters: Sequence[Floats] = ()
    rater_variance: float = 0.0

    @property
    def both(self) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = ~np.isnan(self.scores) & ~np.isnan(self.labels)
        return found

    @property
    def numbers(self) -> Ints:
        return np.arange(len(self.scores)) if self.clusters is None else self.clusters

    def weight(self) -> Floats:
        return np.ones_like(self.scores) if self.weights is None else self.weights


def corrected(
    table: LabelledScores, sides: Mapping[int, float], *, weight: float | None = None, level: float = 0.95
) -> CorrectedEstimate:
    """The sum over systems of a factor times the corrected mean. sides: place of a system -> its factor: {0: 1} for the
    mean of the first, {0: 1, 1: -1} for a difference. weight: λ; None: tuned.

    No value with fewer than 10 labels of a system, or where so many of its scores lie outside the range of the labelled
    ones that these are no random sample; no interval with labels of fewer than 5 effective clusters. UserError for
    weights that are not above 0, a λ or a level out of range, and for shapes that differ.
    """
    check_level(level)
    _check(table, weight)
    both, numbers = table.both, table.numbers
    places = list(sides)
    n, labelled = int((~np.isnan(table.scores[:, places])).sum()), int(both[:, places].sum())
    empty = CorrectedEstimate(*(None, None, None, n, level), labelled=labelled, raw=raw_of(table, sides))
    for place in places:
        if (why := _refusal(table, both, place)) is not None:
            return replace(empty, reason=why)
    parts = [_parts(table, both, place, factor) for place, factor in sides.items()]
    labels_alone, scores_alone = (math.fsum(one.value[k] for one in parts) for k in (0, 1))
    adds = [np.bincount(numbers, np.sum([one.adds[k] for one in parts], axis=0)) for k in (0, 1)]
    shares = np.bincount(numbers, np.sum([one.shares for one in parts], axis=0))
    squares = float(adds[1] @ adds[1])
    used = weight
    if used is None:
        used = min(1.0, max(0.0, -float(adds[0] @ adds[1]) / squares)) if squares > _ROUNDING**2 else 0.0
    strata = 1 if table.strata is None else len(set(table.strata.tolist()))
    df = degrees_of_freedom(shares[shares > 0].tolist()) - (strata - 1)
    effective = df + 1
    value = labels_alone + used * scores_alone
    clusters = None if table.clusters is None else int((shares > 0).sum())
    empty = replace(empty, value=value, weight=used, clusters=clusters, effective=effective if clusters else None)
    if effective < FEWEST_EFFECTIVE:
        return replace(empty, reason=few_clusters(effective))
    common = table.rater_variance * math.fsum(_share_of_rater(table, one, both, sides) ** 2 for one in table.raters)
    variance, own = (float(one @ one) + common for one in (adds[0] + used * adds[1], adds[0]))
    tuned = 1.0 if weight is None and used else 0.0
    scale = float(np.abs(table.labels[both]).max())
    if variance <= (_ROUNDING * max(1.0, scale)) ** 2:
        alike = all(np.ptp(table.labels[both[:, place], place]) == 0 for place in places)
        whose = "the labelled answers" if len(places) == 1 else "the labelled answers of each system"
        what = f"{whose} all have the same label" if alike else "labels and scores differ by a constant only"
        return replace(empty, reason=f"{what}, so they show no spread")
    binary = len(sides) == 1 and bool(np.isin(table.labels[:, places][both[:, places]], (0, 1)).all())
    low, high, method = _interval(value, variance, t_quantile(level, df - tuned), binary)
    alone = _interval(labels_alone, own, t_quantile(level, df), binary)
    few = min(int(both[:, place].sum()) for place in places)
    remark = (
        f"{few} labels are few: from {FEWEST_COVERED} on, intervals keep their level" if few < FEWEST_COVERED else None
    )
    return replace(
        empty,
        low=low,
        high=high,
        method=method,
        people=Estimate(labels_alone, *alone[:2], labelled, level, alone[2]),
        worth=labelled * own / variance,
        p=None if len(sides) == 1 else two_sided(value / math.sqrt(variance), df - tuned),
        remark=remark,
    )


def _interval(value: float, variance: float, quantile: float, binary: bool) -> tuple[float, float, str]:
    half = quantile * math.sqrt(variance)
    if binary and 0 < value < 1 and half > 0:
        return *wilson(value, value * (1 - value) / variance, quantile), WILSON
    return value - half, value + half, STUDENT


@dataclass(frozen=True, slots=True)
class _Parts:
    """What a system adds: to the estimate without scores and for λ = 1; each question to both; its share of labels."""

    value: tuple[float, float]
    adds: tuple[Floats, Floats]
    shares: Floats


def _parts(table: LabelledScores, both: NDArray[np.bool_], place: int, factor: float) -> _Parts:
    g, y, w, ours = table.scores[:, place], table.labels[:, place], table.weight()[:, place], both[:, place]
    there, n = ~np.isnan(g), int((~np.isnan(g)).sum())
    strata = np.zeros(len(g), dtype=np.int64) if table.strata is None else table.strata
    means, labelled, shares = np.zeros((2, len(g))), np.zeros((2, len(g))), np.zeros(len(g))
    for stratum in np.unique(strata[there]):
        its = there & (strata == stratum)
        chosen = its & ours
        share = np.where(chosen, w, 0.0) / w[chosen].sum()
        y_mean, g_mean = float(share[chosen] @ y[chosen]), float(share[chosen] @ g[chosen])
        count = len(np.unique(table.numbers[chosen]))
        shares[chosen] = share[chosen] * its.sum() / n
        grown = shares[chosen] * math.sqrt(count / (count - 1))
        means[0, its], means[1, its] = y_mean, g[its] - g_mean
        labelled[0, chosen], labelled[1, chosen] = grown * (y[chosen] - y_mean), -grown * (g[chosen] - g_mean)
    value = (float(means[0, there].mean()), float(means[1, there].mean()))
    spread = np.where(there, means - np.array(value)[:, None], 0.0) / n
    adds = factor * (spread + labelled)
    return _Parts((factor * value[0], factor * value[1]), (adds[0], adds[1]), shares * abs(factor))


def _refusal(table: LabelledScores, both: NDArray[np.bool_], place: int) -> str | None:
    """Why a system cannot be corrected."""
    scores, ours = table.scores[:, place], both[:, place]
    if ours.sum() < FEWEST:
        return f"needs at least {FEWEST} answers with a label and a score; found {int(ours.sum())}"
    if len(np.unique(table.numbers[ours])) < 2:
        return "all answers with a label belong to one cluster"
    for stratum in () if table.strata is None else np.unique(table.strata[~np.isnan(scores)]):
        if len(np.unique(table.numbers[ours & (table.strata == stratum)])) < 2:
            return f"stratum {stratum} has answers, but fewer than two clusters of them have a label"
    low, high = scores[ours].min(), scores[ours].max()
    there = scores[~np.isnan(scores)]
    outside = float(((there < low) | (there > high)).mean())
    # The share outside the range of n equal draws has the distribution Beta(2, n - 1). Of unequal ones so many are
    # equal at least:
    n = table.weight()[ours, place].sum() / table.weight()[ours, place].max()
    if (1 - outside) ** n + n * outside * (1 - outside) ** (n - 1) < UNLIKELY:
        return (
            f"{100 * outside:.0f} % of the scores are outside the range of the labelled answers' ({low:.4g} to "
            f"{high:.4g}): the labelled answers are no random sample"
        )
    return None


def _share_of_rater(table: LabelledScores, rater: Floats, both: NDArray[np.bool_], sides: Mapping[int, float]) -> float:
    """What a shift of all of a rater's labels by 1 adds to the estimate. Strata are passed over."""
    weights = np.where(both, table.weight(), 0.0)
    return math.fsum(
        factor
        * float(weights[:, place] @ np.where(both[:, place], rater[:, place], 0.0))
        / float(weights[:, place].sum())
        for place, factor in sides.items()
    )


def _check(table: LabelledScores, weight: float | None) -> None:
    shape = table.scores.shape
    others = [("labels", table.labels), ("weights", table.weights), *(("raters", one) for one in table.raters)]
    for name, one in others:
        if one is not None and one.shape != shape:
            raise UserError(f"{name}: expected the shape {shape} of the scores, found {one.shape}")
    if table.weights is not None and not (table.weights[table.both] > 0).all():
        raise UserError("weights: expected numbers above 0 for labelled answers")
    if weight is not None and not 0 <= weight <= 1:
        raise UserError(f"the judge's weight is between 0 and 1; found {weight}")


def bias_of(table: LabelledScores, sides: Mapping[int, float], **options: Any) -> CorrectedEstimate:
    """What the scores of all answers say less what their labels would say, estimated as `corrected` does; scores in the
    labels' units. Above 0: the judge scores this system too high (of a difference: favours the first)."""
    return corrected(replace(table, labels=table.scores - table.labels), sides, **options)


def raw_of(table: LabelledScores, sides: Mapping[int, float]) -> float | None:
    """The same sum of the scores' own means, in the scores' units; None where a system has no score."""
    if any(np.isnan(table.scores[:, place]).all() for place in sides):
        return None
    return math.fsum(factor * float(np.nanmean(table.scores[:, place])) for place, factor in sides.items())


# Calibration ----------------------------------------------------------------------------------------------------------


def calibrated(table: LabelledScores, seed: Seed = 0) -> LabelledScores:
    """The table with its scores on the labels' scale: one isotonic regression of labels on scores for all systems,
    cross-fitted over five folds of whole clusters. A labelled answer's score is of the regression without its fold,
    that of another one the mean of the five, so no label calibrates its own correction. (Isotonic regression: Barlow
    et al. 1972; the pool of adjacent violators.) As it is with labels of fewer than ten clusters."""
    both, numbers = table.both, table.numbers
    clusters = np.unique(numbers[both.any(axis=1)])
    if len(clusters) < 2 * _FOLDS:
        return table
    order = generator(seed)[0].permutation(clusters)
    fold = np.full(int(numbers.max()) + 1, -1)
    fold[order] = np.arange(len(order)) % _FOLDS
    of, weights = fold[numbers][:, None], table.weight()
    each = []
    for k in range(_FOLDS):
        rest = both & (of != k)
        each.append(isotonic(table.scores[rest], table.labels[rest], weights[rest])(table.scores))
    found = np.mean(each, axis=0)
    for k in range(_FOLDS):
        found = np.where(both & (of == k), each[k], found)
    return replace(table, scores=np.where(np.isnan(table.scores), np.nan, found))


def isotonic(x: Floats, y: Floats, weights: Floats) -> Callable[[Floats], Floats]:
    """The non-decreasing function nearest to y, by least squares: linear between the values of x, constant beyond."""
    points, place = np.unique(x, return_inverse=True)
    mass = np.bincount(place, weights)
    means = np.bincount(place, weights * y) / mass
    blocks: list[tuple[float, float, int]] = []  # mean, mass, points
    for mean, own in zip(means.tolist(), mass.tolist(), strict=True):
        count = 1
        while blocks and blocks[-1][0] >= mean:
            before, size, points_before = blocks.pop()
            mean, own, count = (before * size + mean * own) / (size + own), size + own, count + points_before
        blocks.append((mean, own, count))
    fitted = np.repeat([mean for mean, _, _ in blocks], [count for _, _, count in blocks])
    return lambda values: np.interp(values, points, fitted)


# What the correction rests on -----------------------------------------------------------------------------------------

PASS, FAIL, INCONCLUSIVE, NOT_CHECKED = "pass", "fail", "inconclusive", "not checked"


@dataclass(frozen=True, slots=True)
class Transport:
    """Whether the labels of the other systems would correct this one.

    residual: mean of label - score, calibrated on the others' labels, less that of the others, with a 90 % interval;
    margin: in the labels' units; verdict: `pass`, the interval is inside the margin; `fail`, it is outside;
    `inconclusive`, it holds an end; `not checked`: too few labels of the system or of the others.
    """

    residual: Estimate
    margin: float
    verdict: str


def transport(table: LabelledScores, place: int, margin: float, seed: Seed = 0) -> Transport:
    """For a system with labels of its own, whether it could do without. UserError for a margin not above 0."""
    if not margin > 0:
        raise UserError(f"a margin is above 0; found {margin}")
    both, level = table.both, 0.9
    others = np.array([one for one in range(table.scores.shape[1]) if one != place], dtype=np.int64)
    theirs = both[:, others]
    none = Estimate(None, None, None, int(both[:, place].sum()), level)
    if none.n < FEWEST or theirs.sum() < FEWEST:
        few = "the system" if none.n < FEWEST else "the others"
        return Transport(replace(none, reason=f"fewer than {FEWEST} labels of {few}"), margin, NOT_CHECKED)
    weights = table.weight()
    fit = isotonic(table.scores[:, others][theirs], table.labels[:, others][theirs], weights[:, others][theirs])
    own = table.labels[:, [place]] - fit(table.scores[:, [place]])
    rest = replace(
        table,
        scores=table.scores[:, others],
        labels=table.labels[:, others],
        weights=None if table.weights is None else table.weights[:, others],
    )
    residuals = np.hstack([own, rest.labels - calibrated(rest, seed).scores])
    weighted = np.where(np.hstack([both[:, [place]], theirs]), weights[:, [place, *others]], 0.0)
    adds, value = np.zeros(len(own)), 0.0
    for columns, sign in (([0], 1.0), (list(range(1, residuals.shape[1])), -1.0)):
        share = weighted[:, columns] / weighted[:, columns].sum()
        mean = float((share * np.nan_to_num(residuals[:, columns])).sum())
        value += sign * mean
        adds += sign * (share * np.nan_to_num(residuals[:, columns] - mean)).sum(axis=1)
    sums = np.bincount(table.numbers, adds)
    sizes = np.bincount(table.numbers, weighted[:, 0])
    df = degrees_of_freedom(sizes[sizes > 0].tolist())
    if df + 1 < FEWEST_EFFECTIVE:
        return Transport(replace(none, value=value, reason=few_clusters(df + 1)), margin, NOT_CHECKED)
    half = t_quantile(level, df) * math.sqrt((df + 1) / df * float(sums @ sums))
    low, high = value - half, value + half
    inside, outside = -margin < low and high < margin, high < -margin or low > margin
    verdict = PASS if inside else FAIL if outside else INCONCLUSIVE
    return Transport(Estimate(value, low, high, none.n, level, STUDENT), margin, verdict)


def between_raters(labels: Mapping[str, Mapping[Any, float]]) -> float | None:
    """The variance between raters' means, from answers that two or more labelled: rater -> answer -> label.

    Of each two raters with two answers or more in common, d is the mean of their differences and s² / n its squared
    standard error; (d² - s² / n) / 2 estimates the variance, and its mean over the pairs, at least 0, is given. None
    where no two raters have two answers in common.
    """
    names, found = list(labels), []
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            common = labels[first].keys() & labels[second].keys()
            if len(common) > 1:
                apart = np.array([labels[first][one] - labels[second][one] for one in common])
                found.append((float(apart.mean()) ** 2 - float(apart.var(ddof=1)) / len(apart)) / 2)
    return max(0.0, math.fsum(found) / len(found)) if found else None
