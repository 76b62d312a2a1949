"""The frame of a figure: its caption, and the drawing for a narrow and for a wide place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from longmark.report.markup import text
from longmark.report.plots.draw import svg

NARROW, WIDE = 340, 720
"""Widths of the two drawings in their units; a unit is about a pixel, see .plot in plots.css."""

Drawing = tuple[float, Sequence[str]]
"""The height of a drawing, and its pieces."""


def figure(label: str, says: str, reading: str, draw: Callable[[int], Drawing]) -> str:
    """A figure under its label. says: what it shows, reading: how it is to be read, in a sentence or two each; draw:
    makes the drawing for a width."""
    drawn = []
    for kind, width in (("narrow", NARROW), ("wide", WIDE)):
        height, parts = draw(width)
        drawn.append(svg(kind, width, height, label, parts))
    return framed(label, says, reading, "".join(drawn))


def framed(label: str, says: str, reading: str, content: str) -> str:
    """content: HTML that is already safe."""
    parts = [f'<p class="plot-name"><strong>{text(label)}</strong></p>']
    parts += [f'<p class="finding">{text(says)}</p>'] if says else []
    parts += [f'<p class="reading">{text(reading)}</p>'] if reading else []
    return (
        f'<figure class="plot"><figcaption>{" ".join(parts)}</figcaption><div class="drawn">{content}</div></figure>\n'
    )


def empty(label: str, says: str, why: str = "There is nothing to draw.") -> str:
    """The figure that stands where there are no values."""
    return framed(label, says, "", f'<p class="none">{escape(why)}</p>')
