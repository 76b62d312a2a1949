"""What claims specify, and whether passages bear it out: a judge's labels on the dimensions of a domain.

The dimensions (hazards: hazard, location, timeline, intensity) and their descriptions come from the domain, so prompts
and forms of reply follow it (SCORE, appendices B.1 and E.2).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from pydantic import Field, create_model

from longmark.domain import Dimension
from longmark.judge import Reader, Unreadable, Verdict, ask, structure
from longmark.models.handles import ChatHandle, Models
from longmark.models.protocols import ChatReply
from longmark.prompts import Prompt
from longmark.text.votes import LABELS, Label

DETAILS = Prompt(
    "details",
    ("claims",),
    """\
Pick out the details that the claims state on each of these dimensions:
$dimensions
Give a detail in the words of the claim, each only once. Take only what stands there: infer nothing, and leave a \
dimension empty on which no claim says anything.
Reply with a JSON object and nothing else, in this form: $form""",
)
LABELLING = Prompt(
    "score.specificity",
    ("context", "details", "claim"),
    """\
The claim comes from an answer, and the details are what the claim may specify. For each of these dimensions:
$dimensions
first copy from the claim the words that state a detail of this dimension; copy nothing ("") where the claim has no \
such words, whatever else it is about. Then copy from the context the words that say the same; copy nothing ("") where \
it has none. Then label the claim:
yes: the claim has such words, and the context bears them out.
no: the claim has such words, and the context contradicts them or does not say them.
n/a: the claim has no such words.
Go by the context alone, not by what you know, and infer nothing. What is stated and not found in the context is no, \
never n/a.
Reply with a JSON object and nothing else, in this form: $form""",
)

_TOKENS_A_DIMENSION = 128  # of a reply: a label with the words that it goes by
_PARTS = re.compile(r",(?!\d)|[;\n…]|\.{3}|\band\b")
_SHORT = 3  # letters of a word whose last s is no plural: "us" is not "u", and "s" is nothing
_QUOTES = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2010": "-", "\u2011": "-", "\u2013": "-"}
)


# What a label may be called beside itself: n/a is short for these
_SPELLINGS: Mapping[str, Label] = {
    **{label: label for label in LABELS},
    **dict.fromkeys(("na", "n.a.", "n. a.", "not applicable"), "n/a"),
}


@dataclass(frozen=True, slots=True)
class Mark:
    """A judge's label of one claim on one dimension. label: None where the judge left it out, or said something that
    is no label. said: what that was. in_claim, in_context: the words that it copied, None where it did not say.
    given: the label that it gave where these words make it another."""

    label: Label | None
    reason: str
    said: str | None = None
    in_claim: str | None = None
    in_context: str | None = None
    given: Label | None = None


async def details(models: Models, claims: Sequence[str]) -> dict[str, list[str]]:
    """dimension -> the details that the claims state on it, by the first judge. NoScore and ModelError as `ask`."""
    dimensions = models.domain.dimensions
    names = [dimension.name for dimension in dimensions]
    fields: dict[str, Any] = {f"d{i}": (list[str], Field(alias=name)) for i, name in enumerate(names)}
    reader = structure(create_model("Details", **fields), max_tokens=1024)
    form = {name: ["detail", "detail"] for name in names}
    verdict = await ask(
        models,
        models.judges[0],
        DETAILS,
        {"claims": "\n".join(f"- {claim}" for claim in claims)},
        replace(reader, schema=_object(dict.fromkeys(names, _LIST))),
        fields={"dimensions": _described(dimensions), "form": json.dumps(form)},
    )
    return {name: list(dict.fromkeys(found)) for name, found in verdict.value.model_dump(by_alias=True).items()}


async def labels(
    models: Models,
    judge: ChatHandle,
    claim: str,
    known: dict[str, list[str]],
    passages: Sequence[str],
    *,
    temperature: float,
    sample: int,
) -> Verdict[dict[str, Mark]]:
    """A judge's marks of a claim, one for each dimension. known: the details of `details`.

    The judge copies the words that it goes by, and code looks for them: where they are not in the claim, which then
    does not state the detail, the label is n/a; a yes by words that the passages do not have is a no.
    What is no label is asked for once more; then it is left out (`Mark.said`), and a reply without any label cannot be
    read. NoScore and ModelError as `ask`.
    """
    dimensions = models.domain.dimensions
    form = {one.name: {"in_claim": "...", "in_context": "...", "label": "yes, no or n/a"} for one in dimensions}
    inputs = {
        "context": "\n\n".join(f"[{i}] {passage}" for i, passage in enumerate(passages, start=1)),
        "details": "\n".join(f"{name}: {'; '.join(_of(claim, found)) or 'none'}" for name, found in known.items()),
        "claim": claim,
    }
    names = tuple(dimension.name for dimension in dimensions)
    once, again = marks(names), marks(names, in_part=True)
    asked = 0

    def read(reply: ChatReply) -> tuple[dict[str, Mark], dict[str, Any]]:
        nonlocal asked
        asked += 1
        found, extra = (once if asked == 1 else again).read(reply)
        return {name: checked(mark, claim, inputs["context"]) for name, mark in found.items()}, extra

    return await ask(
        models,
        judge,
        LABELLING,
        inputs,
        replace(once, read=read),
        fields={"dimensions": _described(dimensions), "form": json.dumps(form)},
        temperature=temperature,
        sample=sample,
    )


@lru_cache  # making the model takes longer than reading a reply
def marks(names: tuple[str, ...], in_part: bool = False) -> Reader[dict[str, Mark]]:
    """Reads a mark for each dimension. All are asked for; those that are left out have no label.

    in_part: reads the labels beside something that is none; else the whole reply is unreadable then.
    """
    fields: dict[str, Any] = {f"d{i}": (Any, Field(None, alias=name)) for i, name in enumerate(names)}
    form = structure(create_model("Marks", **fields), max_tokens=_TOKENS_A_DIMENSION * len(names))

    def read(reply: ChatReply) -> tuple[dict[str, Mark], dict[str, Any]]:
        given, extra = form.read(reply)
        found = {name: _mark(getattr(given, f"d{i}")) for i, name in enumerate(names)}
        odd = next((name for name, mark in found.items() if mark.said is not None), None)
        if odd is not None and not in_part:
            raise Unreadable(f"it is not the JSON that was asked for ({odd}: a label is one of {', '.join(LABELS)})")
        if all(mark.label is None for mark in found.values()):
            raise Unreadable(f"it has no label for any of {', '.join(names)}")
        return found, extra

    return Reader(read, form.max_tokens, schema=_object(dict.fromkeys(names, _MARK)))


def _mark(given: Any) -> Mark:
    """A bare string is a label without more."""
    fields = given if isinstance(given, dict) else {"label": given}
    said = fields.get("label")
    label = _SPELLINGS.get(said.strip().casefold()) if isinstance(said, str) else None
    reason, in_claim, in_context = (
        one if isinstance(one := fields.get(name), str) else None for name in ("reason", "in_claim", "in_context")
    )
    if reason is None and in_claim is not None:
        reason = f"claim: {in_claim.strip() or '–'} · passages: {(in_context or '').strip() or '–'}"
    if label is None and said is not None:
        odd = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        return Mark(None, reason or "", odd, in_claim, in_context)
    return Mark(label, reason or "", None, in_claim, in_context)


def checked(mark: Mark, claim: str, context: str) -> Mark:
    """The mark with the label that the copied words allow. Words that the judge did not give allow every label."""
    label = mark.label
    if label in ("yes", "no") and mark.in_claim is not None and not stands(mark.in_claim, claim):
        label = "n/a"
    elif label == "yes" and mark.in_context is not None and not stands(mark.in_context, context):
        label = "no"
    return mark if label == mark.label else replace(mark, label=label, given=mark.label)


def stands(words: str, text: str) -> bool:
    """Whether words were copied from a text: as a whole or in one of their parts (between commas, "and", …), in any
    case and spacing; whole words, in the singular or plural."""
    within = _plain(text)
    parts = (_plain(part).strip(" .:'\"()[]") for part in (words, *_PARTS.split(words)))
    return any(_word(part).search(within) for part in parts if any(map(str.isalnum, part)))


def _word(part: str) -> re.Pattern[str]:
    stem = part.removesuffix("s") if len(part) > _SHORT else part
    return re.compile(rf"(?<![0-9a-z]){re.escape(stem)}(?:e?s)?(?![0-9a-z])")


def _plain(text: str) -> str:
    return " ".join(text.translate(_QUOTES).casefold().split())


def _of(claim: str, found: Sequence[str]) -> list[str]:
    """Those of an answer's details that stand in one of its claims."""
    return [detail for detail in found if stands(detail, claim)]


def _described(dimensions: Sequence[Dimension]) -> str:
    return "\n".join(f"- {dimension.name}: {dimension.description}" for dimension in dimensions)


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object that has just these properties."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


_LIST = {"type": "array", "items": {"type": "string"}}
_MARK = _object(
    {
        "in_claim": {"type": "string"},
        "in_context": {"type": "string"},
        "label": {"type": "string", "enum": list(LABELS)},
    }
)
