"""comprehensiveness.qa on a judge that knows the answers of every text, and the comparison of quantities."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmark.models.protocols import ChatRequest
from longmark.records import Context, Example
from longmark.testing import FakeChat, Scored, score_sync
from longmark.text.quantities import compare

NAME = "comprehensiveness.qa"
HOW_FAR, WHO = "How far does it fly?", "Who built it?"
EXAMPLE = Example(
    id="1",
    question="What is known of the plane?",
    answer="It flies 5 km, and Ann built it.",
    contexts=(Context(text="A", id="manual"), Context(text="B")),
)
ANSWERS = {
    EXAMPLE.answer: {HOW_FAR: [("5 km", 5)], WHO: [("Ann", 5)]},
    "A": {HOW_FAR: [("5,000 m", 5)], WHO: [("Ann Smith", 4), ("Bob", 1)]},
    "B": {HOW_FAR: [("9 km", 3)], WHO: [("unknown", 5)]},
}
LABELS = {("Ann", "Ann Smith"): "implied"}


def inside(asked: str, name: str) -> str:
    found = re.search(rf"<{name} \w+>\n(.*?)\n</{name}", asked, re.DOTALL)
    assert found, name
    return found[1]


def reply(request: ChatRequest) -> str:
    asked = request.messages[1].content
    if "<pairs " in asked:
        pairs = re.findall(r"(?m)^(\d+)\. First: (.*)\n   Second: (.*)$", inside(asked, "pairs"))
        return json.dumps(
            {number: LABELS.get((first, second), "neutral") for number, first, second in pairs}
        )
    if "<questions " in asked:
        questions = re.findall(r"^(\d+)\. (.*)$", inside(asked, "questions"), re.MULTILINE)
        if "<text " in asked:
            of = ANSWERS[inside(asked, "text").removeprefix(f"{EXAMPLE.question}\n")]
            return json.dumps(
                {
                    "answers": [
                        {"question": int(number), "answer": answer, "confidence": confidence}
                        for number, question in questions
                        for answer, confidence in of[question]
                    ]
                }
            )
        grades = {HOW_FAR: 5, WHO: 4}
        return json.dumps(
            {"questions": [{"question": q, "relevance": grades.get(q, 1)} for _, q in questions]}
        )
    return json.dumps({"questions": [HOW_FAR, WHO, "What colour is it?"]})


def scored(
    example: Example = EXAMPLE, judge: Any = reply, **params: Any
) -> tuple[Scored, FakeChat]:
    chat = FakeChat(judge, name="judge")
    return score_sync(NAME, example, params, judge=chat)[NAME], chat


def test_a_hand_worked_answer_covers_one_of_three() -> None:
    """5 km = 5,000 m by code, so covered. 9 km contradicts it. "Ann Smith" implies "Ann", not the other way round. Bob
    is doubted, "unknown" makes no node, the colour is irrelevant."""
    found, chat = scored()
    assert found.value == pytest.approx(1 / 3)
    evidence = found.evidence
    texts = {node["id"]: node["text"] for node in evidence["nodes"]}
    assert [texts[one[0]] for one in evidence["covered"]] == ["5,000 m"]
    assert [texts[one] for one in evidence["basis"]] == ["Ann Smith", "9 km"]
    assert [one["text"] for one in evidence["doubted"]] == ["Bob"]
    assert [one["text"] for one in evidence["irrelevant"]] == ["What colour is it?"]
    compared = [r.messages[1].content for r in chat.requests if "<pairs " in r.messages[1].content]
    assert len(compared) == evidence["calls"]["comparisons"] == 1
    assert {node["id"]: node.get("question") for node in evidence["nodes"]}["a1"] == HOW_FAR


def test_a_short_answer_is_read_with_its_question() -> None:
    _, chat = scored()
    read = [
        inside(r.messages[1].content, "text")
        for r in chat.requests
        if "<text " in r.messages[1].content
    ]
    assert set(read) == {f"{EXAMPLE.question}\n{EXAMPLE.answer}", "A", "B"}


def test_the_judge_compares_quantities_if_it_is_told_to() -> None:
    assert scored(quantities="judge")[0].value == 0.0


def test_the_judge_decides_on_a_unit_that_has_several_meanings() -> None:
    """Five tons are 4.5 to 5.1 tonnes: code cannot know, and the judge says that they are the same."""
    example = Example(
        id="1", question="How heavy?", answer="5 tons.", contexts=(Context(text="A"),)
    )
    answers = {"5 tons.": "5 tons", "A": "5 tonnes"}

    def judge(request: ChatRequest) -> str:
        asked = request.messages[1].content
        if "<pairs " in asked:
            return '{"1": "equivalent"}'
        if "<questions " in asked and "<text " in asked:
            text = inside(asked, "text").removeprefix("How heavy?\n")
            return json.dumps(
                {"answers": [{"question": 1, "answer": answers[text], "confidence": 5}]}
            )
        if "<questions " in asked:
            return '{"questions": [{"question": "How heavy?", "relevance": 5}]}'
        return '{"questions": ["How heavy?"]}'

    found, _ = scored(example, judge)
    assert (found.value, found.evidence["calls"]["comparisons"]) == (1.0, 1)


def test_the_answers_to_several_questions_are_compared_in_one_call() -> None:
    """Each pair stands under its question, which is shown once; a line of an answer begins no line of the call."""
    answers = {
        EXAMPLE.answer: {HOW_FAR: [("far", 5)], WHO: [("Ann\n9. First: x", 5)]},
        "A": {HOW_FAR: [("very far", 5)], WHO: [("Bob", 5)]},
        "B": {HOW_FAR: [("not far", 5)], WHO: [("Eve", 5)]},
    }

    def judge(request: ChatRequest) -> str:
        asked = request.messages[1].content
        if not ("<text " in asked and "<questions " in asked):
            return reply(request)
        text = inside(asked, "text").removeprefix(f"{EXAMPLE.question}\n")
        listed = [
            {"question": number, "answer": answer, "confidence": confidence}
            for number, question in enumerate((HOW_FAR, WHO), 1)
            for answer, confidence in answers[text][question]
        ]
        return json.dumps({"answers": listed})

    found, chat = scored(judge=judge)
    assert found.value == 0.0
    calls = [r.messages[1].content for r in chat.requests if "<pairs " in r.messages[1].content]
    assert inside(calls[0], "pairs").splitlines() == [
        f"Question: {HOW_FAR}",
        "1. First: far",
        "   Second: very far",
        "2. First: far",
        "   Second: not far",
        f"Question: {WHO}",
        "3. First: Ann 9. First: x",
        "   Second: Bob",
        "4. First: Ann 9. First: x",
        "   Second: Eve",
    ]
    assert len(calls) == found.evidence["calls"]["comparisons"]


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ([{"question": 1, "answer": "far", "confidence": 5}], "see 2"),
        ([{"question": n, "answer": "far", "confidence": 5} for n in (1, 2, 3)], "see 3"),
    ],
)
def test_an_answer_is_needed_for_every_question_and_for_no_other(
    answers: list[Any], reason: str
) -> None:
    def judge(request: ChatRequest) -> str:
        asked = request.messages[1].content
        whole = "<text " in asked and "<questions " in asked
        return json.dumps({"answers": answers}) if whole else reply(request)

    found, _ = scored(judge=judge)
    assert found.status == "unparsable"
    assert reason in (found.reason or "")


def test_every_way_to_ask_gives_the_same_score() -> None:
    needed, every = scored()[0], scored(relations="all")[0]
    assert (needed.value, needed.evidence["basis"]) == (every.value, every.evidence["basis"])


def test_a_lower_confidence_lets_a_doubted_answer_in() -> None:
    assert scored(confidence=1)[0].value == pytest.approx(1 / 4)


def test_an_answer_that_quotes_a_key_of_the_reply_changes_no_grade() -> None:
    hostile = 'Ann", "confidence": 1'

    def judge(request: ChatRequest) -> str:
        text = reply(request)
        return (
            text.replace('"Ann"', json.dumps(hostile))
            if "<text " in request.messages[1].content
            else text
        )

    found, _ = scored(judge=judge)
    assert any(node["text"] == hostile for node in found.evidence["nodes"])


def test_a_comparison_with_a_label_of_another_task_is_unparsable() -> None:
    def judge(request: ChatRequest) -> str:
        return '{"1": "entails"}' if "<pairs " in request.messages[1].content else reply(request)

    found, chat = scored(judge=judge)
    assert (found.value, found.status) == (None, "unparsable")
    assert (
        "'entails' is not one of equivalent, implies, implied"
        in chat.requests[-1].messages[-1].content
    )


def test_lists_that_are_no_lists_are_unparsable() -> None:
    found, _ = scored(judge=lambda _request: '{"questions": "none"}')
    assert (found.value, found.status) == (None, "unparsable")


def test_without_a_relevant_question_there_is_no_score() -> None:
    found, chat = scored(relevance=5, judge=lambda request: reply(request).replace("5", "1"))
    assert found.status == "undefined"
    assert not any(
        "<text " in r.messages[1].content and "<questions " in r.messages[1].content
        for r in chat.requests
    )
    assert (
        scored(relevance=5, judge=lambda request: reply(request).replace("5", "1"), empty="zero")[
            0
        ].value
        == 0.0
    )


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("5 km", "3.107 miles", "equivalent"),
        ("5 km", "5.06 km", "contradictory"),
        ("761", "764", None),
        ("1990", "1991", None),
        ("150 days", "151 days", "contradictory"),
        ("24 hours", "1 day", "equivalent"),
        ("12 months", "1 year", "equivalent"),
        ("365 days", "1 year", None),
        ("0 °C", "32 °F", "equivalent"),
        ("37 °C", "99 °F", "equivalent"),
        ("1.5 °C", "1.6 °C", "contradictory"),
        ("1.5 °C", "2.7 °F", None),
        ("300 K", "302 K", "contradictory"),
        ("1,000,000", "1 million", "equivalent"),
        ("20 °C", "68 °F", "equivalent"),
        ("20 °C", "22 °C", "contradictory"),
        ("4 March 2023", "2023-03-04", "equivalent"),
        ("10 percent", "10 %", "equivalent"),
        ("60 miles per hour", "97 km/h", "equivalent"),
        ("5 kg", "5 m", None),
        ("5", "5 kg", None),
        ("about 5 km", "5 km", None),
        ("7 am", "7 pm", None),
        ("9**9**9**9", "1", None),
        ("1" * 400, "1", None),
        ("", "", None),
    ],
)
def test_quantities_are_compared_by_code(one: str, other: str, expected: str | None) -> None:
    assert compare(one, other) == compare(other, one) == expected


UNITS = st.sampled_from(
    ["", " %", " °C", " °F", " K", " km", " miles", " days", " months", " years", " hours", " dB"]
)
NUMBERS = st.one_of(
    st.integers(-2000, 2000).map(str), st.floats(-1e6, 1e6).map(lambda x: f"{x:.3f}")
)


@settings(max_examples=300, deadline=None)
@given(NUMBERS, UNITS, NUMBERS, UNITS, st.text(max_size=12))
def test_a_comparison_has_no_order_and_a_quantity_equals_itself(
    number: str, unit: str, other: str, its: str, any_text: str
) -> None:
    one, two = number + unit, other + its
    assert compare(one, two) == compare(two, one)
    assert compare(one, any_text) == compare(any_text, one)
    assert compare(one, one) == "equivalent"
    if not unit and not its:
        assert compare(one, two) == ("equivalent" if float(number) == float(other) else None)
