"""From a model's name on the command line to the backend that serves it (`models.SCHEMES` lists the ways to name one).

Nothing is called and nothing is loaded here; a model's file must exist, an endpoint need not.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark import plugins
from longmark.errors import UserError
from longmark.models import (
    AT_ENDPOINT,
    CHATS,
    CLAIM_CHECKERS,
    FORMS,
    OTHER_CLAIM_CHECKER,
    ROLES,
    SCHEMES,
    Scheme,
    budget,
)
from longmark.models.budget import Price
from longmark.models.cache import CallCache
from longmark.models.handles import Backends
from longmark.models.protocols import Backend
from longmark.models.settings import DEFAULTS, ModelSettings
from longmark.options.groups import ModelNames
from longmark.places import expanded

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from longmark.models.config import Config, Entry
    from longmark.models.trust import Trust

EMBEDDED_FOR = {
    "judge": "judge",
    "generator": "judge",
    "lm": "small",
    "embedder": "embedder",
    "checker": "judge",
}
FILE = "longmark.yaml"
_CLASSES = {  # dialect, role at an endpoint, or scheme with a role -> module and class, imported where one is opened
    "anthropic": "anthropic.AnthropicChat",
    "gemini": "gemini.GeminiChat",
    "embedder": "http_models.HttpEmbedder",
    "reranker": "http_models.HttpReranker",
    "lm": "http_models.HttpLanguageModel",
    "chat": "http_models.HttpChat",
    "hf": "transformers_chat.TransformersChat",
    "st checker": "sentence.CrossEncoderChecker",
    "st reranker": "sentence.CrossEncoderReranker",
    "st embedder": "sentence.SentenceTransformerEmbedder",
    "embedded embedder": "minilm.MiniLM",
    "llama": "llama.LlamaCpp",
    "claims": "http_claims.HttpClaims",
    "hf claims": "transformers_claims.TransformersClaims",
}
_VERSION = {
    "anthropic": {"anthropic-version": "2023-06-01"}
}  # of the API, which Anthropic requires
NO_SCHEME = "the base URL after the @ must begin with http:// or https://"

Name = (
    str | Backend
)  # Python code may pass a backend of its own (a fake, for example) instead of a name


class Registry:
    """Opens models by name. Models of one name share a backend, names at one base URL share its connections.

    cache: where facts about endpoints are kept; timeout: seconds for one HTTP attempt, max_reply_bytes: of one
    reply; None: the default. config: the models of a file, or the file (read at once); None: longmark.yaml in the
    working folder, read where a name needs it. sends: False for a dry run, which needs no API key. trust: what the user
    says of files that are not trusted yet; None: nothing.
    """

    def __init__(
        self,
        cache: CallCache | None = None,
        timeout: float | None = None,
        max_reply_bytes: int | None = None,
        *,
        config: Config | str | Path | None = None,
        sends: bool = True,
        trust: Trust | None = None,
    ) -> None:
        self._cache = cache
        self._timeout = timeout
        self._max_reply_bytes = max_reply_bytes
        self._config: Config | None = None
        self._looked = False
        if isinstance(config, str | Path):
            from longmark.models.config import load

            self._config = load(expanded(config))
        else:
            self._config = config
        self._sends = sends
        self._trust = trust
        self._endpoints: dict[tuple[Any, ...], Any] = {}
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

    @property
    def trust(self) -> Trust:
        """What the user says of files."""
        from longmark.models.trust import Trust

        return self._trust or Trust()

    def open(self, role: str, name: Name) -> Any:
        """The backend of a name in a role; a backend is itself."""
        if not isinstance(name, str):
            if not hasattr(name, "identity") or not hasattr(name, "capabilities"):
                raise UserError(
                    f"a model as {role}: expected its name or a backend, found {name!r}"
                )
            return name
        here = name.partition(":")[0] in (
            "embedded",
            "gguf",
            "hf",
        )  # one model in memory, whatever its roles
        chats = (
            role in ("judge", "generator", "checker")
            and not name.startswith("st:")
            and not _is_claim_checker(role, name)
        )
        key = ("chat" if chats or (role == "lm" and here) else role, name)
        if key not in self._opened:
            self._opened[key] = made = self._make(role, name)
            with suppress(AttributeError):  # of another package, with slots
                made.opened_as = (role, name)
        return self._opened[key]

    def _make(self, role: str, name: str) -> Any:
        if _is_claim_checker(role, name):
            return import_module("longmark.text.claim_checker").ClaimChecker.opened(name, self.open)
        prefix, _, rest = name.partition(":")
        shown_role = role
        if role == "claims":
            _check_asked_by_tokens(name, prefix)
            shown_role = "checker"
        point = None
        if (
            (scheme := SCHEMES.get(prefix)) is None
            and ":" in name
            and AT_ENDPOINT.fullmatch(name) is None
        ):
            point = plugins.installed("models").get(prefix)
            scheme = plugins.loaded(point, Scheme) if point is not None else None
        if scheme is not None:
            if role not in (scheme.roles if point is not None else (*scheme.roles, "claims")):
                raise UserError(
                    f"--{shown_role} {name}: {scheme.form} can be {scheme.shown_roles}, not {role}"
                )
            if not rest and not scheme.form.startswith("embedded"):
                raise UserError(f"--{shown_role} {name}: expected {scheme.form}")
        if role == "reranker" and prefix in ("embedded", "gguf"):
            from longmark.models.rerank_embedded import LogOddsReranker

            return LogOddsReranker(self.open("judge", name))
        if point is not None and scheme is not None:
            return _opened(point, scheme, role, rest)
        vendors = ("openai", "anthropic", "gemini")
        if scheme is not None and prefix not in (*vendors, "@", ""):
            return _on_this_machine(prefix, role, rest)
        from longmark.models.keys import VENDORS, check_base_url, key_for, vendor_key, vendor_url

        if prefix in vendors:
            base_url = vendor_url(prefix)
            if base_url != VENDORS[prefix].url:
                name = f"{rest}@{base_url}"
            key = vendor_key(prefix) if self._sends else None
            return self._http(_Served(role, rest, name, prefix), base_url, key)
        endpoint = AT_ENDPOINT.fullmatch(name)
        if endpoint is not None:
            base_url = check_base_url(endpoint["base_url"])
            model = endpoint["model"]
            return self._http(
                _Served(role, model, f"{model}@{base_url}"), base_url, key_for(base_url)
            )
        entry = self._entry(name)
        if entry is None:
            raise UserError(f"--{shown_role} {self._unknown(shown_role, name)}")
        if role == "claims":
            _check_asked_by_tokens(name, entry.dialect.replace("openai", ""))
        if role not in CHATS and entry.dialect in ("anthropic", "gemini"):
            raise UserError(
                f"--{shown_role} {name}: the dialect {entry.dialect} can be {', '.join(CHATS)}, not {role}"
            )
        if self._sends and self._config is not None and self._config.path is not None:
            self.trust.require(self._config.path, entry.reach(name))
        key = entry.key(name) if self._sends else None
        extras = entry.expanded(name) if self._sends else ({}, {})
        made = self._http(
            _Served(role, entry.model, name, entry.dialect, entry.settings),
            entry.served_at,
            key,
            extras,
        )
        made.configured = entry.fixed()
        return made

    def _entry(self, name: str) -> Entry | None:
        """The model of this name in longmark.yaml; None where there is none, or the name is of another form."""
        if ":" in name or "@" in name:
            return None
        if self._config is None and not self._looked:
            from longmark.models.config import in_folder

            self._config, self._looked = in_folder(), True
        return self._config.models.get(name) if self._config is not None else None

    def _unknown(self, role: str, name: str) -> str:
        """A name of no model, and what may be meant. role: of the model."""
        from longmark.models import catalogue

        shown = (
            name.split("@")[0] + "@…" if "@" in name else name
        )  # what follows may hold a password
        own = tuple(self._config.models) if self._config is not None else ()
        near = difflib.get_close_matches(
            name, (*own, "embedded", *(f"embedded:{m}" for m in catalogue.MODELS)), n=1
        )
        maybe = f"did you mean {near[0]}? " if near else ""
        file = (
            f"; {self._config.path or FILE} has {', '.join(own)}"
            if self._config is not None
            else ""
        )
        if role == "checker":
            maybe += "a checker is judge, overlap or a model; "
        elif name == "overlap":
            maybe += "overlap is a --checker; "
        if self._looked and self._config is None:
            file = f"; there is no {FILE} in this folder (--config FILE names another file)"
        return f"{shown}: {maybe}{NO_SCHEME if '@' in name else FORMS + file}"

    def _http(
        self,
        served: _Served,
        base_url: str,
        key: Any,
        extras: tuple[dict[str, str], dict[str, str]] = ({}, {}),
    ) -> Any:
        from longmark.models.http import MAX_REPLY_BYTES, TIMEOUT, Endpoint

        at = (
            served.dialect,
            base_url,
            key.variable if key else None,
            key.vendor if key else None,
            *(str(part) for part in extras),
        )
        if at not in self._endpoints:
            self._endpoints[at] = Endpoint(
                base_url,
                key,
                timeout=self._timeout or TIMEOUT,
                max_reply_bytes=self._max_reply_bytes or MAX_REPLY_BYTES,
                known=self._cache.known if self._cache else None,
                remember=self._cache.remember if self._cache else None,
            ).sending({**_VERSION.get(served.dialect, {}), **extras[0]}, extras[1])
        kind = _class_of(served.dialect, served.role, "chat")
        return kind(self._endpoints[at], served.model, served.name, served.settings)


def _is_claim_checker(role: str, name: str) -> bool:
    if role != "checker":
        return False
    if name.partition(":")[0].partition("@")[0] == OTHER_CLAIM_CHECKER:
        return True
    return name.partition("@")[0] in CLAIM_CHECKERS and AT_ENDPOINT.fullmatch(name) is None


def _check_asked_by_tokens(name: str, prefix: str) -> None:
    """UserError for a model that is not asked as the built-in claim checker is."""
    if prefix in ("openai", "anthropic", "gemini", "st", "embedded"):
        raise UserError(
            f"--checker {name} --prompt checker: the prompt of the claim checker is for hf:NAME, gguf:PATH and models "
            "of the Qwen2 family that vLLM or llama-server serve (NAME@BASE_URL); embedded asks with it by itself"
        )


def _class_of(*keys: str) -> Any:
    """The first of `_CLASSES` that a key has, imported now."""
    module, _, name = next(_CLASSES[key] for key in keys if key in _CLASSES).partition(".")
    return getattr(import_module(f"longmark.models.{module}"), name)


@dataclass(frozen=True, slots=True)
class _Served:
    """A model at an endpoint. model: its name there; name: ours."""

    role: str
    model: str
    name: str
    dialect: str = "openai"
    settings: ModelSettings = DEFAULTS


def price_of(model: Backend) -> Price:
    """The price of a model's tokens: 0 on this machine, that of longmark.yaml, the public list's for an endpoint it
    knows, else unknown."""
    from longmark.models.http import Endpoint

    endpoint = getattr(model, "endpoint", None)
    if not isinstance(endpoint, Endpoint):
        return budget.free
    settings, batch = getattr(model, "settings", DEFAULTS), getattr(model, "batch_share", None)
    if settings.price is not None:
        return budget.given(settings.price, batch)
    name = str(getattr(model, "model", ""))
    if batch is None:
        return budget.for_endpoint(name, endpoint.base_url)
    return budget.for_endpoint(name, endpoint.base_url, batch)


def _opened(point: EntryPoint, scheme: Scheme, role: str, name: str) -> Any:
    """The backend of a name of another package's scheme."""
    backend = scheme.open(role, name) if scheme.open is not None else None
    if not hasattr(backend, "identity") or not hasattr(backend, "capabilities"):
        raise UserError(f"{plugins.named(point)} gives no backend for the {role} {name}")
    return backend


def _on_this_machine(prefix: str, role: str, name: str) -> Any:
    """The backend of a name without an endpoint."""
    if prefix in ("hf", "st"):
        return _class_of(f"{prefix} {role}", prefix)(name)
    from longmark.models import catalogue

    if prefix == "embedded":
        name = name or EMBEDDED_FOR[role]
        entry = catalogue.entry(name)
        if (entry.kind == "embedder") != (role == "embedder"):
            raise UserError(f"--{role} embedded:{name}: {entry.title} cannot be a {role}")
        return (
            _class_of("embedded embedder")()
            if role == "embedder"
            else _class_of("llama").embedded(name)
        )
    if not (path := expanded(name)).is_file():
        raise UserError(f"--{role} gguf:{name}: the file does not exist")
    return _class_of("llama").gguf(path)
