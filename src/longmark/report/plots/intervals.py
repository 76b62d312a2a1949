"""Estimates with their intervals: a forest plot with a line of reference, and a ranking with groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from longmark.report.numbers import fixed
from longmark.report.plots import draw
from longmark.report.plots.frame import Drawing, empty, figure
from longmark.report.plots.rows import Lines, lines
from longmark.report.plots.scale import Scale, around, finite, known, places_for

_BAR = 9
"""From one of a ranking's bars to the next."""


class ForestRow(NamedTuple):
    """One line. estimate None: a gap, and `note` says why; low, high None: an estimate without an interval.

    note: a few words at the end of the line, as `p = 0.012` or `n = 40`.
    """

    label: str
    estimate: float | None
    low: float | None
    high: float | None
    note: str = ""


class Ranked(NamedTuple):
    """One system's place in a ranking; its mean and the ends of the interval, None as in `ForestRow`. rank: what stands
    before its name, as `1-3`; its number where none is given."""

    label: str
    estimate: float | None
    low: float | None
    high: float | None
    rank: str = ""


def forest(rows: Sequence[ForestRow], label: str, reference: float | None = 0.0, *, says: str = "") -> str:
    """Estimates as dots, intervals as bars, one line each, and a dashed line at `reference` (None: no line)."""
    values = _values(rows)
    if not values:
        return empty(label, says, "No line has a value." if rows else "There is nothing to draw.")
    ends = around([*values, *known([reference])])
    places = places_for(*ends)
    reading = "Dot: the estimate; bar: its interval" + (
        f"; dashed line: {reference:g}." if reference is not None else "."
    )
    names = [row.label for row in rows]
    figures = [_in_words(row, places) for row in rows]
    notes = [row.note if finite(row.estimate) is not None else "" for row in rows]

    def drawing(width: int) -> Drawing:
        listed = lines(width, names, figures, notes)
        scale, parts = listed.axis(*ends)
        if reference is not None:
            parts.append(listed.reference(scale(reference)))
        for i, row in enumerate(rows):
            parts.append(_lane(row, listed, scale, i, row.note))
        return listed.height, [*parts, *listed.texts()]

    return figure(label, says, reading, drawing)


def groups(rows: Sequence[Ranked], bars: Sequence[tuple[int, int]], label: str, *, says: str = "") -> str:
    """A ranking, best first. bars: (first, last) places in `rows`, both included, counted from 0: systems that one bar
    joins cannot be told apart. ValueError for a bar that is not within the rows."""
    wrong = [bar for bar in bars if not 0 <= bar[0] <= bar[1] < len(rows)]
    if wrong:
        raise ValueError(f"bars beyond the {len(rows)} rows: {wrong}")
    values = _values(rows)
    if not values:
        return empty(label, says, "No system has a value." if rows else "There is nothing to draw.")
    ends = around(values)
    places = places_for(*ends)
    reading = "Dot: the mean; bar through it: its interval. Systems joined by an upright bar cannot be told apart."
    names = [f"{row.rank or i}. {row.label}" for i, row in enumerate(rows, start=1)]
    figures = [_in_words(row, places) for row in rows]
    columns = _columns(bars)
    count = max(columns, default=-1) + 1
    step = min(_BAR, 90 / max(count, 1))

    def drawing(width: int) -> Drawing:
        listed = lines(width, names, figures, side=count * step)
        scale, parts = listed.axis(*ends)
        parts += [_lane(row, listed, scale, i, "") for i, row in enumerate(rows)]
        for (first, last), column in zip(bars, columns, strict=True):
            x = width - (count - column - 0.5) * step
            top = listed.top + first * listed.pitch + 4
            bottom = listed.top + (last + 1) * listed.pitch - 4
            words = (
                f"{names[first]} to {names[last]}: cannot be told apart" if first < last else f"{names[first]}: alone"
            )
            parts.append(draw.told(words, draw.rect("join", x - step / 4, top, step / 2, bottom - top)))
        return listed.height, [*parts, *listed.texts()]

    return figure(label, says, reading, drawing)


def _columns(bars: Sequence[tuple[int, int]]) -> list[int]:
    """The first column in which a bar touches no other."""
    ends: list[list[tuple[int, int]]] = []
    found = []
    for first, last in bars:
        free = (i for i, taken in enumerate(ends) if all(last < a or b < first for a, b in taken))
        column = next(free, len(ends))
        if column == len(ends):
            ends.append([])
        ends[column].append((first, last))
        found.append(column)
    return found


def _values(rows: Sequence[ForestRow] | Sequence[Ranked]) -> list[float]:
    return known(end for row in rows if finite(row.estimate) is not None for end in (row.estimate, row.low, row.high))


def _in_words(row: ForestRow | Ranked, places: int) -> str:
    if finite(row.estimate) is None:
        return ""
    low, high = finite(row.low), finite(row.high)
    if low is None and high is None:
        return fixed(row.estimate, places)
    return f"{fixed(row.estimate, places)} [{fixed(low, places)}, {fixed(high, places)}]"


def _lane(row: ForestRow | Ranked, listed: Lines, scale: Scale, place: int, why: str) -> str:
    """The interval and the dot; an end that is missing runs to the end of the axis, without its stop."""
    estimate, low, high = finite(row.estimate), finite(row.low), finite(row.high)
    y = listed.middle(place)
    if estimate is None:
        return listed.gap(place, f"no value: {why}" if why else "no value")
    parts = []
    if low is not None or high is not None:
        ends = (scale(scale.lo if low is None else low), scale(scale.hi if high is None else high))
        parts.append(draw.rect("range", ends[0], y - 4, max(ends[1] - ends[0], 1), 8))
        stops = [end for end, value in zip(ends, (low, high), strict=True) if value is not None]
        parts += [draw.line("stop", end, y - 6, end, y + 6) for end in stops]
    parts.append(draw.circle("estimate", scale(estimate), y, 3.5))
    return "".join(parts)
