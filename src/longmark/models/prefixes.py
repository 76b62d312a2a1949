"""Calls that begin alike: one goes ahead, the others follow when its reply is stored, and the endpoint's cache serves them.

A vendor's prompt cache serves what an earlier request began with, once that request has been read. Five scores of one
answer show the same passages and leave together, so that none of them is served. Here the first call of a beginning
leads. Those that begin alike and come before it has ended wait for it; then they all go at once.

Rules of the vendors, as their documentation has them (2026): OpenAI, DeepSeek and Gemini cache by themselves, OpenAI
from 1,024 tokens in steps of 128; Anthropic caches what a block marks (`cache_control`), from 1,024 tokens for most
models, and charges a quarter more for what it takes in; vLLM and SGLang cache whole blocks of any length. A beginning
lasts some minutes.

A call waits only where that saves a thousand tokens beyond what is served anyway, at most `LONGEST` seconds, and only
for calls of endpoints: a model on this machine gets its calls one after the other. Where `IN_VAIN` followers in a row
were served nothing, the endpoint has no such cache, or does not report it, and no call waits any more.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import orjson

from longmark.models.protocols import ChatRequest

LEAST = 4608  # bytes that are surely 1,024 tokens: English has about 4.3 bytes a token
LONGEST = 30.0  # seconds that a call waits for its leader
LASTS = (
    240.0  # seconds that a beginning is taken to be served; the vendors say five minutes and more
)
IN_VAIN = 8  # followers in a row that were served nothing, after which no call waits

_CLOSING = re.compile(r"</[\w.]+ [0-9a-f]{8}>\n")  # of an input (`prompts.fence`)

MARK: ContextVar[PrefixTurn | None] = ContextVar("MARK", default=None)
"""The turn of the call that is being sent."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """What several requests can begin with. key: equal for equal beginnings; size: in bytes; end: how many characters
    of the last message it holds."""

    key: int
    size: int
    end: int


@dataclass(slots=True)
class PrefixTurn:
    """Of one call. follows: whether it waited, or begins with what was served before; marked: the characters of the last
    message that its request marks as the beginning to cache; 0: none."""

    beginnings: Sequence[Beginning]
    prefixes: Prefixes
    follows: Beginning | None = None
    marked: int = 0

    def mark(self) -> int:
        """How many characters of the last message are to be marked as worth caching: those that it shares with a call
        that waits, or that it waited for; 0: none."""
        waited = [
            beginning for beginning in self.beginnings if self.prefixes.waiting.get(beginning.key)
        ]
        shared = [*waited, *([self.follows] if self.follows else [])]
        self.marked = max((beginning.end for beginning in shared), default=0)
        return self.marked


@dataclass(slots=True)
class Prefixes:
    """The beginnings of the calls to one model. leading: those of calls under way, each with what ends with the call;
    served: when a call with it ended; waiting: how many calls wait for it; marks: whether the endpoint caches only what
    a request marks."""

    marks: bool = False
    leading: dict[int, asyncio.Future[None]] = field(default_factory=dict)
    served: dict[int, float] = field(default_factory=dict)
    waiting: dict[int, int] = field(default_factory=dict)
    in_vain: int = 0

    @asynccontextmanager
    async def turn(self, request: ChatRequest, stopped: asyncio.Event) -> AsyncIterator[None]:
        """Around a call, from before it is sent until its reply is stored."""
        beginnings = beginnings_of(request) if self.in_vain < IN_VAIN else []
        if not beginnings:
            yield
            return
        turn = PrefixTurn(beginnings, self)
        await self._wait(turn, stopped)
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()
        led = [beginning for beginning in beginnings if beginning.key not in self.leading]
        self.leading.update({beginning.key: ended for beginning in led})
        token = MARK.set(turn)
        try:
            yield
        except BaseException:
            turn.marked = -1  # nothing is served
            raise
        finally:
            MARK.reset(token)
            for beginning in led:
                del self.leading[beginning.key]
            if turn.marked >= 0:
                ends = [
                    beginning
                    for beginning in beginnings
                    if not self.marks or beginning.end <= turn.marked
                ]
                for end in ends:  # the latest last, as `_forget` has them
                    self.served.pop(end.key, None)
                    self.served[end.key] = loop.time()
            ended.set_result(None)

    async def _wait(self, turn: PrefixTurn, stopped: asyncio.Event) -> None:
        """Waits as long as that is worth it: for the call that has the longest of these beginnings."""
        loop = asyncio.get_running_loop()
        until = loop.time() + LONGEST
        while not stopped.is_set():
            now = loop.time()
            self._forget(now)
            served = next(
                (beginning for beginning in turn.beginnings if beginning.key in self.served), None
            )
            turn.follows = served or turn.follows
            served_size = served.size if served else 0
            leader = next(
                (
                    beginning
                    for beginning in turn.beginnings
                    if beginning.key in self.leading and beginning.size - served_size >= LEAST
                ),
                None,
            )
            if leader is None or now >= until:
                return
            turn.follows = leader
            self._count_waiting(leader.key, 1)
            stop = asyncio.ensure_future(stopped.wait())
            try:
                await asyncio.wait(
                    (self.leading[leader.key], stop),
                    timeout=until - now,
                    return_when=asyncio.FIRST_COMPLETED,
                )
            finally:
                stop.cancel()
                self._count_waiting(leader.key, -1)

    def _count_waiting(self, key: int, change: int) -> None:
        """Keeps no count of 0: a run has as many beginnings as passages."""
        count = self.waiting.get(key, 0) + change
        if count:
            self.waiting[key] = count
        else:
            del self.waiting[key]

    def _forget(self, now: float) -> None:
        """Beginnings that are not served any more."""
        while self.served:
            oldest = next(iter(self.served))
            if now - self.served[oldest] < LASTS:
                return
            del self.served[oldest]

    def heard(self, replies: Sequence[Any]) -> None:
        """What a follower was served."""
        turn = MARK.get()
        if turn is None or turn.follows is None:
            return
        for reply in replies:
            if reply.tokens is not None:
                self.in_vain = 0 if reply.tokens.cached_prompt else self.in_vain + 1


def beginnings_of(request: ChatRequest) -> list[Beginning]:
    """The beginnings of a request that other requests can share, the longest first: its schema and messages up to the
    end of each input before the task, of at least `LEAST` bytes."""
    *before, last = request.messages
    schema = orjson.dumps(request.schema) if request.schema else b""
    size = len(schema) + sum(len(message.content.encode()) for message in before)
    head = hash((schema, *((message.role, message.content) for message in before), last.role))
    beginnings = []
    for closing in _CLOSING.finditer(last.content):
        text = last.content[: closing.end()]
        total = size + len(text.encode("utf-8", "replace"))
        if total >= LEAST and last.content[closing.end() :].strip():
            beginnings.append(Beginning(hash((head, text)), total, closing.end()))
    return beginnings[::-1]
