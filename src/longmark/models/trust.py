"""What a file may reach out to: endpoints, variables of the environment, commands, models with code of their own.

A configuration, an index and a saved validator name models, and a project names code and paths too. They may be a
stranger's, so what they name is used only where the user trusts the file for it. What is trusted is kept in
`home.trusted`, by file and by the hash of what the model reaches out to: a change of that is asked for again, any other
change is not. Needs no trust: a model that is embedded, and an endpoint on this machine that gets no secret. What
longmark writes is trusted (`remember`).

A vendor's variable goes to the vendor's own hosts. `longmark trust --variable NAME` makes an exception.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from longmark import home
from longmark.errors import Untrusted
from longmark.models import AT_ENDPOINT, schemes
from longmark.models.keys import (
    VARIABLE,
    VENDORS,
    check_base_url,
    is_host_of,
    is_local,
    key_for,
    owner_of,
    variables_for,
    vendor_url,
)
from longmark.places import expanded

_WORD = re.compile(r"[\w-]*")


@dataclass(frozen=True)
class Reach:
    """What a model, or another thing, that a file names reaches out to. endpoint: its base URL, "" on this machine;
    dialect: of its API; key_env: the variable of its key, "" for the usual ones of the endpoint; headers, query: as
    written; addresses: parts of `body` that may be one; command: prints its key; code: what is loaded from the disk or
    a hub; files: path -> hash of the files that `command` and `code` name; does: what it does otherwise, in words."""

    name: str
    endpoint: str = ""
    dialect: str = "openai"
    key_env: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    addresses: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    code: str = ""
    files: dict[str, str] = field(default_factory=dict)
    does: str = ""

    @property
    def hash(self) -> str:
        """Of all but the name."""
        fields = asdict(self) | {"name": ""}
        fields = (
            fields if self.does else {key: value for key, value in fields.items() if key != "does"}
        )
        return hashlib.sha256(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)).hexdigest()

    @property
    def variables(self) -> dict[str, str]:
        """Variable -> what carries its value, as the file names them."""
        uses = {self.key_env: "the key"} if self.key_env else {}
        for part, table in (("header", self.headers), ("query", self.query)):
            for name, value in table.items():
                uses |= {
                    match[1]: f"{part} {name}"
                    for match in VARIABLE.finditer(value)
                    if match[1] not in uses
                }
        return uses

    @property
    def needs_trust(self) -> bool:
        if self.code or self.command or self.variables or self.does:
            return True
        return bool(self.endpoint) and (
            not is_local(self.endpoint) or key_for(self.endpoint) is not None
        )

    def lines(self) -> Iterator[str]:
        """What it does, for people."""
        if self.does:
            yield self.does
        if self.code:
            yield f"loads the model {self.code}, which may contain code"
        if self.endpoint:
            host = urlsplit(self.endpoint).hostname or ""
            spelt = "" if host.isascii() else f" ({host.encode('idna').decode()})"
            yield f"sends texts to {self.endpoint}{spelt}"
        for variable, carrier in self.variables.items():
            yield f"sends the variable {variable} there ({carrier})"
        if self.endpoint and not self.key_env and not self.command:
            yield f"sends the first of these variables that is set there: {', '.join(variables_for(self.endpoint))}"
        for part, table in (("header", self.headers), ("query", self.query)):
            yield from (f"sends the {part} {name}: {value}" for name, value in table.items())
        yield from (f"sends the address {address} there" for address in self.addresses)
        if self.command:
            yield f"runs {shlex.join(self.command)}"
        yield from (f"uses the file {file} ({digest[:12]})" for file, digest in self.files.items())

    def foreign(self) -> list[str]:
        """The variables of vendors that would go to another host, or unencrypted."""
        owners = {variable: owner_of(variable) for variable in self.variables}
        return [
            name
            for name, vendor in owners.items()
            if vendor and not is_host_of(vendor, self.endpoint)
        ]


def of_name(name: str) -> Reach:
    """What a model's name, as on the command line, reaches out to. A name of longmark.yaml by itself reaches nothing:
    the file does."""
    prefix, _, model = name.partition(":")
    if prefix in VENDORS and prefix in schemes():
        return Reach(name, vendor_url(prefix), prefix, VENDORS[prefix].variable)
    if (at := AT_ENDPOINT.fullmatch(name)) is not None and prefix not in schemes():
        return Reach(name, check_base_url(at["base_url"]))
    if prefix == "embedded" or not {":", "@"} & {*name}:
        return Reach(name)
    parts = [expanded(part) for part in sorted({model, *model.split("+")}) if part]
    python = [file for part in parts if part.is_dir() for file in sorted(part.rglob("*.py"))]
    return Reach(name, code=name, files=digests(python))


def addresses_in(body: Any) -> Iterator[str]:
    """The texts in the members of a request that are not single words."""
    if isinstance(body, dict):
        body = [*body, *body.values()]
    if isinstance(body, list):
        for entry in body:
            yield from addresses_in(entry)
    elif isinstance(body, str) and not _WORD.fullmatch(body):
        yield body


def digests(files: Iterable[Path]) -> dict[str, str]:
    """Path as given -> hash, of those that are files."""
    return {str(file): home.digest(file) for file in files if file.is_file()}


def remember(file: Path, reaches: Iterable[Reach], variables: Collection[str] = ()) -> None:
    """Trusts a file for what these models reach out to. variables: of vendors, that may go to other hosts."""
    home.trust(file, {reach.hash: sorted({*variables} & {*reach.foreign()}) for reach in reaches})


def wrote(file: Path, name: str) -> None:
    """Trusts a file that longmark has just written for the model that it names."""
    reach = of_name(name)
    if reach.endpoint or reach.code:
        with suppress(OSError):
            remember(file, [reach])


@dataclass(frozen=True)
class Trust:
    """What the user says of files. given: they are trusted for this command (`--trust`). ask: puts a page to the user,
    and tells whether it is trusted; None: nobody is there to be asked."""

    given: bool = False
    ask: Callable[[str], bool] | None = None

    def require(self, file: Path, reach: Reach) -> None:
        """Untrusted where a file is not trusted for this model; UserError where it sends a vendor's variable to another
        host."""
        if not reach.needs_trust:
            return
        trusted_variables = home.trusted(file).get(reach.hash)
        foreign = [
            variable for variable in reach.foreign() if variable not in (trusted_variables or ())
        ]
        if foreign:
            vendor = owner_of(foreign[0])
            assert vendor is not None
            raise Untrusted(
                f"{file}: {reach.name} would send {foreign[0]} to {reach.endpoint}, and that variable is for "
                f"https://*.{vendor.domains[0]} only. Name another variable there, or, if it is meant: "
                f"longmark trust {shlex.quote(str(file))} --variable {foreign[0]}"
            )
        if trusted_variables is not None or self.given:
            return
        details = "".join(f"\n  {line}" for line in reach.lines())
        page = f"{file} is not trusted, and {reach.name} in it{details}"
        if self.ask is None or not self.ask(page):
            remedy = f"If that is meant: longmark trust {shlex.quote(str(file))} (or --trust, for one command)"
            raise Untrusted(f"{page}\n{remedy}")
        with suppress(OSError):  # it is trusted for this command
            remember(file, [reach])

    def model_of(self, file: Path, name: str) -> str:
        """The name of a model that a data file names, where it may be used. UserError as of `require`."""
        try:
            self.require(file, of_name(name))
        except Untrusted as error:
            raise Untrusted(
                f"{error}. Or name a model on the command line, with --embedder MODEL"
            ) from None
        return name
