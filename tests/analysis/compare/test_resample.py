"""Resampling every pair together gives what the statistics give for one at a time."""

import itertools

import numpy as np
import pytest
from tests.stats.effects import effects
from tests.there import there

from longmark.analysis.compare.effects import Effects, resampled
from longmark.stats.bootstrap import BCA
from longmark.stats.results import Estimate

PAIRS = tuple(itertools.combinations(range(3), 2))


def resample(table, sign, *, level=0.95, resamples, seed) -> Effects:
    empty = Estimate(None, None, None, 0, level, BCA, resamples=resamples)
    return resampled(table, PAIRS, sign, empty, seed)


def marks(n, seed=5):
    random = np.random.default_rng(seed)
    table = np.clip(random.random((n, 1)) * 0.6 + random.normal(0, 0.2, (n, 3)) + [0.1, 0.0, 0.2], 0, 1)
    return np.round(table * 20) / 20


@pytest.mark.parametrize("sign", [1, -1])
def test_intervals_are_those_of_one_pair_at_a_time(sign):
    table = marks(40)
    found = resample(table, sign, level=0.9, resamples=2000, seed=11)
    for k, (a, b) in enumerate(PAIRS):
        both = effects(
            table[:, a], table[:, b], higher_is_better=sign == 1, level=0.9, resamples=2000, seed=11
        )  # fmt: skip
        for ours, theirs in zip((found.d_z[k], found.share[k]), (both.d_z, both.share), strict=True):
            assert ours.value == pytest.approx(theirs.value, abs=1e-12)
            assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)
            assert (ours.n, ours.level, ours.seed, ours.missing) == (40, 0.9, 11, 0)


def test_a_large_offset_does_not_drown_the_spread():
    table = marks(40)
    near = resample(table, 1, resamples=500, seed=1).d_z[0]
    far = resample(table + 1e6, 1, resamples=500, seed=1).d_z[0]
    assert (far.low, far.high) == pytest.approx((near.low, near.high), abs=1e-6)


def test_what_cannot_be_had_has_a_reason():
    table = np.column_stack([np.linspace(0, 1, 9), np.linspace(0, 1, 9) + 0.25, np.ones(9)])
    found = resample(table, 1, resamples=200, seed=0)
    assert (found.d_z[0].value, found.d_z[0].low) == (None, None)
    assert "no value on these rows" in there(found.d_z[0].reason)
    few = resample(table[:2], 1, resamples=200, seed=0)
    assert "found 2" in there(few.share[0].reason)
    none = resample(table[:0], 1, resamples=200, seed=0)
    assert (none.share[0].low, none.share[0].n) == (None, 0)
    assert none.share[0].value is None


def test_a_pair_counts_the_questions_with_a_score_of_both():
    table = marks(60)
    sparse = table.copy()
    sparse[:20, 2] = np.nan
    found = resample(sparse, 1, resamples=4000, seed=1)
    alone = resample(table[20:], 1, resamples=4000, seed=1)
    every = resample(table, 1, resamples=4000, seed=1)
    assert found.d_z[0] == every.d_z[0]
    for one, other in zip(found.d_z[1:], alone.d_z[1:], strict=True):
        assert (one.n, one.missing) == (40, 20)
        assert one.value == pytest.approx(other.value)
        # other resamples of the same 40 questions: both ends within a tenth of the interval's width
        near = 0.1 * (there(other.high) - there(other.low))
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=near)
