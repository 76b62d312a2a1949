"""Calls that several ask for, and replies that cannot be used: in the call cache, under way, given up, asked anew."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Collection, Sequence
from pathlib import Path

import pytest
from tests.models.conftest import Place

from longmark.errors import TooLong
from longmark.models.cache import CallCache, call_key
from longmark.models.client import Client, UsageLog
from longmark.models.fake import FakeChat, FakeEmbedder
from longmark.models.protocols import ChatRequest, EmbedReply, Message
from longmark.models.stores import Seen


def asking(text: str) -> ChatRequest:
    return ChatRequest(messages=(Message("user", text),), max_tokens=10)


@pytest.fixture
def cache(tmp_path: Path):
    made = CallCache(tmp_path / "calls.sqlite")
    yield made
    made.close()


def test_batches_that_begin_together_send_each_text_once(place: Place):
    model, cache = FakeEmbedder(), CallCache(place("calls"))

    async def call() -> None:
        client = Client(cache)
        await asyncio.gather(
            *(client.embed(model, ["a", "b", str(i % 3)], UsageLog()) for i in range(12))
        )

    asyncio.run(call())
    assert sorted(text for request in model.requests for text in request) == [
        "0",
        "1",
        "2",
        "a",
        "b",
    ]
    cache.close()


async def has_begun(model: FakeChat) -> None:
    while not model.requests:  # noqa: ASYNC110 - the fake tells nobody
        await asyncio.sleep(0.001)


def test_who_waits_for_a_call_that_was_given_up_asks_for_it(cache: CallCache):
    model = FakeChat("85", latency=0.3)

    async def call() -> None:
        client = Client(cache)
        usage_log = UsageLog()
        first = asyncio.create_task(client.chat(model, asking("a"), UsageLog()))
        await has_begun(model)
        second = asyncio.create_task(client.chat(model, asking("a"), usage_log))
        await asyncio.sleep(0.01)
        first.cancel()
        assert (await second).text == "85"
        assert first.cancelled()
        assert (usage_log.usage.calls, usage_log.usage.from_cache) == (1, 0)

    asyncio.run(call())
    assert len(model.requests) == 2


def test_who_is_cancelled_while_waiting_for_another_ones_call_ends(cache: CallCache):
    model = FakeChat("85", latency=60)

    async def call() -> None:
        client = Client(cache)
        both = [asyncio.create_task(client.chat(model, asking("a"), UsageLog())) for _ in range(2)]
        await has_begun(model)
        for task in both:
            task.cancel()
        done = await asyncio.gather(*both, return_exceptions=True)
        assert [type(one) for one in done] == [asyncio.CancelledError] * 2

    asyncio.run(call())
    assert len(model.requests) == 1


def test_texts_of_a_batch_that_was_given_up_are_embedded_by_who_waits(cache: CallCache):
    model = FakeEmbedder()
    slow = FakeEmbedder()

    async def never(texts: list[str]) -> None:
        await asyncio.sleep(60)

    slow.embed = never  # type: ignore[assignment,method-assign]

    async def call() -> list[tuple[float, ...]]:
        client = Client(cache)
        first = asyncio.create_task(client.embed(slow, ["b"], UsageLog()))
        await asyncio.sleep(0)
        second = asyncio.create_task(client.embed(model, ["a", "b", "c"], UsageLog()))
        await asyncio.sleep(0.01)
        first.cancel()
        return await second

    assert len(asyncio.run(call())) == 3


def test_who_waits_for_a_text_beside_which_another_was_refused_asks_for_it(cache: CallCache):
    model = FakeEmbedder()
    embed = model.embed

    async def refusing(texts: Sequence[str]) -> EmbedReply:
        await asyncio.sleep(0.01)
        if "long" in texts:
            raise TooLong("the text 'long' is too long")
        return await embed(texts)

    model.embed = refusing  # type: ignore[method-assign]

    async def call() -> list[object]:
        client = Client(cache)
        of_texts = (["long", "a"], ["a"], ["a", "b"], ["long"])
        return await asyncio.gather(
            *(client.embed(model, texts, UsageLog()) for texts in of_texts), return_exceptions=True
        )

    first, *others, last = asyncio.run(call())
    assert isinstance(first, TooLong)
    assert isinstance(last, TooLong)
    assert [isinstance(vectors, list) and len(vectors) for vectors in others] == [1, 2]
    assert sorted(text for texts in model.requests for text in texts) == ["a", "b"]


@pytest.mark.parametrize("left", [b"{}!", b'{"words": "of another version"}', b""])
def test_a_stored_reply_that_cannot_be_read_is_asked_for_again(cache: CallCache, left: bytes):
    model = FakeChat("85")
    asyncio.run(Client(cache).chat(model, asking("a"), UsageLog()))
    other = sqlite3.connect(cache.path)
    other.execute("UPDATE calls SET reply = ?", (left,))
    other.commit()
    other.close()
    for _ in range(2):  # the second time the new one is there
        assert asyncio.run(Client(cache).chat(model, asking("a"), UsageLog())).text == "85"
    assert len(model.requests) == 2


def test_a_call_that_several_ask_anew_is_paid_once_more_and_not_twice(cache: CallCache):
    asyncio.run(Client(cache).chat(FakeChat("prose"), asking("a"), UsageLog()))
    model = FakeChat(["85", "20"])

    async def call() -> list[str]:
        client = Client(cache)
        return [
            (await client.chat(model, asking("a"), UsageLog(refresh=True))).text for _ in range(2)
        ]

    assert asyncio.run(call()) == ["85", "85"]
    assert len(model.requests) == 1


def test_a_reply_that_cannot_be_stored_is_an_error_and_no_wait_without_end(cache: CallCache):
    async def put() -> None:
        await asyncio.wait_for(
            cache.put(b"key", "chat", "a name that is no text \udcff", b"{}", 0.0), 5
        )

    with pytest.raises(UnicodeEncodeError):
        asyncio.run(put())
    asyncio.run(cache.put(b"key", "chat", "name", b"{}", 0.0))
    assert cache.get(b"key") == (b"{}", 0.0)


def test_a_reply_that_another_process_stores_between_two_looks_is_not_paid_again(place: Place):
    """The look that finds nothing and the question whether something unreadable is stored must be one look."""
    model = FakeChat("85")

    async def both() -> str:
        ours, theirs = CallCache(place("c")), CallCache(place("c"))
        request = ChatRequest((Message("user", "?"),))
        key = call_key(model.identity, "chat", request)
        await theirs.claim([key])
        look, looks = ours.look, 0

        async def looking(keys: Collection[bytes], *, every: bool = False) -> Seen:
            nonlocal looks
            seen = await look(keys, every=every)
            looks += 1
            if looks == 2:  # while the claim is held
                await theirs.put(key, "chat", "m", b'{"text": "70"}', 0.0)
            return seen

        ours.look = looking  # type: ignore[method-assign]
        reply = await Client(ours).chat(model, request, UsageLog())
        ours.close()
        theirs.close()
        return reply.text

    assert asyncio.run(both()) == "70"
    assert model.requests == []
