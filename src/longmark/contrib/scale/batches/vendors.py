"""The vendors' batch APIs: OpenAI's and those that are compatible with it, Mistral's, and Anthropic's message batches.

A vendor sends, looks at, lists, reads, cancels and tidies up batches; every method is one attempt and raises a
ModelError. What a batch means for calls is in `batcher`. No vendor's API has an idempotency key for a batch: a request
that submits one and gets no reply is looked for in the vendor's list.

Pages (read November 2026): OpenAI https://platform.openai.com/docs/guides/batch and .../docs/api-reference/batch;
Azure https://learn.microsoft.com/azure/ai-foundry/openai/how-to/batch; Groq https://console.groq.com/docs/batch;
Together https://docs.together.ai/docs/batch-inference; Mistral https://docs.mistral.ai/capabilities/batch; Anthropic
https://platform.claude.com/docs/en/build-with-claude/batch-processing and .../docs/en/api/messages/batches/create.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import orjson

from longmark.errors import ServerFault
from longmark.models.http import Endpoint, as_json

_MB = 1_000_000  # vendors count megabytes in one way or the other: the smaller one
_PAGES = 1000  # of a list that are read, at most
_QUEUE_FULL = "token_limit_exceeded"  # code of a batch that came too early
UNPROCESSED = -1  # the status of a line that its vendor did not process, and does not bill


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """A batch as its vendor shows it. marks: what it carries of ours (the id in its metadata, the id of its input
    file); total: its requests, 0: not said; done: those that are processed; ended: nothing of it will change any more;
    complete: its vendor says that every request has a result; failure: why it was not processed at all; full: that is
    because too much is queued; files: those that its vendor keeps, results: those of them that hold results."""

    id: str
    created: float
    state: str
    ended: bool
    marks: frozenset[str] = frozenset()
    total: int = 0
    done: int = 0
    complete: bool = False
    failure: str = ""
    full: bool = False
    wrong: Mapping[int, str] = field(
        default_factory=dict
    )  # number of a line from 1 -> what is wrong with it
    files: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


Result = tuple[str, int, bytes]  # custom id, HTTP status (or UNPROCESSED), body


class BatchVendor(ABC):
    """A batch API at an endpoint. most_lines, most_bytes: of a batch; window: hours in which it ends; marked: its list
    shows what it carries of ours; price: what a call costs, as the vendor documents it: a share of the list price."""

    most_lines = 50_000
    most_bytes = 100 * _MB
    window = 24.0
    marked = True
    price = 1.0

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.host = endpoint.host

    def line(self, custom_id: str, body: Mapping[str, Any]) -> bytes:
        """A request as a line of the file."""
        return as_json({"custom_id": custom_id, "method": "POST", "url": self.target, "body": body})

    target = "/v1/chat/completions"

    def data(self, lines: Sequence[bytes]) -> bytes:
        """What is sent for a batch."""
        return b"\n".join(lines) + b"\n"

    @abstractmethod
    async def upload(self, name: str, data: bytes) -> str | None:
        """The id of the uploaded file; None where the vendor takes none."""

    async def ready(self, file: str) -> bool:
        """Whether an uploaded file can be used."""
        return True

    async def uploaded(self, name: str) -> list[str]:
        """The ids of uploaded files of this name, among the newest that are listed."""
        return []

    @abstractmethod
    async def submit(self, ours: str, model: str, file: str | None, data: bytes) -> BatchStatus: ...

    @abstractmethod
    async def look(self, id: str) -> BatchStatus: ...

    @abstractmethod
    def listed(self, since: float) -> AsyncIterator[BatchStatus]:
        """Batches created since then (seconds since 1970), newest first where the vendor lists them so."""

    @abstractmethod
    async def results(self, seen: BatchStatus) -> list[Result]: ...

    @abstractmethod
    async def cancel(self, id: str) -> None: ...

    async def delete(self, file: str) -> None:  # noqa: B027 - a vendor without files has none to delete
        """Deletes a file."""

    async def _json(
        self, method: str, path: str, body: Any = None, query: Mapping[str, Any] | None = None
    ) -> Any:
        url = self._url(path)
        if query:
            url += ("&" if "?" in url else "?") + urlencode(
                {k: v for k, v in query.items() if v is not None}
            )
        data = None if body is None else body if isinstance(body, bytes) else as_json(body)
        raw = await self.endpoint.request(method, url, data, large=isinstance(body, bytes))
        try:
            return orjson.loads(raw)
        except orjson.JSONDecodeError:
            raise ServerFault(
                f"{self.host} sent a reply that is not JSON", 200
            ).with_bill() from None

    def _url(self, path: str) -> str:
        return self.endpoint.url(path)

    def _read(self, reply_name: str, reply: Any) -> BatchStatus:
        """A batch out of its JSON. ServerFault where it has another form."""
        try:
            return self._seen(reply)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            wrong = error
        raise ServerFault(
            f"{self.host} sent {reply_name} in another form ({type(wrong).__name__})", 200
        ).with_bill()

    @abstractmethod
    def _seen(self, reply: Any) -> BatchStatus: ...


class FileVendor(BatchVendor):
    """OpenAI's: a file of lines is uploaded, a batch names it, and its results are files."""

    batches = "/batches"
    files = "/files"
    purpose = "batch"
    window_text = "24h"
    most_bytes = (
        200 * _MB
    )  # OpenAI (guide, "Rate limits"): 50,000 requests and 200 MB; the same at Groq
    price = 0.5  # OpenAI: 50 % lower costs
    _ENDED = ("completed", "failed", "expired", "cancelled")

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        if not any(self.host.endswith(host) for host in ("openai.com", "groq.com")):
            # of an endpoint that nobody has described
            self.price = 1.0
            self.most_bytes = 100 * _MB

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
        files = _data(await self._json("GET", self.files, query=self._searched(name)))
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
        for _ in range(_PAGES):
            page = await self._json("GET", self.batches, query={"limit": 100, "after": after})
            batches = [self._read("a list of batches", entry) for entry in _data(page)]
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
            results += _file_results(await self.endpoint.request("GET", path, large=True))
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
            created=_time(reply.get("created_at")),
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
        self.most_bytes = 200 * _MB

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
        self.most_bytes = 100 * _MB

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
        self.most_bytes = 512 * _MB

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
        for number in range(_PAGES):
            page = _data(
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
            created=_time(reply.get("created_at")),
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


_STATUS_OF = {  # https://platform.claude.com/docs/en/api/errors
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}


class Anthropic(BatchVendor):
    """Anthropic: 100,000 requests or 256 MB in one request, half the price. A custom id has 1 to 64 letters, digits,
    `-` and `_`. Its list carries nothing of ours: once a batch has ended, it is known by the custom ids of its
    results."""

    most_lines = 100_000
    most_bytes = 256 * _MB
    marked = False
    price = 0.5

    def line(self, custom_id: str, body: Mapping[str, Any]) -> bytes:
        return as_json({"custom_id": custom_id, "params": body})

    def data(self, lines: Sequence[bytes]) -> bytes:
        return b'{"requests":[' + b",".join(lines) + b"]}"

    async def upload(self, name: str, data: bytes) -> None:
        return None

    async def submit(self, ours: str, model: str, file: str | None, data: bytes) -> BatchStatus:
        return self._read("a batch", await self._json("POST", "/messages/batches", data))

    async def look(self, id: str) -> BatchStatus:
        return self._read("a batch", await self._json("GET", f"/messages/batches/{quote(id)}"))

    async def listed(self, since: float) -> AsyncIterator[BatchStatus]:
        after = None
        for _ in range(_PAGES):
            page = await self._json(
                "GET", "/messages/batches", query={"limit": 100, "after_id": after}
            )
            batches = [self._read("a list of batches", entry) for entry in _data(page)]
            for seen in batches:
                yield seen
            if (
                not batches
                or not page.get("has_more")
                or max(seen.created for seen in batches) < since
            ):
                return
            after = page.get("last_id") or batches[-1].id

    async def results(self, seen: BatchStatus) -> list[Result]:
        # not at its `results_url`: the key goes to the endpoint that the user named, and nowhere else
        url = self.endpoint.url(f"/messages/batches/{quote(seen.id)}/results")
        results: list[Result] = []
        for line in _lines(await self.endpoint.request("GET", url, large=True)):
            result = line.get("result") or {}
            custom_id = line.get("custom_id")
            kind = result.get("type") if isinstance(result, dict) else None
            if kind == "succeeded" and result.get("message"):
                results.append((str(custom_id), 200, orjson.dumps(result["message"])))
            elif kind == "errored":
                error = result.get("error") or {}
                inner = error.get("error") or error
                results.append(
                    (
                        str(custom_id),
                        _STATUS_OF.get(str(inner.get("type")), 500),
                        orjson.dumps(error),
                    )
                )
            elif kind in ("canceled", "expired"):  # neither is billed
                results.append((str(custom_id), UNPROCESSED, b""))
        return results

    async def cancel(self, id: str) -> None:
        await self._json("POST", f"/messages/batches/{quote(id)}/cancel", {})

    def _seen(self, reply: Any) -> BatchStatus:
        state = str(reply["processing_status"])
        counts = {name: int(count) for name, count in (reply.get("request_counts") or {}).items()}
        total = sum(counts.values())
        return BatchStatus(
            id=str(reply["id"]),
            created=_time(reply["created_at"]),
            state=state,
            ended=state == "ended",
            total=total,
            done=total - counts.get("processing", 0),
            complete=state == "ended",
        )


_HOSTS = {
    "mistral.ai": Mistral,
    "together.xyz": Together,
    "together.ai": Together,
    "azure.com": Azure,
}


def vendor_of(model: Any) -> BatchVendor | None:
    """The batch API of a chat model; None where it has none that we know."""
    from longmark.models.anthropic import AnthropicChat
    from longmark.models.gemini import GeminiChat
    from longmark.models.http_chat import HttpChat

    if not isinstance(model, HttpChat) or isinstance(model, GeminiChat):
        return None
    if isinstance(model, AnthropicChat):
        return Anthropic(model.endpoint)
    host = urlsplit(model.endpoint.base_url).hostname or ""
    kind = next(
        (kind for end, kind in _HOSTS.items() if host == end or host.endswith(f".{end}")),
        FileVendor,
    )
    return kind(model.endpoint)


def _data(page: Any) -> list[Any]:
    """The entries of a page of a list; Together's is the list itself."""
    entries = page.get("data") if isinstance(page, dict) else page
    return (
        [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    )


def _lines(raw: bytes) -> Iterator[dict[str, Any]]:
    """The objects of a file of lines; what is none is left out."""
    for line in raw.splitlines():
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(record, dict):
            yield record


def _file_results(raw: bytes) -> Iterator[Result]:
    """The results in an output or error file: `response` with a status and a body, or an `error` of its own."""
    for line in _lines(raw):
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


def _time(moment: Any) -> float:
    """Seconds since 1970 of a number or an RFC 3339 text; 0 where there is none."""
    if isinstance(moment, str):
        return datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp()
    return float(moment or 0)
