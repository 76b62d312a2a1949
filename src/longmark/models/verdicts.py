"""Counts the verdicts of judges while they are asked, and keeps small what is paid to a judge that cannot be read."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

from longmark.records.verdicts import FIRST, AskedPrompt, Verdicts


class VerdictCounter:
    """Counts the verdicts of a session, and keeps in hand how much can be paid in vain: of a judge that has given no
    verdict yet, only so many questions are open that their replies, two each, are no more than the first 20. The others
    wait until one has a verdict. read_before: what had one in an earlier session; changed: called when what the
    manifest keeps has changed; stop: when a judge cannot be read; None: it goes on, and no question waits."""

    def __init__(
        self, verdicts: Verdicts, changed: Callable[[], None], stop: Callable[[], None] | None
    ) -> None:
        self._verdicts = verdicts
        self._changed = changed
        self._stop = stop
        self.read_before = verdicts.read_before
        self._open: Counter[tuple[str, ...]] = Counter()
        self._moved = asyncio.Event()

    async def begin(self, question: AskedPrompt) -> None:
        """Waits until a question may be asked. `end` follows in any case."""
        while self._stop and any(
            count + 2 * self._open[key] >= FIRST and self._open[key]
            for key, count in self._verdicts.counts(question)
        ):
            await self._moved.wait()
        self._open.update((question[:1], question[:2], question[:3]))

    def hear(self, question: AskedPrompt, text: str, *, read: bool, sent: bool) -> None:
        if self._verdicts.hear(question, text, read=read, sent=sent):
            self._changed()
            if read:
                self._wake()

    def end(self, question: AskedPrompt) -> None:
        self._open.subtract((question[:1], question[:2], question[:3]))
        counts = list(self._verdicts.counts(question))
        if self._stop and any(count >= FIRST and not self._open[key] for key, count in counts):
            self._stop()
        if counts:
            self._wake()

    def _wake(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()
