"""How many calls at once, who goes first, and how long a call waits before it is sent again."""

from __future__ import annotations

import asyncio
import random

import pytest

from longmark.models import limits


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
        async with limiter.place():
            return loop.time() - began

    assert asyncio.run(waited(streak)) >= 0.045
    assert asyncio.run(waited(streak - 1)) < 0.045


def test_a_cancelled_waiter_gives_its_place_on():
    async def go() -> None:
        limiter = limits.Limiter(1)
        async with limiter.place():
            waiting = asyncio.create_task(limiter.place().__aenter__())
            await asyncio.sleep(0)
        waiting.cancel()  # it had been given the place already
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await asyncio.wait_for(limiter.place().__aenter__(), 1)

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
