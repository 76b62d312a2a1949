"""The call cache in one SQLite file, on a local disk: network file systems corrupt the WAL that lets several processes
share it, so a file there is refused. It is opened for writing, and its layout checked, before anything is paid.

A killed process loses nothing that was committed; a power cut can lose the last commits, never the file (WAL with
`synchronous=NORMAL`). A claim ends with its lease, and on the same machine at once with its process.
"""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from longmark.errors import UserError
from longmark.models import stores
from longmark.models.stores import INDEX, TABLES, Lookup, Seen, Store, StoreTurn, Wish
from longmark.places import expanded, real
from longmark.writing import database as opened
from longmark.writing import folder

# SQLite's user_version of files that this version writes; 2 had no compressed replies; 1 had no ledger; 0: made before
# there was a number
_LAYOUT = 3
_BEFORE = {
    "calls": ["key", "kind", "model", "created", "usd", "reply"],
    "claims": ["key", "owner", "until"],
}
_BEFORE["batch_lines"] = ["key", "batch", "status", "result", "fetched"]
# how the names of network file systems begin
_SHARED = (
    "nfs",
    "cifs",
    "smb",
    "lustre",
    "ceph",
    "gpfs",
    "beegfs",
    "glusterfs",
    "afs",
    "fuse.sshfs",
    "fuse.glusterfs",
)
_ROOM = 8 << 20
_ROOM_PER_CALL = 1 << 18  # bytes of the disk that must be free before a call is sent
_PATIENCE = 30.0  # seconds to wait for another process that holds the file


class SqliteStore(Store):
    """path: the file; it and its folder are made when missing. durable: every commit is synchronised."""

    quick = True
    read_only = False
    Failure = sqlite3.Error

    def __init__(self, path: Path, *, durable: bool = False) -> None:
        super().__init__()
        self.place = self.shown = self.path = path
        self._sessions: dict[str, int] = {}  # token -> id
        if (kind := file_system(path)).startswith(_SHARED):
            raise UserError(
                f"the call cache {path} is on a network file system ({kind}), where SQLite files can be corrupted; "
                "name one on a local disk with --cache FILE, or set LONGMARK_HOME"
            )
        try:
            folder(path.parent)
            self.db = _opened(path, "FULL" if durable else "NORMAL")
        except (OSError, sqlite3.Error) as error:
            raise UserError(
                f"the call cache {path} cannot be opened ({error}); name another file"
            ) from None

    def do(self, statement: str, values: Iterable[object] = ()) -> Any:
        """One statement on a file that may be damaged, or locked for too long."""
        try:
            return self.db.execute(statement, tuple(values))
        except sqlite3.Error as error:
            raise self._unusable(error) from None

    def many(self, statement: str, rows: Iterable[Iterable[object]]) -> int:
        try:
            return self.db.executemany(statement, map(tuple, rows)).rowcount
        except sqlite3.Error as error:
            raise self._unusable(error) from None

    def _unusable(self, error: Exception) -> UserError:
        return UserError(
            f"the call cache {self.path} is not usable ({error}); free some space, or name another with --cache FILE, "
            "then repeat the command"
        )

    @contextmanager
    def unit(self) -> Iterator[None]:
        self.do("BEGIN IMMEDIATE")
        try:
            yield
            self.do("COMMIT")
        finally:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")

    def now(self) -> float:
        return time.time()

    def commit(self, turn: StoreTurn) -> None:
        now = time.time()
        try:
            self.db.execute("BEGIN IMMEDIATE")
            self.db.executemany(
                "INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(*put[:3], now, *put[3:]) for put in turn.puts],
            )
            self.db.executemany(
                "UPDATE attempts SET state = ?, status = ?, prompt = ?, cached_prompt = ?, completion = ?, usd = ? "
                "WHERE id = ?",
                [(*end, id_) for id_, *end in turn.ended],
            )
            self.db.executemany(
                "DELETE FROM attempts WHERE id = ?", [(attempt,) for attempt in turn.withdrawn]
            )
            ours = "WHERE key = ? AND owner = ?"
            self.db.executemany(
                f"DELETE FROM claims {ours}", [(key, self.owner) for key in turn.freed]
            )
            self.db.executemany(
                f"UPDATE claims SET until = 0.0 {ours}", [(key, self.owner) for key in turn.left]
            )
            if turn.wanted:
                self._grant(turn.wanted)
            self.db.execute("COMMIT")
        except BaseException:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")
            self._sessions.clear()
            raise

    def _grant(self, wishes: Collection[Wish]) -> None:
        """Claims keys for each wish, and writes its attempt, within a transaction."""
        now = time.time()
        (last,) = self.db.execute("SELECT max(id) FROM attempts").fetchone()
        for number, wish in enumerate(wishes, (last or 0) + 1):
            attempt = wish.attempt
            claim = self.owner, now + stores.LEASE, attempt and number
            wish.granted |= {
                key for key in wish.keys if wish.again or self._claimed(key, claim, wish)
            }
            if attempt is None or not wish.granted:
                continue
            if wish.again:  # the claim is of this attempt now
                self.db.executemany(
                    "REPLACE INTO claims VALUES (?, ?, ?, ?)",
                    [(key, *claim) for key in wish.granted],
                )
            attempt.id = number
            first = next(key for key in wish.keys if key in wish.granted)
            most_amounts = attempt.most.prompt, attempt.most.completion, attempt.most_usd
            row = (
                self._session(attempt.session),
                1,
                first,
                len(wish.granted),
                attempt.kind,
                attempt.model,
                now,
                *most_amounts,
            )
            self.db.execute(
                "INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, NULL, NULL, NULL)",
                (number, *row, attempt.state),
            )

    def _session(self, session: tuple[str, str]) -> int:
        """The id of a client's session, made with its first attempt."""
        token, run = session
        if token not in self._sessions:
            self.db.execute(
                "INSERT OR IGNORE INTO sessions VALUES (NULL, ?, ?, ?)", (token, run, time.time())
            )
            (self._sessions[token],) = self.db.execute(
                "SELECT id FROM sessions WHERE token = ?", (token,)
            ).fetchone()
        return self._sessions[token]

    def _claimed(self, key: bytes, claim: tuple[object, ...], wish: Wish) -> bool:
        if (
            not wish.anew
            and self.db.execute("SELECT 1 FROM calls WHERE key = ?", (key,)).fetchone()
        ):
            return False
        if (
            self.db.execute(
                "INSERT OR IGNORE INTO claims VALUES (?, ?, ?, ?)", (key, *claim)
            ).rowcount
            == 1
        ):
            return True
        owner, until, attempt = self.db.execute(
            "SELECT owner, until, attempt FROM claims WHERE key = ?", (key,)
        ).fetchone()
        if self.is_held(owner, until, time.time()):
            return False
        self._end_of(attempt)
        unknown = "SELECT 1 FROM attempts WHERE id = ? AND state = 'unknown'"
        if not wish.resend and self.db.execute(unknown, (attempt,)).fetchone():
            return False  # its process has died since the caller looked
        self.db.execute("REPLACE INTO claims VALUES (?, ?, ?, ?)", (key, *claim))
        return True

    def _end_of(self, attempt: int | None) -> None:
        """What becomes of an attempt whose process has died."""
        self.do("UPDATE attempts SET state = 'unknown' WHERE id = ? AND state = 'sent'", (attempt,))
        self.do("DELETE FROM attempts WHERE id = ? AND state = 'queued'", (attempt,))

    @staticmethod
    def is_held(owner: Any, until: Any, now: float) -> bool:
        """Whether a claim holds: its lease runs, and its owner is no dead process of this machine. A claim that cannot
        be read, or of a clock that is far ahead, does not hold."""
        if not isinstance(until, float) or not now < until <= now + 2 * stores.LEASE:
            return False
        match str(owner).rsplit(" ", 2):
            case [node, pid, _] if pid.isdecimal() and len(pid) < 10:
                if (
                    node != platform.node() or os.name == "nt"
                ):  # where signal 0 would end the process
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

    def look(self, look: Lookup) -> Seen:
        replies = {}
        for key in look.keys:
            if (
                stored := self.do("SELECT reply, usd FROM calls WHERE key = ?", (key,)).fetchone()
            ) is not None:
                replies[key] = stored
        return Seen(
            replies, self.held([key for key in look.keys if look.every or key not in replies])
        )

    def held(self, keys: Collection[bytes]) -> set[bytes]:
        now = time.time()
        query = "SELECT key, owner, until FROM claims WHERE key = ?"
        claims = (claim for key in keys for claim in self.do(query, (key,)))
        return {key for key, owner, until in claims if self.is_held(owner, until, now)}

    def bury(self) -> None:
        now = time.time()
        with self.unit():
            for key, owner, until, attempt in self.do("SELECT * FROM claims").fetchall():
                if self.is_held(owner, until, now):
                    continue
                self._end_of(attempt)
                self.do(
                    "DELETE FROM claims WHERE key = ? AND NOT EXISTS "
                    "(SELECT 1 FROM attempts WHERE id = claims.attempt AND state = 'unknown')",
                    (key,),
                )

    def ids(self, count: int) -> Sequence[int]:
        (last,) = self.do("SELECT coalesce(max(id), 0) FROM attempts").fetchone()
        return range(last + 1, last + 1 + count)

    def renew(self) -> None:
        with suppress(sqlite3.Error):
            self.db.execute(
                "UPDATE claims SET until = ? WHERE owner = ? AND until > 0",
                (time.time() + stores.LEASE, self.owner),
            )

    def durable(self) -> Store:
        return SqliteStore(self.path, durable=True)

    def check_room(self, calls: int) -> None:
        try:
            free = shutil.disk_usage(self.path.parent).free
        except OSError:
            return  # putting a reply there says what is wrong
        if free < (needed := _ROOM + calls * _ROOM_PER_CALL):
            raise UserError(
                f"the disk of the call cache {self.path} has {free >> 20:,} MiB free, and {calls:,} replies need "
                f"{needed >> 20:,}; free some space, then repeat the command to resume"
            )

    def shrink(self) -> None:
        self.do("VACUUM")

    def one_file(self) -> None:
        """Puts everything into the one file, for whoever gets it."""
        self.do("PRAGMA wal_checkpoint(TRUNCATE)")
        self.do("PRAGMA journal_mode = DELETE")

    def close(self) -> None:
        self.db.close()


def _opened(path: Path, synchronous: str) -> sqlite3.Connection:
    """A connection with its tables. SQLite's own timeout does not cover the change of a new file to WAL (of several
    processes that open it at the same moment one gets "locked" at once), so that is tried again."""
    database = opened(
        path, named=True, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
    )
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            database.execute("PRAGMA trusted_schema=OFF")
            if not (as_made := _objects(database) == _own_objects()):
                _refuse_other_objects(database, path)
                _check_own(database, path)
            database.execute("PRAGMA journal_mode=WAL")
            database.execute(f"PRAGMA synchronous={synchronous}")
            _prepare(database, path, as_made=as_made)
            return database
        except UserError:
            database.close()
            raise
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                database.close()
                raise
            time.sleep(0.01)


def _objects(database: sqlite3.Connection) -> set[tuple[str, ...]]:
    """Everything that a database declares, in the words of whoever declared it."""
    return set(database.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"))


@cache
def _own_objects() -> set[tuple[str, ...]]:
    """What this version declares. A file that has just this needs no other look."""
    with closing(sqlite3.connect(":memory:")) as fresh:
        _make(fresh, ())
        fresh.execute(INDEX)
        return _objects(fresh)


def _refuse_other_objects(database: sqlite3.Connection, path: Path) -> None:
    """UserError where something under the name of a table of ours is no plain table, or does something when it is read
    or written: a view, which may compute without end, a virtual table, generated columns, a trigger."""
    objects = database.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE type != 'index'"
    )
    for kind, name, table, sql in objects:
        if table not in TABLES and name not in TABLES:
            continue
        text = " ".join(str(sql or "").split()).upper()
        if kind != "table" or not text.startswith("CREATE TABLE") or _has_computed(database, name):
            raise UserError(
                f"the call cache {path} has a {kind} {name} that longmark did not make: nothing of it is read. Name "
                "another cache or bundle"
            )


def _check_own(database: sqlite3.Connection, path: Path) -> None:
    """UserError for a database of something else, before anything of it is changed."""
    columns = _columns(database)
    if columns and "calls" not in columns:
        raise UserError(
            f"the call cache {path} is a database of something else; name another file with --cache FILE"
        )
    if columns and columns["calls"] not in (_wanted()["calls"], _BEFORE["calls"]):
        raise _of_another_version(path, database.execute("PRAGMA user_version").fetchone()[0])


def _has_computed(database: sqlite3.Connection, table: str) -> bool:
    """Whether a table has columns that are computed when they are read."""
    return any(row[-1] for row in database.execute("SELECT * FROM pragma_table_xinfo(?)", (table,)))


def _prepare(database: sqlite3.Connection, path: Path, *, as_made: bool) -> None:
    """Makes the tables that are missing. UserError where others stand in their place. It writes in any case, so that a
    file that cannot be written is noticed here. as_made: the file declares what this version makes."""
    layout = database.execute("PRAGMA user_version").fetchone()[0]
    if as_made and layout == _LAYOUT:
        database.execute(f"PRAGMA user_version = {_LAYOUT}")
        return
    if layout <= _LAYOUT:
        database.execute("BEGIN IMMEDIATE")
        try:
            tables_present = _columns(database)
            for table in ("calls", "batch_lines"):
                if tables_present.get(table) == _BEFORE[table]:
                    database.execute(f"ALTER TABLE {table} ADD COLUMN attempt INTEGER")
            if tables_present.get("claims") == _BEFORE["claims"]:
                _refuse_busy(database, path)
                database.execute("DROP TABLE claims")
                del tables_present["claims"]
            _make(database, tables_present)
            database.execute(INDEX)
            database.execute(f"PRAGMA user_version = {_LAYOUT}")
        except BaseException:
            database.execute("ROLLBACK")
            raise
        database.execute("COMMIT")
    if layout != _LAYOUT or not TABLES.keys() <= tables_present.keys():
        tables_present = _columns(database)
    if layout > _LAYOUT or any(
        tables_present.get(table) != columns for table, columns in _wanted().items()
    ):
        raise _of_another_version(path, layout)


def _of_another_version(path: Path, layout: int) -> UserError:
    return UserError(
        f"the call cache {path} was made by another version of longmark (layout {layout}, this version "
        f"reads up to {_LAYOUT}); name another with --cache FILE"
    )


def _make(database: sqlite3.Connection, tables_present: Collection[str]) -> None:
    for table, columns in TABLES.items():
        if table not in tables_present:
            database.execute(f"CREATE TABLE {table} ({columns}")


@cache
def _wanted() -> dict[str, list[str]]:
    with closing(sqlite3.connect(":memory:")) as fresh:
        _make(fresh, ())
        return _columns(fresh)


def _columns(database: sqlite3.Connection) -> dict[str, list[str]]:
    """Table -> its columns."""
    tables = (
        "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c "
        "WHERE m.type = 'table' ORDER BY m.name, c.cid"
    )
    columns: dict[str, list[str]] = {}
    for table, column in database.execute(tables):
        columns.setdefault(table, []).append(column)
    return columns


def _refuse_busy(database: sqlite3.Connection, path: Path) -> None:
    """UserError where a process of an earlier version has calls under way: it could not store their replies."""
    for owner, until in database.execute("SELECT owner, until FROM claims"):
        if SqliteStore.is_held(owner, until, time.time()):
            raise UserError(
                f"the call cache {path} is in use by an earlier version of longmark; wait until that command has ended"
            )


def file_system(path: Path, mounts: Path = Path("/proc/self/mountinfo")) -> str:
    """The kind of file system that a file stands on, as the kernel names it; "" where that cannot be told."""
    if str(path).startswith("\\\\"):
        return "smb (a UNC path)"
    try:
        lines = mounts.read_text(errors="replace").splitlines()
        place = real(expanded(path))
    except (OSError, RuntimeError):  # RuntimeError: a link to itself
        return ""
    nearest = ("", "")
    for line in lines:  # later mounts hide earlier ones
        fields, _, kinds = line.partition(" - ")
        point = fields.split(" ")[4].replace("\\040", " ").rstrip("/") + "/"
        if f"{place}/".startswith(point) and len(point) >= len(nearest[0]):
            nearest = (point, kinds.split(" ")[0])
    return nearest[1]
