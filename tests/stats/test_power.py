"""Power: the size of the test under the null, the normal formula, growth, any test, and the search for n."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats as scipy_stats

from longmark.errors import UserError
from longmark.stats.permutation import paired_permutation, sign_flip_p
from longmark.stats.power import SIGN_FLIP, Power, power, sample_size

RNG = np.random.default_rng(11)
SECOND = RNG.normal(0.5, 0.2, 60)
FIRST = SECOND + RNG.normal(0.03, 0.1, 60)


def found(result: Power) -> float:
    assert result.power is not None
    assert result.power.value is not None
    return result.power.value


def t_test(first: np.ndarray, second: np.ndarray, random: np.random.Generator) -> float:
    return float(scipy_stats.ttest_rel(first, second).pvalue)


def test_normal_formula_by_hand():
    # Differences 1 -1 1 -1: s² = 4/3. d = 1, n = 12: sqrt(12) / 1.154701 = 3; Phi(3 - 1.959964) + Phi(-4.959964) =
    # .850833 + .0000004. For power .8: (1.959964 + .841621)² * 4/3 = 10.465, so 11.
    result = power([1, -1, 1, -1], [0, 0, 0, 0], 1, n=12, simulations=10)
    assert result.normal == pytest.approx(0.850838, abs=1e-5)
    assert result.spread == pytest.approx(math.sqrt(4 / 3))
    assert sample_size([1, -1, 1, -1], [0, 0, 0, 0], 1, simulations=50).normal == 11


def test_under_no_difference_the_test_keeps_its_level():
    for n in (20, 60):
        result = power(FIRST, SECOND, 0.0, n=n, simulations=1000)
        assert 0.03 <= result.power.value <= 0.072  # type: ignore[union-attr, operator]  # asked .05 of 1,000: 50; the binomial 99.8 %
        assert result.normal == pytest.approx(0.05)


def test_power_is_near_the_normal_formula_and_grows():
    with_n = [found(power(FIRST, SECOND, 0.03, n=n, simulations=600)) for n in (20, 60, 180)]
    assert with_n == sorted(with_n)
    assert with_n[2] - with_n[0] > 0.5
    with_d = [found(power(FIRST, SECOND, d, simulations=600)) for d in (0.01, 0.03, 0.06)]
    assert with_d == sorted(with_d)
    result = power(FIRST, SECOND, 0.03, n=100, simulations=1000)
    assert result.normal is not None
    assert found(result) == pytest.approx(result.normal, abs=0.05)
    assert found(power(FIRST, SECOND, -0.03, n=100, simulations=1000)) == pytest.approx(result.normal, abs=0.05)


def test_sign_flips_are_the_paired_permutation_test():
    random = np.random.default_rng(0)
    for _ in range(3):
        differences = (FIRST - SECOND - 0.01)[random.integers(0, 60, 40)]
        one = sign_flip_p(differences, 1000, random)
        expected = paired_permutation(differences, np.zeros(40)).p
        assert expected is not None
        assert one == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / 1000) + 0.002)


def test_the_test_that_will_be_used_is_run():
    calls = []

    def never(first: np.ndarray, second: np.ndarray, random: np.random.Generator) -> float:
        calls.append((len(first), float((first - second).mean())))
        return 1.0

    result = power(FIRST, SECOND, 0.5, n=30, test=never, simulations=40)
    assert (found(result), result.test) == (0, "never")
    assert len(calls) == 40
    assert {n for n, _ in calls} == {30}
    assert np.mean([d for _, d in calls]) == pytest.approx(0.5, abs=0.02)
    # Differences 1 -1 1 -1 have s² = 4/3: what is drawn lies sqrt(4/3), not 1, about the difference asked for.
    drawn: set[float] = set()

    def collect(first: np.ndarray, second: np.ndarray, random: np.random.Generator) -> float:
        drawn.update((first - second).round(9).tolist())
        return 1.0

    power([1, -1, 1, -1], [0, 0, 0, 0], 5, test=collect, simulations=20)
    assert sorted(drawn) == pytest.approx([5 - math.sqrt(4 / 3), 5 + math.sqrt(4 / 3)])
    by_t = power(FIRST, SECOND, 0.03, n=100, test=t_test, simulations=400)
    assert found(by_t) == pytest.approx(by_t.normal, abs=0.07)
    assert power(FIRST, SECOND, 0.03, simulations=10).test == SIGN_FLIP


def test_sample_size_reaches_the_power_near_the_formula():
    result = sample_size(FIRST, SECOND, 0.05, simulations=500)
    assert result.n is not None
    assert result.normal is not None
    assert abs(result.n - result.normal) <= 0.15 * result.normal + 4
    powers = {one.n: found(one) for one in result.tried}
    assert powers[result.n] >= 0.8
    assert all(value < 0.8 for n, value in powers.items() if n < result.n * 0.9)
    s = float((FIRST - SECOND).std(ddof=1))
    quantiles = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)
    assert result.normal == math.ceil((quantiles * s / 0.05) ** 2)
    larger = sample_size(FIRST, SECOND, 0.05, wanted=0.95, simulations=500)
    assert larger.n is not None
    assert larger.n > result.n


def test_a_coarse_test_needs_more_than_the_formula_says():
    # With five differences the smallest two-sided p is 2/32 > .05: however large the difference, six are needed.
    result = sample_size(FIRST, SECOND, 5.0, simulations=300)
    assert result.normal == 1
    assert result.n is not None
    assert result.n >= 6


def test_seed_decides_and_missing_pairs_are_counted():
    first = [*FIRST.tolist(), None, 0.5]
    second = [*SECOND.tolist(), 0.2, math.nan]
    result = power(first, second, 0.03, n=50, simulations=100)
    whole = power(FIRST, SECOND, 0.03, n=50, simulations=100)
    assert (result.pilot, result.missing) == (60, 2)
    assert result.power == whole.power
    assert power(FIRST, SECOND, 0.03, n=50, simulations=100, seed=1) != whole


def test_degenerate_pilots_have_a_reason():
    few = power([1, 2], [2, 1], 0.1)
    assert (few.power, few.normal, few.reason) == (None, None, "a pilot needs at least 3 pairs; found 2")
    flat = power([0.6, 0.7, 0.8], [0.5, 0.6, 0.7], 0.1)
    assert flat.power is None
    assert flat.reason is not None
    assert "equal" in flat.reason
    assert sample_size([0.6, 0.7, 0.8], [0.5, 0.6, 0.7], 0.1).reason == flat.reason
    none = sample_size(FIRST, SECOND, 0.0, simulations=10)
    assert (none.n, none.reason) == (None, "no number of questions shows a difference of 0")
    beyond = sample_size(FIRST, SECOND, 1e-5, simulations=10)
    assert beyond.n is None
    assert beyond.reason == "it takes more than 100,000 questions by the normal formula"


def test_mistakes_are_refused():
    with pytest.raises(UserError, match="alpha"):
        power(FIRST, SECOND, 0.1, alpha=5)
    with pytest.raises(UserError, match="number"):
        power(FIRST, SECOND, math.nan)
    with pytest.raises(UserError, match="at least 3 questions"):
        power(FIRST, SECOND, 0.1, n=2)
    with pytest.raises(UserError, match="simulations"):
        power(FIRST, SECOND, 0.1, simulations=0)
    with pytest.raises(UserError, match="wanted power"):
        sample_size(FIRST, SECOND, 0.1, wanted=80)
