"""The figures that are lists: a lane for each row, its name and its number above it, all on one axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from longmark.report import figures
from longmark.report.chart_parts import (
    FINEST,
    KEY,
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
)
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
from longmark.report.format import fixed, integer

_PITCH = 34
"""From a lane to the next."""
_AXIS = 22
"""The room of the axis."""
_MIDDLE = 0.71
"""Where in its row a lane is."""
_LINE = 13
"""The room of a number that stands below its name, since a line has no room for both."""


class _Lanes(NamedTuple):
    """How a list of lanes is laid out. pitch: from a lane to the next; middle: where in its row a lane is; below: numbers
    stand below the names, in place of beside them."""

    pitch: float = _PITCH
    middle: float = _MIDDLE
    below: bool = False

    @property
    def ruled(self) -> float:
        """Where in a row the lines of the axis begin: below its words."""
        return self.middle - 0.25 * _PITCH / self.pitch


_BESIDE = _Lanes()
_BELOW = _Lanes(_PITCH + _LINE, 1 - (1 - _MIDDLE) * _PITCH / (_PITCH + _LINE), below=True)


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
    lanes = _BESIDE if needed + side + 2 * PAD <= WIDTH else _BELOW

    def draw(sheet: Sheet) -> None:
        axes = _lanes(sheet, names, texts, ends, side=side, lanes=lanes)
        for i, row in enumerate(rows):
            if references and finite(row.estimate) is not None:
                axes.vlines(references, i + lanes.ruled, i + 0.96, **REFERENCE)
            _lane(sheet, axes, row, i + lanes.middle)
        if bars:
            beside = sheet.panel(sheet.width - side, 0, sheet.width, sheet.height - _AXIS)
            beside.set(xlim=(0, side), ylim=(len(rows), 0))
            beside.axis("off")
            for (top, bottom), column in zip(bars, columns, strict=True):
                beside.vlines(
                    (column + 0.8) * step, top + 0.1, bottom + 0.9, color=SOFT, linewidth=step / 3
                )

    return Figure(label, reading, draw, lanes.pitch * len(rows) + _AXIS)


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
    lanes: _Lanes = _BESIDE,
) -> Any:
    """A list of lanes on one axis: above each its name and its number in words. The lane of row i is at
    y = i + lanes.middle. side: room to keep at the right; top: above the first lane of lanes without an axis."""
    right = sheet.width - side
    axes = framed(
        sheet.panel(PAD, top, right - PAD, top + lanes.pitch * len(names)), ends, 0 if top else 6
    )
    axes.set_ylim(len(names), 0)
    for tick in axes.get_xticks():  # below the names, not through them
        starts = [place + lanes.ruled for place in range(len(names))]
        axes.vlines(
            [tick] * len(names),
            starts,
            [place + 0.96 for place in range(len(names))],
            color=LINE,
            linewidth=0.6,
            zorder=0,
        )
    axes.hlines(range(1, len(names)), *ends, color=LINE, linewidth=0.6, clip_on=False)
    axes.spines["bottom"].set_visible(not top)
    numbers = sheet.fitted(numbers, [right - PAD] * len(numbers), SMALL)
    beside = [0 if lanes.below else figures.text_width(number, SMALL) for number in numbers]
    rooms = [right - room - 2 * PAD for room in beside]
    for i, name in enumerate(sheet.fitted(names, rooms)):
        line = top + i * lanes.pitch + 12
        sheet.text(0, line, name)
        look = {"color": SOFT, "fontsize": SMALL}
        if lanes.below:
            sheet.text(0, line + _LINE, numbers[i], **look)
        else:
            sheet.text(right, line, numbers[i], ha="right", **look)
    return axes


def _lane(sheet: Sheet, axes: Any, row: ForestRow, y: float) -> None:
    """The interval and the dot; an end that is missing runs to the end of the axis, without its stop."""
    estimate = finite(row.estimate)
    low = finite(row.low)
    high = finite(row.high)
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
