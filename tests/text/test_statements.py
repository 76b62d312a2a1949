"""Statements with types: listed once for every family, revised, divided, each once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from longmark.errors import NoScore
from longmark.models.protocols import ChatRequest
from longmark.testing import FakeChat, call
from longmark.text.claims import PIECE, claims
from longmark.text.statements import TextStatement, once, revised, statements


def revision(*items: tuple[int, str, str]) -> str:
    return json.dumps(
        {"revised": [{"from": n, "text": text, "type": kind} for n, text, kind in items]}
    )


def judge(
    revision_reply: Any, claims_reply: str = '{"claims": ["He wrote A and B.", "Read it!"]}'
) -> FakeChat:
    def reply(request: ChatRequest) -> str:
        task = request.messages[1].content
        if "List the claims" in task or "List the facts" in task:
            return claims_reply
        if "Divide the text into units" in task:
            return json.dumps(
                {
                    "units": [
                        {"text": "He wrote A and B.", "type": "fact"},
                        {"text": "Hi!", "type": "meta"},
                    ]
                }
            )
        return str(revision_reply)

    return FakeChat(reply)


REVISED = revision(
    (1, "Orwell wrote A.", "fact"), (1, "Orwell wrote B.", "fact"), (2, "Read it!", "instruction")
)


def test_statements_are_revised_divided_and_typed():
    one = judge(REVISED)
    found = call(
        lambda models: statements(models, "Orwell … He wrote A and B. Read it!"), judge=one
    )
    assert found == [
        TextStatement("Orwell wrote A.", "fact"),
        TextStatement("Orwell wrote B.", "fact"),
        TextStatement("Read it!", "instruction"),
    ]
    shown = one.requests[1].messages[1].content
    assert "1. He wrote A and B.\n2. Read it!\n" in shown
    assert "Orwell …" in shown


def test_the_list_of_an_answer_is_the_one_that_other_metrics_ask_for():
    one = judge(REVISED)

    async def both(models: Any) -> None:
        await claims(models, "An answer.")
        await statements(models, "An answer.")

    call(both, judge=one)
    assert len(one.requests) == 2  # the list once, and the revision


def test_a_passage_has_its_facts_and_typed_extraction_its_units():
    one = judge(revision((1, "F", "claim")), '{"facts": ["f"]}')
    assert call(lambda m: statements(m, "text", "context"), judge=one) == [
        TextStatement("F", "claim")
    ]
    two = judge(revision((1, "A.", "claim"), (1, "B.", "claim"), (2, "Hi!", "other")))
    found = call(lambda m: statements(m, "text", "context", "typed"), judge=two)
    assert found == [
        TextStatement("A.", "fact"),
        TextStatement("B.", "fact"),
        TextStatement("Hi!", "meta"),
    ]  # the unit's own type


def test_a_blank_text_has_none_without_a_call():
    one = judge(REVISED)
    assert call(lambda m: statements(m, " \n"), judge=one) == []
    assert call(lambda m: revised(m, "text", []), judge=one) == []
    assert one.requests == []


@pytest.mark.parametrize(
    "bad",
    [
        revision((1, "A.", "fact")),  # 2 is left out
        revision((1, "A.", "fact"), (3, "B.", "fact")),
        revision((0, "A.", "fact"), (1, "B.", "fact"), (2, "C.", "fact")),
        revision((1, "A.", "opinion"), (2, "B.", "fact")),
        '{"revised": "none"}',
        "[]",
    ],
)
def test_a_wrong_revision_is_requested_once_more(bad: str):
    one = FakeChat([bad, REVISED])
    listed = [TextStatement("He wrote A and B."), TextStatement("Read it!")]
    assert len(call(lambda m: revised(m, "text", listed), judge=one)) == 3
    assert "could not use that reply" in one.requests[1].messages[-1].content


def test_what_a_second_reply_leaves_out_is_dropped_but_a_wrong_number_is_unscored():
    listed = [TextStatement("a"), TextStatement("b")]
    short = FakeChat([revision((2, "B", "fact"))] * 2)
    assert call(lambda m: revised(m, "text", listed), judge=short) == [TextStatement("B", "fact")]
    with pytest.raises(NoScore):
        call(lambda m: revised(m, "text", listed), judge=FakeChat([revision((9, "B", "fact"))] * 2))


def test_five_hundred_statements_in_ten_languages_keep_their_order():
    words = ("river", "río", "Fluß", "река", "河", "川", "강", "نهر", "נהר", "नदी")
    listed = [TextStatement(f"{words[n % 10]} {n}") for n in range(500)]

    def echo(request: ChatRequest) -> str:
        lines = (
            request.messages[1]
            .content.split("<statements ")[1]
            .split("</statements")[0]
            .splitlines()[1:]
        )
        return revision(
            *((int(n), text, "fact") for n, text in (line.split(". ", 1) for line in lines))
        )

    assert [one.text for one in call(lambda m: revised(m, "t", listed), judge=FakeChat(echo))] == [
        o.text for o in listed
    ]


def test_a_long_text_is_listed_and_revised_in_pieces():
    text = "\n\n".join(f"Paragraph {n}{' word' * 380}." for n in range(3))

    def reply(request: ChatRequest) -> str:
        shown = request.messages[1].content
        return (
            '{"claims": ["He rules."]}'
            if "List the claims" in shown
            else revision((1, f"{len(shown)}", "fact"))
        )

    one = FakeChat(reply)
    call(lambda m: statements(m, text), judge=one)
    assert len(one.requests) == 4  # two pieces, a list and a revision each
    assert all(len(request.messages[1].content) < PIECE + 2500 for request in one.requests)


def test_of_equal_statements_the_first_stays():
    listed = [
        TextStatement("It rained.", "fact"),
        TextStatement(" it  RAINED", "claim"),
        TextStatement(" "),
        TextStatement("Sun."),
    ]
    assert once(listed) == [TextStatement("It rained.", "fact"), TextStatement("Sun.")]


def test_without_a_judge_there_is_a_reason():
    with pytest.raises(NoScore, match="add --judge"):
        call(lambda m: statements(m, "text", "context", "typed"))
