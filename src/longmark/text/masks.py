"""Hides a domain's words in an answer, so that a question made from it is alike in sense and not in wording.

A model names the words and phrases that belong to the masked slots of the domain; code puts a placeholder in place of
each and of the profile's own values, and counts both.

Deviation from SCORE (section 3.3, appendix E.3), where the model writes the answer again with placeholders in it: here
nothing but what was named can change, the reply is shorter, and a small judge gets through it
(design/small-judges.md).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from longmark.concurrency import concurrently
from longmark.domain import Domain, Mask
from longmark.judge import Reader, Unreadable, ask, structure
from longmark.models.handles import Models
from longmark.models.protocols import ChatReply
from longmark.prompts import Prompt
from longmark.text.pieces import pieces, utf8_size

PIECE = 4000  # bytes of answer in one call: of more, a judge names a smaller share
_MOST_TOKENS = 1024  # of a reply
_LEAST_PHRASES = 8  # room in a list, and for one more for every so many bytes of the piece: a small judge that repeats
_BYTES_A_PHRASE = 100  # one phrase comes to its end
_MOST_HIDDEN = 0.5  # of a text's characters other than white space: a list that hides more is no mask

MASKING = Prompt(
    "masking",
    ("answer",),
    """\
Find in the answer the words and phrases that belong to one of these kinds:
$kinds
Give each as it stands in the answer and only once, with the one kind that it belongs to: a term of one to five words, \
never a sentence or a whole point. Leave out what belongs to no kind; where nothing does, the list is empty.
Reply with a JSON object and nothing else, in this form: $form""",
)


class _Phrase(BaseModel):
    phrase: str
    kind: str


class _Phrases(BaseModel):
    phrases: list[_Phrase]


# A phrase and the mask that hides it
_Named = tuple[str, Mask]


@dataclass(frozen=True, slots=True)
class Masked:
    """text: with placeholders. named: slot -> the phrases that the model named, of which not_found are not in the
    answer. by_model: how many placeholders stand for these. by_code: slot -> how many for values of the profile."""

    text: str
    named: dict[str, list[str]]
    not_found: int
    by_model: int
    by_code: dict[str, int]


async def mask(models: Models, answer: str, profile: Mapping[str, Any]) -> Masked:
    """The answer with placeholders for what the first judge names, everywhere, and for the profile's values.

    A long answer goes to the judge in pieces. A judge may name nothing: an answer need not have any such word.
    Raises NoScore (`unparsable`, `refused`) where its list cannot be read or hides most of a piece, and ModelError.
    """
    domain = models.domain
    fields = {
        "kinds": "\n".join(f"- {mask.slot}: {mask.description}" for mask in domain.masks),
        "form": json.dumps({"phrases": [{"phrase": "...", "kind": mask.slot} for mask in domain.masks[:2]]}),
    }

    async def of_piece(piece: str) -> list[_Named]:
        verdict = await ask(
            models, models.judges[0], MASKING, {"answer": piece}, _list_for(piece, domain), fields=fields
        )
        return verdict.value

    named = _once(one for some in await concurrently(of_piece, pieces(answer, PIECE)) for one in some)
    values = _values(profile, domain)
    text, found = _replaced(answer, [*named, *values], domain)
    return Masked(
        text,
        named={mask.slot: [phrase for phrase, its in named if its is mask] for mask in domain.masks},
        not_found=sum(not domain.slot(its.slot).pattern(phrase).search(answer) for phrase, its in named),
        by_model=sum(found[: len(named)]),
        by_code=_by_slot(values, found[len(named) :], domain),
    )


def hide(text: str, profile: Mapping[str, Any], domain: Domain) -> tuple[str, dict[str, int]]:
    """The text with the profile's values of the masked slots replaced, and how many of each slot there were.

    A value is found in any case, in the plural, with hyphens, and by two or more of its words in a row ("grid manager"
    of "electrical grid manager"); longer ones first. A single word of a longer value stays: "ice" is not an ice storm.
    """
    values = _values(profile, domain)
    text, found = _replaced(text, values, domain)
    return text, _by_slot(values, found, domain)


def maskable(profile: Mapping[str, Any] | None, domain: Domain) -> bool:
    """Whether a profile has a value that `hide` can look for."""
    return any(isinstance(value, str) and value.strip() for value in map((profile or {}).get, domain.masked))


def mask_calls(answer: str) -> int:
    """Calls that `mask` takes for an answer, without those that ask once more."""
    return len(pieces(answer, PIECE))


def _values(profile: Mapping[str, Any], domain: Domain) -> list[_Named]:
    """What a profile's values of the masked slots may be called."""
    return [
        (phrase, mask)
        for mask in domain.masks
        if isinstance(value := profile.get(mask.slot), str)
        for phrase in _phrases(value)
    ]


def _phrases(value: str) -> list[str]:
    words = value.split()
    runs = [words[i:j] for i in range(len(words)) for j in range(i + 2, len(words) + 1)]
    return [join.join(run) for run in runs or [words] if run for join in (" ", "-")]


def _replaced(text: str, phrases: Sequence[_Named], domain: Domain) -> tuple[str, list[int]]:
    """The text with a placeholder for every occurrence of every phrase, and how many were put for each.

    Whole words in any case and spacing, the plural too; longer phrases first, of equal ones the first given; nothing
    within a placeholder.
    """
    counts = [0] * len(phrases)
    placeholder = re.compile("(" + "|".join(re.escape(mask.placeholder) for mask in domain.masks) + ")")
    for number in sorted(range(len(phrases)), key=lambda number: -len(phrases[number][0])):
        phrase, mask = phrases[number]
        pattern = domain.slot(mask.slot).pattern(phrase)
        parts = placeholder.split(text)  # every second one is a placeholder
        for i in range(0, len(parts), 2):
            parts[i], found = pattern.subn(mask.placeholder, parts[i])
            counts[number] += found
        text = "".join(parts)
    return text, counts


def _by_slot(phrases: Sequence[_Named], counts: Sequence[int], domain: Domain) -> dict[str, int]:
    found = {mask.slot: 0 for mask in domain.masks}
    for (_, mask), count in zip(phrases, counts, strict=True):
        found[mask.slot] += count
    return found


def _once(named: Iterable[_Named]) -> list[_Named]:
    """Each phrase with the first kind that it was given; those without a letter are none."""
    first: dict[str, _Named] = {}
    for phrase, mask in named:
        words = " ".join(phrase.split())
        if any(map(str.isalpha, words)):
            first.setdefault(words.casefold(), (words, mask))
    return list(first.values())


def _list_for(piece: str, domain: Domain) -> Reader[list[_Named]]:
    """Reads the phrases named for a piece. Unreadable where they would hide most of it."""
    masks = {mask.slot: mask for mask in domain.masks}
    reader = structure(_Phrases, min(_MOST_TOKENS, 192 + utf8_size(piece) // 3))

    def read(reply: ChatReply) -> tuple[list[_Named], dict[str, Any]]:
        given, extra = reader.read(reply)
        if (odd := next((one.kind for one in given.phrases if one.kind not in masks), None)) is not None:
            raise Unreadable(f"it has a kind that is none of {', '.join(masks)}: {odd}")
        named = _once((one.phrase, masks[one.kind]) for one in given.phrases)
        text, _ = _replaced(piece, named, domain)
        for mask in domain.masks:
            text = text.replace(mask.placeholder, "")
        if _solid(text) < (1 - _MOST_HIDDEN) * _solid(piece):
            raise Unreadable("what it names is more than half of the answer, and not the words and phrases of a kind")
        return named, extra

    return Reader(
        read, reader.max_tokens, schema=_schema(tuple(masks), _LEAST_PHRASES + utf8_size(piece) // _BYTES_A_PHRASE)
    )


def _schema(kinds: tuple[str, ...], most: int) -> dict[str, Any]:
    """Of a list of at most so many phrases."""
    one = {
        "type": "object",
        "properties": {"phrase": {"type": "string"}, "kind": {"type": "string", "enum": list(kinds)}},
        "required": ["phrase", "kind"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"phrases": {"type": "array", "items": one, "maxItems": most}},
        "required": ["phrases"],
        "additionalProperties": False,
    }


def _solid(text: str) -> int:
    """Characters other than white space: words by their length, in any script."""
    return len("".join(text.split()))
