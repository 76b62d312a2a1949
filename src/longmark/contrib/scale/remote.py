"""A local model that is held in other processes: the coordinator knows it, and its calls are made there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from longmark.models.protocols import Backend

Ask = Callable[[tuple[str, tuple[Any, ...]]], Awaitable[Any]]
CALLS = ("chat", "embed", "rerank", "classify", "likelihood", "likelihoods")  # of the protocols


class RemoteModel:
    """A backend with the name, identity and capabilities of `model`, which is not loaded here; `ask` makes a call,
    (method, arguments), in another process. width: calls that may be under way at once.

    What else the model has is the coordinator's own: a metric that counts tokens loads the model here.
    """

    def __init__(self, model: Backend, ask: Ask, width: int) -> None:
        for name in dir(model):
            if not name.startswith("_"):
                setattr(
                    self, name, partial(_call, ask, name) if name in CALLS else getattr(model, name)
                )
        self.width = width


async def _call(ask: Ask, method: str, *arguments: Any) -> Any:
    return await ask((method, arguments))
