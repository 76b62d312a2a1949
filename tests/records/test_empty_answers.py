"""An empty answer of a trace is an answer; that of a call that failed, or that called a tool, is none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from longmark.errors import UserError
from longmark.records import messages
from longmark.records.read import Reading

ASKED = [{"role": "user", "content": "Why is ice light?"}]
CALL = {"id": "1", "function": {"name": "search", "arguments": "{}"}}


@pytest.mark.parametrize(
    "recorded",
    [
        "",
        '""',
        {"output": ""},
        {"answer": "", "contexts": ["Ice floats."]},
        [{"role": "assistant"}],  # as OpenInference records it
        [{"role": "assistant", "parts": [{"type": "text", "content": ""}]}],  # OpenLLMetry
        {"choices": [{"message": {"role": "assistant", "content": ""}}]},
        {"messages": [*ASKED, {"role": "assistant", "content": ""}]},
    ],
)
def test_a_recorded_answer_without_a_text_is_empty(recorded: Any) -> None:
    assert messages.is_empty_answer(recorded)


@pytest.mark.parametrize(
    "recorded",
    [
        None,
        {},
        [],
        "null",
        "It is less dense.",
        [{"role": "user", "content": ""}],
        [{"role": "assistant", "content": "", "tool_calls": [CALL]}],
        [{"role": "assistant", "parts": [{"type": "tool_call", "name": "search"}]}],
        [{"role": "assistant", "parts": [], "finish_reason": "tool_calls"}],
        {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [CALL]}}]},
    ],
)
def test_what_is_no_answer_or_has_a_text_or_calls_a_tool_is_not_empty(recorded: Any) -> None:
    assert not messages.is_empty_answer(recorded)


def span(name: str, output: Any, parent: str | None = None, **fields: Any) -> dict[str, Any]:
    return {
        "context": {"trace_id": "t", "span_id": name},
        "parent_id": parent,
        "start_time": f"2026-11-29T08:00:0{len(name)}Z",
        "attributes": {
            "openinference.span.kind": "CHAIN",
            "input.value": "Why is ice light?",
            **({} if output is None else {"output.value": output}),
        },
        **fields,
    }


def answers(*spans: dict[str, Any]) -> list[str | None]:
    return [example.answer for example in Reading(list(spans)).singles()]


def test_the_outermost_answer_is_what_was_given_also_where_it_is_empty() -> None:
    assert answers(span("a", ""), span("bb", "A draft.", "a")) == [""]
    assert answers(span("a", "Given."), span("bb", "", "a")) == ["Given."]


def test_an_output_that_was_not_recorded_is_no_empty_answer() -> None:
    assert answers(span("a", None), span("bb", "Given.", "a")) == ["Given."]
    assert answers(span("a", "__REDACTED__"), span("bb", "Given.", "a")) == ["Given."]


FAILED = {
    "an OpenTelemetry span": span("a", "", status={"status_code": "ERROR"}),
    "an OTLP trace": {
        "resourceSpans": [
            {
                "scopeSpans": [
                    {
                        "spans": [
                            {
                                "traceId": "t",
                                "spanId": "a",
                                "status": {"code": 2},
                                "attributes": [
                                    {"key": "input.value", "value": {"stringValue": "Why?"}},
                                    {"key": "output.value", "value": {"stringValue": ""}},
                                ],
                            }
                        ]
                    }
                ]
            }
        ]
    },
    "an observation of Langfuse": {
        "id": "a",
        "traceId": "t",
        "type": "GENERATION",
        "startTime": "2026-11-29T08:00:00Z",
        "input": "Why?",
        "output": "",
        "level": "ERROR",
    },
    "a call of Weave": {
        "op_name": "weave:///a/b/op/ask:1",
        "trace_id": "t",
        "id": "a",
        "started_at": "2026-11-29T08:00:00Z",
        "inputs": {"question": "Why?"},
        "output": "",
        "exception": "no reply",
    },
    "a trace of Opik": {
        "trace": {
            "id": "t",
            "start_time": "2026-11-29T08:00:00Z",
            "input": {"question": "Why?"},
            "output": {"answer": ""},
            "error_info": {"exception_type": "ValueError"},
        },
        "spans": [],
    },
}


@pytest.mark.parametrize("tool", FAILED)
def test_the_empty_output_of_a_call_that_failed_is_counted_and_that_of_one_that_did_not_is_read(
    tool: str,
) -> None:
    record = FAILED[tool]
    with pytest.raises(UserError, match="1 traces without a question and an answer"):
        answers(record)
    text = json.dumps(record)
    for failure in ('"ERROR"', '{"code": 2}', '"no reply"', '{"exception_type": "ValueError"}'):
        text = text.replace(failure, "null")
    assert answers(json.loads(text)) == [""]
