"""Replaces a domain's words in an answer by placeholders (answer relevance): the phrases that a model names for the
masked slots of the domain, and the profile's values; or reads the answer that a model rewrote with placeholders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from longmark.domain import Domain, Mask
from longmark.judge import Reader, Unreadable, structure
from longmark.records.same import comparable
from longmark.reply_schema import object_schema
from longmark.text.pieces import utf8_size

_MOST_TOKENS = 1024  # of a reply
_LEAST_PHRASES = 8  # the length that every list may have, and one more for each _BYTES_A_PHRASE of the piece: the limit
_BYTES_A_PHRASE = 100  # ends the reply of a small judge that repeats one phrase
_MOST_HIDDEN = (
    0.5  # of a text's characters other than white space: a list that hides more is not a mask
)

Named = tuple[str, Mask]
"""A phrase and the mask that hides it."""


class _Phrase(BaseModel):
    phrase: str
    kind: str


class _Phrases(BaseModel):
    phrases: list[_Phrase]


@dataclass(frozen=True, slots=True)
class Masked:
    """text: with placeholders. named: slot -> the phrases that the model named; not_found: how many of them do not
    occur in the answer. by_model: how many placeholders replace them. by_code: slot -> how many replace values of the
    profile."""

    text: str
    named: dict[str, list[str]]
    not_found: int
    by_model: int
    by_code: dict[str, int]

    @property
    def evidence(self) -> dict[str, Any]:
        return {
            "masked_answer": self.text,
            "masked_phrases": self.named,
            "masked_phrases_not_found": self.not_found,
            "masked_by_model": self.by_model,
            "masked_by_code": self.by_code,
        }


@dataclass(frozen=True, slots=True)
class Rewritten:
    """text: the answer as the model rewrote it; placeholders: slot -> how many it has of it."""

    text: str
    placeholders: dict[str, int]

    @property
    def evidence(self) -> dict[str, Any]:
        return {"masked_answer": self.text, "rewritten_placeholders": self.placeholders}


def rewritten(text: str, domain: Domain) -> Rewritten:
    """A rewritten answer with its placeholders counted."""
    return Rewritten(text, {mask.slot: text.count(mask.placeholder) for mask in domain.masks})


def masked(
    answer: str, named_phrases: Iterable[Named], profile: Mapping[str, Any], domain: Domain
) -> Masked:
    """The answer with placeholders for every occurrence of the named phrases and of the profile's values.

    A value is found in any case, in the plural, with hyphens, and by two or more of its words in a row ("grid manager"
    of "electrical grid manager"); longer ones first. A single word of a longer value stays: "ice" is not an ice storm.
    """
    phrases = _once(named_phrases)
    values = _values(profile, domain)
    text, counts = _replaced(answer, [*phrases, *values], domain)
    by_code = {mask.slot: 0 for mask in domain.masks}
    for (_, mask), count in zip(values, counts[len(phrases) :], strict=True):
        by_code[mask.slot] += count
    return Masked(
        text,
        named={
            mask.slot: [phrase for phrase, phrase_mask in phrases if phrase_mask is mask]
            for mask in domain.masks
        },
        not_found=sum(
            not domain.slot(phrase_mask.slot).pattern(phrase).search(answer)
            for phrase, phrase_mask in phrases
        ),
        by_model=sum(counts[: len(phrases)]),
        by_code=by_code,
    )


def phrase_reader(piece: str, domain: Domain) -> Reader[list[Named]]:
    """Reads the phrases named for a piece of the answer. Unreadable if they cover most of it."""
    masks = {mask.slot: mask for mask in domain.masks}
    size = utf8_size(piece)
    phrase_schema = object_schema(
        {"phrase": {"type": "string"}, "kind": {"type": "string", "enum": list(masks)}}
    )
    some = {
        "type": "array",
        "items": phrase_schema,
        "maxItems": _LEAST_PHRASES + size // _BYTES_A_PHRASE,
    }
    form = structure(_Phrases, min(_MOST_TOKENS, 192 + size // 3), object_schema({"phrases": some}))

    def checked(reply: _Phrases) -> list[Named]:
        if (
            odd := next((phrase.kind for phrase in reply.phrases if phrase.kind not in masks), None)
        ) is not None:
            raise Unreadable(f"it has a kind that is none of {', '.join(masks)}: {odd}")
        named_phrases = _once((phrase.phrase, masks[phrase.kind]) for phrase in reply.phrases)
        text, _ = _replaced(piece, named_phrases, domain)
        for mask in domain.masks:
            text = text.replace(mask.placeholder, "")
        if _solid(text) < (1 - _MOST_HIDDEN) * _solid(piece):
            raise Unreadable(
                "what it names is more than half of the answer, and not the words and phrases of a kind"
            )
        return named_phrases

    return form.then(checked)


def _values(profile: Mapping[str, Any], domain: Domain) -> list[Named]:
    """The phrases for a profile's values of the masked slots: each value, and any two or more of its words in a row."""
    profile_phrases: list[Named] = []
    for mask in domain.masks:
        words = value.split() if isinstance(value := profile.get(mask.slot), str) else []
        runs = [words[i:j] for i in range(len(words)) for j in range(i + 2, len(words) + 1)]
        profile_phrases += [
            (join.join(run), mask) for run in runs or [words] if run for join in (" ", "-")
        ]
    return profile_phrases


def _replaced(text: str, phrases: Sequence[Named], domain: Domain) -> tuple[str, list[int]]:
    """The text with a placeholder for every occurrence of every phrase, and the number of placeholders for each.

    Complete words in any case and spacing, the plural too; longer phrases first, of equal ones the first given; nothing
    within a placeholder.
    """
    counts = [0] * len(phrases)
    placeholder = re.compile(
        "(" + "|".join(re.escape(mask.placeholder) for mask in domain.masks) + ")"
    )
    for number in sorted(range(len(phrases)), key=lambda number: -len(phrases[number][0])):
        phrase, mask = phrases[number]
        pattern = domain.slot(mask.slot).pattern(phrase)
        parts = placeholder.split(text)  # every second part is a placeholder
        for i in range(0, len(parts), 2):
            parts[i], count = pattern.subn(mask.placeholder, parts[i])
            counts[number] += count
        text = "".join(parts)
    return text, counts


def _once(named_phrases: Iterable[Named]) -> list[Named]:
    """Each phrase once, with the first kind given for it; a phrase without a letter is left out."""
    first: dict[str, Named] = {}
    for phrase, mask in named_phrases:
        words = " ".join(phrase.split())
        if any(map(str.isalpha, words)):
            first.setdefault(comparable(words), (words, mask))
    return list(first.values())


def _solid(text: str) -> int:
    """Characters other than white space: a measure of the words in any script."""
    return len("".join(text.split()))
