"""A share k of n with Wilson's interval (1927), which has a width at 0 and at 1 too. Range [0, 1].

Answers that belong together, some to one question, some to another, have the interval of a mean over clusters.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from longmark.errors import UserError
from longmark.stats.means import WILSON, few_values, mean_estimate, wilson
from longmark.stats.results import Estimate, check_level
from longmark.stats.samples import Values, cluster_numbers, complete_rows


def share(count: int, n: int, level: float = 0.95) -> Estimate:
    """The share count / n. UserError for a level outside (0, 1) or a count outside 0 to n."""
    check_level(level)
    if not 0 <= count <= n:
        raise UserError(f"a share is a count of n: {count} of {n} is impossible")
    if not n:
        return Estimate(None, None, None, 0, level, WILSON, "there are no items")
    ends = wilson(count / n, n, NormalDist().inv_cdf((1 + level) / 2))
    return Estimate(count / n, *ends, n, level, WILSON, remark=few_values(n))


def clustered_share(
    counted: Values, clusters: Sequence[Hashable] | None, level: float = 0.95
) -> Estimate:
    """counted: 1, 0 or None (left out); clusters: for each what it belongs to.

    Wilson's interval if no cluster holds two, else that of `stats.means`; none if all belong to one. UserError for
    other values and for columns of unequal length.
    """
    check_level(level)
    (y,), keep = complete_rows(counted)
    if not np.isin(y, (0, 1)).all():
        raise UserError("a share counts 1 or 0 for each answer; give None to leave an answer out")
    numbers, groups = (None, len(y)) if clusters is None else cluster_numbers(clusters, keep)
    if numbers is None or groups == len(y):
        return share(int(y.sum()), len(y), level)
    return replace(
        mean_estimate(y.tolist(), numbers.tolist(), (0, 1), level), value=float(y.sum()) / len(y)
    )
