"""What scores between known bounds show of their mean, whatever their distribution: Gaffke's one-sided bound.

    F(m) = P(sum_c E_c n_c (x_c - m) - E_0 n_0 m <= 0)      x_c: means of clusters, scaled to [0, 1]; n_c: their sizes
    lower bound = the m where F(m) = tail (0.025)           E: independent, exponential, mean 1; n_0: the largest n_c

F is the distribution of the mean of the scores and a zero under random weights, and the bound its quantile at the tail:
what the mean might have been with other shares of the scores, and one cluster at the lower bound that was missed. For
scores of two values it is Clopper and Pearson's bound; for many scores it nears that of normal theory. It is Gaffke's
(2005, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable", Math.
Methods of Statistics 14(4)). That it lies above the mean in 2.5 % of samples at most is proved for scores of two values
and conjectured for others (Phan, Thomas and Learned-Miller 2021, "Towards practical mean bounds for small samples");
design/statistics.md has simulations. Clusters must be drawn independently; scores of one may depend on each other. Our
addition is n_c: the mean is over scores, so a cluster counts by its size.

Every term rises with its scores and none depends on the order: raising a score does not lower the bound, and a
permutation leaves it as it is. Cluster means count on a grid of 1/10,000 of the range, rounded away from the limit. A
bound is a whole number of millionths of the range. Plain Python: the same with and without extras.

F is an integral over a vertical line through the saddle point (Daniels 1987, "Tail probability approximations", Int.
Stat. Review 55): with K(z) = -sum log(1 - b z) over the terms b E, F = 1 / (2 pi) integral exp(K(z)) / -z, Re z < 0.
With Im z = w sinh(u) the trapezoidal rule in u gains digits with every halving of its step.
"""

from __future__ import annotations

import cmath
import math
from collections import Counter
from collections.abc import Mapping, Sequence

TAIL = 0.025
"""The probability, at most, that a bound lies on the wrong side of the mean."""
GAFFKE = "Gaffke's bounds"

_GRID = 10_000
_STEPS = 1_000_000
_ON_GRID = 1e-6  # of a step of the grid: nearer than this is on it, since 0.29 x 10,000 is not 2900 for a computer
_POINT = 0.2
_FINEST = 1e-3  # first and least distance of the points of the integral, in u
_Counts = Mapping[tuple[int, int], int]
"""(size of a cluster, step of the grid of its mean) -> how many clusters."""


class BoundedScores:
    """Scores between two bounds, counted: memory grows with their different values only.

    n: scores within the bounds; clusters: how many they belong to; outside: scores that are not within, with which
    no bound can be made.
    """

    def __init__(self, lo: float, hi: float) -> None:
        self.lo = lo
        self.hi = hi
        self._counts: Counter[tuple[int, int]] = (
            Counter()
        )  # size; 2 k: on step k of the grid, 2 k + 1: above it
        self.n = self.clusters = self.outside = 0

    def add(self, *scores: float) -> None:
        """One more cluster with these scores, one or more. The clusters' mean over scores is what is bounded."""
        outside = sum(not self._place(score) for score in scores)
        self.outside += outside
        if outside:
            return
        place = (math.fsum(scores) / len(scores) - self.lo) / (self.hi - self.lo) * _GRID
        near = round(place)
        on = abs(place - near) <= _ON_GRID
        self._counts[
            len(scores), min(2 * near, 2 * _GRID) if on else 2 * math.floor(place) + 1
        ] += 1
        self.n += len(scores)
        self.clusters += 1

    def _place(self, score: float) -> bool:
        return -_ON_GRID <= (score - self.lo) / (self.hi - self.lo) * _GRID <= _GRID + _ON_GRID

    def lower(self, tail: float = TAIL) -> float:
        """The lower bound on the mean, on the scale of the scores. Without scores it is the least that can be."""
        steps = Counter[tuple[int, int]]()
        for (size, key), count in self._counts.items():
            steps[size, key // 2] += count
        return self._scaled(_bound(steps, tail))

    def upper(self, tail: float = TAIL) -> float:
        """The upper bound on the mean: the lower one of the scores turned round."""
        steps = Counter[tuple[int, int]]()
        for (size, key), count in self._counts.items():
            steps[size, _GRID - (key + 1) // 2] += count
        return self._scaled(_STEPS - _bound(steps, tail))

    def needed(self, limit: float, *, above: bool, tail: float = TAIL) -> int | None:
        """How many clusters of one size could show that the mean is at least (else: at most) the limit if all scores
        were perfect: n with tail^(1/n) at the limit. None where no number could."""
        share = (limit - self.lo) / (self.hi - self.lo)
        share = share if above else 1 - share
        if share >= 1:
            return None
        n = math.ceil(math.log(tail) / math.log(share)) if share > 0 else 0
        while n and not self._shown(
            n, limit, above=above, tail=tail
        ):  # a bound is rounded to a step
            n += 1
        return n

    def _shown(self, n: int, limit: float, *, above: bool, tail: float) -> bool:
        steps = math.floor(tail ** (1 / n) * _STEPS)
        return self._scaled(steps) >= limit if above else self._scaled(_STEPS - steps) <= limit

    def _scaled(self, steps: int) -> float:
        return self.lo + (self.hi - self.lo) * steps / _STEPS


def _bound(counts: _Counts, tail: float) -> int:
    """The greatest m, in steps of 1/_STEPS, where F(m) is at most the tail: bisection, from 2 standard errors below the
    mean on."""
    ordered = sorted(counts.items())
    if not any(step for (_, step), _ in ordered):
        return 0
    largest = max(size for (size, _), _ in ordered)
    top = max(step for (_, step), _ in ordered) * (_STEPS // _GRID)

    def fits(step: int) -> bool:
        m = step / _STEPS
        terms = [(size * (place / _GRID - m), count) for (size, place), count in ordered]
        return _is_rare([*terms, (-largest * m, 1)], tail)

    n = sum(size * count for (size, _), count in ordered)
    mean = sum(size * place * count for (size, place), count in ordered) / n
    spread = (
        math.sqrt(sum(count * (size * (place - mean)) ** 2 for (size, place), count in ordered)) / n
    )
    below = 0
    above = top
    away = 1 + round(spread / _GRID * _STEPS / 4)
    step = min(max(1, round((mean - 2 * spread) / _GRID * _STEPS)), top - 1)
    while below < step < above:
        if fits(step):
            below = step
            step = step + away if above == top else (step + above) // 2
        else:
            above = step
            step = step - away if below == 0 else (below + step) // 2
        away *= 2
    while above - below > 1:
        step = (below + above) // 2
        below, above = (step, above) if fits(step) else (below, step)
    return below


def _is_rare(terms: Sequence[tuple[float, int]], tail: float) -> bool:
    """Whether P(S <= 0) is at most the tail, for the sum S of b E over the terms (b, how often), of which some have
    b > 0 and some b < 0."""
    unit = max(abs(b) for b, _ in terms)
    terms = [(b / unit, count) for b, count in terms if b]
    left = 1 / min(b for b, _ in terms)
    right = 0.0
    z = left / 2
    while (
        right - left > 1e-3 * -left and left < z < right
    ):  # the least of K(z) - log(-z), which is convex
        slope = sum(count * b / (1 - b * z) for b, count in terms) - 1 / z
        left, right = (left, z) if slope > 0 else (z, right)
        z = (left + right) / 2
    width = 1 / math.sqrt(sum(count * (b / (1 - b * z)) ** 2 for b, count in terms) + 1 / z**2)

    def over(first: float, step: float) -> float:
        """The sum of the integrand at u = first, first + step, …"""
        total = 0.0
        u = first
        while True:
            point = complex(z, width * math.sinh(u))
            log = -sum(count * cmath.log(1 - b * point) for b, count in terms) - cmath.log(-point)
            size = math.exp(log.real) * width * math.cosh(u)
            total += size * math.cos(log.imag) * (0.5 if u == 0 else 1)
            if size <= 1e-15 * abs(total):
                return total
            u += step

    step = _POINT
    total = over(0, _POINT)
    while True:
        between = over(step / 2, step)
        probability = (total + between) * step / 2 / math.pi
        change = abs(between - total) * step / math.pi
        if (
            change <= max(1e-7 * tail, 0.01 * abs(probability - tail)) or step < _FINEST
        ):  # the next change is its square
            return probability <= tail
        step = step / 2
        total = total + between
