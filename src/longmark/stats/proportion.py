"""A share k of n with Wilson's interval (1927), which has a width at 0 and at 1 too. Range [0, 1].

    middle ± half     middle = (p + q² / 2n) / (1 + q² / n),  half = q / (1 + q² / n) √(p (1 - p) / n + q² / 4n²)

q: the normal quantile. Answers that belong together, some to one question, some to another, count as fewer (effective
sample size as in surveys: Kish 1965, Korn & Graubard 1998), and q is Student's t with G - 1 degrees of freedom:

    n' = n / max(1, V / (p (1 - p) / n))     V: the share's variance between clusters, G / (G - 1) Σ (Σ (y - p))² / n²
    n' = G if all or none are counted, since V is 0 there
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from statistics import NormalDist

import numpy as np

from longmark.errors import UserError
from longmark.stats.results import Estimate, check_level
from longmark.stats.samples import Values, cluster_numbers, complete_rows
from longmark.stats.student import t_quantile

WILSON, CLUSTERED = "Wilson", "Wilson, effective size"


def share(count: int, n: int, level: float = 0.95) -> Estimate:
    """The share count / n. UserError for a level outside (0, 1) or a count outside 0 to n."""
    check_level(level)
    if not 0 <= count <= n:
        raise UserError(f"a share is a count of n: {count} of {n} is impossible")
    if not n:
        return Estimate(None, None, None, 0, level, WILSON, "there are no items")
    return Estimate(count / n, *wilson(count / n, n, NormalDist().inv_cdf((1 + level) / 2)), n, level, WILSON)


def wilson(p: float, n: float, quantile: float) -> tuple[float, float]:
    """The ends of Wilson's interval about a share p of n.

    Also for n points of 0, 1/2 or 1 with the mean p (ties counted half): they vary less than points of 0 or 1, so the
    interval is then conservative.
    """
    square = quantile * quantile
    middle = (p + square / (2 * n)) / (1 + square / n)
    half = quantile / (1 + square / n) * math.sqrt(p * (1 - p) / n + square / (4 * n * n))
    return (0.0 if p == 0 else max(0.0, middle - half), 1.0 if p == 1 else min(1.0, middle + half))


def clustered_share(counted: Values, clusters: Sequence[Hashable] | None, level: float = 0.95) -> Estimate:
    """counted: 1, 0 or None (left out); clusters: for each what it belongs to.

    The plain share if no cluster holds two; no interval if all belong to one. UserError for other values and for
    columns of unequal length.
    """
    check_level(level)
    (y,), keep = complete_rows(counted)
    if not np.isin(y, (0, 1)).all():
        raise UserError("a share counts 1 or 0 for each answer; give None to leave an answer out")
    count, n = int(y.sum()), len(y)
    numbers, groups = (np.arange(n), n) if clusters is None else cluster_numbers(clusters, keep)
    if groups == n:
        return share(count, n, level)
    p = count / n
    if groups < 2:
        return Estimate(p, None, None, n, level, CLUSTERED, "all answers belong to one question", clusters=groups)
    size = float(groups)
    if 0 < count < n:
        between = np.bincount(numbers, y - p)
        variance = groups / (groups - 1) * float(between @ between) / n**2
        size = n / max(1.0, variance / (p * (1 - p) / n))
    ends = wilson(p, size, t_quantile(level, groups - 1))
    return Estimate(p, *ends, n, level, CLUSTERED, clusters=groups)
