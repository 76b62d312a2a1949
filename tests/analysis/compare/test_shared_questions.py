"""Where the systems share too few questions."""

import numpy as np
import pytest
from tests.analysis.compare.runs import run_of
from tests.report.runs import EASE, RELEVANCE
from tests.there import there

from longmark.analysis.compare import compare
from longmark.analysis.compare.checks import advice, without_the_sparse
from longmark.errors import UserError

HERE: list[float | None] = [0.1, 0.5, 0.3, 0.9]
ELSEWHERE: list[float | None] = [None, None, None, None, 0.4, 0.2]


def test_a_system_apart_from_all_others_is_named_with_the_way_out(tmp_path):
    values = {"x": {RELEVANCE: HERE}, "y": {RELEVANCE: HERE[::-1]}, "z": {RELEVANCE: ELSEWHERE}}
    run = run_of(tmp_path / "run", values)
    with pytest.raises(UserError) as refused:
        compare([run])
    assert str(refused.value).endswith(
        f"{RELEVANCE}: no question has a score of every system; z shares no question with any other; 4 without z: use "
        "--systems x,y"
    )
    assert compare([run], systems=["x", "y"], draws=100).metrics[0].common == 4


def test_where_another_metric_can_be_tested_it_is_said_of_this_one(tmp_path):
    values: dict[str, dict[str, list[float | None]]] = {s: {RELEVANCE: HERE, EASE: HERE} for s in "xy"}
    values["z"] = {RELEVANCE: ELSEWHERE, EASE: HERE}
    found = compare([run_of(tmp_path / "run", values)], draws=100)
    metric = found.metric(RELEVANCE)
    assert metric.common == 0
    assert "z shares no question with any other; 4 without z" in there(metric.reason)
    assert f"{RELEVANCE}: {metric.reason}." in found.notices
    assert found.metric(EASE).common == 4


def test_the_one_without_whom_most_is_common_is_left_out():
    there_is = np.ones((10, 4), dtype=bool)
    there_is[2:, 1] = False
    there_is[:3, 3] = False
    assert without_the_sparse(there_is) == [0, 2, 3]
    assert advice("abcd", there_is).endswith("7 without b: use --systems a,c,d")
    assert advice("ab", np.eye(2, dtype=bool)) == (
        "no question has a score of every system; a, b share no question with any other"
    )


def test_where_no_single_one_helps_several_go():
    there_is = np.zeros((12, 4), dtype=bool)
    there_is[:6, :2] = True
    there_is[6:9, 2] = True
    there_is[9:, 3] = True
    assert without_the_sparse(there_is) == [0, 1]
