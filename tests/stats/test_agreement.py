"""Coefficients of agreement: published examples, by hand, four libraries, and what holds for any ratings."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmark.errors import UnknownName, UserError
from longmark.stats.agreement import (
    Agreement,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
)

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "goldens" / "stats_oracles.json").read_text(encoding="utf-8")
)
DATA = Path(__file__).parents[3] / "shared" / "data" / "wildfiregpt" / "labels.csv"
LLMBAR = DATA.parents[1] / "llmbar" / "Natural_ChatGPT-0301_Vanilla_result.json"
FEW = 50  # resamples where a test is not about the interval

__: int | None = None
# PROVENANCE: Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), example C: four observers, twelve units.
KRIPPENDORFF = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, __, __, __),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, __, 3),
    (__, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, __),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, __),
)
# PROVENANCE: Fleiss, Measuring nominal scale agreement among many raters (1971), table 1: 30 patients, six raters each,
# counts of depression, personality disorder, schizophrenia, neurosis, other; kappa .430.
FLEISS = """
00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""


def test_krippendorffs_published_example():
    units = list(zip(*KRIPPENDORFF, strict=True))
    for scale, published in (("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)):
        found = krippendorff_alpha(units, scale, resamples=FEW)  # type: ignore[arg-type]
        assert found.value == pytest.approx(published, abs=0.0005)
        assert (found.n, found.missing, found.absent, found.raters) == (
            11,
            1,
            7,
            4,
        )  # unit 12 has one rating
        assert (found.scale, found.categories) == (scale, (1, 2, 3, 4, 5))


def test_fleiss_table_of_1971():
    counts = [[int(digit) for digit in row] for row in FLEISS.split()]
    assert [sum(column) for column in zip(*counts, strict=True)] == [
        26,
        26,
        30,
        55,
        43,
    ]  # the margins printed there
    ratings = [[label for label, times in enumerate(row) for _ in range(times)] for row in counts]
    assert fleiss_kappa(ratings, resamples=FEW).value == pytest.approx(0.430, abs=0.0005)


def test_by_hand():
    # Two raters, eight items: yes/yes 4, yes/no 1, no/yes 1, no/no 2. Percentage 6/8 = .75. Marginals 5/8 and 3/8 for
    # both: chance 25/64 + 9/64 = 34/64; Cohen = (.75 - .53125) / .46875 = .466667; Fleiss the same, since the pooled
    # shares are 5/8 and 3/8. AC1: chance 2 (5/8) (3/8) = .46875; (.75 - .46875) / .53125 = .529412. Krippendorff: 16
    # ratings, 10 yes and 6 no; observed disagreement 4/16, expected 2*10*6 / (16*15) = .5: 1 - .25 / .5 = .5.
    rows = [("yes", "yes")] * 4 + [("yes", "no"), ("no", "yes")] + [("no", "no")] * 2
    assert percent_agreement(rows, resamples=FEW).value == 0.75
    assert cohen_kappa(rows, resamples=FEW).value == pytest.approx(0.466667, abs=1e-6)
    assert fleiss_kappa(rows, resamples=FEW).value == pytest.approx(0.466667, abs=1e-6)
    assert gwet_ac1(rows, resamples=FEW).value == pytest.approx(0.529412, abs=1e-6)
    assert krippendorff_alpha(rows, resamples=FEW).value == pytest.approx(0.5)


def test_weighted_kappa_by_hand():
    # low/low, low/mid, mid/mid, high/low; places 0 1 2. Linear disagreement 0 + 1 + 0 + 2 = 3 of 4. Expected: first
    # rater low 2, mid 1, high 1; second low 2, mid 2: (2*2*1 + 1*2*1 + 1*2*2 + 1*2*1) / 16 = 12/16. Kappa
    # 1 - (3/4) / (12/16) = 0. Squared: 5/4 against (4 + 2 + 8 + 2) / 16 = 1: -.25.
    rows = [("low", "low"), ("low", "mid"), ("mid", "mid"), ("high", "low")]
    order = ["low", "mid", "high"]
    assert cohen_kappa(
        rows, weights="linear", categories=order, resamples=FEW
    ).value == pytest.approx(0)
    assert cohen_kappa(
        rows, weights="quadratic", categories=order, resamples=FEW
    ).value == pytest.approx(-0.25)
    with pytest.raises(UserError, match="order of these labels"):
        cohen_kappa(rows, weights="linear")


@pytest.mark.parametrize("case", GOLDEN["agreement"])
def test_values_are_those_of_the_libraries(case: dict[str, Any]):
    rows = case["ratings"]
    found = {
        f"alpha_{scale}": krippendorff_alpha(rows, scale, resamples=FEW).value
        for scale in ("nominal", "ordinal", "interval")
    }
    found["ac1"] = gwet_ac1(rows, resamples=FEW).value
    if "fleiss" in case:
        found["fleiss"] = fleiss_kappa(rows, resamples=FEW).value
        two = [row[:2] for row in rows]
        found["cohen"] = cohen_kappa(two, resamples=FEW).value
        found["cohen_linear"] = cohen_kappa(two, weights="linear", resamples=FEW).value
        found["cohen_quadratic"] = cohen_kappa(two, weights="quadratic", resamples=FEW).value
    assert found == {
        name: pytest.approx(case[name], abs=1e-10) for name in case if name != "ratings"
    }


@pytest.mark.skipif(
    not DATA.exists(), reason="the shared data are not here: shared/data/wildfiregpt"
)
def test_published_agreement_of_people_and_judge():
    # PROVENANCE: wildfireGPT's labels; relevance .639, accessibility .667, entailment .739 (README of the shared data).
    with DATA.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 296
    for aspect, published, n in (
        ("relevance", 0.639, 180),
        ("accessibility", 0.667, 93),
        ("entailment", 0.739, 23),
    ):
        labels = [(row["human"], row["judge"]) for row in rows if row["aspect"] == aspect]
        found = percent_agreement(labels)
        assert found.value == pytest.approx(published, abs=0.0005)
        assert found.n == n
        assert found.low is not None
        assert found.high is not None
        assert found.low < published < found.high
        # The percentage flatters: chance alone gives most of it.
        kappa = cohen_kappa(labels, resamples=FEW).value
        assert kappa is not None
        assert kappa < 0.21


def test_what_lacks_is_left_out_and_counted():
    rows: list[tuple[Any, ...]] = [
        (1, 1, 2),
        (2, None, 2),
        (math.nan, 1, None),
        (1, 2, 2),
        (2, 2, 2),
        (1, 1, 1),
    ]
    whole = [row for row in rows if None not in row]
    fleiss = fleiss_kappa(rows, resamples=FEW)
    assert (fleiss.value, fleiss.n, fleiss.missing, fleiss.absent) == (
        fleiss_kappa(whole, resamples=FEW).value,
        4,
        2,
        3,
    )
    percent = percent_agreement(rows, resamples=FEW)
    assert (percent.n, percent.missing) == (5, 1)
    assert percent.value == pytest.approx((1 / 3 + 1 + 1 / 3 + 1 + 1) / 5)
    two = cohen_kappa([row[:2] for row in rows], resamples=FEW)
    assert (two.n, two.missing, two.absent) == (4, 2, 2)


def test_degenerate_ratings_have_a_reason():
    same = [("yes", "yes")] * 5
    for measure in (cohen_kappa, fleiss_kappa, gwet_ac1, krippendorff_alpha):
        found = measure(same, resamples=FEW)
        assert found.value is None
        assert (
            found.reason
            == "all ratings are the same, so chance alone would give the same agreement"
        )
    assert percent_agreement(same, resamples=FEW).value == 1
    assert gwet_ac1(same, categories=["yes", "no"], resamples=FEW).value == 1
    perfect = cohen_kappa([("yes", "yes"), ("no", "no")] * 5, resamples=FEW)
    assert perfect.value == 1
    assert perfect.low is None
    assert perfect.reason is not None
    few = percent_agreement([("a", "b"), ("a", "a")], resamples=FEW)
    assert (few.value, few.reason) == (None, "agreement needs at least 3 items, not 2")
    assert krippendorff_alpha([], resamples=FEW).value is None
    assert krippendorff_alpha([(1, None), (None, None)], "interval", resamples=FEW).value is None


def test_mistakes_are_refused():
    with pytest.raises(UserError, match="two raters, not 3"):
        cohen_kappa([(1, 1, 2)] * 4)
    with pytest.raises(UserError, match="two raters or more"):
        fleiss_kappa([(1,)] * 4)
    with pytest.raises(UserError, match="a value for each rater"):
        percent_agreement([(1, 2), (1,)])
    with pytest.raises(UserError, match="not among the categories: 'maybe'"):
        gwet_ac1([("yes", "maybe")] * 3, categories=["yes", "no"])
    with pytest.raises(UserError, match="once"):
        gwet_ac1([("yes", "no")] * 3, categories=["yes", "no", "yes"])
    with pytest.raises(UserError, match="must be a number"):
        krippendorff_alpha([("1", "2")] * 3, "interval", categories=["1", "2"])
    with pytest.raises(UserError, match="order"):
        krippendorff_alpha([("low", "high")] * 3, "ordinal")
    with pytest.raises(UnknownName, match="ordinal"):
        krippendorff_alpha([(1, 2)] * 3, "ordinall")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="quadratic"):
        cohen_kappa([(1, 2)] * 3, weights="square")  # type: ignore[arg-type]


def test_the_interval_is_scipys_and_the_seed_decides_it():
    from scipy.stats import bootstrap

    rng = np.random.default_rng(4)
    a = rng.integers(0, 3, 60)
    b = np.where(rng.random(60) < 0.7, a, rng.integers(0, 3, 60))

    def kappa(x: np.ndarray, y: np.ndarray) -> float:
        n = len(x)
        chance = sum((x == k).sum() * (y == k).sum() for k in range(3)) / n**2
        return float(((x == y).mean() - chance) / (1 - chance))

    ends = bootstrap(
        (a, b), kappa, paired=True, vectorized=False, n_resamples=2000, rng=np.random.default_rng(0)
    ).confidence_interval
    found = cohen_kappa(np.column_stack([a, b]), seed=0)
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high), abs=1e-9)
    assert found == cohen_kappa(np.column_stack([a, b]), seed=0)
    assert found != cohen_kappa(np.column_stack([a, b]), seed=1)


def test_intervals_cover():
    # Two raters who see a fair coin right nine times in ten: they agree in .82, kappa (.82 - .5) / .5 = .64.
    rng = np.random.default_rng(6)
    covered = 0
    for trial in range(200):
        truth = rng.integers(0, 2, (60, 1))
        rows = np.where(rng.random((60, 2)) < 0.9, truth, 1 - truth)
        interval = cohen_kappa(rows, resamples=500, seed=trial)
        assert interval.low is not None
        assert interval.high is not None
        covered += interval.low <= 0.64 <= interval.high
    assert covered >= 178  # the binomial 99.9 % of .95 of 200


ratings = st.integers(2, 4).flatmap(
    lambda raters: st.lists(
        st.tuples(*[st.one_of(st.none(), st.integers(0, 3))] * raters), min_size=4, max_size=12
    )
)


@settings(max_examples=40)
@given(ratings, st.randoms())
def test_blind_to_the_order_of_items_and_raters_and_to_names(
    rows: list[tuple[int | None, ...]], random: Any
):
    shuffled = list(rows)
    random.shuffle(shuffled)
    turned = [row[::-1] for row in shuffled]
    named = [tuple(None if label is None else "wxyz"[label] for label in row) for row in rows]

    def same(first: Agreement, second: Agreement) -> None:
        assert second.value == (
            None if first.value is None else pytest.approx(first.value, abs=1e-9)
        )
        if first.value is not None:
            assert first.value <= 1 + 1e-12

    for measure in (percent_agreement, fleiss_kappa, gwet_ac1, krippendorff_alpha):
        first = measure(rows, resamples=5)
        same(first, measure(turned, resamples=5))
        same(first, measure(named, resamples=5))
    for scale in ("ordinal", "interval"):
        same(
            krippendorff_alpha(rows, scale, resamples=5),
            krippendorff_alpha(turned, scale, resamples=5),
        )
    moved = [tuple(None if label is None else 10 * label - 3 for label in row) for row in rows]
    same(
        krippendorff_alpha(rows, "interval", resamples=5),
        krippendorff_alpha(moved, "interval", resamples=5),
    )


def test_copies_of_an_item_tell_no_more():
    # Four copies in a cluster are resampled as one: the interval of one, where ratings are shares of pairs; where sums
    # of ratings count (Krippendorff) nearly that.
    rng = np.random.default_rng(31)
    rows = [
        [int(rng.integers(0, 2))] * 3 if rng.random() < 0.6 else rng.integers(0, 2, 3).tolist()
        for _ in range(40)
    ]
    names = [place for place in range(40) for _ in range(4)]
    copies = [row for row in rows for _ in range(4)]
    for coefficient in (percent_agreement, fleiss_kappa, gwet_ac1, krippendorff_alpha):
        one, four = (
            coefficient(rows, resamples=2_000),
            coefficient(copies, resamples=2_000, clusters=names),
        )
        assert four.value == pytest.approx(one.value, abs=0.01)
        assert (four.low, four.high) == pytest.approx((one.low, one.high), abs=0.01)
        assert (four.n, four.clusters, one.clusters) == (160, 40, None)
    pair = cohen_kappa([row[:2] for row in copies], resamples=2_000, clusters=names)
    alone = cohen_kappa([row[:2] for row in rows], resamples=2_000)
    assert (pair.low, pair.high) == pytest.approx((alone.low, alone.high))


@pytest.mark.skipif(not LLMBAR.exists(), reason="the shared data are not here: shared/data/llmbar")
def test_published_kappa_of_a_judge_with_itself_in_the_other_order() -> None:
    # PROVENANCE: LLMBar's statistics of this file: equal in 78 of 100, kappa between the orders .5543.
    rows = json.loads(LLMBAR.read_text(encoding="utf-8"))
    orders = [
        [row["results"][0][f"swap = {swap}"]["winner"] for row in rows] for swap in (False, True)
    ]
    kappa = cohen_kappa(list(zip(*orders, strict=True)), resamples=50)
    assert kappa.n == 100
    assert kappa.value == pytest.approx(0.5542949756888169, abs=1e-12)
