"""How far a verb without a run is: lines on standard error."""

from __future__ import annotations

import sys
import time


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
