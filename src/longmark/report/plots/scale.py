"""From values to places on a drawing, and where the ticks stand."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from longmark.report.distribution import round_step, spread
from longmark.report.numbers import fixed
from longmark.report.plots.names import text_width

FINEST = 1e-9
"""What lies closer together is one place: no axis is drawn finer."""
LARGEST = 1e300
"""What lies further from 0 cannot be told from what is not finite: the length of its axis is not."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A value's place: `lo` at `start`, `hi` at `end`, and no further out than these. lo < hi."""

    lo: float
    hi: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        inside = min(max(value, self.lo), self.hi)
        return self.start + (self.end - self.start) * (inside - self.lo) / (self.hi - self.lo)

    def ticks(self, most: int = 7) -> list[float]:
        """Round numbers within the scale, at most `most` and no two of them so close that their texts would touch."""
        for count in range(max(most, 2), 1, -1):
            step = round_step((self.hi - self.lo) / count)
            first, last = math.ceil(self.lo / step - 1e-6), math.floor(self.hi / step + 1e-6)
            ticks = [round(i * step, 12) for i in range(first, last + 1)] if last - first < 50 else []
            widest = max((text_width(text) for text in tick_texts(ticks)), default=0)
            if 2 <= len(ticks) <= most and widest + 8 <= abs(self.end - self.start) * step / (self.hi - self.lo):
                return ticks
        return [self.lo, self.hi]


def finite(value: float | None) -> float | None:
    """The value; None where there is none, or none that can be drawn."""
    return value if value is not None and abs(value) <= LARGEST else None


def known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None and abs(value) <= LARGEST]


def around(values: Sequence[float], zero: bool = False) -> tuple[float, float]:
    """Round ends around the values. zero: begin at 0 where no value is below it and that wastes little room."""
    least, greatest = min(values), max(values)
    if zero and 0 < least < 0.5 * greatest:
        least = 0.0
    step = max(round_step(spread(least, greatest) / 6 or abs(greatest) / 6 or 1.0), FINEST)
    lo, hi = math.floor(least / step + 1e-6) * step, math.ceil(greatest / step - 1e-6) * step
    if lo == hi:
        lo, hi = lo - step, hi + step
    return round(lo, 12), round(hi, 12)


def tick_texts(ticks: Sequence[float]) -> list[str]:
    """The ticks with just enough decimals to tell them apart."""
    return [fixed(tick, tick_places(ticks)) for tick in ticks]


def tick_places(ticks: Sequence[float]) -> int:
    step = min((b - a for a, b in pairwise(ticks)), default=0.0) or 1.0
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    if any(abs(round(tick, places) - tick) > step / 50 for tick in ticks):
        places += 1
    return places


def places_for(lo: float, hi: float) -> int:
    """Decimals for numbers beside an axis: three figures of its length."""
    return min(max(0, 2 - math.floor(math.log10(max(hi - lo, FINEST)) + 1e-9)), 9)
