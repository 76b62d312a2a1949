"""Cells and phrases that the sections of a meta-evaluation share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from longmark.records.labels import first_few
from longmark.report.words import listed
from longmark.stats.results import Estimate
from longmark.tables import Range


def figure(value: float | None, places: int = 2) -> str:
    """A number within a sentence; never a minus before a zero."""
    if value is None:
        return "none"
    text = f"{value:.{places}f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.") else text


def between(value: float | None, low: float | None, high: float | None, places: int = 2) -> str:
    """`0.52 [0.44, 0.60]`."""
    if low is None or high is None:
        return figure(value, places)
    return f"{figure(value, places)} [{figure(low, places)}, {figure(high, places)}]"


def shared(best: float | None, others: Iterable[tuple[str, float | None]]) -> str:
    """Who else has the best figure, to the digits that `figure` shows: a sentence, or nothing."""
    names = [name for name, value in others if value is not None and figure(value) == figure(best)]
    return f" To these digits {listed(names)} {'has' if len(names) == 1 else 'have'} it too." if names else ""


def span(found: Estimate | None) -> Range | None:
    """The ends of a bootstrap interval as a cell."""
    return None if found is None or found.low is None else Range(found.low, found.high)


def questions(clusters: int | None, answers: int) -> int:
    """How many questions the answers belong to."""
    return answers if clusters is None else clusters


def ends(low: float | None, high: float | None) -> Range | None:
    return None if low is None or high is None else Range(low, high)


def percent(value: float | None) -> str:
    return "none" if value is None else f"{100 * value:.0f} %"


def level_name(alpha: float) -> str:
    return f"{100 * (1 - alpha):g} % interval"


def gaps(found: Mapping[str, int]) -> str:
    """`12 unparsable, 3 no row`."""
    return ", ".join(f"{count:,} {why.replace('_', ' ')}" for why, count in found.items())


def reasons(found: Iterable[tuple[str, str | None]]) -> str:
    """What has no figure, with its reason, as a sentence; nothing where all have one."""
    names: dict[str, list[str]] = {}
    for name, why in found:
        if why:
            names.setdefault(why, []).append(name)
    if not names:
        return ""
    shown = "; ".join(f"{first_few(which, 4)} ({why})" for why, which in list(names.items())[:4])
    return f" No figure, or no interval, for {shown}."
