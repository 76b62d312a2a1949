"""Tukey's p corrected over metrics."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.there import there

from longmark.stats.multiplicity import BONFERRONI, HOLM, adjust, holm_over_families
from longmark.stats.tukey import tukey

P = st.one_of(st.none(), st.floats(0, 1))


def test_by_hand():
    # in rising order: x .001 (x and y wait: 2 x .001), y .01 (2 x .01; y's last pair), x .02 (x alone: .02), x .6 (.6)
    found = holm_over_families({"x": (0.02, 0.001, 0.6), "y": (0.01, None)})
    assert found == {"x": (0.02, 0.002, 0.6), "y": (0.02, None)}


def test_a_corrected_p_never_falls_below_that_of_a_smaller_one():
    # y .030 x 2 = .060; x .031 x 1 = .031, but at least .060
    assert holm_over_families({"x": (0.031,), "y": (0.03,)}) == {"x": (0.06,), "y": (0.06,)}


@given(st.lists(P, max_size=12))
def test_with_one_pair_for_each_metric_it_is_holm(p_values):
    found = holm_over_families({str(i): (p,) for i, p in enumerate(p_values)})
    assert tuple(p for (p,) in found.values()) == adjust(p_values, HOLM).adjusted


@given(st.lists(st.lists(P, min_size=1, max_size=5), max_size=5))
def test_it_lies_between_the_p_and_bonferroni_over_the_metrics(columns):
    found = holm_over_families({str(i): column for i, column in enumerate(columns)})
    tested = sum(any(p is not None for p in column) for column in columns)
    for column, after in zip(columns, found.values(), strict=True):
        for p, q in zip(column, after, strict=True):
            assert (p is None) == (q is None)
            assert p is None or p <= q <= min(1, p * tested) or q == 1.0


def test_where_nothing_differs_something_is_found_as_seldom_as_asked():
    """Three systems, three metrics, nine comparisons: at alpha .1 any of them in a tenth of the tables (300 tables;
    binomial 99.9 % interval .05 to .16). Uncorrected over the metrics it would be 1 - .9^3 = .27."""
    random = np.random.default_rng(12)
    found = uncorrected = 0
    for i in range(300):
        p = {
            m: [there(one.p) for one in tukey(random.random((12, 3)), "abc", permutations=199, seed=10 * i + k).pairs]
            for k, m in enumerate("xyz")
        }
        found += min(there(one) for column in holm_over_families(p).values() for one in column) <= 0.1
        uncorrected += min(min(column) for column in p.values()) <= 0.1
    assert 0.05 <= found / 300 <= 0.16
    assert uncorrected / 300 > 0.2


def test_one_metric_costs_nothing_more():
    assert holm_over_families({"x": (0.01, 0.04, None)}) == {"x": (0.01, 0.04, None)}
    assert adjust((0.01, 0.04), BONFERRONI).adjusted == (0.02, 0.08)  # what a second correction over pairs would do
