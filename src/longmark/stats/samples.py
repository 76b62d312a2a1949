"""How numbers come into the statistics: missing values dropped by row and counted; clusters numbered; seeds."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longmark.errors import UserError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Values = Sequence[float | None] | NDArray[Any]
Seed = int | np.random.Generator


def as_floats(values: Values, name: str = "values") -> Floats:
    """One dimension of floats, with NaN where a value is None. UserError for infinities and for other shapes."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise UserError(f"{name}: expected one dimension, found the shape {array.shape}")
    if np.isinf(array).any():
        raise UserError(
            f"{name}: only finite numbers can be compared; give None for a value that is missing"
        )
    return array


def complete_rows(*columns: Values) -> tuple[list[Floats], NDArray[np.bool_]]:
    """The columns as floats without the rows in which one of them has no value, and which rows those are that stay."""
    arrays = [as_floats(column) for column in columns]
    if len({len(array) for array in arrays}) > 1:
        raise UserError(
            f"columns of a pair must be equally long, not {' and '.join(str(len(a)) for a in arrays)}"
        )
    keep: NDArray[np.bool_] = np.logical_not(np.isnan(np.stack(arrays)).any(axis=0))
    return [array[keep] for array in arrays], keep


def cluster_numbers(
    clusters: Sequence[Hashable] | Ints, keep: NDArray[np.bool_]
) -> tuple[Ints, int]:
    """For each row that stays the number of its cluster, and how many clusters there are. Any hashable names one."""
    if len(clusters) != len(keep):
        raise UserError(
            f"every row needs a cluster: there are {len(keep)} rows and {len(clusters)} clusters"
        )
    if isinstance(clusters, np.ndarray):
        kept_clusters = clusters[keep]
        if (
            kept_clusters.size
            and kept_clusters.min() >= 0
            and kept_clusters.max() < 4 * kept_clusters.size
        ):  # half the memory of sorting
            occurring = np.zeros(int(kept_clusters.max()) + 1, dtype=bool)
            occurring[kept_clusters] = True
            return (np.cumsum(occurring) - 1)[kept_clusters], int(occurring.sum())
        names, numbers_found = np.unique(kept_clusters, return_inverse=True)
        return numbers_found, len(names)
    number_of: dict[Hashable, int] = {}
    numbers = [
        number_of.setdefault(name, len(number_of))
        for name, stays in zip(clusters, keep, strict=True)
        if stays
    ]
    return np.array(numbers, dtype=np.int64), len(number_of)


def generator(seed: Seed) -> tuple[np.random.Generator, int | None]:
    """A generator, and the seed it was made of (None where it was handed in)."""
    if isinstance(seed, np.random.Generator):
        return seed, None
    return np.random.default_rng(seed), seed


def check_count(count: int, name: str) -> None:
    """UserError unless there is at least one."""
    if count < 1:
        raise UserError(f"{name}: at least 1, not {count}")
