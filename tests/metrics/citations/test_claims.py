"""Claims in place of sentences (`unit=claims`): which citations they have, worked by hand; what is asked and carried."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.metrics.citations.test_citations import Letters
from tests.metrics.citations.test_joint import reply

import longmark
from longmark.metrics.citations import METRIC, CitationsParams
from longmark.metrics.citations._claims import origins
from longmark.metrics.citations._support import CitedStatement
from longmark.models.protocols import ChatRequest
from longmark.records import Context, Example
from longmark.testing import FakeChat, Scored, score_sync
from longmark.text.overlap import OverlapChecker

SOURCES = ("a", "b", "c")
ANSWER = "Says a and says b [1][2]. Says c [1]. Says d."
CLAIMS = ("Says a.", "Says b.", "Says c.", "Says d.")


def example(answer: str = ANSWER, claims: Sequence[str] | None = CLAIMS) -> Example:
    contexts = tuple(Context(text=text) for text in SOURCES)
    return Example(
        answer=answer,
        contexts=contexts,
        question="?",
        claims=None if claims is None else tuple(claims),
    )


def scores(example: Example, **params: Any) -> dict[str, Scored]:
    scored = score_sync("citations", example, {"unit": "claims", **params}, checker=Letters())
    return {name.removeprefix("citations."): score for name, score in scored.items()}


def listing(request: ChatRequest) -> str:
    if "List the claims" in request.messages[1].content:
        return json.dumps({"claims": list(CLAIMS)})
    return reply(request)


def test_recall_precision_and_uncited_are_those_of_claims() -> None:
    scored = scores(example())
    # a and b are supported by [1][2], c is not by [1], d cites nothing
    assert scored["recall"].value == 2 / 4
    # [1] is needed by a, [2] by b, though each is redundant for the other; [1] of c supports nothing
    assert scored["precision"].value == 2 / 3
    assert scored["f1"].value == pytest.approx(2 * (1 / 2) * (2 / 3) / (1 / 2 + 2 / 3))
    assert scored["uncited"].value == 1 / 4
    assert scored["uncited"].evidence == {"uncited": ["Says d."], "claims_in_total": 4}


def test_the_evidence_has_each_claim_with_what_its_citations_are_to_it() -> None:
    rows = scores(example())["precision"].evidence["claims"]
    assert [(row["claim"], row["state"]) for row in rows] == [
        ("Says a.", "supported"),
        ("Says b.", "supported"),
        ("Says c.", "not supported"),
        ("Says d.", "not cited"),
    ]
    fates = [[citation["fate"] for citation in row.get("citations", ())] for row in rows]
    assert fates == [["needed", "redundant"], ["redundant", "needed"], ["not supporting"], []]


def test_a_judge_lists_the_claims_in_the_call_that_ragchecker_makes_and_checks_them_in_one() -> (
    None
):
    judge = FakeChat(listing)
    scored = score_sync("citations", example(claims=None), {"unit": "claims"}, judge=judge)
    assert scored["citations.recall"].value == 2 / 4
    counted = METRIC.calls(example(claims=None), CitationsParams(unit="claims"), 1)
    assert len(judge.requests) == counted == 2


def test_claims_that_the_example_carries_are_not_listed(tmp_path: Path) -> None:
    record = {"question": "?", "answer": ANSWER, "contexts": list(SOURCES), "claims": list(CLAIMS)}
    run = longmark.run(
        [record], "citations.recall@unit=claims", checker="overlap", out=tmp_path / "run"
    )
    assert run.counts.calls == 0
    assert [row.status for row in run.rows()] == ["ok"]


def test_without_a_judge_and_claims_there_is_a_reason_and_what_to_do() -> None:
    scored = scores(example(claims=None))
    for part in ("recall", "precision", "f1", "uncited"):
        assert scored[part].status == "missing_input"
        assert "add --judge" in str(scored[part].reason)
    assert scored["resolvable"].value == 1


def test_an_answer_without_claims_is_unscored() -> None:
    assert scores(example(claims=()))["recall"].status == "undefined"


def test_a_claim_with_markers_is_read_without_them() -> None:
    rows = scores(example(claims=("Says a [1][2].",)))["recall"].evidence["claims"]
    assert rows[0]["claim"] == "Says a."


def test_grades_are_of_claims_too() -> None:
    def grades(request: ChatRequest) -> str:
        assert request.schema is not None
        return json.dumps(dict.fromkeys(request.schema["properties"], "partial"))

    scored = score_sync(
        "citations.recall",
        example(),
        {"unit": "claims", "support": "graded"},
        judge=FakeChat(grades),
    )["citations.recall"]
    assert scored.value == 3 * 0.5 / 4


def test_alces_reading_has_sentences_alone() -> None:
    with pytest.raises(ValueError, match="leave out unit=claims"):
        CitationsParams(unit="claims", reading="alce")


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        (["Ice floats on water.", "Salt melts ice."], [0, 1]),
        (["Salt melts ice.", "Ice floats on water."], [1, 0]),  # listed in another order
        (
            ["Ice floats.", "Nothing alike.", "Rain falls."],
            [0, 0, 2],
        ),  # the one of the claim before
        (["Rain falls.", "Rain falls."], [2, 2]),
        ([], []),
    ],
)
def test_a_claim_comes_from_the_sentence_with_most_of_its_words(
    claims: list[str], expected: list[int]
) -> None:
    sentences = [
        CitedStatement(text)
        for text in (
            "Ice floats on water.",
            "Salt melts the ice of roads.",
            "Rain falls in spring.",
        )
    ]
    assert origins(claims, sentences) == expected
    assert origins(claims, []) == [None] * len(claims)


def test_equal_claims_belong_to_the_sentences_that_state_them_and_count_once_in_each() -> None:
    stated_twice = Example(
        question="?",
        answer="Ice floats [2]. Ice floats [1].",
        contexts=(Context(text="Ice floats."), Context(text="Salt melts.")),
        claims=("Ice floats.", "ice floats.", "Ice floats."),
    )
    scores = score_sync("citations", stated_twice, {"unit": "claims"}, checker=OverlapChecker())
    claims = scores["citations.recall"].evidence["claims"]
    assert [claim["state"] for claim in claims] == ["not supported", "supported"]
    assert scores["citations.recall"].value == scores["citations.precision"].value == 1 / 2
