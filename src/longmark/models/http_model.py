"""What every model at an OpenAI-compatible endpoint has: its name, its settings, and what refusals teach about it.

Nothing is probed. Where an endpoint refuses a request (400 or 422) over a part that it can do without, the fact is
stored for the model at this endpoint, `AskAgain` is raised, and later requests are sent in the other form. The
facts of chat are in `http_chat`, the others in `http_models`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextvars import ContextVar
from typing import Any, TypeVar

from longmark.errors import AskAgain, TooLong, TooManyInputs, Unsupported
from longmark.models.http import Endpoint, Refusal
from longmark.models.protocols import Capabilities
from longmark.models.settings import DEFAULTS, ModelSettings

T = TypeVar("T")
Post = Callable[[str, dict[str, Any]], Awaitable[Any]]
VIA: ContextVar[Post | None] = ContextVar("VIA", default=None)
"""What sends a request in place of the endpoint: a batch (`models.batching`)."""

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)  # of a batch
_MOST_BYTES = (
    8  # UTF-8 bytes a token: twice as many as English prose has, on average, in common tokenizers
)
_MISREAD = (
    KeyError,
    IndexError,
    TypeError,
    ValueError,
    AttributeError,
    OverflowError,
)  # of a reply in another form


class HttpModel:
    """A model at an endpoint. name: as in tables (`gpt-4o-mini@https://host/v1`, `openai:gpt-4o-mini`)."""

    path = ""
    width: int | None = None
    capabilities = Capabilities()
    configured: Mapping[
        str, Any
    ] = {}  # what longmark.yaml says that can change a score; empty for other names

    def __init__(
        self, endpoint: Endpoint, model: str, name: str, settings: ModelSettings = DEFAULTS
    ) -> None:
        self.name = name
        self.model = model
        self.settings = settings
        self.identity = f"{model}@{endpoint.base_url}{settings.mark()}"
        self.endpoint = endpoint
        self._url = endpoint.url(self.path)

    async def close(self) -> None:
        await self.endpoint.close()

    def _knows(self, fact: str) -> bool:
        return self.endpoint.knows(self.identity, fact)

    def _lesson(self, refusal: Refusal, body: dict[str, Any]) -> str | None:
        """The fact about the model that a refusal of this body teaches, None where it is about something else."""
        return None

    async def _post(self, body: dict[str, Any], inputs: int = 1) -> Any:
        """The reply's JSON. inputs: how many texts are in the body."""
        try:
            post = VIA.get() or self.endpoint.post
            reply = await post(self._url, self._sent(body))
        except Refusal as refusal:
            message = str(refusal)
            status = refusal.http_status
            fact = self._lesson(refusal, body)
            if inputs > 1 and _too_many(refusal):
                fact = f"batch:{max(n for n in SIZES if n == 1 or n <= inputs // 2)}"
            if fact is None:
                raise
        else:
            return self._read("a reply in another form", reply, lambda: self._received(reply))
        self.endpoint.learn(
            self.identity, fact, keep=fact != "no-logprobs"
        )  # nothing replaces them: asked once a run
        if fact == "no-logprobs":
            raise Unsupported(
                f"log-probabilities are not supported by {self.name}: {message}", status
            )
        raise (
            TooManyInputs(message, status)
            if fact.startswith("batch:")
            else AskAgain(message, status)
        )

    def _sent(self, body: dict[str, Any]) -> dict[str, Any]:
        """A body in the form of the endpoint's API, with the members that the user adds."""
        return self.settings.over(body)

    def _received(self, reply: Any) -> Any:
        """A reply in OpenAI's form."""
        return reply

    def check_window(self, texts: Iterable[str]) -> None:
        """TooLong where the prompt cannot fit the context window that the user gave: where it has more bytes than
        `_MOST_BYTES` for each of its tokens. Whether any other prompt fits is for the endpoint to say."""
        window = self.settings.context_window
        if window is None:
            return
        size = sum(len(text.encode("utf-8", "replace")) for text in texts)
        if size > _MOST_BYTES * window:
            raise TooLong(
                f"the prompt has {size:,} bytes, too many for {self.name}'s context_window of {window:,} tokens; "
                "nothing was sent"
            ).unsent()

    def _read(self, problem: str, reply: Any, read: Callable[[], T]) -> T:
        """What `read` makes of a reply. ServerFault, without a traceback into the reply, where it has another form."""
        try:
            return read()
        except _MISREAD as error:
            wrong = error
        raise self.endpoint.unreadable(problem, reply, wrong)


def _too_many(refusal: Refusal) -> bool:
    """Whether a request was refused for the number of its inputs, not for the length of one."""
    if isinstance(refusal, TooLong):
        return False
    return refusal.http_status == 413 or refusal.names(
        "batch size", "batch_size", "too many inputs", "too large"
    )
