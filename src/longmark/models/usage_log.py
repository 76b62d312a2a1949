"""What the calls of one computation of a metric cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from longmark.models.call_kinds import Stored
from longmark.models.protocols import ChatReply, Tokens
from longmark.models.verdicts import VerdictCounter
from longmark.records import Usage

Booked = tuple[bytes, int, int, int, float | None, int]
"""The key of a call, and what it adds to a row's usage: prompt, cached prompt and completion tokens, dollars,
unmetered."""


@dataclass(slots=True)
class UsageLog:
    """What the calls of one computation of a metric cost.

    first: whether this log is the first of the run to need the call of that key; a shared call counts for the first.
    refresh: request again, once, what the cache held when the client was opened. versions: of each chat model that
    replied, as its endpoint reported them. booked: gets each call that counts here; None: nobody asks.
    metric, prompt: what the calls are for; the first for each never wait for a batch. verdicts: counts the replies that
    are to have one; None: nobody does. sent: calls that were sent, and not answered from the cache.
    """

    usage: Usage = field(default_factory=Usage)
    first: Callable[[bytes], bool] = lambda _key: True
    refresh: bool = False
    versions: dict[str, dict[str, None]] = field(default_factory=dict)
    booked: list[Booked] | None = None
    metric: str = ""
    prompt: str = ""
    verdicts: VerdictCounter | None = None
    sent: int = 0

    def book(
        self, model_name: str, replies: Mapping[bytes, Stored], calls: int, *, sent: bool
    ) -> None:
        """Adds a request: its calls, and its tokens if nobody asked for them before."""
        self.sent += calls if sent else 0
        self.usage.calls += calls
        self.usage.from_cache += 0 if sent else calls
        for key, (reply, usd) in replies.items():
            if isinstance(reply, ChatReply):
                self.versions.setdefault(model_name, {}).update(dict.fromkeys(reply.versions))
            if not self.first(key):
                continue
            tokens = reply.tokens or Tokens()
            unmetered = int(reply.tokens is None)
            paid = (tokens.prompt, tokens.cached_prompt, tokens.completion, usd, unmetered)
            self.usage.add(Usage(0, 0, *paid))
            if self.booked is not None:
                self.booked.append((key, *paid))
