"""Every pair of systems on the same resamples of the questions: intervals and effects together.

One pair at a time, forty systems would take hours. Here a resample is a vector of counts of the questions, and all
pairs follow from products of matrices; the random numbers are those of `longmark.stats.bootstrap`, so that a seed gives
the same intervals as `bootstrap_difference` and `effects`, up to rounding. Memory is bounded by drawing in parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from longmark.stats.bootstrap import bca_interval
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats

_CELLS = 1_000_000  # counts held at once: 8 MB
TIE = 1e-9
_NOISE = 1e-13  # of the largest square: what a variance of equal values comes to by rounding


@dataclass(frozen=True, slots=True)
class Resampled:
    """means: of each system; difference, d_z, share: of each pair."""

    means: tuple[Estimate, ...]
    difference: tuple[Estimate, ...]
    d_z: tuple[Estimate, ...]
    share: tuple[Estimate, ...]


def resample(
    table: Floats, pairs: Sequence[tuple[int, int]], sign: int, *, missing: int, level: float, resamples: int, seed: int
) -> Resampled:
    """BCa intervals over the rows of a complete table, questions x systems.

    pairs: places of two systems; sign: 1 where the higher value wins a question, -1 where the lower one does.
    """
    n, systems = table.shape
    centre = table.mean(axis=0) if n else np.full(systems, np.nan)
    centred = table - centre
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    ahead = sign * (table[:, left] - table[:, right])
    points = (ahead > TIE) + 0.5 * (np.abs(ahead) <= TIE)
    squares = (centred[:, left] - centred[:, right]) ** 2
    differences = centre[left] - centre[right]
    scale = float(np.abs(table).max(initial=0.0))

    parts: list[tuple[Floats, Floats, Floats]] = []
    for counts in _counts(n, resamples, seed) if n else ():
        parts.append((counts @ centred / n, counts @ squares / n, counts @ points / n))
    means, spread, share = (
        np.concatenate([part[i] for part in parts]) if parts else np.zeros((0, columns))
        for i, columns in enumerate((systems, len(pairs), len(pairs)))
    )
    drawn = means[:, left] - means[:, right]

    def interval(estimate: float, values: Floats, left_out: Floats) -> Estimate:
        return bca_interval(
            estimate, values, left_out, n=n, missing=missing, level=level, resamples=resamples, seed=seed
        )  # fmt: skip

    def of_system(i: int) -> Estimate:
        return interval(float(centre[i]), centre[i] + means[:, i], centre[i] - centred[:, i] / _others(n))

    def of_difference(i: int) -> Estimate:
        a, b = pairs[i]
        offsets = centred[:, a] - centred[:, b]
        return interval(float(differences[i]), differences[i] + drawn[:, i], differences[i] - offsets / _others(n))

    def of_d_z(i: int) -> Estimate:
        a, b = pairs[i]
        offsets = centred[:, a] - centred[:, b]
        total = float(squares[:, i].sum())
        others = _others(n)
        left_squares = total - squares[:, i] - offsets**2 / others
        none = max(_NOISE * float(squares[:, i].max(initial=0.0)), (1e-12 * scale) ** 2)
        values = _ratio(differences[i] + drawn[:, i], (spread[:, i] - drawn[:, i] ** 2) * n / others, none)
        without = _ratio(differences[i] - offsets / others, left_squares / _others(n - 1), none)
        whole = _ratio(differences[i : i + 1], np.array([total / others]), none)
        return interval(float(whole[0]), values, without)

    def of_share(i: int) -> Estimate:
        column = points[:, i]
        mean = float(column.mean()) if n else float("nan")
        return interval(mean, share[:, i], (column.sum() - column) / _others(n))

    numbers = range(len(pairs))
    return Resampled(
        tuple(map(of_system, range(systems))),
        tuple(map(of_difference, numbers)),
        tuple(map(of_d_z, numbers)),
        tuple(map(of_share, numbers)),
    )


def _others(n: int) -> int:
    return max(n - 1, 1)


def _ratio(means: Floats, variances: Floats, none: float) -> Floats:
    """Means over standard deviations; NaN where the variance is up to `none`, which rounding alone can make."""
    return np.asarray(means / np.sqrt(np.where(variances > none, variances, np.nan)))


def _counts(n: int, resamples: int, seed: int) -> Iterator[Floats]:
    """How often each of n rows is drawn, a resample a row, some resamples at a time."""
    random = np.random.default_rng(seed)
    step = max(1, _CELLS // n)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        drawn = random.integers(0, n, (size, n)) + n * np.arange(size)[:, None]
        yield np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)
