"""Student's t interval on a mean, in plain Python.

    mean ± t sqrt(variance / n)      t: the quantile of Student's t with n - 1 degrees of freedom

t is found from P(|T| < t) = I_x(1/2, df/2), x = t² / (df + t²), the regularised incomplete beta function (continued
fraction of Abramowitz & Stegun 26.5.8, by Lentz's method), and agrees with SciPy's to 1e-9. The interval is clipped to
the bounds of the metric; with equal values it has no width, which tells more of the sample than of the mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

from longmark.errors import UserError

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


@dataclass(frozen=True, slots=True)
class MeanInterval:
    """A mean between `low` and `high`, from n values, at a confidence level, by a named method."""

    mean: float
    low: float
    high: float
    n: int
    level: float
    method: str = "Student's t"


def mean_interval(
    moments: Moments, level: float = 0.95, bounds: tuple[float | None, float | None] = (None, None)
) -> MeanInterval | None:
    """The interval of a mean, clipped to bounds (None: no limit on that side); None for n < 2.

    Raises UserError where the level is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise UserError(f"a confidence level lies between 0 and 1, as 0.95 does; found {level}")
    variance = moments.variance
    if variance is None:
        return None
    half = t_quantile(level, moments.n - 1) * math.sqrt(variance / moments.n)
    least, most = bounds
    low, high = moments.mean - half, moments.mean + half
    return MeanInterval(
        mean=moments.mean,
        low=low if least is None else max(least, low),
        high=high if most is None else min(most, high),
        n=moments.n,
        level=level,
    )


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
        if abs(step) <= 1e-15 * t:
            break
    return t


def _within(t: float, df: int) -> float:
    """P(|T| < t)."""
    square = t * t
    x, rest = square / (df + square), df / (df + square)
    log_front = 0.5 * math.log(x) - df / 2 * math.log1p(square / df) + _log_gamma_step(df / 2) - 0.5 * math.log(math.pi)
    front = math.exp(log_front)
    # The fraction converges fast below the mean of the beta distribution; above it the mirror image does.
    if x < 1.5 / (df / 2 + 2.5):
        return front * _fraction(0.5, df / 2, x) / 0.5
    return 1 - front * _fraction(df / 2, 0.5, rest) / (df / 2)


def _fraction(a: float, b: float, x: float) -> float:
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d or tiny)
    value = d
    for m in range(1, 1000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / ((1 + term * d) or tiny)
            c = (1 + term / c) or tiny
            value *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return value


def _log_gamma_step(a: float) -> float:
    """log Γ(a + 1/2) - log Γ(a)."""
    return math.lgamma(a + 0.5) - math.lgamma(a)


def _density(t: float, df: int) -> float:
    scale = math.exp(_log_gamma_step(df / 2)) / math.sqrt(math.pi * df)
    return scale * math.exp(-(df + 1) / 2 * math.log1p(t * t / df))
