"""Answers of several models, tasks, prompts, experiments or calls in one file: none takes the place of another without a
word."""

from __future__ import annotations

from typing import Any

import pytest

from longmark.errors import BadInput
from longmark.records import Example
from longmark.records.read import Reading


def read(*records: dict[str, Any]) -> tuple[list[Example], dict[str, int]]:
    reading = Reading(list(records))
    return list(reading.singles()), dict(+reading.ignored)


def sample(reply: str, filter: str | None = "strict", question: str = "2+2?") -> dict[str, Any]:
    named = {} if filter is None else {"filter": filter}
    return {
        "doc_id": 0,
        "doc": {"question": question},
        "target": "4",
        "arguments": {"gen_args_0": {"arg_0": f"Q: {question}"}},
        "resps": [[reply]],
        **named,
    }


@pytest.mark.parametrize("filters", [("strict", "flexible", "maj"), (None, None, None)])
def test_lines_of_one_reply_are_one_answer_for_every_filter(filters: tuple[str | None]) -> None:
    examples, ignored = read(*(sample("4", name) for name in filters))
    assert [example.answer for example in examples] == ["4"]
    assert ignored == {"lines of another filter": 2}


@pytest.mark.parametrize(
    "other",
    [
        sample("FIVE"),  # of another model
        sample("4"),  # of another model that says the same
        sample("FIVE", "flexible"),
        sample("4", None, "capital?"),  # of another task
    ],
)
def test_a_sample_of_another_model_or_task_is_no_line_of_another_filter(
    other: dict[str, Any],
) -> None:
    with pytest.raises(BadInput, match=r'"0" was already used in line 1.* file of their own'):
        read(sample("4"), other)
