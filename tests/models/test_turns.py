"""Who comes next at a model that serves one call at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from longmark.models.turns import Turns

Key = tuple[bool, str] | None


def order(keys: Sequence[Key]) -> list[int]:
    """Calls of these keys begin in this order, at the same time; the order in which they are served."""
    served: list[int] = []

    async def go() -> None:
        turns = Turns()

        async def call(number: int, key: Key) -> None:
            async with turns.turn(key):
                served.append(number)
                await asyncio.sleep(0)

        await asyncio.gather(*(call(number, key) for number, key in enumerate(keys)))

    asyncio.run(go())
    return served


def test_calls_with_the_same_beginning_follow_each_other_then_those_of_the_same_kind_then_the_first():
    adapted_a, adapted_b, chat = (True, "a"), (True, "b"), (False, "chat")
    # 0 reads a; 3 goes on with a; 1 and 4 read b with the adapter still on; then the chats
    assert order([adapted_a, adapted_b, chat, adapted_a, adapted_b, chat]) == [0, 3, 1, 4, 2, 5]
    assert order([chat, adapted_a, chat, adapted_b]) == [0, 2, 1, 3]
    assert order([None, None, None]) == [0, 1, 2]


def test_a_cancelled_call_gives_its_turn_to_the_next_one():
    served: list[str] = []

    async def go() -> None:
        turns = Turns()
        begun, end = asyncio.Event(), asyncio.Event()

        async def call(name: str, wait: Any = None) -> None:
            async with turns.turn((True, name)):
                served.append(name)
                begun.set()
                if wait is not None:
                    await wait.wait()

        first = asyncio.create_task(call("first", end))
        await begun.wait()
        waiting, last = asyncio.create_task(call("waiting")), asyncio.create_task(call("last"))
        await asyncio.sleep(0)
        waiting.cancel()  # it waits
        first.cancel()  # it has the turn
        await asyncio.gather(first, waiting, return_exceptions=True)
        await asyncio.wait_for(last, 5)
        chosen = asyncio.create_task(call("first", end))
        await asyncio.sleep(0)
        next_one, after = asyncio.create_task(call("next")), asyncio.create_task(call("after"))
        await asyncio.sleep(0)
        end.set()
        await asyncio.sleep(0)
        next_one.cancel()  # it was given the turn and has not begun
        await asyncio.gather(chosen, next_one, return_exceptions=True)
        await asyncio.wait_for(after, 5)

    asyncio.run(go())
    assert served == ["first", "last", "first", "after"]


def test_an_error_inside_a_turn_passes_it_on():
    async def go() -> bool:
        turns = Turns()
        with pytest.raises(ValueError, match="inside"):
            async with turns.turn(None):
                raise ValueError("inside")
        async with asyncio.timeout(5), turns.turn(None):
            return True

    assert asyncio.run(go())
