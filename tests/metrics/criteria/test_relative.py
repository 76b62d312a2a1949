"""Criteria relative to a reference report, as RACE of DeepResearch Bench scores reports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from longmark.errors import BadInput
from longmark.metrics.criteria import CriteriaParams
from longmark.models.fake import FakeChat
from longmark.models.protocols import ChatRequest
from longmark.records import Example
from longmark.records.expected import RubricItem
from longmark.testing import Scored, score_sync

ITEMS = (
    RubricItem(criterion="Covers costs.", points=0.3, tags=("comprehensiveness",)),
    RubricItem(criterion="Covers risks.", points=0.3, tags=("comprehensiveness",)),
    RubricItem(criterion="Explains why.", points=0.4, tags=("insight",)),
)
RATINGS = {"answer": {"1": 8, "2": 4, "3": 5.5}, "reference": {"1": 6, "2": 6, "3": 9}}


def scored(
    reply: Any, items: tuple[RubricItem, ...] = ITEMS, references: tuple[str, ...] = ("Theirs.",)
) -> Scored:
    example = Example(
        id="1", question="Why?", answer="Ours.", references=references, criteria=items
    )
    judge = FakeChat(reply if callable(reply) else json.dumps(reply))
    return score_sync("criteria", example, {"form": "relative"}, judge=judge)["criteria.score"]


def test_the_score_is_the_share_of_the_answer_in_the_weighted_ratings_of_both() -> None:
    # answer .3 * 8 + .3 * 4 + .4 * 5.5 = 5.8; reference .3 * 6 + .3 * 6 + .4 * 9 = 7.2
    result = scored(RATINGS)
    assert result.value == pytest.approx(5.8 / 13)
    # dimensions: 12 / (12 + 12) and 5.5 / 14.5
    assert result.evidence["by_tag"] == [
        {"tag": "comprehensiveness", "score": pytest.approx(0.5)},
        {"tag": "insight", "score": pytest.approx(5.5 / 14.5)},
    ]
    # behind by .4 * 3.5, then by .3 * 2, then ahead
    assert [(entry["text"], entry["effect"]) for entry in result.evidence["criteria"]] == [
        ("Explains why.", "lost"),
        ("Covers risks.", "lost"),
        ("Covers costs.", "kept"),
    ]


def test_both_texts_are_rated_in_one_call_and_faults_are_not() -> None:
    sent: list[str] = []

    def reply(request: ChatRequest) -> str:
        sent.append(request.messages[1].content)
        return json.dumps(RATINGS)

    fault = RubricItem(criterion="Is rude.", points=-5)
    assert scored(reply, (*ITEMS, fault)).value == pytest.approx(5.8 / 13)
    (asked,) = sent
    assert "Ours." in asked
    assert "Theirs." in asked
    assert "Is rude." not in asked


def test_of_several_references_the_one_that_favours_the_answer_counts() -> None:
    def reply(request: ChatRequest) -> str:
        weak = "Weak." in request.messages[1].content
        return json.dumps({"answer": {"1": 6}, "reference": {"1": 2 if weak else 6}})

    assert scored(reply, ITEMS[:1], ("Theirs.", "Weak.")).value == 0.75


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ({"answer": {"1": 0}, "reference": {"1": 0}}, "undefined"),
        ({"answer": {"1": 11}, "reference": {"1": 5}}, "unparsable"),
        ({"answer": {"1": -1}, "reference": {"1": 5}}, "unparsable"),
        ({"answer": {"1": 5, "2": 5}, "reference": {"1": 5}}, "unparsable"),
        ({"answer": {"1": "5"}, "reference": {"1": 5}}, "unparsable"),
        ({"answer": {"1": 5}}, "unparsable"),
    ],
)
def test_ratings_that_are_none_give_no_score(reply: Any, status: str) -> None:
    assert scored(reply, ITEMS[:1]).status == status


def test_an_example_without_a_reference_is_unscored() -> None:
    result = scored(RATINGS, references=())
    assert result.status == "missing_input"
    assert result.reason == "The example has no reference answer (form=relative)."


def record(**changes: Any) -> Mapping[str, Any]:
    """The layout of data/criteria_data/criteria.jsonl of DeepResearch Bench at 214741e."""
    insight = {"criterion": "Depth", "explanation": "Explains why.", "weight": 1.0}
    costs = {"criterion": "Costs", "explanation": "Covers them.", "weight": 0.25}
    return {
        "id": 51,
        "prompt": "Why?",
        "dimension_weight": {"comprehensiveness": 0.6, "insight": 0.4},
        "criterions": {
            "comprehensiveness": [costs, costs | {"criterion": "Risks", "weight": 0.75}],
            "insight": [insight],
        },
        **changes,
    }


def write(path: Path, line: Mapping[str, Any]) -> str:
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    return str(path)


def test_criteria_of_deepresearch_bench_are_read_with_the_weights_of_their_dimensions(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "criteria.jsonl", record())
    sent: list[str] = []

    def reply(request: ChatRequest) -> str:
        sent.append(request.messages[1].content)
        return json.dumps(
            {"answer": {"1": 8, "2": 4, "3": 5}, "reference": {"1": 4, "2": 8, "3": 5}}
        )

    example = Example(id="1", question="Why?", answer="Ours.", references=("Theirs.",))
    params = {"file": path, "form": "relative"}
    result = score_sync("criteria", example, params, judge=FakeChat(reply))["criteria.score"]
    # .6 * (.25 * 8 + .75 * 4) + .4 * 5 = 5; .6 * (.25 * 4 + .75 * 8) + .4 * 5 = 6.2
    assert result.value == pytest.approx(5 / 11.2)
    assert "Costs: Covers them." in sent[0]
    assert {entry["tags"] for entry in result.evidence["criteria"]} == {
        "comprehensiveness",
        "insight",
    }


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"dimension_weight": {"insight": 1}}, "dimension_weight.comprehensiveness: expected"),
        ({"criterions": {"insight": "all"}}, "criterions.insight: expected a list of criteria"),
        (
            {"criterions": {"insight": [{"criterion": "a", "weight": -1}]}},
            "criterions.insight[0].weight: expected a weight from 0 on",
        ),
    ],
)
def test_what_is_wrong_in_weighted_dimensions_is_named(
    changes: Mapping[str, Any], says: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "criteria.jsonl", record(**changes))
    with pytest.raises(BadInput) as raised:
        CriteriaParams(file=path).ready()
    assert says in str(raised.value)


def test_the_score_of_a_tag_is_that_of_its_dimension_in_the_same_call() -> None:
    sent: list[str] = []

    def reply(request: ChatRequest) -> str:
        sent.append(request.messages[1].content)
        return json.dumps(RATINGS)

    example = Example(
        id="1", question="Why?", answer="Ours.", references=("Theirs.",), criteria=ITEMS
    )
    params = {"form": "relative", "tag": "insight"}
    result = score_sync("criteria", example, params, judge=FakeChat(reply))["criteria.score"]
    assert result.value == pytest.approx(5.5 / 14.5)
    assert "Covers costs." in sent[0]  # all criteria are rated, whatever the tag
    assert len(result.evidence["criteria"]) == len(ITEMS)


def test_a_tag_that_is_rated_0_in_both_texts_is_undefined() -> None:
    ratings = {"answer": {"1": 8, "2": 4, "3": 0}, "reference": {"1": 6, "2": 6, "3": 0}}
    example = Example(
        id="1", question="Why?", answer="Ours.", references=("Theirs.",), criteria=ITEMS
    )
    params = {"form": "relative", "tag": "insight"}
    judge = FakeChat(json.dumps(ratings))
    result = score_sync("criteria", example, params, judge=judge)["criteria.score"]
    assert result.status == "undefined"
    assert result.reason == "Answer and reference are rated 0 by every criterion of insight."
