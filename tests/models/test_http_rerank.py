"""Reranking over a real connection, in each form of the reply."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.models.asking import behind_a_client
from tests.wire import Server, serve

from longmark.errors import RequestRefused, ServerFault
from longmark.models.client import UsageLog
from longmark.models.http import Endpoint
from longmark.models.http_models import HttpReranker
from longmark.models.protocols import RerankReply, Tokens

QUERY = "when did the levee break"
DOCUMENTS = ["rain fell", "the levee did break", "the levee held"]
# the server: words of the query that a document has, less half a point for each of the five that it lacks:
# 0 - 2.5; the, levee, did, break: 4 - 0.5; the, levee: 2 - 1.5
SCORES = (-2.5, 3.5, 0.5)


def rerank(server: Server, documents: list[str], times: int = 1) -> RerankReply:
    async def ask() -> RerankReply:
        reranker = HttpReranker(Endpoint(server.base_url, timeout=5), "m", "m@test")
        try:
            return [
                await behind_a_client(
                    lambda client: client.rerank(reranker, QUERY, documents, UsageLog())
                )
                for _ in range(times)
            ][-1]
        finally:
            await reranker.close()

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("form", "tokens", "requests"),
    [
        ("jina", 7, 2),
        ("vllm", 7, 2),  # raw, because the sigmoid is switched off
        ("voyage", 7, 2),
        ("cohere", None, 3),  # the first call is refused over `use_activation`
        ("tei", None, 3),  # the first call is refused for want of `texts`
    ],
)
def test_forms(form: str, tokens: int | None, requests: int) -> None:
    with serve(rerank=form) as server:
        reply = rerank(server, DOCUMENTS, times=2)
    assert reply == RerankReply(SCORES, None if tokens is None else Tokens(tokens))
    assert len(server.requests) == requests


def test_what_tei_is_sent() -> None:
    with serve(rerank="tei") as server:
        rerank(server, DOCUMENTS)
    assert server.requests[-1][2] == {"query": QUERY, "texts": DOCUMENTS, "raw_scores": True}


def test_more_documents_than_the_server_takes() -> None:
    with serve(batch=2) as server:
        reply = rerank(server, DOCUMENTS)
    assert reply == RerankReply(SCORES, Tokens(21))
    assert [len(body["documents"]) for _, _, body in server.requests] == [3, 1, 1, 1]


def test_nothing_to_rank_takes_no_request() -> None:
    with serve() as server:
        assert rerank(server, []) == RerankReply(())
    assert server.requests == []


def test_one_document_that_is_refused_is_an_error() -> None:
    with (
        serve(batch=0) as server,
        pytest.raises(RequestRefused, match="maximum allowed batch size 0"),
    ):
        rerank(server, ["one"])


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"results": None},
        {"results": [{"index": 0, "relevance_score": 1}]},  # one of two
        {
            "results": [{"index": 0, "relevance_score": 1}, {"index": 0, "relevance_score": 1}]
        },  # one twice
        {"results": [{"index": 0, "relevance_score": 1}, {"index": 2, "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": 1}, {"index": 1}]},
        {"results": [{"index": 0, "relevance_score": 1}, {"index": 1, "relevance_score": "NaN"}]},
        [{"index": 0, "score": 1}],
        [{"index": n, "score": 1} for n in (0, 1, 1)],  # one too many
    ],
)
def test_replies_that_cannot_be_right(reply: Any) -> None:
    reranker = HttpReranker(Endpoint("http://h/v1"), "m", "m")
    with pytest.raises(ServerFault, match="h sent unreadable scores"):
        reranker._reply(reply, 2)


def test_coheres_tokens() -> None:
    reranker = HttpReranker(Endpoint("http://h/v2"), "m", "m")
    results = [{"index": 0, "relevance_score": 0.5}]
    assert reranker._reply(
        {"results": results, "meta": {"tokens": {"input_tokens": 8}}}, 1
    ).tokens == Tokens(8)
    assert reranker._reply({"results": results, "meta": None}, 1).tokens is None
