"""Many paired differences tested at once."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.errors import UserError
from longmark.stats.max_t import max_t


def by_hand(column: list[float]) -> float:
    """|T| of one column, as the docstring writes it."""
    d = np.array(column)
    u = d - d.mean()
    squares = (u**2).sum()
    if squares < 1e-12:
        return np.inf if d.mean() else 0.0
    t = d.sum() / np.sqrt(len(d) / (len(d) - 1) * squares)
    a = (u**3).sum() / squares**1.5
    return float(abs(t + a * t**2 / 3 + a**2 * t**3 / 27 + a / 6))


def test_every_pattern_of_signs_is_looked_at_where_there_are_few():
    table = np.array([[1.0, 0.2], [2.0, -0.1], [0.5, 0.4], [3.0, -0.3], [1.5, 0.9]])
    done = max_t(table)
    observed = [by_hand(table[:, i].tolist()) for i in (0, 1)]
    flipped = [
        [by_hand((np.array(signs) * table[:, i]).tolist()) for i in (0, 1)] for signs in product((1, -1), repeat=5)
    ]
    single = [sum(one[i] >= observed[i] - 1e-9 for one in flipped) / 32 for i in (0, 1)]
    joint = sum(max(one) >= observed[0] - 1e-9 for one in flipped) / 32
    assert (done.patterns, done.exact, done.n, done.clusters) == (32, True, (5, 5), (5, 5))
    assert done.statistic[0] == pytest.approx(observed[0])
    assert done.p == pytest.approx(single)
    assert observed[0] > observed[1]
    assert done.adjusted == pytest.approx((joint, max(joint, single[1])))


def test_rows_given_four_times_under_one_key_change_nothing():
    chance = np.random.default_rng(1)
    table = chance.normal(0.3, 1, (30, 3))
    once = max_t(table, permutations=500, seed=4)
    again = max_t(np.repeat(table, 4, axis=0), clusters=np.repeat(np.arange(30), 4).tolist(), permutations=500, seed=4)
    assert again.p == once.p
    assert again.adjusted == once.adjusted
    assert again.statistic == pytest.approx(once.statistic)
    assert again.clusters == (30, 30, 30)


def test_a_missing_question_is_left_out_of_its_own_hypothesis_alone():
    chance = np.random.default_rng(2)
    table = chance.normal(0.3, 1, (40, 2))
    sparse = table.copy()
    sparse[5:25, 1] = np.nan
    assert max_t(sparse, permutations=300).n == (40, 20)
    assert max_t(sparse, permutations=300).p[0] == max_t(table, permutations=300).p[0]


@given(st.integers(0, 1000), st.sampled_from([6, 30]))
def test_an_adjusted_p_is_at_least_the_unadjusted_and_order_and_direction_do_not_matter(seed: int, n: int):
    table = np.random.default_rng(seed).normal(0.2, 1, (n, 4))
    done = max_t(table, permutations=99)
    assert all(a >= p for a, p in zip(done.adjusted, done.p, strict=True))  # type: ignore[operator]
    turned = max_t(-table[:, ::-1], permutations=99)
    assert turned.adjusted == done.adjusted[::-1]
    assert turned.statistic == pytest.approx([-t for t in done.statistic[::-1]])  # type: ignore[operator]


def test_what_cannot_be_tested_has_no_p():
    table = np.array([[0.0, 1.0, np.nan], [0.0, 1.0, 2.0], [0.0, 1.0, 3.0], [0.0, 1.0, np.nan]])
    done = max_t(table)
    assert done.p == (None, 2 / 16, None)
    assert done.adjusted[1] == 2 / 16
    assert max_t(np.empty((0, 2))).p == (None, None)
    with pytest.raises(UserError, match="questions x hypotheses"):
        max_t(np.zeros(3))
