"""Several questions to models at once, a bounded number of them under way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

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
