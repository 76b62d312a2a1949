"""Bootstrap intervals: percentile and BCa (Efron 1987), of rows or of whole clusters, for a mean or any statistic.

    BCa: the quantiles Φ(z0 + (z0 ± z) / (1 - a (z0 ± z))) of the resampled values
    z0 = Φ⁻¹(share of resampled values below the estimate, ties by half)
    a  = Σ u³ / (6 (Σ u²)^1.5)     u: mean of the jackknife values minus each (one row or cluster left out)

Rows that belong together (answers to one question, questions that share a context) are given one cluster: then whole
clusters are drawn, and left out. Random numbers are drawn as SciPy's `bootstrap` draws them, so that a seed gives the
same interval in both. Intervals have the unit of the statistic.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from longmark.errors import UserError
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats, Ints, Seed, Values, check_count, cluster_numbers, complete_rows, generator

BCA, PERCENTILE = "BCa", "percentile"
Statistic = Callable[..., Floats]

FEWEST_BCA = 15
"""Values from which the interval of a mean is by BCa; below them BCa covers too little."""

FEWEST = 3  # rows or clusters below which resampling says nothing
_CHUNK = 250_000  # indices that are drawn at once: 2 MB
_ROUNDING = 1e-12  # relative: resampled values this close to the estimate are ties


def bootstrap_mean(
    values: Values,
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    method: str = BCA,
    resamples: int = 10_000,
    seed: Seed = 0,
) -> Estimate:
    """The mean of the values that are there. clusters: for each value, what it belongs to.

    With clusters of different sizes the mean is still over values, so that a resample has as many values as it drew.
    UserError for a level outside (0, 1), an unknown method or columns of unequal length.
    """
    _check(level, method, resamples)
    (rows,), keep = complete_rows(values)
    if clusters is None:
        return _of_means(rows, np.ones(len(rows)), len(keep), None, level, method, resamples, seed)
    numbers, count = cluster_numbers(clusters, keep)
    sums = np.bincount(numbers, rows, count).astype(np.float64)
    sizes = np.bincount(numbers, minlength=count).astype(np.float64)
    return _of_means(sums, sizes, len(keep), count, level, method, resamples, seed)


def bootstrap_difference(
    a: Values,
    b: Values,
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    method: str = BCA,
    resamples: int = 10_000,
    seed: Seed = 0,
) -> Estimate:
    """The mean of a - b over the rows that have both; the rows are resampled as pairs."""
    (left, right), keep = complete_rows(a, b)
    differences = np.full(len(keep), np.nan)
    differences[keep] = left - right
    return bootstrap_mean(
        differences, clusters=clusters, level=level, method=method, resamples=resamples, seed=seed
    )  # fmt: skip


def bootstrap(
    columns: Sequence[Values],
    statistic: Statistic,
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    method: str = BCA,
    resamples: int = 10_000,
    seed: Seed = 0,
) -> Estimate:
    """Any statistic of rows: columns of equal length, of which the rows that are complete are resampled together.

    statistic: given the columns, each of shape (…, rows), it reduces the last axis; NaN where it has no value. With
    clusters it is asked for one resample at a time, since resamples then differ in length. ValueError where it gives
    another shape.
    """
    _check(level, method, resamples)
    rows, keep = complete_rows(*columns)
    n, missing = len(rows[0]), int((~keep).sum())
    random, number = generator(seed)
    count: int | None = None
    if clusters is None:
        units = n
    else:
        numbers, count = cluster_numbers(clusters, keep)
        members = [np.flatnonzero(numbers == cluster) for cluster in range(count)]
        units = count
    settings = _Settings(n, missing, count, level, method, resamples, number)
    with np.errstate(invalid="ignore", divide="ignore"):
        estimate = float(statistic(*rows)) if n else np.nan
    if units < FEWEST:
        return settings.none(_finite(estimate), _too_few(units, count))
    if np.isnan(estimate):
        return settings.none(None, "the statistic has no value on these rows")

    def values(drawn: Iterator[Ints]) -> Floats:
        if count is None:
            parts = [_reduced(statistic(*(column[index] for column in rows)), len(index)) for index in drawn]
        else:
            taken = (np.concatenate([members[cluster] for cluster in one]) for index in drawn for one in index)
            parts = [np.atleast_1d(statistic(*(column[index] for column in rows))) for index in taken]
        return np.concatenate(parts)

    with np.errstate(invalid="ignore", divide="ignore"):  # where a statistic has no value, it says so by NaN
        resampled = values(draws(random, units, resamples))
        jackknife = values(_all_but_one(units)) if method == BCA else None
    return settings.interval(estimate, resampled, jackknife)


def bca_interval(
    estimate: float,
    resampled: Floats,
    jackknife: Floats,
    *,
    n: int,
    missing: int,
    level: float,
    resamples: int,
    seed: int | None,
    clusters: int | None = None,
) -> Estimate:
    """The BCa interval of a statistic that was resampled elsewhere.

    resampled: its values on the resamples; jackknife: with each of the n rows left out, or of the clusters, if that
    many were resampled; NaN where it has none. Gives what `bootstrap` gives for the same numbers. UserError for a level
    outside (0, 1).
    """
    _check(level, BCA, resamples)
    settings = _Settings(n, missing, clusters, level, BCA, resamples, seed)
    units = n if clusters is None else clusters
    if units < FEWEST:
        return settings.none(_finite(estimate), _too_few(units, clusters))
    if np.isnan(estimate):
        return settings.none(None, "the statistic has no value on these rows")
    return settings.interval(estimate, resampled, jackknife)


def _reduced(values: Floats, resamples: int) -> Floats:
    if np.shape(values) != (resamples,):
        raise ValueError(f"a statistic reduces the last axis: of {resamples} resamples it gave {np.shape(values)}")
    return values


def _of_means(
    sums: Floats, sizes: Floats, rows: int, count: int | None, level: float, method: str, resamples: int, seed: Seed
) -> Estimate:
    """The mean from the sum and the size of each unit that is drawn; a row is a unit of size 1."""
    n, units = int(sizes.sum()), len(sums)
    random, number = generator(seed)
    settings = _Settings(n, rows - n, count, level, method, resamples, number)
    total = sums.sum()
    estimate = float(total / n) if n else None
    if estimate is None or units < FEWEST:
        return settings.none(estimate, _too_few(units, count))
    alike = bool((sizes == sizes[0]).all())
    parts = []
    for index in draws(random, units, resamples):
        drawn = sums[index].mean(axis=1) / sizes[0] if alike else sums[index].sum(axis=1) / sizes[index].sum(axis=1)
        parts.append(drawn)
    jackknife = (total - sums) / (n - sizes) if method == BCA else None
    return settings.interval(estimate, np.concatenate(parts), jackknife)


@dataclass(frozen=True, slots=True)
class _Settings:
    """What an interval was asked with, and how one is read off the resampled values."""

    n: int
    missing: int
    clusters: int | None
    level: float
    method: str
    resamples: int
    seed: int | None

    def none(self, estimate: float | None, reason: str, undefined: int = 0) -> Estimate:
        return self._made(estimate, None, None, undefined, reason)

    def interval(self, estimate: float, resampled: Floats, jackknife: Floats | None) -> Estimate:
        """jackknife: None for percentiles."""
        values = resampled[~np.isnan(resampled)]
        undefined = len(resampled) - len(values)
        if undefined * 2 > len(resampled):
            return self.none(estimate, "the statistic has no value on most resamples", undefined)
        rounding = _ROUNDING * max(abs(estimate), float(np.abs(values).max()))
        if np.ptp(values) <= rounding:
            alike = "the clusters are alike" if self.clusters is not None else "the rows are alike"
            return self.none(estimate, f"{alike}: every resample gives the same value, so none tells how sure it is")
        tail = (1 - self.level) / 2
        shares = np.array([tail, 1 - tail])
        if jackknife is not None:
            below = (values < estimate - rounding).mean() + (values <= estimate + rounding).mean()
            corrected = _bca_shares(shares, below / 2, jackknife)
            if isinstance(corrected, str):
                return self.none(estimate, f"{corrected}; method='percentile' gives an interval", undefined)
            shares = corrected
        low, high = np.quantile(values, shares)
        return self._made(estimate, float(low), float(high), undefined, None)

    def _made(
        self, estimate: float | None, low: float | None, high: float | None, undefined: int, reason: str | None
    ) -> Estimate:
        return Estimate(
            value=estimate,
            low=low,
            high=high,
            n=self.n,
            level=self.level,
            method=self.method,
            resamples=self.resamples,
            seed=self.seed,
            missing=self.missing,
            clusters=self.clusters,
            undefined=undefined,
            reason=reason,
        )


def _bca_shares(shares: Floats, below: float, jackknife: Floats) -> Floats | str:
    """The shares of the resampled values to cut at, or why there are none."""
    if not 0 < below < 1:
        return "all resampled values lie on one side of the estimate, so BCa has no correction for the bias"
    if np.isnan(jackknife).any():
        return "the statistic has no value when one row or cluster is left out, so BCa has no acceleration"
    leaps = jackknife.mean() - jackknife
    squares = leaps * leaps
    spread = float(squares.sum())
    if spread <= (_ROUNDING * float(np.abs(jackknife).max())) ** 2 * len(jackknife):
        return "leaving out any one row or cluster changes nothing, so BCa has no acceleration"
    acceleration = float((squares * leaps).sum()) / (6 * spread**1.5)
    bias = ndtri(below)
    reach = bias + ndtri(shares)
    if (1 - acceleration * reach <= 0).any():
        return "one row or cluster outweighs all others, so BCa's acceleration is out of bounds"
    return np.asarray(ndtr(bias + reach / (1 - acceleration * reach)))


def draws(random: np.random.Generator, units: int, resamples: int) -> Iterator[Ints]:
    """Indices of units, a resample a row, some resamples at a time (the stream of numbers is the same for any size)."""
    step = max(1, _CHUNK // units)
    for start in range(0, resamples, step):
        yield random.integers(0, units, (min(step, resamples - start), units))


def _all_but_one(units: int) -> Iterator[Ints]:
    """For each unit the indices of all others, a unit a row, some units at a time."""
    step = max(1, _CHUNK // units)
    others = np.arange(units - 1)
    for start in range(0, units, step):
        left_out = np.arange(start, min(units, start + step))[:, None]
        yield others + (others >= left_out)


def _too_few(units: int, clusters: int | None) -> str:
    what = "values" if clusters is None else "clusters"
    return f"resampling needs at least {FEWEST} {what}; there are {units}"


def _finite(value: float) -> float | None:
    return None if np.isnan(value) else value


def _check(level: float, method: str, resamples: int) -> None:
    if not 0 < level < 1:
        raise UserError(f"a confidence level lies between 0 and 1, as 0.95 does; found {level}")
    if method not in (BCA, PERCENTILE):
        raise UserError(f"a bootstrap interval is by '{BCA}' or '{PERCENTILE}', not {method!r}")
    check_count(resamples, "resamples")
