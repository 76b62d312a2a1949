"""Bootstrap intervals for what depends on items only through sums over them: kappas, alphas, shares of pairs.

Each item gives a row of features, and the statistic is a formula of their sums. A resample of the items is then a
vector of counts, and many resamples one product of matrices; what is left without an item is the sums less its row. So
time grows with items x features, never with the square of the items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from longmark.stats.bootstrap import FEWEST, bca_interval, draws
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats, Seed, check_count, generator

Formula = Callable[[Floats], Floats]
"""Sums of shape (m, features) to m values, NaN where the statistic is not defined."""

_CHUNK = 250_000  # sums that a formula is given at once: 2 MB


def bootstrap_of_sums(
    features: Any, formula: Formula, *, level: float, resamples: int, seed: Seed, clusters: bool = False
) -> Estimate:
    """The BCa interval of formula(features summed over the items), resampling items.

    features: shape (items, features), an array or a matrix of scipy.sparse in rows. clusters: whether these items are
    clusters, and the reason why there is no interval is to call them so.
    """
    check_count(resamples, "resamples")
    items = features.shape[0]
    random, number = generator(seed)
    total = np.asarray(features.sum(axis=0), dtype=np.float64).reshape(1, -1)
    resampled = left_out = np.empty(0)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = float(formula(total)[0])
        if items >= FEWEST and not np.isnan(estimate):
            resampled = np.concatenate([formula(sums) for sums in _resampled(features, random, resamples)])
            left_out = np.concatenate([formula(sums) for sums in _without_one(features, total)])
    return bca_interval(
        estimate,
        resampled,
        left_out,
        n=items,
        missing=0,
        level=level,
        resamples=resamples,
        seed=number,
        clusters=items if clusters else None,
    )


def _resampled(features: Any, random: np.random.Generator, resamples: int) -> Iterator[Floats]:
    """The sums of resamples, a resample a row, some at a time."""
    items = features.shape[0]
    for index in draws(random, items, resamples):
        cells = index + items * np.arange(len(index))[:, None]
        counts = np.bincount(cells.ravel(), minlength=cells.size).reshape(cells.shape)
        yield counts.astype(np.float64) @ features


def _without_one(features: Any, total: Floats) -> Iterator[Floats]:
    """The sums without each item in turn, an item a row, some at a time."""
    step = max(1, _CHUNK // max(1, total.size))
    for start in range(0, features.shape[0], step):
        rows = features[start : start + step]
        yield total - (rows if isinstance(rows, np.ndarray) else rows.toarray())
