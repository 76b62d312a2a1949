"""The figures: plain numbers in, a `Figure` out. Here those on two axes, panels and maps; lists of lanes are in
`lane_charts`, which this module hands on, and what all figures share in `chart_parts`.

In all figures: a value of None, or one that is not finite, is named as missing, never drawn as zero. Colour is never
alone: a number, a place, a marker, a dash or a hatch says the same. Rows are drawn in the order given, at most `MOST`
of them; the caption says how many there are. `says`: what the figure shows, in a sentence or two of plain text.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from longmark.report import figures
from longmark.report.chart_parts import (
    FINEST,
    KEY,
    MOST,
    NOTHING,
    PAD,
    REFERENCE,
    Ends,
    around,
    finite,
    first,
    framed,
    key,
    key_rows,
    known,
    ticks_between,
)
from longmark.report.figures import (
    HUE,
    HUES,
    LINE,
    PAPER,
    SMALL,
    SOFT,
    WIDTH,
    Figure,
    Sheet,
    fitted,
)
from longmark.report.format import counted, fixed, integer, spread, tick_texts
from longmark.report.lane_charts import Box, ForestRow, Stack, box_plots, forest, groups, stacked

__all__ = [
    "MOST",
    "STRONGEST",
    "Bin",
    "Box",
    "Curve",
    "ForestRow",
    "HistogramPanel",
    "Stack",
    "around",
    "box_plots",
    "curves",
    "forest",
    "groups",
    "heat_map",
    "histograms",
    "reliability",
    "scatter",
    "stacked",
]

STRONGEST = 0.75
"""Opacity of the strongest shade of a heat map: the number in the cell stays readable (a test holds the contrast)."""
_PANELS = 24
_CROWD = 600
"""Places from which on the points of a scatter plot are drawn by the cell of a grid of `_GRID` by `_GRID`."""
_GRID = 48
_TINY = 8.5
_MARKERS = "os^DXvP"
_DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (7, 2, 2, 2)), (0, (4, 1.5)))
_TURN = math.radians(45)


class HistogramPanel(NamedTuple):
    """One histogram. edges: len(counts) + 1 numbers, ascending; counts: values in [edge, next edge)."""

    name: str
    edges: Sequence[float]
    counts: Sequence[int]


class Curve(NamedTuple):
    """A line. points: (x, y), ascending by x; a y of None breaks the line and is counted in the caption."""

    name: str
    points: Sequence[tuple[float, float | None]]


class Bin(NamedTuple):
    """A bin of scores. low, high: its edges; n: items in it; mean_score: their mean score; share: the share of them
    whose label is positive, with the ends of its interval where there is one."""

    low: float
    high: float
    n: int
    mean_score: float | None
    share: float | None
    share_low: float | None = None
    share_high: float | None = None


def histograms(panels: Sequence[HistogramPanel], label: str) -> Figure:
    """Small multiples on one scale, both across and up."""
    drawn_panels, caption = first(panels, "panel", _PANELS)
    tallest = max((count for panel in drawn_panels for count in panel.counts), default=0)
    if not tallest:
        return Figure(label, "No system has a score." if panels else NOTHING)
    ends = (
        min(panel.edges[0] for panel in drawn_panels),
        max(panel.edges[-1] for panel in drawn_panels),
    )
    notes = [f"n = {integer(sum(panel.counts))}" for panel in drawn_panels]
    gap = 20
    height = 98
    texts = [
        figures.text_width(p.name) + figures.text_width(n, SMALL)
        for p, n in zip(drawn_panels, notes, strict=True)
    ]
    columns = 2 if len(drawn_panels) > 1 and max(texts) + PAD <= (WIDTH - gap) / 2 else 1
    width = (WIDTH - gap * (columns - 1)) / columns

    def draw(sheet: Sheet) -> None:
        names = sheet.fitted(
            [p.name for p in drawn_panels],
            [width - figures.text_width(note, SMALL) - PAD for note in notes],
        )
        for i, panel in enumerate(drawn_panels):
            left = i % columns * (width + gap)
            top = i // columns * height
            sheet.text(left, top + 10, names[i])
            sheet.text(left + width, top + 10, notes[i], ha="right", color=SOFT, fontsize=SMALL)
            axes = framed(
                sheet.panel(left + PAD, top + 28, left + width - PAD, top + height - 20), ends, 5
            )
            axes.set_ylim(0, tallest)
            _counted(axes, panel.edges, panel.counts, HUE, (width - 2 * PAD) / (ends[1] - ends[0]))

    reading = f"Bars are counts, n their sum; all panels have the same axes.{caption}"
    return Figure(label, reading, draw, math.ceil(len(drawn_panels) / columns) * height)


def curves(
    series: Sequence[Curve], label: str, x: str, y: str, threshold: float | None = None
) -> Figure:
    """Lines that differ in dash and marker as well as in colour. x, y: the axes' names; threshold: a dashed line across
    at this y."""
    drawn_curves, caption = first(series, "curve")
    lines = [
        [(x_value, finite(value)) for x_value, value in curve.points if finite(x_value) is not None]
        for curve in drawn_curves
    ]
    ys = known(value for line in lines for _, value in line)
    if not ys:
        return Figure(label, "No curve has a point." if series else NOTHING)
    xs = [x_value for line in lines for x_value, value in line if value is not None]
    across = (min(xs), max(xs)) if spread(min(xs), max(xs)) >= FINEST else around(xs)
    y_ends = around([*ys, *known([threshold])], zero=True)
    names = [curve.name for curve in drawn_curves]
    reading = [] if threshold is None else [f"Dashed line across: {threshold:g}."]
    gaps = [
        (curve.name, sum(finite(value) is None for _, value in curve.points))
        for curve in drawn_curves
    ]
    reading += [
        f"{name}: {counted(count, 'point')} without a value." for name, count in gaps if count
    ]
    reading += [f"{curve.name}: no points." for curve in drawn_curves if not curve.points]

    def draw(sheet: Sheet) -> None:
        axes = _pair(sheet, 216, across, y_ends, (x, y))
        if threshold is not None:
            axes.axhline(threshold, **REFERENCE)
        drawn = []
        for i, line in enumerate(lines):
            step = max(len(line) // 6, 1)
            marked = 1 if len(line) <= 12 else (i * step // 7 % step, step)
            values = [math.nan if value is None else value for _, value in line]
            drawn += axes.plot(
                [x_value for x_value, _ in line], values, markevery=marked, **_look(i)
            )
        key(sheet, 222, drawn, names)

    return Figure(label, " ".join(reading) + caption, draw, 222 + key_rows(names) * KEY)


def scatter(
    points: Sequence[tuple[float | None, float | None]],
    label: str,
    x: str,
    y: str,
    line: tuple[float, float] | None = None,
    *,
    says: str = "",
) -> Figure:
    """Dots whose area grows with the number of points in the same place. x, y: the axes' names.

    line: (slope, intercept) of a line to draw, as (1, 0) for equality.
    """
    dots = [
        (a, b)
        for a, b in points
        if a is not None and b is not None and finite(a) == a and finite(b) == b
    ]
    if not dots:
        return Figure(label, "No point has both values." if points else NOTHING)
    across = around([dot[0] for dot in dots])
    y_ends = around([dot[1] for dot in dots])
    counts = Counter(dots)
    if len(counts) > _CROWD:
        counts = Counter((_cell(a, across), _cell(b, y_ends)) for a, b in dots)
    largest = max(counts.values())
    missing = len(points) - len(dots)
    reading = "The area of a dot is proportional to the number of points." if largest > 1 else ""
    reading += f" {counted(missing, 'point')} without a value for both." if missing else ""

    def draw(sheet: Sheet) -> None:
        axes = _pair(sheet, 256, across, y_ends, (x, y))
        if line is not None:
            axes.axline((0, line[1]), slope=line[0], **REFERENCE)
        sizes: dict[float, list[tuple[float, float]]] = {}
        for place, count in counts.items():
            sizes.setdefault(
                4.0 if largest == 1 else max(round(8 * math.sqrt(count / largest), 1), 2), []
            ).append(place)
        for size, places in sizes.items():
            look = {
                "markersize": size,
                "color": HUE,
                "markeredgecolor": PAPER,
                "markeredgewidth": 0.5,
            }
            axes.plot(*zip(*places, strict=True), "o", clip_on=False, **look)

    return Figure(label, reading.strip(), draw, 256, says=says)


def reliability(bins: Sequence[Bin], label: str, *, says: str = "") -> Figure:
    """Share of positive labels against mean score, bin by bin, with the diagonal of perfect calibration, and below it
    the number of items in each bin."""
    filled = [
        b for b in bins if b.n and finite(b.mean_score) is not None and finite(b.share) is not None
    ]
    if not filled:
        return Figure(label, "No bin has an item." if bins else NOTHING)
    ends = min(b.low for b in bins), max(b.high for b in bins)

    def draw(sheet: Sheet) -> None:
        axes = _pair(sheet, 256, ends, (0.0, 1.0), ("mean score", "share of positive labels"))
        axes.axline((0, 0), slope=1, **REFERENCE)
        look = {"color": HUE, "linewidth": 1.2, "clip_on": False}
        axes.plot(
            [b.mean_score for b in filled], [b.share for b in filled], "-o", markersize=5, **look
        )
        for b in filled:
            if finite(b.share_low) is not None and finite(b.share_high) is not None:
                axes.vlines(b.mean_score, b.share_low, b.share_high, **look)
        left = _left((0.0, 1.0))
        right = sheet.width - PAD
        strip = framed(sheet.panel(left, 276, right, 316), ends, 0)
        strip.set_ylim(0, max(b.n for b in bins))
        edges = [*(b.low for b in bins), bins[-1].high]
        _counted(
            strip,
            edges,
            [b.n for b in bins],
            LINE,
            (right - left) / (ends[1] - ends[0]),
            zeros=True,
        )
        sheet.text(0, 316, "n", color=SOFT, fontsize=SMALL)

    reading = (
        "Dot: the share of positive labels among the items of a bin, at their mean score; upright line: its interval; "
        "dashed line: where the two are equal. Below: n, the items in each bin."
    )
    return Figure(label, reading, draw, 318, says=says)


def heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    label: str,
    ends: Ends,
    places: int,
) -> Figure:
    """The number in every cell, shaded between the ends: away from 0 in two hues where 0 lies between them, else in
    one.

    values: a line for each of `rows`, a number for each of `columns`; None is a hatched cell. places: decimals.
    ValueError where the values are not of that shape.
    """
    if len(values) != len(rows) or any(len(line) != len(columns) for line in values):
        raise ValueError(f"heat map: the values are not {len(rows)} x {len(columns)}")
    if not rows or not columns:
        return Figure(label, NOTHING)
    lo, hi = ends
    (sides, row_caption), (heads, wider) = first(rows, "row"), first(columns, "column")
    texts = [
        [fixed(finite(value), places) for value in line[: len(heads)]]
        for line in values[: len(sides)]
    ]
    left = min(max(map(figures.text_width, sides)), 200)
    slope = min(max(map(figures.text_width, heads)), 200)
    lean = slope * math.sin(_TURN) + PAD
    widest = max(figures.text_width(words, SMALL) for line in texts for words in line) + 8
    cell = max(widest, min(44, (WIDTH - left - PAD - lean) / len(heads)))
    top = lean + PAD
    high = 22
    width = max(WIDTH, left + PAD + cell * len(heads) + lean)

    def draw(sheet: Sheet) -> None:
        from matplotlib.patches import Rectangle

        axes = sheet.panel(left + PAD, top, left + PAD + cell * len(heads), top + high * len(sides))
        axes.set(xlim=(0, len(heads)), ylim=(len(sides), 0))
        axes.axis("off")
        for i, name in enumerate(sheet.fitted(sides, [left] * len(sides))):
            sheet.text(left, top + (i + 0.5) * high + 3.5, name, ha="right")
        for j, name in enumerate(sheet.fitted(heads, [slope] * len(heads))):
            sheet.text(left + PAD + (j + 0.5) * cell, top - PAD, name, rotation=math.degrees(_TURN))
        for i, line in enumerate(texts):
            for j, words in enumerate(line):
                axes.add_patch(Rectangle((j, i), 1, 1, **_shade(values[i][j], lo, hi)))
                middle = left + PAD + (j + 0.5) * cell
                base = top + (i + 0.5) * high + 3
                sheet.text(middle, base, words, ha="center", fontsize=SMALL)

    missing = any(finite(value) is None for line in values for value in line)
    reading = (
        "Darker shades are further from 0." if lo < 0 < hi else "Darker shades are higher values."
    )
    reading += (" Hatched: no value." if missing else "") + row_caption + wider
    return Figure(label, reading, draw, top + high * len(sides), width)


def _left(ends: Ends) -> float:
    """Room for the numbers of an upright axis."""
    return (
        max(figures.text_width(words, SMALL) for words in tick_texts(ticks_between(*ends, 6))) + PAD
    )


def _pair(sheet: Sheet, bottom: float, xs: Ends, ys: Ends, names: tuple[str, str]) -> Any:
    """Two axes and their names: of y above its axis (not turned round), of x below its axis."""
    axes = framed(sheet.panel(_left(ys), 20, sheet.width - PAD, bottom - 32), xs, 6)
    ticks = ticks_between(*ys, 6)
    axes.set_ylim(*ys)
    axes.set_yticks(ticks, tick_texts(ticks))
    axes.spines["left"].set_visible(True)
    axes.grid(axis="y")
    across, up = (fitted(name, sheet.width - PAD, SMALL) for name in names)
    sheet.text(0, 9, up, color=SOFT, fontsize=SMALL)
    sheet.text(sheet.width - PAD, bottom - 4, across, ha="right", color=SOFT, fontsize=SMALL)
    return axes


def _counted(
    axes: Any,
    edges: Sequence[float],
    counts: Sequence[int],
    colour: str,
    scale: float,
    *,
    zeros: bool = False,
) -> None:
    """Bars between edges with their counts, where there is room. scale: points of a unit; zeros: whether 0 is
    written."""
    widths = [edges[i + 1] - edges[i] for i in range(len(counts))]
    bars = axes.bar(
        edges[:-1], counts, widths, align="edge", color=colour, edgecolor=PAPER, linewidth=0.8
    )
    texts = [integer(count) if count < 10_000 else f"{count / 1000:.0f}k" for count in counts]
    fits = [
        figures.text_width(t, _TINY) <= w * scale + 2 for t, w in zip(texts, widths, strict=True)
    ]
    written = [
        t if fit and (n or zeros) else "" for t, fit, n in zip(texts, fits, counts, strict=True)
    ]
    axes.bar_label(bars, written, fontsize=_TINY, color=SOFT, padding=1.5)


def _look(place: int) -> dict[str, Any]:
    """Six hues, five dashes and seven markers: two curves look alike only after 210."""
    return {
        "color": HUES[place % len(HUES)],
        "linestyle": _DASHES[place % len(_DASHES)],
        "linewidth": 1.5,
        "marker": _MARKERS[place % len(_MARKERS)],
        "markersize": 5,
        "markeredgecolor": PAPER,
        "markeredgewidth": 0.5,
        "clip_on": False,
    }


def _shade(value: float | None, lo: float, hi: float) -> dict[str, Any]:
    """The fill of a cell: HUES[1] below 0 where lo < 0 < hi, else HUE, as opaque as the value is far."""
    from matplotlib.colors import to_rgba

    value = finite(value)
    if value is None:
        return {"facecolor": "none", "edgecolor": LINE, "hatch": "////", "linewidth": 0.5}
    if lo < 0 < hi:
        part, hue = (value / hi, HUE) if value >= 0 else (value / lo, HUES[1])
    else:
        part = (value - lo) / (hi - lo) if hi > lo else 0.0
        hue = HUE
    return {
        "facecolor": to_rgba(hue, STRONGEST * min(max(part, 0.0), 1.0)),
        "edgecolor": LINE,
        "linewidth": 0.5,
    }


def _cell(value: float, ends: Ends) -> float:
    """The middle of the cell of a crowded figure that holds the value."""
    step = (ends[1] - ends[0]) / _GRID
    return ends[0] + (min(int((value - ends[0]) / step), _GRID - 1) + 0.5) * step
