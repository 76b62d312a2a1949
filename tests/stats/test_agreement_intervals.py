"""Intervals of agreement beside the slow form: every resample and leave-one-out by the definition, pair by pair."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.stats.resampled import bootstrap

from longmark.stats.agreement import (
    Agreement,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
)

Item = list[int]
SIZE = 4
"""Categories: 0, 1, 2 and 3."""
MEASURES: dict[str, Callable[..., Agreement]] = {
    "percentage": percent_agreement,
    "Fleiss": fleiss_kappa,
    "AC1": lambda rows, **how: gwet_ac1(rows, categories=range(SIZE), **how),
    "Cohen": cohen_kappa,
    "Cohen, linear": lambda rows, **how: cohen_kappa(
        rows, weights="linear", categories=range(SIZE), **how
    ),
    "Cohen, quadratic": lambda rows, **how: cohen_kappa(
        rows, weights="quadratic", categories=range(SIZE), **how
    ),
    "alpha, nominal": krippendorff_alpha,
    "alpha, ordinal": lambda rows, **how: krippendorff_alpha(rows, "ordinal", **how),
    "alpha, interval": lambda rows, **how: krippendorff_alpha(rows, "interval", **how),
}


def kept(rows: Sequence[Sequence[int | None]], measure: str) -> tuple[list[Item], list[int]]:
    """The ratings of the items that the coefficient takes, and their places."""
    least = {"F": len(rows[0]), "C": 2, "A": 1}.get(measure[0], 2)
    items = [[label for label in row if label is not None] for row in rows]
    places = [place for place, item in enumerate(items) if len(item) >= least]
    return [items[place] for place in places], places


def by_definition(items: list[Item], measure: str) -> float:
    """NaN where it is not defined."""
    if measure.startswith("alpha"):
        return alpha(items, measure.split()[1])
    if measure.startswith("Cohen"):
        distance: Callable[[Any], Any] = {"r": np.abs, "c": np.square}.get(
            measure[-1], lambda d: d != 0
        )
        first, second = np.array(items).T
        by_chance = distance(first[:, None] - second[None, :]).mean()
        return float(1 - distance(first - second).mean() / by_chance) if by_chance else math.nan
    several = [item for item in items if len(item) > 1]
    if not several:
        return math.nan
    equal = [
        (np.equal.outer(item, item).sum() - len(item)) / (len(item) * (len(item) - 1))
        for item in several
    ]
    if measure == "percentage":
        return float(np.mean(equal))
    shares = np.mean([np.bincount(item, minlength=SIZE) / len(item) for item in items], axis=0)
    chance = (shares * (1 - shares)).sum() / (SIZE - 1) if measure == "AC1" else (shares**2).sum()
    return float((np.mean(equal) - chance) / (1 - chance)) if chance < 1 else math.nan


def alpha(items: list[Item], scale: str) -> float:
    pooled = np.sort(np.concatenate(items))
    below, upto = (np.searchsorted(pooled, np.arange(SIZE), side) for side in ("left", "right"))
    places = (below + upto) / 2 if scale == "ordinal" else np.arange(SIZE)

    def apart(labels: Any) -> float:
        differences = np.subtract.outer(places[labels], places[labels])
        return float(((differences != 0) if scale == "nominal" else differences**2).sum())

    by_chance = apart(pooled) / (len(pooled) - 1)
    return (
        1 - sum(apart(item) / (len(item) - 1) for item in items) / by_chance
        if by_chance
        else math.nan
    )


rated = st.one_of(st.none(), st.integers(0, SIZE - 1))
tables = st.integers(2, 4).flatmap(
    lambda raters: st.lists(st.tuples(*[rated] * raters), min_size=3, max_size=9)
)


@pytest.mark.parametrize("measure", MEASURES)
@settings(max_examples=25)
@given(rows=tables, grouped=st.booleans())
@example(rows=[(1, 1)] * 5, grouped=False)  # constant
@example(rows=[(1, 1)] * 5 + [(2, 3)], grouped=False)  # constant without one of them
@example(rows=[(1, 1), (1, 1), (0, 2), (1, 1), (1, 1)], grouped=True)
@example(  # without any cluster the same but for rounding, and near 0
    rows=[
        *[(None,) * 4] * 2,
        (None, None, 1, 3),
        (None, 0, 0, 2),
        *[(None,) * 4] * 3,
        (None, None, 1, 1),
        (0, 1, 1, 1),
    ],
    grouped=True,
)
def test_they_are_those_of_the_slow_form(
    measure: str, rows: list[tuple[int | None, ...]], grouped: bool
):
    rows = [row[:2] for row in rows] if measure.startswith("Cohen") else rows
    items, places = kept(rows, measure)
    clusters: list[Hashable] | None = (
        [place // 2 for place in range(len(rows))] if grouped else None
    )

    def statistic(index: Any) -> float:
        return by_definition([items[place] for place in index], measure)

    of = None if clusters is None else [clusters[place] for place in places]
    slow = bootstrap([np.arange(len(items))], statistic, clusters=of, resamples=60, seed=5)
    found = MEASURES[measure](rows, clusters=clusters, resamples=60, seed=5)
    if len(items) < 3:
        assert (found.value, found.low) == (None, None)
        return
    numbers = (slow.value, slow.low, slow.high)
    expected = [
        None if number is None else pytest.approx(number, rel=1e-12, abs=1e-12)
        for number in numbers
    ]
    assert [found.value, found.low, found.high] == expected
    assert found.undefined == slow.undefined
    if slow.value is not None:
        assert found.reason == slow.reason


@pytest.mark.parametrize("measure", MEASURES)
def test_time_does_not_grow_with_the_square_of_the_items(measure: str):
    # 40,000 items: a square of them is 1.6e9 numbers, which take more than ten seconds to write.
    random = np.random.default_rng(3)
    truth = random.integers(0, SIZE, (40_000, 1))
    rows = np.where(random.random((40_000, 2)) < 0.7, truth, random.integers(0, SIZE, (40_000, 2)))
    began = time.process_time()
    assert MEASURES[measure](rows, resamples=20).low is not None
    assert time.process_time() - began < 5


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
def test_a_large_cluster_that_alone_differs_leaves_nothing_to_compare(scale: Any):
    # Without the third cluster all ratings are the same, and rounding is no disagreement.
    rows = [(7, 7)] * 6_000 + [(3, 3), (3, 7)] * 1_500
    found = krippendorff_alpha(
        rows, scale, clusters=[place // 3_000 for place in range(9_000)], resamples=200
    )
    assert found.value is not None
    assert found.low is None
    assert found.undefined == pytest.approx(200 * (2 / 3) ** 3, abs=25)
