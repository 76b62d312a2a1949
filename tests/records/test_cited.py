"""Answers that cite, as tools write them, and the sources that they name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import longmark
from longmark.errors import BadInput
from longmark.records import Example
from longmark.records.cited import CitedSource, sources_of, titled
from longmark.records.cited_parts import cited_answer, id_list
from longmark.records.read import Reading
from longmark.records.values import Problem

TOOLS = Path(__file__).parent / "tools"


def read(record: dict[str, Any], **options: Any) -> Example:
    (example,) = Reading([record], **options).singles()
    return example


def scores(record: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    run = longmark.run([record], "citations", checker="overlap", out=tmp_path / "run")
    return {row.metric.removeprefix("citations."): row for row in run.rows()}


def test_a_run_of_trec_cites_ids_without_texts_and_is_unscored_with_the_reason(
    tmp_path: Path,
) -> None:
    examples = list(Reading(TOOLS / "trec-rag.jsonl").singles())
    assert [example.id for example in examples] == ["demo-run-101", "demo-run-102", "demo-run-103"]
    assert [example.question_id for example in examples] == ["101", "102", "103"]
    assert examples[0].sources == (
        CitedSource(id="msmarco_v2.1_doc_00_1#4_77"),
        CitedSource(id="msmarco_v2.1_doc_00_2#1_12"),
    )
    assert examples[2].answer == "In Italy [doc-7]."
    assert examples[2].sources == (CitedSource(id="doc-7"),)
    record = json.loads((TOOLS / "trec-rag.jsonl").read_text("utf-8").splitlines()[0])
    found = scores(record, tmp_path)
    assert found["recall"].status == found["precision"].status == "missing_input"
    assert found["resolvable"].score == 1
    assert found["uncited"].score == 1 / 2
    assert found["distinct_sources"].score == 2


def test_contexts_with_the_ids_are_the_texts_of_the_sources(tmp_path: Path) -> None:
    record = json.loads((TOOLS / "trec-rag.jsonl").read_text("utf-8").splitlines()[0])
    record["contexts"] = [  # in another order than the references
        {"id": "msmarco_v2.1_doc_00_2#1_12", "text": "Egypt is in Africa."},
        {"id": "msmarco_v2.1_doc_00_1#4_77", "text": "The Nile is in Africa."},
    ]
    found = scores(record, tmp_path)
    assert found["recall"].score == 1 / 2
    (first, _) = found["recall"].evidence["claims"]
    assert [(one["name"], one["passages"]) for one in first["citations"]] == [
        ("1", [2]),
        ("2", [1]),
    ]


def test_a_report_with_pages_is_scored_by_their_addresses(tmp_path: Path) -> None:
    (line,) = (TOOLS / "deep-research-bench.jsonl").read_text("utf-8").splitlines()
    record = json.loads(line)
    example = read(record)
    assert example.sources == (
        CitedSource(id="https://nile.org", text="The Nile is in Africa."),
        CitedSource(id="https://gone.org"),
    )
    found = scores(record, tmp_path)
    assert (found["recall"].score, found["precision"].score) == (1, 1)
    record["article"] += "\n[2] Gone https://gone.org"
    record["article"] = record["article"].replace("[1].", "[1]. It is very long [2].")
    lost = scores(record, tmp_path / "more")
    assert lost["recall"].status == "missing_input"
    assert "1 of 2 citations" in lost["recall"].reason
    assert "(https://gone.org)" in lost["recall"].reason


def test_results_of_alce_are_scored_by_the_passages_of_their_numbers(tmp_path: Path) -> None:
    (record,) = json.loads((TOOLS / "alce.json").read_text("utf-8"))["data"]
    assert scores(record, tmp_path)["recall"].score == 1


def test_cited_parts_of_any_tool_are_one_answer_with_markers() -> None:
    record = {
        "question": "Which?",
        "answer": [{"text": "It rains.", "citations": ["a b", "c"]}, {"text": " So. "}],
        "references": ["It rains a lot."],
    }
    example = read(record)
    assert example.answer == "It rains [a b][c]. So."
    assert example.references == ("It rains a lot.",)
    assert example.sources == (CitedSource(id="a b"), CitedSource(id="c"))


def test_empty_passages_keep_the_numbers_of_those_behind_them(tmp_path: Path) -> None:
    record: dict[str, Any] = {"id": "1", "question": "?", "answer": "The rain falls in Rome [3]."}
    record["contexts"] = ["", None, "The rain falls in Rome."]
    example = read(record)
    assert [source.text for source in example.sources or ()] == [
        None,
        None,
        example.contexts[0].text,
    ]
    found = scores(record, tmp_path)
    assert found["recall"].score == 1
    assert found["recall"].evidence["claims"][0]["citations"][0]["passages"] == [1]
    record["answer"] = "The rain falls in Rome [1]."
    assert scores(record, tmp_path / "empty")["recall"].status == "missing_input"
    record["answer"] = "No marker."
    assert read(record).sources is None


def test_an_id_that_only_a_part_has_is_a_source_behind_the_list_of_references() -> None:
    parts = [{"text": "So.", "citations": ["b", 0]}, {"text": "No.", "citations": ["c"]}]
    example = read({"topic_id": "1", "references": ["a", "b"], "answer": parts})
    assert example.answer == "So [b][1]. No [c]."
    assert [source.id for source in example.sources or ()] == ["a", "b", "c"]


def test_a_column_of_sources_is_read_where_it_has_their_texts() -> None:
    record = {"id": "1", "question": "?", "answer": "So [1]."}
    with_texts = {**record, "sources": [{"url": "https://a.org", "content": "So.", "title": "A"}]}
    assert read(with_texts).sources == (CitedSource(id="https://a.org", text="So."),)
    for other in (["report.pdf"], "web", [{"title": "A"}], []):
        example = read({**record, "sources": other})
        assert example.sources is None
        assert example.meta.get("sources", other) == other
    partly = [{"id": "a", "text": "So."}, {"id": "b"}, {"title": "C", "text": "Yes."}]
    assert read({**record, "sources": partly}).sources == (
        CitedSource(id="a", text="So."),
        CitedSource(id="b"),
        CitedSource(id="C", text="Yes."),
    )
    mapped = read({**record, "refs": ["doc-1"]}, mapping={"sources": "refs"})
    assert mapped.sources == (CitedSource(id="doc-1"),)


@pytest.mark.parametrize(
    ("raw", "message"),
    [("doc-1", "expected a list of sources"), ([5], "expected an id"), ([{}], "expected an id")],
)
def test_sources_that_cannot_be_read_say_what_is_wrong(raw: Any, message: str) -> None:
    with pytest.raises(Problem, match=message):
        sources_of("sources", raw)
    with pytest.raises(BadInput):
        read({"question": "?", "answer": "So.", "refs": raw}, mapping={"sources": "refs"})


def test_what_is_no_list_of_parts_is_left_to_others() -> None:
    values: tuple[Any, ...] = (None, "x", [], ["x"], [{"text": 1}], {})
    for value in values:
        assert cited_answer(value) is None
    assert id_list(["a b"]) is id_list([]) is id_list("x") is None
    assert titled("x") is titled([5]) is None
    assert titled([{"title": None, "text": "b"}, {"title": "T", "sent": "s"}]) == [
        "b",
        "Title: T\ns",
    ]


@pytest.mark.parametrize(
    "passages",
    [
        {"https://maps.org/nile": "It is in Africa."},
        {"https://maps.org/nile": {"text": "It is in Africa.", "title": "Nile"}},
        {"https://maps.org/nile": {"text": "It is in Africa."}, "b": "It is long."},
    ],
)
def test_contexts_can_be_one_object_of_texts_by_id(passages: dict[str, Any]) -> None:
    contexts = read(
        {"question": "Where?", "answer": "In Africa [1].", "contexts": passages}
    ).contexts
    assert [context.id for context in contexts] == [*passages]
    assert contexts[0].text == "It is in Africa."


@pytest.mark.parametrize("described", [{"id": "nile"}, {"title": "Nile"}, {"nile": {"id": "1"}}])
def test_one_passage_without_its_text_is_not_taken_for_a_text_by_id(described: Any) -> None:
    with pytest.raises(BadInput, match="an object needs its passage under"):
        read({"question": "Where?", "answer": "In Africa [1].", "contexts": described})


@pytest.mark.parametrize(
    ("sources", "are_read"),
    [
        ({"a": "It rains.", "b": "It snows."}, True),
        ({"a": "Eis schwimmt.", "b": "Salz"}, True),
        ({"a": "冰会浮。 盐很咸。"}, True),
        ({"a": {"text": "Rain"}}, True),
        ({"1": "report.pdf", "2": "notes.txt"}, False),
        ({"web": "Wikipedia", "book": "Annual Report 2024"}, False),
        ({"a": "Rain."}, False),
        ({}, False),
        (["It rains.", "It snows."], False),
    ],
)
def test_an_object_of_short_texts_by_id_is_read_as_sources(sources: Any, are_read: bool) -> None:
    example = read({"question": "?", "answer": "It rains [a].", "sources": sources})
    assert bool(example.sources) is are_read
    if are_read and isinstance(sources, dict):
        assert [source.id for source in example.sources or ()] == list(sources)


RAIN_ZH = "雨水通常在春天落在山谷里，河流随之上涨。"
SNOW_JA = "冬には雪が降り、山道が閉ざされます。"


@pytest.mark.parametrize(
    ("sources", "texts"),
    [
        ([RAIN_ZH, "冬天下雪。"], [RAIN_ZH, "冬天下雪。"]),
        ([RAIN_ZH * 20, "年报2024"], [RAIN_ZH * 20, None]),
        ({"s1": RAIN_ZH, "s2": SNOW_JA}, [RAIN_ZH, SNOW_JA]),
        ({"s1": "雨が降る。", "s2": "雪が降る。"}, ["雨が降る。", "雪が降る。"]),
        (["ฝนตกในฤดูใบไม้ผลิและแม่น้ำสูงขึ้น" * 10], ["ฝนตกในฤดูใบไม้ผลิและแม่น้ำสูงขึ้น" * 10]),
    ],
)
def test_sources_in_scripts_without_spaces_are_texts(sources: Any, texts: list[str | None]) -> None:
    example = read({"question": "?", "answer": "[1]", "sources": sources})
    assert [source.text for source in example.sources or ()] == texts


@pytest.mark.parametrize(
    "names", [["维基百科", "年报2024.pdf"], {"s1": "维基百科", "s2": "雨。"}, ["什么是雨？"]]
)
def test_names_in_scripts_without_spaces_are_no_sources(names: Any) -> None:
    assert not read({"question": "?", "answer": "[1]", "sources": names}).sources
