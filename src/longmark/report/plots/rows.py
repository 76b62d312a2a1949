"""Figures that are a list of lines: a name, its lane on the common axis, its number in words.

In a wide drawing the name stands to the left of the lane, the number to its right. In a narrow one both stand above it,
or, where a name leaves the number no room there, the number below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from longmark.report.plots import draw
from longmark.report.plots.frame import NARROW
from longmark.report.plots.names import begun, fitted_names, text_width
from longmark.report.plots.scale import Scale, tick_texts

_PAD = 7
_GAP = 14
_MANY = 12
"""With more lines than these the axis stands above them too."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The places of a list of lines. left, right: the ends of the lanes; side: where the room kept at the right
    begins; top: above the first line; pitch: from one line to the next; below: whether numbers and notes stand below
    the lane."""

    width: int
    names: Sequence[str]
    figures: Sequence[str]
    notes: Sequence[str]
    left: float
    right: float
    side: float
    top: float
    pitch: float
    name_room: float
    note_room: float
    below: bool = False

    @property
    def narrow(self) -> bool:
        return self.width <= NARROW

    @property
    def bottom(self) -> float:
        return self.top + len(self.names) * self.pitch

    def middle(self, place: int) -> float:
        """The height of a line's lane."""
        return self.top + place * self.pitch + (28 if self.narrow else self.pitch / 2)

    def texts(self) -> list[str]:
        """Names, numbers and notes of all lines, with a fine rule between lines."""
        parts = []
        short = fitted_names(self.names, self.name_room)
        for i, (name, figure, note) in enumerate(zip(self.names, self.figures, self.notes, strict=True)):
            y = self.top + i * self.pitch
            base = y + 13 if self.narrow else self.middle(i) + 4
            if i:
                parts.append(draw.line("rule", 0, y, self.side, y))
            parts.append(draw.name("lane halo", 0, base, name, short[i]))
            figure_base = y + 49 if self.below else base
            end = self.side - (self.note_room + _GAP if self.note_room and not self.narrow else 0)
            parts.append(draw.text("lane-number halo", end, figure_base, figure, "end"))
            if note:
                x = 0 if self.narrow else end + _GAP
                parts.append(draw.name("lane-number halo", x, figure_base, note, begun(note, self.note_room)))
        return parts

    def axis(self, lo: float, hi: float) -> tuple[Scale, list[str]]:
        """The scale of the lanes, and its ticks with lines through all lanes."""
        scale = Scale(lo, hi, self.left, self.right)
        ticks = scale.ticks(5 if self.narrow else 8)
        parts = [draw.line("grid", scale(tick), self.top, scale(tick), self.bottom) for tick in ticks]
        parts.append(draw.line("axis", self.left - 4, self.bottom, self.right + 4, self.bottom))
        for tick, text in zip(ticks, tick_texts(ticks), strict=True):
            parts.append(draw.line("axis", scale(tick), self.bottom, scale(tick), self.bottom + 4))
            parts.append(draw.text("tick", scale(tick), self.bottom + 16, text))
            if len(self.names) > _MANY:
                parts.append(draw.text("tick", scale(tick), self.top - 5, text))
        return scale, parts

    def reference(self, x: float) -> str:
        """A dashed line through all lanes; it breaks where a text stands upon it."""
        pieces = [
            (self.top + place * self.pitch + above, self.top + place * self.pitch + below)
            for place in range(len(self.names))
            for above, below in self._clear(place, x)
        ]
        steps = "".join(f"M{x:.1f} {above:.1f}V{below:.1f}" for above, below in _joined(pieces))
        return draw.path("reference", steps)

    def _clear(self, place: int, x: float) -> list[tuple[float, float]]:
        """The parts of a line, measured from its top, in which no text stands at x."""
        name = min(text_width(self.names[place]), self.name_room) + 4
        note = min(text_width(self.notes[place]), self.note_room) + 4
        figure = self.side - text_width(self.figures[place]) - 4
        lane = bool(self.figures[place])
        if not self.narrow:
            return [(0, self.pitch)] if lane else []
        if not self.below:
            spans = [(0, 17, name < x < figure), (17, self.pitch, lane)]
        else:
            spans = [(0, 17, name < x), (17, 39, lane), (39, self.pitch, note < x < figure)]
        return [(above, below) for above, below, clear in spans if clear]

    @property
    def height(self) -> float:
        return self.bottom + 22

    def gap(self, place: int, words: str) -> str:
        """What stands in a lane that has no value."""
        short = begun(words, self.side - self.left)
        return draw.name("gap halo", self.left, self.middle(place) + 4, words, short)


def _joined(pieces: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Ascending pieces of a line, those that touch as one."""
    found: list[tuple[float, float]] = []
    for start, end in pieces:
        if found and start <= found[-1][1] + 0.01:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def lines(
    width: int, names: Sequence[str], figures: Sequence[str], notes: Sequence[str] | None = None, side: float = 0
) -> Lines:
    """figures: the number of each line in words; notes: a few words more; side: room to keep at the right."""
    notes = notes or [""] * len(names)
    top = 18 if len(names) > _MANY else 4
    end = width - side - (_GAP if side else 0)
    figure_room = max(map(text_width, figures), default=0)
    if width <= NARROW:
        beside = end - figure_room - _GAP
        below = any(notes) or max(map(text_width, names), default=0) > beside
        name_room, pitch = (end, 58) if below else (beside, 42)
        return Lines(
            *(width, names, figures, notes, 2 * _PAD, end - 2 * _PAD, end, top, pitch, name_room, beside), below=below
        )
    note_room = min(max(map(text_width, notes), default=0), 150)
    name_room = min(max(map(text_width, names), default=0), 270)
    left = name_room + _GAP + _PAD
    right = end - figure_room - _GAP - (note_room + _GAP if note_room else 0) - _PAD
    return Lines(width, names, figures, notes, left, right, end, top, 26, name_room, note_room)
