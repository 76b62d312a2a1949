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

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

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
from longmark.contrib.scale.batches.file_vendors import Azure, FileVendor, Mistral, Together
from longmark.models.http import as_json

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
    most_bytes = 256 * MB
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
        for _ in range(MOST_PAGES):
            page = await self._json(
                "GET", "/messages/batches", query={"limit": 100, "after_id": after}
            )
            batches = [self._read("a list of batches", entry) for entry in objects_of_page(page)]
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
        for line in lines_of(await self.endpoint.request("GET", url, large=True)):
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
            created=seconds_of(reply["created_at"]),
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
