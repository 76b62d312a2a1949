"""Records that a file should not have: a second one of an id, and one of another kind than those before it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from longmark.options import named
from longmark.records.example import Example, Question
from longmark.records.pair import Pair


def other_kind(example: Question) -> str:
    if isinstance(example, Pair):
        return "a pair of answers in a file of single answers; put pairs into a file of their own"
    return "no pair: it has not two answers, as the records before it have; put single answers into a file of their own"


def repeated(example: Question, first: object) -> str:
    if "id" in example.model_fields_set:
        hint = ""
        if example.system is not None:
            unique = named("mapping", {"id": 'join(`"-"`, [system, id])'})
            hint = f"; if several systems have these ids, make them unique: {unique}, with the names of the file's columns"
        elif isinstance(example, Example) and len(example.contexts) == 1:
            unique = named("mapping", {"id": "COLUMN,COLUMN"})
            hint = (
                "; a further passage of an answer must follow it at once, with the same answer or none; if it is another "
                f"answer, tell them apart by several columns: {unique}"
            )
        return f'id: "{example.id}" was already used in line {first}{hint}'
    return f"the same record as line {first}; add ids to keep both"


@contextmanager
def seen_ids() -> Iterator[Callable[[str, int | str], int | str | None]]:
    """A function that remembers an id with its place: it returns None for a new id, else the place of its first use.

    SQLite keeps them in a private temporary file (in the system's folder for those, or $SQLITE_TMPDIR), with 4 MiB in
    memory; nothing is left behind, however the process ends.
    """
    with closing(sqlite3.connect("", isolation_level=None)) as db:
        db.executescript("PRAGMA journal_mode=OFF; PRAGMA cache_size=-4096")
        db.execute("CREATE TABLE ids (id TEXT PRIMARY KEY, place) WITHOUT ROWID")
        db.execute("BEGIN")

        def first_use(name: str, place: int | str) -> int | str | None:
            if db.execute("INSERT OR IGNORE INTO ids VALUES (?, ?)", (name, place)).rowcount:
                return None
            first: int | str = db.execute("SELECT place FROM ids WHERE id = ?", (name,)).fetchone()[
                0
            ]
            return first

        yield first_use
