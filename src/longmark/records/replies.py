"""Replies of model APIs that cite, as saved objects: one text with markers, and the sources that these name.

Read are Anthropic's messages (`citations` of text blocks), OpenAI's Responses and Chat Completions (`annotations`), and
Gemini's candidates (`groundingMetadata`), each whole or as the part that a tool kept: a message, its content, an output;
whole replies of Perplexity, Cohere, Mistral and Azure OpenAI on your data are in `vendor_replies`.
Field names follow anthropic 2.14.0, openai 3.57.0 and google-genai 3.6.1, whose own models read the test fixtures.

Offsets count in the unit of the API. OpenAI's are characters; where the address of a citation stands in its span only if
they are UTF-16 units, they are these. Gemini's are bytes of UTF-8 in one part of the reply, and the text of the segment
decides where both disagree. Anthropic cites by block.

A source is a document, a page or a file. Its text is what the reply itself quotes of it (`cited_text`, results of a file
search, `retrievedContext.text`), or the passage of the record that holds the quotations; else it is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from longmark.records.cited import CitedSource
from longmark.records.messages import ANSWERS, parsed, role_of
from longmark.records.reply_text import ABSENT as ABSENT  # published here
from longmark.records.reply_text import NOWHERE as NOWHERE
from longmark.records.reply_text import QUOTATION_JOINT, CitedReply, ReplyParts
from longmark.records.source_ids import SourceIds, comparable_id
from longmark.records.turn import Context
from longmark.records.vendor_replies import vendor_reply


def reply_of(value: Any) -> CitedReply | None:
    """The reply in a saved object, or in the JSON text of one; None for anything else.

    A whole object of an API is a reply with or without citations; a part of one (a message, a content, an output) only
    with them, since other tools have such lists, too."""
    document = parsed(value)
    if isinstance(document, list):
        return _of_list(document)
    return _of_object(document) if isinstance(document, Mapping) else None


def cited_reply_of(value: Any) -> CitedReply | None:
    """The reply in a value, if it cites."""
    reply = reply_of(value)
    return reply if reply is not None and (reply.sources or reply.ignored) else None


def last_cited_reply(messages: Any) -> CitedReply | None:
    """The last message of an assistant in a list, if it cites."""
    replies = [message for message in _listed(parsed(messages)) if role_of(message) in ANSWERS]
    return cited_reply_of(replies[-1]) if replies else None


def with_texts(
    sources: Sequence[CitedSource], contexts: Sequence[Context], snapshots: Sequence[CitedSource]
) -> tuple[CitedSource, ...]:
    """The sources of a reply with the fullest text that its record has: a snapshot or a passage with the same id or
    address, or a passage that holds all quotations; behind them the snapshots that no source of the reply is."""
    texts: list[Context | CitedSource] = [*contexts, *snapshots]
    by_id = SourceIds(text.id for text in texts)
    completed = []
    for source in sources:
        places = by_id.places(source.id) if source.id else []
        full_text = texts[places[0]].text if places else None
        if full_text is None and source.text is not None:
            quotations = source.text.split(QUOTATION_JOINT)
            full_text = next(
                (
                    context.text
                    for context in contexts
                    if all(quotation.strip() in context.text for quotation in quotations)
                ),
                None,
            )
        completed.append(CitedSource(id=source.id, text=full_text or source.text))
    cited_ids = SourceIds(source.id for source in sources)
    further = (snapshot for snapshot in snapshots if not (snapshot.id and snapshot.id in cited_ids))
    return (*completed, *further)


# Which API it is ---------------------------------------------------------------------------------------------------


def _of_object(document: Mapping[str, Any]) -> CitedReply | None:
    reply = vendor_reply(document)
    if reply is not None:
        return reply
    candidates = _objects(document.get("candidates"))
    if candidates and isinstance(candidates[0].get("content"), Mapping):
        return _of_gemini(candidates[0])
    if _either(document, "groundingMetadata") and isinstance(document.get("content"), Mapping):
        return _of_gemini(document)
    # OpenAI's chat completions, and the servers that copy them
    choices = _objects(document.get("choices"))
    if choices and isinstance(choices[0].get("message"), Mapping):
        return _of_message(choices[0]["message"], (), document.get("object") == "chat.completion")
    # OpenAI's responses: messages stand among calls of tools
    output = _objects(document.get("output"))
    if any(item.get("type") == "message" for item in output):
        return _of_output(output, document.get("object") == "response")
    if role_of(document) in ANSWERS:
        is_whole = document.get("type") == "message" and document.get("role") == "assistant"
        return _of_message(document, (), is_whole and isinstance(document.get("content"), list))
    return None


def _of_list(items: Sequence[Any]) -> CitedReply | None:
    objects = _objects(items)
    # a list with anything but objects is some tool's own, not a content
    if len(objects) < len(items) or not objects:
        return None
    if any(role_of(item) in ANSWERS for item in objects):
        return _of_output(objects, False)
    if any(_cites(item) for item in objects):
        return _of_blocks(objects, ())
    return None


def _of_output(output: Sequence[Mapping[str, Any]], is_whole: bool) -> CitedReply | None:
    """The last message with a text, of OpenAI's `output` or of a list of messages."""
    replies = [item for item in output if role_of(item) in ANSWERS]
    with_text = [item for item in replies if _has_text(item.get("content") or item.get("parts"))]
    if not with_text:
        return CitedReply("") if is_whole and replies else None
    # earlier messages are what the model said on its way
    return _of_message(with_text[-1], output, is_whole)


def _of_message(
    message: Mapping[str, Any], output: Sequence[Mapping[str, Any]], is_whole: bool
) -> CitedReply | None:
    """output: the items beside the message, among which results of a file search are."""
    content = message.get("content") or message.get("parts")
    annotations = _objects(message.get("annotations"))
    if isinstance(content, str):
        if not annotations:
            return CitedReply(content) if is_whole else None
        return _of_blocks([{"type": "text", "text": content, "annotations": annotations}], output)
    blocks = _objects(content)
    if is_whole or any(_cites(block) for block in blocks):
        return _of_blocks(blocks, output)
    return CitedReply("") if is_whole else None


def _cites(block: Mapping[str, Any]) -> bool:
    """Whether a block has a list of citations, be it empty: other lists have none, or numbers of passages."""
    for key in ("citations", "annotations"):
        entries = block.get(key)
        if isinstance(entries, list) and entries and _objects(entries):
            return _is_text(block)
    return False


def _has_text(content: Any) -> bool:
    if isinstance(content, str):
        return bool(content)
    return any(_text_of(block) for block in _objects(content))


# Anthropic and OpenAI ----------------------------------------------------------------------------------------------


def _of_blocks(
    blocks: Sequence[Mapping[str, Any]], output: Sequence[Mapping[str, Any]]
) -> CitedReply:
    """The text blocks of a content. Anthropic splits a sentence at its citations, so that blocks join as they are; a
    call of a tool between them ends a paragraph."""
    parts = ReplyParts()
    searched = _file_texts(output)
    is_split = any(_objects(block.get("citations")) for block in blocks)
    was_text = False
    for block in blocks:
        block_text = _text_of(block)
        if not block_text:
            # an empty block of text separates nothing, any other block does
            was_text = was_text and _is_text(block)
            continue
        if parts.text and not (is_split and was_text):
            parts.text = f"{parts.text.rstrip()}\n\n" if is_split else f"{parts.text}\n"
        was_text = True
        start = len(parts.text)
        parts.text += block_text
        for citation in _objects(block.get("citations")):
            key, source_id = _cited_document(citation)
            number = parts.number(key, source_id, citation.get("cited_text"))
            parts.mark(start, len(parts.text), number)
        _add_annotations(parts, start, block_text, _objects(block.get("annotations")), searched)
    return parts.reply()


def _cited_document(citation: Mapping[str, Any]) -> tuple[object, str | None]:
    """What tells the source of an Anthropic citation from the others of its reply, and its id."""
    address = next(
        (
            citation[key]
            for key in ("url", "source")
            if isinstance(citation.get(key), str) and citation[key]
        ),
        None,
    )
    if address is not None:
        return comparable_id(address), address
    number = citation.get("document_index", citation.get("search_result_index"))
    names = [
        citation[key]
        for key in ("document_title", "title", "file_id")
        if isinstance(citation.get(key), str) and citation[key]
    ]
    source_id = names[0] if names else None
    return (type(number).__name__, str(number), source_id), source_id


def _add_annotations(
    parts: ReplyParts,
    start: int,
    text: str,
    annotations: Sequence[Mapping[str, Any]],
    searched: Mapping[str, Sequence[str]],
) -> None:
    """Marks what OpenAI's annotations of a text cite. start: where the text begins; searched: file -> what was found in
    it."""
    flat = [
        {**inner, "type": annotation.get("type")}
        if isinstance(inner := annotation.get("url_citation"), Mapping)
        else annotation
        for annotation in annotations
        if annotation.get("type") != "file_path"  # a file that the reply made
    ]
    # offsets are in characters or in UTF-16 units, and the reply does not say which
    to_characters = _unit(text, flat)
    for annotation in flat:
        address = annotation.get("url")
        file_id = annotation.get("file_id")
        source_id = next(
            (
                name
                for name in (address, annotation.get("filename"), file_id)
                if isinstance(name, str) and name
            ),
            None,
        )
        if source_id is None:
            parts.ignored[ABSENT] += 1
            continue
        key = comparable_id(source_id) if source_id == address else ("file", str(file_id))
        number = parts.number(key, source_id)
        for passage in searched.get(str(file_id), ()):
            parts.number(key, source_id, passage)
        first, last = _span(annotation)
        places = [None if place is None else to_characters(place) for place in (first, last)]
        if places[0] is None or places[1] is None or places[0] > places[1]:
            parts.ignored[NOWHERE] += 1
        elif source_id not in text[places[0] : places[1] + 1]:  # else the link is the marker
            parts.mark(start + places[0], start + places[1], number)


def _span(annotation: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """The first and the last offset of an annotation; of a file citation the one at which it is inserted."""
    offsets = [
        annotation.get(first, annotation.get(second))
        for first, second in (("start_index", "index"), ("end_index", "index"))
    ]
    first, last = (offset if type(offset) is int and offset >= 0 else None for offset in offsets)
    return first, last


def _unit(text: str, annotations: Iterable[Mapping[str, Any]]) -> Callable[[int], int | None]:
    """A function from an offset to a place in characters; None where the text has no such offset."""

    def in_characters(offset: int) -> int | None:
        return offset if offset <= len(text) else None

    if text.isascii() or max(text) <= "\uffff":
        return in_characters
    encoded = text.encode("utf-16-le", "surrogatepass")

    def in_units(offset: int) -> int | None:
        if 2 * offset > len(encoded):
            return None
        return len(encoded[: 2 * offset].decode("utf-16-le", "ignore"))

    for annotation in annotations:
        first, last = _span(annotation)
        if first is None or last is None:
            continue
        if last > len(text):
            return in_units
        address = annotation.get("url")
        if not isinstance(address, str) or address not in text:
            continue
        start = in_units(first)
        end = in_units(last)
        if address in text[first : last + 1]:
            return in_characters
        if start is not None and end is not None and address in text[start : end + 1]:
            return in_units
    return in_characters


def _file_texts(output: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """File -> the passages that a file search found in it (`include=["file_search_call.results"]`)."""
    texts: dict[str, list[str]] = {}
    for item in output:
        if item.get("type") != "file_search_call":
            continue
        for result in _objects(item.get("results")):
            if isinstance(result.get("text"), str):
                texts.setdefault(str(result.get("file_id")), []).append(result["text"])
    return texts


def _is_text(block: Mapping[str, Any]) -> bool:
    return block.get("type", "text") in ("text", "output_text")


def _text_of(block: Mapping[str, Any]) -> str:
    if not _is_text(block):
        return ""
    return next((block[key] for key in ("text", "content") if isinstance(block.get(key), str)), "")


# Gemini ------------------------------------------------------------------------------------------------------------


def _of_gemini(candidate: Mapping[str, Any]) -> CitedReply:
    parts = ReplyParts()
    starts: dict[int, tuple[int, str]] = {}
    for number, part in enumerate(_objects(candidate["content"].get("parts"))):
        if isinstance(part.get("text"), str) and not part.get("thought"):
            starts[number] = (len(parts.text), part["text"])
            parts.text += part["text"]
    grounding = _either(candidate, "groundingMetadata")
    if not isinstance(grounding, Mapping):
        return parts.reply()
    chunks = _objects(_either(grounding, "groundingChunks"))
    for support in _objects(_either(grounding, "groundingSupports")):
        indices = _listed(_either(support, "groundingChunkIndices"))
        span = _segment_span(_either(support, "segment"), parts.text, starts)
        for index in indices:
            if type(index) is not int or not 0 <= index < len(chunks):
                parts.ignored[ABSENT] += 1
                continue
            number = _number_of_chunk(parts, index, chunks[index])
            if span is None:
                parts.ignored[NOWHERE] += 1
            else:
                parts.mark(*span, number)
    return parts.reply()


def _number_of_chunk(parts: ReplyParts, index: int, chunk: Mapping[str, Any]) -> int:
    """The number of the source that a chunk is of. Chunks of one address are one source; a page of a search has an
    address that redirects, and only its title says whose it is."""
    inner = next(
        (
            content
            for key in ("web", "retrievedContext", "maps", "image")
            if isinstance(content := _either(chunk, key), Mapping)
        ),
        {},
    )
    names = (
        _either(inner, key) for key in ("uri", "sourceUri", "documentName", "title", "placeId")
    )
    source_id = next((name for name in names if isinstance(name, str) and name), None)
    key = ("chunk", index) if source_id is None else comparable_id(source_id)
    return parts.number(key, source_id, inner.get("text"))


def _segment_span(
    segment: Any, text: str, starts: Mapping[int, tuple[int, str]]
) -> tuple[int, int] | None:
    """The span of a segment in characters of the whole text; None where the text has no such place."""
    if not isinstance(segment, Mapping):
        return None
    quoted = segment.get("text")
    start_index = _either(segment, "startIndex") or 0  # 0 is left out, as protocol buffers do
    end_index = _either(segment, "endIndex")
    part_index = _either(segment, "partIndex") or 0
    part = starts.get(part_index) if type(part_index) is int else None
    if part is not None and type(start_index) is int and type(end_index) is int:
        part_start, part_text = part
        encoded = part_text.encode("utf-8", "surrogatepass")
        if 0 <= start_index <= end_index <= len(encoded):
            before = len(encoded[:start_index].decode("utf-8", "ignore"))
            inside = encoded[start_index:end_index].decode("utf-8", "ignore")
            if not isinstance(quoted, str) or not quoted or inside == quoted:
                return part_start + before, part_start + before + len(inside)
    if isinstance(quoted, str) and quoted and text.count(quoted) == 1:
        place = text.index(quoted)
        return place, place + len(quoted)
    return None


def _either(value: Mapping[str, Any], camel: str) -> Any:
    """The value of a key as the REST API writes it, or as Python's SDK does: groundingChunks, grounding_chunks."""
    return value.get(camel, value.get(re.sub(r"(?=[A-Z])", "_", camel).lower()))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in _listed(value) if isinstance(entry, Mapping)]
