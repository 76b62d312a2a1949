"""What the headers and the body of a failed request say, in the forms of the endpoints that we know."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

READ = 4_000  # characters of an error that are looked at: more than is shown, lest a key be cut and so not found


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the endpoint asks to wait: `retry-after-ms`, else Retry-After as seconds (fractions too) or as a
    date, by the endpoint's own clock where it sends one. None where it says nothing readable."""
    from email.utils import parsedate_to_datetime

    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) / scale
        except (KeyError, ValueError):
            continue
        return seconds if math.isfinite(seconds) and seconds >= 0 else None
    try:
        until = parsedate_to_datetime(headers["retry-after"]).timestamp()
        now = (
            parsedate_to_datetime(headers["date"]).timestamp() if "date" in headers else time.time()
        )
        return max(0.0, until - now)
    except (KeyError, ValueError, TypeError, OverflowError):
        return None


def words_of(body: Any, raw: bytes) -> tuple[str, str, str]:
    """Message, code and all the words (lower case) of an error body, in the forms of OpenAI, Anthropic, Google,
    OpenRouter, vLLM, TEI, Cohere and FastAPI; the request that some of them echo is left out. body: its JSON, None if
    it is none."""
    if body is None:
        text = raw[:READ].decode("utf-8", "replace")
        return text, "", text.lower()
    error = _error(body)
    source = error if isinstance(error, dict) else body if isinstance(body, dict) else {}
    message = source.get("message") or error or source.get("detail") or ""
    if isinstance(message, list):  # FastAPI: one entry a fault, with its location
        message = "; ".join(map(_fault, message[:20]))
    code = shortened(source.get("code") or source.get("type") or "")
    message = shortened(message)
    about = source.get(
        "metadata"
    )  # OpenRouter: the words of the provider behind it, or what its moderation flagged
    if isinstance(about, dict):
        message += f" ({shortened(about['raw'])})" if about.get("raw") else ""
        code = "content_filter" if "flagged_input" in about else code
    return message, code, f"{message} {code} {shortened(source.get('param') or '')}".lower()


def _fault(item: Any) -> str:
    if not isinstance(item, dict):
        return shortened(item)
    place = item.get("loc", ())
    fault_place = (
        ".".join(map(shortened, place[:20]))
        if isinstance(place, (list, tuple))
        else shortened(place)
    )
    return f"{fault_place} {shortened(item.get('msg', ''))}".strip()


def shortened(value: Any) -> str:
    """A value of an error body as text: all of it, or its first `READ` characters without the word that is cut there,
    which may be a key."""
    text = value if isinstance(value, str) else str(value)
    if len(text) <= READ:
        return text
    return " ".join(text[:READ].split()[:-1]) or text[:READ]


def choice_error(reply: Any) -> Any:
    """The error in a reply with status 200: a router's own, or of its only choice (OpenRouter). None: there is none."""
    if not isinstance(reply, dict):
        return None
    if reply.get("error"):
        return reply["error"]
    choices = reply.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first.get("error") if isinstance(first, dict) else None


def retry_delay(body: Any) -> float | None:
    """Seconds to wait, as Google's APIs say it in the body of a 429: a detail with `retryDelay`, "34s"."""
    error = _error(body)
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        try:
            seconds = float(str(delay or "").removesuffix("s"))
        except ValueError:
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    return None


def _error(body: Any) -> Any:
    """The member `error` of a body, of a list of one (Gemini's compatible endpoint), or of a choice (OpenRouter)."""
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    return choice_error(body)
