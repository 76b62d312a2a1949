"""Columns and phrases that the sections of a meta-evaluation share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longmark.records.labels import first_few
from longmark.report.document import Section
from longmark.report.figures import Figure
from longmark.report.format import listed
from longmark.report.tables import Column, Table, interval_columns


def itself(item: Any) -> Any:
    return item


@dataclass(frozen=True, slots=True)
class Naming:
    """How the sections and tables of a label are named: with its name where there are several labels.

    heading: before a section's title; prefix: before a table's name; alpha: of tests and intervals; what: `answer` or
    `pair`, the items that people labelled."""

    heading: str
    prefix: str
    alpha: float
    what: str

    def section(self, title: str, says: str, tables: Sequence[Table], figures: Sequence[Figure] = ()) -> Section:
        return Section(f"{self.heading}{title}", says, tables, figures)

    def table(self, name: str, title: str, columns: Sequence[Column], items: Sequence[Any], note: str = "") -> Table:
        return Table(f"{self.prefix}{name}", title, tuple(columns), items, note)

    def estimate(self, name: str, get: str | Callable[[Any], Any] = itself, key: str = "") -> tuple[Column, Column]:
        """An estimate with its interval; keys `KEY`, `KEY_low` and `KEY_high`."""
        return interval_columns(name, get, 3, f"{100 * (1 - self.alpha):g} % CI", key)


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
    """Who else has the best estimate, to the digits that `figure` shows: a sentence, or nothing."""
    names = [name for name, value in others if value is not None and figure(value) == figure(best)]
    return f" {listed(names)} {'has' if len(names) == 1 else 'have'} the same to these digits." if names else ""


def questions(clusters: int | None, answers: int) -> int:
    """How many questions the answers belong to."""
    return answers if clusters is None else clusters


def percent(value: float | None) -> str:
    return "none" if value is None else f"{100 * value:.0f} %"


def gaps(found: Mapping[str, int]) -> str:
    """`12 unparsable, 3 no row`."""
    return ", ".join(f"{count:,} {why.replace('_', ' ')}" for why, count in found.items())


def reasons(found: Iterable[tuple[str, str | None]]) -> str:
    """What has no estimate, with its reason, as a sentence; nothing where all have one."""
    names: dict[str, list[str]] = {}
    for name, why in found:
        if why:
            names.setdefault(why, []).append(name)
    if not names:
        return ""
    shown = "; ".join(f"{first_few(which, 4)} ({why})" for why, which in list(names.items())[:4])
    return f" No estimate, or no interval, for {shown}."
