"""Claims and entailment labels in an example, in our layout or in the layout of RAGChecker's result files.

A claim is a text, or a triplet of subject, relation and object (RAGChecker), which is joined with spaces. A label is
`entails`, `contradicts` or `neutral`, or RAGChecker's `Entailment`, `Contradiction`, `Neutral`; case does not matter.
Labels by passages are a list for each claim, with one label for each passage. Nuggets and criteria are read in
`expected`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from longmark.records.cited import sources_of
from longmark.records.expected import nuggets_of, rubric_of
from longmark.records.values import Problem, found, text

_LABELS = {
    **{label: label for label in ("entails", "contradicts", "neutral")},
    "entailment": "entails",
    "contradiction": "contradicts",
}


def _items(place: str, raw: Any, expected: str) -> list[Any]:
    if not isinstance(raw, list | tuple):
        raise Problem(f"{place}: expected a list of {expected}, found {found(raw)}")
    return list(raw)


def _claim(place: str, raw: Any) -> str:
    triplet = isinstance(raw, list | tuple) and len(raw) == 3
    parts = raw if triplet else [raw]
    joined = " ".join(text(place, part).strip() for part in parts)
    if not joined.strip():
        raise Problem(f"{place}: is empty; remove the claim and its labels")
    return joined


def _label(place: str, raw: Any) -> str:
    label = _LABELS.get(raw.strip().casefold()) if isinstance(raw, str) else None
    if label is None:
        raise Problem(f"{place}: expected entails, contradicts or neutral, found {found(raw)}")
    return label


def _each(
    read_item: Callable[[str, Any], Any], expected: str
) -> Callable[[str, Any], tuple[Any, ...]]:
    """A reader of a list from a reader of its items."""

    def read(place: str, raw: Any) -> tuple[Any, ...]:
        return tuple(
            read_item(f"{place}[{i}]", item) for i, item in enumerate(_items(place, raw, expected))
        )

    return read


_claims = _each(_claim, "claims")
_labels = _each(_label, "labels")
_labels_by_passage = _each(_labels, "lists of labels")

CARRIED: dict[str, Callable[[str, Any], tuple[Any, ...]]] = {
    "claims": _claims,
    "reference_claims": _claims,
    "context_claims": _each(_claims, "lists of claims"),
    "claims_by_reference": _labels,
    "reference_claims_by_answer": _labels,
    "claims_by_contexts": _labels_by_passage,
    "reference_claims_by_contexts": _labels_by_passage,
    "sources": sources_of,
    "nuggets": nuggets_of,
    "criteria": rubric_of,
}
"""Field of an example -> the function that reads its value, from the column's name and the raw value; raises
Problem."""
