"""The models of `longmark.yaml`: a user's own names for them, for `--judge NAME` and every other role.

    models:
      o4:
        model: o4-mini
        endpoint: https://api.openai.com/v1
        key_env: OPENAI_API_KEY
        temperature: none
        body: {reasoning_effort: low}

The file in the working folder is read if a model name has no other form; `--config FILE` names another file. It does
not contain keys: `key_env` names a variable, `key_command` is a command that prints the key, and headers and query
parameters can contain `${VARIABLE}`. What an entry reaches out to must be trusted (`models.trust`). The other sections
of the file are those of `cli.project`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    PlainValidator,
    Strict,
    ValidationError,
    WithJsonSchema,
)

from longmark import plugins
from longmark.errors import UserError
from longmark.models import keys, schemes
from longmark.models.keys import VARIABLE, VENDORS, Key, Vendor, check_base_url, is_host_of
from longmark.models.settings import ASKED, ModelSettings, TokenPrice
from longmark.models.trust import Reach, addresses_in, digests
from longmark.records import yaml_file
from longmark.records.values import found, problems

FILE = "longmark.yaml"
SECTIONS = (
    "runs",
    "run",
    "look",
    "report",
    "check",
    "compare",
    "metaeval",
    "power",
)  # what else it holds
_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9._-]*")
_HEADER = re.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+")  # RFC 9110, section 5.6.2
_TRANSPORT = re.compile(  # headers that say how a request is sent, to whom, and in what form: they are not a file's to say
    "host|connection|keep-alive|upgrade|te|trailer|transfer-encoding|expect|via|forwarded|x-forwarded-.*|proxy-.*|"
    "content-(length|type|encoding|transfer-encoding)|accept|accept-encoding|:.*",
    re.IGNORECASE,
)
_VARIABLE = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_SECRET = re.compile("auth|key|token|secret|cookie|password|signature|credential", re.IGNORECASE)
_OURS = (
    "model",
    "messages",
    "contents",
    "system",
    "systemInstruction",
    "stream",
    "n",
)  # members of a request that `body` may not replace


def _sampling(low: str, greatest: float) -> Any:
    """The type of temperature or top-p: a number, or `none` (None). low: the keyword of its JSON schema's least value,
    which is 0."""

    def read(value: Any) -> float | None:
        if value == "none":
            return None
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 <= value <= greatest or (value == 0 and low == "exclusiveMinimum"):
            raise ValueError(
                f"expected a number from 0 to {greatest:g}, or none, found {found(value)}"
            )
        return float(value)

    schema = {"anyOf": [{"type": "number", low: 0, "maximum": greatest}, {"const": "none"}]}
    return Annotated[float | None, PlainValidator(read), WithJsonSchema(schema)]


def _text(value: Any) -> Any:
    """A number, date or truth value of a query as it is written in a URL."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float | date) else value


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    return text.strip()


Text = Annotated[str, Strict(), AfterValidator(_filled)]
Value = Annotated[
    Text, BeforeValidator(_text), WithJsonSchema({"type": ["string", "number", "boolean"]})
]
Count = Annotated[int, Field(strict=True, ge=1, le=10**9)]
Dollars = Annotated[float, Field(strict=True, ge=0, le=10**6, allow_inf_nan=False)]


class Price(yaml_file.Closed):
    """US dollars for a million tokens."""

    input: Dollars = Field(description="a million prompt tokens")
    output: Dollars = Field(description="a million completion tokens, including those for thinking")
    cached: Dollars | None = Field(
        None, description="a million prompt tokens that the endpoint reused (default: input)"
    )
    batch: Annotated[float, Field(strict=True, ge=0, le=1)] | None = Field(
        None,
        description="share of these prices that a call in a batch costs (default: as the vendor documents it)",
    )


class Entry(yaml_file.Closed):
    """A model of the file."""

    model: Text = Field(description="the model's name at the endpoint; for azure, the deployment")
    endpoint: Text | None = Field(
        None, description="the base URL (default: the endpoint of the dialect's vendor)"
    )
    dialect: Literal["openai", "azure", "anthropic", "gemini"] = Field(
        "openai", description="the API that the endpoint implements"
    )
    key_env: Text | None = Field(
        None, description="the environment variable that holds the API key"
    )
    key_command: Annotated[tuple[Annotated[str, Strict()], ...], Field(min_length=1)] | None = (
        Field(
            None,
            description="a command and its arguments that prints the API key; it runs once, without a shell",
        )
    )
    headers: dict[str, Value] = Field(
        {}, description="HTTP headers of every request; ${VARIABLE} is replaced"
    )
    query: dict[str, Value] = Field(
        {}, description="query parameters of every request; ${VARIABLE} is replaced"
    )
    body: dict[str, Any] = Field({}, description="members added to the JSON of every request")
    temperature: _sampling("minimum", 2) = Field(  # type: ignore[valid-type]
        ASKED,
        description="sent with every request; none: never sent (default: what the metric requests)",
    )
    top_p: _sampling("exclusiveMinimum", 1) = Field(  # type: ignore[valid-type]
        ASKED,
        description="sent with every request; none: never sent (default: what the metric requests)",
    )
    max_tokens: Count | None = Field(
        None, description="the token limit of a reply is at least this"
    )
    thinking_tokens: Annotated[int, Field(strict=True, ge=0, le=10**9)] | None = Field(
        None,
        description="tokens added to the limit of every reply, for thinking (default: by the model's name)",
    )
    price: Price | None = Field(
        None, description="US dollars for a million tokens (default: the list of genai-prices)"
    )
    requests_per_minute: Count | None = Field(
        None, description="maximum number of requests in a minute"
    )
    tokens_per_minute: Count | None = Field(
        None, description="maximum number of tokens sent and received in a minute"
    )
    context_window: Count | None = Field(
        None, description="maximum number of tokens of prompt and reply together"
    )
    batch: Annotated[bool, Strict()] | None = Field(
        None, description="whether calls go in batches (default: as --batch says)"
    )

    @property
    def base_url(self) -> str:
        return check_base_url(self.endpoint or VENDORS[self.dialect].url)

    @property
    def by_deployment(self) -> bool:
        """Whether the model is named in the path, as Azure's older API does it, not in the body."""
        return self.dialect == "azure" and not self.base_url.endswith("/openai/v1")

    @property
    def served_at(self) -> str:
        """The base URL of the requests."""
        path = f"/openai/deployments/{quote(self.model, safe='')}" if self.by_deployment else ""
        return self.base_url + path

    @property
    def vendor(self) -> Vendor:
        """The header that carries the key."""
        return VENDORS[self.dialect]

    @property
    def _variable(self) -> str | None:
        """The variable of the key: the one that the file names, or the vendor's at the vendor's own endpoint (azure:
        at any of Azure's, where it is set)."""
        at_vendor = self.base_url == self.vendor.url or (
            self.dialect == "azure"
            and _is_set(self.vendor.variable)
            and is_host_of(self.vendor, self.base_url)
        )
        return self.key_env or (self.vendor.variable if at_vendor else None)

    @property
    def settings(self) -> ModelSettings:
        price = None if self.price is None else TokenPrice(**self.price.model_dump())
        same = ("temperature", "top_p", "max_tokens", "thinking_tokens", "body", "headers", "query")
        rates = ("requests_per_minute", "tokens_per_minute", "context_window", "batch")
        return ModelSettings(price=price, **{name: getattr(self, name) for name in (*same, *rates)})

    def fixed(self) -> dict[str, Any]:
        """What can change a score, as in signatures and manifests; `Entry` can be made from it again."""
        settings = {"model": self.model, "endpoint": self.base_url}
        dialect = {} if self.dialect == "openai" else {"dialect": self.dialect}
        sampling = self.settings.fixed()
        none = {
            name: "none"
            for name in ("temperature", "top_p")
            if name in sampling and sampling[name] is None
        }
        return settings | dialect | sampling | none

    def reach(self, name: str) -> Reach:
        """What the entry reaches out to."""
        at = check_base_url(self.served_at)
        azures = self.dialect == "azure" and is_host_of(self.vendor, at)
        vendor_variable = self.vendor.variable if at == self.vendor.url or azures else ""
        command = self.key_command or ()
        local_files = (
            path
            for path in map(Path, command)
            if not path.is_absolute() or path.is_relative_to(Path.cwd())
        )
        return Reach(
            name,
            at,
            self.dialect,
            self.key_env or ("" if command else vendor_variable),
            dict(self.headers),
            dict(self.query),
            tuple(addresses_in(self.body)),
            command,
            files=digests(local_files),
        )

    def key(self, name: str) -> Key | None:
        """The API key: of the command, of the variable, of the vendor's variable at the vendor's own endpoint, else as
        for any endpoint. UserError if the file names a key that does not exist."""
        if self.key_command is not None:
            return keys.key_from_command(self.key_command, self.vendor, name)
        if self._variable is not None:
            return keys.key_of(self._variable, self.vendor, name)
        return keys.key_for(self.base_url, vendor=self.vendor)

    def key_source(self) -> str:
        """Where the key comes from, as text; never the key."""
        if self.key_command is not None:
            return f"printed by {self.key_command[0]}"
        if self._variable is not None:
            return f"{self._variable} ({'set' if _is_set(self._variable) else 'not set'})"
        key = keys.key_for(self.base_url, vendor=self.vendor)
        return f"{key.variable} (set)" if key is not None else "none"

    def expanded(self, name: str) -> tuple[dict[str, str], dict[str, str]]:
        """The headers and the query with the values of the variables. UserError for a variable that is not set."""
        headers = {
            key.lower(): keys.expand(value, f"{name}: headers.{key}")
            for key, value in self.headers.items()
        }
        return headers, {
            key: keys.expand(value, f"{name}: query.{key}") for key, value in self.query.items()
        }


class _File(yaml_file.Closed):
    """A longmark.yaml."""

    models: dict[str, Entry] = Field({}, min_length=1, description="name -> model")


@dataclass(frozen=True)
class Config:
    """The models of a file, by name. path: None if they come from a manifest."""

    models: Mapping[str, Entry]
    path: Path | None = None


def _is_set(variable: str) -> bool:
    return bool(os.environ.get(variable, "").strip())


def schema(kind: type[BaseModel] = _File) -> dict[str, Any]:
    """The JSON schema of the file, as a type that has `Entry` for its models."""
    described = kind.model_json_schema()
    described["title"] = FILE
    for properties in (part["properties"] for part in described["$defs"].values()):
        for kind_of in properties.values():  # an option is left out, not null
            if {"type": "null"} in kind_of.get("anyOf", ()):
                kind_of |= next(kind for kind in kind_of.pop("anyOf") if kind != {"type": "null"})
            if kind_of.get("default") in (None, ASKED):
                kind_of.pop("default", None)
    return described


def sections() -> tuple[str, ...]:
    """What longmark.yaml holds beside models: the runs, and the verbs whose options it may have, those of packages
    last."""
    return (*SECTIONS, *plugins.installed("sections"))


def _is_section(key: str) -> bool:
    return key in SECTIONS or (key != "models" and plugins.find("sections", key) is not None)


def load(path: Path) -> Config:
    """The models of a file. UserError if it cannot be read; BadInput, with a line `file:line: where: what` for each
    mistake in it."""
    source = yaml_file.load(path, "--config")
    content = source.table("a table with `models` or `runs`")
    if not content:
        source.check([((), "expected `models` or `runs`")])
    try:
        read = _File.model_validate(
            {key: value for key, value in content.items() if not _is_section(key)}
        )
    except ValidationError as error:
        source.check(_problems(error))
        raise  # never: an error has problems
    source.check(
        (("models", name, *key_path), problem)
        for name, entry in read.models.items()
        for key_path, problem in _wrong(name, entry)
    )
    return Config(read.models, path)


def of_manifest(entries: Any) -> Config:
    """The models of `Entry.fixed` by name, as in a manifest. ValueError for anything else."""
    return Config(_File.model_validate({"models": entries}).models if entries else {})


def in_folder() -> Config | None:
    """The models of the file in the working folder; None if there is no file."""
    return load(Path(FILE)) if Path(FILE).is_file() else None


def _problems(error: ValidationError) -> Iterator[tuple[tuple[Any, ...], str]]:
    """What pydantic found wrong, with the nearest keys of the part where it is."""
    for key_path, problem in problems(
        error, lambda at: [*yaml_file.keys_at(_File, at), *(() if at else sections())]
    ):
        secret = key_path[2:3] in (("headers",), ("query",), ("key_env",), ("key_command",))
        yield key_path, problem.partition(", found")[0] if secret else problem


def _wrong(name: str, entry: Entry) -> Iterator[tuple[tuple[str, ...], str]]:
    """Where an entry does not fit its name, or its parts do not fit each other. No message shows a value that may be a
    key."""
    if not _NAME.fullmatch(name) or name in schemes():
        yield (
            (),
            "a name consists of letters, digits, `.`, `_` and `-`, and must not be another form of model name",
        )
    if entry.key_env is not None and not _VARIABLE.fullmatch(entry.key_env):
        yield (
            ("key_env",),
            "expected the name of an environment variable; do not write the key into the file",
        )
    if entry.key_env is not None and entry.key_command is not None:
        yield ("key_command",), "expected key_env or key_command, not both"
    try:
        if not entry.endpoint and not entry.vendor.url:
            yield (), f"endpoint: is missing; the dialect {entry.dialect} requires it"
        elif entry.base_url and entry.by_deployment and "api-version" not in entry.query:
            yield (
                (),
                "query: is missing api-version, which the dialect azure requires (or end the endpoint in /openai/v1)",
            )
    except UserError as error:
        yield ("endpoint",), str(error)
    for key, value in entry.headers.items():
        if not _HEADER.fullmatch(key) or not value.isascii() or not value.isprintable():
            yield (
                ("headers", key),
                "a header must have printable ASCII characters only, and no spaces or colons in its name",
            )
        elif _TRANSPORT.fullmatch(key):
            yield ("headers", key), "is set by longmark and cannot be replaced"
    for part, table in (("headers", entry.headers), ("query", entry.query)):
        for key, value in table.items():
            if _SECRET.search(key) and not VARIABLE.search(value):
                yield (
                    (part, key),
                    "may be a secret: replace it by ${VARIABLE}, an environment variable",
                )
    for key in entry.body:
        if key in _OURS:
            yield ("body", key), "is set by longmark and cannot be replaced"
