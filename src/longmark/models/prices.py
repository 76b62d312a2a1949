"""What the tokens of a call cost, in US dollars, from the price list of `genai-prices` (bundled: no request is made).

Models on this machine cost 0.0. A private or unknown endpoint has no known price: None, never 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_address
from urllib.parse import urlsplit

from longmark.models.protocols import Tokens


def free(_tokens: Tokens) -> float | None:
    """The price of a model on this machine."""
    return 0.0


@dataclass(frozen=True, slots=True)
class UnknownPrice:
    """The price of an endpoint that no list knows: None for any call."""

    def __call__(self, _tokens: Tokens) -> float | None:
        return None


def for_endpoint(model: str, base_url: str) -> Callable[[Tokens], float | None]:
    """The price function of a model at a public endpoint; `UnknownPrice` where the list does not have it."""
    if _is_private(base_url):
        return UnknownPrice()
    from genai_prices import Usage, calc_price

    def price(tokens: Tokens) -> float | None:
        usage = Usage(
            input_tokens=tokens.prompt,
            cache_read_tokens=tokens.cached_prompt or None,
            output_tokens=tokens.completion,
        )
        try:
            priced = calc_price(usage, model_ref=model, provider_api_url=base_url, genai_request_timestamp=now)
        except (LookupError, ValueError):
            return None
        return float(priced.total_price)

    now = datetime.now(UTC)
    return price if price(Tokens(prompt=1, completion=1)) is not None else UnknownPrice()


def _is_private(base_url: str) -> bool:
    """Whether no public list can know the host: an address that is not global, or a name without a dot."""
    host = urlsplit(base_url).hostname or ""
    try:
        return not ip_address(host).is_global
    except ValueError:
        return "." not in host
