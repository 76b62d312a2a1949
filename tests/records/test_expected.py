"""Nuggets and criteria in a record: the layouts of TREC RAG, nuggetizer, HealthBench and ResearchRubrics, and what is
none."""

from __future__ import annotations

from typing import Any

import pytest

from longmark.models.fake import FakeChat
from longmark.records import Example
from longmark.records.columns import Columns
from longmark.records.expected import Nugget, RubricItem
from longmark.records.pair import Pair, example_of
from longmark.records.read import Reading
from longmark.records.record_reading import BadRecord
from longmark.testing import score_sync

ASKED = {"question": "Why is ice cold?", "answer": "It is frozen."}


def read(**columns: Any) -> Example:
    example = Columns().example(ASKED | columns)
    assert isinstance(example, Example)
    return example


def test_nuggets_are_read_as_nuggetizer_writes_them():
    nuggets = [
        {"text": "Ice is frozen water.", "importance": "vital", "assignment": "partial_support"},
        {"text": "It melts at 0 °C.", "importance": "okay", "assignment": "not_support"},
    ]
    assert read(nuggets=nuggets).nuggets == (
        Nugget(text="Ice is frozen water.", importance="vital", assignment="partial_support"),
        Nugget(text="It melts at 0 °C.", importance="okay", assignment="not_support"),
    )


def test_a_nugget_without_an_importance_is_vital_and_a_failed_assignment_is_none():
    nuggets = ["Ice is frozen water.", {"text": "It melts.", "assignment": "failed"}]
    assert read(nuggets=nuggets).nuggets == (
        Nugget(text="Ice is frozen water."),
        Nugget(text="It melts."),
    )


@pytest.mark.parametrize(
    ("fields", "importance"),
    [
        ({"vital": False}, "okay"),
        ({"vital": True}, "vital"),
        ({"vital": "False"}, "okay"),
        ({"vital": 0, "importance": None}, "okay"),
        ({"okay": True}, "okay"),
        ({"label": "Okay"}, "okay"),
        ({"importance": "okay", "label": "history"}, "okay"),
        ({"importance": "okay", "vital": False, "weight": 2}, "okay"),
    ],
)
def test_a_nugget_says_its_importance_under_other_keys(fields: dict[str, Any], importance: str):
    (nugget,) = read(nuggets=[{"text": "a", **fields}]).nuggets or ()
    assert nugget.importance == importance


def test_nuggets_in_a_cell_are_read_as_json():
    cells = Columns(cells=True)
    example = cells.example(ASKED | {"nuggets": '[{"text": "a", "importance": "OKAY"}]'})
    assert isinstance(example, Example)
    assert example.nuggets == (Nugget(text="a", importance="okay"),)


@pytest.mark.parametrize("column", ["criteria", "rubrics"])
def test_criteria_are_read_as_healthbench_and_researchrubrics_write_them(column: str):
    rubrics = [
        {"criterion": "Says it is frozen.", "points": "7", "tags": ["level:example"]},
        {"criterion": "Blames the moon.", "weight": -2.5, "axis": "Explicit Criteria"},
    ]
    assert read(**{column: rubrics}).criteria == (
        RubricItem(criterion="Says it is frozen.", points=7, tags=("level:example",)),
        RubricItem(criterion="Blames the moon.", points=-2.5, tags=("Explicit Criteria",)),
    )


def test_an_example_is_written_and_read_again_as_it_was():
    example = read(
        nuggets=[{"text": "a", "assignment": "support"}, {"text": "b", "importance": "okay"}],
        criteria=[{"criterion": "c", "points": -1, "tags": ["t"]}],
    )
    assert example_of(example.to_json()) == example
    assert read().content_hash() != example.content_hash()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("rubrics", {"score1_description": "wrong", "score5_description": "right"}),  # Ragas
        ("criteria", "clarity"),
        ("criteria", [{"title": "clarity", "weight": 2}]),
        ("nuggets", "golden"),
        ("nuggets", 12),
    ],
)
def test_columns_of_other_tools_with_these_names_stay_in_meta(column: str, value: Any):
    example = read(**{column: value})
    assert (example.nuggets, example.criteria) == (None, None)
    assert example.meta == {column: value}


def test_an_empty_list_says_that_there_are_none():
    assert read(nuggets=[], rubrics=[]).nuggets == ()
    assert read(nuggets=[], rubrics=[]).criteria == ()


def test_nuggets_of_a_pair_stay_in_meta():
    nuggets = [{"text": "a"}]
    pair = Columns().example({"question": "Why?", "a": "x", "b": "y", "nuggets": nuggets})
    assert isinstance(pair, Pair)
    assert pair.meta == {"nuggets": nuggets}


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"nuggets": [{"text": "a"}, {"text": " "}]}, "nuggets[1].text: is empty; remove"),
        ({"nuggets": [{"words": "a"}]}, "nuggets[0].text: expected text, found null"),
        (
            {"nuggets": [{"text": "a", "importance": "must"}]},
            'nuggets[0].importance: expected vital or okay, found "must"',
        ),
        (
            {"nuggets": [{"text": "a", "vital": "perhaps"}]},
            'nuggets[0].vital: expected true or false, found "perhaps"',
        ),
        (
            {"nuggets": [{"text": "a", "importance": "vital", "vital": False}]},
            "nuggets[0]: importance means vital but vital means okay; keep one",
        ),
        (
            {"nuggets": [{"text": "a", "label": "nice to have"}]},
            'nuggets[0].label: expected vital or okay, found "nice to have"',
        ),
        (
            {"nuggets": [{"text": "a", "weight": 0.5}]},
            "nuggets[0].weight: nuggets are vital or okay and have no weights",
        ),
        (
            {"nuggets": [{"text": "a", "assignment": "yes"}]},
            "nuggets[0].assignment: expected support or partial_support or not_support, found",
        ),
        ({"criteria": [{"criterion": "a"}]}, "criteria[0].points: expected a number, found null"),
        (
            {"rubrics": [{"criterion": "a", "points": True}]},
            "criteria[0].points: expected a number, found true",
        ),
        (
            {"criteria": [{"criterion": "a", "points": float("inf")}]},
            "criteria[0].points: expected a number, found inf",
        ),
        ({"criteria": [{"criterion": "", "points": 1}]}, "criteria[0].criterion: is empty"),
        ({"criteria": [{"criterion": "a", "points": 1}, 3]}, "criteria[1]: expected an object"),
        (
            {"criteria": [{"criterion": "a", "points": 1, "tags": 3}]},
            "criteria[0].tags: expected a list of texts, found 3",
        ),
    ],
)
def test_an_entry_that_is_none_makes_the_record_bad_and_is_named(
    columns: dict[str, Any], says: str
):
    with pytest.raises(BadRecord) as raised:
        read(**columns)
    assert says in str(raised.value)


def test_answers_to_a_question_with_other_nuggets_or_criteria_are_noticed():
    fact = {"text": "Salt lowers the freezing point.", "importance": "vital"}
    okay = fact | {"importance": "okay"}
    point = {"criterion": "Says why.", "points": 1}
    records = [
        {"id": "1", "question_id": "q", "answer": "A.", "nuggets": [fact], "criteria": [point]},
        {
            "id": "2",
            "question_id": "q",
            "answer": "B.",
            "nuggets": [fact | {"assignment": "support"}],
        },
        {"id": "3", "question_id": "q", "answer": "C.", "criteria": [point | {"points": 2}]},
        {"id": "4", "question_id": "r", "answer": "D.", "nuggets": [okay]},
    ]
    reading = Reading(records)
    assert [example.id for example in reading] == ["1", "2", "3", "4"]
    (notice,) = reading.notices
    assert notice.startswith('Answers to 1 question have different criteria (the first: "q"): ')
    differing = [*records, {"id": "5", "question_id": "r", "answer": "E.", "nuggets": [fact]}]
    reading = Reading(differing)
    list(reading)
    assert len(reading.notices) == 2


@pytest.mark.parametrize("points", [1e300, -1e10])
def test_points_that_no_rubric_has_are_a_mistake(points: float):
    with pytest.raises(BadRecord, match="points: expected a number up to 1,000,000,000"):
        read(criteria=[{"criterion": "Says why.", "points": points}])


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("nuggets", {"a": "b"}, "Its column nuggets was left as it is: expected a list of texts"),
        ("nuggets", "one, two", "found"),
        ("rubrics", {"score1": "bad"}, "Its column rubrics was left as it is: expected a list of"),
    ],
)
def test_a_column_that_holds_no_list_of_expectations_is_named_in_the_reason(
    column: str, value: Any, reason: str
):
    example = read(**{column: value})
    metric = "nuggets.all" if column == "nuggets" else "criteria.score"
    result = score_sync(metric, example, judge=FakeChat("{}"))[metric]
    assert result.status == "missing_input"
    assert reason in str(result.reason)
