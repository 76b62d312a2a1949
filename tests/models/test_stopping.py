"""What a stop does to calls: those under way at endpoints end, the others are given up."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.fake import FakeChat
from longmark.models.protocols import ChatReply, ChatRequest, Message
from longmark.models.sending import Stopped


def asking(text: str) -> ChatRequest:
    return ChatRequest(messages=(Message("user", text),), max_tokens=10)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[CallCache]:
    call_cache = CallCache(tmp_path / "calls.sqlite")
    yield call_cache
    call_cache.close()


def test_stop_lets_calls_under_way_end_and_begins_none(cache: CallCache):
    model = FakeChat("85", latency=0.3)

    async def call() -> list[object]:
        client = Client(cache, concurrency=2)
        calls = [
            asyncio.create_task(client.chat(model, asking(str(i)), UsageLog())) for i in range(6)
        ]
        await asyncio.sleep(0.1)
        client.stop()
        return list(await asyncio.gather(*calls, return_exceptions=True))

    outcomes = asyncio.run(call())
    assert [type(outcome) for outcome in outcomes] == [ChatReply] * 2 + [Stopped] * 4
    assert len(model.requests) == 2


def test_stop_gives_up_calls_of_models_on_this_machine(cache: CallCache):
    here, there = FakeChat("85", latency=60, width=1), FakeChat("90", latency=0.3, name="there")

    async def call() -> list[object]:
        client = Client(cache)
        calls = [
            asyncio.create_task(client.chat(model, asking(text), UsageLog()))
            for model, text in [
                (here, "a"),
                (here, "a"),
                (here, "b"),
                (there, "a"),
            ]  # the second shares the first's
        ]
        await asyncio.sleep(0.1)
        client.stop()
        return list(await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 10))

    outcomes = asyncio.run(call())
    assert [type(outcome) for outcome in outcomes] == [Stopped, Stopped, Stopped, ChatReply]
    assert (len(here.requests), here.in_flight) == (1, 0)


def test_after_a_stop_a_request_is_begun_only_if_its_reply_is_still_waited_for(cache: CallCache):
    begun: list[str] = []

    async def request(name: str) -> str:
        begun.append(name)
        return name

    async def after_a_stop() -> str:
        client = Client(cache)
        client.stop()
        with pytest.raises(Stopped):
            await client.until_stopped(request("repeatable"))
        return await client.until_stopped(request("submission"), grace=5.0)

    assert asyncio.run(after_a_stop()) == "submission"
    assert begun == ["submission"]


def test_whoever_is_cancelled_after_a_stop_is_cancelled(cache: CallCache):
    model = FakeChat("85", latency=60, width=1)

    async def call() -> None:
        client = Client(cache)
        asking_it = asyncio.create_task(client.chat(model, asking("a"), UsageLog()))
        await asyncio.sleep(0.01)
        client.stop()
        asking_it.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking_it

    asyncio.run(call())
    assert model.in_flight == 0
