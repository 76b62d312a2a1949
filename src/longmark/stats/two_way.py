"""The variance of a statistic of ratings whose items and whose raters are both samples.

    V = V_items + V_raters - V_cells, at least V_items
    V_g = (G - 1) / G sum (mean of the values without g - value without g)²        the delete-one jackknife, G groups
    d.f. = V² / sum (V_g² / (G_g - 1)) over items, raters and cells                Satterthwaite's, at least the smaller
                                                                                   of items and raters, less 1

A cell is what one rater said of one item. Each rating is in one item and one rater, so V_items + V_raters counts the
noise of the cells twice. The sum can be too small by chance, so V_items bounds it. V_raters does not: with two ratings
an item, each item counts for both of its raters, and V_raters is twice V_items where raters do not differ. Raters with
unequal numbers of ratings count as `effective` ones (Kish): (sum n)² / sum n².

Source: Cameron, Gelbach and Miller (2011), "Robust inference with multiway clustering", JBES 29, section 2.2, with the
jackknife's variances in place of the sandwich's (CR3 in place of CR0; Bell and McCaffrey 2002). The degrees of freedom
are those of a sum of three independent mean squares; their least is the choice of Cameron and Miller (2015), "A
practitioner's guide to cluster-robust inference", JHR 50. design/statistics.md has the coverage.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from longmark.stats.means import wilson
from longmark.stats.samples import Floats, Ints
from longmark.stats.student import t_quantile

TWO_WAY = "two-way jackknife"


@dataclass(frozen=True, slots=True)
class Changes:
    """How sums over the ratings change. items, raters: of each cell; without_item: shape (cells, sums), the cell's part
    of what its item adds, with a minus; without_cell: the same shape, the change where the rating is left out."""

    items: Ints
    raters: Ints
    without_item: Floats
    without_cell: Floats


@dataclass(frozen=True, slots=True)
class Variance:
    """In squared units of the statistic, with its degrees of freedom, 1 at least."""

    value: float
    df: float

    def around_correlation(self, r: float, level: float) -> tuple[float, float]:
        """The ends about a correlation in (-1, 1), on Fisher's scale."""
        half = t_quantile(level, self.df) * math.sqrt(self.value) / (1 - r * r)
        return math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)

    def around_share(self, p: float, level: float) -> tuple[float, float]:
        """The ends about a share in (0, 1): Wilson's, of as many ratings as give this variance."""
        return wilson(p, p * (1 - p) / self.value, t_quantile(level, self.df))


def effective_raters(raters: Ints) -> float:
    """How many raters with as many ratings each would do as well. raters: of each rating, not empty."""
    counts = np.bincount(raters)
    return float(counts.sum() ** 2 / (counts**2).sum())


def two_way_variance(changes: Changes, formula: Callable[[Floats], Floats]) -> Variance | None:
    """Of a statistic of the sums over all ratings. formula: shape (m, sums) to (m,), NaN where it has no value. None if
    it has none without some item or rater, or does not vary."""
    total = -changes.without_item.sum(axis=0)
    _, items = np.unique(changes.items, return_inverse=True)
    _, raters = np.unique(changes.raters, return_inverse=True)
    _, cells = np.unique(items * (raters.max(initial=0) + 1) + raters, return_inverse=True)
    jackknifed = [
        _jackknife(total, groups, changes_without, formula)
        for groups, changes_without in (
            (items, changes.without_item),
            (raters, changes.without_cell),
            (cells, changes.without_cell),
        )
    ]
    of_items, of_raters, of_cells = (variance for variance, _ in jackknifed)
    value = max(of_items + of_raters - of_cells, of_items)
    if not (math.isfinite(value) and value > 0):
        return None
    sizes = (jackknifed[0][1], effective_raters(raters), jackknifed[2][1])
    spread = math.fsum(v * v / max(n - 1, 1) for (v, _), n in zip(jackknifed, sizes, strict=True))
    return Variance(value, max(1.0, min(sizes[:2]) - 1, value * value / spread))


def _jackknife(
    total: Floats, groups: Ints, changes: Floats, formula: Callable[[Floats], Floats]
) -> tuple[float, int]:
    sums = np.stack([np.bincount(groups, column) for column in changes.T], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = formula(total + sums)
    n = len(values)
    return (n - 1) / n * float(((values - values.mean()) ** 2).sum()), n
