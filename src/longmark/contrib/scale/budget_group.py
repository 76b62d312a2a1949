"""One budget for the sessions of several processes and machines, which share a call cache: `--budget-group NAME`.

Each session that spends under a name has a row in the table `budgets`: what it has spent, and what it may spend next
(`held`). What all rows of a name have spent and hold, of all sessions that there ever were, stays within the limit of
whoever takes more. So what is spent stays within it while no reply counts more than its request allowed, as in one
process (`models.budget`). A session takes enough for a few calls at once and gives back what it did not use within
`_EVERY` seconds, so that the last of the budget reaches whoever needs it. It is exhausted where the next call does not
fit and nobody holds anything.

A row is kept by a lease. After a killed process's lease, whoever asks next ends its row: what the ledger says that its
requests took, or can have taken, is spent; the rest of what it held comes back. A process that was only suspended sends
nothing after its lease before it has asked again.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longmark.errors import UserError
from longmark.models import stores
from longmark.models.stores.shares import CHANGE, COLUMNS, Amounts, end, end_lapsed

if TYPE_CHECKING:
    from longmark.models.budget import Budget, Reservation
    from longmark.models.cache import CallCache

_EVERY = 2.0  # seconds between two reports
# For how many calls a session takes at once, and for how many times as many there must be enough left.
_STEPS = ((64, 8), (8, 8), (1, 1))


@dataclass(eq=False)
class BudgetGroup:
    """What one session has of the budget. name: of the group; token: of the client; wake: called where there may be
    more. Amounts are the session's own, without what sessions before it spent of the same `Budget`."""

    name: str
    budget: Budget
    cache: CallCache
    token: str
    wake: Callable[[], None]
    _before: Amounts = field(init=False)
    _may: Amounts = (0, 0, 0.0)  # what the session may have spent in all,
    _until: float = (
        0.0  # and until when: the lease, by this machine's clock, which goes on while it sleeps
    )
    _needed: Reservation | None = None
    _idle: bool = False
    _asking: asyncio.Task[None] | None = None
    _reporting: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        self._before = self.budget.spent

    @property
    def _spent(self) -> Amounts:
        return _sum(self.budget.spent, self._before, -1)

    @property
    def _used(self) -> Amounts:
        return _sum(self.budget.used, self._before, -1)

    def covers(self, held: Reservation) -> bool:
        """Whether a call that needs so much may go now. Where it may not, more is asked for."""
        self._idle = False
        if self._reporting is None:
            self._reporting = asyncio.ensure_future(self._report())
        if self._fits(held):
            return True
        if self._asking is None and not self.budget.stopped:
            self._needed = held
            self._asking = asyncio.ensure_future(self._ask())
        return False

    def _fits(self, held: Reservation) -> bool:
        return time.time() < self._until and all(
            limit is None or not next_ or used + next_ <= may
            for limit, used, next_, may in zip(
                self._limits, self._used, _needs(held), self._may, strict=True
            )
        )

    @property
    def _limits(self) -> tuple[float | None, float | None, float | None]:
        return self.budget.max_calls, self.budget.max_tokens, self.budget.max_usd

    async def _ask(self) -> None:
        """Asks until the call fits, or nothing is left for it."""
        try:
            while (held := self._needed) is not None and not self.budget.stopped:
                spent = self._spent
                used = self._used
                self._may = used  # nothing more goes out until it is known
                request_time = time.time()
                self._may, others_wait = await self.cache.aside(
                    self._take, spent, used, _needs(held)
                )
                self._until = request_time + stores.LEASE
                if self._fits(held):
                    return
                if spent == used and not others_wait:
                    self._exhausted(held)
                    return
                await asyncio.sleep(_EVERY / 4)
        except UserError as error:  # the cache is not usable
            self.budget.stopped = (
                f"The budget of the group {self.name} cannot be asked for: {error}"
            )
        finally:
            self._asking = None
            self.wake()

    async def _report(self) -> None:
        """Renews the lease, and gives back what was not used since the last report."""
        while True:
            await asyncio.sleep(_EVERY)
            if self._asking is not None:
                continue
            if self._idle:
                self._may = self._used
            self._idle = True
            request_time = time.time()
            with suppress(UserError):  # whoever asks next is told
                if await self.cache.aside(self._renew, self._spent, self._may):
                    self._until = request_time + stores.LEASE

    async def close(self) -> None:
        """Ends the session's row. UserError where the cache is not usable."""
        for task in (self._reporting, self._asking):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        if self._reporting is not None:
            await self.cache.aside(self._end_own)

    def _exhausted(self, held: Reservation) -> None:
        limits = [
            form.format(limit)
            for limit, form in zip(
                self._limits, ("{:,} requests", "{:,} tokens", "${:.6g}"), strict=True
            )
            if limit is not None
        ]
        self.budget.stopped = (
            f"The budget of {' and '.join(limits)} that the sessions of the group {self.name} share does not allow "
            "another call."
        )

    # In the thread of the cache, where there is one ------------------------------------------------------------------

    def _take(self, spent: Amounts, used: Amounts, needs: Amounts) -> tuple[Amounts, bool]:
        """Reports what was spent and is in flight, and takes what is wanted, if it fits; what the session may have
        spent now, and whether others hold anything."""
        store = self.cache.store
        with store.unit():
            end_lapsed(store)
            query = f"SELECT {', '.join(f'coalesce(sum({column}), 0)' for column in COLUMNS)} FROM budgets WHERE name = ?"
            sums = store.do(f"{query} AND session <> ?", (self.name, self.token)).fetchone()
            left = [
                math.inf if limit is None else limit - total - held - own_part
                for limit, total, held, own_part in zip(
                    self._limits, sums[:3], sums[3:], used, strict=True
                )
            ]
            may = used
            for times, part in _STEPS:
                if all(
                    times * part * need <= remaining or not need
                    for need, remaining in zip(needs, left, strict=True)
                ):
                    may = _sum(used, needs, times)
                    break
            values = (
                *spent,
                *_sum(may, spent, -1),
                store.now() + stores.LEASE,
                self.name,
                self.token,
            )
            if not store.do(CHANGE, values).rowcount:
                marks = ", ".join("?" * len(values))
                insert = f"INSERT INTO budgets ({', '.join(COLUMNS)}, until, name, session) VALUES ({marks})"
                store.do(insert, values)
        return may, any(sums[3:])

    def _renew(self, spent: Amounts, may: Amounts) -> bool:
        """Reports what was spent, and keeps what is held. False where the lease has ended: others may have that now."""
        store = self.cache.store
        with store.unit():
            now = store.now()
            values = (*spent, *_sum(may, spent, -1), now + stores.LEASE, self.name, self.token, now)
            return bool(store.do(f"{CHANGE} AND until > ?", values).rowcount)

    def _end_own(self) -> None:
        with self.cache.store.unit():
            end(
                self.cache.store,
                self.name,
                self.token,
                self._spent,
                _sum(self._may, self._spent, -1),
            )


def _needs(held: Reservation) -> Amounts:
    return 1, held.tokens, held.usd


def _sum(first: Amounts, second: Amounts, times: int) -> Amounts:
    return first[0] + times * second[0], first[1] + times * second[1], first[2] + times * second[2]
