"""Takes a batch through its states at its vendor: uploaded, submitted, looked at until it has ended, read, tidied up.

Each step is in the journal before it can cost anything. A batch that an earlier session left is looked for at the
vendor, and waited for; where nobody can say what became of it, the status of its lines is unknown.
"""

from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from longmark.contrib.scale.batches.batch_vendor import BatchStatus, BatchVendor, Result
from longmark.contrib.scale.batches.journal import UNKNOWN, Batch, Journal
from longmark.errors import ModelError, RateLimited, RequestRefused
from longmark.models.batching import Batching
from longmark.models.keys import redact_reply
from longmark.models.limits import MAX_FAULTS, wait_before
from longmark.models.sending import Sender, Stopped
from longmark.models.stores import Store
from longmark.progress import counted

T = TypeVar("T")

_SHARE = 0.1  # of the wait for a batch so far: the time to the next look at it, within the next two
_SOON = 0.5  # seconds
_LATE = 60.0
_LISTS = 2  # attempts that fail, to list what was uploaded
_PATIENT = 40  # looks at a batch that fail one after the other: about five minutes
_GRACE = (
    1.5  # seconds after a stop in which a request still gets its reply that cannot be made twice
)
_UNHEARD = 2  # times the time-out, after which a batch that no list shows was never submitted: one for a request that
# is still under way, one for a list that shows it late
_SKEW = 3600.0  # seconds by which a vendor's clock may differ from ours


class Tracker:
    """The batches of one client at their vendors. store: of its call cache; left: batches that were left running;
    cut: those that a stop kept from being submitted, whose file may be at the vendor."""

    def __init__(self, client: Sender, store: Store, batching: Batching) -> None:
        self.client = client
        self._store = store
        self.how = batching
        self.left: set[str] = set()
        self.cut: set[str] = set()
        self._journal: Journal | None = None

    @property
    def journal(self) -> Journal:
        if self._journal is None:
            self._journal = Journal(self._store)
        return self._journal

    def close(self) -> None:
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    async def submit(self, vendor: BatchVendor, model: str, batch: Batch, data: bytes) -> None:
        """Uploads what is sent for a prepared batch, and submits it. Where that raises, its vendor does not have the
        batch, and the journal has forgotten it; after a stop it may stand there as prepared, so that its file can be
        deleted later."""
        try:
            file = await self._steady(lambda: vendor.upload(_name(batch.id), data))
            while file and not await self._steady(lambda: vendor.ready(file)):
                await self._pause(_SOON)
        except Stopped:
            self.cut.add(batch.id)
            raise
        except RequestRefused as error:
            self.journal.drop(batch.id)
            if error.http_status in (404, 405):
                why = f"{vendor.host} takes no batches ({error})"
                raise RequestRefused(
                    f"{why}; leave --batch out, or set batch: false for the model"
                ) from None
            raise
        except ModelError:
            await self._abandon(vendor, batch.id)
            raise

        def send() -> Coroutine[Any, Any, BatchStatus]:
            self.journal.sending(batch.id, file)
            return vendor.submit(batch.id, model, file, data)

        try:
            seen = await self._send(send)
        except (RequestRefused, Stopped):
            self.journal.drop(batch.id, keep=not await self._delete(vendor, [file] if file else []))
            raise
        if seen is not None:
            self.journal.running(batch.id, seen.id)

    async def _abandon(self, vendor: BatchVendor, id: str) -> None:
        """Forgets a batch that was not submitted, and deletes what was uploaded for it. Where the vendor cannot be
        asked for that now, the batch stays in the journal without its calls, for `longmark batches fetch`."""
        try:
            gone = await self._delete(
                vendor, await self._steady(lambda: vendor.uploaded(_name(id)), _LISTS)
            )
        except ModelError as error:
            gone = isinstance(error, RequestRefused)  # it has no list of files
        self.journal.drop(id, keep=not gone)

    async def _send(
        self, submit: Callable[[], Coroutine[Any, Any, BatchStatus]]
    ) -> BatchStatus | None:
        """The batch that was submitted; None where there was no reply, so that nobody knows whether it was. What its
        vendor refused for now, or what never reached it, is sent again."""
        for attempt in itertools.count(1):
            try:
                return await self.client.until_stopped(submit(), _GRACE)
            except Stopped:
                return None
            except ModelError as error:
                again = isinstance(error, RateLimited) or (error.unreached and attempt < MAX_FAULTS)
                if not again and isinstance(error, RequestRefused):
                    raise
                if not again:
                    return None
                await self._pause(wait_before(attempt, error.retry_after, self.client.rng))
        raise AssertionError

    async def fetch(self, vendor: BatchVendor, id: str, *, wait: bool = True) -> BatchStatus | None:
        """Stores the results of a batch as soon as it has ended. None: it was never submitted, and is forgotten.
        Without `wait`, Stopped where it has not ended yet, or a run waits for it."""
        batch = self.journal.batch(id)
        if not wait and self._store.held(self.journal.keys(id)):
            raise Stopped("A command that runs now waits for it.")
        if batch is None or batch.state not in ("sending", "running"):
            if batch is not None and batch.state == "prepared":
                await self._abandon(vendor, id)
            return None
        try:
            vendor_id = batch.vendor_id or await self._find(vendor, batch, wait=wait)
            if vendor_id is None:
                self.journal.drop(
                    id, keep=not await self._delete(vendor, [batch.file] if batch.file else [])
                )
                return None
            if batch.vendor_id is None:
                self.journal.running(id, vendor_id)
            began = asyncio.get_running_loop().time()
            while not (seen := await self._steady(lambda: vendor.look(vendor_id), _PATIENT)).ended:
                await self._wait(batch, seen, began, wait=wait)
            results = await self._steady(lambda: vendor.results(seen), _PATIENT)
        except RequestRefused as error:
            if error.http_status not in (404, 410):
                raise
            self.journal.finish(id, {}, rest_status=UNKNOWN, state="lost")
            if batch.file and not self.how.keep_files:
                await self._delete(vendor, [batch.file])
            return BatchStatus(id, 0.0, "lost", ended=True)
        except Stopped:
            self.left.add(id)
            raise
        self.journal.finish(
            id,
            _results(results, self.journal.keys(id)),
            rest_status=UNKNOWN if seen.complete else None,
        )
        if not self.how.keep_files and await self._delete(vendor, seen.files):
            self.journal.cleaned(id)
        return seen

    async def _find(self, vendor: BatchVendor, batch: Batch, *, wait: bool) -> str | None:
        """The vendor's id of a batch whose submission had no reply; None where its vendor does not have it."""
        sent = batch.sent or batch.created
        began = asyncio.get_running_loop().time()
        patience = _UNHEARD * vendor.endpoint.timeout

        async def listed() -> list[BatchStatus]:
            return [seen async for seen in vendor.listed(sent - _SKEW)]

        tried: set[str] = {batch.vendor_id for batch in self.journal.batches() if batch.vendor_id}
        while True:
            # no request is under way any more; a run does not rely on the time of day for that
            late = (
                asyncio.get_running_loop().time() > began + patience
                if wait
                else self._store.now() > sent + patience
            )
            candidates = await self._steady(listed, _PATIENT)
            open_ = False
            for seen in candidates:
                if vendor.marked and seen.marks & {batch.id, batch.file}:
                    return seen.id
                mine = seen.total == batch.calls and seen.created >= sent - _SKEW
                if vendor.marked or seen.id in tried or not mine:
                    continue
                if not seen.ended:
                    open_ = True
                    continue
                ended = seen
                tried.add(seen.id)
                results = await self._steady(lambda ended=ended: vendor.results(ended))  # type: ignore[misc]
                if {custom_id for custom_id, _, _ in results} & {
                    key.hex() for key in self.journal.keys(batch.id)
                }:
                    return seen.id
            if late and not open_:
                return None
            await self._wait(batch, None, began, wait=wait)

    async def _wait(
        self, batch: Batch, seen: BatchStatus | None, began: float, *, wait: bool
    ) -> None:
        """Until the next look at a batch that is followed since `began`. Stopped where that is not waited for."""
        why = f"for a batch of {counted(batch.calls, 'call')}"
        why += (
            f", {seen.state}: {seen.done:,} done" if seen is not None else ", which is looked for"
        )
        if not wait:
            raise Stopped(f"It has not ended: {seen.state}" if seen else "It was not found yet.")
        with self.client.waits(math.inf, why):
            await self._pause(
                min(_LATE, max(_SOON, _SHARE * (asyncio.get_running_loop().time() - began)))
            )

    async def _steady(
        self, ask: Callable[[], Coroutine[Any, Any, T]], most_faults: int = MAX_FAULTS
    ) -> T:
        """What a request gives that does no harm when it is made twice: a stop cuts it. most: attempts that fail."""
        for attempt in itertools.count(1):
            try:
                return await self.client.until_stopped(ask())
            except ModelError as error:
                if not error.retryable or (
                    attempt >= most_faults and not isinstance(error, RateLimited)
                ):
                    raise
                await self._pause(wait_before(attempt, error.retry_after, self.client.rng))
        raise AssertionError

    async def _pause(self, seconds: float) -> None:
        await self.client.pause(seconds)
        if self.client.stopped:
            raise Stopped("The run was stopped; its batches are left running.")

    async def _delete(self, vendor: BatchVendor, files: Iterable[str]) -> bool:
        """Deletes files at a vendor; whether all are gone. What cannot be deleted is left."""
        gone = True
        for file in files:
            try:
                await self.client.until_stopped(vendor.delete(file), _GRACE)
            except Stopped:
                gone = False
            except ModelError as error:
                gone = gone and error.http_status == 404
        return gone


def _name(id: str) -> str:
    """Of a batch's file at its vendor."""
    return f"longmark-{id}.jsonl"


def _results(lines: Iterable[Result], keys: set[bytes]) -> dict[bytes, tuple[int, bytes]]:
    """The results of lines that are ours, the first of each."""
    results: dict[bytes, tuple[int, bytes]] = {}
    for custom_id, status, raw in lines:
        try:
            key = bytes.fromhex(custom_id)
        except ValueError:
            continue
        if key in keys:
            results.setdefault(key, (status, redact_reply(raw)))
    return results
