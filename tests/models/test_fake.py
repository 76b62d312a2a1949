"""The fakes do what their docstrings say, since users test their own metrics with them."""

from __future__ import annotations

import asyncio
import math

import pytest

from longmark.errors import RateLimited
from longmark.models.fake import FakeChat, FakeEmbedder, FakeLanguageModel, FakeReranker
from longmark.models.protocols import (
    Chat,
    ChatReply,
    ChatRequest,
    Embedder,
    LanguageModel,
    LikelihoodRequest,
    Message,
    Reranker,
    Tokens,
)


def request(text: str, **more: int) -> ChatRequest:
    return ChatRequest((Message("user", text),), **more)  # type: ignore[arg-type]


def say(chat: Chat, text: str, **more: int) -> ChatReply:
    return asyncio.run(chat.chat(request(text, **more)))


def test_a_text_is_always_the_answer() -> None:
    chat = FakeChat("85")
    assert say(chat, "how good is it?") == ChatReply("85", tokens=Tokens(4, 0, 1))
    assert say(chat, "and now?").text == "85"
    assert [r.messages[0].content for r in chat.requests] == ["how good is it?", "and now?"]


def test_without_answers_a_number_that_hangs_on_the_request() -> None:
    texts = [say(FakeChat(), f"question {n}").text for n in range(40)]
    assert texts == [say(FakeChat(), f"question {n}").text for n in range(40)]
    assert all(0 <= int(text) <= 100 for text in texts)
    assert len(set(texts)) > 20
    assert say(FakeChat(), "question 0", sample=1).text != texts[0]


def test_answers_in_order_and_then_no_more() -> None:
    chat = FakeChat(["1", RateLimited("slow down"), ChatReply("", refusal="no")])
    assert say(chat, "a").text == "1"
    with pytest.raises(RateLimited, match="slow down"):
        say(chat, "b")
    assert say(chat, "c").refusal == "no"
    with pytest.raises(LookupError, match="given 3 answers and is asked once more"):
        say(chat, "d")


def test_answers_by_what_occurs_in_the_messages() -> None:
    chat = FakeChat({"levee": "yes", "river": "no"})
    assert say(chat, "the river and the levee").text == "yes"  # the first key decides
    with pytest.raises(LookupError, match="no answer to: rain"):
        say(chat, "rain")


def test_answers_by_a_function() -> None:
    assert say(FakeChat(lambda r: r.messages[0].content.upper()), "abc").text == "ABC"


def test_logprobs() -> None:
    chat = FakeChat(logprobs={"no": -2.0, "yes": -0.1, "maybe": -5.0})
    reply = say(chat, "yes or no?", logprobs=2)
    assert reply.text == "yes"
    assert reply.logprobs[0].top == (("yes", -0.1), ("no", -2.0))
    assert chat.capabilities.logprobs == 20


def test_latency_and_calls_at_once() -> None:
    async def five() -> FakeChat:
        chat = FakeChat("1", latency=0.01)
        await asyncio.gather(*(chat.chat(request(str(n))) for n in range(5)))
        return chat

    chat = asyncio.run(five())
    assert (chat.most_in_flight, chat.in_flight) == (5, 0)


def test_embeddings() -> None:
    embedder: Embedder = FakeEmbedder()
    same, again, other, none = asyncio.run(
        embedder.embed(["The river rose", "rose the RIVER", "wind", ""])
    ).vectors
    assert same == again
    assert abs(sum(a * b for a, b in zip(same, other, strict=True))) < 0.5
    assert all(math.isclose(math.hypot(*vector), 1.0) for vector in (same, other, none))


def test_reranking() -> None:
    reranker: Reranker = FakeReranker()
    # river, rose: both in the first; one in the second: 1 - 0.5; none in the third: 0 - 1
    assert asyncio.run(
        reranker.rerank("river rose", ["the river rose", "a rose", "wind"])
    ).scores == (2.0, 0.5, -1.0)
    told = FakeReranker(lambda query, document: float(len(document)))
    assert asyncio.run(told.rerank("q", ["abc", "a"])).scores == (3.0, 1.0)


def test_likelihoods() -> None:
    model: LanguageModel = FakeLanguageModel(entropy=True)
    reply = asyncio.run(model.likelihood(LikelihoodRequest("The river rose.", "the river fell")))
    assert reply.pieces == ("the", " river", " fell")
    assert reply.logprobs[:2] == (-0.5, -0.5)  # the prompt has them
    assert -4.001 <= reply.logprobs[2] <= -2.0
    assert reply.entropies == tuple(-2 * value for value in reply.logprobs)
    assert asyncio.run(FakeLanguageModel().likelihood(LikelihoodRequest("", "x"))).entropies == ()
