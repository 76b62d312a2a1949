"""Odd replies on a real connection, and an event loop whose clock runs ahead where nothing happens."""

from __future__ import annotations

import asyncio
import gzip
import random
import selectors
import zlib
from collections import Counter
from typing import Any

import orjson
from tests.fuzz.mutate import NUMBERS, SECRET, damaged, dumps, each, mutated
from tests.wire import Server, Wire, WireSettings
from tests.wire_replies import Quirks, reply_for

_GLANCE = 0.0005  # seconds until nothing happens on a loopback connection


class Loop(asyncio.SelectorEventLoop):
    """An event loop that does not wait: where nothing is to be read or written, its clock goes on to the next timer."""

    def __init__(self) -> None:
        self.ahead = 0.0
        super().__init__(_Hasty(self))

    def time(self) -> float:
        return super().time() + self.ahead


class _Hasty(selectors.DefaultSelector):
    def __init__(self, loop: Loop) -> None:
        super().__init__()
        self._of = loop

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        ready = super().select(min(timeout, _GLANCE))
        if not ready:
            self._of.ahead += timeout
        return ready


_STATUSES = [
    *map(
        int,
        each(
            "200|201|204|206|301|304|400|401|402|403|404|408|413|418|422|429|429|500|502|503|504|599"
        ),
    )
]
_WAITS = each(
    "3600|1e9|-1|nan|inf|0|0.5|soon||\u0661\u0662|1_000|+5| 7 |5, 9|0x10|1 Jan 2026|Fri, 31 Dec 9999 23:59:59 GMT|"
    "Thu, 01 Jan 1970 00:00:00 GMT|Fri, 99 Foo 2026 99:99:99 GMT|Mon, 01 Jan 0001 00:00:00 -2359|"
    + "1"
    * 400
)
_HEADERS = [
    (pair.partition(": ")[0], pair.partition(": ")[2])
    for pair in each(
        "content-type: text/html; charset=utf-7|content-type: application/json; charset=nothing|content-type: \xff|"
        "content-length: 0|content-length: 5|content-length: -1|content-length: 999999999|content-length: 1_0|"
        "content-encoding: gzip|content-encoding: deflate|content-encoding: br|content-encoding: zstd|"
        "content-encoding: gzip, gzip|content-encoding: nothing|transfer-encoding: chunked|transfer-encoding: identity|"
        "transfer-encoding: gzip, chunked|location: http://[::1|location: /elsewhere|connection: close|date: yesterday|"
        f"location: http://127.0.0.1:9/?key={SECRET}|x\x00: \x00|x-long: {'x' * 70_000}"
    )
]
_ERRORS: list[Any] = [
    {
        "error": {
            "message": f"Wrong key {SECRET}",
            "type": "invalid_request_error",
            "param": "logprobs",
            "code": "a",
        }
    },
    {
        "error": {
            "message": "This model's maximum context length is 9 tokens",
            "code": 429,
            "param": None,
        }
    },
    {
        "error": {"message": "Slow down", "code": "insufficient_quota"},
        "usage": {"prompt_tokens": 9},
    },
    {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]},
    {"error": "batch size 3 > maximum allowed batch size 2", "error_type": "Validation"},
    {"message": "unknown field: parameter 'use_activation' is not a valid field"},
    {
        "error": {
            "message": "encoding_format, response_format, max_completion_tokens, seed, prompt_logprobs"
        }
    },
]


def _bomb() -> bytes:
    """A deflate stream of 1 MB for 1 GB of zeros: one block, many times."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return block * 1024 + packer.flush()


class Scene:
    """The server of one case. path: of the requests that get odd replies: some or all of them, each the first few times
    that it comes (whatever the order in which they come); asked: all requests; sent: the odd replies."""

    def __init__(self, rng: random.Random, path: str) -> None:
        self.asked = 0
        self.sent: list[bytes] = []
        self.quirks = Quirks(
            rerank=rng.choice(("jina", "cohere", "vllm", "voyage", "tei")),
            reply=rng.choice((None, "80")),
        )
        self._path, self._draw = path, rng.random()
        self._times, self._share = rng.choice((1, 1, 2, 6)), rng.choice((0.3, 0.6, 1.0))
        self._leave = rng.random() < 0.15, rng.choice((429, 429, 503)), rng.choice(_WAITS[:5])
        self._came: Counter[bytes] = Counter()

    def answer(self, path: str, body: bytes) -> tuple[bytes, str]:
        """The bytes of a reply, and what comes after them: one of `_AFTER`."""
        self.asked += 1
        self._came[body] += 1
        rng = random.Random(f"{self._draw} {zlib.crc32(body)}")
        status, reply = reply_for(path, orjson.loads(body), body, "ok", self.quirks)
        again, said, wait = self._leave
        if (
            path != self._path
            or rng.random() > self._share
            or self._came[body] > (12 if again else self._times)
        ):
            return _message(status, {"content-length": str(len(reply))}, reply), "keep"
        if again:  # an endpoint that wants to be left alone, for a while or for good
            return _message(said, {"content-length": "2", "retry-after": wait}, b"{}"), "keep"
        rng = random.Random(f"{self._draw} {zlib.crc32(body)} {self._came[body]}")
        raw, after = _odd(rng, status, reply)
        self.sent.append(raw[:4096])
        return raw, after


def _odd(rng: random.Random, status: int, reply: bytes) -> tuple[bytes, str]:
    if rng.random() < 0.25:
        status = rng.choice(_STATUSES)
    body = reply
    if status >= 400 or rng.random() < 0.05:
        body = dumps(mutated(rng, rng.choice(_ERRORS)))
    elif rng.random() < 0.8:
        body = dumps(mutated(rng, orjson.loads(reply), _PARTS), ascii_only=rng.random() < 0.9)
    if rng.random() < 0.06:
        body = damaged(rng, body)
    headers = {"content-type": "application/json"}
    if status in (408, 429, 500, 503):
        headers[rng.choice(("retry-after", "retry-after", "retry-after-ms"))] = rng.choice(_WAITS)
    match rng.randrange(600):
        case 0:  # without an end
            return _message(200, headers, body), "flood"
        case 1:
            headers["content-encoding"], body = "deflate", _bomb()
        case 2 | 3 | 4 | 5 | 6 | 7:
            headers["content-encoding"] = "gzip"
            body = gzip.compress(body, 1)[: rng.choice((None, -9, 20))]
        case draw if draw < 30:
            headers["transfer-encoding"] = "chunked"
            sizes = (f"{len(body):x}", f"{len(body):x};a=b", "-1", "fffffffffffffff", "0", "zz", "")
            chunk = rng.choice((sizes[0], rng.choice(sizes))).encode() + b"\r\n" + body
            return _message(
                status, headers, chunk + rng.choice((b"\r\n0\r\n\r\n", b"", b"\r\n"))
            ), rng.choice(_AFTER)
    headers["content-length"] = str(len(body) + (rng.choice((-5, 5)) if rng.random() < 0.03 else 0))
    if rng.random() < 0.15:
        headers |= dict(rng.choices(_HEADERS, k=rng.choice((1, 2))))
    raw = _message(status, headers, body)
    if rng.random() < 0.06:  # ends, or goes quiet, in the middle of something
        return raw[: rng.randrange(len(raw))], rng.choice(_AFTER)
    if rng.random() < 0.02:
        early = b"HTTP/1.1 100 Continue\r\n\r\n" * 50
        raw = rng.choice((damaged(rng, raw), early + raw, b"HTTP/9 2 x\r\n\r\n", raw + raw, b""))
    return raw, rng.choice(("keep", "keep", "keep", "close"))


_AFTER = ("keep", "close", "drip")
_PARTS = [
    {
        "prompt_tokens": value,
        "completion_tokens": other,
        "prompt_tokens_details": {"cached_tokens": third},
    }
    for value in ("12", 12.5, -1_000_000, 2**64, True, None)
    for other, third in ((2, 900), (-1, "1"), (NUMBERS[-1], None))
] + [
    {
        "content": [
            {"token": "yes", "logprob": n, "top_logprobs": [{"token": "yes", "logprob": n}] * 2}
        ]
    }
    for n in (709.7, 1, None, "x")
]


def _message(status: int, headers: dict[str, str], body: bytes) -> bytes:
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} Told\r\n{head}\r\n".encode("utf-8", "replace") + body


class OddWire(Wire):
    """A connection to a scene."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(Server(WireSettings(keep=False)))
        self._scene = scene

    def request(self, head: bytes, body: bytes) -> None:
        raw, after = self._scene.answer(head.split(b" ", 2)[1].decode(), body)
        if self.transport is None or self.transport.is_closing():
            return
        self.transport.write(raw)
        if after == "close":
            self.transport.close()
        elif after == "drip":
            self._go_on(b" ", 5.0)
        elif after == "flood":
            self._go_on(b" " * (1 << 20), 0.0001)

    def _go_on(self, data: bytes, every: float) -> None:
        """The same bytes again and again, until the client goes."""
        if self.transport is not None and not self.transport.is_closing():
            if self.transport.get_write_buffer_size() <= len(data):
                self.transport.write(data)
            asyncio.get_running_loop().call_later(every, self._go_on, data, every)
