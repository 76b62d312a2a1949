"""A reply that is not on the scale that was asked for is no score, in every metric that reads a number."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from longmark import judge
from longmark.judging import Judging
from longmark.models.protocols import ChatReply
from longmark.records import Context, Example, Pair, Row, Signature, Usage
from longmark.scores.observations import Observations
from longmark.testing import FakeChat, score_sync
from longmark.text.entailment import LABELS
from longmark.text.relation_replies import labels_reader

EXAMPLE = Example(
    question="Why is the sky blue?",
    answer="Air scatters blue light more.",
    references=("Rayleigh scattering.",),
    contexts=(Context(text="Air scatters blue light."),),
)
PERCENT = (
    "ccrs.answer_correctness",
    "ccrs.contextual_coherence",
    "ccrs.information_density",
    "ccrs.information_recall",
    "ccrs.question_relevance",
)
OFF_PERCENT = (
    "0.8",
    "1.0",
    "0.05",
    "score: 0.9",
    "0.8/100",
    "8/10",
    "85/1000",
    "0.8/1",
    "101",
    "-1",
    "-0.5",
    "100.5",
)
OFF_OTHERS = {
    "0-30": ("0.8", "1.0", "8/100", "8/10", "31", "score: 12/100"),
    "-20 to 20": ("0.5", "-0.5", "1.0", "-1.0", "5/100", "21"),
}


def rubric(folder: Path, scale: str) -> str:
    (folder / "own.yaml").write_text(f"name: own\nquestion: How good is it?\nscale: {scale}\n")
    return str(folder / "own.yaml")


def scored(metric: str, reply: str, *, reasons: bool) -> Any:
    """reasons: the number stands in the JSON object that is asked for, where a number is written as it is."""
    if reasons:
        number = reply.removeprefix("score: ")
        number = number if "/" not in number else json.dumps(number)
        reply = '{"reason": "It answers.", "quotes": [], "score": ' + number + "}"
    fake = FakeChat(reply)
    (found,) = score_sync(metric, EXAMPLE, judge=fake, judging=Judging(reasons=reasons)).values()
    return found, len(fake.requests)


@pytest.mark.parametrize("reasons", [False, True])
@pytest.mark.parametrize("metric", PERCENT)
def test_a_reply_off_a_scale_of_100_is_asked_for_once_more_and_then_unparsable(
    metric: str, reasons: bool
):
    for reply in OFF_PERCENT:
        found, calls = scored(metric, reply, reasons=reasons)
        assert (found.status, calls) == ("unparsable", 2), reply
    assert (
        "0.8 looks like a share of 1, and the scale is from 0 to 100"
        in scored(metric, "0.8", reasons=reasons)[0].reason
    )


@pytest.mark.parametrize("reasons", [False, True])
@pytest.mark.parametrize("scale", OFF_OTHERS)
def test_a_reply_off_the_scale_of_a_rubric_is_unparsable(tmp_path: Path, scale: str, reasons: bool):
    for reply in OFF_OTHERS[scale]:
        found, calls = scored(rubric(tmp_path, scale), reply, reasons=reasons)
        assert (found.status, calls) == ("unparsable", 2), reply


@pytest.mark.parametrize("reasons", [False, True])
@pytest.mark.parametrize(
    ("scale", "reply", "score"),
    [
        ("0-100", "0", 0),
        ("0-100", "1", 1),
        ("0-100", "0.0", 0),
        ("0-100", "72.5", 72.5),
        ("0-100", "85/100", 85),
        ("0-30", "8/30", 8),
        ("0-30", "score: 12 / 30", 12),
        ("-20 to 20", "-20", -20),
        ("0-100", "80.0", 80),
        ("1-5", "4", 4),
    ],
)
def test_a_reply_on_the_scale_is_read(
    tmp_path: Path, scale: str, reply: str, score: float, reasons: bool
):
    found, calls = scored(rubric(tmp_path, scale), reply, reasons=reasons)
    assert (found.value, calls) == (score, 1)


def test_a_label_of_a_scale_may_be_written_as_a_decimal_in_json(tmp_path: Path):
    assert scored(rubric(tmp_path, "1-5"), "4.0", reasons=True)[0].value == 4
    assert scored(rubric(tmp_path, "1-5"), "1.0", reasons=True)[0].value == 1


@pytest.mark.parametrize("reply", ["score: 0.8", "score: 6", "score: 4/100", "score: 4/10"])
def test_a_rating_of_refer_off_its_scale_is_unparsable(reply: str):
    pair = Pair(id="p", question="Why?", a="Because of air.", b="Because of dust.")
    found = score_sync("pairs.refer", pair, judge=FakeChat(f"It is fine.\n{reply}"))["pairs.refer"]
    assert found.status == "unparsable"


def test_ratings_of_refer_may_have_decimals_and_name_the_top_of_the_scale():
    for reply, value in (("score: 3.5", 3.5), ("score: 1.0", 1.0), ("score: 4/5", 4.0)):
        assert judge.number(1, 5).read(ChatReply(f"It is fine.\n{reply}")) == value


def test_true_is_no_grade_of_a_question():
    from longmark.metrics.comprehensiveness._questions import _answers_reader

    reader = _answers_reader(1)
    assert (
        len(
            reader.read(
                ChatReply('{"answers": [{"question": 1, "answer": "Air.", "confidence": 5}]}')
            )
        )
        == 1
    )
    for grade in ("true", "0.8", "0", "6", '"4/5"'):
        with pytest.raises(judge.Unreadable):
            reader.read(
                ChatReply(
                    '{"answers": [{"question": 1, "answer": "Air.", "confidence": ' + grade + "}]}"
                )
            )


def test_the_case_of_a_checkers_label_does_not_matter():
    reader = labels_reader(3, LABELS)
    given = reader.read(ChatReply('{"1": "Entails", "2": " NEUTRAL", "3": "contradicts"}'))
    assert given == ["entails", "neutral", "contradicts"]
    with pytest.raises(judge.Unreadable, match="'entailed' is not one of"):
        reader.read(ChatReply('{"1": "entailed", "2": "neutral", "3": "neutral"}'))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((0.01, 0.008, 0.0), True),
        ((0.01, 0.01), False),
        ((0.0,) * 5, False),
        ((0.01, 0.01, 0.8), False),
    ],
)
def test_a_run_whose_scores_are_all_below_1_of_100_says_so(values: tuple[float, ...], said: bool):
    """A judge that replies 0 and 1 means shares, or no and yes; an older run can hold .008 for a share of .8."""
    signature = Signature(version="1", models={"judge": ["m"]})
    rows = [
        Row(
            example_id=str(place),
            question_id=str(place),
            metric="ccrs.question_relevance",
            system="",
            score=value,
            status="ok",
            reason=None,
            evidence={},
            usage=Usage(),
            signature=signature,
        )
        for place, value in enumerate(values)
    ]
    with Observations() as observations:
        observations.add_rows(rows, Path("runs/first"))
        told = [one for one in observations.notices if "replied with shares of 1" in one]
    assert bool(told) is said
    if said:
        assert told == [
            "All 3 scores of ccrs.question_relevance in first are at most 0.01: its judge seems to have replied with "
            "shares of 1, where a whole number from 0 to 100 was asked for."
        ]
