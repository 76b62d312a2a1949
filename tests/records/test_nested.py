"""Values that stand in lists of a record, read together with what the same list holds. Worked by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from longmark.records.nested import NestedFields
from longmark.records.values import Problem

TASK = {
    "data": {"id": "a1"},
    "annotations": [
        {"by": "ann", "result": [{"name": "fluency", "value": 4}, {"name": "facts", "value": 2}]},
        {"by": "bob", "result": [{"name": "fluency", "value": 5}]},
        {"by": "cy", "result": []},
    ],
}


def rows(record: dict[str, Any], **path_of: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in path_of) for row in NestedFields(path_of).rows(record)]


def test_each_value_of_a_list_has_what_its_own_element_holds() -> None:
    assert rows(
        TASK,
        id="data.id",
        rater="annotations[].by",
        label="annotations[].result[].name",
        value="annotations[].result[].value",
    ) == [
        ("a1", "ann", "fluency", 4),
        ("a1", "ann", "facts", 2),
        ("a1", "bob", "fluency", 5),
    ]


def test_a_condition_takes_the_elements_that_it_selects() -> None:
    paths = {"rater": "annotations[*].by", "value": "annotations[*].result[?name=='facts'].value"}
    assert rows(TASK, **paths) == [("ann", 2)]


def test_a_list_in_the_text_of_a_cell_is_opened() -> None:
    record = {"id": "a1", "marks": json.dumps([{"rating": 4}, {"rating": 5}])}
    assert rows(record, id="id", value="marks[].rating") == [("a1", 4), ("a1", 5)]
    assert rows(record, id="id", value="marks[0].rating") == [("a1", 4)]


def test_lists_beside_each_other_are_read_in_step() -> None:
    record = {"quality": [4, 5], "quality.users": ["ann", "bob"]}
    assert rows(record, rater="quality.users[]", value="quality[]") == [("ann", 4), ("bob", 5)]


def test_lists_of_different_lengths_are_refused() -> None:
    record = {"quality": [4, 5, 3], "users": ["ann", "bob"]}
    with pytest.raises(Problem, match="users has 2 values, and quality has 3"):
        rows(record, rater="users[]", value="quality[]")


def test_what_is_no_list_is_refused_and_what_is_missing_has_no_rows() -> None:
    with pytest.raises(Problem, match='marks: expected a list, found "four"'):
        rows({"marks": "four"}, value="marks[]")
    assert rows({"marks": []}, value="marks[]") == []
    assert rows({}, value="marks[]") == []


def test_a_list_in_a_list_belongs_to_the_elements_beside_it() -> None:
    record = {"answers": [{"user": "ann", "choices": ["good", "long"]}]}
    assert rows(record, rater="answers[].user", value="answers[].choices[]") == [
        ("ann", "good"),
        ("ann", "long"),
    ]


def test_several_paths_are_joined_and_an_expression_is_one_value() -> None:
    record = {"doc": 7, "system": "s", "marks": [3, 1]}
    assert rows(record, id="doc,system", value="max(marks)") == [("7/s", 3)]
    assert rows(record, value="marks[?@ > `2`] | [0]") == [(3,)]


def test_a_path_at_which_no_record_has_a_value_is_named() -> None:
    fields = NestedFields({"value": "annotations[].result[].stars", "rater": "annotations[].by"})
    fields.see(TASK)
    assert fields.never_seen == {"annotations[].result[].stars"}
