"""A share of answers that belong together, some to one question, some to another: Wilson's interval on fewer answers.

    n'  = n / max(1, V / (p (1 - p) / n))     V: the share's variance between clusters, G / (G - 1) Σ (Σ (y - p))² / n²
    n'  = G where all or none are counted, for V tells nothing there

Wilson's formula takes n' for n and Student's t with G - 1 degrees of freedom for the normal quantile (effective sample
size as in surveys: Kish 1965, Korn & Graubard 1998). Range [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np

from longmark.errors import UserError
from longmark.stats.proportion import check_level, share
from longmark.stats.results import Estimate
from longmark.stats.samples import Values, cluster_numbers, complete_rows
from longmark.stats.student import t_quantile

METHOD = "Wilson, effective size"


def clustered_share(counted: Values, clusters: Sequence[Hashable] | None, level: float = 0.95) -> Estimate:
    """counted: 1, 0 or None (left out); clusters: for each what it belongs to.

    The plain share where no cluster holds two; no interval where all belong to one. UserError for other values and for
    columns of unequal length.
    """
    check_level(level)
    (y,), keep = complete_rows(counted)
    if not np.isin(y, (0, 1)).all():
        raise UserError("a share counts: 1 or 0 for each answer, None to leave it out")
    count, n = int(y.sum()), len(y)
    if clusters is None:
        return share(count, n, level)
    numbers, groups = cluster_numbers(clusters, keep)
    if groups == n:
        return share(count, n, level)
    p = count / n
    if groups < 2:
        return Estimate(p, None, None, n, level, METHOD, "all answers belong to one question", clusters=groups)
    size = float(groups)
    if 0 < count < n:
        between = np.bincount(numbers, y - p)
        variance = groups / (groups - 1) * float(between @ between) / n**2
        size = n / max(1.0, variance / (p * (1 - p) / n))
    t = t_quantile(level, groups - 1)
    middle = (p + t * t / (2 * size)) / (1 + t * t / size)
    half = t / (1 + t * t / size) * math.sqrt(p * (1 - p) / size + t * t / (4 * size * size))
    low = 0.0 if count == 0 else max(0.0, middle - half)
    high = 1.0 if count == n else min(1.0, middle + half)
    return Estimate(p, low, high, n, level, METHOD, clusters=groups)
