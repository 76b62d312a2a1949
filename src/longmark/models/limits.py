"""How many calls an endpoint is asked at once, and how long to wait before asking again.

The limit starts at its ceiling. A 429 takes 3 % of it away, a reply gives 0.3 % back, down to one and
up to the ceiling. So it settles where about one call in eleven is refused: an endpoint that refuses one in twenty keeps
its full width, one that refuses most of them is asked by a few at a time. A call that was refused waits as long as the
server says; after three refusals in a row without a reply in between, the whole endpoint waits.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque

MAX_ATTEMPTS = 6
LONGEST_WAIT = 300.0  # seconds; a server that asks for more has, for this run, refused
_SHRINK, _GROW, _LEAST_GROWTH, _STREAK = 0.97, 0.003, 0.03, 3
_DOWN_AFTER = 5  # calls in a row that failed for good: from then on one attempt each, until one succeeds


class Limiter:
    """The places of one endpoint. ceiling: the most calls at once, at least 1. First come, first served."""

    def __init__(self, ceiling: int) -> None:
        self.ceiling = max(1, ceiling)
        self.limit = float(self.ceiling)
        self.in_use = 0
        self.lost_in_row = 0
        self.closed: tuple[str, int | None] | None = None  # why the endpoint is not asked any more
        self._refused_in_row = 0
        self._resume_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def attempts(self) -> int:
        """How often a call may be tried now."""
        return 1 if self.lost_in_row >= _DOWN_AFTER else MAX_ATTEMPTS

    async def __aenter__(self) -> None:
        if not self._waiting and self._free():
            self.in_use += 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        self._wake()
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._leave()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._leave()

    def replied(self) -> None:
        """A call got its reply."""
        self._refused_in_row = self.lost_in_row = 0
        self.limit = min(float(self.ceiling), self.limit + max(_GROW * self.limit, _LEAST_GROWTH))

    def rate_limited(self, wait: float) -> None:
        """A call was refused with 429 and will wait `wait` seconds."""
        self._refused_in_row += 1
        self.limit = max(1.0, self.limit * _SHRINK)
        if self._refused_in_row >= _STREAK:
            self._resume_at = max(self._resume_at, asyncio.get_running_loop().time() + wait)

    def lost(self) -> None:
        """A call failed after its last attempt."""
        self.lost_in_row += 1

    def open_up(self) -> None:
        """Lets everyone through: the run is being stopped, and whoever waits here shall see it."""
        self.limit, self._resume_at = float("inf"), 0.0
        self._wake()

    def _free(self) -> bool:
        return self.in_use + 1 <= self.limit and asyncio.get_running_loop().time() >= self._resume_at

    def _leave(self) -> None:
        self.in_use -= 1
        self._wake()

    def _wake(self) -> None:
        while self._waiting and self._free():
            place = self._waiting.popleft()
            if not place.done():
                self.in_use += 1
                place.set_result(None)
        loop = asyncio.get_running_loop()
        if self._waiting and loop.time() < self._resume_at:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = loop.call_at(self._resume_at, self._wake)


def wait_before(attempt: int, retry_after: float | None, rng: random.Random) -> float:
    """Seconds to wait before the next attempt. attempt: how many there have been (1 after the first).

    What the server says, and up to a tenth more so that calls do not return in step; else 0.5 s doubled each time,
    at most 30 s, of which a random half is taken (full jitter would let retries come at once).
    """
    if retry_after is not None:
        return retry_after * (1 + 0.1 * rng.random())
    return min(30.0, 0.5 * float(2 ** (attempt - 1))) * (0.5 + 0.5 * rng.random())
