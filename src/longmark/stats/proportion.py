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
    z = NormalDist().inv_cdf((1 + level) / 2)
    p = count / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low = 0.0 if count == 0 else middle - half
    high = 1.0 if count == n else middle + half
    return Share(count, n, p, low, high, level)


def check_level(level: float) -> None:
    """Raises UserError where a confidence level is not between 0 and 1."""
    if not 0 < level < 1:
        raise UserError(f"a confidence level lies between 0 and 1, as 0.95 does; found {level}")
