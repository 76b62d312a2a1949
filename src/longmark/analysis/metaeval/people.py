"""People among themselves: their agreement, each rater, and a person against the others, which is the ceiling.

How closely a person follows the other people is what a metric is measured by: the ceiling, though a metric may pass it
where single people are noisy. It and the metrics are taken on the same ratings: each rating in turn is held against the
mean (or the majority) of the others on that answer, and so is the metric. Intervals resample answers, with all their
ratings, and where questions have several answers, questions.

Coefficients of agreement do not depend on who gave which rating but for Cohen's kappa, which is given for two raters.
Of more than 5,000 answers with two ratings or more (500 on a scale with more than 50 values) a seeded sample is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.stats import rankdata

from longmark.analysis.metaeval.scale import majority
from longmark.stats.agreement import (
    Agreement,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
)
from longmark.stats.bootstrap import bootstrap_mean
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats
from longmark.stats.sums import bootstrap_of_sums

MOST, MOST_OF_MANY = 5_000, 500
_MANY = 50
RATERS_SHOWN = 50
PERSON = "a person"


@dataclass(frozen=True, slots=True)
class Vote:
    """One rating of an item: the class as text, and its number where classes have one."""

    rater: str
    name: str
    number: float | None


@dataclass(frozen=True, slots=True)
class Rater:
    """A rater: ratings given, their mean, and on items with others: share that is the others' majority.

    with_others: ratings that could be held against a majority of others.
    """

    name: str
    ratings: int
    mean: float | None
    with_others: int
    agrees: float | None


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A person, or a metric, against the others on the same ratings.

    pearson, spearman: with the others' mean, None where classes are no numbers; agrees: share that is the others'
    majority, None for a metric that gives no class. ratings, items: how many.
    """

    name: str
    pearson: Estimate | None
    spearman: Estimate | None
    agrees: Estimate | None
    ratings: int
    items: int


@dataclass(frozen=True, slots=True)
class People:
    """raters: how many; rated_twice: items with two ratings or more; sampled: items of them that were used; clustered:
    whether intervals resample questions, which have several items."""

    raters: int
    items: int
    rated_twice: int
    sampled: int
    agreement: tuple[Agreement, ...]
    ceilings: tuple[Ceiling, ...]
    by_rater: tuple[Rater, ...]
    reason: str | None = None
    clustered: bool = False


def people(
    items: Sequence[Sequence[Vote]],
    scale: Literal["nominal", "ordinal", "interval"],
    metrics: Mapping[str, Floats],
    chosen: Mapping[str, Sequence[str | None]],
    level: float,
    seed: int,
    classes: bool = True,
    questions: Sequence[str] | None = None,
) -> People:
    """items: the votes on each; metrics: each metric's value on each item (NaN: none), more is better; chosen: for
    metrics that choose a class, which one; classes: whether it says anything that two votes are equal; questions: of
    each item, where intervals are to resample them."""
    raters = tuple(dict.fromkeys(vote.rater for item in items for vote in item))
    several = [place for place, item in enumerate(items) if len(item) >= 2]
    by_rater = _raters(items, classes)
    if not several:
        why = "there is one rater only" if len(raters) == 1 else "no answer was rated by two people"
        return People(len(raters), len(items), 0, 0, (), (), by_rater, why)
    used = several
    most = MOST if len({vote.name for item in items for vote in item}) <= _MANY else MOST_OF_MANY
    if len(several) > most:
        used = sorted(np.random.default_rng(seed).choice(several, most, replace=False).tolist())
    together = None if questions is None else [questions[place] for place in used]
    found = _agreement([items[place] for place in used], together, raters, scale, classes, level, seed)
    _, units = np.unique(range(len(items)) if questions is None else questions, return_inverse=True)
    ceilings = _ceilings(items, used, units, metrics, chosen, scale != "nominal", classes, level, seed)
    clustered = questions is not None
    return People(
        len(raters), len(items), len(several), len(used), found, ceilings, by_rater, clustered=clustered
    )  # fmt: skip


def _agreement(
    items: Sequence[Sequence[Vote]],
    questions: Sequence[str] | None,
    raters: Sequence[str],
    scale: str,
    classes: bool,
    level: float,
    seed: int,
) -> tuple[Agreement, ...]:
    how: dict[str, Any] = {"clusters": questions, "level": level, "seed": seed}
    most = max(map(len, items))
    names = [[vote.name for vote in item] + [None] * (most - len(item)) for item in items]
    found = []
    if classes:
        found += [
            percent_agreement(names, **how),
            gwet_ac1(names, **how),
            krippendorff_alpha(names, **how),
        ]
    if scale != "nominal" and (not classes or len({vote.number for item in items for vote in item}) > 2):
        numbers = [[vote.number for vote in item] + [None] * (most - len(item)) for item in items]
        if len({number for row in numbers for number in row}) <= _MANY:
            found.append(krippendorff_alpha(numbers, "ordinal", **how))
        found.append(krippendorff_alpha(numbers, "interval", **how))
    if classes and all(len(item) == most for item in items):
        found.append(fleiss_kappa(names, **how))
    if classes and len(raters) == 2:
        table = [[next((v.name for v in item if v.rater == rater), None) for rater in raters] for item in items]
        found.append(cohen_kappa(table, **how))
    return tuple(found)


def _ceilings(
    items: Sequence[Sequence[Vote]],
    used: Sequence[int],
    units: np.ndarray,
    metrics: Mapping[str, Floats],
    chosen: Mapping[str, Sequence[str | None]],
    numeric: bool,
    classes: bool,
    level: float,
    seed: int,
) -> tuple[Ceiling, ...]:
    item: list[int] = []
    own: list[float] = []
    mean: list[float] = []
    names: list[str] = []
    most: list[str | None] = []
    for place in used:
        votes = items[place]
        total = sum(vote.number or 0.0 for vote in votes)
        for number, vote in enumerate(votes):
            item.append(place)
            names.append(vote.name)
            most.append(majority(other.name for i, other in enumerate(votes) if i != number) if classes else None)
            own.append(vote.number or 0.0)
            mean.append((total - (vote.number or 0.0)) / (len(votes) - 1))
    which, others = np.array(item), np.array(mean)

    def one(name: str, values: Floats | None, says: Sequence[str | None]) -> Ceiling:
        decided = np.array([s is not None and m is not None for s, m in zip(says, most, strict=True)])
        right = np.array([s == m for s, m in zip(says, most, strict=True)], dtype=float)
        agrees = None
        if decided.any():
            groups = units[which[decided]].tolist()
            agrees = bootstrap_mean(right[decided], clusters=groups, level=level, seed=seed, resamples=2_000)
        if not numeric or values is None:
            used_items = set(which[decided].tolist())
            return Ceiling(name, None, None, agrees, int(decided.sum()), len(used_items))
        there = ~np.isnan(values)
        x, y, of = values[there], others[there], which[there]
        pearson = _pearson(x, y, units[of], level, seed)
        spearman = _pearson(rankdata(x), rankdata(y), units[of], level, seed) if len(x) else pearson
        return Ceiling(name, pearson, spearman, agrees, len(x), len(set(of.tolist())))

    found = [one(PERSON, np.array(own), names)]
    nothing: list[str | None] = [None] * len(item)
    for name, values in metrics.items():
        says = [chosen[name][place] for place in item] if name in chosen else nothing
        found.append(one(name, values[which] if numeric else None, says))
    return tuple(found)


def _pearson(x: Floats, y: Floats, unit: np.ndarray, level: float, seed: int) -> Estimate:
    """Pearson's correlation over ratings, by sums over the units (items, or questions) that are resampled."""
    _, place = np.unique(unit, return_inverse=True)
    x, y = (_standard(column) for column in (x, y))
    parts = (np.ones(len(x)), x, y, x * x, y * y, x * y)
    features = np.column_stack([np.bincount(place, part) for part in parts]) if len(x) else np.zeros((0, 6))

    def formula(sums: Floats) -> Floats:
        n, sx, sy, sxx, syy, sxy = sums.T
        spread = np.clip(n * sxx - sx * sx, 0, None) * np.clip(n * syy - sy * sy, 0, None)
        return np.asarray((n * sxy - sx * sy) / np.sqrt(np.where(spread > 1e-12 * n**4, spread, np.nan)))

    return bootstrap_of_sums(features, formula, level=level, resamples=2_000, seed=seed)


def _standard(column: Floats) -> Floats:
    spread = float(np.ptp(column)) if len(column) else 0.0
    return np.asarray((column - column.mean()) / spread) if spread else np.zeros(len(column))


def _raters(items: Sequence[Sequence[Vote]], classes: bool) -> tuple[Rater, ...]:
    """Those with the most ratings first."""
    counts: dict[str, list[float]] = {}
    agree: dict[str, list[bool]] = {}
    numeric = True
    for item in items:
        for place, vote in enumerate(item):
            numeric = numeric and vote.number is not None
            counts.setdefault(vote.rater, []).append(vote.number or 0.0)
            if len(item) > 1 and classes:
                most = majority(other.name for i, other in enumerate(item) if i != place)
                if most is not None:
                    agree.setdefault(vote.rater, []).append(vote.name == most)
    found = [
        Rater(
            name,
            len(numbers),
            sum(numbers) / len(numbers) if numeric else None,
            len(agree.get(name, ())),
            sum(agree[name]) / len(agree[name]) if name in agree else None,
        )
        for name, numbers in counts.items()
    ]
    return tuple(sorted(found, key=lambda rater: (-rater.ratings, rater.name)))
