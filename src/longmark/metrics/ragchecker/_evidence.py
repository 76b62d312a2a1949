"""What a reader needs to check a score: the claims with their labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from longmark.metrics.ragchecker._labels import LabelledAnswer
from longmark.metrics.ragchecker._parts import Kind
from longmark.metrics.ragchecker._scores import Labels
from longmark.text.entailment import ENTAILS


def evidence_of(
    labelled: LabelledAnswer, answer_list: Sequence[str], expected: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Part of the name -> what a reader needs to check it. precision, recall and faithfulness have all claims with their
    labels, the other scores those claims that their numerator counts; claim_recall those that it does not. Rows of
    earlier versions have of faithfulness the claims that no passage entails alone."""
    checks = labelled.checks
    probabilities = labelled.probabilities
    mine = _rows(answer_list, "reference", checks.right, checks.supported)
    theirs = _rows(expected, "answer", checks.recalled, checks.retrieved)
    rows_of_kind: tuple[tuple[list[dict[str, Any]], str, Kind], ...] = (
        (mine, "reference_probability", "right"),
        (mine, "passages_probability", "supported"),
        (theirs, "answer_probability", "recalled"),
        (theirs, "passages_probability", "retrieved"),
    )
    for rows, name, kind in rows_of_kind:
        for row in rows:
            if (probability := probabilities.get(kind, {}).get(row["claim"])) is not None:
                row[name] = round(probability, 4)
    for rows, sent in ((mine, labelled.sent), (theirs, labelled.sent_of_references)):
        for row in rows:
            if row["claim"] in sent:
                row["sent"] = sent[row["claim"]]
    relevant = {d for row in theirs for d in row["passages"]}
    wrong = [row for row in mine if row["reference"] != ENTAILS]
    noise = [row for row in wrong if row["passages"]]
    in_relevant = [row for row in noise if relevant & set(row["passages"])]
    rows_of_part: dict[str, list[dict[str, Any]]] = {
        "precision": mine,
        "noise_sensitivity_in_relevant": in_relevant,
        "noise_sensitivity_in_irrelevant": [row for row in noise if row not in in_relevant],
        "hallucination": [row for row in wrong if not row["passages"]],
        "self_knowledge": [
            row for row in mine if row["reference"] == ENTAILS and not row["passages"]
        ],
        "faithfulness": mine,
    }
    of_reference = {
        "recall": theirs,
        "claim_recall": [row for row in theirs if not row["passages"]],
        "context_utilization": [
            row for row in theirs if row["passages"] and row["answer"] == ENTAILS
        ],
    }
    part_evidence: dict[str, dict[str, Any]] = {
        "f1": {}
        if answer_list
        else {"rule": "the answer has no claim, so it recalls none of the reference: f1 is 0"},
        "context_precision": {"relevant_passages": sorted(relevant)},
    }
    part_evidence |= {
        name: {"claims": rows, "claims_in_total": len(answer_list)}
        for name, rows in rows_of_part.items()
    }
    part_evidence |= {
        name: {"reference_claims": rows, "claims_in_total": len(expected)}
        for name, rows in of_reference.items()
    }
    return part_evidence


def _rows(
    statements: Sequence[str], by: str, labels: Labels | None, by_passage: Sequence[Labels] | None
) -> list[dict[str, Any]]:
    """Each claim with its label by the reference or the answer, and the numbers of the passages that entail it, as far
    as these labels are known."""
    return [
        {
            "claim": claim,
            by: None if labels is None else labels[i],
            "passages": [d for d, label in enumerate(by_passage[i], 1) if label == ENTAILS]
            if by_passage
            else [],
        }
        for i, claim in enumerate(statements)
    ]
