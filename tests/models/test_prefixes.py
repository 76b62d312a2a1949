"""Calls that begin alike: one leads, the others follow when its reply is stored, and none waits in vain."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from itertools import accumulate
from typing import Any

import orjson
import pytest
from tests.models.asking import behind_a_client
from tests.wire import serve

from longmark.errors import RequestRefused
from longmark.models import prefixes
from longmark.models.anthropic import AnthropicChat
from longmark.models.client import Client, UsageLog
from longmark.models.http import Endpoint
from longmark.models.protocols import Capabilities, ChatReply, ChatRequest, Message, Tokens
from longmark.models.settings import ModelSettings
from longmark.prompts import fence

PASSAGES = fence("context", "The levee held for a day. " * 200)  # 5,200 bytes
ANSWER = fence("answer", "It held.")


def request(task: str, passages: str = PASSAGES, answer: str = ANSWER) -> ChatRequest:
    shown = "\n\n".join((passages, answer, task))
    return ChatRequest((Message("system", "You examine texts."), Message("user", shown)))


class HeldVendor:
    """A chat model of an endpoint, whose calls end when the test says so. cached: the prompt tokens that each reply
    reports as served; refused: how many calls are refused. began, ended: the tasks, in order."""

    name = identity = "vendor"
    width = None
    capabilities = Capabilities()

    def __init__(self, cached: int = 1024, refused: int = 0) -> None:
        self.cached = cached
        self.refused = refused
        self.began: list[str] = []
        self.ended: list[str] = []
        self.go = asyncio.Event()

    async def chat(self, request: ChatRequest) -> ChatReply:
        task = request.messages[-1].content.rsplit("\n", 1)[-1]
        self.began.append(task)
        await self.go.wait()
        if self.refused:
            self.refused -= 1
            raise RequestRefused("no such model", 422)
        self.ended.append(task)
        return ChatReply("7", tokens=Tokens(2000, self.cached, 1))

    async def close(self) -> None: ...


async def until(model: HeldVendor, calls: int) -> None:
    """Waits until a model has got so many calls, and then lets all tasks go on as far as they can."""
    for _ in range(5000):
        if len(model.began) >= calls:
            break
        await asyncio.sleep(0.001)
    for _ in range(50):
        await asyncio.sleep(0)


def behind(ask: Any) -> Any:
    async def with_client(client: Client) -> Any:
        return await ask(client)

    return asyncio.run(behind_a_client(with_client))


def calls(client: Client, model: Any, *requests: ChatRequest) -> list[asyncio.Task[ChatReply]]:
    sent: list[Coroutine[Any, Any, ChatReply]] = [
        client.chat(model, one, UsageLog()) for one in requests
    ]
    return [asyncio.ensure_future(one) for one in sent]


async def serve_first(client: Client, model: HeldVendor) -> None:
    """The call of task 1 ends; those after it are held again."""
    (leader,) = calls(client, model, request("1"))
    await until(model, 1)
    model.go.set()
    await leader
    model.go.clear()


def test_the_first_call_of_a_beginning_leads_and_the_others_follow_its_reply():
    async def ask(client: Client) -> None:
        model = HeldVendor()
        tasks = calls(client, model, *(request(f"task {n}") for n in range(5)))
        await until(model, 1)
        assert model.began == ["task 0"]
        model.go.set()
        await asyncio.gather(*tasks)
        assert model.began[0] == model.ended[0] == "task 0"
        assert sorted(model.ended) == [f"task {n}" for n in range(5)]

    behind(ask)


def test_a_follower_is_sent_when_the_reply_of_its_leader_is_stored():
    stored: list[bool] = []

    async def ask(client: Client) -> None:
        class LineReadingVendor(HeldVendor):
            async def chat(self, request: ChatRequest) -> ChatReply:
                lines = client.cache.lines()
                stored.append(bool(lines) and lines[0].replies == 1)
                return await super().chat(request)

        model = LineReadingVendor()
        tasks = calls(client, model, request("first"), request("second"))
        await until(model, 1)
        model.go.set()
        await asyncio.gather(*tasks)

    behind(ask)
    assert stored == [False, True]


def test_a_beginning_that_no_call_waits_for_any_more_is_not_kept_among_the_waiting():
    async def ask(client: Client) -> None:
        model = HeldVendor()
        tasks = calls(client, model, *(request(f"task {n}") for n in range(3)))
        await until(model, 1)
        waiting = client._prefixes[model.identity].waiting
        assert list(waiting.values()) == [2]
        model.go.set()
        await asyncio.gather(*tasks)
        assert waiting == {}

    behind(ask)


def test_calls_that_begin_in_other_ways_or_are_short_go_at_once():
    async def ask(client: Client) -> None:
        model = HeldVendor()
        other = fence("context", "Another levee broke at night. " * 200)
        short = fence("context", "A levee.")
        tasks = calls(
            client,
            model,
            *(request("1"), request("2", other), request("3", short), request("4", short)),
        )
        await until(model, 4)
        assert sorted(model.began) == ["1", "2", "3", "4"]
        model.go.set()
        await asyncio.gather(*tasks)

    behind(ask)


def test_a_beginning_that_was_served_is_waited_for_no_more():
    async def ask(client: Client) -> None:
        model = HeldVendor()
        await serve_first(client, model)
        tasks = calls(client, model, request("2"), request("3"))
        await until(model, 3)
        assert sorted(model.began) == ["1", "2", "3"]
        model.go.set()
        await asyncio.gather(*tasks)

    behind(ask)


def test_a_beginning_is_served_for_four_minutes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(prefixes, "LASTS", 0.0)

    async def ask(client: Client) -> None:
        model = HeldVendor()
        await serve_first(client, model)
        tasks = calls(client, model, request("2"), request("3"))
        await until(model, 2)
        assert model.began == ["1", "2"]
        model.go.set()
        await asyncio.gather(*tasks)

    behind(ask)


def test_after_a_leader_that_failed_the_next_one_leads():
    async def ask(client: Client) -> None:
        model = HeldVendor(refused=1)
        tasks = calls(client, model, *(request(str(n)) for n in range(3)))
        await until(model, 1)
        assert model.began == ["0"]
        model.go.set()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(one).__name__ for one in results] == [
            "RequestRefused",
            "ChatReply",
            "ChatReply",
        ]
        assert model.began[:2] == ["0", "1"]
        assert model.ended[0] == "1"

    behind(ask)


def test_no_call_waits_longer_than_the_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(prefixes, "LONGEST", 0.0)

    async def ask(client: Client) -> None:
        model = HeldVendor()
        tasks = calls(client, model, request("1"), request("2"))
        await until(model, 2)
        assert sorted(model.began) == ["1", "2"]
        model.go.set()
        await asyncio.gather(*tasks)

    behind(ask)


SHORT, LONGER, LONG, LONGEST = (
    fence("context", "Another levee broke. " * count) for count in (240, 500, 1000, 2000)
)
LATER = {  # the beginning that was followed in vain, a later one, and whether calls wait for it
    "as long": (PASSAGES, PASSAGES.replace("held", "fell"), False),
    "shorter": (LONGER, SHORT, False),
    "longer": (SHORT, LONGER, True),
    "longer than any vendor's least": (LONG, LONGEST, False),
}


@pytest.mark.parametrize(("followed", "later", "waits"), LATER.values(), ids=LATER)
def test_where_followers_are_served_nothing_no_call_waits_for_a_beginning_as_long(
    followed: str, later: str, waits: bool
):
    async def ask(client: Client) -> None:
        model = HeldVendor(cached=0)
        count = 1 + prefixes.IN_VAIN
        await follow(client, model, *(request(str(n), followed) for n in range(count)))
        more = calls(client, model, request("a", later), request("b", later))
        await until(model, count + (1 if waits else 2))
        assert sorted(model.began[count:]) == (["a"] if waits else ["a", "b"])
        model.go.set()
        await asyncio.gather(*more)

    behind(ask)


async def follow(client: Client, model: HeldVendor, *requests: ChatRequest) -> None:
    """The first of these requests leads, the others follow it; those after them are held again."""
    begun = len(model.began)
    tasks = calls(client, model, *requests)
    await until(model, begun + 1)
    assert len(model.began) == begun + 1
    model.go.set()
    await asyncio.gather(*tasks)
    model.go.clear()


def test_a_follower_that_is_served_ends_the_count_of_beginnings_as_long():
    async def ask(client: Client) -> None:
        model = HeldVendor(cached=0)
        await follow(client, model, request("0", SHORT), request("1", SHORT))
        await follow(client, model, *(request(f"{n}", LONG) for n in range(2, 5)))
        waits = client._prefixes[model.identity]
        short, *long = waits.in_vain
        assert len(long) == 2
        model.cached = 1024
        await follow(client, model, request("a", LONGER), request("b", LONGER))
        assert waits.in_vain == [short]

    behind(ask)


def test_a_stopped_run_lets_no_follower_go():
    async def ask(client: Client) -> None:
        model = HeldVendor()
        tasks = calls(client, model, request("1"), request("2"))
        await until(model, 1)
        client.stop()
        model.go.set()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(one).__name__ for one in results] == ["ChatReply", "Stopped"]
        assert model.began == ["1"]

    behind(ask)


def test_anthropic_is_told_what_several_calls_begin_with_and_what_it_stores_is_priced():
    def reply_of(_number: int, _path: str, _body: Any) -> tuple[int, bytes, str]:
        usage = {
            "input_tokens": 10,
            "cache_creation_input_tokens": 1300,
            "cache_read_input_tokens": 0,
            "output_tokens": 2,
        }
        reply = {
            "content": [{"type": "text", "text": "7"}],
            "stop_reason": "end_turn",
            "usage": usage,
        }
        return 200, orjson.dumps(reply), ""

    async def ask(client: Client) -> list[ChatReply]:
        model = AnthropicChat(Endpoint(server.base_url), "claude", "claude", ModelSettings())
        try:
            return await asyncio.gather(*calls(client, model, request("1"), request("2")))
        finally:
            await model.close()

    with serve(answer=reply_of, latency=0.05) as server:
        replies = behind(ask)
        alone = behind(lambda client: ask_alone(client, server.base_url))
    contents = [body["messages"][0]["content"] for _, _, body in server.requests]
    for content, task in zip(contents, ("1", "2"), strict=False):
        passages, answer, rest = content
        assert passages["cache_control"] == answer["cache_control"] == {"type": "ephemeral"}
        assert "cache_control" not in rest
        assert "".join(block["text"] for block in content) == request(task).messages[1].content
        assert answer["text"].rstrip().endswith(ANSWER.splitlines()[-1])
    assert contents[2] == request("1").messages[1].content  # nobody shares it: one text, no mark
    assert [reply.tokens for reply in (*replies, alone)] == [Tokens(1310, 0, 2, 1300)] * 3


def test_anthropic_serves_the_passages_of_a_question_to_the_calls_about_another_answer():
    def answer(_number: int, _path: str, _body: Any) -> tuple[int, bytes, str]:
        reply = {"content": [{"type": "text", "text": "7"}], "stop_reason": "end_turn"}
        return 200, orjson.dumps(reply), ""

    other = fence("answer", "It broke at night.")
    requests = [
        *(request(f"task {n}") for n in range(2)),
        *(request(f"task {n}", answer=other) for n in range(2)),
    ]

    async def ask(client: Client) -> None:
        model = AnthropicChat(Endpoint(server.base_url), "claude", "claude", ModelSettings())
        try:
            await asyncio.gather(*calls(client, model, *requests))
        finally:
            await model.close()

    with serve(answer=answer, latency=0.05) as server:
        behind(ask)
    marked = [marked_beginnings(body["messages"][0]["content"]) for _, _, body in server.requests]
    assert [len(beginnings) for beginnings in marked] == [2, 2, 1, 1]
    assert marked[0][0].rstrip().endswith(PASSAGES.splitlines()[-1])
    for beginnings in marked[1:]:
        assert set(beginnings) & set(marked[0])  # what the leader marked, and only that, is served


def marked_beginnings(blocks: list[dict[str, Any]], mark: str = "cache_control") -> list[str]:
    """The text up to the end of each marked block."""
    texts = accumulate(block["text"] for block in blocks)
    return [text for text, block in zip(texts, blocks, strict=True) if mark in block]


def test_a_request_has_at_most_four_marks_those_of_the_longest_beginnings():
    passages = "\n\n".join(fence("context", f"The levee {n} held. " * 300) for n in range(6))
    several = request("task", passages)
    ahead = prefixes.Prefixes(marks=True)
    beginnings = prefixes.beginnings_of(several)
    ended = asyncio.new_event_loop().create_future()
    turn = prefixes.PrefixTurn(beginnings, ahead, ended, follows=beginnings[0])
    ends = sorted(beginning.end for beginning in beginnings)
    assert len(ends) == 7
    assert turn.mark() == ends[-4:]


def test_no_call_waits_for_one_whose_request_marks_nothing():
    class MarkingVendor(HeldVendor):
        marks_prefixes = True

        async def chat(self, request: ChatRequest) -> ChatReply:
            turn = prefixes.MARK.get()
            assert turn is not None
            turn.mark()
            return await super().chat(request)

    async def ask(client: Client) -> None:
        model = MarkingVendor()
        alone = calls(client, model, request("1"))
        await until(model, 1)
        later = calls(client, model, request("2"), request("3"))
        await until(model, 2)
        assert model.began == ["1", "2"]  # 3 waits for 2, which marks what they share
        model.go.set()
        await asyncio.gather(*alone, *later)

    behind(ask)


async def ask_alone(client: Client, base_url: str) -> ChatReply:
    model = AnthropicChat(Endpoint(base_url), "claude", "claude", ModelSettings())
    try:
        return await client.chat(model, request("1"), UsageLog())
    finally:
        await model.close()


def test_what_anthropic_takes_into_its_cache_costs_a_quarter_more():
    from longmark.models.budget import given
    from longmark.models.settings import TokenPrice

    price = given(TokenPrice(input=4.0, cached=0.4, output=10.0))
    assert price(Tokens(1_000_000, 0, 0)) == pytest.approx(4.0)
    assert price(Tokens(1_000_000, 0, 0, 1_000_000)) == pytest.approx(5.0)
    assert price(Tokens(1_000_000, 500_000, 0, 100_000)) == pytest.approx(0.5 * 4 + 0.1 + 0.2)
