"""Which API key goes to which endpoint, and how it is kept out of everything that is written or shown.

The key of a vendor (`openai:NAME` gets OPENAI_API_KEY, for example) goes to the vendor's own endpoint only. Any other
endpoint gets LONGMARK_API_KEY_<HOST>_<PORT> where its base URL has a port, else LONGMARK_API_KEY_<HOST>, else
LONGMARK_API_KEY, else no key. <HOST> is the host in upper case with everything but letters and digits as `_`. Keys in a
base URL are refused: URLs are printed and stored. A model of longmark.yaml can name its variable, or a command.
"""

from __future__ import annotations

import base64
import ipaddress
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from urllib.parse import SplitResult, quote, quote_plus, urlsplit

from longmark.errors import UserError


@dataclass(frozen=True, slots=True)
class Vendor:
    """A vendor's own endpoint: its base URL, the variable of its key, the header that carries the key, and the domains
    whose hosts are the vendor's."""

    url: str
    variable: str
    header: str = "Authorization"
    domains: tuple[str, ...] = ()

    @property
    def prefix(self) -> str:
        return "Bearer " if self.header == "Authorization" else ""


VENDORS = {
    "openai": Vendor("https://api.openai.com/v1", "OPENAI_API_KEY", domains=("openai.com",)),
    "anthropic": Vendor(
        "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", "x-api-key", ("anthropic.com",)
    ),
    "gemini": Vendor(
        "https://generativelanguage.googleapis.com/v1beta",
        "GEMINI_API_KEY",
        "x-goog-api-key",
        ("googleapis.com",),
    ),
    "azure": Vendor(
        "",
        "AZURE_OPENAI_API_KEY",
        "api-key",
        ("openai.azure.com", "cognitiveservices.azure.com", "ai.azure.com"),
    ),
}
HIDDEN = "[key]"
_MASKED = re.compile(
    r"(?<![\w\-.])[\w\-.]*\*{3,}[\w\-.]*"
)  # endpoints echo a refused key with its middle starred out
_PATIENCE = 60  # seconds for a command that prints a key
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET = 12  # characters from which a key is a secret in a reply too; shorter ones (`test`, `none`) are words
_GAP = "[\\s\u00ad\u200b-\u200d\u2060\ufeff]"  # what a line break or an invisible character may put into a key
_BREAK = rf"(?:{_GAP}|\\[nrtfb]|\\u00[01][0-9a-f])*"  # or JSON's escape of it
_known: set[str] = set()


class Key:
    """An API key: `repr`, `str` and format give `[key]`, and `redact` removes it from now on. variable: the environment
    variable, or the command, it came from; vendor: whose header carries it. UserError for a key that no header can
    carry."""

    __slots__ = ("_secret", "variable", "vendor")

    def __init__(self, secret: str, variable: str, vendor: Vendor = VENDORS["openai"]) -> None:
        secret = secret.strip()
        if not secret or not secret.isascii() or not secret.isprintable() or " " in secret:
            raise UserError(
                f"{variable} does not contain an API key: set it to the key alone, without quotes or spaces"
            )
        self._secret = secret
        self.variable = variable
        self.vendor = vendor
        _known.add(secret)

    def __repr__(self) -> str:
        return HIDDEN

    __str__ = __repr__

    def __reduce__(self) -> str:
        raise TypeError("a key is not pickled: read it from the environment where it is needed")

    def header(self) -> str:
        """The value of its header; its `repr` (in a traceback, for example) hides the key."""
        return _Header(f"{self.vendor.prefix}{self._secret}")


class _Header(str):
    """A header's value whose `repr` does not show it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return HIDDEN


def redact(text: str) -> str:
    """The text with `[key]` for every key that was read so far, and for every key with a starred middle."""
    for secret in sorted(_known, key=len, reverse=True):
        if len(secret) >= 8:
            text = _without(secret, text)
        else:  # `test`, say: as a word only, or error texts become unreadable
            text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(secret)}(?![A-Za-z0-9])", HIDDEN, text)
    return _MASKED.sub(HIDDEN, text)


def redact_reply(data: bytes) -> bytes:
    """The JSON of a reply with `[key]` for every key that was read so far. Keys of less than 12 characters stay: they
    are placeholders, and words that a reply may well hold."""
    secrets = [secret for secret in _known if len(secret) >= _SECRET]
    if not secrets:
        return data
    before = text = data.decode()
    for secret in secrets:
        text = _without(secret, text)
    return data if text is before else text.encode()


def holds_key(text: str) -> bool:
    """Whether a reply's text holds a key that was read so far."""
    return any(len(secret) >= _SECRET and _without(secret, text) is not text for secret in _known)


def _without(secret: str, text: str) -> str:
    """The text with `[key]` for the secret, also where it is encoded or broken; the same object where it is not in it.
    JSON text may be given too."""
    encoded, broken = _forms(secret)
    for form in encoded:
        if form in text:
            text = text.replace(form, HIDDEN)
    if broken.search(text) is not None:
        text = broken.sub(HIDDEN, text)
    return text


@cache
def _forms(secret: str) -> tuple[tuple[str, ...], re.Pattern[str]]:
    """How a secret may be written: percent-encoded, in base64 or, where it is base64 itself, decoded; and a pattern for
    the secret with line breaks or invisible characters in it."""
    forms = {secret, quote(secret), quote(secret, safe=""), quote_plus(secret)}
    forms |= {re.sub("%..", lambda match: match[0].lower(), form) for form in forms}
    forms |= {*_in_base64(secret), *_decoded(secret)}
    spelt = _BREAK.join(
        rf"\\?{re.escape(char)}" if char in '"\\' else re.escape(char) for char in secret
    )
    return tuple(sorted(forms, key=len, reverse=True)), re.compile(spelt)


def _in_base64(secret: str) -> Iterator[str]:
    """The characters that stand for a secret in any text in base64 that holds it: it may begin at one of three places
    within a group."""
    for before in range(3):
        data = bytes(before) + secret.encode()
        for encoded in (base64.b64encode(data), base64.urlsafe_b64encode(data)):
            yield encoded.decode()[-(-8 * before // 6) : 8 * len(data) // 6]


def _decoded(secret: str) -> Iterator[str]:
    """What a secret in base64 stands for, such as `user:password`; nothing if that is no text of its own."""
    try:
        text = base64.b64decode(secret, validate=True).decode("ascii")
    except ValueError:
        return
    if len(text) >= _SECRET and text.isprintable():
        yield text
        if len(password := text.partition(":")[2]) >= _SECRET:
            yield password


def vendor_key(name: str, environment: Mapping[str, str] = os.environ) -> Key:
    """The key of a vendor, for `openai:NAME` and the like. Raises UserError where its variable is not set."""
    vendor = VENDORS[name]
    secret = environment.get(vendor.variable, "").strip()
    if not secret:
        raise UserError(f"{name}:NAME needs a key: set the environment variable {vendor.variable}")
    return Key(secret, vendor.variable, vendor)


def key_of(
    variable: str, vendor: Vendor, who: str, environment: Mapping[str, str] = os.environ
) -> Key:
    """The key in a variable that the user named for the model `who`. UserError where it is not set."""
    secret = environment.get(variable, "").strip()
    if not secret:
        raise UserError(f"{who} needs a key: set the environment variable {variable} (its key_env)")
    return Key(secret, variable, vendor)


@cache
def _printed(command: tuple[str, ...]) -> str:
    finished = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE, check=True
    )
    return finished.stdout.decode("utf-8", "replace").strip()


def key_from_command(command: Sequence[str], vendor: Vendor, who: str) -> Key:
    """The key that a command prints on standard output, for the model `who`. A command runs once in a process, without
    a shell. UserError, without what it printed, where it fails."""
    command_shown = f"key_command {command[0]}"
    try:
        secret = _printed(tuple(command))
    except subprocess.CalledProcessError as error:
        raise UserError(
            f"{who}: {command_shown} failed with exit code {error.returncode}"
        ) from None
    except subprocess.TimeoutExpired:
        raise UserError(f"{who}: {command_shown} did not end within {_PATIENCE} s") from None
    except OSError as error:
        raise UserError(f"{who}: {command_shown} cannot be run: {error.strerror}") from None
    if not secret:
        raise UserError(f"{who}: {command_shown} printed nothing")
    return Key(secret, command_shown, vendor)


def expand(text: str, who: str, environment: Mapping[str, str] = os.environ) -> str:
    """The text with the value of an environment variable for each `${NAME}`; these values count as secrets. UserError
    where a variable is not set, or its value cannot stand in a header. who: what has the text, for messages."""

    def value(match: re.Match[str]) -> str:
        variable = environment.get(match[1], "").strip()
        if not variable or not variable.isascii() or not variable.isprintable():
            raise UserError(
                f"{who}: the environment variable {match[1]} is not set to a text that can be sent"
            )
        _known.add(variable)
        return variable

    filled = VARIABLE.sub(value, text)
    return _Header(filled) if filled != text else text


def key_for(
    base_url: str, environment: Mapping[str, str] = os.environ, vendor: Vendor = VENDORS["openai"]
) -> Key | None:
    """The key for an endpoint that is no vendor's own, None where no variable is set for it."""
    for variable in variables_for(base_url):
        secret = environment.get(variable, "").strip()
        if secret:
            return Key(secret, variable, vendor)
    return None


def vendor_url(name: str) -> str:
    """Where `openai:NAME` and the like are served: OPENAI_BASE_URL, which OpenAI's own clients read too, else the
    vendor's own endpoint."""
    base_url = os.environ.get("OPENAI_BASE_URL", "").strip() if name == "openai" else ""
    return check_base_url(base_url) if base_url else VENDORS[name].url


def is_local(base_url: str) -> bool:
    """Whether a base URL is on this machine: `localhost`, `127.…` or `::1`."""
    host = _split(base_url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def owner_of(variable: str) -> Vendor | None:
    """The vendor whose variable it is."""
    return next((vendor for vendor in VENDORS.values() if vendor.variable == variable), None)


def is_host_of(vendor: Vendor, base_url: str) -> bool:
    """Whether a base URL is the vendor's, and encrypted."""
    parts = _split(base_url)
    host = (parts.hostname or "").rstrip(".")
    return parts.scheme == "https" and any(
        host == domain or host.endswith(f".{domain}") for domain in vendor.domains
    )


def variables_for(base_url: str) -> list[str]:
    """The environment variables that can hold the key of a base URL, the first one first."""
    parts = _split(base_url)
    names = [parts.hostname or ""]
    if parts.port is not None:
        names.insert(0, f"{parts.hostname}_{parts.port}")
    return [f"LONGMARK_API_KEY_{re.sub('[^A-Z0-9]', '_', name.upper())}" for name in names] + [
        "LONGMARK_API_KEY"
    ]


def check_base_url(base_url: str) -> str:
    """The base URL without a closing slash. UserError, which never shows the part with the key, where it is no http or
    https URL or holds a user, a password, a query or a fragment."""
    parts = _split(base_url)
    if "@" in base_url:
        raise UserError(
            f"the base URL at {_tail(base_url)} contains a user name or a password before `@`: remove it and set "
            "LONGMARK_API_KEY_<HOST> to the key"
        )
    if parts.query or parts.fragment:
        raise UserError(
            f"the base URL at {parts.scheme}://{parts.netloc} has a part after `?` or `#`: remove it, and set "
            f"{variables_for(base_url)[0]} if it held a key"
        )
    base_url = base_url.rstrip("/")
    for path in ("/chat/completions", "/completions", "/embeddings", "/rerank", "/messages"):
        if base_url.endswith(path):
            raise UserError(f"the base URL ends before {path}: {base_url.removesuffix(path)}")
    return base_url


def _split(base_url: str) -> SplitResult:
    try:
        parts = urlsplit(base_url)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            parts.hostname.encode(
                "idna"
            )  # UnicodeError, a ValueError, for `a..b` and labels that are too long
            return parts
    except ValueError:
        pass
    raise UserError(
        f"not a base URL: {_tail(base_url)}: it starts with http:// or https:// and a host, and a port is a number, "
        "as in http://localhost:8000/v1"
    )


def _tail(base_url: str) -> str:
    """A base URL as it may be shown: the part before an @ may be a password, the part after ? or # a key."""
    return re.split("[?#]", base_url)[0].rpartition("@")[2]
