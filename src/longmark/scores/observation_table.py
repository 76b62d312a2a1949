"""The table on disk that observations are put into: its columns, and how the rows of a source become its rows."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

import orjson

from longmark.records import Answered, Row, Signature
from longmark.records.metric_name import in_slice, slice_name
from longmark.scores.clusters import QUESTION, check_slices, columns_of, fields_of, no_such_field
from longmark.scores.files import (
    absent_of,
    examples_of,
    no_rows,
    placed_rows_of,
    shortest_names,
    system_of,
)
from longmark.scores.manifest import read_manifest
from longmark.scores.observation import Observation, judge_of

_SCHEMA = """
CREATE TABLE examples (
    number INTEGER PRIMARY KEY, run INTEGER, id TEXT, question_id TEXT, system INTEGER, named INTEGER, cluster TEXT,
    UNIQUE (run, id, system)
);
CREATE TABLE scores (
    example INTEGER, metric INTEGER, system INTEGER, judge TEXT, score REAL, status TEXT, reason TEXT,
    calls INTEGER, from_cache INTEGER, prompt_tokens INTEGER, cached_prompt_tokens INTEGER,
    completion_tokens INTEGER, usd REAL, automatic INTEGER,
    rater TEXT NOT NULL DEFAULT '', label TEXT, line INTEGER, given TEXT,
    PRIMARY KEY (example, metric, rater)
) WITHOUT ROWID;
CREATE TABLE slices (field TEXT, example INTEGER, value TEXT, PRIMARY KEY (field, example)) WITHOUT ROWID;
CREATE TABLE metrics (metric INTEGER PRIMARY KEY, lo REAL, hi REAL, lower_is_better INTEGER, counts INTEGER);
"""

_SHOWN = 5  # versions that a notice names
_FAILED = "'metric_error', 'model_error', 'over_budget', 'refused', 'too_long', 'unparsable', 'unsupported'"
_NOT_JUDGED = (
    "Nothing was judged: the score is an automatic one, of an answer that no judge is asked about."
)

_FEWEST_SHARES = 3  # judged scores from which none above 0.01 is no chance

# SUM fails if whole numbers come to 2^63, TOTAL does not.
USAGE_COUNTS = ("calls", "from_cache", "prompt_tokens", "cached_prompt_tokens", "completion_tokens")


def insert(table: str, columns: Sequence[str], *, replacing: str = "REPLACE") -> str:
    """A statement that inserts a row by the names of its columns. replacing: what becomes of one with the same key."""
    values = ", ".join(f":{column}" for column in columns)
    return f"INSERT OR {replacing} INTO {table} ({', '.join(columns)}) VALUES ({values})"


_EXAMPLE = ("run", "id", "system", "question_id", "named", "cluster")
_ABSENT = ("example", "metric", "system", "status", "reason", *USAGE_COUNTS, "usd", "automatic")
_SCORED = (*_ABSENT, "judge", "score")
_ADD_EXAMPLE = insert("examples", _EXAMPLE, replacing="ABORT")
_ADD_ABSENT = insert("scores", _ABSENT, replacing="IGNORE")
_ADD_SCORE = insert("scores", _SCORED)
_NO_USAGE = dict.fromkeys((*USAGE_COUNTS, "usd"), 0)


class ObservationTable:
    """The rows of the sources added so far. Systems are numbered by source and name, metrics by name, as they appear.

    cluster: the field whose value the rows of a cluster share (`scores.clusters`); bounds: of metrics whose runs
    declare none; by: fields that cut the answers into slices, of which each score is a metric of its own
    (`ccrs[lang=de]`, `ccrs[no lang]`); notices: what the readers left out.
    """

    def __init__(
        self,
        cluster: str = QUESTION,
        bounds: Mapping[str, tuple[float, float]] | None = None,
        by: Iterable[str] = (),
    ) -> None:
        self.cluster = cluster
        self._bounds = bounds or {}
        self._by = tuple(dict.fromkeys(by))
        self._wholes: dict[str, str] = {}  # metric of a slice -> the metric
        self._fields: set[str] = set()
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.executescript("PRAGMA journal_mode = OFF; PRAGMA cache_size = -4000;" + _SCHEMA)
        self._runs: list[Path] = []
        self.notices: list[str] = []
        self._systems: dict[tuple[int, str], int] = {}
        self._metrics: dict[str, int] = {}
        self._signatures: dict[tuple[int, str], dict[bytes, Signature]] = {}
        self._automatic = False
        self._versions: dict[int, dict[str, Counter[str]]] = {}  # run -> model -> version -> rows

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._db.close()

    def read(self, sources: Iterable[Path]) -> None:
        """Adds the sources. UserError, naming the fields there are, if no example has the field of the clusters."""
        for source in sources:
            self.add_run(source)
        for name in self._by if self._metrics else ():
            self._cut(name)
        if self.cluster == QUESTION or not self._runs:
            return
        total, without = self._db.execute(
            "SELECT COUNT(*), COUNT(*) - COUNT(cluster) FROM examples"
        ).fetchone()
        if without == total and total:
            raise no_such_field(self.cluster, self._fields)
        if without:
            self.notices.append(
                f"{without:,} of {total:,} examples have no {self.cluster}: those of one question are one cluster."
            )

    def _cut(self, field: str) -> None:
        """Adds the scores of each slice of a field."""
        query = "SELECT DISTINCT value FROM examples LEFT JOIN slices ON number = example AND field = ? ORDER BY value"
        values = [value for (value,) in self._db.execute(query, (field,))]
        check_slices(field, values, self._fields)
        # What was paid for a score is counted once, in the metric over all answers.
        copied = "system, judge, score, status, reason, automatic, rater, label, line, given"
        add = (
            f"INSERT INTO scores (example, metric, {', '.join(_NO_USAGE)}, {copied}) "
            f"SELECT scores.example, :part, {', '.join('0' for _ in _NO_USAGE)}, {copied} "
            "FROM scores LEFT JOIN slices ON slices.example = scores.example AND field = :field "
            "WHERE metric = :metric AND value IS :value"
        )
        for value in [*filter(None, values), *([None] if None in values else [])]:
            for name, metric in list(self._metrics.items()):
                if name in self._wholes:
                    continue
                number = len(self._metrics)
                values_named = {"part": number, "field": field, "metric": metric, "value": value}
                if self._db.execute(add, values_named).rowcount:
                    part = in_slice(name, slice_name(field, value))
                    self._metrics[part] = number
                    self._wholes[part] = name

    def add_run(self, run: Path) -> None:
        """Reads the rows of a run folder or a file of rows. Ids are the source's own: sources may share them."""
        reads_fields = self.cluster != QUESTION or bool(self._by)
        elsewhere = columns_of(run) if reads_fields and not run.is_dir() else iter(())
        rows = (
            (row, next((columns for row_place, columns in elsewhere if row_place == place), {}))
            for place, row in placed_rows_of(run, self.notices)
        )
        self._add_all(rows, run, examples_of(run) if reads_fields else ())
        self._add_absent(run)
        if read_manifest(run).data.get("stopping"):
            self.notices.append(
                f"{run} was stopped by its scores (longmark decide). Intervals and p for a fixed number of questions "
                "do not hold for it; those that longmark decide printed do."
            )

    def _add_absent(self, run: Path) -> None:
        """Adds the answers that the run has no row of, without a signature: they were not scored in any way."""
        number = len(self._runs) - 1
        manifest = read_manifest(run)
        metrics = list(manifest.metrics()) if run.is_dir() else []
        own_systems = [name for place, name in self._systems if place == number] or [
            str(manifest.data.get("system") or "")
        ]
        for row in absent_of(run, metrics, own_systems):
            system = self._systems.setdefault((number, row.system), len(self._systems))
            example = self._example(number, system, row, {})
            metric = self._metrics.setdefault(row.metric, len(self._metrics))
            self._signatures.setdefault((number, row.metric), {})
            values = {"example": example, "metric": metric, "system": system, "automatic": 0}
            self._db.execute(
                _ADD_ABSENT, _NO_USAGE | values | {"status": row.status, "reason": row.reason}
            )

    def add_rows(self, rows: Iterable[Row], name: Path = Path("rows")) -> None:
        """Adds rows that are in memory, as one source of this name."""
        self._add_all(((row, {}) for row in rows), name)

    def _add_all(
        self,
        rows: Iterable[tuple[Row, Mapping[str, str]]],
        run: Path,
        examples: Iterable[Answered] = (),
    ) -> None:
        number = len(self._runs)
        self._runs.append(run)
        last: tuple[str, int] | None = None
        example = 0
        self._db.execute("BEGIN")
        for row, columns in rows:
            system = self._systems.setdefault((number, system_of(row, run)), len(self._systems))
            # Rows of one answer mostly follow each other.
            if (row.example_id, system) != last:
                last = (row.example_id, system)
                example = self._example(number, system, row, columns)
            self._add(number, example, row, system)
        for labelled in examples:
            fields = fields_of(labelled)
            self._fields.update(fields)
            update = "UPDATE examples SET cluster = ? WHERE run = ? AND id = ?"
            self._db.execute(update, (fields.get(self.cluster), number, labelled.id))
            for name in self._by:
                add = (
                    "INSERT OR REPLACE INTO slices (field, example, value) "
                    "SELECT ?, number, ? FROM examples WHERE run = ? AND id = ?"
                )
                self._db.execute(add, (name, fields.get(name), number, labelled.id))
        self._leave_out_unjudged(number)
        self._db.execute("COMMIT")
        self.notices += self._shares(number)
        for model, versions in self._versions.get(number, {}).items():
            if len(versions) > 1:
                self.notices.append(_changed(run, model, versions))

    def _leave_out_unjudged(self, run: int) -> None:
        """Automatic scores count as unscored where they are all that a system has of a metric, and either no answer of
        the source was judged, or judging failed for others of the system: their mean would say nothing of its answers.
        """
        if not self._automatic:
            return
        query = (
            "SELECT metric, scores.system, TOTAL(score IS NOT NULL AND NOT automatic), "
            f"TOTAL(status IN ({_FAILED})) FROM scores JOIN examples ON number = example WHERE run = ? "
            "GROUP BY metric, scores.system"
        )
        cells = self._db.execute(query, (run,)).fetchall()
        judged = {metric for metric, _, scored, _ in cells if scored}
        for metric, system, scored, failed in cells:
            if not scored and (failed or metric not in judged):
                update = "UPDATE scores SET score = NULL, status = 'undefined', reason = ?"
                condition = "WHERE metric = ? AND system = ? AND automatic"
                self._db.execute(f"{update} {condition}", (_NOT_JUDGED, metric, system))

    def _shares(self, run: int) -> Iterator[str]:
        """A notice for each metric of a run whose judged scores are at most 1 of 100, as of a judge that replies with
        shares of 1 (or yes and no as 1 and 0) where whole numbers from 0 to 100 are asked for."""
        query = (
            "SELECT metric, COUNT(*) FROM scores JOIN examples ON number = example WHERE run = ? AND judge <> '' AND "
            "score IS NOT NULL AND NOT automatic GROUP BY metric "
            "HAVING COUNT(*) >= ? AND MIN(score) >= 0 AND MAX(score) > 0 AND MAX(score) <= 0.01"
        )
        names = self.metrics
        for metric, count in self._db.execute(query, (run, _FEWEST_SHARES)).fetchall():
            yield (
                f"All {count:,} scores of {names[metric]} in {self._runs[run].name} are at most 0.01: its judge "
                "seems to have replied with shares of 1, where a whole number from 0 to 100 was asked for."
            )

    def refuse_empty(self, paths: Sequence[Path]) -> None:
        """UserError if the sources have no row. given: their paths, as the user wrote them."""
        if not self._metrics:
            raise no_rows(paths)

    def _example(
        self, run: int, system: int, row: Row | Observation, columns: Mapping[str, str]
    ) -> int:
        key = (run, row.example_id, system)
        query = "SELECT number FROM examples WHERE run = ? AND id = ? AND system = ?"
        if stored := self._db.execute(query, key).fetchone():
            return int(stored[0])
        self._fields.update(columns)
        values = (*key, row.question_id, bool(row.system), columns.get(self.cluster))
        number = self._db.execute(_ADD_EXAMPLE, dict(zip(_EXAMPLE, values, strict=True))).lastrowid
        for name in self._by:
            self._db.execute(
                "INSERT INTO slices (field, example, value) VALUES (?, ?, ?)",
                (name, number, columns.get(name)),
            )
        return int(number or 0)

    def _add(self, run: int, example: int, row: Row, system: int) -> None:
        metric = self._metrics.setdefault(row.metric, len(self._metrics))
        self._signatures.setdefault((run, row.metric), {}).setdefault(
            orjson.dumps(row.signature), row.signature
        )
        usage = {name: getattr(row.usage, name) for name in _NO_USAGE}
        values = {
            "example": example,
            "metric": metric,
            "system": system,
            "judge": judge_of(row.signature),
            "score": row.score,
            "status": row.status,
            "reason": row.reason,
            "automatic": row.automatic,
        }
        self._db.execute(_ADD_SCORE, usage | values)
        self._automatic = self._automatic or row.automatic
        for name, versions in row.versions.items():
            self._versions.setdefault(run, {}).setdefault(name, Counter()).update(versions)

    @property
    def metrics(self) -> list[str]:
        return list(self._metrics)

    @property
    def slices(self) -> list[str]:
        """The metrics that are over a slice of the answers."""
        return list(self._wholes)

    def systems(self) -> list[str]:
        """A label for each system: its name, and the run's too if several runs have a system of that name."""
        names = [name for _, name in self._systems]
        folders = shortest_names(self._runs)
        return [
            name if names.count(name) == 1 else f"{name} ({folders[run]})"
            for run, name in self._systems
        ]

    def runs_and_names(self) -> list[tuple[int, str]]:
        """The run of each system, by its place, and the system's own name."""
        return list(self._systems)

    def signatures(self, metric: str, run: int | None = None) -> list[Signature]:
        """The different signatures of the rows of a metric, of a run: one, unless the folder holds rows that are
        outdated; of all runs where none is given."""
        runs = range(len(self._runs)) if run is None else (run,)
        return [
            signature
            for number in runs
            for signature in self._signatures.get((number, metric), {}).values()
        ]


def _changed(run: Path, model: str, versions: Counter[str]) -> str:
    """That the versions of a model changed in the course of a run."""
    listed = [
        f"{version} ({n:,} {'row' if n == 1 else 'rows'})"
        for version, n in versions.most_common(_SHOWN)
    ]
    unlisted = f" and {len(versions) - _SHOWN} more" if len(versions) > _SHOWN else ""
    models = {version.partition(" (")[0] for version in versions}
    kind = "versions of the model" if len(models) > 1 else "fingerprints of the system that runs it"
    return f"{run.name}: {model} reported several {kind}: {', '.join(listed)}{unlisted}. Its scores may not be comparable."
