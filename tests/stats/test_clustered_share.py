"""A share of answers that belong together: by hand, against the plain share, and under resampling of the world."""

from __future__ import annotations

import numpy as np
import pytest
from tests.there import counted

from longmark.errors import UserError
from longmark.stats.means import equal_interval, mean_estimate
from longmark.stats.proportion import clustered_share, share


def test_clusters_have_the_interval_of_a_mean():
    found = clustered_share([1, 1, 1, 1, 0, 0, 1, 0], "aabbccdd")
    assert (counted(found), found.n, found.value) == (5, 8, 0.625)
    assert found == mean_estimate([1, 1, 1, 1, 0, 0, 1, 0], list("aabbccdd"), (0, 1))
    every = clustered_share([1] * 12, [place // 3 for place in range(12)])
    assert every.ends == equal_interval(1, 4, 0, 1)


def test_where_no_cluster_holds_two_it_is_the_plain_share():
    assert clustered_share([1, 0, 1, None], ["a", "b", "c", "a"]) == share(2, 3)
    assert clustered_share([1, 0, 1], None) == share(2, 3)
    assert clustered_share([], []).reason == "there are no items"


def test_one_question_tells_nothing_of_others():
    found = clustered_share([1, 0, 1], ["a"] * 3)
    assert (found.value, found.low, found.reason) == (
        2 / 3,
        None,
        "all 3 values belong to one cluster",
    )
    with pytest.raises(UserError, match="1 or 0"):
        clustered_share([0.5, 1], ["a", "a"])


def test_it_covers_where_answers_hang_together():
    # Each question has its own share, .3 on average: asked .95. Of 400, 99.9 % of the binomial: 364 or more; taken as
    # independent near 290.
    rng = np.random.default_rng(3)
    names = np.repeat(np.arange(40), 8).tolist()
    covered = 0
    for _ in range(400):
        chances = rng.beta(0.6, 1.4, 40)
        found = clustered_share(
            (rng.random((40, 8)) < chances[:, None]).ravel().astype(float), names
        )
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0.3 <= found.high
    assert covered >= 364


def test_wilsons_interval_by_hand():
    # 84 of 100: z² = 3.841459; middle (.84 + .01920729) / 1.03841459 = .827422; half 1.959964 / 1.03841459 *
    # sqrt(.84 * .16 / 100 + 3.841459 / 40000) = 1.887458 * sqrt(.001344 + .0000960365) = .071625.
    found = share(84, 100)
    assert (found.value, found.low, found.high) == pytest.approx(
        (0.84, 0.755797, 0.899047), abs=1e-5
    )
    assert share(0, 10).low == 0
    assert share(10, 10).high == 1
    none = share(0, 0)
    assert (none.value, none.low, none.reason) == (None, None, "there are no items")
    with pytest.raises(UserError, match="5 of 4"):
        share(5, 4)
