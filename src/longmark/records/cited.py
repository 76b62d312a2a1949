"""The sources that the markers of an answer name, as files have them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator

from longmark.records.same import all_canonical
from longmark.records.values import Problem, found, missing, name, text

_IDS = ("id", "url", "docid", "doc_id", "document_id", "link", "uri", "href", "source", "title")
_FULL_TEXTS = ("text", "content", "snapshot", "page_content", "raw_content", "full_text", "body")
_EXCERPTS = (
    "markdown",
    "document",
    "passage",
    "chunk",
    "excerpt",
    "extract",
    "quote",
    "snippet",
    "snippets",
    "description",
)
_TEXTS = (*_FULL_TEXTS, *_EXCERPTS)  # in this order: a search result may have both
# Of a text: the name of a file or of a page is shorter, or ends without a full stop.
_FEWEST_WORDS = 4
_LONGEST_NAME = 200  # characters
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
    r"|[\U00020000-\U0003ffff]"
)
"""Letters of Thai, Lao, Burmese, Khmer, Japanese and Chinese, which put no spaces between words."""
_TEXT_END = re.compile(r"[.!?…。！？؟۔।][\"'”’»)\]]*\s*$")
_FAILED = "scrape failed"  # DeepResearch Bench, utils/scrape.py, where a page could not be read
_ADDRESS = re.compile(r"\S+://\S+")
_ID = re.compile(r"\S{1,400}")


class CitedSource(BaseModel):
    """A source that the markers of an answer name. text: a snapshot of it; None: the file does not have it."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    id: str | None = None
    text: str | None = None

    _in_one_form = field_validator("*")(all_canonical)


def sources_of(place: str, raw: Any) -> tuple[CitedSource, ...]:
    """The sources in a list of objects with an id or address and a text, of ids or of texts, or in an object id ->
    text. An empty entry keeps its place, since numbers count it. Raises Problem."""
    if isinstance(raw, Mapping):
        raw = [raw] if any(key in raw for key in _TEXTS) else _entries_by_id(raw)
    if not isinstance(raw, list | tuple):
        raise Problem(f"{place}: expected a list of sources, found {found(raw)}")
    have_texts = are_sources(raw)
    return tuple(
        _source(f"{place}[{number}]", entry, have_texts) for number, entry in enumerate(raw)
    )


def _entries_by_id(texts: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """The entries of an object id -> text, or id -> object with a text."""
    return [
        {**content, "id": source_id}
        if isinstance(content, Mapping)
        else {"id": source_id, "text": content}
        for source_id, content in texts.items()
    ]


def _source(place: str, raw: Any, have_texts: bool) -> CitedSource:
    """have_texts: whether the list has texts, so that an entry may be one, or be empty."""
    if isinstance(raw, str):
        is_text = have_texts and (
            not _ID.fullmatch(raw.strip()) or _is_short_text(raw) or _has_text(raw)
        )
        raw = {"text": raw} if is_text else {"id": raw}
    if raw is None and have_texts:
        return CitedSource()
    if not isinstance(raw, Mapping):
        raise Problem(f"{place}: expected an id or an object with id and text, found {found(raw)}")
    source_id = _id_of(raw)
    body = body_of(raw)
    if source_id is None and body is None and not have_texts:
        raise Problem(f"{place}: expected an id (or url) or a text; remove the entry or add one")
    source_text = None if body is None else text(f"{place}.text", body)
    return CitedSource(
        id=None if source_id is None else name(f"{place}.id", source_id),
        text=source_text if source_text and source_text.strip() else None,
    )


def _id_of(source: Mapping[str, Any]) -> Any:
    metadata = source.get("metadata")
    holders = [source, metadata] if isinstance(metadata, Mapping) else [source]
    return next(
        (
            holder[key]
            for key in _IDS
            for holder in holders
            if not missing(holder.get(key)) and (key in _IDS[:2] or isinstance(holder[key], str))
        ),
        None,
    )


def body_of(source: Mapping[str, Any]) -> Any:
    """The text of a source in an object, its excerpts joined; a value that is no text where a key of texts has one."""
    bodies = [
        source[key]
        for key in _TEXTS
        if not missing(source.get(key))
        and (key in _FULL_TEXTS or isinstance(source[key], str | list))
    ]
    body = next((body for body in bodies if isinstance(body, str)), next(iter(bodies), None))
    is_excerpts = isinstance(body, list) and all(isinstance(excerpt, str) for excerpt in body)
    return "\n".join(body) if is_excerpts and body else body


def are_sources(value: Any) -> bool:
    """Whether a column called `sources` holds sources, at least one with its text: others hold names of files, or where
    a record is from."""
    if isinstance(value, Mapping):
        if any(key in value for key in (*_IDS, *_TEXTS)):
            return any(isinstance(value.get(key), str) for key in _TEXTS)
        contents = [content for content in value.values() if not missing(content)]
        are_contents = all(isinstance(content, str | Mapping) for content in contents)
        texts = sum(_has_text(content) or _is_short_text(content) for content in contents)
        return bool(contents) and are_contents and 2 * texts >= len(contents)
    return (
        isinstance(value, list | tuple)
        and all(entry is None or isinstance(entry, str | Mapping) for entry in value)
        and any(map(_has_text, value))
    )


def _has_text(entry: Any) -> bool:
    """Whether an entry is a text, or an object with one: a text ends as a sentence does, or is longer than a name."""
    if isinstance(entry, str):
        is_sentence = _length(entry) >= _FEWEST_WORDS and _TEXT_END.search(entry)
        is_name = len(entry) <= _LONGEST_NAME or _length(entry) <= 1 or _ADDRESS.fullmatch(entry)
        return bool(is_sentence) or not is_name
    return isinstance(entry, Mapping) and (
        any(key in entry for key in _FULL_TEXTS)
        or any(isinstance(entry.get(key), str | list) for key in _EXCERPTS)
    )


def _is_short_text(content: Any) -> bool:
    """Whether what an id stands for is a sentence, of two words or more. In a list of nothing else it may be a title."""
    return isinstance(content, str) and _length(content) > 1 and bool(_TEXT_END.search(content))


def _length(entry: str) -> float:
    """Words of a text; a letter of a script without spaces counts as half a word."""
    words = sum(not _UNSPACED.search(word) for word in entry.split())
    return words + len(_UNSPACED.findall(entry)) / 2


HOLDS_SOURCES: dict[str, Callable[[Any], bool]] = {"sources": are_sources}


# For declarations of shapes ----------------------------------------------------------------------------------------


def snapshots(pages: Any) -> list[dict[str, Any]] | None:
    """The sources of DeepResearch Bench, address -> {url_content}; a page that could not be read has no text."""
    if not isinstance(pages, Mapping) or not pages:
        return None
    contents = {
        address: page.get("url_content") if isinstance(page, Mapping) else None
        for address, page in pages.items()
    }
    return [
        {"id": address, "text": content}
        if isinstance(content, str) and not content.startswith(_FAILED)
        else _without_text(address)
        for address, content in contents.items()
    ]


def titled(documents: Any) -> list[str] | None:
    """Passages as ALCE shows them to its model (eval.py at 246c476, 324-331), `Title: …` before each."""
    if not isinstance(documents, list):
        return None
    texts = []
    for document in documents:
        if not isinstance(document, Mapping):
            return None
        body = document.get("sent") or document.get("text")
        title = document.get("title")
        head = f"Title: {title}\n" if isinstance(title, str) and title.strip() else ""
        texts.append(f"{head}{body}" if isinstance(body, str) else "")
    return texts


def _without_text(source_id: str) -> dict[str, Any]:
    return {"id": source_id, "text": None}
