"""OpenAI's own endpoint: what it has beside the API that other servers share, the marks of its prompt cache.

Models before GPT-5.6 cache the beginning of a prompt by themselves, at no price. Later ones cache whole messages, or
what a block of a message marks; they serve a beginning only up to such an end, and charge a quarter more for what they
take in. Unmarked, two calls with the same passages would be served nothing and cost a quarter more. So these models are
told to cache nothing but what is marked, and a request marks what other calls share. Source: OpenAI's guide to prompt
caching and its API reference (`prompt_cache_options`, `prompt_cache_breakpoint`, `prompt_cache_key`), November 2026.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

from longmark.models.http import Endpoint, Refusal
from longmark.models.http_chat import HttpChat
from longmark.models.prefixes import MARK, marked
from longmark.models.settings import DEFAULTS, ModelSettings

_VERSION = re.compile(r"(?:^|[:/])gpt-(\d+)(?:\.(\d+))?(?![\d.])")
_FIRST = (5, 6)  # the version from which a model caches what is marked
_EXPLICIT = {"mode": "explicit"}


def caches_marks(model: str) -> bool:
    """Whether a model of OpenAI caches what a request marks, by its name."""
    version = _VERSION.search(model.lower())
    return version is not None and (int(version[1]), int(version[2] or 0)) >= _FIRST


class OpenAIChat(HttpChat):
    """A chat model of OpenAI. Facts that are stored for it, beside those of `http_chat`: unmarked, it takes no marks."""

    def __init__(
        self, endpoint: Endpoint, model: str, name: str, settings: ModelSettings = DEFAULTS
    ) -> None:
        super().__init__(endpoint, model, name, settings)
        self._caches_marks = caches_marks(model)

    @property
    def marks_prefixes(self) -> bool:
        return self._caches_marks and not self._knows("unmarked")

    def _sent(self, body: dict[str, Any]) -> dict[str, Any]:
        if not self.marks_prefixes:
            return super()._sent(body)
        native = body | {
            "messages": marked(body["messages"], {"prompt_cache_breakpoint": _EXPLICIT}),
            "prompt_cache_options": _EXPLICIT,
        }
        turn = MARK.get()
        if turn is not None and turn.marked:
            # OpenAI looks for a beginning among the requests of one key: so that of the shortest one
            shortest = body["messages"][-1].content[: turn.beginnings[-1].end]
            digest = hashlib.blake2b(shortest.encode("utf-8", "replace"), digest_size=16)
            native["prompt_cache_key"] = digest.hexdigest()
        return super()._sent(native)

    def _lesson(self, refusal: Refusal, body: dict[str, Any]) -> str | None:
        if self.marks_prefixes and refusal.names("prompt_cache"):
            return "unmarked"
        return super()._lesson(refusal, body)
