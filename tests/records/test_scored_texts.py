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


def langsmith(**columns: Any) -> Example:
    record = {"id": "i", "example_id": "e", "execution_time": "1.0", "inputs.question": "q"}
    (example,) = Reading([record | columns]).singles()
    return example


@pytest.mark.parametrize("scored", ["['a','b']", "('a', 'b')", '["a", "b"]', "['a', None]"])
def test_an_answer_of_langsmith_that_looks_like_a_list_is_the_text_that_was_scored(
    scored: str,
) -> None:
    assert langsmith(**{"outputs.answer": scored}).answer == scored


def test_the_lists_of_a_table_of_langsmith_are_passages_right_answers_and_messages() -> None:
    example = langsmith(
        **{
            "inputs.question": "[1, 2]?",
            "outputs.messages": str(CHAT),
            "outputs.contexts": "['c1', 'c2']",
            "reference.answer": "['Paris', 'Lutetia']",
        }
    )
    assert (example.question, example.answer) == ("[1, 2]?", "Paris")
    assert [passage.text for passage in example.contexts] == ["c1", "c2"]
    assert example.references == ("Paris", "Lutetia")


def promptfoo(**fields: Any) -> Reading:
    result = {
        "promptIdx": 0,
        "testIdx": 0,
        "prompt": {"raw": "What is in it?", "label": "p"},
        "vars": {},
        "response": {"output": "a"},
    }
    return Reading([result | fields])


def test_a_file_of_promptfoo_is_no_passage_and_no_question() -> None:
    reading = promptfoo(
        vars={"question": "file://question.txt", "context": ["file://one.txt", "A passage."]}
    )
    (example,) = reading.singles()
    assert example.question == "What is in it?"
    assert [passage.text for passage in example.contexts] == ["A passage."]
    assert "1 passages that are files" in reading.notice


def test_passages_of_promptfoo_that_are_all_files_are_missing() -> None:
    reading = promptfoo(vars={"question": "Why?", "context": "file://one.txt"})
    (example,) = reading.singles()
    assert (example.contexts, example.meta.get("context")) == ((), None)
    assert "1 passages that are files" in reading.notice


@pytest.mark.parametrize(
    "cell", ['{"answer":"Paris","confidence":0.9}', '["Rome","Paris"]', '"Paris"', "42"]
)
def test_a_cell_of_promptfoo_that_is_json_is_the_text_that_its_assertions_read(
    cell: str, tmp_path: Path
) -> None:
    path = tmp_path / "results.csv"
    with path.open("w", newline="") as file:
        names = ["question", "[gpt] p", "Status", "Score", "Named Scores", "Grader Reason"]
        rows = [[*names, "Comment"], ["Why?", cell, "PASS", "1", "", "", ""]]
        csv.writer(file).writerows(rows)
    (example,) = Reading(path).singles()
    assert example.answer == cell


def langfuse(**fields: Any) -> Example:
    trace: dict[str, Any] = {
        "id": "t",
        "timestamp": "2026-01-01T00:00:00Z",
        "tags": [],
        "environment": "default",
        "input": "Why?",
        "output": "half an ans",
    }
    (example,) = Reading([trace | fields]).singles()
    return example


FAILED = {"type": "SPAN", "level": "ERROR", "parentObservationId": None}
PASSED = {"type": "SPAN", "level": "DEFAULT", "parentObservationId": None}


@pytest.mark.parametrize(
    "fields",
    [
        {"observations": [FAILED]},
        {"observations": json.dumps([FAILED])},
        {"observations": [FAILED, {**PASSED, "parentObservationId": "o1"}]},
        {"level": "ERROR", "errorCount": 2, "observationCount": 2},
    ],
)
def test_a_trace_of_langfuse_whose_outermost_call_failed_has_no_answer(
    fields: dict[str, Any],
) -> None:
    assert langfuse(**fields).answer is None


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"observations": []},
        {"observations": ["o1", "o2"]},  # ids, in a list of the API
        {"observations": [PASSED, {**FAILED, "parentObservationId": "o1"}]},
        {"observations": [FAILED, PASSED]},  # a second try
        {"observations": [{**FAILED, "type": "RETRIEVER"}]},
        {"level": "ERROR", "errorCount": 1, "observationCount": 2},
        {"level": "DEFAULT", "errorCount": 0, "observationCount": 0},
    ],
)
def test_a_trace_of_langfuse_with_a_failure_beneath_an_answer_keeps_it(
    fields: dict[str, Any],
) -> None:
    assert langfuse(**fields).answer == "half an ans"


def test_a_column_that_a_path_only_spells_is_kept_beside_the_fields() -> None:
    # `type`, `text` and `documents` are words of paths that read other columns.
    inspect = {
        "epoch": 1,
        "id": 1,
        "input": "q",
        "target": "t",
        "output": {"completion": "a"},
        "log": {"eval": {"model": "m", "task": "t"}},
        "messages": [],
    }
    (example,) = Reading([inspect | {"documents": "kept", "message": "too"}]).singles()
    assert example.meta["documents"] == "kept"
    assert example.meta["message"] == "too"
    assert "target" not in example.meta
