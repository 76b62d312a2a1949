"""Means of systems and their differences from a judge's scores of all answers, corrected by human labels of some.

    m_i   = y_h + λ (g_i - g_h)          g_i: a score, calibrated or as it is; h: the stratum of answer i
    mean  = average of m_i over all answers
    y_h, g_h: the means of labels and of scores over the labelled answers of stratum h, weighted by w_i = 1 / (the
              probability that the answer was chosen for labelling)

With one stratum this is y + λ (mean g of all - mean g of the labelled): the labels' mean, moved by how much the chosen
answers differ from all. For every λ it estimates the mean of the labels had every answer been labelled, *provided the
labelled answers are a probability sample with these probabilities*. λ between 0 (labels alone) and 1 has the least
estimated variance of what is asked, so that of a difference is that of the difference. Sources: prediction-powered
inference (Angelopoulos et al. 2023) with power tuning (Angelopoulos, Duchi and Zrnic 2023, PPI++); cross-fitted
predictions (Zrnic and Candès 2024); weights and strata as in the survey literature (Särndal, Swensson and Wretman 1992,
chapter 6: the generalised difference estimator).

**Answers without a score** all have one constant score, the mean of the system's others, so that their labels decide.
With ten labels or more they are a stratum. If none of them is labelled, or too many or too few to be chosen by chance,
the interval holds whatever labels of the scale they would get.

**Variance.** The estimate is linear in what each question adds, so its variance is the sum of squares of what each
cluster adds (all answers to its questions, of both systems), the labelled part of stratum h times sqrt(G_h / (G_h -
1)), G_h clusters of it having a label. What raters add is their variance about each other, of the systems' contrast
(`stats.raters`): severity cancels where the same raters label both systems, a taste for one system does not. Nothing of
it is an error where the estimate is of these raters only, if each labelled as much of one system as of the other. The
interval takes Student's t with Satterthwaite's degrees of freedom of the two sums: labelled clusters (`stats.clusters`,
less one for each further stratum and for λ), and raters less one. Labels that are 0 or 1 have Wilson's interval of a
mean, for as many labels as would give this variance.

**What the sample may have missed** is counted by `stats.unseen`: each end of the interval is the wider one of Student's
(or Wilson's) and of the limit that a labelled answer at the end of the scale, not seen so far, would allow.

Deviations: Hájek's weights (shares, not totals) instead of Horvitz and Thompson's; λ is clipped to [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from longmark.errors import UserError
from longmark.stats.clusters import FEWEST_EFFECTIVE, degrees_of_freedom
from longmark.stats.means import WILSON, few_clusters, wilson
from longmark.stats.raters import contradiction, level_of_a_rater, rater_variance, shares_of_raters
from longmark.stats.results import Estimate, check_level
from longmark.stats.samples import Floats, Ints, Seed, generator
from longmark.stats.student import STUDENT, t_quantile, two_sided
from longmark.stats.unseen import Influences, Unseen, counted_as

Mask = NDArray[np.bool_]

FEWEST = 10
"""Labels of a system below which nothing is corrected, and of answers without a score to be a stratum."""
FEWEST_COVERED = 50
"""Labels from which on the intervals kept their level in simulation (docs/coverage.md); below, a remark says so."""
FEWEST_RATERS = 5
"""Effective raters below which an interval is about these raters, not about people in general."""
MOST_APART = 0.1
"""The share of the labels of two systems that may be by different raters of whom nobody knows how strict they are."""
UNLIKELY = 0.001
"""A system is not corrected if so many of its scores lie outside the range of the labelled ones as a random sample
would leave there with a probability below this, or if the mean score of the labelled answers is as unlikely; nor is a
difference of two systems by that of their scores."""
MOST_ALIKE = 2 / 3
"""The share of a system's labels that may be equal where the ends of the scale are not known: with more, what is rare
decides, and only the scale says how much it can matter."""
NOT_TOLD_APART = "strict raters cannot be told from bad answers"
NO_SCALE = "the ends of the labels' scale are not known"
UNSEEN = "unseen labels"
"""The method of an interval of which an end counts labels that the sample may have missed (`stats.unseen`)."""
_FOLDS = 5
_ROUNDING = 1e-12
_TOO_FAR = 4.0  # standard errors between the shares labelled of answers with and without a score


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedEstimate(Estimate):
    """A corrected mean, or difference, in the labels' units.

    raw: that of the scores alone, in their units; people: that of the labels alone, by the same method; weight: λ;
    labelled: answers with a label, n: answers that the estimate is of; worth: how many labels alone would give as
    narrow an interval; p: two-sided, that a difference is 0; bias: the same of score - label; raters: effective number
    of raters, None where nobody is known to have labelled; variance: of the estimate, with what raters add to it;
    rater_variance: this part, None if no two labelled the same answers; of_raters: of a difference of these raters
    only, each rater's own; error: the one-sided error of one of several simultaneous intervals, whose `level` is that
    of all; unknown: the greatest share of a system's answers with neither a score nor a label.
    """

    labelled: int = 0
    raw: float | None = None
    people: Estimate | None = None
    weight: float | None = None
    worth: float | None = None
    p: float | None = None
    bias: Estimate | None = None
    raters: float | None = None
    variance: float | None = None
    rater_variance: float | None = None
    unknown: float = 0.0
    error: float | None = None
    of_raters: tuple[Estimate, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelledScores:
    """Scores of all answers and labels of some, all of shape (questions, systems).

    scores, labels   NaN for none
    weights          1 / probability of having been chosen, above 0; None: all equal within a stratum
    strata           of each question a number from 0; None: one
    clusters         of each question a number from 0; None: each question is one
    rater_labels     for each rater their labels, NaN for none; empty: nobody knows who labelled
    unscored         of each cell the share of its answers without a score: 1 if it has none, NaN if nothing was asked;
                     None: a cell without a score has no answer
    lost             of each system how many answers are missing besides; None: none
    bounds           least and greatest label of the scale; None: not known, and those seen are taken
    raw              the scores before calibration; None: these
    these_raters     the estimate is of the mean of these raters; False: they stand for people like them
    """

    scores: Floats
    labels: Floats
    weights: Floats | None = None
    strata: Ints | None = None
    clusters: Ints | None = None
    rater_labels: Sequence[Floats] = ()
    unscored: Floats | None = None
    lost: Sequence[float] | None = None
    bounds: tuple[float, float] | None = None
    raw: Floats | None = None
    these_raters: bool = False

    @property
    def both(self) -> Mask:
        both: Mask = ~np.isnan(self.scores) & ~np.isnan(self.labels)
        return both

    @property
    def numbers(self) -> Ints:
        return np.arange(len(self.scores)) if self.clusters is None else self.clusters

    def weight(self) -> Floats:
        return np.ones_like(self.scores) if self.weights is None else self.weights

    @property
    def known_ends(self) -> tuple[float, float] | None:
        """The ends of the scale: those given, or 0 and 1 if every label is one of these."""
        if self.bounds is not None:
            return self.bounds
        return (0.0, 1.0) if np.isin(self.labels[~np.isnan(self.labels)], (0, 1)).all() else None

    def ends(self) -> tuple[float, float]:
        """The ends of the scale, or the least and the greatest label seen."""
        return self.known_ends or (float(np.nanmin(self.labels)), float(np.nanmax(self.labels)))


def corrected(
    table: LabelledScores,
    sides: Mapping[int, float],
    *,
    weight: float | None = None,
    level: float = 0.95,
) -> CorrectedEstimate:
    """The sum over systems of a factor times the corrected mean. sides: place of a system -> its factor: {0: 1} for the
    mean of the first, {0: 1, 1: -1} for a difference. weight: λ; None: tuned. level: of the interval, each end of which
    is missed with probability (1 - level) / 2.

    No value with fewer than 10 labels of a system, or where the scores of the labelled ones, by their range or their
    mean, show that these are no random sample; no interval with labels of fewer than 5 effective clusters, where
    nothing is known of some answers and the scale of the labels has no known ends, and where neither labels nor scale
    show any spread; of these raters only, none of a difference about which they contradict each other
    (`stats.raters`). UserError for weights that are not above 0, a λ or a level out of range, and for shapes that
    differ.
    """
    check_level(level)
    _check(table, weight)
    samples = {place: _sample(table, place) for place in sides}
    n = sum(int(sample.there.sum()) for sample in samples.values())
    labelled = sum(int(sample.chosen.sum()) for sample in samples.values())
    unknown = max(sample.unknown for sample in samples.values())
    nothing = CorrectedEstimate(
        None, None, None, n, level, labelled=labelled, raw=raw_of(table, sides), unknown=unknown
    )
    for place, sample in samples.items():
        if (why := _refusal(table, sample, place)) is not None:
            return replace(nothing, reason=why)
    if (why := _other_scores(table, samples, sides)) is not None:
        return replace(nothing, reason=why)
    parts = {place: _part(table, samples[place], place, factor) for place, factor in sides.items()}
    moments = _Moments.of(table, samples, parts, sides)
    used = moments.best_weight() if weight is None else weight
    value = moments.value(used)
    clusters = None if table.clusters is None else int((moments.shares > 0).sum())
    effective = moments.df + 1
    nothing = replace(
        nothing,
        value=value,
        weight=used,
        clusters=clusters,
        effective=effective if clusters else None,
        raters=moments.raters,
        rater_variance=moments.rater_variance,
    )
    if table.these_raters and len(sides) > 1:
        nothing = replace(nothing, of_raters=_of_raters(table, sides, weight))
        if (why := contradiction(nothing.of_raters)) is not None:
            return replace(nothing, reason=why)
    if effective < FEWEST_EFFECTIVE:
        return replace(nothing, reason=few_clusters(effective))
    if table.known_ends is None and (why := _needs_scale(samples)) is not None:
        return replace(nothing, reason=why)
    if (why := _told_apart(samples, table, moments)) is not None:
        return replace(nothing, reason=why)
    df = moments.df - (1.0 if weight is None and used else 0.0)
    interval = moments.interval(used, df, level)
    if interval is None:
        alike = all(np.ptp(samples[place].labels[samples[place].chosen]) == 0 for place in sides)
        whose = "the labelled answers" if len(sides) == 1 else "the labelled answers of each system"
        what = (
            f"{whose} all have the same label"
            if alike
            else "labels and scores differ by a constant only"
        )
        return replace(nothing, reason=f"{what}, so they show no spread")
    alone = moments.interval(0.0, moments.df, level)
    assert alone is not None
    own, variance = moments.variance(0.0), moments.variance(used)
    return replace(
        nothing,
        low=interval.low,
        high=interval.high,
        method=interval.method,
        people=Estimate(moments.value(0.0), alone.low, alone.high, labelled, level, alone.method),
        worth=labelled * own / variance if variance > 0 else None,
        variance=variance,
        p=None if len(sides) == 1 else moments.p(used, df, level),
        remark=_remark(samples),
    )


def _of_raters(
    table: LabelledScores, sides: Mapping[int, float], weight: float | None
) -> tuple[Estimate, ...]:
    """Each rater's own estimate, of the labels that count."""
    level = level_of_a_rater(len(table.rater_labels))
    given = ~np.isnan(table.labels)
    return tuple(
        corrected(
            replace(
                table, labels=np.where(given, labels, np.nan), rater_labels=(), these_raters=False
            ),
            sides,
            weight=weight,
            level=level,
        )
        for labels in table.rater_labels
    )


def _needs_scale(samples: Mapping[int, _SystemSample]) -> str | None:
    """Why an interval needs the ends of the labels' scale; None if it does not."""
    if any(sample.unknown for sample in samples.values()):
        return _unknown_in_words(samples, NO_SCALE)
    for sample in samples.values():
        values, counts = np.unique(sample.labels[sample.chosen], return_counts=True)
        if counts.max() > MOST_ALIKE * counts.sum():
            return f"{counts.max()} of {counts.sum()} labels are {values[counts.argmax()]:g}, and {NO_SCALE}"
    return None


def _remark(samples: Mapping[int, _SystemSample]) -> str | None:
    """What a reader of the interval must know."""
    fewest = min(int(sample.chosen.sum()) for sample in samples.values())
    remarks = []
    if fewest < FEWEST_COVERED:
        remarks.append(
            f"{fewest} labels are few: below {FEWEST_COVERED} an interval of skewed labels can be too narrow"
        )
    if any(sample.unknown for sample in samples.values()):
        remarks.append(
            _unknown_in_words(samples, "the interval holds whatever labels they would get")
        )
    return "; ".join(remarks) or None


def _unknown_in_words(samples: Mapping[int, _SystemSample], rest: str) -> str:
    share = max(sample.unknown for sample in samples.values())
    return f"{100 * share:.2g} % of a system's answers have neither a score nor a label that counts: {rest}"


# The sample of a system -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _SystemSample:
    """A system's answers: scores (answers without one have the mean), labels, weights; there: the answers that the
    estimate is of; chosen: those with a label; strata: of each answer; unknown: the share of all answers that are not
    there."""

    scores: Floats
    labels: Floats
    weights: Floats
    there: Mask
    chosen: Mask
    strata: Ints
    unknown: float


def _sample(table: LabelledScores, place: int) -> _SystemSample:
    scores, labels, weights = (
        table.scores[:, place],
        table.labels[:, place],
        table.weight()[:, place],
    )
    scored, labelled = ~np.isnan(scores), ~np.isnan(labels)
    strata = np.zeros(len(scores), dtype=np.int64) if table.strata is None else table.strata
    if table.unscored is None:
        return _SystemSample(scores, labels, weights, scored, scored & labelled, strata, 0.0)
    shares = table.unscored[:, place]
    unscored = ~scored & (shares == 1)
    partly = float(np.nansum(np.where(scored, shares, 0.0)))
    lost = 0.0 if table.lost is None else float(table.lost[place])
    answers = float((~np.isnan(shares)).sum()) + lost
    unscored_labels, scored_labels = (
        int((unscored & labelled).sum()),
        int((scored & labelled).sum()),
    )
    stratum = unscored_labels >= FEWEST and scored_labels >= FEWEST
    counts = unscored_labels > 0 and (
        stratum or _by_chance(scored, unscored, labelled, table.weights, place)
    )
    there = scored | unscored if counts else scored
    unknown = (partly + lost + (0 if counts else int(unscored.sum()))) / answers if answers else 0.0
    if counts:
        scores = np.where(unscored, float(np.nanmean(scores)) if scored.any() else 0.0, scores)
        if stratum:
            strata = 2 * strata + unscored
    return _SystemSample(scores, labels, weights, there, there & labelled, strata, unknown)


def _by_chance(
    scored: Mask, unscored: Mask, labelled: Mask, weights: Floats | None, place: int
) -> bool:
    """Whether answers without a score can have been chosen for labelling with the same chances as the others."""
    if weights is not None:
        chosen = weights[:, place][unscored & labelled]
        spread = math.sqrt(float((chosen * (chosen - 1)).clip(0).sum()) + 1)
        return abs(float(chosen.sum()) - float(unscored.sum())) <= _TOO_FAR * spread
    both = scored | unscored
    share = float(labelled[both].mean())
    error = math.sqrt(share * (1 - share) * (1 / unscored.sum() + 1 / max(1, scored.sum())))
    apart = abs(
        float(labelled[unscored].mean()) - float(labelled[scored].mean() if scored.any() else share)
    )
    return apart <= _TOO_FAR * error


def _refusal(table: LabelledScores, sample: _SystemSample, place: int) -> str | None:
    """Why a system cannot be corrected."""
    chosen = sample.chosen
    if chosen.sum() < FEWEST:
        return (
            f"needs at least {FEWEST} answers with a label and a score; found {int(chosen.sum())}"
        )
    if len(np.unique(table.numbers[chosen])) < 2:
        return "all answers with a label belong to one cluster"
    for stratum in np.unique(sample.strata[sample.there]) if table.strata is not None else ():
        if len(np.unique(table.numbers[chosen & (sample.strata == stratum)])) < 2:
            return (
                f"stratum {stratum} has answers, but fewer than two clusters of them have a label"
            )
    scores = (table.scores if table.raw is None else table.raw)[:, place]
    scored = ~np.isnan(scores)
    ours = scored & chosen
    if not ours.any():
        return None
    low, high = scores[ours].min(), scores[ours].max()
    outside = (scores[scored] < low) | (scores[scored] > high)
    clusters = table.numbers[scored], table.numbers[ours]
    if (
        _chance_of_leaving(outside, sample.weights[ours], clusters, table.weights is not None)
        < UNLIKELY
    ):
        return (
            f"{100 * outside.mean():.0f} % of the scores are outside the range of the labelled answers' ({low:.4g} to "
            f"{high:.4g}): the labelled answers are no random sample"
        )
    return None


def _other_scores(
    table: LabelledScores, samples: Mapping[int, _SystemSample], sides: Mapping[int, float]
) -> str | None:
    """Why the labelled answers are no random sample: the mean rank of their scores, or its difference between the
    systems, is too far from that of all answers, in standard errors of a sample with these probabilities (Hájek's mean,
    linearised). The variance is that of the sample or, where that is more, that of all ranks: a sample without the rare
    scores has too little."""
    scores = (table.scores if table.raw is None else table.raw)[:, list(sides)]
    scored = ~np.isnan(scores)
    ranks = np.full_like(scores, np.nan)
    ranks[scored] = rankdata(scores[scored]) / scored.sum()
    apart, at_least = 0.0, 0.0
    adds, shares = np.zeros(len(scores)), np.zeros(len(scores))
    for k, (place, factor) in enumerate(sides.items()):
        sample, own = samples[place], ranks[:, k]
        ours = scored[:, k] & sample.chosen
        if ours.sum() < FEWEST:
            return None
        for stratum in np.unique(sample.strata[ours]):
            members = scored[:, k] & (sample.strata == stratum)
            chosen = ours & members
            share = (
                sample.weights[chosen]
                / sample.weights[chosen].sum()
                * members.sum()
                / scored[:, k].sum()
            )
            mean = float(own[members].mean())
            apart += factor * float(share @ (own[chosen] - mean))
            adds[chosen] += factor * share * (own[chosen] - mean)
            shares[chosen] += share
            at_least += factor**2 * float(share @ share) * float(own[members].var())
    per_cluster = np.bincount(table.numbers, shares)
    df = degrees_of_freedom(per_cluster[per_cluster > 0].tolist())
    sums = np.bincount(table.numbers, adds)
    error = math.sqrt(max((df + 1) / df * float(sums @ sums), at_least)) if df > 0 else 0.0
    if error <= _ROUNDING or two_sided(apart / error, df) >= UNLIKELY:
        return None
    return (
        f"the labelled answers have {_OTHERS[len(sides) > 1, apart > 0]} than all of them (by their ranks "
        f"{abs(apart) / error:.1f} standard errors): the labelled answers are no random sample"
    )


_OTHERS = {
    (False, True): "higher scores",
    (False, False): "lower scores",
    (True, True): "higher scores of the first system beside the second",
    (True, False): "lower scores of the first system beside the second",
}


def _chance_of_leaving(
    outside: Mask, weights: Floats, clusters: tuple[Ints, Ints], known: bool
) -> float:
    """The probability that a random sample leaves so many scores outside the range of its own. The share outside the
    range of n equal draws has the distribution Beta(2, n - 1). Where each was drawn with a known probability, the least
    of these bounds it: it is the chance that m draws were all left out, of which the sample chooses how many at which
    end. clusters: of all scores and of the labelled ones; since whole clusters may have been drawn, n is their
    effective number, and m that of those outside."""
    of_all, of_labelled = clusters
    if known:
        chance, count = 1 / float(weights.max()), len(np.unique(of_all[outside]))
        none: float = (
            (1 - chance) ** count * (1 + count * chance) if chance < 1 else float(count == 0)
        )
        return none
    sizes = np.unique(of_labelled, return_counts=True)[1]
    share, n = float(outside.mean()), degrees_of_freedom(sizes.tolist()) + 1
    rare: float = (1 - share) ** n + n * share * (1 - share) ** (n - 1)
    return rare


# What each answer adds ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _SystemPart:
    """What a system adds: to the estimate without scores and for λ = 1; each question to both; its share of labels;
    unseen: what a cluster at either end of the scale would add, in each stratum."""

    value: tuple[float, float]
    adds: tuple[Floats, Floats]
    shares: Floats
    unseen: tuple[tuple[Unseen, ...], tuple[Unseen, ...]]


def _part(table: LabelledScores, sample: _SystemSample, place: int, factor: float) -> _SystemPart:
    g, y, w, there = sample.scores, sample.labels, sample.weights, sample.there
    n, size = int(there.sum()), len(g)
    ends = table.ends()
    factor *= 1 - sample.unknown
    means, labelled, shares = np.zeros((2, size)), np.zeros((2, size)), np.zeros(size)
    unseen: tuple[list[Unseen], list[Unseen]] = ([], [])
    for stratum in np.unique(sample.strata[there]):
        members = there & (sample.strata == stratum)
        chosen = members & sample.chosen
        share = np.where(chosen, w, 0.0) / w[chosen].sum()
        y_mean, g_mean = float(share[chosen] @ y[chosen]), float(share[chosen] @ g[chosen])
        count = len(np.unique(table.numbers[chosen]))
        shares[chosen] = share[chosen] * members.sum() / n
        grown = shares[chosen] * math.sqrt(count / (count - 1))
        means[0, members], means[1, members] = y_mean, g[members] - g_mean
        labelled[0, chosen], labelled[1, chosen] = (
            grown * (y[chosen] - y_mean),
            -grown * (g[chosen] - g_mean),
        )
        per_cluster = np.bincount(table.numbers[chosen], shares[chosen])
        typical = float(per_cluster @ per_cluster) / float(per_cluster.sum())
        for worst, end in zip(unseen, ends if factor > 0 else ends[::-1], strict=True):
            like = np.abs(y[chosen] - y_mean) >= abs(end - y_mean) / 2
            like &= (y[chosen] - y_mean) * (end - y_mean) > 0
            seen = len(np.unique(table.numbers[chosen][like]))
            if end != y_mean:
                worst.append(
                    Unseen(
                        factor * typical * (end - y_mean), abs(factor) * typical, counted_as(seen)
                    )
                )
    value = (float(means[0, there].mean()), float(means[1, there].mean()))
    spread = np.where(there, means - np.array(value)[:, None], 0.0) / n
    adds = factor * (spread + labelled)
    return _SystemPart(
        (factor * value[0], factor * value[1]),
        (adds[0], adds[1]),
        shares * abs(factor),
        (tuple(unseen[0]), tuple(unseen[1])),
    )


@dataclass(frozen=True, slots=True)
class _Interval:
    low: float
    high: float
    method: str


@dataclass(frozen=True, slots=True)
class _Moments:
    """The parts of all systems together. values, adds: without scores, and for λ = 1 on top; adds, shares: of each
    cluster; worst: what the answers of which nothing is known add at least and at most; binary: a mean of labels of 0
    and 1; ends: the least and the greatest estimate that the scale allows, None where it is not known; full: value in
    full, where some answers are not known, of the others alone."""

    values: tuple[float, float]
    full: tuple[float, float]
    adds: tuple[Floats, Floats]
    shares: Floats
    df: float
    unseen: tuple[tuple[Unseen, ...], tuple[Unseen, ...]]
    worst: tuple[float, float]
    raters: float | None
    rater_variance: float | None
    binary: bool
    ends: tuple[float, float] | None
    scale: float

    @staticmethod
    def of(
        table: LabelledScores,
        samples: Mapping[int, _SystemSample],
        parts: Mapping[int, _SystemPart],
        sides: Mapping[int, float],
    ) -> _Moments:
        total = math.fsum(float(part.shares.sum()) for part in parts.values())
        adds: list[Floats] = [
            np.bincount(
                table.numbers, np.sum([part.adds[k] for part in parts.values()], axis=0)
            ).astype(np.float64)
            for k in (0, 1)
        ]
        shares = np.bincount(
            table.numbers, np.sum([part.shares for part in parts.values()], axis=0)
        )
        strata = max(len(np.unique(sample.strata[sample.there])) for sample in samples.values())
        values = [math.fsum(part.value[k] for part in parts.values()) for k in (0, 1)]
        full = [
            math.fsum(
                part.value[k] / max(_ROUNDING, 1 - samples[place].unknown)
                for place, part in parts.items()
            )
            for k in (0, 1)
        ]
        low, high = table.ends()
        worst = [
            math.fsum(
                factor * samples[place].unknown * ((low, high) if factor > 0 else (high, low))[end]
                for place, factor in sides.items()
                if samples[place].unknown
            )
            for end in (0, 1)
        ]
        shares_of = {place: part.shares for place, part in parts.items()}
        of_raters = rater_variance(table.rater_labels, shares_of, sides, these=table.these_raters)
        labels = np.concatenate([sample.labels[sample.chosen] for sample in samples.values()])
        unseen = [
            tuple(
                replace(each, share=each.share / total)
                for part in parts.values()
                for each in part.unseen[end]
            )
            for end in (0, 1)
        ]
        return _Moments(
            values=(values[0], values[1]),
            full=(full[0], full[1]),
            adds=(adds[0], adds[1]),
            shares=shares / total,
            df=degrees_of_freedom(shares[shares > 0].tolist()) - (strata - 1),
            unseen=(unseen[0], unseen[1]),
            worst=(worst[0], worst[1]),
            raters=of_raters.effective,
            rater_variance=of_raters.variance,
            binary=len(sides) == 1
            and not worst[1] > worst[0]
            and bool(np.isin(labels, (0, 1)).all()),
            ends=_ends_of(table, sides),
            scale=float(np.abs(labels).max(initial=0.0)),
        )

    def value(self, weight: float) -> float:
        return self.full[0] + weight * self.full[1]

    def best_weight(self) -> float:
        """The λ of the least variance."""
        squares = float(self.adds[1] @ self.adds[1])
        if squares <= _ROUNDING**2:
            return 0.0
        return min(1.0, max(0.0, -float(self.adds[0] @ self.adds[1]) / squares))

    def _clusters_add(self, weight: float) -> Floats:
        adds = self.adds[0] + weight * self.adds[1]
        tiny = _ROUNDING * (self.scale or 1.0)
        return np.where(np.abs(adds) <= tiny * np.maximum(self.shares, 1 / len(adds)), 0.0, adds)

    def variance(self, weight: float) -> float:
        adds = self._clusters_add(weight)
        return float(adds @ adds) + (self.rater_variance or 0.0)

    def _df(self, weight: float, df: float) -> float:
        """Satterthwaite's, of what clusters and what raters add."""
        if not self.rater_variance or self.raters is None:
            return df
        adds = self._clusters_add(weight)
        of_clusters, of_raters = float(adds @ adds), self.rater_variance
        rater_df = max(1.0, self.raters - 1)
        together = (of_clusters + of_raters) ** 2 / (of_clusters**2 / df + of_raters**2 / rater_df)
        return max(together, min(df, rater_df))

    def _influences(self, weight: float, df: float, level: float) -> Influences:
        quantile = t_quantile(level, df) / NormalDist().inv_cdf((1 + level) / 2)
        of_raters = (self.rater_variance or 0.0) * quantile**2
        return Influences(self._clusters_add(weight), self.shares, *self.unseen, of_raters)

    def interval(self, weight: float, df: float, level: float) -> _Interval | None:
        """None where nothing shows a spread."""
        df = self._df(weight, df)
        value = self.values[0] + weight * self.values[1]
        variance = self.variance(weight)
        if not variance and not any(self.unseen):
            return None
        quantile = t_quantile(level, df)
        half = quantile * math.sqrt(variance)
        low, high, method = value - half, value + half, STUDENT
        if self.binary and 0 < value < 1 and half > 0:
            (low, high), method = wilson(value, value * (1 - value) / variance, quantile), WILSON
        below, above = self._influences(weight, df, level).limits((1 - level) / 2)
        if value + below < low or value + above > high:
            low, high, method = min(low, value + below), max(high, value + above), UNSEEN
        low, high = low + self.worst[0], high + self.worst[1]
        if self.ends is not None:
            low, high = max(low, self.ends[0]), min(high, self.ends[1])
        return _Interval(low, high, method)

    def p(self, weight: float, df: float, level: float) -> float:
        """Two-sided, that the estimate is 0: at most 1 - level where the interval of this level leaves out 0."""
        df = self._df(weight, df)
        value = self.values[0] + weight * self.values[1]
        low, high = value + self.worst[0], value + self.worst[1]
        if low <= 0 <= high:
            return 1.0
        influences, variance = self._influences(weight, df, level), self.variance(weight)
        nearest = low if low > 0 else high
        rare = influences.below(-low) if low > 0 else influences.above(-high)
        return min(
            1.0, max(two_sided(nearest / math.sqrt(variance), df) if variance else 0.0, 2 * rare)
        )


def _ends_of(table: LabelledScores, sides: Mapping[int, float]) -> tuple[float, float] | None:
    """The least and the greatest value of an estimate if every label were at an end of the scale."""
    if (ends := table.known_ends) is None:
        return None
    products = [sorted(factor * end for end in ends) for factor in sides.values()]
    return math.fsum(least for least, _ in products), math.fsum(
        greatest for _, greatest in products
    )


def _told_apart(
    samples: Mapping[int, _SystemSample], table: LabelledScores, moments: _Moments
) -> str | None:
    """Why strictness of raters cannot be told from the systems' quality; None if it can, or does not matter: where each
    rater labelled the same share of both systems it cancels, and where many raters stand for people it is chance."""
    if moments.rater_variance is not None or len(samples) < 2 or len(table.rater_labels) < 2:
        return None
    if moments.raters is None or (moments.raters >= FEWEST_RATERS and not table.these_raters):
        return None
    places = list(samples)
    given = ~np.isnan(np.stack([rater[:, places] for rater in table.rater_labels]))
    even = {
        k: np.where(sample.chosen, sample.weights, 0.0) / sample.weights[sample.chosen].sum()
        for k, sample in enumerate(samples.values())
    }
    weights = shares_of_raters(given, even)
    apart = float((weights.max(axis=1) - weights.min(axis=1)).sum() / 2)
    if apart <= MOST_APART:
        return None
    return (
        f"{100 * apart:.0f} % of the labels of the systems are by different raters, and no two raters labelled the "
        f"same answers of each system: {NOT_TOLD_APART}"
    )


def _check(table: LabelledScores, weight: float | None) -> None:
    shape = table.scores.shape
    others = [("labels", table.labels), ("weights", table.weights), ("unscored", table.unscored)]
    others += [("rater_labels", labels) for labels in table.rater_labels]
    for name, values in others:
        if values is not None and values.shape != shape:
            raise UserError(
                f"{name}: expected the shape {shape} of the scores, found {values.shape}"
            )
    if table.weights is not None and not (table.weights[~np.isnan(table.labels)] > 0).all():
        raise UserError("weights: expected numbers above 0 for labelled answers")
    if weight is not None and not 0 <= weight <= 1:
        raise UserError(f"the judge's weight is between 0 and 1; found {weight}")


def bias_of(table: LabelledScores, sides: Mapping[int, float], **options: Any) -> CorrectedEstimate:
    """What the scores of all answers say less what their labels would say, estimated as `corrected` does, over answers
    with a score; scores in the labels' units. Above 0: the judge scores this system too high (of a difference: favours
    the first).

    Not for calibrated scores: a regression of labels on the scores of a noisy judge shrinks every difference, also a
    fair judge's, so that its scores would seem to favour the worse system.
    """
    apart = replace(
        table,
        labels=table.scores - table.labels,
        rater_labels=[table.scores - labels for labels in table.rater_labels],
        unscored=None,
        lost=None,
        bounds=None,
    )
    return corrected(apart, sides, **options)


def raw_of(table: LabelledScores, sides: Mapping[int, float]) -> float | None:
    """The same sum of the scores' own means, in the scores' units; None where a system has no score."""
    if any(np.isnan(table.scores[:, place]).all() for place in sides):
        return None
    return math.fsum(
        factor * float(np.nanmean(table.scores[:, place])) for place, factor in sides.items()
    )


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
    raw = table.scores if table.raw is None else table.raw
    return replace(table, scores=np.where(np.isnan(table.scores), np.nan, found), raw=raw)


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
            mean, own, count = (
                (before * size + mean * own) / (size + own),
                size + own,
                count + points_before,
            )
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
        return Transport(
            replace(none, reason=f"fewer than {FEWEST} labels of {few}"), margin, NOT_CHECKED
        )
    weights = table.weight()
    fit = isotonic(
        table.scores[:, others][theirs], table.labels[:, others][theirs], weights[:, others][theirs]
    )
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
        return Transport(
            replace(none, value=value, reason=few_clusters(df + 1)), margin, NOT_CHECKED
        )
    half = t_quantile(level, df) * math.sqrt((df + 1) / df * float(sums @ sums))
    low, high = value - half, value + half
    inside, outside = -margin < low and high < margin, high < -margin or low > margin
    verdict = PASS if inside else FAIL if outside else INCONCLUSIVE
    return Transport(Estimate(value, low, high, none.n, level, STUDENT), margin, verdict)
