"""Names, numbers and lists of them in the sentences of a study."""

from __future__ import annotations

from collections.abc import Sequence

from longmark.report.numbers import fixed
from longmark.study.metrics.results import MetricProperties

_NAMED = 4


def listed(names: Sequence[str], most: int = _NAMED) -> str:
    """`a`, `a and b`, `a, b and c`; of more than `most`, how many more there are."""
    shown = list(names) if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def counted(count: int, one: str, several: str = "") -> str:
    """`1 pair`, `2 pairs`."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def percent(share: float) -> str:
    """A share, with one decimal of a percent; a few are never none, and nearly all never all."""
    if 0 < share < 0.0005:
        return "<0.1 %"
    if 0.9995 <= share < 1:
        return ">99.9 %"
    return f"{100 * share:.1f} %"


def value(of: MetricProperties, number: float | None) -> str:
    """A value of the metric, with its decimals."""
    return fixed(number, of.places)


def better(of: MetricProperties) -> str:
    """Which end of a metric is better."""
    return {True: "higher", False: "lower", None: "neither"}[of.facts.higher_is_better]
