"""Claims of answers and facts of passages, from judges whose lists are known."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from longmark.errors import NoScore
from longmark.models.protocols import ChatReply, ChatRequest
from longmark.testing import FakeChat, call
from longmark.text.claims import PIECE, PassageFact, claim_calls, claims, fact_calls, facts


def claims_of(text: str, *judges: FakeChat) -> list[str]:
    return call(lambda models: claims(models, text), judge=judges)


def facts_of(passages: Sequence[str], judge: FakeChat) -> list[PassageFact]:
    return call(lambda models: facts(models, passages), judge=judge)


def said(*statements: str, key: str = "claims") -> str:
    return json.dumps({key: statements})


def test_the_first_judge_is_asked_and_sees_the_answer():
    first, second = (
        FakeChat(said("It rained.", "The dam broke.")),
        FakeChat(said("no"), name="second"),
    )
    assert claims_of("Rain broke the dam.", first, second) == ["It rained.", "The dam broke."]
    (request,) = first.requests
    assert "Rain broke the dam." in request.messages[1].content
    assert request.schema is not None
    assert request.temperature == 0
    assert second.requests == []


def test_each_statement_once_and_none_empty():
    judge = FakeChat(said("It rained.", " ", "it  Rained", "It snowed.", "It rained."))
    assert claims_of("…", judge) == ["It rained.", "It snowed."]


@pytest.mark.parametrize("text", ["", " \n "])
def test_a_blank_text_has_none_without_a_call(text: str):
    judge = FakeChat(said("invented"))
    assert claims_of(text, judge) == []
    assert facts_of([text, text], judge) == []
    assert judge.requests == []
    assert claim_calls(text) == fact_calls([text]) == 0


def test_an_answer_without_claims():
    assert claims_of("Hello!", FakeChat(said())) == []


def test_a_long_text_goes_in_pieces_whose_claims_keep_their_order():
    def last_word(request: ChatRequest) -> str:
        piece = request.messages[1].content.split("</answer")[0].split()
        return said(f"It ends with {piece[-1]}", "They share this.")

    judge = FakeChat(last_word)
    text = "\n\n".join(
        f"Paragraph {n} has words{' and words' * 180}, the last one is end{n}" for n in range(6)
    )
    found = claims_of(text, judge)
    # 1,860 bytes a paragraph: two fit into 4,000, so three calls, which end with the paragraphs 1, 3 and 5
    assert len(judge.requests) == claim_calls(text) == 3
    assert found == [
        "It ends with end1",
        "They share this.",
        "It ends with end3",
        "It ends with end5",
    ]


def test_thirty_thousand_words():
    judge = FakeChat(lambda request: said(f"It has {len(request.messages[1].content)} characters."))
    text = " ".join(
        f"{n:05}" for n in range(30_000)
    )  # 6 bytes a word with its space: 666 words a piece
    assert claims_of(text, judge)
    assert len(judge.requests) == 46  # 30,000 / 666 = 45.05
    assert all(len(request.messages[1].content) < PIECE + 2000 for request in judge.requests)


def test_short_passages_share_a_call_and_a_long_one_takes_several():
    judge = FakeChat(said("Dams hold water.", "dams hold water.", key="facts"))
    found = facts_of(["One passage.", "Another.", "A long one. " * 500], judge)
    assert found == [PassageFact("Dams hold water.", (1, 2, 3))]
    assert (
        len(judge.requests) == fact_calls(["One passage.", "Another.", "A long one. " * 500]) == 2
    )
    assert "One passage.\n\nAnother." in judge.requests[0].messages[1].content


def test_where_a_fact_comes_from_is_said_as_far_as_it_is_known():
    short, long = "Dams hold water. Levees  hold\nrivers.", "Sand is dry. " * 500
    judge = FakeChat(
        lambda request: (
            said("levees hold rivers", "Water is held.", "Sand moves.", key="facts")
            if "Dams" in request.messages[1].content
            else said("Sand is dry.", "Sand moves.", key="facts")
        )
    )
    found = facts_of([short, " ", "Dams hold water.", long], judge)
    # The first call holds the passages 1 and 3 and the beginning of 4 (2 is blank), the second only the rest of 4:
    # a sentence of 1 is of 1; what no passage says in these words is of any that was shown; the second call has one.
    assert len(judge.requests) == 2
    assert found == [
        PassageFact("levees hold rivers", (1,)),
        PassageFact("Water is held.", (1, 3, 4)),
        PassageFact("Sand moves.", (1, 3, 4)),
        PassageFact("Sand is dry.", (4,)),
    ]


def test_of_a_single_passage_every_fact_is_certain():
    judge = FakeChat(said("Anything.", key="facts"))
    assert facts_of(["Some text."], judge) == [PassageFact("Anything.", (1,))]


def test_what_cannot_be_read_is_no_list():
    for reply in (
        "1. It rained.",
        '{"claims": "It rained."}',
        ChatReply(said("It"), finish="length"),
    ):
        judge = FakeChat(lambda _request, reply=reply: reply)
        with pytest.raises(NoScore) as unscored:
            claims_of("Rain.", judge)
        assert unscored.value.status == "unparsable"
        assert len(judge.requests) == 2  # asked once more
