"""`answer` beside a column of predicted answers is the right answer."""

from __future__ import annotations

from typing import Any

import pytest

from longmark.errors import BadInput
from longmark.records.read import Reading

QUESTION = "Why is ice light?"
RIGHT = "It is less dense."


def read(*records: dict[str, Any], **options: Any) -> list[tuple[str | None, tuple[str, ...]]]:
    return [
        (example.answer, example.references)
        for example in Reading(list(records), **options).singles()
    ]


@pytest.mark.parametrize(
    "columns",
    [
        {"answer": RIGHT, "predicted_answer": "It is warm."},
        {"answer": RIGHT, "prediction": "It is warm."},
        {"example_answer": RIGHT, "pred_answer": "It is warm."},
        {"Answer": RIGHT, "Predicted Answer": "It is warm."},
        {"answer": RIGHT, "model_answer": "It is warm."},
        {"answer": RIGHT, "llm_response": "It is warm."},
        {"answer": RIGHT, "pred": "It is warm."},
    ],
)
def test_the_predicted_answer_is_scored_and_the_right_one_is_the_reference(
    columns: dict[str, str],
) -> None:
    reading = Reading([{"question": QUESTION, **columns}])
    (example,) = reading.singles()
    assert (example.answer, example.references) == ("It is warm.", (RIGHT,))
    (notice,) = reading.notices
    assert f"is the reference. If {next(iter(columns))} is what was answered" in notice


def test_a_prediction_that_is_absent_is_a_missing_answer_and_not_the_right_one() -> None:
    first = {"question": QUESTION, "answer": RIGHT, "prediction": "It is warm."}
    failed = {"question": "Why is the sea salt?", "answer": "Rivers."}
    assert read(first, failed) == [("It is warm.", (RIGHT,)), (None, ("Rivers.",))]


def test_a_prediction_behind_records_without_one_is_refused_with_the_remedy() -> None:
    failed = {"question": "Why is the sea salt?", "answer": "Rivers."}
    second = {"question": QUESTION, "answer": RIGHT, "prediction": "It is warm."}
    with pytest.raises(
        BadInput, match="have no such column, so that answer was read as the answer"
    ):
        read(failed, second)
    remedy = {"answer": "prediction", "references": "answer"}
    assert read(failed, second, mapping=remedy) == [(None, ("Rivers.",)), ("It is warm.", (RIGHT,))]


def test_a_mapped_answer_and_a_reference_of_its_own_stay() -> None:
    record = {"question": QUESTION, "answer": "It is warm.", "prediction": "yes"}
    assert read(record, mapping={"answer": "answer"}) == [("It is warm.", ())]
    record = {"question": QUESTION, "answer": "x", "prediction": "y", "reference": RIGHT}
    assert read(record) == [("y", (RIGHT,))]


def test_a_number_or_a_response_beside_a_prediction_changes_nothing() -> None:
    assert read({"question": QUESTION, "answer": RIGHT, "prediction": 0.5}) == [(RIGHT, ())]
    assert read({"question": QUESTION, "response": RIGHT, "prediction": "yes"}) == [(RIGHT, ())]


@pytest.mark.parametrize("column", ["output", "completion", "Generation"])
def test_an_answer_beside_an_output_is_read_as_it_was_and_a_notice_asks(column: str) -> None:
    reading = Reading([{"question": QUESTION, "answer": RIGHT, column: "It is warm."}])
    (example,) = reading.singles()
    assert (example.answer, example.references) == (RIGHT, ())
    (notice,) = reading.notices
    assert f"beside which there is {column}. If answer is the right one" in notice
    assert f"'answer': '{column}', 'references': 'answer'" in notice


@pytest.mark.parametrize(
    "columns",
    [
        {"references": [RIGHT], "output": "It is warm."},
        {"output": ""},
        {"output": {"text": "It is warm."}},
        {"output": None},
    ],
)
def test_an_output_that_cannot_be_the_answer_is_not_asked_about(columns: dict[str, Any]) -> None:
    reading = Reading([{"question": QUESTION, "answer": "It is light.", **columns}])
    (example,) = reading.singles()
    assert example.answer == "It is light."
    assert reading.notices == ()


def test_a_file_whose_answer_is_named_is_not_asked_about() -> None:
    record = {"question": QUESTION, "answer": RIGHT, "output": "It is warm."}
    named = Reading([record], mapping={"answer": "output", "references": "answer"})
    (example,) = named.singles()
    assert (example.answer, example.references) == ("It is warm.", (RIGHT,))
    assert named.notices == ()
