"""Texts that stand one level deeper, and paths to them that can be pasted whatever their keys are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.errors import UserError
from longmark.records import Example, paths, proposals
from longmark.records.paths import split
from longmark.records.read import Reading

FRAGE = "Why is it so big?"
ANTWORT = "Because it is so."


def read(record: dict[str, Any], **mapping: str) -> Example:
    (example,) = Reading([record], mapping=mapping or None).singles()
    return example


@pytest.mark.parametrize(
    "passage",
    [
        {"content": {"text": "x"}, "location": {"type": "S3"}},  # Bedrock
        {"node": {"text": "x", "id_": "n"}, "score": 0.5},  # LlamaIndex
        {"metadata": {"text": "x"}, "score": 0.5},  # Pinecone
        {"payload": {"page_content": "x"}},  # Qdrant
        {"_source": {"body": "x"}},  # Elasticsearch
        {"text": {"content": "x"}},
    ],
)
def test_a_passage_whose_text_is_one_level_deeper_is_that_text(passage: dict[str, Any]) -> None:
    record = {"question": "q", "answer": "a", "contexts": [passage, "y"]}
    assert [context.text for context in read(record).contexts] == ["x", "y"]
    nested = {"question": "q", "answer": "a", "hits": {"results": [passage]}}
    assert [context.text for context in read(nested, contexts="hits.results").contexts] == ["x"]
    by_function = read(nested, contexts="passages(hits)")
    assert [context.text for context in by_function.contexts] == ["x"]


@pytest.mark.parametrize("passage", [{"content": {"text": 5}}, {"content": {}}, {"node": "x"}])
def test_a_passage_without_a_text_one_level_deeper_is_refused(passage: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=r"contexts\[0\]"):
        read({"question": "q", "answer": "a", "contexts": [passage]})


def test_a_text_of_the_passage_itself_comes_before_one_inside_it() -> None:
    passage = {"text": "own", "metadata": {"text": "inner"}}
    record = {"question": "q", "answer": "a", "contexts": [passage]}
    assert read(record).contexts[0].text == "own"


@pytest.mark.parametrize(
    "keys",
    [
        ("größe", "frage", "antwort"),
        ("a.b", "user question", "bot.answer"),
        ("问", "question", "réponse"),
        ('say "so"', "question", "back\\answer"),
        ("turn", "user, asked: question", "answer's"),
    ],
)
def test_a_proposed_path_reads_the_text_when_it_is_pasted(keys: tuple[str, str, str]) -> None:
    outer, question, answer = keys
    record = {outer: {question: FRAGE, answer: ANTWORT}}
    path_of = proposals.proposed([record], ("question", "answer"))
    assert set(path_of) <= {"question", "answer"}
    assert "question" in path_of
    example = read(record, **path_of)
    assert example.question == FRAGE
    assert example.answer == (ANTWORT if "answer" in path_of else None)


def test_the_path_of_an_object_in_place_of_a_text_can_be_pasted() -> None:
    record = {"question": "q", "réponse": {"te.xt": ANTWORT}}
    proposal = proposals.part_of("answer", record["réponse"], record)
    assert proposal.endswith("""mapping={'answer': '"réponse"."te.xt"'}""")
    assert read(record, answer='"réponse"."te.xt"').answer == ANTWORT


@given(st.dictionaries(st.text(min_size=1, max_size=6), st.just("text"), min_size=1, max_size=3))
def test_each_step_of_a_path_finds_its_key(record: dict[str, str]) -> None:
    for key, text in record.items():
        find = paths.compiled(f"outer.{paths.step(key)}")
        assert find is not None
        assert find({"outer": record}) == text
        assert list(split(f"a,{paths.step(key)},b")) == ["a", paths.step(key), "b"]
