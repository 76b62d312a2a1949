"""Pairs on the questions that both have, or on those that every system has."""

import numpy as np
import pytest
from tests.analysis.compare.runs import run_of
from tests.report.runs import EASE, RELEVANCE
from tests.there import there

from longmark.analysis.compare import compare
from longmark.errors import UserError

HERE: list[float | None] = [0.1, 0.5, 0.3, 0.9]
ELSEWHERE: list[float | None] = [None, None, None, None, 0.4, 0.2]


def test_a_sparse_system_costs_the_other_pairs_no_question(tmp_path):
    random = np.random.default_rng(3)
    values: dict[str, dict[str, list[float | None]]] = {
        s: {RELEVANCE: random.random(40).tolist()} for s in "xyz"
    }
    values["z"][RELEVANCE][:16] = [None] * 16
    run = run_of(tmp_path / "run", values)
    found = compare([run], draws=300)
    counts = {tuple(sorted((p.first, p.second))): p.difference.n for p in found.metrics[0].pairs}
    assert counts == {("x", "y"): 40, ("x", "z"): 24, ("y", "z"): 24}
    assert all(pair.difference.n == pair.difference.n for pair in found.metrics[0].pairs)
    (notice,) = [one for one in found.notices if "excluded" in one]
    assert notice == (
        "Questions are excluded for pairs with a system that has no score: "
        f"{RELEVANCE} up to 16 of 40 (40 %). Most missing scores: z."
    )
    # a mean is over the system's own questions, a difference over those of both
    z = next(one for one in found.metrics[0].systems if one.system == "z")
    assert (z.mean.n, {one.mean.n for one in found.metrics[0].systems}) == (24, {24, 40})
    whole = compare([run], draws=300, complete=True)
    assert (whole.metrics[0].n, whole.metrics[0].questions) == (24, 24)
    assert all(
        pair.difference.n == 24 and there(pair.difference.n) == 24
        for pair in whole.metrics[0].pairs
    )
    assert [one.mean.n for one in whole.metrics[0].systems] == [24] * 3


def test_runs_of_different_questions_are_said_to_be_that_and_not_unscored(tmp_path):
    values = np.random.default_rng(3).random(12).tolist()
    runs = [
        run_of(tmp_path / name, {name: {RELEVANCE: values[:count]}})
        for name, count in (("old", 9), ("new", 12))
    ]
    notices = compare(runs, draws=300).notices
    assert (
        "The systems were not scored on the same questions: old has no row for 3. A difference "
        "is that on the common questions; to compare all of them, score the same questions for each."
        in notices
    )
    assert not [notice for notice in notices if "find out why they are not scored" in notice]


def test_the_better_of_a_pair_is_the_one_with_the_better_scores_on_common_questions(tmp_path):
    """z answered the easy half only: its mean is the highest, and x is better wherever both answered."""
    x = [0.2 + 0.001 * i for i in range(20)] + [0.9 - 0.002 * i for i in range(20)]
    z: list[float | None] = [
        *[None] * 20,
        *(value - 0.05 - 0.001 * i for i, value in enumerate(x[20:])),
    ]
    y = [value - 0.01 for value in x]
    (metric,) = compare(
        [run_of(tmp_path / "run", {"x": {RELEVANCE: x}, "y": {RELEVANCE: y}, "z": {RELEVANCE: z}})]
    ).metrics
    assert metric.systems[0].system == "z"
    pair = next(one for one in metric.pairs if {one.first, one.second} == {"x", "z"})
    assert (pair.first, pair.better) == ("x", "x"), "in the order given"
    assert there(pair.difference.value) > 0
    ranks = {one.system: (one.best, one.worst) for one in metric.systems}
    assert ranks == {"x": (1, 1), "y": (2, 2), "z": (3, 3)}


def test_pairs_without_a_common_question_have_no_test_and_the_others_have_one(tmp_path):
    values = {"x": {RELEVANCE: HERE}, "y": {RELEVANCE: HERE[::-1]}, "z": {RELEVANCE: ELSEWHERE}}
    run = run_of(tmp_path / "run", values)
    found = compare([run], draws=100)
    tests = {frozenset((p.first, p.second)): p.difference for p in found.metrics[0].pairs}
    assert tests[frozenset("xy")].p is not None
    assert tests[frozenset("xz")].p is None
    assert tests[frozenset("xz")].reason == "the test needs at least 3 common questions; found 0"
    with pytest.raises(UserError, match="Leave out complete=True"):
        compare([run], complete=True)
    assert compare([run], systems=["x", "y"], complete=True, draws=100).metrics[0].n == 4


def test_of_a_metric_without_common_questions_the_reason_is_a_notice(tmp_path):
    values = {"x": {RELEVANCE: HERE, EASE: HERE}, "z": {RELEVANCE: ELSEWHERE, EASE: HERE}}
    found = compare([run_of(tmp_path / "run", values)], draws=100)
    reason = there(found.metric(RELEVANCE).reason)
    assert reason == "the test needs at least 3 common questions; found 0"
    assert f"{RELEVANCE}: {reason}." in found.notices
    assert found.metric(EASE).n == 4
