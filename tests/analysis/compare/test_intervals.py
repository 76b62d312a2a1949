"""The intervals of few values, of equal ones, and of shares."""

import numpy as np
import pytest
from scipy import stats
from tests.analysis.compare.runs import run_of
from tests.report.runs import EASE, RELEVANCE, manifest, row, write_run
from tests.there import there

from longmark.analysis.compare import compare
from longmark.analysis.compare.effects import of_d_z, of_mean, of_share
from longmark.records import Example
from longmark.report.summary import summarise
from longmark.stats.results import Estimate


def drawn(estimate, n, level=0.95):
    return Estimate(estimate, None, None, n, level, "BCa", "the rows are alike", resamples=100, seed=0)


@pytest.mark.parametrize("n", [2, 3, 8, 14, 40])
def test_a_mean_has_the_same_interval_in_the_run_and_in_the_comparison(tmp_path, n):
    random = np.random.default_rng(n)
    values = {s: {RELEVANCE: random.random(n).round(2).tolist(), EASE: (60 * random.random(n)).tolist()} for s in "xy"}
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
    rows = [(s, q, k, round(random.random(), 2)) for s in "xy" for q in range(9) for k in range(q % 3 + 1)]
    its = [row(f"{s}{q}{k}", RELEVANCE, score, question_id=f"q{q}", system=s) for s, q, k, score in rows]
    document = {f"{s}{q}{k}": {"document": f"d{q // 2}"} for s, q, k, _ in rows}
    examples = [Example(id=one.example_id, question_id=one.question_id, meta=document[one.example_id]) for one in its]
    run, turned = (write_run(tmp_path / n, examples, r, manifest()) for n, r in (("a", its), ("b", its[::-1])))
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
    found = of_d_z(drawn(d, n))
    # at the lower end the observed t is the upper 2.5 % point, at the upper end the lower one
    for end, share in ((found.low, 0.975), (found.high, 0.025)):
        assert stats.nct.cdf(d * n**0.5, n - 1, there(end) * n**0.5) == pytest.approx(share, abs=1e-5)


def test_d_z_of_few_holds_the_truth_as_often_as_it_says():
    random = np.random.default_rng(3)
    held = 0
    for _ in range(1000):
        sample = random.normal(0.8, 1, 6)
        found = of_d_z(drawn(float(sample.mean() / sample.std(ddof=1)), 6))
        held += there(found.low) <= 0.8 <= there(found.high)
    assert 0.925 <= held / 1000 <= 0.97  # .95 and 3.6 standard errors below, 2.9 above


def test_a_share_of_one_has_an_interval(tmp_path):
    values = {"x": {RELEVANCE: [0.5 + i / 200 for i in range(60)]}, "y": {RELEVANCE: [i / 300 for i in range(60)]}}
    (pair,) = compare([run_of(tmp_path / "run", values)], draws=200).metrics[0].pairs
    # 60 of 60: lower end n / (n + z^2) = 60 / 63.841459
    assert (pair.won, pair.share.value, pair.share.method) == (60, 1.0, "Wilson")
    assert pair.share.low == pytest.approx(0.939828, abs=1e-6)
    assert pair.share.high == 1.0
    ties = of_share(drawn(0.5, 60))
    # all ties, as 30 of 60: .5 -+ z / (2 sqrt(60 + z^2)) = 1.959964 / 15.980169 = .122650
    assert (ties.low, ties.high) == pytest.approx((0.377350, 0.622650), abs=1e-6)
