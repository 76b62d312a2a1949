"""The one way to a model: cache, single flight, limits, retries, budget, usage.

Everything that asks a model, a judge as much as a generator, asks through here, so all of it is paid once and resumes
alike. There is no second retry layer beneath. Every completed reply is stored, whatever the caller thinks of it;
errors are not.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError

from longmark.errors import LongmarkError, ModelError, RateLimited, RequestRefused, UserError
from longmark.models.budget import Budget, Price, estimate_tokens
from longmark.models.cache import CallCache, call_key
from longmark.models.limits import LONGEST_WAIT, MAX_FAULTS, Limiter, wait_before
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
    Reranker,
    RerankReply,
    Tokens,
)
from longmark.models.waiting import Stopped, UnlessStopped, unless_given_up
from longmark.records import Usage
from longmark.together import together

Reply = TypeVar("Reply", ChatReply, EmbedReply, RerankReply, LikelihoodReply)

_CHAT = TypeAdapter(ChatReply)
_EMBED = TypeAdapter(EmbedReply)
_RERANK = TypeAdapter(RerankReply)
_LIKELIHOOD = TypeAdapter(LikelihoodReply)


class WouldCall(LongmarkError):
    """A dry run would have sent this call. most: the tokens it can take, the prompt's estimated from its length;
    answered: how many calls of the same asker the cache has answered before."""

    def __init__(self, most: Tokens, price: Price, answered: int) -> None:
        super().__init__("a dry run sends no call")
        self.most = most
        self.price = price
        self.answered = answered


@dataclass(slots=True)
class Counts:
    """What went through the door since it was opened. requests: sent, tries again included; calls: replies received;
    from_cache: calls answered from the cache or by an equal call under way; retries: requests after the first of a
    call; rate_limited: 429s; faults: other failed requests; tokens and usd: of the replies received."""

    requests: int = 0
    calls: int = 0
    from_cache: int = 0
    retries: int = 0
    rate_limited: int = 0
    faults: int = 0
    prompt_tokens: int = 0
    cached_prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = 0.0


@dataclass(slots=True)
class Ledger:
    """Who asks, and what it cost: one for each computation of a metric.

    first: whether this ledger is the first of the run to ask for the call of that key; a call that several share
    counts for whoever asked first. refresh: asks anew, once, what the cache held when the door was opened.
    """

    usage: Usage = field(default_factory=Usage)
    first: Callable[[bytes], bool] = lambda _key: True
    refresh: bool = False


class Door:
    """cache: where replies are kept; concurrency: the most calls at once to one model; price_of: the price function of
    a model's tokens; dry: send nothing, raise `WouldCall` instead; rng: for the jitter of retries."""

    def __init__(
        self,
        cache: CallCache,
        *,
        concurrency: int = 16,
        budget: Budget | None = None,
        price_of: Callable[[Backend], Price] = lambda _model: lambda _tokens: 0.0,
        dry: bool = False,
        rng: random.Random | None = None,
    ) -> None:
        self.cache = cache
        self.budget = budget or Budget()
        self.counts = Counts()
        self._concurrency = concurrency
        self._price_of = price_of
        self._dry = dry
        self._rng = rng or random.Random()
        self._stopped = asyncio.Event()
        self._limiters: dict[str, Limiter] = {}
        self._prices: dict[str, Price] = {}
        self._flights: dict[bytes, asyncio.Future[tuple[Any, float | None]]] = {}
        self._asked_anew: set[bytes] = set()
        self._here = UnlessStopped()  # calls of models on this machine

    def stop(self) -> None:
        """No new call is sent from here on. Those under way at endpoints go on to their end, since they are paid for;
        models on this machine give up theirs, which may take minutes and cost nothing but time."""
        self._stopped.set()
        self._here.stop()
        for limiter in self._limiters.values():
            limiter.open_up()

    async def chat(self, model: Chat, request: ChatRequest, ledger: Ledger) -> ChatReply:
        async def send(wanted: list[ChatRequest]) -> list[ChatReply]:
            return [await model.chat(wanted[0])]

        most = _most(*(m.content for m in request.messages), completion=request.max_tokens)
        return (await self._call(model, "chat", [request], send, _CHAT, most, ledger))[0]

    async def embed(self, model: Embedder, texts: Sequence[str], ledger: Ledger) -> list[tuple[float, ...]]:
        """One vector a text, in their order. Each text is cached by itself; those that are new go out together."""

        async def send(wanted: list[str]) -> list[EmbedReply]:
            reply = await model.embed(wanted)
            share, rest = divmod(reply.tokens.prompt, len(wanted))
            return [
                EmbedReply((vector,), Tokens(prompt=share + (rest if i == 0 else 0)))
                for i, vector in enumerate(reply.vectors)
            ]

        replies = await self._call(model, "embed", list(texts), send, _EMBED, _most(*texts), ledger)
        return [reply.vectors[0] for reply in replies]

    async def rerank(self, model: Reranker, query: str, documents: Sequence[str], ledger: Ledger) -> RerankReply:
        async def send(_wanted: list[Any]) -> list[RerankReply]:
            return [await model.rerank(query, documents)]

        request = {"query": query, "documents": list(documents)}
        most = _most(query, *documents)
        return (await self._call(model, "rerank", [request], send, _RERANK, most, ledger))[0]

    async def likelihood(self, model: LanguageModel, request: LikelihoodRequest, ledger: Ledger) -> LikelihoodReply:
        async def send(wanted: list[LikelihoodRequest]) -> list[LikelihoodReply]:
            return [await model.likelihood(wanted[0])]

        most = _most(request.prompt, request.text)
        return (await self._call(model, "likelihood", [request], send, _LIKELIHOOD, most, ledger))[0]

    async def likelihoods(
        self, model: LanguageModel, requests: Sequence[LikelihoodRequest], ledger: Ledger
    ) -> list[LikelihoodReply]:
        """One reply a request, in their order; each is cached by itself. A model that shares prefixes gets those that
        are new in one call; any other one gets them one by one, queued in their order."""
        if not isinstance(model, PrefixSharing):
            return await together(lambda request: self.likelihood(model, request, ledger), requests)
        most = _most(*(part for request in requests for part in (request.prompt, request.text)))
        return await self._call(model, "likelihood", list(requests), model.likelihoods, _LIKELIHOOD, most, ledger)

    async def _call(
        self,
        model: Backend,
        kind: str,
        requests: list[Any],
        send: Callable[[list[Any]], Awaitable[list[Reply]]],
        form: TypeAdapter[Reply],
        most: Tokens,
        ledger: Ledger,
    ) -> list[Reply]:
        """The replies to requests of one kind: from the cache, from equal calls under way, the rest in one call."""
        keys = [call_key(model.identity, kind, request) for request in requests]
        wanted = dict(zip(keys, requests, strict=True))
        replies: dict[bytes, tuple[Reply, float | None]] = {}
        sent = False
        while len(replies) < len(wanted):
            others: dict[bytes, asyncio.Future[tuple[Any, float | None]]] = {}
            mine: dict[bytes, Any] = {}
            for key, request in wanted.items():
                if key in replies:
                    continue
                if (stored := self._stored(key, form, ledger)) is not None:
                    replies[key] = stored
                elif key in self._flights:
                    others[key] = self._flights[key]
                else:
                    mine[key] = request
            if mine and self._dry:
                raise WouldCall(most, self._price(model), ledger.usage.calls)
            if mine:
                replies.update(await self._fly(model, kind, mine, send, most))
                self._asked_anew.update(mine if ledger.refresh else ())
                sent = True
            for key, flight in others.items():
                with unless_given_up(flight):
                    replies[key] = await asyncio.shield(flight)
        self._book(ledger, replies, sent=sent)
        return [replies[key][0] for key in keys]

    def _stored(self, key: bytes, form: TypeAdapter[Reply], ledger: Ledger) -> tuple[Reply, float | None] | None:
        """What the cache holds, if it can be read and is not to be asked anew."""
        if ledger.refresh and key not in self._asked_anew:
            return None
        found = self.cache.get(key)
        try:
            return None if found is None else (form.validate_json(found[0]), found[1])
        except ValidationError:  # of another version, or damaged: its place is taken by a new one
            return None

    async def _fly(
        self,
        model: Backend,
        kind: str,
        wanted: dict[bytes, Any],
        send: Callable[[list[Any]], Awaitable[list[Reply]]],
        most: Tokens,
    ) -> dict[bytes, tuple[Reply, float | None]]:
        """Sends what nobody has asked yet, stores the replies, and gives them to whoever asks the same meanwhile."""
        loop = asyncio.get_running_loop()
        flights = {key: loop.create_future() for key in wanted}
        self._flights.update(flights)
        price = self._price(model)
        landed: dict[bytes, tuple[Reply, float | None]] = {}

        async def keep(replies: list[Reply]) -> None:
            landed.update({k: (reply, price(reply.tokens)) for k, reply in zip(wanted, replies, strict=True)})
            puts = (self.cache.put(k, kind, model.name, orjson.dumps(r), usd) for k, (r, usd) in landed.items())
            await asyncio.gather(*puts)

        try:
            await self._ask(model, lambda: send(list(wanted.values())), keep, most)
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
            return landed
        finally:
            for key in flights:
                del self._flights[key]

    async def _ask(
        self,
        model: Backend,
        send: Callable[[], Awaitable[list[Reply]]],
        keep: Callable[[list[Reply]], Awaitable[None]],
        most: Tokens,
    ) -> None:
        """Sends a call until it succeeds, and keeps the replies, or until there is no point in trying again. A call
        gives up its place when its replies are stored: where they cannot be, no other call is paid for."""
        price = self._price(model)
        limiter = self._limiter(model)
        loop = asyncio.get_running_loop()
        attempt = faults = 0
        patience: float | None = None  # until when refusals are put up with; it begins with the first
        while True:
            async with limiter.place(again=attempt > 0):
                if self._stopped.is_set():
                    raise Stopped("The run was stopped before this call.")
                if limiter.closed is not None:
                    raise RequestRefused(*limiter.closed)
                held = self.budget.take(most, price)
                attempt += 1
                self.counts.requests += 1
                self.counts.retries += attempt > 1
                try:
                    replies = await (send() if model.width is None else self._here.reply(send))
                except BaseException as error:
                    self.budget.settle(held, Tokens(), 0.0)
                    if not isinstance(error, ModelError):
                        raise
                    failure = error
                else:
                    tokens = _sum(reply.tokens for reply in replies)
                    usd = price(tokens)
                    self.budget.settle(held, tokens, usd)
                    limiter.replied()
                    self._count(tokens, usd)
                    try:
                        await keep(replies)
                    except UserError:
                        self.stop()
                        raise
                    return
            wait = wait_before(attempt, failure.retry_after, self._rng)
            if isinstance(failure, RateLimited):
                self.counts.rate_limited += 1
                limiter.rate_limited(wait)
                patience = patience or loop.time() + LONGEST_WAIT
                last = loop.time() + wait > patience
            else:
                self.counts.faults += 1
                faults += 1
                last = faults >= MAX_FAULTS or wait > LONGEST_WAIT
            spent = failure.http_status == 429 and not failure.retryable
            if spent or failure.http_status in _SAME_FOR_EVERY_CALL:
                limiter.closed = (str(failure), failure.http_status)
            if not failure.retryable or last or limiter.down:
                if failure.retryable:
                    limiter.lost()
                raise failure
            await self._pause(wait)

    async def _pause(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._stopped.wait(), seconds)
        except TimeoutError:
            return

    def _limiter(self, model: Backend) -> Limiter:
        limiter = self._limiters.get(model.identity)
        if limiter is None:
            width = self._concurrency if model.width is None else min(self._concurrency, model.width)
            limiter = self._limiters[model.identity] = Limiter(width)
        return limiter

    def _price(self, model: Backend) -> Price:
        price = self._prices.get(model.identity)
        if price is None:
            price = self._prices[model.identity] = self._price_of(model)
        return price

    def _count(self, tokens: Tokens, usd: float | None) -> None:
        counts = self.counts
        counts.calls += 1
        counts.prompt_tokens += tokens.prompt
        counts.cached_prompt_tokens += tokens.cached_prompt
        counts.completion_tokens += tokens.completion
        counts.usd = None if counts.usd is None or usd is None else counts.usd + usd

    def _book(self, ledger: Ledger, replies: dict[bytes, tuple[Reply, float | None]], *, sent: bool) -> None:
        """Puts a call into the books of whoever asked: a call more, and its tokens if nobody asked for them before."""
        self.counts.from_cache += not sent
        usage = Usage(calls=1, from_cache=int(not sent))
        for key, (reply, usd) in replies.items():
            if ledger.first(key):
                tokens = reply.tokens
                usage.add(Usage(0, 0, tokens.prompt, tokens.cached_prompt, tokens.completion, usd))
        ledger.usage.add(usage)


# A wrong key, no money left (also where a 429 is not worth another try), an unknown model or path: asking more often
# changes nothing.
_SAME_FOR_EVERY_CALL = (401, 402, 404)


def _most(*texts: str, completion: int = 0) -> Tokens:
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    return Tokens(prompt=estimate_tokens(size), completion=completion)


def _sum(many: Any) -> Tokens:
    prompt = cached = completion = 0
    for tokens in many:
        prompt += tokens.prompt
        cached += tokens.cached_prompt
        completion += tokens.completion
    return Tokens(prompt, cached, completion)
