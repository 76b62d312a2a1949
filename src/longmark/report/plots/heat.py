"""A table of numbers as a heat map."""

from __future__ import annotations

import math
from collections.abc import Sequence

from longmark.report.markup import scrolling
from longmark.report.numbers import fixed
from longmark.report.plots import draw
from longmark.report.plots.frame import NARROW, WIDE, empty, framed
from longmark.report.plots.names import fitted_names, text_width
from longmark.report.plots.scale import finite

STRONGEST = 0.75
"""Opacity of the strongest shade: the number in the cell still stands out from it (a test holds the contrast)."""
_CELL = 26
_TURN = 45
_KEY = 46


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
) -> str:
    """The number in every cell, shaded between `lo` and `hi`: away from 0 in two hues where lo < 0 < hi, else in one.

    values: a line for each of `rows`, a number for each of `columns`; None is a hatched cell. places: decimals.
    ValueError where the values are not of that shape.
    """
    if len(values) != len(rows) or any(len(line) != len(columns) for line in values):
        raise ValueError(f"heat map: the values are not {len(rows)} x {len(columns)}")
    if not rows or not columns:
        return empty(label, says)
    lacking = sum(finite(value) is None for line in values for value in line)
    two = lo < 0 < hi
    reading = "The stronger the shade, the further from 0." if two else "The stronger the shade, the greater the value."
    reading += " Hatched: no value." if lacking else ""
    drawn = []
    for kind, width in (("narrow", NARROW), ("wide", WIDE)):
        drawn.append(_drawing(kind, width, rows, columns, values, label, (lo, hi), places))
    return framed(label, says, reading, scrolling(label, "".join(drawn)))


def _drawing(
    kind: str,
    width: int,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    label: str,
    ends: tuple[float, float],
    places: int,
) -> str:
    """A drawing as wide as its columns need: where that is more than there is room, it scrolls."""
    most = 100 if width == NARROW else 220
    name_room = min(max(map(text_width, rows)), most)
    head_room = min(max(map(text_width, columns)), most)
    texts = [[fixed(finite(value), places) for value in line] for line in values]
    cell = max(max(text_width(words) for line in texts for words in line) + 10, 34)
    left, top = name_room + 10, head_room * math.sin(math.radians(_TURN)) + 16
    lean = head_room * math.cos(math.radians(_TURN)) + 8
    cell = max(cell, min(60, (width - left - lean) / len(columns)))
    parts = []
    for i, (name, short) in enumerate(zip(rows, fitted_names(rows, name_room), strict=True)):
        parts.append(draw.name("lane", name_room, top + i * _CELL + 17, name, short, "end"))
    for i, (name, short) in enumerate(zip(columns, fitted_names(columns, head_room), strict=True)):
        x = left + (i + 0.5) * cell
        turned = f' transform="rotate(-{_TURN} {x:.1f} {top - 8:.1f})"'
        parts.append(draw.name("lane", x, top - 8, name, short, more=turned))
    for i, line in enumerate(values):
        for j, value in enumerate(line):
            x, y = left + j * cell, top + i * _CELL
            found = finite(value)
            parts.append(_hatched(x, y, cell) if found is None else _shaded(x, y, cell, found, ends))
            parts.append(draw.text("cell-number", x + cell / 2, y + 17, texts[i][j]))
    bottom = top + len(rows) * _CELL + 12
    parts += _key(ends, left, bottom, places)
    full = left + max(len(columns) * cell + lean, _KEY * 5)
    return draw.svg(f"{kind} heat", full, bottom + 34, label, parts, f' width="{full:.0f}"')


def _key(ends: tuple[float, float], left: float, top: float, places: int) -> list[str]:
    """Five samples from the least to the greatest shade, with their values."""
    lo, hi = ends
    values = (lo, lo / 2, 0.0, hi / 2, hi) if lo < 0 < hi else tuple(lo + (hi - lo) * i / 4 for i in range(5))
    parts = []
    for i, value in enumerate(values):
        x = left + i * _KEY
        parts.append(_shaded(x, top, _KEY, value, ends, 12))
        parts.append(draw.text("tick", x + _KEY / 2, top + 26, fixed(value, places)))
    return parts


def _shaded(x: float, y: float, cell: float, value: float, ends: tuple[float, float], height: float = _CELL) -> str:
    lo, hi = ends
    if lo < 0 < hi:
        part = value / hi if value >= 0 else value / lo
        kind = "up" if value >= 0 else "down"
    else:
        part, kind = (value - lo) / (hi - lo) if hi > lo else 0.0, "up"
    shade = STRONGEST * min(max(part, 0.0), 1.0)
    return draw.rect(f"cell {kind}", x + 0.5, y + 0.5, cell - 1, height - 1, f' fill-opacity="{shade:.3f}"')


def _hatched(x: float, y: float, cell: float) -> str:
    place = (x + 0.5, y + 0.5, cell - 1, _CELL - 1)
    return draw.rect("cell none", *place) + draw.hatch("hatch", *place)
