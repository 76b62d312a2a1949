"""Curves on one pair of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from longmark.report.distribution import spread
from longmark.report.markup import plural
from longmark.report.plots import draw
from longmark.report.plots.axes import Axes, axes
from longmark.report.plots.frame import NARROW, Drawing, empty, figure
from longmark.report.plots.names import fitted_names, text_width
from longmark.report.plots.scale import FINEST, around, finite, known

HUES = 6
"""Hues of the style sheet, .s0 to .s5. Six hues, five dashes and seven markers are alike only after 210 series."""
_DASHES = ("", "7 3", "2 2.5", "9 3 2 3", "4 2")
_LABEL = 14
_KEY = 18
_MARKS = 5
"""Markers on a curve of many points."""


class Curve(NamedTuple):
    """A line. points: (x, y), ascending by x; a y of None breaks the line and is counted in the caption."""

    name: str
    points: Sequence[tuple[float, float | None]]


def curves(
    series: Sequence[Curve], label: str, x: str, y: str, threshold: float | None = None, *, says: str = ""
) -> str:
    """Lines told apart by dash, marker and a label as well as by colour. x, y: the axes' names.

    threshold: a dashed line across at this y.
    """
    runs = [_runs(curve) for curve in series]
    places = [place for found in runs for run in found for place in run]
    if not places:
        return empty(label, says, "No curve has a value." if series else "There is nothing to draw.")
    xs = min(place[0] for place in places), max(place[0] for place in places)
    xs = xs if spread(*xs) >= FINEST else around(xs)
    ys = around([*(place[1] for place in places), *known([threshold])], zero=True)
    names = [curve.name for curve in series]

    def drawing(width: int) -> Drawing:
        narrow = width <= NARROW
        side = 16 if narrow else min(max(map(text_width, names)), 180) + 48
        height = max(250 if narrow else 330, _LABEL * len(series) + 70)
        frame = axes(width, height, xs, ys, (x, y), side)
        parts = list(frame.parts)
        if threshold is not None:
            at = frame.y(threshold)
            parts.append(draw.line("reference", frame.left, at, frame.right, at))
        for i, found in enumerate(runs):
            parts += [_run(run, frame, i) for run in found]
        parts += _labels(names, runs, frame, width, narrow)
        if narrow:
            parts += _key(names, height, width)
            height += _KEY * len(series) + 6
        return height, parts

    return figure(label, says, _reading(series, threshold), drawing)


def _reading(series: Sequence[Curve], threshold: float | None) -> str:
    said = [] if threshold is None else [f"Dashed line across: {threshold:g}."]
    gaps = [(curve.name, sum(finite(value) is None for _, value in curve.points)) for curve in series]
    said += [f"{name}: {plural(count, 'point')} without a value." for name, count in gaps if count]
    said += [f"{curve.name}: no points." for curve in series if not curve.points]
    return " ".join(said)


def _runs(curve: Curve) -> list[list[tuple[float, float]]]:
    """The curve's unbroken parts."""
    found: list[list[tuple[float, float]]] = [[]]
    for x, y in curve.points:
        if y is None or finite(x) is None or finite(y) is None:
            found.append([])
        else:
            found[-1].append((x, y))
    return [run for run in found if run]


def _run(run: Sequence[tuple[float, float]], frame: Axes, place: int) -> str:
    """A part of a curve: the line and its markers, shifted from curve to curve so that they do not hide each other."""
    spots = [(frame.x(x), frame.y(y)) for x, y in run]
    drawn = draw.path(f"curve s{place % HUES}", draw.polyline(thinned(spots)), _dash(place)) if len(spots) > 1 else ""
    if len(spots) <= 2 * _MARKS:
        chosen = list(range(len(spots)))
    else:
        step = (len(spots) - 1) / _MARKS
        chosen = [round(step * (i + (place % 7) / 7)) for i in range(_MARKS)]
    return drawn + "".join(marker(place, *spots[i]) for i in chosen)


def thinned(spots: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """A path that looks the same: of all points within half a unit across, the first, highest, lowest and last."""
    found: list[tuple[float, float]] = []
    column: list[tuple[int, float, float]] = []

    def keep() -> None:
        if column:
            ends = {column[0], column[-1], min(column, key=lambda p: p[2]), max(column, key=lambda p: p[2])}
            found.extend((x, y) for _, x, y in sorted(ends))

    for i, (x, y) in enumerate(spots):
        if column and int(2 * x) != int(2 * column[0][1]):
            keep()
            column.clear()
        column.append((i, x, y))
    keep()
    return found


def _dash(place: int) -> str:
    dash = _DASHES[place % len(_DASHES)]
    return f' stroke-dasharray="{dash}"' if dash else ""


def marker(place: int, x: float, y: float) -> str:
    """One of seven shapes in one of six hues."""
    hue = f"mark s{place % HUES}"
    shapes = (
        lambda: draw.circle(hue, x, y, 3),
        lambda: draw.rect(hue, x - 2.75, y - 2.75, 5.5, 5.5),
        lambda: draw.path(hue, f"M{x:.1f} {y - 3.6:.1f}l3.6 6.2h-7.2z"),
        lambda: draw.diamond(hue, x, y, 3.8),
        lambda: draw.path(f"{hue} open", f"M{x - 3:.1f} {y - 3:.1f}l6 6m-6 0l6 -6"),
        lambda: draw.path(hue, f"M{x:.1f} {y + 3.6:.1f}l3.6 -6.2h-7.2z"),
        lambda: draw.circle(f"{hue} open", x, y, 3),
    )
    return shapes[place % len(shapes)]()


def _labels(
    names: Sequence[str], runs: Sequence[Sequence[Sequence[tuple[float, float]]]], frame: Axes, width: int, narrow: bool
) -> list[str]:
    """The curves' names (in a narrow drawing their numbers in the key) beside their ends, none upon another."""
    ends = [(i, found[-1][-1]) for i, found in enumerate(runs) if found]
    order = sorted(ends, key=lambda end: frame.y(end[1][1]))
    heights = spaced([frame.y(y) for _, (_, y) in order], _LABEL, frame.top, frame.bottom)
    left = frame.right + (14 if narrow else 38)
    short = [str(i + 1) for i in range(len(names))] if narrow else fitted_names(names, width - left)
    parts = []
    for (i, (x, y)), height in zip(order, heights, strict=True):
        start = frame.right + 11
        parts.append(draw.path(f"leader s{i % HUES}", draw.polyline([(frame.x(x) + 3, frame.y(y)), (start, height)])))
        if not narrow:
            parts.append(draw.line(f"curve s{i % HUES}", start, height, left - 5, height, _dash(i)))
            parts.append(marker(i, (start + left - 5) / 2, height))
        parts.append(draw.name("lane", left, height + 4, names[i], short[i]))
    return parts


def spaced(heights: Sequence[float], apart: float, top: float, bottom: float) -> list[float]:
    """Ascending heights moved as little as need be to stand `apart`, between top and bottom where they fit there."""
    found: list[float] = []
    for height in heights:
        found.append(max(height, found[-1] + apart) if found else max(height, top))
    limit = bottom
    for i in range(len(found) - 1, -1, -1):
        found[i] = min(found[i], limit)
        limit = found[i] - apart
    return found


def _key(names: Sequence[str], y: float, width: int) -> list[str]:
    parts = []
    short = fitted_names([f"{i}. {name}" for i, name in enumerate(names, start=1)], width - 42)
    for i, name in enumerate(names):
        middle = y + _KEY * i + 8
        parts.append(draw.line(f"curve s{i % HUES}", 2, middle, 32, middle, _dash(i)))
        parts.append(marker(i, 17, middle))
        parts.append(draw.name("key", 42, middle + 4, f"{i + 1}. {name}", short[i]))
    return parts
