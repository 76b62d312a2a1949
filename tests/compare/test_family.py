"""Tukey's p corrected over metrics."""

from hypothesis import given
from hypothesis import strategies as st

from longmark.compare.family import corrected
from longmark.stats.multiplicity import BONFERRONI, HOLM, adjust

P = st.one_of(st.none(), st.floats(0, 1))


def test_by_hand():
    # in rising order: x .001 (x and y wait: 2 x .001), y .01 (2 x .01; y's last pair), x .02 (x alone: .02), x .6 (.6)
    found = corrected({"x": (0.02, 0.001, 0.6), "y": (0.01, None)})
    assert found == {"x": (0.02, 0.002, 0.6), "y": (0.02, None)}


def test_a_corrected_p_never_falls_below_that_of_a_smaller_one():
    # y .030 x 2 = .060; x .031 x 1 = .031, but at least .060
    assert corrected({"x": (0.031,), "y": (0.03,)}) == {"x": (0.06,), "y": (0.06,)}


@given(st.lists(P, max_size=12))
def test_with_one_pair_for_each_metric_it_is_holm(p_values):
    found = corrected({str(i): (p,) for i, p in enumerate(p_values)})
    assert tuple(p for (p,) in found.values()) == adjust(p_values, HOLM).adjusted


@given(st.lists(st.lists(P, min_size=1, max_size=5), max_size=5))
def test_it_lies_between_the_p_and_bonferroni_over_the_metrics(columns):
    found = corrected({str(i): column for i, column in enumerate(columns)})
    tested = sum(any(p is not None for p in column) for column in columns)
    for column, after in zip(columns, found.values(), strict=True):
        for p, q in zip(column, after, strict=True):
            assert (p is None) == (q is None)
            assert p is None or p <= q <= min(1, p * tested) or q == 1.0


def test_one_metric_costs_nothing_more():
    assert corrected({"x": (0.01, 0.04, None)}) == {"x": (0.01, 0.04, None)}
    assert adjust((0.01, 0.04), BONFERRONI).adjusted == (0.02, 0.08)  # what a second correction over pairs would do
