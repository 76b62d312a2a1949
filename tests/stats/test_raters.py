"""What raters add where they stand for others, and where they are fixed; when they contradict each other."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pytest

from longmark.stats.corrected import LabelledScores
from longmark.stats.corrected import corrected as _corrected
from longmark.stats.raters import CONTRADICT, contradiction, level_of_a_rater, rater_variance
from longmark.stats.results import Estimate

DIFFERENCE = {0: 1.0, 1: -1.0}


def corrected(table: LabelledScores, sides: dict[int, float]) -> Any:
    return _corrected(table, sides)


def planted(
    chance: np.random.Generator,
    tastes: Any,
    effect: float = 0.0,
    questions: int = 200,
    labelled: int = 100,
) -> LabelledScores:
    """Labels that each rater moves by a severity, and by a taste (rater, system); the first system is better by an
    effect in truth."""
    tastes = np.array(tastes)
    quality = (
        0.7 * chance.normal(size=(questions, 1))
        + 0.7 * chance.normal(size=(questions, 2))
        + [effect, 0]
    )
    severity, noise = (
        chance.normal(0, 0.3, (len(tastes), 1, 1)),
        chance.normal(0, 0.4, (len(tastes), questions, 2)),
    )
    of_raters = quality + severity + tastes[:, None, :] + noise
    of_raters[:, chance.permutation(questions)[labelled:]] = np.nan
    scores = quality + chance.normal(0, 0.75, quality.shape) + [0.3, 0]
    return LabelledScores(
        scores, of_raters.mean(axis=0), rater_labels=list(of_raters), bounds=(-4.0, 4.0)
    )


def these(table: LabelledScores) -> LabelledScores:
    return replace(table, these_raters=True)


def test_of_these_raters_only_their_taste_is_no_error_and_of_people_it_is():
    table = planted(np.random.default_rng(1), [(0.3, 0.0), (-0.1, 0.0)], effect=0.5)
    people, fixed = corrected(table, DIFFERENCE), corrected(these(table), DIFFERENCE)
    nobody = corrected(replace(table, rater_labels=()), DIFFERENCE)
    assert fixed.rater_variance == 0
    assert fixed.value == people.value == nobody.value
    assert fixed.ends == nobody.ends, "what the questions add, and nothing of raters"
    assert people.low < 0 < fixed.low < fixed.high < people.high
    assert [each.n for each in fixed.of_raters] == [400, 400]
    assert np.mean([each.value for each in fixed.of_raters]) == pytest.approx(fixed.value, abs=0.05)
    assert people.of_raters == ()


def test_raters_who_find_the_opposite_have_no_interval_of_their_mean():
    table = planted(np.random.default_rng(2), [(1.1, 0.0), (-0.5, 0.0)])
    assert corrected(table, DIFFERENCE).low < 0, "of people it shows nothing"
    found = corrected(these(table), DIFFERENCE)
    assert found.ends is None
    assert found.reason is not None
    assert found.reason.startswith(f"{CONTRADICT}: the difference is 1.")
    assert found.value == pytest.approx(0.3, abs=0.25)


def of(low: float, high: float) -> Estimate:
    return Estimate((low + high) / 2, low, high, 100)


def test_a_contradiction_is_an_interval_on_either_side_of_0():
    says = contradiction([of(0.9, 1.3), of(-0.7, -0.3)])
    assert says == (
        "the raters contradict each other: the difference is 1.10 [0.90, 1.30] for rater 1 and -0.50 [-0.70, -0.30] "
        "for rater 2. Their mean is nobody's judgement"
    )
    assert contradiction([of(0.9, 1.3), of(-0.7, 0.1)]) is None
    assert contradiction([of(-1.3, -0.9), of(-0.7, -0.1)]) is None
    assert contradiction([of(-0.1, 0.3), of(-0.7, -0.3), of(0.1, 0.9)]) is not None
    assert contradiction([Estimate(0.5, None, None, 5), of(-0.7, -0.3)]) is None, (
        "too few labels show nothing"
    )
    assert contradiction([]) is None


def test_the_error_of_a_contradiction_is_shared_by_the_raters():
    assert level_of_a_rater(2) == pytest.approx(0.95)  # one-sided .05 / 2
    assert level_of_a_rater(5) == pytest.approx(0.98)  # one-sided .05 / 5


def shifts(strict: float) -> tuple[list[Any], dict[int, Any]]:
    """Eight answers of each of two systems. Both raters label two of each, the first six more of the first system, the
    second six more of the second; the first gives `strict` more to all."""
    first, second = np.full((8, 2), 3.0 + strict), np.full((8, 2), 3.0)
    first[2:, 1] = np.nan
    second[2:, 0] = np.nan
    return [first, second], {0: np.full(8, 1 / 8), 1: np.full(8, 1 / 8)}


def test_who_labels_more_of_one_system_lends_it_their_severity():
    # the first rater has (2 / 2 + 6) / 8 = .875 of the first system's labels and .125 of the second's: being 1 point
    # milder moves the difference by .75, and the variance of that is .75^2
    labels, shares = shifts(1.0)
    found = rater_variance(labels, shares, DIFFERENCE, these=True)
    assert found.variance == pytest.approx(0.75**2)
    assert found.effective == pytest.approx(2)
    alike = [np.full((8, 2), 4.0), np.full((8, 2), 3.0)]
    assert rater_variance(alike, shares, DIFFERENCE, these=True).variance == 0


def test_raters_who_share_no_answer_and_label_one_system_each_show_nothing():
    table = planted(np.random.default_rng(3), [(0.0, 0.0), (0.0, 0.0)], effect=1.0)
    first, second = table.rater_labels
    own = [np.where([True, False], first, np.nan), np.where([False, True], second, np.nan)]
    apart = replace(table, labels=np.stack([own[0][:, 0], own[1][:, 1]], axis=1), rater_labels=own)
    assert corrected(these(apart), DIFFERENCE).reason.startswith(
        "100 % of the labels of the systems are by different "
    )
    questions = (
        np.arange(200)[:, None] % 2 == 0
    )  # whole questions: as much of one system as of the other
    own = [np.where(questions, first, np.nan), np.where(questions, np.nan, second)]
    halves = replace(table, labels=np.where(questions, first, second), rater_labels=own)
    assert corrected(these(halves), DIFFERENCE).low > 0


def test_one_rater_is_of_that_rater():
    table = planted(np.random.default_rng(4), [(0.0, 0.0)], effect=1.0)
    assert corrected(these(table), DIFFERENCE).ends == corrected(table, DIFFERENCE).ends


def test_intervals_of_these_raters_hold_the_mean_of_these_raters():
    runs, held, above, refused = 80, 0, 0, 0
    for number in range(runs):
        chance = np.random.default_rng([6, number])
        tastes = chance.normal(0, 0.2, (2, 2))
        found = corrected(these(planted(chance, tastes)), DIFFERENCE)
        truth = tastes[:, 0].mean() - tastes[:, 1].mean()
        refused += found.low is None
        held += found.low is None or found.low <= truth <= found.high
        above += found.low is not None and found.low > truth
    assert held / runs >= 0.95 - 3 * sqrt(0.95 * 0.05 / runs)
    assert above / runs <= 0.025 + 3 * sqrt(0.025 * 0.975 / runs)
    assert refused / runs <= 0.1, "raters who hardly differ are seldom refused"


def test_two_raters_of_like_taste_need_not_be_five():
    shown = {False: 0, True: 0}
    for number in range(30):
        chance = np.random.default_rng([5, number])
        tastes = chance.normal(0, 0.2, (2, 2))
        table = planted(chance, tastes - tastes.mean(axis=0), effect=0.6)
        for fixed in shown:
            low = corrected(replace(table, these_raters=fixed), DIFFERENCE).low
            shown[fixed] += low is not None and low > 0
    assert shown[False] < 20 < 27 <= shown[True]
