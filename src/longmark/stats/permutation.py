"""Paired permutation tests of a mean difference: under the null hypothesis each difference could have had either sign.

Where there are few differences other than zero, every pattern of signs is looked at; otherwise patterns are drawn. A
drawn pattern is a row of bits: for eight differences at a time, a byte points into a table of their 256 signed sums, so
that no sign is ever multiplied. Values that belong together can be given one cluster: its differences turn sign as one.

p is the share of patterns whose mean difference reaches the observed one, rounding allowed for; drawn patterns count
the observed one among them, (count + 1) / (permutations + 1), so that p is never 0 and the test keeps its level.

Patterns that equal the observed mean count fully, so that the one-sided p of a over b and of b over a add up to more
than 1: to 2 where all differences are 0. Such a p is a test's, and no probability that a is better: `share_below` is.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from longmark.errors import UserError
from longmark.stats.results import DIRECTIONS, GREATER, LESS, TWO_SIDED, PermutationTest
from longmark.stats.samples import (
    Floats,
    Seed,
    Values,
    check_count,
    cluster_numbers,
    complete_rows,
    generator,
)

_FEWEST = 3
_EXACT = (
    20  # differences other than zero up to which all 2^20 patterns are looked at: 10 ms and 8 MB
)
_BYTE = 8
_SIGNS = 1.0 - 2.0 * ((np.arange(256)[:, None] >> np.arange(_BYTE)) & 1)  # 256 patterns x 8 signs
_CHUNK = 50_000  # patterns that are drawn at once


def rounding(spread: float, largest: float) -> float:
    """How far from equal is still equal: 1e-9 of the widest difference, and what floats of this size cannot tell."""
    return max(1e-9 * spread, 8 * float(np.finfo(np.float64).eps) * largest)


def paired_permutation(
    a: Values,
    b: Values,
    *,
    clusters: Sequence[Hashable] | None = None,
    alternative: str = TWO_SIDED,
    permutations: int = 10_000,
    seed: Seed = 0,
    plus_one: bool = True,
) -> PermutationTest:
    """Tests the mean of a - b over the rows that have both.

    alternative: `two-sided`, `greater` (a above b) or `less`. permutations: patterns to draw where there are too many
    to look at all. plus_one: False gives count / permutations, which can be 0. UserError for an unknown alternative or
    columns of unequal length.
    """
    if alternative not in DIRECTIONS:
        raise UserError(
            f"an alternative is {', '.join(DIRECTIONS[:-1])} or {DIRECTIONS[-1]}, not {alternative!r}"
        )
    check_count(permutations, "permutations")
    (left, right), keep = complete_rows(a, b)
    differences = left - right
    n = len(differences)
    count = None
    units = differences
    if clusters is not None:
        numbers, count = cluster_numbers(clusters, keep)
        units = np.bincount(numbers, differences, count).astype(np.float64)
    random, number = generator(seed)
    largest = float(np.abs(np.concatenate([left, right])).max(initial=0.0))
    close = rounding(float(np.abs(differences).max(initial=0.0)), largest)
    units = units[np.abs(units) > close]
    exact = len(units) <= _EXACT
    p = None
    reason = None
    looked_at = 0
    paired, units_name = (n, "pairs") if count is None else (count, "clusters")
    if paired < _FEWEST:
        reason = f"the test needs at least {_FEWEST} {units_name}; found {paired}"
    else:
        if not len(units):
            reason = "all differences are zero, so every pattern of signs gives the same mean"
        sums = _all_sums(units) if exact else _drawn_sums(units, permutations, random)
        reached = _reached(sums, float(units.sum()), close * n, alternative)
        looked_at = len(sums)
        p = reached / looked_at if exact or not plus_one else (reached + 1) / (looked_at + 1)
    return PermutationTest(
        difference=float(differences.mean()) if n else None,
        p=p,
        n=n,
        alternative=alternative,
        permutations=looked_at,
        exact=exact,
        plus_one=plus_one,
        seed=number,
        missing=len(keep) - n,
        clusters=count,
        reason=reason,
    )


def share_below(a: Values, b: Values, *, permutations: int = 10_000, seed: int = 0) -> float | None:
    """How sure paired values are that a is above b: the share of sign patterns whose mean difference is below the
    observed one, equal ones counted by half. It is 1/2 where all differences are 0, that of b over a is 1 less it, and
    it does not depend on the order of the pairs. None for fewer than three pairs."""
    (left, right), _ = complete_rows(a, b)
    differences = left - right
    if len(differences) < _FEWEST:
        return None
    largest = float(np.abs(np.concatenate([left, right])).max(initial=0.0))
    close = rounding(float(np.abs(differences).max(initial=0.0)), largest)
    units = differences[np.abs(differences) > close]
    total = float(np.sort(units).sum())
    if abs(total) <= close * len(differences):
        return 0.5
    # as if the sum were above 0, and in order of size: neither the order of the pairs nor that of a and b then decides
    # which patterns are drawn
    units = np.sort(units if total > 0 else -units)
    units = units[np.argsort(np.abs(units), kind="stable")]
    sums = (
        _all_sums(units)
        if len(units) <= _EXACT
        else _drawn_sums(units, permutations, generator(seed)[0])
    )
    observed = abs(total)
    near = close * len(differences)
    share = float(np.mean(sums < observed - near) + np.mean(np.abs(sums - observed) <= near) / 2)
    return share if total > 0 else 1 - share


def _reached(sums: Floats, observed: float, close: float, alternative: str) -> int:
    if alternative == GREATER:
        return int(np.count_nonzero(sums >= observed - close))
    if alternative == LESS:
        return int(np.count_nonzero(sums <= observed + close))
    return int(np.count_nonzero(np.abs(sums) >= abs(observed) - close))


def _all_sums(units: Floats) -> Floats:
    """The sum under each of the 2^n patterns of signs."""
    sums = np.zeros(1)
    for unit in units:
        sums = np.concatenate([sums + unit, sums - unit])
    return sums


def _drawn_sums(units: Floats, permutations: int, random: np.random.Generator) -> Floats:
    """The sum under patterns of signs that are drawn."""
    padded = np.zeros(-(-len(units) // _BYTE) * _BYTE)
    padded[: len(units)] = units
    tables = padded.reshape(-1, _BYTE) @ _SIGNS.T  # groups of eight x 256 patterns
    sums = np.zeros(permutations)
    part = np.empty(min(_CHUNK, permutations))
    for start in range(0, permutations, _CHUNK):
        total = sums[start : start + _CHUNK]
        values = part[: len(total)]
        for table in tables:
            patterns = random.integers(0, 256, len(total), dtype=np.uint8)
            table.take(patterns, out=values, mode="clip")
            total += values
    return sums
