"""Shares of a whole as stacked bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from longmark.report.numbers import share, whole
from longmark.report.plots import draw
from longmark.report.plots.frame import NARROW, Drawing, empty, figure
from longmark.report.plots.names import fitted, text_width
from longmark.report.plots.rows import lines

FILLS = 6
"""Fills of the style sheet, .f0 to .f5: full, pale, hatched, and the same in another hue."""
_HEIGHT = 18
_KEY = 20


class Stack(NamedTuple):
    """One bar. parts: (name, count), the same names in the same order in every bar."""

    label: str
    parts: Sequence[tuple[str, int]]


def stacked(rows: Sequence[Stack | tuple[str, Sequence[tuple[str, int]]]], label: str, *, says: str = "") -> str:
    """Bars of equal length, each part as wide as its share, with its count where there is room: wins, ties, losses.

    ValueError where two bars have different parts.
    """
    bars = [Stack(*row) for row in rows]
    if not bars or not bars[0].parts:
        return empty(label, says)
    names = [name for name, _ in bars[0].parts]
    if any([name for name, _ in bar.parts] != names for bar in bars):
        raise ValueError("stacked: the bars have different parts")
    totals = [sum(count for _, count in bar.parts) for bar in bars]
    if not any(totals):
        return empty(label, says, "Nothing was counted.")
    figures = [f"n = {whole(total)}" if total else "" for total in totals]
    reading = f"Each bar is a whole, from left to right: {', '.join(names)}; the numbers are counts."

    def drawing(width: int) -> Drawing:
        key, height = _key(names, width)
        listed = lines(width, [bar.label for bar in bars], figures)
        parts = []
        for i, (bar, total) in enumerate(zip(bars, totals, strict=True)):
            if total:
                parts += _bar(bar, total, listed.left, listed.right, listed.middle(i))
            else:
                parts.append(listed.gap(i, "nothing counted"))
        body = f'<g transform="translate(0 {height:.1f})">{"".join([*parts, *listed.texts()])}</g>'
        return height + listed.bottom + 4, [*key, body]

    return figure(label, says, reading, drawing)


def _bar(bar: Stack, total: int, left: float, right: float, middle: float) -> list[str]:
    parts, x = [], left
    for place, (name, count) in enumerate(bar.parts):
        if not count:
            continue
        width = (right - left) * count / total
        words = whole(count)
        piece = _fill(place, x, middle - _HEIGHT / 2, width, _HEIGHT)
        if text_width(words) + 6 <= width:
            piece += draw.text(f"part-number f{place % FILLS}", x + width / 2, middle + 4, words)
        parts.append(draw.told(f"{bar.label}: {name} {words} of {whole(total)} ({share(count, total)})", piece))
        x += width
    return parts


def _fill(place: int, x: float, y: float, width: float, height: float) -> str:
    kind = f"f{place % FILLS}"
    strokes = draw.hatch(f"strokes {kind}", x, y, width, height, 5) if place % 3 == 2 else ""
    return draw.rect(f"part {kind}", x, y, width, height) + strokes


def _key(names: Sequence[str], width: int) -> tuple[list[str], float]:
    """Samples with their names, in as many lines as they need."""
    parts, x, y = [], 0.0, 4.0
    for place, name in enumerate(names):
        short = fitted(name, (width if width <= NARROW else 240) - 26)
        needed = text_width(short) + 26
        if x and x + needed > width:
            x, y = 0.0, y + _KEY
        parts.append(_fill(place, x, y, 14, 12))
        parts.append(draw.name("key", x + 19, y + 10, name, short))
        x += needed + 10
    return parts, y + _KEY + 6
