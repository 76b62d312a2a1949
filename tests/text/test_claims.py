"""Claims of answers and facts of passages, from judges whose lists are known."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from longmark.errors import NoScore
from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.fake import FakeChat
from longmark.models.handles import Backends, Models
from longmark.models.protocols import ChatReply, ChatRequest
from longmark.prompts import PromptBook
from longmark.text.claims import PIECE, Fact, claim_calls, claims, fact_calls, facts


def models(tmp_path: Path, *judges: FakeChat) -> Models:
    return Models(Backends(judges=judges), Client(CallCache(tmp_path / "calls.sqlite")), UsageLog(), PromptBook())


def said(*statements: str, key: str = "claims") -> str:
    return json.dumps({key: statements})


def test_the_first_judge_is_asked_and_sees_the_answer(tmp_path: Path):
    first, second = FakeChat(said("It rained.", "The dam broke.")), FakeChat(said("no"), name="second")
    assert asyncio.run(claims(models(tmp_path, first, second), "Rain broke the dam.")) == [
        "It rained.",
        "The dam broke.",
    ]
    (request,) = first.requests
    assert "Rain broke the dam." in request.messages[1].content
    assert request.schema is not None
    assert request.temperature == 0
    assert second.requests == []


def test_each_statement_once_and_none_empty(tmp_path: Path):
    judge = FakeChat(said("It rained.", " ", "it  Rained", "It snowed.", "It rained."))
    assert asyncio.run(claims(models(tmp_path, judge), "…")) == ["It rained.", "It snowed."]


@pytest.mark.parametrize("text", ["", " \n "])
def test_a_blank_text_has_none_without_a_call(tmp_path: Path, text: str):
    judge = FakeChat(said("invented"))
    assert asyncio.run(claims(models(tmp_path, judge), text)) == []
    assert asyncio.run(facts(models(tmp_path, judge), [text, text])) == []
    assert judge.requests == []
    assert claim_calls(text) == fact_calls([text]) == 0


def test_an_answer_without_claims(tmp_path: Path):
    assert asyncio.run(claims(models(tmp_path, FakeChat(said())), "Hello!")) == []


def test_a_long_text_goes_in_pieces_whose_claims_keep_their_order(tmp_path: Path):
    def last_word(request: ChatRequest) -> str:
        piece = request.messages[1].content.split("</answer")[0].split()
        return said(f"It ends with {piece[-1]}", "They share this.")

    judge = FakeChat(last_word)
    text = "\n\n".join(f"Paragraph {n} has words{' and words' * 180}, the last one is end{n}" for n in range(6))
    found = asyncio.run(claims(models(tmp_path, judge), text))
    # 1,860 bytes a paragraph: two fit into 4,000, so three calls, which end with the paragraphs 1, 3 and 5
    assert len(judge.requests) == claim_calls(text) == 3
    assert found == ["It ends with end1", "They share this.", "It ends with end3", "It ends with end5"]


def test_thirty_thousand_words(tmp_path: Path):
    judge = FakeChat(lambda request: said(f"It has {len(request.messages[1].content)} characters."))
    text = " ".join(f"{n:05}" for n in range(30_000))  # 6 bytes a word with its space: 666 words a piece
    assert asyncio.run(claims(models(tmp_path, judge), text))
    assert len(judge.requests) == 46  # 30,000 / 666 = 45.05
    assert all(len(request.messages[1].content) < PIECE + 2000 for request in judge.requests)


def test_short_passages_share_a_call_and_a_long_one_takes_several(tmp_path: Path):
    judge = FakeChat(said("Dams hold water.", "dams hold water.", key="facts"))
    found = asyncio.run(facts(models(tmp_path, judge), ["One passage.", "Another.", "A long one. " * 500]))
    assert found == [Fact("Dams hold water.", (1, 2, 3))]
    assert len(judge.requests) == fact_calls(["One passage.", "Another.", "A long one. " * 500]) == 2
    assert "One passage.\n\nAnother." in judge.requests[0].messages[1].content


def test_where_a_fact_comes_from_is_said_as_far_as_it_is_known(tmp_path: Path):
    short, long = "Dams hold water. Levees  hold\nrivers.", "Sand is dry. " * 500
    judge = FakeChat(
        lambda request: (
            said("levees hold rivers", "Water is held.", "Sand moves.", key="facts")
            if "Dams" in request.messages[1].content
            else said("Sand is dry.", "Sand moves.", key="facts")
        )
    )
    found = asyncio.run(facts(models(tmp_path, judge), [short, " ", "Dams hold water.", long]))
    # The first call holds the passages 1 and 3 and the beginning of 4 (2 is blank), the second only the rest of 4:
    # a sentence of 1 is of 1; what no passage says in these words is of any that was shown; the second call has one.
    assert len(judge.requests) == 2
    assert found == [
        Fact("levees hold rivers", (1,)),
        Fact("Water is held.", (1, 3, 4)),
        Fact("Sand moves.", (1, 3, 4)),
        Fact("Sand is dry.", (4,)),
    ]


def test_of_a_single_passage_every_fact_is_certain(tmp_path: Path):
    judge = FakeChat(said("Anything.", key="facts"))
    assert asyncio.run(facts(models(tmp_path, judge), ["Some text."])) == [Fact("Anything.", (1,))]


def test_what_cannot_be_read_is_no_list(tmp_path: Path):
    for n, reply in enumerate(["1. It rained.", '{"claims": "It rained."}', ChatReply(said("It"), finish="length")]):
        folder = tmp_path / str(n)
        folder.mkdir()
        judge = FakeChat(lambda _request, reply=reply: reply)
        with pytest.raises(NoScore) as gap:
            asyncio.run(claims(models(folder, judge), "Rain."))
        assert gap.value.status == "unparsable"
        assert len(judge.requests) == 2  # asked once more
