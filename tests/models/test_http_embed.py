"""Embeddings over a real connection."""

from __future__ import annotations

import asyncio
import base64
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.asking import behind_a_client
from tests.wire import Server, serve
from tests.wire_replies import text_vector

from longmark.errors import RequestRefused, ServerFault, TooLong
from longmark.models.client import Client, UsageLog
from longmark.models.http import Endpoint
from longmark.models.http_models import HttpEmbedder, _vector

TEXTS = ["the river rose", "the levee held", "nobody was hurt", "rain", "wind"]


def embed(
    server: Server, texts: list[str], batch: int = 32, times: int = 1
) -> tuple[list[list[float]], Client]:
    """The vectors, and the client that the last of so many calls went through."""

    async def ask() -> tuple[list[list[float]], Client]:
        embedder = HttpEmbedder(Endpoint(server.base_url, timeout=5), "m", "m@test")
        embedder.most = batch

        async def once(client: Client) -> tuple[list[list[float]], Client]:
            return [
                list(vector) for vector in await client.embed(embedder, texts, UsageLog())
            ], client

        try:
            return [await behind_a_client(once) for _ in range(times)][-1]
        finally:
            await embedder.close()

    return asyncio.run(ask())


def sizes(server: Server) -> list[int]:
    return [len(body["input"]) for _, _, body in server.requests]


@pytest.mark.parametrize("packed", [True, False])
def test_vectors_come_in_the_order_of_the_texts(packed: bool) -> None:
    with serve(
        base64=packed
    ) as server:  # the server sends them in the opposite order, with their index
        vectors, client = embed(server, TEXTS, times=2)
    assert vectors == [text_vector(text) for text in TEXTS]
    # 14 + 14 + 15 + 4 + 4 characters, 4 to a token
    assert client.counts.prompt_tokens == 12
    asked = [body["encoding_format"] for _, _, body in server.requests]
    assert asked == (["base64", "base64"] if packed else ["base64", "float", "float"])


def test_batches() -> None:
    with serve() as server:
        vectors, _ = embed(server, TEXTS, batch=2)
    assert len(vectors) == 5
    assert sizes(server) == [2, 2, 1]


def test_a_batch_that_is_too_large_is_halved_and_stays_so() -> None:
    with serve(batch=2) as server:
        vectors, _ = embed(server, TEXTS, times=2)
    assert vectors == [text_vector(text) for text in TEXTS]
    # 5 refused, then halves of 2 that fit; the second time 2 from the start
    assert sizes(server) == [5, 2, 2, 1, 2, 2, 1]


def test_a_text_that_is_too_long_makes_no_batch_smaller() -> None:
    async def ask(base_url: str) -> None:
        embedder = HttpEmbedder(Endpoint(base_url), "m", "m@test")
        try:
            with pytest.raises(TooLong, match="must have less than 8 tokens"):
                await embedder.embed([*TEXTS, "word " * 20])
            await embedder.embed(TEXTS)
        finally:
            await embedder.close()

    with serve(window=8) as server:
        asyncio.run(ask(server.base_url))
    assert sizes(server) == [6, 5]


def test_nothing_to_embed_takes_no_request() -> None:
    with serve() as server:
        assert embed(server, [])[0] == []
    assert server.requests == []


def test_one_text_that_is_refused_is_an_error() -> None:
    with (
        serve(batch=0) as server,
        pytest.raises(RequestRefused, match="maximum allowed batch size 0"),
    ):
        embed(server, ["one"])
    assert sizes(server) == [1]


@given(
    st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=40)
)
def test_base64_gives_the_very_numbers(numbers: list[float]) -> None:
    packed = base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()
    assert _vector(packed) == _vector(numbers) == tuple(numbers)


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        [{"index": 0, "embedding": [1.0]}],  # one for two texts
        [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [2.0]}],  # one index twice
        [{"index": n, "embedding": [1.0]} for n in range(3)],  # one too many
        [{"index": 0, "embedding": [1.0]}, {"index": 2, "embedding": [2.0]}],
        [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": []}],
        [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [None]}],
        [
            {"index": 0, "embedding": [1.0]},
            {"index": 1, "embedding": "AAAA"},
        ],  # 3 bytes are no float32
        [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": "AADAfw=="}],  # NaN
        [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}],  # another length
    ],
)
def test_replies_that_cannot_be_right(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def post(*_: Any) -> Any:
        return {"data": data}

    monkeypatch.setattr(Endpoint, "post", post)
    embedder = HttpEmbedder(Endpoint("http://h/v1"), "m", "m")
    with pytest.raises(ServerFault, match="h sent unreadable embeddings"):
        asyncio.run(embedder.embed(["a", "b"]))
