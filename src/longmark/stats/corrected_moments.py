"""What each answer adds to a corrected mean or difference (`stats.corrected`): its value, its variance, its interval.

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
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from longmark.stats.clusters import degrees_of_freedom
from longmark.stats.labelled_sample import SystemSample
from longmark.stats.labelled_scores import ROUNDING, LabelledScores
from longmark.stats.means import WILSON, wilson
from longmark.stats.raters import rater_variance
from longmark.stats.samples import Floats, Ints
from longmark.stats.student import STUDENT, t_quantile, two_sided
from longmark.stats.unseen import Influences, Unseen, counted_as

UNSEEN = "unseen labels"
"""The method of an interval of which an end counts labels that the sample may have missed (`stats.unseen`)."""


@dataclass(frozen=True, slots=True)
class SystemPart:
    """What a system adds: to the estimate without scores and for λ = 1; each question to both; its share of labels;
    unseen: what a cluster at either end of the scale would add, in each stratum."""

    value: tuple[float, float]
    adds: tuple[Floats, Floats]
    shares: Floats
    unseen: tuple[tuple[Unseen, ...], tuple[Unseen, ...]]


def system_part(
    table: LabelledScores,
    sample: SystemSample,
    place: int,
    factor: float,
) -> SystemPart:
    """factor: of the system's mean in the sum that is estimated. Rows of two: without scores, for λ = 1."""
    included = sample.included
    answers = int(included.sum())
    questions = len(sample.scores)
    factor *= 1 - sample.unknown
    least, greatest = table.ends()
    ends = (least, greatest) if factor > 0 else (greatest, least)

    means = np.zeros((2, questions))
    labelled = np.zeros((2, questions))
    shares = np.zeros(questions)
    unseen: tuple[list[Unseen], list[Unseen]] = ([], [])
    for stratum in np.unique(sample.strata[included]):
        members = included & (sample.strata == stratum)
        chosen = members & sample.chosen
        weights = np.where(chosen, sample.weights, 0.0) / sample.weights[chosen].sum()
        label_mean = float(weights[chosen] @ sample.labels[chosen])
        score_mean = float(weights[chosen] @ sample.scores[chosen])
        means[0, members] = label_mean
        means[1, members] = sample.scores[members] - score_mean

        clusters = len(np.unique(table.numbers[chosen]))
        shares[chosen] = weights[chosen] * members.sum() / answers
        # G / (G - 1): the deviations are from the sample's own mean
        grown = shares[chosen] * math.sqrt(clusters / (clusters - 1))
        deviations = sample.labels[chosen] - label_mean
        labelled[0, chosen] = grown * deviations
        labelled[1, chosen] = -grown * (sample.scores[chosen] - score_mean)

        for unseen_of_end, end in zip(unseen, ends, strict=True):
            if end != label_mean:
                unseen_of_end.append(
                    _unseen(
                        factor,
                        end - label_mean,
                        deviations,
                        table.numbers[chosen],
                        shares[chosen],
                    )
                )

    value = (float(means[0, included].mean()), float(means[1, included].mean()))
    spread = np.where(included, means - np.array(value)[:, None], 0.0) / answers
    adds = factor * (spread + labelled)
    return SystemPart(
        (factor * value[0], factor * value[1]),
        (adds[0], adds[1]),
        shares * abs(factor),
        (tuple(unseen[0]), tuple(unseen[1])),
    )


def _unseen(
    factor: float,
    distance: float,
    deviations: Floats,
    clusters: Ints,
    shares: Floats,
) -> Unseen:
    """What a typical cluster of a stratum would add whose labels are at an end of the scale. distance: of the end from
    the labels' mean; a label more than half as far on that side was seen there. deviations, clusters, shares: of the
    labelled answers."""
    share_of_cluster = np.bincount(clusters, shares)
    typical = float(share_of_cluster @ share_of_cluster) / float(share_of_cluster.sum())
    alike = (np.abs(deviations) >= abs(distance) / 2) & (deviations * distance > 0)
    seen = len(np.unique(clusters[alike]))
    return Unseen(factor * typical * distance, abs(factor) * typical, counted_as(seen))


@dataclass(frozen=True, slots=True)
class IntervalEnds:
    low: float
    high: float
    method: str


@dataclass(frozen=True, slots=True)
class Moments:
    """The parts of all systems together. values, adds: without scores, and for λ = 1 on top; adds, shares: of each
    cluster; worst: what the answers of which nothing is known add at least and at most; binary: a mean of labels of 0
    and 1; ends: the least and the greatest estimate that the scale allows, None where it is not known; full: value in
    full, where some answers are not known, of the others alone; apart, apart_by_chance: as of `RaterVariance`."""

    values: tuple[float, float]
    full: tuple[float, float]
    adds: tuple[Floats, Floats]
    shares: Floats
    df: float
    unseen: tuple[tuple[Unseen, ...], tuple[Unseen, ...]]
    worst: tuple[float, float]
    raters: float | None
    rater_variance: float | None
    apart: float
    apart_by_chance: bool
    binary: bool
    ends: tuple[float, float] | None
    scale: float

    @staticmethod
    def of(
        table: LabelledScores,
        samples: Mapping[int, SystemSample],
        parts: Mapping[int, SystemPart],
        sides: Mapping[int, float],
    ) -> Moments:
        total = math.fsum(float(part.shares.sum()) for part in parts.values())
        shares = np.bincount(
            table.numbers,
            np.sum([part.shares for part in parts.values()], axis=0),
        )
        strata = max(len(np.unique(sample.strata[sample.included])) for sample in samples.values())
        worst = (_worst(table, samples, sides, 0), _worst(table, samples, sides, 1))
        of_raters = rater_variance(
            table.rater_labels,
            {place: part.shares for place, part in parts.items()},
            sides,
            these=table.these_raters,
        )
        labels = np.concatenate([sample.labels[sample.chosen] for sample in samples.values()])
        two_values = bool(np.isin(labels, (0, 1)).all())
        return Moments(
            values=(_value(parts, 0), _value(parts, 1)),
            full=(_full_value(parts, samples, 0), _full_value(parts, samples, 1)),
            adds=(_added_by_clusters(table, parts, 0), _added_by_clusters(table, parts, 1)),
            shares=shares / total,
            df=degrees_of_freedom(shares[shares > 0].tolist()) - (strata - 1),
            unseen=(_unseen_shares(parts, 0, total), _unseen_shares(parts, 1, total)),
            worst=worst,
            raters=of_raters.effective,
            rater_variance=of_raters.variance,
            apart=of_raters.apart,
            apart_by_chance=of_raters.by_chance,
            binary=len(sides) == 1 and not worst[1] > worst[0] and two_values,
            ends=_ends_of(table, sides),
            scale=float(np.abs(labels).max(initial=0.0)),
        )

    def value(self, weight: float) -> float:
        return self.full[0] + weight * self.full[1]

    def best_weight(self) -> float:
        """The λ of the least variance."""
        squares = float(self.adds[1] @ self.adds[1])
        if squares <= ROUNDING**2:
            return 0.0
        return min(1.0, max(0.0, -float(self.adds[0] @ self.adds[1]) / squares))

    def _clusters_add(self, weight: float) -> Floats:
        adds = self.adds[0] + weight * self.adds[1]
        tiny = ROUNDING * (self.scale or 1.0)
        return np.where(np.abs(adds) <= tiny * np.maximum(self.shares, 1 / len(adds)), 0.0, adds)

    def variance(self, weight: float) -> float:
        adds = self._clusters_add(weight)
        return float(adds @ adds) + (self.rater_variance or 0.0)

    def _df(self, weight: float, df: float) -> float:
        """Satterthwaite's, of what clusters and what raters add."""
        if not self.rater_variance or self.raters is None:
            return df
        adds = self._clusters_add(weight)
        of_clusters = float(adds @ adds)
        of_raters = self.rater_variance
        rater_df = max(1.0, self.raters - 1)
        together = (of_clusters + of_raters) ** 2 / (of_clusters**2 / df + of_raters**2 / rater_df)
        return max(together, min(df, rater_df))

    def _influences(self, weight: float, df: float, level: float) -> Influences:
        quantile = t_quantile(level, df) / NormalDist().inv_cdf((1 + level) / 2)
        of_raters = (self.rater_variance or 0.0) * quantile**2
        return Influences(self._clusters_add(weight), self.shares, *self.unseen, of_raters)

    def interval(self, weight: float, df: float, level: float) -> IntervalEnds | None:
        """None where nothing shows a spread."""
        df = self._df(weight, df)
        value = self.values[0] + weight * self.values[1]
        variance = self.variance(weight)
        if not variance and not any(self.unseen):
            return None
        quantile = t_quantile(level, df)
        half = quantile * math.sqrt(variance)
        low = value - half
        high = value + half
        method = STUDENT
        if self.binary and 0 < value < 1 and half > 0:
            # as many labels as would give this variance
            low, high = wilson(value, value * (1 - value) / variance, quantile)
            method = WILSON
        below, above = self._influences(weight, df, level).limits((1 - level) / 2)
        if value + below < low or value + above > high:
            low = min(low, value + below)
            high = max(high, value + above)
            method = UNSEEN
        low += self.worst[0]
        high += self.worst[1]
        if self.ends is not None:
            low = max(low, self.ends[0])
            high = min(high, self.ends[1])
        return IntervalEnds(low, high, method)

    def p(self, weight: float, df: float, level: float) -> float:
        """Two-sided, that the estimate is 0: at most 1 - level where the interval of this level leaves out 0."""
        df = self._df(weight, df)
        value = self.values[0] + weight * self.values[1]
        low = value + self.worst[0]
        high = value + self.worst[1]
        if low <= 0 <= high:
            return 1.0
        influences = self._influences(weight, df, level)
        variance = self.variance(weight)
        nearest = low if low > 0 else high
        of_unseen = influences.below(-low) if low > 0 else influences.above(-high)
        of_student = two_sided(nearest / math.sqrt(variance), df) if variance else 0.0
        return min(1.0, max(of_student, 2 * of_unseen))


def _value(parts: Mapping[int, SystemPart], row: int) -> float:
    return math.fsum(part.value[row] for part in parts.values())


def _full_value(
    parts: Mapping[int, SystemPart],
    samples: Mapping[int, SystemSample],
    row: int,
) -> float:
    """The value as if the answers of which nothing is known were like the others."""
    return math.fsum(
        part.value[row] / max(ROUNDING, 1 - samples[place].unknown) for place, part in parts.items()
    )


def _added_by_clusters(
    table: LabelledScores,
    parts: Mapping[int, SystemPart],
    row: int,
) -> Floats:
    added_by_questions = np.sum([part.adds[row] for part in parts.values()], axis=0)
    return np.bincount(table.numbers, added_by_questions).astype(np.float64)


def _unseen_shares(
    parts: Mapping[int, SystemPart],
    end: int,
    total: float,
) -> tuple[Unseen, ...]:
    """What is unseen at an end of the scale, its shares of the labels of all systems."""
    return tuple(
        replace(unseen, share=unseen.share / total)
        for part in parts.values()
        for unseen in part.unseen[end]
    )


def _worst(
    table: LabelledScores,
    samples: Mapping[int, SystemSample],
    sides: Mapping[int, float],
    end: int,
) -> float:
    """What the answers of which nothing is known add at least (end 0) or at most (end 1)."""
    least, greatest = table.ends()
    return math.fsum(
        factor
        * samples[place].unknown
        * ((least, greatest) if factor > 0 else (greatest, least))[end]
        for place, factor in sides.items()
        if samples[place].unknown
    )


def _ends_of(table: LabelledScores, sides: Mapping[int, float]) -> tuple[float, float] | None:
    """The least and the greatest value of an estimate if every label were at an end of the scale."""
    if (ends := table.known_ends) is None:
        return None
    products = [sorted(factor * end for end in ends) for factor in sides.values()]
    return (
        math.fsum(least for least, _ in products),
        math.fsum(greatest for _, greatest in products),
    )
