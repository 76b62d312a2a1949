"""Sends a call until it succeeds or another attempt is pointless: places, retries, budget, counts.

There is no second retry layer beneath. What an attempt cost is counted however it ended.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from longmark.errors import (
    AskAgain,
    LongmarkError,
    ModelError,
    OverBudget,
    RateLimited,
    RequestRefused,
    TooLong,
    TooManyInputs,
    Unsupported,
    UserError,
)
from longmark.models.budget import Budget, Price, Reservation
from longmark.models.limits import (
    LONGEST_WAIT,
    MAX_FAULTS,
    EndpointTurns,
    Limiter,
    Pace,
    wait_before,
)
from longmark.models.protocols import (
    Backend,
    ChatReply,
    EmbedReply,
    LikelihoodReply,
    RelationReply,
    RerankReply,
    Tokens,
    total_tokens,
)
from longmark.models.settings import DEFAULTS

T = TypeVar("T")
Reply = TypeVar("Reply", ChatReply, EmbedReply, RerankReply, RelationReply, LikelihoodReply)

# A wrong key, no money left (also where a 429 is not worth another try), an unknown model or path: asking more often
# changes nothing.
_SAME_FOR_EVERY_CALL = (401, 402, 404)
_REFUSED = frozenset(range(400, 500)) - {
    408,
    425,
    429,
}  # statuses of a request that is wrong as it is
FIRST_REFUSED = (
    20  # calls in a row, before any reply or by status 403, after which all are taken to be wrong
)
MOST_CUT = (
    5  # replies in a row that ended while the model was thinking, before it is not called any more
)
_UNREADABLE = 3  # attempts of a call whose replies cannot be read: each may be billed
_UNREACHED = 4  # attempts of a call, none of which reached an endpoint that has never replied, before it is given up
_FORMS = 10  # of one request, at most
_SHOWN = 80  # characters of the failure that is waited for


class NotClaimed(UserError):
    """The call cache could not note a request, which was therefore not sent."""


@dataclass(slots=True)
class Counts:
    """What went through the client since it was opened. requests: sent, tries again included; calls: replies received;
    from_cache: calls answered from the cache, by an equal call under way or by another process; retries: requests after
    the first of a call; rate_limited: 429s; faults: other failed requests; unmetered: attempts that were or may have
    been billed without a usable count of tokens, which the token counts leave out; tokens and usd: of all attempts."""

    requests: int = 0
    calls: int = 0
    from_cache: int = 0
    retries: int = 0
    rate_limited: int = 0
    faults: int = 0
    unmetered: int = 0
    prompt_tokens: int = 0
    cached_prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = 0.0

    def plus(self, addend: Counts) -> Counts:
        """The sum; a price that is not known makes the sum not known."""
        usd = None if self.usd is None or addend.usd is None else self.usd + addend.usd
        counts = (field.name for field in fields(self) if field.name != "usd")
        return Counts(
            **{name: getattr(self, name) + getattr(addend, name) for name in counts}, usd=usd
        )


class Stopped(LongmarkError):
    """The run was asked to stop: no new call is sent, and none to a model on this machine is waited for."""


@contextmanager
def unless_given_up(flight: asyncio.Future[Any]) -> Iterator[None]:
    """Around waiting for another task's call. Where that task was cancelled, and its call with it, the wait ends
    without a reply; a cancellation of our own is raised."""
    try:
        yield
    except asyncio.CancelledError:
        if not flight.cancelled() or _we_are_cancelled():
            raise


def _we_are_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class Sender:
    """concurrency: the most calls at once to one model; price_of: the price function of a model's tokens; rng: for the
    jitter of retries."""

    def __init__(
        self,
        concurrency: int,
        budget: Budget,
        price_of: Callable[[Backend], Price],
        rng: random.Random,
    ) -> None:
        self.counts = Counts()
        self.stops_when_refused = False
        self.refused = ""  # what the endpoint said that refused every call so far, or nothing
        self.share = 1.0  # of the rates of longmark.yaml, where other processes have the rest
        self._concurrency = concurrency
        self._price_of = price_of
        self.rng = rng
        self._stopped = asyncio.Event()
        self._limiters: dict[str, Limiter] = {}
        self._turns = EndpointTurns(budget)
        self._prices: dict[str, Price] = {}
        self._here: set[asyncio.Future[Any]] = set()  # calls of models on this machine
        self._in_flight = 0
        self._waits: dict[object, tuple[float, str]] = {}  # until when (loop time), and for what

    @property
    def budget(self) -> Budget:
        return self._turns.budget

    @budget.setter
    def budget(self, budget: Budget) -> None:
        self._turns.budget = budget

    @property
    def stopped(self) -> bool:
        return self._stopped.is_set()

    def stop(self) -> None:
        """No new call is sent from here on. Those under way at endpoints are waited for, since they are paid for; those
        of models on this machine are cancelled, which may take minutes and cost only time."""
        self._stopped.set()
        for call in self._here:
            call.cancel()
        for limiter in self._limiters.values():
            limiter.open_up()

    def closed(self) -> list[str]:
        """The last error of each endpoint that is not called any more."""
        return [
            limiter.closed[0] for limiter in self._limiters.values() if limiter.closed is not None
        ]

    def waiting(self) -> str | None:
        """What the run waits for: `28 s: MODEL asks for fewer calls`; None while calls are under way."""
        if self._in_flight or not self._waits:
            return None
        until, why = min(self._waits.values())
        left = until - asyncio.get_running_loop().time()
        return why if math.isinf(left) else f"{max(0.0, left):.0f} s: {why}"

    async def send(
        self,
        model: Backend,
        call: Callable[[], Awaitable[list[Reply]]],
        keep: Callable[[list[Reply]], Awaitable[None]],
        most: Callable[[], Tokens],
    ) -> None:
        """Sends a call until it succeeds and its replies are stored, or raises its last error. It keeps its place until
        then: where replies cannot be stored, no other call is paid for. most: the tokens that the next attempt can
        take."""
        price = self.price(model)
        limiter = self._limiter(model)
        loop = asyncio.get_running_loop()
        attempt = faults = unreached = 0
        again = False
        patience: float | None = (
            None  # until when it is tried again after refusals; set by the first
        )
        while True:
            self._check_wanted(limiter)
            held = self.budget.asked(most(), price)
            async with limiter.place(held, again=again):
                again = True
                try:
                    self._check_wanted(limiter)
                    if most() != held.most:  # what the model has learnt meanwhile
                        self.budget.cancel(held)
                        continue
                    self.check_room(self._in_flight + 1)
                except BaseException:
                    self.budget.cancel(held)
                    raise
                attempt += 1
                self.counts.requests += 1
                self.counts.retries += attempt > 1
                self._in_flight += 1
                try:
                    replies = await (call() if model.width is None else self._on_this_machine(call))
                except BaseException as error:
                    self._failed(error, held, price)
                    if not isinstance(error, ModelError):
                        self.counts.retries -= attempt > 1 and isinstance(error, NotClaimed)
                        raise
                    failure = error
                else:
                    self._settle(
                        model, held, total_tokens(reply.tokens for reply in replies), price
                    )
                    limiter.replied()
                    self._count_cut(replies, model, limiter)
                    try:
                        await keep(replies)
                    except UserError:
                        self.stop()
                        raise
                    except ModelError as error:  # replies that make no sense: paid, and settled
                        failure = error
                    else:
                        return
                finally:
                    self._in_flight -= 1
            if isinstance(failure, AskAgain) and attempt <= _FORMS:
                continue
            wait = wait_before(attempt, failure.retry_after, self.rng)
            if isinstance(failure, RateLimited):
                self.counts.rate_limited += 1
                patience = patience or loop.time() + LONGEST_WAIT
                last = loop.time() + wait > patience
                limiter.rate_limited(
                    0.0 if last else wait
                )  # a wait that no call waits for is not the endpoint's
            else:
                self.counts.faults += failure.sent
                self.counts.retries -= attempt > 1 and not failure.sent
                faults += 1
                unreached += failure.unreached
                last = (
                    faults >= (_UNREADABLE if failure.http_status == 200 else MAX_FAULTS)
                    or wait > LONGEST_WAIT
                )
                if unreached == faults >= _UNREACHED and (last or not limiter.ever_replied):
                    self._close(limiter, failure)  # it has died, or was never there
                    last = True
                elif limiter.closed is not None:
                    last = True
            if wait > LONGEST_WAIT:
                message = f"{failure} (it requests a wait of {wait:,.0f} s; the limit is {LONGEST_WAIT:.0f} s)"
                failure = type(failure)(message, failure.http_status, failure.retry_after)
            if not failure.retryable or last or limiter.down:
                self._give_up(failure, limiter, too_long=wait > LONGEST_WAIT)
                raise failure
            why = (
                f"{model.name} asks for fewer calls"
                if patience
                else shortened_to(f"{failure}", _SHOWN)
            )
            with self.waits(wait, why):
                await self.pause(wait)

    def _check_wanted(self, limiter: Limiter) -> None:
        """Raises where a call is not to be sent any more."""
        if self._stopped.is_set():
            raise Stopped("The run was stopped before this call.")
        if limiter.closed is not None:
            raise RequestRefused(*limiter.closed)

    async def _on_this_machine(self, send: Callable[[], Awaitable[list[Reply]]]) -> list[Reply]:
        """The reply; Stopped where a stop comes first."""
        call = asyncio.ensure_future(send())
        self._here.add(call)
        try:
            return await call
        except asyncio.CancelledError:
            if not self.stopped or _we_are_cancelled():
                raise
            raise Stopped("The run was stopped during this call.") from None
        finally:
            self._here.discard(call)

    async def until_stopped(self, work: Coroutine[Any, Any, T], grace: float = 0.0) -> T:
        """What the work gives. Where the run is stopped, and the work takes more than `grace` seconds longer, it is
        cancelled, and Stopped raised. After a stop, work without grace is not begun."""
        if self.stopped and not grace:
            work.close()
            raise Stopped("The run was stopped before this request.")
        task = asyncio.ensure_future(work)
        stop = asyncio.ensure_future(self._stopped.wait())
        try:
            await asyncio.wait((task, stop), return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait((task,), timeout=grace)
            if not task.done():
                raise Stopped("The run was stopped during this request.")
            return task.result()
        finally:
            task.cancel()
            stop.cancel()

    def short(self) -> int:
        """How many calls wait because the first of them does not fit into the budget now, of which more can come back:
        not those that have no request left."""
        budget = self.budget
        if budget.max_calls is not None and budget.calls >= budget.max_calls:
            return 0
        self._turns.next()
        return sum(limiter.waiting for limiter in self._turns.limiters if limiter.ready())

    def price(self, model: Backend) -> Price:
        price = self._prices.get(model.identity)
        if price is None:
            price = self._prices[model.identity] = self._price_of(model)
        return price

    @property
    def busy(self) -> bool:
        """Whether a call is under way by itself, or is to be made again after a while."""
        return self._in_flight > 0 or any(
            not math.isinf(until) for until, _ in self._waits.values()
        )

    @contextmanager
    def parked(self) -> Iterator[None]:
        """Around the wait of a call for its batch: no request of its own is under way."""
        self._in_flight -= 1
        try:
            yield
        finally:
            self._in_flight += 1

    async def pause(self, seconds: float) -> None:
        """Waits so long, or until the run is stopped."""
        try:
            await asyncio.wait_for(self._stopped.wait(), seconds)
        except TimeoutError:
            return

    @contextmanager
    def waits(self, seconds: float, why: str) -> Iterator[None]:
        """Around a wait that `waiting` explains; seconds: inf where it is not known."""
        key = object()
        self._waits[key] = (asyncio.get_running_loop().time() + seconds, why)
        try:
            yield
        finally:
            del self._waits[key]

    def _give_up(self, failure: ModelError, limiter: Limiter, *, too_long: bool) -> None:
        """A call has failed for good: what that says of the endpoint."""
        if failure.retryable:
            limiter.lost()
        no_money = failure.http_status == 429 and not failure.retryable
        # one that tells call after call to come back in an hour will tell all others too
        out_of_calls = too_long and limiter.down
        if no_money or out_of_calls or failure.http_status in _SAME_FOR_EVERY_CALL:
            limiter.closed = (str(failure), failure.http_status)
        # the others are about one text, one batch or one feature
        elif failure.http_status in _REFUSED and not isinstance(
            failure, TooLong | TooManyInputs | Unsupported
        ):
            limiter.refused += 1
            forbidden = (
                failure.http_status == 403
            )  # of one text, or of a key that has just lost its permission
            if (
                limiter.refused >= FIRST_REFUSED
                and limiter.closed is None
                and (forbidden or not limiter.ever_replied)
            ):
                self._close(limiter, failure)

    def _close(self, limiter: Limiter, failure: ModelError) -> None:
        """Calls an endpoint no more; where it has never replied, the run can be stopped."""
        limiter.closed = (str(failure), failure.http_status)
        if not limiter.ever_replied:
            self.refused = str(failure)
            if self.stops_when_refused:
                self.stop()

    def check_room(self, calls: int) -> None:
        """UserError where the replies of so many calls could not be stored."""

    @staticmethod
    def _count_cut(replies: Sequence[Any], model: Backend, limiter: Limiter) -> None:
        """Closes a model that only thinks: every further reply would cost as much, and have no answer."""
        for reply in replies:
            cut = isinstance(reply, ChatReply) and reply.cut_while_thinking
            limiter.cut_in_row = limiter.cut_in_row + 1 if cut else 0
        if limiter.cut_in_row >= MOST_CUT and model.width is None and limiter.closed is None:
            words = (
                f"{limiter.cut_in_row} replies of {model.name} in a row were cut off while it was thinking; set a "
                "larger thinking_tokens for it in longmark.yaml, or reduce its thinking"
            )
            limiter.closed = (words, None)

    def _failed(self, error: BaseException, held: Reservation, price: Price) -> None:
        """Books an attempt that failed: what it was billed, all that it could take where it may have been billed."""
        if isinstance(error, OverBudget | NotClaimed) or (
            isinstance(error, ModelError) and not error.sent
        ):
            self.budget.cancel(held)
            self.counts.requests -= 1
            return
        if not isinstance(error, ModelError) or not error.billed:
            self.budget.settle(held, Tokens(), 0.0)
            return
        tokens: Tokens | None = error.tokens
        usd = None if tokens is None else price(tokens)
        self.budget.settle(held, tokens, usd)
        self._count(tokens, usd)

    def _settle(
        self, model: Backend, held: Reservation, tokens: Tokens | None, price: Price
    ) -> None:
        usd = None if tokens is None else price(tokens)
        self.budget.settle(held, tokens, usd)
        if usd is None:
            self.budget.unpriced(model.name)
        self._count(tokens, usd)
        self._limiter(model).pace.give_back(
            _sum(held.most) - _sum(tokens) if tokens is not None else 0
        )
        self.counts.calls += 1

    def _count(self, tokens: Tokens | None, usd: float | None) -> None:
        counts = self.counts
        if tokens is None:
            counts.unmetered += 1
        else:
            counts.prompt_tokens += tokens.prompt
            counts.cached_prompt_tokens += tokens.cached_prompt
            counts.completion_tokens += tokens.completion
        counts.usd = None if counts.usd is None or usd is None else counts.usd + usd

    def _limiter(self, model: Backend) -> Limiter:
        limiter = self._limiters.get(model.identity)
        if limiter is None:
            width = getattr(model, "at_once", self._concurrency)
            width = width if model.width is None else min(self._concurrency, model.width)
            settings = getattr(model, "settings", DEFAULTS)
            requests = settings.requests_per_minute
            tokens = settings.tokens_per_minute
            pace = Pace(requests and requests * self.share, tokens and tokens * self.share)
            limited = self.budget.max_tokens is not None or self.budget.max_usd is not None
            limiter = self._limiters[model.identity] = Limiter(
                width,
                pace,
                cautious=limited and model.width is None and not hasattr(model, "at_once"),
                turns=self._turns,
            )
        return limiter


def shortened_to(text: str, longest: int) -> str:
    """A text of at most so many characters, which shows where it was cut."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _sum(tokens: Tokens) -> int:
    return tokens.prompt + tokens.completion
