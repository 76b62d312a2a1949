"""ASL curve and discriminative power: by hand, with corrections, at the border, and without any pair."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.errors import UnknownName
from longmark.stats.discriminative import discriminative_power
from longmark.stats.multiplicity import BENJAMINI_HOCHBERG, BONFERRONI, HOLM, METHODS
from longmark.stats.tukey import tukey


def test_by_hand():
    # .01, .02, .03, .2 at .05: three of four as they are. Bonferroni .04, .08, .12, .8: one. Holm .04, .06, .06, .2:
    # one. Benjamini-Hochberg .04, .04, .04, .2: three.
    p = [0.03, 0.2, 0.01, 0.02]
    assert discriminative_power(p).curve == (0.2, 0.03, 0.02, 0.01)
    assert [discriminative_power(p).share, discriminative_power(p).significant] == [0.75, 3]
    assert discriminative_power(p, correction=BONFERRONI).share == 0.25
    assert discriminative_power(p, correction=HOLM).share == 0.25
    assert discriminative_power(p, correction=BENJAMINI_HOCHBERG).share == 0.75
    assert discriminative_power(p, alpha=0.025).share == 0.5


def test_alpha_itself_does_not_count():
    # The corrections' own rule is p <= alpha; discriminative power is p < alpha.
    assert discriminative_power([0.05, 0.049]).significant == 1


def test_pairs_without_a_p_are_left_out_and_counted():
    power = discriminative_power([0.01, None, 0.3])
    assert (power.share, power.significant, power.pairs, power.untested) == (0.5, 1, 2, 1)
    assert (power.alpha, power.correction, power.reason) == (0.05, "none", None)
    assert power.curve == (0.3, 0.01)


def test_without_any_pair_there_is_a_reason():
    power = discriminative_power([None])
    assert (power.share, power.pairs, power.reason) == (None, 0, "no pair of systems was tested")
    assert discriminative_power([]).curve == ()


def test_of_a_tukey_test():
    # Rows 0, 0, 1: A and B are alike, C differs from both.
    pairs = tukey([[0.0, 0.0, 1.0]] * 8, "ABC").pairs
    power = discriminative_power([pair.p for pair in pairs])
    assert (power.significant, power.pairs) == (2, 3)
    assert power.curve[0] == 1.0


def test_an_unknown_correction_is_named():
    with pytest.raises(UnknownName, match="unknown correction: fdr"):
        discriminative_power([0.1], correction="fdr")


@given(st.lists(st.floats(0, 1), min_size=1, max_size=15), st.floats(0.01, 0.5))
def test_power_can_be_read_off_the_curve(p: list[float], alpha: float):
    curve = discriminative_power(p).curve
    assert sorted(curve, reverse=True) == list(curve)
    power = discriminative_power(p, alpha)
    assert power.significant == sum(one < alpha for one in curve)
    assert all(
        (discriminative_power(p, alpha, method).share or 0) <= (power.share or 0)
        for method in METHODS
    )
