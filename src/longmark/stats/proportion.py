"""A share k of n with Wilson's interval (1927), which has a width at 0 and at 1 too. Range [0, 1]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from longmark.errors import UserError


@dataclass(frozen=True, slots=True)
class Share:
    """count of n, as a share between low and high; all three None, with a reason, for n = 0."""

    count: int
    n: int
    value: float | None
    low: float | None
    high: float | None
    level: float
    method: str = "Wilson"
    reason: str | None = None


def share(count: int, n: int, level: float = 0.95) -> Share:
    """Raises UserError where the level is not between 0 and 1 or count not between 0 and n."""
    check_level(level)
    if not 0 <= count <= n:
        raise UserError(f"a share counts some of n: {count} of {n} cannot be")
    if not n:
        return Share(count, n, None, None, None, level, reason="there is nothing to take a share of")
    p = count / n
    return Share(count, n, p, *wilson(p, n, level), level)


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
