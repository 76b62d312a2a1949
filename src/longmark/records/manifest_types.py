"""What a run's manifest holds, as types for what writes it, and checked where it is read: a file that was edited or
damaged is a message that names the key, and no traceback later."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

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


class SessionEntry(TypedDict, total=False):
    """What a manifest says of one session. It also has what the client counted (`models.client.Counts`)."""

    started: str
    ended: str | None  # None while it runs, or where its process was killed
    ledger: str  # the name of the session in the call cache's ledger
    before: int  # rows that were there already
    rows: int  # rows that it wrote
    seconds: float
    stopped: str | None


class ExamplesEntry(TypedDict, total=False):
    read: int
    skipped: int  # bad records
    limit: int | None
    rows: int  # that a finished run has
    absent: str | None  # the hash of the answers that the run has no row of


class RunManifest(TypedDict, total=False):
    """`manifest.json` of a run folder, as an engine of this version writes it. `scores.manifest` reads those of any
    version."""

    longmark: str
    created: str
    fixed: dict[str, Any]  # `engine.settings.Settings.fixed`
    system: str
    metrics: dict[str, dict[str, Any]]  # scores -> what a table must know of them
    kind: str
    own: dict[str, Any]  # what the user brought: prompts, domain, metrics
    sessions: list[SessionEntry]
    stopping: dict[str, Any]
    cluster: str
    finished: str | None
    source: str
    environment: dict[str, Any]
    examples: ExamplesEntry
    shape: str
    ignored: Mapping[str, int]
    part: dict[str, Any]  # `records.parts.Part`
    verdicts: dict[str, Any]  # `records.verdicts.Verdicts.kept`
    settled: dict[str, list[str]]  # model -> what is not sent to it
    versions: dict[str, list[str]]  # model -> the versions that its endpoint reported
    merged: dict[str, Any]


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
