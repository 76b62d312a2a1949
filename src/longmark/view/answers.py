"""The answers of one run, read from its files as they grow: where each example and row stands, in a temporary table.

A page takes what it shows from the files, so memory does not grow with the run. Each call reads on for a while, so that
the first page of a large run is there before all of it is read: in a run that has ended, rows are in the order of the
examples.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from longmark.records import STATUSES, Row
from longmark.records.files import at, lines, opened, own_json
from longmark.records.pair import example_of
from longmark.records.same import comparable
from longmark.report.answers import ShownExample
from longmark.report.filters import (
    FILTERS,
    FilteredAnswer,
    counts_by_filter,
    filters_of,
)
from longmark.report.summary import Cell, Summary
from longmark.scores.files import name_of
from longmark.scores.manifest import Manifest, MetricFacts, without_descriptive
from longmark.scores.observations import STANDING
from longmark.text.refusal import only_declines
from longmark.view.folder import EXAMPLES, ROWS

LARGEST = 2 << 20  # bytes of an example or a row that is shown
_STEP = 500  # lines between two looks at the clock
_SCHEMA = """
PRAGMA journal_mode = OFF; PRAGMA cache_size = -1000;
CREATE TABLE examples (
    number INTEGER PRIMARY KEY, id TEXT UNIQUE, question_id TEXT, system INTEGER, turn_of TEXT,
    start INTEGER, size INTEGER, declined INTEGER
);
CREATE TABLE scores (
    example INTEGER, metric INTEGER, score REAL, status TEXT, start INTEGER, size INTEGER, PRIMARY KEY (example, metric)
) WITHOUT ROWID;
CREATE TABLE metrics (metric INTEGER PRIMARY KEY, lo REAL, hi REAL, lower_is_better INTEGER, counts INTEGER);
CREATE INDEX examples_question ON examples (question_id);
"""
_ORDERS = {
    "file": "number",
    "missing": "(SELECT COUNT(*) FROM scores WHERE example = number AND score IS NULL) DESC, number",
    "": "standing.mean IS NULL, standing.mean, number",
    "up": "its.score IS NULL, its.score, number",
    "down": "its.score IS NULL, its.score DESC, number",
}
_MISSING = "EXISTS (SELECT 1 FROM scores WHERE example = number AND status != 'ok')"
_STATUS = {"": "1", "all": f"NOT {_MISSING}", "some": _MISSING}
_HAS = "EXISTS (SELECT 1 FROM scores WHERE example = number AND status = ?)"


@dataclass(frozen=True, slots=True)
class AnswerQuery:
    """Which answers, in which order. sort: `` (worst first), `file`, `missing`, or a metric with ` up` or ` down`;
    status: ``, `all` scored, `some` missing, or a status; system: its name; q: words that all stand in the texts;
    filter: one of `report.filters`, or ``."""

    sort: str = ""
    status: str = ""
    system: str = ""
    q: str = ""
    filter: str = ""


class Changed(Exception):
    """A file was replaced since its places were noted."""


@dataclass(slots=True)
class _Lines:
    """A file and how far it was read. its: device and inode, None before it was opened."""

    path: Path
    its: tuple[int, int] | None = None
    start: int = 0
    count: int = 0

    def identity(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self.path)
        except OSError:
            return None
        return None if status.st_size < self.start else (status.st_dev, status.st_ino)


class RunAnswers:
    """Those of a run folder. complete: all that is in the files was read; damaged: how many lines are no example or
    row, and were left out; damage: the first of them. Use it in one thread."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._begin()

    def _begin(self) -> None:
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.executescript(_SCHEMA)
        self._examples = _Lines(self.folder / EXAMPLES)
        self._rows = _Lines(self.folder / ROWS)
        self._systems: dict[str, int] = {}
        self._metrics: dict[str, int] = {}
        self._ends: dict[str, tuple[float, float]] = {}
        self._last = ("", 0)
        self._own = ""
        self.complete = False
        self._all_examples = False
        self.damaged = 0
        self.damage = ""
        self._ranked: int | None = None
        self._ordered: tuple[Any, list[int]] = (None, [])
        self._filtered: tuple[Any, dict[int, list[str]]] = (None, {})

    def close(self) -> None:
        self._db.close()

    @property
    def counts(self) -> tuple[int, int]:
        """How many answers and rows were read."""
        query = "SELECT (SELECT COUNT(*) FROM examples), (SELECT COUNT(*) FROM scores)"
        examples, rows = self._db.execute(query).fetchone()
        return int(examples), int(rows)

    # Reading on ----------------------------------------------------------------------------------------------------

    def advance(self, manifest: Manifest, seconds: float) -> None:
        """Reads on, about so long; from the beginning where a file was replaced. UserError if one cannot be read."""
        if any(part.its not in (None, part.identity()) for part in (self._examples, self._rows)):
            self.close()
            self._begin()
        self._own = str(manifest.data.get("system") or name_of(self.folder))
        until = time.monotonic() + seconds
        unread = True
        self._db.execute("BEGIN")
        try:
            while unread and time.monotonic() < until:
                examples = self._take(self._examples, self._add_example, "an example")
                self._all_examples = not examples
                unread = self._take(self._rows, self._add_row, "a row") or examples
        finally:
            self._db.execute("COMMIT")
        self.complete = not unread

    def _take(self, source: _Lines, add: Callable[[int, bytes], bool], kind: str) -> bool:
        """Adds the next lines of a file; whether there may be more. add: False for a line whose turn has not come."""
        if (identity := source.identity()) is None:
            return False
        source.its = identity
        for number, (_, line) in enumerate(lines(source.path, start=source.start)):
            if number == _STEP:
                return True
            if not line.endswith(b"\n"):
                break  # it is being written, or its run was killed
            try:
                if not add(source.start, line):
                    break
            except (ValueError, KeyError, TypeError, OverflowError, sqlite3.Error) as error:
                self.damaged += 1
                self.damage = self.damage or at(
                    source.path.name, source.count + 1, f"not {kind} ({error})"
                )
            source.start += len(line)
            source.count += 1
        return False

    def _add_example(self, start: int, line: bytes) -> bool:
        example = own_json(line)
        name = _text(example["id"])
        system = _text(example.get("system") or self._own)
        answer = example.get("answer")
        self._insert(
            name,
            _text(example.get("question_id") or name),
            system,
            example.get("turn_of"),
            start,
            len(line),
            declined=isinstance(answer, str) and only_declines(answer),
        )
        return True

    def _insert(
        self,
        name: str,
        question: str,
        system: str,
        turn_of: str | None,
        start: int | None,
        size: int,
        *,
        declined: bool = False,
    ) -> int:
        number = self._systems.setdefault(system, len(self._systems))
        add = (
            "INSERT OR IGNORE INTO examples (id, question_id, system, turn_of, start, size, declined) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)"
        )
        return int(
            self._db.execute(
                add,
                (
                    name,
                    question,
                    number,
                    turn_of,
                    start,
                    size,
                    declined,
                ),
            ).lastrowid
            or 0
        )

    def _add_row(self, start: int, line: bytes) -> bool:
        row = own_json(line)
        name = _text(row["example_id"])
        metric = _text(row["metric"])
        score = row["score"]
        status = row["status"]
        if (
            status not in STATUSES
            or isinstance(score, bool)
            or not isinstance(score, int | float | None)
        ):
            raise ValueError("its score or status is not one")
        score = None if score is None else float(score)  # SQLite's integers end at 64 bits
        if self._last[0] != name:
            listed = self._db.execute(
                "SELECT number FROM examples WHERE id = ?", (name,)
            ).fetchone()
            if listed is None and not self._all_examples:
                return False
            question = _text(row.get("question_id") or name)
            system = _text(row.get("system") or self._own)
            self._last = (
                name,
                listed[0] if listed else self._insert(name, question, system, None, None, 0),
            )
        values = (
            self._last[1],
            self._metrics.setdefault(metric, len(self._metrics)),
            score,
            status,
            start,
            len(line),
        )
        self._db.execute(
            "INSERT OR REPLACE INTO scores (example, metric, score, status, start, size) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            values,
        )
        if score is not None:
            low, high = self._ends.get(metric, (score, score))
            self._ends[metric] = min(low, score), max(high, score)
        return True

    # What is shown -------------------------------------------------------------------------------------------------

    def summary(self, manifest: Manifest) -> Summary:
        """The metrics, systems and extreme scores, as far as they were read; without means."""
        facts = {name: fact for name, fact in manifest.metrics().items() if name in self._metrics}
        facts |= {name: MetricFacts() for name in self._metrics if name not in facts}
        facts = without_descriptive(facts)
        if pairs := manifest.of_pairs:
            facts = {name: replace(fact, higher_is_better=None) for name, fact in facts.items()}
        cells = []
        for name in facts:
            least, greatest = self._ends.get(name, (None, None))
            cell = Cell(
                name,
                "",
                0,
                0,
                None,
                None,
                least,
                greatest,
                choices=(0.0, 0.0, 0.0) if pairs else None,
            )
            cells += [replace(cell, system=system) for system in self._systems]
        return Summary(tuple(cells), facts, tuple(self._systems))

    def statuses(self) -> list[str]:
        """Those of the rows without a score."""
        return [
            status
            for (status,) in self._db.execute(
                "SELECT DISTINCT status FROM scores WHERE status != 'ok'"
            )
        ]

    def numbers(self, request: AnswerQuery, summary: Summary) -> list[int]:
        """The numbers of the answers that are asked for, in their order. Until all is read, it is that of the file."""
        key = (request, self._examples.start, self._rows.start)
        if self._ordered[0] != key:
            self._ordered = key, self._find(request, summary)
        return self._ordered[1]

    def _find(self, request: AnswerQuery, summary: Summary) -> list[int]:
        metric, _, order = request.sort.rpartition(" ")
        by_metric = order in ("up", "down") and metric in self._metrics
        ranked = request.sort == "" and summary.directed and not summary.pairs
        if not self.complete or not (by_metric or ranked or request.sort == "missing"):
            order = "file"
        joined = ""
        values = list[Any]()
        if order == "":
            self._rank(summary)
            joined = "LEFT JOIN standing ON standing.example = number"
        elif by_metric:
            joined = "LEFT JOIN scores AS its ON its.example = number AND its.metric = ?"
            values.append(self._metrics[metric])
        conditions = [_STATUS.get(request.status, _HAS)]
        values += [] if request.status in _STATUS else [request.status]
        if request.system:
            conditions.append("system = ?")
            values.append(self._systems.get(request.system, -1))
        columns = "number, examples.start, examples.size"
        query = f"SELECT {columns} FROM examples {joined} WHERE {' AND '.join(conditions)} ORDER BY {_ORDERS[order]}"
        candidates = self._db.execute(query, values)
        words = comparable(request.q).split()
        numbers = [
            number for number, *_ in (self._with(words, candidates) if words else candidates)
        ]
        if request.filter in FILTERS:
            passed = self.filters(summary)
            numbers = [number for number in numbers if request.filter in passed[number]]
        return numbers

    def filters(self, summary: Summary) -> dict[int, list[str]]:
        """Of each answer that was read, by its number, the filters that it passes."""
        key = (self._examples.start, self._rows.start)
        if self._filtered[0] != key:
            names = list(self._metrics)
            scores: dict[int, dict[str, float | None]] = {}
            statuses: dict[int, dict[str, str]] = {}
            for number, metric, score, status in self._db.execute(
                "SELECT example, metric, score, status FROM scores"
            ):
                scores.setdefault(number, {})[names[metric]] = score
                statuses.setdefault(number, {})[names[metric]] = status
            columns = "SELECT number, question_id, system, declined FROM examples"
            answers = {
                number: FilteredAnswer(
                    question,
                    system,
                    scores.get(number, {}),
                    statuses.get(number, {}),
                    bool(declined),
                )
                for number, question, system, declined in self._db.execute(columns)
            }
            passed = filters_of(answers, summary.facts, pairs=bool(summary.pairs))
            self._filtered = key, passed
        return self._filtered[1]

    def counts_by_filter(self, summary: Summary) -> dict[str, int]:
        """As `report.filters.counts_by_filter`: of several systems the questions."""
        passed = self.filters(summary)
        questions = self._db.execute("SELECT number, question_id FROM examples")
        return counts_by_filter(
            ((question, passed[number]) for number, question in questions),
            by_question=len(self._systems) > 1,
        )

    def question_count(self, numbers: Sequence[int]) -> int:
        """How many questions answers belong to."""
        query = "SELECT COUNT(DISTINCT question_id) FROM examples WHERE number IN (SELECT value FROM json_each(?))"
        return int(self._db.execute(query, (json.dumps(numbers),)).fetchone()[0])

    def _with(
        self, words: Sequence[str], candidates: Iterator[tuple[int, int | None, int]]
    ) -> Iterator[tuple[int, ...]]:
        """Those of the examples in whose texts all words stand."""
        with opened(self._examples.path) as file:
            for number, start, size in candidates:
                if start is not None:
                    file.seek(start)
                    texts = comparable("\n".join(_texts(own_json(file.read(size)))))
                    if all(word in texts for word in words):
                        yield number, start, size

    def _rank(self, summary: Summary) -> None:
        """Prepares the order from the worst answer on, as `Observations.rank` does."""
        if self._ranked == self._rows.start:
            return
        for name, number in self._metrics.items():
            fact = summary.facts[name]
            values = (
                number,
                fact.lo,
                fact.attainable,
                fact.higher_is_better is False,
                fact.higher_is_better is not None,
            )
            self._db.execute(
                "INSERT OR REPLACE INTO metrics (metric, lo, hi, lower_is_better, counts) "
                "VALUES (?, ?, ?, ?, ?)",
                values,
            )
        self._db.execute("DROP TABLE IF EXISTS standing")
        self._db.execute(STANDING)
        self._db.execute("CREATE INDEX standing_example ON standing (example)")
        self._ranked = self._rows.start

    def number_of(self, name: str) -> int | None:
        """The number of the answer of this id."""
        listed = self._db.execute("SELECT number FROM examples WHERE id = ?", (name,)).fetchone()
        return int(listed[0]) if listed else None

    def beside(self, number: int, limit: int) -> tuple[list[int], list[int]]:
        """The answers of the same system that are turns of the same conversation, up to this one, and the answers to
        the same question of other systems; at most so many of each."""
        question, system, turn_of = self._db.execute(
            "SELECT question_id, system, turn_of FROM examples WHERE number = ?", (number,)
        ).fetchone()
        turns = "SELECT number FROM examples WHERE question_id = ? AND system = ? AND turn_of = ? ORDER BY number LIMIT ?"
        of_others = "SELECT MIN(number) FROM examples WHERE question_id = ? AND system != ? GROUP BY system LIMIT ?"
        mine = (
            [n for (n,) in self._db.execute(turns, (question, system, turn_of, limit))]
            if turn_of
            else []
        )
        return mine or [number], [
            n for (n,) in self._db.execute(of_others, (question, system, limit))
        ]

    def shown(
        self, numbers: Sequence[int], largest: int = LARGEST
    ) -> tuple[list[ShownExample], int]:
        """The answers with their texts and rows, out of the files; and how many examples and rows were left out, since
        they have more than `largest` bytes or are damaged. Changed where a file was replaced."""
        entries = []
        left = 0
        with ExitStack() as files:
            held: dict[Path, BinaryIO] = {}

            def read(source: _Lines, start: int, size: int) -> bytes:
                if size > largest:
                    raise ValueError
                if source.path not in held:
                    held[source.path] = files.enter_context(opened(source.path))
                    now = os.fstat(held[source.path].fileno())
                    if (now.st_dev, now.st_ino) != source.its:
                        raise Changed
                held[source.path].seek(start)
                return held[source.path].read(size)

            for number in numbers:
                query = "SELECT id, question_id, system, start, size FROM examples WHERE number = ?"
                *keys, start, size = self._db.execute(query, (number,)).fetchone()
                entries.append(entry := ShownExample(None, 0, *keys))
                query = "SELECT start, size FROM scores WHERE example = ? ORDER BY metric"
                places = [(self._rows, *place) for place in self._db.execute(query, (number,))]
                for source, *place in [
                    *places,
                    *([(self._examples, start, size)] if start is not None else []),
                ]:
                    try:
                        line = read(source, *place)
                        if source is self._examples:
                            entry.example = example_of(line)
                        else:
                            row = Row.from_json(line)
                            entry.results[row.metric] = row
                    except ValueError:
                        left += 1
        return entries, left


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a name that is no text")
    return value


def _texts(value: Any) -> Iterator[str]:
    """All texts of a record."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(part)
