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
from longmark.stats.samples import Floats
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
    table: LabelledScores, sample: SystemSample, place: int, factor: float
) -> SystemPart:
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
    return SystemPart(
        (factor * value[0], factor * value[1]),
        (adds[0], adds[1]),
        shares * abs(factor),
        (tuple(unseen[0]), tuple(unseen[1])),
    )


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
        samples: Mapping[int, SystemSample],
        parts: Mapping[int, SystemPart],
        sides: Mapping[int, float],
    ) -> Moments:
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
                part.value[k] / max(ROUNDING, 1 - samples[place].unknown)
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
        return Moments(
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
        of_clusters, of_raters = float(adds @ adds), self.rater_variance
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
        low, high, method = value - half, value + half, STUDENT
        if self.binary and 0 < value < 1 and half > 0:
            (low, high), method = wilson(value, value * (1 - value) / variance, quantile), WILSON
        below, above = self._influences(weight, df, level).limits((1 - level) / 2)
        if value + below < low or value + above > high:
            low, high, method = min(low, value + below), max(high, value + above), UNSEEN
        low, high = low + self.worst[0], high + self.worst[1]
        if self.ends is not None:
            low, high = max(low, self.ends[0]), min(high, self.ends[1])
        return IntervalEnds(low, high, method)

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
