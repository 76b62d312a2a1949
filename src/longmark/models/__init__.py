"""Models behind the client: protocols, backends, cache, limits, budget.

Here is every way to name a model: the table that the registry, --help, errors, `longmark models` and the docs use.
Models on this machine are named by schemes that a package adds (`longmark.plugins`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from longmark import plugins

AT_ENDPOINT = re.compile(r"(?P<model>.+?)@(?P<base_url>https?://.+)")  # `NAME@BASE_URL`
CHATS = ("judge", "generator", "checker")  # what a chat model can be
ROLES = ("judge", "generator", "embedder", "reranker", "lm", "checker")
CLAIM_CHECKERS = ("embedded", "embedded-nli")  # names of the built-in claim checker, as a checker
OTHER_CLAIM_CHECKER = (
    "claim-checker"  # before the name of a model that is asked as the built-in one is
)


@dataclass(frozen=True, slots=True)
class Scheme:
    """A way to name a model. form: how it is written; roles: what such a model can be; extra: the extra of longmark
    that it needs, "" for none; help: one line for --help, `longmark models` and the docs; open: (role, what follows
    the prefix) -> a backend (`models.protocols`), of a scheme that a package adds (`longmark.plugins`).

    shared: a model of this scheme is in memory once, whatever its roles: it is opened as a judge, and its `reranker()`
    is a reranker. by_tokens: `open("claims", NAME)` gives a model that is asked with token ids, as the built-in claim
    checker asks. names: what may follow the prefix, for suggestions; a scheme with such names may stand alone."""

    form: str
    roles: tuple[str, ...]
    extra: str
    help: str
    open: Callable[[str, str], Any] | None = None
    shared: bool = False
    by_tokens: bool = False
    names: Callable[[], Iterable[str]] | None = None

    @property
    def shown_roles(self) -> str:
        return "any role" if set(self.roles) == set(ROLES) else ", ".join(self.roles)


SCHEMES = {  # at an endpoint
    "openai": Scheme("openai:NAME", ROLES, "", "OpenAI's API, with the key in OPENAI_API_KEY"),
    "anthropic": Scheme(
        "anthropic:NAME", CHATS, "", "Anthropic's API, with the key in ANTHROPIC_API_KEY"
    ),
    "gemini": Scheme(
        "gemini:NAME", CHATS, "", "Google's Gemini API, with the key in GEMINI_API_KEY"
    ),
    "@": Scheme(
        "NAME@BASE_URL", ROLES, "", "any OpenAI-compatible endpoint: llama3@https://host/v1"
    ),
    "": Scheme("NAME", ROLES, "", "a model of longmark.yaml (--config FILE names another file)"),
}


@cache
def schemes() -> dict[str, Scheme]:
    """Prefix -> scheme: those of longmark's own packages, which name models on this machine, and the core's."""
    added = plugins.own("models").items()
    return {prefix: plugins.loaded(point, Scheme) for prefix, point in added} | SCHEMES


def forms() -> str:
    """How a model is named, as a sentence without its end."""
    return "a model is named " + ", ".join(
        scheme.form + ("" if set(scheme.roles) == set(ROLES) else f" ({scheme.shown_roles})")
        for scheme in schemes().values()
    )
