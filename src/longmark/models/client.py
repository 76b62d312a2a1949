"""The one way to a model: cache, single flight, limits, retries, budget, usage.

Every call to a model, of a judge or a generator, goes through here, so each is paid once and a run can be resumed.
Every reply is checked once before it is stored: its types, signs and sizes, that it reads back from the cache as it
was, and that it repeats no key. Every checked reply is stored, whatever the caller makes of it; errors are not.
"""

from __future__ import annotations

import asyncio
import math
import random
import secrets
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Protocol

import orjson
from pydantic import TypeAdapter, ValidationError

from longmark import plugins
from longmark.concurrency import concurrently
from longmark.errors import LongmarkError, ModelError, ServerFault, TooManyInputs
from longmark.models.batching import NO_BATCHES, Batches, Batching
from longmark.models.budget import Budget, Price, estimate_tokens, free
from longmark.models.cache import Attempt, CallCache, call_key
from longmark.models.keys import redact_reply
from longmark.models.prefixes import Prefixes
from longmark.models.protocols import (
    Backend,
    Chat,
    ChatReply,
    ChatRequest,
    Embedder,
    EmbedReply,
    LanguageModel,
    LikelihoodReply,
    LikelihoodRequest,
    PrefixSharing,
    RelationModel,
    RelationReply,
    Reranker,
    RerankReply,
    Tokens,
    of_digits,
    total_tokens,
)
from longmark.models.sending import Counts as Counts
from longmark.models.sending import Reply, Sender, Stopped, unless_given_up
from longmark.models.stores import Seen
from longmark.models.verdicts import VerdictCounter
from longmark.options import named
from longmark.places import real
from longmark.progress import counted
from longmark.records import Usage
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


Booked = tuple[bytes, int, int, int, float | None, int]
"""The key of a call, and what it adds to a row's usage: prompt, cached prompt and completion tokens, dollars,
unmetered."""


@dataclass(slots=True)
class UsageLog:
    """What the calls of one computation of a metric cost.

    first: whether this log is the first of the run to need the call of that key; a shared call counts for the first.
    refresh: request again, once, what the cache held when the client was opened. versions: of each chat model that
    replied, as its endpoint reported them. booked: gets each call that counts here; None: nobody asks.
    metric, prompt: what the calls are for; the first for each never wait for a batch. verdicts: counts the replies that
    are to have one; None: nobody does. sent: calls that were sent, and not answered from the cache.
    """

    usage: Usage = field(default_factory=Usage)
    first: Callable[[bytes], bool] = lambda _key: True
    refresh: bool = False
    versions: dict[str, dict[str, None]] = field(default_factory=dict)
    booked: list[Booked] | None = None
    metric: str = ""
    prompt: str = ""
    verdicts: VerdictCounter | None = None
    sent: int = 0


@dataclass(frozen=True)
class _Kind(Generic[Reply]):
    """A kind of call. name: in cache keys; reply: the type of its replies; send: makes one call of a model for several
    requests; most: the tokens that such requests to a model can take."""

    name: str
    reply: type[Reply]
    send: Callable[[Any, list[Any]], Awaitable[list[Reply]]]
    most: Callable[[Any, list[Any]], Tokens]

    @cached_property
    def form(self) -> TypeAdapter[Reply]:
        return TypeAdapter(
            self.reply
        )  # made where the first reply is checked: it takes milliseconds


Stored = tuple[Any, float | None]  # a reply, and what it cost in US dollars
Accepts = Callable[[ChatReply], object]  # reads a reply, and raises for one that is no verdict


class Rehearsing(Protocol):
    """Answers in place of models, and counts what it is asked (`engine.rehearsal`)."""

    replies: dict[bytes, Stored]

    def model(self, kind: str, accepts: Accepts | None) -> Any: ...

    def book(self, reserved: Tokens, replies: Sequence[Any], price: Price) -> list[Stored]: ...


class Client(Sender):
    """cache: where replies are stored; concurrency: the most calls at once to one model; price_of: the price function
    of a model's tokens; dry: send nothing, raise `WouldCall` instead; rng: for the jitter of retries; run: the folder
    that the calls are for, as the ledger names it; resend_unknown: whether a call whose last attempt is unknown is sent
    again (NotResent if not); batching: what goes in batches; rehearsal: what answers, in a dry client, what the cache does
    not hold. token: names this client's attempts in the ledger;
    not_resent: calls that were not sent again."""

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

    def at_once(self, models: Sequence[Backend], usual: int) -> int:
        """How many examples are worked on at once: more, where a model's calls go in batches."""
        return (
            self.batches.width(models, usual) if any(map(self._batching.wants, models)) else usual
        )

    def share_budget(self, name: str) -> None:
        """All sessions of this name on this cache share the limits of the budget."""
        budget_group = plugins.required("budgets", "group", named("budget_group"))
        self.budget.group = budget_group(
            name, self.budget, self.cache, self.token, self._turns.next
        )

    @contextmanager
    def one_by_one(self) -> Iterator[None]:
        """Around work whose calls shall not wait for a batch."""
        self._alone = True
        try:
            yield
        finally:
            self._alone = False

    def end_batches(self) -> list[str]:
        """Closes what batches have open; what the user should know of them."""
        if "batches" not in self.__dict__:
            return []
        self.batches.close()
        return self.batches.notices()

    async def chat(
        self,
        model: Chat,
        request: ChatRequest,
        usage_log: UsageLog,
        *,
        digits: bool = False,
        accepts: Accepts | None = None,
    ) -> ChatReply:
        """digits: of the reply's log-probabilities, only those of digits are kept (`protocols.of_digits`). accepts:
        reads the reply, so that a rehearsal finds one that can be read."""
        if (check := getattr(model, "check_window", None)) is not None:
            check(message.content for message in request.messages)
        kind = _CHATS_OF_DIGITS if digits else _CHATS
        return (await self._call(kind, model, [request], usage_log, accepts))[0]

    async def embed(
        self, model: Embedder, texts: Sequence[str], usage_log: UsageLog
    ) -> list[tuple[float, ...]]:
        """One vector a text, in their order. Each text is cached by itself; those that are new go out in batches of the
        model's size, each a call of its own. ServerFault where the vectors are of different lengths."""
        vectors = [
            reply.vectors[0] for reply in await self._call(_EMBEDS, model, list(texts), usage_log)
        ]
        if len({len(vector) for vector in vectors}) > 1:
            raise ServerFault(
                f"{model.name} gives embeddings of different lengths; if another model now has this name, "
                f"delete the stored calls: longmark cache clear --model {model.name}"
            )
        return vectors

    async def rerank(
        self, model: Reranker, query: str, documents: Sequence[str], usage_log: UsageLog
    ) -> RerankReply:
        """A score a document, in their order; out of several calls where the model takes fewer documents in one."""
        if not documents:
            return RerankReply(())

        while True:
            batch = getattr(model, "batch", None) or len(documents)
            key = call_key(
                model.identity, _RERANKS.name, {"query": query, "documents": list(documents)}
            )
            if self._stored(key, await self.cache.look([key]), _RERANKS, usage_log) is not None:
                batch = len(documents)  # requested before smaller batches were learnt
            parts = [list(documents[i : i + batch]) for i in range(0, len(documents), batch)]
            requests = [{"query": query, "documents": part} for part in parts]
            try:
                replies = await concurrently(
                    lambda request: self._call(_RERANKS, model, [request], usage_log), requests
                )
            except TooManyInputs:
                if (getattr(model, "batch", None) or batch) >= batch:
                    raise
                continue
            scores = tuple(score for (reply,) in replies for score in reply.scores)
            if len(scores) != len(documents):
                raise ServerFault(
                    f"{model.name} gave {counted(len(scores), 'score')} for {counted(len(documents), 'document')}"
                )
            return RerankReply(scores, total_tokens(reply.tokens for (reply,) in replies))

    async def classify(
        self, model: RelationModel, premise: str, hypotheses: Sequence[str], usage_log: UsageLog
    ) -> list[tuple[float, float, float]]:
        """Probabilities (entails, contradicts, neutral) of each hypothesis, in their order. Each pair is cached by
        itself; those that are new go out in one call."""
        pairs = [{"premise": premise, "hypothesis": hypothesis} for hypothesis in hypotheses]
        return [
            reply.probabilities[0]
            for reply in await self._call(_RELATIONS, model, pairs, usage_log)
        ]

    async def likelihood(
        self, model: LanguageModel, request: LikelihoodRequest, usage_log: UsageLog
    ) -> LikelihoodReply:
        return (await self._call(_LIKELIHOODS, model, [request], usage_log))[0]

    async def likelihoods(
        self, model: LanguageModel, requests: Sequence[LikelihoodRequest], usage_log: UsageLog
    ) -> list[LikelihoodReply]:
        """One reply a request, in their order; each is cached by itself. A model that shares prefixes gets those that
        are new in one call; any other one gets them one by one, queued in their order."""
        if not isinstance(model, PrefixSharing):
            return await concurrently(
                lambda request: self.likelihood(model, request, usage_log), requests
            )
        return await self._call(_LIKELIHOODS, model, list(requests), usage_log)

    async def _call(
        self,
        kind: _Kind[Reply],
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
                of_a_call = list(mine.values())[: _pairs_a_call(kind, model)]
                raise WouldCall(kind.most(model, of_a_call), self.price(way), usage_log.usage.calls)
            # before anything is awaited, so that nobody else begins the same call
            flights: dict[bytes, asyncio.Future[Stored]] = {key: asyncio.Future() for key in mine}
            self._flights.update(flights)
            try:
                if len(mine) == 1:
                    await fly(mine)
                elif mine:
                    await concurrently(fly, _batches(mine, getattr(model, "batch", None)))
                for key, flight in flights_of_others.items():
                    with unless_given_up(flight):
                        replies[key] = await asyncio.shield(flight)
            except TooManyInputs:  # the model has learnt a smaller batch
                smaller += 1
                if smaller > _HALVINGS or kind is _RERANKS:
                    raise
            finally:
                for key, flight in flights.items():
                    if self._flights.get(key) is flight:  # its batch was not begun, after an error
                        flight.cancel()
                        del self._flights[key]
        calls = len(_batches(requests_by_key, _pairs_a_call(kind, model)))
        self._book(model, usage_log, replies, calls, sent=sent)
        return [replies[key][0] for key in keys]

    async def _rehearse(
        self,
        kind: _Kind[Reply],
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
        for batch in _batches(requests_by_key, getattr(model, "batch", None)):
            requests = list(batch.values())
            replies = await kind.send(stand_in, requests)
            booked = self._rehearsal.book(kind.most(model, requests), replies, price)
            self._rehearsal.replies.update(zip(batch, booked, strict=True))
        return {key: self._rehearsal.replies[key] for key in requests_by_key}

    def check_room(self, calls: int) -> None:
        self.cache.check_room(calls)

    def _stored(
        self, key: bytes, seen: Seen, kind: _Kind[Reply], usage_log: UsageLog
    ) -> Stored | None:
        """What was seen in the cache, if it can be read and is not to be asked anew."""
        if usage_log.refresh and key not in self._asked_anew:
            return None
        return _read(kind, seen.replies.get(key))

    async def _fly(
        self,
        kind: _Kind[Reply],
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
                    reply = None if usage_log.refresh else _read(kind, stored_reply)
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
            for flight in flights.values():
                if isinstance(error, Exception):
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
        kind: _Kind[Reply],
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
            claimed = await self.cache.claim(
                requests, attempt, anew=anew, again=again, resend=resend
            )
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
            if kind.name == _CHATS.name and model.identity in self._prefixes:
                self._prefixes[model.identity].heard(replies)
            tokens = total_tokens(reply.tokens for reply in replies)
            self.cache.end(
                attempt, "answered", 200, tokens, None if tokens is None else price(tokens)
            )
            return replies

        async def keep(replies: list[Reply]) -> None:
            puts = []
            for key, reply in zip(granted, replies, strict=True):
                checked, data = _checked(reply, kind, model.name)
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
        self, kind: _Kind[Any], model: Backend, requests_by_key: dict[bytes, Any]
    ) -> AbstractAsyncContextManager[None]:
        """Around a call of an endpoint: it may wait for one that begins alike (`prefixes`)."""
        if kind.name != _CHATS.name or model.width is not None or hasattr(model, "sent_as"):
            return nullcontext()
        prefixes = self._prefixes.get(model.identity)
        if prefixes is None:
            marks = getattr(model, "marks_prefixes", False)
            prefixes = self._prefixes[model.identity] = Prefixes(marks)
        (request,) = requests_by_key.values()
        return prefixes.turn(request, self._stopped)

    def _way(self, kind: _Kind[Any], model: Any, key: bytes, usage_log: UsageLog) -> Any:
        """The model for a call: itself, or one that sends the call in a batch."""
        in_batches = kind.name == _CHATS.name and self._batching.wants(model)
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

    def _book(
        self,
        model: Backend,
        usage_log: UsageLog,
        replies: dict[bytes, Stored],
        calls: int,
        *,
        sent: bool,
    ) -> None:
        """Records the usage of a request for the caller: its calls, and its tokens if nobody asked for them before."""
        self.counts.from_cache += 0 if sent else calls
        usage_log.sent += calls if sent else 0
        usage = usage_log.usage
        usage.calls += calls
        usage.from_cache += 0 if sent else calls
        for key, (reply, usd) in replies.items():
            if isinstance(reply, ChatReply):
                usage_log.versions.setdefault(model.name, {}).update(dict.fromkeys(reply.versions))
            if usage_log.first(key):
                tokens = reply.tokens or Tokens()
                unmetered = int(reply.tokens is None)
                paid = (tokens.prompt, tokens.cached_prompt, tokens.completion, usd, unmetered)
                usage.add(Usage(0, 0, *paid))
                if usage_log.booked is not None:
                    usage_log.booked.append((key, *paid))


def _read(kind: _Kind[Reply], stored_reply: tuple[bytes, float | None] | None) -> Stored | None:
    """A stored reply and its price; None where there is none, or one that cannot be read: of another version, or
    damaged."""
    try:
        if stored_reply is None or not (
            stored_reply[1] is None
            or (isinstance(stored_reply[1], float) and 0 <= stored_reply[1] < math.inf)
        ):
            return None
        return kind.form.validate_json(stored_reply[0], strict=True), stored_reply[1]
    except (ValidationError, TypeError):
        return None


def _checked(reply: Reply, kind: _Kind[Reply], name: str) -> tuple[Reply, bytes]:
    """A reply as the cache will give it back, and as it is stored. ServerFault where it makes no sense."""
    try:
        data = redact_reply(orjson.dumps(reply))
        return kind.form.validate_json(data, strict=True), data
    except (
        ValidationError,
        TypeError,
    ) as error:  # TypeError: half a surrogate pair cannot be written
        first = error.errors(include_url=False)[0] if isinstance(error, ValidationError) else None
        why = f"{'.'.join(map(str, first['loc']))}: {first['msg']}" if first else str(error)
    raise ServerFault(f"{name} sent an invalid reply: {why}", 200)


def _pairs_a_call(kind: _Kind[Any], model: Backend) -> int | None:
    """How many pairs of a premise and a claim a model is asked about in one call; None: all, as of other kinds of
    requests. The calls of those are counted as they are asked for, since what a model takes at once may be learnt."""
    return getattr(model, "batch", None) if kind is _RELATIONS else None


def _batches(requests_by_key: dict[bytes, Any], size: int | None) -> list[dict[bytes, Any]]:
    items = list(requests_by_key.items())
    step = max(1, size or len(items))
    return [dict(items[i : i + step]) for i in range(0, len(items), step)]


def _shares(tokens: Tokens | None, count: int) -> list[Tokens | None]:
    """The tokens of one reply, dealt out to what it was asked for."""
    if tokens is None:
        return [None] * count

    def dealt(total: int) -> list[int]:
        share, remainder = divmod(total, count)
        return [share + (remainder if i == 0 else 0) for i in range(count)]

    fresh = dealt(tokens.prompt - tokens.cached_prompt)
    cached = dealt(tokens.cached_prompt)
    written = dealt(tokens.completion)
    return [Tokens(fresh[i] + cached[i], cached[i], written[i]) for i in range(count)]


def _most(*texts: str, completion: int = 0) -> Tokens:
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    return Tokens(prompt=estimate_tokens(size), completion=completion)


async def _chat(model: Chat, requests: list[ChatRequest]) -> list[ChatReply]:
    return [await model.chat(requests[0])]


async def _chat_of_digits(model: Chat, requests: list[ChatRequest]) -> list[ChatReply]:
    return [
        replace(reply, logprobs=of_digits(reply.logprobs)) for reply in await _chat(model, requests)
    ]


async def _embed(model: Embedder, texts: list[str]) -> list[EmbedReply]:
    reply = await model.embed(texts)
    if len(reply.vectors) != len(texts):
        raise ServerFault(
            f"{model.name} gave {len(reply.vectors)} vectors for {len(texts)} texts", 200
        ).with_bill()
    shares = _shares(reply.tokens, len(texts))
    return [
        EmbedReply((vector,), share) for vector, share in zip(reply.vectors, shares, strict=True)
    ]


async def _rerank(model: Reranker, requests: list[dict[str, Any]]) -> list[RerankReply]:
    return [await model.rerank(requests[0]["query"], requests[0]["documents"])]


async def _classify(model: RelationModel, pairs: list[dict[str, str]]) -> list[RelationReply]:
    reply = await model.classify(pairs[0]["premise"], [pair["hypothesis"] for pair in pairs])
    if len(reply.probabilities) != len(pairs):
        raise ServerFault(
            f"{model.name} classified {len(reply.probabilities)} of {len(pairs)} pairs", 200
        ).with_bill()
    shares = _shares(reply.tokens, len(pairs))
    return [
        RelationReply((triple,), share)
        for triple, share in zip(reply.probabilities, shares, strict=True)
    ]


async def _likelihood(
    model: LanguageModel, requests: list[LikelihoodRequest]
) -> list[LikelihoodReply]:
    if len(requests) > 1 and isinstance(model, PrefixSharing):
        return await model.likelihoods(requests)
    return [await model.likelihood(requests[0])]


def _most_of_chat(model: Any, requests: list[ChatRequest]) -> Tokens:
    limit = (
        model.reply_limit(requests[0]) if hasattr(model, "reply_limit") else requests[0].max_tokens
    )
    schema = (
        orjson.dumps(requests[0].schema).decode() if requests[0].schema else ""
    )  # endpoints add it to the prompt
    most_tokens = _most(
        *(message.content for message in requests[0].messages), schema, completion=limit
    )
    return (
        replace(most_tokens, stored_prompt=most_tokens.prompt)
        if hasattr(model, "marks_prefixes")
        else most_tokens
    )


_CHATS = _Kind("chat", ChatReply, _chat, _most_of_chat)
_CHATS_OF_DIGITS = _Kind("chat", ChatReply, _chat_of_digits, _most_of_chat)
_EMBEDS = _Kind("embed", EmbedReply, _embed, lambda _, texts: _most(*texts))
_RERANKS = _Kind(
    "rerank",
    RerankReply,
    _rerank,
    lambda _, all_: _most(*(t for d in all_[0]["documents"] for t in (all_[0]["query"], d))),
)
_RELATIONS = _Kind(
    "relation",
    RelationReply,
    _classify,
    lambda _, all_: _most(*(t for p in all_ for t in p.values())),
)
_LIKELIHOODS = _Kind(
    "likelihood",
    LikelihoodReply,
    _likelihood,
    lambda _, all_: _most(*(t for r in all_ for t in (r.prompt, r.text))),
)
