"""Chat over a real connection: what is sent, how replies are read, what is learnt from refusals."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest
from tests.models.asking import asked
from tests.wire import Server, serve

from longmark.errors import ServerFault, TooLong, Unsupported
from longmark.models.http import Endpoint, Known, Refusal, Remember
from longmark.models.http_models import HttpChat
from longmark.models.protocols import ChatReply, ChatRequest, Message, TokenLogprobs, Tokens

MESSAGES = (Message("system", "You mark answers."), Message("user", "Is it right, yes or no?"))
SCHEMA = {
    "type": "object",
    "properties": {
        "score": {"type": "integer", "minimum": 0, "maximum": 5},
        "why": {"type": "string"},
    },
    "required": ["score", "why"],
    "additionalProperties": False,
}


def ask(
    server: Server,
    *requests: ChatRequest,
    known: Known | None = None,
    remember: Remember | None = None,
) -> list[ChatReply]:
    """The replies to requests that one backend is asked in turn."""

    async def all_of_them() -> list[ChatReply]:
        chat = HttpChat(
            Endpoint(server.base_url, timeout=5, known=known, remember=remember), "m", "m@test"
        )
        try:
            return [await asked(lambda one=request: chat.chat(one)) for request in requests]  # type: ignore[misc]
        finally:
            await chat.close()

    return asyncio.run(all_of_them())


def _reply(reply: Any, host: str) -> ChatReply:
    return HttpChat(Endpoint(f"http://{host}/v1"), "m", "m@h")._reply(reply, with_logprobs=True)


def sent(server: Server) -> list[dict[str, Any]]:
    return [body for _, _, body in server.requests]


def test_a_plain_call() -> None:
    with serve(reply="85") as server:
        [reply] = ask(server, ChatRequest(MESSAGES, max_tokens=16))
    # the server counts a token for 4 characters and 3 more: (17 + 23) // 4 + 3 = 13, of which 13 // 2 are reused
    assert reply == ChatReply("85", "stop", None, (), Tokens(13, 6, 2), model="m")
    assert sent(server) == [
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": "You mark answers."},
                {"role": "user", "content": "Is it right, yes or no?"},
            ],
            "temperature": 0.0,
            "max_tokens": 16,
        }
    ]
    assert server.requests[0][1]["content-type"] == "application/json"
    assert "authorization" not in server.requests[0][1]


def test_names() -> None:
    chat = HttpChat(Endpoint("http://h/v1/"), "m", "m@http://h/v1")
    assert (chat.name, chat.identity) == ("m@http://h/v1", "m@http://h/v1")
    assert chat.capabilities.logprobs is None


def test_the_sample_number_is_the_seed_where_it_can_matter() -> None:
    with serve() as server:
        ask(
            server,
            ChatRequest(MESSAGES),
            ChatRequest(MESSAGES, sample=2),
            ChatRequest(MESSAGES, temperature=0.7, top_p=0.9),
        )
    assert [body.get("seed") for body in sent(server)] == [None, 2, 0]
    assert [body.get("top_p") for body in sent(server)] == [None, None, 0.9]


def test_logprobs() -> None:
    with serve() as server:
        [reply] = ask(server, ChatRequest(MESSAGES, logprobs=3, max_tokens=1))
    assert sent(server)[0]["top_logprobs"] == 3
    [token] = reply.logprobs
    assert token.token == reply.text
    assert token.top[0] == (token.token, token.logprob)
    assert len(token.top) == 3
    assert all(logprob <= 0 for _, logprob in token.top)


def test_a_schema_is_sent_strictly_and_followed() -> None:
    with serve() as server:
        [reply] = ask(server, ChatRequest(MESSAGES, schema=SCHEMA, schema_name="mark"))
    wanted = {"name": "mark", "strict": True, "schema": SCHEMA}
    assert sent(server)[0]["response_format"] == {"type": "json_schema", "json_schema": wanted}
    assert reply.text.startswith('{"score":')


def test_a_refused_schema_falls_back_to_text_once_and_for_all() -> None:
    learnt: list[tuple[str, str]] = []
    with serve(json_schema=False, reply="85") as server:
        replies = ask(
            server,
            ChatRequest(MESSAGES, schema=SCHEMA),
            ChatRequest(MESSAGES, schema=SCHEMA, sample=1),
            remember=lambda *pair: learnt.append(pair),
        )
    assert [reply.text for reply in replies] == ["85", "85"]
    assert ["response_format" in body for body in sent(server)] == [True, False, False]
    assert learnt == [(f"m@{server.base_url}", "text-only")]


def test_a_schema_that_an_earlier_run_saw_refused_is_not_sent() -> None:
    with serve(json_schema=False) as server:
        ask(
            server,
            ChatRequest(MESSAGES, schema=SCHEMA),
            known=lambda _model, fact: fact == "text-only",
        )
    assert len(server.requests) == 1
    assert "response_format" not in sent(server)[0]


def test_many_first_calls_at_once_learn_the_same_lesson() -> None:
    async def at_once(base_url: str) -> list[ChatReply]:
        chat = HttpChat(Endpoint(base_url), "m", "m")
        requests = (ChatRequest(MESSAGES, schema=SCHEMA, sample=n) for n in range(20))
        replies = await asyncio.gather(*(asked(lambda one=one: chat.chat(one)) for one in requests))  # type: ignore[misc]
        await chat.close()
        return replies

    with serve(json_schema=False, reply="85", latency=0.02) as server:
        assert {reply.text for reply in asyncio.run(at_once(server.base_url))} == {"85"}
    assert server.counts["by_status"] == {"400": 1, "200": 20}  # the others waited for the first


def test_a_server_that_refuses_several_things() -> None:
    with serve(json_schema=False, seed=False, completion_tokens=True, reply="85") as server:
        request = ChatRequest(MESSAGES, schema=SCHEMA, sample=1, max_tokens=9)
        assert [reply.text for reply in ask(server, request, request)] == ["85", "85"]
    last = {name for name in sent(server)[-1] if name not in ("model", "messages")}
    assert last == {"temperature", "max_completion_tokens"}
    assert server.counts["requests"] == 5  # three refusals, each of another thing, then two replies


def test_a_prompt_that_is_too_long_teaches_nothing_about_the_parameters_that_it_names() -> None:
    with serve(window=64) as server:
        with pytest.raises(TooLong, match="maximum context length is 64 tokens"):
            ask(server, ChatRequest(MESSAGES, max_tokens=60))
        assert server.counts["requests"] == 1
        assert ask(server, ChatRequest(MESSAGES, max_tokens=10))
    assert "max_tokens" in sent(server)[-1]


def test_refused_logprobs_are_an_error_and_not_asked_for_again() -> None:
    async def twice(base_url: str) -> None:
        chat = HttpChat(Endpoint(base_url), "m", "m@test")
        for _ in range(2):
            with pytest.raises(
                Unsupported, match=r"^log-probabilities are not supported by m@test: "
            ) as caught:
                await chat.chat(ChatRequest(MESSAGES, logprobs=5))
            assert caught.value.http_status == 400
        assert (await chat.chat(ChatRequest(MESSAGES))).text
        await chat.close()

    with serve(logprobs=False) as server:
        asyncio.run(twice(server.base_url))
    assert server.counts["by_status"] == {"400": 1, "200": 1}


def test_forbidden_logprobs_are_unsupported_as_rejected_ones_are() -> None:
    """The reply of OpenAI for o4-mini, as quoted in github.com/confident-ai/deepeval/pull/2184."""
    error = {
        "message": "You are not allowed to request logprobs from this model",
        "type": "invalid_request_error",
    }
    body = orjson.dumps({"error": error | {"param": None, "code": None}})

    def forbids(_number: int, _path: str, request: Any) -> tuple[int, bytes, str] | None:
        return (403, body, "") if "logprobs" in request else None

    with serve(answer=forbids) as server:
        with pytest.raises(Unsupported, match=r"^log-probabilities are not supported by m@test: "):
            ask(server, ChatRequest(MESSAGES, logprobs=5))
        assert server.counts["by_status"] == {"403": 1}


@pytest.mark.parametrize(
    ("fault", "text", "finish", "refusal"),
    [
        ("prose", "I would say that this answer is quite good overall.", "stop", None),
        ("refusal", "", "stop", "I'm sorry, I cannot help with that."),
        ("null", "", "length", None),
    ],
)
def test_replies_that_are_not_what_was_asked_for(
    fault: str, text: str, finish: str, refusal: str | None
) -> None:
    with serve(force=[fault]) as server:
        [reply] = ask(server, ChatRequest(MESSAGES))
    assert (reply.text, reply.finish, reply.refusal) == (text, finish, refusal)


def test_a_filtered_prompt_is_a_refusal_of_the_model() -> None:
    with serve(force=["filtered"]) as server:
        [reply] = ask(server, ChatRequest(MESSAGES))
    assert (reply.text, reply.finish) == ("", "content_filter")
    assert "content management policy" in (reply.refusal or "")


def test_no_choices_is_no_reply() -> None:
    with (
        serve(force=["no_choices"]) as server,
        pytest.raises(ServerFault, match="incomplete chat reply"),
    ):
        ask(server, ChatRequest(MESSAGES))


def test_forms_that_other_servers_give() -> None:
    # no usage, no finish reason
    bare = {"choices": [{"message": {"content": "85"}, "finish_reason": None}]}
    assert _reply(bare, "h") == ChatReply("85", tokens=None)
    # content in parts, of which the thinking is not what was said
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    parts = [thought, {"type": "text", "text": "8"}, {"type": "text", "text": "5"}]
    reply = _reply({"choices": [{"message": {"content": parts}}]}, "h")
    assert (reply.text, reply.thinking) == ("85", "hm")
    # logprobs that are there but empty
    empty = {"choices": [{"message": {"content": "85"}, "logprobs": {"content": None}}]}
    assert _reply(empty, "h").logprobs == ()
    # a token without candidates
    single = {"content": [{"token": "85", "logprob": -1, "top_logprobs": None}]}
    reply = _reply({"choices": [{"message": {"content": "85"}, "logprobs": single}]}, "h")
    assert reply.logprobs == (TokenLogprobs("85", -1.0),)


def test_versions_are_read_as_the_endpoint_reports_them_and_nothing_else_is():
    message = {"choices": [{"message": {"content": "85"}}]}
    full = _reply({**message, "model": "gpt-4o-mini-2024-07-18", "system_fingerprint": "fp_1"}, "h")
    assert (full.model, full.fingerprint) == ("gpt-4o-mini-2024-07-18", "fp_1")
    for odd in (None, "", 5, ["m"], "x" * 201):
        reply = _reply({**message, "model": odd, "system_fingerprint": odd}, "h")
        assert (reply.model, reply.fingerprint) == (None, None)


@pytest.mark.parametrize(
    "reply",
    [
        [],
        {},
        {"choices": None},
        {"choices": [{}]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {"content": 85}}]},
        {"choices": [{"message": {"content": "85"}, "logprobs": {"content": [{"token": "85"}]}}]},
    ],
)
def test_replies_in_no_known_form(reply: Any) -> None:
    with pytest.raises(ServerFault, match="incomplete chat reply"):
        _reply(reply, "h")


def test_too_many_log_probabilities_are_asked_for_again_with_fewer():
    said = "Requested sample logprobs of {n}, which is greater than max allowed: 5".lower()
    known = {"top-logprobs:10", "top-logprobs:5"}
    chat = HttpChat(
        Endpoint("http://127.0.0.1:9/v1", known=lambda _model, fact: fact in known), "m", "m"
    )
    facts = []
    for wanted in (20, 10, 5):
        refusal = Refusal("too many", 400, "", said.format(n=wanted))
        facts.append(chat._lesson(refusal, {"logprobs": True, "top_logprobs": wanted}))
    assert facts == ["top-logprobs:10", "top-logprobs:5", "top-logprobs:2"]
    assert chat._body(ChatRequest((), logprobs=20))["top_logprobs"] == 5
    plain = Refusal("no", 400, "", "this model does not support logprobs")
    assert chat._lesson(plain, {"logprobs": True, "top_logprobs": 20}) == "no-logprobs"
