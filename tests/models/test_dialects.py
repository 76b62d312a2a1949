"""Each vendor's API through longmark.yaml, against a server that is strict about paths, headers and members."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.models.asking import asked
from tests.models.dialects import KEY, SCHEMA, VENDORS
from tests.wire import serve

from longmark.errors import (
    ModelError,
    RateLimited,
    RequestRefused,
    ServerFault,
    TooLong,
    Unsupported,
)
from longmark.models.protocols import ChatReply, ChatRequest, Message, Tokens
from longmark.models.registry import Registry
from longmark.models.trust import Trust

MESSAGES = (Message("system", "You grade."), Message("user", "Grade the answer."))
ASKED = ChatRequest(MESSAGES, temperature=0.7, top_p=0.9, max_tokens=64, sample=3, schema=SCHEMA)
Given = Callable[[int, Any], tuple[int, Any] | None]


@contextmanager
def judge_at(
    name: str, folder: Path, given: Given = lambda _n, _body: None
) -> Iterator[tuple[Any, list[Any]]]:
    """A judge of a vendor's server, and the bodies that the server got. given: (number of the request from 0, its body)
    -> status and body in place of the vendor's usual reply."""
    vendor = VENDORS[name]
    bodies: list[Any] = []

    def answer(number: int, path: str, body: Any) -> tuple[int, bytes, str]:
        bodies.append(body)
        status, reply = vendor.answer(path, server.requests[number][1], body)
        if status == 200:
            status, reply = given(number, body) or (status, reply)
        return status, orjson.dumps(reply), ""

    with serve(answer=answer) as server:
        base = server.base_url.removesuffix("/v1") + vendor.base
        lines = "".join(
            f"    {line.replace('{base}', base)}\n"
            for line in (*vendor.lines, "key_env: DIALECT_KEY")
        )
        (folder / "longmark.yaml").write_text(f"models:\n  j:\n{lines}")
        yield (
            Registry(config=folder / "longmark.yaml", trust=Trust(given=True)).open("judge", "j"),
            bodies,
        )


def reply_of(judge: Any, request: ChatRequest = ASKED) -> ChatReply:
    async def ask() -> ChatReply:
        try:
            return await asked(lambda: judge.chat(request))
        finally:
            await judge.close()

    return asyncio.run(ask())


def failure(
    name: str, folder: Path, status: int, body: Any, request: ChatRequest = ASKED
) -> ModelError:
    with (
        judge_at(name, folder, lambda _n, _b: (status, body)) as (judge, _),
        pytest.raises(ModelError) as caught,
    ):
        reply_of(judge, request)
    return caught.value


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIALECT_KEY", KEY)


@pytest.mark.parametrize("name", VENDORS)
def test_a_vendor_accepts_the_request_and_its_reply_is_read(name: str, tmp_path: Path) -> None:
    with judge_at(name, tmp_path) as (judge, bodies):
        reply = reply_of(judge)
    assert len(bodies) == 1
    assert (reply.text, reply.finish, reply.refusal) == ('{"score": 85}', "stop", None)
    assert reply.thinking == ("" if name in ("openai", "azure") else "The rain is stated.")
    stored = 12 if name == "anthropic" else 0
    assert reply.tokens == Tokens(
        40, 0 if name == "ollama" else 8, 12, stored
    )  # Ollama does not say what it reused
    vendor = VENDORS[name].reply
    assert reply.model == vendor.get("model", vendor.get("modelVersion"))
    assert reply.fingerprint == vendor.get("system_fingerprint")


def test_openais_form_is_sent_to_all_that_are_compatible(tmp_path: Path) -> None:
    form = {
        "messages": [
            {"role": "system", "content": "You grade."},
            {"role": "user", "content": "Grade the answer."},
        ],
        "temperature": 0.7,
        "top_p": 0.9,
        "max_tokens": 64,
        "seed": 3,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA},
        },
    }
    for name in ("openai", "azure"):
        with judge_at(name, tmp_path) as (judge, bodies):
            reply_of(judge)
        assert bodies == [{"model": judge.model, **form}]


def test_anthropics_form(tmp_path: Path) -> None:
    with judge_at("anthropic", tmp_path) as (judge, bodies):
        reply_of(judge)
    assert bodies == [
        {
            "model": "claude-sonnet-4-5",
            "system": "You grade.",
            "messages": [{"role": "user", "content": "Grade the answer."}],
            "max_tokens": 64,
            "temperature": 0.7,
            "top_p": 0.9,
            "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
        }
    ]


def test_limits_of_a_schema_are_not_sent_to_anthropic(tmp_path: Path) -> None:
    """Its API refuses them: https://platform.claude.com/docs/en/build-with-claude/structured-outputs."""
    limits = {"minItems": 2, "maxItems": 2}
    grade = {"type": "integer", "minimum": 1, "maximum": 5}
    schema = SCHEMA | {"properties": {"maximum": {"type": "array", "items": grade, **limits}}}
    with judge_at("anthropic", tmp_path) as (judge, bodies):
        reply_of(judge, replace(ASKED, schema=schema))
    (body,) = bodies
    of_grades = {"type": "array", "items": {"type": "integer"}}
    assert body["output_config"]["format"]["schema"] == SCHEMA | {
        "properties": {"maximum": of_grades}  # the name of a property, no limit
    }


def test_geminis_form(tmp_path: Path) -> None:
    with judge_at("gemini", tmp_path) as (judge, bodies):
        reply_of(judge)
    assert bodies == [
        {
            "systemInstruction": {"parts": [{"text": "You grade."}]},
            "contents": [{"role": "user", "parts": [{"text": "Grade the answer."}]}],
            "generationConfig": {
                "temperature": 0.7,
                "topP": 0.9,
                "maxOutputTokens": 64,
                "seed": 3,
                "responseMimeType": "application/json",
                "responseJsonSchema": SCHEMA,
            },
        }
    ]


@pytest.mark.parametrize(
    ("name", "body", "sent"),
    [
        ("anthropic", "thinking: {type: adaptive}", {"thinking": {"type": "adaptive"}}),
        (
            "gemini",
            "generationConfig: {thinkingConfig: {thinkingBudget: 0}}",
            {"generationConfig": {"maxOutputTokens": 64, "thinkingConfig": {"thinkingBudget": 0}}},
        ),
        ("openai", "reasoning_effort: low", {"reasoning_effort": "low"}),
    ],
)
def test_members_of_the_body_are_in_the_vendors_own_form(
    name: str, body: str, sent: Any, tmp_path: Path
) -> None:
    with judge_at(name, tmp_path) as (_, bodies):
        file = tmp_path / "longmark.yaml"
        file.write_text(
            f"{file.read_text()}    temperature: none\n    thinking_tokens: 0\n    body: {{{body}}}\n"
        )
        reply_of(
            Registry(config=file, trust=Trust(given=True)).open("judge", "j"),
            ChatRequest(MESSAGES, max_tokens=64),
        )
    assert "temperature" not in str(bodies)
    assert bodies[0] == bodies[0] | sent


@pytest.mark.parametrize(
    ("name", "change", "finish"),
    [
        ("anthropic", {"stop_reason": "max_tokens", "content": []}, "length"),
        ("anthropic", {"stop_reason": "stop_sequence"}, "stop"),
        ("anthropic", {"stop_reason": "model_context_window_exceeded"}, "length"),
        ("anthropic", {"stop_reason": "refusal", "content": []}, "content_filter"),
        ("anthropic", {"stop_reason": "pause_turn"}, "pause_turn"),
        ("gemini", {"candidates": [{"finishReason": "MAX_TOKENS", "index": 0}]}, "length"),
        (
            "gemini",
            {"candidates": [{"finishReason": "SAFETY", "safetyRatings": []}]},
            "content_filter",
        ),
        (
            "gemini",
            {"candidates": [{"finishReason": "RECITATION", "content": {}}]},
            "content_filter",
        ),
        ("gemini", {"candidates": [{"finishReason": "OTHER"}]}, "other"),
        (
            "gemini",
            {"candidates": [], "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}},
            "content_filter",
        ),
    ],
)
def test_why_a_reply_ended(name: str, change: dict[str, Any], finish: str, tmp_path: Path) -> None:
    with judge_at(name, tmp_path, lambda _n, _b: (200, VENDORS[name].reply | change)):
        file = tmp_path / "longmark.yaml"
        file.write_text(
            f"{file.read_text()}    thinking_tokens: 0\n"
        )  # a reply that was cut off is not asked for again
        reply = reply_of(Registry(config=file, trust=Trust(given=True)).open("judge", "j"))
    assert reply.finish == finish
    if "promptFeedback" in change:
        assert reply.refusal == "the prompt was blocked (PROHIBITED_CONTENT)"


def test_geminis_log_probabilities(tmp_path: Path) -> None:
    def token(text: str, logprob: float) -> dict[str, Any]:
        return {"token": text, "tokenId": 1, "logProbability": logprob}

    vendor = deepcopy(VENDORS["gemini"].reply)
    vendor["candidates"][0]["content"]["parts"] = [{"text": "4"}]
    vendor["candidates"][0]["logprobsResult"] = {
        "chosenCandidates": [token("4", -0.1)],
        "topCandidates": [{"candidates": [token("4", -0.1), token("5", -2.5)]}],
    }
    with judge_at("gemini", tmp_path, lambda _n, _b: (200, vendor)) as (judge, bodies):
        reply = reply_of(judge, ChatRequest(MESSAGES, max_tokens=1, logprobs=20))
    assert (
        bodies[0]["generationConfig"]["responseLogprobs"],
        bodies[0]["generationConfig"]["logprobs"],
    ) == (True, 20)
    [first] = reply.logprobs
    assert (first.token, first.logprob, first.top) == ("4", -0.1, (("4", -0.1), ("5", -2.5)))


@pytest.mark.parametrize(
    "said", ["Logprobs is not enabled for models/gemini-2.5-pro", "Logprobs is not supported"]
)
def test_a_gemini_model_without_log_probabilities_says_so(said: str, tmp_path: Path) -> None:
    error = VENDORS["gemini"].error(400, said)
    assert isinstance(
        failure("gemini", tmp_path, 400, error, ChatRequest(MESSAGES, logprobs=5)), Unsupported
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "anthropic",
            "output_config.format.schema: For 'object' type, property 'minimum' is not supported",
        ),
        ("anthropic", "output_config: Extra inputs are not permitted"),
        (
            "gemini",
            "Invalid JSON payload received. Unknown name \"responseJsonSchema\" at 'generation_config'",
        ),
        (
            "openai",
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        ),
    ],
)
def test_a_model_without_schemas_is_asked_again_without_one(
    name: str, said: str, tmp_path: Path
) -> None:
    given: Given = lambda n, _b: (400, VENDORS[name].error(400, said)) if n == 0 else None  # noqa: E731
    with judge_at(name, tmp_path, given) as (judge, bodies):
        assert reply_of(judge).text == '{"score": 85}'
    assert "score" in str(bodies[0])
    assert "score" not in str(bodies[1])


@pytest.mark.parametrize(
    ("name", "error"),
    [
        (
            "azure",
            {
                "message": "The response was filtered due to the prompt triggering the content management policy.",
                "type": None,
                "param": "prompt",
                "code": "content_filter",
                "status": 400,
                "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}},
            },
        ),
        (
            "openrouter",
            {
                "code": 403,
                "message": "a/m requires moderation. Your input was flagged",
                "metadata": {
                    "reasons": ["violence"],
                    "flagged_input": "…",
                    "provider_name": "a",
                    "model_slug": "a/m",
                },
            },
        ),
    ],
)
def test_a_prompt_that_a_filter_stops_is_a_refusal_of_the_model(
    name: str, error: Any, tmp_path: Path
) -> None:
    status = error.get("status") or error["code"]
    with judge_at(name, tmp_path, lambda _n, _b: (status, {"error": error})) as (judge, _):
        reply = reply_of(judge)
    assert reply.finish == "content_filter"
    assert error["message"] in str(reply.refusal)


@pytest.mark.parametrize(
    ("name", "status", "said"),
    [
        (
            "openai",
            400,
            "This model's maximum context length is 128000 tokens. However, your messages resulted in",
        ),
        ("anthropic", 400, "prompt is too long: 210000 tokens > 200000 maximum"),
        (
            "gemini",
            400,
            "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).",
        ),
        (
            "llama.cpp",
            400,
            "the request exceeds the available context size (4096 tokens), try increasing it",
        ),
    ],
)
def test_a_prompt_that_is_too_long(name: str, status: int, said: str, tmp_path: Path) -> None:
    assert isinstance(failure(name, tmp_path, status, VENDORS[name].error(status, said)), TooLong)


def test_a_router_reports_a_failure_behind_it_with_status_200(tmp_path: Path) -> None:
    behind = {
        "code": 502,
        "message": "Provider returned error",
        "metadata": {"provider_name": "a", "raw": "overloaded"},
    }
    error = failure("openrouter", tmp_path, 200, {"error": behind, "user_id": "u"})
    assert isinstance(error, ServerFault)
    assert "Provider returned error (overloaded)" in str(error)
    broken = deepcopy(VENDORS["openrouter"].reply)
    broken["choices"][0] |= {
        "error": {"code": 429, "message": "Rate limited upstream"},
        "finish_reason": "error",
    }
    assert isinstance(failure("openrouter", tmp_path, 200, broken), RateLimited)


def test_google_says_in_the_body_how_long_to_wait(tmp_path: Path) -> None:
    body = VENDORS["gemini"].error(429, "You exceeded your current quota, please check your plan")
    info = "type.googleapis.com/google.rpc.RetryInfo"
    body["error"]["details"] = [{"@type": "x"}, {"@type": info, "retryDelay": "34.5s"}]
    error = failure("gemini", tmp_path, 429, body)
    assert isinstance(error, RateLimited)
    assert error.retry_after == 34.5
    one_in_a_list = failure(
        "gemini", tmp_path, 429, [body]
    )  # its OpenAI-compatible endpoint has it in a list
    assert one_in_a_list.retry_after == 34.5
    assert "exceeded your current quota" in str(one_in_a_list)


def test_an_overloaded_vendor_is_asked_again_and_a_wrong_key_is_not(
    tmp_path: Path, monkeypatch: Any
) -> None:
    overloaded = VENDORS["anthropic"].error(529, "Overloaded")
    assert isinstance(failure("anthropic", tmp_path, 529, overloaded), ServerFault)
    monkeypatch.setenv("DIALECT_KEY", "sk-another-key-0002")
    for name in VENDORS:
        error = failure(name, tmp_path, 200, {})
        assert isinstance(error, RequestRefused), name
        assert error.http_status == 401
        assert "another-key" not in str(error)


@pytest.mark.parametrize("name", ["anthropic", "gemini"])
@pytest.mark.parametrize(
    "reply", [{}, {"content": [{}]}, {"content": "x"}, {"candidates": [{"content": 3}]}, []]
)
def test_a_reply_in_another_form_is_a_fault_of_the_server(
    name: str, reply: Any, tmp_path: Path
) -> None:
    assert isinstance(failure(name, tmp_path, 200, reply), ServerFault)


@pytest.mark.parametrize(
    ("name", "odd", "finish"),
    [
        (
            "anthropic",
            {"stop_reason": 5, "usage": {"input_tokens": 9, "cache_read_input_tokens": "3"}},
            "5",
        ),
        ("anthropic", {"stop_reason": {"a": 1}, "usage": {"input_tokens": "9"}}, "{'a': 1}"),
        ("gemini", {"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": "3"}}, "stop"),
        (
            "gemini",
            {"usageMetadata": {"promptTokenCount": 9, "cachedContentTokenCount": [1]}},
            "stop",
        ),
    ],
)
def test_odd_counts_and_reasons_do_not_discard_a_reply(
    name: str, odd: Any, finish: str, tmp_path: Path
) -> None:
    with judge_at(name, tmp_path, lambda _n, _b: (200, VENDORS[name].reply | odd)) as (
        judge,
        bodies,
    ):
        reply = reply_of(judge)
    assert (reply.finish, reply.tokens, len(bodies)) == (finish, None, 1)
    assert reply.text


def test_a_claude_that_takes_no_temperature_is_asked_without_one(tmp_path: Path) -> None:
    refusal = VENDORS["anthropic"].error(400, "`temperature` is deprecated for this model.")
    given: Given = lambda _n, body: (400, refusal) if "temperature" in body else None  # noqa: E731
    with judge_at("anthropic", tmp_path, given) as (judge, bodies):
        assert reply_of(judge).text == '{"score": 85}'
    assert ["temperature" in body for body in bodies] == [True, False]
    assert judge.settled == ["no temperature"]
