"""How the scores of a metric are distributed: population statistics, scores at the bounds, ties (CCRS, C and D).

Conventions of the paper's tables 5, 6 and 13 to 16: variance with divisor n, biased skewness, excess kurtosis (0 for a
normal distribution), quartiles interpolated linearly. A value within 1e-9 of a bound is at it; scores with the same
nine decimals are equal. Units: those of the scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from longmark.errors import UserError
from longmark.stats.samples import Floats, Values, complete_rows

_DECIMALS = 9  # scores are compared after rounding


@dataclass(frozen=True, slots=True)
class Description:
    """Population statistics of n values; None if a statistic is undefined for them.

    geometric_mean: 0 if a score is 0; midhinge: the mean of the quartiles; variance: divisor n; skewness and kurtosis
    (excess): biased. missing: values that were None or NaN; reasons: (statistic, why it is None).
    """

    n: int
    missing: int
    reasons: tuple[tuple[str, str], ...] = ()
    mean: float | None = None
    geometric_mean: float | None = None
    q1: float | None = None
    median: float | None = None
    q3: float | None = None
    midhinge: float | None = None
    variance: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    range: float | None = None
    iqr: float | None = None
    skewness: float | None = None
    kurtosis: float | None = None


@dataclass(frozen=True, slots=True)
class AtBounds:
    """How many of n values are at the lower and the upper bound, as counts and shares (None for n = 0).

    outside: values below `low` or above `high`, of which there should be none.
    """

    low: float
    high: float
    n: int
    missing: int
    at_low: int
    at_high: int
    outside: int
    share_low: float | None
    share_high: float | None


@dataclass(frozen=True, slots=True)
class Ties:
    """The probability that two random responses have the same score: `equal` of `pairs` pairs; None with a reason."""

    probability: float | None
    equal: int
    pairs: int
    n: int
    missing: int
    reason: str | None = None


def describe(values: Values) -> Description:
    """Population statistics of the values that are not missing."""
    x, missing = _present(values)
    if not len(x):
        return Description(0, missing, (("all", "there is no value"),))
    reasons = []
    low, q1, median, q3, high = (float(q) for q in np.quantile(x, [0, 0.25, 0.5, 0.75, 1]))
    mean = float(x.mean())
    geometric = skewness = kurtosis = None
    if low < 0:
        reasons.append(("geometric_mean", "a score is negative"))
    else:
        geometric = 0.0 if low == 0 else float(np.exp(np.log(x).mean()))
    if len(x) < 3 or high - low <= 1e-12 * max(abs(low), abs(high)):
        why = "fewer than 3 values" if len(x) < 3 else "all values are equal"
        reasons += [("skewness", why), ("kurtosis", why)]
    else:
        z = (x - mean) / (
            high - low
        )  # shape does not depend on the scale, and squares of tiny numbers would vanish
        second = float((z**2).mean())
        skewness = float((z**3).mean()) / second**1.5
        kurtosis = float((z**4).mean()) / second**2 - 3
    return Description(
        n=len(x),
        missing=missing,
        reasons=tuple(reasons),
        mean=mean,
        geometric_mean=geometric,
        q1=q1,
        median=median,
        q3=q3,
        midhinge=(q1 + q3) / 2,
        variance=float(x.var()),
        minimum=low,
        maximum=high,
        range=high - low,
        iqr=q3 - q1,
        skewness=skewness,
        kurtosis=kurtosis,
    )


def at_bounds(values: Values, low: float = 0.0, high: float = 1.0) -> AtBounds:
    """Counts and shares of the values at a metric's bounds. UserError if low is not below high."""
    if not low < high:
        raise UserError(f"the lower bound must be below the upper one; found {low} and {high}")
    x, missing = _present(values)
    at_low, at_high = (int((np.abs(x - bound) <= 1e-9).sum()) for bound in (low, high))
    outside = int(((x < low - 1e-9) | (x > high + 1e-9)).sum())
    shares = (at_low / len(x), at_high / len(x)) if len(x) else (None, None)
    return AtBounds(low, high, len(x), missing, at_low, at_high, outside, *shares)


def ties_within(values: Values) -> Ties:
    """Two random responses of one system: sum n_v (n_v - 1) / (n (n - 1)) over the distinct values v."""
    x, missing = _present(values)
    counts = np.unique(_rounded(x), return_counts=True)[1]
    equal = int((counts * (counts - 1)).sum()) // 2
    pairs = len(x) * (len(x) - 1) // 2
    return _ties(equal, pairs, len(x), missing)


def ties_between(values: Mapping[str, Values]) -> Ties:
    """Two random responses of two different systems, whatever their questions: every such pair counts once.

    values: scores by system. n: the responses of all systems.
    """
    present_scores = [_present(scores) for scores in values.values()]
    tables = [np.unique(_rounded(x), return_counts=True) for x, _ in present_scores]
    equal = 0
    for (first, n_first), (second, n_second) in combinations(tables, 2):
        _, i, j = np.intersect1d(first, second, assume_unique=True, return_indices=True)
        equal += int((n_first[i] * n_second[j]).sum())
    sizes = [len(x) for x, _ in present_scores]
    pairs = sum(a * b for a, b in combinations(sizes, 2))
    return _ties(equal, pairs, sum(sizes), sum(missing for _, missing in present_scores))


def _present(values: Values) -> tuple[Floats, int]:
    (x,), keep = complete_rows(values)
    return x, int((~keep).sum())


def _rounded(x: Floats) -> Floats:
    return x.round(_DECIMALS) + 0.0  # -0.0 becomes 0.0


def _ties(equal: int, pairs: int, n: int, missing: int) -> Ties:
    reason = None if pairs else "there are no two responses to compare"
    return Ties(equal / pairs if pairs else None, equal, pairs, n, missing, reason)
