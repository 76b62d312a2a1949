"""Replies of Perplexity, Cohere, Mistral and Azure OpenAI on your data that cite.

Perplexity and Azure write markers, [1] and [doc1], into the text, and list what these number: `citations` and
`search_results` beside the choices; `context.citations` of the message. Cohere's citations have a span of characters of
one block of the content. Mistral puts a `reference` or `tool_reference` behind the text that it stands for; the ids of a
`reference` are those that the request gave its passages. Field names follow cohere 7.3.1, mistralai 3.7.0, perplexityai
0.46.1 and Azure's REST reference; the models of the first three read the test fixtures.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from longmark.records.cited import CitedSource, body_of
from longmark.records.messages import parsed
from longmark.records.reply_text import ABSENT, NOWHERE, CitedReply, ReplyParts, marker_place

_ADDRESS = re.compile(r"https?://\S+")
_IN_THE_ANSWER = (None, "TEXT_CONTENT")  # Cohere cites in its plans, too


def vendor_reply(document: Mapping[str, Any]) -> CitedReply | None:
    """The reply in an object of one of these APIs; None for any other."""
    message = document.get("message")
    if isinstance(message, Mapping) and message.get("role") == "assistant":
        return _of_cohere(message) if isinstance(message.get("content"), list) else None
    if document.get("object") == "conversation.response":
        outputs = _objects(document.get("outputs"))
        contents = [entry for entry in outputs if entry.get("type") == "message.output"]
        return _of_mistral(contents[-1].get("content")) if contents else CitedReply("")
    choices = _objects(document.get("choices"))
    message = choices[0].get("message") if choices else None
    if not isinstance(message, Mapping):
        return None
    content = message.get("content")
    if isinstance(content, list) and any(
        block.get("type") in ("reference", "tool_reference") for block in _objects(content)
    ):
        return _of_mistral(content)
    if not isinstance(content, str):
        return None
    if listed := _objects(document.get("search_results")) or _texts(document.get("citations")):
        return CitedReply(content, tuple(map(_listed_source, listed)))
    context = message.get("context")
    if isinstance(context, Mapping) and _objects(context.get("citations")):
        return CitedReply(content, tuple(map(_listed_source, _objects(context["citations"]))))
    if document.get("object") == "extensions.chat.completion":
        return CitedReply(content)
    return None


LISTS_OF_SOURCES = ("search_results", "citations")
"""Where a search API lists what the markers number, the one with texts first."""


def listed_sources(value: Any) -> tuple[CitedSource, ...]:
    """The sources in such a list of a record that has the answer beside it: objects with an address, or addresses. Empty
    for any other list, as numbers or spans of text are."""
    entries = _listed(parsed(value))
    sources = [
        _listed_source(entry) for entry in entries if _is_text(entry) or isinstance(entry, Mapping)
    ]
    are_addresses = all(source.id and _ADDRESS.fullmatch(source.id) for source in sources)
    return tuple(sources) if sources and are_addresses and len(sources) == len(entries) else ()


def _listed_source(entry: str | Mapping[str, Any]) -> CitedSource:
    """A source in a list that the markers number, by its address, its file or its title."""
    if isinstance(entry, str):
        return CitedSource(id=entry)
    keys = ("url", "filepath", "title")
    source_id = next((entry[key] for key in keys if _is_text(entry.get(key))), None)
    body = body_of(entry)
    return CitedSource(id=source_id, text=body if _is_text(body) else None)


# Cohere ------------------------------------------------------------------------------------------------------------


def _of_cohere(message: Mapping[str, Any]) -> CitedReply:
    parts = ReplyParts()
    blocks: dict[int, tuple[int, str]] = {}
    for index, block in enumerate(message["content"]):
        block_text = block.get("text") if isinstance(block, Mapping) else None
        if isinstance(block_text, str) and block_text:
            parts.text += "\n" if parts.text else ""
            blocks[index] = (len(parts.text), block_text)
            parts.text += block_text
    for citation in _objects(message.get("citations")):
        if citation.get("type") not in _IN_THE_ANSWER:
            continue
        span = _span(citation, blocks)
        sources = _objects(citation.get("sources"))
        if not sources:
            parts.ignored[ABSENT] += 1
        for source in sources:
            number = _number_of_cohere(parts, source)
            if span is None:
                parts.ignored[NOWHERE] += 1
            else:
                parts.mark(*span, number)
    return parts.reply()


def _number_of_cohere(parts: ReplyParts, source: Mapping[str, Any]) -> int:
    content = source.get("document") or source.get("tool_output")
    held = content if isinstance(content, Mapping) else {}
    source_id = next(
        (name for name in (source.get("id"), held.get("id"), held.get("url")) if _is_text(name)),
        None,
    )
    key = source_id if source_id is not None else repr(sorted(held.items(), key=str))
    return parts.number(("cohere", key), source_id, body_of(held))


def _span(
    citation: Mapping[str, Any], blocks: Mapping[int, tuple[int, str]]
) -> tuple[int, int] | None:
    """The span of a citation in the whole text: its offsets where they hold its text, else the one place that does."""
    index = citation.get("content_index")
    offset, block_text = blocks.get(index if type(index) is int else 0, (0, ""))
    if index is None and blocks:
        offset, block_text = next(iter(blocks.values()))
    start: Any = citation.get("start")
    end: Any = citation.get("end")
    quoted: Any = citation.get("text")
    is_span = type(start) is int and type(end) is int and 0 <= start < end <= len(block_text)
    if is_span and (not _is_text(quoted) or block_text[start:end] == quoted):
        return offset + start, offset + end
    if _is_text(quoted) and block_text.count(quoted) == 1:
        place = offset + block_text.index(quoted)
        return place, place + len(quoted)
    return None


# Mistral -----------------------------------------------------------------------------------------------------------


def _of_mistral(content: Any) -> CitedReply:
    if isinstance(content, str):
        return CitedReply(content)
    parts = ReplyParts()
    for chunk in _objects(content):
        kind = chunk.get("type")
        if kind == "text" and isinstance(chunk.get("text"), str):
            parts.text += chunk["text"]
        elif kind == "reference":
            for reference_id in _listed(chunk.get("reference_ids")):
                name = str(reference_id)
                _mark_end(parts, parts.number(("reference", name), name))
        elif kind == "tool_reference":
            source_id = next(
                (chunk[key] for key in ("url", "title") if _is_text(chunk.get(key))), None
            )
            key = ("tool", source_id)
            _mark_end(parts, parts.number(key, source_id, chunk.get("description")))
    return parts.reply()


def _mark_end(parts: ReplyParts, number: int) -> None:
    parts.marks.append((marker_place(parts.text, len(parts.text)), number))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _texts(value: Any) -> list[str]:
    return [entry for entry in _listed(value) if _is_text(entry)]


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in _listed(value) if isinstance(entry, Mapping)]
