"""Several questions to models at once, a bounded number of them under way; and long computations beside the loop."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_LONG = 20_000  # characters from which a computation would hold up the event loop
_CORES = threading.Semaphore(os.cpu_count() or 1)

COMPUTING: ContextVar[set[asyncio.Future[Any]]] = ContextVar("COMPUTING")
"""What a run computes aside, so that it can be left."""

AT_LEAST: ContextVar[int] = ContextVar("AT_LEAST", default=0)
"""How many are under way at least, whatever an asker says: in a batch run all that can be asked is asked at once. The
items of `concurrently` do not depend on each other, and one by one each would be a round of up to a day."""

AT_ONCE = 16  # of one asker; how many calls a model gets at once is the client's to say


async def concurrently(
    ask: Callable[[Item], Awaitable[Result]], items: Sequence[Item], at_once: int = AT_ONCE
) -> list[Result]:
    """What `ask` gives for each item, in the order of the items; at most `at_once` are under way.

    After an error no further item is begun; those under way are waited for, so that nothing that was paid for is lost.
    Raises the error of the first item that has one.
    """
    results: dict[int, Result] = {}
    errors: dict[int, Exception] = {}
    at_once = max(at_once, AT_LEAST.get())
    left = iter(enumerate(items))

    async def work() -> None:
        for position, item in left:
            try:
                results[position] = await ask(item)
            except Exception as error:
                errors[position] = error
            if errors:
                return

    await asyncio.gather(*(work() for _ in range(min(at_once, len(items)))))
    if errors:
        raise errors[min(errors)]
    return [results[position] for position in range(len(items))]


async def aside(size: float, computation: Callable[[], Result]) -> Result:
    """What a computation gives; for texts of so many characters that it would hold up the event loop, in a thread that
    can be left: nothing waits for it where the task is cancelled, or its future in `COMPUTING` ends."""
    if size < _LONG:
        return computation()
    loop = asyncio.get_running_loop()
    result: asyncio.Future[Result] = loop.create_future()

    def tell(settle: Callable[[Any], None], argument: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(lambda: None if result.done() else settle(argument))

    def compute() -> None:
        with _CORES:
            try:
                tell(result.set_result, computation())
            except BaseException as error:
                tell(result.set_exception, error)

    under_way = COMPUTING.get(set())
    under_way.add(result)
    threading.Thread(target=compute, name="longmark.aside", daemon=True).start()
    try:
        return await result
    finally:
        under_way.discard(result)
