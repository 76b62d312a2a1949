"""The parameters, and what each score is made of: which labels, of which fields of the example."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from longmark.metric import paper
from longmark.records import Example
from longmark.text.entailment import BATCH

_LARGEST_BATCH = 200  # a greater number is a typing error


@dataclass(frozen=True)
class RagCheckerParams:
    batch: int = BATCH
    plan: Literal["each", "joint"] = paper("each", "each")
    empty: Literal["undefined", "zero"] = paper("undefined", "zero")

    def __post_init__(self) -> None:
        if not 1 <= self.batch <= _LARGEST_BATCH:
            raise ValueError(
                f"batch must be a number of statements from 1 to {_LARGEST_BATCH}, not {self.batch}"
            )
        if self.plan == "joint" and self.batch == 1:
            raise ValueError(
                "plan=joint shows several statements in a call, so batch must be above 1"
            )


Kind = Literal["right", "recalled", "supported", "retrieved"]
KINDS: tuple[Kind, ...] = ("right", "recalled", "supported", "retrieved")

LABELS: dict[str, tuple[Kind, ...]] = {
    "precision": ("right",),
    "recall": ("recalled",),
    "f1": ("right", "recalled"),
    "claim_recall": ("retrieved",),
    "context_precision": ("retrieved",),
    "context_utilization": ("recalled", "retrieved"),
    "noise_sensitivity_in_relevant": ("right", "supported", "retrieved"),
    "noise_sensitivity_in_irrelevant": ("right", "supported", "retrieved"),
    "hallucination": ("right", "supported"),
    "self_knowledge": ("right", "supported"),
    "faithfulness": ("supported",),
}
"""Part of the name -> the labels that the score is made of, by the fields of `Checks`."""

REPLACED_BY: dict[Kind, dict[str, str]] = {
    "right": {"answer": "claims", "references": "claims_by_reference"},
    "recalled": {"answer": "reference_claims_by_answer", "references": "reference_claims"},
    "supported": {"answer": "claims", "contexts": ""},
    "retrieved": {"references": "reference_claims", "contexts": ""},
}
"""Labels -> the fields that they need, and what the example can carry in place of them ("": nothing)."""

CARRIED_IN: dict[Kind, str] = {
    "right": "claims_by_reference",
    "recalled": "reference_claims_by_answer",
    "supported": "claims_by_contexts",
    "retrieved": "reference_claims_by_contexts",
}
CARRIED = "carried by the example"
OF_ANSWER: frozenset[Kind] = frozenset({"right", "supported"})
OF_REFERENCE: frozenset[Kind] = frozenset({"recalled", "retrieved"})
OF_RETRIEVER = frozenset({"claim_recall", "context_precision"})  # scores that no answer may change

NEEDS = {
    part: tuple(
        field
        for field in ("answer", "references", "contexts")
        if any(field in REPLACED_BY[kind] for kind in kinds)
    )
    for part, kinds in LABELS.items()
}


def carried_fields(example: Example, _params: RagCheckerParams, part: str) -> set[str]:
    """The fields that a score needs and that what the example carries replaces."""
    return {
        field
        for field in NEEDS[part]
        if all(
            getattr(example, REPLACED_BY[kind][field] or "_", None) is not None
            for kind in LABELS[part]
            if field in REPLACED_BY[kind]
        )
    }


def kinds_of(example: Example, parts: Collection[str]) -> set[Kind]:
    """The labels that scores are made of; with those of f1 where it decides which of several references counts."""
    kinds = {kind for part in parts for kind in LABELS[part]}
    by_f1 = any(part not in OF_RETRIEVER and part != "faithfulness" for part in parts)
    if len(example.references) > 1 and example.answer is not None and by_f1:
        kinds |= set(LABELS["f1"])
    return kinds
