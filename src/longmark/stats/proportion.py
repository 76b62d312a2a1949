"""A share k of n with Wilson's interval (1927), which has a width at 0 and at 1 too. Range [0, 1]."""

from __future__ import annotations

import math
from statistics import NormalDist

from longmark.errors import UserError
from longmark.stats.results import Estimate

WILSON = "Wilson"


def share(count: int, n: int, level: float = 0.95) -> Estimate:
    """The share count / n. Raises UserError for a level outside (0, 1) or a count outside 0 to n."""
    check_level(level)
    if not 0 <= count <= n:
        raise UserError(f"a share counts some of n: {count} of {n} cannot be")
    if not n:
        return Estimate(None, None, None, 0, level, WILSON, "there is nothing to take a share of")
    return Estimate(count / n, *wilson(count / n, n, level), n, level, WILSON)


def wilson(p: float, n: int, level: float = 0.95) -> tuple[float, float]:
    """The ends of Wilson's interval about a share p of n >= 1.

    Also for n points of 0, 1/2 or 1 with the mean p (ties counted half): they vary less than those of 0 or 1, so that
    the interval is then wider than it need be, never narrower.
    """
    check_level(level)
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (0.0 if p == 0 else middle - half, 1.0 if p == 1 else middle + half)


def check_level(level: float) -> None:
    """Raises UserError where a confidence level is not between 0 and 1."""
    if not 0 < level < 1:
        raise UserError(f"a confidence level lies between 0 and 1, as 0.95 does; found {level}")
