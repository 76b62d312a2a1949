"""Resampling every pair together gives what the statistics give for one at a time."""

import itertools

import numpy as np
import pytest
from tests.stats.effects import effects
from tests.there import there

from longmark.analysis.compare.effects import Effects, resampled
from longmark.stats.bootstrap import BCA
from longmark.stats.permutation import paired_permutation, sign_flips
from longmark.stats.results import Estimate

PAIRS = tuple(itertools.combinations(range(3), 2))


def resample(table, sign, *, missing=0, level=0.95, resamples, seed) -> Effects:
    empty = Estimate(None, None, None, 0, level, BCA, missing=missing, resamples=resamples)
    return resampled(table, PAIRS, sign, empty, seed)


def marks(n, seed=5):
    random = np.random.default_rng(seed)
    table = np.clip(random.random((n, 1)) * 0.6 + random.normal(0, 0.2, (n, 3)) + [0.1, 0.0, 0.2], 0, 1)
    return np.round(table * 20) / 20


@pytest.mark.parametrize("sign", [1, -1])
def test_intervals_are_those_of_one_pair_at_a_time(sign):
    table = marks(40)
    found = resample(table, sign, missing=2, level=0.9, resamples=2000, seed=11)
    for k, (a, b) in enumerate(PAIRS):
        both = effects(
            table[:, a], table[:, b], higher_is_better=sign == 1, level=0.9, resamples=2000, seed=11
        )  # fmt: skip
        for ours, theirs in zip((found.d_z[k], found.share[k]), (both.d_z, both.share), strict=True):
            assert ours.value == pytest.approx(theirs.value, abs=1e-12)
            assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)
            assert (ours.n, ours.level, ours.seed, ours.missing) == (40, 0.9, 11, 2)


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
    none = resample(table[:0], 1, missing=9, resamples=200, seed=0)
    assert (none.share[0].low, none.share[0].n, none.share[0].missing) == (None, 0, 9)
    assert none.share[0].value is None


def test_sign_flips_of_few_questions_are_exact():
    table = marks(10)
    for p, (a, b) in zip(sign_flips(table, PAIRS, 1000, 0), PAIRS, strict=True):
        assert p == pytest.approx(paired_permutation(table[:, a], table[:, b]).p, abs=1e-12)
    assert sign_flips(table[:2], PAIRS, 1000, 0) == [None, None, None]


def test_sign_flips_of_many_questions_are_drawn():
    table = marks(60) + np.array([0.03, 0.0, -0.1])
    for p, (a, b) in zip(sign_flips(table, PAIRS, 20_000, 3), PAIRS, strict=True):
        other = there(paired_permutation(table[:, a], table[:, b], permutations=20_000, seed=4).p)
        # two independent estimates of a share: 5 standard errors
        assert abs(there(p) - other) <= 5 * np.sqrt(2 * max(other * (1 - other), 1e-4) / 20_000)
        assert there(p) >= 1 / 20_001
