"""Population statistics, bounds and ties: by hand, against SciPy, and what holds for any scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.errors import UserError
from longmark.stats.describe import at_bounds, describe, ties_between, ties_within

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "goldens" / "stats_oracles.json").read_text(encoding="utf-8")
)


def test_description_by_hand():
    # 1 2 4 8 (and one that lacks): mean 3.75; product 64, fourth root 2.828427; quartiles at places .75, 1.5, 2.25:
    # 1.75, 3, 5; midhinge 3.375, IQR 3.25. Deviations -2.75 -1.75 .25 4.25: squares 7.5625 + 3.0625 + .0625 + 18.0625
    # = 28.75, variance 7.1875; cubes -20.796875 - 5.359375 + .015625 + 76.765625 = 50.625, /4 = 12.65625, skewness
    # 12.65625 / 7.1875^1.5 = .656803; fourth powers 57.191406 + 9.378906 + .003906 + 326.253906 = 392.828125, /4 /
    # 51.660156 = 1.901011, less 3.
    found = describe([1, 2, None, 4, 8])
    assert (found.n, found.missing, found.reasons) == (4, 1, ())
    assert found.mean == 3.75
    assert found.geometric_mean == pytest.approx(64**0.25)
    assert (found.median, found.midhinge, found.iqr) == (3, 3.375, 3.25)
    assert (found.minimum, found.maximum, found.range) == (1, 8, 7)
    assert found.variance == pytest.approx(7.1875)
    assert found.skewness == pytest.approx(0.656803, abs=1e-5)
    assert found.kurtosis == pytest.approx(1.901011 - 3, abs=1e-5)


@pytest.mark.parametrize("case", GOLDEN["correlation"])
def test_shape_is_that_of_scipy(case: dict[str, list[float]]):
    found = describe(case["y"])
    assert found.skewness == pytest.approx(case["skewness"], rel=1e-10)
    assert found.kurtosis == pytest.approx(case["kurtosis"], rel=1e-10)
    assert found.iqr == pytest.approx(case["iqr"], rel=1e-12)
    assert describe(np.array(case["y"]) + 1).geometric_mean == pytest.approx(
        case["gmean"], rel=1e-12
    )


def test_what_scores_do_not_have_is_none_with_a_reason():
    assert describe([0, 0.5, 1]).geometric_mean == 0  # CCRS, table 14
    negative = describe([-1, 0.5, 1])
    assert negative.geometric_mean is None
    assert negative.reasons == (("geometric_mean", "a score is negative"),)
    equal = describe([0.7, 0.7, 0.7])
    assert equal.mean == pytest.approx(0.7)
    assert (equal.iqr, equal.skewness, equal.kurtosis) == (0, None, None)
    assert equal.reasons == (
        ("skewness", "all values are equal"),
        ("kurtosis", "all values are equal"),
    )
    assert dict(describe([1, 2]).reasons) == {
        "skewness": "fewer than 3 values",
        "kurtosis": "fewer than 3 values",
    }
    empty = describe([None, None])
    assert (empty.n, empty.missing, empty.mean, empty.maximum) == (0, 2, None, None)
    assert empty.reasons == (("all", "there is no value"),)


def test_bounds_are_counted():
    found = at_bounds([0, 1e-12, 0.5, 1, 1, 1, None, 1.2])
    assert (found.at_low, found.at_high, found.outside, found.n, found.missing) == (2, 3, 1, 7, 1)
    assert found.share_low == pytest.approx(2 / 7)
    # PROVENANCE: CCRS, table 5: system A's contextual coherence, 186 of 4,719 at 0 (3.9 %) and 779 at 1 (16.5 %).
    table = at_bounds([0.0] * 186 + [1.0] * 779 + [0.9] * (4719 - 186 - 779))
    assert (table.at_low, table.at_high) == (186, 779)
    assert f"{table.share_low:.1%} {table.share_high:.1%}" == "3.9% 16.5%"
    assert at_bounds([], -1, 1).share_low is None
    with pytest.raises(UserError, match="below"):
        at_bounds([1], 1, 0)


def test_ties_within_a_system_by_hand():
    # 1 1 1 .5 .5 0: (3*2 + 2*1 + 0) / (6*5) = 8/30.
    found = ties_within([1, 1, 1, 0.5, 0.5, 0, None])
    assert found.probability == pytest.approx(8 / 30)
    assert (found.equal, found.pairs, found.n, found.missing) == (4, 15, 6, 1)
    assert ties_within([0.3, 0.1 + 0.2]).probability == 1
    assert ties_within([0.0, -0.0]).probability == 1
    assert ties_within([1]).reason == "there are no two responses to compare"


def test_ties_between_systems_by_hand():
    # a: 1 1 0; b: 1 0; c: .5. a-b: 2*1 + 1*1 = 3 of 6; a-c 0 of 3; b-c 0 of 2: 3 of 11.
    found = ties_between({"a": [1, 1, 0], "b": [1, 0, None], "c": [0.5]})
    assert (found.equal, found.pairs, found.n, found.missing) == (3, 11, 6, 1)
    assert found.probability == pytest.approx(3 / 11)
    assert ties_between({"a": [1, 2]}).probability is None


scores = st.lists(st.integers(0, 8).map(lambda v: v / 8), min_size=2, max_size=40)


@given(scores)
def test_ties_are_those_of_counting_every_pair(x: list[float]):
    n = len(x)
    equal = sum(x[i] == x[j] for i in range(n) for j in range(i))
    assert ties_within(x).equal == equal
    assert ties_within(x).pairs == n * (n - 1) // 2
    halves = {"first": x[: n // 2], "second": x[n // 2 :]}
    assert ties_between(halves).equal == sum(
        a == b for a in halves["first"] for b in halves["second"]
    )


@given(scores, st.randoms())
def test_description_is_blind_to_order_and_moves_with_the_scale(x: list[float], random: Any):
    shuffled = list(x)
    random.shuffle(shuffled)
    found, other = describe(x), describe([100 * v for v in shuffled])
    assert other.mean == pytest.approx(100 * found.mean)  # type: ignore[operator]
    assert other.variance == pytest.approx(1e4 * found.variance)  # type: ignore[operator]
    assert (other.skewness is None) == (found.skewness is None)
    if found.skewness is not None and found.kurtosis is not None:
        assert other.skewness == pytest.approx(found.skewness, abs=1e-9)
        assert found.kurtosis >= found.skewness**2 - 2 - 1e-9  # holds for every distribution
    assert None not in (found.geometric_mean, found.mean, found.minimum)
    assert found.minimum <= found.geometric_mean + 1e-12  # type: ignore[operator]
    assert found.geometric_mean <= found.mean + 1e-12  # type: ignore[operator]
