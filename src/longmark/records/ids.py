"""Which ids a file has used, on disk: a million of them take no memory."""

from __future__ import annotations

import sqlite3
from types import TracebackType


class IdIndex:
    """Remembers ids and the lines they were read from. A context manager.

    SQLite keeps them in a private temporary file (in the system's folder for those, or $SQLITE_TMPDIR), of which a few
    megabytes are in memory and nothing is left behind, however the process ends.
    """

    def __init__(self) -> None:
        self._rows = sqlite3.connect("", isolation_level=None)
        self._rows.execute("PRAGMA journal_mode=OFF")
        self._rows.execute("PRAGMA cache_size=-4096")  # 4 MiB
        self._rows.execute("CREATE TABLE ids (id TEXT PRIMARY KEY, line INTEGER) WITHOUT ROWID")
        self._rows.execute("BEGIN")

    def add(self, name: str, line: int) -> int | None:
        """None where the id is new (it is remembered), else the line that used it first."""
        if self._rows.execute("INSERT OR IGNORE INTO ids VALUES (?, ?)", (name, line)).rowcount:
            return None
        first: int = self._rows.execute("SELECT line FROM ids WHERE id = ?", (name,)).fetchone()[0]
        return first

    def close(self) -> None:
        self._rows.close()

    def __enter__(self) -> IdIndex:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
