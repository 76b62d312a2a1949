"""Answers in parts that cite: TREC's RAG and RAGTIME tracks and ragnarok write a list of `{text, citations}`.

Citations are numbers from 0 of the list `references`, or ids. A part is what its citations stand for, so the parts become
one text in which each sentence of a part has its markers, `[1]` or `[id]`, before the full stop, and a part without one
stands in a paragraph of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longmark.records.sentence_ends import sentence_ends

_ID = re.compile(r"\S{1,400}")
_IN_BRACKETS = re.compile(r"[^\[\]\n]{1,200}")  # what a marker can name
_NUMBER = re.compile(r"\d{1,9}")
_SHORT_NUMBER = re.compile(r"\d{1,3}")  # an id that could be the number of a place
_IDS = ("docid", "doc_id", "id", "document_id", "url")  # of a citation that is an object
_STOP = re.compile(r"[.!?…。！？।॥؟۔]+[\"'”’»」』)）\]*_]{0,3}$")
_BLOCK = re.compile(r"[-*+•]\s|\d{1,3}[.)]\s|#{1,6}\s|\||>")
_LONGEST_END = 20  # characters of a full stop and what closes a sentence behind it
_MOST_PLACES = 999  # that a marker can name by a number
_LONGEST_FOOTNOTE = 40  # characters


def cited_answer(parts: Any) -> str | None:
    """The text of a list of `{text, citations}`, each sentence with the markers of its part; None of anything else."""
    return answer_of_parts([None, parts]) if _is_cited(parts) else None


def answer_of_parts(references_and_parts: Any) -> str | None:
    """As `cited_answer`, of a list of references and the parts: a marker names an id where its number could be one. An
    answer without parts is empty."""
    listed, parts = references_and_parts
    if not (_is_cited(parts) or parts == []):
        return None
    sources = _sources_of(listed, parts)
    pieces: list[str] = []
    for part in parts:
        words = part["text"].strip()
        if not words:
            continue
        names = dict.fromkeys(sources.marker_name(label) for label in _labels(part))
        if pieces:
            pieces.append(_joint(pieces[-1], words))
        pieces.append(_with_markers(words, "".join(f"[{name}]" for name in names)))
    return "".join(pieces)


def cited_ids(parts: Any) -> list[dict[str, Any]] | None:
    """The sources that the parts of an answer cite by their ids, each once; None without any."""
    return part_sources([None, parts])


def id_list(references: Any) -> list[dict[str, Any]] | None:
    """The sources of a list of ids; None if an entry has white space, and so is a text."""
    return [_without_text(entry) for entry in _ids(references)] or None


def part_sources(references_and_parts: Any) -> list[dict[str, Any]] | None:
    """The sources of an answer in parts: those of its list of ids, and behind them the ids that only its parts have, so
    that numbers still name places of the list. None without any; an empty list, where that of the references is empty and
    no part cites."""
    listed, parts = references_and_parts
    cited = parts if _is_cited(parts) else []
    sources = _sources_of(listed, cited)
    cites_nothing = listed == [] and not any(map(_labels, cited))
    if not sources.ids and not cites_nothing:
        return None
    return [_without_text(source_id) for source_id in sources.ids]


def _without_text(source_id: str) -> dict[str, Any]:
    return {"id": source_id, "text": None}


def _ids(references: Any) -> list[str]:
    """The entries of a list of ids; none if one has white space, and so is a text."""
    entries = references if isinstance(references, list) else []
    are_ids = all(isinstance(entry, str) and _ID.fullmatch(entry) for entry in entries)
    return entries if are_ids else []


def _is_cited(parts: Any) -> bool:
    return (
        isinstance(parts, list)
        and bool(parts)
        and all(isinstance(part, Mapping) and isinstance(part.get("text"), str) for part in parts)
    )


def _labels(part: Mapping[str, Any]) -> list[int | str]:
    """What a part cites, numbers from 0 and ids: a list, the keys of an object of scores (RAGTIME), or one of them."""
    citations = part.get("citations")
    entries = citations if isinstance(citations, list | Mapping) else [citations]
    return [label for entry in entries if (label := _label(entry)) is not None]


def _label(citation: Any) -> int | str | None:
    if isinstance(citation, Mapping):
        ids = (citation.get(key) for key in _IDS)
        citation = next((value for value in ids if isinstance(value, str) and value.strip()), None)
    if isinstance(citation, str):
        return citation.strip() or None
    if isinstance(citation, float) and citation.is_integer():
        return int(citation)
    return citation if isinstance(citation, int) and not isinstance(citation, bool) else None


@dataclass(frozen=True, slots=True)
class _PartSources:
    """The sources of an answer in parts. ids: in their order; places: id -> its first place, from 0; listed: how many
    are of the list of references."""

    ids: Sequence[str]
    places: Mapping[str, int]
    listed: int
    has_numbers: bool

    def of_list(self, label: int | str) -> int | str:
        """A number that stands as text is a place, where the list has it and no id is that number."""
        if isinstance(label, int) or label in self.places or not _NUMBER.fullmatch(label):
            return label
        return int(label) if int(label) < self.listed else label

    def marker_name(self, citation: int | str) -> str:
        """What stands in a marker: an id, or the place of a source from 1. A number that is no place, and could be read
        as an id or as a year, stands there as a footnote that nothing defines."""
        label = self.of_list(citation)
        if isinstance(label, str):
            return label if _IN_BRACKETS.fullmatch(label) else str(self.places[label] + 1)
        if 0 <= label < len(self.ids):
            return self.ids[label] if self.has_numbers else str(label + 1)
        is_plain = not self.has_numbers and 0 <= label < _MOST_PLACES
        return str(label + 1) if is_plain else f"^{label}"[:_LONGEST_FOOTNOTE]


def _sources_of(references: Any, parts: Sequence[Mapping[str, Any]]) -> _PartSources:
    ids = _ids(references)
    listed = _with_places(ids, len(ids))
    labels = [listed.of_list(label) for part in parts for label in _labels(part)]
    added = [label for label in labels if isinstance(label, str) and label not in listed.places]
    return _with_places([*ids, *dict.fromkeys(added)], len(ids))


def _with_places(ids: Sequence[str], listed: int) -> _PartSources:
    places: dict[str, int] = {}
    for place, source_id in enumerate(ids):
        places.setdefault(source_id, place)
    return _PartSources(ids, places, listed, any(map(_SHORT_NUMBER.fullmatch, ids)))


def _joint(before: str, words: str) -> str:
    """What stands between two parts: a part without a full stop, and one that is a block of Markdown, ends its line."""
    if _BLOCK.match(words):
        return "\n"
    last_line = before[before.rfind("\n") + 1 :]
    ends = _STOP.search(before, max(0, len(before) - _LONGEST_END)) and not _BLOCK.match(last_line)
    return " " if ends else "\n\n"


def _with_markers(words: str, markers: str) -> str:
    """A part with its markers before the full stop of each of its sentences."""
    if not markers:
        return words
    last = _STOP.search(words, max(0, len(words) - _LONGEST_END))
    end = last.start() if last else len(words) - words.endswith("|")
    places = [stop for stop, _ in sentence_ends(words) if stop < end]
    pieces = []
    position = 0
    for place in (*places, end):
        pieces.append(f"{words[position:place].rstrip()} {markers}")
        position = place
    return f"{''.join(pieces)}{' ' * words.endswith('|')}{words[position:]}"
