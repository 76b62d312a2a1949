"""Draws with unequal, known probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from longmark.stats.corrected import LabelledScores
from longmark.stats.drawing import probabilities, residual_sizes, systematic

ALL = np.ones(6, dtype=bool)


def test_probabilities_by_hand():
    sizes = np.array([1.0, 1, 1, 1, 4, 4])  # of mean 2
    assert probabilities(sizes, 3, ALL, 1.0).tolist() == [0.5] * 6
    assert probabilities(sizes, 3, ALL, 0.5) == pytest.approx(
        [0.375] * 4 + [0.75] * 2
    )  # .5 + .5 of 1/2 and of 2
    assert probabilities(sizes, 5, ALL, 0.5) == pytest.approx(
        [0.75] * 4 + [1.0] * 2
    )  # two are certain, four share 3


def test_those_drawn_among_add_up_and_the_others_have_what_they_would_have():
    sizes, among = np.array([1.0, 1, 1, 1, 4, 4]), np.array([True, True, True, True, False, False])
    chances = probabilities(sizes, 2, among, 0.5)
    assert chances == pytest.approx([0.5] * 4 + [1.0] * 2)
    assert probabilities(sizes, 9, ALL).tolist() == [1.0] * 6
    assert probabilities(np.zeros(6), 3, ALL).tolist() == [0.5] * 6


@pytest.mark.parametrize("n", [1, 3, 5])
def test_a_draw_has_n_units_and_each_as_often_as_its_probability_says(n: int):
    chances = probabilities(np.array([1.0, 1, 2, 3, 4, 9]), n, ALL, 0.3)
    drawn = np.array([systematic(chances, seed) for seed in range(3000)])
    assert set(drawn.sum(axis=1).tolist()) == {n}
    assert np.abs(drawn.mean(axis=0) - chances).max() < 0.04  # four standard errors


def test_sizes_follow_the_residuals_of_labelled_questions():
    chance = np.random.default_rng(2)
    scores = chance.random((300, 2))
    scores[:, 1] = np.clip(scores[:, 0] + 0.01, 0, 1)
    noise = np.where(scores > 2 / 3, 0.5, 0.01) * chance.normal(size=(300, 2))
    labels = np.where(np.arange(300)[:, None] % 3 == 0, scores + noise, np.nan)
    sizes = residual_sizes(LabelledScores(scores, labels), np.array([0, 1]))
    assert sizes is not None
    assert sizes[scores[:, 0] > 0.8].mean() > 2 * sizes[scores[:, 0] < 0.5].mean()
    labels[60:] = np.nan  # 20 questions
    assert residual_sizes(LabelledScores(scores, labels), np.array([0, 1])) is not None
    labels[57:] = np.nan
    assert residual_sizes(LabelledScores(scores, labels), np.array([0, 1])) is None
