"""Shares of variance of question, system, judge and noise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.errors import UserError
from longmark.stats.components import variance_components

SIZES = {"question": 400, "system": 30, "judge": 20}
TRUE = {
    "question": 4.0,
    "system": 1.0,
    "judge": 0.5,
    "question x system": 2.0,
    "question x judge": 0.3,
    "system x judge": 0.2,
    "question x system x judge": 0.6,
    "noise": 1.5,
}


def drawn(seed: int, sizes: dict[str, int], samples: int) -> np.ndarray:
    chance = np.random.default_rng(seed)
    table = np.zeros((*sizes.values(), samples))
    for name, variance in TRUE.items():
        shape = [
            size if name == "noise" or factor in name.split(" x ") else 1
            for factor, size in sizes.items()
        ]
        shape.append(samples if name == "noise" else 1)
        table = table + chance.normal(0, variance**0.5, shape)
    return table


def test_a_large_table_gives_back_the_variances_it_was_drawn_with():
    found = variance_components(drawn(3, SIZES, 2)).variance
    for name in (
        "question",
        "question x system",
        "question x judge",
        "question x system x judge",
        "noise",
    ):
        assert found[name] == pytest.approx(TRUE[name], rel=0.15), name
    assert found["system"] == pytest.approx(TRUE["system"], rel=0.6)
    assert found["judge"] == pytest.approx(TRUE["judge"], rel=0.7)


def test_two_factors_by_hand():
    """Questions 1, 2, 3 x systems; rows (1, 3), (2, 6), (6, 6): MS_Q = 8, MS_S = 6, MS_QS = 2 by the usual formulas."""
    found = variance_components(np.array([[1, 3], [2, 6], [6, 6]], dtype=float).reshape(3, 2, 1, 1))
    assert found.variance == pytest.approx(
        {"question": (8 - 2) / 2, "system": (6 - 2) / 3, "noise": 2}
    )
    assert sum(found.shares.values()) == pytest.approx(1)
    assert found.standard_error(questions=3, judges=1, samples=1) == pytest.approx(
        (2 * 2 / 3) ** 0.5
    )


def test_the_standard_error_is_that_of_the_paired_difference():
    """One judge, one sample, two systems: exactly the standard error of the mean difference."""
    table = np.random.default_rng(5).normal(0, 1, (50, 2, 1, 1))
    differences = table[:, 0, 0, 0] - table[:, 1, 0, 0]
    error = variance_components(table).standard_error(questions=50, judges=1, samples=1)
    assert error == pytest.approx(differences.std(ddof=1) / 50**0.5)


def test_more_questions_judges_and_samples_shorten_what_they_can():
    found = variance_components(drawn(1, {"question": 60, "system": 4, "judge": 3}, 2))
    base = found.standard_error(questions=60, judges=3, samples=2)
    assert found.standard_error(questions=120, judges=3, samples=2) < base
    assert found.standard_error(questions=60, judges=6, samples=2) < base
    assert found.standard_error(questions=60, judges=3, samples=4) < base


@given(st.integers(0, 500), st.floats(-5, 5), st.floats(0.1, 9))
def test_a_shift_changes_nothing_and_a_factor_is_squared(seed: int, shift: float, factor: float):
    table = np.random.default_rng(seed).normal(0, 1, (6, 3, 2, 2))
    one, other = variance_components(table), variance_components(table * factor + shift)
    for name, value in one.variance.items():
        assert other.variance[name] == pytest.approx(value * factor**2, abs=1e-9 * factor**2)


def test_what_cannot_be_decomposed_is_refused():
    with pytest.raises(UserError, match="complete table"):
        variance_components(np.full((3, 2, 1, 1), np.nan))
    with pytest.raises(UserError, match="found 1 and 2"):
        variance_components(np.zeros((1, 2, 1, 1)))
    assert set(variance_components(np.zeros((3, 2, 1, 1))).shares.values()) == {0.0}
