"""Prediction-powered means: by hand, against ppi-python, and what they are for: cover, and be narrower."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from tests.there import there

from longmark.errors import UnknownName, UserError
from longmark.stats.means import wilson
from longmark.stats.ppi import ppi_mean

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "goldens" / "stats_oracles.json").read_text(encoding="utf-8")
)


def test_by_hand():
    # Labels 1 0 1 1, scores .8 .4 .6 1 there and .5 .7 .9 .3 elsewhere, weight 1: .6 + mean(.2 -.4 .4 0) = .65.
    # Squares about .05: .0225 + .2025 + .1225 + .0025 = .35, /3/4 = .0291667; scores about .6: .01 + .01 + .09 + .09 =
    # .2, /3/4 = .0166667. Error sqrt(.0458333) = .214087; t(3) = 3.182446. Labels of 0
    # and 1: Wilson's interval for .65 x .35 / .0458333 = 4.963636 labels.
    human, judge = [1, 0, 1, 1, None, None, None, None], [0.8, 0.4, 0.6, 1, 0.5, 0.7, 0.9, 0.3]
    found = ppi_mean(human, judge, weight=1.0)
    assert found.value == pytest.approx(0.65)
    assert found.error == pytest.approx(0.214087, abs=1e-6)
    assert found.ends == pytest.approx(wilson(0.65, 4.963636, 3.182446), abs=1e-5)
    assert (found.labelled, found.unlabelled, found.missing, found.tuned) == (4, 4, 0, False)
    assert found.judge == pytest.approx(0.65)
    # Tuned: covariance of labels and scores on the labelled: mean(.25*.1 + .75*.3 - .25*.1 + .25*.3) = .075; variance
    # of all scores (about .65: .0225 + .0625 + .0025 + .1225 + .0225 + .0025 + .0625 + .1225 = .42) / 7 = .06; weight
    # .075 / (2 * .06) = .625; mean .75 + .625 (.6 - .7) = .6875.
    tuned = ppi_mean(human, judge)
    assert tuned.weight == pytest.approx(0.625)
    assert tuned.value == pytest.approx(0.6875)


@pytest.mark.parametrize("case", GOLDEN["ppi"])
@pytest.mark.parametrize(("name", "weight"), [("tuned", None), ("full", 1.0), ("half", 0.5)])
def test_the_published_form_is_that_of_ppi_python(
    case: dict[str, Any], name: str, weight: float | None
):
    human = case["human"] + [None] * (len(case["judge"]) - len(case["human"]))
    found = ppi_mean(human, case["judge"], weight=weight, level=0.9, method="normal")
    assert [found.value, found.low, found.high] == pytest.approx(case[name], abs=1e-10)


def test_without_scores_elsewhere_or_with_weight_0_it_is_students_interval():
    y = [0.2, 0.9, 0.4, 0.7, 0.6]
    low, high = scipy_stats.t.interval(0.95, 4, np.mean(y), scipy_stats.sem(y))
    for found in (
        ppi_mean(y, [0.1, 0.5, 0.4, 0.8, 0.6]),
        ppi_mean([*y, None], [0, 0, 1, 0, 1, 1], weight=0.0),
    ):
        assert (found.value, found.low, found.high) == pytest.approx((np.mean(y), low, high))
        assert found.human is not None
        assert (found.human.low, found.human.high) == pytest.approx((low, high))
        assert found.worth == pytest.approx(5)


def test_rows_without_a_score_are_counted_and_not_used():
    whole = ppi_mean([1, 0, 1, None, None], [0.9, 0.2, 0.6, 0.5, 0.7])
    holes = ppi_mean([1, 0, 1, 1, None, None, None], [0.9, 0.2, 0.6, None, 0.5, 0.7, math.nan])
    assert (holes.value, holes.low, holes.missing) == (whole.value, whole.low, 2)


def test_degenerate_input_has_a_reason():
    few = ppi_mean([1, 0, None], [0.5, 0.5, 0.5])
    assert (few.value, few.low, few.judge) == (None, None, 0.5)
    assert few.reason == "at least 3 items with a label and a score; found 2"
    assert ppi_mean([], []).judge is None
    flat = ppi_mean([2, 2, 2, None], [0.5, 0.5, 0.5, 0.5])
    assert (flat.value, flat.low, flat.weight) == (2, None, 0)
    assert flat.reason is not None
    # A judge who gives all one mark tells nothing: the labels decide alone.
    dull = ppi_mean([1, 0, 1, None, None], [0.5] * 5)
    assert dull.weight == 0
    assert dull.value == pytest.approx(2 / 3)
    # One who scores against the people is not used either.
    assert ppi_mean([1, 0, 1, 0, None, None], [0, 1, 0, 1, 0, 1]).weight == 0


def test_mistakes_are_refused():
    with pytest.raises(UserError, match="3 labels and 2 scores"):
        ppi_mean([1, 1, 1], [1, 1])
    with pytest.raises(UserError, match="weight"):
        ppi_mean([1, 0, 1], [1, 1, 0], weight=1.5)
    with pytest.raises(UserError, match="level"):
        ppi_mean([1, 0, 1], [1, 1, 0], level=95)
    with pytest.raises(UnknownName, match="normal"):
        ppi_mean([1, 0, 1], [1, 1, 0], method="z")  # type: ignore[arg-type]


def test_it_covers_where_the_judge_is_biased_and_is_narrower_where_the_judge_follows():
    # Labels beta(4, 2), mean 2/3; scores .1 too high and a little off. 40 of 600 labelled.
    rng = np.random.default_rng(3)
    covered = worth = 0.0
    for _ in range(400):
        y = rng.beta(4, 2, 600)
        scores = y + rng.normal(0.1, 0.1, 600)
        found = ppi_mean(np.where(np.arange(600) < 40, y, np.nan), scores)
        assert found.low is not None
        assert found.high is not None
        assert found.worth is not None
        assert found.judge is not None
        covered += found.low <= 2 / 3 <= found.high
        worth += found.worth / 400
        assert found.judge > 0.73  # the judge alone is wrong, whatever his number of scores
    assert 365 <= covered <= 394  # asked 380; the binomial 99.9 %
    assert worth > 100


points = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=4, max_size=20)


@given(
    points,
    st.lists(st.integers(0, 10), min_size=2, max_size=20),
    st.integers(-5, 5),
    st.integers(2, 9),
)
def test_moves_with_the_scale_and_ignores_a_constant_bias(
    labelled: list[tuple[int, int]], others: list[int], shift: int, factor: int
):
    human = [y for y, _ in labelled] + [None] * len(others)
    judge = [f for _, f in labelled] + others
    found = ppi_mean(human, judge)
    biased = ppi_mean(human, [f + shift for f in judge])
    scaled = ppi_mean(
        [None if y is None else factor * y for y in human], [factor * f for f in judge]
    )
    assert biased.value == pytest.approx(found.value)
    assert scaled.value == pytest.approx(factor * found.value)  # type: ignore[operator]
    assert found.weight is not None
    assert 0 <= found.weight <= 1
    if found.error is not None:
        assert biased.error == pytest.approx(found.error)
        assert scaled.error == pytest.approx(factor * found.error)


def test_items_that_belong_together_tell_less():
    # Four copies of each item are as much as one: its intervals, but for divisors (t has 29 degrees in both).
    rng = np.random.default_rng(21)
    scores = rng.random(200)
    labels = np.where(np.arange(200) < 30, scores + 0.3 * rng.normal(size=200), np.nan)
    one = ppi_mean(labels, scores, weight=0.8)
    names = np.repeat(np.arange(200), 4).tolist()
    copies = ppi_mean(np.repeat(labels, 4), np.repeat(scores, 4), weight=0.8, clusters=names)
    apart = ppi_mean(np.repeat(labels, 4), np.repeat(scores, 4), weight=0.8)
    assert (copies.clusters, copies.labelled, one.clusters) == (30, 120, None)
    assert copies.value == pytest.approx(one.value)
    assert copies.error == pytest.approx(one.error, rel=0.01)
    assert one.human is not None
    assert copies.human is not None
    assert (copies.human.low, copies.human.high) == pytest.approx((one.human.low, one.human.high))
    assert one.error is not None
    assert apart.error == pytest.approx(one.error / 2, rel=0.02)
    few = ppi_mean(labels, scores, clusters=[min(place, 3) for place in range(200)])
    assert few.value is not None
    assert few.reason == "an interval needs labels of at least 5 clusters; found 4"


def test_equal_labels_of_0_or_1_have_the_interval_of_equal_values():
    found = ppi_mean([1] * 20 + [None] * 80, [0.8, 0.9] * 50)
    assert (found.value, found.weight, found.method) == (1.0, 0.0, "all equal")
    assert found.ends == there(found.human).ends == pytest.approx((0.025 ** (1 / 20), 1.0))
