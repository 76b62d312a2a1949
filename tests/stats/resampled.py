"""The slow form of a bootstrap interval: any statistic of rows, one resample at a time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from longmark.stats.bootstrap import BCA, interval
from longmark.stats.results import Estimate


def bootstrap(
    columns: Sequence[Any],
    statistic: Callable[..., Any],
    *,
    clusters: Sequence[Hashable] | None = None,
    method: str = BCA,
    resamples: int,
    seed: int = 0,
) -> Estimate:
    """The columns have no missing value and are resampled together, as whole clusters where there are some."""
    rows = [np.asarray(column) for column in columns]
    n = len(rows[0])
    known = list(dict.fromkeys(range(n) if clusters is None else clusters))
    members = [
        np.flatnonzero([(i if clusters is None else clusters[i]) == name for i in range(n)])
        for name in known
    ]

    def value(units: Any) -> float:
        index = np.concatenate([members[unit] for unit in units])
        return float(statistic(*(row[index] for row in rows)))

    count = len(known)
    empty = Estimate(
        None, None, None, n, method=method, clusters=None if clusters is None else count
    )
    with np.errstate(all="ignore"):
        own = float(statistic(*rows)) if n else np.nan
        if count < 3 or np.isnan(own):
            return interval(empty, own, np.empty(0), np.empty(0))
        drawn = np.random.default_rng(seed).integers(0, count, (resamples, count))
        left_out = (
            [value(np.delete(np.arange(count), unit)) for unit in range(count)]
            if method == BCA
            else []
        )
        return interval(empty, own, np.array([value(units) for units in drawn]), np.array(left_out))
