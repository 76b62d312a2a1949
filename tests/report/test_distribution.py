import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.report.distribution import bin_edges, distribution, offsets, scale
from longmark.report.format import tick_texts
from longmark.scores.manifest import MetricFacts

UNIT = MetricFacts(0, 1, True)
FREE = MetricFacts()


def spread(values, facts=UNIT):
    values = sorted(values)
    edges = bin_edges(facts, values[0], values[-1])
    return distribution("first", values, statistics.fmean(values), edges)


def test_a_value_on_an_edge_counts_in_the_bin_above_it_and_the_last_bin_is_closed():
    # 0.3 / 0.1 is 2.9999999999999996 in floating point: dividing would put 0.3 one bin too low
    counts = spread([0, 0.1, 0.3, 0.6, 0.7, 0.99, 1.0]).counts
    assert counts == (1, 1, 0, 1, 0, 0, 1, 1, 0, 2)


def test_edges_are_the_bounds_or_round_numbers():
    assert bin_edges(MetricFacts(-1, 1), 0, 0.5)[::5] == (-1, 0, 1)
    # a range of 60: steps of 60 / 12 = 5 need 13 bins for 31 to 91, so the step is 10
    assert bin_edges(FREE, 31, 91) == (30, 40, 50, 60, 70, 80, 90, 100)
    assert tick_texts(bin_edges(FREE, 0.11, 0.19)) == [
        "0.11",
        "0.12",
        "0.13",
        "0.14",
        "0.15",
        "0.16",
        "0.17",
        "0.18",
        "0.19",
        "0.20",
    ]


def test_edges_hold_values_whose_difference_is_beyond_a_float():
    edges = bin_edges(MetricFacts(), -1e308, 1e308)
    assert edges[0] <= -1e308 < 1e308 <= edges[-1]


def test_a_value_outside_the_declared_bounds_is_still_counted():
    assert sum(spread([0.2, 1.4]).counts) == 2


def test_points_are_kept_for_few_values_only():
    assert spread([0.5] * 20).points == (0.5,) * 20
    assert spread([0.5] * 21).points == ()


@given(
    st.lists(
        st.floats(-1e5, 1e5).filter(lambda x: x == 0 or abs(x) > 1e-5), min_size=2, max_size=60
    )
)
def test_quartiles_agree_with_the_standard_library_and_no_value_is_lost(values):
    found = spread(values, FREE)
    assert [found.q1, found.median, found.q3] == pytest.approx(
        statistics.quantiles(values, n=4, method="inclusive"), rel=1e-9, abs=1e-9
    )
    assert (found.least, found.greatest) == (min(values), max(values))
    assert sum(found.counts) == found.n == len(values)
    assert 5 <= len(found.counts) <= 12
    assert found.edges[0] <= found.least
    assert found.greatest <= found.edges[-1]


def test_places_are_within_the_axis_and_equal_points_stand_apart():
    at = scale((0, 2), 14, 286)
    assert [at(score) for score in (-1, 0, 1, 2, 9)] == [14, 14, 150, 286, 286]
    assert offsets([0.2, 0.4, 0.4, 0.4]) == [(0.2, 0), (0.4, 0), (0.4, 4), (0.4, -4)]
    assert max(height for _, height in offsets([1.0] * 20)) == 12
