"""The intervals of few values, of equal ones, and of shares."""

import math

import numpy as np
import pytest
from scipy import stats
from tests.analysis.compare.runs import run_of
from tests.report.runs import EASE, RELEVANCE, manifest, row, write_run
from tests.there import there

from longmark.analysis.compare import compare
from longmark.analysis.compare.estimates import of_d_z, of_mean, of_share
from longmark.records import Example
from longmark.report.summary import summarise
from longmark.stats.clusters import effective
from longmark.stats.means import mean_estimate
from longmark.stats.student import t_quantile


@pytest.mark.parametrize("n", [2, 3, 8, 14, 40])
def test_a_mean_has_the_same_interval_in_the_run_and_in_the_comparison(tmp_path, n):
    random = np.random.default_rng(n)
    values = {
        s: {RELEVANCE: random.random(n).round(2).tolist(), EASE: (60 * random.random(n)).tolist()}
        for s in "xy"
    }
    values["y"][RELEVANCE] = [0.5] * n
    run = run_of(tmp_path / "run", values)
    cells = {(cell.metric, cell.system): cell for cell in summarise([run]).cells}
    for metric in compare([run], draws=200).metrics:
        for one in metric.systems:
            cell = cells[metric.metric, one.system]
            assert (one.mean.low, one.mean.high) == pytest.approx(there(cell.interval))
            assert one.mean.method == cell.method


def test_several_answers_a_question_have_one_mean_and_interval_everywhere(tmp_path):
    random = np.random.default_rng(4)
    rows = [
        (s, q, k, round(random.random(), 2))
        for s in "xy"
        for q in range(9)
        for k in range(q % 3 + 1)
    ]
    its = [
        row(f"{s}{q}{k}", RELEVANCE, score, question_id=f"q{q}", system=s)
        for s, q, k, score in rows
    ]
    document = {f"{s}{q}{k}": {"document": f"d{q // 2}"} for s, q, k, _ in rows}
    examples = [
        Example(id=one.example_id, question_id=one.question_id, meta=document[one.example_id])
        for one in its
    ]
    run, turned = (
        write_run(tmp_path / n, examples, r, manifest()) for n, r in (("a", its), ("b", its[::-1]))
    )
    for cluster, clusters in (("question_id", 9), ("document", 5)):
        cells = {cell.system: cell for cell in summarise([run], cluster).cells}
        assert cells == {cell.system: cell for cell in summarise([turned], cluster).cells}
        for one in compare([run], draws=200, cluster=cluster).metrics[0].systems:
            cell = cells[one.system]
            assert (one.mean.value, one.mean.ends) == (cell.mean, cell.interval)
            assert one.mean.clusters == cell.clusters == clusters


def test_three_values_by_hand(tmp_path):
    values = {"x": {EASE: [70.0, 80.0, 85.0]}, "y": {EASE: [60.0, 75.0, 70.0]}}
    (metric,) = compare([run_of(tmp_path / "run", values)], draws=200).metrics
    (pair,) = metric.pairs
    # differences 10 5 15: mean 10, standard deviation 5, error 2.886751, no skewness, times t = 4.302653: 12.420689 to
    # both sides, so that it holds 0, as p = .25 wants it
    assert pair.p == 0.25
    assert (pair.difference.low, pair.difference.high) == pytest.approx((-2.420689, 22.420689))


def test_values_equal_but_for_rounding_are_equal():
    values = np.full(20, 0.3) + np.array([0.0, 5e-17] * 10)
    found = of_mean(values, None, (-1, 1), 1.0, 0.95)
    assert found.method == "all equal"
    assert there(found.low) < 0.3 < there(found.high)
    none = of_mean(values, None, (None, None), 1.0, 0.95)
    assert (none.low, "no bounds" in there(none.reason)) == (None, True)


@pytest.mark.parametrize(("d", "n"), [(0.0, 3), (1.3, 4), (-0.4, 10), (3.0, 14)])
def test_d_z_of_few_is_from_the_noncentral_t(d, n):
    sample = np.random.default_rng(n).normal(size=n)
    sample = d + (sample - sample.mean()) / sample.std(ddof=1)
    found = of_d_z(sample, None, 5.0, 0.95)
    assert found.value == pytest.approx(d)
    assert found.method == "noncentral t"
    # at the lower end the observed t is the upper 2.5 % point, at the upper end the lower one
    for end, share in ((found.low, 0.975), (found.high, 0.025)):
        assert stats.nct.cdf(d * n**0.5, n - 1, there(end) * n**0.5) == pytest.approx(
            share, abs=1e-5
        )


@pytest.mark.parametrize("sizes", [[1] * 20, [2] * 15, [1, 2, 3] * 5])
def test_d_z_is_by_the_jackknife_over_clusters(sizes):
    apart = np.random.default_rng(1).normal(0.4, 1, sum(sizes))
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    found = of_d_z(apart + 1e6 - 1e6, None if sizes[0] == sizes[-1] == 1 else clusters, 5.0, 0.9)
    without = np.array(
        [(d := apart[clusters != c]).mean() / d.std(ddof=1) for c in range(len(sizes))]
    )
    error = math.sqrt((len(sizes) - 1) / len(sizes) * ((without - without.mean()) ** 2).sum())
    half = t_quantile(0.9, effective(sizes) - 1) * error
    value = apart.mean() / apart.std(ddof=1)
    assert (found.value, found.low, found.high) == pytest.approx(
        (value, value - half, value + half)
    )


@pytest.mark.parametrize(
    ("apart", "clusters", "reason"),
    [
        ([0.25] * 9, None, "all differences are equal"),
        ([0.5], None, "d_z needs two questions"),
        ([0.5, 0.25], None, "an interval needs at least 3 questions; found 2"),
        ([0, 0, 1, 1], [0, 0, 1, 1], "an interval needs at least 3 clusters; found 2"),
        ([0] * 30 + [0.1, 0.2, -0.3], None, "only 3 of 33 questions differ from the rest"),
        ([0] * 7 + [1, -1, 1], None, "only 3 of 10 questions differ from the rest"),
        (
            [0] * 30 + [0.1, 0.2, 0.3],
            [*range(15)] * 2 + [0, 0, 1],
            "only 2 of 15 clusters differ from the rest",
        ),
    ],
)
def test_d_z_without_an_interval_has_a_reason(apart, clusters, reason):
    found = of_d_z(
        np.array(apart, dtype=float), None if clusters is None else np.array(clusters), 1.0, 0.95
    )
    assert found.low is None
    assert reason in there(found.reason)


def test_a_share_won_is_a_mean_of_points(tmp_path):
    values = {
        "x": {RELEVANCE: [0.5 + i / 200 for i in range(60)]},
        "y": {RELEVANCE: [i / 300 for i in range(60)]},
    }
    (pair,) = compare([run_of(tmp_path / "run", values)], draws=200).metrics[0].pairs
    assert (pair.won, pair.share.value, pair.share.method) == (60, 1.0, "all equal")
    assert pair.share.ends == pytest.approx(
        (0.025 ** (1 / 60), 1.0)
    )  # Clopper and Pearson's bound for 60 of 60
    ahead = np.array([0.1] * 12 + [0.0] * 5 + [-0.2] * 8)
    found = of_share(ahead, None, 0.95, 3)
    expected = mean_estimate([1.0] * 12 + [0.5] * 5 + [0.0] * 8, bounds=(0, 1))
    assert (found.value, found.ends, found.missing) == (14.5 / 25, expected.ends, 3)
    assert of_share(ahead[ahead != 0], None, 0.95).method == "Wilson"


def test_two_questions_won_and_38_ties_are_no_share_above_one_half():
    found = [of_share(np.array([1.0] * won + [0.0] * 38), None, 0.95) for won in (2, 6)]
    assert [there(one.low) > 0.5 for one in found] == [False, True]  # p = .5 and .031
    five = of_share(np.ones(5), None, 0.95)
    assert there(five.low) < 0.5  # p = .0625
