"""Bootstrap intervals: percentile and BCa (Efron 1987), of rows or of whole clusters.

    BCa: the quantiles Φ(z0 + (z0 ± z) / (1 - a (z0 ± z))) of the resampled values
    z0 = Φ⁻¹(share of resampled values below the estimate, ties by half)
    a  = Σ u³ / (6 (Σ u²)^1.5)     u: mean of the jackknife values minus each (one row or cluster left out)

Rows that belong together (answers to one question, questions that share a context) have one cluster: whole clusters are
drawn and left out. Random numbers are drawn as SciPy's `bootstrap` draws them: a seed gives the same interval in both.
Intervals have the unit of the statistic.

A statistic is a formula of sums over the rows (a mean, a kappa, every pair of many systems): a resample is a vector of
counts, and many resamples are one product of matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtr, ndtri

from longmark.errors import UserError
from longmark.stats.results import Estimate, check_level
from longmark.stats.samples import Floats, Ints, Seed, check_count, generator

E = TypeVar("E", bound=Estimate)
BCA = "BCa"
PERCENTILE = "percentile"
Formula = Callable[[Floats], Floats]
"""Sums of shape (m, features) to values of shape (m,) or (m, statistics), NaN where a statistic is undefined."""

FEWEST_BCA = 15
"""Values from which the interval of a mean is by BCa; below them BCa covers too little."""

_FEWEST = 3  # rows or clusters that resampling needs
_CHUNK = 250_000  # indices drawn at once: 2 MB
_NARROW = 2  # features up to which adding up rows is faster than a product with counts
_ROUNDING = 1e-12  # relative: resampled values this close to the estimate are ties
_UNDEFINED = "the statistic has no value on these rows"


def bootstrap_of_sums(
    features: Any, formula: Formula, empty: E, seed: Seed, clusters: Ints | None = None
) -> E:
    """The interval of formula(features summed over the items), resampling items.

    features: shape (items, features), an array or a matrix of scipy.sparse in rows; empty: an estimate without numbers,
    for its settings; clusters: for each item the number of its cluster, from 0 on and none left out.
    """
    check_level(empty.level)
    if empty.method not in (BCA, PERCENTILE):
        raise UserError(
            f"a bootstrap interval is by '{BCA}' or '{PERCENTILE}', not {empty.method!r}"
        )
    check_count(empty.resamples, "resamples")
    random, number = generator(seed)
    empty = replace(empty, seed=number)
    if clusters is not None:
        count = int(clusters.max(initial=-1)) + 1
        items = len(clusters)
        features = (
            csr_array((np.ones(items), (clusters, np.arange(items))), shape=(count, items))
            @ features
        )
        empty = replace(empty, clusters=count)
    value, resampled, jackknife = resampled_sums(features, formula, empty.resamples, random)
    return interval(empty, float(value[0]), resampled, jackknife)


def resampled_sums(
    features: Any, formula: Formula, resamples: int, random: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """The formula of the sums of all items, of resamples of them, and of all items but one in turn.

    Shapes (1, …), (resamples, …), (items, …); the last two are empty if there are fewer than 3 items.
    """
    items = features.shape[0]
    total = np.asarray(features.sum(axis=0), dtype=np.float64).reshape(1, -1)
    step = max(1, _CHUNK // max(1, total.size))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = formula(total)
        if items < _FEWEST:
            return value, value[:0], value[:0]
        if isinstance(features, np.ndarray) and features.shape[1] <= _NARROW:
            columns = [np.ascontiguousarray(column) for column in features.T]
            drawn = (
                np.stack([c[i].sum(axis=1) for c in columns], axis=1)
                for i in _draws(random, items, resamples)
            )
        else:
            drawn = (counts @ features for counts in _counts(random, items, resamples))
        resampled = [formula(sums) for sums in drawn]
        rows = (features[start : start + step] for start in range(0, items, step))
        left_out = [
            formula(total - (row if isinstance(row, np.ndarray) else row.toarray())) for row in rows
        ]
    return value, np.concatenate(resampled), np.concatenate(left_out)


def interval(empty: E, value: float, resampled: Floats, jackknife: Floats) -> E:
    """The interval of a statistic from its values on resamples, by the method of `empty`.

    empty: an estimate without numbers, for its settings; value: the statistic, NaN if it has none; resampled: on the
    resamples; jackknife: with each row, or cluster, left out (only for BCa). NaN where the statistic has no value.
    """
    estimate = None if np.isnan(value) else value
    units = empty.n if empty.clusters is None else empty.clusters
    units_name = "rows" if empty.clusters is None else "clusters"
    if units < _FEWEST:
        things = "values" if empty.clusters is None else "clusters"
        return replace(
            empty,
            value=estimate,
            reason=f"resampling needs at least {_FEWEST} {things}; found {units}",
        )
    if estimate is None:
        return replace(empty, reason=_UNDEFINED)
    values = resampled[~np.isnan(resampled)]
    empty = replace(empty, value=estimate, undefined=len(resampled) - len(values))
    if empty.undefined * 2 > len(resampled):
        return replace(empty, reason="the statistic has no value on most resamples")
    rounding = _ROUNDING * max(abs(value), float(np.abs(values).max()))
    if np.ptp(values) <= rounding:
        return replace(
            empty,
            undefined=0,
            reason=f"the {units_name} are alike: every resample gives the same value",
        )
    shares: Floats | str = np.array([(1 - empty.level) / 2, (1 + empty.level) / 2])
    if empty.method == BCA:
        below = (values < value - rounding).mean() + (values <= value + rounding).mean()
        shares = _bca_shares(np.asarray(shares), below / 2, jackknife, rounding)
    if isinstance(shares, str):
        return replace(empty, reason=shares)
    low, high = np.quantile(values, shares)
    return replace(empty, low=float(low), high=float(high))


def _bca_shares(shares: Floats, below: float, jackknife: Floats, rounding: float) -> Floats | str:
    """The shares of the resampled values to cut at, or why there are none. rounding: of the resampled values."""
    if not 0 < below < 1:
        return "all resampled values are on one side of the estimate, so BCa has no correction for the bias"
    if np.isnan(jackknife).any():
        return "the statistic has no value when one row or cluster is left out, so BCa has no acceleration"
    leaps = jackknife.mean() - jackknife
    squares = leaps * leaps
    spread = float(squares.sum())
    if spread <= max(rounding, _ROUNDING * float(np.abs(jackknife).max())) ** 2 * len(jackknife):
        return "leaving out any one row or cluster changes nothing, so BCa has no acceleration"
    acceleration = float((squares * leaps).sum()) / (6 * spread**1.5)
    bias = ndtri(below)
    z = bias + ndtri(shares)
    if (1 - acceleration * z <= 0).any():
        return "one row or cluster outweighs all others, so BCa's acceleration is out of bounds"
    return np.asarray(ndtr(bias + z / (1 - acceleration * z)))


def _draws(random: np.random.Generator, units: int, resamples: int) -> Iterator[Ints]:
    """Indices of units, a resample a row, some resamples at a time (the random numbers are the same for any size)."""
    step = max(1, _CHUNK // units)
    for start in range(0, resamples, step):
        yield random.integers(0, units, (min(step, resamples - start), units))


def _counts(random: np.random.Generator, units: int, resamples: int) -> Iterator[Floats]:
    """How often each unit is drawn, a resample a row, some resamples at a time."""
    for index in _draws(random, units, resamples):
        cells = index + units * np.arange(len(index))[:, None]
        yield (
            np.bincount(cells.ravel(), minlength=cells.size).reshape(cells.shape).astype(np.float64)
        )
