"""What a signal does to a run: the calls under way end, a second one ends it at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from longmark.engine.settings import SessionOptions
from longmark.engine.worker import WorkerPool
from longmark.models.sending import Stopped

# Seconds between two looks whether the loop of a stopped run turns.
_LOOK = 0.25 if hasattr(signal, "setitimer") else None


@contextmanager
def interruptible(work: WorkerPool, options: SessionOptions) -> Iterator[list[int]]:
    """The first Ctrl-C (or SIGTERM) lets the calls under way at endpoints end, the second one ends at once. Yields the
    list of signals that came.

    The event loop cannot hear a signal while a metric computes. So from the first one on a timer looks whether the
    loop turns; where it does not, what is being computed is left: it raises `Stopped` there and gets no row. After the
    second signal whatever keeps the loop is left.
    """
    came: list[int] = []
    if not options.handle_signals:
        yield came
        return
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None
    turned = True

    def stop() -> None:
        options.tell("Stopping after the calls in progress. Press Ctrl-C again to stop at once.")
        work.stop()

    def turns() -> None:
        nonlocal turned
        turned = True

    def hear(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        work.begin_nothing()
        loop.call_soon_threadsafe(stop if len(came) == 1 else task.cancel)
        if _LOOK is not None:
            signal.setitimer(signal.ITIMER_REAL, _LOOK, _LOOK)

    def look(_number: int, frame: FrameType | None) -> None:
        nonlocal turned
        if turned:
            turned = False
            loop.call_soon_threadsafe(turns)
        elif len(came) > 1:
            # the loop's own handler would show where it was
            loop.set_exception_handler(lambda _loop, _context: None)
            raise KeyboardInterrupt
        elif work.computes(frame):
            raise Stopped("The run was stopped during this computation.")

    handlers: dict[int, Any] = {signal.SIGINT: hear, signal.SIGTERM: hear}
    if _LOOK is not None:
        handlers[signal.SIGALRM] = look
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield came
    finally:
        if _LOOK is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
