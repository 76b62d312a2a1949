"""What was submitted in batches, on disk before anything is sent: in the call cache's store, fully synchronous.

A batch passes the states `prepared` (nothing was sent but, perhaps, its file), `sending` (its vendor may have it),
`running` (the vendor's id is known), `done` (the results are stored), `cleaned` (its files at the vendor are deleted);
`lost` is the end of one that its vendor has lost. In the ledger, its calls are `queued` until it is `sending`.
Each step is committed and synchronised before the next one begins, so that a killed process, or a power cut, leaves a
batch that the next one finds. A stored result stays until the reply that was made of it is in the cache.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from typing import Any

from longmark.errors import UserError
from longmark.models.stores import Store

_COLUMNS = 'id, model, identity, state, created, calls, digest, file, sent, vendor_id, "window"'
_ATTEMPT = (
    "(SELECT attempt FROM claims WHERE claims.key = ?)"  # of the ledger, that waits for a line
)
_TOGETHER = 500  # keys in one statement
UNKNOWN = 0  # the status of a line that may have been paid and has no result


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch as it stands. id: ours; calls: its lines; digest: SHA-256 of what is sent; file: the vendor's id of the
    uploaded file; sent: when the request that submits it began; window: hours in which its vendor ends it."""

    id: str
    model: str
    identity: str
    state: str
    created: float
    calls: int
    digest: str
    file: str | None
    sent: float | None
    vendor_id: str | None
    window: float


@dataclass(frozen=True, slots=True)
class BatchLine:
    """A call in a batch. state: of the batch; status: None without a result; else the HTTP status of its reply, or
    UNKNOWN."""

    batch: str
    state: str
    status: int | None
    result: bytes | None


class Journal:
    """store: of the call cache. UserError where it cannot be written."""

    def __init__(self, store: Store) -> None:
        self._store = store.durable()
        self.prune()

    def intend(
        self, model: str, identity: str, digest: str, keys: Sequence[bytes], window: float
    ) -> Batch:
        """A batch that will be sent."""
        batch = Batch(
            secrets.token_hex(8),
            model,
            identity,
            "prepared",
            self._store.now(),
            len(keys),
            digest,
            None,
            None,
            None,
            window,
        )
        line = f"INSERT INTO batch_lines (key, batch, attempt) VALUES (?, ?, {_ATTEMPT})"
        self._write(
            (f"INSERT INTO batches ({_COLUMNS}) VALUES ({', '.join('?' * 11)})", astuple(batch)),
            (line, [(key, batch.id, key) for key in keys]),
        )
        return batch

    def sending(self, batch: str, file: str | None) -> None:
        """From here on its vendor may have it."""
        values = (file, self._store.now(), batch)
        of_batch = "id IN (SELECT attempt FROM batch_lines WHERE batch = ?)"
        self._write(
            ("UPDATE batches SET state = 'sending', file = ?, sent = ? WHERE id = ?", values),
            (f"UPDATE attempts SET state = 'sent' WHERE state = 'queued' AND {of_batch}", (batch,)),
        )

    def running(self, batch: str, vendor_id: str) -> None:
        """Its vendor has it: what earlier batches have of its calls does not count any more."""
        of_batch = "key IN (SELECT key FROM batch_lines WHERE batch = ?)"
        self._write(
            (
                "UPDATE batches SET state = 'running', vendor_id = ? WHERE id = ?",
                (vendor_id, batch),
            ),
            (f"DELETE FROM batch_lines WHERE status IS NOT NULL AND {of_batch}", (batch,)),
        )

    def finish(
        self,
        batch: str,
        results: Mapping[bytes, tuple[int, bytes]],
        *,
        rest_status: int | None,
        state: str = "done",
    ) -> None:
        """Stores the results of a batch that has ended. A status below 0: the line was not processed, and is free to be
        sent again. rest_status: the status of lines without a result; None: they are free, too."""
        now = self._store.now()
        line = (
            "UPDATE batch_lines SET status = ?, result = ?, fetched = ? WHERE key = ? AND batch = ?"
        )
        without_result = "batch = ? AND result IS NULL"
        self._write(
            (line, [(status, raw, now, key, batch) for key, (status, raw) in results.items()]),
            ("UPDATE batches SET state = ? WHERE id = ?", (state, batch)),
            ("DELETE FROM batch_lines WHERE batch = ? AND status < 0", (batch,)),
            (f"DELETE FROM batch_lines WHERE {without_result}", (batch,))
            if rest_status is None
            else (
                f"UPDATE batch_lines SET status = ? WHERE {without_result}",
                (rest_status, batch),
            ),
        )

    def cleaned(self, batch: str) -> None:
        self._write(("UPDATE batches SET state = 'cleaned' WHERE id = ?", (batch,)))

    def drop(self, batch: str, *, keep: bool = False) -> None:
        """Frees the calls of a batch that no vendor has, and forgets the batch. keep: it stays as prepared, since its
        file may be at its vendor."""
        end = (
            "UPDATE batches SET state = 'prepared' WHERE id = ?"
            if keep
            else "DELETE FROM batches WHERE id = ?"
        )
        self._write(("DELETE FROM batch_lines WHERE batch = ?", (batch,)), (end, (batch,)))

    def forget(self, key: bytes) -> None:
        """Forgets a line's results: it will be sent again. An unknown line stays until that is sure (`running`)."""
        self._write(("DELETE FROM batch_lines WHERE key = ? AND status > 0", (key,)))

    def replaces(self, keys: Sequence[bytes]) -> None:
        """In the ledger, attempts that put these calls into a batch and did not live to see its end are replaced by
        those that wait for it now: each call was sent once."""
        for i in range(0, len(keys), _TOGETHER):
            some = tuple(keys[i : i + _TOGETHER])
            ours = f"key IN ({', '.join('?' * len(some))})"
            waited = "SELECT max(l.attempt) FROM batch_lines l WHERE l.key = attempts.key"
            line = "SELECT c.attempt FROM claims c WHERE c.key = batch_lines.key"
            self._write(
                (
                    f"DELETE FROM attempts WHERE {ours} AND state = 'unknown' AND id >= ({waited})",
                    some,
                ),
                (
                    f"UPDATE batch_lines SET attempt = ({line}) WHERE {ours} AND status IS NULL",
                    some,
                ),
            )

    def line(self, key: bytes) -> BatchLine | None:
        """The line of a call that waits for a result, or its newest."""
        rows = self._read(
            "SELECT l.batch, b.state, l.status, l.result FROM batch_lines l JOIN batches b ON b.id = l.batch "
            "WHERE l.key = ? ORDER BY l.status IS NOT NULL, b.created DESC LIMIT 1",
            (key,),
        )
        return BatchLine(*rows[0]) if rows else None

    def keys(self, batch: str) -> set[bytes]:
        """The calls of a batch."""
        return {
            row[0] for row in self._read("SELECT key FROM batch_lines WHERE batch = ?", (batch,))
        }

    def batch(self, id: str) -> Batch | None:
        rows = self._read(f"SELECT {_COLUMNS} FROM batches WHERE id = ?", (id,))
        return Batch(*rows[0]) if rows else None

    def batches(self, *states: str) -> list[Batch]:
        """The batches in these states, or all, oldest first."""
        state_filter = f"WHERE state IN ({', '.join('?' * len(states))}) " if states else ""
        return [
            Batch(*row)
            for row in self._read(
                f"SELECT {_COLUMNS} FROM batches {state_filter}ORDER BY created", states
            )
        ]

    def counts(self, batch: str) -> tuple[int, int, int]:
        """Lines without a result, with one that no reply in the cache was made of yet, and unknown."""
        waiting = "count(*) - count(status), count(result), count(CASE WHEN status = 0 THEN 1 END)"
        row = self._read(f"SELECT {waiting} FROM batch_lines WHERE batch = ?", (batch,))[0]
        return row[0], row[1], row[2]

    def prune(self) -> None:
        """Deletes the results that the cache has replies of."""
        stored = "SELECT 1 FROM calls WHERE calls.key = batch_lines.key AND calls.created >= batch_lines.fetched"
        self._write((f"DELETE FROM batch_lines WHERE result IS NOT NULL AND EXISTS ({stored})", ()))

    def close(self) -> None:
        with suppress(UserError):
            self.prune()
        self._store.close()

    def _write(
        self, *statements: tuple[str, tuple[object, ...] | list[tuple[object, ...]]]
    ) -> None:
        """One transaction, on disk when it returns: statements with their values, or with a list of them."""
        with self._store.unit():
            for statement, values in statements:
                self._store.many(statement, values if isinstance(values, list) else [values])

    def _read(self, query: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self._store.do(query, values).fetchall()
        return rows
