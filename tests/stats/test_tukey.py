"""Randomised Tukey HSD: a case by hand, every table, each way to draw them, missing scores, level under the null."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.there import there

from longmark.errors import UnknownName, UserError
from longmark.stats import tukey as module
from longmark.stats.permutation import paired_permutation
from longmark.stats.results import TukeyTest
from longmark.stats.tukey import least_p, tukey

NAMES = "ABCDEFGHIJ"
scores = st.integers(0, 4).map(lambda tenth: tenth / 10)
tables = st.integers(2, 4).flatmap(
    lambda k: st.lists(
        st.lists(scores, min_size=k, max_size=k), min_size=3, max_size={2: 7, 3: 4, 4: 3}[k]
    )
)


def p_values(test: TukeyTest) -> list[float]:
    found = [pair.p for pair in test.pairs]
    assert None not in found, test.reason
    return [p for p in found if p is not None]


def by_every_table(table: Sequence[Sequence[float | None]]) -> list[float]:
    """The p of every pair by enumeration, values that are there shuffled among themselves, means by column."""
    array = np.array(table, dtype=float)
    orders = []
    for row in array:
        have = np.flatnonzero(~np.isnan(row))
        here = []
        for order in itertools.permutations(row[have]):
            shuffled = row.copy()
            shuffled[have] = order
            here.append(shuffled)
        orders.append(here)
    widest = np.ptp(np.nanmean(np.array(list(itertools.product(*orders))), axis=1), axis=1)
    observed = np.nanmean(array, axis=0)
    return [
        float((widest >= abs(observed[i] - observed[j]) - 1e-9).mean())
        for i, j in itertools.combinations(range(array.shape[1]), 2)
    ]


def test_by_hand():
    # Two systems, differences 1, 2, 3 in three rows: the 2^3 tables turn signs; 6 is reached by ±6, so p = 2 / 8.
    two = tukey([[2, 1], [4, 2], [3, 0]], ["new", "old"])
    assert (two.means, two.n, two.permutations, two.exact) == ((3.0, 1.0), 3, 8, True)
    assert [(pair.a, pair.b, pair.difference, pair.p) for pair in two.pairs] == [
        ("new", "old", 2.0, 0.25)
    ]
    # Three systems and the row 0, 0, 1 three times: 27 places for the ones, each with the same chance. Sums are 3, 0, 0
    # (3 ways, range 3), 2, 1, 0 (18 ways, range 2) or 1, 1, 1 (6 ways, range 0). C - A = 3 is reached in 3 of 27 ways;
    # A - B = 0 always.
    three = tukey([[0, 0, 1]] * 3, ["A", "B", "C"])
    assert p_values(three) == [1.0, pytest.approx(3 / 27), pytest.approx(3 / 27)]
    assert (three.permutations, three.exact) == (216, True)


@settings(max_examples=60)
@given(tables)
def test_small_tables_are_enumerated(table: list[list[float]]):
    test = tukey(table, NAMES[: len(table[0])])
    assert test.exact
    assert p_values(test) == pytest.approx(by_every_table(table), abs=1e-12)


@pytest.mark.parametrize(
    ("k", "n", "longest"), [(2, 14, 5040), (3, 6, 5040), (4, 4, 5040), (3, 6, 1), (4, 4, 1)]
)
def test_drawn_tables_agree_with_all_of_them(
    k: int, n: int, longest: int, monkeypatch: pytest.MonkeyPatch
):
    random = np.random.default_rng(k + n)
    table = np.round(random.random((n, k)) + np.arange(k) * 0.15, 1)
    monkeypatch.setattr(module, "_EXACT", 10**8)
    exact = p_values(tukey(table, NAMES[:k]))
    monkeypatch.setattr(module, "_EXACT", 0)
    monkeypatch.setattr(module, "_LONGEST", longest)  # 1: rows are shuffled one by one
    drawn = tukey(table, NAMES[:k], permutations=60_000)
    assert (drawn.exact, drawn.permutations) == (False, 60_000)
    for ours, p in zip(p_values(drawn), exact, strict=True):
        assert abs(ours - p) < 5 * math.sqrt(p * (1 - p) / 60_000) + 1 / 60_000


@pytest.mark.parametrize("add", [module._add_listed, module._add_shuffled])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_every_order_of_every_row_is_as_likely(add, k: int):
    # Digits of two bases: each sum tells in which order both rows were added.
    rows = np.array([np.arange(k) * 1.0, np.arange(k) * 10.0])
    sums = np.zeros((100_000, k))
    add(sums, rows, np.random.default_rng(k))
    found, counts = np.unique(sums, axis=0, return_counts=True)
    assert len(found) == math.factorial(k) ** 2
    assert stats.chisquare(counts).pvalue > 1e-4


def test_six_systems_agree_with_a_plain_shuffle():
    random = np.random.default_rng(1)
    table = random.random((40, 6)) + np.array([0, 0, 0.1, 0.1, 0.15, 0.25])
    fast = p_values(tukey(table, NAMES[:6], permutations=20_000))
    tables = random.permuted(np.broadcast_to(table, (20_000, 40, 6)), axis=2)
    widest = np.ptp(tables.mean(axis=1), axis=1)
    means = table.mean(axis=0)
    for ours, (i, j) in zip(fast, itertools.combinations(range(6), 2), strict=True):
        p = (widest >= abs(means[i] - means[j])).mean()
        assert abs(ours - p) < 5 * math.sqrt(2 * p * (1 - p) / 20_000) + 1e-4


def test_two_systems_are_a_paired_permutation_test():
    table = np.random.default_rng(2).random((12, 2))
    assert p_values(tukey(table, "AB")) == [paired_permutation(table[:, 0], table[:, 1]).p]


def test_the_authors_p_can_be_zero_and_ours_not():
    table = np.arange(30)[:, None] * 0.0 + np.array([0.1, 0.5, 0.9])
    ours = tukey(table, "ABC", permutations=999)
    assert p_values(ours) == [1 / 1000] * 3
    theirs = tukey(table, "ABC", permutations=999, plus_one=False)
    assert p_values(theirs) == [0.0] * 3
    assert (ours.plus_one, theirs.plus_one, theirs.permutations, theirs.seed) == (
        True,
        False,
        999,
        0,
    )


def test_rows_that_lack_a_system_are_left_out_and_counted():
    complete: list[list[float | None]] = [[0.1, 0.2, 0.9], [0.2, 0.2, 0.8], [0.1, 0.3, 0.6]]
    table: list[list[float | None]] = [
        complete[0],
        [0.3, None, 0.4],
        complete[1],
        [0.5, 0.1, float("nan")],
        complete[2],
    ]
    test = tukey(table, "ABC")
    assert (test.n, test.missing, test.keep_incomplete) == (3, 2, False)
    assert p_values(test) == p_values(tukey(complete, "ABC"))
    assert test.means == pytest.approx((0.4 / 3, 0.7 / 3, 2.3 / 3))


def test_the_listings_way_shuffles_what_is_there():
    # Row 4 has one score, which stays where it is and counts in B's mean.
    table: list[list[float | None]] = [
        [0.1, 0.2, 0.9],
        [0.3, None, 0.4],
        [0.2, 0.2, 0.8],
        [None, 0.5, None],
    ]
    table.append([None, 0.3, 0.6])
    test = tukey(table, "ABC", keep_incomplete=True)
    assert (test.n, test.missing, test.exact) == (4, 4 - 1, True)
    assert test.means == pytest.approx((0.6 / 3, 1.2 / 4, 2.7 / 4))
    assert p_values(test) == pytest.approx(by_every_table(table), abs=1e-12)


def test_the_listings_way_drawn(monkeypatch: pytest.MonkeyPatch):
    random = np.random.default_rng(4)
    table = random.random((7, 3)) + np.array([0, 0.2, 0.3])
    table[random.random((7, 3)) < 0.2] = np.nan
    exact = p_values(tukey(table, "ABC", keep_incomplete=True))
    monkeypatch.setattr(module, "_EXACT", 0)
    drawn = tukey(table, "ABC", keep_incomplete=True, permutations=60_000)
    assert not drawn.exact
    for ours, p in zip(p_values(drawn), exact, strict=True):
        assert abs(ours - p) < 5 * math.sqrt(p * (1 - p) / 60_000) + 1 / 60_000


def test_a_system_without_scores_has_no_p_and_the_others_are_tested():
    table = [[0.1, 0.2, None], [0.4, 0.2, None], [0.1, 0.3, None]]
    kept = tukey(table, "ABC", keep_incomplete=True)
    assert [pair.p is None for pair in kept.pairs] == [False, True, True]
    assert kept.pairs[1].reason == "no score of C"
    assert kept.means[2] is None
    assert [pair.p for pair in tukey(table, "ABC").pairs] == [pair.p for pair in kept.pairs]
    alone = tukey([row[1:] for row in table], "BC")
    assert (alone.pairs[0].p, alone.reason) == (None, "only B has a score")


def test_one_sided_p():
    test = tukey([[0, 0, 1]] * 3, ["A", "B", "C"])
    p = test.pair("C", "A").p
    assert p == pytest.approx(3 / 27)
    assert test.p_value("C", "A") == p
    assert (
        test.p_value("C", "A", "greater")
        == test.p_value("A", "C", "less")
        == pytest.approx(1.5 / 27)
    )
    assert (
        test.p_value("C", "A", "less")
        == test.p_value("A", "C", "greater")
        == pytest.approx(1 - 1.5 / 27)
    )
    assert test.p_value("A", "B", "greater") == test.p_value("A", "B", "less") == 0.5
    assert (test.pair("C", "A").difference, test.pair("A", "C").difference) == (1.0, -1.0)


def test_equal_systems_have_p_one_and_a_reason():
    for table in ([[0.1, 0.1], [0.2, 0.2], [0.3, 0.3]], [[0.1 + 0.2, 0.3], [0.2, 0.2], [0.3, 0.3]]):
        test = tukey(table, "AB")
        assert p_values(test) == [1.0]
        assert "all systems have the same score" in (test.reason or "")
        assert test.p_value("A", "B", "greater") == 0.5


@pytest.mark.parametrize("table", [[], [[0.1, 0.2]], [[0.1, 0.2], [0.2, 0.4], [None, 0.1]]])
def test_too_few_rows_have_no_p(table):
    test = tukey(table, "AB")
    assert (test.pairs[0].p, test.permutations) == (None, 0)
    assert ("at least 3 questions" if table else "no system has a score") in (test.reason or "")
    assert test.p_value("A", "B", "greater") is None


def test_mistakes_are_named():
    rows = [[0.1, 0.2], [0.1, 0.3], [0.4, 0.2]]
    with pytest.raises(UserError, match="a column for each of 3 systems"):
        tukey(rows, "ABC")
    with pytest.raises(UserError, match="at least two systems"):
        tukey([[0.1], [0.2], [0.3]], "A")
    with pytest.raises(UserError, match="given twice: A"):
        tukey(rows, ["A", "A"])
    with pytest.raises(UserError, match="give None for a missing score"):
        tukey([[0.1, 0.2], [0.1]], "AB")
    with pytest.raises(UserError, match="only finite"):
        tukey([[0.1, float("inf")]], "AB")
    with pytest.raises(UserError, match="permutations: at least 1"):
        tukey(rows, "AB", permutations=0)
    test = tukey(rows, ["mistral", "llama"])
    with pytest.raises(UnknownName, match="Did you mean mistral"):
        test.pair("mistrl", "llama")
    with pytest.raises(ValueError, match="not llama twice"):
        test.p_value("llama", "llama")


def test_a_seed_decides():
    table = np.random.default_rng(5).random((50, 4))
    assert tukey(table, "ABCD", permutations=500, seed=1) == tukey(
        table, "ABCD", permutations=500, seed=1
    )
    assert p_values(tukey(table, "ABCD", permutations=500, seed=1)) != p_values(
        tukey(table, "ABCD", permutations=500, seed=2)
    )


@settings(max_examples=40)
@given(tables, st.sampled_from([0.1, 3.0, 1e6]), st.sampled_from([-2.0, 0.0, 10.0]))
def test_p_has_no_unit_and_follows_the_systems(
    table: list[list[float]], scale: float, shift: float
):
    array, k = np.array(table), len(table[0])
    test = tukey(array, NAMES[:k])
    moved = tukey(scale * (array + shift), NAMES[:k])
    assert p_values(moved) == p_values(test)
    turned = tukey(array[:, ::-1], NAMES[:k][::-1])
    assert [turned.pair(pair.a, pair.b).p for pair in test.pairs] == p_values(test)
    # Tukey's p of a pair falls as its difference grows, and no pair has a smaller p than the widest one.
    by_size = sorted(test.pairs, key=lambda pair: abs(pair.difference or 0))
    ordered = [pair.p for pair in by_size if pair.p is not None]
    assert ordered == sorted(ordered, reverse=True)


@pytest.mark.parametrize("k", [3, 5])
def test_the_level_holds_over_all_pairs(k: int):
    # Any pair with p <= .05 in 500 tables: 25 ± 3.29 sqrt(500 x .05 x .95) = 9.0 to 41.0.
    random = np.random.default_rng(k)
    found = 0
    for _ in range(500):
        table = random.random((20, 1)) + random.normal(0, 0.3, (20, k))
        found += min(p_values(tukey(table, NAMES[:k], permutations=199, seed=random))) <= 0.05
    assert 9 <= found <= 41


@pytest.mark.parametrize(("systems", "questions"), [(2, 3), (2, 5), (3, 3), (4, 3)])
def test_the_least_p_is_that_of_a_table_without_any_doubt(systems, questions):
    # two systems, 5 questions: 2 of 2^5 patterns; three, 3 questions: 6 of 6^3 orders, 1 / 36
    table = np.tile(np.arange(systems, dtype=float), (questions, 1))
    found = tukey(table, [f"s{i}" for i in range(systems)])
    assert found.exact
    assert min(there(pair.p) for pair in found.pairs) == pytest.approx(least_p(systems, questions))


def test_where_tables_are_drawn_the_draws_bound_the_least_p():
    assert least_p(2, 18, 10) == 2**-17  # 2^18 patterns: enumerated
    assert least_p(2, 19, 10) == 1 / 11
    assert least_p(2, 2) == least_p(1, 9) == 1.0
