"""Curves on one pair of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from longmark.report.plots.frame import empty


class Curve(NamedTuple):
    """A line. points: (x, y), ascending by x; a y of None breaks the line and is counted in the key."""

    name: str
    points: Sequence[tuple[float, float | None]]


def curves(series: Sequence[Curve], label: str, x: str, y: str, threshold: float | None = None) -> str:
    """Lines told apart by dash, marker and a label as well as by colour. x, y: the axes' names.

    threshold: a dashed line across at this y.
    """
    return empty(label)
