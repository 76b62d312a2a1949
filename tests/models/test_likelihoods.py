"""Several likelihoods at once behind the client."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.there import there

from longmark.errors import RequestRefused
from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.fake import FakeLanguageModel
from longmark.models.protocols import LikelihoodReply, LikelihoodRequest


@pytest.fixture
def cache(tmp_path: Path):
    made = CallCache(tmp_path / "calls.sqlite")
    yield made
    made.close()


class _Sharing(FakeLanguageModel):
    """Takes several requests at once."""

    def __init__(self) -> None:
        super().__init__()
        self.groups: list[int] = []

    async def likelihoods(self, requests: Sequence[LikelihoodRequest]) -> list[LikelihoodReply]:
        self.groups.append(len(requests))
        return [await self.likelihood(request) for request in requests]


def test_each_of_several_likelihoods_is_cached_and_what_is_new_goes_together(cache: CallCache):
    asked = [LikelihoodRequest(f"prompt {i}", "a text") for i in range(4)]

    async def use(model: FakeLanguageModel) -> None:
        client = Client(cache)
        one = await client.likelihood(model, asked[1], UsageLog())
        many = await client.likelihoods(model, asked, UsageLog())
        assert many[1] == one
        assert [there(reply.tokens).prompt for reply in many] == [4] * 4
        assert await client.likelihoods(model, list(reversed(asked)), UsageLog()) == many[::-1]

    sharing, plain = _Sharing(), FakeLanguageModel(name="one by one")
    asyncio.run(use(sharing))
    assert sharing.groups == [3]
    asyncio.run(use(plain))
    assert plain.requests == [asked[1], asked[0], asked[2], asked[3]]


def test_an_error_among_several_likelihoods_is_raised_and_the_others_are_kept(cache: CallCache):
    def said(prompt: str, _word: str) -> float:
        if prompt == "bad":
            raise RequestRefused("too long")
        return -1.0

    model = FakeLanguageModel(said)
    asked = [LikelihoodRequest(prompt, "x") for prompt in ("good", "bad")]
    with pytest.raises(RequestRefused, match="too long"):
        asyncio.run(Client(cache).likelihoods(model, asked, UsageLog()))
    asyncio.run(Client(cache).likelihood(model, asked[0], UsageLog()))
    assert len(model.requests) == 2
