"""The arithmetic of the eleven scores, from the labels of claims (CCRS, appendix D)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from longmark.errors import NoScore
from longmark.metric import ScoreSpec, Why
from longmark.text.entailment import ENTAILS

_WRONG = Why("Claim that the reference does not entail", "claims", ("reference", ENTAILS))
_UNSUPPORTED = Why("Unsupported claim", "claims")


def _spec(summary: str, higher_is_better: bool | None = True, why: Why | None = None) -> ScoreSpec:
    return ScoreSpec((0, 1), higher_is_better, summary, why)


SPECS = {
    "precision": _spec("The share of the answer's claims that the reference entails.", why=_WRONG),
    "recall": _spec(
        "The share of the reference's claims that the answer entails.",
        why=Why("Missing claim", "reference_claims", ("answer", ENTAILS)),
    ),
    "f1": _spec("The harmonic mean of precision and recall."),
    "claim_recall": _spec(
        "The share of the reference's claims that a passage entails.",
        why=Why("Claim that no passage entails", "reference_claims"),
    ),
    "context_precision": _spec("The share of passages that entail a claim of the reference."),
    "context_utilization": _spec(
        "The share of the reference's claims in the passages that the answer entails."
    ),
    "noise_sensitivity_in_relevant": _spec(
        "The share of the answer's claims that are not right and are entailed by a relevant passage.",
        False,
        _WRONG,
    ),
    "noise_sensitivity_in_irrelevant": _spec(
        "The share of the answer's claims that are not right and are entailed by irrelevant passages only.",
        False,
        _WRONG,
    ),
    "hallucination": _spec(
        "The share of the answer's claims that neither the reference nor a passage entails.",
        False,
        _UNSUPPORTED,
    ),
    "self_knowledge": _spec(
        "The share of the answer's claims that the reference entails and no passage does.", None
    ),
    "faithfulness": _spec("The share of the answer's claims that a passage entails."),
}


Labels = Sequence[str]


@dataclass(frozen=True, slots=True)
class Checks:
    """The labels of one answer. None: not given (no reference, no passages).

    right, recalled: the label of each claim of the answer (of the reference) with the reference (the answer) as the
    premise. supported, retrieved: for each claim of the answer (of the reference) a label for each passage.
    """

    right: Labels | None
    recalled: Labels | None
    supported: Sequence[Labels] | None
    retrieved: Sequence[Labels] | None
    passages: int = 0


def ragchecker_scores(checks: Checks) -> dict[str, float | NoScore]:
    """Part of the name -> score in [0, 1], or why there is none (CCRS, appendix D)."""
    no_reference = NoScore("missing_input", "The example has no reference.")
    no_passages = NoScore("missing_input", "The example has no contexts.")
    no_claims = NoScore("undefined", "The answer contains no claim.")
    no_expected = NoScore("undefined", "The reference contains no claim.")
    right = _entailed(checks.right)
    recalled = _entailed(checks.recalled)
    supported = _matrix(checks.supported)
    retrieved = _matrix(checks.retrieved)
    not_given = no_passages if checks.passages == 0 else no_reference
    scores: dict[str, float | NoScore] = dict.fromkeys(SPECS, not_given)
    scores["precision"] = no_reference if right is None else _share(right, no_claims)
    scores["recall"] = no_reference if recalled is None else _share(recalled, no_expected)
    scores["f1"] = 0.0 if right == [] and recalled else _f1(scores["precision"], scores["recall"])
    scores["faithfulness"] = no_passages
    if supported is not None:
        scores["faithfulness"] = _share([any(row) for row in supported], no_claims)
    if right is not None and supported is not None:
        rows = list(zip(right, supported, strict=True))
        scores["hallucination"] = _share([not ok and not any(row) for ok, row in rows], no_claims)
        scores["self_knowledge"] = _share([ok and not any(row) for ok, row in rows], no_claims)
    if retrieved is None:
        return scores
    in_a_passage = [any(row) for row in retrieved]
    relevant = [any(row[d] for row in retrieved) for d in range(checks.passages)]
    scores["claim_recall"] = _share(in_a_passage, no_expected)
    scores["context_precision"] = _share(relevant, no_passages) if retrieved else no_expected
    if recalled is not None:
        used = [
            now for now, retrieved_too in zip(recalled, in_a_passage, strict=True) if retrieved_too
        ]
        none_retrieved = NoScore("undefined", "No passage entails a claim of the reference.")
        scores["context_utilization"] = _share(used, none_retrieved) if retrieved else no_expected
    if right is not None and supported is not None:
        noise = [not ok and any(row) for ok, row in zip(right, supported, strict=True)]
        by_relevant = [
            any(e and r for e, r in zip(row, relevant, strict=True)) for row in supported
        ]
        in_relevant = [noisy and near for noisy, near in zip(noise, by_relevant, strict=True)]
        in_irrelevant = [noisy and not near for noisy, near in zip(noise, by_relevant, strict=True)]
        scores["noise_sensitivity_in_relevant"] = (
            _share(in_relevant, no_claims) if retrieved else no_expected
        )
        scores["noise_sensitivity_in_irrelevant"] = (
            _share(in_irrelevant, no_claims) if retrieved else no_expected
        )
    return scores


def _entailed(labels: Labels | None) -> list[bool] | None:
    return None if labels is None else [label == ENTAILS for label in labels]


def _matrix(labels: Sequence[Labels] | None) -> list[list[bool]] | None:
    return None if labels is None else [[label == ENTAILS for label in row] for row in labels]


def _share(holds: Sequence[bool], empty: NoScore) -> float | NoScore:
    return sum(holds) / len(holds) if holds else empty


def _f1(precision: float | NoScore, recall: float | NoScore) -> float | NoScore:
    """The harmonic mean; 0 if both are 0; the reason of what is missing."""
    if isinstance(precision, NoScore):
        return precision
    if isinstance(recall, NoScore):
        return recall
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
