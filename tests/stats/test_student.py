"""The quantiles of Student's t: SciPy's, closed forms, and what holds for any of them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.stats.student import t_quantile

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
    assert t_quantile(0.5, 2) == pytest.approx(
        math.sqrt(2 / 3)
    )  # t = p sqrt(2 / (1 - p²)), p = 1/2
    # Four degrees of freedom: P(|T| < t) = s (3 - s²) / 2 with s = t / sqrt(t² + 4); at t = 2, s = 1/sqrt(2).
    level = (1 / math.sqrt(2)) * (3 - 0.5) / 2
    assert t_quantile(level, 4) == pytest.approx(2.0, rel=1e-12)


@given(st.floats(0.01, 0.999), st.integers(1, 5000))
def test_quantiles_fall_with_the_degrees_of_freedom_and_rise_with_the_level(
    level: float, df: int
) -> None:
    assert t_quantile(level, df) > t_quantile(level, df + 1) > 0
    assert t_quantile(level, df) < t_quantile(level + 0.0005, df)
