"""p-values adjusted for their number: Bonferroni, Holm (1979), Benjamini and Hochberg (1995).

Of m p-values in rising order, the i-th becomes

    bonferroni          m p
    holm                (m - i + 1) p, at least that of the smaller ones
    benjamini-hochberg  m p / i, at most that of the larger ones

at most 1. The first two control the probability of any false positive at alpha, Holm with more power; the third
controls the expected share of false positives among the positives. A missing p (None or NaN) was not tested: it stays
None and does not count in m.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longmark.errors import UnknownName, UserError
from longmark.stats.samples import Floats, as_floats

NONE = "none"
BONFERRONI = "bonferroni"
HOLM = "holm"
BENJAMINI_HOCHBERG = "benjamini-hochberg"
METHODS = (NONE, BONFERRONI, HOLM, BENJAMINI_HOCHBERG)


@dataclass(frozen=True, slots=True)
class Adjusted:
    """p-values in the order given, before and after. significant: adjusted p <= alpha; tested: those not None."""

    p: tuple[float | None, ...]
    adjusted: tuple[float | None, ...]
    significant: tuple[bool, ...]
    method: str
    alpha: float
    tested: int


def adjust(
    p_values: Sequence[float | None] | NDArray[Any], method: str = HOLM, alpha: float = 0.05
) -> Adjusted:
    """The adjusted p-values. UnknownName for a method that is not in METHODS, UserError for a p or an alpha outside its
    range."""
    if method not in METHODS:
        raise UnknownName(
            "correction", method, METHODS, f"The corrections are {', '.join(METHODS)}."
        )
    if not 0 < alpha < 1:
        raise UserError(f"alpha must be between 0 and 1, for example 0.05; found {alpha}")
    p_array = as_floats(p_values, "p-values")
    tested = ~np.isnan(p_array)
    if ((p_array[tested] < 0) | (p_array[tested] > 1)).any():
        raise UserError("p-values are between 0 and 1; give None for a missing one")
    adjusted = p_array.copy()
    adjusted[tested] = _adjusted(p_array[tested], method)
    before, after = (
        [None if np.isnan(p) else float(p) for p in column] for column in (p_array, adjusted)
    )
    significant = tuple(bool(p <= alpha) for p in adjusted)
    return Adjusted(tuple(before), tuple(after), significant, method, alpha, int(tested.sum()))


def _adjusted(p: Floats, method: str) -> Floats:
    m = len(p)
    if method == NONE or not m:
        return p
    if method == BONFERRONI:
        return np.minimum(m * p, 1.0)
    order = np.argsort(p, kind="stable")
    ranks = np.arange(1, m + 1)
    result = np.empty(m)
    if method == HOLM:
        result[order] = np.maximum.accumulate((m - ranks + 1) * p[order])
    else:
        raised = p[order] * (m / ranks)  # in this order rounding cannot take it below p
        result[order] = np.minimum.accumulate(raised[::-1])[::-1]
    return np.minimum(result, 1.0)
