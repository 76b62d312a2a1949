"""What the client stores: replies that read back as they were, in batches of which the good ones are kept."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.asking import behind_a_client
from tests.wire import serve

from longmark.errors import BadReply, OverBudget, ServerFault, TooManyInputs
from longmark.models import call_kinds
from longmark.models.budget import Budget
from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.fake import FakeChat, FakeEmbedder
from longmark.models.http import Endpoint
from longmark.models.http_models import HttpEmbedder
from longmark.models.protocols import (
    ChatReply,
    ChatRequest,
    EmbedReply,
    LikelihoodReply,
    Message,
    RerankReply,
    TokenLogprobs,
    Tokens,
    of_digits,
    total_tokens,
)

counts = st.integers(0, 10**9)
tokens = st.none() | st.tuples(counts, counts, counts).map(
    lambda n: Tokens(max(n[:2]), min(n[:2]), n[2])
)
texts = st.text(st.characters(exclude_categories=["Cs"]))
logprobs = st.floats(max_value=0, allow_nan=False, allow_infinity=False)
numbers = st.floats(allow_nan=False, allow_infinity=False, width=32)
REPLIES = {
    call_kinds.CHATS: st.builds(
        ChatReply,
        texts,
        texts,
        st.none() | texts,
        st.lists(
            st.builds(
                TokenLogprobs,
                texts,
                logprobs,
                st.lists(st.tuples(texts, logprobs), max_size=3).map(tuple),
            ),
            max_size=3,
        ).map(tuple),
        tokens,
        texts,
        st.none() | texts,
        st.none() | texts,
    ),
    call_kinds.EMBEDS: st.builds(
        EmbedReply, st.tuples(st.lists(numbers, min_size=1).map(tuple)), tokens
    ),
    call_kinds.RERANKS: st.builds(RerankReply, st.lists(numbers).map(tuple), tokens),
    call_kinds.LIKELIHOODS: st.lists(st.tuples(logprobs, texts, st.floats(0, 100))).flatmap(
        lambda all_: st.builds(
            LikelihoodReply,
            st.just(tuple(one[0] for one in all_)),
            st.just(tuple(one[1] for one in all_)),
            st.sampled_from([(), tuple(one[2] for one in all_)]),
            tokens,
        )
    ),
}


@pytest.mark.parametrize("kind", REPLIES, ids=lambda kind: kind.name)
@given(data=st.data())
def test_every_reply_that_can_be_made_reads_back_as_it_was(kind: Any, data: st.DataObject):
    reply = data.draw(REPLIES[kind])
    checked, stored = call_kinds.checked_reply(reply, kind, "m")
    assert checked == reply
    assert call_kinds.read_stored(kind, (stored, None)) == (reply, None)


def test_a_reply_that_was_stored_before_there_were_thinking_and_versions_is_read():
    tokens = b'{"prompt":1,"cached_prompt":0,"completion":2}'
    stored = b'{"text":"80","finish":"stop","refusal":null,"logprobs":[],"tokens":' + tokens + b"}"
    assert call_kinds.read_stored(call_kinds.CHATS, (stored, 0.5)) == (
        ChatReply("80", tokens=Tokens(1, 0, 2)),
        0.5,
    )


def test_a_long_reply_is_stored_compressed_and_read_as_it_was():
    reply = ChatReply("", logprobs=(TokenLogprobs("rain ", -0.5, (("snow", -1.0),)),) * 2000)
    _, stored = call_kinds.checked_reply(reply, call_kinds.CHATS, "m")
    assert len(stored) < len(orjson.dumps(reply)) / 20
    assert call_kinds.read_stored(call_kinds.CHATS, (stored, 0.5)) == (reply, 0.5)
    _, short = call_kinds.checked_reply(ChatReply("80"), call_kinds.CHATS, "m")
    assert orjson.loads(short)["text"] == "80"


def test_a_long_reply_that_was_stored_before_replies_were_compressed_is_read():
    reply = ChatReply("It rains. " * 1000)
    assert call_kinds.read_stored(call_kinds.CHATS, (orjson.dumps(reply), None)) == (reply, None)


@pytest.mark.parametrize(
    "change", [lambda blob: blob[:-5], lambda blob: blob + b"x", lambda _: b"x\x01"]
)
def test_a_compressed_reply_that_is_damaged_is_no_reply(change: Any):
    _, stored = call_kinds.checked_reply(ChatReply("It rains. " * 1000), call_kinds.CHATS, "m")
    assert call_kinds.read_stored(call_kinds.CHATS, (change(stored), None)) is None


@pytest.mark.parametrize("excess", [0, 1])
def test_a_reply_above_the_greatest_length_is_stored_as_it_is(
    excess: int, monkeypatch: pytest.MonkeyPatch
):
    reply = ChatReply("It rains. " * 1000)
    monkeypatch.setattr(call_kinds, "_LONGEST_REPLY", len(orjson.dumps(reply)) - excess)
    _, stored = call_kinds.checked_reply(reply, call_kinds.CHATS, "m")
    assert stored.startswith(b"{") == bool(excess)
    assert call_kinds.read_stored(call_kinds.CHATS, (stored, None)) == (reply, None)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Tokens(-1),
        lambda: Tokens(1, 2),
        lambda: Tokens(2, -1),
        lambda: Tokens(1, 0, 10**9 + 1),
        lambda: TokenLogprobs("a", 0.5),
        lambda: TokenLogprobs("a", -1.0, (("b", math.inf),)),
        lambda: EmbedReply(((),)),
        lambda: EmbedReply(((1.0,), (1.0, 2.0))),
        lambda: EmbedReply(((1e308,),)),
        lambda: RerankReply((math.nan,)),
        lambda: LikelihoodReply((-1.0,), ()),
        lambda: LikelihoodReply((-1.0,), ("a",), (math.inf,)),
    ],
)
def test_numbers_that_cannot_be_make_no_reply(make: Any):
    with pytest.raises(BadReply):
        make()


@pytest.mark.parametrize(
    "reply",
    [
        ChatReply(5),  # type: ignore[arg-type]
        ChatReply("80", 5),  # type: ignore[arg-type]
        ChatReply("80", logprobs=(TokenLogprobs(None, -1.0),)),  # type: ignore[arg-type]
        ChatReply("80", tokens=Tokens(12.5)),  # type: ignore[arg-type]
        ChatReply("half a pair: \ud800"),
    ],
)
def test_a_reply_of_the_wrong_types_is_no_reply_and_is_not_stored(tmp_path: Path, reply: ChatReply):
    cache = CallCache(tmp_path / "calls.sqlite")
    model = FakeChat(lambda _request: reply)
    with pytest.raises(ServerFault, match="sent an invalid reply"):
        call_kinds.checked_reply(reply, call_kinds.CHATS, "m")
    with pytest.MonkeyPatch.context() as quick:
        quick.setattr("longmark.models.sending.wait_before", lambda *_: 0.0)
        with pytest.raises(ServerFault):
            asyncio.run(Client(cache).chat(model, ChatRequest((Message("user", "?"),)), UsageLog()))
    assert cache.lines() == []
    cache.close()


TEXTS = [f"text {n}" for n in range(128)]


def test_the_good_batches_are_kept_where_one_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("longmark.models.sending.wait_before", lambda *_: 0.0)

    def answer(_number: int, _path: str, request: Any) -> tuple[int, bytes, str] | None:
        return (500, b"{}", "") if "text 40" in request["input"] else None

    async def once(base_url: str) -> None:
        cache = CallCache(tmp_path / "calls.sqlite")
        embedder = HttpEmbedder(Endpoint(base_url), "m", "m@test")
        with pytest.raises(ServerFault):
            await Client(cache).embed(embedder, TEXTS, UsageLog())
        await embedder.close()
        cache.close()

    with serve(answer=answer) as server:
        asyncio.run(once(server.base_url))
        assert server.counts["requests"] == 3 + 6  # the bad one is tried six times
        asyncio.run(once(server.base_url))
        assert server.counts["paid_again"] == 0
        assert server.counts["requests"] == 3 + 6 + 6


def test_each_batch_counts_as_a_call():
    async def ask(client: Client) -> None:
        client.budget.max_calls = 2
        with pytest.raises(OverBudget):
            await client.embed(embedder, TEXTS, UsageLog())

    class InBatches(FakeEmbedder):
        batch = 32

    embedder = InBatches()
    asyncio.run(behind_a_client(ask))
    assert [len(some) for some in embedder.requests] == [32, 32]


def test_a_refused_form_of_a_request_counts_as_a_request():
    with serve(base64=False) as server:

        async def ask(client: Client) -> int:
            embedder = HttpEmbedder(Endpoint(server.base_url), "m", "m@test")
            await client.embed(embedder, TEXTS[:3], UsageLog())
            await embedder.close()
            return client.counts.requests

        assert asyncio.run(behind_a_client(ask)) == server.counts["requests"] == 2


def test_a_model_that_refuses_every_number_of_inputs_is_given_up():
    class Never(FakeEmbedder):
        batch = 4

        async def embed(self, texts: Sequence[str]) -> EmbedReply:
            raise TooManyInputs("too many", 413)

    with pytest.raises(TooManyInputs):
        asyncio.run(behind_a_client(lambda client: client.embed(Never(), TEXTS, UsageLog())))


def test_a_budget_of_dollars_allows_nothing_that_it_cannot_price():
    budget = Budget(max_usd=1.0)
    with pytest.raises(OverBudget):
        budget.take(budget.asked(Tokens(10), lambda _tokens: None))


def test_what_an_attempt_that_may_have_been_billed_took_is_all_that_it_could_take():
    budget = Budget(max_tokens=1_000, max_usd=10.0)
    held = budget.asked(Tokens(30, 0, 10), lambda tokens: tokens.prompt / 100)
    assert budget.take(held)
    budget.settle(held, None, None)
    assert (
        budget.tokens == 630
    )  # 4 bytes a token of the estimate, 500 of a chat template, and the reply
    assert budget.usd == pytest.approx(6.2)


def test_a_sum_of_tokens_beyond_what_one_call_may_count_is_not_known():
    assert total_tokens([Tokens(6 * 10**8)] * 3) is None
    assert total_tokens([Tokens(6), Tokens(7)]) == Tokens(13)


def test_of_the_log_probabilities_of_a_number_that_is_a_value_the_other_tokens_keep_their_text():
    """Neither the digit of a key nor that of a text is such a number."""
    other, digit = (
        (("a", -0.5), ("b", -1.0)),
        (("4", -0.25), ("5", -2.0), (" 3", -3.0), ("x", -4.0)),
    )
    reply = (
        TokenLogprobs('{"1"', -0.1, other),
        TokenLogprobs(": ", -0.2, other),
        TokenLogprobs("\n", -0.3, other),
        TokenLogprobs("4", -0.25, digit),
        TokenLogprobs(',"a":"', -0.4, other),
        TokenLogprobs("5", -0.5, digit),
        TokenLogprobs(' km"}', -0.6, other),
    )
    kept = of_digits(reply)
    assert "".join(token.token for token in kept) == '{"1": \n4,"a":"5 km"}'
    assert [token.token for token in kept] == ['{"1": \n', "4", ',"a":"5 km"}']
    assert [token.logprob for token in kept] == pytest.approx([-0.6, -0.25, -1.5])
    assert [token.top for token in kept] == [(), digit[:3], ()]
