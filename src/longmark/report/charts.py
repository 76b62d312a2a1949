"""Figures on two axes, panels and maps: plain numbers in, a `Figure` out. `lanes` has figures that are lists.

In all figures: a value of None, or one that is not finite, is named as missing, never drawn as zero. Colour is never
alone: a number, a place, a marker, a dash or a hatch says the same. Rows are drawn in the order given, at most `MOST`
of them; the caption says how many there are. `says`: what the figure shows, in a sentence or two of plain text.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from longmark.report.distribution import round_step, spread, tick_texts
from longmark.report.figures import HUE, HUES, INK, LINE, PAPER, SMALL, SOFT, WIDTH, Figure, Sheet, fitted, text_width
from longmark.report.format import counted, fixed, integer

MOST = 60
"""Rows, curves or columns of a figure; the tables have all of them."""
STRONGEST = 0.75
"""Opacity of the strongest shade of a heat map: the number in the cell stays readable (a test holds the contrast)."""
NOTHING = "There are no data to draw."
REFERENCE = {"color": INK, "linewidth": 0.9, "linestyle": (0, (4, 3))}
PAD, KEY = 6, 15
FINEST, _LARGEST = 1e-9, 1e12
"""Values closer together are one place; a value further from 0 is not drawn."""
_PANELS, _CROWD, _GRID = 24, 600, 48
_TINY = 8.5
_MARKERS = "os^DXvP"
_DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (7, 2, 2, 2)), (0, (4, 1.5)))
_TURN = math.radians(45)

Ends = tuple[float, float]
Item = TypeVar("Item")


class Panel(NamedTuple):
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


def histograms(panels: Sequence[Panel], label: str) -> Figure:
    """Small multiples on one scale, both across and up."""
    shown, more = first(panels, "panel", _PANELS)
    tallest = max((count for panel in shown for count in panel.counts), default=0)
    if not tallest:
        return Figure(label, "No system has a score." if panels else NOTHING)
    ends = min(panel.edges[0] for panel in shown), max(panel.edges[-1] for panel in shown)
    columns, gap, height = min(len(shown), 2), 20, 98
    width = (WIDTH - gap * (columns - 1)) / columns

    def draw(sheet: Sheet) -> None:
        notes = [counted(sum(panel.counts), "value") for panel in shown]
        names = sheet.fitted([p.name for p in shown], [width - text_width(note, SMALL) - PAD for note in notes])
        for i, panel in enumerate(shown):
            left, top = i % columns * (width + gap), i // columns * height
            sheet.text(left, top + 10, names[i])
            sheet.text(left + width, top + 10, notes[i], ha="right", color=SOFT, fontsize=SMALL)
            axes = framed(sheet.panel(left + PAD, top + 28, left + width - PAD, top + height - 20), ends, 5)
            axes.set_ylim(0, tallest)
            _counted(axes, panel.edges, panel.counts, HUE, (width - 2 * PAD) / (ends[1] - ends[0]))

    reading = f"Bars are counts; all panels have the same axes.{more}"
    return Figure(label, reading, draw, math.ceil(len(shown) / columns) * height)


def curves(series: Sequence[Curve], label: str, x: str, y: str, threshold: float | None = None) -> Figure:
    """Lines that differ in dash and marker as well as in colour. x, y: the axes' names; threshold: a dashed line across
    at this y."""
    shown, more = first(series, "curve")
    lines = [[(at, finite(value)) for at, value in curve.points if finite(at) is not None] for curve in shown]
    ys = known(value for line in lines for _, value in line)
    if not ys:
        return Figure(label, "No curve has a point." if series else NOTHING)
    xs = [at for line in lines for at, value in line if value is not None]
    across = (min(xs), max(xs)) if spread(min(xs), max(xs)) >= FINEST else around(xs)
    up = around([*ys, *known([threshold])], zero=True)
    names = [curve.name for curve in shown]
    reading = [] if threshold is None else [f"Dashed line across: {threshold:g}."]
    gaps = [(curve.name, sum(finite(value) is None for _, value in curve.points)) for curve in shown]
    reading += [f"{name}: {counted(count, 'point')} without a value." for name, count in gaps if count]
    reading += [f"{curve.name}: no points." for curve in shown if not curve.points]

    def draw(sheet: Sheet) -> None:
        axes = _pair(sheet, 216, across, up, (x, y))
        if threshold is not None:
            axes.axhline(threshold, **REFERENCE)
        drawn = []
        for i, line in enumerate(lines):
            step = max(len(line) // 6, 1)
            marked = 1 if len(line) <= 12 else (i * step // 7 % step, step)
            values = [math.nan if value is None else value for _, value in line]
            drawn += axes.plot([at for at, _ in line], values, markevery=marked, **_look(i))
        key(sheet, 222, drawn, names)

    return Figure(label, " ".join(reading) + more, draw, 222 + key_rows(names) * KEY)


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
    dots = [(a, b) for a, b in points if a is not None and b is not None and finite(a) == a and finite(b) == b]
    if not dots:
        return Figure(label, "No point has both values." if points else NOTHING)
    across, up = around([dot[0] for dot in dots]), around([dot[1] for dot in dots])
    counts = Counter(dots)
    if len(counts) > _CROWD:
        counts = Counter((_cell(a, across), _cell(b, up)) for a, b in dots)
    most, missing = max(counts.values()), len(points) - len(dots)
    reading = "The area of a dot is proportional to the number of points." if most > 1 else ""
    reading += f" {counted(missing, 'point')} without a value for both." if missing else ""

    def draw(sheet: Sheet) -> None:
        axes = _pair(sheet, 256, across, up, (x, y))
        if line is not None:
            axes.axline((0, line[1]), slope=line[0], **REFERENCE)
        sizes: dict[float, list[tuple[float, float]]] = {}
        for place, count in counts.items():
            sizes.setdefault(4.0 if most == 1 else max(round(8 * math.sqrt(count / most), 1), 2), []).append(place)
        for size, places in sizes.items():
            look = {"markersize": size, "color": HUE, "markeredgecolor": PAPER, "markeredgewidth": 0.5}
            axes.plot(*zip(*places, strict=True), "o", clip_on=False, **look)

    return Figure(label, reading.strip(), draw, 256, says=says)


def reliability(bins: Sequence[Bin], label: str, *, says: str = "") -> Figure:
    """Share of positive labels against mean score, bin by bin, with the diagonal of perfect calibration, and below it
    the number of items in each bin."""
    filled = [b for b in bins if b.n and finite(b.mean_score) is not None and finite(b.share) is not None]
    if not filled:
        return Figure(label, "No bin has an item." if bins else NOTHING)
    ends = min(b.low for b in bins), max(b.high for b in bins)

    def draw(sheet: Sheet) -> None:
        axes = _pair(sheet, 256, ends, (0.0, 1.0), ("mean score", "share of positive labels"))
        axes.axline((0, 0), slope=1, **REFERENCE)
        look = {"color": HUE, "linewidth": 1.2, "clip_on": False}
        axes.plot([b.mean_score for b in filled], [b.share for b in filled], "-o", markersize=5, **look)
        for b in filled:
            if finite(b.share_low) is not None and finite(b.share_high) is not None:
                axes.vlines(b.mean_score, b.share_low, b.share_high, **look)
        left, right = _left((0.0, 1.0)), sheet.width - PAD
        strip = framed(sheet.panel(left, 276, right, 316), ends, 0)
        strip.set_ylim(0, max(b.n for b in bins))
        edges = [*(b.low for b in bins), bins[-1].high]
        _counted(strip, edges, [b.n for b in bins], LINE, (right - left) / (ends[1] - ends[0]), zeros=True)
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
    lo: float,
    hi: float,
    places: int,
    *,
    says: str = "",
) -> Figure:
    """The number in every cell, shaded between `lo` and `hi`: away from 0 in two hues where lo < 0 < hi, else in one.

    values: a line for each of `rows`, a number for each of `columns`; None is a hatched cell. places: decimals.
    ValueError where the values are not of that shape.
    """
    if len(values) != len(rows) or any(len(line) != len(columns) for line in values):
        raise ValueError(f"heat map: the values are not {len(rows)} x {len(columns)}")
    if not rows or not columns:
        return Figure(label, NOTHING)
    (sides, more), (heads, wider) = first(rows, "row"), first(columns, "column")
    texts = [[fixed(finite(value), places) for value in line[: len(heads)]] for line in values[: len(sides)]]
    left, slope = min(max(map(text_width, sides)), 130), min(max(map(text_width, heads)), 110)
    lean = slope * math.sin(_TURN) + PAD
    widest = max(text_width(words, SMALL) for line in texts for words in line) + 8
    cell = max(widest, min(44, (WIDTH - left - PAD - lean) / len(heads)))
    top, high, width = lean + PAD, 22, max(WIDTH, left + PAD + cell * len(heads) + lean)

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
                at, base = left + PAD + (j + 0.5) * cell, top + (i + 0.5) * high + 3
                sheet.text(at, base, words, ha="center", fontsize=SMALL)

    missing = any(finite(value) is None for line in values for value in line)
    reading = "Darker shades are further from 0." if lo < 0 < hi else "Darker shades are higher values."
    reading += (" Hatched: no value." if missing else "") + more + wider
    return Figure(label, reading, draw, top + high * len(sides), width, says)


def finite(value: float | None) -> float | None:
    """The value; None where there is none, or none that can be drawn."""
    return value if value is not None and abs(value) <= _LARGEST else None


def known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None and abs(value) <= _LARGEST]


def around(values: Sequence[float], zero: bool = False) -> Ends:
    """Round ends around the values. zero: begin at 0 where no value is below it and that wastes little room."""
    least, greatest = min(values), max(values)
    if zero and 0 < least < 0.5 * greatest:
        least = 0.0
    step = max(round_step(spread(least, greatest) / 6 or abs(greatest) / 6 or 1.0), FINEST)
    lo, hi = math.floor(least / step + 1e-6) * step, math.ceil(greatest / step - 1e-6) * step
    if lo == hi:
        lo, hi = lo - step, hi + step
    return round(lo, 12), round(hi, 12)


def first(items: Sequence[Item], what: str, most: int = MOST) -> tuple[list[Item], str]:
    """As many as are drawn, and what the caption says of the rest."""
    if len(items) <= most:
        return list(items), ""
    return list(items[:most]), f" Drawn: the first {most} of {counted(len(items), what)}; the table has all of them."


def framed(axes: Any, ends: Ends, most: int) -> Any:
    """Axes whose x runs between the ends, with at most so many ticks, and nothing on y."""
    ticks = _ticks(*ends, most) if most else []
    axes.set_xlim(*ends)
    axes.set_xticks(ticks, tick_texts(ticks))
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    return axes


def key(sheet: Sheet, top: float, samples: Sequence[Any], names: Sequence[str]) -> None:
    """A legend. samples: what matplotlib drew for each name."""
    columns = math.ceil(len(names) / key_rows(names))
    look = {"frameon": False, "borderpad": 0, "borderaxespad": 0, "handlelength": 2.8, "labelspacing": 0.4}
    place = {"loc": "upper left", "bbox_to_anchor": sheet.at(0, top), "ncols": columns}
    sheet.drawing.legend(samples, sheet.fitted(names, [WIDTH / columns - 44] * len(names)), **place, **look)


def key_rows(names: Sequence[str]) -> int:
    """The rows of a legend with as many columns as fit."""
    columns = max(int(WIDTH / (max(map(text_width, names)) + 44)), 1)
    return math.ceil(len(names) / columns)


def _ticks(lo: float, hi: float, most: int) -> list[float]:
    """Round numbers from lo to hi, at most `most` where that leaves two."""
    step = round_step((hi - lo) / most)
    found = [round(i * step, 12) for i in range(math.ceil(lo / step - 1e-6), math.floor(hi / step + 1e-6) + 1)]
    return found if len(found) > 1 else [lo, hi]


def _left(ends: Ends) -> float:
    """Room for the numbers of an upright axis."""
    return max(text_width(words, SMALL) for words in tick_texts(_ticks(*ends, 6))) + PAD


def _pair(sheet: Sheet, bottom: float, xs: Ends, ys: Ends, names: tuple[str, str]) -> Any:
    """Two axes and their names: of y above its axis (not turned round), of x below its axis."""
    axes = framed(sheet.panel(_left(ys), 20, sheet.width - PAD, bottom - 32), xs, 6)
    ticks = _ticks(*ys, 6)
    axes.set_ylim(*ys)
    axes.set_yticks(ticks, tick_texts(ticks))
    axes.spines["left"].set_visible(True)
    axes.grid(axis="y")
    across, up = (fitted(name, sheet.width - PAD, SMALL) for name in names)
    sheet.text(0, 9, up, color=SOFT, fontsize=SMALL)
    sheet.text(sheet.width - PAD, bottom - 4, across, ha="right", color=SOFT, fontsize=SMALL)
    return axes


def _counted(
    axes: Any, edges: Sequence[float], counts: Sequence[int], colour: str, scale: float, *, zeros: bool = False
) -> None:
    """Bars between edges with their counts, where there is room. scale: points of a unit; zeros: whether 0 is
    written."""
    widths = [edges[i + 1] - edges[i] for i in range(len(counts))]
    bars = axes.bar(edges[:-1], counts, widths, align="edge", color=colour, edgecolor=PAPER, linewidth=0.8)
    texts = [integer(count) if count < 10_000 else f"{count / 1000:.0f}k" for count in counts]
    fits = [text_width(t, _TINY) <= w * scale + 2 for t, w in zip(texts, widths, strict=True)]
    shown = [t if fit and (n or zeros) else "" for t, fit, n in zip(texts, fits, counts, strict=True)]
    axes.bar_label(bars, shown, fontsize=_TINY, color=SOFT, padding=1.5)


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
        part, hue = (value - lo) / (hi - lo) if hi > lo else 0.0, HUE
    return {"facecolor": to_rgba(hue, STRONGEST * min(max(part, 0.0), 1.0)), "edgecolor": LINE, "linewidth": 0.5}


def _cell(value: float, ends: Ends) -> float:
    """The middle of the cell of a crowded figure that holds the value."""
    step = (ends[1] - ends[0]) / _GRID
    return ends[0] + (min(int((value - ends[0]) / step), _GRID - 1) + 0.5) * step
