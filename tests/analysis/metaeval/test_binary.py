"""AUC, its interval and test, and calibration: by hand, against the definition over all pairs, and under the null."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmark.analysis.grid import compared
from longmark.analysis.metaeval.binary import auc, auc_difference, calibration


def array(*values: float | None) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def test_auc_by_hand():
    # yes at .9 .8 .4, no at .7 .4: .9 and .8 are above both (4 of 4), .4 below .7 and equal to .4 (.5 of 2): 4.5 / 6.
    found = auc(array(0.9, 0.8, 0.4, 0.7, 0.4, None), array(1, 1, 1, 0, 0, 1), 0.95)
    assert (found.value, found.yes, found.no, found.missing) == (0.75, 3, 2, 1)
    assert found.low is None
    assert "at least 5" in (found.reason or "")


def test_auc_without_a_label_or_without_spread():
    assert auc(array(0.1, 0.2), array(1, 1), 0.95).reason == "every answer is labelled yes"
    assert (
        auc(array(None, 0.2), array(1, None), 0.95).reason
        == "no answer has both a score and a label"
    )
    flat = auc(np.full(20, 0.5), (np.arange(20) % 2).astype(float), 0.95)
    assert (flat.value, flat.low) == (0.5, None)
    assert flat.reason == "the scores do not vary enough for an estimate of the variance"
    best = auc(np.arange(20.0), (np.arange(20) >= 10).astype(float), 0.95)
    # ten disjoint pairs of a yes and a no, all ranked right: .025^(1/10)
    assert (best.value, best.high, best.reason) == (1, 1, None)
    assert best.low == pytest.approx(0.691503, abs=1e-6)
    worst = auc(
        np.arange(20.0), (np.arange(20) < 12).astype(float), 0.95, [str(i // 2) for i in range(20)]
    )
    assert worst.low == 0
    assert worst.high == pytest.approx(
        1 - 0.025 ** (1 / 4)
    )  # ten questions: six with a yes, four with a no


def psi(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    return np.asarray((above[:, None] > below[None, :]) + 0.5 * (above[:, None] == below[None, :]))


def test_delongs_interval_and_test_are_those_of_the_definition():
    random = np.random.default_rng(5)
    yes = (random.random(60) < 0.4).astype(float)
    a = np.round(random.normal(yes, 1.0), 1)
    b = np.round(random.normal(0.5 * yes, 1.0), 1)
    one, other = psi(a[yes == 1], a[yes == 0]), psi(b[yes == 1], b[yes == 0])
    m, n = one.shape
    variance = one.mean(1).var(ddof=1) / m + one.mean(0).var(ddof=1) / n
    value = one.mean()
    centre = math.log(value / (1 - value))
    half = 1.959964 * math.sqrt(variance) / (value * (1 - value))
    found = auc(a, yes, 0.95)
    assert found.value == pytest.approx(value)
    assert found.low == pytest.approx(1 / (1 + math.exp(half - centre)), abs=1e-6)
    assert found.high == pytest.approx(1 / (1 + math.exp(-half - centre)), abs=1e-6)
    rows, columns = (one - other).mean(1), (one - other).mean(0)
    error = math.sqrt(rows.var(ddof=1) / m + columns.var(ddof=1) / n)
    scores = {"b": b, "a": a}
    (pair,) = compared(scores, lambda x, y: auc_difference(scores[x], scores[y], yes, 0.95), 0.05)
    assert (pair.first, pair.second, pair.adjusted) == ("a", "b", pair.result.p)
    difference = pair.result
    assert difference.value == pytest.approx(one.mean() - other.mean())
    assert difference.p == pytest.approx(2 * NormalDist().cdf(-(one.mean() - other.mean()) / error))


def test_under_the_null_the_test_of_two_aucs_keeps_its_level():
    random = np.random.default_rng(11)
    wrong = 0
    for _ in range(400):
        yes = (random.random(80) < 0.5).astype(float)
        truth = yes + random.normal(0, 1, 80)
        a, b = truth + random.normal(0, 1, 80), truth + random.normal(0, 1, 80)
        found = auc_difference(a, b, yes, 0.95)
        wrong += found.p is not None and found.p <= 0.05
    assert 8 <= wrong <= 34  # 20 expected; 99.8 % binomial interval


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=2, max_size=40))
def test_a_metric_turned_round_has_one_minus_its_auc(pairs: list[tuple[int, bool]]):
    values, yes = np.array([v for v, _ in pairs], float), np.array([y for _, y in pairs], float)
    up, down = auc(values, yes, 0.95), auc(-values, yes, 0.95)
    if up.value is None:
        assert down.value is None
    else:
        assert down.value == pytest.approx(1 - up.value)
        stretched = auc(np.exp(values), yes, 0.95)
        assert (stretched.value, stretched.low) == (up.value, up.low)


def test_calibration_by_hand():
    # bin 0: 2 answers, mean .05, half of them yes: |.05 - .5| * 2/4 = .225; bin 9: mean .95, all yes: .05 * 2/4 = .025.
    # Brier: (.05² + .95² + .05² + .05²) / 4 = .2275.
    found = calibration(array(0.05, 0.05, 0.95, 0.95, None), array(0, 1, 1, 1, 1), 0.95)
    assert found.error == pytest.approx(0.25)
    assert found.brier == pytest.approx(0.2275)
    assert (found.n, found.missing) == (4, 1)
    assert [b.yes.n for b in found.bins] == [2, 0, 0, 0, 0, 0, 0, 0, 0, 2]
    assert (found.bins[1].mean, found.bins[1].yes.value) == (None, None)


def test_a_bin_holds_its_lower_edge_and_the_last_one_both():
    edges = [i / 10 for i in range(11)]
    found = calibration(np.array(edges), np.ones(11), 0.95)
    assert [b.yes.n for b in found.bins] == [1] * 9 + [2]
    assert (
        calibration(None, np.ones(1), 0.95).reason == "the metric is not on the scale from 0 to 1"
    )
