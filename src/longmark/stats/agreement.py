"""Agreement of raters on categories, scales and preferences, with intervals by bootstrap over items.

    percentage        mean over items of the share of pairs of raters that agree           [0, 1]
    Cohen             two raters: 1 - weighted disagreement / what their marginals give     at most 1, 0 by chance
    Fleiss            any number of raters, each item rated by as many; pooled marginals
    Krippendorff      any number, ratings may be missing; nominal, ordinal or interval distance
    Gwet AC1          any number, ratings may be missing; chance from how even the categories are

`ratings` has a row for each item and a column for each rater; None or NaN is a missing rating. Nothing is filled in:
items with fewer than two ratings (Cohen, Fleiss: with any rating missing) are left out and counted. Fleiss's kappa is
defined for complete ratings only; if many items are left out, use Krippendorff's alpha or AC1.

Time grows with items x categories (ordinal alpha: x pairs of categories that met in an item), not with their squares.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from longmark.errors import UnknownName, UserError
from longmark.progress import counted
from longmark.stats.bootstrap import BCA, Formula, bootstrap_of_sums
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats, Seed, cluster_numbers

Ratings = Sequence[Sequence[Hashable]] | NDArray[Any]
Weights = Literal["linear", "quadratic"]
Scale = Literal["nominal", "ordinal", "interval"]
SCALES = ("nominal", "ordinal", "interval")

GWET_AC1 = "Gwet's AC1"
_FEWEST = 3
_ROUNDING = 1e-12


class Resampling(TypedDict, total=False):
    """How the interval is made. clusters: for each item what it belongs to (None); level (.95); resamples (2,000); seed
    (0)."""

    clusters: Sequence[Hashable] | None
    level: float
    resamples: int
    seed: Seed


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement(Estimate):
    """A coefficient of agreement with its interval.

    n: items used; missing: items with too few ratings; absent: missing ratings, over all items. categories: in their
    order, as the coefficient took them (on the interval scale: the values that occur). scale: of Krippendorff's alpha.
    """

    coefficient: str
    raters: int
    absent: int
    categories: tuple[Hashable, ...]
    scale: str | None = None

    @property
    def title(self) -> str:
        """The coefficient with what else decides its value: the scale, and how many categories AC1 counts."""
        if self.coefficient == GWET_AC1:
            return f"{GWET_AC1} ({counted(len(self.categories), 'category', 'categories')})"
        return f"{self.coefficient} ({self.scale})" if self.scale else self.coefficient


def percent_agreement(ratings: Ratings, **how: Unpack[Resampling]) -> Agreement:
    """The share of pairs of raters that agree, in the mean over items with two ratings or more. Range [0, 1]."""
    table = _table(ratings, None)
    counts = table.counts()
    used = counts.sum(axis=1) >= 2
    features = np.column_stack([_agreeing_pairs(counts[used]), np.ones(used.sum())])
    return table.result(
        "percentage", used, features, lambda sums: np.asarray(sums[:, 0] / sums[:, 1]), how
    )


def cohen_kappa(
    ratings: Ratings,
    *,
    weights: Weights | None = None,
    categories: Sequence[Hashable] | None = None,
    **how: Unpack[Resampling],
) -> Agreement:
    """Cohen's kappa of two raters; with weights the distance of two categories is |i - j| or (i - j)² of their places.

    categories: all that a rater could choose, in order; without them those that occur, numbers by size. Weighted kappa
    of labels that are no numbers needs them. Raises UserError for more or fewer than two raters.
    """
    if weights not in (None, "linear", "quadratic"):
        raise UnknownName(
            "weights",
            str(weights),
            ("linear", "quadratic"),
            "Without weights any difference counts 1.",
        )
    table = _table(ratings, categories, ordered=weights is not None)
    if table.codes.shape[1] != 2:
        raise UserError(
            f"Cohen's kappa is for two raters, not {table.codes.shape[1]}; take Fleiss or Krippendorff"
        )
    used = np.all(table.codes >= 0, axis=1)
    size = len(table.categories)
    first, second = table.codes[used].T
    distances = np.abs(first - second)
    differ = {None: distances > 0, "linear": distances, "quadratic": distances**2}[weights]
    features = _beside(differ.astype(float), _chosen(first, size), _chosen(second, size))

    def formula(sums: Floats) -> Floats:
        of_first = sums[:, 1 : size + 1]
        of_second = sums[:, size + 1 :]
        return np.asarray(
            1 - sums[:, 0] * of_first.sum(axis=1) / _differ_by_chance(of_first, of_second, weights)
        )

    return table.result("Cohen's kappa", used, features, formula, how)


def fleiss_kappa(ratings: Ratings, **how: Unpack[Resampling]) -> Agreement:
    """Fleiss's kappa of the items that every rater rated."""
    table = _table(ratings, None)
    if table.codes.shape[1] < 2:
        raise UserError(f"Fleiss's kappa is for two raters or more, not {table.codes.shape[1]}")
    used = np.all(table.codes >= 0, axis=1)
    counts = table.counts()[used]
    features = _beside(_agreeing_pairs(counts), np.ones(counts.shape[0]), counts)

    def formula(sums: Floats) -> Floats:
        observed = sums[:, 0] / sums[:, 1]
        shares = sums[:, 2:] / sums[:, 2:].sum(axis=1, keepdims=True)
        by_chance = 1 - (shares**2).sum(axis=1)
        by_chance = np.where(
            by_chance > _ROUNDING, by_chance, np.nan
        )  # what is nothing but rounding is no denominator
        return np.asarray((observed - 1 + by_chance) / by_chance)

    return table.result("Fleiss's kappa", used, features, formula, how)


def gwet_ac1(
    ratings: Ratings,
    *,
    categories: Sequence[Hashable] | None = None,
    **how: Unpack[Resampling],
) -> Agreement:
    """Gwet's AC1, which stays near the percentage where one category is rare, as kappa does not.

    categories: all that a rater could choose; without them those that occur. An item with one rating counts among the
    shares of the categories (Gwet 2014), though not among the agreements, and so is resampled too.
    """
    table = _table(ratings, categories)
    counts = table.counts()
    used = counts.sum(axis=1) >= 1
    # items with one rating stay: they say how often a category is chosen
    counts = counts[used]
    number = counts.sum(axis=1)
    rated_twice = number >= 2
    agreeing = np.zeros(len(number))
    agreeing[rated_twice] = _agreeing_pairs(counts[rated_twice])
    features = _beside(
        agreeing, rated_twice.astype(float), counts.multiply(1 / number[:, None]).tocsr()
    )
    size = len(table.categories)

    def formula(sums: Floats) -> Floats:
        shares = sums[:, 2:] / sums[:, 2:].sum(axis=1, keepdims=True)
        # with one category there is no agreement beyond chance to speak of
        chance = (shares * (1 - shares)).sum(axis=1) / (size - 1 if size > 1 else np.nan)
        return np.asarray((sums[:, 0] / sums[:, 1] - chance) / (1 - chance))

    return table.result(GWET_AC1, used, features, formula, how)


def krippendorff_alpha(
    ratings: Ratings,
    scale: Scale = "nominal",
    *,
    categories: Sequence[Hashable] | None = None,
    **how: Unpack[Resampling],
) -> Agreement:
    """Krippendorff's alpha, 1 - observed / expected disagreement, over the items with two ratings or more.

    scale: nominal (any difference counts 1), ordinal (the ratings between two categories, squared) or interval (the
    squared difference). Ratings are numbers, but for nominal ones and for ordinal ones with `categories` in order.
    """
    if scale not in SCALES:
        raise UnknownName("scale", scale, SCALES, f"There are {', '.join(SCALES)}.")
    table = _table(ratings, categories, ordered=scale != "nominal")
    counts = table.counts()
    used = counts.sum(axis=1) >= 2
    if scale == "interval":
        features, formula = _interval_alpha(counts[used], table.values())
    elif scale == "ordinal":
        features, formula = _ordinal_alpha(counts[used])
    else:
        features, formula = _nominal_alpha(counts[used])
    return table.result("Krippendorff's alpha", used, features, formula, how, scale=scale)


def _chosen(codes: NDArray[np.int64], size: int) -> Any:
    """A row for each code, with 1 at its place."""
    return csr_array(
        (np.ones(len(codes)), codes, np.arange(len(codes) + 1)), shape=(len(codes), size)
    )


def _differ_by_chance(first: Floats, second: Floats, weights: Weights | None) -> Floats:
    """The sum over all pairs of categories of their distance, times how often each rater chose them; shape (m,)."""
    n = first.sum(axis=1)
    if weights == "linear":  # |i - j| counts the borders between i and j
        below = np.cumsum(first, axis=1)
        cumulated = np.cumsum(second, axis=1)
        return np.asarray(
            (below * (n[:, None] - cumulated) + cumulated * (n[:, None] - below)).sum(axis=1)
        )
    if weights == "quadratic":
        places = np.arange(first.shape[1])
        return np.asarray(
            n * ((first + second) @ places**2) - 2 * (first @ places) * (second @ places)
        )
    return np.asarray(n**2 - (first * second).sum(axis=1))


def _nominal_alpha(counts: Any) -> tuple[Any, Formula]:
    number = counts.sum(axis=1)
    differing = (number**2 - counts.power(2).sum(axis=1)) / (number - 1)
    features = _beside(differing, counts)

    def formula(sums: Floats) -> Floats:
        n = sums[:, 1:].sum(axis=1)
        return np.asarray(1 - (n - 1) * sums[:, 0] / (n**2 - (sums[:, 1:] ** 2).sum(axis=1)))

    return features, formula


def _interval_alpha(counts: Any, values: Floats) -> tuple[Floats, Formula]:
    """Squared differences need only the number, the sum and the sum of squares of an item's ratings."""
    spread = np.ptp(values) if len(values) else 0.0
    # centred and scaled: sums of squares of large ratings would lose their differences to rounding
    values = (values - values.mean()) / spread if spread else np.zeros(len(values))
    number = counts.sum(axis=1)
    sums = counts @ values
    squares = counts @ values**2
    within = 2 * (number * squares - sums**2) / (number - 1)
    features = np.column_stack([within, number, sums, squares])

    def formula(total: Floats) -> Floats:
        n = total[:, 1]
        scale = total[:, 1] * total[:, 3]
        between = scale - total[:, 2] ** 2
        # all ratings equal: what is left is rounding, and alpha is undefined
        between = np.where(between > _ROUNDING * scale, between, np.nan)
        return np.asarray(1 - (n - 1) * total[:, 0] / (2 * between))

    return features, formula


def _ordinal_alpha(counts: Any) -> tuple[Any, Formula]:
    """The distance of two categories is the ratings from one to the other, each of the two counting by half, squared.

    An item's features are its ratings and its coincidences: pairs of its ratings in two categories, divided by their
    number less one. Only pairs of categories that occur are columns.
    """
    items, size = counts.shape
    entries = counts.tocoo()
    number = counts.sum(axis=1)
    order = np.arange(len(entries.row))
    ends = counts.indptr[entries.row + 1]
    item_numbers = [np.empty(0, int)]
    cells = [np.empty(0, int)]
    weights = [np.empty(0)]
    step = 1
    while len(
        order := order[order + step < ends[order]]
    ):  # each category of an item with the one `step` beyond it
        partner = order + step
        item_numbers.append(entries.row[order])
        cells.append(entries.col[order].astype(int) * size + entries.col[partner])
        weights.append(
            entries.data[order] * entries.data[partner] / (number[entries.row[order]] - 1)
        )
        step += 1
    occurring, column = np.unique(np.concatenate(cells), return_inverse=True)
    shape = (items, len(occurring))
    coincidences = csr_array(
        (np.concatenate(weights), (np.concatenate(item_numbers), column)), shape=shape
    )
    # a cell was numbered as low * size + high
    low, high = np.divmod(occurring, max(size, 1))

    def formula(sums: Floats) -> Floats:
        marginals = sums[:, :size]
        n = marginals.sum(axis=1)
        middles = np.cumsum(marginals, axis=1) - marginals / 2 - n[:, None] / 2
        observed = (sums[:, size:] * (middles[:, low] - middles[:, high]) ** 2).sum(axis=1)
        return np.asarray(1 - (n - 1) * observed / (n * (marginals * middles**2).sum(axis=1)))

    return hstack([counts, coincidences], "csr"), formula


def _agreeing_pairs(counts: Any) -> Floats:
    """For each item the share of ordered pairs of its ratings that are equal."""
    number = counts.sum(axis=1)
    return np.asarray((counts.power(2).sum(axis=1) - number) / (number * (number - 1)))


def _beside(*columns: Any) -> Any:
    """Columns of features, each a vector or a matrix."""
    return hstack(
        [csr_array(column[:, None]) if column.ndim == 1 else column for column in columns], "csr"
    )


@dataclass(frozen=True, slots=True)
class _RatingTable:
    """Ratings as places in `categories`, -1 for a missing one; shape (items, raters)."""

    codes: NDArray[np.int64]
    categories: tuple[Hashable, ...]

    def counts(self) -> Any:
        """For each item how often each category was chosen; a matrix of scipy.sparse in rows."""
        items, raters = np.nonzero(self.codes >= 0)
        shape = (len(self.codes), len(self.categories))
        return csr_array((np.ones(len(items)), (items, self.codes[items, raters])), shape=shape)

    def values(self) -> Floats:
        if not all(_is_number(category) for category in self.categories):
            raise UserError("the interval scale takes differences: every rating must be a number")
        return np.array(self.categories, dtype=np.float64)

    def result(
        self,
        coefficient: str,
        used: NDArray[np.bool_],
        features: Any,
        formula: Callable[[Floats], Floats],
        resampling: Resampling,
        scale: str | None = None,
    ) -> Agreement:
        items = int(used.sum())
        clusters = resampling.get("clusters")
        numbers = None if clusters is None else cluster_numbers(clusters, used)[0]
        empty = Agreement(
            None,
            None,
            None,
            items,
            resampling.get("level", 0.95),
            BCA,
            missing=len(used) - items,
            resamples=resampling.get("resamples", 2_000),
            coefficient=coefficient,
            raters=self.codes.shape[1],
            absent=int((self.codes < 0).sum()),
            categories=self.categories,
            scale=scale,
        )
        agreement = bootstrap_of_sums(features, formula, empty, resampling.get("seed", 0), numbers)
        if items < _FEWEST:
            return replace(
                agreement,
                value=None,
                reason=f"agreement needs at least {_FEWEST} items, not {items}",
            )
        if agreement.value is None:
            return replace(
                agreement,
                reason="all ratings are the same, so chance alone would give the same agreement",
            )
        return agreement


def _table(
    ratings: Ratings, categories: Sequence[Hashable] | None, ordered: bool = False
) -> _RatingTable:
    """Raises UserError for rows of unequal length, labels outside the categories, and an order that is not known."""
    rows = [list(row) for row in ratings]
    raters = len(rows[0]) if rows else 0
    if any(len(row) != raters for row in rows):
        raise UserError("every item needs a value for each rater; give None for a missing rating")
    seen = {label for row in rows for label in row if not _is_missing(label)}
    if categories is None:
        numeric = all(_is_number(label) for label in seen)
        if ordered and not numeric:
            raise UserError(
                "the order of these labels is not known; give it: categories=[lowest, …, highest]"
            )
        chosen = tuple(sorted(seen, key=(lambda label: label) if numeric else str))
    else:
        chosen = tuple(categories)
        if len(set(chosen)) < len(chosen):
            raise UserError("categories: each may be named once only")
        if unknown := sorted(map(repr, seen - set(chosen))):
            raise UserError(f"ratings that are not among the categories: {', '.join(unknown[:5])}")
    places = {label: place for place, label in enumerate(chosen)}
    codes = np.array(
        [[-1 if _is_missing(label) else places[label] for label in row] for row in rows],
        dtype=np.int64,
    )
    return _RatingTable(codes.reshape(len(rows), raters), chosen)


def _is_missing(label: Any) -> bool:
    return label is None or label != label  # NaN alone differs from itself


def _is_number(label: Any) -> bool:
    return isinstance(label, int | float | np.integer | np.floating)
