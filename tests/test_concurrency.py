"""Several questions at once: order, the bound, and what an error does; computations aside, which can be left."""

from __future__ import annotations

import asyncio
import math
import threading
from typing import Any

import pytest

from longmark import concurrency
from longmark.concurrency import AT_ONCE, COMPUTING, aside, concurrently
from longmark.models.sending import Stopped
from longmark.records import Example
from longmark.testing import score_sync


def test_results_stand_in_the_order_of_the_items():
    async def slow_first(item: int) -> int:
        await asyncio.sleep(0.002 * (5 - item))
        return item * item

    assert asyncio.run(concurrently(slow_first, [0, 1, 2, 3, 4])) == [0, 1, 4, 9, 16]
    assert asyncio.run(concurrently(slow_first, [])) == []


def test_no_more_at_once_than_the_bound():
    under_way = most = 0

    async def ask(item: int) -> int:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.001)
        under_way -= 1
        return item

    asyncio.run(concurrently(ask, range(50)))
    assert most == AT_ONCE


def test_the_first_error_by_order_is_raised_once_those_under_way_are_done():
    begun: list[int] = []
    done: list[int] = []

    async def ask(item: int) -> int:
        begun.append(item)
        await asyncio.sleep(0 if item == 7 else 0.01)
        if item in (3, 7):
            raise ValueError(f"item {item}")
        done.append(item)
        return item

    with pytest.raises(ValueError, match="item 3"):
        asyncio.run(concurrently(ask, range(100)))
    # item 7 fails first: the 14 others of the first 16 come to their end, none is begun after them
    assert sorted(begun) == list(range(AT_ONCE))
    assert sorted(done) == [item for item in range(AT_ONCE) if item not in (3, 7)]


def test_a_cancelled_asker_cancels_what_it_asked():
    done: list[int] = []

    async def ask(item: int) -> None:
        await asyncio.sleep(0.05)
        done.append(item)

    async def cancelled() -> None:
        task = asyncio.create_task(concurrently(ask, range(4)))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0.06)

    asyncio.run(cancelled())
    assert done == []


@pytest.mark.parametrize("how", ["cancelled", "left"])
def test_a_computation_aside_is_left_and_nothing_waits_for_it(how: str) -> None:
    ended = threading.Event()

    async def main() -> str:
        computing: set[asyncio.Future[Any]] = set()
        COMPUTING.set(computing)
        loop, begun = asyncio.get_running_loop(), asyncio.Event()

        def compute() -> None:
            loop.call_soon_threadsafe(begun.set)
            ended.wait(60)

        task = asyncio.create_task(aside(math.inf, compute))
        await begun.wait()
        if how == "cancelled":
            task.cancel()
        else:
            next(iter(computing)).set_exception(Stopped("stopped"))
        try:
            await task
        except (asyncio.CancelledError, Stopped) as error:
            return type(error).__name__
        return "waited"

    assert asyncio.run(main()) == ("CancelledError" if how == "cancelled" else "Stopped")
    assert not ended.is_set()
    ended.set()


@pytest.mark.parametrize(
    "name", ["classic.bleu", "classic.chrf", "classic.length", "classic.rouge_1", "classic.rouge_2", "classic.rouge_l",
             "score.readability"]
)  # fmt: skip
def test_a_metric_computes_long_texts_aside_with_the_same_result(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = Example(
        id="1", answer="Rain fell in the hills. Snow fell.", references=("Rain fell in hills.",)
    )
    here = score_sync(name, answer)
    monkeypatch.setattr(concurrency, "_LONG", 0)
    threads: list[str] = []
    start = threading.Thread.start

    def noted(thread: threading.Thread) -> None:
        threads.append(thread.name)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", noted)
    assert score_sync(name, answer) == here
    assert "longmark.aside" in threads


def test_an_error_of_a_computation_aside_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        asyncio.run(aside(math.inf, lambda: 1 // 0))
