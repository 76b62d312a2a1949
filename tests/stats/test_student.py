"""Student's t interval: a case by hand, SciPy's quantiles, and what holds for any sample."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.errors import UserError
from longmark.stats.student import Moments, equal_interval, mean_estimate, t_quantile

# PROVENANCE: scipy.stats.t.ppf((1 + level) / 2, df), SciPy 1.17.1.
SCIPY = {
    (0.95, 3): 3.1824463052837078,
    (0.95, 9): 2.262157162798205,
    (0.95, 29): 2.045229642132703,
    (0.95, 218): 1.970905601079485,
    (0.95, 1411): 1.9616466726109216,
    (0.95, 100_000): 1.9599877075346095,
    (0.95, 1_000_000_000): 1.959963986912325,
    (0.99, 3): 5.840909309733355,
    (0.99, 9): 3.249835541592126,
    (0.99, 29): 2.756385903670605,
    (0.99, 218): 2.59856935280457,
    (0.99, 1411): 2.579318187355266,
    (0.99, 100_000): 2.575878469908375,
    (0.5, 1_000_000_000): 0.6744897504414163,
}


def test_quantiles_are_those_of_scipy() -> None:
    for (level, df), expected in SCIPY.items():
        assert t_quantile(level, df) == pytest.approx(expected, rel=1e-9)


def test_quantiles_with_closed_forms() -> None:
    assert t_quantile(0.5, 1) == pytest.approx(1.0)  # Cauchy: tan(pi / 4)
    assert t_quantile(0.5, 2) == pytest.approx(math.sqrt(2 / 3))  # t = p sqrt(2 / (1 - p²)), p = 1/2
    # Four degrees of freedom: P(|T| < t) = s (3 - s²) / 2 with s = t / sqrt(t² + 4); at t = 2, s = 1/sqrt(2).
    level = (1 / math.sqrt(2)) * (3 - 0.5) / 2
    assert t_quantile(level, 4) == pytest.approx(2.0, rel=1e-12)


def test_interval_by_hand() -> None:
    # 1, 2, 3, 4: mean 2.5, squares 2.25 + 0.25 + 0.25 + 2.25 = 5, variance 5/3, standard error sqrt(5/12) = 0.645497;
    # t(3) = 3.182446, so half a width of 2.054260.
    interval = mean_estimate(Moments.of([1, 2, 3, 4]))
    assert (interval.value, interval.n, interval.level, interval.method) == (2.5, 4, 0.95, "Student's t")
    assert interval.low == pytest.approx(0.445740, abs=1e-6)
    assert interval.high == pytest.approx(4.554260, abs=1e-6)


def test_interval_is_clipped_to_the_bounds() -> None:
    clipped = mean_estimate(Moments.of([1, 2, 3, 4]), bounds=(1, 4))
    assert (clipped.low, clipped.high) == (1, 4)
    half_open = mean_estimate(Moments.of([1, 2, 3, 4]), bounds=(None, 4))
    assert half_open.low == pytest.approx(0.445740, abs=1e-6)
    assert half_open.high == 4


def test_no_interval_for_fewer_than_two_values() -> None:
    none, one = mean_estimate(Moments()), mean_estimate(Moments.of([0.7]))
    assert (none.value, none.ends, none.reason) == (None, None, "there are no values")
    assert (one.value, one.ends, one.reason) == (0.7, None, "there is only 1 value")


def test_a_level_in_per_cent_is_refused() -> None:
    with pytest.raises(UserError, match="between 0 and 1"):
        mean_estimate(Moments.of([1, 2]), level=95)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_not_averaged(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        Moments().add(value)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50))
def test_moments_agree_with_two_passes(values: list[float]) -> None:
    moments = Moments.of(values)
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    assert moments.n == len(values)
    assert moments.mean == pytest.approx(mean, abs=1e-6)
    assert moments.variance == pytest.approx(variance, rel=1e-6, abs=1e-6)
    assert (moments.minimum, moments.maximum) == (min(values), max(values))


@given(st.floats(0.01, 0.999), st.integers(1, 5000))
def test_quantiles_fall_with_the_degrees_of_freedom_and_rise_with_the_level(level: float, df: int) -> None:
    assert t_quantile(level, df) > t_quantile(level, df + 1) > 0
    assert t_quantile(level, df) < t_quantile(level + 0.0005, df)


def test_equal_values_by_hand() -> None:
    # s = 1 - .025^(1/2) = 0.841886: 1 - s of the way from the top to the bottom
    assert equal_interval(1.0, 2, 0.0, 1.0) == pytest.approx((0.158114, 1.0), abs=1e-6)
    # level .9: s = 1 - .05^(1/2) = .776393; 3 - s x 2 = 1.447214, 3 + s x 2 = 4.552786
    assert equal_interval(3.0, 2, 1.0, 5.0, level=0.9) == pytest.approx((1.447214, 4.552786), abs=1e-6)


@given(st.floats(0, 1), st.integers(1, 400))
def test_it_holds_the_worst_mean_that_could_have_been_missed(value: float, n: int) -> None:
    """A population in which a share of others hides from n draws with more than 2.5 % has its mean inside."""
    low, high = equal_interval(value, n, 0.0, 1.0)
    assert 0 <= low <= value <= high <= 1
    hidden = (1 - 0.026 ** (1 / n)) * 0.999999
    assert low <= value - hidden * value + 1e-12
    assert high >= value + hidden * (1 - value) - 1e-12


@pytest.mark.parametrize(("value", "n", "level"), [(1.1, 3, 0.95), (0.5, 0, 0.95), (0.5, 3, 1.0)])
def test_what_makes_no_sense_is_refused(value: float, n: int, level: float) -> None:
    with pytest.raises(UserError):
        equal_interval(value, n, 0.0, 1.0, level)
