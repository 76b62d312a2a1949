"""The endpoint of a simulated world: it replies by what it was asked, fails by plan, and keeps books of its own.

Its books say what really happened, whatever a process knows of it: every request with its process, what was counted,
and whether the reply was stored already when it was asked for.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.simulation.world import REAL, Process, World

from longmark.errors import (
    AskAgain,
    ModelError,
    RateLimited,
    RequestRefused,
    ServerFault,
    TooManyInputs,
)
from longmark.models.budget import given
from longmark.models.cache import call_key
from longmark.models.prefixes import LONGEST
from longmark.models.protocols import Capabilities, ChatReply, ChatRequest, EmbedReply, Tokens
from longmark.models.settings import TokenPrice

PRICE = given(TokenPrice(input=1.0, output=4.0))
TEMPLATE = 560  # tokens beside the one for each byte of a prompt: as many as a request may count
SHARED = "what all of them share"
_ITEM = re.compile(r"item (\d+)")
_NEVER = frozenset({"prose", "empty"})

FAULTS = {
    "slow": "a reply after 30 s to 130 s: others overtake it",
    "429": "refused, with Retry-After (`size` seconds, below 0: without one), so many times in a row",
    "500": "fails without counting",
    "unreached": "no connection",
    "cut before": "the connection breaks before the endpoint counts the request",
    "cut after": "the connection breaks after it counted the request; the reply is lost",
    "late": "the reply comes after the time-out, and is not heard; counted",
    "twice": "something between doubles the request: the endpoint counts two, one reply comes",
    "prose": "a reply that cannot be read as a verdict",
    "empty": "an empty reply",
    "half": "a reply with half of a surrogate pair, which cannot be stored",
    "unreadable": "status 200 and a body that is no reply; counted",
    "uncounted": "a reply without a count of tokens",
    "over": "a reply of more tokens than the request allowed",
    "400": "refuses this request as wrong",
    "401": "refuses the key",
    "again": "does not take an optional part of the request",
    "too many": "takes fewer texts in one request",
}


def number_of(text: str) -> int:
    """The verdict on an item, whichever way it is asked for."""
    found = _ITEM.search(text)
    return int(hashlib.sha256(found[0].encode()).hexdigest(), 16) % 101 if found else 50


def vector_of(text: str) -> tuple[float, float]:
    return (number_of(text) / 100, 1.0)


@dataclass(frozen=True)
class Fault:
    """kind: one of FAULTS, or of `schedule.MISHAPS`; at: which request (moment, operation) of all; size: seconds, or
    how many; who: which session, for what befalls a process."""

    kind: str
    at: int
    size: float = 0.0
    who: int = 0


@dataclass(frozen=True)
class BegunCall:
    """What a call begins with, and since when it waits to be sent."""

    beginning: str
    since: float


BEGUN: ContextVar[BegunCall | None] = ContextVar("BEGUN", default=None)
"""Of the call that is being made, where others begin alike."""


@dataclass
class BookedRequest:
    """One in the vendor's books. stored: keys whose replies the cache held when they were asked for; counted: what the
    endpoint counted; usd: its price; over: that was more than the request allowed; attempt: its row in the ledger;
    heard: the process got the count. line: the batch whose line it is; most: what that can take; fate: of a line: free
    (not processed), failed, useless (its reply cannot be read), read (it can), lost; "": not known yet.
    told: the process got the id of its batch (one that is lost before that was never submitted, as far as anybody can
    see)."""

    process: Process
    model: str
    keys: tuple[bytes, ...]
    began: float
    stored: tuple[bytes, ...] = ()
    counted: Tokens | None = None
    usd: float = 0.0
    ended: float | None = None
    over: bool = False
    kind: str = ""
    attempt: int = 0
    heard: bool = False
    line: str = ""
    most: Tokens = field(default_factory=Tokens)
    fate: str = ""
    told: bool = False
    begun: BegunCall | None = None


@dataclass
class SimulatedVendor:
    """world: whose clock it has; faults: by plan; cache: the file in which replies are stored."""

    world: World
    faults: Sequence[Fault]
    cache: Path
    books: list[BookedRequest] = field(default_factory=list)
    prose: Counter[int] = field(default_factory=Counter)
    healed: bool = False

    def __post_init__(self) -> None:
        self._plan: dict[int, Fault] = {}
        for fault in self.faults:
            if fault.kind in FAULTS:
                for k in range(
                    max(1, int(fault.size) if fault.kind in ("500", "unreached") else 1)
                ):
                    self._plan.setdefault(fault.at + k, fault)
        self._db: sqlite3.Connection | None = None

    def close(self) -> None:
        if self._db is not None:
            self._db.close()

    def forget(self) -> None:
        """The power has failed: what the ledger has of single calls can be lost."""
        self.close()
        self._db = None
        for request in self.books:
            request.attempt = 0

    def holds(self, key: bytes) -> bool:
        """Whether the cache has a reply to this key."""
        return bool(self.rows("SELECT 1 FROM calls WHERE key = ?", (key,)))

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What is committed in the cache's file."""
        if self._db is None:
            self._db = REAL["connect"](self.cache, isolation_level=None)
        return self._db.execute(query, values).fetchall()

    async def serve(
        self,
        model: Any,
        keys: Sequence[bytes],
        prompt: int,
        most: int,
        reply: Callable[[str, Tokens | None], Any],
    ) -> Any:
        """What comes of one request. prompt: its tokens; most: those the reply may have; reply: makes it of (fault,
        tokens)."""
        process = model.process
        number = len(self.books)
        fault = None if self.healed else self._plan.get(number)
        kind = fault.kind if fault else ""
        attempt = self.in_ledger(process, keys, resends=process.resends)
        request = self.begin(process, model.name, keys, attempt, kind=kind)
        rng = self.world.rng
        written = rng.choice((rng.randint(1, most), most)) if most else 0
        tokens = Tokens(prompt, 0, written * 3 + most if kind == "over" else written)
        try:
            await asyncio.sleep(
                rng.uniform(30, 130) if kind == "slow" else rng.choice((0.0, 0.05, 0.4, 1.0, 4.0))
            )
            if (
                fault is not None
                and (error := self._error(fault, request, tokens, process)) is not None
            ):
                if kind == "late":
                    await asyncio.sleep(120)
                raise error
            if kind == "too many" and isinstance(model, SimulatedEmbedder) and len(keys) > 1:
                model.batch = 1
                raise TooManyInputs("takes one text", 400)
            for _ in range(2 if kind == "twice" else 1):
                self._count(request, tokens)
            request.over = kind == "over" and most > 0
            request.heard = kind != "uncounted"
            return reply(kind, tokens if request.heard else None)
        finally:
            if not process.killed:
                request.ended = self.world.now

    def begin(
        self,
        process: Process,
        model: str,
        keys: Sequence[bytes],
        attempt: int,
        *,
        kind: str = "",
        line: str = "",
    ) -> BookedRequest:
        """Enters a request in the books."""
        self._check_flights(process, keys)
        stored = tuple(key for key in keys if self.holds(key))
        request = BookedRequest(
            process,
            model,
            tuple(keys),
            self.world.now,
            stored,
            kind=kind,
            attempt=attempt,
            line=line,
            begun=BEGUN.get(),
        )
        self._check_one_at_a_time(request)
        self._check_leader(request)
        self._check_lines(request)
        self.books.append(request)
        return request

    def _check_flights(self, process: Process, keys: Sequence[bytes]) -> None:
        for other in self.books:
            both = other.ended is None and other.process.alive and set(keys) & set(other.keys)
            if both and (not self.lapses or other.process is process):
                self.world.complain(
                    f"{process.name} asks for what {other.process.name} is asking for: {len(both)}"
                )

    def _check_lines(self, request: BookedRequest) -> None:
        """What is, or was, in a batch is asked for again only if its vendor did not process it, or its reply was of no
        use, or, where the user wants that, nobody can know."""
        known = ("free", "failed", "useless", *(("lost",) if request.process.resends_lines else ()))
        for other in self.books:
            if other.fate == "lost" and not other.told:
                continue
            if (
                other.line
                and other.keys == request.keys
                and other.fate not in known
                and not self.overtaken
            ):
                what = other.fate or "not ended"
                self.world.complain(
                    f"{request.process.name} asks again for a line of a batch that is {what}"
                )

    def in_ledger(self, process: Process, keys: Sequence[bytes], *, resends: bool) -> int:
        """The row of a request's attempt, which must be there before the request is. resends: though the last attempt
        is unknown. (Where a claim has lapsed while its process stood still, that row is unknown, and others follow.)"""
        marks = ", ".join("?" * len(keys))
        rows = self.rows(
            f"SELECT attempts.id, state, token FROM attempts JOIN sessions ON sessions.id = session "
            f"WHERE key IN ({marks}) ORDER BY attempts.id DESC",
            keys,
        )
        if self.lapses:
            rows = rows[next((n for n, row in enumerate(rows) if row[2] in process.tokens), 0) :]
        states = ("sent", "unknown") if self.lapses else ("sent",)
        taken = {one.attempt for one in self.books}
        if not rows or rows[0][1] not in states or rows[0][0] in taken:
            self.world.complain(f"{process.name} sends what is not in the ledger as sent")
            return 0
        if rows[0][2] not in process.tokens:
            self.world.complain(f"{process.name} sends an attempt of another session")
        if not resends and len(rows) > 1 and rows[1][1] in ("sent", "unknown") and len(keys) == 1:
            self.world.complain(f"{process.name} sends a call again whose last attempt is unknown")
        return int(rows[0][0])

    def _check_one_at_a_time(self, request: BookedRequest) -> None:
        """Each endpoint's, after a reply beyond its limit, where tokens or dollars are limited."""
        if not request.process.limited:
            return
        mine = [one for one in self.books if one.process is request.process]
        over = min(
            (one.ended for one in mine if one.over and not one.line and one.ended is not None),
            default=math.inf,
        )
        if any(
            one.model == request.model and one.ended is None and one.began > over for one in mine
        ):
            self.world.complain(
                f"{request.process.name} sends several at once after a reply beyond its limit"
            )

    def _check_leader(self, request: BookedRequest) -> None:
        """Of calls that begin alike a second one is sent when the reply to the first is stored."""
        begun = request.begun
        if begun is None or self.world.now - begun.since >= LONGEST or self.lapses:
            return
        alike = [
            earlier
            for earlier in self.books
            if earlier.process is request.process
            and earlier.keys != request.keys
            and earlier.begun is not None
            and earlier.begun.beginning == begun.beginning
        ]
        if any(self.holds(earlier.keys[0]) for earlier in alike):
            return
        usable = ("", "slow", "twice", "prose", "empty")
        if any(
            earlier.ended is None or (earlier.heard and earlier.kind in usable) for earlier in alike
        ):
            self.world.complain(
                f"{request.process.name} sends a call before the reply to the one that it follows is stored"
            )

    @property
    def lapses(self) -> bool:
        """Whether a claim can end while its process lives: the clock jumps, or the process stands still."""
        return any(fault.kind in ("jump", "stall") for fault in self.faults)

    @property
    def overtaken(self) -> bool:
        """Whether a process can ask for what another one, which lives, is asking for."""
        return self.lapses and len({request.process for request in self.books}) > 1

    def _count(self, request: BookedRequest, tokens: Tokens) -> None:
        if request.counted is None:  # a second count of one request is not the process's
            request.counted, request.usd = tokens, PRICE(tokens) or 0.0

    def _error(
        self, fault: Fault, request: BookedRequest, tokens: Tokens, process: Process
    ) -> ModelError | None:
        match fault.kind:
            case "429":
                return RateLimited(
                    "asks for fewer calls", 429, fault.size if fault.size >= 0 else None
                )
            case "500":
                return ServerFault("failed", 500)
            case "unreached":
                error = ServerFault("no connection")
                error.unreached = True
                return error
            case "cut before":
                return ServerFault("the connection broke").with_bill()
            case "cut after" | "late":
                self._count(request, tokens)
                return ServerFault("no reply within 120 s").with_bill()
            case "unreadable":
                self._count(request, tokens)
                request.heard = True
                return ServerFault("sent no reply", 200).with_bill(tokens)
            case "400":
                return RequestRefused("refused", 400)
            case "401":
                return RequestRefused("the key is wrong", 401)
            case "again":
                return AskAgain("takes no schema", 400)
        return None


class SimulatedJudge:
    """The chat model of one process."""

    name = "judge"
    identity = "judge@simulated"
    width: int | None = None
    capabilities = Capabilities()
    price = staticmethod(PRICE)

    def __init__(self, vendor: SimulatedVendor, process: Process) -> None:
        self._vendor, self.process = vendor, process

    async def chat(self, request: ChatRequest) -> ChatReply:
        text = "".join(message.content for message in request.messages)
        key = call_key(self.identity, "chat", request)
        number = number_of(text)

        def reply(kind: str, tokens: Tokens | None) -> ChatReply:
            if kind in ("prose", "empty"):
                self._vendor.prose[number] += 1
            words = {"prose": "I would say it is fine.", "empty": "", "half": "\ud800"}.get(
                kind, str(number)
            )
            return ChatReply(words, tokens=tokens)

        prompt = len(text.encode()) + TEMPLATE
        return await self._vendor.serve(self, [key], prompt, request.max_tokens, reply)  # type: ignore[no-any-return]

    async def close(self) -> None:
        return None


class SimulatedEmbedder:
    """The embedding model of one process, two texts a request."""

    name = "embedder"
    identity = "embedder@simulated"
    width: int | None = None
    capabilities = Capabilities()
    price = staticmethod(PRICE)

    def __init__(self, vendor: SimulatedVendor, process: Process) -> None:
        self._vendor, self.process = vendor, process
        self.batch = 2

    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        keys = [call_key(self.identity, "embed", text) for text in texts]

        def reply(kind: str, tokens: Tokens | None) -> EmbedReply:
            return EmbedReply(tuple(map(vector_of, texts)), tokens)

        prompt = sum(len(text.encode()) for text in texts) + TEMPLATE
        return await self._vendor.serve(self, keys, prompt, 0, reply)  # type: ignore[no-any-return]

    async def close(self) -> None:
        return None
