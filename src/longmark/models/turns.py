"""The order of calls to a model that serves one at a time and keeps what it read last."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any


class Turns:
    """One call at a time. Of those that wait, the first is one that reads on from the same beginning as the last call;
    else one of the same kind, since another kind makes the model forget what it read; else the one that came first.

    A call's key is `(kind, beginning)`; None: whatever comes first."""

    def __init__(self) -> None:
        self._busy = False
        self._last: tuple[Any, Any] | None = None
        self._waiting: list[tuple[tuple[Any, Any] | None, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def turn(self, key: tuple[Any, Any] | None) -> AsyncIterator[None]:
        """Around a call, which then has the model for itself."""
        if self._busy:
            await self._wait(key)
        self._busy = True
        self._last = key
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, key: tuple[Any, Any] | None) -> None:
        place = asyncio.get_running_loop().create_future()
        entry = (key, place)
        self._waiting.append(entry)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._pass_on()  # the turn came as the call was cancelled
            else:
                self._waiting.remove(entry)
            raise

    def _pass_on(self) -> None:
        if not self._waiting:
            self._busy = False
            return
        position = max(
            range(len(self._waiting)), key=lambda n: (self._fit(self._waiting[n][0]), -n)
        )
        _, place = self._waiting.pop(position)
        place.set_result(None)

    def _fit(self, key: tuple[Any, Any] | None) -> int:
        """How much of what was read last serves a call."""
        if key is None or self._last is None:
            return 0
        return 2 if key == self._last else int(key[0] == self._last[0])
