"""The bound that a build is tested by: its value, its guarantee, and that no better score makes it worse."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmark.stats import gate
from longmark.stats.gate import TAIL, BoundedScores

SCORES = st.one_of(
    st.floats(0, 1), st.sampled_from([0.0, 0.5, 0.8, 0.99, 1.0]), st.integers(0, 100).map(lambda n: n / 100)
)


def bounded(values: Sequence[float], lo: float = 0, hi: float = 1) -> BoundedScores:
    scores = BoundedScores(lo, hi)
    for value in values:
        scores.add(value)
    return scores


def capital(values: Sequence[float], m: float) -> float:
    """K(m) as the paper writes it: lambda = c / m, and a product over the scores one after the other."""
    fractions = [(c / 10, 0.5 / 9) for c in range(1, 10)] + [(1.0, 0.5)]
    return sum(weight * math.prod(1 + c / m * (x - m) for x in values) for c, weight in fractions)


def test_the_bound_is_where_the_capital_reaches_forty():
    for values in ([1.0] * 20, [1.0] * 19 + [0.8], [0.9, 0.7, 1.0, 0.0, 0.8] * 6, [0.25] * 3):
        low = bounded(values).lower()
        assert capital(values, low) >= 1 / TAIL > capital(values, low + 1e-6)


def test_twenty_perfect_scores_by_hand():
    # half of the capital stakes all: .5 m^-20; at m = .8114: .5 x e^(20 x .20900) = .5 x 65.4 = 32.7. The stakes of .9
    # to .1 hold .0556 each: (.1 + .9 / .8114)^20 = 1.20920^20 = 44.7, 1.18595^20 = 30.3, 20.4, 13.6, 9.0, 5.9, 3.8,
    # 2.5, 1.6; their sum 131.8 x .0556 = 7.3; 32.7 + 7.3 = 40.0
    assert bounded([1.0] * 20).lower() == pytest.approx(0.8114, abs=2e-5)
    assert bounded([1.0] * 20).lower() < TAIL ** (1 / 20), "Clopper and Pearson's is the best that can be: .8316"
    assert bounded([1.0] * 20).upper() == 1
    assert bounded([0.0] * 20).upper() == pytest.approx(1 - bounded([1.0] * 20).lower(), abs=1e-12)


def test_one_score_below_the_top_makes_no_better_bound_than_all_at_the_top():
    assert bounded([1.0] * 19 + [0.8]).lower() < bounded([1.0] * 20).lower()


def test_the_least_and_the_greatest_hold_without_scores():
    assert (bounded([], 1, 5).lower(), bounded([], 1, 5).upper()) == (1, 5)


def test_scores_of_another_scale_have_the_bound_on_their_scale():
    unit = [0.25, 0.5, 1.0, 1.0, 0.75] * 8
    low, high = bounded(unit).lower(), bounded(unit).upper()
    scores = bounded([1 + 4 * x for x in unit], 1, 5)
    assert [scores.lower(), scores.upper()] == pytest.approx([1 + 4 * low, 1 + 4 * high])


@settings(max_examples=300)
@given(st.data())
def test_raising_a_score_never_lowers_a_bound(data: st.DataObject):
    lo, hi = data.draw(st.sampled_from([(0.0, 1.0), (-1.0, 1.0), (1.0, 5.0), (0.1, 0.3)]))
    values = [lo + (hi - lo) * share for share in data.draw(st.lists(SCORES, min_size=1, max_size=60))]
    values = [min(max(value, lo), hi) for value in values]
    raised = list(values)
    for place in data.draw(st.sets(st.integers(0, len(values) - 1), min_size=1)):
        raised[place] = data.draw(st.floats(raised[place], hi))
    before, after = bounded(values, lo, hi), bounded(raised, lo, hi)
    assert after.lower() >= before.lower()
    assert after.upper() >= before.upper()


@given(st.lists(SCORES, max_size=60), st.randoms(use_true_random=False))
def test_the_order_of_the_scores_changes_no_bit(values: list[float], chance: random.Random):
    turned = list(values)
    chance.shuffle(turned)
    assert bounded(turned).lower().hex() == bounded(values).lower().hex()
    assert bounded(turned).upper().hex() == bounded(values).upper().hex()


@given(st.lists(SCORES, min_size=1, max_size=60))
def test_the_mean_lies_between_the_bounds(values: list[float]):
    scores, mean = bounded(values), math.fsum(values) / len(values)
    assert scores.lower() <= mean <= scores.upper()


@pytest.mark.parametrize("n", [1, 2, 5, 20, 60])
def test_of_yes_and_no_the_bound_is_too_high_in_a_fortieth_of_samples_at_most(n: int):
    lows = [bounded([1.0] * k + [0.0] * (n - k)).lower() for k in range(n + 1)]
    for p in (x / 200 for x in range(1, 200)):
        missed = math.fsum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1) if lows[k] > p)
        assert missed <= TAIL


def test_the_bound_needs_no_extra_and_is_the_same_without(monkeypatch: pytest.MonkeyPatch):
    values = [0.9, 0.7, 1.0, 0.2, 0.8] * 6
    before = bounded(values).lower()
    for name in ("numpy", "scipy"):
        monkeypatch.setitem(sys.modules, name, None)
    assert bounded(values).lower() == before
    assert not {"numpy", "scipy"} & set(vars(gate))


def test_a_hundred_thousand_scores_take_no_more_work_than_the_grid_has_steps(monkeypatch: pytest.MonkeyPatch):
    looked: list[int] = []
    real = gate._log_capital

    def count(counts: Mapping[int, int], m: float) -> float:
        looked.append(len(counts))
        return real(counts, m)

    monkeypatch.setattr(gate, "_log_capital", count)
    chance = random.Random(0)
    scores = bounded([chance.betavariate(8, 2) for _ in range(100_000)])
    assert 0.79 < scores.lower() < 0.8  # the mean is .8
    assert len(looked) == 20
    assert max(looked) <= 10_001


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
