"""The client: nothing is paid twice, nothing is lost, nobody is asked faster than allowed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace

import pytest

from longmark.errors import ModelError, OverBudget, RateLimited, RequestRefused, ServerFault
from longmark.models import limits
from longmark.models.budget import Budget
from longmark.models.cache import CallCache, call_key
from longmark.models.call_kinds import _shares
from longmark.models.client import Client, UsageLog, WouldCall
from longmark.models.fake import FakeChat, FakeEmbedder
from longmark.models.limits import MAX_FAULTS
from longmark.models.protocols import ChatReply, ChatRequest, Message, Tokens
from longmark.models.sending import FIRST_REFUSED, Stopped
from longmark.records import Usage


def asking(text: str, sample: int = 0) -> ChatRequest:
    return ChatRequest(messages=(Message("user", text),), sample=sample, max_tokens=10)


@pytest.fixture
def cache(tmp_path: Path):
    made = CallCache(tmp_path / "calls.sqlite")
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _no_long_waits(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        "longmark.models.sending.wait_before", lambda attempt, after, rng: (after or 0.0) / 100
    )


def test_a_reply_is_stored_and_never_asked_for_again(cache: CallCache):
    model = FakeChat("85")

    async def twice() -> tuple[UsageLog, UsageLog]:
        first, second = UsageLog(), UsageLog(first=lambda _key: False)
        await Client(cache).chat(model, asking("a"), first)
        reply = await Client(cache).chat(model, asking("a"), second)
        assert reply.text == "85"
        return first, second

    first, second = asyncio.run(twice())
    assert len(model.requests) == 1
    assert (first.usage.calls, first.usage.from_cache) == (1, 0)
    assert first.usage.prompt_tokens > 0
    assert (second.usage.calls, second.usage.from_cache, second.usage.prompt_tokens) == (1, 1, 0)


def test_usage_of_a_cached_reply_is_what_was_first_paid(cache: CallCache):
    model = FakeChat(lambda _request: ChatReply("1", tokens=Tokens(100, 40, 7)))

    async def paid(price: float) -> UsageLog:
        usage_log = UsageLog()
        await Client(cache, price_of=lambda _m: lambda tokens: tokens.prompt * price).chat(
            model, asking("a"), usage_log
        )
        return usage_log

    new, again = asyncio.run(paid(0.01)), asyncio.run(paid(5.0))
    assert new.usage.usd == pytest.approx(1.0)  # 100 tokens x 0.01
    assert again.usage == Usage(1, 1, 100, 40, 7, new.usage.usd)


def test_equal_calls_at_once_are_one(cache: CallCache):
    model = FakeChat("85", latency=0.01)

    async def many() -> Client:
        client = Client(cache)
        await asyncio.gather(*(client.chat(model, asking("a"), UsageLog()) for _ in range(20)))
        return client

    client = asyncio.run(many())
    assert len(model.requests) == 1
    assert (client.counts.calls, client.counts.from_cache) == (1, 19)


def test_equal_calls_at_once_share_an_error_and_it_is_not_stored(cache: CallCache):
    model = FakeChat([RequestRefused("no", 400), "85"], latency=0.01)

    async def many() -> list[object]:
        client = Client(cache)
        calls = (client.chat(model, asking("a"), UsageLog()) for _ in range(3))
        outcomes: list[object] = await asyncio.gather(*calls, return_exceptions=True)
        outcomes.append(await client.chat(model, asking("a"), UsageLog()))
        return outcomes

    *errors, last = asyncio.run(many())
    assert all(isinstance(error, RequestRefused) for error in errors)
    assert isinstance(last, ChatReply)
    assert last.text == "85"


def test_samples_are_calls_of_their_own(cache: CallCache):
    model = FakeChat()

    async def samples() -> None:
        client = Client(cache)
        for sample in (0, 1, 2, 1):
            await client.chat(model, asking("a", sample), UsageLog())

    asyncio.run(samples())
    assert [request.sample for request in model.requests] == [0, 1, 2]


def test_the_key_holds_who_is_asked_and_what():
    one = call_key("m@http://a/v1", "chat", asking("x"))
    assert one == call_key("m@http://a/v1", "chat", asking("x"))
    others = [
        call_key("m@http://b/v1", "chat", asking("x")),
        call_key("m@http://a/v1", "chat", asking("y")),
        call_key("m@http://a/v1", "chat", asking("x", 1)),
        call_key("m@http://a/v1", "embed", asking("x")),
    ]
    assert len({one, *others}) == 5


def test_faults_are_retried_and_counted(cache: CallCache):
    model = FakeChat([ServerFault("500", 500), RateLimited("429", 429, 0.5), "85"])

    async def call() -> Client:
        client = Client(cache)
        assert (await client.chat(model, asking("a"), UsageLog())).text == "85"
        return client

    counts = asyncio.run(call()).counts
    assert (counts.requests, counts.calls, counts.retries, counts.rate_limited, counts.faults) == (
        3,
        1,
        2,
        1,
        1,
    )


def test_retries_are_bounded(cache: CallCache):
    model = FakeChat(lambda _request: ServerFault("down", 503))
    with pytest.raises(ServerFault):
        asyncio.run(_one(Client(cache), model))
    assert len(model.requests) == limits.MAX_FAULTS


def test_an_endpoint_that_is_down_is_tried_once_a_call_until_it_replies(cache: CallCache):
    down = True
    model = FakeChat(lambda _request: ServerFault("down", 503) if down else "85")

    async def call() -> None:
        nonlocal down
        client = Client(cache)
        for i in range(5):
            with pytest.raises(ServerFault):
                await client.chat(model, asking(str(i)), UsageLog())
        before = len(model.requests)
        with pytest.raises(ServerFault):
            await client.chat(model, asking("sixth"), UsageLog())
        assert len(model.requests) == before + 1
        down = False
        await client.chat(model, asking("seventh"), UsageLog())
        down = True
        with pytest.raises(ServerFault):
            await client.chat(model, asking("eighth"), UsageLog())
        assert len(model.requests) == before + 2 + limits.MAX_FAULTS

    asyncio.run(call())


def test_a_wrong_key_is_asked_with_once(cache: CallCache):
    model = FakeChat(lambda _request: RequestRefused("no such key", 401))

    async def call() -> None:
        client = Client(cache)
        for i in range(3):
            with pytest.raises(RequestRefused, match="no such key"):
                await client.chat(model, asking(str(i)), UsageLog())

    asyncio.run(call())
    assert len(model.requests) == 1


def test_a_key_that_loses_its_permission_is_not_asked_with_for_ever(cache: CallCache):
    """403 in a row closes an endpoint that has replied before; one reply between two of them starts the count anew."""
    refused = iter([False, *[True] * (FIRST_REFUSED - 1), False, *[True] * 100])
    model = FakeChat(lambda _request: RequestRefused("forbidden", 403) if next(refused) else "85")

    async def call() -> None:
        client = Client(cache)
        for i in range(100):
            with suppress(RequestRefused):
                await client.chat(model, asking(str(i)), UsageLog())
        assert client.closed() == ["forbidden"]
        assert not client.refused  # it did not refuse every call of the run

    asyncio.run(call())
    assert len(model.requests) == 2 * FIRST_REFUSED + 1


def test_a_spent_quota_is_asked_once(cache: CallCache):
    model = FakeChat(lambda _request: RequestRefused("no quota left", 429))

    async def call() -> None:
        client = Client(cache)
        for i in range(3):
            with pytest.raises(RequestRefused, match="no quota"):
                await client.chat(model, asking(str(i)), UsageLog())

    asyncio.run(call())
    assert len(model.requests) == 1


def test_a_call_that_is_refused_waits_its_turn(cache: CallCache):
    """An endpoint that takes every twentieth call: more refusals than a call may have faults."""
    asked = 0

    def every_twentieth(_request: ChatRequest) -> Exception | str:
        nonlocal asked
        asked += 1
        return RateLimited("slow down", 429, 0.01) if asked % 20 else "85"

    async def call() -> None:
        client = Client(cache)
        replies = await asyncio.gather(
            *(client.chat(model, asking(str(i)), UsageLog()) for i in range(10))
        )
        assert [reply.text for reply in replies] == ["85"] * 10
        assert (client.counts.calls, client.counts.rate_limited, client.counts.faults) == (
            10,
            190,
            0,
        )

    model = FakeChat(every_twentieth)
    asyncio.run(call())


def test_a_call_gives_up_when_it_has_been_refused_for_long(
    cache: CallCache, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("longmark.models.sending.LONGEST_WAIT", 0.2)
    monkeypatch.setattr("longmark.models.sending.wait_before", lambda attempt, after, rng: 0.01)
    model = FakeChat(lambda _request: RateLimited("slow down", 429))

    async def call() -> float:
        began = asyncio.get_running_loop().time()
        with pytest.raises(RateLimited):
            await _one(Client(cache), model)
        return asyncio.get_running_loop().time() - began

    assert asyncio.run(call()) >= 0.18
    assert len(model.requests) > limits.MAX_FAULTS


def test_a_refused_call_goes_before_new_ones(cache: CallCache):
    sent: list[str] = []

    def say(request: ChatRequest) -> Exception | str:
        sent.append(request.messages[0].content)
        return RateLimited("slow down", 429, 0.0) if sent == ["0"] else "85"

    async def call() -> None:
        client = Client(cache, concurrency=1)
        await asyncio.gather(
            *(
                client.chat(FakeChat(say, latency=0.01), asking(str(i)), UsageLog())
                for i in range(6)
            )
        )

    asyncio.run(call())
    assert sorted(sent) == ["0", "0", "1", "2", "3", "4", "5"]
    assert sent[-1] == "5"
    assert sent[2] == "0"  # one was sent while it waited


def test_a_wait_beyond_the_longest_is_a_refusal(cache: CallCache):
    model = FakeChat(lambda _request: RateLimited("come back tomorrow", 429, 86_400.0 * 100))
    with pytest.raises(RateLimited):
        asyncio.run(_one(Client(cache), model))
    assert len(model.requests) == 1


def test_the_budget_is_never_passed(cache: CallCache):
    model = FakeChat()

    async def call() -> None:
        client = Client(cache, budget=Budget(max_calls=3))
        outcomes = await asyncio.gather(
            *(client.chat(model, asking(str(i)), UsageLog()) for i in range(10)),
            return_exceptions=True,
        )
        assert sum(isinstance(outcome, OverBudget) for outcome in outcomes) == 7
        assert client.budget.stopped
        # what the cache holds needs no budget
        assert (await client.chat(model, asking("0"), UsageLog())).text

    asyncio.run(call())
    assert len(model.requests) == 3


def test_a_call_that_does_not_fit_waits_for_those_under_way(cache: CallCache):
    """Prompt: 4 bytes // 4 + 16 = 17 tokens, at most 4 x 17 + 500 of them, and at most 10 of the reply: 578 a call.
    Two fit into 1,300 at once; each takes 27, so all six are sent."""
    model = FakeChat(lambda _request: ChatReply("1", tokens=Tokens(17, 0, 10)), latency=0.001)

    async def call() -> list[object]:
        client = Client(cache, budget=Budget(max_tokens=1_300))
        calls = (client.chat(model, asking(f"{i:04d}"), UsageLog()) for i in range(6))
        return list(await asyncio.gather(*calls, return_exceptions=True))

    assert all(isinstance(outcome, ChatReply) for outcome in asyncio.run(call()))
    assert model.most_in_flight == 2


def test_the_budget_of_dollars(cache: CallCache):
    model = FakeChat(lambda _request: ChatReply("1", tokens=Tokens(10, 0, 10)))

    async def call() -> Client:
        client = Client(
            cache,
            budget=Budget(max_usd=6.5),
            price_of=lambda _m: lambda t: 0.01 * (t.prompt + t.completion),
        )
        # at most 5.78 is set aside for a call, 0.20 is paid: after four calls 0.80 is spent and 5.78 more would be over
        for i in range(4):
            await client.chat(model, asking(f"{i:04d}"), UsageLog())
        with pytest.raises(OverBudget):
            await client.chat(model, asking("more"), UsageLog())
        return client

    assert asyncio.run(call()).counts.usd == pytest.approx(0.8)


def test_an_endpoint_that_counts_more_than_was_asked_for_gets_one_call_at_a_time(cache: CallCache):
    """Each reply may have 10 tokens and counts 1,000: of $5.00, five of $1.04 are paid. 50 at once took $52."""
    model = FakeChat(lambda _request: ChatReply("1", tokens=Tokens(40, 0, 1_000)), latency=0.001)

    async def call() -> Client:
        price = lambda _m: lambda t: 0.001 * (t.prompt + t.completion)  # noqa: E731
        client = Client(cache, budget=Budget(max_usd=5.0), concurrency=50, price_of=price)
        calls = (client.chat(model, asking(f"{i:04d}"), UsageLog()) for i in range(100))
        await asyncio.gather(*calls, return_exceptions=True)
        return client

    client = asyncio.run(call())
    assert client.counts.usd == pytest.approx(5.2)  # the call in flight exceeds it, and no other
    assert model.most_in_flight == 1
    assert client.budget.stopped == (
        "The budget of $5 does not allow another call: $5.2 spent, $0 left, none of it reserved, and the next can take "
        "$0.578. The replies so far took $1.04 each on average."
    )


def test_a_budget_that_stops_says_what_is_left_and_what_a_reply_takes(cache: CallCache):
    """578 tokens must be left: after three calls of 27 there are 569."""
    model = FakeChat(lambda _request: ChatReply("1", tokens=Tokens(17, 0, 10)), latency=0.001)

    async def call() -> Client:
        client = Client(cache, budget=Budget(max_tokens=650))
        calls = (client.chat(model, asking(f"{i:04d}"), UsageLog()) for i in range(6))
        await asyncio.gather(*calls, return_exceptions=True)
        return client

    assert asyncio.run(call()).budget.stopped == (
        "The budget of 650 tokens does not allow another call: 81 tokens spent, 569 tokens left, none of it reserved, "
        "and the next can take 578 tokens. The replies so far took 27 tokens each on average."
    )


def test_a_disk_without_room_stops_before_the_next_call(
    cache: CallCache, monkeypatch: pytest.MonkeyPatch
):
    model = FakeChat(latency=0.001)
    rooms = iter([10 << 20, 10 << 20, 10 << 20, 1 << 20])
    monkeypatch.setattr("shutil.disk_usage", lambda _path: SimpleNamespace(free=next(rooms)))

    async def call() -> list[object]:
        client = Client(cache, concurrency=3)
        calls = (client.chat(model, asking(str(i)), UsageLog()) for i in range(6))
        return list(await asyncio.gather(*calls, return_exceptions=True))

    outcomes = asyncio.run(call())
    assert (
        sum(isinstance(one, ChatReply) for one in outcomes) == len(model.requests) == 3
    )  # none sent is lost
    (first, *_) = (one for one in outcomes if isinstance(one, Exception))
    assert "has 1 MiB free" in str(first)


def test_an_endpoint_that_was_never_reached_is_given_up_after_four_attempts(cache: CallCache):
    failure = ServerFault("the connection to h failed: Connection refused")
    failure.unreached = True
    model = FakeChat(lambda _request: failure)

    async def call() -> Client:
        client = Client(cache)
        client.stops_when_refused = True
        for i in range(10):
            with suppress(ModelError, Stopped):
                await client.chat(model, asking(str(i)), UsageLog())
        return client

    client = asyncio.run(call())
    assert len(model.requests) == 4
    assert client.refused == client.closed()[0] == "the connection to h failed: Connection refused"


def test_an_endpoint_that_dies_is_given_up_with_the_call_that_could_not_reach_it(cache: CallCache):
    failure = ServerFault("the connection to h failed: Connection refused")
    failure.unreached = True
    replies: Iterator[str | Exception] = chain(["85", "85"], repeat(failure))
    model = FakeChat(lambda _request: next(replies))

    async def call() -> tuple[Client, list[str]]:
        client, said = Client(cache), []
        for i in range(16):
            try:
                await client.chat(model, asking(str(i)), UsageLog())
            except ModelError as error:
                said.append(str(error))
        return client, said

    client, said = asyncio.run(call())
    assert len(model.requests) == 2 + MAX_FAULTS  # one call is tried again, no other
    assert said == ["the connection to h failed: Connection refused"] * 14
    assert (client.refused, client.closed()) == ("", said[:1])


def test_no_more_calls_at_once_than_allowed(cache: CallCache):
    model = FakeChat(latency=0.002)

    async def call() -> None:
        client = Client(cache, concurrency=4)
        await asyncio.gather(*(client.chat(model, asking(str(i)), UsageLog()) for i in range(40)))

    asyncio.run(call())
    assert model.most_in_flight == 4


def test_a_backend_can_be_narrower_than_the_run(cache: CallCache):
    model = FakeChat(latency=0.001, width=1)

    async def call() -> None:
        client = Client(cache, concurrency=8)
        await asyncio.gather(*(client.chat(model, asking(str(i)), UsageLog()) for i in range(10)))

    asyncio.run(call())
    assert model.most_in_flight == 1
    assert [r.messages[0].content for r in model.requests] == [
        str(i) for i in range(10)
    ]  # first come, first served


def test_a_dry_client_answers_from_the_cache_and_sends_nothing(cache: CallCache):
    model = FakeChat("85")

    async def call() -> None:
        await Client(cache).chat(model, asking("a"), UsageLog())
        dry = Client(cache, dry=True)
        assert (await dry.chat(model, asking("a"), UsageLog())).text == "85"
        with pytest.raises(WouldCall):
            await dry.chat(model, asking("b"), UsageLog())

    asyncio.run(call())
    assert len(model.requests) == 1


def test_texts_are_embedded_once_each_in_their_order(cache: CallCache):
    model = FakeEmbedder()

    async def call() -> None:
        client = Client(cache)
        first = await client.embed(model, ["a cat", "a dog", "a cat"], UsageLog())
        second = await client.embed(model, ["a dog", "a bird"], UsageLog())
        assert first[0] == first[2] != first[1] == second[0]

    asyncio.run(call())
    assert model.requests == [("a cat", "a dog"), ("a bird",)]


def test_an_error_of_ours_is_not_taken_for_one_of_the_model(cache: CallCache):
    model = FakeChat(lambda _request: KeyError("bug"))
    with pytest.raises(KeyError):
        asyncio.run(_one(Client(cache), model))
    assert len(model.requests) == 1


def test_what_is_learnt_of_an_endpoint_outlives_the_process(tmp_path: Path):
    first = CallCache(tmp_path / "calls.sqlite")
    assert not first.known("http://a/v1", "text-only")
    first.remember("http://a/v1", "text-only")
    first.close()
    second = CallCache(tmp_path / "calls.sqlite")
    assert second.known("http://a/v1", "text-only")
    assert not second.known("http://b/v1", "text-only")
    second.close()


def test_the_cache_is_listed_and_cleared_by_model(cache: CallCache):
    async def fill() -> None:
        client = Client(cache)
        for name in ("one", "two"):
            for i in range(3):
                await client.chat(FakeChat(name=name), asking(str(i)), UsageLog())

    asyncio.run(fill())
    assert [(line.model, line.replies) for line in cache.lines()] == [("one", 3), ("two", 3)]
    cache.remember("one", "no-logprobs")
    cache.remember("two", "no-logprobs")
    assert cache.clear("one") == (3, 3)
    assert (cache.known("one", "no-logprobs"), cache.known("two", "no-logprobs")) == (False, True)
    assert [line.model for line in cache.lines()] == ["two"]


async def _one(client: Client, model: FakeChat) -> ChatReply:
    return await client.chat(model, asking("a"), UsageLog())


def test_only_model_errors_are_retryable_kinds():
    assert RateLimited.retryable
    assert ServerFault.retryable
    assert not RequestRefused.retryable
    assert not ModelError.retryable


def test_tokens_of_one_reply_are_dealt_out_whole_with_those_that_were_not_read_again():
    # 10 read, 7 of them cached, 5 written, for 3 requests: 3 fresh = 1 + 1 + 1; 7 cached = 3 + 2 + 2; 5 = 3 + 1 + 1
    assert _shares(Tokens(10, 7, 5), 3) == [Tokens(4, 3, 3), Tokens(3, 2, 1), Tokens(3, 2, 1)]
    assert _shares(Tokens(7), 3) == [Tokens(3), Tokens(2), Tokens(2)]
    assert _shares(None, 2) == [None, None]
