"""How often a metric orders two answers, and two systems, as people do."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from longmark.stats import pairwise
from longmark.stats.permutation import share_below

NAN = math.nan


def pairs_right(*given: Any, **more: Any) -> Any:
    return pairwise.pairs_right(*given, **more)


def soft_pairwise(*given: Any) -> Any:
    return pairwise.soft_pairwise(*given)


def a(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)


def test_pairs_by_hand():
    # people: 1 < 2 < 3 = 3; the metric has .1 < .3 < .5, and .5 < .52: with ε of .02 all six pairs are right
    one = (a(1, 2, 3, 3), a(0.1, 0.3, 0.5, 0.52))
    assert pairs_right([one], published=True).value == 1
    # the metric turned round: only the tie of people can be right, with every pair a tie
    assert pairs_right([(one[0], -one[1])], published=True).value == pytest.approx(1 / 6)
    # a mean over questions, not over pairs: 1 of 1, and 3 of 6 (never a tie)
    two = (a(1, 2), a(1, 2))
    half = (a(1, 2, 3, 4), a(1, 3, 2, 0))
    assert pairs_right([two, half], published=True).value == pytest.approx((1 + 2 / 6) / 2)


def test_the_size_of_a_tie_is_not_fitted_to_the_pairs_it_judges():
    chance = np.random.default_rng(0)
    noise = [(chance.integers(0, 3, 5).astype(float), chance.random(5)) for _ in range(60)]
    fitted, fair = (pairs_right(noise, published=published).value for published in (True, False))
    assert fair < fitted
    following = [(human, human + chance.normal(0, 0.05, 5)) for human, _ in noise]
    found = pairs_right(following)
    assert found.value > 0.97
    assert found.n == 60
    assert pairs_right(following, seed=1) == pairs_right(following, seed=1)


def test_answers_without_a_score_make_no_pair():
    assert (
        pairs_right([(a(1, 2, NAN), a(1, NAN, 3))]).reason
        == "no question has two answers with a score and a label"
    )
    assert pairs_right([]).value is None
    assert pairs_right([(a(1, 2, NAN), a(1, 2, 3)), (a(1), a(1))], published=True).value == 1


def test_soft_pairwise_accuracy():
    chance = np.random.default_rng(1)
    human = chance.normal(size=(50, 4)) + a(0, 0, 1, 3)
    alike = soft_pairwise(human, 10 * human)
    assert (alike.value, alike.n, alike.ends) == (pytest.approx(1), 6, None)
    turned = soft_pairwise(human, -human)
    # of six pairs one is no difference to people (p near .5), the others are sure, and the metric sure of the opposite
    assert turned.value == pytest.approx(soft_pairwise(-human, human).value, abs=0.01)
    assert turned.value < 0.2
    unsure = soft_pairwise(human, chance.normal(size=human.shape))
    assert turned.value < unsure.value < 0.9


def test_too_little_for_soft_pairwise_accuracy():
    assert (
        soft_pairwise(np.full((9, 3), NAN), np.ones((9, 3))).reason
        == "no two systems have three questions in common"
    )
    assert soft_pairwise(np.ones((9, 1)), np.ones((9, 1))).value is None
    many = np.random.default_rng(2).normal(size=(5, 34))
    assert soft_pairwise(many, many).n == 500


def enumerated(differences: np.ndarray) -> float:
    """Every pattern of signs: the share with a sum below the observed one, and half of those that equal it."""
    sums = np.array(
        [np.dot(signs, differences) for signs in product((1, -1), repeat=len(differences))]
    )
    equal = np.abs(sums - differences.sum()) < 1e-9
    return float(np.mean((sums < differences.sum()) & ~equal) + np.mean(equal) / 2)


def test_how_sure_pairs_are_counts_equal_patterns_by_half():
    assert share_below([1, 1, 1], [1, 1, 1]) == 0.5
    # +1 and three ties: half of the patterns equal the observed sum, the others are below it
    assert share_below([1, 0, 0, 0], [0, 0, 0, 0]) == 0.75
    assert share_below([1, 2], [0, 0]) is None
    chance = np.random.default_rng(3)
    for n in (3, 4, 6, 9):
        for _ in range(10):
            first, second = (
                chance.integers(0, 3, n).astype(float),
                chance.integers(0, 3, n).astype(float),
            )
            assert share_below(first, second) == pytest.approx(enumerated(first - second))


def test_how_sure_drawn_patterns_are_depends_on_no_order():
    chance = np.random.default_rng(4)
    first, second = chance.normal(size=(2, 60)).round(1)
    share, order = share_below(first, second, permutations=500), chance.permutation(60)
    assert share is not None
    assert share_below(first[order], second[order], permutations=500) == share
    assert share_below(second, first, permutations=500) == pytest.approx(1 - share, abs=1e-12)


def test_a_metric_that_scores_every_answer_alike_is_half_right_of_every_pair_of_systems():
    human = np.random.default_rng(0).normal(size=(40, 3)) + a(
        2, 1, 0
    )  # people are sure of every pair
    constant = np.full((40, 3), 0.5)
    found, turned = soft_pairwise(human, constant), soft_pairwise(human[:, ::-1], constant)
    assert found.value == pytest.approx(0.5, abs=0.002)
    assert turned.value == pytest.approx(found.value, abs=1e-12)


def test_ties_of_a_metric_are_the_same_in_every_order_of_rows_and_systems():
    chance = np.random.default_rng(5)
    human, metric = (
        chance.normal(size=(12, 3)) + a(1, 0.5, 0),
        (chance.random((12, 3)) > 0.8).astype(float),
    )
    pairs = [(0, 1), (0, 2), (1, 2)]
    expected = np.mean(
        [
            1 - abs(enumerated(human[:, i] - human[:, j]) - enumerated(metric[:, i] - metric[:, j]))
            for i, j in pairs
        ]
    )
    for rows in (np.arange(12), chance.permutation(12)):
        for systems in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
            found = soft_pairwise(human[rows][:, systems], metric[rows][:, systems])
            assert found.value == pytest.approx(expected, abs=1e-12)
