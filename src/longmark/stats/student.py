"""The quantiles of Student's t in plain Python, so that intervals need no extra.

They are found by Newton's method from P(|T| < t), a finite sum for whole degrees of freedom (Abramowitz & Stegun
26.7.3, 26.7.4), and agree with SciPy's to 1e-9.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

STUDENT = "Student's t"

_NEARLY_NORMAL = 10_000  # degrees of freedom from which on A & S 26.7.5 (three terms) is exact to the last digits


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
