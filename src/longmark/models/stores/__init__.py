"""Where a call cache keeps its tables: what SQLite and PostgreSQL do each in their own way.

`models.cache` decides what is written and when; a store writes it. Statements are in the SQL that both read, with `?`
for values; what is written for every call is each store's own (`commit`).
"""

from __future__ import annotations

import os
import platform
import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from longmark import plugins
from longmark.errors import UserError
from longmark.models.protocols import Tokens

LEASE = 60.0  # seconds that a claim outlives its last renewal; it is renewed three times as often
TABLES = {  # table -> its columns and constraints, in SQLite's types
    "calls": """key BLOB PRIMARY KEY, kind TEXT NOT NULL, model TEXT NOT NULL, created REAL NOT NULL, usd REAL,
        reply BLOB NOT NULL, attempt INTEGER) WITHOUT ROWID""",
    "facts": "endpoint TEXT NOT NULL, fact TEXT NOT NULL, PRIMARY KEY (endpoint, fact))",
    "claims": "key BLOB PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL, attempt INTEGER) WITHOUT ROWID",
    "sessions": "id INTEGER PRIMARY KEY, token TEXT NOT NULL UNIQUE, run TEXT NOT NULL, began REAL NOT NULL)",
    # count: how many attempts the line stands for; key: of the first of the calls that it made, `calls` in number;
    # status: see `CallCache.end`; most_*: what it could take
    "attempts": """id INTEGER PRIMARY KEY, session INTEGER NOT NULL, count INTEGER NOT NULL, key BLOB,
        calls INTEGER NOT NULL, kind TEXT NOT NULL, model TEXT NOT NULL, sent REAL NOT NULL,
        most_prompt INTEGER NOT NULL, most_completion INTEGER NOT NULL, most_usd REAL, state TEXT NOT NULL,
        status INTEGER, prompt INTEGER, cached_prompt INTEGER, completion INTEGER, usd REAL)""",
    # see the budget groups of `contrib.scale`
    "budgets": """name TEXT NOT NULL, session TEXT NOT NULL, calls INTEGER NOT NULL, tokens INTEGER NOT NULL,
        usd REAL NOT NULL, held_calls INTEGER NOT NULL, held_tokens INTEGER NOT NULL, held_usd REAL NOT NULL,
        until REAL NOT NULL, PRIMARY KEY (name, session)) WITHOUT ROWID""",
    # see the journal of batches of `contrib.scale`
    "batches": """id TEXT PRIMARY KEY, model TEXT NOT NULL, identity TEXT NOT NULL, state TEXT NOT NULL,
        created REAL NOT NULL, calls INTEGER NOT NULL, digest TEXT NOT NULL, file TEXT, sent REAL, vendor_id TEXT,
        "window" REAL NOT NULL) WITHOUT ROWID""",
    "batch_lines": """key BLOB NOT NULL, batch TEXT NOT NULL, status INTEGER, result BLOB, fetched REAL,
        attempt INTEGER, PRIMARY KEY (key, batch)) WITHOUT ROWID""",
}
INDEX = "CREATE INDEX IF NOT EXISTS batch_lines_by_batch ON batch_lines (batch)"


@dataclass(slots=True, eq=False)
class Attempt:
    """One request as it is sent, for the ledger. session: token and run of the client that sends it; most, most_usd:
    what it can take; state: `sent`, or `queued` where it waits for a batch, so that nothing leaves yet. id: of its row,
    from when it was written; 0: not written, or withdrawn."""

    session: tuple[str, str]
    kind: str
    model: str
    most: Tokens = field(default_factory=Tokens)
    most_usd: float | None = None
    state: str = "sent"
    id: int = 0


@dataclass(frozen=True, slots=True)
class Unknown:
    """The last attempt of a call, where no reply to it was read: when it was sent (seconds since 1970), and the most
    that it can have cost in US dollars (None: not known)."""

    sent: float
    most_usd: float | None


@dataclass(slots=True)
class Seen:
    """What there is of some keys. replies: key -> reply, and what it cost in US dollars (None: not known); held: keys
    that somebody has claimed, of those that have no reply (or of all, as asked)."""

    replies: dict[bytes, tuple[bytes, float | None]] = field(default_factory=dict)
    held: set[bytes] = field(default_factory=set)


@dataclass(slots=True)
class Lookup:
    """Keys that are looked for, and what was seen of them. every: also those with a reply may be held."""

    keys: Collection[bytes]
    every: bool
    seen: Seen = field(default_factory=Seen)


@dataclass(slots=True)
class Wish:
    """Keys that are wanted; granted: those that were given, once that is committed. resend: also those whose last
    attempt is unknown."""

    keys: Collection[bytes]
    attempt: Attempt | None
    anew: bool
    again: bool
    resend: bool
    granted: set[bytes] = field(default_factory=set)


@dataclass(slots=True)
class StoreTurn:
    """What is written together. puts: key, kind, model, dollars, reply, attempt; freed: keys whose claims end; left:
    those whose claims nobody holds from here on; ended: attempt, state, status, prompt, cached prompt and completion
    tokens, dollars; withdrawn: attempts; looks: what is read on the way."""

    puts: list[tuple[bytes, str, str, float | None, bytes, int | None]] = field(
        default_factory=list
    )
    wanted: list[Wish] = field(default_factory=list)
    freed: list[bytes] = field(default_factory=list)
    left: list[bytes] = field(default_factory=list)
    ended: list[tuple[int, str, int | None, int | None, int | None, int | None, float | None]] = (
        field(default_factory=list)
    )
    withdrawn: list[int] = field(default_factory=list)
    looks: list[Lookup] = field(default_factory=list)


class Store(ABC):
    """The tables of one call cache, by one connection. place: what it is opened by; shown: the same for people, without
    a password. quick: whether the event loop can wait for it; Failure: the errors of its driver."""

    quick: bool
    Failure: type[Exception]
    place: Path | str
    shown: Path | str
    read_only: bool

    def __init__(self) -> None:
        self.owner = f"{platform.node()} {os.getpid()} {secrets.token_hex(8)}"

    @abstractmethod
    def do(self, statement: str, values: Iterable[object] = ()) -> Any:
        """One statement; a cursor (fetchone, fetchall, rowcount, rows by iteration). UserError where it fails."""

    @abstractmethod
    def many(self, statement: str, rows: Iterable[Iterable[object]]) -> int:
        """One statement for each row of values; how many rows of the table it changed."""

    @abstractmethod
    def unit(self) -> AbstractContextManager[None]:
        """A transaction around statements, alone among such of all processes."""

    @abstractmethod
    def now(self) -> float:
        """Seconds since 1970, by the clock that claims go by."""

    @abstractmethod
    def commit(self, turn: StoreTurn) -> None:
        """Writes all, or raises one of `Failure` and nothing was written. What was granted and seen is in its objects,
        and the ids of attempts too."""

    @abstractmethod
    def look(self, look: Lookup) -> Seen: ...

    @abstractmethod
    def held(self, keys: Collection[bytes]) -> set[bytes]:
        """Those of the keys that somebody has claimed."""

    @abstractmethod
    def bury(self) -> None:
        """Ends the claims that nobody holds any more. Their attempts that are still `sent` become `unknown`, and the
        claims of those stay; those that are `queued` are deleted."""

    @abstractmethod
    def ids(self, count: int) -> Sequence[int]:
        """So many ids for new attempts, ascending; within a unit."""

    @abstractmethod
    def renew(self) -> None:
        """Puts off the end of this process's claims; what fails is tried again before they end."""

    @abstractmethod
    def durable(self) -> Store:
        """Another connection, whose commits are on the disk when they return."""

    @abstractmethod
    def check_room(self, calls: int) -> None:
        """UserError where there is no room for the replies of so many calls, which would be paid for in vain."""

    @abstractmethod
    def shrink(self) -> None:
        """Gives back the room of what was deleted."""

    @abstractmethod
    def close(self) -> None: ...


def is_url(place: Path | str) -> bool:
    """Whether a call cache is in PostgreSQL, or in a store that a package adds, and not in a file. UserError for a URL
    of something else."""
    if isinstance(place, Path):
        return False
    if place.startswith(("postgres:", "postgresql:")):
        return True
    if "://" in place:
        scheme = place.partition("://")[0]
        if plugins.find("stores", scheme) is not None:
            return True
        raise UserError(f"{scheme}://…: a call cache is a file or postgres://USER@HOST/DATABASE")
    return False


def shown(place: Path | str) -> Path | str:
    """A place as it may be shown: of a URL no password, and nothing that could be a part of one."""
    if not is_url(place):
        return place
    parts = urlsplit(str(place))
    user, at, host = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    port = re.search(r"(:\d+)?$", host)
    if (
        "@" in user
        or "@" in parts.path
        or "#" in str(place)
        or (not at and ":" in host and not (port and port[0]))
    ):
        return "postgres://…"
    return f"postgres://{name}{at}{host}{parts.path}"
