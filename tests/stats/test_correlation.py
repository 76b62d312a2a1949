"""Correlations against SciPy and by hand, the jackknife against leaving out for real, the mean against CCRS."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from longmark.errors import UnknownName, UserError
from longmark.stats.clusters import degrees_of_freedom
from longmark.stats.correlation import (
    KINDS,
    Kind,
    coefficient,
    correlation,
    correlation_difference,
    mean_correlation,
)
from longmark.stats.results import Estimate

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "goldens" / "stats_oracles.json").read_text(encoding="utf-8")
)
SCIPY: dict[str, Callable[..., float]] = {
    "pearson": lambda a, b: float(scipy_stats.pearsonr(a, b).statistic),
    "spearman": lambda a, b: float(scipy_stats.spearmanr(a, b).statistic),
    "kendall": lambda a, b: float(scipy_stats.kendalltau(a, b).statistic),
}


def test_by_hand():
    # x 1 2 3 4 5, y 2 1 4 3 5. Centred products: (-2)(-1) + (-1)(-2) + 0 + 1*0 + 2*2 = 8, both squares 10: r = .8; the
    # values are their own ranks, so rho = .8; of 10 pairs (1, 2) and (3, 4) are discordant: tau = (8 - 2) / 10 = .6.
    x, y = [1, 2, 3, 4, 5], [2, 1, 4, 3, 5]
    for kind, expected in (("pearson", 0.8), ("spearman", 0.8), ("kendall", 0.6)):
        found = correlation(x, y, kind)  # type: ignore[arg-type]
        assert found.value == coefficient(x, y, kind) == pytest.approx(expected)  # type: ignore[arg-type]
        assert (found.n, found.missing, found.reason) == (5, 0, None)
    assert coefficient(x, [1] * 5) is None


@pytest.mark.parametrize("case", GOLDEN["correlation"])
def test_values_are_those_of_scipy(case: dict[str, list[float]]):
    for kind in KINDS:
        assert correlation(case["x"], case["y"], kind).value == pytest.approx(case[kind], abs=1e-12)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_jackknife_is_that_of_leaving_each_pair_out(kind: str):
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 4, 14).astype(float), rng.integers(0, 5, 14).astype(float)
    left_out = np.array([SCIPY[kind](np.delete(a, i), np.delete(b, i)) for i in range(14)])
    error = math.sqrt(13 / 14 * ((left_out - left_out.mean()) ** 2).sum())
    r = SCIPY[kind](a, b)
    half = float(scipy_stats.t.ppf(0.975, 13)) * error / (1 - r * r)
    found = correlation(a, b, kind)  # type: ignore[arg-type]
    assert found.low == pytest.approx(math.tanh(math.atanh(r) - half), abs=1e-9)
    assert found.high == pytest.approx(math.tanh(math.atanh(r) + half), abs=1e-9)


@pytest.mark.parametrize("kind", ["spearman", "kendall"])
def test_jackknife_of_many_different_scores(kind: str):
    """Beyond 128 different scores in both columns, pairs are counted in another way; some are tied all the same."""
    rng = np.random.default_rng(4)
    a = rng.normal(size=230)
    b = 0.5 * a + rng.normal(size=230)
    a[:30], b[20:60] = a[30:60], b[60:100]
    assert min(len(np.unique(column)) for column in (a, b)) > 128
    left_out = np.array([SCIPY[kind](np.delete(a, i), np.delete(b, i)) for i in range(230)])
    error = math.sqrt(229 / 230 * ((left_out - left_out.mean()) ** 2).sum())
    found = correlation(a, b, kind)  # type: ignore[arg-type]
    assert found.value is not None
    half = scipy_stats.t.ppf(0.975, 229) * error / (1 - found.value**2)
    ends = [math.tanh(math.atanh(found.value) - half), math.tanh(math.atanh(found.value) + half)]
    assert [found.low, found.high] == pytest.approx(ends, abs=1e-9)


def test_missing_pairs_are_dropped_and_counted():
    whole = correlation([1, 2, 3, 4, 6, 5], [1, 3, 2, 4, 5, 6])
    holes = correlation([1, 2, None, 3, 4, 6, 5, 9], [1, 3, 7, 2, 4, 5, 6, math.nan])
    assert (holes.value, holes.low, holes.n, holes.missing) == (whole.value, whole.low, 6, 2)


def test_degenerate_columns_have_a_reason():
    assert correlation([1, 2], [1, 2]).reason == "a correlation needs at least 3 pairs; found 2"
    equal = correlation([0.7, 0.7, 0.7, 0.7], [1, 2, 3, 4])
    assert (equal.value, equal.reason) == (None, "all values of a column are equal")
    perfect = correlation([1, 2, 3, 4, 5], [2, 4, 6, 8, 10])
    assert perfect.value == pytest.approx(1)
    assert perfect.low is None
    assert perfect.reason is not None
    assert "perfect" in perfect.reason
    one = correlation([0, 0, 0, 0, 1, 0], [1, 2, 3, 4, 5, 6])
    assert one.value is not None
    assert one.reason == "without one of its pairs a column has one value only"
    assert correlation([1, 2, 3, 4], [2, 1, 4, 3]).reason == "an interval needs at least 5 pairs"


def test_mistakes_are_refused():
    with pytest.raises(UserError, match="equally long"):
        correlation([1, 2, 3], [1, 2])
    with pytest.raises(UnknownName, match="pearson"):
        correlation([1, 2, 3], [1, 2, 3], "person")  # type: ignore[arg-type]
    with pytest.raises(UserError, match="for example 0\\.95"):
        correlation([1, 2, 3], [1, 2, 3], level=95)


# PROVENANCE: CCRS, tables 7 to 12 (Pearson, systems A to F), and section 4.1.2 for the means.
CCRS = {
    0.756: (0.822, 0.814, 0.734, 0.713, 0.701, 0.726),  # answer correctness, information recall
    0.494: (0.451, 0.437, 0.687, 0.585, 0.361, 0.382),  # question relevance, information density
    0.201: (0.218, 0.226, 0.237, 0.195, 0.159, 0.170),  # contextual coherence, answer correctness
    0.452: (0.343, 0.377, 0.528, 0.511, 0.462, 0.477),  # contextual coherence, information recall
}


@pytest.mark.parametrize(("mean", "each"), CCRS.items())
def test_mean_over_systems_is_the_published_one(mean: float, each: tuple[float, ...]):
    # Columns with exactly the published correlation: y = r x + sqrt(1 - r²) e with x, e orthogonal and of equal length.
    x = np.array([1.0, -1, 1, -1, 1, -1, 1, -1])
    e = np.array([1.0, 1, -1, -1, 1, 1, -1, -1])
    firsts = {str(i): x for i in range(6)}
    seconds = {str(i): r * x + math.sqrt(1 - r * r) * e for i, r in enumerate(each)}
    found = mean_correlation(firsts, seconds)
    assert found.value == pytest.approx(mean, abs=0.0011)  # the tables have three decimals
    assert [found.by_system[str(i)].value for i in range(6)] == pytest.approx(each)


def width(found: Estimate) -> float:
    assert found.low is not None
    assert found.high is not None
    return math.atanh(found.high) - math.atanh(found.low)


def test_the_interval_of_a_mean_knows_that_systems_share_questions():
    rng = np.random.default_rng(5)
    x = rng.normal(size=60)
    y = x + rng.normal(size=60)
    alone = correlation(x, y)
    # Six copies of one system tell no more than the one.
    copies = mean_correlation(dict.fromkeys("abcdef", x), dict.fromkeys("abcdef", y))
    assert (copies.value, copies.low, copies.high) == pytest.approx(
        (alone.value, alone.low, alone.high)
    )
    # Systems that vary apart do: on Fisher's scale about sqrt(6) = 2.45 times narrower than one of them.
    apart_x = {name: rng.normal(size=60) for name in "abcdef"}
    apart = mean_correlation(
        apart_x, {name: column + rng.normal(size=60) for name, column in apart_x.items()}
    )
    single = np.mean([width(one) for one in apart.by_system.values()])
    assert 2.0 < single / width(apart) < 3.0


def test_systems_without_a_finite_z_are_left_out_and_named():
    x = [1.0, 2, 3, 4, 5, 6]
    y = [2.0, 1, 4, 3, 6, 5]
    found = mean_correlation(
        {"good": x, "flat": [1.0] * 6, "self": x}, {"good": y, "flat": y, "self": x}
    )
    assert found.left_out == ("flat", "self")
    assert found.value == pytest.approx(correlation(x, y).value)
    same = mean_correlation({"a": x, "b": y}, {"a": x, "b": y})
    assert (same.value, same.low, same.left_out) == (1.0, None, ())
    with pytest.raises(UserError, match="same systems"):
        mean_correlation({"a": x}, {"b": y})
    with pytest.raises(UserError, match="position"):
        mean_correlation({"a": x, "b": x[:5]}, {"a": y, "b": y[:5]})


def test_difference_of_two_metrics_against_the_same_people():
    rng = np.random.default_rng(8)
    target = rng.normal(size=150)
    close, far = target + 0.5 * rng.normal(size=150), target + 2 * rng.normal(size=150)
    found = correlation_difference(close, far, target, "spearman")
    assert found.p is not None
    assert found.p < 1e-6
    assert found.value == pytest.approx(
        SCIPY["spearman"](close, target) - SCIPY["spearman"](far, target)
    )
    back = correlation_difference(far, close, target, "spearman")
    assert (back.value, back.low, back.p) == pytest.approx((-found.value, -found.high, found.p))  # type: ignore[operator]
    same = correlation_difference(close, 2 * close + 1, target, "spearman")
    assert (same.value, same.p) == (0, None)
    assert same.reason == "the two metrics follow the target alike in every item"


def test_intervals_cover_on_skewed_scores_with_ties():
    # Scores in steps of .05, heaped at 1. Asked .95: 285 of 300; at .92, which skewed scores may cost,
    # 99.9 % of the binomial lies at 260 or above.
    rng = np.random.default_rng(2)

    def scores(n: int) -> tuple[np.ndarray, np.ndarray]:
        z = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], n)
        scores = np.clip(np.round((1 - np.exp(-1.2 * z - 1) / 4) * 20) / 20, 0, 1)
        return scores[:, 0], scores[:, 1]

    for kind in KINDS:
        truth = SCIPY[kind](*scores(100_000))
        covered = 0
        for _ in range(300):
            found = correlation(*scores(150), kind)  # type: ignore[arg-type]
            assert found.low is not None
            assert found.high is not None
            covered += found.low <= truth <= found.high
        assert covered >= 260, kind


scores = st.lists(st.integers(0, 20), min_size=5, max_size=30)


@settings(max_examples=60)
@given(st.data(), st.sampled_from(KINDS))
def test_symmetric_within_bounds_and_blind_to_scale(data: st.DataObject, kind: str):
    x = data.draw(scores)
    y = data.draw(st.lists(st.integers(0, 20), min_size=len(x), max_size=len(x)))
    found, turned = correlation(x, y, kind), correlation(y, x, kind)  # type: ignore[arg-type]
    scaled = correlation([3 * v - 7 for v in x], y, kind)  # type: ignore[arg-type]
    assert found.reason == turned.reason
    if found.value is None:
        return
    assert turned.value == pytest.approx(found.value, abs=1e-12)
    assert scaled.value == pytest.approx(found.value, abs=1e-12)
    assert -1 <= found.value <= 1
    if found.low is not None and found.high is not None:
        assert -1 <= found.low <= found.value <= found.high <= 1
        assert turned.low == pytest.approx(found.low, abs=1e-9)


def test_clusters_of_one_pair_each_are_none():
    rng = np.random.default_rng(12)
    target = rng.integers(1, 6, 40).astype(float)
    a, b = np.round(target + rng.normal(size=40)), target + 2 * rng.normal(size=40)
    a[3] = np.nan
    names = [f"q{i}" for i in range(40)]
    for kind in KINDS:
        alone = correlation(a, target, kind)  # type: ignore[arg-type]
        each = correlation(a, target, kind, clusters=names)  # type: ignore[arg-type]
        assert (each.low, each.high) == pytest.approx((alone.low, alone.high))
        assert (alone.clusters, each.clusters, each.missing) == (None, 39, 1)
        pair = correlation_difference(a, b, target, kind, clusters=names)  # type: ignore[arg-type]
        assert pair.p == pytest.approx(correlation_difference(a, b, target, kind).p)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_copies_of_answers_tell_no_more(kind: str):
    # Leaving a question out of k copies is leaving a pair out of one: for Pearson exactly. For ranks the pairs that a
    # question adds are summed, which is nearly that.
    rng = np.random.default_rng(13)
    a, target = rng.normal(size=60), rng.integers(1, 6, 60).astype(float)
    b = a + target
    one, eight = (correlation(b, target, kind), [np.repeat(column, 8) for column in (a, b, target)])  # type: ignore[arg-type]
    names = np.repeat(np.arange(60), 8).tolist()
    found = correlation(eight[1], eight[2], kind, clusters=names)  # type: ignore[arg-type]
    nearly = 1e-9 if kind == "pearson" else 0.06
    assert width(found) == pytest.approx(width(one), rel=nearly)
    assert (found.n, found.clusters) == (480, 60)
    alone = correlation_difference(a, b, target, kind)  # type: ignore[arg-type]
    both = correlation_difference(eight[0], eight[1], eight[2], kind, clusters=names)  # type: ignore[arg-type]
    assert alone.high is not None
    assert alone.low is not None
    assert both.high is not None
    assert both.low is not None
    assert both.high - both.low == pytest.approx(alone.high - alone.low, rel=nearly)


def test_pearson_with_clusters_is_that_of_leaving_each_cluster_out():
    rng = np.random.default_rng(14)
    names = rng.integers(0, 9, 60)
    effect = rng.normal(size=9)[names]
    a, b = effect + rng.normal(size=60), effect + rng.normal(size=60)
    left_out = np.array([SCIPY["pearson"](a[names != g], b[names != g]) for g in range(9)])
    error = math.sqrt(8 / 9 * ((left_out - left_out.mean()) ** 2).sum())
    r = SCIPY["pearson"](a, b)
    half = (
        float(scipy_stats.t.ppf(0.975, degrees_of_freedom(np.bincount(names).tolist())))
        * error
        / (1 - r * r)
    )
    found = correlation(a, b, clusters=names.tolist())
    assert [found.low, found.high] == pytest.approx(
        [math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)]
    )


def test_clusters_that_allow_no_interval_say_why():
    x, y = [1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 6, 5]
    few = correlation(x, y, clusters=["p", "p", "q", "q", "r", "r"])
    assert (few.low, few.clusters) == (None, 3)
    assert few.reason == "an interval needs at least 5 clusters; the pairs belong to 3"
    assert correlation_difference(x, y, [1, 3, 2, 4, 6, 5], clusters=["p"] * 6).reason == (
        "an interval needs at least 5 clusters; the items belong to 1"
    )
    flat = correlation([0, 0, 0, 0, 0, 7, 8], [1, 2, 3, 4, 5, 6, 9], clusters=[1, 2, 3, 4, 5, 6, 6])
    assert flat.reason == "without one of its clusters a column has one value only"
    with pytest.raises(UserError, match="6 rows and 2 clusters"):
        correlation(x, y, clusters=["p", "q"])


def test_the_mean_over_systems_with_questions_that_belong_together():
    rng = np.random.default_rng(15)
    x, y = rng.normal(size=(2, 30))
    y += x
    names = np.repeat(np.arange(30), 4).tolist()
    copies = mean_correlation({"s": np.repeat(x, 4)}, {"s": np.repeat(y, 4)}, clusters=names)
    alone = mean_correlation({"s": x}, {"s": y})
    assert (copies.low, copies.high) == pytest.approx((alone.low, alone.high))
    assert (copies.clusters, alone.clusters) == (30, None)


def answers_to_questions(
    rng: np.random.Generator, questions: int, systems: int
) -> tuple[np.ndarray, ...]:
    """People in five grades and two metrics that follow them alike; a question raises or lowers all its answers."""
    between, within = (np.full((3, 3), r) + (1 - r) * np.eye(3) for r in (0.6, 0.3))
    effect = rng.multivariate_normal(np.zeros(3), between, (questions, 1))
    own = rng.multivariate_normal(np.zeros(3), within, (questions, systems))
    people, first, second = ((effect + own) / math.sqrt(2)).reshape(-1, 3).T
    return np.clip(np.round(1.2 * people + 3.5), 1, 5), first, second


@pytest.mark.parametrize(("questions", "systems"), [(50, 8), (20, 5)])
def test_answers_to_one_question_are_not_independent(questions: int, systems: int):
    # Asked .95 and .05. Of 200, 99.9 % of the binomial: 178 to 198 intervals that cover, 1 to 21 false differences. Of
    # 50 questions and 8 systems with answers taken as independent near 164 cover and 29 are false.
    rng = np.random.default_rng(16)
    truth = SCIPY["spearman"](*answers_to_questions(rng, 10_000, 8)[:2])
    names = np.repeat(np.arange(questions), systems).tolist()
    covered = false = 0
    for _ in range(200):
        people, first, second = answers_to_questions(rng, questions, systems)
        found = correlation(people, first, "spearman", clusters=names)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= truth <= found.high
        difference = correlation_difference(first, second, people, "spearman", clusters=names)
        assert difference.p is not None
        false += difference.p <= 0.05
    assert 178 <= covered <= 198
    assert 1 <= false <= 21


@pytest.mark.parametrize("clusters", [None, [i // 2 for i in range(12)]])
@pytest.mark.parametrize("kind", ["spearman", "kendall"])
def test_a_coefficient_that_no_pair_changes_has_no_interval(kind: Kind, clusters: list[int] | None):
    """Scores that rise through three classes of four answers: without any one answer there is a class of three and
    two of four, and rho and tau-b are the same. The jackknife's variance is 0; that of another sample's rho is not."""
    scores, classes = [i / 12 for i in range(12)], [i // 4 for i in range(12)]
    found = correlation(scores, classes, kind, clusters=clusters)
    assert found.value == pytest.approx(
        getattr(scipy_stats, f"{kind}{'r' if kind == 'spearman' else 'tau'}")(
            scores, classes
        ).statistic
    )
    assert (found.ends, found.p) == (None, None)
    assert "is the same without any one" in (found.reason or "")
    mean = mean_correlation(
        {"a": scores, "b": scores}, {"a": classes, "b": classes}, kind, clusters=clusters
    )
    assert (mean.ends, mean.reason) == (None, "a system has no interval of its own")


def test_a_mean_of_opposite_coefficients_has_no_interval_without_a_width():
    chance = np.random.default_rng(0)
    first, second = chance.normal(size=(2, 20))
    found = mean_correlation({"a": first, "b": first}, {"a": second, "b": -second})
    assert found.value == pytest.approx(0, abs=1e-12)
    assert found.ends is None
    assert "is the same without any one question" in (found.reason or "")
