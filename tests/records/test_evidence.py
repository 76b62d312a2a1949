"""Evidence is read as types: whole, or not at all."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from longmark.records.evidence import (
    Choices,
    Claims,
    DimensionScore,
    Evidence,
    Facts,
    Judgements,
    Labelled,
    Passages,
    Points,
    Questions,
    SideScores,
    Turns,
)

VOTE = {"vote": "yes", "labels": ["yes", None, "no"], "reasons": ["So.", None, ""]}
SEEN: list[tuple[type[Evidence], dict[str, Any]]] = [
    (
        Claims,
        {
            "claims": [{"claim": "Ice fell.", "dimensions": {"hazard": VOTE}}],
            "weights": {"hazard": 1},
        },
    ),
    (DimensionScore, {"votes": {"yes": 1}, "claims": [{"claim": "Ice fell.", **VOTE}]}),
    (Points, {"points": [{"point": 1, "text": "So.", "delta": -0.1}], "intro": None}),
    (
        Facts,
        {"claims": [{"claim": "Ice fell.", "delta": 0.1, "relative": None}], "confidence": 0.5},
    ),
    (Questions, {"questions": [{"question": "What fell?", "cosine": 0.75}]}),
    (
        Judgements,
        {"judges": [{"model": "m", "score": 1, "text": "100", "distribution": {"yes": 1.0}}]},
    ),
    (
        Choices,
        {"choices": [{"first": "a", "choice": "tie", "votes": ["a", "b"]}], "flipped": False},
    ),
    (SideScores, {"pair": {"a": 0.5, "b": 1}, "a": {}, "b": {}}),
    (Turns, {"turns": [{"who": "critic", "text": "Ice fell."}]}),
    (Passages, {"marked": [{"text": "Ice fell", "label": "hedged"}]}),
    (Labelled, {"people": {"dimension": "hazard", "labels": {"ann": "yes", "bob": 3.5}}}),
]


@pytest.mark.parametrize(("kind", "evidence"), SEEN)
def test_evidence_is_written_as_it_was_read_with_what_no_type_names(
    kind: type[Evidence], evidence: dict[str, Any]
):
    own = evidence | {"a plug-in's own": [1, "x", None]}
    read = kind.of(own)
    assert read is not None
    assert read.evidence() == own
    assert list(read.evidence()) == [
        *(key for key in kind.model_fields if key in evidence),
        "a plug-in's own",
    ]


@pytest.mark.parametrize(("kind", "evidence"), SEEN)
@pytest.mark.parametrize("odd", [5, "no", True, [5], ["no"], {"claim": []}, float("nan")])
def test_evidence_of_another_shape_is_none_and_raises_nothing(
    kind: type[Evidence], evidence: dict[str, Any], odd: Any
):
    for key in (key for key, value in evidence.items() if isinstance(value, list | dict) and value):
        assert kind.of(deepcopy(evidence) | {key: odd}) is None, key


def test_a_number_is_a_number():
    for odd in ("0.5", True, float("inf")):
        assert Facts.of({"claims": [{"claim": "Ice fell.", "delta": odd}]}) is None
    assert Judgements.of({"judges": [{"score": "0.5"}]}) is None
