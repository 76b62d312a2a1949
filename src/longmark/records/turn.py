"""What a conversation is made of: turns with their passages, and how a judge is shown them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, field_validator

from longmark.records.same import all_canonical
from longmark.records.values import Problem, found, missing, name, text

Role = Literal["user", "assistant", "system", "tool"]

PASSAGE_TEXT = (
    "text",
    "content",
    "page_content",
    "passage",
    "body",
    "chunk",
    "snippet",
    "pageContent",
)
"""Keys of an object that is a passage, under which its text can be, the likeliest first."""

AROUND_TEXT = ("document", "node", "metadata", "payload", "_source", "entity")
"""Keys of a retrieved object that hold an object with its text (LlamaIndex, Pinecone, Qdrant, Elasticsearch, Milvus)."""
_LISTS = ("documents", "contexts", "passages", "results")  # keys of an object around passages
_PASSAGE_ID = ("id", "doc_id", "chunk_id", "docid", "url")
_DESCRIPTIONS = frozenset({*_PASSAGE_ID, *_LISTS, "title", "page", "source", "name", "metadata"})


class Context(BaseModel):
    """A passage that the answering system was given. id: the document's own id; page: where it stands there. A page is
    shown to people and not to metrics, so `content_hash` leaves it out."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    text: str
    id: str | None = None
    page: str | None = None

    _in_one_form = field_validator("*")(all_canonical)


class Turn(BaseModel):
    """A turn of a conversation. text: "" where it has none; name: of the speaker or the tool; calls: of tools, each as
    `name(arguments)`; contexts: the passages that an answer was made from; references: right answers to it. What a tool
    returned is a turn of its own."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    role: Role
    text: str = ""
    name: str | None = None
    calls: tuple[str, ...] = ()
    contexts: tuple[Context, ...] = ()
    references: tuple[str, ...] = ()

    _in_one_form = field_validator("*")(all_canonical)


def shown(turns: Iterable[tuple[int, Turn]]) -> str:
    """Turns, with their numbers, as one text: each between tags whose digits occur in none of the turns, so that no
    turn can end itself or begin another one. Calls of tools have tags of their own."""
    every = [(number, turn, (turn.text, *turn.calls)) for number, turn in turns]
    texts = [shown_text for _, _, turn_texts in every for shown_text in turn_texts]
    digits = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
    keys = (digits[i : i + 8] for i in range(57))
    # a text cannot hold digits of a hash that it is part of, but by chance: then the next ones are taken
    key = next(key for key in keys if not any(key in text for text in texts))
    parts = []
    for number, turn, _ in every:
        tag = f"turn {number} {turn.role} {key}"
        lines = [turn.text] if turn.text or not turn.calls else []
        lines += [f"<call {key}>{call}</call {key}>" for call in turn.calls]
        parts.append("\n".join((f"<{tag}>", *lines, f"</{tag}>")))
    return "\n".join(parts)


def contexts_of(raw: Any, place: str = "contexts") -> tuple[Context, ...]:
    """The passages in a value, without empty ones. Raises Problem."""
    raw = _titled_sentences(raw)
    if isinstance(raw, dict) and not any(not missing(raw.get(key)) for key in PASSAGE_TEXT):
        raw = next((raw[key] for key in _LISTS if isinstance(raw.get(key), list)), raw)
    if isinstance(raw, dict) and _are_texts_by_id(raw):
        raw = [
            {**passage, "id": passage_id}
            if isinstance(passage, dict)
            else {"id": passage_id, "text": passage}
            for passage_id, passage in raw.items()
        ]
    if isinstance(raw, (str, dict)):
        raw = [raw]
    if not isinstance(raw, list):
        raise Problem(f"{place}: expected text or a list, found {found(raw)}")
    passages = (
        _context(f"{place}[{index}]", item) for index, item in enumerate(raw) if not missing(item)
    )
    return tuple(passage for passage in passages if passage.text.strip())


def _titled_sentences(raw: Any) -> Any:
    """The passages of HotpotQA and 2WikiMultihopQA as texts, with their titles: sentences by title, in lists of titles and
    of lists of sentences (datasets), or in pairs of both. Anything else as it is."""
    if isinstance(raw, dict) and raw.keys() == {"title", "sentences"}:
        titles = raw["title"]
        lists = raw["sentences"]
        if not isinstance(titles, list) or not isinstance(lists, list) or len(titles) != len(lists):
            return raw
        raw = [list(pair) for pair in zip(titles, lists, strict=True)]
    are_pairs = isinstance(raw, list) and all(
        isinstance(pair, list)
        and len(pair) == 2
        and isinstance(pair[0], str)
        and isinstance(pair[1], list)
        and all(isinstance(sentence, str) for sentence in pair[1])
        for pair in raw
    )
    if not are_pairs:
        return raw
    return [
        {"text": f"{title}: {' '.join(sentence.strip() for sentence in sentences)}"}
        for title, sentences in raw
    ]


def _are_texts_by_id(passages: Mapping[str, Any]) -> bool:
    """Whether an object is id -> text, or id -> object with a text; a single entry may also be what a passage is
    described by, its text left out."""
    if not passages or any(key in passages for key in PASSAGE_TEXT):
        return False
    if len(passages) == 1 and {*passages} & _DESCRIPTIONS:
        return False
    return all(isinstance(passage, str) or _has_text(passage) for passage in passages.values())


def _has_text(passage: Any) -> bool:
    return isinstance(passage, dict) and any(
        isinstance(passage.get(key), str) for key in PASSAGE_TEXT
    )


def _context(place: str, raw: Any) -> Context:
    if isinstance(raw, str):
        return Context(text=text(place, raw))
    if not isinstance(raw, dict):
        raise Problem(f"{place}: expected text or an object with id and text, found {found(raw)}")
    body = _body(raw)
    if body is None:
        raise Problem(f"{place}: an object needs its passage under {', '.join(PASSAGE_TEXT)}")
    own_id = next((raw[key] for key in _PASSAGE_ID if not missing(raw.get(key))), None)
    page = None if missing(raw.get("page")) else name(f"{place}.page", raw["page"])
    return Context(
        text=text(place, body),
        id=None if own_id is None else name(f"{place}.id", own_id),
        page=page,
    )


def _body(passage: Mapping[str, Any]) -> Any:
    """What an object has as its passage; a text one level deeper, as `{"content": {"text": ...}}` of Bedrock and
    `{"node": {"text": ...}}` of LlamaIndex have it; None where it has none."""
    body = next((passage[key] for key in PASSAGE_TEXT if not missing(passage.get(key))), None)
    inner = [body] if body is not None else map(passage.get, AROUND_TEXT)
    for part in inner:
        if isinstance(part, dict):
            texts = (part[key] for key in PASSAGE_TEXT if isinstance(part.get(key), str))
            if (text_of_part := next(texts, None)) is not None:
                return text_of_part
    return body


def references_of(raw: Any, place: str = "references") -> tuple[str, ...]:
    """The references in a value, without empty ones. Raises Problem."""
    if isinstance(raw, str):
        raw = [raw]
    if not isinstance(raw, list):
        raise Problem(f"{place}: expected text or a list of texts, found {found(raw)}")
    texts = (text(f"{place}[{index}]", item) for index, item in enumerate(raw) if not missing(item))
    return tuple(reference for reference in texts if reference.strip())
