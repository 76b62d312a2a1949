"""How far a verb without a run is: lines on standard error."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from longmark.cli.terminal import drawing, plain

_CLEARED = "\r\x1b[2K"


class Stages:
    """Says on standard error how far a stage is: when it begins, and every ten seconds. total: of `one_more`."""

    def __init__(self, total: int | None = None) -> None:
        self._total, self._done = total, 0
        self._what, self._last = "", 0.0

    def one_more(self) -> None:
        """Another answer is there."""
        self._done += 1
        self("answers", self._done, self._total)

    def __call__(self, what: str, done: int, of: int | None) -> None:
        if what == self._what and time.monotonic() - self._last < 10 and done != of:
            return
        self._what, self._last = what, time.monotonic()
        print(f"{what}: {done:,}" + (f" of {of:,}" if of is not None else ""), file=sys.stderr, flush=True)


@contextmanager
def under_way() -> Iterator[Callable[[str], None]]:
    """Shows on a terminal which part is being computed, in one line that is gone at the end; where standard error is no
    terminal, nothing."""
    if not sys.stderr.isatty():
        yield lambda _part: None
        return
    from longmark.report.tables import one_line

    width = shutil.get_terminal_size().columns - 1

    def tell(part: str) -> None:
        with drawing():
            sys.stderr.write(_CLEARED + plain(one_line(part))[:width])
            sys.stderr.flush()

    try:
        yield tell
    finally:
        tell("")
