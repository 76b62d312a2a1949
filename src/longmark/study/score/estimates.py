"""Means over the marks of a study, each with its spread, its interval and what lacks.

Intervals are BCa bootstrap intervals; where rows share a question (its variants), whole questions are resampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from longmark.stats.bootstrap import bootstrap_mean
from longmark.study.score.marks import Mark, gaps
from longmark.tables import Range

LEVEL, RESAMPLES = 0.95, 10_000


@dataclass(frozen=True, slots=True)
class Settings:
    """How intervals are made."""

    seed: int = 0
    level: float = LEVEL
    resamples: int = RESAMPLES

    @property
    def interval_name(self) -> str:
        return f"{self.level:.0%} interval"


@dataclass(frozen=True, slots=True)
class Estimate:
    """n: rows with a value, of: all rows. sd: of the values, with n - 1; None below two. why: there is no interval;
    gaps: why rows have no value, in words."""

    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    least: float | None
    greatest: float | None
    n: int
    of: int
    why: str = ""
    gaps: str = ""

    @property
    def range(self) -> Range:
        return Range(self.low, self.high)

    @property
    def lacks(self) -> str | None:
        """What is missing and why, in words: values, and the interval where there is a mean; None: nothing is."""
        no_interval = f"no interval: {self.why}" if self.why and self.n else ""
        return "; ".join(filter(None, (self.gaps, no_interval))) or None


def estimate(marks: Sequence[Mark], settings: Settings) -> Estimate:
    """The mean of the marks that have a value."""
    return of_values([mark.value for mark in marks], [mark.question for mark in marks], settings, told=gaps(marks))


def of_values(values: Sequence[float | None], clusters: Sequence[str], settings: Settings, told: str = "") -> Estimate:
    """The mean of the values that are there. clusters: the question of each; told: why others are not there."""
    there = np.array([value for value in values if value is not None], dtype=np.float64)
    if not len(there):
        return Estimate(None, None, None, None, None, None, 0, len(values), "there is no value", told)
    shared = len(set(clusters)) < len(clusters)
    interval = bootstrap_mean(
        values,
        clusters=clusters if shared else None,
        level=settings.level,
        resamples=settings.resamples,
        seed=settings.seed,
    )
    return Estimate(
        mean=float(there.mean()),
        sd=float(there.std(ddof=1)) if len(there) > 1 else None,
        low=interval.low,
        high=interval.high,
        least=float(there.min()),
        greatest=float(there.max()),
        n=len(there),
        of=len(values),
        why=interval.reason or "",
        gaps=told,
    )
