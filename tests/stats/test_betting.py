"""Confidence sequences: bets worked by hand, the sequences of another package, and that they hold at every value."""

from __future__ import annotations

import math

import numpy as np
import pytest

from longmark.errors import UserError
from longmark.stats.betting import confidence_sequence, log_capital, plug_in_bets, units_needed

SERIES = np.array([place * 37 % 101 / 100 for place in range(1, 101)])


def test_bets_by_hand():
    sums, counts = np.array([1.0, 0.0]), np.ones(2)
    bets = plug_in_bets(sums, counts, 0.05)
    # the first is for the variance 1/4; then the mean is (1/2 + 1) / 2, the variance (1/4 + (1 - 3/4)²) / 2
    assert bets[0] == pytest.approx(math.sqrt(2 * math.log(40) / (0.25 * math.log(2))))
    assert bets[1] == pytest.approx(
        math.sqrt(2 * math.log(40) / ((0.25 + 0.0625) / 2 * 2 * math.log(3)))
    )
    # at m = 1/2 both are cut, at 1 and 1.8: 1 + 1 / 2 and 1 + 1.8 / 2, then 1 - 1 / 2 and 1 - 1.8 / 2 of that
    capital = np.exp(log_capital(sums, counts, bets, 0.5))
    assert capital == pytest.approx([(1.5 + 1.9) / 2, (1.5 * 0.5 + 1.9 * 0.1) / 2])


@pytest.mark.parametrize(
    ("n", "low", "high"), [(5, 0.12985, 0.865), (20, 0.31375, 0.6817), (100, 0.42065, 0.5883)]
)
def test_one_half_of_the_capital_alone_is_the_sequence_of_confseq(n: int, low: float, high: float):
    """`confseq.betting.hedged_cs(SERIES, alpha=.05, breaks=20000)` of confseq 0.0.11; its grid has steps of .00005."""
    found = confidence_sequence(SERIES[:n], (0, 1), level=0.95, cuts=(0.5,))
    assert found.ends == pytest.approx((low, high), abs=6e-5)


def test_it_is_in_the_units_of_the_values_and_narrows_only():
    shares, points = (
        confidence_sequence(SERIES * scale, (0, scale), level=0.9) for scale in (1, 50)
    )
    assert shares.ends is not None
    assert points.ends == pytest.approx([50 * end for end in shares.ends])
    before = (0.0, 1.0)
    for n in range(0, 101, 10):
        low, high = confidence_sequence(SERIES[:n], (0, 1), level=0.95).ends or (0, 0)
        assert before[0] <= low < high <= before[1]
        before = low, high


def test_clusters_count_as_one_and_their_mean_is_that_of_their_values():
    alone = confidence_sequence(SERIES, (0, 1), level=0.95)
    units = np.arange(100)
    assert confidence_sequence(SERIES, (0, 1), level=0.95, units=units).ends == alone.ends
    twice = confidence_sequence(np.repeat(SERIES, 2), (0, 1), level=0.95, units=np.repeat(units, 2))
    assert (twice.n, twice.clusters) == (200, 100)
    assert twice.ends == pytest.approx(alone.ends), "values that a cluster repeats say nothing new"
    # a cluster of 1 and 0, and one of a single 1: s = 1/2 and 1/2, k = 1 and 1/2, so s - k / 2 is 0 and 1/4
    capital = np.exp(log_capital(np.array([0.5, 0.5]), np.array([1.0, 0.5]), np.full(2, 9.0), 0.5))
    assert capital == pytest.approx([1.0, (1 + 0.25 + 1 + 1.8 * 0.25) / 2])
    uneven = confidence_sequence(
        np.array([1.0, 0.0, 1.0]), (0, 1), level=0.95, units=np.array([0, 0, 1]), largest=2
    )
    assert uneven.value == pytest.approx(2 / 3)


def held(clustered: bool) -> float:
    """The share of 400 sequences of 300 values that hold the mean .1 all the time: rare ones, the hardest."""
    chance, kept = np.random.default_rng(4), 0
    for _ in range(400):
        sizes = chance.integers(1, 5, 100) if clustered else np.ones(300)
        counts = sizes / sizes.max()
        sums = np.where(chance.random(len(sizes)) < 0.1, counts, 0.0)
        sides = ((sums, 0.1), (counts - sums, 0.9))
        most = [log_capital(s, counts, plug_in_bets(s, counts, 0.1), m).max() for s, m in sides]
        kept += max(most) < math.log(2 / 0.1)
    return kept / 400


def test_nine_in_ten_hold_at_every_value():
    for clustered in (False, True):
        assert held(clustered) >= 0.9 - 3 * math.sqrt(0.09 / 400)


def test_what_has_no_sequence_is_refused():
    with pytest.raises(UserError, match="least and the greatest value"):
        confidence_sequence(SERIES, (None, 1), level=0.95)
    with pytest.raises(UserError, match=r"values from 0.03 to 1.2: expected 0 to 1"):
        confidence_sequence(np.array([0.03, 1.2]), (0, 1), level=0.95)
    rounded = confidence_sequence(np.array([1 + 1e-15]), (0, 1), level=0.95)
    assert rounded.ends is not None
    nothing = confidence_sequence(np.zeros(0), (0, 1), level=0.95)
    assert (nothing.value, nothing.ends) == (None, (0.0, 1.0))


@pytest.mark.parametrize("sizes", [[1] * 300, [4] * 300, [1, 2, 4, 16] * 75])
@pytest.mark.parametrize(("value", "mean"), [(0.55, 0.5), (0.5, 0.45), (0.5, 0.55)])
def test_the_units_that_are_needed_are_those_after_which_the_sequence_excludes_the_mean(
    sizes: list[int], value: float, mean: float
):
    units = units_needed(sizes, value, mean, level=0.95)
    assert units is not None
    for number, excluded in ((units - 1, False), (units, True)):
        of = np.repeat(np.arange(number), sizes[:number])
        found = confidence_sequence(
            np.full(len(of), value), (0, 1), level=0.95, units=of, largest=max(sizes)
        )
        assert found.low is not None
        assert found.high is not None
        assert (not found.low <= mean <= found.high) is excluded
    assert units_needed(sizes[: units - 1], value, mean, level=0.95, largest=max(sizes)) is None


def test_unequal_clusters_take_more_units_than_equal_ones():
    equal, unequal = (
        units_needed(sizes * 200, 0.55, 0.5, level=0.95) for sizes in ([4] * 4, [1, 2, 4, 16])
    )
    assert equal is not None
    assert unequal is not None
    assert unequal > 2 * equal
