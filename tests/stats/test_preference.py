"""Three-way preferences with and without ties, and order bias: by hand and on a published judge."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.errors import UserError
from longmark.stats.agreement import cohen_kappa
from longmark.stats.preference import order_bias, preference_agreement
from longmark.stats.proportion import share

DATA = Path(__file__).parents[3] / "shared" / "data" / "llmbar" / "Natural_ChatGPT-0301_Vanilla_result.json"


def test_with_and_without_ties_by_hand():
    # right, tie = tie, tie for b, a for tie, wrong, tie for a; the seventh lacks. All: 2 of 6; where people decided: 1
    # of 4 (a tie is wrong there); where both decided: 1 of 2.
    people = ["a", "tie", "b", "tie", "a", "a", None]
    metric = ["a", "tie", "tie", "a", "b", "tie", "b"]
    found = preference_agreement(people, metric)
    assert (found.all.count, found.all.n) == (2, 6)
    assert (found.without_ties.count, found.without_ties.n) == (1, 4)
    assert (found.both_decided.count, found.both_decided.n) == (1, 2)
    assert (found.reference_ties.count, found.other_ties.count) == (2, 3)
    assert (found.n, found.missing) == (6, 1)


def test_wilsons_interval_by_hand():
    # 84 of 100: z² = 3.841459; middle (.84 + .01920729) / 1.03841459 = .827422; half 1.959964 / 1.03841459 *
    # sqrt(.84 * .16 / 100 + 3.841459 / 40000) = 1.887458 * sqrt(.001344 + .0000960365) = .071625.
    found = share(84, 100)
    assert (found.value, found.low, found.high) == pytest.approx((0.84, 0.755797, 0.899047), abs=1e-5)
    assert share(0, 10).low == 0
    assert share(10, 10).high == 1
    none = share(0, 0)
    assert (none.value, none.low, none.reason) == (None, None, "there is nothing to take a share of")
    with pytest.raises(UserError, match="5 of 4"):
        share(5, 4)


def test_order_bias_by_hand():
    # reference a a b tie; as given a b b tie; swapped a a a a. Right 3 and 2; both 1; equal 1. Shown first: 1 as given
    # (a), 0 swapped (b), of 3 + 4 decided.
    found = order_bias(["a", "a", "b", "tie"], ["a", "b", "b", "tie"], ["a", "a", "a", "a"])
    assert [one.count for one in (found.right_first, found.right_swapped, found.both_right, found.equal)] == [
        3,
        2,
        1,
        1,
    ]
    assert (found.shown_first.count, found.shown_first.n) == (1, 7)


@pytest.mark.skipif(not DATA.exists(), reason="the shared data are not here: shared/data/llmbar")
def test_published_order_bias_of_a_judge():
    # PROVENANCE: LLMBar's statistics of this file: right 84 and 84 of 100, both 73, equal 78, kappa between orders
    # .5543.
    rows = json.loads(DATA.read_text(encoding="utf-8"))
    labels = {"1": "a", "2": "b"}
    people = [labels[str(row["label"])] for row in rows]
    orders = [[labels[row["results"][0][f"swap = {swap}"]["winner"]] for row in rows] for swap in (False, True)]
    found = order_bias(people, *orders)
    assert [one.count for one in (found.right_first, found.right_swapped, found.both_right, found.equal)] == [
        84,
        84,
        73,
        78,
    ]
    assert found.n == 100
    kappa = cohen_kappa(list(zip(*orders, strict=True)), resamples=50)
    assert kappa.value == pytest.approx(0.5542949756888169, abs=1e-12)


def test_mistakes_are_refused():
    with pytest.raises(UserError, match="a preference is a, b or tie; found 'A'"):
        preference_agreement(["A"], ["a"])
    with pytest.raises(UserError, match="position"):
        preference_agreement(["a"], ["a", "b"])
    assert preference_agreement([], []).all.value is None


labels = st.lists(st.sampled_from(["a", "b", "tie"]), min_size=1, max_size=30)


@given(labels, st.data())
def test_shares_hold_together(people: list[str], data: st.DataObject):
    metric = data.draw(st.lists(st.sampled_from(["a", "b", "tie"]), min_size=len(people), max_size=len(people)))
    found = preference_agreement(people, metric)
    swap = {"a": "b", "b": "a", "tie": "tie"}
    mirrored = preference_agreement([swap[x] for x in people], [swap[x] for x in metric])
    assert mirrored == found
    assert found.both_decided.count == found.without_ties.count <= found.all.count
    for one in (found.all, found.without_ties, found.both_decided):
        if one.value is not None and one.low is not None and one.high is not None:
            assert 0 <= one.low <= one.value + 1e-12
            assert one.value <= one.high + 1e-12 <= 1 + 2e-12
            assert not math.isclose(one.low, one.high)
