"""Records that a file should not have: a second one of an id, and one of another kind than those before it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

from longmark.errors import BadInput
from longmark.options import named
from longmark.progress import counted
from longmark.records.example import Example, Question
from longmark.records.files import BadLines
from longmark.records.pair import Pair
from longmark.records.recurring import is_system

_SHOWN = 5  # records that repeat an id, where nothing else is wrong


def other_kind(example: Question) -> str:
    if isinstance(example, Pair):
        return "a pair of answers in a file of single answers; put pairs into a file of their own"
    return "no pair: it has not two answers, as the records before it have; put single answers into a file of their own"


class Repeats:
    """The records of a file that have the id of an earlier one. remedy: what keeps them, once for all."""

    def __init__(self, mapping: Mapping[str, str] | None) -> None:
        self._mapping = mapping or {}
        self.of_systems = 0
        self.count = 0
        self._systems = ""
        self._passages = False
        self._questions_named = False

    def add(self, example: Question, first: object) -> str:
        """What is wrong with the second record of an id. first: where the first one is."""
        self.count += 1
        if "id" not in example.model_fields_set:
            return f"the same record as line {first}; add ids to keep both"
        if column := self._system_column(example):
            self.of_systems += 1
            self._systems = column
            self._questions_named |= "question_id" in example.model_fields_set
        elif isinstance(example, Example) and len(example.contexts) == 1:
            self._passages = True
        return f'id: "{example.id}" was already used in line {first}'

    def _system_column(self, example: Question) -> str:
        if example.system is not None:
            return self._mapping.get("system", "system")
        return next(filter(is_system, example.meta), "")

    def remedy(self) -> str:
        """How all are kept; "" where nothing says that they should be."""
        if self._systems:
            column = self._mapping.get("id", "id")
            ids = {"id": f"{self._systems},{column}"}
            ids |= {} if self._questions_named else {"question_id": column}
            options = named("mapping", {"system": self._systems, **ids})
            return (
                f"{counted(self.of_systems, 'record')} with an id of an earlier one: if several systems have these ids, "
                f"make them unique, which keeps each answer: {options}; if they are copies, skip them: "
                f"{named('skip_bad', True)}"
            )
        if self._passages:
            unique = named("mapping", {"id": "COLUMN,COLUMN"})
            return (
                "A further passage of an answer must follow it at once, with the same answer or none; if it is another "
                f"answer, tell them apart by several columns: {unique}"
            )
        return ""


def bad_records(wrong: BadLines, repeats: Repeats, notes: Sequence[str]) -> BadInput:
    """The refusal of a file with bad records. Where all of them repeat an id, a few show it, and where they are of other
    systems, skipping them would lose answers."""
    lines = wrong.lines if wrong.total > repeats.count else wrong.lines[:_SHOWN]
    unlisted = wrong.total - len(lines)
    remedy = repeats.remedy()
    ends = [f"… and {unlisted:,} more"] if unlisted and remedy else []
    last = [*notes, *filter(None, [remedy])]
    total = len(lines) + len(ends) + len(last) if ends else wrong.total + len(last)
    skippable = repeats.of_systems < wrong.total
    return BadInput([*lines, *ends, *last], total, skippable=skippable)


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
