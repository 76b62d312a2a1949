"""Progress of a command on standard error: a bar in a terminal, elsewhere a line every ten seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

LINES_EVERY = 10.0  # seconds between lines where there is no terminal
_DRAWN_EVERY = 0.2  # seconds between two pictures of the bar


def counted(count: int, singular: str, several: str = "") -> str:
    """`1 pair`, `1,200 pairs`."""
    return f"{count:,} {singular if count == 1 else several or singular + 's'}"


def cost(usd: float | None) -> str:
    """Dollars; an unknown price is `cost unknown`."""
    if usd is None:
        return "cost unknown"
    return f"${usd:.2f}" if usd == 0 or usd >= 0.01 else f"${usd:.4f}"


def duration(seconds: float) -> str:
    """`45 s`, `3 min 05 s`, `2 h 07 min`."""
    minutes, remainder = divmod(round(seconds), 60)
    if not minutes:
        return f"{remainder} s"
    return (
        f"{minutes} min {remainder:02d} s"
        if minutes < 60
        else f"{minutes // 60} h {minutes % 60:02d} min"
    )


State = Callable[[], tuple[int, int, str]]


@contextmanager
def shown(state: State, stream: TextIO | None = None) -> Iterator[Callable[[], None]]:
    """Shows the progress of a command while the context is open, and its final state at the end.

    state: returns (done, total, a line of text). Yields a function to call whenever the state may have changed. If the
    stream is closed meanwhile (a terminal, a pipe into a program that ended), the command continues without it.
    """
    stream = cast(TextIO, _Optional(stream or sys.stderr))
    with _bar(state, stream) if stream.isatty() else _lines(state, stream) as tell:
        yield tell


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
def _lines(state: State, stream: TextIO) -> Iterator[Callable[[], None]]:
    last = time.monotonic()
    told = -1

    def tell() -> None:
        nonlocal last, told
        if time.monotonic() - last >= LINES_EVERY:
            last = time.monotonic()
            (told, _, line) = state()
            print(line, file=stream, flush=True)

    try:
        yield tell
    finally:
        state_now, _, line = state()
        if told != state_now:
            print(line, file=stream, flush=True)


@contextmanager
def _bar(state: State, stream: TextIO) -> Iterator[Callable[[], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    bars = Progress(
        BarColumn(bar_width=24),
        TextColumn("{task.description}", markup=False),
        console=Console(file=stream),
        auto_refresh=False,
    )
    task = bars.add_task("")
    last = 0.0

    def tell(final: bool = False) -> None:
        nonlocal last
        if final or time.monotonic() - last >= _DRAWN_EVERY:
            last = time.monotonic()
            (count, total, line) = state()
            bars.update(task, completed=count, total=total, description=line)
            bars.refresh()

    with bars:
        tell()
        try:
            yield tell
        finally:
            tell(final=True)
