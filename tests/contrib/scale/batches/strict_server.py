"""Strict servers of the vendors' batch APIs, on loopback. They refuse what the documented formats do not allow.

Formats: the pages that `contrib.scale.batches.vendors` names. A batch is processed when it is `latency` seconds old;
a request that was processed counts as paid. What a request is answered is a function of its body alone, as of
`tests.wire`.
"""

from __future__ import annotations

import asyncio
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import Message
from email.parser import BytesParser
from email.policy import compat32
from typing import Any, cast

import orjson
from aiohttp import web
from tests.wire_replies import Quirks, reply_for

CUSTOM_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass
class Behaviour:
    """latency: seconds until a batch has ended. expire, fail: shares of the lines of the first `bad` batches that
    expire, or get a 500; refuse: of every batch, a 400. failure: code of a validation failure of the first `bad`
    batches. odd: results out of order, one twice, one of another batch, one line that is no JSON; missing: so many
    lines of the first `bad` batches have no result. lose: the first so many batches are forgotten once they were
    created. cut: the first so many creations get no reply; cut_after: they count all the same. page: entries of a page
    of a list. most: requests of a batch. queue: requests that may be queued at once, 0: any number. reply: what every
    chat reply says (None: by a hash). metadata: whether batches show theirs. broken: so many looks at a batch fail with
    a 500. hang: how the path ends to which the first POST is done, and never answered."""

    latency: float = 0.05
    expire: float = 0.0
    fail: float = 0.0
    refuse: float = 0.0
    bad: int = 0
    failure: str = ""
    odd: bool = False
    missing: int = 0
    lose: int = 0
    cut: int = 0
    cut_after: bool = True
    page: int = 2
    most: int = 50_000
    queue: int = 0
    reply: str | None = None
    metadata: bool = True
    broken: int = 0
    hang: str = ""


@dataclass
class Job:
    """A batch at the server."""

    id: str
    body: dict[str, Any]
    lines: list[tuple[str, dict[str, Any]]]
    created: float
    order: int
    cancelled: float | None = None
    results: list[tuple[str, int, Any]] = field(
        default_factory=list
    )  # status 0: expired; -1: cancelled
    processed: bool = False
    failure: str = ""
    files: dict[str, str] = field(default_factory=dict)


class BatchServer:
    """One server that speaks every dialect. paid: body -> how often it was processed, single calls apart."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.base_url = ""
        self.paid: Counter[bytes] = Counter()
        self.singles: Counter[bytes] = Counter()
        self.jobs: dict[str, Job] = {}
        self.files: dict[str, bytes] = {}
        self.deleted: list[str] = []
        self.refused: list[str] = []
        self.created = self.hung = 0
        self.names: dict[str, str] = {}
        self.random = random.Random(7)
        self.clock = time.time

    # What both kinds do ------------------------------------------------------------------------------------------
    def chat(self, body: dict[str, Any]) -> tuple[int, Any]:
        raw = orjson.dumps(body)
        status, reply = reply_for(
            "/v1/chat/completions", body, raw, "", Quirks(reply=self.behaviour.reply)
        )
        return status, orjson.loads(reply)

    def claude(self, body: dict[str, Any]) -> tuple[int, Any]:
        messages = body.get("messages")
        if (
            not isinstance(body.get("max_tokens"), int)
            or not messages
            or any(m["role"] == "system" for m in messages)
        ):
            error = {
                "type": "invalid_request_error",
                "message": "max_tokens and messages are required",
            }
            return 400, {"type": "error", "error": error}
        sent = [{"role": "system", "content": body["system"]}] if "system" in body else []
        format_ = (body.get("output_config") or {}).get("format")
        asked = {
            "model": body["model"],
            "messages": sent + messages,
            "max_tokens": body["max_tokens"],
        }
        if format_:
            form = {"name": "verdict", "strict": True, "schema": format_["schema"]}
            asked["response_format"] = {"type": "json_schema", "json_schema": form}
        _, reply = self.chat(asked)
        return 200, {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [{"type": "text", "text": reply["choices"][0]["message"]["content"]}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": reply["usage"]["prompt_tokens"], "output_tokens": 5},
        }

    def begin(
        self, prefix: str, body: dict[str, Any], lines: list[tuple[str, dict[str, Any]]]
    ) -> Job:
        self.created += 1
        job = Job(f"{prefix}{self.created:06d}", body, lines, self.clock(), self.created)
        if self.behaviour.failure and self.created <= self.behaviour.bad:
            job.failure = self.behaviour.failure
        queued = sum(len(other.lines) for other in self.jobs.values() if not self.ended(other))
        if self.behaviour.queue and queued + len(lines) > self.behaviour.queue:
            job.failure = "token_limit_exceeded"
        self.jobs[job.id] = job
        return job

    def ended(self, job: Job) -> bool:
        """Whether a batch has ended; it is processed then."""
        if job.failure:
            return True
        if job.cancelled is None and self.clock() < job.created + self.behaviour.latency:
            return False
        if not job.processed:
            job.processed = True
            self.process(job)
        return True

    def process(self, job: Job) -> None:
        b, bad = self.behaviour, job.order <= self.behaviour.bad
        n = len(job.lines)
        expired, failed = (round(n * b.expire), round(n * b.fail)) if bad else (0, 0)
        refused = round(n * b.refuse)
        for i, (custom_id, body) in enumerate(job.lines):
            if job.cancelled is not None and i >= n // 2:
                job.results.append((custom_id, -1, None))
            elif i < expired:
                job.results.append((custom_id, 0, None))
            elif i < expired + failed:
                job.results.append(
                    (custom_id, 500, {"error": {"message": "it broke", "code": "server_error"}})
                )
            elif i < expired + failed + refused:
                job.results.append(
                    (
                        custom_id,
                        400,
                        {"error": {"message": "no", "code": "content_policy_violation"}},
                    )
                )
            else:
                status, reply = (
                    self.claude
                    if "max_tokens" in body and job.id.startswith("msgbatch")
                    else self.chat
                )(body)
                if status == 200:
                    self.paid[orjson.dumps(body)] += 1
                job.results.append((custom_id, status, reply))
        if bad and b.missing:
            del job.results[-b.missing :]
        if b.odd:
            self.random.shuffle(job.results)

    def find(self, id: str) -> Job:
        if self.behaviour.broken:
            self.behaviour.broken -= 1
            raise RefusedRequest(500, "it broke")
        if id not in self.jobs or (job := self.jobs[id]).order <= self.behaviour.lose:
            raise RefusedRequest(404, f"No batch found with id '{id}'.")
        return job

    def cut(self) -> bool:
        return self.created <= self.behaviour.cut


class RefusedRequest(Exception):
    def __init__(self, status: int, message: str, code: str = "invalid_request_error") -> None:
        super().__init__(message)
        self.status, self.code = status, code


def must(holds: Any, message: str) -> None:
    if not holds:
        raise RefusedRequest(400, message)


def _checked_lines(lines: list[Any], allowed: set[str], most: int) -> None:
    ids = [one.get("custom_id") for one in lines]
    must(
        all(isinstance(id, str) and CUSTOM_ID.fullmatch(id) for id in ids),
        "custom_id: 1 to 64 of A-Za-z0-9_-",
    )
    must(len(set(ids)) == len(ids), "custom_id is not unique")
    must(all(set(one) == allowed for one in lines), f"a line has {allowed}")
    must(0 < len(lines) <= most, f"a batch has 1 to {most} requests")


class BatchApi:
    """What the batches of all vendors share."""

    def __init__(self, server: BatchServer) -> None:
        self.server = server

    def shown(self, job: Job) -> dict[str, Any]:
        raise NotImplementedError

    async def look(self, request: web.Request) -> web.Response:
        return web.json_response(self.shown(self.server.find(request.match_info["id"])))

    async def cancel(self, request: web.Request) -> web.Response:
        job = self.server.find(request.match_info["id"])
        job.cancelled = job.cancelled or self.server.clock()
        return web.json_response(self.shown(job))

    def newest(self, request: web.Request, after: str) -> tuple[list[Job], bool]:
        """A page of the jobs, the newest first, and whether there are more. after: the parameter that names the job
        before the page."""
        jobs = sorted(self.server.jobs.values(), key=lambda job: -job.order)
        jobs = [job for job in jobs if job.order > self.server.behaviour.lose]
        if before := request.query.get(after):
            jobs = jobs[[job.id for job in jobs].index(before) + 1 :]
        page = jobs[: min(int(request.query.get("limit", 20)), self.server.behaviour.page)]
        return page, len(jobs) > len(page)


# OpenAI's, Azure's and Mistral's ------------------------------------------------------------------------------------
class Files(BatchApi):
    """OpenAI's."""

    purpose = "batch"
    narrows = frozenset({"purpose", "limit", "order", "after"})

    async def chat(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.server.singles[orjson.dumps(body)] += 1
        status, reply = self.server.chat(body)
        return web.json_response(reply, status=status)

    async def upload(self, request: web.Request) -> web.Response:
        kind = request.headers.get("Content-Type", "")
        must(kind.startswith("multipart/form-data"), "an upload is multipart/form-data")
        raw = b"Content-Type: " + kind.encode() + b"\r\n\r\n" + await request.read()
        parts = {
            str(part.get_param("name", header="content-disposition")): part
            for part in cast(
                "list[Message]", BytesParser(policy=compat32).parsebytes(raw).get_payload()
            )
        }
        purpose = str(parts["purpose"].get_payload()).strip()
        must(purpose == self.purpose, f"purpose {purpose}")
        must(
            str(parts["file"].get_filename()).endswith(".jsonl"), "a file of lines is named .jsonl"
        )
        data = parts["file"].get_payload(decode=True)
        assert isinstance(data, bytes)
        id = f"file-{len(self.server.files) + len(self.server.deleted):05d}"
        self.server.files[id], self.server.names[id] = data, str(parts["file"].get_filename())
        return web.json_response(
            {"id": id, "object": "file", "purpose": purpose, "status": "processed"}
        )

    async def list_files(self, request: web.Request) -> web.Response:
        must(set(request.query) <= self.narrows, f"unknown: {set(request.query)}")
        found = {id: name for id, name in self.server.names.items() if id in self.server.files}
        data = [{"id": id, "object": "file", "filename": name} for id, name in found.items()]
        return web.json_response({"object": "list", "data": data, "has_more": False})

    async def content(self, request: web.Request) -> web.Response:
        id = request.match_info["id"]
        if id not in self.server.files:
            raise RefusedRequest(404, f"No such File object: {id}")
        return web.Response(body=self.server.files[id], content_type="application/octet-stream")

    async def delete(self, request: web.Request) -> web.Response:
        id = request.match_info["id"]
        if self.server.files.pop(id, None) is None:
            raise RefusedRequest(404, f"No such File object: {id}")
        self.server.deleted.append(id)
        return web.json_response({"id": id, "object": "file", "deleted": True})

    async def create(self, request: web.Request) -> web.Response:
        server, body = self.server, await request.json()
        must(
            set(body) - {"metadata"} == {"input_file_id", "endpoint", "completion_window"},
            f"unknown: {set(body)}",
        )
        must(
            body["endpoint"] == "/v1/chat/completions" and body["completion_window"] == "24h",
            "endpoint, window",
        )
        must(body["input_file_id"] in server.files, "the input file does not exist")
        must(
            all(len(k) <= 64 and len(v) <= 512 for k, v in (body.get("metadata") or {}).items()),
            "metadata",
        )
        lines = [orjson.loads(line) for line in server.files[body["input_file_id"]].splitlines()]
        _checked_lines(lines, {"custom_id", "method", "url", "body"}, server.behaviour.most)
        must(
            all(one["url"] == body["endpoint"] and one["method"] == "POST" for one in lines),
            "url is the endpoint",
        )
        must(len({one["body"]["model"] for one in lines}) == 1, "one model a file")
        if server.created < server.behaviour.cut and not server.behaviour.cut_after:
            server.created += 1
            return _drop(request)
        job = server.begin("batch_", body, [(one["custom_id"], one["body"]) for one in lines])
        return _drop(request) if server.cut() else web.json_response(self.shown(job))

    def shown(self, job: Job) -> dict[str, Any]:
        server, ended = self.server, self.server.ended(job)
        expired = any(status == 0 for _, status, _ in job.results)
        state = "in_progress" if not ended else "failed" if job.failure else "completed"
        state = (
            "cancelled"
            if ended and job.cancelled is not None
            else "expired"
            if ended and expired
            else state
        )
        if ended and not job.failure and not job.files:
            good = [self.line(*one) for one in job.results if one[1] == 200]
            bad = [self.line(*one) for one in job.results if one[1] not in (200, -1)]
            if server.behaviour.odd and good:
                good += [good[0], b"{no json", self.line("ab" * 32, 200, {"choices": []})]
            for name, lines in (("output_file_id", good), ("error_file_id", bad)):
                if lines:
                    job.files[name] = f"file-{name[:3]}{job.order:05d}"
                    server.files[job.files[name]] = b"\n".join(lines) + b"\n"
        done = sum(status == 200 for _, status, _ in job.results)
        errors = {
            "object": "list",
            "data": [{"code": job.failure, "message": "Enqueued token limit reached"}],
        }
        return {
            "id": job.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "errors": errors if job.failure else None,
            "input_file_id": job.body["input_file_id"],
            "completion_window": "24h",
            "status": state,
            "output_file_id": job.files.get("output_file_id"),
            "error_file_id": job.files.get("error_file_id"),
            "created_at": int(job.created),
            "request_counts": {
                "total": len(job.lines),
                "completed": done,
                "failed": len(job.results) - done,
            },
            "metadata": job.body.get("metadata") if server.behaviour.metadata else None,
        }

    @staticmethod
    def line(custom_id: str, status: int, reply: Any) -> bytes:
        response = (
            {"status_code": status, "request_id": "req_1", "body": reply} if status > 0 else None
        )
        error = (
            None
            if response
            else {"code": "batch_expired", "message": "This request could not be executed."}
        )
        return orjson.dumps(
            {"id": "batch_req_1", "custom_id": custom_id, "response": response, "error": error}
        )

    async def listed(self, request: web.Request) -> web.Response:
        page, more = self.newest(request, after="after")
        data = [self.shown(job) for job in page]
        return web.json_response({"object": "list", "data": data, "has_more": more})

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/v1/chat/completions", self.chat),
            web.post("/v1/files", self.upload),
            web.get("/v1/files", self.list_files),
            web.get("/v1/files/{id}/content", self.content),
            web.delete("/v1/files/{id}", self.delete),
            web.post("/v1/batches", self.create),
            web.get("/v1/batches", self.listed),
            web.get("/v1/batches/{id}", self.look),
            web.post("/v1/batches/{id}/cancel", self.cancel),
        ]


class Jobs(Files):
    """Mistral's: jobs, whose lines have no model."""

    narrows = frozenset({"purpose", "page", "page_size", "search"})

    async def create(self, request: web.Request) -> web.Response:
        server, body = self.server, await request.json()
        must(
            set(body) == {"input_files", "model", "endpoint", "metadata", "timeout_hours"},
            f"unknown: {set(body)}",
        )
        must(body["input_files"][0] in server.files, "the input file does not exist")
        lines = [orjson.loads(line) for line in server.files[body["input_files"][0]].splitlines()]
        _checked_lines(lines, {"custom_id", "body"}, 1_000_000)
        must(all("model" not in one["body"] for one in lines), "the model is the job's")
        bodies = [(one["custom_id"], {"model": body["model"], **one["body"]}) for one in lines]
        job = server.begin("job_", {**body, "input_file_id": body["input_files"][0]}, bodies)
        return web.json_response(self.shown(job))

    def shown(self, job: Job) -> dict[str, Any]:
        as_batch = super().shown(job)
        states = {
            "in_progress": "RUNNING",
            "completed": "SUCCESS",
            "cancelled": "CANCELLED",
            "failed": "FAILED",
        }
        return {
            "id": job.id,
            "object": "batch",
            "status": states.get(as_batch["status"], "TIMEOUT_EXCEEDED"),
            "input_files": job.body["input_files"],
            "metadata": job.body["metadata"],
            "output_file": as_batch["output_file_id"],
            "error_file": as_batch["error_file_id"],
            "errors": [],
            "created_at": int(job.created),
            "total_requests": len(job.lines),
            "completed_requests": len(job.results),
        }

    async def listed(self, request: web.Request) -> web.Response:
        size, page = int(request.query["page_size"]), int(request.query["page"])
        jobs = [self.shown(job) for job in self.server.jobs.values()][
            page * size : (page + 1) * size
        ]
        return web.json_response({"data": jobs, "object": "list", "total": len(self.server.jobs)})

    def routes(self) -> list[web.RouteDef]:
        batches = [route for route in super().routes() if "/batches" in route.path]
        jobs = [
            web.route(r.method, r.path.replace("/batches", "/batch/jobs"), r.handler)
            for r in batches
        ]
        return [*(route for route in super().routes() if "/batches" not in route.path), *jobs]


class TogetherFiles(Files):
    """Together's: another path and purpose of uploads, states in capitals, a wrapped reply, a bare list, no
    metadata."""

    purpose = "batch-api"
    narrows = frozenset[str]()

    async def create(self, request: web.Request) -> web.Response:
        must("metadata" not in await request.json(), "metadata is not documented")
        created = await super().create(request)
        assert isinstance(created.body, bytes)
        return web.json_response({"job": orjson.loads(created.body)})

    def shown(self, job: Job) -> dict[str, Any]:
        as_batch = super().shown(job)
        return as_batch | {"status": as_batch["status"].upper(), "metadata": None, "errors": None}

    async def listed(self, request: web.Request) -> web.Response:
        return web.json_response([self.shown(job) for job in self.server.jobs.values()])

    def routes(self) -> list[web.RouteDef]:
        uploads = [web.post("/v1/files/upload", self.upload)]
        return [
            *uploads,
            *(
                route
                for route in super().routes()
                if (route.method, route.path) != ("POST", "/v1/files")
            ),
        ]


# Anthropic's --------------------------------------------------------------------------------------------------------
class Messages(BatchApi):
    async def chat(self, request: web.Request) -> web.Response:
        must(
            request.headers.get("anthropic-version") == "2023-06-01",
            "anthropic-version is required",
        )
        body = await request.json()
        self.server.singles[orjson.dumps(body)] += 1
        status, reply = self.server.claude(body)
        return web.json_response(reply, status=status)

    async def create(self, request: web.Request) -> web.Response:
        must(
            request.headers.get("anthropic-version") == "2023-06-01",
            "anthropic-version is required",
        )
        body = await request.json()
        must(set(body) == {"requests"}, "the one member is requests")
        _checked_lines(body["requests"], {"custom_id", "params"}, 100_000)
        if self.server.created < self.server.behaviour.cut and not self.server.behaviour.cut_after:
            self.server.created += 1
            return _drop(request)
        job = self.server.begin(
            "msgbatch_", {}, [(one["custom_id"], one["params"]) for one in body["requests"]]
        )
        return _drop(request) if self.server.cut() else web.json_response(self.shown(job))

    def shown(self, job: Job) -> dict[str, Any]:
        ended = self.server.ended(job)
        kinds = Counter(self.line(*one)["result"]["type"] for one in job.results)
        counts = {name: kinds[name] for name in ("succeeded", "errored", "canceled", "expired")}
        at = datetime.fromtimestamp(job.created, UTC).isoformat().replace("+00:00", "Z")
        return {
            "id": job.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts | {"processing": 0 if ended else len(job.lines)},
            "created_at": at,
            "ended_at": at if ended else None,
            "results_url": f"https://elsewhere.example/{job.id}/results" if ended else None,
        }

    @staticmethod
    def line(custom_id: str, status: int, reply: Any) -> dict[str, Any]:
        if status == 200:
            result: dict[str, Any] = {"type": "succeeded", "message": reply}
        elif status > 0:
            kind = "api_error" if status == 500 else "invalid_request_error"
            said = reply.get("error", {}).get("message", "no")
            result = {
                "type": "errored",
                "error": {"type": "error", "error": {"type": kind, "message": said}},
            }
        else:
            result = {"type": "expired" if status == 0 else "canceled"}
        return {"custom_id": custom_id, "result": result}

    async def results(self, request: web.Request) -> web.Response:
        job = self.server.find(request.match_info["id"])
        must(self.server.ended(job), "the batch has not ended")
        lines = [orjson.dumps(self.line(*one)) for one in job.results]
        if self.server.behaviour.odd:
            lines += [
                lines[0],
                b"{no json",
                orjson.dumps(self.line("ab" * 32, 200, {"content": []})),
            ]
        return web.Response(body=b"\n".join(lines) + b"\n", content_type="application/x-jsonl")

    async def listed(self, request: web.Request) -> web.Response:
        page, more = self.newest(request, after="after_id")
        data = [self.shown(job) for job in page]
        last = page[-1].id if page else None
        return web.json_response({"data": data, "has_more": more, "last_id": last})

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/v1/messages", self.chat),
            web.post("/v1/messages/batches", self.create),
            web.get("/v1/messages/batches", self.listed),
            web.get("/v1/messages/batches/{id}", self.look),
            web.get("/v1/messages/batches/{id}/results", self.results),
            web.post("/v1/messages/batches/{id}/cancel", self.cancel),
        ]


DIALECTS: dict[str, Any] = {
    "openai": Files,
    "mistral": Jobs,
    "together": TogetherFiles,
    "anthropic": Messages,
}


def _drop(request: web.Request) -> web.Response:
    assert request.transport is not None
    request.transport.close()
    return web.Response()


@contextmanager
def serve(dialect: str = "openai", behaviour: Behaviour | None = None) -> Iterator[BatchServer]:
    """A server in a thread of its own, for as long as the context lasts."""
    server = BatchServer(behaviour or Behaviour())

    @web.middleware
    async def strictly(request: web.Request, handler: Any) -> Any:
        try:
            response = await handler(request)
            if (
                server.behaviour.hang
                and request.method == "POST"
                and request.path.endswith(server.behaviour.hang)
            ):
                server.behaviour.hang, server.hung = "", server.hung + 1
                await asyncio.sleep(3600)
            return response
        except RefusedRequest as refused:
            server.refused.append(f"{request.method} {request.path}: {refused}")
            error = {"type": refused.code, "message": str(refused)}
            return web.json_response({"type": "error", "error": error}, status=refused.status)

    loop, ready, end = asyncio.new_event_loop(), threading.Event(), asyncio.Event()

    async def main() -> None:
        app = web.Application(middlewares=[strictly], client_max_size=1 << 30)
        app.add_routes(DIALECTS[dialect](server).routes())
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        server.base_url = f"http://127.0.0.1:{port}/v1"
        ready.set()
        await end.wait()
        await runner.cleanup()

    thread = threading.Thread(target=loop.run_until_complete, args=(main(),), daemon=True)
    thread.start()
    ready.wait()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(end.set)
        thread.join(10)
