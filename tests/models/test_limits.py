"""How many calls at once, who goes first, and how long a call waits before it is sent again."""

from __future__ import annotations

import asyncio
import random
import selectors
from collections.abc import Coroutine, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.models import limits
from longmark.models.budget import Reservation
from longmark.models.protocols import Tokens


def test_the_limit_shrinks_on_429_and_grows_back():
    async def go() -> None:
        limiter = limits.Limiter(10)
        limiter.rate_limited(0)
        assert limiter.limit == pytest.approx(9.7)  # 10 x 0.97
        limiter.replied()
        assert limiter.limit == pytest.approx(9.73)  # 9.7 + 0.03, the least growth
        for _ in range(12):
            limiter.replied()
        assert limiter.limit == pytest.approx(10.0)  # no further than the ceiling
        for _ in range(100):
            limiter.rate_limited(0)
        assert limiter.limit == pytest.approx(1.0)

    asyncio.run(go())


@pytest.mark.parametrize(("ceiling", "streak"), [(1, 3), (10, 3), (50, 6), (200, 16)])
def test_after_a_streak_of_refusals_everyone_waits(ceiling: int, streak: int):
    """At least three, else an eighth of the limit, which shrinks meanwhile. Of 50 it is 48.6 when the streak begins and
    48.6 x 0.97^5 = 41.7 at its sixth: 41.7 / 8 = 5.2; at its fifth 5.4. Of 200 it is 194.6: 15.9 at the 15th, 15.4 at
    the 16th."""

    async def waited(refusals: int) -> float:
        limiter = limits.Limiter(ceiling)
        loop = asyncio.get_running_loop()
        limiter.rate_limited(0.05)
        limiter.replied()  # a streak begins anew
        for _ in range(refusals):
            limiter.rate_limited(0.05)
        began = loop.time()
        async with limiter.place(Reservation()):
            return loop.time() - began

    assert asyncio.run(waited(streak)) >= 0.045
    assert asyncio.run(waited(streak - 1)) < 0.045


def test_a_cancelled_waiter_gives_its_place_on():
    async def go() -> None:
        limiter = limits.Limiter(1)
        async with limiter.place(Reservation()):
            waiting = asyncio.create_task(limiter.place(Reservation()).__aenter__())
            await asyncio.sleep(0)
        waiting.cancel()  # it had been given the place already
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await asyncio.wait_for(limiter.place(Reservation()).__aenter__(), 1)

    asyncio.run(go())


def test_waits_obey_the_server_and_double_without_it():
    rng = random.Random(0)
    assert all(7.5 <= limits.wait_before(1, 7.5, rng) <= 8.25 for _ in range(100))
    assert all(
        0.1 <= limits.wait_before(1, 0.0, rng) <= 0.11 for _ in range(100)
    )  # "at once" is no answer to a refusal
    for attempt, longest in ((1, 0.5), (2, 1.0), (3, 2.0), (5, 8.0), (500, 8.0)):
        waits = [limits.wait_before(attempt, None, rng) for _ in range(200)]
        assert all(longest / 2 <= wait <= longest for wait in waits)


class _Clock(selectors.DefaultSelector):
    """A selector that waits for nothing: what would have been waited for has passed at once."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now += timeout or 0.0
        return super().select(0)


def at_once(work: Coroutine[Any, Any, list[float]]) -> list[float]:
    """What comes of work whose waits take no time."""
    clock = _Clock()
    loop = asyncio.SelectorEventLoop(clock)
    loop.time = lambda: clock.now  # type: ignore[method-assign]
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(work)


async def sent(limiter: limits.Limiter, tokens: Sequence[int], spare: int = 0) -> list[float]:
    """When calls that can take so many tokens go out, if all are made at once. spare: tokens that each gives back."""
    times: list[float] = []

    async def call(most: int) -> None:
        async with limiter.place(Reservation(Tokens(most))):
            times.append(asyncio.get_running_loop().time())
            limiter.pace.give_back(spare)

    await asyncio.gather(*map(call, tokens))
    return times


def test_requests_a_minute_go_out_evenly():
    times = at_once(sent(limits.Limiter(50, limits.Pace(requests=120)), [0] * 5))
    assert times == pytest.approx([0, 0.5, 1, 1.5, 2])


def test_tokens_a_minute_count_what_a_call_can_take_and_what_it_took():
    assert at_once(
        sent(limits.Limiter(50, limits.Pace(tokens=6_000)), [100, 300, 100])
    ) == pytest.approx([0, 1, 4])
    assert at_once(
        sent(limits.Limiter(50, limits.Pace(tokens=6_000)), [200] * 3, 100)
    ) == pytest.approx([0, 1, 2])
    both = limits.Limiter(50, limits.Pace(requests=30, tokens=6_000))
    assert at_once(sent(both, [500, 0, 0])) == pytest.approx(
        [0, 5, 7]
    )  # the slower of the two counts


@given(st.integers(1, 40), st.integers(1, 90))
def test_no_minute_has_more_requests_than_are_allowed(requests: int, calls: int):
    times = at_once(sent(limits.Limiter(200, limits.Pace(requests=requests)), [0] * calls))
    assert len(times) == calls
    for start in times:
        assert sum(start <= time < start + 60 - 1e-6 for time in times) <= requests


def test_a_stopped_run_waits_for_no_pace():
    async def go() -> list[float]:
        limiter = limits.Limiter(1, limits.Pace(requests=1))
        waiting = asyncio.ensure_future(sent(limiter, [0, 0]))
        await asyncio.sleep(5)
        limiter.open_up()
        return await waiting

    assert at_once(go()) == pytest.approx([0, 5])
