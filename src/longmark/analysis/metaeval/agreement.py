"""Agreement among raters: coefficients, each rater, and the human ceiling (leave one rater out).

The ceiling is how well a rater agrees with the others; a metric can exceed it if single raters are noisy. Each rating
is compared with the mean (or the majority) of the other raters on that item, and so is the metric. The ceiling is over
items with rows, the metric's line over those of them that it scored; coefficients and raters are over all items.
Intervals resample items with all their ratings, or questions if a question has several items.

Only Cohen's kappa, given for two raters, depends on who gave which rating. Of more than 5,000 items with two ratings or
more (500 on a scale with more than 50 values) a seeded sample is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import rankdata

from longmark.analysis.metaeval.options import MetaevalOptions
from longmark.stats import agreement as coefficients
from longmark.stats.bootstrap import BCA, bootstrap_of_sums
from longmark.stats.means import mean_estimate
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats

RATER = "a rater"
_MOST, _MOST_OF_MANY = 5_000, 500
_MANY = 50
_RESAMPLES = 2_000


@dataclass(frozen=True, slots=True)
class Vote:
    """One rating of an item: the class as text, and its number if classes have one."""

    rater: str
    name: str
    number: float | None


@dataclass(frozen=True, slots=True)
class RatedItems:
    """The votes on each item. questions: of each item, if intervals are to resample them; numeric: votes have numbers;
    classes: whether two votes can be equal (a continuous scale has no classes); rows: whether each item has rows
    (empty: all have)."""

    votes: Sequence[Sequence[Vote]]
    questions: Sequence[str] | None = None
    numeric: bool = False
    classes: bool = True
    rows: Sequence[bool] = ()


@dataclass(frozen=True, slots=True)
class Rater:
    """A rater. mean: of the ratings; with_others: ratings on items with a majority of other raters; agrees: the share
    of these that equals it."""

    name: str
    ratings: int
    mean: float | None
    with_others: int
    agrees: float | None


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A rater, or a metric, against the others on the same ratings.

    pearson, spearman: with the others' mean, None if classes are no numbers; agrees: the share that is the others'
    majority, None for a metric that gives no class. ratings, items: how many.
    """

    name: str
    pearson: Estimate | None
    spearman: Estimate | None
    agrees: Estimate | None
    ratings: int
    items: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """rated_twice: items with two ratings or more; sampled: those used. reason: why there are no coefficients and no
    ceilings. ceilings: () also if no item with rows was rated twice. clustered: whether intervals resample
    questions."""

    raters: int
    items: int
    rated_twice: int
    sampled: int
    coefficients: tuple[coefficients.Agreement, ...]
    ceilings: tuple[Ceiling, ...]
    by_rater: tuple[Rater, ...]
    reason: str | None = None
    clustered: bool = False


def agreement(
    rated: RatedItems,
    scores: Mapping[str, Floats],
    chosen: Mapping[str, Sequence[str | None]],
    options: MetaevalOptions,
) -> Agreement:
    """scores: of each metric on each item (NaN: none), higher is better; chosen: the class that a metric gives each
    item, for metrics that give one."""
    items = rated.votes
    raters = tuple(dict.fromkeys(vote.rater for item in items for vote in item))
    several = [place for place, item in enumerate(items) if len(item) >= 2]
    by_rater = _raters(rated)
    if not several:
        reason = "there is one rater only" if len(raters) == 1 else "no answer has ratings of two raters"
        return Agreement(len(raters), len(items), 0, 0, (), (), by_rater, reason)
    used = _sampled(rated, several, options)
    with_rows = _sampled(rated, [place for place in several if not rated.rows or rated.rows[place]], options)
    return Agreement(
        raters=len(raters),
        items=len(items),
        rated_twice=len(several),
        sampled=len(used),
        coefficients=tuple(_coefficients(rated, used, raters, options)),
        ceilings=_Ceilings(rated, with_rows, options).of(scores, chosen) if with_rows else (),
        by_rater=by_rater,
        clustered=rated.questions is not None,
    )


def coefficients_of(rated: RatedItems, options: MetaevalOptions) -> list[coefficients.Agreement]:
    """The coefficients alone; [] if no item has two ratings."""
    several = [place for place, item in enumerate(rated.votes) if len(item) >= 2]
    raters = tuple(dict.fromkeys(vote.rater for item in rated.votes for vote in item))
    return _coefficients(rated, _sampled(rated, several, options), raters, options) if several else []


def _sampled(rated: RatedItems, places: list[int], options: MetaevalOptions) -> list[int]:
    most = _MOST_OF_MANY if len({vote.name for item in rated.votes for vote in item}) > _MANY else _MOST
    if len(places) <= most:
        return places
    return sorted(np.random.default_rng(options.seed).choice(places, most, replace=False).tolist())


def padded(items: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """The items as a table with a place for each rating; None where an item has fewer."""
    most = max(map(len, items))
    return [[*item, *[None] * (most - len(item))] for item in items]


def agreeing(labels: Iterable[str]) -> float | None:
    """The share of pairs of labels that are equal; None if there is no pair."""
    pairs = list(combinations(labels, 2))
    return sum(a == b for a, b in pairs) / len(pairs) if pairs else None


def _coefficients(
    rated: RatedItems, used: Sequence[int], raters: Sequence[str], options: MetaevalOptions
) -> list[coefficients.Agreement]:
    items = [rated.votes[place] for place in used]
    clusters = None if rated.questions is None else [rated.questions[place] for place in used]
    how: dict[str, Any] = {"clusters": clusters, "level": options.level, "seed": options.seed}
    names = padded([[vote.name for vote in item] for item in items])
    numbers = padded([[vote.number for vote in item] for item in items])
    alpha, found = coefficients.krippendorff_alpha, []
    if rated.classes:
        found += [one(names, **how) for one in (coefficients.percent_agreement, coefficients.gwet_ac1, alpha)]
    if rated.numeric and (not rated.classes or len({vote.number for item in items for vote in item}) > 2):
        if len({number for row in numbers for number in row}) <= _MANY:
            found.append(alpha(numbers, "ordinal", **how))
        found.append(alpha(numbers, "interval", **how))
    if rated.classes and len({len(item) for item in items}) == 1:
        found.append(coefficients.fleiss_kappa(names, **how))
    if rated.classes and len(raters) == 2:
        table = [[next((v.name for v in item if v.rater == rater), None) for rater in raters] for item in items]
        found.append(coefficients.cohen_kappa(table, **how))
    return found


class _Ceilings:
    """Every rating of these items, beside the other raters' mean and majority."""

    def __init__(self, rated: RatedItems, used: Sequence[int], options: MetaevalOptions) -> None:
        self.numeric, self.options = rated.numeric, options
        items = range(len(rated.votes)) if rated.questions is None else rated.questions
        _, self.units = np.unique(items, return_inverse=True)
        votes = [(place, vote) for place in used for vote in rated.votes[place]]
        self.item = np.array([place for place, _ in votes])
        self.names = [vote.name for _, vote in votes]
        self.own = np.array([vote.number or 0.0 for _, vote in votes])
        means: list[float] = []
        self.most: list[str | None] = []
        for place in used:
            its = rated.votes[place]
            total = sum(vote.number or 0.0 for vote in its)
            means += [(total - (vote.number or 0.0)) / (len(its) - 1) for vote in its]
            self.most += most_of_others(its) if rated.classes else [None] * len(its)
        self.others = np.array(means)

    def of(self, scores: Mapping[str, Floats], chosen: Mapping[str, Sequence[str | None]]) -> tuple[Ceiling, ...]:
        found = [self._ceiling(RATER, self.own, self.names)]
        for name in dict.fromkeys((*scores, *chosen)):
            given = [chosen[name][place] if name in chosen else None for place in self.item]
            found.append(self._ceiling(name, scores[name][self.item] if name in scores else None, given))
        return tuple(found)

    def _ceiling(self, name: str, values: Floats | None, given: Sequence[str | None]) -> Ceiling:
        pairs = list(zip(given, self.most, strict=True))
        decided = np.array([None not in pair for pair in pairs])
        agrees = None
        if decided.any():
            right = np.array([a == b for a, b in pairs], dtype=float)[decided]
            units = self.units[self.item[decided]].tolist()
            agrees = mean_estimate(right.tolist(), units, (0, 1), self.options.level)
        if not self.numeric or values is None:
            return Ceiling(name, None, None, agrees, int(decided.sum()), len(set(self.item[decided].tolist())))
        there = ~np.isnan(values)
        x, y, of = values[there], self.others[there], self.item[there]
        pearson = self._correlation(x, y, of)
        spearman = self._correlation(rankdata(x), rankdata(y), of) if len(x) else pearson
        return Ceiling(name, pearson, spearman, agrees, len(x), len(set(of.tolist())))

    def _correlation(self, x: Floats, y: Floats, item: np.ndarray) -> Estimate:
        """Pearson's correlation over ratings, by sums over the units (items, or questions) that are resampled."""
        _, place = np.unique(self.units[item], return_inverse=True)
        x, y = _standard(x), _standard(y)
        parts = (np.ones(len(x)), x, y, x * x, y * y, x * y)
        features = np.column_stack([np.bincount(place, part) for part in parts]) if len(x) else np.zeros((0, 6))

        def formula(sums: Floats) -> Floats:
            n, sx, sy, sxx, syy, sxy = sums.T
            spread = np.clip(n * sxx - sx * sx, 0, None) * np.clip(n * syy - sy * sy, 0, None)
            return np.asarray((n * sxy - sx * sy) / np.sqrt(np.where(spread > 1e-12 * n**4, spread, np.nan)))

        empty = Estimate(None, None, None, len(features), self.options.level, BCA, resamples=_RESAMPLES)
        return bootstrap_of_sums(features, formula, empty, self.options.seed)


def _standard(column: Floats) -> Floats:
    spread = float(np.ptp(column)) if len(column) else 0.0
    return np.asarray((column - column.mean()) / spread) if spread else np.zeros(len(column))


def most_of_others(votes: Sequence[Vote]) -> list[str | None]:
    """For each vote the majority of the others. Without one vote only one of the three most frequent classes can
    lead."""
    counts = Counter(vote.name for vote in votes)
    leading = counts.most_common(3)
    without: dict[str, str | None] = {}
    for own in counts:
        ranked = sorted(((count - (name == own), name) for name, count in leading), reverse=True)
        (most, name), second = ranked[0], ranked[1][0] if len(ranked) > 1 else 0
        without[own] = name if most > second else None
    return [without[vote.name] for vote in votes]


def _raters(rated: RatedItems) -> tuple[Rater, ...]:
    """Those with the most ratings first."""
    numbers: dict[str, list[float]] = {}
    agrees: dict[str, list[bool]] = {}
    for votes in rated.votes:
        for vote, most in zip(votes, most_of_others(votes) if rated.classes else [None] * len(votes), strict=True):
            numbers.setdefault(vote.rater, []).append(vote.number or 0.0)
            of_rater = agrees.setdefault(vote.rater, [])
            if most is not None:
                of_rater.append(vote.name == most)
    found = []
    for name, its in numbers.items():
        mean = sum(its) / len(its) if rated.numeric else None
        share = sum(agrees[name]) / len(agrees[name]) if agrees[name] else None
        found.append(Rater(name, len(its), mean, len(agrees[name]), share))
    return tuple(sorted(found, key=lambda rater: (-rater.ratings, rater.name)))
