"""Answers in parts that cite: each part is what its citations stand for, whatever its punctuation."""

from __future__ import annotations

from typing import Any

import pytest

import longmark
from longmark.records import Example
from longmark.records.cited_parts import answer_of_parts, cited_answer, part_sources
from longmark.records.read import Reading
from longmark.records.sentence_ends import sentence_ends

ICE = "Ice floats on water because it is less dense."
SALT = "Salt lowers the freezing point of water."
TEXTS = [{"id": "d1", "text": ICE}, {"id": "d2", "text": f"{SALT} It is cheap."}]


def of_trec(*parts: tuple[str, Any], references: Any = ("d1", "d2"), **fields: Any) -> Any:
    return {
        "run_id": "r",
        "topic_id": "1",
        "topic": "?",
        "references": list(references),
        "answer": [{"text": text, "citations": citations} for text, citations in parts],
        "contexts": TEXTS,
        **fields,
    }


def scores_of(record: Any, tmp_path: Any, metrics: str = "citations", **options: Any) -> Any:
    run = longmark.run([record], metrics, checker="overlap", out=tmp_path / "run", **options)
    return {row.metric.removeprefix("citations.").partition("@")[0]: row for row in run.rows()}


def read(record: Any) -> Example:
    (example,) = Reading([record]).singles()
    return example


@pytest.mark.parametrize(
    ("parts", "answer"),
    [
        ([("So", [1]), ("No", [0])], "So [2]\n\nNo [1]"),
        ([("- So", [1]), ("- No.", [0]), ("Yes.", [])], "- So [2]\n- No [1].\n\nYes."),
        ([("## Head", []), ("So.", [1])], "## Head\n\nSo [2]."),
        ([("In short:", []), ("So?", [0])], "In short:\n\nSo [1]?"),
        ([("So. It is.", [1]), ("No.", [])], "So [2]. It is [2]. No."),
        ([("He said “no.”", [0]), ("盐很多。冰很少。", [1])], "He said “no [1].” 盐很多 [2]。冰很少 [2]。"),
        ([("| a | b |", [0]), ("| c | d |", [])], "| a | b [1] |\n| c | d |"),
        ([("By Dr. Lee of the U.S. It was 3 K. So.", [0])], "By Dr. Lee of the U.S. It was 3 K [1]. So [1]."),
        ([("", [0]), ("So.", None)], "So."),
        ([("So.", 1), ("No.", "d1"), ("Yes.", [{"docid": "d2"}])], "So [2]. No [d1]. Yes [d2]."),
        ([("So.", [True, 1.0, 2.5, None, ""])], "So [2]."),
    ],
)  # fmt: skip
def test_a_part_keeps_its_citations_apart_from_the_next_one(parts: Any, answer: str) -> None:
    listed = [{"text": text, "citations": citations} for text, citations in parts]
    assert answer_of_parts([["d1", "d2"], listed]) == answer


def test_every_sentence_of_a_part_has_its_citations_and_is_scored_with_them(tmp_path: Any) -> None:
    record = of_trec((f"{SALT} It is cheap.", [1]), (ICE[:-1], [0]), ("Penguins are big", [0]))
    scores = scores_of(record, tmp_path)
    assert scores["recall"].score == 3 / 4
    assert scores["uncited"].score == 0


@pytest.mark.parametrize(
    "ids", [("d1", "d2"), ("5f91-7", "1e4e-5"), ("224", "279"), ("12345", "9876")]
)
@pytest.mark.parametrize("by_id", [False, True])
def test_as_published_reads_the_citations_of_a_run_of_trec(
    ids: tuple[str, str], by_id: bool, tmp_path: Any
) -> None:
    contexts = [{"id": ids[1], "text": SALT}, {"id": ids[0], "text": ICE}]
    cited = {ids[1]: 0.5} if by_id else [1]
    record = of_trec((SALT, cited), (ICE, [0]), references=ids, contexts=contexts)
    scores = scores_of(record, tmp_path, "citations.recall", as_published=True)
    assert scores["recall"].score == 1


@pytest.mark.parametrize(
    ("references", "citations", "names"),
    [
        (["12345", "67890"], [1], ["67890"]),  # places of a list of numbers
        (["12345", "67890"], {"67890": 0.2}, ["67890"]),  # RAGTIME
        (["2", "1"], [0], ["2"]),  # the place 0 is the source with the id 2
        (["2", "1"], ["1"], ["1"]),
        (["d1", "d2"], ["1"], ["d2"]),  # a place as text
        (["d1", "d2"], [7], [None]),
        (["2", "1"], [7], [None]),
        (["d1", "d2"], [-1], [None]),
        (["d1", "d2"], [10**30], [None]),
        (["d1", "d[2]"], ["d[2]"], ["d[2]"]),
        ([], ["224"], ["224"]),
        ([f"d{number}" for number in range(1500)], [1200], ["d1200"]),
    ],
)
def test_what_a_part_cites_is_the_source_of_its_list(
    references: list[str], citations: Any, names: list[str | None]
) -> None:
    from longmark.metrics.citations import CitationsParams, read_answer

    record = of_trec(("So it is.", citations), references=references, contexts=[])
    cited = read_answer(read(record), CitationsParams()).citations
    assert [citation.source_id for citation in cited] == names
    assert all(citation.places or citation.status == "none" for citation in cited)


def test_an_answer_without_parts_is_empty_and_no_bad_record() -> None:
    first, second = Reading([of_trec(), of_trec((ICE, [0]), topic_id="2")]).singles()
    assert first.answer == ""
    assert second.answer == f"{ICE[:-1]} [1]."
    assert cited_answer([]) is None


def test_a_report_that_cites_nothing_has_no_source_and_a_recall_of_0(tmp_path: Any) -> None:
    record = of_trec((ICE, []), references=[])
    del record["contexts"]
    assert read(record).sources == ()
    scores = scores_of(record, tmp_path)
    assert (scores["recall"].score, scores["uncited"].score) == (0, 1)
    assert scores["precision"].status == "undefined"
    del record["references"]
    assert read(record).sources is None
    assert read(of_trec((ICE, [0]), references=[])).sources is None  # the number of a passage


def test_texts_that_stand_beside_the_parts_are_read() -> None:
    documents = {"d1": {"id": "d1", "text": ICE, "title": "Ice"}}
    of_auto_judge = {
        "metadata": {"run_id": "r", "topic_id": "leaf"},
        "responses": [{"text": ICE, "citations": ["d1"]}],
        "documents": documents,
    }
    assert [context.id for context in read(of_auto_judge).contexts] == ["d1"]
    request = {
        "query": {"qid": "q1", "text": "Does ice float?"},
        "candidates": [{"docid": "d1", "score": 1.0, "doc": {"segment": ICE}}],
        "references": ["d1"],
        "answer": [{"text": ICE, "citations": [0]}],
    }
    example = read(request)
    assert (example.question, example.question_id) == ("Does ice float?", "q1")
    assert [(context.id, context.text) for context in example.contexts] == [("d1", ICE)]


def test_sources_of_parts_keep_the_places_of_their_list() -> None:
    parts = [{"text": "So.", "citations": ["b", "c", "1"]}]
    listed = part_sources([["a", "a", "b"], parts])
    assert [source["id"] for source in listed or ()] == ["a", "a", "b", "c"]


@pytest.mark.parametrize(
    ("span", "sentences"),
    [
        ("It was 3.5 km. Roads are long. ", ["It was 3.5 km."]),
        ("He said “No.” Then he left.", ["He said “No.”"]),
        ("See No. 5 of Acme Inc. That is it.", []),
        ("a\n- b\n\nc", ["a", "- b"]),
        ("One.\nTwo that is\nwrapped.", ["One."]),
        ("", []),
    ],
)
def test_ends_of_sentences_in_a_span(span: str, sentences: list[str]) -> None:
    texts = []
    start = 0
    for _, end in sentence_ends(span):
        texts.append(span[start:end].strip())
        start = end
    assert texts == sentences
