"""What retrievers returned is read in the forms of their libraries, or counted, and never silently nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from longmark.records import messages
from longmark.records.example import Example
from longmark.records.read import Reading


@pytest.mark.parametrize(
    "retrieved",
    [
        [{"pageContent": "Ice floats.", "metadata": {}}],  # LangChain for JavaScript
        {"matches": [{"id": None, "metadata": {"text": "Ice floats."}}]},  # Pinecone
        {"documents": [["Ice floats."]], "ids": [["1"]]},  # Chroma
        [{"documents": [["Ice floats."]]}],
        {"points": [{"payload": {"text": "Ice floats."}}]},  # Qdrant
        [{"document": {"page_content": "Ice floats."}, "score": 1}],
        [["Ice floats.", 0.9]],
        "['Ice floats.']",
        "Ice floats.",
    ],
)
def test_the_passages_of_every_retriever_are_read(retrieved: Any) -> None:
    for value in (retrieved, retrieved if isinstance(retrieved, str) else json.dumps(retrieved)):
        texts = [p["text"] if isinstance(p, dict) else p for p in messages.passages(value)]
        assert texts == ["Ice floats."]
        assert messages.textless_passages(value) == 0


def test_a_passage_among_others_that_is_json_is_a_passage() -> None:
    assert messages.passages(['{"price": 3}', "b"]) == ['{"price": 3}', "b"]


def test_objects_without_a_text_are_counted() -> None:
    retrieved = [{"id": "1", "score": 0.5}, {"id": "2"}]
    assert messages.passages(retrieved) == []
    assert messages.textless_passages(json.dumps(retrieved)) == 2
    assert messages.textless_passages({}) == messages.textless_passages(None) == 0


def langfuse(*observations: dict[str, Any], **fields: Any) -> tuple[Example, str]:
    record = {"id": "t", "timestamp": "1", "tags": [], "environment": "e", "input": "q"}
    retrievers = [{"type": "RETRIEVER"} | observation for observation in observations]
    reading = Reading([record | {"output": "a", "observations": retrievers} | fields])
    (example,) = reading.singles()
    return example, reading.notice


def texts_of(example: Example) -> list[str]:
    return [passage.text for passage in example.contexts]


def test_what_a_retriever_that_failed_says_is_no_passage_and_is_counted() -> None:
    example, notice = langfuse({"level": "ERROR", "output": "timeout"}, {"output": ["Ice"]})
    assert texts_of(example) == ["Ice"]
    assert "1 retrievers that failed" in notice


def test_a_retrieval_without_texts_is_counted_in_the_notice() -> None:
    example, notice = langfuse({"output": [{"id": "1"}]})
    assert example.contexts == ()
    assert "1 retrieved objects without a text" in notice


ATTRIBUTES = {"openinference.span.kind": "RETRIEVER", "output.value": '[{"id": "1"}]'}


def phoenix(name: str, attributes: dict[str, Any], **fields: Any) -> dict[str, Any]:
    span = {"context": {"trace_id": "t", "span_id": name}, "parent_id": None, "start_time": name}
    return span | {"attributes": attributes} | fields


def test_spans_of_retrievers_that_failed_or_gave_no_text_are_counted() -> None:
    stale = {"openinference.span.kind": "RETRIEVER", "output.value": '["stale"]'}
    spans = [
        phoenix("1", {"input.value": "q", "output.value": "a"}),
        phoenix("2", ATTRIBUTES, parent_id="1"),
        phoenix("3", stale, parent_id="1", status={"status_code": "ERROR"}),
    ]
    reading = Reading(spans)
    (example,) = reading.singles()
    assert example.contexts == ()
    assert "1 retrieved objects without a text" in reading.notice
    assert "1 retrievers that failed" in reading.notice


OUTPUT = {"answer": "a", "contexts": ["Ice floats."]}


@pytest.mark.parametrize(
    "record",
    [
        {"id": "b", "input": "q", "output": OUTPUT, "expected": "a", "scores": {}, "metadata": {}},
        phoenix("1", {"input.value": "q", "output.value": json.dumps(OUTPUT)}),
        {
            "id": "c",
            "op_name": "ask",
            "trace_id": "t",
            "started_at": "1",
            "inputs": {"question": "q"},
        }
        | {"output": OUTPUT, "parent_id": None},
        {"id": "t", "timestamp": "1", "tags": [], "environment": "e", "input": "q"}
        | {"output": OUTPUT, "observations": []},
    ],
    ids=["Braintrust", "Phoenix", "Weave", "Langfuse"],
)
def test_passages_beside_the_answer_in_an_output_are_read(record: dict[str, Any]) -> None:
    (example,) = Reading([record]).singles()
    assert (example.answer, texts_of(example)) == ("a", ["Ice floats."])


def test_null_that_mlflow_recorded_is_no_answer() -> None:
    span = {"span_id": "1", "parent_span_id": None, "name": "n", "start_time_unix_nano": 1}
    outputs = {"mlflow.spanInputs": '{"question": "q"}', "mlflow.spanOutputs": "null"}
    trace = {"info": {"trace_id": "t"}, "data": {"spans": [span | {"attributes": outputs}]}}
    other = json.loads(json.dumps(trace).replace('"null"', '"\\"a\\""').replace('"t"', '"u"'))
    reading = Reading([trace, other])
    (example,) = reading.singles()
    assert example.answer == "a"
    assert "1 traces without a question and an answer" in reading.notice


def test_a_last_message_that_only_calls_a_tool_is_no_answer() -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
    example, _ = langfuse(input=[{"role": "user", "content": "q"}], output=call)
    assert (example.question, example.answer) == ("q", None)
    empty, _ = langfuse(output={"role": "assistant", "content": ""})
    assert empty.answer == ""
