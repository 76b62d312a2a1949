"""Reasoning models: thinking kept apart, room for it, and parameters that they do not take, over real connections."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.asking import behind_a_client
from tests.wire import Server, serve

from longmark.errors import RequestRefused
from longmark.models.budget import Budget
from longmark.models.client import Client, UsageLog
from longmark.models.http import Endpoint
from longmark.models.http_models import HttpChat
from longmark.models.protocols import ChatReply, ChatRequest, Message
from longmark.models.settings import ModelSettings
from longmark.records.thinking import Parts, split


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("85", Parts("", "85")),
        ("<think>hm</think>85", Parts("hm", "85")),
        ("\n<think>\nis it 20?\n</think>\n\n85", Parts("is it 20?", "85")),
        ("<think>it never ends", Parts("it never ends", "")),
        ("<think>", Parts("", "")),
        ("is it 20?\n</think>\n\n85", Parts("is it 20?", "85", inside=True)),
        # a model that thinks about an answer which holds a closing tag
        ("<think>\nit says </think>100\nno\n</think>\n20", Parts("it says </think>100\nno", "20")),
        # JSON of a model that does not think, about an answer with a tag
        ('{"claim": "it says </think> here"}', Parts("", '{"claim": "it says </think> here"}')),
        ("[THINK]hm[/THINK]85", Parts("hm", "85")),
        (
            "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>85<|return|>",
            Parts("<|channel|>analysis<|message|>hm<|end|><|start|>assistant", "85"),
        ),
        ("<|channel|>analysis<|message|>hm", Parts("<|channel|>analysis<|message|>hm", "")),
    ],
)
def test_a_text_is_split_into_thinking_and_answer(text: str, parts: Parts) -> None:
    assert split(text) == parts


plain = st.text(st.characters(exclude_categories=["Cs"])).filter(
    lambda text: "think>" not in text.lower()
)


@given(thinking=plain, answer=plain)
def test_whatever_stands_after_the_thinking_is_the_answer(thinking: str, answer: str) -> None:
    assert split(f"<think>{thinking}</think>{answer}") == Parts(thinking.strip(), answer.strip())


REQUEST = ChatRequest((Message("user", "How good is it, from 0 to 100?"),), max_tokens=64)


def _asked(
    server: Server,
    count: int = 1,
    *,
    model: str = "m",
    settings: ModelSettings | None = None,
    **options: Any,
) -> list[ChatReply | BaseException]:
    """The replies to so many different requests at once, through a client without a cache."""

    async def ask(client: Client) -> list[ChatReply | BaseException]:
        chat = HttpChat(Endpoint(server.base_url), model, model, settings or ModelSettings())
        client.budget = options.get("budget", client.budget)
        calls = (
            client.chat(chat, ChatRequest(REQUEST.messages, max_tokens=64, sample=n), UsageLog())
            for n in range(count)
        )
        replies = await asyncio.gather(*calls, return_exceptions=True)
        await chat.close()
        return replies

    return asyncio.run(behind_a_client(ask))


def _limits(server: Server) -> list[int]:
    return [
        body.get("max_completion_tokens", body.get("max_tokens")) for _, _, body in server.requests
    ]


@pytest.mark.parametrize("shown", ["reasoning_content", "reasoning", "tags", "closing", "nowhere"])
def test_an_unknown_model_that_thinks_gets_more_room_after_its_first_reply(shown: str) -> None:
    with serve(reply="85", thinks=900, shown=shown) as server:
        replies = _asked(server, 5)
    assert [reply.text for reply in replies if isinstance(reply, ChatReply)] == ["85"] * 5
    beginnings = {reply.thinking[:7] for reply in replies if isinstance(reply, ChatReply)}
    assert beginnings == ({""} if shown == "nowhere" else {"hm0 hm1"})
    assert sorted(_limits(server)).count(64) <= 5  # those that were under way at once
    assert set(_limits(server)) == {64, 7664}


def test_room_that_helped_is_given_at_once_from_then_on() -> None:
    async def in_turn(client: Client) -> None:
        chat = HttpChat(Endpoint(server.base_url), "m", "m")
        for n in range(3):
            await client.chat(
                chat, ChatRequest(REQUEST.messages, max_tokens=64, sample=n), UsageLog()
            )
        assert (client.counts.requests, client.counts.calls, client.counts.faults) == (4, 3, 0)
        assert (
            client.counts.completion_tokens == 64 + 3 * 902
        )  # the reply that was cut off is paid, too
        await chat.close()

    with serve(reply="85", thinks=900) as server:
        asyncio.run(behind_a_client(in_turn))
    assert _limits(server) == [64, 7664, 7664, 7664]


def test_a_known_model_has_room_from_the_first_request_on() -> None:
    with serve(reply="85", thinks=900) as server:
        [reply] = _asked(server, model="Qwen/Qwen3-8B")
    assert isinstance(reply, ChatReply)
    assert reply.text == "85"
    [(_, _, body)] = server.requests
    assert body["max_tokens"] == 7664
    assert "temperature" not in body


def test_what_the_user_sets_is_what_is_sent() -> None:
    settings = ModelSettings(
        temperature=0.6, thinking_tokens=500, max_tokens=100, body={"reasoning_effort": "low"}
    )
    with serve(reply="85", thinks=900) as server:
        [reply] = _asked(server, model="qwen3", settings=settings)
    assert isinstance(reply, ChatReply)
    assert reply.cut_while_thinking
    [(_, _, body)] = server.requests
    assert (body["max_tokens"], body["temperature"], body["reasoning_effort"]) == (600, 0.6, "low")


def test_a_model_that_never_stops_thinking_is_not_called_any_more() -> None:
    with serve(thinks=10**6) as server:
        replies = _asked(server, 40)
    cut = [reply for reply in replies if isinstance(reply, ChatReply)]
    refused = [reply for reply in replies if isinstance(reply, RequestRefused)]
    assert len(cut) + len(refused) == 40
    assert all(reply.cut_while_thinking for reply in cut)
    assert "cut off while it was thinking" in str(refused[0])
    assert _limits(server).count(7664) == 3  # more room was tried three times
    assert len(server.requests) <= 16 + 5 + 3


def _writes(text: str) -> Any:
    """An endpoint of a model without thinking that writes 300 times the text, as far as it may."""

    def prose(_n: int, _path: str, request: dict[str, Any]) -> tuple[int, bytes, str]:
        n = min(300, request["max_tokens"])
        choice = {
            "message": {"content": text * n},
            "finish_reason": "length" if n < 300 else "stop",
        }
        return (
            200,
            orjson.dumps(
                {"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": n}}
            ),
            "",
        )

    return serve(answer=prose)


def test_a_plain_model_whose_text_is_too_long_keeps_its_limit() -> None:
    with _writes("well ") as server:
        replies = _asked(server, 3)
    assert all(isinstance(reply, ChatReply) for reply in replies)
    cut = {
        (reply.text, reply.finish, reply.thinking)
        for reply in replies
        if isinstance(reply, ChatReply)
    }
    assert cut == {("well " * 64, "length", "")}
    assert sorted(_limits(server)) == [
        64,
        64,
        64,
        7664,
    ]  # only the first one was tried with more room


def test_a_model_that_did_not_think_is_not_tried_again_by_the_next_command() -> None:
    learnt = set[tuple[str, str]]()

    async def command(client: Client) -> None:
        chat = HttpChat(
            Endpoint(server.base_url, known=lambda *fact: fact in learnt, remember=remember),
            "m",
            "m",
        )
        await client.chat(chat, REQUEST, UsageLog())
        await chat.close()

    def remember(*fact: str) -> None:
        learnt.add(fact)  # type: ignore[arg-type]

    with _writes("well ") as server:
        for _ in range(2):
            asyncio.run(behind_a_client(command))
    assert _limits(server) == [64, 7664, 64]


def test_white_space_is_no_thinking() -> None:
    """A small model that writes line feeds until its limit: more room would give more of them."""
    with _writes("\n") as server:
        [reply] = _asked(server)
    assert isinstance(reply, ChatReply)
    assert (reply.text, reply.finish) == ("\n" * 64, "length")
    assert _limits(server) == [64]


def test_room_is_reserved_in_the_budget() -> None:
    with serve(reply="85", thinks=900) as server:
        [reply] = _asked(server, model="qwen3", budget=Budget(max_tokens=5000))
    assert "does not allow another call" in str(reply)
    assert not server.requests


@pytest.mark.parametrize(("model", "before"), [("qwen3", [7664]), ("m", [64, 7664])])
def test_room_is_made_smaller_where_the_context_window_is(model: str, before: list[int]) -> None:
    with serve(reply="85", thinks=900, window=4096) as server:
        [reply] = _asked(server, model=model)
    assert isinstance(reply, ChatReply)
    assert reply.text == "85"
    *first, last = _limits(server)
    assert first == before
    assert 900 < last <= 4096 - 64


def test_an_endpoint_says_how_long_a_reply_may_be() -> None:
    with serve(reply="85", thinks=900, longest=4000) as server:
        [reply] = _asked(server, model="qwen3")
    assert isinstance(reply, ChatReply)
    assert reply.text == "85"
    assert _limits(server) == [7664, 2048]


def test_a_refused_temperature_is_left_out_until_it_is_settled() -> None:
    async def in_turn(client: Client) -> None:
        chat = HttpChat(Endpoint(server.base_url), "m", "m")
        assert chat.settled == []
        await client.chat(chat, ChatRequest(REQUEST.messages, sample=1), UsageLog())
        assert chat.settled == ["no temperature"]
        await chat.close()
        other = HttpChat(Endpoint(server.base_url), "m", "m")
        other.settle([])
        with pytest.raises(RequestRefused, match="'temperature' does not support"):
            await client.chat(other, ChatRequest(REQUEST.messages, sample=2), UsageLog())
        named = HttpChat(Endpoint(server.base_url), "m", "m", ModelSettings(temperature=0.3))
        with pytest.raises(RequestRefused, match="'temperature' does not support"):
            await client.chat(named, ChatRequest(REQUEST.messages, sample=3), UsageLog())
        for chat in (other, named):
            await chat.close()

    with serve(temperature=False, completion_tokens=True, reply="85") as server:
        asyncio.run(behind_a_client(in_turn))


def test_twenty_first_calls_at_once_learn_what_is_not_taken_from_two_refusals() -> None:
    with serve(temperature=False, completion_tokens=True, reply="85", latency=0.01) as server:
        replies = _asked(server, 20)
    assert [reply.text for reply in replies if isinstance(reply, ChatReply)] == ["85"] * 20
    assert server.counts["by_status"] == {"400": 2, "200": 20}


def test_a_temperature_out_of_range_is_the_users_mistake() -> None:
    def refuse(_n: int, _path: str, request: dict[str, Any]) -> tuple[int, bytes, str] | None:
        told = b'{"error": {"message": "temperature must be between 0 and 1"}}'
        return (400, told, "") if request.get("temperature", 0) > 1 else None

    with serve(answer=refuse) as server:
        chat = HttpChat(Endpoint(server.base_url), "m", "m")
        request = ChatRequest(REQUEST.messages, temperature=1.5)

        async def ask(client: Client) -> None:
            with pytest.raises(RequestRefused, match="between 0 and 1"):
                await client.chat(chat, request, UsageLog())
            await chat.close()

        asyncio.run(behind_a_client(ask))
    assert len(server.requests) == 1


def test_a_model_that_refuses_its_first_twenty_calls_gets_no_more() -> None:
    def refuse(_n: int, _path: str, _request: Any) -> tuple[int, bytes, str]:
        return 400, b'{"error": {"message": "this project may not use the model"}}', ""

    with serve(answer=refuse) as server:
        replies = _asked(server, 60)
    assert all("may not use the model" in str(reply) for reply in replies)
    assert 20 <= len(server.requests) <= 20 + 15


def test_calls_are_refused_one_by_one_where_the_model_has_replied() -> None:
    def refuse(n: int, _path: str, _request: Any) -> tuple[int, bytes, str] | None:
        return (400, b'{"error": {"message": "no"}}', "") if n else None

    with serve(answer=refuse) as server:
        assert len(_asked(server, 60)) == 60
    assert len(server.requests) == 60
