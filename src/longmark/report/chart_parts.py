"""What all figures are made of: which values are drawn, the ends and ticks of an axis, the legend."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from longmark.report import figures
from longmark.report.figures import INK, WIDTH, Sheet
from longmark.report.format import counted, round_step, spread, tick_texts

MOST = 60
"""Rows, curves or columns of a figure; the tables have all of them."""
NOTHING = "There is no data to draw."
REFERENCE = {"color": INK, "linewidth": 0.9, "linestyle": (0, (4, 3))}
"""The look of a line that others are held against."""
PAD = 6
KEY = 15
"""The height of a row of a legend."""
FINEST = 1e-9
"""Values closer together are one place."""
_LARGEST = 1e12
"""A value further from 0 is not drawn."""
_SAMPLE = 44  # the room of a name's sample in a legend

Ends = tuple[float, float]
Item = TypeVar("Item")


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
    ticks = ticks_between(*ends, limit) if limit else []
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


def ticks_between(lo: float, hi: float, limit: int) -> list[float]:
    """Round numbers from lo to hi, at most `limit` where that leaves two."""
    step = round_step((hi - lo) / limit)
    ticks = [
        round(i * step, 12)
        for i in range(math.ceil(lo / step - 1e-6), math.floor(hi / step + 1e-6) + 1)
    ]
    return ticks if len(ticks) > 1 else [lo, hi]
