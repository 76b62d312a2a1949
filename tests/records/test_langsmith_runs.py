"""Runs of LangSmith are spans of a trace, in which LangChain's objects are their fields."""

from __future__ import annotations

from typing import Any

import pytest

from longmark.errors import UserError
from longmark.records import Example
from longmark.records.langchain_objects import plain_objects
from longmark.records.read import Reading

CHAT = [{"role": "system", "content": "s"}, {"role": "user", "content": "Why?"}]


def run(**fields: Any) -> dict[str, Any]:
    root: dict[str, Any] = {"id": "r", "trace_id": "r", "parent_run_id": None, "error": None}
    return root | {"run_type": "chain", "start_time": "2026-11-28T10:00:00"} | fields


def read(*runs: dict[str, Any]) -> Example:
    (example,) = Reading(list(runs)).singles()
    return example


def message(name: str, content: str, **fields: str) -> dict[str, Any]:
    path = ["langchain", "schema", "messages", name]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": {"content": content, **fields}}


@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [
        ({"question": "Why?"}, {"answer": "So."}),
        ({"messages": [CHAT]}, {"generations": [[{"text": "So."}]]}),
        (
            {"messages": [[message("HumanMessage", "Why?")]]},
            {"messages": [message("HumanMessage", "Why?"), message("AIMessage", "So.")]},
        ),
        (
            {"messages": [message("HumanMessage", "Why?", type="human")]},
            {"output": message("AIMessageChunk", "So.")},
        ),
        (
            {"input": "Why?"},
            {
                "generations": [[{"text": "So.", "message": message("AIMessage", "So.")}]],
                "llm_output": {"model_name": "gpt"},
                "type": "LLMResult",
            },
        ),
    ],
)
def test_a_run_alone_is_its_question_and_its_answer(
    inputs: dict[str, Any], outputs: dict[str, Any]
) -> None:
    example = read(run(inputs=inputs, outputs=outputs))
    assert (example.question, example.answer) == ("Why?", "So.")


def test_the_passages_of_a_trace_are_those_of_its_retriever() -> None:
    document = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "document", "Document"],
        "kwargs": {"page_content": "Ice is less dense.", "metadata": {}},
    }
    example = read(
        run(inputs={"input": "Why?"}, outputs={"output": "So."}),
        run(
            id="s",
            parent_run_id="r",
            run_type="retriever",
            inputs={"query": "Why?"},
            outputs={"documents": [document]},
        ),
    )
    assert [passage.text for passage in example.contexts] == ["Ice is less dense."]


@pytest.mark.parametrize("failure", [{"error": "ValueError('x')"}, {"status": "error"}])
def test_a_run_that_failed_has_no_answer(failure: dict[str, str]) -> None:
    example = read(run(inputs={"input": "Why?"}, outputs={"output": "half"}) | failure)
    assert example.answer is None


def test_objects_inside_each_other_end() -> None:
    value: Any = "x"
    for _ in range(200):
        value = {"lc": 1, "type": "constructor", "id": [], "kwargs": {"inner": value}}
    assert plain_objects(value)
    assert plain_objects({"generations": []}) == {"generations": []}
    assert plain_objects({"lc": 1, "type": "constructor", "kwargs": None}) == {
        "lc": 1,
        "type": "constructor",
        "kwargs": None,
    }


@pytest.mark.parametrize("answer", ["accept", "reject", "ignore"])
def test_annotations_of_prodigy_are_refused_as_answers(answer: str) -> None:
    record = {"text": "Ice is light.", "label": "GOOD", "answer": answer, "_task_hash": 1}
    with pytest.raises(UserError, match="annotations of Prodigy, which are labels and no answers"):
        list(Reading([record]))


def test_sentences_by_title_are_passages_of_both_layouts_of_hotpotqa() -> None:
    of_datasets = {"title": ["Ice", "Sea"], "sentences": [["It is light. ", "It floats."], ["x"]]}
    of_authors = [["Ice", ["It is light. ", "It floats."]], ["Sea", ["x"]]]
    for context in (of_datasets, of_authors):
        (example,) = Reading([{"question": "q", "answer": "a", "context": context}]).singles()
        assert [passage.text for passage in example.contexts] == [
            "Ice: It is light. It floats.",
            "Sea: x",
        ]
