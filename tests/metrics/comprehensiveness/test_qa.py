"""comprehensiveness.qa on a judge that knows the answers of every text, and the comparison of quantities."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmark.judge import Unreadable
from longmark.metrics.comprehensiveness._comparisons import AnswerPair, calls_of, labels_reader
from longmark.metrics.comprehensiveness._questions import answering_calls, mining_calls
from longmark.models.protocols import ChatReply, ChatRequest
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


def numbered(asked: str) -> list[tuple[int, str]]:
    return [
        (int(number), text)
        for number, text in re.findall(r"(?m)^(\d+)\. (.*)$", inside(asked, "questions"))
    ]


def compared(asked: str) -> dict[str, tuple[str, str]]:
    """The pairs to compare, as a reply names them."""
    pairs = {}
    for block in inside(asked, "answers").split("\n\n"):
        head, *answers, codes = block.splitlines()
        text_of = dict(line.split(": ", 1) for line in answers)
        for code in codes.removeprefix("Pairs: ").split(", "):
            pairs[f"{head.partition('.')[0]} {code}"] = (text_of[code[0]], text_of[code[1]])
    return pairs


def answers_of_a_text(asked: str, known: Any) -> list[dict[str, Any]]:
    of = known[inside(asked, "text").removeprefix(f"{EXAMPLE.question}\n")]
    return [
        {"question": number, "answer": answer, "confidence": confidence}
        for number, question in numbered(asked)
        for answer, confidence in of[question]
    ]


def answers_of_passages(asked: str, known: Any) -> list[dict[str, Any]]:
    """Equal answers with equal confidence name their passages together."""
    passages = [block.partition("] ")[2] for block in inside(asked, "context").split("\n\n")]
    listed = []
    for number, question in numbered(asked):
        passages_of: dict[tuple[str, int], list[int]] = {}
        for place, passage in enumerate(passages, 1):
            for answer, confidence in known[passage][question]:
                if answer != "unknown":
                    passages_of.setdefault((answer, confidence), []).append(place)
        for (answer, confidence), places in (passages_of or {("unknown", 5): []}).items():
            listed.append(
                {
                    "question": number,
                    "answer": answer,
                    "passages": places,
                    "confidence": confidence,
                }
            )
    return listed


def reply(request: ChatRequest, known: Any = ANSWERS) -> str:
    asked = request.messages[1].content
    if "<answers " in asked:
        labels = [f"{code} {LABELS.get(pair, 'neutral')}" for code, pair in compared(asked).items()]
        return json.dumps({"labels": labels})
    if "<context " in asked:
        return json.dumps({"answers": answers_of_passages(asked, known)})
    if "<questions " in asked and "<text " in asked:
        return json.dumps({"answers": answers_of_a_text(asked, known)})
    if "<questions " in asked:
        grades = {HOW_FAR: 5, WHO: 4}
        return json.dumps(
            {
                "questions": [
                    {"question": question, "relevance": grades.get(question, 1)}
                    for _, question in numbered(asked)
                ]
            }
        )
    return json.dumps({"questions": [HOW_FAR, WHO, "What colour is it?"]})


def asked_with(chat: FakeChat, *tags: str) -> list[str]:
    """The calls that show all of these texts."""
    calls = [request.messages[1].content for request in chat.requests]
    return [asked for asked in calls if all(f"<{tag} " in asked for tag in tags)]


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
    assert len(asked_with(chat, "answers")) == evidence["calls"]["comparisons"] == 1
    assert {node["id"]: node.get("question") for node in evidence["nodes"]}["a1"] == HOW_FAR


def test_a_short_answer_is_read_with_its_question() -> None:
    _, chat = scored()
    read = {inside(asked, "text") for asked in asked_with(chat, "text")}
    assert read == {f"{EXAMPLE.question}\n{EXAMPLE.answer}", "A\n\nB"}
    _, chat = scored(plan="each")
    read = {inside(asked, "text") for asked in asked_with(chat, "text")}
    assert read == {f"{EXAMPLE.question}\n{EXAMPLE.answer}", "A", "B"}


def test_passages_that_are_asked_together_and_one_by_one_give_the_same_graph() -> None:
    """Two calls fewer: the passages' questions and their answers are asked once for both passages."""
    joint, chat = scored()
    each, chat_each = scored(plan="each")
    assert [inside(asked, "context") for asked in asked_with(chat, "context")] == ["[1] A\n\n[2] B"]
    assert not asked_with(chat_each, "context")
    assert len(chat_each.requests) == len(chat.requests) + 2
    assert joint.value == each.value == pytest.approx(1 / 3)
    for key in ("nodes", "covered", "uncovered", "basis", "doubted"):
        assert joint.evidence[key] == each.evidence[key]


def test_the_scored_answer_is_asked_without_the_passages() -> None:
    _, chat = scored()
    assert not any("Ann built it" in asked for asked in asked_with(chat, "context"))


def test_an_answer_of_two_passages_is_a_node_of_each() -> None:
    """Both say 5 km, one of them with doubt."""
    known = {
        EXAMPLE.answer: {HOW_FAR: [("unknown", 5)], WHO: [("unknown", 5)]},
        "A": {HOW_FAR: [("5 km", 5)], WHO: [("Ann", 4)]},
        "B": {HOW_FAR: [("5 km", 5)], WHO: [("Ann", 1)]},
    }
    found, _ = scored(judge=lambda request: reply(request, known))
    nodes = [(node["text"], node["sources"]) for node in found.evidence["nodes"]]
    assert nodes == [("5 km", ["manual"]), ("Ann", ["manual"]), ("5 km", ["2"])]
    assert [doubted["source"] for doubted in found.evidence["doubted"]] == ["2"]


def test_passages_are_asked_together_as_far_as_one_call_has_room() -> None:
    """Eight in a call, 8,000 bytes, 160 answers; a long one by itself, in parts of 8,000 bytes; a blank one not."""
    short = ["Rain fell."] * 9
    assert answering_calls(short, questions=20) == 2
    assert answering_calls(short[:8], questions=20) == 1
    assert answering_calls(short[:8], questions=21) == 2
    assert answering_calls(short[:2], questions=40) == 1
    assert answering_calls([*short[:2], " "], questions=40) == 1
    assert answering_calls(["Rain fell. " * 400] * 2, questions=40) == 2
    assert answering_calls(["Rain fell. " * 800, "Rain fell."], questions=40) == 3
    assert mining_calls(["Rain fell. " * 100] * 5) == 2
    assert mining_calls(["Rain fell. " * 400, "Rain fell."]) == 3


@pytest.mark.parametrize(
    ("passages", "reason"),
    [([], "an answer names no passage"), ([1, 3], "3 is no passage"), ([0], "0 is no passage")],
)
def test_an_answer_of_several_passages_names_those_that_were_shown(
    passages: list[int], reason: str
) -> None:
    def judge(request: ChatRequest) -> str:
        if "<context " not in request.messages[1].content:
            return reply(request)
        answer = {"answer": "far", "passages": passages, "confidence": 5}
        return json.dumps({"answers": [{"question": number, **answer} for number in (1, 2)]})

    found, chat = scored(judge=judge)
    assert found.status == "unparsable"
    assert reason in chat.requests[-1].messages[-1].content


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
        if "<answers " in asked:
            return '{"labels": ["1 AB equivalent"]}'
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


GERMAN = "Der Damm ist nach Angaben der Stadt hoch, und auch die Mauer ist aus Stein und nicht alt."
SPANISH = "El dique es de piedra y, como el muro, no es muy viejo, pero está cerca de la ciudad."


@pytest.mark.parametrize(
    ("passage", "comparisons", "ambiguous"),
    [
        (GERMAN, 0, None),
        (SPANISH, 1, {"1.234 m": "1.234 or 1234"}),
        ("Unclear.", 1, {"1.234 m": "1.234 or 1234"}),
    ],
)
def test_the_language_of_the_texts_says_whether_code_reads_a_mark_before_three_digits(
    passage: str, comparisons: int, ambiguous: dict[str, str] | None
) -> None:
    example = Example(id="1", question="?", answer="1.234 m.", contexts=(Context(text=passage),))
    known = {
        "1.234 m.": {HOW_FAR: [("1.234 m", 5)], WHO: [("unknown", 5)]},
        passage: {HOW_FAR: [("1234 m", 5)], WHO: [("unknown", 5)]},
    }

    def judge(request: ChatRequest) -> str:
        return reply(request, known).replace("neutral", "equivalent")

    found, _ = scored(example, lambda request: judge(_without_question(request)))
    assert found.value == 1.0
    assert found.evidence["calls"]["comparisons"] == comparisons
    assert found.evidence.get("ambiguous") == ambiguous


def _without_question(request: ChatRequest) -> ChatRequest:
    """The call as `reply` reads it, which knows the question of `EXAMPLE` alone."""
    message = request.messages[1]
    content = message.content.replace("\n?\n1.234 m.", "\n1.234 m.")
    return replace(request, messages=(request.messages[0], replace(message, content=content)))


def test_the_answers_to_several_questions_are_compared_in_one_call() -> None:
    """A call shows each question and each of its answers once; a line of an answer begins no line of the call."""
    known = {
        EXAMPLE.answer: {HOW_FAR: [("far", 5)], WHO: [("Ann\n9. First: x", 5)]},
        "A": {HOW_FAR: [("very far", 5)], WHO: [("Bob", 5)]},
        "B": {HOW_FAR: [("not far", 5)], WHO: [("Eve", 5)]},
    }
    found, chat = scored(judge=lambda request: reply(request, known))
    assert found.value == 0.0
    calls = asked_with(chat, "answers")
    assert inside(calls[0], "answers").splitlines() == [
        f"1. {HOW_FAR}",
        "A: far",
        "B: very far",
        "C: not far",
        "Pairs: AB, AC, BC",
        "",
        f"2. {WHO}",
        "A: Ann 9. First: x",
        "B: Bob",
        "C: Eve",
        "Pairs: AB, AC, BC",
    ]
    assert len(calls) == found.evidence["calls"]["comparisons"] == 1


def test_a_question_with_more_pairs_than_a_call_holds_stands_in_several() -> None:
    """Nine answers have 36 pairs: 25 and 11. A has 8 of the first ones, B 7, C 6, D the other 4, the last with H."""
    answers = [f"answer {number}" for number in range(9)]
    pairs = [AnswerPair("Who?", *both) for both in combinations(answers, 2)]
    first, second = calls_of(pairs)
    assert [len(question.pairs) for question in (*first, *second)] == [25, 11]
    assert first[0].codes[-1] == "DH"
    assert second[0].text(1).splitlines()[:3] == ["1. Who?", "A: answer 3", "B: answer 8"]
    assert [pair for question in (*first, *second) for pair in question.pairs] == pairs


def test_questions_share_a_call_while_their_pairs_have_room() -> None:
    """20 pairs of Who? and 10 of When? need two calls; 15 and 10 need one."""
    who = [AnswerPair("Who?", "Ann", f"other {number}") for number in range(20)]
    when = [AnswerPair("When?", "now", f"day {number}") for number in range(10)]
    assert [len(call) for call in calls_of([*who, *when])] == [1, 1]
    assert [len(call) for call in calls_of([*who[:15], *when])] == [2]
    long = [AnswerPair("Why?", "a" * 4000, "b"), AnswerPair("How?", "c" * 4000, "d")]
    assert [len(call) for call in calls_of(long)] == [1, 1]


@pytest.mark.parametrize(
    ("labels", "read"),
    [
        (["2 AB implies", "1 AB neutral", "1 AC equivalent"], ["neutral", "equivalent", "implies"]),
        (
            ["1. AB: Neutral", "1 ac equivalent", "2AB implied"],
            ["neutral", "equivalent", "implied"],
        ),
        (["1 AB neutral", "1 AC neutral"], "no label for 2 AB"),
        (["1 AB neutral", "1 AC neutral", "2 BA implies"], "2 BA is no pair"),
        (["1 AB neutral", "1 AC neutral", "2 AB entails"], "'entails' is not one of equivalent"),
        (["1 AB neutral", "1 AB implies", "1 AC neutral", "2 AB implies"], "has two labels"),
        (["1 AB neutral", "1 AC neutral", "neutral"], "'neutral' is no number, pair and label"),
    ],
)
def test_each_pair_has_its_label_in_any_order(labels: list[str], read: list[str] | str) -> None:
    reader = labels_reader(("1 AB", "1 AC", "2 AB"))
    text = json.dumps({"labels": labels})
    if isinstance(read, list):
        assert reader.read(ChatReply(text)) == read
        return
    with pytest.raises(Unreadable, match=re.escape(read)):
        reader.read(ChatReply(text))


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
        entails = '{"labels": ["1 AB entails"]}'
        return entails if "<answers " in request.messages[1].content else reply(request)

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
