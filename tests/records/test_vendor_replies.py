"""Replies of Perplexity, Cohere, Mistral and Azure OpenAI: where their citations stand, and which sources they name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.export import FOLDER
from tests.exports_of_replies import SOURCES as EXPORTED
from tests.exports_of_replies import TEXTS

import longmark
from longmark.records import Example
from longmark.records.cited import CitedSource
from longmark.records.read import Reading
from longmark.records.replies import ABSENT, NOWHERE, reply_of

TOOLS = Path(__file__).parent / "tools"
AFRICA = CitedSource(id="https://nile.org/a", text="The Nile is in Africa.")
SOURCES = {
    "perplexity.jsonl": (AFRICA, CitedSource(id="https://nile.org/b")),
    "azure-on-your-data.jsonl": (
        CitedSource(id="nile.md", text="The Nile is in Africa."),
        CitedSource(id="nile.md", text="The Nile is long."),
    ),
    "cohere.jsonl": (
        CitedSource(id="doc-a", text="The Nile is in Africa."),
        CitedSource(id="search:0", text="The Nile is long."),
    ),
    "mistral.jsonl": (AFRICA,),
}


def saved(name: str) -> dict[str, Any]:
    reply: dict[str, Any] = json.loads((TOOLS / name).read_text("utf-8"))
    return reply


def example_of(record: dict[str, Any]) -> Example:
    (example,) = Reading([record]).singles()
    return example


@pytest.mark.parametrize("name", SOURCES)
def test_a_file_of_replies_has_their_sources(name: str) -> None:
    (example,) = Reading(TOOLS / name).singles()
    assert example.sources == SOURCES[name]


@pytest.mark.parametrize("name", SOURCES)
def test_a_reply_in_a_record_is_read_as_in_its_file(name: str) -> None:
    (in_file,) = Reading(TOOLS / name).singles()
    in_record = example_of({"question": "Where?", "answer": saved(name)})
    assert (in_record.answer, in_record.sources) == (in_file.answer, in_file.sources)
    as_text = example_of({"question": "Where?", "answer": json.dumps(saved(name))})
    assert as_text.answer == in_file.answer


def test_what_a_reply_cites_supports_its_sentences(tmp_path: Path) -> None:
    run = longmark.run(
        TOOLS / "azure-on-your-data.jsonl",
        "citations.resolvable,citations.distinct_sources",
        out=tmp_path / "run",
    )
    assert [row.score for row in run.rows()] == [1, 1]  # both are parts of nile.md


def test_without_results_of_a_search_perplexity_lists_addresses() -> None:
    reply = saved("perplexity.jsonl")
    del reply["search_results"]
    assert example_of({"question": "?", "answer": reply}).sources == (
        CitedSource(id="https://nile.org/a"),
        CitedSource(id="https://nile.org/b"),
    )


def test_passages_of_the_record_are_the_texts_of_what_mistral_references() -> None:
    content = [
        {"type": "text", "text": "The Nile is long."},
        {"type": "reference", "reference_ids": [1]},
        {"type": "text", "text": " It is in Africa."},
        {"type": "reference", "reference_ids": [0, 1]},
    ]
    choices = [{"message": {"role": "assistant", "content": content}}]
    example = example_of(
        {
            "question": "?",
            "answer": {"object": "chat.completion", "choices": choices},
            "contexts": {"0": "The Nile is in Africa.", "1": "The Nile is long."},
        }
    )
    assert example.answer == "The Nile is long. [1] It is in Africa. [2][1]"
    assert example.sources == (
        CitedSource(id="1", text="The Nile is long."),
        CitedSource(id="0", text="The Nile is in Africa."),
    )


def cohere(*citations: Any, text: str = "Der Nil fließt. 🐊 It swims.") -> dict[str, Any]:
    content = [{"type": "thinking", "thinking": "So."}, {"type": "text", "text": text}]
    message = {"role": "assistant", "content": content, "citations": list(citations)}
    return {"finish_reason": "COMPLETE", "message": message}


def cohere_citation(**fields: Any) -> dict[str, Any]:
    return {"sources": [{"type": "document", "id": "a"}], "content_index": 1, **fields}


@pytest.mark.parametrize(
    ("citation", "text", "ignored"),
    [
        (
            cohere_citation(start=18, end=26, text="It swims"),
            "Der Nil fließt. 🐊 It swims [1].",
            {},
        ),
        (  # offsets of another unit: the text decides
            cohere_citation(start=19, end=27, text="It swims"),
            "Der Nil fließt. 🐊 It swims [1].",
            {},
        ),
        (
            cohere_citation(start=90, end=99, text="not there"),
            "Der Nil fließt. 🐊 It swims.",
            {NOWHERE: 1},
        ),
        (
            {"start": 0, "end": 3, "text": "Der", "sources": []},
            "Der Nil fließt. 🐊 It swims.",
            {ABSENT: 1},
        ),
        (cohere_citation(start=0, end=3, type="PLAN"), "Der Nil fließt. 🐊 It swims.", {}),
        (
            {"start": "0", "end": None, "sources": [5, None]},
            "Der Nil fließt. 🐊 It swims.",
            {ABSENT: 1},
        ),
        ("broken", "Der Nil fließt. 🐊 It swims.", {}),
    ],
)
def test_a_citation_of_cohere_stands_where_its_text_is(
    citation: Any, text: str, ignored: dict[str, int]
) -> None:
    reply = reply_of(cohere(citation))
    assert reply is not None
    assert (reply.text, reply.ignored) == (text, ignored)


@pytest.mark.parametrize(
    "broken",
    [
        {"message": {"role": "assistant", "content": [None, 5, {"text": 7}], "citations": {}}},
        {"object": "conversation.response", "outputs": None},
        {"object": "conversation.response", "outputs": [{"type": "message.output"}]},
        {"choices": [{"message": {"content": "So.", "context": {"citations": [{}, 5]}}}]},
        {"choices": [{"message": {"content": "So."}}], "citations": [None], "search_results": "x"},
    ],
)
def test_a_broken_reply_raises_nothing(broken: dict[str, Any]) -> None:
    reply = reply_of(broken)
    assert reply is None or reply.text in ("", "So.")


@pytest.mark.parametrize("vendor", EXPORTED)
def test_the_sources_of_a_reply_that_the_sdk_gave_are_those_that_it_cites(vendor: str) -> None:
    examples = list(Reading(FOLDER / vendor / "answers.jsonl").singles())
    assert [(source.id, source.text) for source in examples[0].sources or ()] == list(
        zip(EXPORTED[vendor], TEXTS, strict=True)
    )
    assert not examples[1].sources


# Records with the answer and its lists beside it ------------------------------------------------------------------


FLAT = {
    "question": "Where is the Nile?",
    "answer": "In Africa[1]. It is long[2].",
    "citations": ["https://nile.org/a", "https://nile.org/b"],
    "search_results": [
        {"title": "Nile", "url": "https://nile.org/a", "snippet": "The Nile is in Africa."},
        {"title": "Long", "url": "https://nile.org/b"},
    ],
}


def test_an_answer_with_its_results_beside_it_is_read_as_the_reply_is() -> None:
    example = example_of(FLAT)
    assert example.sources == SOURCES["perplexity.jsonl"]
    assert example.meta == {}


def test_addresses_alone_are_sources_without_a_text() -> None:
    example = example_of({key: FLAT[key] for key in ("question", "answer", "citations")})
    assert example.sources == (
        CitedSource(id="https://nile.org/a"),
        CitedSource(id="https://nile.org/b"),
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"contexts": ["The Nile is in Africa."]},  # the markers number the passages
        {"sources": [{"id": "a", "text": "The Nile is in Africa."}]},
        {"answer": "In Africa."},
        {"citations": [1, 2], "search_results": None},
        {"citations": ["doc_1"], "search_results": "https://nile.org/a"},
        {"citations": ["https://nile.org/a", None], "search_results": [{"title": "Nile"}]},
    ],
)
def test_lists_that_the_markers_do_not_number_are_kept_as_they_are(changed: dict[str, Any]) -> None:
    example = example_of({**FLAT, **changed})
    assert [source.id for source in example.sources or ()] == (
        ["a"] if "sources" in changed else []
    )
    assert "citations" in example.meta
