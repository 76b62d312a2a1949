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


def as_floats(values: Values, what: str = "values") -> Floats:
    """One dimension of floats, with NaN where a value is None. UserError for infinities and for other shapes."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise UserError(f"{what}: expected one dimension, found the shape {array.shape}")
    if np.isinf(array).any():
        raise UserError(
            f"{what}: only finite numbers can be compared; give None for a value that is missing"
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
        kept = clusters[keep]
        if (
            kept.size and kept.min() >= 0 and kept.max() < 4 * kept.size
        ):  # half the memory of sorting
            there = np.zeros(int(kept.max()) + 1, dtype=bool)
            there[kept] = True
            return (np.cumsum(there) - 1)[kept], int(there.sum())
        names, found = np.unique(kept, return_inverse=True)
        return found, len(names)
    known: dict[Hashable, int] = {}
    numbers = [
        known.setdefault(name, len(known))
        for name, stays in zip(clusters, keep, strict=True)
        if stays
    ]
    return np.array(numbers, dtype=np.int64), len(known)


def generator(seed: Seed) -> tuple[np.random.Generator, int | None]:
    """A generator, and the seed it was made of (None where it was handed in)."""
    if isinstance(seed, np.random.Generator):
        return seed, None
    return np.random.default_rng(seed), seed


def check_count(count: int, what: str) -> None:
    """UserError unless there is at least one."""
    if count < 1:
        raise UserError(f"{what}: at least 1, not {count}")
