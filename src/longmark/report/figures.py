"""The page's figures as inline SVG: one hue, numbers on the bars, axes that show the bounds. No foreign text is raw.

Every figure is 300 units wide and says in its label what it shows; the numbers stand in a table beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from itertools import pairwise

from longmark.report.distribution import Distribution
from longmark.report.numbers import fixed, whole
from longmark.report.summary import Cell

WIDTH = 300
_LEFT, _RIGHT = 14, 14
_BARS = 64
_LANE = 46
_FEW = 5
"""Below so many values a box would be drawn from nothing: only points."""


def histogram(spread: Distribution, label: str, tallest: int) -> str:
    """Bars with their counts. tallest: the largest count of all histograms that are to be compared."""
    at = _scale(spread.edges)
    top, base = 18, 18 + _BARS
    parts = []
    for i, count in enumerate(spread.counts):
        if not count:
            continue
        left, right = at(spread.edges[i]) + 1, at(spread.edges[i + 1]) - 1
        height = max(1.5, _BARS * count / tallest)
        parts.append(_rect("bar", left, base - height, right - left, height))
        parts.append(_text("count", (left + right) / 2, base - height - 4, whole(count)))
    parts.append(_axis(spread.edges, at, base))
    return _svg(label, base + top, parts)


def boxes(spreads: Sequence[Distribution], label: str, places: int) -> str:
    """One lane for each system: least to greatest value, the middle half, the median, the mean as a diamond."""
    edges = spreads[0].edges
    at = _scale(edges)
    parts = []
    for lane, spread in enumerate(spreads):
        parts += _lane(spread, at, lane * _LANE, places, named=len(spreads) > 1)
    base = len(spreads) * _LANE
    parts.append(_axis(edges, at, base))
    return _svg(label, base + 18, parts)


def _lane(spread: Distribution, at: Callable[[float], float], y: float, places: int, named: bool) -> list[str]:
    middle = y + 29
    text = f"median {fixed(spread.median, places)} · mean {fixed(spread.mean, places)}"
    parts = [f'<text class="lane-number" x="{WIDTH - _RIGHT}" y="{y + 12}" text-anchor="end">{text}</text>']
    if named:
        name = spread.system if len(spread.system) <= 15 else spread.system[:14] + "…"
        parts.append(f'<text class="lane" x="{_LEFT}" y="{y + 12}">{escape(name)}</text>')
    if spread.n >= _FEW:
        least, q1, q3, greatest = at(spread.least), at(spread.q1), at(spread.q3), at(spread.greatest)
        parts.append(_line("whisker", least, middle, greatest, middle))
        parts += [_line("whisker", end, middle - 4, end, middle + 4) for end in (least, greatest)]
        parts.append(_rect("box", q1, middle - 9, max(q3 - q1, 1), 18))
        parts.append(_line("median", at(spread.median), middle - 9, at(spread.median), middle + 9))
    tie, before = 0, None
    for value in spread.points:
        tie = tie + 1 if value == before else 0
        before = value
        offset = 4 * math.ceil(tie / 2) * (1 if tie % 2 else -1)
        y_point = min(max(middle + offset, y + 17), y + 42)
        parts.append(f'<circle class="point" cx="{at(value):.1f}" cy="{y_point:.1f}" r="3"/>')
    x = at(spread.mean)
    parts.append(f'<path class="mean" d="M{x:.1f} {middle - 5}l5 5l-5 5l-5 -5z"/>')
    return parts


def interval(cell: Cell, ends: tuple[float, float], label: str) -> str:
    """A small axis with the mean as a dot and its interval as a line."""
    width, middle = 112, 11
    lo, hi = ends

    def at(value: float) -> float:
        return 6 + (width - 12) * (value - lo) / (hi - lo)

    parts = [_line("rail", 6, middle, width - 6, middle)]
    parts += [_line("rail", end, middle - 3, end, middle + 3) for end in (6, width - 6)]
    if cell.interval is not None:
        lower, upper = (at(min(max(end, lo), hi)) for end in cell.interval)
        parts.append(_rect("range", lower, middle - 5, max(upper - lower, 1), 10))
    if cell.mean is not None:
        parts.append(f'<circle class="mean" cx="{at(cell.mean):.1f}" cy="{middle}" r="3"/>')
    return (
        f'<svg class="interval" viewBox="0 0 {width} 22" width="{width}" height="22" role="img" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def _scale(edges: Sequence[float]) -> Callable[[float], float]:
    lo, hi = edges[0], edges[-1]
    return lambda value: _LEFT + (WIDTH - _LEFT - _RIGHT) * (value - lo) / (hi - lo)


def edge_texts(edges: Sequence[float]) -> list[str]:
    """The edges with just enough decimals to tell them apart."""
    step = min(b - a for a, b in pairwise(edges))
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    if any(abs(round(edge, places) - edge) > step / 50 for edge in edges):
        places += 1
    return [fixed(edge, places) for edge in edges]


def _axis(edges: Sequence[float], at: Callable[[float], float], y: float) -> str:
    texts = edge_texts(edges)
    room = (WIDTH - _LEFT - _RIGHT) / (len(edges) - 1)
    every = max(1, math.ceil((max(map(len, texts)) * 6.2 + 8) / room))
    parts = [_line("axis", _LEFT, y + 0.5, WIDTH - _RIGHT, y + 0.5)]
    last = len(edges) - 1
    for i, (edge, text) in enumerate(zip(edges, texts, strict=True)):
        if i == last or (i % every == 0 and last - i >= every):
            parts.append(_line("axis", at(edge), y, at(edge), y + 3))
            parts.append(_text("tick", at(edge), y + 14, text))
    return "".join(parts)


def _svg(label: str, height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg class="figure" viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{escape(label)}">'
        f"{''.join(parts)}</svg>"
    )


def _rect(kind: str, x: float, y: float, width: float, height: float) -> str:
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{escape(text)}</text>'
