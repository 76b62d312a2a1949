"""The confidence interval of a mean, of values that may belong together: Hall's transformed t, in plain Python.

    u_c = l_c (s_c - n_c mean)          s_c: the sum of the n_c values of cluster c, of G clusters with n values in all
    se  = sqrt(G / (G - 1) sum u_c²) / n                        l_c: its leverage (`stats.clusters`), 1 for equal sizes
    a   = sum u_c³ / (sum u_c²)^1.5     the skewness of the mean
    g(t) = (3 / a) ((1 + a (t - a / 6))^(1/3) - 1);  t - a / 6 for a near 0
    low, high = mean - se g(t), mean - se g(-t)          t: the quantile of Student's t; d.f. of `stats.clusters`

The mean is over values. Clusters change its uncertainty only: values of one cluster may depend on each other, clusters
are taken as drawn independently; se is the cluster jackknife's (CR3), d.f. are Bell and McCaffrey's. Without clusters
each value is one, se is the standard deviation / sqrt n, and d.f. are n - 1; values that are all at one of two bounds
then have Wilson's interval, which is narrower.

Of values that are nearly all equal, Hall's interval takes the few others for a long tail and moves away from the rest:
two values above 39 equal ones would lie above them. So where the interval excludes the value of half of the
clusters or more (or a `null` that the caller names, such as no difference), the k clusters unlike it must show this by
their signs: p is the share of the 2^k ways to give each a sign in which their sum is as far from it. Above 1 - level,
the interval is extended to hold the value. Five on one side have p = .0625, six .031. Of more than 14, only the least p
that so many can have counts. A value at a bound is not meant: no other can lie beyond it.

Source: Hall (1992), "On the removal of skewness by transformation", JRSS B 54: the cubic transformation of the
studentised mean, inverted. Deviations: the quantile is Student's, not the normal one, and u_c takes the place of the
deviations of values. docs/coverage.md has the coverage. Sums are exact (`math.fsum`), so that the order of the values
does not change a digit.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from longmark.errors import UserError
from longmark.stats.clusters import FEWEST_EFFECTIVE, effective, leverages
from longmark.stats.results import Estimate, check_level
from longmark.stats.student import t_quantile

Bounds = tuple[float | None, float | None]
"""Least and greatest value that a metric can have; None: no limit."""

HALL = "Hall's t"
ALL_EQUAL = "all equal"
WILSON = "Wilson"

_FEW = 5  # values or clusters up to which an interval is remarked on
_FLIPPED = 14  # clusters unlike the rest up to which all 2^14 sign patterns are looked at
_ROUNDING = 1e-12  # deviations up to this share of the values are rounding


def mean_estimate(
    values: Iterable[float],
    clusters: Iterable[Hashable] | None = None,
    bounds: Bounds = (None, None),
    level: float = 0.95,
    *,
    null: float | None = None,
) -> Estimate:
    """The mean of the values with its interval, clipped to each bound that all values keep. clusters: for each value,
    what it belongs to; null: a mean that the interval may exclude only if signs do (no difference: 0), None: the value
    of half of the clusters or more.

    The rules are those of `mean_of_groups`. ValueError if values and clusters differ in number.
    """
    if clusters is None:
        return mean_of_groups(([value] for value in values), bounds, level, null=null)
    groups: dict[Hashable, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        groups.setdefault(cluster, []).append(value)
    return mean_of_groups(groups.values(), bounds, level, null=null)


def mean_of_groups(
    groups: Iterable[Sequence[float]],
    bounds: Bounds = (None, None),
    level: float = 0.95,
    *,
    null: float | None = None,
) -> Estimate:
    """The mean over all values of the groups, each of one cluster and with a value or more; in the values' units.

    Where all values, or the means of all clusters, are equal, the interval is that of `equal_interval` with the
    effective number of clusters. No interval, and `reason` says why, for fewer than two clusters, for equal values
    without bounds, and for values too large to be averaged. null: as for `mean_estimate`. `clusters` and `effective`
    are None if each value is one; `remark` says so where there are too few, and where the interval was extended to hold
    the null. Four numbers are kept for each cluster.
    UserError for a level outside (0, 1), ValueError for a value that is not finite.
    """
    check_level(level)
    sums = _SumsByCluster.of_groups(groups)
    interval = _interval(sums, bounds, level)
    ends = interval.ends
    remark = None
    if ends is not None:
        remark = few_clusters(sums.effective) if sums.effective else few_values(sums.n)
    if ends is not None and interval.method in (HALL, WILSON):
        ends, remark_on_signs = _borne_out_by_signs(
            ends, sums.sums, sums.counts, bounds, level, null
        )
        remark = remark or remark_on_signs
    low, high = ends or (None, None)
    return Estimate(
        sums.mean,
        low,
        high,
        sums.n,
        level,
        interval.method,
        interval.reason,
        clusters=None if sums.is_unclustered else sums.clusters,
        effective=sums.effective,
        remark=remark,
    )


@dataclass(frozen=True, slots=True)
class _SumsByCluster:
    """Values by their cluster. counts, sums: of the values of each cluster; least, greatest: of all n values; mean: None
    without values, or if their sum is too large for a float; effective: the effective number of clusters, None if there
    is one, or if each value is one."""

    counts: array[int]
    sums: array[float]
    least: float
    greatest: float
    mean: float | None
    n: int
    effective: float | None

    @classmethod
    def of_groups(cls, groups: Iterable[Sequence[float]]) -> _SumsByCluster:
        counts = array("q")
        sums = array("d")
        least = math.inf
        greatest = -math.inf
        mean = None
        try:
            for group in groups:
                if not all(map(math.isfinite, group)):
                    raise ValueError(f"only finite numbers can be averaged, not {group!r}")
                counts.append(len(group))
                sums.append(math.fsum(group))
                least = min(least, *group)
                greatest = max(greatest, *group)
            if counts:
                mean = least if least == greatest else math.fsum(sums) / sum(counts)
        except OverflowError:
            sums = array("d", [math.inf])
        n = sum(counts)
        effective_number = effective(counts) if 1 < len(counts) < n else None
        return cls(counts, sums, least, greatest, mean, n, effective_number)

    @property
    def clusters(self) -> int:
        return len(self.counts)

    @property
    def is_unclustered(self) -> bool:
        """Whether each value is a cluster of its own."""
        return self.clusters == self.n

    @property
    def rounding(self) -> float:
        """A difference of values up to which they count as equal."""
        return _ROUNDING * max(abs(self.least), abs(self.greatest))


@dataclass(frozen=True, slots=True)
class _MeanInterval:
    """ends: None where there is none, and `reason` says why."""

    ends: tuple[float, float] | None = None
    method: str = ""
    reason: str | None = None


_TOO_LARGE = _MeanInterval(reason="the values are too large to be averaged")


def _interval(sums: _SumsByCluster, bounds: Bounds, level: float) -> _MeanInterval:
    """The interval of the mean by the method that suits the values, before signs are looked at."""
    if math.inf in sums.sums:
        return _TOO_LARGE
    if sums.mean is None:
        return _MeanInterval(reason="there are no values")
    if sums.n == 1:
        return _MeanInterval(reason="there is only 1 value")
    if sums.clusters < 2:
        return _MeanInterval(reason=f"all {sums.n} values belong to one cluster")
    deviations = array(
        "d",
        (total - count * sums.mean for total, count in zip(sums.sums, sums.counts, strict=True)),
    )
    widest = max(map(abs, deviations))
    if widest <= sums.rounding * max(sums.counts):
        return _interval_of_equal(sums, sums.mean, bounds, level)
    if sums.is_unclustered and _are_all_at_bounds(sums.sums, bounds):
        return _MeanInterval(_wilson_ends(sums.mean, sums.n, bounds, level), WILSON)
    return _hall_interval(sums, sums.mean, deviations, bounds, level)


def _interval_of_equal(
    sums: _SumsByCluster, mean: float, bounds: Bounds, level: float
) -> _MeanInterval:
    """Of values that are all equal, or clusters with equal means: as wide as bounds and their number allow."""
    (lo, hi) = bounds
    if lo is None or hi is None or not lo <= sums.least <= sums.greatest <= hi:
        equal_units = f"means of {sums.clusters} clusters"
        if sums.least == sums.greatest or sums.is_unclustered:
            equal_units = f"{sums.n} values"
        return _MeanInterval(reason=f"all {equal_units} are equal, and the metric has no bounds")
    mean = min(max(mean, lo), hi)  # rounding can take it across a bound
    units = sums.effective or sums.clusters
    return _MeanInterval(equal_interval(mean, units, lo, hi, level), ALL_EQUAL)


def _are_all_at_bounds(values: Iterable[float], bounds: Bounds) -> bool:
    (lo, hi) = bounds
    return lo is not None and hi is not None and all(value in (lo, hi) for value in values)


def _wilson_ends(mean: float, n: int, bounds: Bounds, level: float) -> tuple[float, float]:
    """Wilson's interval of the share of the values that are at the upper bound, on the scale of the values."""
    (lo, hi) = bounds
    assert lo is not None
    assert hi is not None
    low, high = wilson((mean - lo) / (hi - lo), n, NormalDist().inv_cdf((1 + level) / 2))
    return (lo + low * (hi - lo), lo + high * (hi - lo))


def _hall_interval(
    sums: _SumsByCluster, mean: float, deviations: array[float], bounds: Bounds, level: float
) -> _MeanInterval:
    """deviations: of the sum of each cluster from what the mean has it be."""
    # their squares and cubes could be too large, or too small, for a float
    widest = max(map(abs, deviations))
    scaled = array("d", (deviation / widest for deviation in deviations))
    size = sums.effective
    if size is not None:
        levers = leverages(sums.counts)
        scaled = array("d", (u * lever for u, lever in zip(scaled, levers, strict=True)))
    quantile = t_quantile(level, (size or sums.clusters) - 1)
    low, high = _ends(mean, scaled, widest / sums.n, quantile)
    if not math.isfinite(low) or not math.isfinite(high):
        return _TOO_LARGE
    # a bound that a value breaks, by more than rounding, is none
    (lo, hi) = bounds
    if lo is not None and sums.least >= lo - sums.rounding:
        low = max(lo, low)
    if hi is not None and sums.greatest <= hi + sums.rounding:
        high = min(hi, high)
    return _MeanInterval((low, high), HALL)


def _borne_out_by_signs(
    ends: tuple[float, float],
    sums: Sequence[float],
    counts: Sequence[int],
    bounds: Bounds,
    level: float,
    null: float | None,
) -> tuple[tuple[float, float], str | None]:
    """The ends, extended to the null where signs do not exclude it, and a remark that says so. sums, counts: of each
    cluster its values' sum and number."""
    low, high = ends
    most_signs = max(
        _FLIPPED, math.ceil(1 - math.log2(1 - level))
    )  # of more clusters, the least p is small enough
    centre = null
    if centre is None:
        first = Counter(
            total / count
            for total, count in zip(sums[: 4 * most_signs], counts[: 4 * most_signs], strict=True)
        )
        centre = first.most_common(1)[0][0]
        if not all(
            limit is None or abs(centre - limit) > _ROUNDING * abs(limit) for limit in bounds
        ):
            return ends, None
    if low <= centre <= high:
        return ends, None
    unlike = array("d")
    for total, count in zip(sums, counts, strict=True):
        deviation = total - count * centre
        if abs(deviation) > _ROUNDING * max(abs(total), abs(count * centre)):
            unlike.append(deviation)
            if len(unlike) > most_signs:
                return ends, None
    if null is None and 2 * len(unlike) > len(counts):
        return ends, None
    p = sign_p(unlike) if len(unlike) <= _FLIPPED else 2.0 ** (1 - len(unlike))
    if p <= 1 - level + _ROUNDING:
        return ends, None
    units = "values" if len(counts) == sum(counts) else "clusters"
    remark = f"extended to hold {centre:g}: {len(unlike)} of {len(counts)} {units} differ from it, by signs p = {p:.2g}"
    return (min(low, centre), max(high, centre)), remark


def sign_p(differences: Sequence[float]) -> float:
    """The share of all ways to give each difference a sign in which their sum is as far from 0 as it is; 1 for none.
    They double with each difference: give few."""
    sums = [0.0]
    for difference in differences[
        1:
    ]:  # the first keeps its sign: the other half of the patterns mirrors this one
        sums = [total + side * difference for total in sums for side in (1, -1)]
    first = differences[0] if differences else 0.0
    observed = abs(math.fsum(differences))
    close = _ROUNDING * math.fsum(map(abs, differences))
    return sum(abs(first + total) >= observed - close for total in sums) / len(sums)


def few_values(n: int) -> str | None:
    """What a reader of an interval of n values must know."""
    return f"an interval of {n} values means little" if n <= _FEW else None


def few_clusters(size: float) -> str | None:
    """What a reader of an interval of so many effective clusters must know; then nothing is decided by it."""
    return (
        f"{size:.1f} effective clusters are too few for a decision"
        if size < FEWEST_EFFECTIVE
        else None
    )


def wilson(p: float, n: float, quantile: float) -> tuple[float, float]:
    """The ends of Wilson's interval (1927) about a share p of n.

        middle ± half     middle = (p + q² / 2n) / (1 + q² / n),  half = q / (1 + q² / n) √(p (1 - p) / n + q² / 4n²)

    Also for n points of 0, 1/2 or 1 with the mean p (ties counted half): they vary less than points of 0 or 1, so the
    interval is then conservative.
    """
    square = quantile * quantile
    middle = (p + square / (2 * n)) / (1 + square / n)
    half = quantile / (1 + square / n) * math.sqrt(p * (1 - p) / n + square / (4 * n * n))
    return (0.0 if p == 0 else max(0.0, middle - half), 1.0 if p == 1 else min(1.0, middle + half))


def _ends(mean: float, apart: Sequence[float], unit: float, t: float) -> tuple[float, float]:
    """apart: u_c; unit: what they are counted in, divided by n."""
    number = len(apart)
    squares = math.fsum(u * u for u in apart)
    a = math.fsum(u * u * u for u in apart) / squares**1.5
    error = unit * math.sqrt(number / (number - 1) * squares)
    return mean - error * untransformed(t, a), mean - error * untransformed(-t, a)


def untransformed(t: float, a: float) -> float:
    """g(t), a transformed t turned back. Near a = 0 the cube root is taken by logarithms, which lose no digits."""
    y = t - a / 6
    if abs(a) < _ROUNDING:
        return y
    return 3 / a * (math.expm1(math.log1p(a * y) / 3) if a * y > -0.5 else math.cbrt(1 + a * y) - 1)


def equal_interval(
    value: float, n: float, lo: float, hi: float, level: float = 0.95
) -> tuple[float, float]:
    """The interval of the mean if all n values in a sample are equal: a spread cannot be estimated, but the share of
    other values cannot be large.

        [v - s (v - lo), v + s (hi - v)]     s = 1 - tail^(1/n), tail = (1 - level) / 2

    s is the share of different values that n draws would all have missed with probability `tail` (Clopper and Pearson's
    bound for 0 of n); the different ones are taken to lie at the bounds. UserError for a value outside its bounds, n
    below 1 or a level outside (0, 1).
    """
    check_level(level)
    if n < 1 or not lo <= value <= hi:
        raise UserError(
            f"{n} values of {value} between {lo} and {hi}: expected one or more within the bounds"
        )
    missed = 1 - ((1 - level) / 2) ** (1 / n)
    return value - missed * (value - lo), value + missed * (hi - value)
