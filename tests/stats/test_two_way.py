"""The variance over items and raters: by hand, and where one of the two does not matter."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("scipy")

from longmark.stats.two_way import Changes, Variance, effective_raters, two_way_variance


def mean_of(values: np.ndarray) -> Variance | None:
    """Of the mean of a table of items and raters. The sums: how many ratings, and their sum."""
    items, raters = np.indices(values.shape)
    without = -np.stack([np.ones(values.size), values.ravel()], axis=1)
    return two_way_variance(
        Changes(items.ravel(), raters.ravel(), without, without),
        lambda sums: sums[:, 1] / sums[:, 0],
    )


def test_the_mean_of_a_table_by_hand():
    # Items add 0 or 1, raters add 0 or 1: 0 1 | 1 2, mean 1. Without an item, or a rater: 3/2, 1/2; variance
    # 1/2 (1/4 + 1/4) = 1/4 each. Without a cell: 4/3, 1, 1, 2/3; 3/4 (1/9 + 1/9) = 1/6. V = 1/4 + 1/4 - 1/6 = 1/3;
    # V² / (V_i² / 1 + V_r² / 1 + V_c² / 3) = (1/9) / (1/16 + 1/16 + 1/108) < 1.
    found = mean_of(np.array([[0.0, 1.0], [1.0, 2.0]]))
    assert found == Variance(pytest.approx(1 / 3), 1.0)  # type: ignore[arg-type]
    # With 3 raters who add 0, 1, 2, over items that add 0 or 6: raters: means 4.5, 4, 3.5; 2/3 (1/4 + 1/4) = 1/3.
    # Items: 1, 7; 1/2 (9 + 9) = 9. Cells, (24 - v) / 5: 5/6 (16 + 9 + 4 + 4 + 9 + 16) / 25 = 29/15.
    wide = mean_of(np.array([[0.0, 1.0, 2.0], [6.0, 7.0, 8.0]]))
    assert wide is not None
    assert wide.value == pytest.approx(9.0), (
        "9 + 1/3 - 29/15 is less: the variance of the items is the least"
    )
    assert wide.df == 1.0, (
        "81 / (81 / 1 + (1/9) / 2 + (29/15)² / 5) is less: two items have one degree at least"
    )


def test_raters_who_do_not_differ_leave_the_variance_of_items():
    column = np.random.default_rng(3).normal(size=(40, 1))
    found = mean_of(np.repeat(column, 4, axis=1))
    assert found is not None
    assert found.value == pytest.approx(float(column.var(ddof=1)) / 40)
    assert found.df == pytest.approx(39, rel=0.1)


def test_nothing_that_varies_and_nothing_without_a_rater_have_no_variance():
    assert mean_of(np.ones((3, 3))) is None
    assert mean_of(np.array([[0.0], [1.0]])) is None, "without the one rater there is no mean"


def test_intervals_stay_in_their_range_and_are_wider_with_fewer_degrees_of_freedom():
    few, many = Variance(0.01, 3), Variance(0.01, 300)
    low, high = few.around_correlation(0.9, 0.95)
    assert -1 < low < many.around_correlation(0.9, 0.95)[0] < 0.9 < high < 1
    low, high = few.around_share(0.97, 0.95)
    assert 0 < low < many.around_share(0.97, 0.95)[0] < 0.97 < high < 1
    assert Variance(0.01, 1e9).around_correlation(0.0, 0.95)[1] == pytest.approx(
        math.tanh(0.1959964)
    )


def test_raters_with_unequal_numbers_of_ratings_count_as_fewer():
    assert effective_raters(np.array([0, 1, 2, 3])) == 4
    assert effective_raters(np.array([0] * 36 + [1, 2, 3, 4])) == pytest.approx(1600 / 1300)
