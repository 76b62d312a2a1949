"""Answers of several models, tasks, prompts, experiments or calls in one file: none takes the place of another without a
word."""

from __future__ import annotations

from typing import Any

import orjson
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


def inspect_sample(**fields: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": "I will call the tool"}
    return {
        "id": 1,
        "epoch": 1,
        "input": "Q?",
        "target": "T",
        "messages": [{"role": "user", "content": "Q?"}, said],
        "output": {"choices": [{"message": said}], "completion": said["content"]},
        "log": {},
        **fields,
    }


def otlp(
    *outputs: dict[str, Any] | None, status: int = 0, parent_status: int | None = None
) -> dict[str, Any]:
    asked = [{"role": "user", "parts": [{"type": "text", "content": "q"}]}]
    texts = {"gen_ai.input.messages": asked, "gen_ai.output.messages": list(outputs)}
    attributes = [
        {"key": key, "value": {"stringValue": orjson.dumps(value).decode()}}
        for key, value in texts.items()
    ]
    kind = {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}
    span = {
        "traceId": "t",
        "spanId": "b",
        "parentSpanId": "a",
        "status": {"code": status},
        "attributes": [kind, *attributes],
    }
    outer = {"traceId": "t", "spanId": "a", "status": {"code": parent_status or 0}}
    spans = [span] if parent_status is None else [outer, span]
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


def said(text: str, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "parts": [{"type": "text", "content": text}], **fields}


BRAINTRUST = {"input": "Q?", "output": "partial", "expected": "e", "scores": {}, "id": "b"}
LANGSMITH = {
    "execution_time": 1,
    "example_id": "e",
    "id": "l",
    "inputs.question": "Q?",
    "outputs.answer": "partial",
}
PROMPTFOO = {
    "promptIdx": 0,
    "testIdx": 0,
    "vars": {"question": "Q?"},
    "response": {"output": "partial", "error": "late"},
}
FAILED = {
    "Inspect": inspect_sample(error={"message": "boom"}),
    "Braintrust": {**BRAINTRUST, "error": "late"},
    "LangSmith": {**LANGSMITH, "error": "late"},
    "promptfoo": PROMPTFOO,
    "a span": otlp(said("partial"), status=2),
    "a span inside one that failed": otlp(said("partial"), parent_status=2),
}


@pytest.mark.parametrize("tool", FAILED)
def test_what_a_call_said_that_failed_is_no_answer(tool: str) -> None:
    (example,), ignored = read(FAILED[tool])
    assert example.question in ("Q?", "q")
    assert example.answer is None
    assert [turn.text for turn in example.turns if turn.role == "assistant"] == []
    assert ignored["texts of calls that failed"] == 1


@pytest.mark.parametrize("error", [None, "", {}])
def test_an_error_that_is_none_fails_nothing(error: Any) -> None:
    (example,), ignored = read({**BRAINTRUST, "error": error})
    assert (example.answer, ignored) == ("partial", {})


def test_a_call_that_was_tried_again_has_the_answer_of_the_one_that_succeeded() -> None:
    trace = otlp(said("good"))
    spans = trace["resourceSpans"][0]["scopeSpans"][0]["spans"]
    (late,) = otlp(said("late"), status=2)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    spans.append({**late, "spanId": "c", "startTimeUnixNano": "9"})
    (example,), _ = read(trace)
    assert example.answer == "good"


CHOICES = {
    "OpenTelemetry": otlp(said("one"), said("two")),
    "OpenTelemetry, a choice that calls a tool": otlp(
        said("one", finish_reason="stop"),
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "name": "look"}],
            "finish_reason": "tool_call",
        },
    ),
    "Inspect": inspect_sample(
        messages=[],
        output={
            "completion": "one",
            "choices": [{"message": {"role": "assistant", "content": text}} for text in "ab"],
        },
    ),
    "Braintrust": {
        **BRAINTRUST,
        "output": {"choices": [{"message": said("one")}, {"message": said("two")}]},
    },
}


@pytest.mark.parametrize("tool", CHOICES)
def test_of_several_replies_to_one_request_the_first_is_the_answer_and_the_others_are_counted(
    tool: str,
) -> None:
    (example,), ignored = read(CHOICES[tool])
    assert example.answer == "one"
    assert len([turn for turn in example.turns if turn.role == "assistant"]) <= 1
    assert ignored == {"further choices of a reply": 1}


def test_the_steps_of_an_agent_are_no_choices() -> None:
    look = {"role": "assistant", "parts": [{"type": "tool_call", "name": "look"}]}
    (example,), ignored = read(otlp(look, said("found")))
    assert (example.answer, ignored) == ("found", {})
