"""Collects calls of chat models into batches, submits them, and gives each call the reply of its line.

A call goes through the client as any other: claim, budget, the model's dialect, its lessons, the check of its reply.
Only its request does not go to the endpoint; it becomes a line of a batch (`http_model.VIA`), and waits. So a batched
call has the same stored reply as a single one. A round is submitted when nothing else can happen: every call under way
waits for a batch, for the budget or for another call; or when a batch is full and no call is under way. Where the
budget leaves too few calls for a batch, it waits for what batches under way give back; without any, the budget is
exhausted. The first calls of each model for each purpose (a metric, and a prompt of it) are sent by themselves: they
teach what the endpoint refuses, and stop a run whose judge cannot be read before a batch of its calls is paid for.
Where a judge gave a verdict in an earlier session of the run, there are no such calls.

What becomes of one batch at its vendor is in `tracker`. A call whose line is in the journal is not sent again: it waits
for the batch of that line.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from longmark.concurrency import AT_LEAST, COMPUTING
from longmark.contrib.scale.batches.batch_vendor import BatchVendor
from longmark.contrib.scale.batches.journal import UNKNOWN, Batch, BatchLine, Journal
from longmark.contrib.scale.batches.tracker import Tracker
from longmark.contrib.scale.batches.vendors import vendor_of
from longmark.errors import AskAgain, ModelError, RequestRefused, ServerFault
from longmark.models.batching import Batching, too_few
from longmark.models.http import Refusal
from longmark.models.http_model import VIA
from longmark.models.protocols import ChatReply, ChatRequest
from longmark.models.sending import Sender, Stopped
from longmark.models.stores import Store
from longmark.progress import counted
from longmark.records.verdicts import FIRST, AskedPrompt

T = TypeVar("T")

SINGLE = FIRST  # calls of each model for each purpose that are sent by themselves before any batch
_MOST_LINES = 10_000  # of a batch, below every vendor's limit: what its results need in memory
_CALM = 3  # looks at a loop that is at rest before a round begins
_TURN = 0.02  # seconds between two of them
_AGAIN = 0.5  # seconds after which calls that could not be submitted are looked at again


@dataclass(eq=False, slots=True)
class _Waiting:
    """A call that waits for its line's reply: the HTTP status and the body."""

    key: bytes
    model: Any
    data: bytes
    reply: asyncio.Future[tuple[int, bytes]]


@dataclass(eq=False)
class _Lane:
    """What is known of one model's batches in this session. most: lines of a batch, less than the vendor's limit where
    its queue is small; open: batches that are submitted."""

    vendor: BatchVendor
    most: int
    queue: list[_Waiting] = field(default_factory=list)
    size: int = 0
    singles: Counter[AskedPrompt] = field(default_factory=Counter)
    open: int = 0
    crowded: bool = False


class Batcher:
    """The batches of one client. store: of its call cache."""

    def __init__(self, client: Sender, store: Store, batching: Batching) -> None:
        self.client = client
        self.tracker = Tracker(client, store, batching)
        self.how = batching
        self.rounds = 0
        self._takes: dict[str, bool] = {}
        self._taken_over: list[bytes] = []
        self._lanes: dict[str, _Lane] = {}
        self._in_batch: dict[
            str, dict[bytes, _Waiting]
        ] = {}  # our id of a batch -> its calls that wait here
        self._given: set[bytes] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._rounds_task: asyncio.Task[None] | None = None
        self._following: set[str] = set()

    @property
    def journal(self) -> Journal:
        return self.tracker.journal

    def close(self) -> None:
        self.tracker.close()

    def takes(self, model: Any) -> bool:
        """Whether calls of a model go in batches."""
        if (is_taken := self._takes.get(model.identity)) is None:
            is_taken = self.how.wants(model) and vendor_of(model) is not None
            self._takes[model.identity] = is_taken
        return is_taken

    def width(self, models: Iterable[Any], usual: int) -> int:
        """How much is worked on at once: where a model's calls go in batches, so many examples that rounds are large.
        It holds for all that the event loop's work begins from here on."""
        if not any(map(self.takes, models)):
            return usual
        AT_LEAST.set(self.how.examples)
        return max(usual, self.how.examples)

    @property
    def window(self) -> float:
        """Hours in which a batch ends, at most."""
        return max((lane.vendor.window for lane in self._lanes.values()), default=0.0)

    def notices(self) -> list[str]:
        """What the user should know at the end."""
        left = counted(len(self.tracker.left), "batch", "batches")
        told = f"{left} left running. The same command waits for them; longmark batches lists, fetches and cancels them."
        cut = counted(len(self.tracker.cut), "upload")
        cut = f"{cut} cut off, and nothing submitted. The same command, or longmark batches fetch, deletes the file."
        return [told] * bool(self.tracker.left) + [cut] * bool(self.tracker.cut)

    def over(
        self,
        model: Any,
        key: bytes,
        asked_prompt: AskedPrompt,
        *,
        alone: bool = False,
        is_read_before: bool = False,
    ) -> Any:
        """The model for a call with this key: itself, or one that sends the call in a batch.

        asked_prompt: what it is for; alone: not in a new batch; is_read_before: it had a verdict in an earlier session,
        so no first calls go by themselves.
        """
        if isinstance(model, BatchedChat) or not self.takes(model):
            return model
        lane = self._lane(model)
        if self.journal.line(key) is None:
            lane.singles[asked_prompt] += 1
            if alone or (lane.singles[asked_prompt] <= SINGLE and not is_read_before):
                return model
        return BatchedChat(self, model, key)

    def _lane(self, model: Any) -> _Lane:
        lane = self._lanes.get(model.identity)
        if lane is None:
            vendor = vendor_of(model)
            assert vendor is not None
            lane = self._lanes[model.identity] = _Lane(vendor, min(vendor.most_lines, _MOST_LINES))
        return lane

    # A call ------------------------------------------------------------------------------------------------------
    async def reply(self, model: Any, key: bytes, body: dict[str, Any]) -> Any:
        """The JSON of the reply to a request, out of a batch. Raises the error that it is."""
        lane = self._lane(model)
        waiting = _Waiting(
            key,
            model,
            lane.vendor.line(key.hex(), body),
            asyncio.get_running_loop().create_future(),
        )
        line = self.journal.line(key)
        if line is not None and self._is_useless(key, line):
            self.journal.forget(key)
            line = None
        if self.client.stopped:
            raise Stopped("The run was stopped before this call was submitted.")
        with self.client.parked():
            if line is not None and line.status != UNKNOWN:
                self._take_over(key)
            if line is None:
                self._enqueue(lane, waiting)
            elif line.status is None:
                self._in_batch.setdefault(line.batch, {})[key] = waiting
                self._follow(line.batch, model)
            else:
                waiting.reply.set_result((line.status, line.result or b""))
            status, raw = await waiting.reply
        if status == UNKNOWN:
            why = "its vendor has no result of a batch for this call, which may have been paid"
            if self.how.resend_unknown:
                raise ServerFault(why).with_bill()
            lost = RequestRefused(f"{why}; --resend-unknown yes sends it again")
            raise lost.unsent() if line is not None and line.status == UNKNOWN else lost.with_bill()
        self._given.add(key)
        if status != 200:
            self.journal.forget(key)
        return model.endpoint.outcome(status, raw)

    def _take_over(self, key: bytes) -> None:
        """Notes a call whose batch an earlier session submitted; the ledger hears of all of a turn at once."""
        if not self._taken_over:
            asyncio.get_running_loop().call_soon(self._tell_ledger)
        self._taken_over.append(key)

    def _tell_ledger(self) -> None:
        keys = self._taken_over
        self._taken_over = []
        self.journal.replaces(keys)

    def sent_as(self, key: bytes) -> str:
        """The state of a call's next attempt in the ledger: `queued` until its batch is being sent."""
        line = self.journal.line(key)
        return (
            "queued"
            if line is None or line.state == "prepared" or self._is_useless(key, line)
            else "sent"
        )

    def _is_useless(self, key: bytes, line: BatchLine) -> bool:
        """Whether a line has a result that does not serve, so that the call goes into another batch."""
        return line.status is not None and (key in self._given or self._may_resend(line.status))

    def _may_resend(self, status: int) -> bool:
        return status == UNKNOWN and self.how.resend_unknown

    def _enqueue(self, lane: _Lane, waiting: _Waiting) -> None:
        if len(waiting.data) > lane.vendor.most_bytes:
            most_bytes = lane.vendor.most_bytes
            raise RequestRefused(
                f"the request is larger than a batch of {lane.vendor.host} ({most_bytes:,} bytes)"
            ).unsent()
        lane.queue.append(waiting)
        lane.size += len(waiting.data) + 1
        if self._rounds_task is None or self._rounds_task.done():
            self._rounds_task = self._spawn(self._rounds())

    # Rounds ------------------------------------------------------------------------------------------------------
    async def _rounds(self) -> None:
        """Submits what is queued whenever nothing else can happen."""
        try:
            while any(lane.queue for lane in self._lanes.values()):
                await self._rest()
                if self.client.stopped:
                    raise Stopped("The run was stopped before this call was submitted.")
                submitted = False
                few = self._too_few()
                for lane in self._lanes.values():
                    while (
                        not few
                        and (chunk := self._chunk(lane))
                        and not (lane.crowded and lane.open)
                    ):
                        self._take(lane, chunk)
                        lane.open += 1
                        self._spawn(self._submit(lane, chunk))
                        submitted = True
                if few and not any(lane.open for lane in self._lanes.values()):
                    raise self.client.budget.too_small(*few, self.window)
                self.rounds += submitted
                await self.client.pause(_TURN if submitted else _AGAIN)
        except Exception as error:
            for lane in self._lanes.values():
                _fail(lane.queue, error)
                lane.queue = []
                lane.size = 0

    def _too_few(self) -> tuple[int, int] | None:
        """Where the budget leaves too few calls for a batch (`too_few`): how many fit, and how many there are."""
        queued = sum(len(lane.queue) for lane in self._lanes.values())
        short = self.client.short()
        return (queued, queued + short) if short and too_few(queued, queued + short) else None

    async def _rest(self) -> None:
        """Returns when the loop is at rest, a batch is full and no call is under way, or the run is stopped."""
        calm = 0
        before = (-1, 0, 0)
        while calm < _CALM and not self.client.stopped:
            if not self.client.busy and any(
                len(lane.queue) >= lane.most or lane.size >= lane.vendor.most_bytes
                for lane in self._lanes.values()
            ):
                return
            await self.client.pause(_TURN)
            queued = sum(len(lane.queue) for lane in self._lanes.values())
            counts = self.client.counts
            now = queued, counts.requests, counts.from_cache
            busy = self.client.busy or bool(COMPUTING.get(set())) or now != before
            calm = 0 if busy else calm + 1
            before = now

    def _chunk(self, lane: _Lane) -> list[_Waiting]:
        """The next batch of a lane: its first calls, within the vendor's limits."""
        sizes = itertools.accumulate(len(call.data) + 1 for call in lane.queue)
        room = lane.vendor.most_bytes - 32  # of what encloses the lines
        fitting = sum(1 for _ in itertools.takewhile(lambda size: size <= room, sizes))
        return lane.queue[: min(max(1, fitting), lane.most)] if lane.queue else []

    @staticmethod
    def _take(lane: _Lane, chunk: list[_Waiting]) -> None:
        lane.queue = lane.queue[len(chunk) :]
        lane.size -= sum(len(call.data) + 1 for call in chunk)

    async def _submit(self, lane: _Lane, chunk: list[_Waiting]) -> None:
        """Submits a batch and follows it to its end."""
        model = chunk[0].model
        vendor = lane.vendor
        waiting = {call.key: call for call in chunk}
        try:
            data = vendor.data([call.data for call in chunk])
            digest = hashlib.sha256(data).hexdigest()
            batch = self.journal.intend(
                model.name, model.identity, digest, list(waiting), vendor.window
            )
            self._following.add(batch.id)
            self._in_batch[batch.id] = waiting
            try:
                await self.tracker.submit(vendor, model.model, batch, data)
            except RequestRefused as error:
                if error.http_status != 413:
                    raise
                self._smaller(lane, batch, waiting)
                return
            await self._end(lane, batch.id)
        except Exception as error:
            _fail(waiting.values(), error)
        finally:
            lane.open -= 1
            self._leave(waiting)

    def _smaller(self, lane: _Lane, batch: Batch, waiting: dict[bytes, _Waiting]) -> None:
        """Queues the calls of a batch that was too large again, in smaller ones, one after the other."""
        lane.crowded = True
        if batch.calls == 1 and lane.open == 1:
            _fail(
                waiting.values(),
                RequestRefused(f"{lane.vendor.host} has no room in its queue for this call"),
            )
            return
        lane.most = max(1, min(lane.most, batch.calls) // 2 if lane.open == 1 else batch.calls)
        self._in_batch.pop(batch.id, None)
        for call in waiting.values():
            self._enqueue(lane, call)

    # A batch that was submitted ----------------------------------------------------------------------------------
    def _follow(self, id: str, model: Any) -> None:
        """Waits for a batch that an earlier session left."""
        if id in self._following:
            return
        self._following.add(id)
        lane = self._lane(model)

        async def follow() -> None:
            waiting = self._in_batch[id]
            try:
                if (
                    batch := self.journal.batch(id)
                ) is not None and batch.identity != model.identity:
                    raise RequestRefused(f"batch {id} in the call cache is of another model")
                await self._end(lane, id)
            except Exception as error:
                _fail(waiting.values(), error)
            finally:
                lane.open -= 1
                self._leave(waiting)

        lane.open += 1
        self._spawn(follow())

    def _leave(self, waiting: dict[bytes, _Waiting]) -> None:
        """Follows the batch of these calls no more; a call that comes back to it begins anew."""
        for id in [id for id, call in self._in_batch.items() if call is waiting]:
            del self._in_batch[id]
            self._following.discard(id)

    async def _end(self, lane: _Lane, id: str) -> None:
        """Follows a batch to its end, and gives its calls what came of them."""
        batch = self.journal.batch(id)
        was_sent = batch is not None and batch.state != "prepared"
        try:
            ended = await self.tracker.fetch(lane.vendor, id)
        except ModelError as error:  # what it costs is not free for other calls
            raise RequestRefused(
                f"it is in a batch that its vendor does not show now: {error}"
            ).with_bill() from None
        waiting = self._in_batch.pop(id, {})
        self._following.discard(id)
        if ended is not None and ended.full:
            batch = Batch(id, "", "", "", 0.0, len(waiting), "", None, None, None, 0.0)
            self._smaller(lane, batch, waiting)
            return
        for call in waiting.values():
            line = self.journal.line(call.key)
            if call.reply.done():
                continue
            if line is not None and line.status is not None:
                call.reply.set_result((line.status, line.result or b""))
            elif ended is None:
                never = ServerFault(f"batch {id} was never submitted")
                call.reply.set_exception(never if was_sent else never.unsent())
            elif ended.failure:
                failure = (
                    next(iter(ended.wrong.values()), ended.failure)
                    if len(waiting) == 1
                    else ended.failure
                )
                call.reply.set_exception(
                    Refusal(
                        f"{lane.vendor.host} refused the batch: {failure}",
                        400,
                        message_text=failure.lower(),
                    )
                )
            else:
                call.reply.set_exception(
                    ServerFault(
                        f"{lane.vendor.host} ended batch {id} ({ended.state}) before this call was made"
                    )
                )

    def _spawn(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


class BatchedChat:
    """A chat model for one call, which goes in a batch. It has no limit of calls at once and no pace: batches have the
    vendor's own limits."""

    def __init__(self, batcher: Batcher, model: Any, key: bytes) -> None:
        self._batcher = batcher
        self._model = model
        self._key = key
        self.identity = f"{model.identity} in batches"
        self.settings = replace(model.settings, requests_per_minute=None, tokens_per_minute=None)
        self.at_once = 10**9

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    @property
    def known(self) -> bool:
        """Whether the call is in a batch already: whatever its last attempt was, it is not sent again."""
        return self._batcher.journal.line(self._key) is not None

    @property
    def sent_as(self) -> str:
        return self._batcher.sent_as(self._key)

    @property
    def batch_share(self) -> float:
        """What its vendor takes, as a share of the list price."""
        return self._batcher._lane(self._model).vendor.price

    async def chat(self, request: ChatRequest) -> ChatReply:
        async def post(_url: str, body: dict[str, Any]) -> Any:
            return await self._batcher.reply(self._model, self._key, body)

        self._model.begin_together()
        before = VIA.set(post)
        try:
            reply: ChatReply = await self._model.chat(request)
            return reply
        except (AskAgain, ServerFault):  # another session shall not read it again
            self._batcher.journal.forget(self._key)
            raise
        finally:
            VIA.reset(before)


def _fail(waiting: Iterable[_Waiting], error: Exception) -> None:
    for call in waiting:
        if not call.reply.done():
            call.reply.set_exception(error)
            call.reply.exception()
