"""Two readings of scores of the same items, of which some are missing: by the items that all scored, and with the worst
score for what is unscored. Who is best is decided only where both readings say the same."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)

UNDECIDED = (
    "Bold: the best over the answers that all scored, "
    "if it is also the best with the worst score for unscored answers."
)


@dataclass(frozen=True, slots=True)
class MeanReading:
    """The mean of one of several: `common`, over the n items that all scored (None: there is none); `worst`, over all
    items, the worst score for each that is unscored."""

    common: float | None
    worst: float
    n: int


def readings(
    parts: Sequence[Mapping[Name, Mapping[str, float | None]]], worst: float = 0.0
) -> dict[Name, MeanReading]:
    """Both readings of each name. parts: data sets, whose means are averaged: name -> item -> score, None for none;
    worst: the least score that can occur."""
    items = [set().union(*part.values()) for part in parts]
    common = [
        [
            item
            for item in part_items
            if all(column.get(item) is not None for column in part.values())
        ]
        for part, part_items in zip(parts, items, strict=True)
    ]
    n = sum(map(len, common))

    def mean(name: Name, places: Sequence[Sequence[str] | set[str]]) -> float:
        columns = (part.get(name, {}) for part in parts)
        return fmean(
            fmean(
                worst if (score := column.get(item)) is None else score for item in sorted(common)
            )
            for column, common in zip(columns, places, strict=True)
        )

    names = dict.fromkeys(name for part in parts for name in part)
    return {
        name: MeanReading(mean(name, common) if all(common) else None, mean(name, items), n)
        for name in names
    }


def best(readings_of: Mapping[Name, MeanReading]) -> Name | None:
    """The one with the greatest mean in both readings. None where they disagree, or two are equally good."""
    if not readings_of or any(reading.common is None for reading in readings_of.values()):
        return None
    tops = []
    for values in (
        {name: reading.common for name, reading in readings_of.items()},
        {name: reading.worst for name, reading in readings_of.items()},
    ):
        greatest = max(value for value in values.values() if value is not None)
        tops.append([name for name, value in values.items() if value == greatest])
    return tops[0][0] if tops[0] == tops[1] and len(tops[0]) == 1 else None
