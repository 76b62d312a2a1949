"""Waiting for calls that may be given up: by a stop of the run, or by whoever asked for them first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from longmark.errors import LongmarkError

Reply = TypeVar("Reply")


class Stopped(LongmarkError):
    """The run was asked to stop: no new call is sent, and none to a model on this machine is waited for."""


class UnlessStopped:
    """Calls that a stop gives up. A model on this machine may be at one for minutes, and the same call costs nothing
    but time when it is made again."""

    def __init__(self) -> None:
        self._stopped = False
        self._under_way: set[asyncio.Future[Any]] = set()

    def stop(self) -> None:
        """Gives up what is under way."""
        self._stopped = True
        for call in self._under_way:
            call.cancel()

    async def reply(self, send: Callable[[], Awaitable[Reply]]) -> Reply:
        """What the call gives; Stopped where a stop comes before that."""
        call = asyncio.ensure_future(send())
        self._under_way.add(call)
        try:
            return await call
        except asyncio.CancelledError:
            if not self._stopped or _we_are_cancelled():
                raise
            raise Stopped("The run was stopped while this call was under way.") from None
        finally:
            self._under_way.discard(call)


@contextmanager
def unless_given_up(flight: asyncio.Future[Any]) -> Iterator[None]:
    """Around waiting for a call that another one asked for. Where that one was cancelled, and with it the call, this
    waiting is over without a reply; where we are cancelled ourselves, so be it."""
    try:
        yield
    except asyncio.CancelledError:
        if not flight.cancelled() or _we_are_cancelled():
            raise


def _we_are_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
