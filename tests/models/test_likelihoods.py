"""Several likelihoods at once behind the door."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.there import there

from longmark.errors import RequestRefused
from longmark.models.cache import CallCache
from longmark.models.door import Door, Ledger
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
        door = Door(cache)
        one = await door.likelihood(model, asked[1], Ledger())
        many = await door.likelihoods(model, asked, Ledger())
        assert many[1] == one
        assert [there(reply.tokens).prompt for reply in many] == [4] * 4
        assert await door.likelihoods(model, list(reversed(asked)), Ledger()) == many[::-1]

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
        asyncio.run(Door(cache).likelihoods(model, asked, Ledger()))
    asyncio.run(Door(cache).likelihood(model, asked[0], Ledger()))
    assert len(model.requests) == 2
