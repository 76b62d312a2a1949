"""The folder of a run: its examples, rows and manifest; one process at a time.

manifest.json    what was asked for and with what: see `manifest.py` and `longmark.workspace`
examples.jsonl   the examples as they were read
absent.jsonl     answers that have no row and count as unscored (`records.ABSENT`); no file if there are none
rows.jsonl       the rows; appended while the run goes on, put in order at its end
.index.sqlite    which row stands where, while the run goes on; can be made again from the other files
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import orjson

from longmark import writing
from longmark.errors import UserError
from longmark.metrics import Selected
from longmark.models.keys import redact_reply
from longmark.records import Answered, Row
from longmark.records.documents import SharedDocuments, ToldApart
from longmark.records.files import lines, own_json
from longmark.records.pair import example_of, own_example_of
from longmark.workspace import Workspace

_SCHEMA = """
CREATE TABLE examples (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, content TEXT NOT NULL, variant INTEGER,
    kind TEXT, question TEXT, system TEXT);
CREATE TABLE earlier (id TEXT PRIMARY KEY, content TEXT NOT NULL, question TEXT, system TEXT) WITHOUT ROWID;
CREATE TABLE absent (n INTEGER PRIMARY KEY, id TEXT, question TEXT, system TEXT, status TEXT, reason TEXT,
    original TEXT);
CREATE TABLE rows (n INTEGER, m INTEGER, offset INTEGER, status TEXT, PRIMARY KEY (n, m)) WITHOUT ROWID;
CREATE TABLE asked (key BLOB PRIMARY KEY) WITHOUT ROWID;
"""
_ADD_EXAMPLE = "INSERT INTO examples (n, id, content, variant, kind, question, system) VALUES (?, ?, ?, ?, ?, ?, ?)"
_ADD_EARLIER = "INSERT OR REPLACE INTO earlier (id, content, question, system) VALUES (?, ?, ?, ?)"
_ADD_ABSENT = (
    "INSERT INTO absent (id, question, system, status, reason, original) VALUES (?, ?, ?, ?, ?, ?)"
)
_ADD_ROW = "INSERT OR REPLACE INTO rows (n, m, offset, status) VALUES (?, ?, ?, ?)"
_AUTOMATIC = "automatic"  # in the index, the status of a row whose score is automatic
ABSENT_FILE = "absent.jsonl"
_INDEX = ".index.sqlite"
_STAGED = ".examples.jsonl.new"
_IN_ORDER = ".rows.jsonl.new"
_APART = ".apart.jsonl.new"  # the staged examples, once more
P = ParamSpec("P")
T = TypeVar("T")

# Writes to the index; it is made anew after a crash, so this is not about safety.
_COMMIT_EVERY = 2000


@dataclass(frozen=True, slots=True)
class ExampleChanges:
    """How the examples differ from those that the folder held before."""

    new: int
    changed: int
    removed: int
    kept_rows: int


@contextmanager
def written(folder: Path) -> Iterator[None]:
    """A UserError where the folder's files cannot be written: the disk is full or broken, or writing is forbidden."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        why = getattr(error, "strerror", None) or error
        raise UserError(
            f"{folder} cannot be written ({why}); fix that, then repeat the same command"
        ) from None


def _writes(
    method: Callable[Concatenate[RunFolder, P], T],
) -> Callable[Concatenate[RunFolder, P], T]:
    """A method within `written`."""

    @wraps(method)
    def within(self: RunFolder, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with written(self.path):
            return method(self, *args, **kwargs)

    return within


class RunFolder:
    """A run's folder, locked. Use it as a context manager. scores: full names of the run's scores, in their order;
    named: the folder that it is a copy of."""

    def __init__(self, path: Path, scores: Sequence[str], named: Path | None = None) -> None:
        self.path = path
        self.space = Workspace(path, "manifest.json", "run", named=named, system=str, sessions=list)
        self.rows_path = path / "rows.jsonl"
        self.examples_path = path / "examples.jsonl"
        self.absent_path = path / ABSENT_FILE
        self._scores = list(scores)
        self._number = {name: m for m, name in enumerate(scores)}
        self._writes = self._kept = 0
        self._rows_file: int | None = None
        self._rows_end = 0
        self._regrouped = False
        self.told_apart: ToldApart | None = None  # where a text is asked about several documents

    @_writes
    def __enter__(self) -> RunFolder:
        self.space.__enter__()
        try:
            writing.check_ours(self.rows_path, self.examples_path, self.absent_path)
            self._db = self._new_index()
        except BaseException:
            self.space.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._rows_file is not None:
            os.close(self._rows_file)
        self._db.close()
        for name in (_INDEX, _STAGED, _APART):
            writing.remove(self.path / name)
        self.space.__exit__()

    def _new_index(self) -> sqlite3.Connection:
        database = writing.scratch_database(self.path / _INDEX, isolation_level=None)
        database.execute("PRAGMA synchronous=OFF")
        database.execute("PRAGMA journal_mode=MEMORY")
        database.executescript(_SCHEMA)
        database.execute("BEGIN")
        return database

    # Examples ----------------------------------------------------------------------------------------------------

    def stage(self, examples: Iterable[Answered]) -> int:
        """Writes the examples beside those of an earlier run, which stay; how many there are. Questions that are one
        text about several documents are told apart (`records.documents`)."""
        n = 0
        with written(self.path):
            file = writing.fresh(self.path / _STAGED)
        try:
            for n, example in enumerate(examples, start=1):
                with written(self.path):
                    file.write(example.to_json() + b"\n")
                kind = (example.variant_of is not None, example.variant)
                values = (
                    n - 1,
                    example.id,
                    example.content_hash(),
                    *kind,
                    example.question_id,
                    example.system or "",
                )
                self._execute(_ADD_EXAMPLE, values)
        finally:
            with written(self.path):
                file.flush()
                os.fsync(file.fileno())
                file.close()
        self._tell_apart()
        return n

    @_writes
    def _tell_apart(self) -> None:
        """Gives the staged answers whose text is asked about several documents a question_id each document."""
        several = "SELECT question FROM examples WHERE NOT variant GROUP BY question, system HAVING count(*) > 1"
        places = {
            n for (n,) in self._db.execute(f"SELECT n FROM examples WHERE question IN ({several})")
        }
        if not places:
            return
        staged = self.path / _STAGED
        documents = SharedDocuments()
        with open(staged, "rb") as file:
            for n, line in enumerate(file):
                if n in places:
                    documents.add(n, own_example_of(line))
        self.told_apart = documents.apart()
        if not (ids := self.told_apart.ids):
            return
        with open(staged, "rb") as file, writing.fresh(self.path / _APART) as told_apart:
            for n, line in enumerate(file):
                if n in ids:
                    line = (
                        own_example_of(line).model_copy(update={"question_id": ids[n]}).to_json()
                        + b"\n"
                    )
                told_apart.write(line)
            told_apart.flush()
            os.fsync(told_apart.fileno())
        writing.move(self.path / _APART, staged)
        for n, question in ids.items():
            self._execute("UPDATE examples SET question = ? WHERE n = ?", (question, n))

    def leave_out(
        self,
        name: str,
        question: str | None,
        system: str | None,
        status: str,
        reason: str,
        original: str = "",
    ) -> None:
        """Notes an answer without a row. question, system: None if it is not known; a run's own system is "". original:
        of a variant: the system's answer to this question stands for it, if there is one."""
        values = (name, question, system, status, reason, original)
        self._execute(_ADD_ABSENT, values)

    @_writes
    def adopt(self, *, removed_count: bool = True) -> ExampleChanges:
        """Replaces the folder's examples by the staged ones, and deletes rows of examples that changed or are gone.

        The rows go first: a process that dies in between leaves old examples with fewer rows, which the next one
        makes again, never new examples with rows of old ones.
        """
        if self.examples_path.exists():
            with open(self.examples_path, "rb") as file:
                for line in file:
                    try:
                        example = example_of(line)
                    except ValueError:  # damaged: its rows are made again
                        continue
                    values = (
                        example.id,
                        example.content_hash(),
                        example.question_id,
                        example.system or "",
                    )
                    self._execute(_ADD_EARLIER, values)
        removed = self._count("earlier LEFT JOIN examples USING (id) WHERE examples.id IS NULL")
        changed = self._count(
            "earlier JOIN examples USING (id) WHERE earlier.content != examples.content"
        )
        new = self._count("examples LEFT JOIN earlier USING (id) WHERE earlier.id IS NULL")
        outdated = self._index_rows()
        if outdated or self._regrouped:
            self._rewrite_rows()
            self._db.execute("DELETE FROM rows")
            self._index_rows()
        if removed or self._count("absent") or self.absent_path.exists():
            for table in ("examples", "absent"):
                self._db.execute(f"CREATE INDEX answered_in_{table} ON {table} (question, system)")
            answered = "SELECT 1 FROM examples AS its WHERE its.question = original AND its.system = absent.system"
            self._execute(f"DELETE FROM absent WHERE EXISTS ({answered})", ())
            if removed_count:
                self._note_removed()
            self._write_absent()
        writing.move(self.path / _STAGED, self.examples_path)
        self._rows_file = writing.appending(self.rows_path)
        self._rows_end = os.fstat(self._rows_file).st_size
        self._kept = self._count("rows")
        return ExampleChanges(new, changed, removed, self._kept)

    def _note_removed(self) -> None:
        """Answers of earlier sessions to questions that their system does not answer any more."""
        gone = (
            "id NOT IN (SELECT id FROM examples) AND NOT EXISTS "
            "(SELECT 1 FROM examples AS e WHERE e.question = its.question AND e.system = its.system) AND "
            "NOT EXISTS (SELECT 1 FROM absent WHERE absent.question = its.question AND absent.system = its.system)"
        )
        insert = (
            "INSERT INTO absent (id, question, system, status, reason, original) "
            f"SELECT id, question, system, 'removed', ?, '' FROM its WHERE {gone}"
        )
        why = "The answer was in the run's input before, and is not any more."
        self._execute(f"WITH its AS (SELECT id, question, system FROM earlier) {insert}", (why,))
        if self.absent_path.exists():
            with suppress(ValueError, KeyError, TypeError):
                for entry in (own_json(line) for _, line in lines(self.absent_path)):
                    if entry["status"] == "removed":
                        values = (entry["id"], entry["question_id"], entry["system"], why)
                        self._execute(
                            f"WITH its AS (SELECT ? AS id, ? AS question, ? AS system) {insert}",
                            values,
                        )

    def _write_absent(self) -> None:
        columns = ("id", "question_id", "system", "status", "reason")
        rows = self._db.execute(
            "SELECT id, question, system, status, reason FROM absent ORDER BY n"
        ).fetchall()
        if not rows:
            writing.remove(self.absent_path)
            return
        with writing.replacing(self.absent_path) as file:
            file.writelines(
                orjson.dumps(dict(zip(columns, row, strict=True))) + b"\n" for row in rows
            )

    def absent(self) -> dict[str, int]:
        """How many answers have no row, by status."""
        return dict(self._db.execute("SELECT status, count(*) FROM absent GROUP BY status"))

    def _index_rows(self) -> bool:
        """Indexes the rows that are still valid; whether the file also holds others (or a torn line)."""
        if not self.rows_path.exists():
            return False
        offset = 0
        outdated = False
        for _, line in lines(self.rows_path):
            place = self._place(line)
            if place is None:
                outdated = True
            else:
                n, m, status = place
                self._execute(_ADD_ROW, (n, m, offset, status))
            offset += len(line)
        return outdated

    def _place(self, line: bytes) -> tuple[int, int, str] | None:
        """The example's number, the metric's number and the status of a row that is still valid, else None."""
        try:
            row = Row.from_json(line)
        except ValueError:
            return None
        if not line.endswith(b"\n") or row.metric not in self._number:
            return None
        indexed = self._db.execute(
            "SELECT n, examples.question FROM examples JOIN earlier USING (id) "
            "WHERE id = ? AND earlier.content = examples.content",
            (row.example_id,),
        ).fetchone()
        self._regrouped = self._regrouped or (indexed is not None and indexed[1] != row.question_id)
        status = _AUTOMATIC if row.automatic else row.status
        if indexed is None:
            return None
        return indexed[0], self._number[row.metric], status

    def examples(self) -> Iterator[tuple[int, Answered]]:
        """(number from 0, example), in the order they were read."""
        with open(self.examples_path, "rb") as file:
            for n, line in enumerate(file):
                yield n, own_example_of(line)

    # Rows --------------------------------------------------------------------------------------------------------

    def missing(
        self, n: int, scores: Collection[str], retry: Collection[str]
    ) -> dict[str, str | None]:
        """Which of these scores the example still needs a row for, with the status of the row it has (None: none), by
        the rows of earlier sessions. retry: statuses of rows to make again."""
        if not self._kept:
            return dict.fromkeys(scores)
        rows = self._do("SELECT m, status FROM rows WHERE n = ?", (n,)).fetchall()
        statuses = {self._scores[m]: status for m, status in rows}
        return {
            name: statuses.get(name)
            for name in scores
            if name not in statuses or statuses[name] in retry
        }

    def rows_to_be(self, selected: Sequence[Selected]) -> int:
        """How many rows there will be when every example is scored."""
        kinds = self._db.execute(
            "SELECT variant, kind, count(*) FROM examples GROUP BY variant, kind"
        ).fetchall()
        return sum(
            count * len(chosen.due(is_variant=bool(is_variant), kind=kind))
            for is_variant, kind, count in kinds
            for chosen in selected
        )

    def rows_done(self, retry: Collection[str]) -> int:
        """How many rows there are that need not be made again."""
        by_status = self._db.execute("SELECT status, count(*) FROM rows GROUP BY status").fetchall()
        return sum(count for status, count in by_status if status not in retry)

    def unscored_rows(self, retry: Collection[str]) -> int:
        """How many of these rows have no score."""
        scored = ("ok", _AUTOMATIC)
        return self.rows_done((*retry, *scored))

    def append(self, n: int, row: Row) -> None:
        """Appends a row to the file, at once."""
        assert self._rows_file is not None
        line = redact_reply(row.to_json()) + b"\n"
        try:
            written = os.write(self._rows_file, line)
        except OSError as error:
            raise UserError(
                f"{self.rows_path} cannot be written ({error.strerror}); repeat the same command to resume"
            ) from None
        if written != len(line):
            os.ftruncate(self._rows_file, self._rows_end)  # calls under way still append their rows
            raise UserError(
                f"{self.rows_path} cannot be written (no space left); repeat the same command to resume"
            )
        place = (
            n,
            self._number[row.metric],
            self._rows_end,
            _AUTOMATIC if row.automatic else row.status,
        )
        self._rows_end += len(line)
        self._execute(_ADD_ROW, place)

    def take(self, row: Row) -> bool:
        """Appends a row that another folder has; False where this one has no such example or score."""
        place = self._do("SELECT n FROM examples WHERE id = ?", (row.example_id,)).fetchone()
        if place is None or row.metric not in self._number:
            return False
        self.append(place[0], row)
        return True

    def first(self, key: bytes) -> bool:
        """Whether this is the first time in this run that the call of this key is needed."""
        return self._execute("INSERT OR IGNORE INTO asked (key) VALUES (?)", (key,)) == 1

    @_writes
    def put_in_order(self) -> None:
        """Rewrites rows.jsonl: one row for each example and score, in the order of the examples."""
        if self._rows_file is not None:
            os.close(self._rows_file)
            self._rows_file = None
        self._rewrite_rows()

    def unscored(self) -> tuple[list[str], list[str], list[str]]:
        """The metrics for which every example is unscored, those whose only scores are automatic, and those without a
        row, since they apply to no example."""
        best = "max(CASE status WHEN 'ok' THEN 2 WHEN ? THEN 1 ELSE 0 END)"
        best_status = dict(
            self._db.execute(f"SELECT m, {best} FROM rows GROUP BY m", (_AUTOMATIC,))
        )
        none, automatic = (
            [name for m, name in enumerate(self._scores) if best_status.get(m) == state]
            for state in (0, 1)
        )
        return (
            none,
            automatic,
            [name for m, name in enumerate(self._scores) if m not in best_status],
        )

    def _rewrite_rows(self) -> None:
        """Writes the rows that the index knows, in order, to a fresh file and puts it in place of the old one, each
        with the question that its example is of now."""
        query = "SELECT offset, question FROM rows JOIN examples USING (n) ORDER BY rows.n, m"
        with open(self.rows_path, "rb") as old, writing.fresh(self.path / _IN_ORDER) as new:
            for offset, question in self._db.execute(query):
                old.seek(offset)
                line = old.readline()
                if self._regrouped and (row := Row.from_json(line)).question_id != question:
                    line = replace(row, question_id=question).to_json() + b"\n"
                new.write(line)
            new.flush()
            os.fsync(new.fileno())
        writing.move(self.path / _IN_ORDER, self.rows_path)

    # Index -------------------------------------------------------------------------------------------------------

    def _execute(self, statement: str, values: tuple[object, ...]) -> int:
        changed = self._do(statement, values).rowcount
        self._writes += 1
        if self._writes % _COMMIT_EVERY == 0:
            self._do("COMMIT")
            self._do("BEGIN")
        return changed

    def _do(self, statement: str, values: tuple[object, ...] = ()) -> sqlite3.Cursor:
        """UserError where the index cannot be used: that is no bug of the metric which needs it."""
        try:
            return self._db.execute(statement, values)
        except sqlite3.Error as error:
            raise UserError(
                f"{self.path} cannot be written ({error}); repeat the same command to resume"
            ) from None

    def _count(self, table: str) -> int:
        return int(
            self._db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        )  # fixed texts of this file only
