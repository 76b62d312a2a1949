"""Many paired differences tested at once: skewness-corrected t, joint sign flips, step-down maxima.

For each hypothesis h (a pair of systems on a metric) the differences d of its questions have the statistic

    t = mean(d) / se(d)      se: sqrt(G / (G - 1) sum_c u_c²) / n,  u_c = s_c - n_c mean(d)
    T = t + a t² / 3 + a² t³ / 27 + a / 6      a = sum_c u_c³ / (sum_c u_c²)^(3/2)

s_c and n_c are the sum and the number of differences of a cluster c, G the number of clusters and n of differences;
without clusters each question is one. T is the transformation of Hall (1992), "On the removal of skewness by
transformation", JRSS B 54: it is monotone in t, and without it skewed differences reject too often.

Under the null hypothesis a cluster's differences could have had the opposite sign. All hypotheses turn the sign of a
question together, which keeps their dependence. p is the share of sign patterns under which |T| is as large as
observed. The adjusted p (Westfall and Young 1993, "Resampling-based multiple testing", step-down maxT) is the share
under which the largest |T| of this hypothesis and of all with a smaller |T| is. It controls the family-wise error rate.
Studentising keeps the level where some systems scatter more than others (`python -m bench.family` shows it).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from longmark.errors import UserError
from longmark.stats.samples import Floats, Ints, check_count, cluster_numbers

FEWEST = 3
"""Clusters that a test needs."""

_EXACT = 14  # clusters up to which all patterns are looked at
_CELLS = 2_000_000  # signs held at once
_STEP, _BLOCK = 1_000, 512  # patterns and hypotheses in one product: their statistics fit the processor's cache


@dataclass(frozen=True, slots=True)
class MaxT:
    """The tests of several hypotheses, in the order given. statistic: T, with the sign of the mean. `p` and `adjusted`
    are None where a hypothesis has fewer than three clusters or no difference other than zero. standard_error: of each
    mean. critical: the 1 - alpha quantile of the largest |T| under sign flips, None where nothing is tested."""

    statistic: tuple[float | None, ...]
    p: tuple[float | None, ...]
    adjusted: tuple[float | None, ...]
    standard_error: tuple[float | None, ...]
    critical: float | None
    n: tuple[int, ...]
    clusters: tuple[int, ...]
    patterns: int
    exact: bool
    seed: int


def max_t(
    differences: Floats,
    *,
    clusters: Sequence[Hashable] | None = None,
    permutations: int = 10_000,
    alpha: float = 0.05,
    seed: int = 0,
) -> MaxT:
    """Tests that each column's mean is 0, two-sided.

    differences: questions x hypotheses; NaN: the question is missing in that column (it is left out of this hypothesis
    alone). clusters: one key a question. permutations: sign patterns drawn; up to 14 clusters all patterns are looked
    at. p is count / patterns where exact, else (count + 1) / (permutations + 1).

    Raises UserError for a table that is not two-dimensional or clusters of another length.
    """
    check_count(permutations, "permutations")
    if differences.ndim != 2:
        raise UserError(f"expected questions x hypotheses, found {differences.ndim} dimensions")
    rows, columns = differences.shape
    given = ~np.isnan(differences)
    sums, sizes = np.where(given, differences, 0.0), None
    if clusters is not None:
        keys, count = cluster_numbers(clusters, np.ones(rows, dtype=bool))
        of = csr_array((np.ones(rows), (keys, np.arange(rows))), shape=(count, rows))
        sums, sizes = of @ sums, of @ given.astype(np.float64)
    count = len(sums)
    n = given.sum(axis=0)
    groups = n if sizes is None else (sizes > 0).sum(axis=0)
    testable = (groups >= FEWEST) & (sums != 0).any(axis=0)
    exact = count <= _EXACT
    statistic, p, adjusted, error = (np.full(columns, np.nan) for _ in range(4))
    patterns, critical = 0, None
    if testable.any():
        table = _Table(sums[:, testable], None if sizes is None else sizes[:, testable], groups[testable], n[testable])
        observed = table.statistics(np.ones((1, count)))[0]
        order = np.argsort(-observed, kind="stable")
        needed = observed[order] * (1 - 1e-9)
        single, joint = np.zeros(len(order)), np.zeros(len(order))
        most = []
        for signs in _signs(count, permutations, seed, exact):
            reached = table.statistics(signs)[:, order]
            single += (reached >= needed).sum(axis=0)
            largest = np.maximum.accumulate(reached[:, ::-1], axis=1)[:, ::-1]
            joint += (largest >= needed).sum(axis=0)
            most.append(largest[:, 0])
        maxima = np.concatenate(most)
        patterns = len(maxima)
        critical = float(np.quantile(maxima, 1 - alpha, method="higher"))
        one = 0 if exact else 1
        inverse = np.argsort(order, kind="stable")
        statistic[testable] = np.sign(sums[:, testable].sum(axis=0)) * observed
        p[testable] = ((single + one) / (patterns + one))[inverse]
        adjusted[testable] = np.maximum.accumulate((joint + one) / (patterns + one))[inverse]
        error[testable] = table.standard_errors()

    def listed(values: Floats) -> tuple[float | None, ...]:
        return tuple(None if np.isnan(value) else float(value) for value in values)

    tests = (listed(statistic), listed(p), listed(adjusted), listed(error))
    return MaxT(*tests, critical, tuple(n.tolist()), tuple(groups.tolist()), patterns, exact, seed)


class _Table:
    """Clusters x hypotheses, and the size of each hypothesis's statistic under rows of signs. sizes None: a cluster has
    one difference of a hypothesis, or none and the sum 0."""

    def __init__(self, sums: Floats, sizes: Floats | None, groups: Ints, n: Ints) -> None:
        self.sums, self.sizes, self.groups, self.n = sums, sizes, groups, n
        self.squares = (sums * sums).sum(axis=0)
        self.even: tuple[NDArray[Any], ...] = (self.squares, n, n)
        if sizes is not None:
            self.even = (sums * sums * sizes).sum(axis=0), (sizes**2).sum(axis=0), (sizes**3).sum(axis=0)

    def standard_errors(self) -> Floats:
        """Of the means, in the differences' units."""
        total = self.sums.sum(axis=0)
        by_size = total if self.sizes is None else (self.sums * self.sizes).sum(axis=0)
        means, n2 = total / self.n, self.even[1]
        spread = np.maximum(self.squares - 2 * means * by_size + means**2 * n2, 0.0)
        return np.asarray(np.sqrt(self.groups / (self.groups - 1) * spread) / self.n)

    def statistics(self, signs: Floats) -> Floats:
        """|T|, patterns x hypotheses."""
        found = np.empty((len(signs), self.sums.shape[1]))
        for start in range(0, self.sums.shape[1], _BLOCK):
            found[:, start : start + _BLOCK] = self._block(signs, slice(start, start + _BLOCK))
        return found

    def _block(self, signs: Floats, of: slice) -> Floats:
        sums, groups = self.sums[:, of], self.groups[of]
        total, cubes = signs @ sums, signs @ (sums * sums * sums)
        by_size = by_square = total
        if self.sizes is not None:
            sizes = self.sizes[:, of]
            by_size, by_square = signs @ (sums * sizes), signs @ (sums * sizes * sizes)
        squares, (squares_n, n2, n3) = self.squares[of], (one[of] for one in self.even)
        means = total / self.n[of]
        spread = squares - 2 * means * by_size + means**2 * n2
        third = cubes - 3 * means * squares_n + 3 * means**2 * by_square - means**2 * means * n3
        level = spread <= 1e-12 * squares
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.sqrt(spread)
            t = total / (np.sqrt(groups / (groups - 1)) * root)
            a = np.where(level, 0.0, third / (spread * root))  # skewness / sqrt(groups)
            at = a * t
            moved = t * (1 + at / 3 + at * at / 27) + a / 6
        return np.where(level, np.where(total == 0, 0.0, np.inf), np.abs(moved))


def _signs(count: int, permutations: int, seed: int, exact: bool) -> Iterator[Floats]:
    if exact:
        for start in range(0, 2**count, _STEP):
            numbers = np.arange(start, min(start + _STEP, 2**count))
            yield 1.0 - 2.0 * ((numbers[:, None] >> np.arange(count)) & 1).astype(np.float64)
        return
    random = np.random.default_rng(seed)
    step = max(1, min(_STEP, _CELLS // count))
    for start in range(0, permutations, step):
        drawn = random.integers(0, 256, (min(step, permutations - start), -(-count // 8)), dtype=np.uint8)
        yield 1.0 - 2.0 * np.unpackbits(drawn, axis=1, count=count).astype(np.float64)
