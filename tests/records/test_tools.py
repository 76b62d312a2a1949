"""Files of other tools: each is known by its shape, read as it was meant, and what is not read is counted.

The fixtures in tests/records/tools follow the sources that the shapes name (`Shape.source`).
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.exports import EXPORTS
from tests.records.set_files import SETS
from tests.records.tool_files import READ, TOLD

from longmark.errors import BadInput, UserError
from longmark.records import Example
from longmark.records.containers import SHAPES
from longmark.records.evaluators import GISKARD_ANSWERS, PRODIGY
from longmark.records.read import Reading

TOOLS = Path(__file__).parent / "tools"


def content(example: Example) -> tuple[Any, ...]:
    return (
        example.question,
        example.answer,
        tuple(one.text for one in example.contexts),
        example.references,
    )


@pytest.mark.parametrize("name", READ)
def test_a_file_of_a_tool_is_read_by_its_shape(name: str) -> None:
    shape, first, count, system, ignored = READ[name]
    reading = Reading(TOOLS / name)
    examples = list(reading.singles())
    assert reading.shape is not None
    assert reading.shape.name == shape
    assert (content(examples[0]), len(examples), examples[0].system) == (first, count, system)
    assert dict(+reading.ignored) == ignored
    assert all(f"{number:,} {what}" in reading.notice for what, number in ignored.items())


def test_every_shape_has_a_fixture_and_every_fixture_is_read() -> None:
    shapes = {name for name, *_ in READ.values()} | SETS | {PRODIGY.name, GISKARD_ANSWERS.name}
    for export in EXPORTS:
        if not export.of_labels:
            reading = Reading(export.path, mapping=dict(export.mapping))
            with suppress(UserError):  # a file without answers has a shape, too
                next(iter(reading.singles()))
            shapes |= {reading.shape.name} if reading.shape else set()
    assert {shape.name for shape in SHAPES} == shapes
    assert {path.name for path in TOOLS.iterdir()} == set(READ)


def test_each_answer_of_a_record_has_an_id_of_its_own_and_the_question_of_its_record() -> None:
    """HAGRID has several answers to a question in one record."""
    examples = list(Reading(TOOLS / "hagrid.jsonl").singles())
    assert [(example.id, example.question_id) for example in examples] == [
        ("7-1", "7"),
        ("7-2", "7"),
    ]


def test_a_shape_is_known_in_records_of_python_too() -> None:
    records = json.loads((TOOLS / "langfuse.json").read_text("utf-8"))
    assert content(next(iter(Reading(records).singles()))) == TOLD


SPAN = {"context.trace_id": "t", "start_time": "2026", "attributes.input.value": "Why?"}
RERANKED = "attributes.reranker.output_documents"


def test_what_a_reranker_returned_is_read_where_no_retriever_was_recorded() -> None:
    spans = [
        {
            **SPAN,
            "context.span_id": "a",
            "parent_id": "b",
            "span_kind": "RERANKER",
            RERANKED: [{"document.content": "c"}],
        },
        {**SPAN, "context.span_id": "b", "span_kind": "CHAIN", "attributes.output.value": "So."},
    ]
    (example,) = Reading(spans).singles()
    assert (example.answer, [passage.text for passage in example.contexts]) == ("So.", ["c"])


def test_a_list_of_documents_as_numpy_prints_it_is_refused() -> None:
    numpy = "[{'document.content': 'c'}\n {'document.content': 'd'}]"
    span = {**SPAN, "context.span_id": "a", "span_kind": "RETRIEVER", RERANKED: numpy}
    with pytest.raises(BadInput, match="output_documents is no list of Python or JSON"):
        list(Reading([span]))


# Odd files ------------------------------------------------------------------------------------------------------------
ODD: tuple[Any, ...] = (
    None,
    5,
    -1.5,
    True,
    "",
    "text",
    '{"a": 1}',
    "[",
    [],
    {},
    [None],
    [[1]],
    {"a": {"b": []}},
    ["x"],
)
JSON = [name for name in READ if not name.endswith(".csv")]


def documents(name: str) -> list[Any]:
    """The document of a fixture, or its lines."""
    text = (TOOLS / name).read_text("utf-8")
    return (
        [json.loads(line) for line in text.splitlines()]
        if name.endswith(".jsonl")
        else [json.loads(text)]
    )


def places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where values stand inside a value."""
    if before:
        yield before
    for key in (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    ):
        yield from places(value[key], (*before, key))


def replaced(value: Any, place: tuple[Any, ...], odd: Any) -> Any:
    made = dict(value) if isinstance(value, dict) else list(value)
    key, *rest = place
    made[key] = replaced(made[key], tuple(rest), odd) if rest else odd
    return made


@pytest.mark.parametrize("name", JSON)
def test_a_value_of_another_kind_anywhere_is_an_error_of_the_user_or_is_read(
    name: str, tmp_path: Path
) -> None:
    first, *others = documents(name)
    drawn = random.Random(name)
    every = list(places(first))
    path = tmp_path / name
    for place in drawn.sample(every, min(15, len(every))):
        lines_ = [replaced(first, place, drawn.choice(ODD)), *others]
        path.write_text("\n".join(map(json.dumps, lines_)), "utf-8")
        with suppress(UserError):
            for example in Reading(path):
                assert isinstance(example, Example)


@pytest.mark.parametrize("name", READ)
def test_a_broken_file_is_an_error_that_names_it(name: str, tmp_path: Path) -> None:
    whole = (TOOLS / name).read_bytes()
    path = tmp_path / name
    for content_ in (
        b"",
        b"\n",
        b"{}",
        b"[]",
        b"null",
        whole[: len(whole) // 2],
        whole[1:],
        b"\x00" * 40,
        b"PK\x03\x04",
    ):
        path.write_bytes(content_)
        with suppress(UserError):
            list(Reading(path))
    for content_ in (b"", whole[: len(whole) // 2]):
        path.write_bytes(content_)
        with pytest.raises(UserError, match=re.escape(name)):
            list(Reading(path))


def test_an_export_without_records_says_so(tmp_path: Path) -> None:
    for name, document in (
        ("a.json", {"evalId": "e", "results": {"results": []}}),
        ("b.json", {"testCases": []}),
    ):
        (tmp_path / name).write_text(json.dumps(document), "utf-8")
        with pytest.raises(UserError, match=f"{name} has no records"):
            list(Reading(tmp_path / name))


def test_traces_whose_texts_were_not_recorded_say_so(tmp_path: Path) -> None:
    document = json.loads((TOOLS / "otlp-genai.json").read_text("utf-8"))
    for span in document["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        span["attributes"] = [one for one in span["attributes"] if "messages" not in one["key"]]
    (tmp_path / "a.json").write_text(json.dumps(document), "utf-8")
    with pytest.raises(
        UserError, match=r"has no answer.*1 traces without a question and an answer.*recorded"
    ):
        list(Reading(tmp_path / "a.json"))


def test_a_question_that_is_an_object_names_its_parts(tmp_path: Path) -> None:
    record = json.loads((TOOLS / "langfuse.json").read_text("utf-8"))[0] | {
        "input": {"topic": "rivers", "lang": "en"}
    }
    with pytest.raises(
        BadInput, match=r"name its text: mapping={'question': 'input\.topic'} or mapping="
    ):
        list(Reading([record]))
    (one,) = Reading([record], mapping={"question": "input.topic"}).singles()
    assert (one.question, one.answer) == ("rivers", "In Africa.")


def test_langfuse_s_decorator_is_read_where_it_has_one_argument() -> None:
    record = json.loads((TOOLS / "langfuse.json").read_text("utf-8"))[0]
    inputs: list[Any] = [
        {"args": ["Why?"], "kwargs": {}},
        {"args": [], "kwargs": {"question": "Why?", "k": 3}},
    ]
    inputs += [
        json.dumps(inputs[0]),
        {"args": [[{"role": "user", "content": "Why?"}]], "kwargs": {}},
    ]
    given = [record | {"id": str(number), "input": one} for number, one in enumerate(inputs)]
    assert [one.question for one in Reading(given).singles()] == ["Why?"] * 4
    record |= {"input": {"args": ["de", "Why?"], "kwargs": {}}}
    with pytest.raises(
        BadInput,
        match=r"mapping={'question': 'input\.args\[0\]'} or mapping={'question': 'input\.args\[1\]'}",
    ):
        list(Reading([record]))
    (one,) = Reading([record], mapping={"question": "input.args[1]"}).singles()
    assert one.question == "Why?"


def test_short_values_of_langfuse_s_metadata_go_to_meta() -> None:
    record = json.loads((TOOLS / "langfuse.json").read_text("utf-8"))[0]
    own = {
        "lang": "de",
        "type": "x",
        "name": "mine",
        "reference": "In Africa.",
        "long": "x" * 300,
        "scope": {"a": 1},
    }
    for metadata in (own, json.dumps(own)):
        (one,) = Reading([record | {"metadata": metadata}]).singles()
        meta = one.meta
        assert (meta["lang"], meta["type"], meta["name"], meta["metadata.name"]) == (
            "de",
            "x",
            record["name"],
            "mine",
        )
        assert not {"reference", "long", "scope", "metadata.reference"} & set(meta)


def test_a_trace_without_a_question_and_an_answer_is_counted() -> None:
    record = json.loads((TOOLS / "langfuse.json").read_text("utf-8"))[0]
    empty = record | {"id": "e", "input": None, "output": None}
    reading = Reading([empty, record])
    assert [one.id for one in reading.singles()] == [record["id"]]
    assert "1 records without a question and an answer" in reading.notice
    assert [
        one.question
        for one in Reading([empty], mapping={"question": "metadata.reference"}).singles()
    ]
    with pytest.raises(UserError, match=r"has no answer|no examples"):
        list(Reading([empty]))


def test_spans_whose_parents_are_a_circle_are_read(tmp_path: Path) -> None:
    lines_ = documents("langfuse-observations.jsonl")
    lines_[0]["parentObservationId"], lines_[3]["parentObservationId"] = "o4", "o1"
    assert [one.answer for one in Reading(lines_).singles()] == ["In Africa."]


def test_spans_of_many_traces_are_told_apart_in_the_order_of_the_file() -> None:
    spans = [
        one | {"traceId": f"t{n}"}
        for one in documents("langfuse-observations.jsonl")
        for n in (2, 1)
    ]
    assert [one.id for one in Reading(spans).singles()] == ["t2", "t1"]


# What the tool scored, and what it retrieved ---------------------------------------------------------------------------
def inspect_sample(**fields: Any) -> dict[str, Any]:
    """A sample of Inspect's `basic_agent`: the completion is what was submitted, not what was said beside the call."""
    said = {
        "role": "assistant",
        "content": "I have found the answer.",
        "tool_calls": [{"function": "submit", "arguments": {"answer": "Paris"}}],
    }
    return {
        "id": "a",
        "epoch": 1,
        "input": "What is the capital of France?",
        "target": "Paris",
        "messages": [{"role": "user", "content": "What is the capital of France?"}, said],
        "output": {"choices": [{"message": said}], "completion": "Paris"},
        "log": {},
        **fields,
    }


def read(*records: dict[str, Any]) -> tuple[list[Example], dict[str, int]]:
    reading = Reading(list(records))
    return list(reading.singles()), dict(+reading.ignored)


def test_the_answer_of_an_agent_of_inspect_is_what_inspect_scored() -> None:
    (example,), _ = read(inspect_sample())
    assert example.answer == "Paris"
    assert [turn.text for turn in example.turns] == [
        "What is the capital of France?",
        "I have found the answer.",
        "Paris",
    ]


def test_the_message_is_the_answer_where_inspect_has_no_completion() -> None:
    sample = inspect_sample()
    sample["output"] = {"choices": [{"message": {"role": "assistant", "content": "Rome"}}]}
    (example,), _ = read(sample)
    assert example.answer == "Rome"


def test_invalidated_samples_of_inspect_are_counted_and_not_scored() -> None:
    examples, ignored = read(
        inspect_sample(), inspect_sample(id="b", invalidation={"author": "reviewer"})
    )
    assert [example.id for example in examples] == ["a-1"]
    assert ignored == {"invalidated samples": 1}


def lm_eval_sample(**fields: Any) -> dict[str, Any]:
    prompt = '[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Capital?"}]'
    return {
        "doc_id": 0,
        "doc": {"sentence": "Capital?"},
        "target": "Paris",
        "arguments": {"gen_args_0": {"arg_0": [prompt], "arg_1": {}}},
        "resps": [["Paris"]],
        **fields,
    }


@pytest.mark.parametrize(
    ("target", "doc", "references"),
    [
        ("['Rome', 'Paris']", {"answers": ["Rome", "Paris"]}, ("Rome", "Paris")),
        ("['Rome']", {}, ("Rome",)),
        ("[1, 2]", {}, ("1", "2")),
        ("[1, 2]", {"output": "[1, 2]"}, ("[1, 2]",)),  # the document has this very text
        ("[not a list]", {}, ("[not a list]",)),
        ("('a', 'b')", {}, ("a", "b")),
        ("('a', 'b')", {"answer": "('a', 'b')"}, ("('a', 'b')",)),
        ("array(['a'], dtype=object)", {}, ("a",)),
        ("None", {}, ()),
        ("Paris", {}, ("Paris",)),
    ],
)
def test_targets_that_python_printed_are_lists_of_references(
    target: str, doc: dict[str, Any], references: tuple[str, ...]
) -> None:
    (example,), _ = read(lm_eval_sample(target=target, doc=doc))
    assert example.references == references


def test_a_target_as_numpy_prints_it_is_refused_and_not_glued() -> None:
    with pytest.raises(BadInput, match="references: looks like a list"):
        read(lm_eval_sample(target="['a' 'b']"))


def test_a_target_of_lists_in_lists_is_refused_and_not_taken_literally() -> None:
    with pytest.raises(BadInput, match="references"):
        read(lm_eval_sample(target="[('5', '6'), ('7',)]"))


def test_a_chat_template_is_a_conversation_and_no_text_of_a_question() -> None:
    (example,), _ = read(lm_eval_sample())
    assert example.question == "Capital?"
    assert [(turn.role, turn.text) for turn in example.turns] == [
        ("system", "Be brief."),
        ("user", "Capital?"),
        ("assistant", "Paris"),
    ]


def test_a_question_of_the_document_is_not_asked_again_by_the_prompt() -> None:
    (example,), _ = read(lm_eval_sample(doc={"question": "What is it?"}))
    assert (example.question, example.turns) == ("What is it?", ())


def test_further_replies_and_lines_of_other_filters_are_counted_apart() -> None:
    sample = lm_eval_sample(resps=[["blue", "blue", "red"]])
    examples, ignored = read({**sample, "filter": "first"}, {**sample, "filter": "maj"})
    assert [example.answer for example in examples] == ["blue"]
    assert ignored == {"further replies to a document": 2, "lines of another filter": 1}


def deepeval_case(**fields: Any) -> dict[str, Any]:
    return {"name": "geo", "input": "Capital?", "actualOutput": "Paris", "order": 0, **fields}


@pytest.mark.parametrize("retrieved", [{}, {"retrievalContext": []}])
def test_the_ideal_context_of_deepeval_is_no_retrieved_passage(retrieved: dict[str, Any]) -> None:
    (example,), _ = read(deepeval_case(context=["the ideal passage"], **retrieved))
    assert example.contexts == ()
    assert example.meta["context"] == ["the ideal passage"]


def test_the_passages_of_a_conversation_of_deepeval_are_those_of_its_turn() -> None:
    turns = [
        {"role": "user", "content": "Capital?"},
        {"role": "assistant", "content": "Rome", "retrievalContext": ["r"]},
    ]
    (example,), _ = read({"name": "geo", "turns": turns, "context": ["ideal"]})
    assert [passage.text for passage in example.contexts] == ["r"]


def test_cases_of_deepeval_with_one_name_are_cases_of_their_own() -> None:
    examples, _ = read(
        deepeval_case(), deepeval_case(order=1), deepeval_case(name="test_case_2", order=2)
    )
    assert [example.id for example in examples] == ["geo-0", "geo-1", "test_case_2"]


def promptfoo_result(place: int, label: str, **variables: str) -> dict[str, Any]:
    return {
        "promptIdx": place,
        "testIdx": 0,
        "prompt": {"label": label, "raw": f"{label} {place}"},
        "provider": {"id": "one", "label": ""},
        "vars": variables,
        "response": {"output": "Paris"},
    }


def promptfoo_file(tmp_path: Path, *results: dict[str, Any]) -> list[Example]:
    path = tmp_path / "results.json"
    prompts = [{"label": result["prompt"]["label"]} for result in results]
    document = {"evalId": "e", "results": {"prompts": prompts, "results": results}}
    path.write_text(json.dumps(document), "utf-8")
    return list(Reading(path).singles())


def test_prompts_of_promptfoo_are_systems_of_their_own_and_one_prompt_is_not_named(
    tmp_path: Path,
) -> None:
    variables = {"q": "capital of France", "reference": "Paris"}
    results = [promptfoo_result(i, name, **variables) for i, name in enumerate(("A", "B"))]
    examples = promptfoo_file(tmp_path, *results)
    assert [example.system for example in examples] == ["one / A", "one / B"]
    assert {example.question for example in examples} == {"capital of France"}
    assert [example.system for example in promptfoo_file(tmp_path, results[0])] == ["one"]


def test_long_prompts_that_begin_alike_stay_systems_of_their_own(tmp_path: Path) -> None:
    labels = ["Answer the question. " * 9 + end for end in ("Be brief.", "Be long.")]
    results = [promptfoo_result(i, label, q="x") for i, label in enumerate(labels)]
    systems = {example.system for example in promptfoo_file(tmp_path, *results)}
    assert len(systems) == 2
    assert all(system is not None and len(system) < 70 for system in systems)


def test_a_test_asked_by_two_prompts_is_one_question_where_no_variable_is(tmp_path: Path) -> None:
    results = [promptfoo_result(i, name, town="x", river="y") for i, name in enumerate("AB")]
    examples = promptfoo_file(tmp_path, *results)
    assert len({example.question for example in examples}) == 2
    assert len({example.question_id for example in examples}) == 1


def mlflow_trace(
    outputs: Any, assessments: list[dict[str, Any]] | None = None, events: int = 0
) -> dict[str, Any]:
    attributes = {
        "mlflow.spanInputs": '{"question": "Capital?"}',
        "mlflow.spanOutputs": json.dumps(outputs),
    }
    chunks = [{"name": f"mlflow.chunk.item.{number}"} for number in range(events)]
    span = {"span_id": "s", "name": "root", "attributes": attributes, "events": chunks}
    return {
        "info": {"trace_id": "t", "assessments": assessments or []},
        "data": {"spans": [span]},
    }


def test_expected_answers_of_mlflow_are_references_and_its_scores_are_counted() -> None:
    def expected(name: str, value: Any, **more: Any) -> dict[str, Any]:
        return {"assessment_name": name, "expectation": {"value": value}, **more}

    trace = mlflow_trace(
        "Paris",
        [
            expected("expected_response", "Paris"),
            expected("expected_response", "replaced", valid=False),
            expected("expected_facts", ["a", "b"]),
            {"assessment_name": "exact", "feedback": {"value": True}},
        ],
    )
    (example,), ignored = read(trace)
    assert example.references == ("Paris",)
    assert ignored == {"scores of the tool": 1, "expectations that are no answers": 1}


def test_a_streamed_answer_of_mlflow_has_nothing_between_its_pieces() -> None:
    (example,), _ = read(mlflow_trace(["Pa", "ris", "."], events=3))
    assert example.answer == "Paris."


def test_of_a_reply_with_several_choices_the_first_is_read_and_the_others_are_counted() -> None:
    choices = [{"message": {"role": "assistant", "content": text}} for text in ("Paris", "Rome")]
    (example,), ignored = read(mlflow_trace({"choices": choices}))
    assert example.answer == "Paris"
    assert ignored == {"further choices of a reply": 1}


def test_a_table_of_mlflow_is_read_from_its_whole_traces_where_the_spans_are_python_s() -> None:
    trace = mlflow_trace(
        "Paris", [{"assessment_name": "expected_response", "expectation": {"value": "Paris"}}]
    )
    row = {
        "trace_id": "t",
        "trace": json.dumps(trace),
        "request": "{}",
        "response": "{}",
        "spans": "[{'span_id': 's'}]",
        "assessments": "[{'assessment_name': 'expected_response'}]",
    }
    (example,), _ = read(row)
    assert (example.answer, example.references) == ("Paris", ("Paris",))


def test_calls_of_openinference_keep_their_names_and_arguments() -> None:
    call = {"tool_call": {"function": {"name": "look", "arguments": '{"q":"nile"}'}}}
    turns = [
        {"role": "user", "content": "Where?"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "assistant", "content": "In Africa."},
    ]
    (example,), _ = read({"turns": turns})
    assert example.turns[1].calls == ('look({"q":"nile"})',)


@pytest.mark.parametrize("column", ["answer", "question", "gold"])
def test_a_mapped_column_may_have_the_name_of_a_field_that_the_shape_reads(column: str) -> None:
    result = promptfoo_result(0, "A", question="Where?") | {column: "in France"}
    (example,) = Reading([result], mapping={"references": column}).singles()
    assert (example.question, example.answer) == ("Where?", "Paris")
    assert example.references == ("in France",)
