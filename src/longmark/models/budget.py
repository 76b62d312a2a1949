"""What a run may spend: requests, tokens, dollars. The next call is refused before it is sent, never after.

A call is let through when what was spent, what is under way and what the call may take at most stay within the
budget. The most a call can take is its prompt (estimated from its length) and its whole `max_tokens`; that is counted
too where an attempt was, or may have been, billed and nobody says how much. A limit in dollars ends the session at the
first reply that cannot be priced: from then on nobody knows what was spent.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from longmark.errors import OverBudget
from longmark.models.protocols import Tokens

Price = Callable[[Tokens], float | None]  # US dollars for the tokens of one call; None: not known


def estimate_tokens(text_bytes: int) -> int:
    """Tokens in a text of so many UTF-8 bytes, about: 4 bytes a token, and the few that a chat template adds."""
    return text_bytes // 4 + 16


@dataclass(slots=True)
class Budget:
    """max_calls: requests sent, tries again included. max_tokens: prompt and completion tokens. max_usd: US dollars.

    stopped: why no further call is let through, "" as long as some may be.
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    max_usd: float | None = None
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    stopped: str = ""
    _tokens_out: int = 0
    _usd_out: float = 0.0
    _unpriced: bool = False

    def take(self, most: Tokens, price: Price) -> Reservation:
        """Sets aside what a call may take at most. OverBudget where that would go over."""
        if self._unpriced:
            raise OverBudget(self.stopped)
        tokens = most.prompt + most.completion
        usd = price(most) if self.max_usd is not None else 0.0
        for limit, would_be, unit in (
            (self.max_calls, self.calls + 1, "requests"),
            (self.max_tokens, self.tokens + self._tokens_out + tokens, "tokens"),
            (self.max_usd, math.inf if usd is None else self.usd + self._usd_out + usd, "US dollars"),
        ):
            if limit is not None and would_be > limit:
                self.stopped = f"The budget of {limit:g} {unit} does not allow another call."
                raise OverBudget(self.stopped)
        self.calls += 1
        self._tokens_out += tokens
        self._usd_out += usd or 0.0
        return Reservation(tokens, usd or 0.0)

    def settle(self, held: Reservation, tokens: Tokens | None, usd: float | None) -> None:
        """Puts what a call really took in the place of what was set aside for it. None: not known, so all of it."""
        self._tokens_out -= held.tokens
        self._usd_out -= held.usd
        self.tokens += held.tokens if tokens is None else tokens.prompt + tokens.completion
        self.usd += held.usd if usd is None else usd

    def unpriced(self, model: str) -> None:
        """A reply came whose price cannot be told."""
        if self.max_usd is not None:
            self._unpriced = True
            self.stopped = (
                f"{model} sent a reply without a usable count of its tokens, so --max-usd cannot be kept. Limit the "
                "run by --max-calls or --max-tokens."
            )


@dataclass(frozen=True, slots=True)
class Reservation:
    """What was set aside for one call."""

    tokens: int
    usd: float
