"""p-values corrected for their number: Bonferroni, Holm (1979), Benjamini and Hochberg (1995).

Of m p-values in rising order, the i-th becomes

    bonferroni          m p
    holm                (m - i + 1) p, at least that of the smaller ones
    benjamini-hochberg  m p / i, at most that of the larger ones

at most 1. The first two hold the chance of any false finding at alpha, Holm with more power; the third holds the
expected share of false findings among the findings. A place without a p (None or NaN) was not tested: it stays None
and does not count in m.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longmark.errors import UnknownName, UserError
from longmark.stats.results import Adjusted
from longmark.stats.samples import Floats, as_floats

NONE, BONFERRONI, HOLM, BENJAMINI_HOCHBERG = "none", "bonferroni", "holm", "benjamini-hochberg"
METHODS = (NONE, BONFERRONI, HOLM, BENJAMINI_HOCHBERG)


def adjust(p_values: Sequence[float | None] | NDArray[Any], method: str = HOLM, alpha: float = 0.05) -> Adjusted:
    """The corrected p-values, in the order given; `significant` where at most alpha.

    UnknownName for a method that is not in METHODS, UserError for a p or an alpha outside its range.
    """
    if method not in METHODS:
        raise UnknownName("correction", method, METHODS, f"The corrections are {', '.join(METHODS)}.")
    if not 0 < alpha < 1:
        raise UserError(f"alpha lies between 0 and 1, as 0.05 does; found {alpha}")
    given = as_floats(p_values, "p-values")
    tested = ~np.isnan(given)
    if ((given[tested] < 0) | (given[tested] > 1)).any():
        raise UserError("p-values lie between 0 and 1; what is missing is None")
    adjusted = given.copy()
    adjusted[tested] = _corrected(given[tested], method)
    return Adjusted(
        p=tuple(None if np.isnan(p) else float(p) for p in given),
        adjusted=tuple(None if np.isnan(p) else float(p) for p in adjusted),
        significant=tuple(bool(p <= alpha) for p in adjusted),
        method=method,
        alpha=alpha,
        tested=int(tested.sum()),
    )


def _corrected(p: Floats, method: str) -> Floats:
    m = len(p)
    if method == NONE or not m:
        return p
    order = np.argsort(p, kind="stable")
    rising = p[order]
    ranks = np.arange(1, m + 1)
    if method == BONFERRONI:
        corrected = m * rising
    elif method == HOLM:
        corrected = np.maximum.accumulate((m - ranks + 1) * rising)
    else:
        raised = rising * (m / ranks)  # in this order rounding cannot take it below p
        corrected = np.minimum.accumulate(raised[::-1])[::-1]
    result = np.empty(m)
    result[order] = np.minimum(corrected, 1.0)
    return result
