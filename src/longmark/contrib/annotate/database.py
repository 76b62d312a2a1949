"""The file that holds a study's people and labels: one SQLite database, changed in whole units, committed in groups.

A unit is what one request does: all of its writes, or none. Units that come together share one transaction, and each
is answered after its commit, which is on the disk (WAL with `synchronous=FULL`): nothing that was acknowledged is lost,
neither by `kill -9` nor by a power cut. The SQL is portable; what belongs to SQLite alone is in this module.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from longmark.errors import UserError
from longmark.records.files import DEPTH, flaw, own_json
from longmark.writing import database, make_private, replacing_path

_PATIENCE = 10.0  # seconds to wait for another process that writes

# Numbered from 1; a number that was released never changes.
MIGRATIONS = (
    """
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE people (
        id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, role TEXT NOT NULL, active INTEGER NOT NULL,
        password TEXT, created_at TEXT NOT NULL
    );
    CREATE TABLE invitations (
        id TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, person_id TEXT NOT NULL REFERENCES people (id),
        created_at TEXT NOT NULL, expires_at TEXT, opened_at TEXT, revoked_at TEXT
    );
    CREATE TABLE sessions (
        hash TEXT PRIMARY KEY, person_id TEXT NOT NULL REFERENCES people (id),
        invitation_id TEXT REFERENCES invitations (id), created_at TEXT NOT NULL, expires_at TEXT NOT NULL
    );
    CREATE TABLE items (id TEXT PRIMARY KEY, place INTEGER NOT NULL, content TEXT NOT NULL, imported_at TEXT NOT NULL);
    CREATE TABLE assignments (
        item_id TEXT NOT NULL REFERENCES items (id), person_id TEXT NOT NULL REFERENCES people (id),
        swapped INTEGER NOT NULL, status TEXT NOT NULL, reason TEXT, given_at TEXT NOT NULL, done_at TEXT,
        position INTEGER NOT NULL, kind TEXT NOT NULL, PRIMARY KEY (item_id, person_id)
    );
    CREATE INDEX assignments_of_person ON assignments (person_id, position);
    CREATE TABLE answers (
        item_id TEXT NOT NULL REFERENCES items (id), person_id TEXT NOT NULL REFERENCES people (id),
        content TEXT NOT NULL, version INTEGER NOT NULL, saved_at TEXT NOT NULL, complete INTEGER NOT NULL,
        suggestions_shown INTEGER NOT NULL, page TEXT NOT NULL, page_count INTEGER NOT NULL,
        PRIMARY KEY (item_id, person_id)
    );
    CREATE TABLE adjudications (
        item_id TEXT PRIMARY KEY REFERENCES items (id), person_id TEXT NOT NULL REFERENCES people (id),
        content TEXT NOT NULL, justification TEXT NOT NULL, decided_at TEXT NOT NULL
    );
    CREATE TABLE visits (
        id TEXT NOT NULL, item_id TEXT NOT NULL REFERENCES items (id), person_id TEXT NOT NULL REFERENCES people (id),
        seconds REAL NOT NULL, started_at TEXT NOT NULL, PRIMARY KEY (person_id, id)
    );
    CREATE INDEX visits_of_item ON visits (item_id, person_id);
    CREATE TABLE posts (
        person_id TEXT NOT NULL REFERENCES people (id), once TEXT NOT NULL, location TEXT NOT NULL, at TEXT NOT NULL,
        PRIMARY KEY (person_id, once)
    );
    CREATE TABLE events (
        number INTEGER PRIMARY KEY, at TEXT NOT NULL, person_id TEXT, kind TEXT NOT NULL, item_id TEXT,
        content TEXT NOT NULL
    );
    CREATE INDEX events_of_item ON events (item_id, person_id);
    """,
)


_RESTORE = "restore a backup with `longmark annotate restore`"
_OWN_TABLES = {
    "migrations",
    "settings",
    "people",
    "items",
    "answers",
    "events",
}  # by which a study is known


def utc_now() -> str:
    """The time as it is stored: ISO 8601 in UTC, with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class StoreFailed(Exception):
    """The database did not take what it was given (a full disk, say): nothing of the group is saved."""


class Database:
    """path: of the SQLite file. create: make it; otherwise UserError where there is none."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        if not create and not path.is_file():
            raise UserError(
                f"{path}: the file does not exist; create it with `longmark annotate import STUDY.yaml`"
            )
        self._group: asyncio.Future[None] | None = None
        self._inside = False
        try:
            self._db = _connect(path)
            self._migrate()
            if wrong := damage(self._db):
                self._db.close()
                raise UserError(f"{path} is damaged ({wrong}); {_RESTORE}")
        except sqlite3.Error as error:
            remedy = "; its folder must be writable" if not path.is_file() else ""
            raise UserError(
                f"{path} cannot be opened as the database of a study ({error}){remedy}"
            ) from None
        self._foreign = self._version()

    def close(self) -> None:
        try:
            self.commit()
        finally:
            with suppress(sqlite3.Error):
                self._db.close()

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._db.execute(sql, values).fetchall()
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:
                raise
            raise UserError(f"{self.path} is damaged ({error}); {_RESTORE}") from None

    def row(self, sql: str, values: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        rows = self.rows(sql, values)
        return rows[0] if rows else None

    def write(self, sql: str, values: Sequence[Any] = ()) -> int:
        """The number of changed rows. Only inside a unit."""
        assert self._inside, "a write outside of a unit"
        return self._db.execute(sql, values).rowcount

    def write_many(self, sql: str, values: Iterable[Sequence[Any]]) -> None:
        assert self._inside, "a write outside of a unit"
        self._db.executemany(sql, values)

    @contextmanager
    def unit(self) -> Iterator[None]:
        """All writes inside take effect, or none. Units may be nested; the outermost counts. No `await` inside."""
        if self._inside:
            yield
            return
        try:
            if not self._db.in_transaction:
                self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("SAVEPOINT unit")
        except sqlite3.Error as error:
            raise StoreFailed(str(error)) from error
        self._inside = True
        try:
            yield
            self._db.execute("RELEASE unit")
        except BaseException as error:
            self.forget()
            with suppress(sqlite3.Error):  # a full disk ends the whole transaction by itself
                self._db.execute("ROLLBACK TO unit")
                self._db.execute("RELEASE unit")
            if isinstance(error, sqlite3.Error):
                raise StoreFailed(str(error)) from error
            raise
        finally:
            self._inside = False

    @contextmanager
    def committing(self) -> Iterator[None]:
        """A unit, committed at its end: for commands. UserError where the database does not take it."""
        try:
            with self.unit():
                yield
            self.commit()
        except StoreFailed as error:
            why = f"{self.path} cannot be written ({error}); nothing was changed. Is the disk full? If not, {_RESTORE}"
            raise UserError(why) from error

    def value(self, text: Any, place: str, kind: type = dict) -> Any:
        """The JSON value that a cell of the database holds. UserError for another text than longmark wrote there."""
        try:
            value = own_json(text)
            if not isinstance(value, kind) or flaw(value, 2 * DEPTH):
                raise ValueError
            return value
        except (ValueError, TypeError):
            raise self.damaged(place) from None

    def damaged(self, place: str) -> UserError:
        """The error for a content that is not what longmark wrote. place: what it is, and where."""
        return UserError(f"{self.path} is damaged ({place} cannot be read); {_RESTORE}")

    def commit(self) -> None:
        """Ends the open group. StoreFailed where it could not be written; then nothing of it is saved."""
        if not self._db.in_transaction:
            return
        try:
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            self.forget()
            raise StoreFailed(str(error)) from error

    async def committed(self) -> None:
        """Returns when all units so far are on the disk. Those that wait in the same turn share one commit."""
        if not self._db.in_transaction:
            return
        if self._group is None:
            loop = asyncio.get_running_loop()
            self._group = loop.create_future()
            loop.call_soon(self._end_group, self._group)
        await asyncio.shield(self._group)

    def _end_group(self, group: asyncio.Future[None]) -> None:
        self._group = None
        try:
            self.commit()
        except StoreFailed as error:
            group.set_exception(error)
            group.exception()  # noted as read: those who wait may have gone
        else:
            group.set_result(None)

    def forget(self) -> None:
        """What is held in memory is read again: a group was lost, or another process wrote."""

    def refresh(self) -> None:
        """Notices what another process has written."""
        if (version := self._version()) != self._foreign:
            self._foreign = version
            self.forget()

    def _version(self) -> int:
        return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    def _migrate(self) -> None:
        db = self._db
        db.execute(
            "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, applied_at TEXT NOT NULL)"
        )
        applied = int(db.execute("SELECT COALESCE(MAX(number), 0) FROM migrations").fetchone()[0])
        if applied > len(MIGRATIONS):
            raise UserError(
                f"{self.path} was written by a newer version of longmark; update longmark"
            )
        for number, script in enumerate(MIGRATIONS[applied:], applied + 1):
            db.execute("BEGIN IMMEDIATE")
            for statement in filter(str.strip, script.split(";")):
                db.execute(statement)
            db.execute(
                "INSERT INTO migrations (number, applied_at) VALUES (?, ?)", (number, utc_now())
            )
            db.execute("COMMIT")

    def compact(self) -> None:
        """Writes the file anew: what was deleted is not in it any more, nor in its log."""
        self.commit()
        self._db.execute("VACUUM")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def backup(self, to: Path) -> None:
        """Writes a consistent copy, also while a server writes. UserError where that cannot be written, and where
        `restore` would refuse it."""
        if os.path.lexists(to):
            raise UserError(f"{to} exists already; give another name with --out FILE")
        try:
            with replacing_path(to, private=True) as part:
                with closing(database(part)) as copy:
                    self._db.backup(copy)
                    copy.execute("PRAGMA journal_mode=DELETE")
                check_whole(part, self.path)
        except (OSError, sqlite3.Error) as error:
            raise UserError(
                f"{to} cannot be written ({error}); name a file in another folder with --out"
            ) from None


def checked(path: Path) -> str:
    """The id of the study of an undamaged database, which is only read. UserError for any other file."""
    if not path.is_file():
        raise UserError(f"{path} is no file; name a backup that `longmark annotate backup` wrote")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            sound = db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
            (id,) = db.execute("SELECT value FROM settings WHERE name = 'id'").fetchone() or ("",)
            its_own = _is_of_a_study(db)
            wrong = damage(db) if its_own else ""
    except sqlite3.Error as error:
        raise UserError(f"{path} is not the database of a study ({error})") from None
    if not its_own:
        raise UserError(f"{path} is not the database of a study")
    if not sound or wrong:
        raise UserError(f"{path} is damaged{f' ({wrong})' if wrong else ''}; use another backup")
    return str(id)


def check_whole(path: Path, original: Path | None = None) -> None:
    """UserError where `restored` would refuse a database, or a copy of the `original`."""
    try:
        checked(path)
    except UserError as error:
        why = f"{original or path} is damaged: a copy of it could not be restored. Restore an earlier backup"
        raise UserError(why) from error


def _connect(path: Path) -> sqlite3.Connection:
    """A connection to the database of a study. Nothing of a file is changed, not even its mode, before its tables say
    that it is one."""
    db = database(
        path, private=True, timeout=_PATIENCE, isolation_level=None, cached_statements=256
    )
    try:
        if not _is_of_a_study(db) and _tables(db):
            raise UserError(f"{path} is a database of something else; name the study otherwise")
        make_private(path)  # the files beside it take its rights
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
        db.execute("PRAGMA foreign_keys=ON")
    except BaseException:
        db.close()
        raise
    return db


def damage(db: sqlite3.Connection) -> str:
    """What of a study's database longmark did not make: a view or a trigger, other columns, a value of another type
    than its column's; "" for a sound one. Such a database would run what it holds, or fail in the middle of a
    command."""
    strange = db.execute(
        "SELECT type, name FROM sqlite_master WHERE type IN ('view', 'trigger') OR (type = 'table' AND rootpage = 0)"
    ).fetchone()
    if strange is not None:
        return f"the {'virtual table' if strange[0] == 'table' else strange[0]} {strange[1]} is not of a study"
    applied = int(db.execute("SELECT COALESCE(MAX(number), 0) FROM migrations").fetchone()[0])
    for table, columns in _declared(min(applied, len(MIGRATIONS))).items():
        if _columns(db, table) != columns:
            return f"the table {table} is missing, or has other columns"
        for name, kind, filled in columns:
            kinds = [*_STORED_AS[kind], *([] if filled else ["null"])]
            query = f"SELECT 1 FROM {table} WHERE typeof({name}) NOT IN ({', '.join(map(repr, kinds))}) LIMIT 1"
            if db.execute(query).fetchone() is not None:
                return f"{table}.{name} has a value of another type"
    return ""


_STORED_AS = {"TEXT": ("text",), "INTEGER": ("integer",), "REAL": ("real", "integer")}


@cache
def _declared(n_migrations: int) -> dict[str, list[tuple[str, str, bool]]]:
    """Table -> its columns, as so many migrations make them."""
    with closing(sqlite3.connect(":memory:")) as db:
        for script in MIGRATIONS[:n_migrations]:
            db.executescript(script)
        return {table: _columns(db, table) for table in sorted(_tables(db))}


def _columns(db: sqlite3.Connection, table: str) -> list[tuple[str, str, bool]]:
    """(name, type, whether it is never NULL) of each column."""
    sql = 'SELECT name, type, "notnull" OR pk FROM pragma_table_info(?)'
    return [(name, kind, bool(filled)) for name, kind, filled in db.execute(sql, (table,))]


def _tables(db: sqlite3.Connection) -> set[str]:
    return {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _is_of_a_study(db: sqlite3.Connection) -> bool:
    """Whether the tables are those of a study. One whose making was killed has the table of migrations alone."""
    columns = [name for (name,) in db.execute("SELECT name FROM pragma_table_info('migrations')")]
    tables = _tables(db)
    return columns == ["number", "applied_at"] and (
        tables == {"migrations"} or tables >= _OWN_TABLES
    )
