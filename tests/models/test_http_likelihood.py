"""vLLM's log-probabilities of a given text, over a real connection."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.wire import Server, serve
from tests.wire_replies import BOS, text_tokens, token_id, token_logprob

from longmark.errors import ServerFault, Unsupported
from longmark.models.http import Endpoint
from longmark.models.http_models import HttpLanguageModel
from longmark.models.protocols import LikelihoodReply, LikelihoodRequest, Tokens


def likelihood(server: Server, *requests: LikelihoodRequest) -> list[LikelihoodReply]:
    async def ask() -> list[LikelihoodReply]:
        model = HttpLanguageModel(Endpoint(server.base_url, timeout=5), "m", "m@test")
        try:
            return [await model.likelihood(request) for request in requests]
        finally:
            await model.close()

    return asyncio.run(ask())


def expected(before: list[int], text: str) -> tuple[float, ...]:
    ids = [*before, *map(token_id, text_tokens(text))]
    return tuple(token_logprob(ids[i - 1], ids[i]) for i in range(len(before), len(ids)))


def test_the_tokens_of_the_text_and_no_others() -> None:
    with serve() as server:
        [reply] = likelihood(server, LikelihoodRequest("The capital is", " Paris, in France"))
    before = [BOS, *map(token_id, ["The", " capital", " is"])]
    assert reply.pieces == (" Paris", ",", " in", " France")
    assert reply.logprobs == expected(before, " Paris, in France")
    assert reply.entropies == ()
    assert reply.tokens == Tokens(8, 0, 1)  # BOS, 3 and 4 tokens; the one that had to be generated
    assert server.requests[-1][0] == "/v1/completions"


def test_the_text_is_the_same_tokens_after_every_prompt() -> None:
    with serve() as server:
        likelihood(
            server,
            *(LikelihoodRequest(prompt, "ing it") for prompt in ("Mark", "Mark ", "Some words")),
        )
    sent = [body["prompt"] for path, _, body in server.requests if path == "/v1/completions"]
    # "Mark" + "ing" would be one word if the two were tokenised together
    assert {tuple(prompt[-2:]) for prompt in sent} == {(token_id("ing"), token_id(" it"))}


def test_a_chat_prompt_goes_through_the_template() -> None:
    with serve() as server:
        [reply] = likelihood(server, LikelihoodRequest("Where?", "Here", chat=True))
    [asked] = [body for path, _, body in server.requests if "messages" in body]
    assert asked["messages"] == [{"role": "user", "content": "Where?"}]
    assert asked["add_generation_prompt"] is True
    before = [BOS, *map(token_id, text_tokens("<user>Where?<assistant>"))]
    assert reply.logprobs == expected(before, "Here")


def test_an_empty_text_takes_no_request() -> None:
    with serve() as server:
        assert likelihood(server, LikelihoodRequest("x", "")) == [LikelihoodReply((), ())]
    assert server.requests == []


def test_an_empty_prompt_still_has_its_first_token() -> None:
    with serve() as server:
        [reply] = likelihood(server, LikelihoodRequest("", "Here"))
    assert reply.logprobs == expected([BOS], "Here")


@pytest.mark.parametrize("quirk", [{"tokenize": False}, {"logprobs": False}])
def test_a_server_without_it(quirk: dict[str, Any]) -> None:
    with (
        serve(**quirk) as server,
        pytest.raises(Unsupported, match=r"^prompt logprobs are not supported by m@test"),
    ):
        likelihood(server, LikelihoodRequest("a", "b"))


def read(reply: Any, text: list[int], start: int) -> LikelihoodReply:
    return HttpLanguageModel(Endpoint("http://h/v1"), "m", "m")._reply(reply, text, start)


def test_a_server_that_ignores_the_question() -> None:
    with pytest.raises(
        Unsupported, match=r"^prompt logprobs are not supported by m: its reply contains none"
    ):
        read({"choices": [{"text": "x"}]}, [7], 1)


def test_the_given_token_is_found_among_likelier_ones() -> None:
    # as vLLM sends them: the likeliest token and the one that was given, by token id
    entry = {
        "9": {"logprob": -0.1, "rank": 1, "decoded_token": " the"},
        "7": {"logprob": -6.5, "rank": 40, "decoded_token": " a"},
    }
    assert read({"choices": [{"prompt_logprobs": [None, entry]}]}, [7], 1) == LikelihoodReply(
        (-6.5,), (" a",), tokens=None
    )


@pytest.mark.parametrize(
    "entries",
    [
        [None],  # too few
        [None, None],
        [None, {"9": {"logprob": -1.0}}],  # not the token that was given
        [None, {"7": {"rank": 1}}],
        [None, {"7": {"logprob": -1.0}}, {"7": {"logprob": -1.0}}],  # too many
    ],
)
def test_replies_that_cannot_be_right(entries: Any) -> None:
    with pytest.raises(ServerFault, match="h sent unreadable log-probabilities"):
        read({"choices": [{"prompt_logprobs": entries}]}, [7], 1)
