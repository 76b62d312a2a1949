"""Agreement among raters: coefficients, each rater, and the human ceiling (leave one rater out).

The ceiling is how well a rater agrees with the others; a metric can exceed it if single raters are noisy. Each rating
is compared with the mean (or the majority) of the other raters on that item, and so is the metric. The ceiling is over
items with rows, the metric's line over those of them that it scored; coefficients and raters are over all items.
The intervals of coefficients resample items with all their ratings, or questions if a question has several items.
Those of the ceiling count raters as a sample too (`stats.two_way`): they are about another rater of the same kind on
another item. Below 5 effective raters such intervals are too wide to say anything: they are then about these raters
only, resample items, and say so.

Gwet's AC1 alone is over all rated items: those with one rating count among the shares of the categories (Gwet 2014).
It counts the categories that raters could choose, where the label's scale is known, else those that occur.

Of who gave which rating depend only these intervals, and Cohen's kappa for two raters. Of more than 5,000 items with
two ratings or more (500 on a scale with more than 50 values; for the ceiling those with 4 million pairs of ratings) a
seeded sample is used, for AC1 with the same share of the items with one rating.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from longmark.analysis.metaeval.options import MetaevalOptions
from longmark.stats import agreement as coefficients
from longmark.stats.bootstrap import BCA, Formula, bootstrap_of_sums
from longmark.stats.means import mean_estimate
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats
from longmark.stats.two_way import TWO_WAY, Changes, Variance, effective_raters, two_way_variance

RATER = "a rater"
_MOST = 5_000
_MOST_OF_MANY = 500
_MANY = 50
_MOST_OF_SHARES = 50_000  # items, with one rating or more, that AC1 resamples
_MOST_PAIRS = 4_000_000  # of two ratings of an item
_RESAMPLES = 2_000
_PERFECT = 1 - 1e-12
_ROUNDING = 1e-9
_DIGITS = (
    9  # of standardised values, to which ranks see ties: means of equal ratings differ by rounding
)
Others = Callable[[Floats], Floats]
"""Ratings, an item a row, to the others' of each."""
Parts = Callable[[Floats, Floats], Floats]
"""Ratings (or a metric's scores) and the others', to what each adds to the sums: one dimension more; 0 for none."""

FEWEST_RATERS = 5.0
"""Effective raters from which they count as a sample; design/statistics.md has the coverage."""


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
    (empty: all have); declared: all classes that a vote could name (empty: not known)."""

    votes: Sequence[Sequence[Vote]]
    questions: Sequence[str] | None = None
    numeric: bool = False
    classes: bool = True
    rows: Sequence[bool] = ()
    declared: Sequence[str] = ()


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
    majority, None for a metric that gives no class. ratings, items: how many. over: what the intervals count as a
    sample. rater_spearman, rater_agrees: what a rater has on the same ratings, with which the line is compared: a
    metric may have scored only some.
    """

    name: str
    pearson: Estimate | None
    spearman: Estimate | None
    agrees: Estimate | None
    ratings: int
    items: int
    over: str
    rater_spearman: float | None = None
    rater_agrees: float | None = None

    @property
    def above_a_rater(self) -> bool:
        """Whether the line is above a rater on the same ratings: by Spearman's rho, or without it by the share."""
        own, rater = (
            (self.spearman, self.rater_spearman)
            if self.spearman is not None and self.rater_spearman is not None
            else (self.agrees, self.rater_agrees)
        )
        return (
            own is not None
            and own.value is not None
            and rater is not None
            and own.value > rater + _ROUNDING
        )


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """rated_twice: items with two ratings or more; sampled: those used. reason: why there are no coefficients and no
    ceilings. ceilings: () also if no item with rows was rated twice. clustered: whether intervals resample
    questions. declared: all classes that a rater could choose, () where these are not known."""

    raters: int
    items: int
    rated_twice: int
    sampled: int
    coefficients: tuple[coefficients.Agreement, ...]
    ceilings: tuple[Ceiling, ...]
    by_rater: tuple[Rater, ...]
    reason: str | None = None
    clustered: bool = False
    declared: tuple[str, ...] = ()


def agreement(
    rated: RatedItems,
    scores: Mapping[str, Floats],
    chosen: Mapping[str, Sequence[str | None]],
    options: MetaevalOptions,
) -> RaterAgreement:
    """scores: of each metric on each item (NaN: none), higher is better; chosen: the class that a metric gives each
    item, for metrics that give one."""
    items = rated.votes
    raters = tuple(dict.fromkeys(vote.rater for item in items for vote in item))
    several = [place for place, item in enumerate(items) if len(item) >= 2]
    by_rater = _raters(rated)
    if not several:
        reason = (
            "there is one rater only" if len(raters) == 1 else "no answer has ratings of two raters"
        )
        return RaterAgreement(len(raters), len(items), 0, 0, (), (), by_rater, reason)
    used = _sampled(rated, several, options)
    with_rows = _sampled(
        rated, [place for place in several if not rated.rows or rated.rows[place]], options
    )
    return RaterAgreement(
        raters=len(raters),
        items=len(items),
        rated_twice=len(several),
        sampled=len(used),
        coefficients=tuple(_coefficients(rated, used, raters, options)),
        ceilings=_Ceilings(rated, with_rows, options).of(scores, chosen) if with_rows else (),
        by_rater=by_rater,
        clustered=rated.questions is not None,
        declared=tuple(rated.declared),
    )


def coefficients_of(rated: RatedItems, options: MetaevalOptions) -> list[coefficients.Agreement]:
    """The coefficients alone; [] if no item has two ratings."""
    several = [place for place, item in enumerate(rated.votes) if len(item) >= 2]
    raters = tuple(dict.fromkeys(vote.rater for item in rated.votes for vote in item))
    return (
        _coefficients(rated, _sampled(rated, several, options), raters, options) if several else []
    )


def _sampled(rated: RatedItems, places: list[int], options: MetaevalOptions) -> list[int]:
    limit = (
        _MOST_OF_MANY
        if len({vote.name for item in rated.votes for vote in item}) > _MANY
        else _MOST
    )
    if len(places) <= limit:
        return places
    return sorted(np.random.default_rng(options.seed).choice(places, limit, replace=False).tolist())


def padded(items: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """The items as a table with a place for each rating; None where an item has fewer."""
    longest = max(map(len, items))
    return [[*item, *[None] * (longest - len(item))] for item in items]


def agreeing(labels: Iterable[str]) -> float | None:
    """The share of pairs of labels that are equal; None if there is no pair."""
    pairs = list(combinations(labels, 2))
    return sum(a == b for a, b in pairs) / len(pairs) if pairs else None


def _coefficients(
    rated: RatedItems, used: Sequence[int], raters: Sequence[str], options: MetaevalOptions
) -> list[coefficients.Agreement]:
    items = [rated.votes[place] for place in used]
    clusters = None if rated.questions is None else [rated.questions[place] for place in used]
    settings: dict[str, Any] = {
        "clusters": clusters,
        "level": options.level,
        "seed": options.seed,
    }
    names = _names(items)
    numbers = padded([[vote.number for vote in item] for item in items])
    alpha = coefficients.krippendorff_alpha
    agreements = []
    if rated.classes:
        agreements += [
            coefficients.percent_agreement(names, **settings),
            _ac1(rated, used, settings),
            alpha(names, **settings),
        ]
    if rated.numeric and (
        not rated.classes or len({vote.number for item in items for vote in item}) > 2
    ):
        if len({number for row in numbers for number in row}) <= _MANY:
            agreements.append(alpha(numbers, "ordinal", **settings))
        agreements.append(alpha(numbers, "interval", **settings))
    if rated.classes and len({len(item) for item in items}) == 1:
        agreements.append(coefficients.fleiss_kappa(names, **settings))
    if rated.classes and len(raters) == 2:
        table = [
            [next((v.name for v in item if v.rater == rater), None) for rater in raters]
            for item in items
        ]
        agreements.append(coefficients.cohen_kappa(table, **settings))
    return agreements


def _names(items: Sequence[Sequence[Vote]]) -> list[list[str | None]]:
    return padded([[vote.name for vote in item] for item in items])


def _ac1(
    rated: RatedItems, used: Sequence[int], settings: Mapping[str, Any]
) -> coefficients.Agreement:
    """Over the items used and those with one rating, of which as large a share as of those with several."""
    several = sum(len(item) >= 2 for item in rated.votes)
    alone = [place for place, item in enumerate(rated.votes) if len(item) == 1]
    share = min(len(used) / several, _MOST_OF_SHARES / (several + len(alone)))
    random = np.random.default_rng(settings["seed"])

    def sampled(places: Sequence[int], limit: int) -> list[int]:
        return (
            list(places)
            if len(places) <= limit
            else random.choice(places, limit, replace=False).tolist()
        )

    places = sorted(
        (*sampled(used, round(share * several)), *sampled(alone, round(share * len(alone))))
    )
    items = [rated.votes[place] for place in places]
    clusters = None if rated.questions is None else [rated.questions[place] for place in places]
    categories = None
    if rated.declared:
        categories = list(
            dict.fromkeys((*rated.declared, *(vote.name for item in items for vote in item)))
        )
    return coefficients.gwet_ac1(
        _names(items), categories=categories, **{**settings, "clusters": clusters}
    )


class _Ceilings:
    """Every rating of these items, beside the other raters' mean and majority. Classes are numbers, NaN for none."""

    def __init__(
        self,
        rated: RatedItems,
        used: Sequence[int],
        options: MetaevalOptions,
    ) -> None:
        self.numeric = rated.numeric
        self.options = options
        items = range(len(rated.votes)) if rated.questions is None else rated.questions
        sizes = np.array([len(rated.votes[place]) for place in used])
        self.item = np.repeat(used, sizes)
        self.units = np.unique(items, return_inverse=True)[1][self.item]
        starts = np.cumsum(sizes) - sizes
        # items with equally many ratings are computed together, as one table of items x raters
        self.blocks = [
            starts[sizes == size][:, None] + np.arange(size) for size in np.unique(sizes).tolist()
        ]
        votes = [vote for place in used for vote in rated.votes[place]]
        self.raters = np.unique([vote.rater for vote in votes], return_inverse=True)[1]
        self.own = _standard(np.array([vote.number or 0.0 for vote in votes]))
        names = dict.fromkeys(vote.name for vote in votes) if rated.classes else {}
        self.codes = {name: float(code) for code, name in enumerate(names)}
        self.names = np.array([self.codes.get(vote.name, np.nan) for vote in votes])

    def of(
        self, scores: Mapping[str, Floats], chosen: Mapping[str, Sequence[str | None]]
    ) -> tuple[Ceiling, ...]:
        ceilings = [self._ceiling(RATER, self.own, self.names)]
        for name in dict.fromkeys((*scores, *chosen)):
            classes = [chosen[name][place] if name in chosen else None for place in self.item]
            # a class that no rater gave is -1, which agrees with none of theirs
            named_classes = np.array(
                [np.nan if class_ is None else self.codes.get(class_, -1.0) for class_ in classes]
            )
            ceilings.append(
                self._ceiling(
                    name, scores[name][self.item] if name in scores else None, named_classes
                )
            )
        return tuple(ceilings)

    def _ceiling(self, name: str, values: Floats | None, named_classes: Floats) -> Ceiling:
        agrees = pearson = spearman = rater_agrees = rater_spearman = None
        # a rating is compared with the others only: a majority that holds it would agree with itself
        beside = self._beside(self.names, _majorities)
        used = ~np.isnan(named_classes + beside)
        if used.any():
            parts = _right(named_classes[used], beside[used])
            units = self.units[used].tolist()
            rater_agrees = float(np.mean(self.names[used] == beside[used]))
            agrees = mean_estimate(parts[:, 1].tolist(), units, (0, 1), self.options.level)
            # with enough raters the interval is about others of their kind, else about these raters
            if variance := self._variance(named_classes, self.names, _majorities, _right, _share):
                low, high = variance.around_share(agrees.value or 0.0, agrees.level)
                agrees = replace(agrees, low=low, high=high, method=TWO_WAY)
        if self.numeric and values is not None:
            used = ~np.isnan(values)
            pearson, spearman = (self._correlation(values, used, ranks) for ranks in (False, True))
            rater_spearman = self._of_ranks(self.own, used)
        raters = effective_raters(self.raters[used]) if used.any() else 0.0
        of_raters = [
            estimate.method == TWO_WAY
            for estimate in (agrees, pearson, spearman)
            if estimate is not None and estimate.ends
        ]
        resampled = (
            "items and raters"
            if of_raters and all(of_raters)
            else f"items only, {raters:.3g}{' effective' * (not raters.is_integer())} raters"
        )
        return Ceiling(
            name=name,
            pearson=pearson,
            spearman=spearman,
            agrees=agrees,
            ratings=int(used.sum()),
            items=len(set(self.item[used].tolist())),
            over=resampled,
            rater_spearman=rater_spearman,
            rater_agrees=rater_agrees,
        )

    def _of_ranks(self, values: Floats, used: Any) -> float | None:
        """Spearman's rho of these ratings with the others' mean (`_correlation`); None if a side is constant."""
        x = values[used]
        y = self._beside(self.own, _means)[used]
        if len(x) < 2:
            return None
        x = _midranks(_standard(x))(_standard(x))
        y = _midranks(y)(y)
        r = float(_pearson(np.array([[len(x), x.sum(), y.sum(), x @ x, y @ y, x @ y]]))[0])
        return None if np.isnan(r) else r

    def _correlation(self, values: Floats, used: Any, ranks: bool) -> Estimate:
        """Pearson's correlation over ratings, or that of their ranks."""
        beside = self._beside(self.own, _means)
        x = np.full(len(values), np.nan)
        x[used] = _standard(values[used])
        scales = [_midranks(column[used]) if ranks else np.asarray for column in (x, beside)]

        def moments(x: Floats, y: Floats) -> Floats:
            x = scales[0](x)
            y = scales[1](y)
            sums = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=-1)
            return np.where(np.isnan(x + y)[..., None], 0.0, sums)

        _, place = np.unique(self.units[used], return_inverse=True)
        parts = moments(x[used], beside[used])
        features = np.stack([np.bincount(place, part) for part in parts.T], axis=1)
        empty = Estimate(
            None, None, None, len(features), self.options.level, BCA, resamples=_RESAMPLES
        )
        if variance := self._variance(x, self.own, _means, moments, _pearson):
            r = float(_pearson(features.sum(axis=0)[None])[0])
            # atanh has no value at 1
            if abs(r) < _PERFECT:
                low, high = variance.around_correlation(r, empty.level)
                return replace(
                    empty,
                    value=r,
                    low=low,
                    high=high,
                    method=TWO_WAY,
                    resamples=0,
                )
        return bootstrap_of_sums(features, _pearson, empty, self.options.seed)

    def _beside(self, ratings: Floats, of_others: Others) -> Floats:
        """Of each rating the others on its item."""
        compared = np.full(len(ratings), np.nan)
        for cells in self.blocks:
            compared[cells] = of_others(ratings[cells])
        return compared

    def _variance(
        self, x: Floats, ratings: Floats, of_others: Others, parts: Parts, formula: Formula
    ) -> Variance | None:
        """Over items and raters; None below the fewest raters. The others of a rating change with a rater left out."""
        used = ~np.isnan(x)
        if not used.any() or effective_raters(self.raters[used]) < FEWEST_RATERS:
            return None
        of_items = []
        of_cells = []
        for cells in self.blocks:
            block_ratings = ratings[cells]
            beside = x[cells]
            all_parts = parts(beside, of_others(block_ratings))
            without_each = [
                parts(
                    np.delete(beside, place, axis=1),
                    of_others(np.delete(block_ratings, place, axis=1)),
                ).sum(axis=1)
                for place in range(cells.shape[1])
            ]
            of_items.append(-all_parts.reshape(-1, all_parts.shape[-1]))
            of_cells.append(
                (np.stack(without_each, axis=1) - all_parts.sum(axis=1, keepdims=True)).reshape(
                    of_items[-1].shape
                )
            )
        # the blocks are not in the order of the ratings
        order = np.concatenate([cells.ravel() for cells in self.blocks])
        compared = used[order]
        changes = Changes(
            self.units[order][compared],
            self.raters[order][compared],
            np.concatenate(of_items)[compared],
            np.concatenate(of_cells)[compared],
        )
        return two_way_variance(changes, formula)


def _means(ratings: Floats) -> Floats:
    """Of each rating the mean of the others in its row; NaN where there is none."""
    n = ratings.shape[1]
    return (
        (ratings.sum(axis=1, keepdims=True) - ratings) / (n - 1)
        if n > 1
        else np.full(ratings.shape, np.nan)
    )


def _majorities(ratings: Floats) -> Floats:
    """Of each class the majority of the others in its row; NaN where none leads."""
    classes = np.unique(ratings)
    majorities = np.full(ratings.shape, np.nan)
    counts = (ratings[:, :, None] == classes).sum(axis=1)
    for place, name in enumerate(classes):
        # without the rating itself, which is one of this class
        other_counts = counts - (np.arange(len(classes)) == place)
        highest = other_counts.max(axis=1, keepdims=True)
        leads = (highest[:, 0] > 0) & ((other_counts == highest).sum(axis=1) == 1)
        leading = np.where(leads, classes[other_counts.argmax(axis=1)], np.nan)
        majorities = np.where(ratings == name, leading[:, None], majorities)
    return majorities


def _right(classes: Floats, majority_class: Floats) -> Floats:
    """Whether there are both, and whether they are equal."""
    return np.stack(
        [~np.isnan(classes + majority_class), classes == majority_class], axis=-1
    ).astype(float)


def _share(sums: Floats) -> Floats:
    return np.asarray(sums[:, 1] / sums[:, 0])


def _pearson(sums: Floats) -> Floats:
    n, sx, sy, sxx, syy, sxy = sums.T
    # rounding can put a sum of squares below 0
    spread = np.clip(n * sxx - sx * sx, 0, None) * np.clip(n * syy - sy * sy, 0, None)
    return np.asarray(
        (n * sxy - sx * sy) / np.sqrt(np.where(spread > 1e-12 * n**4, spread, np.nan))
    )


def _midranks(values: Floats) -> Callable[[Floats], Floats]:
    """The share of these values below a value, ties by half, less a half."""
    # means of the same ratings in another order differ by rounding, and must tie
    ordered = np.sort(np.round(values, _DIGITS))

    def ranks(column: Floats) -> Floats:
        places = [
            np.searchsorted(ordered, np.round(column, _DIGITS), side) for side in ("left", "right")
        ]
        return np.where(np.isnan(column), np.nan, sum(places) / (2 * len(ordered)) - 0.5)

    return ranks


def _standard(column: Floats) -> Floats:
    spread = float(np.ptp(column)) if len(column) else 0.0
    return np.asarray((column - column.mean()) / spread) if spread else np.zeros(len(column))


def most_of_others(votes: Sequence[Vote]) -> list[str | None]:
    """For each vote the majority of the others. Without one vote only one of the three most frequent classes can
    lead."""
    counts = Counter(vote.name for vote in votes)
    leading = counts.most_common(3)
    majority_without: dict[str, str | None] = {}
    for class_name in counts:
        ranked = sorted(
            ((count - (name == class_name), name) for name, count in leading), reverse=True
        )
        (top_count, name), second = ranked[0], ranked[1][0] if len(ranked) > 1 else 0
        majority_without[class_name] = name if top_count > second else None
    return [majority_without[vote.name] for vote in votes]


def _raters(rated: RatedItems) -> tuple[Rater, ...]:
    """Those with the most ratings first."""
    numbers: dict[str, list[float]] = {}
    agrees: dict[str, list[bool]] = {}
    for votes in rated.votes:
        for vote, majority in zip(
            votes, most_of_others(votes) if rated.classes else [None] * len(votes), strict=True
        ):
            numbers.setdefault(vote.rater, []).append(vote.number or 0.0)
            of_rater = agrees.setdefault(vote.rater, [])
            if majority is not None:
                of_rater.append(vote.name == majority)
    raters = []
    for name, ratings in numbers.items():
        mean = sum(ratings) / len(ratings) if rated.numeric else None
        share = sum(agrees[name]) / len(agrees[name]) if agrees[name] else None
        raters.append(Rater(name, len(ratings), mean, len(agrees[name]), share))
    return tuple(sorted(raters, key=lambda rater: (-rater.ratings, rater.name)))
