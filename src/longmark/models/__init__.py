"""Models behind the client: protocols, backends, cache, limits, budget.

Here is every way to name a model: the table that the registry, --help, errors, `longmark models` and the docs use.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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
    the prefix) -> a backend (`models.protocols`), of a scheme that another package adds (`longmark.plugins`)."""

    form: str
    roles: tuple[str, ...]
    extra: str
    help: str
    open: Callable[[str, str], Any] | None = None

    @property
    def shown_roles(self) -> str:
        return "any role" if set(self.roles) == set(ROLES) else ", ".join(self.roles)


SCHEMES = {
    "embedded": Scheme(
        "embedded[:NAME]",
        ROLES,
        "embedded",
        "on this machine: the bundled model for the role, or NAME",
    ),
    "gguf": Scheme(
        "gguf:PATH",
        ("judge", "generator", "reranker", "lm", "checker"),
        "embedded",
        "on this machine: a GGUF file",
    ),
    "st": Scheme(
        "st:NAME",
        ("embedder", "reranker", "checker"),
        "transformers",
        "on this machine: a sentence-transformers model",
    ),
    "hf": Scheme(
        "hf:NAME",
        (*CHATS, "lm"),
        "transformers",
        "on this machine: a transformers model (folder, GGUF file or hub name); +FOLDER adds a LoRA adapter",
    ),
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
FORMS = "a model is named " + ", ".join(
    scheme.form + ("" if set(scheme.roles) == set(ROLES) else f" ({scheme.shown_roles})")
    for scheme in SCHEMES.values()
)
