"""A question that stands in several places of a record is read whole."""

from __future__ import annotations

from typing import Any

import pytest

from longmark.errors import BadInput
from longmark.records import Example
from longmark.records.read import Reading


def read(record: dict[str, Any], **options: Any) -> Example:
    (example,) = Reading([record], **options).singles()
    return example


def lm_eval(**doc: Any) -> dict[str, Any]:
    return {
        "doc_id": 0,
        "doc": doc,
        "target": "t",
        "arguments": {"gen_args_0": {"arg_0": "the prompt"}},
        "resps": [["x"]],
    }


INSTRUCTED = [
    ({"instruction": "Do it.", "input": "the data"}, "Do it.\n\nthe data"),
    ({"instruction": "Do it.", "input": ""}, "Do it."),
    ({"instruction": "", "input": "the data"}, "the data"),
    ({"instruction": "Do it.", "input": None}, "Do it."),
]


@pytest.mark.parametrize(("texts", "question"), INSTRUCTED)
@pytest.mark.parametrize("tool", ["columns", "lm-evaluation-harness"])
def test_an_instruction_and_its_input_are_one_question(
    texts: dict[str, Any], question: str, tool: str
) -> None:
    record = {**texts, "answer": "a"} if tool == "columns" else lm_eval(**texts)
    assert read(record).question == question


def test_a_column_of_the_question_is_not_joined_to_an_instruction() -> None:
    texts = {"instruction": "Do it.", "input": "the data", "question": "Why?"}
    assert read(lm_eval(**texts)).question == "Why?"
    with pytest.raises(BadInput, match="the columns input and question differ"):
        read({**texts, "answer": "a"})


def test_whoever_names_the_question_gets_that_column_alone() -> None:
    record = {"instruction": "Do it.", "input": "the data", "answer": "a"}
    assert read(record, mapping={"question": "instruction"}).question == "Do it."
    assert read(record, mapping={"question": "input"}).question == "the data"
    assert read(record, mapping={"question": ""}).question is None


def inspect(choices: Any) -> dict[str, Any]:
    return {
        "id": 1,
        "epoch": 1,
        "input": "Which?",
        "choices": choices,
        "target": "B",
        "output": {"completion": "ANSWER: B"},
        "log": {},
    }


@pytest.mark.parametrize(
    ("choices", "question"),
    [
        (["x", "y"], "Which?\nA) x\nB) y"),
        (None, "Which?"),
        ([], "Which?"),
        ("x", "Which?"),
        (["c"] * 28, "Which?" + "".join(f"\n{c}) c" for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ12")),
    ],
)
def test_the_choices_of_an_inspect_sample_are_part_of_its_question(
    choices: Any, question: str
) -> None:
    assert read(inspect(choices)).question == question
