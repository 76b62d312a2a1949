"""The figures of a run's report, which need no extra: words in HTML, shapes in SVG. No foreign text is raw.

Every figure says in its label what it shows; the numbers stand in a table beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

from longmark.report.distribution import Distribution, tick_texts
from longmark.report.markup import text
from longmark.report.numbers import fixed, whole
from longmark.report.summary import Cell

_TALL, _WIDE, _HIGH, _MARGIN = 64, 300, 30, 14


def histogram(values: Distribution, label: str, tallest: int) -> str:
    """Bars with their counts. tallest: the largest count of all histograms that are to be compared."""
    bins = []
    for count in values.counts:
        bar = f'<svg class="bar" height="{max(2.0, _TALL * count / tallest):.0f}"></svg>' if count else ""
        bins.append(f"<span>{whole(count) if count else ''}{bar}</span>")
    return f'<div class="histogram" role="img" aria-label="{escape(label)}">{"".join(bins)}</div>{_axis(values.edges)}'


def boxes(spreads: Sequence[Distribution], label: str, places: int) -> str:
    """One lane for each system: least to greatest value, the middle half, the median, the mean as a diamond."""
    edges = spreads[0].edges
    at = _places((edges[0], edges[-1]), _MARGIN, _WIDE - _MARGIN)
    lanes = []
    for values in spreads:
        name = f"<strong>{text(values.system)}</strong>" if len(spreads) > 1 else ""
        words = f"median {fixed(values.median, places)} · mean {fixed(values.mean, places)}"
        lane = _svg("figure", (_WIDE, _HIGH), f"{label}: {values.system}", _box(values, at))
        lanes.append(f'<p class="lane">{name}<span>{words}</span></p>{lane}')
    return "".join(lanes) + _axis(edges)


def interval(cell: Cell, ends: tuple[float, float], label: str) -> str:
    """A small axis with the mean as a dot and its interval as a line."""
    width, middle = 112, 11
    at = _places(ends, 6, width - 6)
    parts = [_line("rail", 6, middle, width - 6, middle)]
    parts += [_line("rail", end, middle - 3, end, middle + 3) for end in (6, width - 6)]
    if cell.interval is not None:
        lower, upper = map(at, cell.interval)
        parts.append(_rect("range", lower, middle - 5, max(upper - lower, 1), 10))
    if cell.mean is not None:
        parts.append(f'<circle class="mean" cx="{at(cell.mean):.1f}" cy="{middle}" r="3"/>')
    return _svg("interval", (width, 22), label, parts, f' width="{width}" height="22"')


def _box(values: Distribution, at: Callable[[float], float]) -> list[str]:
    """A box plot, and each value as a point where there are few."""
    parts, middle = [], _HIGH / 2
    if values.n >= 5 or not values.points:
        least, q1, median, q3, greatest = map(at, (values.least, values.q1, values.median, values.q3, values.greatest))
        parts.append(_line("whisker", least, middle, greatest, middle))
        parts += [_line("whisker", end, middle - 4, end, middle + 4) for end in (least, greatest)]
        parts.append(_rect("box", q1, middle - 9, max(q3 - q1, 1), 18))
        parts.append(_line("median", median, middle - 9, median, middle + 9))
    ties: dict[float, int] = {}
    for value in values.points:
        tie = ties[value] = ties.get(value, -1) + 1
        offset = min(max(4 * math.ceil(tie / 2) * (1 if tie % 2 else -1), -12), 12)
        parts.append(f'<circle class="point" cx="{at(value):.1f}" cy="{middle + offset:.1f}" r="3"/>')
    return [*parts, f'<path class="mean" d="M{at(values.mean):.1f} {middle - 5:.1f}l5 5l-5 5l-5 -5z"/>']


def _places(ends: tuple[float, float], start: float, end: float) -> Callable[[float], float]:
    """From values to places, none further out than the ends."""
    lo, hi = ends
    return lambda value: start + (end - start) * (min(max(value, lo), hi) - lo) / (hi - lo)


def _axis(edges: Sequence[float]) -> str:
    """The first, the middle and the last edge."""
    texts = tick_texts(edges)
    shown = (texts[0], texts[len(texts) // 2] if len(texts) % 2 else "", texts[-1])
    return f'<p class="ticks">{"".join(f"<span>{words}</span>" for words in shown)}</p>'


def _svg(kind: str, size: tuple[float, float], label: str, parts: Sequence[str], more: str = "") -> str:
    box = f'viewBox="0 0 {size[0]:g} {size[1]:g}" role="img" aria-label="{escape(label)}"'
    return f'<svg class="{kind}" {box}{more}>{"".join(parts)}</svg>'


def _rect(kind: str, x: float, y: float, width: float, height: float) -> str:
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
