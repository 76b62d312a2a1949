"""Bugs to plant: each breaks a promise in one place, as a change of the code could. The simulator must find each."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partialmethod
from types import SimpleNamespace
from typing import Any

from tests.simulation.schedule import Schedule, run

from longmark import workspace
from longmark.contrib.scale.batches import tracker
from longmark.contrib.scale.batches.batch_vendor import BatchVendor
from longmark.contrib.scale.batches.batcher import BatchedChat, Batcher
from longmark.contrib.scale.batches.file_vendors import FileVendor
from longmark.contrib.scale.batches.journal import Journal
from longmark.contrib.scale.batches.tracker import Tracker
from longmark.engine import folder, settings
from longmark.engine.folder import RunFolder
from longmark.models.budget import Budget, Reservation
from longmark.models.cache import CallCache
from longmark.models.limits import Limiter
from longmark.models.prefixes import Prefixes
from longmark.models.protocols import Tokens
from longmark.models.sending import Sender
from longmark.models.stores import StoreTurn
from longmark.models.stores.sqlite import SqliteStore
from longmark.records import Row

Patch = tuple[Any, str, Any]
_put, _claim, _take = CallCache.put, CallCache.claim, Budget.take
_release, _write = CallCache.release, SqliteStore.commit
_sending, _running, _intend, _finish = (
    Journal.sending,
    Journal.running,
    Journal.intend,
    Journal.finish,
)
_open, _fetch, _read = Journal.__init__, Tracker.fetch, FileVendor.results
_failed, _enter, _append = Sender._failed, Limiter._enter, RunFolder.append


async def _put_later(self: CallCache, *reply: Any) -> None:
    asyncio.get_running_loop().call_later(1.0, lambda: asyncio.ensure_future(_put(self, *reply)))


def _commit_unheard(self: SqliteStore, turn: StoreTurn) -> None:
    try:
        _write(self, turn)
    except Exception:
        for wish in turn.wanted:
            wish.granted.update(wish.keys)


def _claimed_in_two_steps(self: SqliteStore, key: bytes, claim: tuple[Any, ...], wish: Any) -> bool:
    if not wish.anew and self.db.execute("SELECT 1 FROM calls WHERE key = ?", (key,)).fetchone():
        return False
    before = self.db.execute("SELECT owner, until FROM claims WHERE key = ?", (key,)).fetchone()
    if before is not None and self.is_held(before[0], before[1], time.time()):
        return False
    self.db.execute("COMMIT")
    self.db.execute("BEGIN IMMEDIATE")
    self.db.execute("REPLACE INTO claims VALUES (?, ?, ?, ?)", (key, *claim))
    return True


async def _claim_anyway(
    self: CallCache, keys: Any, attempt: Any = None, **options: Any
) -> set[bytes]:
    return await _claim(self, keys, attempt, **options | {"anew": True})


async def _write_later(
    self: CallCache, keys: Any, attempt: Any = None, **options: Any
) -> set[bytes]:
    granted = await _claim(self, keys, None, **options)
    if granted and attempt is not None:
        later = _claim(self, granted, attempt, **options | {"again": True})
        asyncio.get_running_loop().call_later(0.01, lambda: asyncio.ensure_future(later))
    return granted


def _forget_unknown(self: CallCache, keys: Any, *, unknown: bool = False) -> None:
    _release(self, keys)


def _keep_reserved(self: Sender, error: BaseException, held: Reservation, price: Any) -> None:
    if getattr(error, "http_status", None) != 429:
        _failed(self, error, held, price)


def _bill_nothing(self: Sender, error: BaseException, held: Reservation, price: Any) -> None:
    self.budget.settle(held, Tokens(), 0.0)


async def _enter_free(self: Limiter, queue: Any, held: Reservation) -> None:
    if queue is self._again:
        held.tokens, held.usd = 0, 0.0
    await _enter(self, queue, held)


def _take_alone(self: Budget, held: Reservation) -> bool:
    out, tokens, usd = self._out, self._tokens_out, self._usd_out
    self._out, self._tokens_out, self._usd_out = 0, 0, 0.0
    try:
        return _take(self, held)
    finally:
        self._out, self._tokens_out, self._usd_out = (
            out + self._out,
            tokens + self._tokens_out,
            usd + self._usd_out,
        )


def _append_short(self: RunFolder, n: int, row: Row) -> None:
    class _Whole:
        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

        def write(self, file: int, data: bytes) -> int:
            real.write(file, data)
            return len(data)

    module: Any = folder
    real, module.os = module.os, _Whole()
    try:
        _append(self, n, row)
    finally:
        module.os = real


def _rewrite_in_place(self: RunFolder) -> None:
    rows = []
    with open(self.rows_path, "rb") as old:
        for (offset,) in self._db.execute("SELECT offset FROM rows ORDER BY n, m"):
            old.seek(offset)
            rows.append(old.readline())
    with open(self.rows_path, "wb") as new:
        for row in rows:
            new.write(row)
            new.flush()


def _no_rollback(self: SqliteStore, turn: StoreTurn) -> None:
    class _NeverInTransaction:
        in_transaction = False

        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

    store: Any = self
    real, store.db = store.db, _NeverInTransaction()
    try:
        _write(self, turn)
    finally:
        store.db = real


def _sending_later(self: Any, batch: str, file: str | None) -> None:
    self.later = batch, file


def _running_first(self: Any, batch: str, vendor_id: str) -> None:
    _sending(self, *self.later)
    _running(self, batch, vendor_id)


def _intend_later(self: Any, *given: Any) -> Any:
    batch = _intend(self, *given)
    self.intended = given
    self.drop(batch.id)
    return batch


def _intend_first(self: Any, batch: str, vendor_id: str) -> None:
    made = _intend(self, *self.intended)
    self._write(
        ("UPDATE batch_lines SET batch = ? WHERE batch = ?", (batch, made.id)),
        ("UPDATE batches SET id = ?, sent = created WHERE id = ?", (batch, made.id)),
    )
    _running(self, batch, vendor_id)


def _by_order(results: Any, keys: set[bytes]) -> dict[bytes, tuple[int, bytes]]:
    return dict(zip(sorted(keys), [one for _, *one in results], strict=False))


def _finish_whole(
    self: Journal, batch: str, results: Any, *, rest_status: int | None, **more: Any
) -> None:
    _finish(self, batch, {} if rest_status is None else results, rest_status=rest_status, **more)


async def _results_gone(self: Any, seen: Any, read: Any) -> Any:
    found = await read(self, seen)
    for file in seen.results:
        await self.delete(file)
    return found


async def _fetch_anyway(self: Any, vendor: BatchVendor, id: str, *, wait: bool = True) -> Any:
    store = self._store
    self._store = SimpleNamespace(durable=store.durable, now=store.now, held=lambda keys: ())
    try:
        return await _fetch(self, vendor, id, wait=wait)
    finally:
        self._store = store


def _open_fast(self: Journal, store: Any) -> None:
    _open(self, store)
    self._store.do("PRAGMA synchronous=NORMAL")


async def _wait_for_nobody(self: Prefixes, turn: Any, stopped: asyncio.Event) -> None:
    await asyncio.sleep(0)


MUTANTS: dict[str, tuple[Patch, ...]] = {
    "a reply is stored after its row": ((CallCache, "put", _put_later),),
    "a failed commit of replies goes unheard": ((SqliteStore, "commit", _commit_unheard),),
    "a failed commit is not rolled back": ((SqliteStore, "commit", _no_rollback),),
    "a claim is granted though the reply is stored": ((CallCache, "claim", _claim_anyway),),
    "a claim is looked for and made in two transactions": (
        (SqliteStore, "_claimed", _claimed_in_two_steps),
    ),
    "a claim is not released": ((CallCache, "release", lambda self, keys, unknown=False: None),),
    "a claim is not renewed": ((CallCache, "_renew", lambda self: None),),
    "a claim outlives its process": (
        (SqliteStore, "is_held", staticmethod(lambda owner, until, now: True)),
    ),
    "an attempt is written after its request": ((CallCache, "claim", _write_later),),
    "the end of an attempt is not written": ((CallCache, "end", lambda self, *end, **how: None),),
    "a lost reply leaves nothing behind": ((CallCache, "release", _forget_unknown),),
    "a reservation is not given back": ((Sender, "_failed", _keep_reserved),),
    "a lost reply is not billed": ((Sender, "_failed", _bill_nothing),),
    "a retry forgets the budget": ((Limiter, "_enter", _enter_free),),
    "calls under way are not reserved": ((Budget, "take", _take_alone),),
    "a short write goes unnoticed": ((RunFolder, "append", _append_short),),
    "rows are rewritten in place": ((RunFolder, "_rewrite_rows", _rewrite_in_place),),
    "a run's folder is not locked": ((workspace, "_hold", lambda file: None),),
    "rows over the budget are final": (
        (settings, "RETRIED", frozenset({"model_error", "metric_error"})),
    ),
    "a batch id is written after the request": (
        (Journal, "sending", _sending_later),
        (Journal, "running", _running_first),
    ),
    "a batch is intended after it was sent": (
        (Journal, "intend", _intend_later),
        (Journal, "running", _intend_first),
    ),
    "results are matched by their order": ((tracker, "_results", _by_order),),
    "finished lines of an expired batch are dropped": ((Journal, "finish", _finish_whole),),
    "submitted money is not counted": ((BatchedChat, "batch_share", 0.0),),
    "a lost batch is sent again": ((Batcher, "_may_resend", lambda self, status: True),),
    "a batch that no list shows yet was never submitted": ((tracker, "_UNHEARD", 0),),
    "an earlier session's batch is not looked for": ((Journal, "line", lambda self, key: None),),
    "whoever waits for an earlier batch is an attempt more": (
        (Journal, "replaces", lambda self, keys: None),
    ),
    "results are deleted before they are stored": (
        (FileVendor, "results", partialmethod(_results_gone, read=_read)),
    ),
    "`batches fetch` forgets what a run is submitting": ((Tracker, "fetch", _fetch_anyway),),
    "what waits for a batch counts as sent": ((BatchedChat, "sent_as", "sent"),),
    "a follower is sent before its leader's reply is stored": (
        (Prefixes, "_wait", _wait_for_nobody),
    ),
    "the journal is not synchronised": ((Journal, "__init__", _open_fast),),
}
"""What is wrong -> where, and with what in its place."""


@contextmanager
def planted(name: str) -> Iterator[None]:
    before = [
        (place, attribute, place.__dict__[attribute]) for place, attribute, _ in MUTANTS[name]
    ]
    try:
        for place, attribute, wrong in MUTANTS[name]:
            setattr(place, attribute, wrong)
        yield
    finally:
        for place, attribute, right in before:
            setattr(place, attribute, right)


def found(name: str, seeds: Iterable[int]) -> tuple[int, str] | None:
    """The first of the seeds whose schedule finds a mutant, and what it breaks."""
    with planted(name):
        for seed in seeds:
            if (broken := run(Schedule.of(seed))) is not None:
                return seed, broken
    return None
