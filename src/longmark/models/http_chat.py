"""Chat at an OpenAI-compatible endpoint: the form of a request, what refusals teach, and room for thinking.

Facts that are stored for the model at this endpoint (`http_model`):

    text-only               no JSON schema
    max-completion-tokens   `max_completion_tokens` in place of `max_tokens`; max-tokens: the reverse
    completion:N, window:N  replies of at most N tokens; prompt and reply of at most N
    top-logprobs:N          at most N log-probabilities a token
    no-seed                 no seed
    no-temperature, no-top_p, no-temperature of 0
                            none is sent; learnt only until the form of the requests is settled (`settle`)
    no-logprobs             no log-probabilities; nothing replaces them (raised as Unsupported); known to this
                            process only
    thinks:N                it thinks, and needs room for N tokens of it
    opens-thinking          its chat template opens the thinking: replies have the closing tag only
    plain                   a text of it that was cut off was no thinking

No temperature where one was asked for gives other scores. So it is left out only from the first reply on, and never
again after that: a run has one signature. Until the first reply came, the requests go out one after the other, so that
each thing is refused once.

A reply that was cut off while the model was thinking is asked for once more, with more room (`knowledge.ROOMS`). Where
that helps, later requests have that room at once. While it is not known whether it helps, one request tries it at a
time, and after three that were cut off all the same none tries it again.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from longmark.errors import AskAgain, TooLong, Unsupported
from longmark.models.failures import shortened
from longmark.models.http import Endpoint, Refusal, tokens_of
from longmark.models.http_model import HttpModel
from longmark.models.keys import holds_key
from longmark.models.knowledge import ROOMS, known, thinking_budget
from longmark.models.protocols import Capabilities, ChatReply, ChatRequest, TokenLogprobs, Tokens
from longmark.models.settings import ASKED, DEFAULTS, ModelSettings
from longmark.records.thinking import split

_SCHEMA_WORDS = (
    "response_format",
    "response format",
    "json_schema",
    "json schema",
    "structured output",
)
_FEWER = (
    10,
    5,
    2,
)  # how many log-probabilities a token are asked for in turn where an endpoint says: too many
_LIMIT_WORDS = (
    "max",
    "at most",
    "less than",
    "greater",
    "exceed",
    "between",
    "<=",
    "too many",
    "up to",
)
_RANGE_WORDS = ("at most", "less than", "greater", "exceed", "between", "<=", "range", "maximum")
_LONGEST_NAME = 200  # characters of a version that an endpoint reports
_FILTERED = ("content_filter", "content_policy_violation")
_SETTLED = ("temperature", "temperature of 0", "top_p")  # whose absence gives other scores
_ABOVE_ZERO = ("positive", "greater than", "above", "> 0", ">0")
_LIMITS = ("max_tokens", "max_completion_tokens")
_COMPLETIONS = (
    512,
    1024,
    2048,
    4096,
    8192,
    16_384,
    32_768,
)  # tokens of a reply that an endpoint may allow
_WINDOWS = (2048, 4096, 8192, 16_384, 32_768, 40_960, 65_536, 131_072, 262_144)
_WINDOW = re.compile(r"(?:context (?:length|size|window|limit)|n_ctx)[^0-9]{0,40}([0-9][0-9,]*)")
_TRIALS = 3  # of more room, in a row and in vain


@dataclass(frozen=True, slots=True)
class _Cut:
    """A reply that was cut off while the model was thinking. room: the tokens it had for that."""

    request: ChatRequest
    reply: ChatReply
    room: int


class HttpChat(HttpModel):
    """POST {base}/chat/completions. The sample number is the seed where the temperature is not zero or the sample is
    not the first."""

    path = "/chat/completions"
    capabilities = Capabilities(
        logprobs=None
    )  # what refusals teach counts only after the cache was asked

    def __init__(
        self, endpoint: Endpoint, model: str, name: str, settings: ModelSettings = DEFAULTS
    ) -> None:
        super().__init__(endpoint, model, name, settings)
        self._knowledge = known(model, settings.body)
        self._budget = thinking_budget(settings.body)
        self._withheld: frozenset[str] | None = None  # once settled
        self._replied = False  # or failed in a way that teaches nothing
        self._cut: dict[int, _Cut] = {}  # by the id of the request, which it keeps alive
        self._in_vain = 0
        self._locks: tuple[asyncio.AbstractEventLoop, asyncio.Lock, asyncio.Lock] | None = None

    # What is settled before the first score ----------------------------------------------------------------------
    def _withholds(self, item: str) -> bool:
        """Whether one of `_SETTLED` is not sent. (What the user's settings name is sent, and what they withhold is no
        matter of ours.)"""
        if getattr(self.settings, item.split()[0]) != ASKED:
            return False
        if self._withheld is not None:
            return item in self._withheld
        return self._knows(f"no-{item}") or item in self._knowledge.without

    def _sampling(self, name: Literal["temperature", "top_p"], value: float) -> float | None:
        """The temperature or top_p to send where the request asks for this one; None: none."""
        if self._withholds(name) or (
            value == 0 and f"{name} of 0" in _SETTLED and self._withholds(f"{name} of 0")
        ):
            return None
        return self.settings.sent(name, value)

    @property
    def settled(self) -> list[str]:
        """What is not sent, in words, as manifests and signatures hold it: `no temperature`."""
        return [f"no {item}" for item in _SETTLED if self._withholds(item)]

    def settle(self, words: Sequence[str] | None = None) -> None:
        """From here on a refused temperature is an error. words: what an earlier session settled; None: what is known
        now."""
        unsent = self.settled if words is None else words
        self._withheld = frozenset(item for item in _SETTLED if f"no {item}" in unsent)

    def begin_together(self) -> None:
        """From here on no request waits for the first one's reply: in a batch that could be a day."""
        self._replied = True

    # Requests ----------------------------------------------------------------------------------------------------
    async def chat(self, request: ChatRequest) -> ChatReply:
        """One request. A prompt that the endpoint's content filter stops is a reply with finish `content_filter`.
        AskAgain where a refusal taught something, or the reply was cut off while the model was thinking."""
        if request.logprobs and self._knows("no-logprobs"):
            why = f"log-probabilities are not supported by {self.name}: it rejected them before"
            raise Unsupported(why, 400).unsent()
        cut = self._cut.get(id(request))
        if cut is not None:
            reply = await self._once_more(cut)
            del self._cut[id(request)]
            return reply
        room = self._room
        reply, first = await self._first_alone(lambda: self._ask(request))
        if not self._needs_room(request, reply, room, first=first):
            return reply
        self._cut[id(request)] = _Cut(request, reply, room)
        raise AskAgain(f"{self.name} was cut off while it was thinking").with_bill(reply.tokens)

    async def _first_alone(self, ask: Callable[[], Awaitable[ChatReply]]) -> tuple[ChatReply, bool]:
        """A reply, and whether it is the first: no other request begins before that, or before one failed for good."""
        if not self._replied:
            async with self._lock(1):
                if not self._replied:
                    try:
                        reply = await ask()
                    except AskAgain:
                        raise
                    except BaseException:
                        self._replied = True
                        raise
                    self._replied = True
                    return reply, True
        return await ask(), False

    async def _ask(self, request: ChatRequest) -> ChatReply:
        try:
            raw = await self._post(self._body(request))
        except Refusal as refusal:
            if refusal.code.lower() in _FILTERED:
                return ChatReply(
                    "", "content_filter", str(refusal), tokens=refusal.tokens or Tokens()
                )
            raise
        reply = self._reply(raw, with_logprobs=request.logprobs > 0)
        parts = split(reply.text)
        if parts.inside and not self._knows("opens-thinking"):
            self.endpoint.learn(self.identity, "opens-thinking")
        thinking = parts.thinking
        answer = parts.answer
        unopened = self._knowledge.inside or self._knows("opens-thinking")
        if (
            reply.finish == "length"
            and unopened
            and not (thinking or reply.thinking or request.logprobs)
        ):
            thinking = answer
            answer = ""  # what would have closed it was cut off
        thinking = "\n\n".join(filter(None, (reply.thinking, thinking)))
        return replace(
            reply, text=answer, thinking=thinking, logprobs=() if thinking else reply.logprobs
        )  # its tokens

    def _lock(self, number: int) -> asyncio.Lock:
        loop = asyncio.get_running_loop()
        if self._locks is None or self._locks[0] is not loop:
            self._locks = (loop, asyncio.Lock(), asyncio.Lock())
        return self._locks[1] if number == 1 else self._locks[2]

    # Room for thinking -------------------------------------------------------------------------------------------
    @property
    def _room(self) -> int:
        if self.settings.thinking_tokens is not None:
            return self.settings.thinking_tokens
        learnt = next((room for room in reversed(ROOMS) if self._knows(f"thinks:{room}")), 0)
        return max(learnt, ROOMS[0] if self._knowledge.thinks else 0, self._budget)

    def reply_limit(self, request: ChatRequest) -> int:
        """The most tokens of the reply, thinking included."""
        cut = self._cut.get(id(request))
        return self._limit(request, self._room if cut is None else max(self._room, _more(cut.room)))

    def _limit(self, request: ChatRequest, room: int) -> int:
        if request.max_tokens == 1:  # the first token is what is read
            return 1
        least = max(request.max_tokens, self.settings.max_tokens or 0)
        most_tokens = next(
            (n for n in _COMPLETIONS if self._knows(f"completion:{n}")), least + room
        )
        if room and (window := self._window) is not None:
            prompt = (
                sum(len(message.content.encode("utf-8", "replace")) for message in request.messages)
                // 3
                + 64
            )
            most_tokens = min(most_tokens, window - prompt)
        return max(least, min(least + room, most_tokens))

    @property
    def _window(self) -> int | None:
        set_window = self.settings.context_window
        return (
            set_window
            if set_window is not None
            else next((n for n in _WINDOWS if self._knows(f"window:{n}")), None)
        )

    def _needs_room(
        self, request: ChatRequest, reply: ChatReply, room: int, *, first: bool
    ) -> bool:
        """Whether a request is worth asking again with more room for thinking. So is the first one of a model where its
        reply is a text that was cut off: it may be thinking that the chat template has opened. White space is none."""
        if (
            reply.finish != "length"
            or self.settings.thinking_tokens is not None
            or self._in_vain >= _TRIALS
        ):
            return False
        if self._limit(request, _more(room)) <= self._limit(request, room):
            return False
        hidden = not reply.text and (
            reply.tokens is None or 2 * reply.tokens.completion >= request.max_tokens
        )
        unopened = (
            first and bool(reply.text.strip()) and not request.logprobs and not self._knows("plain")
        )
        return bool(reply.thinking) or hidden or unopened

    async def _once_more(self, cut: _Cut) -> ChatReply:
        if cut.room >= self._room:
            async with self._lock(2):
                if cut.room >= self._room:
                    return await self._trial(cut)
        return await self._ask(cut.request)

    async def _trial(self, cut: _Cut) -> ChatReply:
        if self._in_vain >= _TRIALS:
            return cut.reply
        reply = await self._ask(cut.request)
        if (
            cut.reply.text and not reply.thinking
        ):  # it does not think, it writes more than it was asked for
            self.endpoint.learn(self.identity, "plain")
            return cut.reply
        if reply.finish == "length" and not reply.text:
            self._in_vain += 1
        else:
            self._in_vain = 0
            self.endpoint.learn(self.identity, f"thinks:{_more(cut.room)}")
        return reply

    # Form --------------------------------------------------------------------------------------------------------
    def _body(self, request: ChatRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model,
            "messages": request.messages,  # orjson writes the dataclasses as objects
        }
        temperature = self._sampling("temperature", request.temperature)
        top_p = self._sampling("top_p", request.top_p)
        if temperature is not None:
            body["temperature"] = temperature
        completion = self._knows("max-completion-tokens") or self._knowledge.completion
        body[_LIMITS[completion and not self._knows("max-tokens")]] = self.reply_limit(request)
        if top_p is not None and top_p != 1.0:
            body["top_p"] = top_p
        if (request.temperature or request.sample) and not self._knows("no-seed"):
            body["seed"] = request.sample
        if request.logprobs:
            most_logprobs = next(
                (n for n in reversed(_FEWER) if self._knows(f"top-logprobs:{n}")), request.logprobs
            )
            body |= {"logprobs": True, "top_logprobs": min(request.logprobs, most_logprobs)}
        if request.schema is not None and not self._knows("text-only"):
            schema = {"name": request.schema_name, "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body

    def _sent(self, body: dict[str, Any]) -> dict[str, Any]:
        return self.settings.over(body)

    def _lesson(self, refusal: Refusal, body: dict[str, Any]) -> str | None:
        if refusal.code.lower() in _FILTERED:  # it may name any part
            return None
        limit = next((name for name in _LIMITS if name in body), "")
        if isinstance(refusal, TooLong):  # so may this
            return self._smaller_window(refusal, body.get(limit, 0))
        if limit and (lesson := self._other_limit(refusal, limit, body[limit])):
            return lesson
        if "response_format" in body and refusal.names(*_SCHEMA_WORDS):
            return "text-only"
        forbidden = (
            refusal.http_status == 403 and "logprobs" in refusal.message_text
        )  # OpenAI, for the o-series
        if "logprobs" in body and (forbidden or refusal.names("logprobs")):
            fewer = [n for n in _FEWER if n < body["top_logprobs"]]
            too_many = fewer and any(word in refusal.message_text for word in _LIMIT_WORDS)
            return f"top-logprobs:{fewer[0]}" if too_many else "no-logprobs"
        if (
            "seed" in body
            and refusal.names("seed")
            and re.search(r"\bseed\b", refusal.message_text)
        ):
            return "no-seed"
        return self._not_taken(refusal, body)

    def _not_taken(self, refusal: Refusal, body: dict[str, Any]) -> str | None:
        """A refused parameter that gives other scores where it is left out; only until that is settled."""
        if self._withheld is not None:
            return None
        for name in (
            "top_p",
            "temperature",
        ):  # where an endpoint takes only one of them, the temperature stays
            if name not in body or getattr(self.settings, name) != ASKED or not refusal.names(name):
                continue
            if body[name]:
                return (
                    None
                    if any(word in refusal.message_text for word in _RANGE_WORDS)
                    else f"no-{name}"
                )
            return (
                "no-temperature of 0"
                if any(word in refusal.message_text for word in _ABOVE_ZERO)
                else f"no-{name}"
            )
        return None

    def _other_limit(self, refusal: Refusal, name: str, limit: int) -> str | None:
        if (
            name == "max_tokens"
            and refusal.names("max_completion_tokens")
            and "large" not in refusal.message_text
        ):
            return "max-completion-tokens"
        if not refusal.names(*_LIMITS, "maxoutputtokens"):
            return None
        allowed = [
            n
            for n in map(int, re.findall(r"[0-9]{3,7}", refusal.message_text.replace(",", "")))
            if n < limit
        ]
        fitting = [n for n in _COMPLETIONS if n <= max(allowed, default=0)]
        if fitting and limit >= ROOMS[0] and not self._knows(f"completion:{fitting[-1]}"):
            return f"completion:{fitting[-1]}"
        return (
            "max-tokens"
            if name == "max_completion_tokens" and not self._knows("max-tokens")
            else None
        )

    def _smaller_window(self, refusal: Refusal, limit: int) -> str | None:
        """The context window that a refusal names, where room for thinking may be what is too long."""
        window = _WINDOW.search(refusal.message_text)
        if window is None or limit < ROOMS[0] or self._window is not None:
            return None
        fitting = [n for n in _WINDOWS if n <= int(window[1].replace(",", ""))]
        return f"window:{fitting[-1]}" if fitting else None

    def _reply(self, reply: Any, *, with_logprobs: bool) -> ChatReply:
        def read() -> ChatReply:
            choice = reply["choices"][0]
            message = choice["message"]
            text = _text(message.get("content"))
            logprobs = choice.get("logprobs")
            refusal = message.get("refusal")
            if (
                not with_logprobs or not logprobs or holds_key(text)
            ):  # its tokens would show a key letter by letter
                logprobs = {}
            return ChatReply(
                text,
                finish_of(choice.get("finish_reason")),
                refusal if isinstance(refusal, str) and refusal else None,
                tuple(map(_token, logprobs.get("content") or ())),
                tokens_of(reply.get("usage"), completion=True),
                thinking=_thinking(message),
                model=_named(reply.get("model")),
                fingerprint=_named(reply.get("system_fingerprint")),
            )

        return self._read("an incomplete chat reply", reply, read)


def _more(room: int) -> int:
    """The next larger room; the same where there is none."""
    return next((larger for larger in ROOMS if larger > room), room)


def finish_of(reason: Any) -> str:
    """Why a reply ended, as the endpoint says it. What is no text is written as one: the reply was paid for, and can be
    read all the same."""
    return (
        reason
        if isinstance(reason, str) and reason
        else shortened(reason)[:_LONGEST_NAME]
        if reason
        else "stop"
    )


def count_of(count: Any) -> int:
    """A count of tokens in a usage: 0 where there is none. ValueError for anything but a whole number."""
    if count is not None and type(count) is not int:
        raise ValueError(f"{type(count).__name__} is no count")
    return count or 0


def _named(value: Any) -> str | None:
    """The name of a version as the endpoint reported it; None where it is none, or longer than any name."""
    return value if isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME else None


def _thinking(message: dict[str, Any]) -> str:
    """The thinking of a message: DeepSeek's, vLLM's and OpenRouter's members for it, or Mistral's parts."""
    for name in ("reasoning_content", "reasoning"):
        if isinstance(text := message.get(name), str) and text.strip():
            return text.strip()
    content = message.get("content")
    parts = (
        [part for part in content if part.get("type") == "thinking"]
        if isinstance(content, list)
        else []
    )
    texts = [part.get("thinking", part.get("text")) for part in parts]
    return "\n\n".join(_text(text) for text in texts).strip()


def _text(content: Any) -> str:
    """The text of a message's content: a string, nothing, or a list of parts of which the texts count."""
    if isinstance(content, str):
        return content
    return (
        ""
        if content is None
        else "".join(part["text"] for part in content if part.get("type") == "text")
    )


def _token(entry: dict[str, Any]) -> TokenLogprobs:
    top = tuple(
        (candidate["token"], float(candidate["logprob"]))
        for candidate in entry.get("top_logprobs") or ()
    )
    return TokenLogprobs(entry["token"], float(entry["logprob"]), top)
