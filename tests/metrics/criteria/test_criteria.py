"""Criteria: HealthBench's score of an answer by the rubric of its question."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.report.runs import row

import longmark
from longmark.errors import BadInput
from longmark.metrics.criteria import CriteriaParams, points_share
from longmark.models.fake import FakeChat
from longmark.models.protocols import ChatRequest
from longmark.records import Example
from longmark.records.expected import RubricItem
from longmark.records.read import Reading
from longmark.report.evidence import views_of
from longmark.report.worst import why_of
from longmark.scores.manifest import MetricFacts
from longmark.testing import Scored, score_sync


def rubric(*points: float, tags: Sequence[Sequence[str]] = ()) -> tuple[RubricItem, ...]:
    return tuple(
        RubricItem(
            criterion=f"Criterion {number}.",
            points=value,
            tags=tuple(tags[number]) if tags else (),
        )
        for number, value in enumerate(points)
    )


def judge(met: Sequence[int], sent: list[str] | None = None) -> FakeChat:
    """A judge that finds the criteria of these numbers met."""

    def reply(request: ChatRequest) -> str:
        asked = request.messages[1].content
        if sent is not None:
            sent.append(asked)
        listed = re.findall(r"^\[(\d+)\] Criterion (\d+)\.$", asked, re.MULTILINE)
        return json.dumps(
            {place: "met" if int(number) in met else "not_met" for place, number in listed}
        )

    return FakeChat(reply)


def scored(
    items: Sequence[RubricItem], model: FakeChat, params: Mapping[str, Any] | None = None
) -> Scored:
    example = Example(id="1", question="Why?", answer="So.", criteria=tuple(items))
    return score_sync("criteria", example, params, judge=model)["criteria.score"]


def test_the_score_is_that_of_healthbenchs_own_test() -> None:
    # openai/simple-evals ee3b031, healthbench_eval_test.py: met 7, 10 and -6 of 7 + 5 + 10
    assert scored(rubric(7, 5, 10, -6), judge([0, 2, 3])).value == 11 / 22


@pytest.mark.parametrize(
    ("points", "met", "expected"),
    [
        ((5, 5), (0, 1), 1.0),
        ((5, 5), (), 0.0),
        ((5, -5), (0, 1), 0.0),
        ((2, -5), (1,), -2.5),  # no answer is clipped
        ((2, -5), (0,), 1.0),
        ((1, 0, 3), (0, 1), 0.25),
        ((0.5, 1.5), (1,), 0.75),
    ],
)
def test_points_met_are_divided_by_the_positive_points(
    points: tuple[float, ...], met: tuple[int, ...], expected: float
) -> None:
    assert scored(rubric(*points), judge(met)).value == pytest.approx(expected)


@pytest.mark.parametrize("points", [(), (-1,), (0, -2)])
def test_a_rubric_without_positive_points_gives_no_score(points: tuple[float, ...]) -> None:
    # healthbench_eval.py:142-144 returns None
    assert points_share([(item, True) for item in rubric(*points)]) is None
    unscored = scored(rubric(*points), judge([0]))
    assert (unscored.value, unscored.status) == (None, "undefined")
    assert unscored.reason == "No criterion of this question has positive points."


def test_ten_criteria_are_asked_about_in_a_call_and_one_as_published() -> None:
    sent: list[str] = []
    assert scored(rubric(*[1] * 23), judge(range(0, 23, 2), sent)).value == 12 / 23
    assert len(sent) == 3
    sent.clear()
    assert scored(rubric(*[1] * 5), judge([0], sent), {"batch": 1}).value == 0.2
    assert len(sent) == 5
    assert longmark.metrics.load("criteria").as_published == {"batch": 1}


def test_the_points_are_not_shown_to_the_judge() -> None:
    sent: list[str] = []
    scored(rubric(77, -88), judge([0], sent))
    assert "77" not in re.sub(r"<[^>]*>", "", sent[0])
    assert "88" not in re.sub(r"<[^>]*>", "", sent[0])


def test_equal_criteria_are_asked_about_once_and_each_counts() -> None:
    sent: list[str] = []
    items = (*rubric(1), *rubric(2), RubricItem(criterion="Criterion 1.", points=3))
    assert scored(items, judge([0], sent)).value == 3 / 6
    assert len(re.findall(r"^\[\d+\]", sent[0], re.MULTILINE)) == 2


@pytest.mark.parametrize("reply", ['{"1": "met"}', '{"1": "yes", "2": "no"}', "[true, false]", ""])
def test_a_reply_that_is_not_a_verdict_on_each_is_none(reply: str) -> None:
    assert scored(rubric(1, 1), FakeChat(reply)).status == "unparsable"


def test_the_evidence_begins_with_what_cost_most_and_has_the_scores_of_tags() -> None:
    items = rubric(2, 5, -8, -1, tags=[["a"], ["a", "b"], ["b"], ["c"]])
    evidence = scored(items, judge([0, 2])).evidence
    assert [(entry["text"], entry["met"], entry["effect"]) for entry in evidence["criteria"]] == [
        ("Criterion 2.", True, "lost"),
        ("Criterion 1.", False, "lost"),
        ("Criterion 0.", True, "kept"),
        ("Criterion 3.", False, "kept"),
    ]
    assert evidence["by_tag"] == [{"tag": "a", "score": 2 / 7}, {"tag": "b", "score": -8 / 5}]
    assert (evidence["points"], evidence["possible_points"]) == (-6, 7)
    declared = MetricFacts(
        None,
        1,
        True,
        view=("cells", "m"),
        why=("Criterion that cost points", "criteria", "effect", "kept"),
    )
    shown = row("x", "m", -6 / 7, evidence=evidence)
    assert why_of(shown, declared) == ("Criterion that cost points (1 of 2)", "Criterion 2.")
    assert views_of({"m": shown}, {"m": declared})


def test_an_empty_answer_is_judged_like_any_other() -> None:
    example = Example(id="1", question="Why?", answer="", criteria=rubric(4, -2))
    scores = score_sync("criteria", example, judge=judge([1]))
    assert scores["criteria.score"].value == -0.5


def test_criteria_of_a_file_are_found_by_the_id_of_the_prompt(tmp_path: Path) -> None:
    items = [{"criterion": f"Criterion {n}.", "points": value} for n, value in enumerate((3, 1))]
    healthbench = {"prompt_id": "p1", "prompt": [{"role": "user", "content": "Why?"}]}
    path = tmp_path / "rubrics.jsonl"
    path.write_text(json.dumps(healthbench | {"rubrics": items}) + "\n", encoding="utf-8")
    example = Example(id="1", question_id="p1", question="Why?", answer="So.")
    scores = score_sync("criteria", example, {"file": str(path)}, judge=judge([0]))
    assert scores["criteria.score"].value == 0.75
    other = example.model_copy(update={"question_id": "p2"})
    scores = score_sync("criteria", other, {"file": str(path)}, judge=judge([0]))
    assert scores["criteria.score"].status == "missing_input"
    path.write_text(json.dumps(healthbench) + "\n", encoding="utf-8")
    with pytest.raises(BadInput, match="has no criteria or rubrics"):
        CriteriaParams(file=str(path)).ready()


def test_a_line_of_healthbench_with_an_answer_is_an_example(tmp_path: Path) -> None:
    line: dict[str, Any] = {
        "prompt_id": "p1",
        "prompt": [
            {"role": "user", "content": "I have a cold."},
            {"role": "assistant", "content": "Since when?"},
            {"role": "user", "content": "Monday. What helps?"},
        ],
        "rubrics": [{"criterion": "Criterion 0.", "points": 5, "tags": ["level:example"]}],
        "example_tags": ["theme:context_seeking"],
        "ideal_completions_data": {
            "ideal_completion": "Rest.",
            "ideal_completions_group": "Group 1",
        },
    }
    path = tmp_path / "answers.jsonl"
    lines = [
        line | {"completion": "Tea.", "model": "a"},
        line | {"completion": "Rest.", "model": "b"},
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in lines), encoding="utf-8")
    reading = Reading(path)
    examples = list(reading.singles())
    assert reading.shape is not None
    assert reading.shape.name == "HealthBench"
    assert [(one.question_id, one.system, one.answer) for one in examples] == [
        ("p1", "a", "Tea."),
        ("p1", "b", "Rest."),
    ]
    assert examples[0].question == "Monday. What helps?"
    assert [turn.text for turn in examples[0].turns][:2] == ["I have a cold.", "Since when?"]
    assert examples[0].references == ("Rest.",)
    assert examples[0].criteria == (
        RubricItem(criterion="Criterion 0.", points=5, tags=("level:example",)),
    )
    assert score_sync("criteria", examples[0], judge=judge([0]))["criteria.score"].value == 1.0


def test_the_score_of_a_tag_is_of_the_criteria_that_have_it() -> None:
    items = rubric(4, 6, -2, tags=[["axis:accuracy"], ["axis:context"], ["axis:accuracy"]])
    whole = scored(items, judge([0, 2]))
    accuracy = scored(items, judge([0, 2]), {"tag": "axis:accuracy"})
    assert whole.value == (4 - 2) / 10
    assert accuracy.value == (4 - 2) / 4
    assert {"tag": "axis:accuracy", "score": accuracy.value} in whole.evidence["by_tag"]


def test_a_tag_that_no_criterion_has_is_unscored_and_the_tags_are_named() -> None:
    items = rubric(4, 6, tags=[["axis:accuracy"], ["axis:context"]])
    sent: list[str] = []
    result = scored(items, judge([0], sent), {"tag": "accuracy"})
    assert result.status == "undefined"
    assert result.reason is not None
    assert "has the tag 'accuracy'; its tags are axis:accuracy, axis:context" in result.reason
    assert not sent


def test_scores_of_several_tags_share_their_calls(tmp_path: Path) -> None:
    sent: list[str] = []
    items = [
        {"criterion": "Criterion 0.", "points": 4, "tags": ["axis:accuracy"]},
        {"criterion": "Criterion 1.", "points": 6, "tags": ["theme:hedging"]},
    ]
    example = {"id": "1", "question": "Why?", "answer": "So.", "criteria": items}
    names = ["criteria", "criteria@tag=axis:accuracy", "criteria@tag=theme:hedging"]
    run = longmark.run(
        [example],
        names,
        judges=[judge([0], sent)],
        out=tmp_path / "run",
        cache=tmp_path / "calls.sqlite",
    )
    assert {row.metric: row.score for row in run.rows()} == {
        "criteria.score": 0.4,
        "criteria.score@tag=axis:accuracy": 1.0,
        "criteria.score@tag=theme:hedging": 0.0,
    }
    assert len(sent) == 1
