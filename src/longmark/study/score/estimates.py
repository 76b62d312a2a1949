"""Means over the marks of a study, each with its spread, its interval and what lacks.

Intervals are BCa from 15 values on, Student's t below, clipped to the metric's bounds (`mean_estimate`).
Where rows share a question (its variants, its facts),
questions are what is counted and resampled: below 15 of them t is on what each adds to the mean (the linearised ratio),

    u_q = m + (sum_q - n_q m) Q / n     of Q questions with n_q of the n values; mean m, and with n_q = 1 the values
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from longmark.stats.bootstrap import FEWEST_BCA, bootstrap_mean
from longmark.stats.permutation import rounding
from longmark.stats.results import Estimate as Interval
from longmark.stats.samples import Floats
from longmark.stats.student import STUDENT, Moments, mean_estimate
from longmark.study.score.marks import UNBOUNDED, Bounds, Mark, gaps
from longmark.tables import Column, Range

LEVEL, RESAMPLES = 0.95, 10_000
METHOD = Column("Interval by", key="interval_by")
LACKS = Column("What lacks", key="lacks")


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
    """n: rows with a value, of: all rows. sd: of the values, with n - 1; None below two. method: how the interval was
    made; why: there is none; gaps: why rows have no value, in words."""

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
    method: str = ""

    @property
    def range(self) -> Range:
        return Range(self.low, self.high)

    @property
    def by(self) -> str | None:
        """The interval's method; None where there is no interval."""
        return self.method or None

    @property
    def lacks(self) -> str | None:
        """What is missing and why, in words: values, and the interval where there is a mean; None: nothing is."""
        no_interval = f"no interval: {self.why}" if self.why and self.n else ""
        return in_words(self.gaps, no_interval)


def in_words(*parts: str | None) -> str | None:
    """What lacks, of several reasons; None where there is none."""
    return "; ".join(part for part in parts if part) or None


def by_question(reason: str) -> str:
    """A reason of `stats` on the page of a study, whose clusters are questions and which has no other method."""
    plain = reason.replace("clusters", "questions").replace("row or cluster", "question").replace("cluster", "question")
    return plain.removesuffix("; method='percentile' gives an interval")


def estimate(marks: Sequence[Mark], settings: Settings, bounds: Bounds = UNBOUNDED) -> Estimate:
    """The mean of the marks that have a value. bounds: of the metric."""
    return of_values([mark.value for mark in marks], [mark.question for mark in marks], settings, bounds, gaps(marks))


def of_values(
    values: Sequence[float | None],
    clusters: Sequence[str],
    settings: Settings,
    bounds: Bounds = UNBOUNDED,
    told: str = "",
) -> Estimate:
    """The mean of the values that are there. clusters: the question of each; bounds: between what values lie; told: why
    others are not there."""
    whole = [(value, cluster) for value, cluster in zip(values, clusters, strict=True) if value is not None]
    if not whole:
        return Estimate(None, None, None, None, None, None, 0, len(values), "there is no value", told)
    whole.sort(key=lambda pair: pair[0])  # so that the interval does not hang on the order of the rows
    there = np.array([value for value, _ in whole], dtype=np.float64)
    made = _interval(there, [cluster for _, cluster in whole], settings, bounds)
    return Estimate(
        mean=float(there.mean()),
        sd=float(there.std(ddof=1)) if len(there) > 1 else None,
        low=made.low,
        high=made.high,
        least=float(there[0]),
        greatest=float(there[-1]),
        n=len(there),
        of=len(values),
        why=made.reason or "",
        gaps=told,
        method=made.method,
    )


def _interval(values: Floats, clusters: Sequence[str], settings: Settings, bounds: Bounds) -> Interval:
    units = _units(values, clusters)
    made = mean_estimate(Moments.of(units.tolist()), bounds, settings.level)
    if made.method == STUDENT and len(units) >= FEWEST_BCA:
        drawn = bootstrap_mean(
            values,
            clusters=clusters if len(units) < len(values) else None,
            level=settings.level,
            resamples=settings.resamples,
            seed=settings.seed,
        )
        if drawn.ends is not None:
            return drawn
    if len(units) == 1 < len(values):
        return replace(made, reason="all values belong to one question")
    return made


def _units(values: Floats, clusters: Sequence[str]) -> Floats:
    """What the interval counts: the values, or of values that share questions a number for each question."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
    largest = float(np.abs(values).max())
    if np.ptp(values) <= rounding(0.0, largest):
        return np.full(len(numbers), values[0])
    if len(numbers) == len(values):
        return values
    of = [numbers[name] for name in clusters]
    mean, sizes = float(values.mean()), np.bincount(of)
    units = mean + (np.bincount(of, values) - sizes * mean) * len(numbers) / len(values)
    alike = np.ptp(units) <= rounding(0.0, largest)
    return np.full(len(units), mean) if alike else np.asarray(units, dtype=np.float64)
