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

import numpy as np

from longmark.errors import UserError
from longmark.stats.samples import Floats, check_count, cluster_numbers

FEWEST = 3
"""Clusters that a test needs."""

_EXACT = 14  # clusters up to which all patterns are looked at
_CELLS = 2_000_000  # numbers held at once


@dataclass(frozen=True, slots=True)
class MaxT:
    """The tests of several hypotheses, in the order given. statistic: T, with the sign of the mean. `p` and `adjusted`
    are None where a hypothesis has fewer than three clusters or no difference other than zero."""

    statistic: tuple[float | None, ...]
    p: tuple[float | None, ...]
    adjusted: tuple[float | None, ...]
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
    keys = np.arange(rows)
    if clusters is not None:
        keys, _ = cluster_numbers(clusters, np.ones(rows, dtype=bool))
    count = int(keys.max(initial=-1)) + 1
    given = ~np.isnan(differences)
    sums, sizes = np.zeros((count, columns)), np.zeros((count, columns))
    np.add.at(sums, keys, np.where(given, differences, 0.0))
    np.add.at(sizes, keys, given)
    groups = (sizes > 0).sum(axis=0)
    testable = (groups >= FEWEST) & (np.abs(sums) > 0).any(axis=0)
    exact = count <= _EXACT
    statistic, p, adjusted = (np.full(columns, np.nan) for _ in range(3))
    patterns = 0
    if testable.any():
        table = _Table(sums[:, testable], sizes[:, testable], groups[testable])
        observed = table.statistics(np.ones((1, count)))[0]
        order = np.argsort(-observed, kind="stable")
        needed = observed[order] * (1 - 1e-9)
        single, joint = np.zeros(len(order)), np.zeros(len(order))
        for signs in _signs(count, permutations, seed, exact):
            reached = table.statistics(signs)[:, order]
            largest = np.maximum.accumulate(reached[:, ::-1], axis=1)[:, ::-1]
            single += (reached >= needed).sum(axis=0)
            joint += (largest >= needed).sum(axis=0)
            patterns += len(signs)
        one = 0 if exact else 1
        inverse = np.argsort(order, kind="stable")
        statistic[testable] = np.sign(sums[:, testable].sum(axis=0)) * observed
        p[testable] = ((single + one) / (patterns + one))[inverse]
        adjusted[testable] = np.maximum.accumulate((joint + one) / (patterns + one))[inverse]

    def listed(values: Floats) -> tuple[float | None, ...]:
        return tuple(None if np.isnan(value) else float(value) for value in values)

    return MaxT(
        listed(statistic),
        listed(p),
        listed(adjusted),
        tuple(int(n) for n in given.sum(axis=0)),
        tuple(int(n) for n in groups),
        patterns,
        exact,
        seed,
    )


class _Table:
    """Clusters x hypotheses, and the size of each hypothesis's statistic under rows of signs."""

    def __init__(self, sums: Floats, sizes: Floats, groups: Floats) -> None:
        self.groups, self.n = groups, sizes.sum(axis=0)
        self.odd = np.hstack([sums, sums * sizes, sums * sizes**2, sums**3])
        self.even = (sums**2).sum(axis=0), (sums**2 * sizes).sum(axis=0), (sizes**2).sum(axis=0), (sizes**3).sum(axis=0)

    def statistics(self, signs: Floats) -> Floats:
        total, s_n, s_n2, cubes = np.split(signs @ self.odd, 4, axis=1)
        squares, squares_n, n2, n3 = self.even
        means = total / self.n
        spread = squares - 2 * means * s_n + means**2 * n2
        third = cubes - 3 * means * squares_n + 3 * means**2 * s_n2 - means**3 * n3
        level = spread <= 1e-12 * squares
        with np.errstate(divide="ignore", invalid="ignore"):
            t = total / np.sqrt(self.groups / (self.groups - 1) * spread)
            a = np.where(level, 0.0, third / spread**1.5)  # skewness / sqrt(groups)
            moved = t + a * t**2 / 3 + a**2 * t**3 / 27 + a / 6
        return np.where(level, np.where(total == 0, 0.0, np.inf), np.abs(moved))


def _signs(count: int, permutations: int, seed: int, exact: bool) -> Iterator[Floats]:
    if exact:
        yield 1.0 - 2.0 * ((np.arange(2**count)[:, None] >> np.arange(count)) & 1).astype(np.float64)
        return
    random = np.random.default_rng(seed)
    step = max(1, _CELLS // count)
    for start in range(0, permutations, step):
        shape = (min(step, permutations - start), count)
        yield 1.0 - 2.0 * random.integers(0, 2, shape, dtype=np.int8).astype(np.float64)
