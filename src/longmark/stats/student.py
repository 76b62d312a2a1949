"""Student's t interval of a mean, in plain Python, so that it needs no extra.

    mean ± t sqrt(variance / n)      t: the quantile of Student's t with n - 1 degrees of freedom

t is found by Newton's method from P(|T| < t), a finite sum for whole degrees of freedom (Abramowitz & Stegun 26.7.3,
26.7.4), and agrees with SciPy's to 1e-9. The interval is clipped to the bounds of the metric.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

from longmark.errors import UserError
from longmark.stats.results import Estimate, check_level

Bounds = tuple[float | None, float | None]
"""Least and greatest value that a metric can have; None: no limit."""

STUDENT, ALL_EQUAL = "Student's t", "all equal"

_NEARLY_NORMAL = 10_000  # degrees of freedom from which on A & S 26.7.5 (three terms) is exact to the last digits


@dataclass(slots=True)
class Moments:
    """Count, mean and spread of numbers that come one at a time (Welford's recurrence): no list is kept."""

    n: int = 0
    mean: float = 0.0
    minimum: float = math.inf
    maximum: float = -math.inf
    _squares: float = 0.0

    @classmethod
    def of(cls, values: Iterable[float]) -> Moments:
        moments = cls()
        for value in values:
            moments.add(value)
        return moments

    def add(self, value: float) -> None:
        """Raises ValueError for what is not finite: a row without a value is not a number to add."""
        if not math.isfinite(value):
            raise ValueError(f"only finite numbers can be averaged, not {value!r}")
        self.n += 1
        step = value - self.mean
        self.mean += step / self.n
        self._squares += step * (value - self.mean)
        self.minimum = min(self.minimum, value)
        self.maximum = max(self.maximum, value)

    @property
    def variance(self) -> float | None:
        """The unbiased variance (divisor n - 1); None for n < 2."""
        return self._squares / (self.n - 1) if self.n > 1 else None


def mean_estimate(moments: Moments, bounds: Bounds = (None, None), level: float = 0.95) -> Estimate:
    """A mean with Student's t interval, clipped to the bounds (None: no limit on that side), in the values' units.

    Equal values of a metric with bounds have the interval of `equal_interval`. No interval for fewer than two values,
    equal values without bounds, or values too large to be averaged. UserError for a level outside (0, 1).
    """
    check_level(level)
    n, variance = moments.n, moments.variance

    def made(low: float | None, high: float | None, method: str, reason: str | None = None) -> Estimate:
        mean = moments.mean if n and math.isfinite(moments.mean) else None
        return Estimate(mean, low, high, n, level, method, reason)

    if variance is None:
        return made(None, None, "", f"there {'is only 1 value' if n else 'are no values'}")
    if not math.isfinite(moments.mean) or not math.isfinite(variance):
        return made(None, None, "", "the values are too large to be averaged")
    least, most = bounds
    if moments.minimum == moments.maximum:
        if least is None or most is None or not least <= moments.minimum <= most:
            return made(None, None, "", f"all {n} values are equal, and the metric has no bounds")
        return made(*equal_interval(moments.minimum, n, least, most, level), ALL_EQUAL)
    half = t_quantile(level, n - 1) * math.sqrt(variance / n)
    low, high = moments.mean - half, moments.mean + half
    return made(low if least is None else max(least, low), high if most is None else min(most, high), STUDENT)


def equal_interval(value: float, n: int, lo: float, hi: float, level: float = 0.95) -> tuple[float, float]:
    """The interval of the mean if all n values in a sample are equal: a spread cannot be estimated, but the share of
    other values cannot be large.

        [v - s (v - lo), v + s (hi - v)]     s = 1 - tail^(1/n), tail = (1 - level) / 2

    s is the share of different values that n draws would all have missed with probability `tail` (Clopper and Pearson's
    bound for 0 of n); the different ones are taken to lie at the bounds. UserError for a value outside its bounds, n
    below 1 or a level outside (0, 1).
    """
    check_level(level)
    if n < 1 or not lo <= value <= hi:
        raise UserError(f"{n} values of {value} between {lo} and {hi}: expected one or more within the bounds")
    missed = 1 - ((1 - level) / 2) ** (1 / n)
    return value - missed * (value - lo), value + missed * (hi - value)


@lru_cache(maxsize=4096)
def t_quantile(level: float, df: int) -> float:
    """The t for which P(|T| < t) = level, T being Student's t with df >= 1 degrees of freedom."""
    if df == 1:
        return math.tan(math.pi * level / 2)
    if df == 2:
        return level * math.sqrt(2 / (1 - level * level))
    z = t = NormalDist().inv_cdf((1 + level) / 2)
    if df >= _NEARLY_NORMAL:
        return (
            z
            + (z**3 + z) / (4 * df)
            + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df**2)
            + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * df**3)
        )
    # P is concave for t > 0 and the normal quantile lies below t: Newton's steps climb to it and never overshoot.
    for _ in range(100):
        step = (level - _within(t, df)) / (2 * _density(t, df))
        t += step
        if abs(step) <= 1e-12 * t:
            break
    return t


def _within(t: float, df: int) -> float:
    """P(|T| < t)."""
    angle = math.atan(t / math.sqrt(df))
    square = df / (df + t * t)  # of the cosine
    term = total = math.sqrt(square) if df % 2 else 1.0
    for k in range(2 + df % 2, df - 1, 2):
        term *= square * (k - 1) / k
        total += term
    return (angle + math.sin(angle) * total) * 2 / math.pi if df % 2 else math.sin(angle) * total


def _density(t: float, df: int) -> float:
    scale = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(math.pi * df)
    return scale * math.exp(-(df + 1) / 2 * math.log1p(t * t / df))
