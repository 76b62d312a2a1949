"""How much error a claim may spend, over claims and looks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from longmark.errors import UserError
from longmark.stats.looks import CLAIM_ERROR, Looks, maximal_quantile


def test_planned_looks_share_the_error_alike_and_all_of_it():
    parts = [Looks(number, 5).error(2, 60, 200) for number in range(1, 6)]
    assert parts == pytest.approx([CLAIM_ERROR / 10] * 5)


def test_draws_that_nobody_planned_share_the_error_whatever_their_number():
    parts = [Looks(number).error(1, 60, 200) for number in range(1, 1000)]
    assert parts[:3] == pytest.approx([CLAIM_ERROR / 2, CLAIM_ERROR / 6, CLAIM_ERROR / 12])
    assert CLAIM_ERROR * 0.99 < math.fsum(parts) < CLAIM_ERROR


def test_a_look_behind_the_plan_can_claim_nothing():
    with pytest.raises(UserError, match="2 looks were planned, and this would be look 3"):
        Looks(3, 2)


@pytest.mark.parametrize("ratio", [1.2, 2, 8])
def test_a_mean_that_is_looked_at_after_each_value_is_seldom_above(ratio: float):
    """4,000 sequences, looked at after each value from the 50th on."""
    values = np.random.default_rng(2).normal(size=(4000, int(50 * ratio)))
    numbers = np.arange(50, values.shape[1] + 1)
    studentised = values.cumsum(axis=1)[:, 49:] / np.sqrt(numbers)
    ever = (studentised > maximal_quantile(0.025, ratio)).any(axis=1).mean()
    assert 0.01 < ever <= 0.025 + 2 * math.sqrt(0.025 * 0.975 / 4000)
    if ratio > 2:
        assert (studentised > 1.96).any(axis=1).mean() > 0.1, "what a fixed quantile does"


def test_one_look_is_the_normal_quantile_and_many_cost_a_third_more():
    assert maximal_quantile(0.025, 1) == pytest.approx(1.95996, abs=1e-4)
    assert maximal_quantile(0.025, 4) / 1.96 == pytest.approx(1.37, abs=0.01)
    with pytest.raises(UserError, match=r"between 0 and \.5"):
        maximal_quantile(0.5, 2)
