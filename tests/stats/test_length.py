"""A difference of two systems at equal lengths."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from longmark.stats.length import length_controlled


def test_what_length_explains_is_taken_away():
    lengths = np.array([-30.0, -10, 0, 10, 20, 30, 50, 70, 90, 110])
    differences = 0.2 + 0.5 * np.tanh(lengths / lengths.std(ddof=1))
    found = length_controlled(differences, lengths, np.arange(10))
    assert found.value == pytest.approx(0.2)
    assert found.ends is None  # a fit without a residual has no spread to measure


def test_of_single_questions_it_is_the_robust_intercept_of_least_squares():
    chance = np.random.default_rng(1)
    lengths, noise = chance.normal(20, 50, size=40), chance.normal(size=40)
    x = np.tanh(lengths / lengths.std(ddof=1))
    differences = 0.3 + x + noise * (1 + x**2)
    found = length_controlled(differences, lengths, np.arange(40))
    line = stats.linregress(x, differences)
    assert found.value == pytest.approx(line.intercept)
    left, apart = differences - line.intercept - line.slope * x, x - x.mean()
    weights = 1 / 40 - x.mean() * apart / (apart @ apart)
    error = np.sqrt((weights**2 * left**2).sum() * 40 / 39 * 39 / 38)
    assert found.ends is not None
    assert np.ptp(found.ends) / 2 == pytest.approx(stats.t.ppf(0.975, 38) * error)


def test_questions_of_a_cluster_count_together():
    chance = np.random.default_rng(1)
    shared = np.repeat(chance.normal(size=20), 5)
    lengths = chance.normal(size=100)
    alone, together = (
        length_controlled(shared, lengths, its)
        for its in (np.arange(100), np.repeat(np.arange(20), 5))
    )
    assert alone.value == together.value
    assert alone.ends is not None
    assert together.ends is not None
    assert np.ptp(together.ends) > 1.8 * np.ptp(alone.ends)


@pytest.mark.parametrize(
    ("n", "lengths", "clusters", "reason"),
    [
        (9, 1.0, 9, "at least 10 questions; found 9"),
        (0, 1.0, 1, "at least 10 questions; found 0"),
        (20, 0.0, 20, "by the same on every question"),
        (20, 1.0, 3, "3.0 effective clusters are too few"),
    ],
)
def test_without_an_interval_there_is_a_reason(n: int, lengths: float, clusters: int, reason: str):
    found = length_controlled(
        np.arange(n) / 10, 7 + lengths * np.sin(np.arange(n)), np.arange(n) % clusters
    )
    assert found.ends is None
    assert reason in (found.reason or "")


@pytest.mark.parametrize(
    ("as_long", "warned"), [(3, True), (9, True), (10, False), (90, False), (97, True)]
)
def test_a_figure_at_the_edge_of_the_lengths_is_called_extrapolated(as_long: int, warned: bool):
    chance = np.random.default_rng(2)
    lengths = np.concatenate(
        [1 + 50 * chance.random(as_long), -1 - 50 * chance.random(100 - as_long)]
    )
    found = length_controlled(chance.normal(size=100), lengths, np.arange(100))
    side, few = ("long", as_long) if as_long < 50 else ("short", 100 - as_long)
    expected = f"extrapolated: the first system's answer is at least as {side} on only {few} of 100 questions"
    assert found.remark == (expected if warned else None)


def test_equally_long_answers_are_on_both_sides():
    lengths = np.array([0.0] * 15 + [-10.0] * 85)
    assert length_controlled(np.arange(100) / 100, lengths, np.arange(100)).remark is None


@pytest.mark.parametrize("slope", [0.0, 0.2])
@pytest.mark.parametrize("shift", [0.0, 0.3])
def test_differences_without_a_residual_have_no_interval(shift: float, slope: float):
    """Twenty ties, or differences of one size, do not show that the next one is the same."""
    lengths = np.arange(20.0) - 5
    found = length_controlled(
        shift + slope * np.tanh(lengths / lengths.std(ddof=1)), lengths, np.arange(20)
    )
    assert found.value == pytest.approx(shift, abs=1e-12)
    assert found.ends is None
    assert (
        found.reason == "length accounts for all of the differences, so their variance is unknown"
    )
