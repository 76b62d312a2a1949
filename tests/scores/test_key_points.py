"""Labels of key points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.program import write_jsonl

from longmark.errors import BadInput
from longmark.scores.labels import KEY_POINTS, Labels

LINE: dict[str, Any] = {
    "pair": 7,
    "key_point": "the moon pulls",
    "answer": "a",
    "value": "totally",
    "rater": "anna",
}


def _file(folder: Path, *changes: dict[str, Any]) -> Path:
    return write_jsonl(folder / "points.jsonl", [{**LINE, **change} for change in changes])


def test_labels_are_read(tmp_path: Path) -> None:
    sun = {"key_point": "the sun pulls"}
    path = _file(
        tmp_path,
        {},
        {"answer": "B", "value": "Partially"},
        sun | {"value": "wrong"},
        {"value": "absent"},
    )
    labels = list(Labels(path, KEY_POINTS).select(example_id="7"))
    assert [(one.metric, one.system, one.value) for one in labels] == [
        ("the moon pulls", "b", "partially"), ("the sun pulls", "a", "wrong"), ("the moon pulls", "a", "absent"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"value": "mostly"},
            'value: expected totally or partially or wrong or absent, found "mostly"',
        ),
        ({"answer": "c"}, 'answer: expected a or b, found "c"'),
        ({"rater": None}, "rater: is empty"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=f"points.jsonl:2: {message}"):
        Labels(_file(tmp_path, {}, change), KEY_POINTS)
