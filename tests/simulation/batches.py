"""The vendors' batch APIs in a simulated world: the strict servers of the loopback tests, on a wire that fails by plan.

The judge of such a schedule is the shipped model at an endpoint, with the shipped code of batches and vendors above it;
only the attempt of a request is simulated. A request that has left reaches the server though its process dies, and may
reach it after the process has given it up. The lines of a batch stand in the books as single calls do, with what
became of each.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import orjson
from tests.contrib.scale.batches.strict_server import (
    DIALECTS,
    BatchServer,
    Behaviour,
    Job,
    RefusedRequest,
)
from tests.simulation.vendor import (
    PRICE,
    TEMPLATE,
    BookedRequest,
    Fault,
    SimulatedVendor,
    number_of,
)
from tests.simulation.world import EPOCH, Process

from longmark.contrib.scale.batches.vendors import vendor_of
from longmark.errors import ModelError, ServerFault
from longmark.models.anthropic import AnthropicChat
from longmark.models.cache import call_key
from longmark.models.http import Endpoint
from longmark.models.http_chat import HttpChat
from longmark.models.protocols import ChatReply, ChatRequest, Tokens

_HOSTS = {
    "openai": "https://api.openai.com/v1",
    "mistral": "https://api.mistral.ai/v1",
    "together": "https://api.together.xyz/v1",
    "anthropic": "https://api.anthropic.com/v1",
}
WIRE = {  # what befalls a request about batches or files: `at` counts these
    "wire 429": "refused for now (`size` seconds, below 0: without Retry-After), three times in a row if that is short",
    "wire 500": "fails, so many times in a row (`size`)",
    "wire 401": "refuses the key",
    "wire unreached": "no connection",
    "wire cut before": "the connection breaks before the server has the request",
    "wire cut after": "the server does it; the reply is lost",
    "wire late": "the server does it after 60 to 150 s, when the process has given it up or died",
    "wire 413": "too large",
}
JOBS = {  # what becomes of a batch: `at` is its number
    "expires": "half of its lines expire",
    "is cancelled": "by another person, half-way",
    "fails": "half of its lines get a 500",
    "refuses": "half of its lines get a 400",
    "misses": "has no result for one line",
    "is odd": "results out of order, one twice, one of another batch, one that is no JSON",
    "is lost": "the vendor knows nothing of it any more",
    "is hidden": "is in no list for a minute",
    "is full": "fails, for the queue is full",
    "is invalid": "fails as a whole",
    "is long": "takes two hours",
    **{
        f"says {kind}": "in its first line" for kind in ("prose", "unreadable", "uncounted", "over")
    },
}
_KEY: ContextVar[bytes] = ContextVar("KEY")  # of the call that is made


@dataclass(frozen=True)
class BatchPlan:
    """How a schedule's calls go in batches. latency: seconds that a batch takes; singles: calls that go by themselves
    first; most: lines of a batch."""

    dialect: str
    latency: float
    singles: int
    most: int


class _Wired:
    """A request as the strict servers read it."""

    def __init__(
        self, url: str, data: bytes | None, headers: dict[str, str], match: dict[str, str]
    ) -> None:
        self.query, self.headers, self.match_info = (
            dict(parse_qsl(urlsplit(url).query)),
            headers,
            match,
        )
        self._data = data or b""

    async def json(self) -> Any:
        return orjson.loads(self._data)

    async def read(self) -> bytes:
        return self._data


class House(BatchServer):
    """The vendor's server of batches. sent: creations that are on their way -> the attempts of their lines."""

    def __init__(self, vendor: SimulatedVendor, how: BatchPlan, faults: Sequence[Fault]) -> None:
        super().__init__(Behaviour(latency=how.latency, most=how.most))
        self.vendor, self.how = vendor, how
        self.clock = lambda: EPOCH + vendor.world.now
        self._wires = 0
        self._plan: dict[int, Fault] = {}
        self._of_job: dict[int, list[str]] = {}
        for fault in faults:
            if fault.kind in WIRE:
                again = {"wire 429": 3 if fault.size < 400 else 1, "wire 500": int(fault.size)}.get(
                    fault.kind, 1
                )
                self._plan |= {fault.at + k: fault for k in range(max(1, again))}
            elif fault.kind in JOBS:
                self._of_job.setdefault(fault.at, []).append(fault.kind)
        self._routes = [
            (
                route.method,
                re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", route.path)),
                route.handler,
            )
            for route in DIALECTS[how.dialect](self).routes()
        ]
        self._by: tuple[Process, dict[bytes, int]] | None = None  # whose creation it is
        self._line: dict[tuple[str, bytes], BookedRequest] = {}
        self._said: dict[int, tuple[Tokens, str]] = {}  # by the id of a line's body
        self._odd_reply = ""
        self.share = 1.0  # of the list price
        self.left: dict[
            bytes, int
        ] = {}  # calls that a request which submits a batch has left for -> first attempt

    def judge(self, process: Process) -> Any:
        kind = _Anthropic if self.how.dialect == "anthropic" else _OpenAI
        model = kind(_Wire(self, process), "judge", "judge")
        model.process, model.price = process, PRICE
        vendor = vendor_of(model)
        assert vendor is not None
        self.share = vendor.price
        return model

    def _kinds(self, job: Job) -> list[str]:
        return self._of_job.get(job.order, [])

    # The wire -----------------------------------------------------------------------------------------------------
    async def exchange(
        self, wire: _Wire, method: str, url: str, data: bytes | None, headers: dict[str, str]
    ) -> bytes | ModelError:
        """The body of the reply to one request, or its error."""
        path, rng, world = urlsplit(url).path, self.vendor.world.rng, self.vendor.world
        if method == "POST" and path.endswith(("/chat/completions", "/messages")):
            return await self._single(wire, orjson.loads(data or b""))
        self._wires += 1
        fault = None if self.vendor.healed else self._plan.get(self._wires)
        kind = fault.kind.removeprefix("wire ") if fault is not None else ""
        there = rng.uniform(60, 150) if kind == "late" else rng.choice((0.01, 0.05, 0.4, 2.0))
        attempts = self._attempts(wire.process, path, data) if method == "POST" else {}
        self.left = attempts | self.left
        if kind.isdecimal():
            await asyncio.sleep(there)
            wait = (
                {"retry-after": str(fault.size)}
                if fault is not None and kind == "429" and fault.size >= 0
                else {}
            )
            return wire._failure(int(kind), wait, b'{"error": {"message": "by plan"}}')
        if kind == "unreached":
            error = ServerFault("no connection")
            error.unreached = True
            return error
        box: list[tuple[int, bytes]] = []
        if kind != "cut before":
            by = wire.process, attempts
            world.at(
                world.now + there, lambda: box.append(self._handle(by, method, url, data, headers))
            )
        await asyncio.sleep(min(there + rng.choice((0.01, 0.3)), wire.timeout))
        if kind.startswith("cut") or not box:
            return ServerFault("no reply").with_bill()
        status, body = box[0]
        for line in self.vendor.books if attempts and status == 200 else ():
            line.told = line.told or (line.process is wire.process and line.keys[0] in attempts)
        return body if status == 200 else wire._failure(status, {}, body)

    def _attempts(self, process: Process, path: str, data: bytes | None) -> dict[bytes, int]:
        """Of a request that submits a batch: its keys, with their rows in the ledger. It must be in the journal as
        being sent."""
        if not path.endswith(("/batches", "/jobs")) or data is None:
            return {}
        body = orjson.loads(data)
        file = body.get("input_file_id") or (body.get("input_files") or [""])[0]
        found = re.findall(
            rb'"custom_id":"([0-9a-f]{64})"',
            data if "requests" in body else self.files.get(file, b""),
        )
        keys = [bytes.fromhex(one.decode()) for one in found]
        query = "SELECT state FROM batch_lines l JOIN batches b ON b.id = l.batch WHERE key = ? AND state = 'sending'"
        if not all(self.vendor.rows(query, (key,)) for key in keys):
            self.vendor.world.complain(
                f"{process.name} submits a batch that the journal has not as being sent"
            )
        return {key: self.vendor.in_ledger(process, [key], resends=process.resends) for key in keys}

    def _handle(
        self,
        by: tuple[Process, dict[bytes, int]],
        method: str,
        url: str,
        data: bytes | None,
        headers: dict[str, str],
    ) -> tuple[int, bytes]:
        """What the server makes of a request: status and body."""
        self._by, path, everything = by, urlsplit(url).path, self.jobs
        for of, pattern, handler in self._routes:
            if of != method or (match := pattern.fullmatch(path)) is None:
                continue
            if method == "GET" and not match.groupdict():  # a list
                self.jobs = {id: job for id, job in everything.items() if self._is_listed(job)}
            try:
                response = _result(handler(_Wired(url, data, headers, match.groupdict())))
                return response.status, response.body
            except RefusedRequest as refused:
                return refused.status, orjson.dumps(
                    {"error": {"type": refused.code, "message": str(refused)}}
                )
            finally:
                if self.jobs is not everything:
                    self.jobs = everything
        return 404, b"{}"

    def _is_listed(self, job: Job) -> bool:
        kinds = self._kinds(job)
        return "is lost" not in kinds and not (
            "is hidden" in kinds and self.clock() < job.created + 60
        )

    async def _single(self, wire: _Wire, body: dict[str, Any]) -> bytes | ModelError:
        text, most = _asked(body)

        def reply(kind: str, tokens: Tokens | None) -> bytes:
            return orjson.dumps(self._reply(text, tokens, kind))

        try:
            return await self.vendor.serve(  # type: ignore[no-any-return]
                wire, [_KEY.get()], len(text.encode()) + TEMPLATE, most, reply
            )
        except ModelError as error:
            return error

    # Batches ------------------------------------------------------------------------------------------------------
    def begin(
        self, prefix: str, body: dict[str, Any], lines: list[tuple[str, dict[str, Any]]]
    ) -> Job:
        assert self._by is not None
        job = Job("", body, lines, 0.0, self.created + 1)
        if self.vendor.healed:
            self._of_job.pop(job.order, None)
        kinds = self._kinds(job)
        code = (
            "token_limit_exceeded"
            if "is full" in kinds
            else "invalid_model"
            if "is invalid" in kinds
            else ""
        )
        self.behaviour.failure, self.behaviour.bad = code, job.order
        job = super().begin(prefix, body, lines)
        process, attempts = self._by
        for custom_id, asked in lines if not job.failure else ():
            key = bytes.fromhex(custom_id)
            text, most = _asked(asked)
            line = self.vendor.begin(process, "judge", [key], attempts[key], line=job.id)
            line.most = Tokens(len(text.encode()) + TEMPLATE, 0, most)
            self._line[job.id, key] = line
            if "is lost" in kinds:
                self._end(line, "lost", line.most)
        return job

    def ended(self, job: Job) -> bool:
        kinds = self._kinds(job)
        self.behaviour.latency = 7200.0 if "is long" in kinds else self.how.latency
        if (
            "is cancelled" in kinds
            and job.cancelled is None
            and self.clock() >= job.created + self.how.latency / 2
        ):
            job.cancelled = job.created + self.how.latency / 2
        return super().ended(job)

    def find(self, id: str) -> Job:
        if id in self.jobs and "is lost" in self._kinds(self.jobs[id]):
            raise RefusedRequest(404, f"No batch found with id '{id}'.")
        return super().find(id)

    def process(self, job: Job) -> None:
        kinds, b = self._kinds(job), self.behaviour
        if "is lost" in kinds:
            return
        b.bad, b.expire, b.fail = job.order, 0.5 * ("expires" in kinds), 0.5 * ("fails" in kinds)
        b.refuse, b.missing, b.odd = (
            0.5 * ("refuses" in kinds),
            int("misses" in kinds),
            "is odd" in kinds,
        )
        self._odd_reply = next(
            (kind.removeprefix("says ") for kind in kinds if kind.startswith("says ")), ""
        )
        super().process(job)
        job.results = [
            (id, status, {"error": {"message": "no"}} if status == 400 else of)
            for id, status, of in job.results
        ]
        results = {custom_id: status for custom_id, status, _ in job.results}
        for custom_id, body in job.lines:
            line, status = self._line[job.id, bytes.fromhex(custom_id)], results.get(custom_id)
            tokens, kind = self._said.get(id(body), (line.most, ""))
            if status is None:
                self._end(line, "lost", tokens)
            elif status == 200:
                line.kind, line.over, line.heard = kind, kind == "over", kind != "uncounted"
                self._end(line, "useless" if kind == "unreadable" else "read", tokens)
            else:
                self._end(line, "free" if status < 1 else "failed", None)

    def _end(self, line: BookedRequest, fate: str, counted: Tokens | None) -> None:
        line.fate, line.ended, line.counted = fate, self.vendor.world.now, counted
        line.usd = self.share * (PRICE(counted) or 0.0) if counted is not None else 0.0

    def chat(self, body: dict[str, Any]) -> tuple[int, Any]:
        kind, self._odd_reply = self._odd_reply, ""
        text, most = _asked(body)
        rng = self.vendor.world.rng
        written = rng.choice((rng.randint(1, most), most))
        tokens = Tokens(
            len(text.encode()) + TEMPLATE, 0, written * 3 + most if kind == "over" else written
        )
        self._said[id(body)] = tokens, kind
        return 200, self._reply(text, None if kind == "uncounted" else tokens, kind)

    claude = chat

    def _reply(self, text: str, tokens: Tokens | None, kind: str) -> Any:
        number = number_of(text)
        if kind in ("prose", "empty"):
            self.vendor.prose[number] += 1
        words = {"prose": "I would say it is fine.", "empty": ""}.get(kind, str(number))
        if self.how.dialect == "anthropic":
            usage = (
                None
                if tokens is None
                else {"input_tokens": tokens.prompt, "output_tokens": tokens.completion}
            )
            content = None if kind == "unreadable" else [{"type": "text", "text": words}]
            return {"model": "judge", "content": content, "stop_reason": "end_turn", "usage": usage}
        counts = (
            None
            if tokens is None
            else {"prompt_tokens": tokens.prompt, "completion_tokens": tokens.completion}
        )
        choices = (
            []
            if kind == "unreadable"
            else [{"message": {"content": words}, "finish_reason": "stop"}]
        )
        return {"model": "judge", "choices": choices, "usage": counts}


class _Wire(Endpoint):
    """The endpoint of one process."""

    name = "judge"

    def __init__(self, house: House, process: Process) -> None:
        super().__init__(_HOSTS[house.how.dialect])
        self._house, self.process = house, process

    def _open(self) -> Any:
        self._loop = asyncio.get_running_loop()

    async def _attempt(
        self, session: Any, method: str, url: str, data: Any, headers: Any, *, large: bool
    ) -> Any:
        headers = {"anthropic-version": "2023-06-01", **headers}
        return await self._house.exchange(self, method, url, data, headers)


class _OpenAI(HttpChat):
    process: Process
    price: Any

    async def chat(self, request: ChatRequest) -> ChatReply:
        _KEY.set(call_key(self.identity, "chat", request))
        return await super().chat(request)


class _Anthropic(AnthropicChat):
    process: Process
    price: Any

    async def chat(self, request: ChatRequest) -> ChatReply:
        _KEY.set(call_key(self.identity, "chat", request))
        return await super().chat(request)


def _asked(body: dict[str, Any]) -> tuple[str, int]:
    """The text of a request, and the tokens that its reply may have."""
    messages = "".join(message["content"] for message in body["messages"])
    return body.get("system", "") + messages, body.get("max_tokens") or body[
        "max_completion_tokens"
    ]


def _result(handler: Any) -> Any:
    """What a coroutine gives that waits for nothing."""
    try:
        handler.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("a handler waits")
