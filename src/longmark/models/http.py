"""An OpenAI-compatible endpoint: the connection pool, and what its failures mean.

The backends are in `http_models`; several may share one Endpoint. One call of `post` is one attempt: nothing is retried
here (that is the client's) and no redirect is followed, which could carry a key to another host. Errors: RateLimited
for 429, ServerFault for 408, 5xx, a failed connection, a timeout and a body that is no JSON, Refusal (a RequestRefused)
for the other 3xx and 4xx, for a 429 that says the quota is used up and for a body above the size limit; among them
Overlong (a TooLong) for a 400, 413 or 422 that says in a known way that a text is longer than the model reads. Messages
hold at most 300 characters of the endpoint's own words, with keys taken out. An error says whether the attempt may have
been billed: after a timeout, a connection that broke once the request was sent, and every reply with status 200.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import zlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode, urlsplit

import orjson

from longmark import __version__
from longmark.errors import ModelError, RateLimited, RequestRefused, ServerFault, TooLong
from longmark.models.failures import (
    READ,
    choice_error,
    retry_after,
    retry_delay,
    shortened,
    words_of,
)
from longmark.models.keys import Key, check_base_url, is_local, redact
from longmark.models.protocols import Tokens

if TYPE_CHECKING:
    import aiohttp

TIMEOUT = 120.0  # seconds for one attempt, from the first byte sent to the last byte read
_CONNECT = 15.0  # seconds of it for the connection
_LONGEST = 300  # characters of the endpoint's own words in a message
_MOST_PARTS = 1_000_000  # lists and objects of a reply; 2,048 embeddings or 30,000 tokens with 20 candidates have fewer
MAX_REPLY_BYTES = 32 << 20  # of one reply, unpacked
_LARGE_TIMEOUT = 900.0
_LARGE_BYTES = 1 << 30  # of a file of many requests or replies
_TOO_LONG = (  # how servers say that a text is longer than the model reads
    # most of them
    "context length",
    "context_length",
    "context size",
    "context window",
    "context limit",
    # OpenAI, Groq
    "string_above_max_length",
    "reduce the length",
    # Anthropic, Bedrock, xAI
    "prompt is too long",
    "input is too long",
    "maximum prompt length",
    # Gemini, Qwen
    "exceeds the maximum number of tokens",
    "allowed input length",
    # TEI and TGI
    "`inputs` must have less than",
    "`max_new_tokens` must be <=",
)
# where vendors count the prompt tokens that their cache served, beside OpenAI's place
_SERVED = ("prompt_cache_hit_tokens", "cached_tokens")
_NO_MONEY = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")

Known = Callable[[str, str], bool]
Remember = Callable[[str, str], None]


class Refusal(RequestRefused):
    """A request that the endpoint will not serve. code: its error code, if any; message_text: all of its words, lower
    case."""

    def __init__(
        self, message: str, http_status: int | None, code: str = "", message_text: str = ""
    ) -> None:
        super().__init__(message, http_status)
        self.code = code
        self.message_text = message_text

    def names(self, *words: str) -> bool:
        """Whether it is a complaint about a part of the request (400, 422) that has one of these words."""
        return self.http_status in (400, 422) and any(word in self.message_text for word in words)


class Overlong(Refusal, TooLong):
    """A refusal of a text that is longer than the model reads."""


class _Oversized(Exception):
    """The body of a reply is larger than allowed."""


class Endpoint:
    """A base URL (`https://host/v1`), its key, and a pool of connections that opens with the first call.

    timeout: seconds for one attempt, headers and body included. max_reply_bytes: of one reply, unpacked. known(model,
    fact), remember(model, fact): where facts learnt about a model at this endpoint (`text-only`: it refuses JSON
    schemas) outlive the process; without them they are kept in memory.
    """

    def __init__(
        self,
        base_url: str,
        key: Key | None = None,
        *,
        timeout: float = TIMEOUT,
        max_reply_bytes: int = MAX_REPLY_BYTES,
        known: Known | None = None,
        remember: Remember | None = None,
    ) -> None:
        self.base_url = check_base_url(base_url)
        self.host = urlsplit(self.base_url).netloc
        self.timeout = timeout
        self.max_reply_bytes = max_reply_bytes
        self._key = key
        self._headers: Mapping[str, str] = {}
        self._query = ""
        self._known = known
        self._remember = remember
        self._facts: dict[tuple[str, str], bool] = {}
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def url(self, path: str, *, root: bool = False) -> str:
        """The address of a call: under the base URL, or, with `root`, under it without a closing `/v1`."""
        return (self.base_url.removesuffix("/v1") if root else self.base_url) + path + self._query

    def sending(self, headers: Mapping[str, str], query: Mapping[str, str]) -> Self:
        """This endpoint, with headers (over the usual ones) and a query for every request."""
        self._headers = headers
        self._query = f"?{urlencode(query)}" if query else ""
        return self

    def knows(self, model: str, fact: str) -> bool:
        """Whether the fact was learnt, by this process or an earlier one."""
        if (model, fact) not in self._facts:
            self._facts[model, fact] = self._known is not None and self._known(model, fact)
        return self._facts[model, fact]

    def learn(self, model: str, fact: str, *, keep: bool = True) -> None:
        """Stores a fact for all later calls; without `keep`, for those of this process."""
        self._facts[model, fact] = True
        if keep and self._remember is not None:
            self._remember(model, fact)

    async def post(self, url: str, body: dict[str, Any] | None) -> Any:
        """The JSON of the reply to one POST; without a body, to one GET."""
        data = None if body is None else as_json(body)
        return self.outcome(200, await self.request("GET" if data is None else "POST", url, data))

    def outcome(self, status: int, raw: bytes) -> Any:
        """The JSON of a reply with this status and body; raises the error that it is."""
        reply = self._read(raw) if status == 200 else self._failure(status, {}, raw)
        if isinstance(reply, ModelError):
            raise reply
        return reply

    async def request(
        self,
        method: str,
        url: str,
        data: bytes | None = None,
        kind: str = "",
        *,
        large: bool = False,
    ) -> bytes:
        """The body of the reply with status 200 to one request. kind: the Content-Type of data, JSON where it is empty.
        large: a file of many requests or replies, with time and room for one."""
        session = self._session
        if session is None or session.closed or self._loop is not asyncio.get_running_loop():
            session = self._open()
        headers = {"Content-Type": kind} if kind else {}
        reply = await self._attempt(session, method, url, data, headers, large=large)
        if isinstance(reply, ModelError):
            raise reply
        return reply

    async def _attempt(
        self,
        session: aiohttp.ClientSession,
        method: str,
        url: str,
        data: bytes | None,
        headers: Mapping[str, str],
        *,
        large: bool,
    ) -> bytes | ModelError:
        """The reply's body or the error to raise. It is returned, not raised, so that no frame of its
        traceback and no error beneath it holds the headers or what the endpoint sent, either of which may
        show the key."""
        import aiohttp  # with the first request: a run out of the cache needs none

        refused = False
        billed = True
        unreached = False  # unless the request never went out
        request_options: dict[str, Any] = (
            {"timeout": aiohttp.ClientTimeout(_LARGE_TIMEOUT, sock_connect=_CONNECT)}
            if large
            else {}
        )
        try:
            async with session.request(
                method, url, data=data, headers=headers, allow_redirects=False, **request_options
            ) as response:
                raw = await self._body(response, _LARGE_BYTES if large else self.max_reply_bytes)
        except aiohttp.ConnectionTimeoutError:
            billed = False
            unreached = True
            problem = f"no connection to {self.host} within {min(_CONNECT, self.timeout):g} s"
        except TimeoutError:
            problem = f"no reply from {self.host} within {self.timeout:g} s"
        except _Oversized:
            refused = True
            problem = (
                f"{self.host} sent a reply of more than {self.max_reply_bytes:,} bytes; --max-reply-bytes "
                "sets the limit"
            )
        except aiohttp.ClientConnectorCertificateError as error:
            refused = True
            billed = False
            problem = f"the certificate of {self.host} is not trusted (set SSL_CERT_FILE to trust another one): {error}"
        except aiohttp.ClientConnectorError as error:
            billed = False
            unreached = True
            problem = f"the connection to {self.host} failed: {_why(error)}"
        except (aiohttp.ClientError, OSError, zlib.error, ValueError) as error:
            problem = f"the connection to {self.host} failed: {type(error).__name__}: {error}"
        else:
            return (
                raw
                if response.status == 200
                else self._failure(response.status, response.headers, raw)
            )
        message = _trim(problem)
        failure = Refusal(message, None) if refused else ServerFault(message)
        failure.unreached = unreached
        return failure.with_bill() if billed else failure

    @staticmethod
    async def _body(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
        """The body, unpacked. `_Oversized` as soon as it is larger than allowed, packed or unpacked; zlib.error
        where it is not packed as its header says."""
        encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
        if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise zlib.error(f"the reply has the encoding {encoding[:20]}, which was not requested")
        unpack = (
            None if encoding in ("", "identity") else zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
        )
        body = bytearray()
        received = 0
        async for chunk in response.content.iter_any():
            received += len(chunk)
            room = max_bytes + 1 - len(body)
            body += chunk if unpack is None else unpack.decompress(chunk, room)
            if max(len(body), received) > max_bytes:
                response.close()
                raise _Oversized
        return bytes(body)

    async def close(self) -> None:
        """Closes the connections; a later call opens new ones."""
        session = self._session
        self._session = None
        if session is not None and self._loop is asyncio.get_running_loop():
            await session.close()

    def _open(self) -> aiohttp.ClientSession:
        import aiohttp

        headers = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
            "User-Agent": f"longmark/{__version__}",
        }
        if self._key is not None:
            headers[self._key.vendor.header] = self._key.header()
        own_names = {name.lower() for name in self._headers}
        headers = {
            name: value for name, value in headers.items() if name.lower() not in own_names
        } | dict(self._headers)
        self._loop = asyncio.get_running_loop()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=headers,
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(
                total=self.timeout, sock_connect=min(_CONNECT, self.timeout)
            ),
            proxy=_proxy(self.base_url),
        )
        return self._session

    def _read(self, raw: bytes) -> Any:
        reply = _parsed(raw)
        if not isinstance(reply, (dict, list)):
            excerpt = _trim(raw[:READ].decode("utf-8", "replace"))
            return ServerFault(
                f"{self.host} sent a reply that is not JSON: {excerpt}", 200
            ).with_bill()
        if error := choice_error(reply):  # routers report a failure behind them with status 200
            code = error.get("code") if isinstance(error, dict) else None
            return self._failure(
                code if isinstance(code, int) and 400 <= code < 600 else 502, {}, raw
            )
        return reply

    def unreadable(self, problem: str, reply: Any, error: Exception) -> ServerFault:
        """The error of a reply with status 200 that does not hold what it should. reply: its JSON; error: why."""
        usage = reply.get("usage") if isinstance(reply, dict) else None
        why = _trim(f"{type(error).__name__}: {error}")
        return ServerFault(f"{self.host} sent {problem} ({why})", 200).with_bill(tokens_of(usage))

    def _failure(self, status: int, headers: Mapping[str, str], raw: bytes) -> ModelError:
        body = _parsed(raw)
        failure = self._kind_of_failure(status, headers, *words_of(body, raw))
        if isinstance(failure, RateLimited) and failure.retry_after is None:
            failure.retry_after = retry_delay(body)
        tokens = tokens_of(body.get("usage")) if isinstance(body, dict) else None
        return failure if tokens is None else failure.with_bill(tokens)

    def _kind_of_failure(
        self, status: int, headers: Mapping[str, str], message: str, code: str, message_text: str
    ) -> ModelError:
        message = _trim(message) or "no message"
        if 300 <= status < 400:
            place = _trim(_bare(headers.get("location", "")))
            return Refusal(
                f"{self.host} redirects to {place}: use that address as the base URL", status
            )
        if status == 429:
            if code in _NO_MONEY:
                return Refusal(
                    f"{self.host} has no quota left for this key: {message}",
                    status,
                    code,
                    message_text,
                )
            return RateLimited(
                f"{self.host} requests fewer calls: {message}", status, retry_after(headers)
            )
        if status == 408 or status >= 500:
            return ServerFault(
                f"{self.host} failed ({status}): {message}", status, retry_after(headers)
            )
        if status in (401, 403) and self._key is None:
            message += " (no key is set for it: docs/endpoints.md)"
        if status == 404 and not urlsplit(self.base_url).path.strip("/"):
            message += " (is /v1 missing at the end of the base URL?)"
        overlong = status in (400, 413, 422) and any(word in message_text for word in _TOO_LONG)
        kind = Overlong if overlong else Refusal
        return kind(
            f"{self.host} refused the request ({status}): {message}", status, code, message_text
        )


def as_json(body: Any) -> bytes:
    """A request as it is sent. Refusal where it cannot be written."""
    try:
        return orjson.dumps(body)
    except TypeError as error:  # half of a surrogate pair, say
        raise Refusal(f"the request cannot be written as JSON: {error}", None) from None


def _parsed(raw: bytes) -> Any:
    """The JSON of a body; None where it is none, or has so many lists and objects that parsing takes gigabytes."""
    try:
        return None if raw.count(b"[") + raw.count(b"{") > _MOST_PARTS else orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None


def tokens_of(usage: Any, *, completion: bool = False) -> Tokens | None:
    """Tokens as the endpoint counted them; None where it did not, or where its counts are impossible. completion:
    whether there must be a count of written tokens.

    Reused prompt tokens come as OpenAI's `prompt_tokens_details.cached_tokens`, DeepSeek's `prompt_cache_hit_tokens` or
    Moonshot's `cached_tokens`; those that were taken into a cache at a price of their own as
    `prompt_tokens_details.cache_write_tokens` (OpenAI from GPT-5.6 on, OpenRouter). xAI and the OpenAI-compatible
    endpoint of Gemini leave thinking out of `completion_tokens`, but not out of `total_tokens`, and bill it: what the
    total has beyond the prompt was written."""
    if not isinstance(usage, dict):
        return None
    details = usage.get("prompt_tokens_details")
    if not isinstance(details, dict):
        details = {}
    served = (details.get("cached_tokens"), *(usage.get(name) for name in _SERVED))
    cached = next((count for count in served if count is not None), 0)
    total = usage.get("total_tokens")
    prompt = usage.get("prompt_tokens", total)
    written = usage.get("completion_tokens")
    counts = [
        prompt,
        cached,
        0 if written is None and not completion else written,
    ]
    whole = [count for count in counts if type(count) is int]  # no bool, no 12.0, no "12"
    if len(whole) < len(counts) or not prompt:
        return None
    if completion and type(total) is int:
        whole[2] = max(whole[2], total - whole[0])
    stored = details.get("cache_write_tokens")
    try:
        return Tokens(
            whole[0],
            whole[1],
            whole[2],
            min(max(0, stored), whole[0] - whole[1]) if type(stored) is int else 0,
        )
    except ValueError:
        return None


def _why(error: aiohttp.ClientConnectorError) -> str:
    """What stopped a connection before any request went over it."""
    below = error.os_error
    if isinstance(below, ssl.SSLError):
        reason = (below.reason or str(below)).replace("_", " ").lower()
        return f"TLS: {reason} (is it an http:// address?)"
    if error.errno and error.errno > 0:
        return os.strerror(error.errno)
    return below.strerror or str(below) or type(below).__name__


def _trim(text: str) -> str:
    """Words of an endpoint as a message shows them: one line, without keys, not too long."""
    text = redact(" ".join(shortened(text).split()))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _bare(location: str) -> str:
    """An address without user, password, query and fragment."""
    try:
        parts = urlsplit(location)
        return (
            f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
            if parts.netloc
            else parts.path
        )
    except ValueError:
        return "an address that cannot be read"


def _proxy(base_url: str) -> str | None:
    """The proxy that the environment sets for this host (HTTPS_PROXY and the like, NO_PROXY), looked up once. There
    is none to this machine itself."""
    from urllib.request import getproxies, proxy_bypass

    if is_local(base_url):
        return None
    parts = urlsplit(base_url)
    proxy = getproxies().get(parts.scheme)
    return proxy if proxy and not proxy_bypass(parts.netloc) else None


def reached(base_url: str, patience: float = 5.0) -> str:
    """Opens a connection to a base URL, or to the proxy that the environment sets for it, and closes it: host, port and
    version of TLS. Nothing is sent over it. OSError, which names the host, if it does not open within `patience`
    seconds."""
    proxy = _proxy(base_url)
    parts = urlsplit(proxy or base_url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    place = f"{host}:{port}" + (" (the proxy)" if proxy else "")
    try:
        with socket.create_connection((host, port), patience) as plain:
            if parts.scheme != "https":
                return place
            with ssl.create_default_context().wrap_socket(plain, server_hostname=host) as secure:
                return f"{place}, {secure.version()}"
    except (OSError, ValueError) as error:  # ValueError: a host name that cannot be looked up
        raise OSError(f"{place}: {error}") from None
