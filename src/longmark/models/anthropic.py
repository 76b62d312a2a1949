"""Anthropic's Messages API: POST {base}/messages.

Requests and replies are translated from and to the form of OpenAI's API, so that limits, thinking, lessons and the
reading of replies are those of `HttpChat`. No log-probabilities and no seed: the API has neither. Source: Anthropic's
API reference (Messages), its guides to stop reasons, extended thinking and structured outputs; version 2023-06-01.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longmark.models.http import Endpoint, Refusal
from longmark.models.http_chat import HttpChat, count_of, finish_of
from longmark.models.prefixes import marked
from longmark.models.protocols import Capabilities
from longmark.models.settings import DEFAULTS, ModelSettings

_FINISHES = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}


class AnthropicChat(HttpChat):
    """A model behind the Messages API. The prompt's system message stands apart; the thinking of `thinking` blocks is
    kept apart from the text; cached and newly cached tokens count as tokens of the prompt."""

    path = "/messages"
    marks_prefixes = True
    capabilities = Capabilities(logprobs=0)

    def __init__(
        self, endpoint: Endpoint, model: str, name: str, settings: ModelSettings = DEFAULTS
    ) -> None:
        super().__init__(endpoint, model, name, settings)
        self.identity = f"anthropic:{self.identity}"

    def _sent(self, body: dict[str, Any]) -> dict[str, Any]:
        system = "\n\n".join(
            message.content for message in body["messages"] if message.role == "system"
        )
        native: dict[str, Any] = {
            "model": body["model"],
            "max_tokens": body.get("max_tokens", body.get("max_completion_tokens")),
            "messages": marked(
                [message for message in body["messages"] if message.role != "system"],
                {"cache_control": {"type": "ephemeral"}},
            ),
        }
        native |= {"system": system} if system else {}
        native |= {name: body[name] for name in ("temperature", "top_p") if name in body}
        if schema := body.get("response_format", {}).get("json_schema", {}).get("schema"):
            # a schema with limits is refused as a whole, and the model would be asked without one from then on
            native["output_config"] = {
                "format": {"type": "json_schema", "schema": _without_limits(schema)}
            }
        return self.settings.over(native)

    def _received(self, reply: Any) -> Any:
        blocks = reply["content"]
        finish = finish_of(reply.get("stop_reason") or "end_turn")
        message = {
            "content": "".join(block["text"] for block in blocks if block["type"] == "text"),
            "reasoning_content": "".join(
                block["thinking"] for block in blocks if block["type"] == "thinking"
            ),
        }
        choice = {"message": message, "finish_reason": _FINISHES.get(finish, finish)}
        return {
            "choices": [choice],
            "model": reply.get("model"),
            "usage": _usage(reply.get("usage")),
        }

    def _lesson(self, refusal: Refusal, body: dict[str, Any]) -> str | None:
        if "response_format" in body and refusal.names("output_config", "output_format"):
            return "text-only"
        return super()._lesson(refusal, body)


def _usage(usage: Any) -> Any:
    """The counts under OpenAI's names. Anthropic's `input_tokens` leaves out what the cache served or took in."""
    if not isinstance(usage, Mapping) or type(usage.get("input_tokens")) is not int:
        return None
    try:
        served, taken = (
            count_of(usage.get(f"cache_{way}_input_tokens")) for way in ("read", "creation")
        )
    except ValueError:
        return None
    return {
        "prompt_tokens": usage["input_tokens"] + served + taken,
        "prompt_tokens_details": {"cached_tokens": served, "cache_write_tokens": taken},
        "completion_tokens": usage.get("output_tokens"),
    }


_LIMITS = frozenset(
    ("minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems")
)
_NAMED_PARTS = ("properties", "$defs")


def _without_limits(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without limits of numbers, lengths and counts, which the API refuses; readers check them."""
    plain: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _LIMITS:
            continue
        if key in _NAMED_PARTS:
            plain[key] = {name: _without_limits(part) for name, part in value.items()}
        elif key == "items":
            plain[key] = _without_limits(value)
        elif key == "anyOf":
            plain[key] = [_without_limits(part) for part in value]
        else:
            plain[key] = value
    return plain
