"""How values are spread: box plots one below the other, and histograms side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from longmark.report.markup import plural, text
from longmark.report.numbers import fixed, whole
from longmark.report.plots import draw
from longmark.report.plots.draw import SIZE
from longmark.report.plots.frame import Drawing, empty, figure, framed
from longmark.report.plots.names import text_width
from longmark.report.plots.rows import lines
from longmark.report.plots.scale import FINEST, Scale, around, finite, known, places_for, tick_texts

PANEL = 300
"""Width of one histogram, in its units."""
MARGIN = 14
_BARS = 64
FEW = 5
"""Below so many values a box would be drawn from nothing: only points, where they are given."""
_SHOWN = 12
"""Panels before the rest is folded away."""


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


def box_plots(
    boxes: Sequence[Box], label: str, lo: float | None = None, hi: float | None = None, *, says: str = ""
) -> str:
    """Box plots on one axis, in the order given. lo, hi: the metric's bounds; None: as far as the values go."""
    values = known(number for box in boxes for number in _five(box))
    if not values:
        return empty(label, says, "No system has a value." if boxes else "There is nothing to draw.")
    ends = _ends(values, finite(lo), finite(hi))
    places = places_for(*ends)
    figures = [f"{fixed(box.median, places)} (n = {whole(box.n)})" if _five(box) else "" for box in boxes]
    reading = (
        "Line: least to greatest value; box: the middle half; stroke, and number at the end: the median; "
        "diamond: the mean."
    )

    def drawing(width: int) -> Drawing:
        listed = lines(width, [box.label for box in boxes], figures)
        scale, parts = listed.axis(*ends)
        for i, box in enumerate(boxes):
            five = _five(box)
            drawn = box_lane(five, box.mean, box.points, box.n, scale, listed.middle(i)) if five else []
            parts += drawn or [listed.gap(i, "no value")]
        return listed.height, [*parts, *listed.texts()]

    return figure(label, says, reading, drawing)


def _five(box: Box) -> tuple[float, ...]:
    """Least, quartiles and greatest; nothing where one of them is missing."""
    five = known((box.least, box.q1, box.median, box.q3, box.greatest))
    return tuple(five) if len(five) == 5 and box.n else ()


def _ends(values: Sequence[float], lo: float | None, hi: float | None) -> tuple[float, float]:
    """The bounds; where there is none, or a value lies beyond it, a round number."""
    least, greatest = around(values)
    least = lo if lo is not None and lo <= min(values) else least
    greatest = hi if hi is not None and hi >= max(values) else greatest
    return (least, greatest) if greatest - least >= FINEST else around([least, greatest])


def box_lane(
    five: Sequence[float],
    mean: float | None,
    points: Sequence[float],
    n: int,
    at: Callable[[float], float],
    middle: float,
) -> list[str]:
    """One box plot around the height `middle`; five: least, lower quartile, median, upper quartile, greatest."""
    parts = []
    if n >= FEW or not points:
        least, q1, median, q3, greatest = map(at, five)
        parts.append(draw.line("whisker", least, middle, greatest, middle))
        parts += [draw.line("whisker", end, middle - 4, end, middle + 4) for end in (least, greatest)]
        parts.append(draw.rect("box", q1, middle - 9, max(q3 - q1, 1), 18))
        parts.append(draw.line("median", median, middle - 9, median, middle + 9))
    tie, before = 0, None
    for value in known(points):
        tie = tie + 1 if value == before else 0
        before = value
        offset = 4 * math.ceil(tie / 2) * (1 if tie % 2 else -1)
        parts.append(draw.circle("point", at(value), middle + min(max(offset, -12), 13), 3))
    if finite(mean) is not None and mean is not None:
        parts.append(draw.diamond("mean", at(mean), middle))
    return parts


def histograms(panels: Sequence[Panel], label: str, *, says: str = "") -> str:
    """Small multiples on one scale, both across and up."""
    if not panels:
        return empty(label, says)
    tallest = max((count for panel in panels for count in panel.counts), default=0)
    edges = [edge for panel in panels for edge in panel.edges]
    if not tallest:
        return empty(label, says, "No system has a value.")
    ends = min(edges), max(edges)
    drawn = []
    for panel in panels:
        total = sum(panel.counts)
        said = plural(total, "value")
        svg = histogram(panel.edges, panel.counts, f"{label}: {panel.name}, {said}", tallest, ends) if total else ""
        head = f'<p class="panel-name"><strong>{text(panel.name)}</strong> {said}</p>'
        drawn.append(f"<div>{head}{svg}</div>")
    content = f'<div class="panels">{"".join(drawn[:_SHOWN])}</div>'
    if len(drawn) > _SHOWN:
        rest = f'<div class="panels">{"".join(drawn[_SHOWN:])}</div>'
        content += f"<details><summary>{len(drawn) - _SHOWN} more</summary>{rest}</details>"
    return framed(label, says, "Bars count values; all panels have the same axes.", content)


def histogram(
    edges: Sequence[float],
    counts: Sequence[int],
    label: str,
    tallest: int,
    ends: tuple[float, float] | None = None,
) -> str:
    """Bars with their counts. tallest: the largest count of all histograms that are to be compared; ends: the ends of
    their common axis, None for those of the edges."""
    lo, hi = ends or (edges[0], edges[-1])
    at = Scale(lo, hi, MARGIN, PANEL - MARGIN)
    base = 18 + _BARS
    parts: list[str] = []
    taken: list[tuple[float, float, float]] = []
    for i in sorted(range(len(counts)), key=lambda i: -counts[i]):
        if not counts[i]:
            continue
        left, right = at(edges[i]) + 1, at(edges[i + 1]) - 1
        height = max(1.5, _BARS * counts[i] / tallest)
        parts.append(draw.rect("bar", left, base - height, max(right - left, 1), height))
        x, y, half = (left + right) / 2, base - height - 4, text_width(whole(counts[i])) / 2
        if all(abs(x - other) > half + reach + 2 or abs(y - level) > SIZE for other, level, reach in taken):
            parts.append(draw.text("count", x, y, whole(counts[i])))
            taken.append((x, y, half))
    return draw.svg("figure", PANEL, base + 18, label, [*parts, edge_axis(edges, at, base)])


def edge_axis(edges: Sequence[float], at: Callable[[float], float], y: float) -> str:
    """An axis of 300 units with a tick at each edge, or at as many as have room for their text."""
    texts = tick_texts(edges)
    room = (at(edges[-1]) - at(edges[0])) / (len(edges) - 1)
    every = max(1, math.ceil((max(map(text_width, texts)) + 6) / room))
    parts = [draw.line("axis", MARGIN, y + 0.5, PANEL - MARGIN, y + 0.5)]
    last = len(edges) - 1
    for i, (edge, words) in enumerate(zip(edges, texts, strict=True)):
        if i == last or (i % every == 0 and last - i >= every):
            parts.append(draw.line("axis", at(edge), y, at(edge), y + 3))
            parts.append(draw.text("tick", at(edge), y + 14, words))
    return "".join(parts)
