"""What a run may spend (requests, tokens, dollars), and what tokens cost.

The next call is refused before it is sent, never after: it is allowed if what was spent, what is under way and what the
call can take at most stay within the budget. The most a call can take is its prompt (estimated from its length) and its
whole `max_tokens`; that is counted too where an attempt was, or may have been, billed and its tokens are unknown. Where
an endpoint counts more than that, each later call is expected to take as much as the largest one, and calls are sent
one at a time; those under way cannot be taken back. A limit in dollars ends the session at the first reply that cannot
be priced.

Prices are those of `genai-prices` (bundled: no request is made). Models on this machine cost 0.0. A private or unknown
endpoint has no known price: None, never 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from longmark.errors import OverBudget
from longmark.models.protocols import Tokens
from longmark.models.settings import TokenPrice

_TEMPLATE = 500  # tokens that a chat template may add to a prompt, at most
Price = Callable[[Tokens], float | None]  # US dollars for the tokens of one call; None: not known


def estimate_tokens(text_bytes: int) -> int:
    """Tokens in a text of so many UTF-8 bytes, about: 4 bytes a token, and the few that a chat template adds."""
    return text_bytes // 4 + 16


@dataclass(slots=True)
class Budget:
    """max_calls: requests sent, tries again included. max_tokens: prompt and completion tokens. max_usd: US dollars.

    stopped: why no further call is allowed, "" as long as some are. overran: an endpoint counted more than a call could
    take.
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    max_usd: float | None = None
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    stopped: str = ""
    overran: bool = False
    _largest: tuple[int, float] = (0, 0.0)  # tokens and dollars of a call that took more than it could
    _out: int = 0
    _tokens_out: int = 0
    _usd_out: float = 0.0
    _unpriced: bool = False

    def take(self, most: Tokens, price: Price) -> Reservation:
        """Reserves what a call can take at most. OverBudget where that exceeds the budget."""
        if self._unpriced:
            raise OverBudget(self.stopped)
        tokens = max(most.prompt + most.completion, self._largest[0])
        usd = price(most) if self.max_usd is not None else 0.0
        usd = math.inf if usd is None else max(usd, self._largest[1])
        for limit, spent, out, next_, form in (
            (self.max_calls, self.calls, 0, 1, "{:,} requests"),
            (self.max_tokens, self.tokens, self._tokens_out, tokens, "{:,} tokens"),
            (self.max_usd, self.usd, self._usd_out, usd, "${:.6g}"),
        ):
            if limit is not None and spent + out + next_ > limit:
                shown, took, held, more, left = map(
                    form.format, (limit, spent, out, next_, max(0, limit - spent - out))
                )
                reserved = f"{held} reserved for calls in progress, " if out else ""
                why = "" if next_ == 1 else f": {took} spent, {reserved}{left} left, and the next can take {more}"
                self.stopped = f"The budget of {shown} does not allow another call{why}."
                raise OverBudget(self.stopped)
        self.calls += 1
        self._out += 1
        self._tokens_out += tokens
        self._usd_out += usd
        return Reservation(tokens, usd, most)

    def cancel(self, held: Reservation) -> None:
        """Gives back what was reserved for a request that was not sent."""
        self.calls -= 1
        self.settle(held, Tokens(), 0.0)

    def settle(self, held: Reservation, tokens: Tokens | None, usd: float | None) -> None:
        """Replaces a reservation by what the call took. None: not known, so all that was reserved."""
        self._out -= 1
        self._tokens_out, self._usd_out = self._tokens_out - held.tokens, self._usd_out - held.usd
        if not self._out:
            self._tokens_out, self._usd_out = 0, 0.0  # sums of floats leave a rest
        if tokens is not None and held.exceeded(tokens) and (self.max_tokens, self.max_usd) != (None, None):
            self.overran = True
            sizes = (tokens.prompt + tokens.completion, usd or 0.0)
            self._largest = max(self._largest[0], sizes[0]), max(self._largest[1], sizes[1])
        self.tokens += held.tokens if tokens is None else tokens.prompt + tokens.completion
        self.usd += held.usd if usd is None else usd

    def unpriced(self, model: str) -> None:
        """A reply came whose price is unknown."""
        if self.max_usd is not None:
            self._unpriced = True
            self.stopped = (
                f"{model} sent a reply without a usable token count, so --max-usd cannot be enforced. Limit the "
                "run by --max-calls or --max-tokens."
            )


@dataclass(frozen=True, slots=True)
class Reservation:
    """What is reserved for one call. most: the tokens that it can take, those of the prompt estimated."""

    tokens: int
    usd: float
    most: Tokens

    def exceeded(self, tokens: Tokens) -> bool:
        """Whether an endpoint counted more than the call can take: a reply above its limit, or a prompt of more tokens
        than it has bytes (the estimate takes four for one)."""
        return tokens.completion > self.most.completion or tokens.prompt > 4 * self.most.prompt + _TEMPLATE


def free(_tokens: Tokens) -> float | None:
    """The price of a model on this machine."""
    return 0.0


@dataclass(frozen=True, slots=True)
class UnknownPrice:
    """The price of an endpoint that no list knows: None for any call."""

    def __call__(self, _tokens: Tokens) -> float | None:
        return None


def given(rate: TokenPrice, batch: float | None = None) -> Price:
    """The price that the user gave for a million tokens. batch: the vendor's share for a call in a batch, where it is
    one."""
    cached = rate.input if rate.cached is None else rate.cached
    share = 1.0 if batch is None else batch if rate.batch is None else rate.batch

    def price(tokens: Tokens) -> float | None:
        fresh = tokens.prompt - tokens.cached_prompt
        return share * (fresh * rate.input + tokens.cached_prompt * cached + tokens.completion * rate.output) / 1e6

    return price


def for_endpoint(model: str, base_url: str, batch: float | None = None) -> Price:
    """The price of a model's tokens at a public endpoint; `UnknownPrice` where the list does not have it. batch: the
    vendor's share for a call in a batch, where it is one; a list's own price of batches comes before it."""
    if _is_private(base_url):
        return UnknownPrice()
    from genai_prices import Usage, calc_price

    def price(tokens: Tokens) -> float | None:
        usage = Usage(
            input_tokens=tokens.prompt, cache_read_tokens=tokens.cached_prompt or None, output_tokens=tokens.completion
        )
        try:
            priced = calc_price(usage, model_ref=model, provider_api_url=base_url, genai_request_timestamp=now)
        except (LookupError, ValueError):
            return None
        usd = float(priced.total_price)
        if batch is None:
            return usd
        with suppress(TypeError, LookupError, ValueError):  # TypeError: a list without prices of batches
            where: Any = {"provider_api_url": base_url, "price_context": {"processing": "batch"}}
            listed = float(calc_price(usage, model_ref=model, genai_request_timestamp=now, **where).total_price)
            return listed if listed < usd else usd * batch
        return usd * batch

    now = datetime.now(UTC)
    return price if price(Tokens(prompt=1, completion=1)) is not None else UnknownPrice()


def _is_private(base_url: str) -> bool:
    """Whether no public list can know the host: an address that is not global, or a name without a dot."""
    host = urlsplit(base_url).hostname or ""
    try:
        return not ip_address(host).is_global
    except ValueError:
        return "." not in host
