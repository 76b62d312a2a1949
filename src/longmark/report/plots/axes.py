"""Two axes, their names and ticks, for figures of x and y."""

from __future__ import annotations

from dataclasses import dataclass

from longmark.report.plots import draw
from longmark.report.plots.names import fitted, text_width
from longmark.report.plots.scale import Scale, tick_texts

Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Axes:
    """A frame between `left` and `right`, `top` and `bottom`; x and y: from values to places in it."""

    left: float
    right: float
    top: float
    bottom: float
    x: Scale
    y: Scale
    parts: list[str]

    def inside(self, x: float, y: float) -> bool:
        return self.x.lo <= x <= self.x.hi and self.y.lo <= y <= self.y.hi


def axes(width: float, height: float, xs: Ends, ys: Ends, names: tuple[str, str], side: float = 0) -> Axes:
    """Axes that fill a drawing of this size. names: of x, below its axis, and y, above its axis (neither is turned
    round); side: room to keep at the right."""
    top, bottom = 30.0, height - 38
    y = Scale(*ys, bottom, top)
    y_ticks = y.ticks(7)
    texts = tick_texts(y_ticks)
    left, right = max(map(text_width, texts)) + 10, width - side - 10
    most = 5 if width < 500 else 8
    widest = max(map(text_width, tick_texts(Scale(*xs, left, right).ticks(most))))
    right = min(right, width - widest / 2)
    x = Scale(*xs, left, right)
    x_ticks = x.ticks(most)
    parts = []
    for tick, words in zip(y_ticks, texts, strict=True):
        parts.append(draw.line("grid", left, y(tick), right, y(tick)))
        parts.append(draw.text("tick", left - 6, y(tick) + 4, words, "end"))
    for tick, words in zip(x_ticks, tick_texts(x_ticks), strict=True):
        parts.append(draw.line("axis", x(tick), bottom, x(tick), bottom + 4))
        parts.append(draw.text("tick", x(tick), bottom + 16, words))
    parts.append(draw.path("frame", f"M{left:.1f} {top:.1f}V{bottom:.1f}H{right:.1f}"))
    parts.append(draw.name("axis-name", right, bottom + 32, names[0], fitted(names[0], right), "end"))
    parts.append(draw.name("axis-name", 0, 12, names[1], fitted(names[1], width)))
    return Axes(left, right, top, bottom, x, y, parts)


def clipped(slope: float, intercept: float, frame: Axes) -> list[tuple[float, float]]:
    """The two places where a line leaves the frame; none where it does not cross it."""
    found = []
    for x in (frame.x.lo, frame.x.hi):
        found.append((x, slope * x + intercept))
    if slope:
        found += [((y - intercept) / slope, y) for y in (frame.y.lo, frame.y.hi)]
    slack = 1e-9 * max(map(abs, (*found[0], *found[1], 1.0)))
    ends = sorted(
        {
            (round(frame.x(x), 3), round(frame.y(y), 3))
            for x, y in found
            if frame.x.lo - slack <= x <= frame.x.hi + slack and frame.y.lo - slack <= y <= frame.y.hi + slack
        }
    )
    return [ends[0], ends[-1]] if len(ends) > 1 else []
