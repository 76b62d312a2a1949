"""What claims specify, and whether passages bear it out: a judge's labels on the dimensions of a domain.

The dimensions (hazards: hazard, location, timeline, intensity) and their descriptions come from the domain, so prompts
and forms of reply follow it (SCORE, appendices B.1 and E.2).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, Field, create_model, field_validator, model_validator

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
The claim comes from an answer, and the details are what that answer specifies. Label the claim on each of these \
dimensions:
$dimensions
yes: the claim itself states a detail of this dimension, and the context bears it out.
no: the claim itself states one, and the context contradicts it or does not say it.
n/a: the claim states no detail of this dimension.
Go by the context alone, not by what you know, and infer nothing. What is stated and not found in the context is no, \
never n/a.
Reply with a JSON object and nothing else, in this form: $form""",
)

_TOKENS_A_DIMENSION = 128  # of a reply: a label with its reason in a sentence


class _Mark(BaseModel):
    """A label as a judge gave it; a bare string is a label without a reason."""

    label: str | None = None
    reason: str = ""

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, given: Any) -> Any:
        return {"label": given} if isinstance(given, str) else given

    @field_validator("label")
    @classmethod
    def _offered(cls, label: str | None) -> str | None:
        if label is None:
            return None
        folded = label.strip().casefold()
        if folded not in LABELS:
            raise ValueError(f"a label is one of {', '.join(LABELS)}")
        return folded


@dataclass(frozen=True, slots=True)
class Mark:
    """A judge's label of one claim on one dimension. label: None where the judge left it out."""

    label: Label | None
    reason: str


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

    NoScore and ModelError as `ask`; a reply that labels nothing cannot be read.
    """
    dimensions = models.domain.dimensions
    form = {dimension.name: {"reason": "a few words", "label": "yes, no or n/a"} for dimension in dimensions}
    inputs = {
        "context": "\n\n".join(f"[{i}] {passage}" for i, passage in enumerate(passages, start=1)),
        "details": "\n".join(f"{name}: {'; '.join(found) or 'none'}" for name, found in known.items()),
        "claim": claim,
    }
    return await ask(
        models,
        judge,
        LABELLING,
        inputs,
        marks(tuple(dimension.name for dimension in dimensions)),
        fields={"dimensions": _described(dimensions), "form": json.dumps(form)},
        temperature=temperature,
        sample=sample,
    )


@lru_cache  # making the model takes longer than reading a reply
def marks(names: tuple[str, ...]) -> Reader[dict[str, Mark]]:
    """Reads a mark for each dimension. All are asked for; those that are left out have no label."""
    fields: dict[str, Any] = {f"d{i}": (_Mark | None, Field(None, alias=name)) for i, name in enumerate(names)}
    form = structure(create_model("Marks", **fields), max_tokens=_TOKENS_A_DIMENSION * len(names))

    def read(reply: ChatReply) -> tuple[dict[str, Mark], dict[str, Any]]:
        given, extra = form.read(reply)
        found = {name: _mark(getattr(given, f"d{i}")) for i, name in enumerate(names)}
        if all(mark.label is None for mark in found.values()):
            raise Unreadable(f"it has no label for any of {', '.join(names)}")
        return found, extra

    return Reader(read, form.max_tokens, schema=_object(dict.fromkeys(names, _MARK)))


def _mark(given: _Mark | None) -> Mark:
    label = next((one for one in LABELS if given is not None and one == given.label), None)
    return Mark(label, "" if given is None else given.reason)


def _described(dimensions: Sequence[Dimension]) -> str:
    return "\n".join(f"- {dimension.name}: {dimension.description}" for dimension in dimensions)


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object that has just these properties."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


_LIST = {"type": "array", "items": {"type": "string"}}
_MARK = _object({"reason": {"type": "string"}, "label": {"type": "string", "enum": list(LABELS)}})
