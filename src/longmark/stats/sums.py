"""Bootstrap intervals for what depends on items only through sums over them: kappas, alphas, shares of pairs.

Each item gives a row of features, and the statistic is a formula of their sums. A resample of the items is then a
vector of counts, and many resamples one product of matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from longmark.stats.bootstrap import bootstrap
from longmark.stats.results import Interval
from longmark.stats.samples import Floats, Seed

Formula = Callable[[Floats], Floats]
"""Sums of shape (m, features) to m values, NaN where the statistic is not defined."""


def bootstrap_of_sums(features: Any, formula: Formula, *, level: float, resamples: int, seed: Seed) -> Interval:
    """The BCa interval of formula(features summed over the items), resampling items.

    features: shape (items, features), an array or a matrix of scipy.sparse.
    """
    items = features.shape[0]

    def of(index: Floats) -> Floats:
        drawn = np.atleast_2d(index).astype(np.int64)
        cells = drawn + items * np.arange(len(drawn))[:, None]
        counts = np.bincount(cells.ravel(), minlength=len(drawn) * items).reshape(len(drawn), items)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.asarray(formula(counts.astype(np.float64) @ features))
        return values if index.ndim > 1 else values[0]

    return bootstrap([np.arange(items)], of, level=level, resamples=resamples, seed=seed)
