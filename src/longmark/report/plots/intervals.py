"""Estimates with their intervals: a forest plot with a line of reference, and a ranking with groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from longmark.report.plots.frame import empty


class ForestRow(NamedTuple):
    """One line. estimate None: a gap, and `note` says why; low, high None: an estimate without an interval.

    note: a few words at the end of the line, as `p = 0.012` or `n = 40`.
    """

    label: str
    estimate: float | None
    low: float | None
    high: float | None
    note: str = ""


class Ranked(NamedTuple):
    """One system's place in a ranking; its mean and the ends of the interval, None as in `ForestRow`."""

    label: str
    estimate: float | None
    low: float | None
    high: float | None


def forest(rows: Sequence[ForestRow], label: str, reference: float | None = 0.0) -> str:
    """Estimates as dots, intervals as bars, one line each, and a dashed line at `reference` (None: no line)."""
    return empty(label)


def groups(rows: Sequence[Ranked], bars: Sequence[tuple[int, int]], label: str) -> str:
    """A ranking, best first. bars: (first, last) places in `rows`, both included, counted from 0: systems that one bar
    joins cannot be told apart."""
    return empty(label)
