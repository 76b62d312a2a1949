"""What n scores between known bounds show of their mean, whatever their distribution: a one-sided bound by betting.

    K(m) = sum_c w_c prod_i (1 - c + c x_i / m)        x_i: the scores, scaled to [0, 1];  0 < m <= 1
    lower bound = the smallest m where K(m) < 1 / 0.025

K(m) is the capital of a gambler who begins with 1 and bets, before each score, that it is above m: c / m is the lambda
of Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting" (JRSS B 86(1), sections 4.1
and 4.3), and the gambler splits the capital over fixed fractions c. Where the mean is m or less, the capital does not
grow on average, and by Markov's inequality it reaches 40 with probability 0.025 at most. So the bound lies above the
mean in 2.5 % of samples at most, for every distribution and every n; scores must be drawn independently from it.

Every factor rises with its score and none depends on the order, so raising a score never lowers the bound, and a
permutation leaves it as it is. Both hold to the last bit: scores count on a grid of 1/10,000 of the range (rounded
away from the limit, so that the guarantee stays), where a step changes K far more than rounding errors do. A bound is a
whole number of millionths of the range. Plain Python: the same with and without extras.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

TAIL = 0.025
"""The probability, at most, that a bound lies on the wrong side of the mean."""

_FRACTIONS = (*((c / 10, 0.5 / 9) for c in range(1, 10)), (1.0, 0.5))
"""(c, w_c). Half of the capital stakes all: best for scores near a bound or of little spread, lost at the first score
on the other bound; the rest serves any other shape (docs/statistics.md has what that costs)."""
_GRID = 10_000
_STEPS = 1_000_000
_ON_GRID = 1e-6  # of a step of the grid: nearer than this is on it, since 0.29 x 10,000 is not 2900 for a computer
_MOST = 1 << 24  # scores; more are not asked for: at this many perfect ones the bound is the last step below the range


class BoundedScores:
    """Scores between two bounds, counted: memory does not grow with their number.

    n: scores within the bounds; outside: how many were not, which no bound can be made with.
    """

    def __init__(self, lo: float, hi: float) -> None:
        self.lo, self.hi = lo, hi
        self._counts: Counter[int] = Counter()  # 2 k: on step k of the grid; 2 k + 1: between k and k + 1
        self.n = 0
        self.outside = 0

    def add(self, score: float) -> None:
        """One more score."""
        place = (score - self.lo) / (self.hi - self.lo) * _GRID
        if not -_ON_GRID <= place <= _GRID + _ON_GRID:
            self.outside += 1
            return
        near = round(place)
        self._counts[2 * near if abs(place - near) <= _ON_GRID else 2 * math.floor(place) + 1] += 1
        self.n += 1

    def lower(self) -> float:
        """The lower bound on the mean, on the scale of the scores. Without scores it is the least that can be."""
        steps = Counter[int]()
        for key, count in self._counts.items():
            steps[key // 2] += count
        return self._scaled(_bound(steps))

    def upper(self) -> float:
        """The upper bound on the mean: the lower one of the scores turned round."""
        steps = Counter[int]()
        for key, count in self._counts.items():
            steps[_GRID - (key + 1) // 2] += count
        return self._scaled(_STEPS - _bound(steps))

    def needed(self, limit: float, *, above: bool) -> int | None:
        """How many scores could show that the mean is at least (else: at most) the limit if all were perfect; None
        where no number could."""

        def shown(n: int) -> bool:
            steps = _bound({_GRID: n})
            return self._scaled(steps) >= limit if above else self._scaled(_STEPS - steps) <= limit

        if not shown(_MOST):
            return None
        few, enough = -1, _MOST
        while enough - few > 1:
            n = (few + enough) // 2
            few, enough = (few, n) if shown(n) else (n, enough)
        return enough

    def _scaled(self, steps: int) -> float:
        return self.lo + (self.hi - self.lo) * steps / _STEPS


def _bound(counts: Mapping[int, int]) -> int:
    """The greatest m, in steps of 1/_STEPS, where the capital reaches 1 / TAIL; 0 where there is none. counts: step of
    the grid -> how many scores. At m = 1 no factor is above 1, so the capital stays below."""
    below, above = 0, _STEPS
    while above - below > 1:
        step = (below + above) // 2
        below, above = (step, above) if _log_capital(counts, step / _STEPS) >= -math.log(TAIL) else (below, step)
    return below


def _log_capital(counts: Mapping[int, int], m: float) -> float:
    """log K(m). A fraction that lost everything counts for nothing."""
    logs = []
    for fraction, weight in _FRACTIONS:
        kept, gain = 1 - fraction, fraction / (_GRID * m)
        if kept or 0 not in counts:
            terms = (count * math.log(kept + gain * step) for step, count in counts.items())
            logs.append(math.log(weight) + math.fsum(terms))
    top = max(logs)
    return top + math.log(math.fsum(math.exp(one - top) for one in logs))
