"""Clusters of unequal size: the jackknife's leverages, and degrees of freedom against their definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.stats.clusters import degrees_of_freedom, effective, leverages

_SIZES = st.lists(st.integers(1, 40), min_size=2, max_size=25)


def by_definition(sizes: list[int]) -> float:
    """(tr Q)² / tr Q² of the jackknife's variance, the values of a cluster being one value."""
    n = np.array(sizes, dtype=float)
    residuals = np.eye(len(n)) - np.outer(n, np.ones(len(n))) / n.sum()
    root = np.diag(1 / (n.sum() - n)) @ residuals @ np.diag(n)
    q = root @ root.T
    return float(np.trace(q) ** 2 / np.trace(q @ q))


@given(_SIZES)
def test_degrees_of_freedom_are_those_of_the_quadratic_form(sizes: list[int]) -> None:
    assert degrees_of_freedom(sizes) == pytest.approx(by_definition(sizes), rel=1e-6)
    assert 1 <= degrees_of_freedom(sizes) <= len(sizes) - 1


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([7] * 12, 12),  # of one size: all count
        ([1, 2, 4, 16] * 5, 5.94),
        ([50] + [1] * 50, 2.04),  # one with half of the values: hardly more than two
        ([3, 4, 5] * 10, 26.0),
    ],
)
def test_how_many_clusters_of_one_size_are_worth_as_much(sizes: list[int], expected: float) -> None:
    assert effective(sizes) == pytest.approx(expected, abs=0.1)


@given(_SIZES)
def test_leverages_make_the_variance_the_jackknifes(sizes: list[int]) -> None:
    means = np.random.default_rng(len(sizes)).normal(0, 1, len(sizes))
    n, g = sum(sizes), len(sizes)
    mean = float(np.dot(sizes, means)) / n
    left_out = [(n * mean - s * m) / (n - s) for s, m in zip(sizes, means, strict=True)]
    u = np.array(leverages(sizes)) * np.array(sizes) * (means - mean)
    jackknife = (g - 1) / g * sum((one - mean) ** 2 for one in left_out)
    assert g / (g - 1) * float(u @ u) / n**2 == pytest.approx(jackknife)
