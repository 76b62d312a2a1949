"""The tests that decide, and the difference that they can detect."""

import numpy as np
import orjson
import pytest
from scipy import stats
from tests.analysis.compare.runs import run_of
from tests.report.runs import EASE, RELEVANCE
from tests.there import there

from longmark.analysis.compare import compare
from longmark.analysis.compare.tests import detectable
from longmark.stats.hypotheses import Hypothesis
from longmark.stats.max_t import max_t


def test_noisy_systems_give_no_more_false_positives_than_asked():
    """Four steady and two noisy systems with equal means: some pair in at most a tenth of 200 samples at alpha .1
    (binomial 99.9 % limit .18); Tukey's test of the same samples is above it."""
    random = np.random.default_rng(12)
    left, right = np.triu_indices(6, 1)
    found = 0
    for i in range(200):
        table = random.normal(0, 1, (30, 6)) * [1, 1, 1, 1, 4, 4]
        found += (
            min(
                map(
                    there,
                    max_t(table[:, left] - table[:, right], permutations=199, seed=i).adjusted,
                )
            )
            <= 0.1
        )
    assert found / 200 <= 0.18


def test_the_detectable_difference_by_hand():
    # differences .4 0 .2 .3: sum of squares from the mean .0875, se = sqrt(.0875 / 3 / 4) = .0853913; of 16 patterns
    # the largest statistic is critical at .05; the t with 3 d.f. and this noncentrality exceeds it in 80 %
    joint = max_t(np.array([[0.4], [0.0], [0.2], [0.3]]))
    named = there(detectable(joint, 0))
    assert joint.standard_error[0] == pytest.approx(0.0853913, abs=1e-7)
    assert stats.nct.sf(joint.critical, 3, named / 0.0853913) == pytest.approx(0.8, abs=1e-4)
    assert detectable(max_t(np.full((20, 1), 0.5)), 0) is None


@pytest.mark.parametrize(("n", "systems"), [(20, 2), (60, 2), (60, 4)])
def test_the_detectable_difference_is_found_four_times_in_five(n, systems):
    """Of 300 simulated samples with that difference, after a pilot whose variances are the true ones (of random pilots,
    `bench.claims detectable` finds .76 to .79); the binomial 99.9 % interval of .8 begins at .72."""
    random = np.random.default_rng(2)
    left, right = np.triu_indices(systems, 1)
    pilot = random.normal(0, 1, (n, systems))
    pilot -= pilot.mean(axis=0)
    pilot = pilot @ np.linalg.cholesky(
        np.linalg.inv(pilot.T @ pilot / (n - 1))
    )  # variances 1, covariances 0
    named = there(detectable(max_t(pilot[:, left] - pilot[:, right], permutations=999), 0))
    means = np.zeros(systems)
    means[0] = named
    found = 0
    for i in range(300):
        table = random.normal(0, 1, (n, systems)) + means
        joint = max_t(table[:, left] - table[:, right], permutations=399, seed=i)
        found += there(joint.adjusted[0]) <= 0.05
    assert 0.72 <= found / 300 <= 0.93


def test_differences_of_rounding_alone_are_none(tmp_path):
    x = [0.1 + 0.2, 0.3, 0.1 + 0.2, 0.1 + 0.2, 0.1 + 0.2, 0.1 + 0.2, 0.1 + 0.2]
    values = {"x": {RELEVANCE: x}, "y": {RELEVANCE: [0.3] * 7}}
    (metric,) = compare([run_of(tmp_path / "run", values)]).metrics
    assert (metric.pairs[0].p, metric.reason) == (
        1.0,
        "both systems have the same score on every question",
    )


def test_questions_of_a_document_are_tested_together(tmp_path):
    """Rows of four questions a document with the same difference: the test is that of the documents' differences."""
    random = np.random.default_rng(4)
    shift, base = np.repeat(random.normal(0.9, 1, 10), 4), random.normal(0, 1, 40)
    run = run_of(
        tmp_path / "run", {"x": {EASE: (base + shift).tolist()}, "y": {EASE: base.tolist()}}
    )
    path = run / "examples.jsonl"
    lines = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    for line in lines:
        line["meta"] = {"document": f"d{int(line['question_id'][1:]) // 4}"}
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    claim = Hypothesis("x is higher", "all", (EASE,), (("x", "y"),), "two-sided")
    clustered = compare([run], cluster="document", draws=500, hypotheses=(claim,))
    (pair,) = clustered.metrics[0].pairs
    alone = max_t(shift[::4, None])
    assert (pair.p, pair.difference.n) == (alone.p[0], 40)
    (claimed,) = clustered.hypotheses
    assert (claimed.p, pair.p_tukey) == (alone.p[0], None)  # Tukey's test knows no clusters
    assert (pair.difference.n, pair.difference.clusters, pair.share.clusters) == (40, 10, 10)
    assert pair.difference.ends == pytest.approx((alone.low[0], alone.high[0]))
    (by_question,) = compare([run], draws=500).metrics[0].pairs
    assert there(by_question.p) < there(pair.p)
