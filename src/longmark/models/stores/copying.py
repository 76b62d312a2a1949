"""What one call cache has and another has not, copied: replies, the ledger, facts about endpoints, and what sessions
have spent of the budgets of groups.

It can be repeated: what is there stays. Replies go in transactions of a few hundred, in the order of their keys, so
that a copy that was killed goes on where it was. A session's attempts go in one transaction; those of a session that
still runs go when it has ended.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from longmark.models.stores import Lookup, Store

_STEP = 200  # replies, or ten times as many attempts, in one go
_CALL = "key, kind, model, created, usd, reply, attempt"
_ATTEMPT = (
    "count, key, calls, kind, model, sent, most_prompt, most_completion, most_usd, state, status, prompt, "
    "cached_prompt, completion, usd"
)


@dataclass(slots=True)
class Copied:
    """replies, attempts: what was copied; others: calls that have another reply where it was copied to, which stays;
    shares: sessions whose part of a group's budget was copied."""

    replies: int = 0
    attempts: int = 0
    others: int = 0
    shares: int = 0


class _Ids:
    """Ids of attempts -> ids of their copies. Ids come in ascending order for each session."""

    def __init__(self) -> None:
        self._sessions: list[tuple[array[int], array[int]]] = []

    def add(self, old: Iterable[int], new: Iterable[int]) -> None:
        self._sessions.append((array("q", old), array("q", new)))

    def get(self, id_: int | None) -> int | None:
        for old, new in self._sessions:
            if id_ is not None and (at := bisect_left(old, id_)) < len(old) and old[at] == id_:
                return new[at]
        return None


def copy(source: Store, target: Store) -> Copied:
    """Copies all."""
    copied = Copied()
    ids = _Ids()
    own_ids = dict(target.do("SELECT token, id FROM sessions").fetchall())
    runs = {
        id_
        for (id_,) in source.do(
            "SELECT DISTINCT session FROM attempts WHERE state IN ('sent', 'queued')"
        )
    }
    for session, token, *details in source.do(
        "SELECT id, token, run, began FROM sessions ORDER BY id"
    ).fetchall():
        if token in own_ids:
            before = _ids_of(source, session)
            after = _ids_of(target, own_ids[token])
            if len(before) == len(after):  # else one of them was folded, or cleared
                ids.add(before, after)
        elif session not in runs:
            with target.unit():
                copied.attempts += _copy_session(source, target, session, (token, *details), ids)
    _copy(source, target, _replies(source), ids.get, copied)
    claims = source.do(
        "SELECT c.key, owner, attempt FROM claims AS c JOIN attempts ON id = attempt WHERE state = 'unknown'"
    ).fetchall()
    with target.unit():
        facts = source.do("SELECT endpoint, fact FROM facts").fetchall()
        target.many("INSERT INTO facts VALUES (?, ?) ON CONFLICT DO NOTHING", facts)
        spent = source.do(
            "SELECT * FROM budgets WHERE until = 0"
        ).fetchall()  # by sessions that have ended
        marks = ", ".join("?" * 9)
        insert = f"INSERT INTO budgets VALUES ({marks}) ON CONFLICT DO NOTHING"
        copied.shares = target.many(insert, spent) if spent else 0
        target.many(
            "INSERT INTO claims SELECT ?, ?, 0.0, ? WHERE NOT EXISTS (SELECT 1 FROM calls WHERE key = ?) "
            "ON CONFLICT DO NOTHING",
            [
                (key, owner, new, key)
                for key, owner, old in claims
                if (new := ids.get(old)) is not None
            ],
        )
        target.do("DELETE FROM claims WHERE until = 0.0 AND key IN (SELECT key FROM calls)")
    return copied


def copy_replies(source: Store, target: Store, keys: Collection[bytes]) -> None:
    """Copies the replies of these keys alone."""
    query = f"SELECT {_CALL} FROM calls WHERE key = ?"
    rows = (row for key in keys for row in source.do(query, (key,)).fetchall())
    _copy(source, target, rows, lambda _id: None, Copied())


def _copy(
    source: Store,
    target: Store,
    rows: Iterable[tuple[Any, ...]],
    id_of: Callable[[int | None], int | None],
    copied: Copied,
) -> None:
    rows = iter(rows)
    while step := list(islice(rows, _STEP)):
        present = target.look(Lookup([row[0] for row in step], every=False)).replies
        copied.others += sum(row[0] in present and present[row[0]][0] != row[5] for row in step)
        new = [(*row[:6], id_of(row[6])) for row in step if row[0] not in present]
        with target.unit():
            insert = (
                f"INSERT INTO calls ({_CALL}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
            )
            copied.replies += target.many(insert, new) if new else 0


def _replies(source: Store) -> Iterator[tuple[Any, ...]]:
    last = b""
    while rows := source.do(
        f"SELECT {_CALL} FROM calls WHERE key > ? ORDER BY key LIMIT {_STEP}", (last,)
    ).fetchall():
        yield from rows
        last = rows[-1][0]


def _ids_of(store: Store, session: int) -> array[int]:
    return array(
        "q",
        (
            id_
            for (id_,) in store.do(
                "SELECT id FROM attempts WHERE session = ? ORDER BY id", (session,)
            )
        ),
    )


def _copy_session(
    source: Store, target: Store, session: int, columns: tuple[Any, ...], ids: _Ids
) -> int:
    new_session = target.do(
        "INSERT INTO sessions (token, run, began) VALUES (?, ?, ?) RETURNING id", columns
    )
    (new_id,) = new_session.fetchone()
    old = array("q")
    new = array("q")
    last = 0
    marks = ", ".join("?" * 17)
    while rows := source.do(
        f"SELECT id, {_ATTEMPT} FROM attempts WHERE session = ? AND id > ? ORDER BY id LIMIT {_STEP * 10}",
        (session, last),
    ).fetchall():
        reserved = target.ids(len(rows))
        target.many(
            f"INSERT INTO attempts (id, session, {_ATTEMPT}) VALUES ({marks})",
            [(id_, new_id, *row[1:]) for id_, row in zip(reserved, rows, strict=True)],
        )
        old.extend(row[0] for row in rows)
        new.extend(reserved)
        last = rows[-1][0]
    ids.add(old, new)
    return len(old)
