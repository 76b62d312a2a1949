"""A text that a tool scored stays that text, an object is looked into, and of several right answers each is one."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from longmark.records import messages
from longmark.records.example import Example
from longmark.records.read import Reading

CHAT = [{"role": "user", "content": "Where?"}, {"role": "assistant", "content": "Paris"}]


def braintrust(**fields: Any) -> Example:
    record: dict[str, Any] = {
        "id": "b",
        "input": "Where?",
        "output": "x",
        "expected": None,
        "scores": {},
    }
    (example,) = Reading([record | fields]).singles()
    return example


@pytest.mark.parametrize(
    "scored",
    ['{"answer": "Paris", "confidence": 0.9}', '{"city": "Paris"}', '["Rome", "Paris"]', '"Paris"'],
)
def test_an_answer_that_is_json_is_the_text_that_was_scored(scored: str) -> None:
    assert braintrust(output=scored).answer == scored


def test_an_object_is_looked_into_for_its_answer() -> None:
    assert braintrust(output={"answer": "Paris", "confidence": 0.9}).answer == "Paris"


def test_messages_are_read_from_a_text_too() -> None:
    assert messages.answer(json.dumps(CHAT)) == "Paris"
    assert messages.question(json.dumps(CHAT)) == "Where?"


@pytest.mark.parametrize("asked", ['{"text": "Mend it", "x": 1}', '["a", "b"]', '{"x": 1, "y": 2}'])
def test_a_question_that_is_json_is_the_question(asked: str) -> None:
    record = {"record_id": "r", "app_name": "A", "app_version": "1", "input": asked, "output": "x"}
    (example,) = Reading([record]).singles()
    assert example.question == asked


def test_an_object_that_a_trace_writes_as_a_text_is_looked_into() -> None:
    record = {
        "context": {"trace_id": "t", "span_id": "s"},
        "parent_id": None,
        "start_time": "1",
        "attributes": {
            "input.value": '{"question": "Where?"}',
            "output.value": '{"answer": "Paris"}',
        },
    }
    (example,) = Reading([record]).singles()
    assert (example.question, example.answer) == ("Where?", "Paris")


@pytest.mark.parametrize(
    ("expected", "references"),
    [
        (["Paris", "Lutetia"], ("Paris", "Lutetia")),
        ({"answer": ["Paris", "Lutetia"]}, ("Paris", "Lutetia")),
        ({"answers": ["Paris", None]}, ("Paris",)),
        ([1, 2], ("1", "2")),
        ("Paris", ("Paris",)),
        ({"answer": "Paris", "year": 1}, ("Paris",)),
        (CHAT, ("Paris",)),
        ('{"city": "Paris"}', ('{"city": "Paris"}',)),
        (None, ()),
    ],
)
def test_each_of_several_right_answers_is_a_reference(
    expected: Any, references: tuple[str, ...]
) -> None:
    assert braintrust(expected=expected).references == references


def test_a_mapped_answer_is_looked_into_where_a_cell_has_it_as_json() -> None:
    record = {"inputs": '{"question": "Where?"}', "outputs": '{"answer": "Paris", "year": 1}'}
    mapping = {"question": "question(inputs)", "answer": "answer(outputs)"}
    (example,) = Reading([record], mapping=mapping).singles()
    assert (example.question, example.answer) == ("Where?", "Paris")


def test_objects_and_lists_in_a_table_of_braintrust_are_no_texts(tmp_path: Path) -> None:
    table = tmp_path / "results.csv"
    with table.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["input", "output", "expected", "scores"])
        writer.writerow(
            ['{"question": "Where?"}', '{"answer": "Paris"}', '["Paris", "Lutetia"]', "{}"]
        )
    (example,) = Reading(table).singles()
    assert (example.question, example.answer) == ("Where?", "Paris")
    assert example.references == ("Paris", "Lutetia")
