"""The figures: plain numbers in, a `Figure` out. First those on two axes, panels and maps, then lists of lanes.

In all figures: a value of None, or one that is not finite, is named as missing, never drawn as zero. Colour is never
alone: a number, a place, a marker, a dash or a hatch says the same. Rows are drawn in the order given, at most `MOST`
of them; the caption says how many there are. `says`: what the figure shows, in a sentence or two of plain text.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from longmark.report import figures
from longmark.report.distribution import round_step, spread, tick_texts
from longmark.report.figures import (
    HUE,
    HUES,
    INK,
    LINE,
    PALE,
    PAPER,
    SMALL,
    SOFT,
    WIDTH,
    Figure,
    Sheet,
    fitted,
)
from longmark.report.format import counted, fixed, integer

MOST = 60
"""Rows, curves or columns of a figure; the tables have all of them."""
STRONGEST = 0.75
"""Opacity of the strongest shade of a heat map: the number in the cell stays readable (a test holds the contrast)."""
NOTHING = "There is no data to draw."
REFERENCE = {"color": INK, "linewidth": 0.9, "linestyle": (0, (4, 3))}
PAD = 6
KEY = 15
FINEST = 1e-9
_LARGEST = 1e12
"""Values closer together are one place; a value further from 0 is not drawn."""
_PANELS = 24
_CROWD = 600
_GRID = 48
_TINY = 8.5
_MARKERS = "os^DXvP"
_DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (7, 2, 2, 2)), (0, (4, 1.5)))
_TURN = math.radians(45)

Ends = tuple[float, float]
Item = TypeVar("Item")


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


def finite(value: float | None) -> float | None:
    """The value; None where there is none, or none that can be drawn."""
    return value if value is not None and abs(value) <= _LARGEST else None


def known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None and abs(value) <= _LARGEST]


def around(values: Sequence[float], zero: bool = False) -> Ends:
    """Round ends around the values. zero: begin at 0 where no value is below it and that wastes little room."""
    least = min(values)
    greatest = max(values)
    if zero and 0 < least < 0.5 * greatest:
        least = 0.0
    step = max(round_step(spread(least, greatest) / 6 or abs(greatest) / 6 or 1.0), FINEST)
    lo = math.floor(least / step + 1e-6) * step
    hi = math.ceil(greatest / step - 1e-6) * step
    if lo == hi:
        lo = lo - step
        hi = hi + step
    return round(lo, 12), round(hi, 12)


def first(items: Sequence[Item], noun: str, limit: int = MOST) -> tuple[list[Item], str]:
    """As many as are drawn, and what the caption says of the rest."""
    if len(items) <= limit:
        return list(items), ""
    return list(
        items[:limit]
    ), f" Drawn: the first {limit} of {counted(len(items), noun)}; the table has all of them."


def framed(axes: Any, ends: Ends, limit: int) -> Any:
    """Axes whose x runs between the ends, with at most so many ticks, and nothing on y."""
    ticks = _ticks(*ends, limit) if limit else []
    axes.set_xlim(*ends)
    axes.set_xticks(ticks, tick_texts(ticks))
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    return axes


def key(sheet: Sheet, top: float, samples: Sequence[Any], names: Sequence[str]) -> None:
    """A legend. samples: what matplotlib drew for each name."""
    columns = math.ceil(len(names) / key_rows(names))
    look = {
        "frameon": False,
        "borderpad": 0,
        "borderaxespad": 0,
        "handlelength": 2.8,
        "labelspacing": 0.4,
    }
    place = {"loc": "upper left", "bbox_to_anchor": sheet.at(0, top), "ncols": columns}
    sheet.drawing.legend(
        samples, sheet.fitted(names, [WIDTH / columns - 44] * len(names)), **place, **look
    )


def key_rows(names: Sequence[str]) -> int:
    """The rows of a legend with as many columns as fit."""
    columns = max(int(WIDTH / (max(map(figures.text_width, names)) + 44)), 1)
    return math.ceil(len(names) / columns)


def _ticks(lo: float, hi: float, limit: int) -> list[float]:
    """Round numbers from lo to hi, at most `limit` where that leaves two."""
    step = round_step((hi - lo) / limit)
    ticks = [
        round(i * step, 12)
        for i in range(math.ceil(lo / step - 1e-6), math.floor(hi / step + 1e-6) + 1)
    ]
    return ticks if len(ticks) > 1 else [lo, hi]


def _left(ends: Ends) -> float:
    """Room for the numbers of an upright axis."""
    return max(figures.text_width(words, SMALL) for words in tick_texts(_ticks(*ends, 6))) + PAD


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


# Lists on one axis: above each lane its name and its number -----------------------------------------------------------

_PITCH = 34
_AXIS = 22
_MIDDLE = 0.71
"""From a lane to the next; the room of the axis; where in its row a lane is."""
_BROADEST = 1.5 * WIDTH
"""Intervals whose names need it are drawn as broad as this; longer names are shortened."""


class ForestRow(NamedTuple):
    """One line. estimate None: it is missing, and `note` says why; low, high None: an estimate without an interval;
    note: a few words at the end of the line, as `p = 0.012`; in `groups` the rank, as `1-3`."""

    label: str
    estimate: float | None
    low: float | None
    high: float | None
    note: str = ""


class Box(NamedTuple):
    """The values of one system. n = 0, or a number that is None, is a missing value."""

    label: str
    n: int
    least: float | None
    q1: float | None
    median: float | None
    q3: float | None
    greatest: float | None
    mean: float | None


class Stack(NamedTuple):
    """One bar. parts: (name, count), the same names in the same order in every bar."""

    label: str
    parts: Sequence[tuple[str, int]]


def forest(
    rows: Sequence[ForestRow], label: str, reference: float | tuple[float, ...] | None = 0.0
) -> Figure:
    """Estimates as dots, intervals as bars, one line each, and a dashed line at each `reference` (None: no line)."""
    references = (
        reference if isinstance(reference, tuple) else () if reference is None else (reference,)
    )
    lines = " and ".join(f"{reference:g}" for reference in references)
    line = f"; dashed line{'s' if len(references) > 1 else ''}: {lines}" if references else ""
    drawn_rows, caption = first(rows, "row")
    return _intervals(
        label, f"Dot: the estimate; bar: its interval{line}.{caption}", drawn_rows, references
    )


def groups(rows: Sequence[ForestRow], bars: Sequence[tuple[int, int]], label: str) -> Figure:
    """A ranking, best first. bars: (first, last) places in `rows`, both included, counted from 0: systems that one bar
    joins have no significant difference. ValueError for a bar that is not within the rows."""
    wrong = [bar for bar in bars if not 0 <= bar[0] <= bar[1] < len(rows)]
    if wrong:
        raise ValueError(f"bars beyond the {len(rows)} rows: {wrong}")
    drawn_rows, caption = first(rows, "system")
    drawn_rows = [
        row._replace(label=f"{row.note or i}. {row.label}", note="")
        for i, row in enumerate(drawn_rows, start=1)
    ]
    joined = " Systems joined by a vertical bar do not differ significantly." if bars else ""
    reading = f"Dot: the mean; bar: its interval.{joined}{caption}"
    drawn = [
        (top, min(bottom, len(drawn_rows) - 1)) for top, bottom in bars if top < len(drawn_rows)
    ]
    return _intervals(label, reading, drawn_rows, (), drawn)


def _intervals(
    label: str,
    reading: str,
    rows: Sequence[ForestRow],
    references: Sequence[float],
    bars: Sequence[tuple[int, int]] = (),
) -> Figure:
    values = known(end for row in rows if finite(row.estimate) is not None for end in row[1:4])
    if not values:
        return Figure(label, "No row has an estimate." if rows else NOTHING)
    ends = around([*values, *references])
    columns = _columns(bars)
    step = min(9.0, 80 / max([1, *(column + 1 for column in columns)]))
    side = step * max([0, *(column + 1 for column in columns)])
    names = [row.label for row in rows]
    texts = [_in_words(row, ends) for row in rows]
    pairs = zip(names, texts, strict=True)
    needed = max(figures.text_width(name) + figures.text_width(text, SMALL) for name, text in pairs)
    width = min(max(WIDTH, needed + side + 2 * PAD), _BROADEST)

    def draw(sheet: Sheet) -> None:
        axes = _lanes(sheet, names, texts, ends, side=side)
        for i, row in enumerate(rows):
            if references and finite(row.estimate) is not None:
                axes.vlines(references, i + 0.46, i + 0.96, **REFERENCE)
            _lane(sheet, axes, row, i)
        if bars:
            beside = sheet.panel(sheet.width - side, 0, sheet.width, sheet.height - _AXIS)
            beside.set(xlim=(0, side), ylim=(len(rows), 0))
            beside.axis("off")
            for (top, bottom), column in zip(bars, columns, strict=True):
                beside.vlines(
                    (column + 0.8) * step, top + 0.1, bottom + 0.9, color=SOFT, linewidth=step / 3
                )

    return Figure(label, reading, draw, _PITCH * len(rows) + _AXIS, width)


def box_plots(
    boxes: Sequence[Box], label: str, lo: float | None = None, hi: float | None = None
) -> Figure:
    """Box plots on one axis, in the order given. lo, hi: the metric's bounds; None: as far as the values go."""
    drawn_boxes, caption = first(boxes, "system")
    numbers_of = [
        known((box.least, box.q1, box.median, box.q3, box.greatest)) for box in drawn_boxes
    ]
    fives = [
        five if len(five) == 5 and box.n else []
        for five, box in zip(numbers_of, drawn_boxes, strict=True)
    ]
    values = [value for five in fives for value in five]
    if not values:
        return Figure(label, "No system has a score." if boxes else NOTHING)
    ends = around(values)
    ends = (
        (ends[0] if lo is None or lo > min(values) else lo),
        (ends[1] if hi is None or hi < max(values) else hi),
    )
    ends = ends if ends[1] - ends[0] >= FINEST else around(ends)
    numbers = [f"{fixed(box.median, _places(ends))} · n = {integer(box.n)}" for box in drawn_boxes]

    def draw(sheet: Sheet) -> None:
        names = [box.label for box in drawn_boxes]
        axes = _lanes(
            sheet, names, [n if five else "" for n, five in zip(numbers, fives, strict=True)], ends
        )
        for i, (box, five) in enumerate(zip(drawn_boxes, fives, strict=True)):
            y = i + _MIDDLE
            if not five:
                _gap(sheet, axes, y, "no score")
                continue
            axes.plot(
                [five[0], five[4]],
                [y, y],
                "-|",
                color=HUE,
                linewidth=1,
                markersize=6,
                clip_on=False,
            )
            axes.barh(
                y, five[3] - five[1], 0.4, five[1], facecolor=PALE, edgecolor=HUE, linewidth=1
            )
            axes.vlines(five[2], y - 0.2, y + 0.2, color=INK, linewidth=2, clip_on=False)
            if finite(box.mean) is not None:
                look = {"color": INK, "markerfacecolor": PAPER, "markersize": 4.5, "clip_on": False}
                axes.plot(box.mean, y, "D", markeredgewidth=1, **look)

    reading = "Line: minimum to maximum; box: the middle half; stroke and number: the median; diamond: the mean."
    return Figure(label, reading + caption, draw, _PITCH * len(drawn_boxes) + _AXIS)


def stacked(rows: Sequence[Stack], label: str) -> Figure:
    """Bars of equal length, each part as wide as its share, with its count where there is room: wins, ties, losses.

    ValueError where two bars have different parts.
    """
    bars, caption = first(rows, "bar")
    if not bars or not bars[0].parts:
        return Figure(label, NOTHING)
    names = [name for name, _ in bars[0].parts]
    if any([name for name, _ in bar.parts] != names for bar in bars):
        raise ValueError("stacked: the bars have different parts")
    counts = [[count for _, count in bar.parts] for bar in bars]
    totals = list(map(sum, counts))
    if not any(totals):
        return Figure(label, "No items were counted.")
    top = key_rows(names) * KEY + 4

    def draw(sheet: Sheet) -> None:
        from matplotlib.patches import Rectangle

        numbers = [f"n = {integer(total)}" if total else "" for total in totals]
        axes = _lanes(sheet, [bar.label for bar in bars], numbers, (0, 1), top=top)
        full = sheet.width - 2 * PAD
        ys = [i + _MIDDLE for i in range(len(bars))]
        before = [0.0] * len(bars)
        for part in range(len(names)):
            shares = [line[part] / (total or 1) for line, total in zip(counts, totals, strict=True)]
            drawn = axes.barh(ys, shares, 0.46, before, **_fill(part))
            before = [start + share for start, share in zip(before, shares, strict=True)]
            behind = {"boxstyle": "square,pad=0.15", "facecolor": PAPER, "edgecolor": "none"}
            look = {"color": INK if part % 3 else PAPER, "bbox": behind if part % 3 == 2 else None}
            for bar, line, share, y in zip(drawn, counts, shares, ys, strict=True):
                bar.set_visible(share > 0)
                text = integer(line[part])
                if share and figures.text_width(text, SMALL) + 4 <= share * full:
                    middle = bar.get_x() + share / 2
                    axes.text(
                        middle, y, text, ha="center", va="center_baseline", fontsize=SMALL, **look
                    )
        for i, total in enumerate(totals):
            if not total:
                _gap(sheet, axes, i + _MIDDLE, "nothing counted")
        key(sheet, 0, [Rectangle((0, 0), 1, 1, **_fill(part)) for part in range(len(names))], names)

    reading = f"Each bar is a total, from left to right: {', '.join(names)}; the numbers are counts.{caption}"
    return Figure(label, reading, draw, top + _PITCH * len(bars) + 2)


def _lanes(
    sheet: Sheet,
    names: Sequence[str],
    numbers: Sequence[str],
    ends: Ends,
    side: float = 0,
    top: float = 0,
) -> Any:
    """A list of lanes on one axis: above each its name and its number in words. The lane of row i is at
    y = i + _MIDDLE. side: room to keep at the right; top: above the first lane of lanes without an axis."""
    right = sheet.width - side
    axes = framed(
        sheet.panel(PAD, top, right - PAD, top + _PITCH * len(names)), ends, 0 if top else 6
    )
    axes.set_ylim(len(names), 0)
    for tick in axes.get_xticks():  # below the names, not through them
        starts = [place + 0.46 for place in range(len(names))]
        axes.vlines(
            [tick] * len(names),
            starts,
            [start + 0.5 for start in starts],
            color=LINE,
            linewidth=0.6,
            zorder=0,
        )
    axes.hlines(range(1, len(names)), *ends, color=LINE, linewidth=0.6, clip_on=False)
    axes.spines["bottom"].set_visible(not top)
    rooms = [right - figures.text_width(number, SMALL) - 2 * PAD for number in numbers]
    for i, name in enumerate(sheet.fitted(names, rooms)):
        sheet.text(0, top + i * _PITCH + 12, name)
        sheet.text(right, top + i * _PITCH + 12, numbers[i], ha="right", color=SOFT, fontsize=SMALL)
    return axes


def _lane(sheet: Sheet, axes: Any, row: ForestRow, place: int) -> None:
    """The interval and the dot; an end that is missing runs to the end of the axis, without its stop."""
    estimate = finite(row.estimate)
    low = finite(row.low)
    high = finite(row.high)
    y = place + _MIDDLE
    ends = axes.get_xlim()
    if estimate is None:
        _gap(sheet, axes, y, f"no estimate: {row.note}" if row.note else "no estimate")
        return
    if low is not None or high is not None:
        axes.hlines(
            y,
            ends[0] if low is None else low,
            ends[1] if high is None else high,
            color=HUE,
            linewidth=1.8,
        )
        stops = known([low, high])
        axes.plot(
            stops,
            [y] * len(stops),
            "|",
            color=HUE,
            markersize=8,
            markeredgewidth=1.4,
            clip_on=False,
        )
    axes.plot(estimate, y, "o", color=INK, markersize=5.5, clip_on=False)


def _gap(sheet: Sheet, axes: Any, y: float, words: str) -> None:
    (fitted,) = sheet.fitted([words], [sheet.width - 2 * PAD], SMALL)
    look = {"color": SOFT, "fontsize": SMALL, "fontstyle": "italic", "va": "center"}
    axes.text(axes.get_xlim()[0], y, fitted, **look)


def _in_words(row: ForestRow, ends: Ends) -> str:
    if finite(row.estimate) is None:
        return ""
    low = finite(row.low)
    high = finite(row.high)
    places = _places(ends)
    interval = (
        "" if low is None and high is None else f" [{fixed(low, places)}, {fixed(high, places)}]"
    )
    return f"{fixed(row.estimate, places)}{interval}" + (
        f" · {fitted(row.note, 150, SMALL)}" if row.note else ""
    )


def _places(ends: Ends) -> int:
    """Decimals for numbers beside an axis: three figures of its length."""
    return min(max(0, 2 - math.floor(math.log10(max(ends[1] - ends[0], FINEST)) + 1e-9)), 9)


def _columns(bars: Sequence[tuple[int, int]]) -> list[int]:
    """The first column in which a bar touches no other."""
    columns: list[list[tuple[int, int]]] = []
    places = []
    for top, bottom in bars:
        free = (
            i for i, placed in enumerate(columns) if all(bottom < a or b < top for a, b in placed)
        )
        column = next(free, len(columns))
        columns += [[]] if column == len(columns) else []
        columns[column].append((top, bottom))
        places.append(column)
    return places


def _fill(place: int) -> dict[str, Any]:
    """Full, pale and hatched, then the same in the next hues."""
    hue = HUES[(place // 3 * 2 + (place % 3 == 2)) % len(HUES)]
    kinds: tuple[dict[str, Any], ...] = (
        {"facecolor": hue, "edgecolor": hue},
        {"facecolor": PALE, "edgecolor": SOFT},
        {"facecolor": PAPER, "edgecolor": hue, "hatch": "/////"},
    )
    return {"linewidth": 0.7, **kinds[place % 3]}
