"""What a sample may have missed: the limits of equal labels, against Clopper and Pearson's and against simulation."""

from __future__ import annotations

import numpy as np
import pytest

from longmark.stats.unseen import Influences, Unseen, counted_as, probability_at_most_0


def of_shares(n: int, bad: int) -> Influences:
    """Of n answers that are right or wrong, `bad` of them wrong, with an unseen wrong and an unseen right one."""
    values = np.r_[np.zeros(bad), np.ones(n - bad)]
    mean = float(values.mean())
    return Influences(
        (values - mean) / n,
        np.full(n, 1 / n),
        (Unseen(-mean / n, 1 / n, 1.0),),
        (Unseen((1 - mean) / n, 1 / n, 1.0),),
    )


@pytest.mark.parametrize(
    ("n", "bad", "low", "high"),  # SciPy 1.17: binomtest(n - bad, n).proportion_ci(0.95, "exact")
    [
        (60, 0, 0.9403705, 1.0),
        (60, 1, 0.9106009, 0.9995781),
        (20, 3, 0.6210732, 0.9679290),
        (200, 3, 0.9567918, 0.9968970),
    ],
)
def test_limits_of_shares_are_clopper_and_pearsons(n: int, bad: int, low: float, high: float):
    below, above = of_shares(n, bad).limits(0.025)
    mean = (n - bad) / n
    assert (mean + below, mean + above) == pytest.approx((low, high), abs=0.0005)


def test_a_limit_has_the_probability_that_it_was_asked_for():
    influences = of_shares(60, 4)
    for alpha in (0.2, 0.025, 1e-5):
        below, above = influences.limits(alpha)
        assert influences.below(below) == pytest.approx(alpha, rel=1e-4)
        assert influences.above(above) == pytest.approx(alpha, rel=1e-4)


def test_the_distribution_of_a_sum_of_gammas_and_a_normal_is_that_of_a_simulation():
    chance = np.random.default_rng(0)
    terms, counts = chance.normal(-0.2, 1, 30), chance.uniform(0.3, 1, 30)
    sums = (chance.gamma(counts, size=(200_000, 30)) * terms).sum(axis=1) + chance.normal(
        0, 2, 200_000
    )
    assert probability_at_most_0(terms, counts, 4.0) == pytest.approx(
        float((sums <= 0).mean()), abs=0.005
    )


def test_nothing_that_moves_has_no_distance():
    still = Influences(np.zeros(5), np.full(5, 0.2))
    assert still.limits(0.025) == (0.0, 0.0)


def test_an_unseen_answer_counts_in_full_until_five_like_it_were_seen():
    assert [counted_as(seen) for seen in (0, 1, 5, 10, 50)] == [1, 1, 1, 0.5, 0.1]
