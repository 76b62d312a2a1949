"""Labels of two systems by other raters: what is known of who is stricter, and what a difference makes of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from longmark.stats.corrected import LabelledScores, corrected
from longmark.stats.severity import severity_shift

NONE = np.nan
DIFFERENCE = {0: 1.0, 1: -1.0}


def test_raters_are_compared_through_a_third_one():
    # the first gives 1 more than the second, the second 2 more than the third; the fourth shares no answer
    labels = np.array(
        [
            [4, 3, NONE, NONE, NONE],
            [3, 2, 5, 4, NONE],
            [NONE, NONE, 3, 2, NONE],
            [NONE, NONE, NONE, NONE, 5],
        ]
    )
    shift = severity_shift(labels, np.array([1.0, 0.0, -1.0, 0.0]))
    assert shift.square == pytest.approx(9.0)
    assert shift.apart == pytest.approx(0.0)
    shift = severity_shift(labels, np.array([0.6, 0.0, 0.0, -0.6]))
    assert shift.apart == pytest.approx(0.6), "nothing shows how strict the fourth rater is"
    assert shift.group_squares == pytest.approx(2 * 0.6**2)


def test_the_shift_holds_what_is_not_known_of_it():
    # differences of 0 and 2 on two answers: 1 in the mean, with a variance of (1 + 1) / 2
    labels = np.array([[3.0, 5.0], [3.0, 3.0]])
    shift = severity_shift(labels, np.array([1.0, -1.0]))
    assert shift.square == pytest.approx(1.0**2 + 1.0)


def test_one_shared_answer_compares_nobody():
    labels = np.array([[3.0, NONE], [4.0, 2.0]])
    assert severity_shift(labels, np.array([0.5, -0.5])).apart == 0.5


def by_groups(raters: int, shared: int, questions: int = 60) -> LabelledScores:
    """Two equal systems. Mild raters label the first, strict ones the second, two each answer; of the first `shared`
    answers of each system one of the others labels, too."""
    chance = np.random.default_rng(3)
    quality = chance.normal(3, 0.7, (questions, 1)) + chance.normal(0, 0.5, (questions, 2))
    of_raters = np.full((2 * raters, questions, 2), np.nan)
    for system, own, other in ((0, 0, raters), (1, raters, 0)):
        for question in range(questions):
            group = [own + question % raters, own + (question + 1) % raters]
            group += [other + question % raters] * (question < shared)
            for rater in group:
                milder = 0.5 if rater < raters else -0.5
                of_raters[rater, question, system] = (
                    quality[question, system] + milder + chance.normal(0, 0.2)
                )
    return LabelledScores(
        quality, np.nanmean(of_raters, axis=0), rater_labels=list(of_raters), bounds=(0.0, 6.0)
    )


@pytest.mark.parametrize("these_raters", [False, True], ids=["people", "these raters"])
@pytest.mark.parametrize("raters", [2, 10])
def test_strict_raters_of_one_system_show_no_difference(raters: int, these_raters: bool):
    apart = corrected(replace(by_groups(raters, 0), these_raters=these_raters), DIFFERENCE)
    assert apart.low is None
    assert apart.reason == (
        "100 % of the labels of the systems are by different raters, and no answers of each system that these share "
        "show who is stricter: strict raters cannot be told from bad answers"
    )
    bridged = corrected(replace(by_groups(raters, 12), these_raters=these_raters), DIFFERENCE)
    assert bridged.low is not None
    assert bridged.value is not None
    assert bridged.low < 0 < 0.5 < bridged.value
    alone = corrected(replace(by_groups(raters, 12), rater_labels=()), DIFFERENCE)
    assert alone.low is not None
    assert alone.low > 0, "without the raters' names it seems to be one"


def test_many_raters_by_lot_differ_by_chance_only():
    """Each answer has one label, of one of twenty raters: who labelled which system is no more than chance."""
    chance = np.random.default_rng(4)
    quality = chance.normal([3.8, 3.0], 0.7, (80, 2))
    of_raters = np.full((20, 80, 2), np.nan)
    rater = chance.integers(20, size=(80, 2))
    rows, columns = np.indices(rater.shape)
    of_raters[rater, rows, columns] = quality + chance.normal(0, 0.3, 20)[rater]
    table = LabelledScores(
        quality, np.nanmean(of_raters, axis=0), rater_labels=list(of_raters), bounds=(0.0, 6.0)
    )
    low = corrected(table, DIFFERENCE).low
    assert low is not None
    assert low > 0
    of_each_system = np.full((20, 80, 2), np.nan)
    of_each_system[rows % 10 + 10 * columns, rows, columns] = quality
    blocks = replace(table, labels=quality, rater_labels=list(of_each_system))
    assert corrected(blocks, DIFFERENCE).low is None
