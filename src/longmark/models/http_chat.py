"""Chat over HTTP: POST {base}/chat/completions.

Nothing is probed. Where an endpoint refuses a call (400 or 422) over one of the following, the fact is remembered for
the model at this endpoint and `AskAgain` raised, and from then on requests go without it: a JSON schema (`text-only`),
`max_tokens` where it wants `max_completion_tokens` (`max-completion-tokens`), the seed (`no-seed`). A refused
temperature is an error, since other scores would come of dropping it; refused log-probabilities raise `Unsupported`.
The sample number is sent as the seed when the temperature is not zero or the sample is not the first.
"""

from __future__ import annotations

import re
from typing import Any

from longmark.errors import AskAgain, TooLong, Unsupported
from longmark.models.http import Endpoint, Refusal, tokens_of
from longmark.models.keys import holds_key
from longmark.models.protocols import Capabilities, ChatReply, ChatRequest, TokenLogprobs, Tokens

_SCHEMA_WORDS = ("response_format", "response format", "json_schema", "json schema", "structured output")
_FEWER = (10, 5, 2)  # how many log-probabilities a token are asked for in turn where an endpoint says: too many
_LIMIT_WORDS = ("max", "at most", "less than", "greater", "exceed", "between", "<=", "too many", "up to")
_FILTERED = ("content_filter", "content_policy_violation")


class HttpChat:
    """A chat model at an endpoint. name: as in tables (`gpt-4o-mini@https://host/v1`,
    `openai:gpt-4o-mini`)."""

    width: int | None = None
    capabilities = Capabilities(prompt_logprobs=False)  # what refusals teach counts only after the cache was asked

    def __init__(self, endpoint: Endpoint, model: str, name: str) -> None:
        self.name = name
        self.model = model
        self.identity = f"{model}@{endpoint.base_url}"
        self.endpoint = endpoint
        self._url = endpoint.url("/chat/completions")

    async def chat(self, request: ChatRequest) -> ChatReply:
        """One request. A prompt that the endpoint's content filter stops is a reply with finish `content_filter`."""
        if request.logprobs and self._knows("no-logprobs"):
            raise Unsupported(f"log-probabilities are not supported by {self.name}: it refused them before", 400)
        body = self._body(request)
        try:
            reply = await self.endpoint.post(self._url, body)
        except Refusal as refusal:
            if refusal.code.lower() in _FILTERED:
                return ChatReply("", "content_filter", str(refusal), tokens=refusal.tokens or Tokens())
            fact = _lesson(refusal, body)
            if fact is None:
                raise
            self.endpoint.learn(self.identity, fact)
            said, status = str(refusal), refusal.http_status
        else:
            return self._reply(reply, with_logprobs=request.logprobs > 0)
        if fact == "no-logprobs":
            raise Unsupported(f"log-probabilities are not supported by {self.name}: {said}", status)
        raise AskAgain(said, status)

    async def close(self) -> None:
        await self.endpoint.close()

    def _knows(self, fact: str) -> bool:
        return self.endpoint.knows(self.identity, fact)

    def _most_logprobs(self) -> int:
        """The most candidates a token that this model was found to give; more than any call asks for at first."""
        return next((n for n in reversed(_FEWER) if self._knows(f"top-logprobs:{n}")), 1000)

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        limit = "max_completion_tokens" if self._knows("max-completion-tokens") else "max_tokens"
        body: dict[str, Any] = {
            "model": self.model,
            "messages": request.messages,  # orjson writes the dataclasses as objects
            "temperature": request.temperature,
            limit: request.max_tokens,
        }
        if request.top_p != 1.0:
            body["top_p"] = request.top_p
        if (request.temperature or request.sample) and not self._knows("no-seed"):
            body["seed"] = request.sample
        if request.logprobs:
            body["logprobs"] = True
            body["top_logprobs"] = min(request.logprobs, self._most_logprobs())
        if request.schema is not None and not self._knows("text-only"):
            schema = {"name": request.schema_name, "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body

    def _reply(self, reply: Any, *, with_logprobs: bool) -> ChatReply:
        try:
            choice = reply["choices"][0]
            message = choice["message"]
            text, logprobs, refusal = _text(message.get("content")), choice.get("logprobs"), message.get("refusal")
            if not with_logprobs or holds_key(text):  # whose letters the tokens would show one by one
                logprobs = None
            return ChatReply(
                text,
                choice.get("finish_reason") or "stop",
                refusal if isinstance(refusal, str) and refusal else None,
                _logprobs(logprobs) if logprobs else (),
                tokens_of(reply.get("usage"), completion=True),
            )
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            wrong = error
        raise self.endpoint.unreadable("a chat reply without what it should hold", reply, wrong)


def _lesson(refusal: Refusal, body: dict[str, Any]) -> str | None:
    """The fact about the model that a refusal of this body teaches, None where it is about something else."""
    if isinstance(refusal, TooLong):  # which may name any part that counts towards the length
        return None
    if "max_tokens" in body and refusal.names("max_completion_tokens"):
        return "max-completion-tokens"
    if "response_format" in body and refusal.names(*_SCHEMA_WORDS):
        return "text-only"
    if "logprobs" in body and refusal.names("logprobs"):
        fewer = [n for n in _FEWER if n < body["top_logprobs"]]
        too_many = fewer and any(word in refusal.said for word in _LIMIT_WORDS)
        return f"top-logprobs:{fewer[0]}" if too_many else "no-logprobs"
    if "seed" in body and refusal.names("seed") and re.search(r"\bseed\b", refusal.said):
        return "no-seed"
    return None


def _text(content: Any) -> str:
    """The text of a message's content: a string, nothing, or a list of parts of which the texts count."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    return "".join(part["text"] for part in content if part.get("type") == "text")


def _logprobs(logprobs: dict[str, Any]) -> tuple[TokenLogprobs, ...]:
    return tuple(
        TokenLogprobs(
            entry["token"],
            float(entry["logprob"]),
            tuple((top["token"], float(top["logprob"])) for top in entry.get("top_logprobs") or ()),
        )
        for entry in logprobs.get("content") or ()
    )
