"""Calls that begin alike: one goes ahead, the others follow when its reply is stored, and the endpoint's cache serves them.

A vendor's prompt cache serves what an earlier request began with, once that request has been read. Five scores of one
answer show the same passages and leave together, so that none of them is served. Here the first call of a beginning
leads. Those that begin alike and come before it has ended wait for it; then they all go at once.

Rules of the vendors, as their documentation has them (2026): DeepSeek, Gemini and OpenAI's models before GPT-5.6 cache
by themselves, OpenAI from 1,024 tokens in steps of 128. Anthropic caches what a block marks (`cache_control`), from
1,024 tokens for most models, and charges a quarter more for what it takes in; so does OpenAI from GPT-5.6 on
(`openai`). They serve a beginning only up to the end of a marked block, so each beginning of a request is marked, also
a shorter one that calls about another answer share; up to four marks cost nothing. vLLM and SGLang cache whole blocks
of any length. A beginning lasts some minutes.

A call waits only where that saves a thousand tokens beyond what is served anyway, at most `LONGEST` seconds, and only
for calls of endpoints: a model on this machine gets its calls one after the other. Where `IN_VAIN` followers in a row
were served nothing, no call waits for a beginning as long or shorter: a vendor may take in from 4,096 tokens only
(Claude Haiku 4.5). Where those were that long, the endpoint has no such cache, or does not report it, and no call waits
any more.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import orjson

from longmark.models.protocols import ChatRequest, Message

LEAST = 4608  # bytes that are surely 1,024 tokens: English has about 4.3 bytes a token
GREATEST_LEAST = 4 * LEAST  # surely 4,096 tokens: no vendor's least is greater
LONGEST = 30.0  # seconds that a call waits for its leader
LASTS = (
    240.0  # seconds that a beginning is taken to be served; the vendors say five minutes and more
)
MARKS = 4  # of a request at most (Anthropic, OpenAI)
IN_VAIN = 8  # followers in a row that were served nothing, after which none as long waits

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
    """Of one call. ended: when it ends; follows: the beginning that it waited for, or that was served before; marked:
    the ends of the beginnings that its request marks; None: it has not been sent."""

    beginnings: Sequence[Beginning]
    prefixes: Prefixes
    ended: asyncio.Future[None]
    follows: Beginning | None = None
    marked: Sequence[int] | None = None

    def mark(self) -> Sequence[int]:
        """Where the beginnings end that are to be marked as worth caching, ascending, in characters of the last message:
        the longest that it shares with a call that waits, or that was served before, and those within it."""
        waited = [
            beginning for beginning in self.beginnings if self.prefixes.waiting.get(beginning.key)
        ]
        shared = [*waited, *([self.follows] if self.follows else [])]
        longest = max((beginning.end for beginning in shared), default=0)
        ends = sorted(beginning.end for beginning in self.beginnings if beginning.end <= longest)
        self.marked = ends[-MARKS:]
        return self.marked

    def serves(self, beginning: Beginning) -> bool:
        """Whether the endpoint will serve this beginning, as far as is known, when the call has ended."""
        return not self.prefixes.marks or self.marked is None or beginning.end in self.marked


@dataclass(slots=True)
class Prefixes:
    """The beginnings of the calls to one model. leading: those of calls under way, each with its call; served: when a
    call with it ended; waiting: how many calls wait for it; marks: whether the endpoint caches only what a request
    marks; in_vain: the sizes, ascending, of the longest beginnings whose followers were served nothing, up to `IN_VAIN`
    of them."""

    marks: bool = False
    leading: dict[int, PrefixTurn] = field(default_factory=dict)
    served: dict[int, float] = field(default_factory=dict)
    waiting: dict[int, int] = field(default_factory=dict)
    in_vain: list[int] = field(default_factory=list)

    @asynccontextmanager
    async def turn(self, request: ChatRequest, stopped: asyncio.Event) -> AsyncIterator[None]:
        """Around a call, from before it is sent until its reply is stored."""
        vain = self.in_vain[0] if len(self.in_vain) == IN_VAIN else 0
        beginnings = beginnings_of(request) if vain < GREATEST_LEAST else []
        beginnings = [beginning for beginning in beginnings if beginning.size > vain]
        if not beginnings:
            yield
            return
        loop = asyncio.get_running_loop()
        turn = PrefixTurn(beginnings, self, loop.create_future())
        await self._wait(turn, stopped)
        for beginning in beginnings:
            if self._leader(beginning) is None:
                self.leading[beginning.key] = turn
        token = MARK.set(turn)
        answered = False
        try:
            yield
            answered = True
        finally:
            MARK.reset(token)
            for beginning in beginnings:
                if self.leading.get(beginning.key) is turn:
                    del self.leading[beginning.key]
            if answered and not (self.marks and turn.marked is None):
                ends = [beginning for beginning in beginnings if turn.serves(beginning)]
                for end in ends:  # the latest last, as `_forget` has them
                    self.served.pop(end.key, None)
                    self.served[end.key] = loop.time()
            turn.ended.set_result(None)

    def _leader(self, beginning: Beginning) -> PrefixTurn | None:
        """The call under way after which this beginning will be served."""
        leader = self.leading.get(beginning.key)
        return leader if leader is not None and leader.serves(beginning) else None

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
            turn.follows = served or (None if self.marks else turn.follows)
            served_size = served.size if served else 0
            awaited = next(
                (
                    (beginning, leader)
                    for beginning in turn.beginnings
                    if beginning.size - served_size >= LEAST
                    and (leader := self._leader(beginning)) is not None
                ),
                None,
            )
            if awaited is None or now >= until:
                return
            beginning, leader = awaited
            turn.follows = beginning
            self._count_waiting(beginning.key, 1)
            stop = asyncio.ensure_future(stopped.wait())
            try:
                await asyncio.wait(
                    (leader.ended, stop),
                    timeout=until - now,
                    return_when=asyncio.FIRST_COMPLETED,
                )
            finally:
                stop.cancel()
                self._count_waiting(beginning.key, -1)

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
        size = turn.follows.size
        for reply in replies:
            if reply.tokens is None:
                continue
            if reply.tokens.cached_prompt:
                self.in_vain = [shorter for shorter in self.in_vain if shorter < size]
            else:
                self.in_vain = sorted((*self.in_vain, size))[-IN_VAIN:]


def marked(messages: Sequence[Message], mark: Mapping[str, Any]) -> list[Any]:
    """The messages, the last one in blocks where other calls begin as it does: the vendor shall cache what each block
    but the last ends, which has the members of `mark`. Together they have the text of the message."""
    turn = MARK.get()
    ends = turn.mark() if turn is not None else ()
    if not ends:
        return list(messages)
    *before, last = messages
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": last.content[start:end], **mark}
        for start, end in pairwise((0, *ends))
    ]
    blocks.append({"type": "text", "text": last.content[ends[-1] :]})
    return [*before, {"role": last.role, "content": blocks}]


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
