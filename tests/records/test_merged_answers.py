"""Answers of several models, tasks, prompts, experiments or calls in one file: none takes the place of another without a
word."""

from __future__ import annotations

import json
from pathlib import Path
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


def promptfoo_file(path: Path, columns: list[dict[str, Any]], **result: Any) -> list[Example]:
    results = [
        {
            "promptIdx": place,
            "testIdx": 0,
            "prompt": {"label": column["label"], "raw": "Answer: Q?"},
            "provider": {"id": column["provider"]},
            "vars": {"question": "Q?"},
            "response": {"output": "Paris"},
            **result,
        }
        for place, column in enumerate(columns)
    ]
    document = {"evalId": "e", "results": {"prompts": columns, "results": results}}
    path.write_bytes(orjson.dumps(document))
    return list(Reading(path).singles())


def column(provider: str, label: str, raw: str) -> dict[str, Any]:
    return {"provider": provider, "label": label, "raw": raw}


@pytest.mark.parametrize(
    ("columns", "systems"),
    [
        ([column("m", "p", "p"), column("m", "p", "p")], ["m (1)", "m (2)"]),
        ([column("m", "p", "Short"), column("m", "p", "Long")], ["m / Short", "m / Long"]),
        ([column("m", "p", "p"), column("n", "p", "p")], ["m", "n"]),
        (
            [column("m", "p", "p"), column("m", "q", "q"), column("m", "p", "p")],
            ["m / p (1)", "m / q", "m / p (2)"],
        ),
    ],
)
def test_columns_of_promptfoo_with_one_name_are_systems_of_their_own(
    columns: list[dict[str, Any]], systems: list[str], tmp_path: Path
) -> None:
    examples = promptfoo_file(tmp_path / "results.json", columns)
    assert [example.system for example in examples] == systems


@pytest.mark.parametrize(
    ("assertion", "references"),
    [
        ({"type": "equals", "value": "{{right}}"}, ("Paris",)),
        ({"type": "equals", "value": "It is {{ right }}, {{year}}."}, ("It is Paris, 2026.",)),
        ({"type": "similar", "value": ["Paris", "{{right}}s"]}, ("Paris", "Pariss")),
        ({"type": "similar:cosine", "value": "Paris"}, ("Paris",)),
        ({"type": "assert-set", "assert": [{"type": "equals", "value": "Paris"}]}, ("Paris",)),
        ({"type": "equals", "value": "{a}"}, ("{a}",)),
        ({"type": "not-equals", "value": "Rome"}, ()),
    ],
)
def test_references_of_promptfoo_have_the_variables_in_place_of_their_names(
    assertion: dict[str, Any], references: tuple[str, ...]
) -> None:
    variables = {"question": "Q?", "right": "Paris", "year": 2026}
    result = {"promptIdx": 0, "testIdx": 0, "vars": variables, "response": {"output": "Paris"}}
    (example,), ignored = read({**result, "testCase": {"assert": [assertion]}})
    assert (example.references, ignored) == (references, {})


@pytest.mark.parametrize(
    "value",
    ["{{missing}}", "{{ right | upper }}", "{% if a %}b{% endif %}", "file://right.txt", "{{a.b}}"],
)
@pytest.mark.parametrize("place", ["assertion", "variable"])
def test_a_template_or_a_file_is_no_reference_and_is_counted(value: str, place: str) -> None:
    variables = {"question": "Q?", "right": "Paris"}
    if place == "variable":
        variables["reference"] = value
    result = {"promptIdx": 0, "testIdx": 0, "vars": variables, "response": {"output": "Paris"}}
    assertions = [{"type": "equals", "value": value}] if place == "assertion" else []
    (example,), ignored = read({**result, "testCase": {"assert": assertions}})
    assert example.references == ()
    assert ignored == {"references that are templates or files": 1}


def weave_call(name: str, model: str | None, op: str = "M.predict:abc") -> dict[str, Any]:
    return {
        "id": name,
        "op_name": f"weave:///e/p/op/{op}",
        "trace_id": name,
        "parent_id": None,
        "started_at": "2026-11-29T05:00:00Z",
        "inputs": {"self": model, "question": "Q?"},
        "output": name,
    }


def test_versions_of_a_model_of_weave_are_systems_of_their_own() -> None:
    model = "weave:///e/p/object/M"
    reading = Reading([weave_call("a", f"{model}:v1"), weave_call("b", f"{model}:v2")])
    assert [example.system for example in reading.singles()] == ["M:v1", "M:v2"]
    assert reading.notices == ()


def braintrust(name: str, **fields: Any) -> dict[str, Any]:
    return {**BRAINTRUST, "id": name, "error": None, **fields}


MERGED = {
    "experiments of Braintrust": (
        [braintrust("a", experiment_id="e1"), braintrust("b", experiment_id="e2")],
        "2 experiments (experiment_id)",
    ),
    "models of Braintrust": (
        [braintrust(name, metadata={"model": name}) for name in "abc"],
        "3 models (metadata.model)",
    ),
    "functions of Weave": (
        [weave_call(name, None, f"ask:{name}") for name in "ab"],
        "2 operations (name)",
    ),
    "columns of promptfoo in JSON Lines": (
        [
            {**PROMPTFOO, "promptIdx": place, "provider": "m", "prompt": {"label": "p"}}
            for place in (0, 1)
        ],
        "2 columns (promptIdx)",
    ),
}


@pytest.mark.parametrize("records", MERGED)
def test_answers_that_are_read_as_one_system_are_named_with_the_option_that_tells_them_apart(
    records: str,
) -> None:
    rows, told = MERGED[records]
    reading = Reading(rows)
    list(reading.singles())
    (notice,) = reading.notices
    assert f"The answers of {told} are one system" in notice
    path = told.split("(")[1].rstrip(")")
    apart = Reading(rows, mapping={"system": path})
    systems = {example.system for example in apart.singles()}
    assert len(systems) == len(rows)
    assert apart.notices == ()


def test_answers_of_one_experiment_are_read_without_a_notice() -> None:
    reading = Reading([braintrust(name, experiment_id="e") for name in "ab"])
    assert [example.id for example in reading.singles()] == ["a", "b"]
    assert reading.notices == ()


def test_conversations_of_a_test_run_of_deepeval_are_read_beside_its_other_cases(
    tmp_path: Path,
) -> None:
    turns = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    run = {
        "testCases": [{"name": "a", "input": "Q?", "actualOutput": "A."}],
        "conversationalTestCases": [{"name": "c", "turns": turns, "expectedOutcome": "good"}],
    }
    path = tmp_path / "run.json"
    path.write_bytes(orjson.dumps(run))
    reading = Reading(path)
    examples = [(example.question, example.answer) for example in reading.singles()]
    assert examples == [("Q?", "A."), ("hi", "hello")]
    assert +reading.ignored == {}


def test_scores_in_a_cell_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text('id,input,output,expected,scores\nb,q,a,e,"{""x"":1,""y"":0}"\n', "utf-8")
    reading = Reading(path)
    list(reading.singles())
    assert +reading.ignored == {"scores of Braintrust's scorers": 2}


SEVERAL = [
    {"question": f"Why is {thing}?", "answer": f"{model} says so.", "model": model}
    for thing in ("ice light", "salt white")
    for model in ("small", "large")
]


@pytest.mark.parametrize("records", [SEVERAL, SEVERAL[:2], [*SEVERAL[:1], *SEVERAL[3:]] * 2])
def test_several_models_that_no_field_reads_are_said_to_be_one_system(
    records: list[dict[str, Any]],
) -> None:
    reading = Reading([{"id": place} | record for place, record in enumerate(records)])
    assert {example.system for example in reading.singles()} == {None}
    assert [notice for notice in reading.notices if "one system" in notice] == [
        "The answers of 2 values of model are one system. To tell them apart: mapping={'system': 'model'}"
    ]


@pytest.mark.parametrize("mapping", [{"system": "model"}, {"system": ""}])
def test_who_says_what_the_system_is_hears_nothing_of_models(mapping: dict[str, str]) -> None:
    reading = Reading(SEVERAL, mapping=mapping)
    systems = [example.system for example in reading.singles()]
    assert systems == (["small", "large"] * 2 if mapping["system"] else [None] * 4)
    assert reading.notices == ()


def test_a_model_that_is_the_same_for_all_is_no_second_system() -> None:
    reading = Reading([{**record, "model": "small"} for record in SEVERAL])
    list(reading)
    assert reading.notices == ()


def test_words_for_a_missing_value_are_texts_of_an_answer_and_are_said(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("question,answer,contexts\nWhy?,None,null\nWho?,nan,nan\nWhen?,,None\n")
    reading = Reading(path)
    examples = list(reading.singles())
    assert [example.answer for example in examples] == ["None", "nan", None]
    assert [example.contexts for example in examples] == [(), (), ()]
    assert reading.notices == (
        '2 texts in the field answer are "None", "nan", which programs write for a missing value, and count as '
        "texts. If nothing was there, leave the cell empty or write null.",
    )


@pytest.mark.parametrize("path", ["text", "o.text", "p[0]", "not_null(o.text)", "o.text,p[0]"])
def test_an_empty_text_at_a_path_is_an_empty_answer_as_in_a_column(path: str) -> None:
    records = [
        {"question": f"Why {number}?", "text": text, "o": {"text": text}, "p": [text]}
        for number, text in enumerate(("", "It is so."))
    ]
    empty, full = Reading(records, mapping={"answer": path}).singles()
    assert empty.answer == ""
    assert full.answer is not None
    assert "It is so." in full.answer


def test_a_path_to_nothing_is_a_missing_answer() -> None:
    records = [
        {"question": f"Why {n}?", "o": {"text": text}} for n, text in enumerate((None, "So."))
    ]
    assert [
        example.answer for example in Reading(records, mapping={"answer": "o.text"}).singles()
    ] == [None, "So."]


def test_the_thinking_of_a_model_in_its_answers_is_said(tmp_path: Path) -> None:
    answers = [
        "<think>\nHm.\n</think>\nIt is blue.",
        "Hm.\n</think>\nIt is blue.",
        "It is <think>.",
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text(
        "".join(
            json.dumps({"question": f"Why {number}?", "answer": answer}) + "\n"
            for number, answer in enumerate(answers)
        )
    )
    reading = Reading(path)
    assert [example.answer for example in reading.singles()] == answers
    assert reading.notices == (
        f"2 answers have a model's thinking between tags such as <think> (the first in {path}:1), which is scored as "
        "a part of the answer. Take it out of the file if it was not shown to readers.",
    )


OF_BRAINTRUST: dict[str, Any] = {
    "input": "Why is ice light?",
    "output": "Its crystals are wide.",
    "expected": "Ice is less dense.",
    "metadata": {},
    "scores": {},
    "error": None,
}


@pytest.mark.parametrize(
    ("other", "counted"),
    [
        (OF_BRAINTRUST, "records of another file (Braintrust results)"),
        (
            {"question": "Why?", "answer": "So.", "contexts": ["It is so."]},
            "records in another form",
        ),
        ({"user_input": "Why?", "response": "So."}, "records in another form"),
    ],
)
def test_a_record_of_another_file_is_counted_as_that_and_not_read_in_part(
    other: dict[str, Any], counted: str
) -> None:
    examples, ignored = read(sample("4"), other)
    assert [example.answer for example in examples] == ["4"]
    assert ignored == {counted: 1}


def test_plain_records_and_spans_in_one_file_are_not_read_in_part_whichever_comes_first() -> None:
    plain = {"question": "Why?", "answer": "So.", "context": ["It is so."]}
    span = {
        "name": "llm",
        "context": {"trace_id": "0x" + "ab" * 16, "span_id": "0x" + "cd" * 8},
        "parent_id": None,
        "start_time": "2026-01-01T00:00:00Z",
        "attributes": {
            "openinference.span.kind": "LLM",
            "input.value": "What?",
            "output.value": "That.",
        },
    }
    examples, ignored = read(plain, span, plain | {"answer": "Yes."})
    assert [example.answer for example in examples] == ["So.", "Yes."]
    assert ignored == {"records of another file (spans of Phoenix or of OpenTelemetry's SDK)": 1}
    examples, ignored = read(span, plain)
    assert [example.answer for example in examples] == ["That."]
    assert ignored == {"records in another form": 1}
