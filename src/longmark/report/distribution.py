"""How the scores of a metric are distributed: counts in bins and the five numbers of a box plot, from sorted scores."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from longmark.report.format import round_step, spread
from longmark.scores.manifest import MetricFacts

SHOW_POINTS = 20
"""Up to this many scores are drawn as points."""
MOST_BINS = 12


@dataclass(frozen=True, slots=True)
class Distribution:
    """The scores of one metric and system.

    counts: scores in each bin, [edge, next edge), the last bin with both its edges; quartiles interpolate linearly
    between scores; points: all scores, where there are at most SHOW_POINTS, else none.
    """

    system: str
    n: int
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    least: float
    q1: float
    median: float
    q3: float
    greatest: float
    mean: float
    points: tuple[float, ...]


def bin_edges(facts: MetricFacts, least: float, greatest: float) -> tuple[float, ...]:
    """Ten equal bins between a metric's bounds; else 5 to 12 bins at round numbers around the values seen.

    Values outside their declared bounds (there should be none) widen the range, so no value is left out.
    """
    lo = facts.lo
    hi = facts.hi
    if lo is not None and hi is not None and lo <= least and greatest <= hi and lo < hi:
        return tuple(round(lo + (hi - lo) * i / 10, 12) for i in range(11))
    apart = spread(
        least / MOST_BINS, greatest / MOST_BINS
    )  # divided first: the difference may be beyond a float
    step = round_step(apart or abs(least) / MOST_BINS or 1.0)
    first = math.floor(least / step)
    last = math.floor(greatest / step) + 1
    while last - first > MOST_BINS:
        step = round_step(step * 1.5)
        first = math.floor(least / step)
        last = math.floor(greatest / step) + 1
    while last - first < 5:
        first = first - 1
        last = last + 1
    digits = max(0, 2 - math.floor(math.log10(step)))
    return tuple(round(i * step, digits) for i in range(first, last + 1))


def distribution(
    system: str, ascending: Iterable[float], mean: float, edges: Sequence[float]
) -> Distribution:
    """Of sorted scores, at least one."""
    values = array("d", ascending)
    n = len(values)
    starts = [0, *(bisect_left(values, edge) for edge in edges[1:-1]), n]
    counts = tuple(end - start for start, end in pairwise(starts))

    def quantile(share: float) -> float:
        below = math.floor(share * (n - 1))
        return values[below] + (values[min(below + 1, n - 1)] - values[below]) * (
            share * (n - 1) - below
        )

    least, q1, median, q3, greatest = map(quantile, (0, 0.25, 0.5, 0.75, 1))
    points = tuple(values) if n <= SHOW_POINTS else ()
    return Distribution(
        system, n, tuple(edges), counts, least, q1, median, q3, greatest, mean, points
    )


def scale(ends: tuple[float, float], start: float, end: float) -> Callable[[float], float]:
    """From scores to places in a drawing, none beyond the ends."""
    lo, hi = ends
    return lambda score: round(
        start + (end - start) * (min(max(score, lo), hi) - lo) / (hi - lo), 1
    )


def offsets(points: Sequence[float]) -> list[tuple[float, int]]:
    """The points of a box plot, each with its height above the middle: equal ones are stacked."""
    ties: dict[float, int] = {}
    placed = []
    for point in points:
        tie = ties[point] = ties.get(point, -1) + 1
        placed.append((point, min(max(4 * math.ceil(tie / 2) * (1 if tie % 2 else -1), -12), 12)))
    return placed
