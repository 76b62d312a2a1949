"""Pairs of numbers as dots: a scatter plot, and a reliability diagram."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from longmark.report.markup import plural
from longmark.report.numbers import fixed, whole
from longmark.report.plots import draw
from longmark.report.plots.axes import Axes, axes, clipped
from longmark.report.plots.draw import SIZE
from longmark.report.plots.frame import NARROW, Drawing, empty, figure
from longmark.report.plots.names import fitted_names, text_width
from longmark.report.plots.scale import Scale, around, finite

_CROWD = 600
"""With more points than these they are gathered in cells of _CELL units."""
_CELL = 6
_LABELLED = 40
"""With more named points than these only their tooltips name them."""


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
    *,
    says: str = "",
) -> str:
    """Dots whose area grows with the number of points in the same place. x, y: the axes' names.

    line: (slope, intercept) of a line to draw, as (1, 0) for equality.
    """
    dots = [Point(*point) for point in points]
    placed = [(dot.x, dot.y, dot.name) for dot in dots if finite(dot.x) is not None and finite(dot.y) is not None]
    known_dots = [(x_, y_, name) for x_, y_, name in placed if x_ is not None and y_ is not None]
    if not known_dots:
        return empty(label, says, "No point has both values." if points else "There is nothing to draw.")
    xs, ys = around([dot[0] for dot in known_dots]), around([dot[1] for dot in known_dots])
    missing = len(dots) - len(known_dots)
    crowded = len(known_dots) > _CROWD or len({dot[:2] for dot in known_dots}) < len(known_dots)
    said = ["A dot’s area is the number of points there."] if crowded else []
    said += ["A name without room is in its dot’s tooltip."] if any(dot[2] for dot in known_dots) else []
    said += [f"{plural(missing, 'point')} without a value for both."] if missing else []

    def drawing(width: int) -> Drawing:
        height = 300 if width <= NARROW else 400
        frame = axes(width, height, xs, ys, (x, y))
        ends = clipped(*line, frame) if line is not None else []
        parts = [*frame.parts, *([draw.path("reference", draw.polyline(ends))] if ends else [])]
        return height, [*parts, *_dots(known_dots, frame)]

    return figure(label, says, " ".join(said), drawing)


def _dots(points: Sequence[tuple[float, float, str]], frame: Axes) -> list[str]:
    cell = _CELL if len(points) > _CROWD else 0.5
    gathered: dict[tuple[float, float], list[str]] = {}
    for x, y, name in points:
        spot = (round(frame.x(x) / cell) * cell, round(frame.y(y) / cell) * cell)
        gathered.setdefault(spot, []).append(name)
    most = max(map(len, gathered.values()))
    parts, labels, taken = [], [], []
    for (x, y), names in gathered.items():
        radius = (
            3.2 if most == 1 else 1.2 + 5.3 * math.sqrt(len(names) / most) if cell == _CELL else _radius(len(names))
        )
        dot = draw.circle("point", x, y, radius)
        named = [name for name in names if name]
        parts.append(draw.told(", ".join(named[:20]) + (" …" if len(named) > 20 else ""), dot) if named else dot)
        taken.append((x - radius, y - radius, x + radius, y + radius))
        if named:
            labels.append((x, y, radius, named[0] + (f" and {len(named) - 1} more" if len(named) > 1 else "")))
    return [*parts, *_labels(labels, taken, frame)] if len(labels) <= _LABELLED else parts


def _radius(count: int) -> float:
    return min(3.2 * math.sqrt(count), 12)


Place = tuple[float, float, float, float]


def _labels(labels: Sequence[tuple[float, float, float, str]], taken: list[Place], frame: Axes) -> list[str]:
    """Names at the first of four places beside their dots that is free and inside the frame; the rest have tooltips."""
    parts = []
    names = fitted_names([label[3] for label in labels], 150)
    for (x, y, radius, name), short in zip(labels, names, strict=True):
        width = text_width(short)
        spots = (
            (x + radius + 3, y + 4, "start", x + radius + 3),
            (x - radius - 3, y + 4, "end", x - radius - 3 - width),
            (x, y - radius - 4, "middle", x - width / 2),
            (x, y + radius + SIZE, "middle", x - width / 2),
        )
        for at, base, anchor, left in spots:
            box = (left, base - SIZE, left + width, base + 3)
            if box[0] >= frame.left and box[2] <= frame.right + 10 and not any(_meet(box, other) for other in taken):
                parts.append(draw.name("lane halo", at, base, name, short, anchor))
                taken.append(box)
                break
    return parts


def _meet(a: Place, b: Place) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def reliability(bins: Sequence[Bin], label: str, *, says: str = "") -> str:
    """Share of positive labels against mean score, bin by bin, with the diagonal of perfect calibration, and below it
    the number of items in each bin."""
    filled = [b for b in bins if b.n and finite(b.mean_score) is not None and finite(b.share) is not None]
    if not filled:
        return empty(label, says, "No bin has an item." if bins else "There is nothing to draw.")
    ends = min(b.low for b in bins), max(b.high for b in bins)
    reading = (
        "Dot: the share of positive labels among the items of a bin, at their mean score; upright line: its interval; "
        "dashed line: where the two are equal. Below: items in each bin."
    )

    def drawing(width: int) -> Drawing:
        height, strip = (300, 60) if width <= NARROW else (400, 80)
        frame = axes(width, height, ends, (0.0, 1.0), ("mean score", "share of positive labels"))
        diagonal = clipped(1, 0, frame)
        parts = [*frame.parts, *([draw.path("reference", draw.polyline(diagonal))] if diagonal else [])]
        spots = [(frame.x(b.mean_score or 0), frame.y(b.share or 0)) for b in filled]
        parts.append(draw.path("curve s0", draw.polyline(spots)))
        for b, (at, y) in zip(filled, spots, strict=True):
            low, high = finite(b.share_low), finite(b.share_high)
            if low is not None and high is not None:
                parts.append(draw.line("whisker", at, frame.y(low), at, frame.y(high)))
            words = (
                f"{b.low:g} to {b.high:g}: mean score {fixed(b.mean_score, 3)}, share {fixed(b.share, 3)}, n = {b.n}"
            )
            parts.append(draw.told(words, draw.circle("estimate", at, y, 4)))
        top = height + 16
        parts += _counts(bins, frame, top, strip)
        return top + strip + 14, parts

    return figure(label, says, reading, drawing)


def _counts(bins: Sequence[Bin], frame: Axes, top: float, strip: float) -> list[str]:
    """Bars from below with their counts; a bin without items says so."""
    base = top + strip
    up = Scale(0, max(b.n for b in bins), base, top)
    parts = [draw.line("axis", frame.left, base, frame.right, base)]
    room = min(frame.x(b.high) - frame.x(b.low) for b in bins)
    for b in bins:
        left, right = frame.x(b.low) + 1, frame.x(b.high) - 1
        if b.n:
            parts.append(draw.rect("bar", left, up(b.n), max(right - left, 1), base - up(b.n)))
        words = whole(b.n) if text_width(whole(b.n)) <= room - 2 else _compact(b.n)
        if text_width(words) <= room:
            parts.append(draw.text("count" if b.n else "gap", (left + right) / 2, up(b.n) - 4, words))
    parts.append(draw.text("axis-name", 0, base + 12, "items", "start") if frame.left > text_width("items") else "")
    return parts


def _compact(count: int) -> str:
    return f"{count / 1000:.0f}k" if count >= 1000 else str(count)
