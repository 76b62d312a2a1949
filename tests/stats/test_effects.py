"""Effects of a paired difference: by hand, SciPy's intervals, symmetry, coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap
from tests.stats.effects import effects

from longmark.errors import UserError


def test_by_hand():
    # first .9 .5 .7 .4, second .6 .5 .8 .1 (a fifth lacks): d .3 0 -.1 .3, mean .125; squares about it .030625 +
    # .015625 + .050625 + .030625 = .1275, /3 = .0425, root .206155; d_z .606339. Won 2, lost 1, tied 1: 2.5 / 4.
    found = effects([0.9, 0.5, 0.7, 0.4, None], [0.6, 0.5, 0.8, 0.1, 0.3], resamples=500)
    assert found.difference.value == pytest.approx(0.125)
    assert found.d_z.value == pytest.approx(0.606339, abs=1e-6)
    assert found.share.value == 0.625
    assert (found.won, found.lost, found.ties, found.n, found.missing) == (2, 1, 1, 4, 1)
    assert found.d_z.missing == 1


def test_lower_is_better_turns_who_wins_and_nothing_else():
    first, second = [0.9, 0.5, 0.7, 0.4], [0.6, 0.5, 0.8, 0.1]
    up, down = (effects(first, second, higher_is_better=way, resamples=500) for way in (True, False))
    assert (down.won, down.lost, down.ties) == (up.lost, up.won, up.ties)
    assert down.share.value == 0.375
    assert (down.difference, down.d_z) == (up.difference, up.d_z)


def test_a_tie_is_as_wide_as_one_says():
    found = effects([0.5, 0.52, 0.7], [0.5, 0.5, 0.5], tie=0.05, resamples=500)
    assert (found.won, found.ties) == (1, 2)
    assert effects([0.1 + 0.2] * 3, [0.3] * 3, resamples=500).ties == 3
    for bad in (-0.1, math.nan):
        with pytest.raises(UserError, match="0 or more"):
            effects([1], [1], tie=bad)


def test_intervals_are_those_of_scipy():
    rng = np.random.default_rng(1)
    a = rng.beta(5, 2, 80)
    b = np.clip(a - 0.05 + rng.normal(0, 0.1, 80), 0, 1)
    found = effects(a, b, resamples=1000, seed=3)

    def d_z(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        return np.asarray((x - y).mean(axis=axis) / (x - y).std(axis=axis, ddof=1))

    ends = bootstrap(
        (a, b), d_z, paired=True, vectorized=True, n_resamples=1000, rng=np.random.default_rng(3)
    ).confidence_interval
    assert (found.d_z.low, found.d_z.high) == pytest.approx((ends.low, ends.high), abs=1e-9)


def test_degenerate_differences_have_a_reason():
    constant = effects([0.6, 0.7, 0.8, 0.9], [0.5, 0.6, 0.7, 0.8], resamples=500)
    assert constant.difference.value == pytest.approx(0.1)
    assert constant.difference.low is None
    assert (constant.d_z.value, constant.d_z.low) == (None, None)
    assert constant.d_z.reason == "the statistic has no value on these rows"
    for n in (0, 1, 2):
        few = effects([0.5, 0.9][:n], [0.4, 0.1][:n], resamples=500)
        assert few.n == n
        assert few.difference.low is few.d_z.low is few.share.low is None
        assert few.share.reason is not None


def test_clusters_are_resampled_whole():
    rng = np.random.default_rng(2)
    per_question = rng.normal(0.1, 0.3, 20)
    d = np.repeat(per_question, 5)
    alone = effects(d, np.zeros(100), resamples=1000)
    by_question = effects(d, np.zeros(100), clusters=np.repeat(np.arange(20), 5).tolist(), resamples=1000)
    assert alone.difference.high is not None
    assert alone.difference.low is not None
    assert by_question.difference.high is not None
    assert by_question.difference.low is not None
    # Five copies of each answer make the interval that takes them for new sqrt(5) = 2.2 times too narrow.
    ratio = (by_question.difference.high - by_question.difference.low) / (alone.difference.high - alone.difference.low)
    assert 1.8 < ratio < 2.7
    assert by_question.share.clusters == 20


def test_intervals_cover():
    # d normal with mean .5 and deviation 1: d_z = .5; P(d > 0) = Phi(.5) = .691462.
    rng = np.random.default_rng(9)
    truth = {"difference": 0.5, "d_z": 0.5, "share": 0.691462}
    covered = dict.fromkeys(truth, 0)
    for trial in range(200):
        found = effects(rng.normal(0.5, 1, 60), np.zeros(60), resamples=400, seed=trial)
        for name, value in truth.items():
            interval = getattr(found, name)
            covered[name] += interval.low <= value <= interval.high
    assert min(covered.values()) >= 177, covered  # asked 190 of 200; the binomial 99.9 %, and what 400 resamples cost


values = st.lists(st.integers(0, 10), min_size=3, max_size=20)


@settings(max_examples=50)
@given(values, st.data())
def test_turning_the_systems_turns_the_effects(first: list[int], data: st.DataObject):
    second = data.draw(st.lists(st.integers(0, 10), min_size=len(first), max_size=len(first)))
    here, there = effects(first, second, resamples=100), effects(second, first, resamples=100)
    assert (here.won, here.lost, here.ties) == (there.lost, there.won, there.ties)
    assert here.won + here.lost + here.ties == len(first)
    assert here.difference.value == pytest.approx(-there.difference.value)  # type: ignore[operator]
    assert here.share.value == pytest.approx(1 - there.share.value)  # type: ignore[operator]
    assert (here.d_z.value is None) == (there.d_z.value is None)
    if here.d_z.value is not None and there.d_z.value is not None:
        assert here.d_z.value == pytest.approx(-there.d_z.value)
        tenfold = effects([10 * v for v in first], [10 * v for v in second], resamples=100)
        assert tenfold.d_z.value == pytest.approx(here.d_z.value)
