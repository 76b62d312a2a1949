"""What a run may spend (requests, tokens, dollars), and what tokens cost.

A call is sent only if what was spent, what calls in flight can take at most, and what it can take itself stay within
the budget. The most a call can take is a token for each byte of its prompt, what a chat template adds, and its whole
`max_tokens`; so it is counted too where an attempt was, or may have been, billed and its tokens are unknown. What
replies took before changes nothing in this.

The rule is greedy. Calls go in the order in which they were asked for. One that does not fit now waits until calls in
flight have settled, and every later one waits behind it. If nothing is in flight and the first one does not fit, the
budget is exhausted: no later call is sent, not even a smaller one, so that short examples are not preferred. Order
changes only where it costs the first one nothing: attempts after the first of a call go before new calls, a call whose
endpoint has no free place (`models.limits`) lets those to other endpoints pass, and a call that takes nothing of what
is limited (a model on this machine, where dollars are) never waits for money.

Calls that wait for a batch have their money. If what fits is a batch of few calls (`batches.too_few`), it waits for
what batches in flight give back; if nothing is in flight, the budget is exhausted: each such batch could take a day.

So what is spent stays within the budget while no reply counts more than its request allowed. After one that does, at
most the calls then in flight exceed it, and calls are sent one at a time. A limit in dollars ends the session at the
first reply that cannot be priced.

Prices are those of `genai-prices` (bundled: no request is made). Models on this machine cost 0.0. A private or unknown
endpoint has no known price: None, never 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Any, Protocol
from urllib.parse import urlsplit

from longmark.errors import OverBudget
from longmark.models.protocols import MOST_TOKENS, Tokens
from longmark.models.settings import TokenPrice

TEMPLATE = 500  # tokens that a chat template may add to a prompt, at most
_STORING = 0.25  # of the price of a prompt's tokens, more for those that Anthropic or OpenAI takes into its cache
BYTES = 4  # of a prompt, for one token of the estimate; no tokenizer makes more tokens than bytes
Price = Callable[[Tokens], float | None]  # US dollars for the tokens of one call; None: not known


def estimate_tokens(text_bytes: int) -> int:
    """Tokens in a text of so many UTF-8 bytes, about: 4 bytes a token, and the few that a chat template adds."""
    return text_bytes // BYTES + 16


@dataclass(slots=True)
class Reservation:
    """What one call can take at most, in tokens and dollars. most: its tokens, those of the prompt estimated; taken:
    whether it is set aside in the budget now."""

    most: Tokens = field(default_factory=Tokens)
    tokens: int = 0
    usd: float = 0.0
    taken: bool = False

    def exceeded(self, tokens: Tokens) -> bool:
        """Whether an endpoint counted more than the call can take."""
        return tokens.completion > self.most.completion or tokens.prompt > _most_prompt(self.most)


class Sharing(Protocol):
    """Other sessions, which have the same limits together (`contrib.scale`)."""

    def covers(self, held: Reservation) -> bool:
        """Whether a call that needs so much may go now."""

    async def close(self) -> None: ...


@dataclass(slots=True)
class Budget:
    """max_calls: requests sent, tries again included. max_tokens: prompt and completion tokens. max_usd: US dollars.

    stopped: why no further call is allowed, "" as long as some are. overran: an endpoint counted more than a call could
    take. replies: those that took of what is limited. group: shares the limits with other sessions; None: this one has
    them alone.
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    max_usd: float | None = None
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    stopped: str = ""
    overran: bool = False
    replies: int = 0
    group: Sharing | None = None
    _out: int = 0
    _tokens_out: int = 0
    _usd_out: float = 0.0

    def unspent(self) -> Budget:
        """A new budget with the same limits."""
        return Budget(self.max_calls, self.max_tokens, self.max_usd)

    @property
    def limited(self) -> bool:
        return (self.max_calls, self.max_tokens, self.max_usd) != (None, None, None)

    @property
    def spent(self) -> tuple[int, int, float]:
        """Requests, tokens, dollars."""
        return self.calls, self.tokens, self.usd

    @property
    def used(self) -> tuple[int, int, float]:
        """What was spent, and what calls in flight can take at most."""
        return self.calls, self.tokens + self._tokens_out, self.usd + self._usd_out

    def asked(self, most_tokens: Tokens, price: Price) -> Reservation:
        """What a call needs that can take so much (its prompt estimated). It is not set aside yet."""
        prompt = _most_prompt(most_tokens)
        largest = min(prompt, MOST_TOKENS)
        stored = largest if most_tokens.stored_prompt else 0  # all of it may be new to the cache
        usd = (
            price(Tokens(largest, 0, most_tokens.completion, stored))
            if self.max_usd is not None
            else 0.0
        )
        return Reservation(
            most_tokens, prompt + most_tokens.completion, math.inf if usd is None else usd
        )

    def take(self, held: Reservation) -> bool:
        """Sets aside what a call needs. False: it does not fit while calls in flight have theirs; ask again when one of
        them has settled. OverBudget: it does not fit, and nothing is in flight; or that came before."""
        limits = [
            limit
            for limit in (
                (self.max_calls, self.calls, 0, 1, "{:,} requests"),
                (self.max_tokens, self.tokens, self._tokens_out, held.tokens, "{:,} tokens"),
                (self.max_usd, self.usd, self._usd_out, held.usd, "${:.6g}"),
            )
            if limit[0] is not None and limit[3]
        ]
        if limits and self.stopped:
            raise OverBudget(self.stopped)
        if limits and self.overran and self._out:
            return False
        for limit, spent, out, next_, form in limits:
            if spent + out + next_ > (limit or 0):
                if self._out:
                    return False
                self._exhausted(limit or 0, spent, next_, form)
                raise OverBudget(self.stopped)
        if limits and self.group is not None and not self.group.covers(held):
            return False
        held.taken = True
        self.calls += 1
        self._out += 1
        self._tokens_out += held.tokens
        self._usd_out += held.usd
        return True

    def cancel(self, held: Reservation) -> None:
        """Gives back what was reserved for a request that was not sent."""
        self.calls -= held.taken
        self._give_back(held)

    def settle(self, held: Reservation, tokens: Tokens | None, usd: float | None) -> None:
        """Replaces a reservation by what the call took. None: not known, so all that was reserved."""
        self._give_back(held)
        if tokens is not None:
            self.replies += tokens != Tokens() if self.max_usd is None else bool(usd)
            self.overran = self.overran or (
                held.exceeded(tokens) and (self.max_tokens or self.max_usd) is not None
            )
        self.tokens += held.tokens if tokens is None else tokens.prompt + tokens.completion
        self.usd += held.usd if usd is None else usd

    def _give_back(self, held: Reservation) -> None:
        if held.taken:
            held.taken = False
            self._out -= 1
            self._tokens_out = self._tokens_out - held.tokens
            self._usd_out = self._usd_out - held.usd
        if not self._out:
            self._tokens_out = 0
            self._usd_out = 0.0  # sums of floats leave a rest

    def _exhausted(self, limit: float, spent: float, next_: float, form: str) -> None:
        whole, took, left, needed = map(form.format, (limit, spent, max(0, limit - spent), next_))
        self.stopped = f"The budget of {whole} does not allow another call."
        if limit != self.max_calls:
            mean = form.format(type(spent)(spent / self.replies)) if self.replies else ""
            so_far = f" The replies so far took {mean} each on average." if mean else ""
            figures = (
                f"{took} spent, {left} left, none of it reserved, and the next can take {needed}"
            )
            self.stopped = f"{self.stopped[:-1]}: {figures}.{so_far}"

    def too_small(self, fitting: int, waiting: int, window: float) -> OverBudget:
        """Ends the run, since only a batch of so few of the calls that wait fits, and nothing is in flight. window:
        hours that a batch can take."""
        limit = float(self.max_tokens or 0)
        spent = float(self.tokens)
        form = "{:,.0f} tokens"
        if self.max_usd is not None:
            limit = self.max_usd
            spent = self.usd
            form = "${:.6g}"
        whole, took, left = map(form.format, (limit, spent, max(0.0, limit - spent)))
        self.stopped = (
            f"The budget of {whole} does not allow another batch: {took} spent, {left} left, which is enough for "
            f"{fitting:,} of the {waiting:,} calls that wait. So small a batch is not made, since each can take "
            f"{window:g} h. Set a larger budget, or repeat the command without --batch, which sends single calls."
        )
        return OverBudget(self.stopped)

    def unpriced(self, model: str) -> None:
        """A reply came whose price is unknown."""
        if self.max_usd is not None:
            self.stopped = (
                f"{model} sent a reply without a usable token count, so --max-usd cannot be enforced. Limit the "
                "run by --max-calls or --max-tokens."
            )


def _most_prompt(most_tokens: Tokens) -> int:
    """The most tokens of a prompt whose tokens were estimated: as many as it has bytes, and the chat template's."""
    return BYTES * most_tokens.prompt + TEMPLATE


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
        fresh = tokens.prompt - tokens.cached_prompt + _STORING * tokens.stored_prompt
        prompt = fresh * rate.input + tokens.cached_prompt * cached
        return share * (prompt + tokens.completion * rate.output) / 1e6

    return price


def for_endpoint(model: str, base_url: str, batch: float | None = None) -> Price:
    """The price of a model's tokens at a public endpoint; `UnknownPrice` where the list does not have it. batch: the
    vendor's share for a call in a batch, where it is one; a list's own price of batches comes before it."""
    if _is_private(base_url):
        return UnknownPrice()
    from genai_prices import Usage, calc_price

    def price(tokens: Tokens) -> float | None:
        usage = Usage(
            input_tokens=tokens.prompt,
            cache_read_tokens=tokens.cached_prompt or None,
            cache_write_tokens=tokens.stored_prompt or None,
            output_tokens=tokens.completion,
        )
        try:
            priced = calc_price(
                usage, model_ref=model, provider_api_url=base_url, genai_request_timestamp=now
            )
        except (LookupError, ValueError):
            return None
        usd = float(priced.total_price)
        if batch is None:
            return usd
        with suppress(
            TypeError, LookupError, ValueError
        ):  # TypeError: a list without prices of batches
            price_source: Any = {
                "provider_api_url": base_url,
                "price_context": {"processing": "batch"},
            }
            listed = float(
                calc_price(
                    usage, model_ref=model, genai_request_timestamp=now, **price_source
                ).total_price
            )
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
