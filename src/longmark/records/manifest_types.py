"""The types of what a run's manifest holds, checked where it is read: a file that was edited or damaged is a message
that names the key, and no traceback later."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from longmark.errors import UserError
from longmark.records.files import REMAKE

COUNTED = (
    "rows",
    "requests",
    "calls",
    "from_cache",
    "seconds",
    "usd",
    "prompt_tokens",
    "completion_tokens",
)
"""What a session counts: numbers, or null where it is not known."""


def check_manifest(manifest: Mapping[str, Any], file: Path) -> None:
    """UserError that names the key of a value whose type no run writes. A missing key is none of this check's."""
    for key in ("settled", "versions"):
        words = manifest.get(key)
        if words is not None and not _names_lists(words):
            raise _damaged(file, key, "an object of lists of texts")
    sessions = manifest.get("sessions")
    for number, session in enumerate(sessions if isinstance(sessions, list) else []):
        for key in COUNTED if isinstance(session, dict) else ():
            value = session.get(key)
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, int | float)
            ):
                raise _damaged(file, f"sessions.{number}.{key}", "a number")
    fixed = manifest.get("fixed")
    metrics = fixed.get("metrics") if isinstance(fixed, dict) else None
    if metrics is not None and not (
        isinstance(metrics, list) and all(isinstance(name, str) for name in metrics)
    ):
        raise _damaged(file, "fixed.metrics", "a list of names")


def _names_lists(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(words, list) and all(isinstance(word, str) for word in words)
        for words in value.values()
    )


def _damaged(file: Path, key: str, expected: str) -> UserError:
    return UserError(f"{file} is damaged ({key}: expected {expected}); {REMAKE}")
