"""A run says before its first call which metrics have no model that could score its examples."""

from pathlib import Path
from typing import Any

import pytest

from longmark import run
from longmark.models.fake import FakeChat
from longmark.options import command_line

METRICS = ["ragchecker", "citations", "sources", "comprehensiveness.qa", "comprehensiveness.nli"]


def record(**fields: Any) -> dict[str, Any]:
    return {
        "question": "Why does ice float?",
        "answer": "Ice is less dense than water [1]. So it floats on it [1].",
        "contexts": ["Ice is less dense than water.", "Less dense bodies float."],
        "references": ["It is less dense."],
    } | fields


def told(tmp_path: Path, metrics: list[str], records: Any, **options: Any) -> tuple[list[str], Any]:
    sentences: list[str] = []
    result = run(
        records,
        metrics,
        out=tmp_path / "run",
        cache=str(tmp_path / "calls.sqlite"),
        tell=sentences.append,
        quiet=True,
        **options,
    )
    return [sentence for sentence in sentences if "none is named" in sentence], result


@pytest.mark.parametrize("metric", METRICS)
def test_the_metrics_that_are_named_are_those_whose_rows_say_that_no_judge_is_there(
    tmp_path: Path, metric: str
) -> None:
    sentences, result = told(tmp_path, [metric], [record()], checker="overlap")
    reasons = [row.reason or "" for row in result.rows()]
    lacking = any("no judge" in reason for reason in reasons)
    assert bool(sentences) == lacking
    for sentence in sentences:
        assert sentence.startswith(f"{metric}: 1 of 1 examples need a judge, and none is named")


def test_without_a_checker_too_either_is_named(tmp_path: Path) -> None:
    with command_line():
        (sentence,), result = told(tmp_path, ["citations"], [record(), record(id="b")])
    assert sentence == (
        "citations: 2 of 2 examples need a judge or a checker, and none is named: scores that depend on it will be "
        "unscored (missing_input). Add --judge MODEL or --checker MODEL (embedded: on this machine, without a "
        "price), or omit the metric."
    )
    assert any(row.status == "missing_input" for row in result.rows())


def test_examples_that_carry_their_claims_need_no_judge(tmp_path: Path) -> None:
    claims = {"claims": ["Ice is less dense."], "reference_claims": ["It is less dense."]}
    sentences, _ = told(
        tmp_path, ["ragchecker"], [record(**claims), record(id="b")], checker="overlap"
    )
    assert [sentence[:36] for sentence in sentences] == ["ragchecker: 1 of 2 examples need a j"]
    sentences, _ = told(tmp_path / "2", ["ragchecker"], [record(**claims)], checker="overlap")
    assert sentences == []


def test_records_that_can_be_read_once_are_not_read_for_it(tmp_path: Path) -> None:
    sentences, result = told(tmp_path, ["ragchecker"], iter([record()]), checker="overlap")
    assert sentences == []
    assert len(list(result.rows())) == 11


def test_with_a_judge_nothing_is_said(tmp_path: Path) -> None:
    judge = FakeChat("judge", name="judge")
    sentences, _ = told(tmp_path, ["citations"], [record(answer="It floats.")], judges=[judge])
    assert sentences == []
