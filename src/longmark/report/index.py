"""A temporary index of the rows of one or several runs, on disk, so that a million rows need no more memory than ten.

It keeps of each row what tables and figures need (value, status, reason, usage), the last row of an example, system and
metric only; texts and evidence stay in the run's files. Rows of somebody else's making may have the same example ids
for several systems. Close it, or use it as a context manager, and it is gone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import orjson

from longmark.records import Row, Signature, Usage
from longmark.records.write import read_rows
from longmark.report.manifest import MetricFacts

_SCHEMA = """
CREATE TABLE examples (
    number INTEGER PRIMARY KEY, run INTEGER, id TEXT, question_id TEXT, system INTEGER, UNIQUE (run, id, system)
);
CREATE TABLE marks (
    example INTEGER, metric INTEGER, system INTEGER, value REAL, status TEXT, reason TEXT,
    calls INTEGER, from_cache INTEGER, prompt_tokens INTEGER, cached_prompt_tokens INTEGER,
    completion_tokens INTEGER, usd REAL,
    PRIMARY KEY (example, metric)
) WITHOUT ROWID;
CREATE TABLE metrics (metric INTEGER PRIMARY KEY, lo REAL, hi REAL, lower_is_better INTEGER, counts INTEGER);
"""

# SUM fails where whole numbers come to 2^63, TOTAL does not.
_COUNTS = ("calls", "from_cache", "prompt_tokens", "cached_prompt_tokens", "completion_tokens")

# How good a mark is, from 0 to 1: its place between the bounds, else the share of the metric's marks below it; turned
# round where lower is better. Metrics without a direction do not count, unless no metric has one.
_STANDING = """
CREATE TEMP TABLE standing AS
SELECT example, AVG(CASE WHEN lower_is_better THEN 1 - place ELSE place END) AS mean FROM (
    SELECT example, lower_is_better, CASE
        WHEN lo IS NOT NULL AND hi IS NOT NULL AND lo < hi THEN (value - lo) / (hi - lo)
        ELSE PERCENT_RANK() OVER (PARTITION BY metric ORDER BY value) END AS place
    FROM marks JOIN metrics USING (metric) WHERE counts AND value IS NOT NULL
) GROUP BY example
"""


@dataclass(frozen=True, slots=True)
class Spent:
    """What the rows of one metric and system cost when first paid."""

    metric: str
    system: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Mark:
    """The value of one example; metric and system by their numbers."""

    metric: int
    system: int
    question_id: str
    value: float | None


class MarkIndex:
    """The rows of the runs added so far. Systems are numbered by run and name, metrics by name, as they appear."""

    def __init__(self) -> None:
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.executescript("PRAGMA journal_mode = OFF; PRAGMA cache_size = -4000;" + _SCHEMA)
        self._runs: list[Path] = []
        self._systems: dict[tuple[int, str], int] = {}
        self._metrics: dict[str, int] = {}
        self._signatures: dict[tuple[int, str], dict[bytes, Signature]] = {}
        self._sorted = False

    def __enter__(self) -> MarkIndex:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._db.close()

    def add_run(self, run: Path) -> None:
        """Reads the rows of a run folder; ids are the run's own, so that runs may share them."""
        number = len(self._runs)
        self._runs.append(run)
        last, example = None, 0
        self._db.execute("BEGIN")
        for row in read_rows(run / "rows.jsonl"):
            system = self._system(number, row)
            if (row.example_id, system) != last:
                last, example = (row.example_id, system), self._example(number, row, system)
            self._add(number, example, row, system)
        self._db.execute("COMMIT")

    def _example(self, run: int, row: Row, system: int) -> int:
        key = (run, row.example_id, system)
        query = "SELECT number FROM examples WHERE run = ? AND id = ? AND system = ?"
        found = self._db.execute(query, key).fetchone()
        if found:
            return int(found[0])
        insert = "INSERT INTO examples (run, id, system, question_id) VALUES (?, ?, ?, ?)"
        return int(self._db.execute(insert, (*key, row.question_id)).lastrowid or 0)

    def _system(self, run: int, row: Row) -> int:
        return self._systems.setdefault((run, system_of(row, self._runs[run])), len(self._systems))

    def _add(self, run: int, example: int, row: Row, system: int) -> None:
        metric = self._metrics.setdefault(row.metric, len(self._metrics))
        usage = row.usage
        self._signatures.setdefault((run, row.metric), {}).setdefault(orjson.dumps(row.signature), row.signature)
        self._db.execute(
            "INSERT OR REPLACE INTO marks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(example, metric, system, row.score, row.status, row.reason),
                *(usage.calls, usage.from_cache, usage.prompt_tokens, usage.cached_prompt_tokens),
                *(usage.completion_tokens, usage.usd),
            ),
        )

    @property
    def metrics(self) -> list[str]:
        return list(self._metrics)

    def systems(self) -> list[str]:
        """A label for each system: its name, and the run's too where several runs have a system of that name."""
        names = [name for _, name in self._systems]
        folders = shortest_names(self._runs)
        return [name if names.count(name) == 1 else f"{name} ({folders[run]})" for run, name in self._systems]

    def runs_and_names(self) -> list[tuple[int, str]]:
        """The run of each system, by its place, and the system's own name."""
        return list(self._systems)

    def signatures(self, run: int, metric: str) -> list[Signature]:
        """The different signatures of a run's rows of a metric: one, unless the folder holds rows that are outdated."""
        return list(self._signatures.get((run, metric), {}).values())

    def marks(self) -> Iterator[Mark]:
        """Every row's mark, by metric and system, in the order of the examples."""
        query = (
            "SELECT metric, marks.system, question_id, value FROM marks JOIN examples ON number = example "
            "ORDER BY metric, marks.system, example"
        )
        return (Mark(*found) for found in self._db.execute(query))

    def marked(self, run: int) -> Iterator[tuple[str, int]]:
        """The different (example id, metric) of the rows of a run, by its place."""
        query = "SELECT DISTINCT id, metric FROM marks JOIN examples ON number = example WHERE run = ?"
        return iter(self._db.execute(query, (run,)))

    def values(self) -> Iterator[tuple[int, int, float]]:
        """(metric, system, value) of every row with a value."""
        return iter(self._db.execute("SELECT metric, system, value FROM marks WHERE value IS NOT NULL"))

    def ascending(self, metric: int, system: int) -> Iterator[float]:
        """The values of one metric and system, the smallest first."""
        if not self._sorted:
            self._db.execute("CREATE INDEX marks_sorted ON marks (metric, system, value)")
            self._sorted = True
        query = (
            "SELECT value FROM marks WHERE metric = ? AND system = ? AND value IS NOT NULL "
            "ORDER BY metric, system, value"
        )
        return (value for (value,) in self._db.execute(query, (metric, system)))

    def counts(self) -> dict[tuple[int, int], int]:
        """How many rows each (metric, system) has."""
        query = "SELECT metric, system, COUNT(*) FROM marks GROUP BY metric, system"
        return {(metric, system): n for metric, system, n in self._db.execute(query)}

    def gaps(self) -> Iterator[tuple[int, int, str, str, int]]:
        """(metric, system, status, reason, count) of the rows without a value, the most frequent reason first."""
        return iter(
            self._db.execute(
                "SELECT metric, system, status, reason, COUNT(*) AS n FROM marks WHERE value IS NULL "
                "GROUP BY metric, system, status, reason ORDER BY n DESC, status, reason"
            )
        )

    def usages(self) -> Iterator[tuple[int, int, Usage]]:
        """What was paid for each (metric, system), in order of appearance."""
        query = (
            f"SELECT metric, system, {', '.join(f'CAST(TOTAL({name}) AS INTEGER)' for name in _COUNTS)}, "
            "CASE WHEN COUNT(usd) = COUNT(*) THEN SUM(usd) END "
            "FROM marks GROUP BY metric, system ORDER BY metric, system"
        )
        return ((metric, system, Usage(*sums)) for metric, system, *sums in self._db.execute(query))

    def spent(self) -> list[Spent]:
        """`usages` with the names of metrics and the labels of systems."""
        names, labels = self.metrics, self.systems()
        return [Spent(names[metric], labels[system], usage) for metric, system, usage in self.usages()]

    def example_count(self) -> int:
        return int(self._db.execute("SELECT COUNT(*) FROM examples").fetchone()[0])

    def rank(self, facts: dict[str, MetricFacts]) -> None:
        """Prepares `lowest`: the mean standing of each example's marks, from 0 (bad) to 1 (good), where it has any."""
        directed = any(facts[name].higher_is_better is not None for name in self._metrics)
        for name, number in self._metrics.items():
            fact = facts[name]
            counts = fact.higher_is_better is not None or not directed
            self._db.execute(
                "INSERT OR REPLACE INTO metrics VALUES (?, ?, ?, ?, ?)",
                (number, fact.lo, fact.hi, fact.higher_is_better is False, counts),
            )
        self._db.execute("DROP TABLE IF EXISTS standing")
        self._db.execute(_STANDING)
        self._db.execute("CREATE INDEX IF NOT EXISTS examples_question ON examples (question_id)")

    def lowest(self) -> Iterator[int]:
        """Numbers of the examples that have a value, the lowest standing first."""
        return (number for (number,) in self._db.execute("SELECT example FROM standing ORDER BY mean, example"))

    def siblings(self, number: int, most: int) -> list[int]:
        """The examples of the same question, this one first; at most `most`."""
        query = (
            "SELECT number FROM examples WHERE question_id = (SELECT question_id FROM examples WHERE number = ?) "
            "ORDER BY number != ?, number LIMIT ?"
        )
        return [found for (found,) in self._db.execute(query, (number, number, most))]

    def example(self, number: int) -> tuple[int, str, str, int]:
        """(run, id, question_id, system) of an example; numbers start at 1 and have no holes."""
        query = "SELECT run, id, question_id, system FROM examples WHERE number = ?"
        run, name, question, system = self._db.execute(query, (number,)).fetchone()
        return run, name, question, system


def system_of(row: Row, run: Path) -> str:
    """The system of a row in a run folder: the folder's name where the row has none."""
    return row.system or run.resolve().name


def shortest_names(folders: list[Path]) -> list[str]:
    """The folders' names, with as much of what stands before them as tells them apart."""
    longest = max((len(folder.parts) for folder in folders), default=1)
    names: list[str] = []
    for parts in range(1, longest + 1):
        names = ["/".join(folder.parts[-parts:]) for folder in folders]
        if len(set(names)) == len(names):
            break
    return names
