"""The endpoint: what each failure of a server means, over a real connection."""

from __future__ import annotations

import asyncio
import socket
import time
import traceback
from email.utils import formatdate
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire import serve

from longmark.errors import ModelError, RateLimited, RequestRefused, ServerFault, TooLong, UserError
from longmark.models.failures import retry_after
from longmark.models.http import Endpoint, Refusal, tokens_of
from longmark.models.keys import Key
from longmark.models.protocols import Tokens

BODY = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


def ask(
    base_url: str, key: Key | None = None, timeout: float = 5.0, body: dict[str, Any] = BODY
) -> Any:
    async def once() -> Any:
        endpoint = Endpoint(base_url, key, timeout=timeout)
        try:
            return await endpoint.post(endpoint.url("/chat/completions"), body)
        finally:
            await endpoint.close()

    return asyncio.run(once())


def failure(fault: str, key: Key | None = None, timeout: float = 5.0) -> ModelError:
    with serve(force=[fault], retry_after=0.25) as server, pytest.raises(ModelError) as caught:
        ask(server.base_url, key, timeout)
    return caught.value


def test_a_reply_is_its_json() -> None:
    with serve(reply="85") as server:
        reply = ask(server.base_url)
    assert reply["choices"][0]["message"]["content"] == "85"


@pytest.mark.parametrize(
    ("fault", "seconds"), [("429", 1.0), ("429_fraction", 0.25), ("429_ms", 0.25)]
)
def test_429_says_how_long_to_wait(fault: str, seconds: float) -> None:
    error = failure(fault)
    assert isinstance(error, RateLimited)
    assert error.http_status == 429
    assert error.retry_after == seconds


def test_429_with_a_date() -> None:
    error = failure("429_date")
    assert isinstance(error, RateLimited)
    assert error.retry_after is not None
    assert (
        0 <= error.retry_after <= 1
    )  # a date has whole seconds: 0.25 s from now is this second or the next


def test_429_for_want_of_money_is_no_wait() -> None:
    error = failure("429_quota")
    assert isinstance(error, RequestRefused)
    assert "no quota left" in str(error)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("500", "failed (500): The server had an error"),
        ("drop", "the connection to 127.0.0.1"),
        ("cut", "the connection to 127.0.0.1"),
        ("truncated", "not JSON"),
        ("not_json", "not JSON: <html>"),
    ],
)
def test_a_server_at_fault_may_be_asked_again(fault: str, words: str) -> None:
    error = failure(fault)
    assert isinstance(error, ServerFault)
    assert error.retryable
    assert words in str(error)


def test_a_server_that_hangs() -> None:
    began = time.monotonic()
    error = failure("hang", timeout=0.2)
    assert isinstance(error, ServerFault)
    assert "no reply" in str(error)
    assert "0.2 s" in str(error)
    assert time.monotonic() - began < 60  # it hangs until it is stopped


def test_nobody_listens() -> None:
    with socket.socket() as taken:  # bound but not listening: a connection is refused
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(ServerFault, match="the connection to 127"):
            ask(f"http://127.0.0.1:{taken.getsockname()[1]}/v1")


def test_a_redirect_is_not_followed_and_takes_no_key_along() -> None:
    key = Key("lm-redirect-0001", "X")
    error = failure("redirect", key)
    assert isinstance(error, RequestRefused)
    assert "redirects to http://127.0.0.2:9/v1/elsewhere:" in str(error)
    assert "secret" not in str(error)


def test_a_key_that_the_server_echoes_is_nowhere_in_the_error() -> None:
    key = Key("lm-echoed-0002", "X")
    with serve(force=["401_echo"]) as server, pytest.raises(RequestRefused) as caught:
        ask(server.base_url, key)
    assert (
        server.requests[0][1]["authorization"] == "Bearer lm-echoed-0002"
    )  # it was sent, and sent back
    assert str(caught.value).endswith(
        "refused the request (401): Incorrect API key provided: [key]"
    )
    told = "".join(
        traceback.TracebackException.from_exception(caught.value, capture_locals=True).format()
    )
    assert "data = b" in told  # the values of local names are there
    assert "lm-echoed-0002" not in told


def test_a_connection_error_carries_no_headers_along() -> None:
    error = failure("drop", Key("lm-dropped-0003", "X"))
    assert error.__cause__ is None
    assert error.__context__ is None


def test_a_missing_key_is_named() -> None:
    assert "no key is set" in str(failure("401_echo"))


def test_text_that_is_no_unicode() -> None:
    with serve() as server, pytest.raises(RequestRefused, match="cannot be written as JSON"):
        ask(server.base_url, body={"model": "half a pair: \ud800"})
    assert server.counts["requests"] == 0


def test_connections_are_kept_and_come_back_after_close() -> None:
    async def many(base_url: str) -> list[Any]:
        endpoint = Endpoint(base_url)
        url = endpoint.url("/chat/completions")
        replies = await asyncio.gather(*(endpoint.post(url, BODY) for _ in range(20)))
        await endpoint.close()
        await endpoint.close()
        replies.append(await endpoint.post(url, BODY))
        await endpoint.close()
        return replies

    with serve(latency=0.01) as server:
        assert len(asyncio.run(many(server.base_url))) == 21
        assert server.counts["max_in_flight"] == 20


def test_an_endpoint_serves_one_event_loop_after_another() -> None:
    with serve() as server:
        endpoint = Endpoint(server.base_url)
        for _ in range(2):
            asyncio.run(endpoint.post(endpoint.url("/chat/completions"), BODY))
        asyncio.run(endpoint.close())
    assert server.counts["paid"] == 2


def test_facts_are_asked_for_once_and_handed_on() -> None:
    asked: list[tuple[str, str]] = []
    told: list[tuple[str, str]] = []

    def known(model: str, fact: str) -> bool:
        asked.append((model, fact))
        return fact == "text-only"

    endpoint = Endpoint(
        "http://localhost/v1", known=known, remember=lambda *pair: told.append(pair)
    )
    assert endpoint.knows("m", "text-only")
    assert endpoint.knows("m", "text-only")
    assert not endpoint.knows("m", "no-seed")
    endpoint.learn("m", "no-seed")
    assert endpoint.knows("m", "no-seed")
    assert asked == [("m", "text-only"), ("m", "no-seed")]
    assert told == [("m", "no-seed")]


def test_a_base_url_with_a_key_is_refused() -> None:
    with pytest.raises(UserError, match="LONGMARK_API_KEY_H"):
        Endpoint("http://h/v1?key=pass")


def test_a_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve() as server:
        monkeypatch.setenv("http_proxy", server.base_url.removesuffix("/v1"))
        monkeypatch.delenv("no_proxy", raising=False)
        with pytest.raises(
            RequestRefused, match="Not Found"
        ):  # the test server is no proxy, but it was asked
            ask("http://nowhere.invalid/v1")
        assert server.requests[0][0] == "http://nowhere.invalid/v1/chat/completions"
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        ask(server.base_url)  # not through the proxy, where nobody listens


def test_addresses() -> None:
    endpoint = Endpoint("http://h:1/v1/")
    assert str(endpoint.url("/rerank")) == "http://h:1/v1/rerank"
    assert str(endpoint.url("/tokenize", root=True)) == "http://h:1/tokenize"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            b'{"error": {"message": "bad   words\\n here", "code": 7}}',
            "bad words here",
        ),  # OpenAI, vLLM
        (
            b'{"object": "error", "message": "too long", "type": "BadRequestError"}',
            "too long",
        ),  # older vLLM
        (
            b'{"error": "batch size 64 > 32", "error_type": "Validation"}',
            "batch size 64 > 32",
        ),  # TEI
        (b'{"message": "invalid model"}', "invalid model"),  # Cohere
        (b'{"detail": "Not Found"}', "Not Found"),  # FastAPI
        (
            b'{"detail": [{"loc": ["body", "seed"], "msg": "Extra", "input": "long"}]}',
            "body.seed Extra",
        ),
        (b"plain text", "plain text"),
        (b"", "no message"),
        (b"[1]", "no message"),
        (b"x" * 900, "x" * 299 + "…"),
    ],
)
def test_the_words_of_a_refusal(body: bytes, message: str) -> None:
    error = Endpoint("http://h/v1")._failure(400, {}, body)
    assert isinstance(error, Refusal)
    assert str(error) == f"h refused the request (400): {message}"


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (
            400,
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        ),
        (400, "The input (9000 tokens) is longer than the model's context length (8192 tokens)."),
        (400, "the request exceeds the available context size, try increasing it"),
        (400, "Your input exceeds the context window of this model"),
        (400, "input length and `max_tokens` exceed context limit: 174167 + 64000 > 200000"),
        (400, "prompt is too long: 209353 tokens > 199999 maximum"),
        (
            400,
            "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        ),
        (
            400,
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
        ),
        (413, "Please reduce the length of the messages or completion"),
        (413, "Input validation error: `inputs` must have less than 512 tokens. Given: 700"),
        (
            422,
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 2100",
        ),
    ],
)
def test_a_text_that_is_too_long_for_the_model_is_told_apart(status: int, said: str) -> None:
    error = Endpoint("http://h/v1")._failure(
        status, {}, orjson.dumps({"error": {"message": said, "code": status}})
    )
    assert isinstance(error, Refusal)
    assert isinstance(error, TooLong)
    assert str(error) == f"h refused the request ({status}): {said}"
    by_code = orjson.dumps(
        {"error": {"message": "Input tokens exceed it", "code": "context_length_exceeded"}}
    )
    assert isinstance(Endpoint("http://h/v1")._failure(400, {}, by_code), TooLong)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (
            400,
            "max_tokens is too large: 16384. This model supports at most 4096 completion tokens.",
        ),
        (413, "batch size 64 > maximum allowed batch size 32"),
        (413, "Request Entity Too Large"),
        (404, "The model `long-context` does not exist: its context length is not known"),
        (429, "Request too large on tokens per min. Please reduce the length of the messages"),
    ],
)
def test_what_is_no_text_that_is_too_long(status: int, said: str) -> None:
    error = Endpoint("http://h/v1")._failure(status, {}, orjson.dumps({"error": {"message": said}}))
    assert not isinstance(error, TooLong)


def test_a_failure_that_a_router_reports_with_status_200() -> None:
    endpoint = Endpoint("http://h/v1")
    assert isinstance(
        endpoint._read(b'{"error": {"message": "slow down", "code": 429}}'), RateLimited
    )
    assert isinstance(
        endpoint._read(b'{"error": {"message": "gone", "code": "oops"}}'), ServerFault
    )
    assert endpoint._read(b'{"error": null, "choices": []}') == {"error": None, "choices": []}


@given(st.floats(min_value=0, max_value=1e6, allow_nan=False))
def test_retry_after_reads_what_was_written(seconds: float) -> None:
    assert retry_after({"retry-after": repr(seconds)}) == seconds
    assert retry_after({"retry-after-ms": repr(seconds), "retry-after": "9"}) == seconds / 1000


@pytest.mark.parametrize("text", ["", "soon", "-3", "nan", "inf", "Mon, 99 Nov"])
def test_retry_after_that_says_nothing(text: str) -> None:
    assert retry_after({"retry-after": text}) is None
    assert retry_after({}) is None


def test_retry_after_as_a_date_goes_by_the_servers_clock() -> None:
    # their clock is an hour behind ours: the wait is 30 s, not -3,570 s
    theirs = time.time() - 3600
    headers = {
        "date": formatdate(theirs, usegmt=True),
        "retry-after": formatdate(theirs + 30, usegmt=True),
    }
    assert retry_after(headers) == 30
    past = {"retry-after": formatdate(time.time() - 60, usegmt=True)}
    assert retry_after(past) == 0


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}, Tokens(9, 0, 2)),
        (
            {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 8}},
            Tokens(9, 8, 0),
        ),  # OpenAI
        (
            {"prompt_tokens": 9, "prompt_tokens_details": None, "completion_tokens": None},
            Tokens(9, 0, 0),
        ),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 5}, Tokens(9, 5, 0)),  # DeepSeek
        ({"prompt_tokens": 9, "cached_tokens": 5}, Tokens(9, 5, 0)),  # Moonshot
        (  # OpenAI from GPT-5.6 on
            {
                "prompt_tokens": 9,
                "prompt_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 3},
            },
            Tokens(9, 5, 0, 3),
        ),
        (  # no more than was read is taken in
            {"prompt_tokens": 9, "prompt_tokens_details": {"cache_write_tokens": 30}},
            Tokens(9, 0, 0, 9),
        ),
        ({"total_tokens": 7}, Tokens(7, 0, 0)),  # Jina
        (None, None),
        ({}, None),
        ({"prompt_tokens": 0, "completion_tokens": 2}, None),  # a call has a prompt
        ({"prompt_tokens": "9", "completion_tokens": 2}, None),
        ({"prompt_tokens": 9.0}, None),
        ({"prompt_tokens": True}, None),
        ({"prompt_tokens": -9}, None),
        ({"prompt_tokens": 9, "completion_tokens": -2}, None),
        ({"prompt_tokens": 9, "completion_tokens": [2]}, None),
        (
            {"prompt_tokens": 200, "prompt_tokens_details": {"cached_tokens": 900}},
            None,
        ),  # more reused than there were
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": "8"}}, None),
        ({"prompt_tokens": 2**64}, None),
        ({"prompt_tokens": 10**9 + 1}, None),
    ],
)
def test_tokens_as_they_were_counted_or_not_known(usage: Any, tokens: Tokens | None) -> None:
    assert tokens_of(usage) == tokens


@pytest.mark.parametrize(
    ("usage", "written"),
    [
        ({"completion_tokens": 10, "total_tokens": 30}, 10),
        ({"completion_tokens": 10}, 10),
        # xAI; Gemini's OpenAI-compatible endpoint, where the limit ended the thinking
        ({"completion_tokens": 10, "total_tokens": 130}, 110),
        ({"completion_tokens": 0, "total_tokens": 81}, 61),
        # counts that leave out what they should not
        ({"completion_tokens": 10, "total_tokens": 10}, 10),
        ({"completion_tokens": 10, "total_tokens": "130"}, 10),
    ],
)
def test_thinking_that_is_only_in_the_total_was_written_and_is_billed(
    usage: Any, written: int
) -> None:
    tokens = tokens_of({"prompt_tokens": 20, **usage}, completion=True)
    assert tokens == Tokens(20, 0, written)
