"""Paired permutation: a case by hand, every pattern of signs, SciPy's p, clusters, level under the null hypothesis."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from longmark.errors import UserError
from longmark.stats import permutation
from longmark.stats.permutation import paired_permutation
from longmark.stats.results import DIRECTIONS, PermutationTest

marks = st.integers(0, 10).map(lambda mark: mark / 10)
columns = st.lists(st.tuples(marks, marks), min_size=3, max_size=9)


def p_of(test: PermutationTest) -> float:
    assert test.p is not None, test.reason
    return test.p


def by_every_pattern(pairs: list[tuple[float, float]], alternative: str) -> float:
    """p in whole tenths, so that nothing is rounded."""
    differences = [round(10 * a) - round(10 * b) for a, b in pairs]
    observed = sum(differences)
    sums = [
        sum(map(int.__mul__, signs, differences))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    reached = {
        "two-sided": [abs(one) >= abs(observed) for one in sums],
        "greater": [one >= observed for one in sums],
        "less": [one <= observed for one in sums],
    }[alternative]
    return sum(reached) / len(reached)


def test_by_hand():
    # Differences 1, 2, 3: of eight patterns 1 + 2 + 3 = 6 is reached by itself and, in size, by -6: p = 2 / 8.
    # One-sided 1 / 8 as expected; against expectation all eight sums are at most 6.
    a, b = [2.0, 4.0, 3.0], [1.0, 2.0, 0.0]
    test = paired_permutation(a, b)
    assert (test.difference, test.p, test.n, test.permutations, test.exact) == (
        2.0,
        0.25,
        3,
        8,
        True,
    )
    assert paired_permutation(a, b, alternative="greater").p == 0.125
    assert paired_permutation(a, b, alternative="less").p == 1.0
    assert paired_permutation(b, a, alternative="less").p == 0.125


@given(columns, st.sampled_from(DIRECTIONS))
def test_small_samples_are_enumerated(pairs: list[tuple[float, float]], alternative: str):
    # Tenths are not exact in binary: sums that are equal on paper differ in the last digit.
    a, b = zip(*pairs, strict=True)
    test = paired_permutation(a, b, alternative=alternative)
    assert test.exact
    assert p_of(test) == by_every_pattern(pairs, alternative)


@pytest.mark.parametrize("alternative", DIRECTIONS)
def test_p_is_that_of_scipy(alternative: str):
    random = np.random.default_rng(1)
    a, b = random.random(11), random.random(11) + 0.1
    theirs = stats.permutation_test(
        (a, b),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        alternative=alternative,
    )
    assert p_of(paired_permutation(a, b, alternative=alternative)) == pytest.approx(
        theirs.pvalue, abs=1e-12
    )


@pytest.mark.parametrize("alternative", DIRECTIONS)
def test_drawn_patterns_agree_with_all_of_them(alternative: str, monkeypatch: pytest.MonkeyPatch):
    random = np.random.default_rng(2)
    a, b = random.random(18), random.random(18) + 0.12
    exact = p_of(paired_permutation(a, b, alternative=alternative))
    monkeypatch.setattr(permutation, "_EXACT", 0)
    drawn = paired_permutation(a, b, alternative=alternative, permutations=200_000)
    assert not drawn.exact
    assert abs(p_of(drawn) - exact) < 5 * np.sqrt(exact * (1 - exact) / 200_000) + 1e-5


def test_drawn_patterns_give_every_difference_either_sign_by_itself(
    monkeypatch: pytest.MonkeyPatch,
):
    # Powers of two: each sum tells the signs it was made of. 11 differences fill one byte and part of a second one.
    units = np.power(2.0, np.arange(11), dtype=np.float64)
    sums = permutation._drawn_sums(units, 200_000, np.random.default_rng(3))
    patterns, counts = np.unique(sums, return_counts=True)
    assert len(patterns) == 2**11
    assert stats.chisquare(counts).pvalue > 1e-4


def test_chunks_change_nothing_but_memory(monkeypatch: pytest.MonkeyPatch):
    random = np.random.default_rng(4)
    a, b = random.random(100), random.random(100)
    whole = p_of(paired_permutation(a, b, permutations=3_000))
    monkeypatch.setattr(permutation, "_CHUNK", 700)
    parts = p_of(paired_permutation(a, b, permutations=3_000))
    assert abs(whole - parts) < 5 * np.sqrt(2 * whole * (1 - whole) / 3_000)


def test_p_is_never_zero_unless_the_authors_way_is_asked_for():
    a, b = np.linspace(1, 2, 40), np.zeros(40)
    ours = paired_permutation(a, b, permutations=999)
    assert (ours.p, ours.permutations, ours.exact, ours.plus_one, ours.seed) == (
        1 / 1_000,
        999,
        False,
        True,
        0,
    )
    assert paired_permutation(a, b, permutations=999, plus_one=False).p == 0.0


def test_differences_of_zero_turn_nowhere():
    # Two differences are left of 1,000: four patterns, of which two reach 2 in size.
    a, b = np.zeros(1_000), np.zeros(1_000)
    a[[10, 500]] = 1.0
    test = paired_permutation(a, b)
    assert (test.p, test.permutations, test.exact, test.n, test.difference) == (
        0.5,
        4,
        True,
        1_000,
        0.002,
    )


def test_clusters_turn_as_one():
    # Clusters with sums 3, 1, 1 of differences 1, 2 | 1 | 2, -1: eight patterns; ±5 reach 5.
    a, b = [1.0, 2.0, 1.0, 2.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0]
    test = paired_permutation(a, b, clusters=["x", "x", "y", "z", "z"])
    assert (test.p, test.permutations, test.clusters, test.n, test.difference) == (
        0.25,
        8,
        3,
        5,
        1.0,
    )
    plain = paired_permutation(a, b)
    assert (plain.clusters, plain.permutations) == (None, 32)


def test_missing_values_leave_their_pair_out():
    test = paired_permutation([1.0, None, 3.0, 2.0, 5.0], [0.5, 0.5, float("nan"), 1.0, 3.0])
    assert (test.n, test.missing, test.p) == (3, 2, 0.25)


@pytest.mark.parametrize(
    ("a", "b", "clusters", "reason"),
    [
        ([], [], None, "at least 3 pairs; found 0"),
        ([1.0, 2.0, None], [0.0, 0.0, 0.0], None, "at least 3 pairs; found 2"),
        ([1.0, 2.0, 3.0], [0.0, 0.0, 0.0], ["x", "x", "y"], "at least 3 clusters; found 2"),
    ],
)
def test_too_few_pairs_have_no_p(a, b, clusters, reason: str):
    test = paired_permutation(a, b, clusters=clusters)
    assert (test.p, test.permutations) == (None, 0)
    assert reason in (test.reason or "")


def test_equal_systems_have_p_one_and_a_reason():
    test = paired_permutation([0.1, 0.2, 0.3], [0.1, 0.2, 0.3])
    assert (test.difference, test.p, test.permutations) == (0.0, 1.0, 1)
    assert "all differences are zero" in (test.reason or "")
    assert paired_permutation([0.1, 0.2, 0.3], [0.1, 0.2, 0.3], alternative="greater").p == 1.0
    rounded = paired_permutation([0.1 + 0.2, 0.7, 0.3], [0.3, 0.7, 0.3])  # 0.30000000000000004
    assert (rounded.p, rounded.permutations, rounded.reason) == (1.0, 1, test.reason)


def test_mistakes_are_named():
    with pytest.raises(UserError, match="two-sided, greater or less, not 'bigger'"):
        paired_permutation([1, 2, 3], [1, 2, 3], alternative="bigger")
    with pytest.raises(UserError, match="equally long"):
        paired_permutation([1, 2, 3], [1, 2])
    with pytest.raises(UserError, match="permutations: at least 1"):
        paired_permutation([1, 2, 3], [1, 2, 3], permutations=0)


@given(columns, st.sampled_from([0.1, 7.0, 1e-9, 1e9]))
def test_p_has_no_unit_and_turns_with_the_systems(pairs: list[tuple[float, float]], scale: float):
    a, b = (np.array(column) for column in zip(*pairs, strict=True))
    assert p_of(paired_permutation(scale * a, scale * b)) == p_of(paired_permutation(a, b))
    assert p_of(paired_permutation(b, a)) == p_of(paired_permutation(a, b))
    assert p_of(paired_permutation(b, a, alternative="less")) == p_of(
        paired_permutation(a, b, alternative="greater")
    )


@pytest.mark.parametrize("alternative", DIRECTIONS)
def test_the_level_is_held_under_the_null_hypothesis(alternative: str):
    # p <= .05 in 600 samples: the binomial 99.9 % interval is 30 ± 3.29 sqrt(600 x .05 x .95) = 12.4 to 47.6.
    random = np.random.default_rng(5)
    found = 0
    for _ in range(600):
        base = random.random(30)
        a, b = base + random.normal(0, 0.2, 30), base + random.normal(0, 0.2, 30)
        found += (
            p_of(paired_permutation(a, b, alternative=alternative, permutations=199, seed=random))
            <= 0.05
        )
    assert 13 <= found <= 47


def test_clusters_hold_the_level_where_pairs_by_themselves_do_not():
    random = np.random.default_rng(6)
    clusters = np.repeat(np.arange(25), 4).tolist()
    found = {"pairs": 0, "clusters": 0}
    for _ in range(400):
        a = np.repeat(random.normal(0, 1, 25), 4) + random.normal(0, 0.3, 100)
        for name, of in (("pairs", None), ("clusters", clusters)):
            test = paired_permutation(a, np.zeros(100), clusters=of, permutations=199, seed=random)
            found[name] += p_of(test) <= 0.05
    assert 6 <= found["clusters"] <= 34  # 20 ± 3.29 sqrt(400 x .05 x .95)
    assert found["pairs"] > 80
