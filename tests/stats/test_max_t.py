"""Many paired differences tested at once."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.there import there

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
        [by_hand((np.array(signs) * table[:, i]).tolist()) for i in (0, 1)]
        for signs in product((1, -1), repeat=5)
    ]
    student = [2 * float(stats.t.sf(one, 4)) for one in observed]
    single = [
        max(sum(one[i] >= observed[i] - 1e-9 for one in flipped) / 32, student[i]) for i in (0, 1)
    ]
    joint = [
        max(sum(max(one) >= observed[i] - 1e-9 for one in flipped) / 32, student[i]) for i in (0, 1)
    ]
    assert (done.patterns, done.exact, done.n, done.clusters) == (32, True, (5, 5), (5, 5))
    assert done.statistic[0] == pytest.approx(observed[0])
    assert done.p == pytest.approx(single)
    assert done.adjusted == pytest.approx(joint)
    assert done.reasons == ("with 5 questions no difference is significant at 0.05",) * 2


def test_rows_given_four_times_under_one_key_change_nothing():
    chance = np.random.default_rng(1)
    table = chance.normal(0.3, 1, (30, 3))
    once = max_t(table, permutations=500, seed=4)
    again = max_t(
        np.repeat(table, 4, axis=0),
        clusters=np.repeat(np.arange(30), 4).tolist(),
        permutations=500,
        seed=4,
    )
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
def test_an_adjusted_p_is_at_least_the_unadjusted_and_order_and_direction_do_not_matter(
    seed: int, n: int
):
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


def hall(mean: float, error: float, a: float, quantile: float) -> float:
    """The end of an interval, as the docstring of `stats.means` writes it."""
    return float(mean - error * 3 / a * (np.cbrt(1 + a * (quantile - a / 6)) - 1))


def test_the_interval_is_the_test_inverted_at_its_critical_value():
    column = np.random.default_rng(3).exponential(1, 25) - 0.4
    done = max_t(column[:, None], permutations=999, seed=1)
    u = column - column.mean()
    error, a = column.std(ddof=1) / 5, (u**3).sum() / (u**2).sum() ** 1.5
    critical = there(done.critical)
    ends = hall(column.mean(), error, a, critical), hall(column.mean(), error, a, -critical)
    assert (done.low[0], done.high[0]) == pytest.approx(ends)
    assert (
        critical > 2
    )  # 49 of 999 patterns and the observed one may reach as far: 50 / 1,000 = .05
    assert done.reasons == (None,)


_TIED = st.lists(
    st.lists(st.sampled_from([-1.0, 0.0, 0.0, 0.0, 0.5, 1.0]), min_size=3, max_size=3), min_size=6
)


@given(_TIED, st.sampled_from([0.05, 0.2]), st.booleans())
def test_an_interval_excludes_zero_exactly_where_its_p_is_significant(
    rows: list[list[float]], alpha: float, clustered: bool
):
    clusters = [i * i // 7 for i in range(len(rows))] if clustered else None
    done = max_t(np.array(rows), clusters=clusters, permutations=199, alpha=alpha)
    for p, low, high, reason in zip(done.adjusted, done.low, done.high, done.reasons, strict=True):
        assert (low is None) == (reason is not None)
        if p is not None and low is not None and high is not None:
            assert (low > 0 or high < 0) == (p <= alpha)


def test_clusters_of_unequal_size_count_by_their_leverage():
    # sizes 1 1 2 2 3 3, each twice: n 24; leverages 24 x 11 / (12 x (24 - size)) = 22 / (24 - size)
    d, sizes = (
        np.array([1.0, 3, 2, -1, 4, 2] * 2),
        np.array([1, 1, 2, 2, 3, 3] * 2),
    )  # of a size: d on every question
    done = max_t(np.repeat(d, sizes)[:, None], clusters=np.repeat(np.arange(12), sizes).tolist())
    u = sizes * 22 / (24 - sizes) * (d - 2)  # mean (1 + 3 + 4 - 2 + 12 + 6) / 12 = 2
    jackknife = (
        11 / 12 * sum(((48 - s * x) / (24 - s) - 2) ** 2 for s, x in zip(sizes, d, strict=True))
    )
    assert there(done.standard_error[0]) ** 2 == pytest.approx(12 / 11 * (u**2).sum() / 24**2)
    assert there(done.standard_error[0]) ** 2 == pytest.approx(jackknife)
    assert done.patterns == 4096
    assert 8 < done.effective[0] < 11


def test_below_five_effective_clusters_nothing_is_tested():
    table = np.random.default_rng(5).normal(1, 0.1, (60, 1))
    done = max_t(
        table, clusters=[0] * 30 + list(range(1, 31))
    )  # half of the questions in one cluster, 31 in all
    assert (done.p, done.low, done.clusters) == ((None,), (None,), (31,))
    assert done.reasons == ("2.1 effective clusters are too few for a decision",)
    assert max_t(table, clusters=[i // 2 for i in range(60)]).effective == (30,)


def test_few_skewed_differences_are_remarked_on():
    skewed = np.array([[-0.1], [-0.1], [-0.2], [0.0], [-0.1], [-0.1], [-0.2], [0.1], [0.9], [0.1]])
    remark = (
        "skewed differences (skewness 2.2): with fewer than 30 questions the test rejects too often"
    )
    assert max_t(skewed).remarks == (remark,)
    assert max_t(np.tile(skewed, (3, 1)), permutations=99).remarks == (None,)
