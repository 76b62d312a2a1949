"""The call cache: every paid reply, once, on disk before anyone uses it.

One SQLite file for all runs. A reply's key is a hash of the model's identity, the whole request and the sample number;
keys of endpoints (API keys) are no part of it and never come here. Replies that arrive in the same turn of the event
loop are committed in one transaction. Durability: a killed process loses nothing that was committed; WAL with
`synchronous=NORMAL` means that a power cut can lose the last commits, never the file.
"""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from longmark.errors import UserError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
    key BLOB PRIMARY KEY, kind TEXT NOT NULL, model TEXT NOT NULL, created REAL NOT NULL,
    usd REAL, reply BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS facts (endpoint TEXT NOT NULL, fact TEXT NOT NULL, PRIMARY KEY (endpoint, fact));
"""


_PATIENCE = 30.0  # seconds to wait for another process that holds the file


def call_key(identity: str, kind: str, request: Any) -> bytes:
    """SHA-256 of who is asked for what. request: a dataclass or JSON value; equal requests give equal keys."""
    body = orjson.dumps((identity, kind, request), option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(body).digest()


@dataclass(frozen=True, slots=True)
class CacheLine:
    """What the cache holds of one model: number of replies and their size in bytes."""

    model: str
    kind: str
    replies: int
    size: int


class CallCache:
    """path: the SQLite file; it and its folder are made when missing. UserError where it cannot be opened."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._pending: list[tuple[bytes, str, str, float, float | None, bytes]] = []
        self._flushed: asyncio.Future[None] | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = _opened(path)
        except (OSError, sqlite3.Error) as error:
            raise UserError(
                f"the call cache {path} cannot be opened ({error}); name another with --cache FILE"
            ) from None

    def get(self, key: bytes) -> tuple[bytes, float | None] | None:
        """The stored reply and what it cost in US dollars (None: not known), or None where there is no reply."""
        found = self._do("SELECT reply, usd FROM calls WHERE key = ?", (key,)).fetchone()
        return found if found is None else (found[0], found[1])

    async def put(self, key: bytes, kind: str, model: str, reply: bytes, usd: float | None) -> None:
        """Returns when the reply is committed."""
        self._pending.append((key, kind, model, time.time(), usd, reply))
        if self._flushed is None:
            loop = asyncio.get_running_loop()
            self._flushed = loop.create_future()
            loop.call_soon(self._commit)
        await asyncio.shield(self._flushed)

    def _commit(self) -> None:
        done, self._flushed = self._flushed, None
        batch, self._pending = self._pending, []
        assert done is not None
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?)", batch)
            self._db.execute("COMMIT")
        except Exception as error:  # whatever it is: those who wait must hear of it
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            done.set_exception(
                UserError(f"the call cache {self.path} cannot be written ({error}); the run can go on later")
                if isinstance(error, sqlite3.Error)
                else error
            )
        else:
            done.set_result(None)

    def known(self, endpoint: str, fact: str) -> bool:
        """Whether an endpoint is known for something (`text-only`: it refuses JSON schemas)."""
        found = self._do("SELECT 1 FROM facts WHERE endpoint = ? AND fact = ?", (endpoint, fact)).fetchone()
        return found is not None

    def remember(self, endpoint: str, fact: str) -> None:
        """Keeps a fact about an endpoint for later runs."""
        self._do("INSERT OR IGNORE INTO facts VALUES (?, ?)", (endpoint, fact))

    def lines(self) -> list[CacheLine]:
        """What the cache holds, by model and kind of call."""
        query = "SELECT model, kind, count(*), sum(length(reply)) FROM calls GROUP BY model, kind ORDER BY model, kind"
        return [CacheLine(*line) for line in self._do(query)]

    def clear(self, model: str | None = None) -> int:
        """Deletes the replies of one model, or all, with what was learnt of their endpoints; how many there were."""
        if model is None:
            count = self._do("DELETE FROM calls").rowcount
            self._do("DELETE FROM facts")
        else:
            count = self._do("DELETE FROM calls WHERE model = ?", (model,)).rowcount
            name = model.removeprefix("openai:")  # facts are kept by model and base URL
            self._do(
                "DELETE FROM facts WHERE endpoint = ? OR endpoint LIKE ?", (name, f"{name}@https://api.openai.com/%")
            )
        self._do("VACUUM")
        return count

    def close(self) -> None:
        self._db.close()

    def _do(self, statement: str, values: tuple[object, ...] = ()) -> sqlite3.Cursor:
        """One statement on a file that may be damaged, or locked for too long."""
        try:
            return self._db.execute(statement, values)
        except sqlite3.Error as error:
            raise UserError(
                f"the call cache {self.path} is not usable ({error}); name another with --cache FILE"
            ) from None


def _opened(path: Path) -> sqlite3.Connection:
    """A connection with its tables. SQLite's own timeout does not cover the change of a new file to WAL: of several
    processes that open it at the same moment one would be told "locked" at once, so that answer is asked again."""
    database = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("PRAGMA synchronous=NORMAL")
            database.executescript(_SCHEMA)
            return database
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                database.close()
                raise
            time.sleep(0.01)
