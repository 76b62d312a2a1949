"""Backends asked as the client asks them: again, where they want the request in another form."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from longmark.errors import AskAgain
from longmark.models.cache import CallCache
from longmark.models.client import Client

Reply = TypeVar("Reply")


async def asked(ask: Callable[[], Awaitable[Reply]]) -> Reply:
    """What a backend replies in the end."""
    while True:
        try:
            return await ask()
        except AskAgain:
            continue


async def behind_a_client(ask: Callable[[Client], Awaitable[Reply]]) -> Reply:
    """What comes of asking through a client whose cache is empty."""
    with tempfile.TemporaryDirectory() as folder:
        cache = CallCache(Path(folder) / "calls.sqlite")
        try:
            return await ask(Client(cache))
        finally:
            cache.close()
