"""The call cache: every paid reply, once, on disk before it is used.

One SQLite file for all runs, on a local disk: network file systems corrupt the WAL that lets several processes share
it, so a file there is refused. It is opened for writing, and its layout checked, before anything is paid. A reply's key
is a hash of the model's identity, the whole request and the sample number, never of an API key. Replies that arrive in
the same turn of the event loop are committed in one transaction. A killed process loses nothing that was committed; a
power cut can lose the last commits, never the file (WAL with `synchronous=NORMAL`).

Before a call is sent, its key is claimed: a row with an owner and a lease. Another process that needs the same reply
waits for it instead of paying again. A claim ends with its reply, with a failure, with the death of its process (seen
at once on the same machine) or with its lease.

The ledger stands in the same file: a row for every attempt, written as `sent` with the claim, before the request
leaves. It ends as `answered` with the reply, or as `unknown`, also where its process was killed (`models.ledger` reads
it). The claim of a call whose last attempt is unknown stays, held by nobody, until the call is answered.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import platform
import secrets
import shutil
import sqlite3
import time
from collections.abc import Collection, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from longmark.errors import UserError
from longmark.models.protocols import Tokens

_TABLES = {  # table -> its columns and constraints
    "calls": """key BLOB PRIMARY KEY, kind TEXT NOT NULL, model TEXT NOT NULL, created REAL NOT NULL, usd REAL,
        reply BLOB NOT NULL, attempt INTEGER) WITHOUT ROWID""",
    "facts": "endpoint TEXT NOT NULL, fact TEXT NOT NULL, PRIMARY KEY (endpoint, fact))",
    "claims": "key BLOB PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL, attempt INTEGER) WITHOUT ROWID",
    "sessions": "id INTEGER PRIMARY KEY, token TEXT NOT NULL UNIQUE, run TEXT NOT NULL, began REAL NOT NULL)",
    # count: how many attempts the line stands for; key: of the first of the calls that it made, `calls` in number;
    # status: see `Attempt.end`; most_*: what it could take
    "attempts": """id INTEGER PRIMARY KEY, session INTEGER NOT NULL, count INTEGER NOT NULL, key BLOB,
        calls INTEGER NOT NULL, kind TEXT NOT NULL, model TEXT NOT NULL, sent REAL NOT NULL,
        most_prompt INTEGER NOT NULL, most_completion INTEGER NOT NULL, most_usd REAL, state TEXT NOT NULL,
        status INTEGER, prompt INTEGER, cached_prompt INTEGER, completion INTEGER, usd REAL)""",
}
# SQLite's user_version of files that this version writes; 1 had no ledger; 0: made before there was a number
_LAYOUT = 2
_BEFORE = {"calls": ["key", "kind", "model", "created", "usd", "reply"], "claims": ["key", "owner", "until"]}
# what `take_from` does with an attached cache. Ids of its attempts are shifted. A session that is here was taken
# before. The claims are those of calls whose last attempt is unknown.
_TAKING = (
    "DROP TABLE IF EXISTS temp.taking",
    """CREATE TEMP TABLE taking AS SELECT token, (SELECT coalesce(max(id), 0) FROM main.attempts) AS shift
        FROM other.sessions WHERE token NOT IN (SELECT token FROM main.sessions)""",
    """INSERT INTO main.sessions SELECT NULL, token, run, began FROM other.sessions
        WHERE token IN (SELECT token FROM temp.taking)""",
    """INSERT INTO main.attempts SELECT a.id + taking.shift, ours.id, count, key, calls, kind, model, sent, most_prompt,
        most_completion, most_usd, state, status, prompt, cached_prompt, completion, usd FROM other.attempts AS a
        JOIN other.sessions AS theirs ON theirs.id = a.session JOIN temp.taking USING (token)
        JOIN main.sessions AS ours USING (token)""",
    """INSERT OR IGNORE INTO main.calls SELECT key, kind, model, created, usd, reply,
        (SELECT id FROM main.attempts WHERE id = theirs.attempt + taking.shift) FROM other.calls AS theirs
        LEFT JOIN (SELECT max(shift) AS shift FROM temp.taking) AS taking""",
    "INSERT OR IGNORE INTO main.facts SELECT * FROM other.facts",
    "DELETE FROM main.claims WHERE until = 0.0 AND key IN (SELECT key FROM main.calls)",
    """INSERT OR IGNORE INTO main.claims SELECT theirs.key, owner, 0.0, a.id FROM other.claims AS theirs
        JOIN (SELECT max(shift) AS shift FROM temp.taking) AS taking
        JOIN main.attempts AS a ON a.id = theirs.attempt + taking.shift AND a.state = 'unknown'
        WHERE theirs.key NOT IN (SELECT key FROM main.calls)""",
)
LEASE = 60.0  # seconds that a claim outlives its last renewal; it is renewed three times as often
# how the names of network file systems begin
_SHARED = ("nfs", "cifs", "smb", "lustre", "ceph", "gpfs", "beegfs", "glusterfs", "afs", "fuse.sshfs", "fuse.glusterfs")
_ROOM, _ROOM_PER_CALL = 8 << 20, 1 << 18  # bytes of the disk that must be free before a call is sent
_PATIENCE = 30.0  # seconds to wait for another process that holds the file


def call_key(identity: str, kind: str, request: Any) -> bytes:
    """The key of a call. request: a dataclass or JSON value; equal requests give equal keys."""
    body = orjson.dumps((identity, kind, request), option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(body).digest()


@dataclass(frozen=True, slots=True)
class CacheLine:
    """What the cache holds of one model: number of replies and their size in bytes."""

    model: str
    kind: str
    replies: int
    size: int


@dataclass(slots=True, eq=False)
class Attempt:
    """One request as it is sent, for the ledger. session: token and run of the client that sends it; most, most_usd:
    what it can take. id: of its row, from when it was written as `sent`; 0: not written, or withdrawn."""

    session: tuple[str, str]
    kind: str
    model: str
    most: Tokens = field(default_factory=Tokens)
    most_usd: float | None = None
    id: int = 0


@dataclass(frozen=True, slots=True)
class Unknown:
    """The last attempt of a call, where no reply to it was read: when it was sent (seconds since 1970), and the most
    that it can have cost in US dollars (None: not known)."""

    sent: float
    most_usd: float | None


@dataclass(slots=True)
class _Wish:
    """Keys that are wanted; granted: those that were given, once that is committed. resend: also those whose last
    attempt is unknown."""

    keys: Collection[bytes]
    attempt: Attempt | None
    anew: bool
    again: bool
    resend: bool
    granted: set[bytes] = field(default_factory=set)


class CallCache:
    """path: the SQLite file; it and its folder are made when missing. UserError where it cannot be opened."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._puts: list[tuple[bytes, str, str, float, float | None, bytes, int | None]] = []
        self._wanted: list[_Wish] = []
        self._freed: list[bytes] = []
        self._ended: list[tuple[object, ...]] = []
        self._withdrawn: list[int] = []
        self._sessions: dict[str, int] = {}  # token -> id
        self._flushed: asyncio.Future[None] | None = None
        self._flush: asyncio.Handle | None = None
        self._owner = f"{platform.node()} {os.getpid()} {secrets.token_hex(8)}"
        self._held: set[bytes] = set()
        self._renewal: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None  # of the renewal
        if (kind := _file_system(path)).startswith(_SHARED):
            raise UserError(
                f"the call cache {path} is on a network file system ({kind}), where SQLite files can be corrupted; "
                "name one on a local disk with --cache FILE, or set LONGMARK_HOME"
            )
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = _opened(path)
        except (OSError, sqlite3.Error) as error:
            raise UserError(
                f"the call cache {path} cannot be opened ({error}); name another with --cache FILE"
            ) from None

    def check_room(self, calls: int) -> None:
        """UserError where the disk has no room for the replies of so many calls, which would be paid for in vain."""
        try:
            free = shutil.disk_usage(self.path.parent).free
        except OSError:
            return  # putting a reply there says what is wrong
        if free < (needed := _ROOM + calls * _ROOM_PER_CALL):
            raise UserError(
                f"the disk of the call cache {self.path} has {free >> 20:,} MiB free, and {calls:,} replies need "
                f"{needed >> 20:,}; free some space, then repeat the command to resume"
            )

    def get(self, key: bytes) -> tuple[bytes, float | None] | None:
        """The stored reply and what it cost in US dollars (None: not known), or None where there is no reply."""
        found = self.do("SELECT reply, usd FROM calls WHERE key = ?", (key,)).fetchone()
        return found if found is None else (found[0], found[1])

    async def put(
        self, key: bytes, kind: str, model: str, reply: bytes, usd: float | None, attempt: Attempt | None = None
    ) -> None:
        """Returns when the reply is committed, with the end of the attempt that brought it if that was told before in
        the same turn of the event loop; a claim on its key ends with that."""
        self._puts.append((key, kind, model, time.time(), usd, reply, attempt.id if attempt else None))
        self._freed.append(key)
        await asyncio.shield(self._begin())

    async def claim(
        self,
        keys: Collection[bytes],
        attempt: Attempt | None = None,
        *,
        anew: bool = False,
        again: bool = False,
        resend: bool = True,
    ) -> set[bytes]:
        """Those of the keys that the caller is to request: no other process does, and there is no reply (with `anew` a
        stored reply does not count; with `again` the caller has claimed them before; without `resend` those whose
        last attempt is unknown are left out). The attempt that makes these calls is written as sent, if there are any.
        The caller ends each claim by `put` or `release`."""
        wish = _Wish(keys, attempt, anew, again, resend)
        self._wanted.append(wish)
        commit = self._begin()
        if again and self._flush is not None:  # at once, so that what a call has learnt goes before new calls
            self._flush.cancel()
            self._commit()
        try:
            await asyncio.shield(commit)
        except asyncio.CancelledError:
            commit.add_done_callback(lambda _done: self._undo(wish))
            raise
        loop = asyncio.get_running_loop()
        if wish.granted and (self._renewal is None or self._loop is not loop):
            self._loop, self._renewal = loop, loop.call_later(LEASE / 3, self._renew)
        return wish.granted

    def _undo(self, wish: _Wish) -> None:
        if wish.attempt is not None:
            self.withdraw(wish.attempt)
        self.release(wish.granted)

    def end(
        self,
        attempt: Attempt,
        state: str,
        status: int | None = None,
        tokens: Tokens | None = None,
        usd: float | None = None,
    ) -> None:
        """How an attempt ended; written at the end of this turn of the event loop. state: `answered`, `unknown` (no
        reply was read, and it may have been billed) or `unreached` (there was no connection). status: 200 for a reply,
        an error's HTTP status, None where it had none. tokens, usd: as counted; None: not known."""
        counts = (None, None, None) if tokens is None else (tokens.prompt, tokens.cached_prompt, tokens.completion)
        self._ended.append((state, status, *counts, usd, attempt.id))
        self._begin()

    def withdraw(self, attempt: Attempt) -> None:
        """An attempt that was written as sent did not leave: its row is deleted."""
        if attempt.id:
            self._withdrawn.append(attempt.id)
            attempt.id = 0
            self._begin()

    def release(self, keys: Collection[bytes], *, unknown: bool = False) -> None:
        """Ends claims without a reply, where any are left. unknown: their last attempt may have been billed; then it is
        kept who it was, for `unknown`, and anybody may claim the keys."""
        held = [key for key in keys if key in self._held]
        if unknown:
            self._held.difference_update(held)
            with suppress(sqlite3.Error):  # else it is held until its lease ends, and unknown then
                self._db.executemany(
                    "UPDATE claims SET until = 0.0 WHERE key = ? AND owner = ?", [(key, self._owner) for key in held]
                )
            return
        self._freed += held
        if self._freed:
            self._begin()

    def held(self, keys: Iterable[bytes]) -> set[bytes]:
        """Those of the keys that somebody has claimed."""
        now = time.time()
        query = "SELECT key, owner, until FROM claims WHERE key = ?"
        claims = (claim for key in keys for claim in self.do(query, (key,)))
        return {key for key, owner, until in claims if self._is_held(owner, until, now)}

    def unknown(self, keys: Iterable[bytes]) -> dict[bytes, Unknown]:
        """Those of the keys whose last attempt is unknown: no reply was read, and it may have been billed."""
        found, now = {}, time.time()
        query = """SELECT owner, until, sent, most_usd FROM claims JOIN attempts ON attempts.id = claims.attempt
            WHERE claims.key = ? AND state IN ('sent', 'unknown')"""
        for key in keys:
            for owner, until, sent, most_usd in self.do(query, (key,)):
                if not self._is_held(owner, until, now):
                    found[key] = Unknown(sent, most_usd)
        return found

    def _begin(self) -> asyncio.Future[None]:
        """The commit at the end of this turn of the event loop."""
        if self._flushed is None:
            loop = asyncio.get_running_loop()
            self._flushed = loop.create_future()
            self._flush = loop.call_soon(self._commit)
        return self._flushed

    def _commit(self) -> None:
        done, self._flushed = self._flushed, None
        puts, wanted, freed, ended, withdrawn = self._puts, self._wanted, self._freed, self._ended, self._withdrawn
        self._puts, self._wanted, self._freed, self._ended, self._withdrawn = [], [], [], [], []
        assert done is not None
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?)", puts)
            self._db.executemany(
                "UPDATE attempts SET state = ?, status = ?, prompt = ?, cached_prompt = ?, completion = ?, usd = ? "
                "WHERE id = ?",
                ended,
            )
            self._db.executemany("DELETE FROM attempts WHERE id = ?", [(one,) for one in withdrawn])
            self._db.executemany(
                "DELETE FROM claims WHERE key = ? AND owner = ?", [(key, self._owner) for key in freed]
            )
            if wanted:
                self._grant(wanted)
            self._db.execute("COMMIT")
        except Exception as error:  # whatever it is: those who wait must hear of it
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            self._ended[:0] = ended  # what became of attempts is told with the next commit
            self._withdrawn[:0] = withdrawn
            self._sessions.clear()
            for wish in wanted:
                wish.granted.clear()
            done.set_exception(
                UserError(f"the call cache {self.path} cannot be written ({error}); repeat the command to resume")
                if isinstance(error, sqlite3.Error)
                else error
            )
            done.exception()  # a `release` waits for nothing: that is no "exception never retrieved"
        else:
            self._held.difference_update(freed)
            self._held.update(*(wish.granted for wish in wanted))
            done.set_result(None)

    def _grant(self, wanted: Collection[_Wish]) -> None:
        """Claims keys for each wish, and writes its attempt, within a transaction."""
        now = time.time()
        (last,) = self._db.execute("SELECT max(id) FROM attempts").fetchone()
        for number, wish in enumerate(wanted, (last or 0) + 1):
            attempt = wish.attempt
            claim = self._owner, now + LEASE, attempt and number
            wish.granted |= {key for key in wish.keys if wish.again or self._claimed(key, claim, wish)}
            if attempt is None or not wish.granted:
                continue
            if wish.again:  # the claim is of this attempt now
                self._db.executemany("REPLACE INTO claims VALUES (?, ?, ?, ?)", [(key, *claim) for key in wish.granted])
            attempt.id = number
            first = next(key for key in wish.keys if key in wish.granted)
            most = attempt.most.prompt, attempt.most.completion, attempt.most_usd
            row = self._session(attempt.session), 1, first, len(wish.granted), attempt.kind, attempt.model, now, *most
            self._db.execute(
                "INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'sent', NULL, NULL, NULL, NULL, NULL)",
                (number, *row),
            )

    def _session(self, session: tuple[str, str]) -> int:
        """The id of a client's session, made with its first attempt."""
        token, run = session
        if token not in self._sessions:
            self._db.execute("INSERT OR IGNORE INTO sessions VALUES (NULL, ?, ?, ?)", (token, run, time.time()))
            (self._sessions[token],) = self._db.execute("SELECT id FROM sessions WHERE token = ?", (token,)).fetchone()
        return self._sessions[token]

    def _claimed(self, key: bytes, claim: tuple[object, ...], wish: _Wish) -> bool:
        if not wish.anew and self._db.execute("SELECT 1 FROM calls WHERE key = ?", (key,)).fetchone():
            return False
        if self._db.execute("INSERT OR IGNORE INTO claims VALUES (?, ?, ?, ?)", (key, *claim)).rowcount == 1:
            return True
        owner, until, attempt = self._db.execute(
            "SELECT owner, until, attempt FROM claims WHERE key = ?", (key,)
        ).fetchone()
        if self._is_held(owner, until, time.time()):
            return False
        self._lose(attempt)
        unknown = "SELECT 1 FROM attempts WHERE id = ? AND state = 'unknown'"
        if not wish.resend and self._db.execute(unknown, (attempt,)).fetchone():
            return False  # its process has died since the caller looked
        self._db.execute("REPLACE INTO claims VALUES (?, ?, ?, ?)", (key, *claim))
        return True

    @staticmethod
    def _is_held(owner: Any, until: Any, now: float) -> bool:
        """Whether a claim holds: its lease runs, and its owner is no dead process of this machine. A claim that cannot
        be read, or of a clock that is far ahead, does not hold."""
        if not isinstance(until, float) or not now < until <= now + 2 * LEASE:
            return False
        match str(owner).rsplit(" ", 2):
            case [node, pid, _] if pid.isdecimal() and len(pid) < 10:
                if node != platform.node() or os.name == "nt":  # where signal 0 would end the process
                    return True
            case _:
                return False
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            return False
        except OSError:  # it is another user's
            pass
        return True

    def _renew(self) -> None:
        self._renewal = None
        if self._held:
            with suppress(sqlite3.Error):  # the next renewal comes before the lease ends
                self._db.execute(
                    "UPDATE claims SET until = ? WHERE owner = ? AND until > 0", (time.time() + LEASE, self._owner)
                )
            self._renewal = asyncio.get_running_loop().call_later(LEASE / 3, self._renew)

    def known(self, endpoint: str, fact: str) -> bool:
        """Whether an endpoint is known for something (`text-only`: it refuses JSON schemas)."""
        found = self.do("SELECT 1 FROM facts WHERE endpoint = ? AND fact = ?", (endpoint, fact)).fetchone()
        return found is not None

    def remember(self, endpoint: str, fact: str) -> None:
        """Keeps a fact about an endpoint for later runs."""
        self.do("INSERT OR IGNORE INTO facts VALUES (?, ?)", (endpoint, fact))

    def lines(self) -> list[CacheLine]:
        """What the cache holds, by model and kind of call."""
        query = "SELECT model, kind, count(*), sum(length(reply)) FROM calls GROUP BY model, kind ORDER BY model, kind"
        return [CacheLine(*line) for line in self.do(query)]

    def clear(self, model: str | None = None) -> tuple[int, int]:
        """Deletes the replies of one model, or all, with the facts about their endpoints and the ledger of attempts
        that are not under way; how many replies and attempts there were."""
        self.bury()
        attempts = self.do("DELETE FROM attempts WHERE state <> 'sent' AND ?1 IN (model, '')", (model or "",)).rowcount
        self.bury()
        if model is None:
            count = self.do("DELETE FROM calls").rowcount
            self.do("DELETE FROM facts")
        else:
            count = self.do("DELETE FROM calls WHERE model = ?", (model,)).rowcount
            name = model.removeprefix("openai:")  # facts are kept by model and base URL
            self.do(
                "DELETE FROM facts WHERE endpoint = ? OR endpoint LIKE ?", (name, f"{name}@https://api.openai.com/%")
            )
        self.do("VACUUM")
        return count, attempts

    def ledger_size(self) -> tuple[int, int]:
        """Rows of the ledger, and their size in bytes, about."""
        row = self.do("SELECT count(*), sum(length(model) + length(kind) + 90) FROM attempts").fetchone()
        return row[0], row[1] or 0

    def copy_from(self, other: CallCache, keys: Collection[bytes]) -> None:
        """Takes over the replies of these keys; the ledger stays where it is."""
        self.do("BEGIN")
        for key in keys:
            for row in other.do("SELECT key, kind, model, created, usd, reply FROM calls WHERE key = ?", (key,)):
                self.do("INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?, NULL)", row)
        self.do("COMMIT")
        self.do("PRAGMA wal_checkpoint(TRUNCATE)")
        self.do("PRAGMA journal_mode = DELETE")  # one file, for whoever gets it

    def take_from(self, path: Path) -> tuple[int, int]:
        """Takes over what another cache's file has and this one has not, with the ledger of its sessions: how many
        replies; and how many calls have another reply there, which stay as they are here. UserError where the file is
        missing or no call cache."""
        if not path.is_file():
            raise UserError(f"the call cache {path} does not exist")
        with closing(CallCache(path)) as other:  # it can be read by this version
            other.bury()
        self.do("ATTACH ? AS other", (str(path),))
        try:
            self.do("BEGIN IMMEDIATE")
            differ = (
                "SELECT count(*) FROM calls JOIN other.calls AS theirs USING (key) WHERE calls.reply != theirs.reply"
            )
            others, taken = self.do(differ).fetchone()[0], 0
            for statement in _TAKING:
                count = self.do(statement).rowcount
                taken = count if "INTO main.calls" in statement else taken
            self.do("COMMIT")
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            self.do("DETACH other")
        return taken, others

    def close(self) -> None:
        """Ends the claims that are left, and closes the file."""
        if self._renewal is not None:
            self._renewal.cancel()
        if self._flush is not None and self._flushed is not None:
            self._flush.cancel()
            with suppress(RuntimeError):  # whoever waits for it has no loop any more
                self._commit()
        with suppress(sqlite3.Error, UserError):  # whoever opens the file next does it
            if self._held:
                self._db.execute("UPDATE claims SET until = 0.0 WHERE owner = ?", (self._owner,))
                self.bury()
        self._db.close()

    def bury(self) -> None:
        """Ends the claims that nobody holds any more. Their attempts that are still `sent` become `unknown`; the claims
        of those stay, for `unknown`."""
        now = time.time()
        self.do("BEGIN IMMEDIATE")
        for key, owner, until, attempt in self.do("SELECT * FROM claims").fetchall():
            if not self._is_held(owner, until, now):
                self._lose(attempt)
                self.do(
                    "DELETE FROM claims WHERE key = ? AND NOT EXISTS "
                    "(SELECT 1 FROM attempts WHERE id = claims.attempt AND state = 'unknown')",
                    (key,),
                )
        self.do("COMMIT")

    def _lose(self, attempt: int | None) -> None:
        """An attempt whose process has ended: unknown, if it did not end before."""
        self._db.execute("UPDATE attempts SET state = 'unknown' WHERE id = ? AND state = 'sent'", (attempt,))

    def do(self, statement: str, values: tuple[object, ...] = ()) -> sqlite3.Cursor:
        """One statement on a file that may be damaged, or locked for too long."""
        try:
            return self._db.execute(statement, values)
        except sqlite3.Error as error:
            raise UserError(
                f"the call cache {self.path} is not usable ({error}); name another with --cache FILE"
            ) from None


def _opened(path: Path) -> sqlite3.Connection:
    """A connection with its tables. SQLite's own timeout does not cover the change of a new file to WAL (of several
    processes that open it at the same moment one gets "locked" at once), so that is tried again."""
    database = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("PRAGMA synchronous=NORMAL")
            _prepare(database, path)
            return database
        except UserError:
            database.close()
            raise
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                database.close()
                raise
            time.sleep(0.01)


def _prepare(database: sqlite3.Connection, path: Path) -> None:
    """Makes the tables that are missing. UserError where others stand in their place. It writes in any case, so that a
    file that cannot be written is noticed here."""
    layout = database.execute("PRAGMA user_version").fetchone()[0]
    if layout <= _LAYOUT:
        database.execute("BEGIN IMMEDIATE")
        try:
            if _columns(database, "calls") == _BEFORE["calls"]:
                database.execute("ALTER TABLE calls ADD COLUMN attempt INTEGER")
            if _columns(database, "claims") == _BEFORE["claims"]:
                _refuse_busy(database, path)
                database.execute("DROP TABLE claims")
            for table, columns in _TABLES.items():
                database.execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns}")
            database.execute(f"PRAGMA user_version = {_LAYOUT}")
        except BaseException:
            database.execute("ROLLBACK")
            raise
        database.execute("COMMIT")
    with closing(sqlite3.connect(":memory:")) as fresh:
        for table, columns in _TABLES.items():
            fresh.execute(f"CREATE TABLE {table} ({columns}")
            if layout > _LAYOUT or _columns(database, table) != _columns(fresh, table):
                raise UserError(
                    f"the call cache {path} was made by another version of longmark (layout {layout}, this version "
                    f"reads up to {_LAYOUT}); name another with --cache FILE"
                )


def _columns(database: sqlite3.Connection, table: str) -> list[str]:
    return [column[1] for column in database.execute(f"PRAGMA table_info({table})")]


def _refuse_busy(database: sqlite3.Connection, path: Path) -> None:
    """UserError where a process of an earlier version has calls under way: it could not store their replies."""
    for owner, until in database.execute("SELECT owner, until FROM claims"):
        if CallCache._is_held(owner, until, time.time()):
            raise UserError(
                f"the call cache {path} is in use by an earlier version of longmark; wait until that command has ended"
            )


def _file_system(path: Path, mounts: Path = Path("/proc/self/mountinfo")) -> str:
    """The kind of file system that a file stands on, as the kernel names it; "" where that cannot be told."""
    if str(path).startswith("\\\\"):
        return "smb (a UNC path)"
    try:
        lines = mounts.read_text(errors="replace").splitlines()
        place = path.expanduser().resolve()
    except (OSError, RuntimeError):  # RuntimeError: a link to itself
        return ""
    found = (Path("/"), "")
    for line in lines:  # later mounts hide earlier ones
        fields, _, kinds = line.partition(" - ")
        point = Path(fields.split(" ")[4].replace("\\040", " "))
        if place.is_relative_to(point) and len(point.parts) >= len(found[0].parts):
            found = (point, kinds.split(" ")[0])
    return found[1]
