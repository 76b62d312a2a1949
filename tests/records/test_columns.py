"""Raw records of other tools become Examples; bad ones say all that is wrong on one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from longmark.errors import BadInput, UnknownName, UserError
from longmark.options import command_line
from longmark.records import Context, Example, Pair
from longmark.records.columns import Columns
from longmark.records.pair import example_of, singles
from longmark.records.read import Reading
from longmark.records.record_reading import BadRecord


def read(record: Any, cells: bool = False, **mapping: str) -> Example:
    return next(singles([Columns(mapping, cells=cells).example(record)], "the record"))


def problem(record: Any, cells: bool = False, **mapping: str) -> str:
    with pytest.raises(BadRecord) as caught:
        read(record, cells, **mapping)
    message = str(caught.value)
    assert "\n" not in message
    return message


SAME = [
    {"question": "q", "answer": "a", "contexts": ["c1", "c2"], "references": ["r"]},
    {"question": "q", "answer": "a", "contexts": ["c1", "c2"], "ground_truth": "r"},
    {
        "question": "q",
        "answer": "a",
        "contexts": ["c1", "c2"],
        "ground_truths": ["r"],
        "ground_truth": "r",
    },
    {"user_input": "q", "response": "a", "retrieved_contexts": ["c1", "c2"], "reference": "r"},
    {"input": "q", "actual_output": "a", "retrieval_context": ["c1", "c2"], "expected_output": "r"},
    {
        "userInput": "q",
        "actualOutput": "a",
        "retrievalContext": ["c1", "c2"],
        "expectedOutput": "r",
    },
    {"Query": "q", "RESPONSE": "a", "RetrievedContexts": ["c1", "c2"], "groundTruth": "r"},
    {
        "query": "q",
        "response": "a",
        "retrieved_context": [{"text": "c1"}, {"text": "c2"}],
        "gt_answer": "r",
    },
    {
        "Question": "q",
        "Answer": "a",
        "Retrieved Contexts": ["c1", "", None, " ", "c2"],
        "Ground-Truth": "r",
    },
]


@pytest.mark.parametrize("record", SAME)
def test_names_of_other_tools_mean_the_same(record: dict[str, Any]) -> None:
    assert read(record) == read(SAME[0])
    assert read(record).contexts == (Context(text="c1"), Context(text="c2"))
    assert read(record).references == ("r",)


def test_ragas_reference_contexts_go_to_meta() -> None:
    example = read({"user_input": "q", "retrieved_contexts": ["c"], "reference_contexts": ["gold"]})
    assert example.contexts == (Context(text="c"),)
    assert example.meta == {"reference_contexts": ["gold"]}


def test_deepeval_context_is_the_ideal_one_beside_a_retrieval_context() -> None:
    both = read(
        {"input": "q", "actual_output": "a", "retrieval_context": ["found"], "context": ["ideal"]}
    )
    assert both.contexts == (Context(text="found"),)
    assert both.meta == {"context": ["ideal"]}
    camel = read(
        {"input": "q", "actualOutput": "a", "retrievalContext": ["found"], "Context": ["ideal"]}
    )
    assert (camel.contexts, camel.meta) == (both.contexts, {"Context": ["ideal"]})
    none_found = read(
        {"input": "q", "actual_output": "a", "retrieval_context": None, "context": ["ideal"]}
    )
    assert none_found.contexts == ()
    assert read({"input": "q", "context": ["only"]}).contexts == (Context(text="only"),)


def test_output_is_the_answer_and_expected_the_reference_where_input_is_the_question() -> None:
    # The records of TruLens 2.16 (get_records_and_feedback) and the tables of phoenix-evals name their columns so.
    example = read({"input": "q", "output": "a", "expected": "r", "latency": 0.5})
    assert (example.question, example.answer, example.references) == ("q", "a", ("r",))
    assert example.meta == {"latency": 0.5}


@pytest.mark.parametrize(
    ("record", "answer"),
    [
        ({"input": "q", "actual_output": "a", "output": "raw"}, "a"),  # another column has it
        ({"question": "q", "output": "a"}, None),
        ({"instruction": "Translate.", "input": "q", "output": "gold"}, None),  # Alpaca's columns
        ({"input": "q", "output": {"text": "a"}}, None),  # an object does not say where its text is
    ],
)
def test_output_is_kept_beside_the_fields_where_it_may_mean_something_else(
    record: dict[str, Any], answer: str | None
) -> None:
    example = read(record)
    assert example.answer == answer
    assert example.meta["output"] == record["output"]


def test_passages_as_objects() -> None:
    contexts = [
        {"doc_id": "000", "text": "t"},
        {"id": 7, "content": "c"},
        {"chunk_id": 2.0, "page_content": "p", "score": 0.3},
    ]
    assert read({"question": "q", "contexts": contexts}).contexts == (
        Context(text="t", id="000"),
        Context(text="c", id="7"),
        Context(text="p", id="2"),
    )
    assert read({"question": "q", "context": "one"}).contexts == (Context(text="one"),)
    assert read({"question": "q", "context": {"id": "x", "text": "one"}}).contexts == (
        Context(text="one", id="x"),
    )
    assert read({"question": "q", "context": ""}).contexts == ()


@pytest.mark.parametrize(
    ("number", "text"), [(1, "1"), (1.0, "1"), (1.5, "1.5"), (-3, "-3"), (2**60, str(2**60))]
)
def test_numeric_ids_become_text(number: float, text: str) -> None:
    assert read({"id": number, "question": "q"}).id == text
    assert read({"query_id": number, "query": "q"}).id == text


def test_ids_that_are_no_ids() -> None:
    assert problem({"id": True, "question": "q"}) == "id: expected text or a number, found true"
    assert problem({"id": ["a"], "question": "q"}) == "id: expected text or a number, found a list"
    assert "write it in quotes" in problem({"id": 1.2345678901234568e23, "question": "q"})
    assert read({"id": "", "question": "q"}).id == read({"question": "q"}).id != ""


def test_empty_and_missing_answers_differ() -> None:
    assert read({"question": "q", "answer": ""}).answer == ""
    assert read({"question": "q", "answer": None}).answer is None
    assert read({"question": "q", "answer": float("nan")}).answer is None
    assert read({"question": "q"}).answer is None


def test_messages_say_what_was_expected() -> None:
    assert problem({"question": 5}) == "question: expected text, found 5"
    assert problem({"question": 5, "answer": ["a"]}) == (
        "question: expected text, found 5; answer: expected text, found a list; join its texts: "
        "mapping={'answer': 'join(`\" \"`, answer)'}"
    )
    assert problem({"question": "q", "contexts": [["c"]]}) == (
        "contexts[0]: expected text or an object with id and text, found a list"
    )
    assert "contexts[1]: an object needs its passage" in problem(
        {"question": "q", "contexts": ["c", {"id": 1}]}
    )
    assert problem({"question": "q", "references": [1]}) == "references[0]: expected text, found 1"
    assert problem({"question": "q", "profile": "nurse\nor so"}) == (
        "profile: expected an object, found 'nurse\\nor so'"
    )
    assert problem([1]) == "expected an object with named fields, found a list"
    assert problem({}) == "the record is empty"
    assert problem({"text": "t"}) == (
        "no known column (found text); name columns with mapping={'question': 'COLUMN'}"
    )


def test_characters_that_cannot_be_kept() -> None:
    assert problem({"question": "a\x00b"}) == "question: contains a NUL character; remove it"
    assert "lone surrogate U+D800" in problem({"question": "a\ud800"})
    assert "not UTF-8 (byte 0xE9)" in problem({"answer": "caf\udce9"})
    assert problem({"question": "q", "note": "\ud800"}).startswith("meta: cannot be stored as JSON")


def test_two_columns_for_one_field() -> None:
    assert read({"answer": "a", "response": "a"}).answer == "a"
    assert read({"answer": None, "response": "a"}).answer == "a"
    assert problem({"answer": "a", "response": "b"}) == (
        "answer: the columns answer and response differ; choose one with mapping={'answer': 'COLUMN'}"
    )
    chosen = read({"answer": "gold", "response": "b"}, answer="response", references="answer")
    assert (chosen.answer, chosen.references) == ("b", ("gold",))


def test_mapping_goes_first() -> None:
    example = read(
        {"Frage": "q", "question": "other", "text": "a"},
        question="Frage",
        answer="text",
        contexts="Quelle",
    )
    assert (example.question, example.answer) == ("q", "a")
    assert example.meta == {"question": "other"}


def test_mapping_of_an_unknown_field() -> None:
    with pytest.raises(UnknownName, match="Did you mean question"):
        Columns({"qestion": "q"})
    with (
        pytest.warns(DeprecationWarning, match="`references`"),
        pytest.raises(UserError, match="references twice"),
    ):
        Columns({"reference": "a", "references": "b"})


def test_unknown_columns_go_to_meta() -> None:
    record = {"question": "q", "score": 3, "empty": None, "nan": float("nan"), "meta": {"by": "me"}}
    assert read(record).meta == {"by": "me", "score": 3}
    assert "meta: by is also a column" in problem(
        {"question": "q", "by": "you", "meta": {"by": "me"}}
    )


def test_cells_of_a_csv_file() -> None:
    example = read(
        {
            "question": "[sic] q",
            "answer": '""',
            "contexts": '["a", {"id": 1, "text": "b"}]',
            "references": "",
            "profile": '{"job": "nurse"}',
            "note": "",
            "system": '""',
        },
        cells=True,
    )
    assert (example.question, example.answer, example.references) == ("[sic] q", "", ())
    assert example.contexts == (Context(text="a"), Context(text="b", id="1"))
    assert (example.profile, example.meta, example.system) == ({"job": "nurse"}, {}, None)
    assert read({"question": "q", "answer": ""}, cells=True).answer is None


@pytest.mark.parametrize(
    ("cell", "texts"),
    [
        ("['a', \"it's\"]", ["a", "it's"]),  # a list of texts as pandas writes it
        ("[{'doc_id': '1', 'text': 'a'}]", ["a"]),
        ("[1] says so", ["[1] says so"]),
        ("plain", ["plain"]),
        ("[]", []),
    ],
)
def test_lists_in_cells(cell: str, texts: list[str]) -> None:
    assert [
        context.text for context in read({"question": "q", "contexts": cell}, cells=True).contexts
    ] == texts


@pytest.mark.parametrize(
    "cell", ["['a' 'b']", "['a'\n 'b']", "['a', b]", "[{'text': 'a'} {'text': 'b'}]"]
)
def test_lists_without_commas_are_refused(cell: str) -> None:
    assert "looks like a list but is not valid" in problem(
        {"question": "q", "contexts": cell}, cells=True
    )


@pytest.mark.parametrize(
    "cell",
    [
        "['a' 'b' ... 'y' 'z']",
        "array(['a', 'b', ..., 'z'], dtype=object)",
        "[['a', 'b'], ..., ['z']]",
    ],
)
def test_lists_that_numpy_printed_without_their_middle_are_refused(cell: str) -> None:
    for field in ("contexts", "references"):
        problem_of_cell = problem({"question": "q", field: cell}, cells=True)
        assert f"{field}: is a list without its middle" in problem_of_cell


@pytest.mark.parametrize("passage", ["('a', ..., 'b')", "('Go' ... 'Stop')", "{'a': ...}"])
def test_prose_with_an_ellipsis_in_parentheses_is_the_passage(passage: str) -> None:
    example = read({"question": "q", "contexts": passage}, cells=True)
    assert [context.text for context in example.contexts] == [passage]


def test_an_ellipsis_in_a_text_of_a_list_is_of_the_text() -> None:
    example = read({"question": "q", "contexts": "['a ... b', '...']"}, cells=True)
    assert [context.text for context in example.contexts] == ["a ... b", "..."]


def test_the_ideal_context_stays_so_in_a_record_without_a_retrieval() -> None:
    record = {"input": "q", "actual_output": "a", "context": ["ideal"]}
    reading = Reading([record | {"retrieval_context": ["found"]}, record | {"input": "q2"}])
    for _ in range(2):
        first, second = reading.singles()
        assert [passage.text for passage in first.contexts] == ["found"]
        assert second.contexts == ()
        assert second.meta == {"context": ["ideal"]}


@pytest.mark.parametrize("name", ["retrieval_context", "retrievalContext", "Retrieval Context"])
def test_the_ideal_context_stays_so_before_the_first_record_with_a_retrieval(
    name: str, tmp_path: Path
) -> None:
    without = {"input": "q", "actual_output": "a", "context": ["ideal"]}
    records = [without, without | {"input": "q2", name: ["found"]}]
    path = tmp_path / "dataset.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    document = tmp_path / "dataset.json"
    document.write_text(json.dumps(records))
    for source in (records, path, document):
        passages = [
            [passage.text for passage in example.contexts] for example in Reading(source).singles()
        ]
        assert passages == [[], ["found"]]


def test_a_text_that_only_speaks_of_a_retrieval_context_leaves_the_context_a_passage(
    tmp_path: Path,
) -> None:
    path = tmp_path / "answers.jsonl"
    record = {"question": "What is a retrieval_context?", "answer": "a", "context": ["found"]}
    path.write_text(json.dumps(record))
    (example,) = Reading(path).singles()
    assert [passage.text for passage in example.contexts] == ["found"]


def test_a_retrieval_that_comes_late_out_of_a_generator_is_refused() -> None:
    without = {"input": "q", "actual_output": "a", "context": ["ideal"]}
    records = [without, without | {"input": "q2", "retrieval_context": ["found"]}]
    with pytest.raises(BadInput, match="retrieval_context: a record before this one"):
        list(Reading(record for record in records))
    named = Reading((record for record in records), mapping={"contexts": "retrieval_context"})
    assert [len(example.contexts) for example in named.singles()] == [0, 1]


def test_the_passages_that_deepeval_joins_in_a_dataset_are_parted() -> None:
    saved = {"input": "q", "actual_output": "a", "retrieval_context": "first|second"}
    dataset = read(saved | {"expected_output": "e", "context": "ideal|too"})
    assert [passage.text for passage in dataset.contexts] == ["first", "second"]
    table = read(saved)  # no dataset: the text may be a table
    assert [passage.text for passage in table.contexts] == ["first|second"]
    spelled = read(saved | {"retrieval_context": '["a|b"]', "context": ""})
    assert [passage.text for passage in spelled.contexts] == ["a|b"]


@pytest.mark.parametrize(
    "spelled",
    [
        "('a', 'b')",
        "{'a', 'b'}",
        "[ 'a', 'b' ]",
        "['a', None, nan, 'b']",
        "array(['a', 'b'], dtype=object)",
        "np.array(['a',\n       'b'])",
    ],
)
def test_lists_in_every_notation_of_python_are_read(spelled: str) -> None:
    example = read({"question": "q", "contexts": spelled, "references": spelled})
    assert [passage.text for passage in example.contexts] == ["a", "b"]
    assert example.references == ("a", "b")


@pytest.mark.parametrize(
    "spelled", ["None", "nan", "[None]", "[nan]", "()", "[]", "array([], dtype=object)"]
)
def test_what_python_prints_for_no_passage_is_none(spelled: str) -> None:
    example = read({"question": "q", "contexts": spelled, "references": spelled})
    assert (example.contexts, example.references) == ((), ())


@pytest.mark.parametrize("spelled", ['{"documents": ["a"]}', "{'text': 'a'}"])
def test_an_object_with_passages_as_a_text_is_read(spelled: str) -> None:
    example = read({"question": "q", "contexts": spelled})
    assert [passage.text for passage in example.contexts] == ["a"]


@pytest.mark.parametrize(
    "passage",
    ['("Go", he said.)', "('a')", "(1, 2)", '{"price": 3}', "{'price': 3}", "f(x=1)", "(a)(b)"],
)
def test_a_text_that_spells_no_list_of_texts_is_the_passage(passage: str) -> None:
    example = read({"question": "q", "contexts": passage, "references": passage})
    assert [context.text for context in example.contexts] == [passage]
    assert example.references == (passage,)


@pytest.mark.parametrize(
    "printed",
    ["[ScoredChunk(text='a', score=0.1)]", "array(['a' 'b'], dtype=object)", "[['a' 'b']]"],
)
def test_what_cannot_be_read_as_python_prints_it_is_refused(printed: str) -> None:
    for field in ("contexts", "references"):
        assert f"{field}: " in problem({"question": "q", field: printed})


def test_a_passage_keeps_its_page_which_no_metric_sees() -> None:
    plain, paged = (
        read({"question": "q", "answer": "a", "contexts": [{"text": "c", **more}]})
        for more in ({}, {"page": 7})
    )
    assert paged.contexts == (Context(text="c", page="7"),)
    assert example_of(paged.to_json()).contexts == paged.contexts
    assert plain.id == paged.id
    a, b = (Pair(question="q", a="x", b="y", contexts=one.contexts) for one in (plain, paged))
    assert a.content_hash() == b.content_hash()


@pytest.mark.parametrize("spelled", ['["a", "b"]', "['a', 'b']"])
def test_a_list_as_a_text_is_a_list_outside_of_cells_too(spelled: str) -> None:
    record = {"question": "q", "contexts": spelled, "references": spelled}
    (example,) = Reading([record]).singles()
    assert [passage.text for passage in example.contexts] == ["a", "b"]
    assert example.references == ("a", "b")


def test_what_python_prints_for_documents_is_refused_and_not_taken_for_a_passage() -> None:
    printed = "[Document(page_content='Ice floats.'), Document(page_content='Water flows.')]"
    with pytest.raises(BadInput, match="what Python prints for a list of documents"):
        list(Reading([{"question": "q", "contexts": printed}]))


@pytest.mark.parametrize("passage", ["[1] Ice floats.", "[Ice] floats"])
def test_a_passage_that_begins_with_a_bracket_is_a_text(passage: str) -> None:
    (example,) = Reading(
        [{"question": "q", "contexts": [passage], "references": passage}]
    ).singles()
    assert (example.contexts[0].text, example.references) == (passage, (passage,))


def test_a_path_that_finds_nothing_where_a_record_has_what_it_reads_is_said() -> None:
    found = [{"body": {"inner": "Ice."}}]
    records = [{"question": q, "answer": "!", "found": found} for q in ("Why?", "How?")]
    reading = Reading(records, mapping={"contexts": "passages(found)"})
    assert [example.contexts for example in reading.singles()] == [(), ()]
    assert any(
        "contexts: passages(found) finds nothing in any record" in n for n in reading.notices
    )
    one_has = [*records, {"question": "?", "answer": "!", "found": ["Ice."]}]
    reading = Reading(one_has, mapping={"contexts": "passages(found)"})
    assert [bool(example.contexts) for example in reading.singles()] == [False, False, True]
    assert not any("finds nothing" in notice for notice in reading.notices)


@pytest.mark.parametrize(
    ("systems", "is_said"),
    [(["a", None], True), (["a", "b"], False), ([None, None], False), (["a", "a", None], True)],
)
def test_answers_without_a_system_beside_others_with_one_are_counted(
    systems: list[str | None], is_said: bool
) -> None:
    records = [
        {"id": str(number), "question": "?", "answer": "!", "by": {"name": system}}
        for number, system in enumerate(systems)
    ]
    reading = Reading(records, mapping={"system": "by.name"}) if any(systems) else Reading(records)
    list(reading)
    with command_line():
        said = [
            notice for notice in reading.notices if "1 answer of records without a system" in notice
        ]
    assert bool(said) == is_said
    if is_said:
        option = said[0].split("--map 'system=")[1].removesuffix("'").replace("NAME", "b")
        again = Reading(records, mapping={"system": option})
        assert {example.system for example in again.singles()} == {"a", "b"}
