"""Pairs of numbers as dots: a scatter plot, and a reliability diagram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from longmark.report.plots.frame import empty


class Point(NamedTuple):
    """A dot; with a name it gets a label where there is room, and a tooltip anyhow."""

    x: float | None
    y: float | None
    name: str = ""


class Bin(NamedTuple):
    """A bin of scores. low, high: its edges; n: items in it; mean_score: their mean score; share: the share of them
    whose label is positive, with the ends of its interval where there is one. A bin with n = 0 is drawn as empty."""

    low: float
    high: float
    n: int
    mean_score: float | None
    share: float | None
    share_low: float | None = None
    share_high: float | None = None


def scatter(
    points: Sequence[Point | tuple[float | None, float | None]],
    label: str,
    x: str,
    y: str,
    line: tuple[float, float] | None = None,
) -> str:
    """Dots whose area grows with the number of points in the same place. x, y: the axes' names.

    line: (slope, intercept) of a line to draw, as (1, 0) for equality.
    """
    return empty(label)


def reliability(bins: Sequence[Bin], label: str) -> str:
    """Share of positive labels against mean score, bin by bin, with the diagonal of perfect calibration, and below it
    the number of items in each bin."""
    return empty(label)
