"""Google's Gemini API: POST {base}/models/MODEL:generateContent.

Requests and replies are translated from and to the form of OpenAI's API, so that limits, thinking, lessons and the
reading of replies are those of `HttpChat`. Source: Google's API reference (models.generateContent, GenerationConfig,
GenerateContentResponse) and its guides to thinking and structured output; version v1beta.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longmark.models.http import Endpoint, Refusal
from longmark.models.http_chat import HttpChat, count_of, finish_of
from longmark.models.settings import DEFAULTS, ModelSettings

_FILTERED = (
    "safety",
    "recitation",
    "blocklist",
    "prohibited_content",
    "spii",
    "image_safety",
    "language",
)
_FINISHES = {"max_tokens": "length", **dict.fromkeys(_FILTERED, "content_filter")}
_SCHEMA_WORDS = (
    "responsejsonschema",
    "response_json_schema",
    "responseschema",
    "response_schema",
    "json mode",
)


class GeminiChat(HttpChat):
    """A model behind generateContent. The prompt's system message stands apart; parts that are thoughts are kept apart
    from the text; a prompt that was blocked is a reply that its content filter stopped. The sample number is the seed
    as in OpenAI's form. Log-probabilities: of models and endpoints that give them."""

    def __init__(
        self, endpoint: Endpoint, model: str, name: str, settings: ModelSettings = DEFAULTS
    ) -> None:
        super().__init__(endpoint, model, name, settings)
        self.identity = f"gemini:{self.identity}"
        self._url = endpoint.url(f"/{model if '/' in model else f'models/{model}'}:generateContent")

    def _sent(self, body: dict[str, Any]) -> dict[str, Any]:
        system = "\n\n".join(
            message.content for message in body["messages"] if message.role == "system"
        )
        names = {
            "temperature": "temperature",
            "top_p": "topP",
            "seed": "seed",
            "max_tokens": "maxOutputTokens",
        }
        names |= {"max_completion_tokens": "maxOutputTokens"}
        config = {native: body[name] for name, native in names.items() if name in body}
        if "logprobs" in body:
            config |= {"responseLogprobs": True, "logprobs": body["top_logprobs"]}
        if schema := body.get("response_format", {}).get("json_schema", {}).get("schema"):
            config |= {"responseMimeType": "application/json", "responseJsonSchema": schema}
        native: dict[str, Any] = {
            "contents": [
                {
                    "role": "model" if message.role == "assistant" else "user",
                    "parts": [{"text": message.content}],
                }
                for message in body["messages"]
                if message.role != "system"
            ],
            "generationConfig": config,
        }
        native |= {"systemInstruction": {"parts": [{"text": system}]}} if system else {}
        return self.settings.over(native)

    def _received(self, reply: Any) -> Any:
        blocked = (reply.get("promptFeedback") or {}).get("blockReason")
        if blocked and not reply.get("candidates"):
            refusal = f"the prompt was blocked ({blocked})"
            choice: dict[str, Any] = {
                "message": {"refusal": refusal},
                "finish_reason": "content_filter",
            }
        else:
            candidate = reply["candidates"][0]
            parts = (candidate.get("content") or {}).get(
                "parts"
            ) or ()  # none where the limit ended the thinking
            finish = finish_of(candidate.get("finishReason") or "STOP").lower()
            message = {
                "content": "".join(
                    part.get("text", "") for part in parts if not part.get("thought")
                ),
                "reasoning_content": "".join(
                    part.get("text", "") for part in parts if part.get("thought")
                ),
            }
            choice = {"message": message, "finish_reason": _FINISHES.get(finish, finish)}
            if candidate.get("logprobsResult"):
                choice["logprobs"] = {"content": _logprobs(candidate["logprobsResult"])}
        usage = _usage(reply.get("usageMetadata"))
        return {"choices": [choice], "model": reply.get("modelVersion"), "usage": usage}

    def _lesson(self, refusal: Refusal, body: dict[str, Any]) -> str | None:
        if "response_format" in body and refusal.names(*_SCHEMA_WORDS):
            return "text-only"
        return super()._lesson(refusal, body)


def _logprobs(result: Any) -> list[dict[str, Any]]:
    """One entry a token, as OpenAI has them."""

    def one(candidate: Any) -> dict[str, Any]:
        return {"token": candidate["token"], "logprob": candidate["logProbability"]}

    chosen = result["chosenCandidates"]
    tops = result["topCandidates"]
    return [
        {**one(token), "top_logprobs": [one(candidate) for candidate in top["candidates"]]}
        for token, top in zip(chosen, tops, strict=True)
    ]


def _usage(usage: Any) -> Any:
    """The counts under OpenAI's names: `promptTokenCount` has the cached ones, thoughts are counted apart from the
    reply's text. A count of 0 is left out by the API."""
    if not isinstance(usage, Mapping) or type(usage.get("promptTokenCount")) is not int:
        return None
    names = (
        "toolUsePromptTokenCount",
        "cachedContentTokenCount",
        "candidatesTokenCount",
        "thoughtsTokenCount",
    )
    try:
        tools, cached, written, thoughts = (count_of(usage.get(name)) for name in names)
    except ValueError:
        return None
    return {
        "prompt_tokens": usage["promptTokenCount"] + tools,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens": written + thoughts,
    }
