"""Vendors that take a batch as a file and give its results as one: OpenAI, Azure, Together and Mistral."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any
from urllib.parse import quote

import orjson

from longmark.contrib.scale.batches.batch_vendor import (
    MB,
    MOST_PAGES,
    UNPROCESSED,
    BatchStatus,
    BatchVendor,
    Result,
    lines_of,
    objects_of_page,
    seconds_of,
)
from longmark.models.http import Endpoint, as_json

_QUEUE_FULL = "token_limit_exceeded"  # code of a batch that came too early


class FileVendor(BatchVendor):
    """OpenAI's: a file of lines is uploaded, a batch names it, and its results are files."""

    batches = "/batches"
    files = "/files"
    purpose = "batch"
    window_text = "24h"
    most_bytes = (
        200 * MB
    )  # OpenAI (guide, "Rate limits"): 50,000 requests and 200 MB; the same at Groq
    price = 0.5  # OpenAI: 50 % lower costs
    _ENDED = ("completed", "failed", "expired", "cancelled")

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        if not any(self.host.endswith(host) for host in ("openai.com", "groq.com")):
            # of an endpoint that nobody has described
            self.price = 1.0
            self.most_bytes = 100 * MB

    async def upload(self, name: str, data: bytes) -> str:
        edge = f"longmark-{hashlib.sha256(data).hexdigest()[:32]}"  # in no line: JSON escapes nothing into it
        parts = [
            ("purpose", self.purpose),
            *([("file_name", name)] if self.purpose != "batch" else []),
        ]
        head = "".join(
            f'--{edge}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n'
            for k, v in parts
        )
        head += f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        head += "Content-Type: application/jsonl\r\n\r\n"
        body = head.encode() + data + f"\r\n--{edge}--\r\n".encode()
        kind = f"multipart/form-data; boundary={edge}"
        raw = await self.endpoint.request(
            "POST", self._url(self._upload_path), body, kind, large=True
        )
        return str(self.endpoint.outcome(200, raw)["id"])

    @property
    def _upload_path(self) -> str:
        return self.files

    async def uploaded(self, name: str) -> list[str]:
        files = objects_of_page(await self._json("GET", self.files, query=self._searched(name)))
        return [str(file.get("id")) for file in files if file.get("filename") == name]

    def _searched(self, name: str) -> dict[str, str]:
        """What narrows a list of files to a name; OpenAI lists the newest 10,000."""
        return {}

    async def submit(self, ours: str, model: str, file: str | None, data: bytes) -> BatchStatus:
        body = {
            "input_file_id": file,
            "endpoint": self.target,
            "completion_window": self.window_text,
        }
        return self._read(
            "a batch", await self._json("POST", self.batches, body | self._metadata(ours))
        )

    def _metadata(self, ours: str) -> dict[str, Any]:
        return {"metadata": {"longmark": ours}}

    async def look(self, id: str) -> BatchStatus:
        return self._read("a batch", await self._json("GET", f"{self.batches}/{quote(id)}"))

    async def listed(self, since: float) -> AsyncIterator[BatchStatus]:
        after = None
        for _ in range(MOST_PAGES):
            page = await self._json("GET", self.batches, query={"limit": 100, "after": after})
            batches = [self._read("a list of batches", entry) for entry in objects_of_page(page)]
            for seen in batches:
                yield seen
            has_more = isinstance(page, dict) and page.get("has_more")
            if not batches or not has_more or max(seen.created for seen in batches) < since:
                return
            after = batches[-1].id

    async def results(self, seen: BatchStatus) -> list[Result]:
        results: list[Result] = []
        for file in seen.results:
            path = self._url(f"{self.files}/{quote(file)}/content")
            results += file_results(await self.endpoint.request("GET", path, large=True))
        return results

    async def cancel(self, id: str) -> None:
        await self._json("POST", f"{self.batches}/{quote(id)}/cancel", {})

    async def delete(self, file: str) -> None:
        await self._json("DELETE", f"{self.files}/{quote(file)}")

    def _seen(self, reply: Any) -> BatchStatus:
        reply = reply.get("job", reply)  # Together wraps the batch that was submitted
        state = str(reply["status"]).lower()
        counts = reply.get("request_counts") or {}
        reported = reply.get("errors")  # {"data": [{code, message, line}]}; Together: an error text
        errors = reported.get("data") or [] if isinstance(reported, dict) else []
        failed = state == "failed"
        words = "; ".join(str(error.get("message")) for error in errors[:3]) or str(
            reply.get("error") or "no reason given"
        )
        codes = " ".join(str(error.get("code")) for error in errors)
        results = tuple(
            str(reply[name]) for name in ("output_file_id", "error_file_id") if reply.get(name)
        )
        wrong = {
            error["line"]: str(error.get("message"))
            for error in errors
            if isinstance(error.get("line"), int)
        }
        return BatchStatus(
            id=str(reply["id"]),
            created=seconds_of(reply.get("created_at")),
            state=state,
            ended=state in self._ENDED,
            marks=frozenset(
                {str((reply.get("metadata") or {}).get("longmark")), str(reply["input_file_id"])}
            ),
            total=int(counts.get("total") or 0),
            done=int(counts.get("completed") or 0) + int(counts.get("failed") or 0),
            complete=state == "completed",
            failure=words if failed else "",
            full=failed and _QUEUE_FULL in codes,
            wrong=wrong if failed else {},
            files=(str(reply["input_file_id"]), *results),
            results=results,
        )


class Azure(FileVendor):
    """Azure: 100,000 requests and 200 MB (quotas and limits); a batch deployment, at half the price. A job that takes
    longer than 24 hours is not ended."""

    most_lines = 100_000
    target = "/chat/completions"

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self.price = 0.5
        self.most_bytes = 200 * MB

    def _url(self, path: str) -> str:
        base, deployment, _ = self.endpoint.url("").partition("/deployments/")
        query = self.endpoint.url("").partition("?")[2]
        return (
            f"{base}{path}{'?' + query if query else ''}" if deployment else self.endpoint.url(path)
        )

    async def ready(self, file: str) -> bool:
        """Azure processes files first, and fails a batch that names one before."""
        state = (await self._json("GET", f"{self.files}/{quote(file)}")).get("status")
        return state not in ("pending", "running", "uploading")


class Together(FileVendor):
    """Together: 50,000 requests and 100 MB (https://www.together.ai/blog/batch-api). Only selected models are cheaper,
    so the list price stands. Metadata is not documented: a batch is known by its input file."""

    purpose = "batch-api"

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self.price = 1.0
        self.most_bytes = 100 * MB

    @property
    def _upload_path(self) -> str:
        return f"{self.files}/upload"

    def _metadata(self, ours: str) -> dict[str, Any]:
        return {}


class Mistral(FileVendor):
    """Mistral: jobs in place of batches, the model in the job; 1,000,000 requests (batch page), files of 512 MB (files
    page)."""

    most_lines = 1_000_000
    batches = "/batch/jobs"
    _ENDED = ("success", "failed", "timeout_exceeded", "cancelled")

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self.price = 0.5
        self.most_bytes = 512 * MB

    def line(self, custom_id: str, body: Mapping[str, Any]) -> bytes:
        return as_json(
            {"custom_id": custom_id, "body": {k: v for k, v in body.items() if k != "model"}}
        )

    async def submit(self, ours: str, model: str, file: str | None, data: bytes) -> BatchStatus:
        body = {
            "input_files": [file],
            "model": model,
            "endpoint": self.target,
            "timeout_hours": int(self.window),
        }
        return self._read(
            "a job", await self._json("POST", self.batches, body | self._metadata(ours))
        )

    def _searched(self, name: str) -> dict[str, str]:
        return {"search": name}  # a page has 100

    async def listed(self, since: float) -> AsyncIterator[BatchStatus]:
        for number in range(MOST_PAGES):
            page = objects_of_page(
                await self._json("GET", self.batches, query={"page": number, "page_size": 100})
            )
            for job in page:
                yield self._read("a list of jobs", job)
            if len(page) < 100:
                return

    def _seen(self, reply: Any) -> BatchStatus:
        state = str(reply["status"]).lower()
        failed = state == "failed"
        results = tuple(
            str(reply[name]) for name in ("output_file", "error_file") if reply.get(name)
        )
        words = (
            "; ".join(str(error.get("message")) for error in (reply.get("errors") or ())[:3])
            or "no reason given"
        )
        return BatchStatus(
            id=str(reply["id"]),
            created=seconds_of(reply.get("created_at")),
            state=state,
            ended=state in self._ENDED,
            marks=frozenset(
                {
                    str((reply.get("metadata") or {}).get("longmark")),
                    *map(str, reply["input_files"]),
                }
            ),
            total=int(reply.get("total_requests") or 0),
            done=int(reply.get("completed_requests") or 0),
            complete=state == "success",
            failure=words if failed and not results else "",
            files=(*map(str, reply["input_files"]), *results),
            results=results,
        )


def file_results(raw: bytes) -> Iterator[Result]:
    """The results in an output or error file: `response` with a status and a body, or an `error` of its own."""
    for line in lines_of(raw):
        response = line.get("response")
        error = line.get("error")
        custom_id = str(line.get("custom_id"))
        if (
            isinstance(response, dict)
            and isinstance(response.get("status_code"), int)
            and response.get("body")
        ):
            yield custom_id, response["status_code"], orjson.dumps(response["body"])
        elif isinstance(error, dict):
            code = str(error.get("code") or "")
            skipped = code in ("batch_expired", "batch_cancelled", "batch_canceled")
            yield custom_id, UNPROCESSED if skipped else 500, orjson.dumps({"error": error})
