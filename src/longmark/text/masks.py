"""Hides a domain's words in an answer, so that a question made from it is alike in sense and not in wording.

A model puts placeholders for all that belongs to the masked slots of the domain (SCORE, section 3.3 and appendix E.3).
What of the profile's own values it leaves is then replaced here, and counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ConfigDict

from longmark.domain import Domain
from longmark.judge import Reader, Unreadable, ask, structure
from longmark.models.handles import Models
from longmark.models.protocols import ChatReply
from longmark.prompts import Prompt
from longmark.text.pieces import pieces, utf8_size
from longmark.together import together

PIECE = 4000  # bytes of answer in one call: the reply repeats them
_MOST_TOKENS = 3072  # of a reply
_LEAST, _MOST = 0.4, 1.6  # length of a masked text over that of its original: outside, it is another text

MASKING = Prompt(
    "masking",
    ("answer",),
    """\
Copy the answer word for word, with a placeholder in place of every word or phrase that belongs to one of these kinds:
$kinds
Change nothing else, keep line breaks and numbering, and see that the sentences still read well.
Reply with a JSON object and nothing else, {"masked": "the copy"}.""",
)


@dataclass(frozen=True, slots=True)
class Masked:
    """text: with placeholders. by_model: how many the model put. by_code: slot -> how many were put here."""

    text: str
    by_model: int
    by_code: dict[str, int]


class _Copy(BaseModel):
    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})

    masked: str


async def mask(models: Models, answer: str, profile: Mapping[str, Any]) -> Masked:
    """The answer with placeholders, by the first judge and then by code. A long answer goes to the judge in pieces.

    Raises NoScore (`unparsable`, `refused`) where the judge's copy cannot be read or is no copy, and ModelError.
    """
    domain = models.domain
    kinds = "\n".join(f"- {mask.placeholder}: {mask.description}" for mask in domain.masks)

    async def of_piece(piece: str) -> str:
        verdict = await ask(
            models, models.judges[0], MASKING, {"answer": piece}, _copy_of(piece), fields={"kinds": kinds}
        )
        return verdict.value.masked.strip()

    copy = "\n\n".join(await together(of_piece, pieces(answer, PIECE)))
    by_model = sum(copy.count(mask.placeholder) for mask in domain.masks)
    text, by_code = hide(copy, profile, domain)
    return Masked(text, by_model, by_code)


def hide(text: str, profile: Mapping[str, Any], domain: Domain) -> tuple[str, dict[str, int]]:
    """The text with the profile's values of the masked slots replaced, and how many of each slot there were.

    A value is found in any case, in the plural, with hyphens, and by two or more of its words in a row ("grid manager"
    of "electrical grid manager"); longer ones first. A single word of a longer value stays: "ice" is not an ice storm.
    """
    phrases = [
        (phrase, mask)
        for mask in domain.masks
        if isinstance(value := profile.get(mask.slot), str)
        for phrase in _phrases(value)
    ]
    counts = {mask.slot: 0 for mask in domain.masks}
    for phrase, mask in sorted(phrases, key=lambda pair: -len(pair[0])):
        text, found = domain.slot(mask.slot).pattern(phrase).subn(mask.placeholder, text)
        counts[mask.slot] += found
    return text, counts


def maskable(profile: Mapping[str, Any] | None, domain: Domain) -> bool:
    """Whether a profile has a value that `hide` can look for."""
    return any(isinstance(value, str) and value.strip() for value in map((profile or {}).get, domain.masked))


def mask_calls(answer: str) -> int:
    """Calls that `mask` takes for an answer, without those that ask once more."""
    return len(pieces(answer, PIECE))


def _phrases(value: str) -> list[str]:
    words = value.split()
    runs = [words[i:j] for i in range(len(words)) for j in range(i + 2, len(words) + 1)]
    return [join.join(run) for run in runs or [words] if run for join in (" ", "-")]


def _copy_of(piece: str) -> Reader[_Copy]:
    """Reads a masked copy. Unreadable where its length shows that it is not one."""
    reader = structure(_Copy, min(_MOST_TOKENS, 256 + utf8_size(piece)))

    def read(reply: ChatReply) -> tuple[_Copy, dict[str, Any]]:
        copy, extra = reader.read(reply)
        if not _LEAST * len(piece) <= len(copy.masked.strip()) <= _MOST * len(piece) + 100:
            raise Unreadable("it is not the answer with placeholders: its length is another")
        return copy, extra

    return replace(reader, read=read)
