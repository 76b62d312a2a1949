"""Several answers to one question: copies tell no more, intervals cover, tests keep their level, tables say it."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from tests.report.runs import row

from longmark.analysis.metaeval import metaeval
from longmark.analysis.metaeval.binary import auc, auc_difference
from longmark.analysis.metaeval.choices import ChoiceLabel
from longmark.analysis.metaeval.ratings import RatingLabel
from longmark.analysis.metaeval.sections import sections
from longmark.stats.clusters import degrees_of_freedom
from longmark.stats.results import Estimate
from longmark.stats.student import t_quantile


def ratings(values: np.ndarray, said: np.ndarray, copies: int) -> RatingLabel:
    """Every answer as often as there are copies, each of a system of its own."""
    rows = [
        row(f"{q}/{s}", "m", float(value), question_id=f"q{q}", system=f"s{s}")
        for q, value in enumerate(values)
        for s in range(copies)
    ]
    people: list[dict[str, Any]] = [
        {"example_id": f"{q}/{s}", "value": float(value)}
        for q, value in enumerate(said)
        for s in range(copies)
    ]
    part = metaeval(rows, people).labels[0]
    assert isinstance(part, RatingLabel)
    return part


def width(low: float | None, high: float | None) -> float:
    assert low is not None
    assert high is not None
    return high - low


def test_copies_of_an_answer_tell_no_more():
    rng = np.random.default_rng(1)
    values = np.round(rng.random(60), 2)
    said = (values + 0.3 * rng.normal(size=60) > 0.5).astype(float)
    one, six = ratings(values, said, 1), ratings(values, said, 6)
    assert (one.clustered, six.clustered) == (False, True)
    for kind, nearly in (("pearson", 1e-9), ("spearman", 0.06), ("kendall", 0.06)):
        a, b = getattr(one.metrics[0], kind), getattr(six.metrics[0], kind)
        assert (a.n, a.clusters, b.n, b.clusters) == (60, None, 360, 60)
        assert width(b.low, b.high) == pytest.approx(width(a.low, a.high), rel=nearly)
    (x,), (y,) = one.metrics, six.metrics
    assert x.auc is not None
    assert y.auc is not None
    assert x.classes is not None
    assert y.classes is not None
    assert x.calibration is not None
    assert y.calibration is not None
    assert width(y.auc.low, y.auc.high) == pytest.approx(width(x.auc.low, x.auc.high), rel=0.03)
    for narrow, wide in zip(x.classes.classes, y.classes.classes, strict=True):
        assert width(wide.mean.low, wide.mean.high) == pytest.approx(
            width(narrow.mean.low, narrow.mean.high), rel=0.1
        )
    for few, many in zip(x.calibration.bins, y.calibration.bins, strict=True):
        assert (many.questions, many.yes.n) == (few.yes.n, 6 * few.yes.n)
        if few.yes.n > 1:
            assert width(many.yes.low, many.yes.high) >= 0.99 * width(few.yes.low, few.yes.high)


def test_the_tables_say_how_many_questions_there_are():
    rng = np.random.default_rng(2)
    values, said = rng.random(30), rng.integers(0, 2, 30).astype(float)
    rows = [
        row(f"{q}/{s}", metric, float(value + rng.random()), question_id=f"q{q}", system=s)
        for q, value in enumerate(values)
        for s in "xyz"
        for metric in ("m", "k")
    ]
    people = [
        {"example_id": f"{q}/{s}", "value": v} for q, v in enumerate(said.tolist()) for s in "xyz"
    ]
    tables = {
        table.name: table
        for section in sections(metaeval(rows, people))
        for table in section.tables
    }
    for name in ("correlation", "differences", "auc", "auc_differences"):
        assert {
            c.clusters for cells in tables[name].rows for c in cells if isinstance(c, Estimate)
        } == {30}, name
        assert "question" in tables[name].note, name


def test_delongs_variance_over_questions_is_obuchowskis():
    rng = np.random.default_rng(5)
    names = rng.integers(0, 12, 70)
    yes = (rng.random(70) < 0.5).astype(float)
    marks = np.round(yes + rng.normal(size=12)[names] + rng.normal(size=70), 1)
    above, below = marks[yes == 1], marks[yes == 0]
    psi = (above[:, None] > below[None, :]) + 0.5 * (above[:, None] == below[None, :])
    value, m, n = psi.mean(), len(above), len(below)
    up, down = np.zeros(12), np.zeros(12)
    for place, name in enumerate(names[yes == 1]):
        up[name] += psi[place].mean() - value
    for place, name in enumerate(names[yes == 0]):
        down[name] += psi[:, place].mean() - value
    with_yes, with_no, groups = (
        len(set(names[yes == 1])),
        len(set(names[yes == 0])),
        len(set(names)),
    )
    s10 = with_yes / ((with_yes - 1) * m) * (up**2).sum()
    s01 = with_no / ((with_no - 1) * n) * (down**2).sum()
    s11 = groups / (groups - 1) * (up * down).sum()
    variance = s10 / m + s01 / n + 2 * s11 / (m * n)
    t = t_quantile(0.95, degrees_of_freedom(np.bincount(names).tolist()))
    half = t * math.sqrt(variance) / (value * (1 - value))
    found = auc(marks, yes, 0.95, names.tolist())
    assert found.value == pytest.approx(value)
    assert found.clusters == groups
    centre = math.log(value / (1 - value))
    assert found.low == pytest.approx(1 / (1 + math.exp(half - centre)))
    assert found.high == pytest.approx(1 / (1 + math.exp(-half - centre)))


def test_an_auc_without_enough_questions_says_so():
    yes = np.array([1.0, 0] * 6)
    found = auc(np.arange(12.0), yes, 0.95, ["a"] * 6 + ["b"] * 6)
    assert found.low is None
    assert (
        found.reason
        == "an interval needs answers to at least 5 questions, with yes and with no to two of them each"
    )


def test_the_test_of_two_aucs_keeps_its_level_where_answers_hang_together():
    # Two metrics that follow people alike; a question raises or lowers all its 8 answers. Asked .05. Of 300, 99.9 % of
    # the binomial: 4 to 29; taken as independent near 45.
    rng = np.random.default_rng(11)
    between, within = (np.full((3, 3), r) + (1 - r) * np.eye(3) for r in (0.6, 0.3))
    names = [str(place // 8) for place in range(400)]
    false = plain = 0
    for _ in range(300):
        effect = rng.multivariate_normal(np.zeros(3), between, (50, 1))
        own = rng.multivariate_normal(np.zeros(3), within, (50, 8))
        people, a, b = ((effect + own) / math.sqrt(2)).reshape(-1, 3).T
        yes = (people > 0).astype(float)
        for clusters in (names, None):
            found = auc_difference(a, b, yes, 0.95, clusters)
            assert found.p is not None
            false += clusters is not None and found.p <= 0.05
            plain += clusters is None and found.p <= 0.05
    assert 4 <= false <= 29
    assert plain > 29


def test_shares_of_pairs_of_one_question_are_wider():
    # Ten questions; on five of them every one of 6 pairs is a tie, on the others none: as sure as ten pairs.
    rows, said = [], []
    for question in range(10):
        for side in "abcd":
            value = 0.5 if question < 5 else float("abcd".index(side))
            rows.append(
                row(f"{question}{side}", "m", value, question_id=f"q{question}", system=side)
            )
        for a, b in ("ab", "ac", "ad", "bc", "bd", "cd"):
            said.append(
                {
                    "question_id": f"q{question}",
                    "a": a,
                    "b": b,
                    "choice": "a" if question % 2 else "b",
                }
            )
    part = metaeval(rows, said).labels[0]
    assert isinstance(part, ChoiceLabel)
    ties = part.metrics[0].ties
    assert (ties.value, ties.n) == (0.5, 60)
    z = NormalDist().inv_cdf(0.975)
    assert width(ties.low, ties.high) > 2 * z * math.sqrt(0.25 / 14)
    position = part.positions[0]
    assert width(position.first.low, position.first.high) == pytest.approx(
        width(ties.low, ties.high)
    )


def test_a_label_of_two_values_has_one_alpha():
    rng = np.random.default_rng(4)
    rows = [row(f"e{i}", "m", float(value)) for i, value in enumerate(rng.random(30))]

    def scales(values: int) -> list[str]:
        said = [
            {"example_id": f"e{i}", "value": int(rng.integers(0, values)), "rater": rater}
            for i in range(30)
            for rater in "xyz"
        ]
        part = metaeval(rows, said).labels[0]
        return [
            a.scale
            for a in part.agreement.coefficients
            if a.coefficient == "Krippendorff's alpha" and a.scale
        ]

    assert scales(2) == ["nominal"]
    assert scales(4) == ["nominal", "ordinal", "interval"]
