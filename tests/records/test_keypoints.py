"""Labels of key points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.program import write_jsonl

from longmark.errors import BadInput
from longmark.records.keypoints import read_key_points

LINE: dict[str, Any] = {"pair": 7, "key_point": "the moon pulls", "answer": "a", "value": "totally", "rater": "anna"}


def _file(folder: Path, *changes: dict[str, Any]) -> Path:
    return write_jsonl(folder / "points.jsonl", [{**LINE, **change} for change in changes])


def test_labels_are_read_and_written(tmp_path: Path) -> None:
    sun = {"key_point": "the sun pulls"}
    path = _file(tmp_path, {}, {"answer": "B", "value": "Partially"}, sun | {"value": "wrong"}, sun | {"answer": "b"})
    labels = read_key_points(path)
    assert [one.pair for one in labels] == ["7"] * 4
    assert [(one.answer, one.value) for one in labels[:2]] == [("a", "totally"), ("b", "partially")]
    again = tmp_path / "again.jsonl"
    again.write_bytes(b"".join(one.to_json() + b"\n" for one in labels))
    assert read_key_points(again) == labels


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": "mostly"}, 'value: expected totally or partially or wrong or absent, found "mostly"'),
        ({"answer": "c"}, 'answer: expected a or b, found "c"'),
        ({"rater": None}, "rater: is missing"),
        ({}, 'anna labelled this key point of "7" in answer a before'),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=f"points.jsonl:2: {message}"):
        read_key_points(_file(tmp_path, {}, change))
