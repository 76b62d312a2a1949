"""Corrections: a case by hand, the figures of statsmodels and SciPy, levels under the null hypothesis."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from longmark.errors import UnknownName, UserError
from longmark.stats.multiplicity import BENJAMINI_HOCHBERG, BONFERRONI, HOLM, METHODS, NONE, adjust

P = [0.0021, 0.04, 0.04, 0.3, 0.0007, 0.012, 0.049, 1.0, 0.012, 0.7, 0.0, 0.051, 0.2, 0.011, 0.0033]
# PROVENANCE: statsmodels.stats.multitest.multipletests(P, 0.05, method), statsmodels 0.15.0, rounded to 12 places.
STATSMODELS = {
    BONFERRONI: [
        0.0315,
        0.6,
        0.6,
        1.0,
        0.0105,
        0.18,
        0.735,
        1.0,
        0.18,
        1.0,
        0.0,
        0.765,
        1.0,
        0.165,
        0.0495,
    ],
    HOLM: [
        0.0273,
        0.32,
        0.32,
        0.9,
        0.0098,
        0.121,
        0.32,
        1.0,
        0.121,
        1.0,
        0.0,
        0.32,
        0.8,
        0.121,
        0.0396,
    ],
    BENJAMINI_HOCHBERG: [
        *(
            0.0105,
            0.066666666667,
            0.066666666667,
            0.346153846154,
            0.00525,
            0.025714285714,
            0.069545454545,
            1.0,
        ),
        *(0.025714285714, 0.75, 0.0, 0.069545454545, 0.25, 0.025714285714, 0.012375),
    ],
}
REJECTED = {
    BONFERRONI: {0, 4, 10, 14},
    HOLM: {0, 4, 10, 14},
    BENJAMINI_HOCHBERG: {0, 4, 5, 8, 10, 13, 14},
}

probabilities = st.lists(st.floats(0, 1), max_size=12)


def test_by_hand():
    # .01, .03, .04 (m = 3): Bonferroni .03, .09, .12; Holm 3 x .01, 2 x .03, then 1 x .04 raised to .06;
    # Benjamini-Hochberg 3 x .01 / 1, 3 x .03 / 2 = .045 lowered to 3 x .04 / 3 = .04, .04. Given in another order.
    p = [0.04, 0.01, 0.03]
    assert adjust(p, BONFERRONI).adjusted == pytest.approx((0.12, 0.03, 0.09))
    assert adjust(p, HOLM).adjusted == pytest.approx((0.06, 0.03, 0.06))
    assert adjust(p, BENJAMINI_HOCHBERG).adjusted == pytest.approx((0.04, 0.03, 0.04))
    assert adjust(p, NONE).adjusted == tuple(p)
    assert adjust(p, HOLM).significant == (False, True, False)
    assert adjust(p, HOLM, alpha=0.2).significant == (True, True, True)


@pytest.mark.parametrize("method", STATSMODELS)
def test_figures_are_those_of_statsmodels(method: str):
    adjusted = adjust(P, method)
    assert adjusted.adjusted == pytest.approx(STATSMODELS[method], abs=1e-11)
    assert {i for i, found in enumerate(adjusted.significant) if found} == REJECTED[method]


@given(probabilities)
def test_benjamini_hochberg_is_that_of_scipy(p: list[float]):
    ours = adjust(p, BENJAMINI_HOCHBERG).adjusted
    assert ours == pytest.approx(list(stats.false_discovery_control(p)) if p else [], abs=1e-12)


@given(probabilities)
def test_corrections_keep_the_order_and_each_other(p: list[float]):
    found = {method: adjust(p, method).adjusted for method in METHODS}
    for i, one in enumerate(p):
        plain, bonferroni, holm, bh = (
            found[m][i] for m in (NONE, BONFERRONI, HOLM, BENJAMINI_HOCHBERG)
        )
        assert plain is not None
        assert bonferroni is not None
        assert holm is not None
        assert bh is not None
        assert (
            one
            == plain
            <= bh * (1 + 1e-12)
            <= holm * (1 + 1e-12) ** 2
            <= bonferroni * (1 + 1e-12) ** 3
        )
        assert bonferroni <= 1
        for adjusted in found.values():
            assert all(
                (adjusted[i] or 0) <= (adjusted[j] or 0)
                for j, other in enumerate(p)
                if one <= other
            )


def test_what_was_not_tested_does_not_count():
    adjusted = adjust([0.01, None, 0.04, float("nan")], BONFERRONI)
    assert adjusted.adjusted == (0.02, None, 0.08, None)
    assert adjusted.p == (0.01, None, 0.04, None)
    assert adjusted.significant == (True, False, False, False)
    assert (adjusted.tested, adjusted.method, adjusted.alpha) == (2, "bonferroni", 0.05)
    nothing = adjust([None, None])
    assert (nothing.adjusted, nothing.tested) == ((None, None), 0)
    assert adjust([]).adjusted == ()


def test_mistakes_are_named():
    with pytest.raises(UnknownName, match=r"unknown correction: holms\. Did you mean holm"):
        adjust([0.1], "holms")
    with pytest.raises(UserError, match="alpha must be between 0 and 1"):
        adjust([0.1], alpha=5)
    with pytest.raises(UserError, match="p-values are between 0 and 1"):
        adjust([0.1, 1.2])


def test_levels_under_the_null_hypothesis():
    # 2,000 families of 8 true null hypotheses: a family with any finding has the chance 1 - .95^8 = .337 as it is, and
    # at most .05 corrected: for all three 100 ± 3.29 sqrt(2000 x .05 x .95) = 67.9 to 132.1 (Benjamini-Hochberg holds
    # .05 exactly; Bonferroni and Holm 1 - (1 - .05 / 8)^8 = .0489).
    random = np.random.default_rng(1)
    families = random.random((2_000, 8))
    found = {
        method: sum(any(adjust(p, method).significant) for p in families) for method in METHODS
    }
    assert found[NONE] > 600
    for method in (BONFERRONI, HOLM, BENJAMINI_HOCHBERG):
        assert 68 <= found[method] <= 132


def test_the_share_of_false_findings_is_held():
    # 8 of 20 hypotheses are false: Benjamini-Hochberg's expected share is .05 x 12 / 20 = .03, and it finds more than
    # Holm does. The standard error of the mean share over 1,500 families is about .002.
    random = np.random.default_rng(2)
    shares, bh, holm = [], 0, 0
    for _ in range(1_500):
        p = stats.norm.sf(random.normal(0, 1, 20) + np.where(np.arange(20) < 8, 2.5, 0))
        found = np.array(adjust(p, BENJAMINI_HOCHBERG).significant)
        shares.append(found[8:].sum() / max(1, found.sum()))
        bh += found[:8].sum()
        holm += sum(adjust(p, HOLM).significant[:8])
    assert 0.022 < np.mean(shares) < 0.038
    assert bh > holm
