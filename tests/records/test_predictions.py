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
