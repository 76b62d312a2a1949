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
    OTHER_CLAIM_CHECKER,
    ROLES,
    Scheme,
    budget,
    forms,
    schemes,
)
from longmark.models.budget import Price
from longmark.models.cache import CallCache
from longmark.models.handles import Backends
from longmark.models.protocols import Backend
from longmark.models.settings import DEFAULTS, ModelSettings
from longmark.options import named as option_named
from longmark.options.groups import ModelNames
from longmark.places import expanded

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from longmark.models.config import Config, Entry
    from longmark.models.trust import Trust

FILE = "longmark.yaml"
_CLASSES = {  # dialect, vendor's domain, or role at an endpoint -> module and class, imported where one is opened
    "anthropic": "anthropic.AnthropicChat",
    "gemini": "gemini.GeminiChat",
    "openai.com": "openai.OpenAIChat",
    "embedder": "http_models.HttpEmbedder",
    "reranker": "http_models.HttpReranker",
    "lm": "http_models.HttpLanguageModel",
    "chat": "http_models.HttpChat",
    "claims": "http_claims.HttpClaims",
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

    def backends(self, model_names: ModelNames, called: Collection[str] = ROLES) -> Backends:
        """The models of a run: those of the roles that are called. UserError for a name of no model, or of a model that
        cannot have the role."""

        def one(role: str, name: Name | None) -> Any:
            return self.open(role, name) if name is not None and role in called else None

        several = isinstance(model_names.judges, Sequence) and not isinstance(
            model_names.judges, str
        )
        judge_names: Any = model_names.judges if several else [model_names.judges]
        judges = tuple(one("judge", name) for name in judge_names) if "judge" in called else ()
        names = [judge.name for judge in judges]
        for name in names:
            if names.count(name) > 1:
                raise UserError(
                    f"{option_named('judges', name)} was given twice: the judges of a jury must differ"
                )
        return Backends(
            judges, **{role: one(role, getattr(model_names, role)) for role in ROLES[1:]}
        )

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
        scheme = schemes().get(name.partition(":")[0])
        chats = (
            role in ("judge", "generator", "checker")
            and (scheme is None or scheme.open is None or "judge" in scheme.roles)
            and not _is_claim_checker(role, name)
        )
        in_memory_once = scheme is not None and scheme.shared
        key = ("chat" if chats or (role == "lm" and in_memory_once) else role, name)
        if key not in self._opened:
            self._opened[key] = backend = self._make(role, name)
            with suppress(AttributeError):  # of another package, with slots
                backend.opened_as = (role, name)
        return self._opened[key]

    def _make(self, role: str, name: str) -> Any:
        if _is_claim_checker(role, name):
            return plugins.required("checkers", "embedded", f"--checker {name}").opened(
                name, self.open
            )
        prefix, _, name_in_scheme = name.partition(":")
        scheme, point = _scheme_of(name, prefix)
        shown_role = role
        if role == "claims":
            _check_asked_by_tokens(name, prefix, scheme)
            shown_role = "checker"
        if scheme is not None:
            if role not in (scheme.roles if point is not None else (*scheme.roles, "claims")):
                raise UserError(
                    f"--{shown_role} {name}: {scheme.form} can be {scheme.shown_roles}, not {role}"
                )
            if not name_in_scheme and scheme.names is None:
                raise UserError(f"--{shown_role} {name}: expected {scheme.form}")
        elif prefix in plugins.PACKAGES["local"]["models"] and AT_ENDPOINT.fullmatch(name) is None:
            raise UserError(plugins.lacking("models", prefix, f"--{shown_role} {name}"))
        if role == "reranker" and scheme is not None and scheme.shared:
            return self.open("judge", name).reranker()
        if scheme is not None and scheme.open is not None:
            return _opened(point, scheme, role, name_in_scheme)
        vendors = ("openai", "anthropic", "gemini")
        from longmark.models.keys import VENDORS, check_base_url, key_for, vendor_key, vendor_url

        if prefix in vendors:
            base_url = vendor_url(prefix)
            if base_url != VENDORS[prefix].url:
                name = f"{name_in_scheme}@{base_url}"
            key = vendor_key(prefix) if self._sends else None
            return self._http(_Served(role, name_in_scheme, name, prefix), base_url, key)
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
            _check_asked_by_tokens(name, entry.dialect.replace("openai", ""), None)
        if role not in CHATS and entry.dialect in ("anthropic", "gemini"):
            raise UserError(
                f"--{shown_role} {name}: the dialect {entry.dialect} can be {', '.join(CHATS)}, not {role}"
            )
        if self._sends and self._config is not None and self._config.path is not None:
            self.trust.require(self._config.path, entry.reach(name))
        key = entry.key(name) if self._sends else None
        extras = entry.expanded(name) if self._sends else ({}, {})
        backend = self._http(
            _Served(role, entry.model, name, entry.dialect, entry.settings),
            entry.served_at,
            key,
            extras,
        )
        backend.configured = entry.fixed()
        return backend

    def _entry(self, name: str) -> Entry | None:
        """The model of this name in longmark.yaml; None where there is none, or the name is of another form."""
        if ":" in name or "@" in name:
            return None
        if self._config is None and not self._looked:
            from longmark.models.config import in_folder

            self._config = in_folder()
            self._looked = True
        return self._config.models.get(name) if self._config is not None else None

    def _unknown(self, role: str, name: str) -> str:
        """A name of no model, and what may be meant. role: of the model."""
        message = (
            name.split("@")[0] + "@…" if "@" in name else name
        )  # what follows may hold a password
        configured = tuple(self._config.models) if self._config is not None else ()
        installed = [
            full_name
            for prefix, scheme in schemes().items()
            if scheme.names is not None
            for full_name in (prefix, *(f"{prefix}:{model}" for model in scheme.names()))
        ]
        near = difflib.get_close_matches(name, (*configured, *installed), n=1)
        maybe = f"did you mean {near[0]}? " if near else ""
        file = (
            f"; {self._config.path or FILE} has {', '.join(configured)}"
            if self._config is not None
            else ""
        )
        if role == "checker":
            maybe += "a checker is judge, overlap or a model; "
        elif name == "overlap":
            maybe += "overlap is a --checker; "
        if self._looked and self._config is None:
            file = f"; there is no {FILE} in this folder (--config FILE names another file)"
        return f"{message}: {maybe}{NO_SCHEME if '@' in name else forms() + file}"

    def _http(
        self,
        served: _Served,
        base_url: str,
        key: Any,
        extras: tuple[dict[str, str], dict[str, str]] = ({}, {}),
    ) -> Any:
        from longmark.models.http import MAX_REPLY_BYTES, TIMEOUT, Endpoint
        from longmark.models.keys import VENDORS, is_host_of

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
        at_openai = served.role in CHATS and is_host_of(VENDORS["openai"], base_url)
        host = "openai.com" if at_openai else ""
        kind = _class_of(served.dialect, host, served.role, "chat")
        return kind(self._endpoints[at], served.model, served.name, served.settings)


def _is_claim_checker(role: str, name: str) -> bool:
    if role != "checker":
        return False
    if name.partition(":")[0].partition("@")[0] == OTHER_CLAIM_CHECKER:
        return True
    return name.partition("@")[0] in CLAIM_CHECKERS and AT_ENDPOINT.fullmatch(name) is None


def _scheme_of(name: str, prefix: str) -> tuple[Scheme | None, EntryPoint | None]:
    """The scheme of a name, and the entry point of one that another package than longmark's own adds."""
    scheme = schemes().get(prefix)
    if scheme is None and ":" in name and AT_ENDPOINT.fullmatch(name) is None:
        point = plugins.installed("models").get(prefix)
        return (plugins.loaded(point, Scheme), point) if point is not None else (None, None)
    return scheme, None


def _check_asked_by_tokens(name: str, prefix: str, scheme: Scheme | None) -> None:
    """UserError for a model that is not asked as the built-in claim checker is."""
    on_this_machine = scheme is not None and scheme.open is not None
    if prefix in ("openai", "anthropic", "gemini") or (
        on_this_machine and scheme is not None and not scheme.by_tokens
    ):
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
    settings = getattr(model, "settings", DEFAULTS)
    batch = getattr(model, "batch_share", None)
    if settings.price is not None:
        return budget.given(settings.price, batch)
    name = str(getattr(model, "model", ""))
    if batch is None:
        return budget.for_endpoint(name, endpoint.base_url)
    return budget.for_endpoint(name, endpoint.base_url, batch)


def _opened(point: EntryPoint | None, scheme: Scheme, role: str, name: str) -> Any:
    """The backend of a name of a package's scheme. point: of a package that is not longmark's own."""
    backend = scheme.open(role, name) if scheme.open is not None else None
    if point is None:
        return backend
    if not hasattr(backend, "identity") or not hasattr(backend, "capabilities"):
        raise UserError(f"{plugins.named(point)} gives no backend for the {role} {name}")
    return backend
