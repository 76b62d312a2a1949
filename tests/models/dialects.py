"""The servers of vendors as their public documentation describes them, on loopback: strict about paths, headers and
members of requests, with replies in the documented form. The texts are ours.

Sources (November 2026):
openai      platform.openai.com/docs/api-reference/chat
azure       learn.microsoft.com: Azure OpenAI REST API reference; Content filtering
anthropic   docs.claude.com: Messages API; Handling stop reasons; Errors; Extended thinking; Structured outputs
gemini      ai.google.dev/api/generate-content; Gemini thinking; Rate limits
openrouter  openrouter.ai/docs: API reference; Errors and debugging; Reasoning tokens; Provider routing
vllm        docs.vllm.ai: OpenAI-compatible server; Reasoning outputs
llama.cpp   github.com/ggml-org/llama.cpp, tools/server/README.md
ollama      docs.ollama.com/openai
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

KEY = "sk-of-the-dialect-0001"
_CHAT = "model messages temperature top_p max_tokens seed logprobs top_logprobs response_format"
_MESSAGES = [{"role", "content"}, {"role", "parts"}]
SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "integer"}},
    "required": ["score"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class VendorDialect:
    """lines: of its entry in longmark.yaml, with `{base}` for the base URL; base: the path of that; path: of a chat
    call; headers: those a request must have, `None`: must not have; members: those a body may have; reply: to a chat
    call, in the documented form; error: a refusal's body by its message; system: whether the system message may be
    among the others."""

    lines: tuple[str, ...]
    base: str
    path: str
    headers: Mapping[str, str | None]
    members: str
    reply: dict[str, Any]
    error: Callable[[int, str], Any]
    system: bool = True
    config: str = ""

    def answer(self, path: str, headers: Mapping[str, str], body: Any) -> tuple[int, Any]:
        """The status and the body of the server's reply."""
        if path != self.path:
            return 404, self.error(404, f"no such path: {path}")
        for name, value in self.headers.items():
            if headers.get(name) != value:
                return 401, self.error(401, f"the header {name} is wrong")
        if unknown := set(body) - set(self.members.split()):
            return 400, self.error(400, f"unknown members: {sorted(unknown)}")
        if self.config and (
            unknown := set(body[self.config.split()[0]]) - set(self.config.split()[1:])
        ):
            return 400, self.error(400, f"unknown members: {sorted(unknown)}")
        messages = body.get("messages", body.get("contents")) or [{}]
        roles = ("system", "user", "assistant") if self.system else ("user", "assistant", "model")
        if any(set(one) not in _MESSAGES or one["role"] not in roles for one in messages):
            return 400, self.error(400, "messages: not in the documented form")
        return 200, self.reply


def _openai_error(status: int, message: str) -> Any:
    return {
        "error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    }


def _anthropic_error(status: int, message: str) -> Any:
    kind = {401: "authentication_error", 404: "not_found_error", 529: "overloaded_error"}
    error = {"type": kind.get(status, "invalid_request_error"), "message": message}
    return {"type": "error", "error": error, "request_id": "req_0001"}


def _google_error(status: int, message: str) -> Any:
    names = {
        400: "INVALID_ARGUMENT",
        401: "UNAUTHENTICATED",
        404: "NOT_FOUND",
        429: "RESOURCE_EXHAUSTED",
    }
    return {"error": {"code": status, "message": message, "status": names[status]}}


def _openrouter_error(status: int, message: str) -> Any:
    return {"error": {"code": status, "message": message}, "user_id": "user_0001"}


def _ollama_error(status: int, message: str) -> Any:
    return {"error": {"message": message, "type": "api_error", "param": None, "code": None}}


def _llama_error(status: int, message: str) -> Any:
    return {"error": {"code": status, "message": message, "type": "invalid_request_error"}}


def _completion(
    model: str, message: dict[str, Any], usage: dict[str, Any], **more: Any
) -> dict[str, Any]:
    """A chat completion in the common form. more: members of the top level that a vendor adds."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", **message},
        "logprobs": None,
        "finish_reason": "stop",
    }
    head = {
        "id": "chatcmpl-0001",
        "object": "chat.completion",
        "created": 1763800000,
        "model": model,
    }
    return {**head, "choices": [choice], "usage": usage, **more}


_BEARER = {
    "authorization": f"Bearer {KEY}",
    "x-api-key": None,
    "api-key": None,
    "x-goog-api-key": None,
}
_COUNTS = {"prompt_tokens": 40, "completion_tokens": 12, "total_tokens": 52}
_FILTERS = {"hate": {"filtered": False, "severity": "safe"}}

VENDORS = {
    "openai": VendorDialect(
        ("model: gpt-4.1-mini", "endpoint: {base}"),
        "/v1",
        "/v1/chat/completions",
        _BEARER,
        f"{_CHAT} max_completion_tokens reasoning_effort",
        _completion(
            "gpt-4.1-mini-2025-04-14",
            {"content": '{"score": 85}', "refusal": None, "annotations": []},
            {
                **_COUNTS,
                "prompt_tokens_details": {"cached_tokens": 8, "audio_tokens": 0},
                "completion_tokens_details": {"reasoning_tokens": 0},
            },
            service_tier="default",
            system_fingerprint="fp_0001",
        ),
        _openai_error,
    ),
    "azure": VendorDialect(
        (
            "model: my-deployment",
            "dialect: azure",
            "endpoint: {base}",
            "query: {api-version: 2024-10-21}",
        ),
        "",
        "/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21",
        {"api-key": KEY, "authorization": None},
        _CHAT,
        _completion(
            "gpt-4o-2024-08-06",
            {"content": '{"score": 85}'},
            {**_COUNTS, "prompt_tokens_details": {"cached_tokens": 8}},
            prompt_filter_results=[{"prompt_index": 0, "content_filter_results": _FILTERS}],
            system_fingerprint="fp_0001",
        ),
        _openai_error,
    ),
    "anthropic": VendorDialect(
        ("model: claude-sonnet-4-5", "dialect: anthropic", "endpoint: {base}"),
        "/v1",
        "/v1/messages",
        {"x-api-key": KEY, "anthropic-version": "2023-06-01", "authorization": None},
        "model messages system max_tokens temperature top_p output_config thinking",
        {
            "id": "msg_0001",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5-20250929",
            "content": [
                {"type": "thinking", "thinking": "The rain is stated.", "signature": "c2ln"},
                {"type": "redacted_thinking", "data": "ZGF0YQ=="},
                {"type": "text", "text": '{"score": 85}'},
            ],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {
                "input_tokens": 20,
                "cache_creation_input_tokens": 12,
                "cache_read_input_tokens": 8,
                "output_tokens": 12,
                "service_tier": "standard",
            },
        },
        _anthropic_error,
        system=False,
    ),
    "gemini": VendorDialect(
        ("model: gemini-2.0-flash", "dialect: gemini", "endpoint: {base}"),
        "/v1beta",
        "/v1beta/models/gemini-2.0-flash:generateContent",
        {"x-goog-api-key": KEY, "authorization": None},
        "contents systemInstruction generationConfig",
        {
            "candidates": [
                {
                    "content": {
                        "parts": [
                            {"text": "The rain is stated.", "thought": True},
                            {"text": '{"score": 85}'},
                        ],
                        "role": "model",
                    },
                    "finishReason": "STOP",
                    "index": 0,
                }
            ],
            "usageMetadata": {
                "promptTokenCount": 40,
                "cachedContentTokenCount": 8,
                "candidatesTokenCount": 7,
                "thoughtsTokenCount": 5,
                "totalTokenCount": 52,
            },
            "modelVersion": "gemini-2.0-flash-001",
            "responseId": "r0001",
        },
        _google_error,
        system=False,
        config="generationConfig temperature topP maxOutputTokens seed responseLogprobs logprobs responseMimeType "
        "responseJsonSchema thinkingConfig",
    ),
    "openrouter": VendorDialect(
        (
            "model: deepseek/deepseek-chat",
            "endpoint: {base}",
            "headers: {HTTP-Referer: https://example.org, X-Title: eval}",
            "body: {provider: {order: [a], allow_fallbacks: false}, reasoning: {effort: low}}",
        ),
        "/api/v1",
        "/api/v1/chat/completions",
        {**_BEARER, "http-referer": "https://example.org", "x-title": "eval"},
        f"{_CHAT} provider reasoning models transforms",
        _completion(
            "deepseek/deepseek-chat",
            {"content": '{"score": 85}', "refusal": None, "reasoning": "The rain is stated."},
            {**_COUNTS, "cost": 0.0001, "prompt_tokens_details": {"cached_tokens": 8}},
            provider="a",
        ),
        _openrouter_error,
    ),
    "vllm": VendorDialect(
        (
            "model: Qwen/Qwen2.5-7B-Instruct",
            "endpoint: {base}",
            "body: {chat_template_kwargs: {enable_thinking: true}}",
        ),
        "/v1",
        "/v1/chat/completions",
        _BEARER,
        f"{_CHAT} chat_template_kwargs",
        _completion(
            "Qwen/Qwen2.5-7B-Instruct",
            {
                "content": '{"score": 85}',
                "tool_calls": [],
                "reasoning_content": "The rain is stated.",
            },
            {**_COUNTS, "prompt_tokens_details": {"cached_tokens": 8}},
            prompt_logprobs=None,
            kv_transfer_params=None,
        ),
        lambda status, message: {
            "error": {"message": message, "type": "BadRequestError", "param": None, "code": status}
        },
    ),
    "llama.cpp": VendorDialect(
        ("model: local", "endpoint: {base}", "body: {reasoning_format: deepseek}"),
        "/v1",
        "/v1/chat/completions",
        _BEARER,
        f"{_CHAT} reasoning_format cache_prompt",
        _completion(
            "local",
            {"content": '{"score": 85}', "reasoning_content": "The rain is stated."},
            {**_COUNTS, "prompt_tokens_details": {"cached_tokens": 8}},
            system_fingerprint="b6000-0001",
            timings={"cache_n": 8, "prompt_n": 32, "predicted_n": 12},
        ),
        _llama_error,
    ),
    "ollama": VendorDialect(
        ("model: deepseek-v3", "endpoint: {base}", "body: {reasoning_effort: low}"),
        "/v1",
        "/v1/chat/completions",
        _BEARER,
        f"{_CHAT} reasoning_effort",
        _completion(
            "deepseek-v3",
            {"content": '{"score": 85}', "reasoning": "The rain is stated."},
            _COUNTS,
            system_fingerprint="fp_ollama",
        ),
        _ollama_error,
    ),
}
