"""Many paired differences tested at once: skewness-corrected t, joint sign flips, maxima, and intervals that agree.

For each hypothesis h (a pair of systems on a metric) the differences d of its questions have the statistic

    t = mean(d) / se(d)      se: sqrt(G / (G - 1) sum_c u_c²) / n,  u_c = l_c (s_c - n_c mean(d))
    T = t + a t² / 3 + a² t³ / 27 + a / 6      a = sum_c u_c³ / (sum_c u_c²)^(3/2)

s_c, n_c and l_c are the sum, the number and the leverage (`stats.clusters`) of the differences of a cluster c, G the
number of clusters and n of differences; without clusters each question is one. T is the transformation of Hall (1992),
"On the removal of skewness by transformation", JRSS B 54: it is monotone in t, and without it skewed differences reject
too often.

Under the null hypothesis a cluster's differences could have had the opposite sign. All hypotheses turn the sign of a
question together, which keeps their dependence. p is the share of sign patterns under which |T| is as large as
observed; the adjusted p (single-step maxT: Westfall and Young 1993, "Resampling-based multiple testing") the share
under which the largest |T| of all hypotheses is. It controls the family-wise error rate. Studentising keeps the level
where some systems scatter more than others. Neither p is less than Student's t gives T (d.f. of `stats.clusters`): few
skewed differences, flipped, reject too often. The level is guaranteed where differences are symmetric about 0.

The interval of a mean is the test inverted: all values from which it lies at most the critical value of the largest |T|
away, or Student's quantile if that is larger. Over all hypotheses together they are simultaneous, and one excludes 0
exactly where its adjusted p is at most alpha; for that p is not stepped down.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import stdtr

from longmark.errors import UserError
from longmark.progress import counted
from longmark.stats.clusters import effective
from longmark.stats.means import Bounds, few_clusters, untransformed
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats, Ints, check_count, cluster_numbers
from longmark.stats.student import t_quantile

FEWEST = 3
"""Clusters that a test needs."""

ALL_ZERO = "every difference is 0"
INVERTED = "max-T inverted"

_SKEWED = 1.0
_SYMMETRIC = 30  # skewness that is remarked on, and the clusters from which on it is not
_EXACT = 14  # clusters with differences other than 0 up to which all patterns are looked at
_CELLS = 2_000_000  # signs held at once
_STEP = 1_000
_BLOCK = 512  # patterns and hypotheses in one product: their statistics fit the processor's cache


@dataclass(frozen=True, slots=True)
class MaxT:
    """The tests of several hypotheses, in the order given.

    statistic       T, with the sign of the mean
    p, adjusted     None with fewer than three clusters, fewer than 5 effective ones, or no difference other than zero
    standard_error  of each mean
    low, high       the simultaneous interval of each mean at the level 1 - alpha
    reasons         why there is no p or no interval; remarks: what a reader of the p must know
    n, clusters, effective   differences other than missing ones, their clusters, and clusters of one size as good
    critical        |T| above which the share of patterns is at most alpha; None where nothing is tested
    """

    statistic: tuple[float | None, ...]
    p: tuple[float | None, ...]
    adjusted: tuple[float | None, ...]
    standard_error: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    reasons: tuple[str | None, ...]
    remarks: tuple[str | None, ...]
    n: tuple[int, ...]
    clusters: tuple[int, ...]
    effective: tuple[float, ...]
    critical: float | None
    patterns: int
    exact: bool
    seed: int
    alpha: float


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
    alone). clusters: one key a question. permutations: sign patterns drawn; where up to 14 clusters have a difference
    other than 0, all patterns are looked at. p is count / patterns where exact, else (count + 1) / (permutations + 1).

    Raises UserError for a table that is not two-dimensional or clusters of another length.
    """
    check_count(permutations, "permutations")
    if differences.ndim != 2:
        raise UserError(f"expected questions x hypotheses, found {differences.ndim} dimensions")
    sums = _ClusterSums.from_differences(differences, clusters)
    columns = len(sums.n)
    testable = sums.testable
    statistic, p, adjusted, error, low, high = (np.full(columns, np.nan) for _ in range(6))
    reasons = sums.reasons()
    remarks: list[str | None] = [None] * columns
    patterns = 0
    critical = None
    exact = True
    if testable.any():
        table = sums.sign_table()
        count = len(table.sums)
        exact = count <= _EXACT
        observed = table.statistics(np.ones((1, count)))[0]
        single, joint, maxima = _reached(table, observed, _signs(count, permutations, seed, exact))
        patterns = len(maxima)
        unit_added = 0 if exact else 1
        critical = _critical(maxima, alpha, unit_added)
        statistic[testable] = np.sign(sums.sums[:, testable].sum(axis=0)) * observed
        student = 2 * stdtr(sums.worth[testable] - 1, -observed)
        p[testable] = np.maximum((single + unit_added) / (patterns + unit_added), student)
        adjusted[testable] = np.maximum((joint + unit_added) / (patterns + unit_added), student)
        error[testable], skewness = table.standard_errors()
        for i, a in zip(np.flatnonzero(testable).tolist(), skewness, strict=True):
            reasons[i] = sums.no_interval(i, error[i], critical, alpha)
            if reasons[i] is None:
                low[i], high[i] = sums.ends(i, error[i], a, critical, alpha)
                if adjusted[i] > alpha:  # rounding
                    low[i], high[i] = min(low[i], 0.0), max(high[i], 0.0)
            remarks[i] = sums.skew_remark(i, a)

    def listed(values: Floats) -> tuple[float | None, ...]:
        return tuple(None if np.isnan(value) else float(value) for value in values)

    return MaxT(
        statistic=listed(statistic),
        p=listed(p),
        adjusted=listed(adjusted),
        standard_error=listed(error),
        low=listed(low),
        high=listed(high),
        reasons=tuple(reasons),
        remarks=tuple(remarks),
        n=tuple(sums.n.tolist()),
        clusters=tuple(sums.groups.tolist()),
        effective=tuple(sums.worth.tolist()),
        critical=critical,
        patterns=patterns,
        exact=exact,
        seed=seed,
        alpha=alpha,
    )


@dataclass(frozen=True)
class _ClusterSums:
    """The differences as sums by cluster x hypothesis.

    sizes: how many differences each sum has; None: each question is a cluster. n: differences of a hypothesis; groups:
    its clusters; worth: clusters of one size as good. few: what is said of too few effective clusters; None: enough.
    """

    sums: Floats
    sizes: Floats | None
    n: Ints
    groups: Ints
    worth: Floats
    few: list[str | None]

    @classmethod
    def from_differences(
        cls, differences: Floats, clusters: Sequence[Hashable] | None
    ) -> _ClusterSums:
        rows, columns = differences.shape
        present = ~np.isnan(differences)
        sums = np.where(present, differences, 0.0)
        sizes = None
        if clusters is not None:
            keys, count = cluster_numbers(clusters, np.ones(rows, dtype=bool))
            membership = csr_array((np.ones(rows), (keys, np.arange(rows))), shape=(count, rows))
            sums = membership @ sums
            sizes = membership @ present.astype(np.float64)
        n = present.sum(axis=0)
        groups = n if sizes is None else (sizes > 0).sum(axis=0)
        worth = groups.astype(np.float64)
        if sizes is not None:
            for i in np.flatnonzero((groups >= FEWEST) & (groups < n)):
                worth[i] = effective(sizes[sizes[:, i] > 0, i].tolist())
        few = [None if groups[i] == n[i] else few_clusters(worth[i]) for i in range(columns)]
        return cls(sums, sizes, n, groups, worth, few)

    @property
    def units(self) -> str:
        return "questions" if self.sizes is None else "clusters"

    @cached_property
    def means(self) -> Floats:
        return np.asarray(self.sums.sum(axis=0) / np.maximum(self.n, 1))

    @cached_property
    def testable(self) -> NDArray[np.bool_]:
        """Hypotheses with enough clusters and a difference other than 0."""
        enough = np.array([remark is None for remark in self.few], dtype=bool)
        differ = (self.sums != 0).any(axis=0)
        return np.asarray((self.groups >= FEWEST) & differ & enough)

    def reasons(self) -> list[str | None]:
        """Why each hypothesis would not be tested; some of them are."""
        return [
            few
            or (ALL_ZERO if count >= FEWEST else f"too few for a test: {counted(count, 'cluster')}")
            for few, count in zip(self.few, self.groups.tolist(), strict=True)
        ]

    def sign_table(self) -> _SignTable:
        tested = self.testable
        return _SignTable(
            self.sums[:, tested],
            None if self.sizes is None else self.sizes[:, tested],
            self.groups[tested],
            self.n[tested],
        )

    def no_interval(self, i: int, error: float, critical: float, alpha: float) -> str | None:
        """Why a tested hypothesis has no interval; None: it has one."""
        if 2.0 ** (1 - self.groups[i]) > alpha or not math.isfinite(critical):
            return f"with {self.groups[i]} {self.units} no difference is significant at {alpha:g}"
        if error == 0:
            return "all differences are equal, so they show no spread"
        return None

    def ends(
        self, i: int, error: float, skewness: float, critical: float, alpha: float
    ) -> tuple[float, float]:
        """The test inverted: the means from which the observed one is at most the critical value away."""
        mean = self.means[i]
        distance = max(critical, t_quantile(1 - alpha, self.worth[i] - 1))
        return (
            mean - error * untransformed(distance, skewness),
            mean - error * untransformed(-distance, skewness),
        )

    def skew_remark(self, i: int, skewness: float) -> str | None:
        of_clusters = skewness * math.sqrt(self.groups[i])
        if self.worth[i] >= _SYMMETRIC or abs(of_clusters) <= _SKEWED:
            return None
        return (
            f"skewed differences (skewness {of_clusters:.1f}): with fewer than {_SYMMETRIC} {self.units} the test "
            "rejects too often"
        )


def _critical(maxima: Floats, alpha: float, unit_added: int) -> float:
    """The |T| that at most a share alpha of the patterns exceeds; infinite where there are too few patterns."""
    rarer = math.floor(alpha * (len(maxima) + unit_added) + 1e-9) - unit_added
    return float(maxima[rarer]) if 0 <= rarer < len(maxima) else math.inf


def _reached(
    table: _SignTable, observed: Floats, patterns: Iterable[Floats]
) -> tuple[Floats, Floats, Floats]:
    """How many sign patterns reach the statistic of each column: in this column, and in any of them; and the largest
    statistic of each pattern, the greatest first."""
    needed = observed * (1 - 1e-9)  # sums in another order differ by rounding
    single = np.zeros(len(observed))
    joint = np.zeros(len(observed))
    largest_statistics = []
    for signs in patterns:
        statistics = table.statistics(signs)
        single += (statistics >= needed).sum(axis=0)
        largest = statistics.max(axis=1)
        joint += (largest[:, None] >= needed).sum(axis=0)
        largest_statistics.append(largest)
    return single, joint, np.sort(np.concatenate(largest_statistics))[::-1]


def inverted(
    estimate: Estimate, ends: tuple[float, float] | None, bounds: Bounds, level: float
) -> Estimate:
    """A mean difference with the interval of the test that decides. ends: None if the test can find no difference: then
    the interval of the mean is extended to hold 0."""
    if ends is None:
        low, high = estimate.ends or (None, None)
        return (
            estimate
            if low is None or high is None
            else replace(estimate, low=min(low, 0.0), high=max(high, 0.0))
        )
    lo, hi = (limit if limit is not None else end for limit, end in zip(bounds, ends, strict=True))
    return replace(
        estimate,
        low=max(lo, ends[0]),
        high=min(hi, ends[1]),
        level=level,
        method=INVERTED,
        reason=None,
    )


class _SignTable:
    """Clusters x hypotheses, and the size of each hypothesis's statistic under rows of signs. sizes None: a cluster has
    one difference of a hypothesis, or none and the sum 0. sums and sizes are times the leverages; plain: sums alone.
    Clusters whose sums are all 0 have no sign, and count in `even` and `n` only."""

    def __init__(self, sums: Floats, sizes: Floats | None, groups: Ints, n: Ints) -> None:
        self.plain = sums
        self.sums = sums
        self.sizes = sizes
        self.groups = groups
        self.n = n
        if sizes is not None:
            leverage = n * (groups - 1) / (groups * (n - sizes))
            self.sums = sums * leverage
            self.sizes = sizes * leverage
        self.squares = (self.sums * self.sums).sum(axis=0)
        self.even: tuple[NDArray[Any], ...] = (self.squares, n, n)
        if self.sizes is not None:
            self.even = (
                (self.sums**2 * self.sizes).sum(axis=0),
                (self.sizes**2).sum(axis=0),
                (self.sizes**3).sum(axis=0),
            )
        signed = (sums != 0).any(axis=1)
        self.plain = self.plain[signed]
        self.sums = self.sums[signed]
        self.sizes = None if self.sizes is None else self.sizes[signed]

    def standard_errors(self) -> tuple[Floats, Floats]:
        """Of the means, in the differences' units, and their skewness a; 0 if the spread is rounding."""
        _, spread, third, level = (
            moment[0] for moment in self._moments(np.ones((1, len(self.sums))), slice(None))
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            a = np.where(level, 0.0, third / spread**1.5)
            error = np.sqrt(self.groups / (self.groups - 1) * spread) / self.n
        return np.where(level, 0.0, error), a

    def statistics(self, signs: Floats) -> Floats:
        """|T|, patterns x hypotheses."""
        statistics = np.empty((len(signs), self.sums.shape[1]))
        for start in range(0, self.sums.shape[1], _BLOCK):
            statistics[:, start : start + _BLOCK] = self._block(signs, slice(start, start + _BLOCK))
        return statistics

    def _block(self, signs: Floats, block: slice) -> Floats:
        groups = self.groups[block]
        total, spread, third, level = self._moments(signs, block)
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.sqrt(spread)
            t = total / (np.sqrt(groups / (groups - 1)) * root)
            a = np.where(level, 0.0, third / (spread * root))  # skewness / sqrt(groups)
            skew = a * t
            moved = t * (1 + skew / 3 + skew * skew / 27) + a / 6
        return np.where(level, np.where(total == 0, 0.0, np.inf), np.abs(moved))

    def _moments(
        self, signs: Floats, block: slice
    ) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
        """The sum of all differences, sum u², sum u³, and whether sum u² is rounding; each patterns x hypotheses."""
        sums = self.sums[:, block]
        total = signs @ self.plain[:, block]
        cubes = signs @ (sums * sums * sums)
        by_size = by_square = total
        if self.sizes is not None:
            sizes = self.sizes[:, block]
            by_size = signs @ (sums * sizes)
            by_square = signs @ (sums * sizes * sizes)
        squares = self.squares[block]
        (squares_n, n2, n3) = (moment[block] for moment in self.even)
        means = total / self.n[block]
        spread = squares - 2 * means * by_size + means**2 * n2
        third = cubes - 3 * means * squares_n + 3 * means**2 * by_square - means**2 * means * n3
        return total, spread, third, spread <= 1e-12 * squares


def _signs(count: int, permutations: int, seed: int, exact: bool) -> Iterator[Floats]:
    if exact:
        for start in range(0, 2**count, _STEP):
            numbers = np.arange(start, min(start + _STEP, 2**count))
            yield 1.0 - 2.0 * ((numbers[:, None] >> np.arange(count)) & 1).astype(np.float64)
        return
    random = np.random.default_rng(seed)
    step = max(1, min(_STEP, _CELLS // count))
    signs = np.empty((step, count))  # all yields are parts of this array
    for start in range(0, permutations, step):
        drawn = random.integers(
            0, 256, (min(step, permutations - start), -(-count // 8)), dtype=np.uint8
        )
        part = signs[: len(drawn)]
        np.multiply(np.unpackbits(drawn, axis=1, count=count), -2.0, out=part)
        yield np.add(part, 1.0, out=part)
