"""From a model's name on the command line to the backend that serves it (`models.SCHEMES` lists the ways to name one).

Nothing is called and nothing is loaded here; a model's file must exist, an endpoint need not.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longmark.errors import UserError
from longmark.models import FORMS, ROLES, SCHEMES, budget
from longmark.models.budget import Price
from longmark.models.cache import CallCache
from longmark.models.handles import Backends
from longmark.models.protocols import Backend

EMBEDDED_FOR = {"judge": "judge", "generator": "judge", "lm": "small", "embedder": "embedder"}
_AT_ENDPOINT = re.compile(r"(?P<model>.+?)@(?P<base_url>https?://.+)")
NO_SCHEME = "the base URL after the @ must begin with http:// or https://"

Name = str | Backend  # Python code may pass a backend of its own (a fake, for example) instead of a name


@dataclass(frozen=True)
class ModelNames:
    """The models of a run, by role."""

    judges: Sequence[Name] | str = ()
    generator: Name | None = None
    embedder: Name | None = None
    reranker: Name | None = None
    lm: Name | None = None


class Registry:
    """Opens models by name. Models of one name share a backend, names at one base URL share its connections.

    cache: where facts about endpoints are kept; timeout: seconds for one HTTP attempt, max_reply_bytes: of one
    reply; None: the default. sends: False for a dry run, which needs no API key.
    """

    def __init__(
        self,
        cache: CallCache | None = None,
        timeout: float | None = None,
        max_reply_bytes: int | None = None,
        *,
        sends: bool = True,
    ) -> None:
        self._cache = cache
        self._timeout = timeout
        self._max_reply_bytes = max_reply_bytes
        self._sends = sends
        self._endpoints: dict[tuple[str, str | None], Any] = {}
        self._opened: dict[tuple[str, str], Any] = {}

    def backends(self, given: ModelNames, called: Collection[str] = ROLES) -> Backends:
        """The models of a run: those of the roles that are called. UserError for a name of no model, or of a model that
        cannot have the role."""

        def one(role: str, name: Name | None) -> Any:
            return self.open(role, name) if name is not None and role in called else None

        several = isinstance(given.judges, Sequence) and not isinstance(given.judges, str)
        named: Any = given.judges if several else [given.judges]
        judges = tuple(one("judge", name) for name in named) if "judge" in called else ()
        names = [judge.name for judge in judges]
        for name in names:
            if names.count(name) > 1:
                raise UserError(f"--judge {name} was given twice: the judges of a jury must differ")
        return Backends(judges, **{role: one(role, getattr(given, role)) for role in ROLES[1:]})

    def open(self, role: str, name: Name) -> Any:
        """The backend of a name in a role; a backend is itself."""
        if not isinstance(name, str):
            if not hasattr(name, "identity") or not hasattr(name, "capabilities"):
                raise UserError(f"a model as {role}: expected its name or a backend, found {name!r}")
            return name
        chats = role in ("judge", "generator", "lm")
        key = ("chat" if chats and not (role == "lm" and "@" in name) else role, name)
        if key not in self._opened:
            self._opened[key] = self._make(role, name)
        return self._opened[key]

    def _make(self, role: str, name: str) -> Any:
        prefix, _, rest = name.partition(":")
        if (scheme := SCHEMES.get(prefix)) is not None:
            if role not in scheme.roles:
                raise UserError(f"--{role} {name}: {scheme.form} can be {scheme.shown_roles}, not {role}")
            if not rest and not scheme.form.startswith("embedded"):
                raise UserError(f"--{role} {name}: expected {scheme.form}")
        if role == "reranker" and prefix in ("embedded", "gguf"):
            from longmark.models.rerank_embedded import LogOddsReranker

            return LogOddsReranker(self.open("judge", name))
        if scheme is not None and prefix not in ("openai", "@"):
            return _on_this_machine(prefix, role, rest)
        from longmark.models.keys import OPENAI_URL, check_base_url, key_for, openai_key

        if prefix == "openai":
            return self._http(role, rest, name, OPENAI_URL, openai_key() if self._sends else None)
        endpoint = _AT_ENDPOINT.fullmatch(name)
        if endpoint is None:
            from longmark.models import catalogue

            shown = name.split("@")[0] + "@…" if "@" in name else name  # what follows may hold a password
            near = difflib.get_close_matches(name, ("embedded", *(f"embedded:{m}" for m in catalogue.MODELS)), n=1)
            maybe = f"did you mean {near[0]}? " if near else ""
            raise UserError(f"--{role} {shown}: {maybe}{NO_SCHEME if '@' in name else FORMS}")
        base_url = check_base_url(endpoint["base_url"])
        return self._http(role, endpoint["model"], f"{endpoint['model']}@{base_url}", base_url, key_for(base_url))

    def _http(self, role: str, model: str, name: str, base_url: str, key: Any) -> Any:
        from longmark.models import http_models
        from longmark.models.http import MAX_REPLY_BYTES, TIMEOUT, Endpoint

        at = (base_url, key.variable if key else None)
        if at not in self._endpoints:
            self._endpoints[at] = Endpoint(
                base_url,
                key,
                timeout=self._timeout or TIMEOUT,
                max_reply_bytes=self._max_reply_bytes or MAX_REPLY_BYTES,
                known=self._cache.known if self._cache else None,
                remember=self._cache.remember if self._cache else None,
            )
        kinds: dict[str, Any] = {
            "embedder": http_models.HttpEmbedder,
            "reranker": http_models.HttpReranker,
            "lm": http_models.HttpLanguageModel,
        }
        return kinds.get(role, http_models.HttpChat)(self._endpoints[at], model, name)


def price_of(model: Backend) -> Price:
    """The price of a model's tokens: 0 on this machine, the public list's for an endpoint it knows, else unknown."""
    from longmark.models.http import Endpoint

    endpoint = getattr(model, "endpoint", None)
    if not isinstance(endpoint, Endpoint):
        return budget.free
    return budget.for_endpoint(str(getattr(model, "model", "")), endpoint.base_url)


def _on_this_machine(prefix: str, role: str, name: str) -> Any:
    """The backend of a name without an endpoint."""
    if prefix == "hf":
        from longmark.models.transformers_lm import TransformersLM

        return TransformersLM(name)
    if prefix == "st":
        from longmark.models.sentence import CrossEncoderReranker, SentenceTransformerEmbedder

        return CrossEncoderReranker(name) if role == "reranker" else SentenceTransformerEmbedder(name)
    from longmark.models import catalogue

    if prefix == "embedded":
        name = name or EMBEDDED_FOR[role]
        entry = catalogue.entry(name)
        if (entry.kind == "embedder") != (role == "embedder"):
            raise UserError(f"--{role} embedded:{name}: {entry.title} cannot be a {role}")
        if role == "embedder":
            from longmark.models.minilm import MiniLM

            return MiniLM()
    from longmark.models.llama import LlamaCpp

    if prefix == "embedded":
        return LlamaCpp.embedded(name)
    if not (path := Path(name).expanduser()).is_file():
        raise UserError(f"--{role} gguf:{name}: the file does not exist")
    return LlamaCpp.gguf(path)
