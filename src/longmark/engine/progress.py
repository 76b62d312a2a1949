"""What the terminal shows while a run goes on: rows, calls, rate, cost, retries, unscored rows, time left."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from longmark.models.client import Client
from longmark.records import Row

_PLAIN_EVERY = 10.0  # seconds between lines where there is no terminal


class Progress:
    """total: rows there will be when the run has ended; done: rows there are already. client: what the calls go
    through."""

    def __init__(self, total: int, done: int, client: Client) -> None:
        self.total = total
        self.done = done
        self.written = 0
        self.gaps = 0
        self._client = client
        self._began = time.monotonic()
        self.tell: Callable[[], None] = lambda: None

    def row(self, row: Row) -> None:
        """A row was written."""
        self.done += 1
        self.written += 1
        self.gaps += row.score is None
        self.tell()

    def line(self) -> str:
        """All figures in one line."""
        counts, seconds = self._client.counts, max(time.monotonic() - self._began, 1e-9)
        left = (self.total - self.done) / (self.written / seconds) if self.written else None
        parts = [
            f"{self.done}/{self.total} rows",
            f"{counted(counts.calls, 'call')} ({counts.calls / seconds:.1f}/s)",
            f"{counts.from_cache} from cache",
            cost(counts.usd),
        ]
        parts += [f"{counts.retries} retries"] if counts.retries else []
        parts += [f"{self.gaps} unscored"] if self.gaps else []
        parts += [f"{duration(left)} left"] if left is not None and self.done < self.total else []
        parts += [f"waiting {why}"] if (why := self._client.waiting()) else []
        return " · ".join(parts)


def counted(n: int, thing: str) -> str:
    """`1 call`, `1,200 calls`."""
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"


def cost(usd: float | None) -> str:
    """Dollars for people; a price that is not known is said to be unknown."""
    if usd is None:
        return "cost unknown"
    return f"${usd:.2f}" if usd == 0 or usd >= 0.01 else f"${usd:.4f}"


def duration(seconds: float) -> str:
    """`45 s`, `3 min 05 s`, `2 h 07 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


@contextmanager
def shown(progress: Progress, *, quiet: bool = False, stream: TextIO | None = None) -> Iterator[None]:
    """Shows the progress on standard error, within a running event loop: a bar in a terminal, else a line now and then,
    also while nothing but waiting is done. Where nobody reads it any more (a terminal that was closed, a pipe into a
    program that ended), the run goes on without it."""
    stream = cast(TextIO, _Optional(stream or sys.stderr))
    if quiet or progress.total == progress.done:
        yield
        return
    with _bar(progress, stream) if stream.isatty() else _lines(progress, stream):
        ticks = asyncio.get_running_loop().create_task(_tick(progress))
        try:
            yield
        finally:
            ticks.cancel()


async def _tick(progress: Progress) -> None:
    while True:
        await asyncio.sleep(1)
        progress.tell()


class _Optional:
    """A stream that may be gone."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _lines(progress: Progress, stream: TextIO) -> Iterator[None]:
    last, told = time.monotonic(), -1

    def tell() -> None:
        nonlocal last, told
        if time.monotonic() - last >= _PLAIN_EVERY:
            last, told = time.monotonic(), progress.done
            print(progress.line(), file=stream, flush=True)

    progress.tell = tell
    try:
        yield
    finally:
        if told != progress.done:
            print(progress.line(), file=stream, flush=True)


@contextmanager
def _bar(progress: Progress, stream: TextIO) -> Iterator[None]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bars

    bars = Bars(
        BarColumn(bar_width=24),
        TextColumn("{task.description}", markup=False),
        console=Console(file=stream),
        auto_refresh=False,
    )
    task = bars.add_task(progress.line(), total=progress.total, completed=progress.done)
    last = 0.0

    def tell(final: bool = False) -> None:
        nonlocal last
        if final or time.monotonic() - last >= 0.2:
            last = time.monotonic()
            bars.update(task, completed=progress.done, description=progress.line())
            bars.refresh()

    progress.tell = tell
    with bars:
        tell()
        try:
            yield
        finally:
            tell(final=True)
