"""Files whose records hold several answers each: what stands among them is counted, and none is lost."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from longmark.records.read import Reading

HERE = Path(__file__).parent
OF_BRAINTRUST: dict[str, Any] = {
    "input": "Why is ice light?",
    "output": "Its crystals are wide.",
    "expected": "Ice is less dense.",
    "metadata": {},
    "scores": {},
    "error": None,
}
PLAIN = {"question": "Why?", "answer": "So.", "contexts": ["It is so."]}
OPENED = [
    "tools/hagrid.jsonl",
    "published_sets/summeval-rows.jsonl",
    "published_sets/reward-bench-2.jsonl",
    "published_sets/mt-bench-judgments.jsonl",
]


@pytest.mark.parametrize("name", OPENED)
@pytest.mark.parametrize(
    ("other", "counted"),
    [
        (PLAIN, "records in another form"),
        (OF_BRAINTRUST, "records of another file (Braintrust results)"),
    ],
)
def test_a_file_whose_records_hold_several_answers_counts_records_of_another_form(
    name: str, other: dict[str, Any], counted: str
) -> None:
    lines = (HERE / name).read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines if line.strip()]
    alone = Reading(records)
    expected = [answered.id for answered in alone]
    mixed = Reading([records[0], other, *records[1:]])
    ids = [answered.id for answered in mixed]
    if name.endswith("judgments.jsonl"):  # their ids have the place in the file
        assert len(ids) == len(expected)
    else:
        assert ids == expected
    assert mixed.ignored == alone.ignored + Counter({counted: 1})


def test_a_plain_record_among_logs_of_inspect_is_counted() -> None:
    logs = json.loads((HERE / "tools" / "inspect-logs.json").read_text("utf-8"))
    alone = Reading(logs)
    expected = [answered.id for answered in alone]
    mixed = Reading([*logs, PLAIN])
    assert [answered.id for answered in mixed] == expected
    assert mixed.ignored == alone.ignored + Counter({"records in another form": 1})


@pytest.mark.parametrize("empty", [[], None])
def test_a_record_that_holds_no_answers_has_a_row_of_its_own(empty: Any) -> None:
    record = {
        "prompt": "p",
        "chosen": ["x"],
        "rejected": ["y"],
        "num_correct": 1,
        "num_incorrect": 1,
        "id": "1",
    }
    reading = Reading([record, {**record, "id": "2", "chosen": empty, "rejected": empty}])
    answers = [(answered.question, answered.answer) for answered in reading.singles()]
    assert answers == [("p", "x"), ("p", "y"), ("p", None)]
