"""The bound that a build is tested by: its value, its guarantee, and that no better score makes it worse."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmark.stats import gate
from longmark.stats.gate import TAIL, BoundedScores

SCORES = st.one_of(
    st.floats(0, 1),
    st.sampled_from([0.0, 0.5, 0.8, 0.99, 1.0]),
    st.integers(0, 100).map(lambda n: n / 100),
)


def bounded(values: Sequence[float], lo: float = 0, hi: float = 1) -> BoundedScores:
    scores = BoundedScores(lo, hi)
    for value in values:
        scores.add(value)
    return scores


def test_of_yes_and_no_it_is_clopper_and_pearsons():
    # PROVENANCE: scipy.stats.beta.ppf(.025, k, n - k + 1), SciPy 1.17.1.
    known = {
        (20, 20): 0.831567,
        (20, 19): 0.751267,
        (50, 25): 0.355273,
        (5, 1): 0.005051,
        (300, 240): 0.750196,
    }
    for (n, k), low in known.items():
        scores = bounded([1.0] * k + [0.0] * (n - k))
        assert low - 2e-6 <= scores.lower() <= low
        assert bounded([0.0] * k + [1.0] * (n - k)).upper() == pytest.approx(
            1 - scores.lower(), abs=1e-12
        )
    assert (bounded([0.0] * 3).lower(), bounded([1.0] * 3).upper()) == (0, 1)


def test_perfect_scores_by_hand():
    # all 1: the weighted mean is 1 less the share of the zero, which is at least s with probability (1 - s)^n; so
    # F(m) = m^n, and the bound is .025^(1/n)
    for n in (1, 2, 7, 400):
        assert bounded([1.0] * n).lower() == pytest.approx(TAIL ** (1 / n), abs=2e-6)


def test_it_is_the_quantile_of_the_mean_under_random_weights():
    values = [0.9, 0.7, 1.0, 0.35, 0.8]
    low, chance = bounded(values).lower(), np.random.default_rng(1)
    weights = chance.dirichlet(np.ones(6), 200_000)
    assert (weights[:, :5] @ values <= low).mean() == pytest.approx(
        TAIL, abs=5 * (TAIL / 200_000) ** 0.5
    )


def test_clusters_count_by_their_sizes():
    groups = [[0.9, 0.7], [1.0], [0.4, 0.8, 0.6], [0.7, 0.7], [1.0, 0.2, 0.9]] * 3
    scores, sizes = BoundedScores(0, 1), np.array([len(group) for group in groups])
    for group in groups:
        scores.add(*group)
    assert (scores.n, scores.clusters) == (33, 15)
    drawn = np.random.default_rng(2).exponential(1, (200_000, 16))
    weights = drawn[:, :15] * sizes
    means = (
        weights
        @ [sum(group) / len(group) for group in groups]
        / (weights.sum(axis=1) + 3 * drawn[:, 15])
    )
    assert (means <= scores.lower()).mean() == pytest.approx(TAIL, abs=5 * (TAIL / 200_000) ** 0.5)


def test_rows_repeated_in_a_cluster_leave_the_bounds_as_they_are():
    four, once = BoundedScores(0, 1), bounded([0.9, 0.2, 1.0, 0.6, 0.7])
    for value in [0.9, 0.2, 1.0, 0.6, 0.7]:
        four.add(*[value] * 4)
    assert (four.lower(), four.upper()) == (once.lower(), once.upper())


def test_one_score_below_the_top_makes_no_better_bound_than_all_at_the_top():
    assert bounded([1.0] * 19 + [0.8]).lower() < bounded([1.0] * 20).lower()


def test_the_least_and_the_greatest_hold_without_scores():
    assert (bounded([], 1, 5).lower(), bounded([], 1, 5).upper()) == (1, 5)


def test_scores_of_another_scale_have_the_bound_on_their_scale():
    unit = [0.25, 0.5, 1.0, 1.0, 0.75] * 8
    low, high = bounded(unit).lower(), bounded(unit).upper()
    scores = bounded([1 + 4 * x for x in unit], 1, 5)
    assert [scores.lower(), scores.upper()] == pytest.approx([1 + 4 * low, 1 + 4 * high])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_raising_a_score_never_lowers_a_bound(data: st.DataObject):
    lo, hi = data.draw(st.sampled_from([(0.0, 1.0), (-1.0, 1.0), (1.0, 5.0), (0.1, 0.3)]))
    values = [
        lo + (hi - lo) * share for share in data.draw(st.lists(SCORES, min_size=1, max_size=60))
    ]
    values = [min(max(value, lo), hi) for value in values]
    raised = list(values)
    for place in data.draw(st.sets(st.integers(0, len(values) - 1), min_size=1)):
        raised[place] = data.draw(st.floats(raised[place], hi))
    before, after = bounded(values, lo, hi), bounded(raised, lo, hi)
    assert after.lower() >= before.lower()
    assert after.upper() >= before.upper()


@settings(max_examples=30, deadline=None)
@given(st.lists(SCORES, max_size=60), st.randoms(use_true_random=False))
def test_the_order_of_the_scores_changes_no_bit(values: list[float], chance: random.Random):
    turned = list(values)
    chance.shuffle(turned)
    assert bounded(turned).lower().hex() == bounded(values).lower().hex()
    assert bounded(turned).upper().hex() == bounded(values).upper().hex()


@settings(max_examples=30, deadline=None)
@given(st.lists(SCORES, min_size=1, max_size=60))
def test_the_mean_lies_between_the_bounds(values: list[float]):
    scores, mean = bounded(values), math.fsum(values) / len(values)
    assert scores.lower() <= mean <= scores.upper()


@pytest.mark.parametrize("n", [1, 2, 5, 20, 60])
def test_of_yes_and_no_the_bound_is_too_high_in_a_fortieth_of_samples_at_most(n: int):
    lows = [bounded([1.0] * k + [0.0] * (n - k)).lower() for k in range(n + 1)]
    for p in (x / 200 for x in range(1, 200)):
        missed = math.fsum(
            math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1) if lows[k] > p
        )
        assert missed <= TAIL


def test_the_bound_needs_no_extra_and_is_the_same_without(monkeypatch: pytest.MonkeyPatch):
    values = [0.9, 0.7, 1.0, 0.2, 0.8] * 6
    before = bounded(values).lower()
    for name in ("numpy", "scipy"):
        monkeypatch.setitem(sys.modules, name, None)
    assert bounded(values).lower() == before
    assert not {"numpy", "scipy"} & set(vars(gate))


def test_a_hundred_thousand_scores_take_no_more_work_than_the_grid_has_steps(
    monkeypatch: pytest.MonkeyPatch,
):
    looked: list[int] = []

    def rare(terms: Sequence[tuple[float, int]], _tail: float) -> bool:
        looked.append(len(terms))
        return len(looked) % 2 == 0

    monkeypatch.setattr(gate, "_is_rare", rare)
    chance = random.Random(0)
    bounded([chance.betavariate(8, 2) for _ in range(100_000)]).lower()
    assert len(looked) <= 20
    assert max(looked) <= 10_002


def test_how_many_perfect_scores_it_takes():
    for limit in (0.5, 0.8, 0.9, 0.95, 0.99):
        n = bounded([]).needed(limit, above=True)
        assert n is not None
        assert bounded([1.0] * n).lower() >= limit > bounded([1.0] * (n - 1)).lower()
        m = bounded([]).needed(1 - limit, above=False)
        assert m is not None
        assert bounded([0.0] * m).upper() <= 1 - limit < bounded([0.0] * (m - 1)).upper()
    assert bounded([]).needed(1.0, above=True) is None
    assert bounded([]).needed(0.0, above=True) == 0


def test_scores_outside_the_bounds_are_counted_and_rounding_errors_are_not():
    scores = bounded([0.5, 1.0 + 1e-15, -1e-15, 1.2, -0.1, 1e308, float("inf")])
    assert (scores.n, scores.outside) == (3, 4)
