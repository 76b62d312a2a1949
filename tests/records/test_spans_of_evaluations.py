"""Traces that hold many answers: each prediction of an evaluation of Weave is one, with the calls beneath it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from longmark.records import Example
from longmark.records.path_functions import reference_name, resolved
from longmark.records.read import Reading

OP = "weave:///people/cities/op/"
ROW = "weave:///people/cities/object/Dataset:1/attr/rows/id/2"


def call(name: str, op: str, parent: str | None, **fields: Any) -> dict[str, Any]:
    return {
        "id": name,
        "op_name": f"{OP}{op}:1",
        "trace_id": "t",
        "parent_id": parent,
        "started_at": f"2026-11-29T05:00:0{len(name)}Z",
        "inputs": {},
        "output": None,
        **fields,
    }


def prediction(name: str, example: Any, output: Any, scores: Any = None) -> dict[str, Any]:
    return call(
        name,
        "Evaluation.predict_and_score",
        "e",
        inputs={"self": f"{OP}x:1", "model": f"{OP}ask:v7", "example": example},
        output={"output": output, "scores": scores or {}, "model_latency": 0.5},
    )


def search(name: str, parent: str, passages: list[str]) -> dict[str, Any]:
    return call(name, "find", parent, output=passages, attributes={"weave": {"kind": "search"}})


EVALUATION = [
    call("e", "Evaluation.evaluate", None, output={"exact": {"mean": 0.5}}),
    prediction("p1", {"question": "Why?", "expected": "So."}, {"answer": "So."}, {"exact": 1}),
    call("a1", "ask", "p1", inputs={"question": ROW}, output={"answer": "So."}),
    search("s11", "a1", ["one", "two"]),
    prediction("p22", {"question": "How?"}, None),
    search("s222", "p22", ["three"]),
]


def answers(calls: list[dict[str, Any]]) -> list[Example]:
    return sorted(Reading(calls).singles(), key=lambda example: str(example.id))


def test_each_prediction_is_an_answer_with_what_was_retrieved_for_it() -> None:
    first, failed = answers(EVALUATION)
    assert (first.id, first.question, first.answer) == ("p1", "Why?", "So.")
    assert ([passage.text for passage in first.contexts], first.references) == (
        ["one", "two"],
        ("So.",),
    )
    assert first.system == "ask:v7"
    assert (failed.question, failed.answer) == ("How?", None)
    assert [passage.text for passage in failed.contexts] == ["three"]


def test_the_order_of_calls_in_the_file_changes_nothing() -> None:
    shuffled = list(EVALUATION)
    for seed in range(5):
        random.Random(seed).shuffle(shuffled)
        assert answers(shuffled) == answers(EVALUATION)


def test_a_row_that_is_a_reference_is_a_missing_question_and_never_its_text() -> None:
    reading = Reading([prediction("p", ROW, "So.")])
    (example,) = reading.singles()
    assert (example.question, example.answer) == (None, "So.")
    assert "1 questions that are references (query the calls with expand_columns" in reading.notice


def test_figures_of_a_prediction_that_failed_are_no_answer() -> None:
    (example,) = answers([prediction("p", {"question": "Why?"}, None)])
    assert example.answer is None


def test_calls_whose_parents_are_a_circle_are_counted_and_end() -> None:
    circle = [
        prediction("p", {"question": "Why?"}, "So."),
        call("b", "x", "c"),
        call("c", "x", "b"),
    ]
    reading = Reading(circle)
    assert [example.id for example in reading.singles()] == ["p"]
    assert reading.ignored["other spans"] == 2


@pytest.mark.parametrize(
    ("value", "left"),
    [
        (ROW, None),
        ({"self": ROW, "question": "Why?"}, {"question": "Why?"}),
        ({"row": {"question": ROW}}, None),
        ({"row": {"question": "Why?", "image": ROW}}, {"row": {"question": "Why?"}}),
        (["Why?", ROW], ["Why?"]),
        ([ROW], None),
        ([], []),
        ({"documents": [ROW]}, None),
        ({}, None),
        (["Why?"], ["Why?"]),
        (5, 5),
        ("", ""),
    ],
)
def test_references_are_left_out_of_a_value(value: Any, left: Any) -> None:
    assert resolved(value) == left


def test_a_reference_names_its_object_and_a_name_names_itself() -> None:
    assert reference_name(f"{OP}ask:v7") == "ask:v7"
    assert reference_name("small-model") == "small-model"
    assert reference_name(None) is None
