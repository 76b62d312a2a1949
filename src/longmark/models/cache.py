"""The call cache: every paid reply, once, on disk before it is used.

One store for all runs: an SQLite file, or a PostgreSQL for a team (`models.stores`). It is opened for writing, and its
layout checked, before anything is paid. A reply's key is a hash of the model's identity, the whole request and the
sample number, never of an API key. What comes in the same turn of the event loop is committed in one transaction; a
store that is far away is written by a thread, and what comes meanwhile is the next transaction.

Before a call is sent, its key is claimed: a row with an owner and a lease. Another process that needs the same reply
waits for it instead of paying again. A claim ends with its reply, with a failure, or with its lease; in an SQLite file
also with the death of its process.

The ledger stands in the same store: a row for every attempt, written as `sent` with the claim, before the request
leaves. It ends as `answered` with the reply, or as `unknown`, also where its process was killed (`models.ledger` reads
it). The claim of a call whose last attempt is unknown stays, held by nobody, until the call is answered.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Collection
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import orjson

from longmark import plugins
from longmark.errors import RequestRefused, UserError
from longmark.models import stores
from longmark.models.protocols import Tokens
from longmark.models.stores import Attempt as Attempt
from longmark.models.stores import Lookup, Seen, Store, StoreTurn, Wish
from longmark.models.stores import Unknown as Unknown
from longmark.models.stores.copying import Copied, copy
from longmark.models.stores.shares import end_lapsed
from longmark.models.stores.sqlite import SqliteStore

T = TypeVar("T")


def call_key(identity: str, kind: str, request: Any) -> bytes:
    """The key of a call. request: a dataclass or JSON value; equal requests give equal keys. RequestRefused for a text
    that cannot be sent or stored."""
    try:
        body = orjson.dumps((identity, kind, request), option=orjson.OPT_SORT_KEYS)
    except TypeError as error:
        if "surrogate" not in str(error):
            raise
        raise RequestRefused(
            "a text contains half a character (a lone surrogate), which cannot be sent; remove it"
        ).unsent() from None
    return hashlib.sha256(body).digest()


@dataclass(frozen=True, slots=True)
class CacheLine:
    """What the cache holds of one model: number of replies and their size in bytes."""

    model: str
    kind: str
    replies: int
    size: int


class CallCache:
    """place: an SQLite file (it and its folder are made when missing), or the URL of a PostgreSQL. path: the same for
    people, without a password. UserError where it cannot be opened."""

    def __init__(self, place: Path | str) -> None:
        self.store = _opened(place)
        self.path = self.store.shown
        self._turn = StoreTurn()
        self._flushed: asyncio.Future[None] | None = None
        self._flush: asyncio.Handle | None = None
        self._writing: tuple[Future[None], StoreTurn, asyncio.Future[None]] | None = (
            None  # by the thread
        )
        self._held: set[bytes] = set()
        self._renewal: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None  # of the renewal

    @cached_property
    def _thread(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1, "longmark.cache")

    async def aside(self, work: Callable[..., T], *values: Any) -> T:
        """What some work on the store gives, without holding up the event loop."""
        if self.store.quick:
            return work(*values)
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *values)

    def check_room(self, calls: int) -> None:
        """UserError where there is no room for the replies of so many calls, which would be paid for in vain."""
        self.store.check_room(calls)

    def get(self, key: bytes) -> tuple[bytes, float | None] | None:
        """The stored reply and what it cost in US dollars (None: not known), or None where there is no reply."""
        return self.store.look(Lookup([key], every=False)).replies.get(key)

    async def look(self, keys: Collection[bytes], *, every: bool = False) -> Seen:
        """The stored replies to these keys, and which of the others (of all, with `every`) somebody has claimed: one
        look, in the turn of whatever is written."""
        look = Lookup(keys, every)
        if self.store.quick:
            return self.store.look(look)
        self._turn.looks.append(look)
        await asyncio.shield(self._begin())
        return look.seen

    async def put(
        self,
        key: bytes,
        kind: str,
        model: str,
        reply: bytes,
        usd: float | None,
        attempt: Attempt | None = None,
    ) -> None:
        """Returns when the reply is committed, with the end of the attempt that brought it if that was told before in
        the same turn of the event loop; a claim on its key ends with that."""
        self._turn.puts.append((key, kind, model, usd, reply, attempt.id if attempt else None))
        self._turn.freed.append(key)
        await asyncio.shield(self._begin())

    async def claim(
        self,
        keys: Collection[bytes],
        attempt: Attempt | None = None,
        *,
        anew: bool = False,
        again: bool = False,
        resend: bool = True,
    ) -> set[bytes]:
        """Those of the keys that the caller is to request: no other process does, and there is no reply (with `anew` a
        stored reply does not count; with `again` the caller has claimed them before; without `resend` those whose
        last attempt is unknown are left out). The attempt that makes these calls is written as sent, if there are any.
        The caller ends each claim by `put` or `release`."""
        wish = Wish(keys, attempt, anew, again, resend)
        self._turn.wanted.append(wish)
        commit = self._begin()
        if again and self._flush is not None and self.store.quick:
            self._flush.cancel()  # at once, so that what a call has learnt goes before new calls
            self._commit()
        try:
            await asyncio.shield(commit)
        except asyncio.CancelledError:
            commit.add_done_callback(lambda _done: self._undo(wish))
            raise
        loop = asyncio.get_running_loop()
        if wish.granted and (self._renewal is None or self._loop is not loop):
            self._loop = loop
            self._renewal = loop.call_later(stores.LEASE / 3, self._renew)
        return wish.granted

    def _undo(self, wish: Wish) -> None:
        if wish.attempt is not None:
            self.withdraw(wish.attempt)
        self.release(wish.granted)

    def end(
        self,
        attempt: Attempt,
        state: str,
        status: int | None = None,
        tokens: Tokens | None = None,
        usd: float | None = None,
    ) -> None:
        """How an attempt ended; written at the end of this turn of the event loop. state: `answered`, `unknown` (no
        reply was read, and it may have been billed) or `unreached` (there was no connection). status: 200 for a reply,
        an error's HTTP status, None where it had none. tokens, usd: as counted; None: not known."""
        counts = (
            (None, None, None)
            if tokens is None
            else (tokens.prompt, tokens.cached_prompt, tokens.completion)
        )
        self._turn.ended.append((attempt.id, state, status, *counts, usd))
        self._begin()

    def withdraw(self, attempt: Attempt) -> None:
        """An attempt that was written did not leave: its row is deleted."""
        if attempt.id:
            self._turn.withdrawn.append(attempt.id)
            attempt.id = 0
            self._begin()

    def release(self, keys: Collection[bytes], *, unknown: bool = False) -> None:
        """Ends claims without a reply, where any are left. unknown: their last attempt may have been billed; then it is
        kept who it was, for `unknown`, and anybody may claim the keys."""
        held = [key for key in keys if key in self._held]
        if unknown:
            self._held.difference_update(held)
            self._turn.left += held
        else:
            self._turn.freed += held
        if self._turn.freed or self._turn.left:
            self._begin()

    def held(self, keys: Collection[bytes]) -> set[bytes]:
        """Those of the keys that somebody has claimed."""
        return self.store.held(keys)

    def unknown(self, keys: Collection[bytes]) -> dict[bytes, Unknown]:
        """Those of the keys whose last attempt is unknown: no reply was read, and it may have been billed."""
        query = """SELECT sent, most_usd FROM claims JOIN attempts ON attempts.id = claims.attempt
            WHERE claims.key = ? AND state IN ('sent', 'unknown')"""
        held = self.store.held(keys)
        rows = {key: self.do(query, (key,)).fetchone() for key in keys if key not in held}
        return {key: Unknown(*row) for key, row in rows.items() if row is not None}

    def _begin(self) -> asyncio.Future[None]:
        """The commit at the end of this turn of the event loop, or after the one under way."""
        loop = asyncio.get_running_loop()
        if (
            self._writing is not None and self._writing[2].get_loop() is not loop
        ):  # which has ended since
            self._written()
        if self._flushed is None or self._flushed.get_loop() is not loop:
            self._flushed = loop.create_future()
            if self._writing is None:
                self._flush = loop.call_soon(self._commit)
        return self._flushed

    def _commit(self) -> None:
        flushed = self._flushed
        self._flushed = None
        turn = self._turn
        self._turn = StoreTurn()
        assert flushed is not None
        if self.store.quick:
            self._write(turn, flushed)
            return
        loop = asyncio.get_running_loop()
        self._writing = writing = self._thread.submit(self.store.commit, turn), turn, flushed

        def then(write: asyncio.Future[None]) -> None:
            if not write.cancelled():
                write.exception()  # `_written` tells it: that is no "exception never retrieved"
            if self._writing is writing:
                self._written()
                if self._flushed is not None:
                    self._commit()

        asyncio.wrap_future(writing[0], loop=loop).add_done_callback(then)

    def _written(self) -> None:
        """Tells what became of a turn that the thread has written, or waits until it has."""
        assert self._writing is not None
        (writing, turn, flushed), self._writing = self._writing, None
        with suppress(RuntimeError):  # whoever waits for it has no loop any more
            if (error := writing.exception()) is None:
                self._committed(turn, flushed)
            else:
                self._failed(turn, flushed, error)

    def _settle_ended(self) -> None:
        """Writes what was told in an event loop that has ended: nobody waits for it any more. Who reads the store
        before sees attempts in flight that have ended, and a commit of the thread can change it between two reads."""
        futures = [self._flushed, self._writing[2] if self._writing is not None else None]
        if not any(future is not None and future.get_loop().is_running() for future in futures):
            self._settle()

    def _settle(self) -> None:
        """Waits for what the thread writes, and writes the rest."""
        if self._writing is not None:
            self._written()
        if self._flushed is not None:
            if self._flush is not None:
                self._flush.cancel()
            turn = self._turn
            self._turn = StoreTurn()
            flushed = self._flushed
            self._flushed = None
            with suppress(RuntimeError):  # whoever waits for it has no loop any more
                self._write(turn, flushed)

    def _write(self, turn: StoreTurn, flushed: asyncio.Future[None]) -> None:
        try:
            self.store.commit(turn)
        except Exception as error:  # whatever it is: those who wait must hear of it
            self._failed(turn, flushed, error)
        else:
            self._committed(turn, flushed)

    def _committed(self, turn: StoreTurn, flushed: asyncio.Future[None]) -> None:
        self._held.difference_update(turn.freed)
        self._held.update(*(wish.granted for wish in turn.wanted))
        flushed.set_result(None)

    def _failed(self, turn: StoreTurn, flushed: asyncio.Future[None], error: BaseException) -> None:
        self._turn.ended[:0] = turn.ended  # what became of attempts is told with the next commit
        self._turn.withdrawn[:0] = turn.withdrawn
        for wish in turn.wanted:
            wish.granted.clear()
        if isinstance(error, self.store.Failure):
            error = UserError(
                f"the call cache {self.path} cannot be written ({error}); repeat the command to resume"
            )
        flushed.set_exception(error)
        flushed.exception()  # a `release` waits for nothing: that is no "exception never retrieved"

    def _renew(self) -> None:
        self._renewal = None
        if self._held:
            loop = asyncio.get_running_loop()
            if self.store.quick:
                self.store.renew()
            else:
                self._thread.submit(self.store.renew)
            self._renewal = loop.call_later(stores.LEASE / 3, self._renew)

    def known(self, endpoint: str, fact: str) -> bool:
        """Whether an endpoint is known for something (`text-only`: it refuses JSON schemas)."""
        row = self.do(
            "SELECT 1 FROM facts WHERE endpoint = ? AND fact = ?", (endpoint, fact)
        ).fetchone()
        return row is not None

    def remember(self, endpoint: str, fact: str) -> None:
        """Keeps a fact about an endpoint for later runs."""
        if not self.store.read_only:
            self.do("INSERT INTO facts VALUES (?, ?) ON CONFLICT DO NOTHING", (endpoint, fact))

    def lines(self) -> list[CacheLine]:
        """What the cache holds, by model and kind of call."""
        self._settle_ended()
        query = "SELECT model, kind, count(*), sum(length(reply)) FROM calls GROUP BY model, kind ORDER BY model, kind"
        lines = [CacheLine(*line) for line in self.do(query)]
        if any(not isinstance(line.model, str) or not isinstance(line.size, int) for line in lines):
            raise UserError(
                f"the call cache {self.path} is damaged (a call has no model or no reply); name another with --cache FILE"
            )
        return lines

    def clear(self, model: str | None = None) -> tuple[int, int]:
        """Deletes the replies of one model, or all, with the facts about their endpoints and the ledger of attempts
        that are not under way; how many replies and attempts there were."""
        self.bury()
        ended = "DELETE FROM attempts WHERE state NOT IN ('sent', 'queued')"
        of_model = () if model is None else (model,)
        attempts = self.do(f"{ended} AND model = ?" if of_model else ended, of_model).rowcount
        self.bury()
        if model is None:
            count = self.do("DELETE FROM calls").rowcount
            self.do("DELETE FROM facts")
        else:
            count = self.do("DELETE FROM calls WHERE model = ?", (model,)).rowcount
            name = model.removeprefix("openai:")  # facts are kept by model and base URL
            self.do(
                "DELETE FROM facts WHERE endpoint = ? OR endpoint LIKE ?",
                (name, f"{name}@https://api.openai.com/%"),
            )
        self.store.shrink()
        return count, attempts

    def ledger_size(self) -> tuple[int, int]:
        """Rows of the ledger, and their size in bytes, about."""
        self._settle_ended()
        row = self.do(
            "SELECT count(*), sum(length(model) + length(kind) + 90) FROM attempts"
        ).fetchone()
        return row[0], row[1] or 0

    def take_from(self, place: Path | str) -> Copied:
        """Takes over what another cache has and this one has not, with the ledger of its sessions. UserError where
        there is none at the place."""
        if not stores.is_url(place) and not Path(place).is_file():
            raise UserError(f"the call cache {place} does not exist; check its path")
        with closing(CallCache(place)) as source:
            source.bury()
            if not source.store.read_only:
                with source.store.unit():
                    end_lapsed(source.store)
            return copy(source.store, self.store)

    def close(self) -> None:
        """Ends the claims that are left, and closes the file."""
        if self._renewal is not None:
            self._renewal.cancel()
        if "_thread" in self.__dict__:
            self._thread.shutdown()
        self._settle()
        with suppress(self.store.Failure, UserError):  # whoever opens the store next does it
            if self._held:
                self.do("UPDATE claims SET until = 0.0 WHERE owner = ?", (self.store.owner,))
                self.bury()
        self.store.close()

    def bury(self) -> None:
        """Ends the claims that nobody holds any more (`Store.bury`), after what this cache has still to write."""
        self._settle_ended()
        self.store.bury()

    def do(self, statement: str, values: tuple[object, ...] = ()) -> Any:
        """One statement; UserError on a store that is damaged, locked for too long, or out of reach."""
        return self.store.do(statement, values)


def _opened(place: Path | str) -> Store:
    """The store at a path, or at a URL by what a package adds for its scheme."""
    if not stores.is_url(place):
        return SqliteStore(Path(place))
    scheme = str(place).partition(":")[0]
    opened: Store = plugins.required("stores", scheme, f"the call cache {stores.shown(place)}")(
        str(place)
    )
    return opened
