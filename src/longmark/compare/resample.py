"""Every pair of systems on the same resamples of the questions: intervals, effects and sign-flip p-values together.

One pair at a time, forty systems would take hours. Here a resample is a vector of counts of the questions, and all
pairs follow from products of matrices; the random numbers are those of `longmark.stats.bootstrap`, so that a seed gives
the same intervals as `bootstrap_difference` and `effects`, up to rounding. Memory is bounded by drawing in parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from longmark.stats.bootstrap import bca_interval
from longmark.stats.permutation import rounding
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats

_CELLS = 1_000_000  # counts or signs held at once: 8 MB
_EXACT = 16  # questions up to which all patterns of signs are looked at
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


def sign_flips(table: Floats, pairs: Sequence[tuple[int, int]], permutations: int, seed: int) -> list[float | None]:
    """The two-sided p of each pair by itself, by the paired permutation test; None for fewer than three rows.

    table: complete, questions x systems. All pairs share their patterns of signs. Up to 16 questions every pattern is
    looked at and p = count / patterns; else p = (count + 1) / (permutations + 1).
    """
    n = len(table)
    if n < 3:
        return [None] * len(pairs)
    exact = n <= _EXACT
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    differences = table[:, left] - table[:, right]
    largest = float(np.abs(table).max())
    close = np.array([rounding(float(widest), largest) for widest in np.abs(differences).max(axis=0)])
    needed = np.abs(differences.sum(axis=0)) - close * n
    level = table - table.mean(axis=1, keepdims=True)  # a shift of a question moves no difference
    reached = np.zeros(len(pairs), dtype=np.int64)
    for signs in _all_signs(n) if exact else _drawn_signs(n, permutations, seed):
        sums = signs @ level
        for i, (a, b) in enumerate(pairs):
            reached[i] += np.count_nonzero(np.abs(sums[:, a] - sums[:, b]) >= needed[i])
    if exact:
        return [float(count / 2**n) for count in reached]
    return [float((count + 1) / (permutations + 1)) for count in reached]


def _all_signs(n: int) -> Iterator[Floats]:
    yield 1.0 - 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(np.float64)


def _drawn_signs(n: int, permutations: int, seed: int) -> Iterator[Floats]:
    random = np.random.default_rng((seed, 1))
    step = max(1, _CELLS // n)
    for start in range(0, permutations, step):
        shape = (min(step, permutations - start), n)
        yield 1.0 - 2.0 * random.integers(0, 2, shape, dtype=np.int8).astype(np.float64)
