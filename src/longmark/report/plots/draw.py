"""Pieces of SVG. Every text is escaped here; what a piece looks like stands in the style sheet, under its class."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from html import escape

from longmark.report.markup import upright

SIZE = 11
"""Height of all text, in the drawing's units."""
JOINTS = (" − ", " against ", " × ", " → ")
"""What stands between the two names of a pair."""
_JOINERS = "\u200c\u200d"
"""Not printable by themselves, but part of Persian, Hindi and emoji."""


def one_line(foreign: str) -> str:
    """Foreign text on one line, without control characters and without marks that turn the direction of writing."""
    shown = (char if char.isprintable() or char in _JOINERS else " " for char in upright(foreign))
    return " ".join("".join(shown).split())


def _in_order(words: str) -> str:
    """The two names of a pair, each kept from turning the other's place where one is written from right to left."""
    joint = next((joint for joint in JOINTS if words.count(joint) == 1), None)
    if joint is None or not any(unicodedata.bidirectional(char) in ("R", "AL") for char in words):
        return words
    return joint.join(f"\u2068{name}\u2069" for name in words.split(joint))


def rect(kind: str, x: float, y: float, width: float, height: float, more: str = "") -> str:
    return f'<rect class="{kind}" x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"{more}/>'


def line(kind: str, x1: float, y1: float, x2: float, y2: float, more: str = "") -> str:
    return f'<line class="{kind}" x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}"{more}/>'


def circle(kind: str, x: float, y: float, radius: float, more: str = "") -> str:
    return f'<circle class="{kind}" cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}"{more}/>'


def path(kind: str, steps: str, more: str = "") -> str:
    return f'<path class="{kind}" d="{steps}"{more}/>'


def polyline(points: Sequence[tuple[float, float]]) -> str:
    """The steps of a path through the points."""
    return "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in points)


def text(kind: str, x: float, y: float, words: str, anchor: str = "middle", more: str = "") -> str:
    shown = escape(_in_order(one_line(words)))
    return f'<text class="{kind}" x="{_n(x)}" y="{_n(y)}" text-anchor="{anchor}"{more}>{shown}</text>'


def told(whole: str, piece: str) -> str:
    """A piece with a tooltip."""
    return f"<g><title>{escape(one_line(whole))}</title>{piece}</g>"


def name(kind: str, x: float, y: float, whole: str, short: str, anchor: str = "start", more: str = "") -> str:
    """A name as it fits its place, with a tooltip where that is not all of it."""
    piece = text(kind, x, y, short, anchor, more)
    return piece if short == one_line(whole) else told(whole, piece)


def diamond(kind: str, x: float, y: float, radius: float = 5) -> str:
    r = _n(radius)
    return path(kind, f"M{_n(x)} {_n(y - radius)}l{r} {r}l-{r} {r}l-{r} -{r}z")


def hatch(kind: str, x: float, y: float, width: float, height: float, apart: int = 7) -> str:
    """Strokes from below to the upper right that fill a rectangle, as many units `apart`."""
    strokes = []
    for start in range(-int(height), int(width) + 1, apart):
        first, last = max(start, 0), min(start + height, width)
        if last > first:
            strokes.append(
                f"M{_n(x + first)} {_n(y + height - (first - start))}l{_n(last - first)} -{_n(last - first)}"
            )
    return path(kind, "".join(strokes))


def svg(kind: str, width: float, height: float, label: str, parts: Sequence[str], more: str = "") -> str:
    return (
        f'<svg class="{kind}" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(label)}"{more}>'
        f"{''.join(parts)}</svg>"
    )


def _n(value: float) -> str:
    return f"{value:.1f}"
