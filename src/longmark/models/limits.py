"""How many calls an endpoint gets at once, and how long to wait before the next attempt (measured: design/client.md).

The limit starts at its ceiling. A 429 takes 3 % of it away, a reply gives 0.3 % back, down to one and up to the
ceiling: it settles where about one call in eleven is refused. A refused call waits as long as the server says, goes
before those that were never sent, and fails five minutes after its first refusal, however often it was refused. After
a streak of refusals without a reply in between the whole endpoint waits: three in a row where few calls are under way,
an eighth of many, because three of fifty meet by chance.

A call gets its place and its money together (`EndpointTurns`): one that waits for money holds no place, and none that
waits for a place or for its next attempt holds money.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count

from longmark.errors import OverBudget
from longmark.models.budget import Budget, Reservation

MAX_FAULTS = 6  # of one call; refusals are no faults
LONGEST_WAIT = 300.0  # seconds from a call's first refusal; one that must wait longer fails
_DOUBLINGS = 4  # of the wait where the server says nothing: to 8 s; longer ones would leave a slow endpoint idle
_LEAST_WAIT = 0.1  # seconds, also where the server says 0: it has just refused
_SHRINK = 0.97
_GROW = 0.003
_LEAST_GROWTH = 0.03
_STREAK = 3
_STREAK_SHARE = 1 / 8  # refusals in a row, and as a share of the limit: the greater of the two
_DOWN_AFTER = (
    5  # calls in a row that failed for good: from then on each is tried once, until one succeeds
)


@dataclass(frozen=True, slots=True)
class _WaitingCall:
    """A call that waits. number: of its attempt, in the order in which they were asked for."""

    number: int
    place: asyncio.Future[None]
    held: Reservation


class Pace:
    """Requests and tokens a minute, kept by even spacing: after a request the next one waits 60 / `requests` seconds,
    and 60 / `tokens` seconds for each token that the call can take. Tokens that it did not take are given back with its
    reply. So any minute has at most `requests` of them, and a run does not begin with a burst. None: no limit."""

    def __init__(self, requests: float | None = None, tokens: float | None = None) -> None:
        self._per_request = 60 / requests if requests else 0.0
        self._per_token = 60 / tokens if tokens else 0.0
        self._after_requests = self._after_tokens = 0.0

    @property
    def ready_at(self) -> float:
        """When the next request may go out (loop time)."""
        return max(self._after_requests, self._after_tokens)

    def take(self, now: float, tokens: int) -> None:
        """A request goes out that can take so many tokens."""
        if self._per_request:
            self._after_requests = max(now, self._after_requests) + self._per_request
        if self._per_token:
            self._after_tokens = max(now, self._after_tokens) + tokens * self._per_token

    def give_back(self, tokens: int) -> None:
        """A reply took so many tokens fewer than were taken for it."""
        self._after_tokens -= tokens * self._per_token


class EndpointTurns:
    """Whose turn it is among the calls to all endpoints of a session: the first one whose endpoint has a free place. If
    the budget has no room for it now, the others wait behind it (`models.budget`)."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.numbers = count()
        self.limiters: list[Limiter] = []

    def next(self) -> None:
        """Lets all go whose turn has come. To be called when a call asks, ends, or may go by its endpoint's pace."""
        while ready := [limiter for limiter in self.limiters if limiter.ready()]:
            if not min(ready, key=lambda limiter: limiter.turn).admit():
                return


class Limiter:
    """The places of one endpoint. ceiling: the most calls at once, at least 1; pace: what a minute may have; cautious:
    the first call is sent alone, until its reply; turns: shared with the other endpoints of the session. First come,
    first served, but repeated calls go before new ones."""

    def __init__(
        self,
        ceiling: int,
        pace: Pace | None = None,
        *,
        cautious: bool = False,
        turns: EndpointTurns | None = None,
    ) -> None:
        self._turns = turns or EndpointTurns(Budget())
        self._turns.limiters.append(self)
        self.pace = pace or Pace()
        self.ceiling = max(1, ceiling)
        self.limit = 1.0 if cautious else float(self.ceiling)
        self._cautious = cautious
        self.in_use = 0
        self.lost_in_row = 0
        self.closed: tuple[str, int | None] | None = None  # why the endpoint is not called any more
        self.ever_replied = False
        self.refused = self.cut_in_row = (
            0  # in a row: calls refused for good; replies without an answer
        )
        self._refused_in_row = 0
        self._resume_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._again: deque[_WaitingCall] = deque()
        self._new: deque[_WaitingCall] = deque()

    @property
    def down(self) -> bool:
        """Whether so many calls failed for good that there is no point in trying one twice."""
        return self.lost_in_row >= _DOWN_AFTER

    @asynccontextmanager
    async def place(self, held: Reservation, *, again: bool = False) -> AsyncIterator[None]:
        """One of the places, with what the call needs set aside in the budget: both are waited for. again: the call was
        sent before. Raises OverBudget."""
        await self._enter(self._again if again else self._new, held)
        try:
            yield
        finally:
            self._leave()

    async def _enter(self, queue: deque[_WaitingCall], held: Reservation) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append(_WaitingCall(next(self._turns.numbers), place, held))
        self._turns.next()
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled() and place.exception() is None:
                self._turns.budget.cancel(held)
                self._leave()
            raise

    def replied(self) -> None:
        """A call got its reply."""
        self._refused_in_row = self.lost_in_row = self.refused = 0
        self.ever_replied = True
        if self._cautious:
            self._cautious = False
            self.limit = float(self.ceiling)
        self.limit = min(float(self.ceiling), self.limit + max(_GROW * self.limit, _LEAST_GROWTH))

    def rate_limited(self, wait: float) -> None:
        """A call was refused with 429 and will wait `wait` seconds."""
        self._refused_in_row += 1
        if self._refused_in_row >= max(_STREAK, _STREAK_SHARE * self.limit):
            self._resume_at = max(self._resume_at, asyncio.get_running_loop().time() + wait)
        self.limit = max(1.0, self.limit * _SHRINK)

    def lost(self) -> None:
        """A call failed after its last attempt."""
        self.lost_in_row += 1

    def open_up(self) -> None:
        """Lets every waiting call through, without money: the run is being stopped, and they end at once."""
        self.limit = float("inf")
        self._resume_at = 0.0
        self.pace = Pace()
        while queue := self._queue:
            self.in_use += 1
            queue.popleft().place.set_result(None)

    @property
    def waiting(self) -> int:
        """Calls that wait."""
        return sum(
            not waiter.place.done() for queue in (self._again, self._new) for waiter in queue
        )

    @property
    def turn(self) -> tuple[bool, int]:
        """Of the first call that waits: the least is the first of several endpoints'."""
        return not self._again, self._queue[0].number

    def ready(self) -> bool:
        """Whether a call waits that has a place, and may go out by the pace; where only that is missing, its turn is
        looked for again in time."""
        if not self._queue or self.in_use + 1 > self.limit:
            return False
        loop = asyncio.get_running_loop()
        ready_at = max(self._resume_at, self.pace.ready_at)
        if loop.time() >= ready_at:
            return True
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_at(ready_at, self._turns.next)
        return False

    def admit(self) -> bool:
        """Lets the first waiting call through, or ends it where the budget is exhausted. False: its money is not there
        yet."""
        queue = self._queue
        first = queue[0]
        try:
            if not self._turns.budget.take(first.held):
                return False
        except OverBudget as error:
            first.place.set_exception(error)
        else:
            self.in_use += 1
            most_tokens = first.held.most
            self.pace.take(
                asyncio.get_running_loop().time(), most_tokens.prompt + most_tokens.completion
            )
            first.place.set_result(None)
        queue.popleft()
        return True

    @property
    def _queue(self) -> deque[_WaitingCall]:
        """What is next, without calls that were given up while they waited."""
        for queue in (self._again, self._new):
            while queue and queue[0].place.done():
                queue.popleft()
        return self._again or self._new

    def _leave(self) -> None:
        self.in_use -= 1
        self._turns.next()


def wait_before(attempt: int, retry_after: float | None, rng: random.Random) -> float:
    """Seconds to wait before the next attempt. attempt: how many there have been (1 after the first). What the server
    says, and up to a tenth more so that calls do not return in step; else 0.5 s doubled each time, at most 8 s, of
    which at least half (full jitter would let retries come at once)."""
    if retry_after is not None:
        return max(retry_after, _LEAST_WAIT) * (1 + 0.1 * rng.random())
    return 0.5 * float(2 ** min(attempt - 1, _DOUBLINGS)) * (0.5 + 0.5 * rng.random())
