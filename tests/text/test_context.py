"""What stands before a claim that is not understood by itself."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from longmark.contrib.local.checker_form import checker_settings
from longmark.models.protocols import Capabilities, RelationReply
from longmark.records import Context, Example
from longmark.testing import score_sync
from longmark.text.calibration import CalibratedChecker, CheckerCalibration
from longmark.text.context import in_context, points_back, sent_with

ANSWER = "The dam broke in June [1]. It flooded two towns [2]. Nobody was charged."
QUESTION = "Did the dam break?"


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("This flooded two towns.", True),
        ("Yes, it broke.", True),
        ("“It” is a pronoun.", True),
        ("THEIR towns were flooded.", True),
        ("However, the dam held.", False),
        ("Italy built it.", False),
        ("The dam broke, and it flooded two towns.", False),
        ("1972 was the year.", False),
        ("", False),
    ],
)
def test_which_claims_point_back(claim: str, expected: bool) -> None:
    assert points_back(claim) is expected


def test_a_claim_that_points_back_goes_behind_the_sentence_before_it_without_its_citations() -> (
    None
):
    claims = ["It flooded two towns.", "Nobody was charged."]
    assert in_context(claims, ANSWER, QUESTION) == {
        "It flooded two towns.": "The dam broke in June. It flooded two towns."
    }


def test_the_first_claim_goes_behind_the_question_and_without_one_alone() -> None:
    claims = ["Yes, the dam broke."]
    assert in_context(claims, "Yes, the dam broke. Rain fell.", QUESTION) == {
        "Yes, the dam broke.": "Did the dam break? Yes, the dam broke."
    }
    assert in_context(claims, "Yes, the dam broke. Rain fell.", None) == {}


def test_a_claim_that_the_text_does_not_have_as_a_sentence_goes_behind_the_claim_before_it() -> (
    None
):
    claims = ["The dam broke in June.", "It drowned fields.", "It drowned fields."]
    assert in_context(claims, ANSWER, QUESTION) == {
        "It drowned fields.": "The dam broke in June. It drowned fields."
    }


def test_only_a_checker_that_asks_for_context_gets_it() -> None:
    class Asks:
        context = True

    claims = ["It flooded two towns."]
    assert sent_with(Asks(), claims, ANSWER, None) == in_context(claims, ANSWER, None)
    assert sent_with(CalibratedChecker(Asks(), CheckerCalibration(())), claims, ANSWER, None) != {}  # type: ignore[arg-type]
    assert sent_with(object(), claims, ANSWER, None) == {}
    assert sent_with(None, claims, ANSWER, None) == {}


def test_the_setting_is_part_of_the_checkers_name() -> None:
    assert (
        checker_settings("embedded@context=before").name == "embedded@threshold=0.5,context=before"
    )
    assert checker_settings("embedded@context=none").name == "embedded@threshold=0.5"


class Whole:
    """Supports a text that is `The dam broke in June. It flooded two towns.` or a part of what the premise says."""

    name, identity, piece, context = "whole", "whole", 1000, True
    width: int | None = None
    capabilities = Capabilities()

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    async def classify(self, premise: str, hypotheses: Sequence[str]) -> RelationReply:
        self.asked += [(premise, hypothesis) for hypothesis in hypotheses]
        entails = [float(" It flooded two towns" in text or text in premise) for text in hypotheses]
        return RelationReply(tuple((share, 0.0, 1 - share) for share in entails))

    async def close(self) -> None: ...


def test_ragchecker_checks_the_claim_in_its_context_and_its_evidence_shows_what_was_sent() -> None:
    checker = Whole()
    example = Example(
        question=QUESTION,
        answer=ANSWER,
        contexts=(Context(text="A dam that broke flooded two towns."),),
        claims=("It flooded two towns.", "Nobody was charged."),
        references=("Nobody was charged.",),
        reference_claims=("Nobody was charged.",),
    )
    found = score_sync("ragchecker", example, checker=checker)
    assert (
        "A dam that broke flooded two towns.",
        "The dam broke in June. It flooded two towns.",
    ) in checker.asked
    assert all(hypothesis != "It flooded two towns." for _, hypothesis in checker.asked)
    assert found["ragchecker.faithfulness"].value == 0.5
    first, second = found["ragchecker.precision"].evidence["claims"]
    assert first["sent"] == "The dam broke in June. It flooded two towns."
    assert "sent" not in second


def test_what_is_found_of_a_reference_does_not_depend_on_an_answer_with_an_equal_claim() -> None:
    class Contains(Whole):
        async def classify(self, premise: str, hypotheses: Sequence[str]) -> RelationReply:
            entails = [float(text in premise) for text in hypotheses]
            return RelationReply(tuple((share, 0.0, 1 - share) for share in entails))

    reference = "A dyke broke in May. It flooded two towns."
    example = Example(
        question=QUESTION,
        answer=ANSWER,
        contexts=(Context(text=reference),),
        claims=("It flooded two towns.",),
        references=(reference,),
        reference_claims=("It flooded two towns.",),
    )
    together = score_sync("ragchecker", example, checker=Contains())
    alone = score_sync("ragchecker.claim_recall", example, checker=Contains())
    assert alone["ragchecker.claim_recall"].value == 1.0
    assert together["ragchecker.claim_recall"].value == 1.0
    assert together["ragchecker.faithfulness"].value == 0.0  # the answer says it of a dam
    (recalled,) = together["ragchecker.recall"].evidence["reference_claims"]
    assert recalled["sent"] == reference


def test_comprehensiveness_decides_on_statements_in_their_context_and_its_premises_stay_as_they_are() -> (
    None
):
    checker = Whole()
    example = Example(
        question=QUESTION,
        answer=ANSWER,
        claims=("The dam broke in June.", "It flooded two towns."),
        contexts=(Context(text="A dam broke. It flooded two towns and a road."),),
        context_claims=(("A dam broke.", "It flooded two towns and a road."),),
    )
    found = score_sync("comprehensiveness.nli", example, {"relevance": 1.0}, checker=checker)[
        "comprehensiveness.nli"
    ]
    hypotheses = {hypothesis for _, hypothesis in checker.asked}
    assert "A dam broke. It flooded two towns and a road." in hypotheses
    assert "It flooded two towns and a road." not in hypotheses
    assert all(not premise.startswith("The dam broke in June. It") for premise, _ in checker.asked)
    assert (
        found.evidence["sent"]["It flooded two towns and a road."]
        == "A dam broke. It flooded two towns and a road."
    )
