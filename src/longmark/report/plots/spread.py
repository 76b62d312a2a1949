"""How values are spread: box plots one below the other, and histograms side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from longmark.report.plots.frame import empty


class Box(NamedTuple):
    """The values of one system. points: the values themselves, where they are to be drawn (few of them).

    n = 0, or a number that is None, is a gap.
    """

    label: str
    n: int
    least: float | None
    q1: float | None
    median: float | None
    q3: float | None
    greatest: float | None
    mean: float | None
    points: Sequence[float] = ()


class Panel(NamedTuple):
    """One histogram. edges: len(counts) + 1 numbers, ascending; counts: values in [edge, next edge)."""

    name: str
    edges: Sequence[float]
    counts: Sequence[int]


def box_plots(boxes: Sequence[Box], label: str, lo: float | None, hi: float | None) -> str:
    """Box plots on one axis, in the order given. lo, hi: the metric's bounds; None: as far as the values go."""
    return empty(label)


def histograms(panels: Sequence[Panel], label: str) -> str:
    """Small multiples on one scale, both across and up."""
    return empty(label)
