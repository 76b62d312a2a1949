"""A small, fast OpenAI-compatible server on loopback, for tests of the wire and for measurements.

In a test: `with serve(latency=0.01, force=["429"]) as server:` gives `server.base_url`, `server.counts` and
`server.requests` (path, headers, body). By hand: `python -m tests.wire --port 0 --latency 0.2 --rate
500=0.02` prints its base URL; `GET /counts` gives the counts. It stops with its parent's end of input only if
`--stdin` is given, else after `--seconds` (default 600).

Faults are drawn from a seeded generator by rate, or forced for the first requests in order (`ok` forces
none): `429` (Retry-After in whole seconds), `429_fraction`, `429_date`, `429_ms`, `429_quota`, `500`, `hang`,
`drop` (connection closed without a reply), `cut` (closed in the middle of the body), `truncated` (half a JSON
document), `not_json`, `prose`, `refusal`, `null` (no content), `no_choices`, `filtered`, `redirect` (to
another host), `401_echo` (the key comes back in the error).
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any

import orjson
from tests.wire_replies import REASONS, Quirks, reply_for

RETRY_AFTER = {
    "429": lambda wait: f"retry-after: {max(1, round(wait))}\r\n",
    "429_fraction": lambda wait: f"retry-after: {wait}\r\n",
    "429_date": lambda wait: f"retry-after: {formatdate(time.time() + wait, usegmt=True)}\r\n",
    "429_ms": lambda wait: f"retry-after-ms: {wait * 1000:.0f}\r\n",
}


Answer = Callable[[int, str, Any], tuple[int, bytes, str] | None]


@dataclass
class WireSettings:
    """answer: (number of the request from 0, path, JSON) -> status, body, header lines, in place of the usual reply
    where it is not None. latency: seconds before each reply; rates: fault -> share of requests; force: faults of the
    first requests; retry_after: seconds that a 429 asks for; keep: keep every request for `Server.requests`."""

    latency: float = 0.0
    rates: Mapping[str, float] = field(default_factory=dict)
    force: Sequence[str] = ()
    draw: int = 0
    retry_after: float = 0.05
    keep: bool = True
    quirks: Quirks = field(default_factory=Quirks)
    answer: Answer | None = None


class Server:
    """The state of one server. counts: see `counts`; requests: (path, headers, body) of every request, if
    kept."""

    def __init__(self, settings: WireSettings) -> None:
        self.settings = settings
        self.base_url = ""
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.connections: set[asyncio.Transport] = set()
        self._random = random.Random(settings.draw)
        self._forced = deque(settings.force)
        self._by_status: Counter[str] = Counter()
        self._faults: Counter[str] = Counter()
        self._asked: Counter[int] = Counter()  # hash of path and body -> requests
        self._paid: Counter[int] = Counter()  # the same, served with 200
        self._in_flight = 0
        self._most_in_flight = 0

    @property
    def counts(self) -> dict[str, Any]:
        """requests; by_status; faults; unique: different requests; repeated: requests beyond the first of
        their body; paid: replies with 200; paid_again: those beyond the first of their body; in_flight;
        max_in_flight."""
        requests, paid = self._asked.total(), self._paid.total()
        return {
            "requests": requests,
            "by_status": dict(self._by_status),
            "faults": dict(self._faults),
            "unique": len(self._asked),
            "repeated": requests - len(self._asked),
            "paid": paid,
            "paid_again": paid - len(self._paid),
            "in_flight": self._in_flight,
            "max_in_flight": self._most_in_flight,
        }

    def begin(self, path: str, headers: bytes, body: bytes) -> tuple[int, str]:
        """Counts a request; returns its hash and the fault it meets."""
        key = hash((path, body))
        self._asked[key] += 1
        self._in_flight += 1
        self._most_in_flight = max(self._most_in_flight, self._in_flight)
        if self.settings.keep:
            lines = headers.decode("latin-1").split("\r\n")[1:]
            pairs = (line.partition(":") for line in lines if line)
            fields = {name.strip().lower(): value.strip() for name, _, value in pairs}
            self.requests.append((path, fields, orjson.loads(body) if body else None))
        fault = self._forced.popleft() if self._forced else self._draw()
        if fault != "ok":
            self._faults[fault] += 1
        return key, fault

    def _draw(self) -> str:
        if not self.settings.rates:
            return "ok"
        point = self._random.random()
        for fault, rate in self.settings.rates.items():
            point -= rate
            if point < 0:
                return fault
        return "ok"

    def end(self, key: int, status: str) -> None:
        """Counts the end of a request, whether its client still listens or not."""
        self._in_flight -= 1
        self._by_status[status] += 1
        if status == "200":
            self._paid[key] += 1


class Wire(asyncio.Protocol):
    """One connection: HTTP/1.1 with keep-alive and Content-Length, one request at a time."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.buffer = b""
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.server.connections.add(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self.transport is not None:
            self.server.connections.discard(self.transport)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while True:
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            head = self.buffer[:end]
            at = head.lower().find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self.buffer) < end + 4 + length:
                return
            body = self.buffer[end + 4 : end + 4 + length]
            self.buffer = self.buffer[end + 4 + length :]
            self.request(head, body)

    def request(self, head: bytes, body: bytes) -> None:
        path = head.split(b" ", 2)[1].decode()
        if path == "/counts":
            self.write(200, orjson.dumps(self.server.counts))
            return
        key, fault = self.server.begin(path, head, body)
        if fault == "hang":
            asyncio.get_running_loop().call_later(3600, self.answer, path, head, body, key, "drop")
        elif self.server.settings.latency:
            loop = asyncio.get_running_loop()
            loop.call_later(self.server.settings.latency, self.answer, path, head, body, key, fault)
        else:
            self.answer(path, head, body, key, fault)

    def answer(self, path: str, head: bytes, body: bytes, key: int, fault: str) -> None:
        """Writes the reply, or the fault in its place."""
        settings = self.server.settings
        given = orjson.loads(body) if body else None
        own = (
            settings.answer(self.server.counts["requests"] - 1, path, given)
            if settings.answer
            else None
        )
        if own is not None:
            self.finish(key, *own)
        elif fault in RETRY_AFTER:
            error = {"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}
            self.finish(key, 429, orjson.dumps(error), RETRY_AFTER[fault](settings.retry_after))
        elif fault == "429_quota":
            error = {
                "error": {
                    "message": "You exceeded your current quota",
                    "code": "insufficient_quota",
                }
            }
            self.finish(key, 429, orjson.dumps(error))
        elif fault == "500":
            self.finish(key, 500, b'{"error": {"message": "The server had an error"}}')
        elif fault == "401_echo":
            at = head.lower().find(b"authorization:")
            told = (
                head[at + 14 :].split(b"\r\n", 1)[0].decode().strip().removeprefix("Bearer ")
                if at >= 0
                else ""
            )
            error = {
                "error": {
                    "message": f"Incorrect API key provided: {told}",
                    "code": "invalid_api_key",
                }
            }
            self.finish(key, 401, orjson.dumps(error))
        elif fault == "redirect":
            self.finish(key, 302, b"", "location: http://127.0.0.2:9/v1/elsewhere?token=secret\r\n")
        elif fault == "drop":
            self.server.end(key, "dropped")
            self.close()
        else:
            status, reply = reply_for(
                path.partition("?")[0],
                orjson.loads(body) if body else {},
                body,
                fault,
                settings.quirks,
            )
            if fault in ("truncated", "cut"):
                half = reply[: len(reply) // 2]
                self.finish(key, status, half, length=len(reply) if fault == "cut" else None)
            elif fault == "not_json":
                self.finish(key, 200, b"<html><body>Bad gateway</body></html>")
            else:
                self.finish(key, status, reply)

    def finish(
        self, key: int, status: int, body: bytes, headers: str = "", length: int | None = None
    ) -> None:
        self.server.end(key, "cut" if length is not None else str(status))
        self.write(status, body, headers, length)

    def write(self, status: int, body: bytes, headers: str = "", length: int | None = None) -> None:
        if self.transport is None or self.transport.is_closing():
            return
        size = len(body) if length is None else length
        head = (
            f"HTTP/1.1 {status} {REASONS.get(status, 'Error')}\r\ncontent-type: application/json\r\n"
            f"content-length: {size}\r\n{headers}\r\n"
        )
        self.transport.write(head.encode() + body)
        if length is not None:
            self.close()

    def close(self) -> None:
        if self.transport is not None:
            self.transport.close()


async def _listen(server: Server, port: int) -> asyncio.Server:
    listener = await asyncio.get_running_loop().create_server(
        lambda: Wire(server), "127.0.0.1", port, backlog=1024
    )
    server.base_url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
    return listener


@contextmanager
def serve(
    *,
    latency: float = 0.0,
    rates: Mapping[str, float] | None = None,
    force: Sequence[str] = (),
    draw: int = 0,
    retry_after: float = 0.05,
    answer: Answer | None = None,
    port: int = 0,
    **quirks: Any,
) -> Iterator[Server]:
    """A server in a thread of this process; `quirks` are the fields of `wire_replies.Quirks`."""
    settings = WireSettings(
        latency, rates or {}, force, draw, retry_after, quirks=Quirks(**quirks), answer=answer
    )
    server = Server(settings)
    loop = asyncio.new_event_loop()
    listener = loop.run_until_complete(_listen(server, port))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        listener.close()
        for connection in list(server.connections):
            connection.abort()
        loop.run_until_complete(asyncio.sleep(0))  # lets them close
        loop.close()


def _rate(text: str) -> tuple[str, float]:
    fault, _, share = text.partition("=")
    return fault, float(share)


async def _main(arguments: argparse.Namespace) -> None:
    settings = WireSettings(
        latency=arguments.latency,
        rates=dict(arguments.rate),
        force=arguments.force.split(",") if arguments.force else (),
        draw=arguments.draw,
        retry_after=arguments.retry_after,
        keep=False,
        quirks=Quirks(
            reply=arguments.reply,
            json_schema=not arguments.no_json_schema,
            logprobs=not arguments.no_logprobs,
        ),
    )
    server = Server(settings)
    listener = await _listen(server, arguments.port)
    print(server.base_url, flush=True)
    if arguments.stdin:
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    else:
        await asyncio.sleep(arguments.seconds)
    listener.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.wire", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each reply")
    parser.add_argument("--rate", type=_rate, action="append", default=[], metavar="FAULT=SHARE")
    parser.add_argument(
        "--force", default="", metavar="FAULT,…", help="faults of the first requests, in order"
    )
    parser.add_argument("--draw", type=int, default=0, help="seed of the faults that --rate draws")
    parser.add_argument(
        "--retry-after", type=float, default=0.05, help="seconds that a 429 asks for"
    )
    parser.add_argument(
        "--reply", default=None, help="what every chat reply says; else a number from a hash"
    )
    parser.add_argument("--no-json-schema", action="store_true")
    parser.add_argument("--no-logprobs", action="store_true")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--stdin", action="store_true", help="stop at the end of standard input")
    asyncio.run(_main(parser.parse_args()))


if __name__ == "__main__":
    main()
