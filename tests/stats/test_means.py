"""Hall's interval of a mean: cases by hand, clusters, and what holds for any sample."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.there import there

from longmark.errors import UserError
from longmark.stats.clusters import degrees_of_freedom
from longmark.stats.means import equal_interval, mean_estimate, mean_of_groups, sign_p
from longmark.stats.proportion import share
from longmark.stats.student import t_quantile


def test_without_skewness_it_is_students_t() -> None:
    # 1, 2, 3, 4: mean 2.5, squares 2.25 + 0.25 + 0.25 + 2.25 = 5, variance 5/3, standard error sqrt(5/12) = 0.645497;
    # cubes cancel, a = 0; t(3) = 3.182446, so half a width of 2.054260.
    interval = mean_estimate([1, 2, 3, 4])
    assert (interval.value, interval.n, interval.level, interval.method) == (
        2.5,
        4,
        0.95,
        "Hall's t",
    )
    assert (interval.clusters, interval.reason) == (None, None)
    assert interval.ends == pytest.approx((0.445740, 4.554260), abs=1e-6)


def test_skewed_values_by_hand() -> None:
    # 0, 0, 0, 4: mean 1, deviations -1 -1 -1 3; squares 12, cubes 24; a = 24 / 12^1.5 = 0.577350; error sqrt(12/3)/2
    # = 1; t(3) = 3.182446, a/6 = 0.096225. Lower: 1 + a (3.182446 - 0.096225) = 2.781831, cube root 1.406402, less 1,
    # times 3/a = 5.196152: 2.111726. Upper: 1 + a (-3.182446 - 0.096225) = -0.892942, cube root -0.962956: -10.199818.
    interval = mean_estimate([0, 0, 0, 4])
    assert interval.ends == pytest.approx((1 - 2.111726, 1 + 10.199818), abs=2e-5)


def test_clusters_by_hand() -> None:
    # sums 3 2 1 of 2 2 2: mean 6/6 = 1; u = 1 0 -1; squares 2, cubes 0; error sqrt(3/2 x 2) / 6; t(2) = 4.302653
    interval = mean_estimate([1, 2, 2, 0, 1, 0], clusters="aabbcc")
    assert (interval.value, interval.n, interval.clusters, interval.effective) == (1, 6, 3, 3)
    assert interval.ends == pytest.approx(
        (1 - 4.302653 * 3**0.5 / 6, 1 + 4.302653 * 3**0.5 / 6), abs=1e-6
    )
    assert interval.remark == "3.0 effective clusters are too few for a decision"


def test_clusters_of_unequal_size_by_hand() -> None:
    # sums 3 of 2, 2 of 1, 1 of 3: mean 6/6 = 1; leverages 6 x 2 / (3 x (6 - size)) = 1, 4/5, 4/3; u = 1 0.8 -8/3;
    # squares 8.751111, cubes -17.450963; error sqrt(3/2 x 8.751111) / 6 = 0.603849; a = -17.450963 / 25.887683
    d_f = degrees_of_freedom([2, 1, 3])
    interval = mean_estimate([1, 2, 2, 0, 1, 0], clusters="aabccc")
    assert (interval.effective, 1 < d_f < 2) == (d_f + 1, True)
    a, t = -0.674103, t_quantile(0.95, d_f)
    ends = [1 - 0.603849 * 3 / a * (math.cbrt(1 + a * (side * t - a / 6)) - 1) for side in (1, -1)]
    assert interval.ends == pytest.approx(ends, abs=1e-4)


@pytest.mark.parametrize("good", [0, 5, 45, 49])
def test_scores_that_are_only_0_or_1_have_wilsons_interval(good: int) -> None:
    values = [1.0] * good + [0.0] * (50 - good)
    if good:
        assert mean_estimate(values, bounds=(0, 1)).ends == share(good, 50).ends
        scaled = mean_estimate([2 + 4 * one for one in values], bounds=(2, 6)).ends
        assert scaled == pytest.approx([2 + 4 * end for end in there(share(good, 50).ends)])
    else:
        assert mean_estimate(values, bounds=(0, 1)).ends == equal_interval(0, 50, 0, 1)
    assert mean_estimate(values).method == ("Hall's t" if good else "")
    assert mean_estimate(values, [i // 2 for i in range(50)], (0, 1)).method != "Wilson"


def test_an_interval_of_few_values_is_remarked_on() -> None:
    assert (
        mean_estimate([0, 1, 1, 0, 1], bounds=(0, 1)).remark
        == "an interval of 5 values means little"
    )
    assert mean_estimate([0.1, 0.9, 0.4]).remark == "an interval of 3 values means little"
    assert (mean_estimate([0.1, 0.9] * 3).remark, mean_estimate([0.5] * 3).remark) == (None, None)
    assert mean_estimate([0.5] * 3, bounds=(0, 1)).remark


def test_interval_is_clipped_to_the_bounds() -> None:
    assert mean_estimate([1, 2, 3, 4], bounds=(1, 4)).ends == (1, 4)
    assert mean_estimate([1, 2, 3, 4], bounds=(None, 4)).ends == pytest.approx(
        (0.445740, 4), abs=1e-6
    )


def test_a_bound_that_a_value_breaks_does_not_clip() -> None:
    broken = mean_estimate([1, 2, 3, 4], bounds=(1, 2))
    assert broken.ends == (1, mean_estimate([1, 2, 3, 4]).high)
    assert mean_estimate([1, 2, 3, 4 + 1e-15], bounds=(1, 4)).ends == (1, 4)


def test_no_interval_for_fewer_than_two_clusters() -> None:
    none, one, same = (
        mean_estimate([]),
        mean_estimate([0.7]),
        mean_estimate([0.2, 0.4], "aa", (0, 1)),
    )
    assert (none.value, none.ends, none.reason) == (None, None, "there are no values")
    assert (one.value, one.ends, one.reason) == (0.7, None, "there is only 1 value")
    assert same.value == pytest.approx(0.3)
    assert (same.ends, same.clusters, same.reason) == (
        None,
        1,
        "all 2 values belong to one cluster",
    )


def test_equal_clusters_are_counted_and_not_their_values() -> None:
    assert mean_estimate([0.8] * 8, "aabbccdd", (0, 1)).ends == equal_interval(0.8, 4, 0, 1)
    alike = mean_estimate([0.0, 1.0] * 4, "aabbccdd", (0, 1))
    assert (alike.ends, alike.method) == (equal_interval(0.5, 4, 0, 1), "all equal")
    unbounded = mean_estimate([0.0, 1.0] * 4, "aabbccdd")
    assert unbounded.reason == "all means of 4 clusters are equal, and the metric has no bounds"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_not_averaged(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        mean_estimate([0.5, value])
    with pytest.raises(UserError, match="between 0 and 1"):
        mean_estimate([1, 2], level=95)


@pytest.mark.parametrize("values", [[1.7e308, 1.7e308, 1e308], [1.7e308, -1.7e308, 1e308]])
def test_values_that_no_float_can_average_have_no_interval(values: list[float]) -> None:
    found = mean_estimate(values)
    assert (found.ends, found.reason) == (None, "the values are too large to be averaged")


_VALUES = st.lists(st.floats(-1e3, 1e3, allow_subnormal=False), min_size=2, max_size=30)


@given(_VALUES, st.randoms(use_true_random=False))
def test_neither_order_nor_repetition_within_clusters_changes_a_figure(
    values: list[float], chance: random.Random
) -> None:
    plain = mean_estimate(values, bounds=(-1e3, 1e3))
    rows = [(value, i) for i, value in enumerate(values) for _ in range(4)]
    chance.shuffle(rows)
    four = mean_estimate([value for value, _ in rows], [i for _, i in rows], bounds=(-1e3, 1e3))
    assert (four.value, four.ends, four.method) == (plain.value, plain.ends, plain.method)
    assert (four.n, four.clusters, plain.clusters) == (4 * plain.n, plain.n, None)
    assert mean_of_groups([[value] for value in reversed(values)], (-1e3, 1e3)) == plain


@given(_VALUES, st.floats(0.5, 0.999))
def test_the_interval_holds_the_mean_and_follows_reflection(
    values: list[float], level: float
) -> None:
    interval, turned = (
        mean_estimate(values, level=level),
        mean_estimate([-value for value in values], level=level),
    )
    if interval.ends:
        low, high = interval.ends
        assert low < there(interval.value) < high
        assert turned.ends == (-high, -low)


def test_equal_values_by_hand() -> None:
    # s = 1 - .025^(1/2) = 0.841886: 1 - s of the way from the top to the bottom
    assert equal_interval(1.0, 2, 0.0, 1.0) == pytest.approx((0.158114, 1.0), abs=1e-6)
    # level .9: s = 1 - .05^(1/2) = .776393; 3 - s x 2 = 1.447214, 3 + s x 2 = 4.552786
    assert equal_interval(3.0, 2, 1.0, 5.0, level=0.9) == pytest.approx(
        (1.447214, 4.552786), abs=1e-6
    )


@given(st.floats(0, 1), st.integers(1, 400))
def test_it_holds_the_worst_mean_that_could_have_been_missed(value: float, n: int) -> None:
    """A population in which a share of others hides from n draws with more than 2.5 % has its mean inside."""
    low, high = equal_interval(value, n, 0.0, 1.0)
    assert 0 <= low <= value <= high <= 1
    hidden = (1 - 0.026 ** (1 / n)) * 0.999999
    assert low <= value - hidden * value + 1e-12
    assert high >= value + hidden * (1 - value) - 1e-12


@pytest.mark.parametrize(("value", "n", "level"), [(1.1, 3, 0.95), (0.5, 0, 0.95), (0.5, 3, 1.0)])
def test_what_makes_no_sense_is_refused(value: float, n: int, level: float) -> None:
    with pytest.raises(UserError):
        equal_interval(value, n, 0.0, 1.0, level)


@pytest.mark.parametrize(
    ("k", "excluded"), [(1, False), (2, False), (5, False), (6, True), (9, True)]
)
@pytest.mark.parametrize("n", [40, 400])
def test_few_values_above_equal_ones_exclude_them_from_six_on(
    k: int, n: int, excluded: bool
) -> None:
    # as likely all below: p = 2 / 2^k, .0625 for five and .03125 for six
    found = mean_estimate([1.0] * k + [0.0] * (n - k), bounds=(-1, 1))
    low, high = there(found.ends)
    assert (low > 0, high > k / n) == (excluded, True)
    if 1 < k < 6:
        assert (
            found.remark
            == f"extended to hold 0: {k} of {n} values differ from it, by signs p = {2 / 2**k:.2g}"
        )
    turned = mean_estimate([-1.0] * k + [0.0] * (n - k), bounds=(-1, 1))
    assert turned.ends == (-high, -low)
    # ties count half in a share of questions won: 2 of 40 won, 38 ties is no share above .5
    share_won = there(mean_estimate([1.0] * k + [0.5] * (n - k), bounds=(0, 1)).ends)
    assert (share_won[0] > 0.5) == excluded


def test_the_level_decides_how_many_signs_are_needed() -> None:
    five, values = mean_estimate([1.0] * 5 + [0.0] * 35, level=0.9), [1.0] * 9 + [0.0] * 31
    assert there(five.ends)[0] > 0  # p = .0625
    # with 100 pairs of systems at .05 together 2 / 2^k is at most .0005 from twelve on
    assert there(mean_estimate(values, level=1 - 0.05 / 100).ends)[0] == 0
    assert there(mean_estimate([*values, *[1.0] * 3], level=1 - 0.05 / 100).ends)[0] > 0


def test_sizes_count_as_well_as_signs() -> None:
    # seven up by 1 and one down by 1: of 256 ways 18 are as far from 0, p = .0703; down by .1: 2 x 2 / 256
    ties = [0.0] * 32
    assert sign_p([*[1.0] * 7, -1.0]) == pytest.approx(18 / 256)
    assert sign_p([*[1.0] * 7, -0.1]) == pytest.approx(4 / 256)
    assert sign_p([]) == 1
    assert there(mean_estimate([*[1.0] * 7, -1.0, *ties]).ends)[0] == 0
    assert there(mean_estimate([*[1.0] * 7, -0.1, *ties]).ends)[0] > 0


def test_clusters_have_one_sign_each() -> None:
    # twelve values above 0, in three clusters of twenty: p = .25; in twelve clusters they show it
    three = mean_estimate([0.5] * 12 + [0.0] * 68, [i // 4 for i in range(80)], (-1, 1))
    twelve = mean_estimate([0.5] * 12 + [0.0] * 68, [i % 40 for i in range(80)], (-1, 1))
    assert (there(three.ends)[0], three.remark) == (
        0,
        "extended to hold 0: 3 of 20 clusters differ from it, by signs p = 0.25",
    )
    assert there(twelve.ends)[0] > 0


def test_a_null_that_is_named_needs_no_ties_and_a_bound_needs_no_signs() -> None:
    five = [0.30, 0.33, 0.31, 0.29, 0.32]
    assert there(mean_estimate(five).ends)[0] > 0
    assert there(mean_estimate(five, null=0).ends)[0] == 0
    assert there(mean_estimate([*five, 0.3], null=0).ends)[0] > 0
    # scores cannot lie above their bound, so two below it show that the mean is
    scores = [0.5, 0.5, *[1.0] * 38]
    assert there(mean_estimate(scores, bounds=(0, 1)).ends)[1] < 1
    assert there(mean_estimate(scores).ends)[1] == 1


def test_spread_values_keep_their_interval() -> None:
    values = [i % 7 / 7 for i in range(35)]
    assert mean_estimate(values).remark is None
    assert mean_estimate(values) == mean_estimate(values, null=-1)
