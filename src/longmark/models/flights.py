"""From requests to stored replies: cache, single flight, claims, the ledger.

Of equal requests one is sent, here and by every process on the same cache; the others wait for its reply. Every checked
reply is stored, whatever the caller makes of it; errors are not.
"""

from __future__ import annotations

import asyncio
import math
import random
import secrets
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from longmark import plugins
from longmark.concurrency import concurrently
from longmark.errors import LongmarkError, ModelError, RequestRefused, TooManyInputs, UserError
from longmark.models.batching import NO_BATCHES, Batches, Batching
from longmark.models.budget import Budget, Price, free
from longmark.models.cache import Attempt, CallCache, call_key
from longmark.models.call_kinds import (
    CHATS,
    RERANKS,
    CallKind,
    Stored,
    batches_of,
    checked_reply,
    pairs_a_call,
    read_stored,
)
from longmark.models.prefixes import Prefixes
from longmark.models.protocols import Backend, ChatReply, Tokens, total_tokens
from longmark.models.sending import NotClaimed, Reply, Sender, Stopped, unless_given_up
from longmark.models.stores import Seen
from longmark.models.usage_log import UsageLog
from longmark.options import named
from longmark.places import real
from longmark.records.verdicts import AskedPrompt

_HALVINGS = 32  # of a batch, more than any has
_LOOK_AGAIN = 0.1  # seconds between two looks for a reply that another process has asked for
_STEP = 256  # prompt tokens, to multiples of which the most that an attempt can cost is rounded up: a price takes 0.15 ms


class _Held(ModelError):
    """Another process makes the same call, or has made it."""


class NotResent(ModelError):
    """The last attempt of a call may have been billed, no reply to it was read, and it is not to be sent again."""


class WouldCall(LongmarkError):
    """A dry run would have sent this call. most: the tokens it can take, the prompt's estimated from its length;
    answered: how many calls of the same asker the cache has answered before."""

    def __init__(self, most_tokens: Tokens, price: Price, answered: int) -> None:
        super().__init__("a dry run sends no call")
        self.most = most_tokens
        self.price = price
        self.answered = answered


Accepts = Callable[[ChatReply], object]  # reads a reply, and raises for one that is no verdict


class Rehearsing(Protocol):
    """Answers in place of models, and counts what it is asked (`engine.rehearsal`)."""

    replies: dict[bytes, Stored]

    def model(self, kind: str, accepts: Accepts | None) -> Any: ...

    def book(self, reserved: Tokens, replies: Sequence[Any], price: Price) -> list[Stored]: ...


class Flights(Sender):
    """cache: where replies are stored; concurrency: the most calls at once to one model; price_of: the price function
    of a model's tokens; dry: send nothing, raise `WouldCall` instead; rng: for the jitter of retries; run: the folder
    that the calls are for, as the ledger names it; resend_unknown: whether a call whose last attempt is unknown is sent
    again (NotResent if not); batching: what goes in batches; rehearsal: what answers, in a dry client, what the cache does
    not hold. token: names this client's attempts in the ledger; not_resent: calls that were not sent again."""

    def __init__(
        self,
        cache: CallCache,
        *,
        concurrency: int = 16,
        budget: Budget | None = None,
        price_of: Callable[[Backend], Price] = lambda _model: free,
        dry: bool = False,
        rng: random.Random | None = None,
        run: Path | str = "",
        resend_unknown: bool = True,
        batching: Batching = NO_BATCHES,
        rehearsal: Rehearsing | None = None,
    ) -> None:
        super().__init__(concurrency, budget or Budget(), price_of, rng or random.Random())
        self.cache = cache
        self._dry = dry
        self._rehearsal = rehearsal
        self._batching = batching
        self._alone = False
        self._flights: dict[bytes, asyncio.Future[Stored]] = {}
        self._asked_anew: set[bytes] = set()
        self.token = secrets.token_hex(8)
        self.not_resent = 0
        self._run = str(real(run)) if run else ""
        self._resend_unknown = resend_unknown
        self._most_usd: dict[tuple[str, Tokens], float | None] = {}
        self._prefixes: dict[str, Prefixes] = {}

    @cached_property
    def batches(self) -> Batches:
        batcher = plugins.required("batches", "batcher", named("batch"))
        batches: Batches = batcher(self, self.cache.store, self._batching)
        return batches

    def check_room(self, calls: int) -> None:
        self.cache.check_room(calls)

    async def _call(
        self,
        kind: CallKind[Reply],
        model: Backend,
        requests: list[Any],
        usage_log: UsageLog,
        accepts: Accepts | None = None,
    ) -> list[Reply]:
        """The replies to requests of one kind: from the cache, from equal calls under way, the rest in calls of the
        model's batch size."""
        keys = [call_key(model.identity, kind.name, request) for request in requests]
        requests_by_key = dict(zip(keys, requests, strict=True))
        replies: dict[bytes, Stored] = {}
        sent = False
        smaller = 0
        seen = Seen()

        async def fly(part: dict[bytes, Any]) -> None:
            nonlocal sent
            flown, paid = await self._fly(kind, model, part, usage_log, seen.held)
            replies.update(flown)
            sent = sent or paid

        while len(replies) < len(requests_by_key):
            flights_of_others: dict[bytes, asyncio.Future[Stored]] = {}
            mine: dict[bytes, Any] = {}
            seen = await self.cache.look([key for key in requests_by_key if key not in replies])
            for key, request in requests_by_key.items():
                if key in replies:
                    continue
                if (stored := self._stored(key, seen, kind, usage_log)) is not None:
                    replies[key] = stored
                elif self._rehearsal is not None and key in self._rehearsal.replies:
                    replies[key] = self._rehearsal.replies[key]
                elif key in self._flights:
                    flights_of_others[key] = self._flights[key]
                else:
                    mine[key] = request
            if mine and self._rehearsal is not None:
                replies.update(await self._rehearse(kind, model, mine, usage_log, accepts))
                sent = True
                continue
            if mine and self._dry:
                way = self._way(kind, model, next(iter(mine)), usage_log)
                of_a_call = list(mine.values())[: pairs_a_call(kind, model)]
                raise WouldCall(kind.most(model, of_a_call), self.price(way), usage_log.usage.calls)
            # before anything is awaited, so that nobody else begins the same call
            flights: dict[bytes, asyncio.Future[Stored]] = {key: asyncio.Future() for key in mine}
            self._flights.update(flights)
            try:
                if len(mine) == 1:
                    await fly(mine)
                elif mine:
                    await concurrently(fly, batches_of(mine, getattr(model, "batch", None)))
                for key, flight in flights_of_others.items():
                    with unless_given_up(flight):
                        replies[key] = await asyncio.shield(flight)
            except TooManyInputs:  # the model has learnt a smaller batch
                smaller += 1
                if smaller > _HALVINGS or kind is RERANKS:
                    raise
            finally:
                for key, flight in flights.items():
                    if self._flights.get(key) is flight:  # its batch was not begun, after an error
                        flight.cancel()
                        del self._flights[key]
        calls = len(batches_of(requests_by_key, pairs_a_call(kind, model)))
        self.counts.from_cache += 0 if sent else calls
        usage_log.book(model.name, replies, calls, sent=sent)
        return [replies[key][0] for key in keys]

    async def _rehearse(
        self,
        kind: CallKind[Reply],
        model: Backend,
        requests_by_key: dict[bytes, Any],
        usage_log: UsageLog,
        accepts: Accepts | None,
    ) -> dict[bytes, Stored]:
        """Stand-ins for the replies to these requests, in calls of the model's batch size."""
        if self._rehearsal is None:
            raise RuntimeError("this client rehearses nothing")
        price = self.price(self._way(kind, model, next(iter(requests_by_key)), usage_log))
        stand_in = self._rehearsal.model(kind.name, accepts)
        for batch in batches_of(requests_by_key, getattr(model, "batch", None)):
            requests = list(batch.values())
            replies = await kind.send(stand_in, requests)
            booked = self._rehearsal.book(kind.most(model, requests), replies, price)
            self._rehearsal.replies.update(zip(batch, booked, strict=True))
        return {key: self._rehearsal.replies[key] for key in requests_by_key}

    def _stored(
        self, key: bytes, seen: Seen, kind: CallKind[Reply], usage_log: UsageLog
    ) -> Stored | None:
        """What was seen in the cache, if it can be read and is not to be asked anew."""
        if usage_log.refresh and key not in self._asked_anew:
            return None
        return read_stored(kind, seen.replies.get(key))

    async def _fly(
        self,
        kind: CallKind[Reply],
        model: Backend,
        requests_by_key: dict[bytes, Any],
        usage_log: UsageLog,
        held: set[bytes],
    ) -> tuple[dict[bytes, Stored], bool]:
        """Sends what nobody has requested yet, stores the replies, and gives them to whoever needs the same meanwhile;
        and whether anything was sent. What another process has requested (held: as was seen last) is waited for."""
        flights = {key: self._flights[key] for key in requests_by_key}
        landed: dict[bytes, Stored] = {}
        sent = False
        anew = usage_log.refresh
        try:
            while left := {
                key: request for key, request in requests_by_key.items() if key not in landed
            }:
                if not left.keys() <= held:
                    with suppress(_Held):  # between the look and the claim
                        mine = await self._send(kind, model, left, usage_log, anew=anew)
                        landed |= mine
                        self._asked_anew.update(mine if usage_log.refresh else ())
                        sent = True
                        continue
                seen = await self.cache.look(left, every=anew)
                held = seen.held
                stale = False  # what is stored and cannot be read is as good as none
                for key, stored_reply in seen.replies.items():
                    reply = None if usage_log.refresh else read_stored(kind, stored_reply)
                    if reply is not None:
                        landed[key] = reply
                    stale = stale or (reply is None and not anew)
                anew = anew or stale
                missing = left.keys() - landed
                if not missing or stale or not missing <= held:
                    continue
                with self.waits(math.inf, "for another process that makes the same call"):
                    await self.pause(_LOOK_AGAIN)
                if self.stopped:
                    raise Stopped("The run was stopped while it waited for another process.")
        except BaseException as error:
            # Of several texts another one may be what was refused: who waits for one of them asks for it alone.
            may_be_of_another = isinstance(error, RequestRefused) and len(flights) > 1
            for flight in flights.values():
                if isinstance(error, Exception) and not may_be_of_another:
                    flight.set_exception(error)
                    flight.exception()  # nobody may be waiting: that is no "exception never retrieved"
                else:
                    flight.cancel()
            raise
        else:
            for key, flight in flights.items():
                flight.set_result(landed[key])
            return landed, sent
        finally:
            for key in flights:
                del self._flights[key]

    async def _send(
        self,
        kind: CallKind[Reply],
        model: Backend,
        requests_by_key: dict[bytes, Any],
        usage_log: UsageLog,
        *,
        anew: bool,
    ) -> dict[bytes, Stored]:
        """The replies to those of the requests that no other process makes, checked and stored; _Held if there are
        none. Each attempt is claimed and written as sent in one transaction, when its place and its money are there;
        its reply and its end are stored in another."""
        model = self._way(kind, model, next(iter(requests_by_key)), usage_log)
        price = self.price(model)
        landed: dict[bytes, Stored] = {}
        granted: dict[bytes, Any] = {}
        attempt = Attempt((self.token, self._run), kind.name, model.name)
        unknown = False

        async def call() -> list[Reply]:
            nonlocal attempt, unknown
            again = bool(granted)
            requests = granted if again else requests_by_key
            resend = (
                self._resend_unknown or model.width is not None or getattr(model, "known", False)
            )
            if not resend:
                await self._check_known(model, requests, just_now=unknown)
            most_tokens = kind.most(model, list(requests.values()))
            state = getattr(model, "sent_as", "sent")
            attempt = Attempt(
                attempt.session,
                kind.name,
                model.name,
                most_tokens,
                self._cost(model, most_tokens),
                state,
            )
            try:
                claimed = await self.cache.claim(
                    requests, attempt, anew=anew, again=again, resend=resend
                )
            except UserError as error:
                raise NotClaimed(str(error)) from error
            granted.update(
                {key: request for key, request in requests_by_key.items() if key in claimed}
            )
            if not granted:
                raise _Held(f"another process calls {model.name} for this").unsent()
            unknown = True  # until it is known
            try:
                replies = await kind.send(model, list(granted.values()))
            except ModelError as error:
                unknown = self._end(attempt, error, price)
                raise
            except BaseException as error:
                if not hasattr(model, "sent_as"):
                    self.cache.end(attempt, "unknown")
                elif (
                    isinstance(error, Exception) and model.sent_as == "queued"
                ):  # else it stays as it stands
                    self.cache.withdraw(attempt)
                    unknown = False
                raise
            unknown = False
            if kind.name == CHATS.name and model.identity in self._prefixes:
                self._prefixes[model.identity].heard(replies)
            tokens = total_tokens(reply.tokens for reply in replies)
            self.cache.end(
                attempt, "answered", 200, tokens, None if tokens is None else price(tokens)
            )
            return replies

        async def keep(replies: list[Reply]) -> None:
            puts = []
            for key, reply in zip(granted, replies, strict=True):
                checked, data = checked_reply(reply, kind, model.name)
                usd = None if checked.tokens is None else price(checked.tokens)
                landed[key] = checked, usd
                puts.append(self.cache.put(key, kind.name, model.name, data, usd, attempt))
            await (asyncio.gather(*puts) if len(puts) > 1 else puts[0])

        async with self._turn(kind, model, requests_by_key):
            try:
                await self.send(
                    model,
                    call,
                    keep,
                    lambda: kind.most(model, list((granted or requests_by_key).values())),
                )
            finally:
                self.cache.release(granted, unknown=unknown)
        return landed

    def _turn(
        self, kind: CallKind[Any], model: Backend, requests_by_key: dict[bytes, Any]
    ) -> AbstractAsyncContextManager[None]:
        """Around a call of an endpoint: it may wait for one that begins alike (`prefixes`)."""
        if kind.name != CHATS.name or model.width is not None or hasattr(model, "sent_as"):
            return nullcontext()
        prefixes = self._prefixes.setdefault(model.identity, Prefixes())
        prefixes.marks = getattr(model, "marks_prefixes", False)  # an endpoint may refuse marks
        (request,) = requests_by_key.values()
        return prefixes.turn(request, self._stopped)

    def _way(self, kind: CallKind[Any], model: Any, key: bytes, usage_log: UsageLog) -> Any:
        """The model for a call: itself, or one that sends the call in a batch."""
        in_batches = kind.name == CHATS.name and self._batching.wants(model)
        if not in_batches:
            return model
        prompt_asked = AskedPrompt(model.name, usage_log.metric, usage_log.prompt)
        counter = usage_log.verdicts
        is_read_before = counter is not None and prompt_asked in counter.read_before
        return self.batches.over(
            model, key, prompt_asked, alone=self._alone, is_read_before=is_read_before
        )

    def _end(self, attempt: Attempt, error: ModelError, price: Price) -> bool:
        """Writes how an attempt ended that failed; whether it is unknown what became of it."""
        tokens: Tokens | None = error.tokens if error.billed else Tokens()
        unknown = error.billed and error.http_status is None and tokens is None
        if not error.sent:
            self.cache.withdraw(attempt)
        elif unknown or error.unreached:
            self.cache.end(attempt, "unknown" if unknown else "unreached")
        else:
            usd = None if tokens is None else price(tokens) if error.billed else 0.0
            self.cache.end(attempt, "answered", error.http_status, tokens, usd)
        return unknown

    def _cost(self, model: Backend, most_tokens: Tokens) -> float | None:
        """The most that an attempt can cost, in US dollars; None where that is not known."""
        prompt = -(-most_tokens.prompt // _STEP) * _STEP
        most_tokens = Tokens(
            prompt, 0, most_tokens.completion, prompt if most_tokens.stored_prompt else 0
        )
        if (key := (model.identity, most_tokens)) not in self._most_usd:
            self._most_usd[key] = self.price(model)(most_tokens)
        return self._most_usd[key]

    async def _check_known(
        self, model: Backend, keys: Collection[bytes], *, just_now: bool
    ) -> None:
        """NotResent where the last attempt of one of these calls is unknown. just_now: that of this session is."""
        unknown = {} if just_now else await self.cache.aside(self.cache.unknown, keys)
        last_sent = (
            time.time()
            if just_now
            else max((attempt.sent for attempt in unknown.values()), default=None)
        )
        if last_sent is not None:
            self.not_resent += 1
            when = (
                datetime.fromtimestamp(last_sent, UTC)
                .isoformat(" ", "minutes")
                .removesuffix("+00:00")
            )
            raise NotResent(
                f"the last attempt of this call to {model.name} ({when} UTC) got no reply and may have been billed; it "
                "is sent again with --resend-unknown yes"
            ).unsent()
