"""Replies of model APIs: where their citations stand, in each unit of offsets, and which sources they name.

The objects in tests/records/tools were read by the SDKs' own models (`reply_shapes` names the versions)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import longmark
from longmark.records import Example
from longmark.records.cited import CitedSource
from longmark.records.read import Reading
from longmark.records.replies import ABSENT, NOWHERE, cited_reply_of, reply_of

TOOLS = Path(__file__).parent / "tools"
PAGE = "https://nile.org/a"
CROCODILE = "\N{CROCODILE}"  # one character, two units of UTF-16, four bytes of UTF-8


def example_of(record: dict[str, Any]) -> Example:
    (example,) = Reading([record]).singles()
    return example


def objects(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (TOOLS / name).read_text("utf-8").splitlines()]


def chat(text: str, *spans: tuple[Any, Any]) -> dict[str, Any]:
    """A message of OpenAI that cites one page for each span of its text."""
    citations = [{"start_index": start, "end_index": end, "url": PAGE} for start, end in spans]
    annotations = [{"type": "url_citation", "url_citation": citation} for citation in citations]
    return {"role": "assistant", "content": text, "annotations": annotations}


def gemini(text: str, *segments: dict[str, Any], indices: Any = (0,)) -> dict[str, Any]:
    supports = [{"segment": one, "groundingChunkIndices": list(indices)} for one in segments]
    chunks = [{"web": {"uri": PAGE, "title": "nile.org"}}]
    return {
        "candidates": [
            {
                "content": {"parts": [{"text": text}]},
                "groundingMetadata": {"groundingChunks": chunks, "groundingSupports": supports},
            }
        ]
    }


def cited(value: Any) -> str:
    reply = cited_reply_of(value)
    assert reply is not None
    return reply.text


def test_offsets_of_openai_are_characters() -> None:
    text = f"{CROCODILE} swim. They eat."
    assert cited(chat(text, (0, 7))) == f"{CROCODILE} swim. [1] They eat."
    assert cited(chat("Été. Puis l'été.", (0, 4))) == "Été. [1] Puis l'été."


def test_offsets_of_openai_are_utf_16_where_only_so_the_link_is_in_its_span() -> None:
    link = f"([nile.org]({PAGE}))"
    text = f"{CROCODILE * len(link)} {link} They eat."  # so far apart that both units differ wholly
    start = 2 * len(link) + 1
    page, other = "https://nile.org/a", "https://nile.org/b"
    message = chat(text, (start, start + len(link)), (start, start + len(link) + 10))
    message["annotations"][1]["url_citation"]["url"] = other
    assert cited(message) == f"{text} [2]"
    assert [source.id for source in reply_of(message).sources] == [page, other]  # type: ignore[union-attr]
    past_the_end = chat(f"{CROCODILE} swim.", (0, 8))  # 7 characters, 8 units
    assert cited(past_the_end) == f"{CROCODILE} swim. [1]"


def test_offsets_of_gemini_are_bytes_of_a_part() -> None:
    first = f"{CROCODILE} größer."
    text = f"{first} Sie fressen."
    end = len(first.encode())
    assert end == 14
    assert cited(gemini(text, {"endIndex": end})) == f"{first} [1] Sie fressen."
    whole = {"endIndex": end, "text": first}
    assert cited(gemini(text, whole)) == f"{first} [1] Sie fressen."


def test_the_text_of_a_segment_decides_where_its_offsets_do_not_fit() -> None:
    text = "Sie sind größer. Sie fressen."
    in_characters = {"startIndex": 0, "endIndex": 16, "text": "Sie sind größer."}
    assert cited(gemini(text, in_characters)) == "Sie sind größer. [1] Sie fressen."
    twice = "Ja. Nein. Ja."
    reply = cited_reply_of(gemini(twice, {"startIndex": 1, "endIndex": 4, "text": "Ja."}))
    assert reply is not None
    assert (reply.text, reply.ignored) == (twice, {NOWHERE: 1})


def test_every_sentence_of_a_span_is_cited() -> None:
    text = (
        "The Nile, e.g. Blue Nile, is in Africa. It is long.\n\n## More\n- It is old.\n- It floods"
    )
    assert cited(gemini(text, {"endIndex": len(text)})) == (
        "The Nile, e.g. Blue Nile, is in Africa. [1] It is long. [1]\n\n## More\n- It is old. [1]\n"
        "- It floods [1]"
    )


def test_a_marker_stands_behind_the_word_of_its_place_and_before_white_space() -> None:
    assert cited(chat("Crocodiles swim.\n\nOften.", (0, 5))) == "Crocodiles [1] swim.\n\nOften."
    assert cited(chat("They swim.\n\nOften.", (0, 12))) == "They swim. [1]\n\nOften."
    assert cited(chat("ナイル川は長い。", (0, 4))) == "ナイル川 [1]は長い。"


def test_a_file_citation_stands_at_its_index_and_results_of_the_search_are_its_text() -> None:
    response = objects("openai-responses.jsonl")[1]
    reply = reply_of(response)
    assert reply is not None
    assert reply.text == "The Nile is in Africa. [1] It is long. [2]"
    assert reply.sources == (
        CitedSource(id="nile.pdf", text="The Nile is in Africa."),
        CitedSource(id="rivers.csv"),
    )
    del response["output"][0]["results"]
    assert reply_of(response).sources[0].text is None  # type: ignore[union-attr]


def test_blocks_of_anthropic_join_without_a_break_and_a_tool_between_them_ends_a_paragraph() -> (
    None
):
    first, second, plain = (reply_of(message) for message in objects("anthropic.jsonl"))
    assert first is not None
    assert first.text == "The Nile is in Africa [1][2]. It is long. [3]"
    assert [source.id for source in first.sources] == ["Nile", "Atlas", "file_9"]
    assert second is not None
    assert second.text == "I look it up.\n\nThe Nile flows north. [1] It ends in Egypt. [2]"
    assert plain is not None
    assert (plain.text, plain.sources) == ("No source.", ())


def test_quotations_of_one_document_are_one_source() -> None:
    def block(text: str, quoted: str, title: str | None = "T", index: int = 0) -> dict[str, Any]:
        location = {"type": "char_location", "cited_text": quoted, "document_title": title}
        citation = {**location, "document_index": index, "start_char_index": 0}
        return {"type": "text", "text": text, "citations": [citation]}

    reply = reply_of([block("A.", "a."), block(" B.", "b."), block(" C.", "a.", index=1)])
    assert reply is not None
    assert reply.text == "A. [1] B. [1] C. [2]"
    assert reply.sources == (CitedSource(id="T", text="a.\nb."), CitedSource(id="T", text="a."))


PLACES_OF_A_REPLY = {
    "a column": lambda reply: {"question": "?", "response": reply},
    "a column of JSON text": lambda reply: {"question": "?", "answer": json.dumps(reply)},
    "turns": lambda reply: {"messages": [{"role": "user", "content": "?"}, reply]},
    "a path": lambda reply: {"question": "?", "deep": {"reply": reply}},
    "Langfuse": lambda reply: {
        "id": "1",
        "timestamp": "t",
        "tags": [],
        "release": None,
        "input": [{"role": "user", "content": "?"}],
        "output": reply,
    },
}


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (place, name)
        for place in PLACES_OF_A_REPLY
        for name in ("anthropic.jsonl", "openai-chat.jsonl", "gemini.jsonl")
        if (place, name) != ("turns", "gemini.jsonl")  # its candidate cites, not its message
    ],
)
def test_a_reply_that_cites_is_read_with_its_sources_wherever_a_tool_keeps_it(
    place: str, name: str
) -> None:
    saved = objects(name)[0]
    if place == "turns":
        saved = saved["choices"][0]["message"] if "choices" in saved else saved
    record = PLACES_OF_A_REPLY[place](saved)
    mapping = {"answer": "answer(deep.reply)"} if place == "a path" else None
    (example,) = Reading([record], mapping=mapping).singles()
    reply = reply_of(saved)
    assert reply is not None
    assert (example.question, example.answer) == ("?", reply.text)
    assert example.sources == reply.sources


def test_a_trace_of_opentelemetry_keeps_the_citations_of_its_reply() -> None:
    blocks = objects("anthropic.jsonl")[0]["content"]
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"content": "?"}]}]),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": blocks}]),
    }
    listed = [{"key": key, "value": {"stringValue": text}} for key, text in attributes.items()]
    span = {"traceId": "a1", "spanId": "b1", "name": "chat", "attributes": listed}
    example = example_of({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    assert example.answer == "The Nile is in Africa [1][2]. It is long. [3]"
    assert [source.id for source in example.sources or ()] == ["Nile", "Atlas", "file_9"]


def test_the_record_has_the_full_text_of_a_source() -> None:
    message = objects("anthropic.jsonl")[0]
    passage = "Rivers. The Nile is in Africa. It is old."
    with_passages = example_of({"question": "?", "answer": message, "contexts": [passage]})
    assert [source.text for source in with_passages.sources or ()] == [
        passage,
        "Africa has the Nile.",
        "It is 6,650 km long.",
    ]
    response = objects("openai-responses.jsonl")[0]
    pages = [
        {"url": f"{PAGE}/", "text": "The Nile is in Africa."},
        {"url": "https://b.org", "text": "B."},
    ]
    with_pages = example_of({"question": "?", "answer": response, "sources": pages})
    assert [source.text for source in with_pages.sources or ()] == ["The Nile is in Africa.", "B."]


def test_replies_are_scored_and_a_source_without_a_text_is_missing(tmp_path: Path) -> None:
    metrics = "citations.recall,citations.resolvable"
    run = longmark.run(
        TOOLS / "anthropic.jsonl", metrics, checker="overlap", out=tmp_path / "quoted"
    )
    recall = [row.score for row in run.rows() if row.metric == "citations.recall"]
    # "I look it up." is not cited; a reply without citations has no sources and no contexts
    assert recall == [1, 2 / 3, None]
    run = longmark.run(
        TOOLS / "openai-chat.jsonl", metrics, checker="overlap", out=tmp_path / "linked"
    )
    first = {row.metric: row for row in run.rows() if row.example_id == "chatcmpl-1"}
    assert first["citations.recall"].status == "missing_input"
    assert PAGE in (first["citations.recall"].reason or "")
    assert first["citations.resolvable"].score == 1


NO_PLACE = {
    "past the end": (chat("Swim.", (0, 99)), NOWHERE),
    "backwards": (chat("Swim.", (4, 1)), NOWHERE),
    "a text": (chat("Swim.", ("0", "4")), NOWHERE),
    "negative": (chat("Swim.", (-3, -1)), NOWHERE),
    "no source": (
        {"role": "assistant", "content": "Swim.", "annotations": [{"type": "url_citation"}]},
        ABSENT,
    ),
    "a chunk out of range": (gemini("Swim.", {"endIndex": 5}, indices=[4]), ABSENT),
    "a chunk that is no number": (gemini("Swim.", {"endIndex": 5}, indices=["0"]), ABSENT),
    "no segment": (gemini("Swim.", {}), NOWHERE),
    "bytes past the end": (gemini("Swim.", {"endIndex": 50}), NOWHERE),
    "a part that is not there": (gemini("Swim.", {"partIndex": 3, "endIndex": 5}), NOWHERE),
}


@pytest.mark.parametrize("case", NO_PLACE)
def test_a_citation_without_its_place_or_source_is_counted(case: str) -> None:
    saved, reason = NO_PLACE[case]
    reading = Reading([{"question": "?", "answer": saved}])
    (example,) = reading.singles()
    assert example.answer == "Swim."
    assert f"1 {reason}" in reading.notice


@pytest.mark.parametrize(
    "value",
    [
        None,
        5,
        "{",
        '{"a": 1}',
        {"candidates": 5},
        {"choices": [{}]},
        {"output": ["x"]},
        [{"text": "A.", "citations": [0]}],
        [{"role": "assistant", "content": "A."}],
        {"role": "assistant", "content": "A.", "annotations": []},
    ],
)
def test_what_is_no_reply_of_an_api_is_none(value: Any) -> None:
    assert reply_of(value) is None
