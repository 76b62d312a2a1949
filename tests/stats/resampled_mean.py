"""The mean with a bootstrap interval: the simplest statistic, by which `bootstrap_of_sums` is checked."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from longmark.stats.bootstrap import BCA, bootstrap_of_sums
from longmark.stats.results import Estimate
from longmark.stats.samples import Seed, Values, cluster_numbers, complete_rows


def bootstrap_mean(
    values: Values,
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    method: str = BCA,
    resamples: int = 10_000,
    seed: Seed = 0,
) -> Estimate:
    """The mean of the values that are not missing. clusters: for each value, what it belongs to.

    With clusters of different sizes the mean is still over values, so a resample has as many values as it drew.
    UserError for a level outside (0, 1), an unknown method or columns of unequal length.
    """
    (rows,), keep = complete_rows(values)
    numbers = None if clusters is None else cluster_numbers(clusters, keep)[0]
    empty = Estimate(
        None,
        None,
        None,
        len(rows),
        level,
        method,
        missing=len(keep) - len(rows),
        resamples=resamples,
    )
    middle = float(rows.mean()) if len(rows) else 0.0
    features = np.column_stack(
        [rows - middle, np.ones(len(rows))]
    )  # centred: rounding stays that of the spread
    found = bootstrap_of_sums(
        features, lambda sums: middle + sums[:, 0] / sums[:, 1], empty, seed, numbers
    )
    return replace(found, value=middle) if len(rows) else found
