"""The figures of a run's report, made of the pieces in `plots`. No foreign text is raw.

Every figure is 300 units wide and says in its label what it shows; the numbers stand in a table beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

from longmark.report.distribution import Distribution
from longmark.report.numbers import fixed
from longmark.report.plots import draw, spread
from longmark.report.plots.names import fitted, text_width
from longmark.report.plots.scale import Scale
from longmark.report.plots.spread import MARGIN, box_lane, edge_axis
from longmark.report.plots.spread import PANEL as WIDTH
from longmark.report.summary import Cell

_LANE = 46


def histogram(values: Distribution, label: str, tallest: int) -> str:
    """Bars with their counts. tallest: the largest count of all histograms that are to be compared."""
    return spread.histogram(values.edges, values.counts, label, tallest)


def boxes(spreads: Sequence[Distribution], label: str, places: int) -> str:
    """One lane for each system: least to greatest value, the middle half, the median, the mean as a diamond."""
    edges = spreads[0].edges
    at = Scale(edges[0], edges[-1], MARGIN, WIDTH - MARGIN)
    parts = []
    for lane, values in enumerate(spreads):
        parts += _lane(values, at, lane * _LANE, places, named=len(spreads) > 1)
    base = len(spreads) * _LANE
    parts.append(edge_axis(edges, at, base))
    return draw.svg("figure", WIDTH, base + 18, label, parts)


def _lane(values: Distribution, at: Scale, y: float, places: int, named: bool) -> list[str]:
    words = f"median {fixed(values.median, places)} · mean {fixed(values.mean, places)}"
    parts = [draw.text("lane-number", WIDTH - MARGIN, y + 12, words, "end")]
    if named:
        short = fitted(values.system, WIDTH - 2 * MARGIN - text_width(words) - 8)
        parts.append(draw.name("lane", MARGIN, y + 12, values.system, short))
    five = (values.least, values.q1, values.median, values.q3, values.greatest)
    return [*parts, *box_lane(five, values.mean, values.points, values.n, at, y + 29)]


def interval(cell: Cell, ends: tuple[float, float], label: str) -> str:
    """A small axis with the mean as a dot and its interval as a line."""
    width, middle = 112, 11
    at = Scale(*ends, 6, width - 6)
    parts = [draw.line("rail", 6, middle, width - 6, middle)]
    parts += [draw.line("rail", end, middle - 3, end, middle + 3) for end in (6, width - 6)]
    if cell.interval is not None:
        lower, upper = map(at, cell.interval)
        parts.append(draw.rect("range", lower, middle - 5, max(upper - lower, 1), 10))
    if cell.mean is not None:
        parts.append(draw.circle("mean", at(cell.mean), middle, 3))
    return draw.svg("interval", width, 22, label, parts, f' width="{width}" height="22"')
