"""How far an install is: a bar on a terminal, plain lines elsewhere. All of it goes to standard error."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Protocol


class Progress(Protocol):
    """What an install reports. Sizes in bytes."""

    def start(self, what: str, total: int) -> None:
        """A new model begins, of so many bytes."""

    def note(self, text: str) -> None:
        """What is being fetched now."""

    def advance(self, count: int) -> None:
        """So many bytes more are there."""

    def say(self, line: str) -> None:
        """A line that stays."""


class LineProgress:
    """One line for every tenth of a model, and no two lines within a second unless something must be said."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._what = ""
        self._total = 0
        self._done = 0
        self._tenth = 0
        self._last = 0.0

    def start(self, what: str, total: int) -> None:
        self._what, self._total, self._done, self._tenth = what, total, 0, 0
        self._write(f"{what}: {total / 1e6:,.0f} MB to bring")

    def note(self, text: str) -> None:
        """Not shown: a line for each of twenty wheels would tell nothing."""

    def advance(self, count: int) -> None:
        self._done += count
        tenth = 10 * self._done // max(self._total, 1)
        now = time.monotonic()
        if tenth > self._tenth and now - self._last >= 1:
            self._tenth, self._last = tenth, now
            self._write(f"{self._what}: {self._done / 1e6:,.0f} of {self._total / 1e6:,.0f} MB")

    def say(self, line: str) -> None:
        self._write(line)


class BarProgress:
    """rich's bar with bytes, speed and time left."""

    def __init__(self) -> None:
        from rich import progress as bars
        from rich.console import Console

        self._bars = bars.Progress(
            bars.TextColumn("{task.fields[what]}"),
            bars.BarColumn(),
            bars.DownloadColumn(),
            bars.TransferSpeedColumn(),
            bars.TimeRemainingColumn(),
            bars.TextColumn("{task.fields[now]}", style="dim"),
            console=Console(stderr=True),
            transient=True,
        )
        self._task: bars.TaskID | None = None

    def __enter__(self) -> BarProgress:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def start(self, what: str, total: int) -> None:
        if self._task is not None:
            self._bars.remove_task(self._task)
        self._task = self._bars.add_task("", total=total, what=what, now="")

    def note(self, text: str) -> None:
        if self._task is not None:
            self._bars.update(self._task, now=text)

    def advance(self, count: int) -> None:
        if self._task is not None:
            self._bars.advance(self._task, count)

    def say(self, line: str) -> None:
        self._bars.console.print(line, markup=False, highlight=False, soft_wrap=True)


@contextlib.contextmanager
def terminal_progress() -> Iterator[Progress]:
    """A bar where standard error is a terminal, else plain lines."""
    if sys.stderr.isatty():
        with BarProgress() as bar:
            yield bar
    else:
        yield LineProgress(lambda line: print(line, file=sys.stderr, flush=True))
