"""What n equal values tell of a mean: no spread can be estimated, but a share of other values cannot be large.

    mean within [v - s (v - lo), v + s (hi - v)]     s = 1 - (tail)^(1/n), tail = (1 - level) / 2

s is the share of different values that n draws would all have missed with probability `tail` (Clopper and Pearson's
bound for 0 of n); the different ones are taken to lie at the metric's bounds. Without bounds there is no interval.
"""

from __future__ import annotations

from longmark.errors import UserError


def equal_interval(value: float, n: int, lo: float, hi: float, level: float = 0.95) -> tuple[float, float]:
    """The ends of the interval on the mean. UserError for a value outside its bounds, n below 1 or a level outside
    (0, 1)."""
    if not 0 < level < 1:
        raise UserError(f"a confidence level lies between 0 and 1, as 0.95 does; found {level}")
    if n < 1 or not lo <= value <= hi:
        raise UserError(f"{n} values of {value} between {lo} and {hi}: expected one or more within the bounds")
    missed = 1 - ((1 - level) / 2) ** (1 / n)
    return value - missed * (value - lo), value + missed * (hi - value)
