"""How many calls an answer takes, before the first one."""

from __future__ import annotations

from collections.abc import Collection

from longmark.metrics.ragchecker._parts import (
    CARRIED_IN,
    LABELS,
    OF_ANSWER,
    OF_REFERENCE,
    RagCheckerParams,
    kinds_of,
)
from longmark.records import Example
from longmark.text.claims import answer_calls, reference_calls
from longmark.text.entailment import joint_calls, relation_calls
from longmark.text.sentences import sentences


def shares(example: Example, parts: Collection[str] = tuple(LABELS)) -> dict[str, int]:
    kinds = kinds_of(example, parts)
    shares = answer_calls(example) if kinds & OF_ANSWER else {}
    return shares | (reference_calls(example) if kinds & OF_REFERENCE else {})


def calls(
    example: Example, params: RagCheckerParams, _judges: int, parts: Collection[str] = tuple(LABELS)
) -> int:
    return sum(shares(example, parts).values()) + checks_of_pairs(example, params, parts)


def checks_of_pairs(
    example: Example, params: RagCheckerParams, parts: Collection[str] = tuple(LABELS)
) -> int:
    by_passages, by_others = _checked(example, parts)
    passages = [context.text for context in example.contexts]
    calls = 0
    for claims in by_passages:
        if params.plan == "joint":
            calls += joint_calls(passages, claims, params.batch)
        else:
            calls += sum(relation_calls(passage, claims, params.batch) for passage in passages)
    return calls + sum(relation_calls(text, claims, params.batch) for text, claims in by_others)


def pairs_checked(
    example: Example, _params: RagCheckerParams, parts: Collection[str] = tuple(LABELS)
) -> int:
    by_passages, by_others = _checked(example, parts)
    passages = sum(bool(context.text.strip()) for context in example.contexts)
    return passages * sum(by_passages) + sum(claims for text, claims in by_others if text.strip())


def _checked(example: Example, parts: Collection[str]) -> tuple[list[int], list[tuple[str, int]]]:
    """How many claims of the answer and of the reference are checked against all passages, and each other text with
    how many are checked against it. The claims are not known before the first call; there are about as many as
    sentences."""
    kinds = {
        kind for kind in kinds_of(example, parts) if getattr(example, CARRIED_IN[kind]) is None
    }
    own_count = len(
        example.claims if example.claims is not None else sentences(example.answer or "")
    )
    if example.reference_claims is not None:
        expected = [len(example.reference_claims)]
    else:
        expected = [len(sentences(reference)) for reference in example.references]
    counts = (("supported", own_count), ("retrieved", sum(expected)))
    by_others = []
    if "right" in kinds:
        by_others += [(reference, own_count) for reference in example.references]
    if "recalled" in kinds:
        by_others += [(example.answer or "", claims) for claims in expected]
    return [claims for kind, claims in counts if kind in kinds], by_others
