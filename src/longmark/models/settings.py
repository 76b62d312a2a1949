"""The settings of one model: an entry under `models:` in longmark.yaml (read by `models.config`).

Models with another form of name (`openai:NAME`, `NAME@BASE_URL`) have the defaults.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

Asked = Literal["asked"]
ASKED: Asked = "asked"  # as the request asks

# Headers that name who calls; the reply does not depend on them.
_LABELS = ("http-referer", "x-title", "user-agent", "openai-organization", "openai-project")


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """US dollars for a million tokens. cached: of the prompt, reused by the endpoint; None: as `input`. batch:
    the share of these prices that a call in a batch costs; None: as the vendor documents it."""

    input: float
    output: float
    cached: float | None = None
    batch: float | None = None


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """temperature, top_p: replace the values of a request; None: not sent. max_tokens: the token limit of a reply is at
    least this; thinking_tokens: added to every limit, for thinking (None: depends on the model's name). body: members
    added to every request; they replace ours. headers, query: of every request, as written: `${NAME}` is not replaced
    here. price: None: the public list. requests_per_minute, tokens_per_minute: limits that the client observes.
    context_window: tokens of prompt and reply; None: the endpoint decides when a text is too long. batch: whether its
    calls go in batches; None: as the command says."""

    temperature: float | Asked | None = ASKED
    top_p: float | Asked | None = ASKED
    max_tokens: int | None = None
    thinking_tokens: int | None = None
    body: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    price: TokenPrice | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    context_window: int | None = None
    batch: bool | None = None

    def sent(self, name: Literal["temperature", "top_p"], value: float) -> float | None:
        """The temperature or top-p to send if a request asks for `asked`; None: not sent."""
        setting: float | Asked | None = getattr(self, name)
        return value if setting == ASKED else setting

    def over(self, body: dict[str, Any]) -> dict[str, Any]:
        """A request in which the members of `body` replace its own; nested tables are merged."""
        return _merged(body, self.body)

    def fixed(self) -> dict[str, Any]:
        """What can change a score, as in signatures and manifests, without defaults and without values of environment
        variables. Prices, rates and headers that only name the caller are not part of it. Nor are `thinking_tokens`,
        which only decide whether there is an answer."""
        settings: dict[str, Any] = {
            name: value
            for name in ("temperature", "top_p")
            if (value := getattr(self, name)) != ASKED
        }
        for name in ("max_tokens", "context_window"):
            if (value := getattr(self, name)) is not None:
                settings[name] = value
        headers = {
            name: value for name, value in self.headers.items() if name.lower() not in _LABELS
        }
        for name, table in (("body", self.body), ("headers", headers), ("query", self.query)):
            if table:
                settings[name] = dict(table)
        return settings

    def mark(self) -> str:
        """The suffix of the model's identity, which gives its replies keys of their own in the cache: `#` and 16 digits
        of the hash of `fixed`; "" for the defaults."""
        fixed = self.fixed()
        digits = hashlib.sha256(orjson.dumps(fixed, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]
        return f"#{digits}" if fixed else ""


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(under)
    for name, value in over.items():
        below = merged.get(name)
        tables = isinstance(value, Mapping) and isinstance(below, Mapping)
        merged[name] = _merged(below, value) if tables else value  # type: ignore[arg-type]
    return merged


DEFAULTS = ModelSettings()
