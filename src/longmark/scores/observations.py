"""The observations of one or several sources, in a temporary table on disk: a million need no more memory than ten.

An observation is a score, or why there is none, with its keys: run, example, question, cluster, system, judge, metric;
or a label that a rater gave (`labels.Labels`), whose metric is the label's name. Of several rows of an example, system,
metric and rater the last one counts; texts and evidence stay in the files, and `files.rows_of` reads them by the same
rule. Rows made elsewhere may have the same example ids for several systems.
Closing the table (it is a context manager) deletes it.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, Self

import orjson

from longmark.errors import UnknownName, UserError
from longmark.records import Answered, Row, Signature, Usage
from longmark.records.metric_name import in_slice, slice_name
from longmark.scores.clusters import QUESTION, check_slices, columns_of, fields_of, no_such_field
from longmark.scores.files import (
    UNKNOWN_QUESTION,
    absent_of,
    examples_of,
    no_rows,
    placed_rows_of,
    shortest_names,
    system_of,
)
from longmark.scores.manifest import Manifest, MetricFacts, read_manifest

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

# An example without the field of the clusters is in one with its question.
_CLUSTER = "COALESCE('=' || cluster, ':' || question_id)"

_KEYS = {
    "run": "run",
    "example_id": "id",
    "question_id": "question_id",
    "judge": "judge",
    "rater": "rater",
}

_SHOWN = 5  # versions that a notice names
_EXTREME = 3  # examples that are named
_FAILED = "'metric_error', 'model_error', 'over_budget', 'refused', 'too_long', 'unparsable', 'unsupported'"
_NOT_JUDGED = (
    "Nothing was judged: the score is an automatic one, of an answer that no judge is asked about."
)

_FEWEST_SHARES = 3  # judged scores from which none above 0.01 is no chance
_ROUNDING = 1e-9  # a score may lie outside its bounds by this

# SUM fails if whole numbers come to 2^63, TOTAL does not.
_COUNTS = ("calls", "from_cache", "prompt_tokens", "cached_prompt_tokens", "completion_tokens")

# How good a score is, from 0 to 1: its place between the bounds, else the share of the metric's scores below it;
# reversed if lower is better. Metrics without a direction do not count.
STANDING = """
CREATE TEMP TABLE standing AS
SELECT example, AVG(CASE WHEN lower_is_better THEN 1 - place ELSE place END) AS mean FROM (
    SELECT example, lower_is_better, CASE
        WHEN lo IS NOT NULL AND hi IS NOT NULL AND lo < hi THEN (score - lo) / (hi - lo)
        ELSE PERCENT_RANK() OVER (PARTITION BY metric ORDER BY score) END AS place
    FROM scores JOIN metrics USING (metric) WHERE counts AND score IS NOT NULL
) GROUP BY example
"""


@dataclass(frozen=True, slots=True)
class Observation:
    """A score, or None with a status and a reason; or a label. run: the place of its source; system: the source's name
    where the row has none (not `named`); judge: the names of the models that decided, "" if the row names none.

    Of a label: rater; metric: its name; score: the number, or the grade of a choice; label: the text, or the choice;
    line: in its file; given: other columns. example_id: what was labelled, in a choice both answers.
    """

    run: int
    example_id: str
    question_id: str
    cluster: str
    system: str
    named: bool
    judge: str
    metric: str
    score: float | None
    status: str = "ok"
    reason: str | None = None
    rater: str = ""
    label: str | None = None
    line: int = 0
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def value(self) -> float | str:
        """What the rater gave."""
        return self.label if self.label is not None else self.score or 0.0


@dataclass(frozen=True, slots=True)
class Spent:
    """What the rows of one metric and system cost when they were first paid for."""

    metric: str
    system: str
    usage: Usage


Limit = tuple[str, float]
"""`<`, `<=`, `>` or `>=` and a number: the scores beyond it. A score that differs from it by rounding equals it."""


@dataclass(frozen=True, slots=True)
class Extremes:
    """The scores beyond a limit: how many, and the examples of the most extreme ones with their scores."""

    count: int = 0
    extreme: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Unscored:
    """Rows without a score that share a status: how many, the most frequent reason, and how many give that reason."""

    status: str
    count: int
    reason: str
    giving: int

    @property
    def several(self) -> bool:
        """The rows give different reasons."""
        return self.giving < self.count


class Observations:
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
        self.cluster, self._bounds, self._by = cluster, bounds or {}, tuple(dict.fromkeys(by))
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
        add = (
            "INSERT INTO scores SELECT scores.example, ?, system, judge, score, status, reason, 0, 0, 0, 0, 0, 0, "
            "automatic, rater, label, line, given FROM scores LEFT JOIN slices ON slices.example = scores.example AND "
            "field = ? WHERE metric = ? AND value IS ?"
        )
        for value in [*filter(None, values), *([None] if None in values else [])]:
            for name, metric in list(self._metrics.items()):
                number, part = len(self._metrics), in_slice(name, slice_name(field, value))
                if (
                    name not in self._wholes
                    and self._db.execute(add, (number, field, metric, value)).rowcount
                ):
                    self._metrics[part], self._wholes[part] = number, name

    def add_run(self, run: Path) -> None:
        """Reads the rows of a run folder or a file of rows. Ids are the source's own: sources may share them."""
        wanted = self.cluster != QUESTION or bool(self._by)
        elsewhere = columns_of(run) if wanted and not run.is_dir() else iter(())
        rows = (
            (row, next((columns for row_place, columns in elsewhere if row_place == place), {}))
            for place, row in placed_rows_of(run, self.notices)
        )
        self._add_all(rows, run, examples_of(run) if wanted else ())
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
        own = [name for place, name in self._systems if place == number] or [
            str(manifest.data.get("system") or "")
        ]
        for row in absent_of(run, metrics, own):
            system = self._systems.setdefault((number, row.system), len(self._systems))
            example = self._example(number, system, row, {})
            metric = self._metrics.setdefault(row.metric, len(self._metrics))
            self._signatures.setdefault((number, row.metric), {})
            self._db.execute(
                "INSERT OR IGNORE INTO scores (example, metric, system, status, reason, calls, from_cache, "
                "prompt_tokens, cached_prompt_tokens, completion_tokens, usd, automatic) "
                "VALUES (?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0, 0)",
                (example, metric, system, row.status, row.reason),
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
        last, example = None, 0
        self._db.execute("BEGIN")
        for row, columns in rows:
            system = self._systems.setdefault((number, system_of(row, run)), len(self._systems))
            if (row.example_id, system) != last:
                last, example = (
                    (row.example_id, system),
                    self._example(number, system, row, columns),
                )
            self._add(number, example, row, system)
        for labelled in examples:
            fields = fields_of(labelled)
            self._fields.update(fields)
            update = "UPDATE examples SET cluster = ? WHERE run = ? AND id = ?"
            self._db.execute(update, (fields.get(self.cluster), number, labelled.id))
            for name in self._by:
                add = "INSERT OR REPLACE INTO slices SELECT ?, number, ? FROM examples WHERE run = ? AND id = ?"
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
                where = "WHERE metric = ? AND system = ? AND automatic"
                self._db.execute(f"{update} {where}", (_NOT_JUDGED, metric, system))

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
        insert = "INSERT INTO examples (run, id, system, question_id, named, cluster) VALUES (?, ?, ?, ?, ?, ?)"
        values = (*key, row.question_id, bool(row.system), columns.get(self.cluster))
        number_made = int(self._db.execute(insert, values).lastrowid or 0)
        for name in self._by:
            self._db.execute(
                "INSERT INTO slices VALUES (?, ?, ?)", (name, number_made, columns.get(name))
            )
        return number_made

    def _add(self, run: int, example: int, row: Row, system: int) -> None:
        metric = self._metrics.setdefault(row.metric, len(self._metrics))
        self._signatures.setdefault((run, row.metric), {}).setdefault(
            orjson.dumps(row.signature), row.signature
        )
        usage = [getattr(row.usage, name) for name in (*_COUNTS, "usd")]
        self._db.execute(
            f"INSERT OR REPLACE INTO scores VALUES ({'?, ' * 14}'', NULL, NULL, NULL)",
            (
                example,
                metric,
                system,
                judge_of(row.signature),
                row.score,
                row.status,
                row.reason,
                *usage,
                row.automatic,
            ),
        )
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

    def number_questions(self, unknown: str) -> Iterator[tuple[str, int, str, str]]:
        """Numbers the questions from 0, by their ids, for `scores`. (question_id, number of its cluster by the
        cluster's name, its least and its greatest cluster), in this order. unknown: how ids
        begin that are no question's."""
        self._db.executescript(
            "DROP TABLE IF EXISTS questions;"
            "CREATE TABLE questions (id TEXT PRIMARY KEY, number INTEGER, least TEXT, most TEXT) WITHOUT ROWID;"
            "INSERT INTO questions SELECT question_id, row_number() OVER (ORDER BY question_id) - 1, "
            f"min({_CLUSTER}), max({_CLUSTER}) FROM examples WHERE substr(question_id, 1, {len(unknown)}) <> "
            f"'{unknown}' GROUP BY question_id"
        )
        query = "SELECT id, dense_rank() OVER (ORDER BY least) - 1, least, most FROM questions ORDER BY number"
        return iter(self._db.execute(query))

    def scores(self) -> Iterator[tuple[int, int, int | None, str, float | None]]:
        """(metric, system, number of the question, question_id, score) of every row, by metric and system, in the order
        of the examples; None for a question without a number."""
        query = (
            "SELECT metric, scores.system, questions.number, question_id, score FROM scores "
            "JOIN examples ON examples.number = example LEFT JOIN questions ON questions.id = question_id "
            "ORDER BY metric, scores.system, example"
        )
        return iter(self._db.execute(query))

    _ORDER = "number, metric"

    def select(self, **keys: str | int) -> Iterator[Observation]:
        """The observations in the order of the examples, then of the metrics; labels in the order of their file. keys:
        only those with these values of `run`, `example_id`, `question_id`, `system`, `judge`, `metric` or `rater`."""
        names, systems = self.metrics, self.runs_and_names()
        wanted = keys.pop("system", None)
        where = "".join(f" AND {_KEYS[name]} = ?" for name in keys if name != "metric")
        if "metric" in keys:
            where += f" AND metric = {self._metrics.get(str(keys.pop('metric')), -1)}"
        query = (
            f"SELECT run, id, question_id, {_CLUSTER}, examples.system, named, judge, metric, score, status, reason, "
            f"rater, label, line, given FROM scores JOIN examples ON number = example WHERE 1{where} "
            f"ORDER BY {self._ORDER}"
        )
        for (
            run,
            example,
            question,
            cluster,
            system,
            named,
            judge,
            metric,
            *details,
        ) in self._db.execute(query, (*keys.values(),)):
            if wanted in (None, own_system := systems[system][1]):
                details[-1] = orjson.loads(details[-1]) if details[-1] not in (None, b"{}") else {}
                yield Observation(
                    run,
                    example,
                    question,
                    cluster,
                    own_system,
                    bool(named),
                    judge,
                    names[metric],
                    *details,
                )

    def questions(self) -> list[str]:
        """The question ids, sorted."""
        return [
            question
            for (question,) in self._db.execute(
                "SELECT DISTINCT question_id FROM examples ORDER BY question_id"
            )
        ]

    def having_rows(self, run: int, ids: Iterable[str]) -> tuple[int, int, list[int]]:
        """How many different examples these ids are, how many of them have a row of a source (by its place), and of
        each metric with such a row, but those of slices, on how many of them."""
        self._db.executescript(
            "CREATE TABLE IF NOT EXISTS ids (id TEXT PRIMARY KEY) WITHOUT ROWID; DELETE FROM ids; BEGIN"
        )
        self._db.executemany("INSERT OR IGNORE INTO ids VALUES (?)", ((id_,) for id_ in ids))
        self._db.execute("COMMIT")
        wholes = len(self._metrics) - len(self._wholes)
        joined = "FROM ids JOIN examples USING (id) JOIN scores ON number = example WHERE run = ? AND metric < ?"
        (count,) = self._db.execute("SELECT count(*) FROM ids").fetchone()
        (having,) = self._db.execute(
            f"SELECT count(DISTINCT id) {joined}", (run, wholes)
        ).fetchone()
        return (
            count,
            having,
            [
                n
                for (n,) in self._db.execute(
                    f"SELECT count(DISTINCT id) {joined} GROUP BY metric", (run, wholes)
                )
            ],
        )

    def grouped(self) -> Iterator[tuple[tuple[int, int], Iterator[list[float]]]]:
        """Each (metric, system) with a score, and its scores as a list for each cluster."""
        query = (
            f"SELECT metric, scores.system, {_CLUSTER} AS name, score FROM scores JOIN examples ON number = example "
            "WHERE score IS NOT NULL ORDER BY metric, scores.system, name"
        )
        for key, rows in groupby(self._db.execute(query), itemgetter(0, 1)):
            yield key, ([score for *_, score in group] for _, group in groupby(rows, itemgetter(2)))

    def by_question(self, metric: str) -> Iterator[tuple[str, str, int, float | None, int, int]]:
        """(question_id, cluster, system, mean score, scored rows, rows) of a metric, by question; none of answers whose
        question is not known."""
        query = (
            f"SELECT question_id, MIN({_CLUSTER}), scores.system, AVG(score), COUNT(score), COUNT(*) FROM scores "
            f"JOIN examples ON number = example WHERE metric = ? AND question_id NOT LIKE '{UNKNOWN_QUESTION}%' "
            "GROUP BY question_id, scores.system ORDER BY question_id"
        )
        return iter(self._db.execute(query, (self._metrics[metric],)))

    def ascending(self, metric: int, system: int) -> Iterator[float]:
        """The scores of one metric and system, the lowest first."""
        self._db.execute(
            "CREATE INDEX IF NOT EXISTS scores_sorted ON scores (metric, system, score)"
        )
        query = (
            "SELECT score FROM scores WHERE metric = ? AND system = ? AND score IS NOT NULL "
            "ORDER BY metric, system, score"
        )
        return (score for (score,) in self._db.execute(query, (metric, system)))

    def beyond(self, limit: Limit) -> dict[tuple[int, int], Extremes]:
        """Of each (metric, system) with scores beyond a limit, these scores."""
        sign, number = limit
        exact = number + (_ROUNDING if sign in ("<=", ">") else -_ROUNDING)
        query = (
            "SELECT metric, scores.system, id, score FROM scores JOIN examples ON number = example "
            f"WHERE score {sign} ? ORDER BY metric, scores.system, score {'DESC' if sign[0] == '>' else 'ASC'}, example"
        )
        extremes = {}
        for key, rows in groupby(self._db.execute(query, (exact,)), itemgetter(0, 1)):
            first = tuple((name, score) for _, _, name, score in islice(rows, _EXTREME))
            extremes[key] = Extremes(len(first) + sum(1 for _ in rows), first)
        return extremes

    def counts(self) -> dict[tuple[int, int], tuple[int, int, float | None, float | None]]:
        """Of each (metric, system): rows, scored rows, least and greatest score."""
        query = "SELECT metric, system, COUNT(*), COUNT(score), MIN(score), MAX(score) FROM scores GROUP BY metric, system"
        return {
            (metric, system): tuple(numbers) for metric, system, *numbers in self._db.execute(query)
        }

    def unscored(self) -> dict[tuple[int, int], tuple[Unscored, ...]]:
        """Why rows of each (metric, system) have no score, the most frequent status first."""
        query = (
            "SELECT metric, system, status, reason, COUNT(*) AS n FROM scores WHERE score IS NULL "
            "GROUP BY metric, system, status, reason ORDER BY n DESC, status, reason"
        )
        by_cell: dict[tuple[int, int], list[Unscored]] = {}
        for metric, system, status, reason, count in self._db.execute(query):
            by_cell.setdefault((metric, system), []).append(Unscored(status, count, reason, count))
        return {key: merged(each) for key, each in by_cell.items()}

    def facts(self, manifests: Iterable[Manifest]) -> dict[str, MetricFacts]:
        """What is known of each metric that has rows, in the order of the manifests. UserError for given bounds of a
        metric that has no row, declares others, or has a score outside."""
        declared: dict[str, MetricFacts] = {}
        for manifest in manifests:
            for name, facts in manifest.metrics().items():
                declared.setdefault(name, facts)
        ordered = [name for name in declared if name in self._metrics]
        ordered += [
            name for name in self._metrics if name not in declared and name not in self._wholes
        ]
        slices = {
            whole: [part for part, whole_of in self._wholes.items() if whole_of == whole]
            for whole in ordered
        }
        ordered = [name for whole in ordered for name in (whole, *slices[whole])]
        facts_of = {
            name: declared.get(self._wholes.get(name, name), MetricFacts()) for name in ordered
        }
        declared_bounds = {
            name: self._bounds[whole]
            for name, whole in self._wholes.items()
            if whole in self._bounds
        }
        for name, (lo, hi) in {**self._bounds, **declared_bounds}.items():
            if name not in facts_of:
                raise UnknownName("metric in --bounds", name, ordered)
            if (facts_of[name].lo, facts_of[name].hi) not in ((None, None), (lo, hi)):
                raise UserError(
                    f"--bounds {name}={lo:g}:{hi:g}: the metric declares other bounds; omit the option"
                )
            query = "SELECT MIN(score), MAX(score), TOTAL(NOT score BETWEEN ? AND ?) FROM scores WHERE metric = ?"
            least, greatest, outside = self._db.execute(
                query, (lo - _ROUNDING, hi + _ROUNDING, self._metrics[name])
            ).fetchone()
            if outside:
                raise UserError(
                    f"--bounds {name}={lo:g}:{hi:g}: {int(outside):,} of the scores lie outside; the scores are from "
                    f"{least:g} to {greatest:g}, so give wider bounds"
                )
            facts_of[name] = replace(facts_of[name], lo=lo, hi=hi)
        return facts_of

    def usages(self) -> Iterator[tuple[int, int, Usage]]:
        """What was paid for each (metric, system), in order of appearance."""
        query = (
            f"SELECT metric, system, {', '.join(f'CAST(TOTAL({name}) AS INTEGER)' for name in _COUNTS)}, "
            "CASE WHEN COUNT(usd) = COUNT(*) THEN SUM(usd) END "
            "FROM scores WHERE metric < ? GROUP BY metric, system ORDER BY metric, system"
        )
        rows = self._db.execute(query, (len(self._metrics) - len(self._wholes),))
        return ((metric, system, Usage(*sums)) for metric, system, *sums in rows)

    def spent(self) -> list[Spent]:
        """`usages` with the names of metrics and the labels of systems."""
        names, labels = self.metrics, self.systems()
        return [
            Spent(names[metric], labels[system], usage) for metric, system, usage in self.usages()
        ]

    def example_count(self) -> int:
        return int(self._db.execute("SELECT COUNT(*) FROM examples").fetchone()[0])

    def rank(self, facts: dict[str, MetricFacts]) -> None:
        """Prepares `lowest`: the mean standing of each example's scores, from 0 (bad) to 1 (good). Without
        a metric that has a direction no example has one."""
        for name, number in self._metrics.items():
            if name in self._wholes:
                continue
            fact = facts[name]
            self._db.execute(
                "INSERT OR REPLACE INTO metrics VALUES (?, ?, ?, ?, ?)",
                (
                    number,
                    fact.lo,
                    fact.hi,
                    fact.higher_is_better is False,
                    fact.higher_is_better is not None,
                ),
            )
        self._db.execute("DROP TABLE IF EXISTS standing")
        self._db.execute(STANDING)
        self._db.execute("CREATE INDEX IF NOT EXISTS examples_question ON examples (question_id)")

    def lowest(self) -> Iterator[int]:
        """Numbers of the examples that have a score, the lowest standing first."""
        return (
            number
            for (number,) in self._db.execute("SELECT example FROM standing ORDER BY mean, example")
        )

    def siblings(self, number: int, most: int) -> list[int]:
        """The examples of the same question, this one first; at most `most`."""
        query = (
            "SELECT number FROM examples WHERE question_id = (SELECT question_id FROM examples WHERE number = ?) "
            "ORDER BY number != ?, number LIMIT ?"
        )
        return [example_id for (example_id,) in self._db.execute(query, (number, number, most))]

    def example(self, number: int) -> tuple[int, str, str, int]:
        """(run, id, question_id, system) of an example; numbers start at 1 and have no holes."""
        query = "SELECT run, id, question_id, system FROM examples WHERE number = ?"
        run, name, question, system = self._db.execute(query, (number,)).fetchone()
        return run, name, question, system


def judge_of(signature: Signature) -> str:
    """The judges of a row, and a checker that is another model; "" if it names none."""
    judges = signature.models.get("judge", [])
    others = [
        name for name in signature.models.get("checker", ()) if name not in (*judges, "judge")
    ]
    return ", ".join([*judges, *(f"checker {name}" for name in others)])


def _changed(run: Path, model: str, versions: Counter[str]) -> str:
    """That the versions of a model changed in the course of a run."""
    listed = [
        f"{version} ({n:,} {'row' if n == 1 else 'rows'})"
        for version, n in versions.most_common(_SHOWN)
    ]
    more = f" and {len(versions) - _SHOWN} more" if len(versions) > _SHOWN else ""
    models = {version.partition(" (")[0] for version in versions}
    kind = "versions of the model" if len(models) > 1 else "fingerprints of the system that runs it"
    return f"{run.name}: {model} reported several {kind}: {', '.join(listed)}{more}. Its scores may not be comparable."


def merged(unscored: Sequence[Unscored]) -> tuple[Unscored, ...]:
    """Each status once, the most frequent first, with its most frequent reason."""
    by_status: dict[str, Unscored] = {}
    for reason in sorted(unscored, key=lambda entry: -entry.giving):
        before = by_status.get(reason.status)
        by_status[reason.status] = (
            replace(before, count=before.count + reason.count) if before else reason
        )
    return tuple(sorted(by_status.values(), key=lambda entry: -entry.count))
