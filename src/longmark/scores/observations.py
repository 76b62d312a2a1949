"""The observations of one or several sources, in a temporary table on disk: a million need no more memory than ten.

An observation is a score, or why there is none, with its keys: run, example, question, cluster, system, judge, metric;
or a label that a rater gave (`labels.Labels`), whose metric is the label's name. Of several rows of an example, system,
metric and rater the last one counts; texts and evidence stay in the files, and `files.rows_of` reads them by the same
rule. Rows made elsewhere may have the same example ids for several systems.
Closing the table (it is a context manager) deletes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby, islice
from operator import itemgetter

import orjson

from longmark.errors import UnknownName, UserError
from longmark.options import named
from longmark.records import Usage
from longmark.scores.files import UNKNOWN_QUESTION
from longmark.scores.manifest import Manifest, MetricFacts
from longmark.scores.observation import (
    CellCounts,
    CellUsage,
    ExamplePlace,
    Extremes,
    Limit,
    NumberedQuestion,
    Observation,
    QuestionMean,
    ScoreRow,
    Spent,
    Unscored,
    judge_of,
    merged,
)
from longmark.scores.observation_table import USAGE_COUNTS, ObservationTable, insert

__all__ = [
    "STANDING",
    "Extremes",
    "Limit",
    "Observation",
    "Observations",
    "Spent",
    "Unscored",
    "judge_of",
    "merged",
]

# An example without the field of the clusters is in one with its question.
_CLUSTER = "COALESCE('=' || cluster, ':' || question_id)"

_KEYS = {
    "run": "run",
    "example_id": "id",
    "question_id": "question_id",
    "judge": "judge",
    "rater": "rater",
}

# The fields of an observation, and where they stand.
_SELECTED = {
    "run": "run",
    "example_id": "id",
    "question_id": "question_id",
    "cluster": _CLUSTER,
    "system": "examples.system",
    "named": "named",
    "judge": "judge",
    "metric": "metric",
    "score": "score",
    "status": "status",
    "reason": "reason",
    "rater": "rater",
    "label": "label",
    "line": "line",
    "given": "given",
}

_EXTREME = 3  # examples that are named
_ROUNDING = 1e-9  # a score may lie outside its bounds by this

# How good a score is, from 0 to 1: its place between the lower bound and what is attainable (`MetricFacts`), else the
# share of the metric's scores below it; reversed if lower is better. Metrics without a direction do not count.
STANDING = """
CREATE TEMP TABLE standing AS
SELECT example, AVG(CASE WHEN lower_is_better THEN 1 - place ELSE place END) AS mean FROM (
    SELECT example, lower_is_better, CASE
        WHEN lo IS NOT NULL AND hi IS NOT NULL AND lo < hi THEN MIN(1.0, (score - lo) / (hi - lo))
        ELSE PERCENT_RANK() OVER (PARTITION BY metric ORDER BY score) END AS place
    FROM scores JOIN metrics USING (metric) WHERE counts AND score IS NOT NULL
) GROUP BY example
"""


class Observations(ObservationTable):
    """What the observations of a table say."""

    def number_questions(self, unknown: str) -> Iterator[NumberedQuestion]:
        """Numbers the questions from 0, by their ids, for `scores`; they come in this order. Clusters are numbered by
        their names. unknown: how ids begin that are no question's."""
        self._db.executescript(
            "DROP TABLE IF EXISTS questions;"
            "CREATE TABLE questions (id TEXT PRIMARY KEY, number INTEGER, least TEXT, most TEXT) WITHOUT ROWID;"
            "INSERT INTO questions (id, number, least, most) "
            "SELECT question_id, row_number() OVER (ORDER BY question_id) - 1, "
            f"min({_CLUSTER}), max({_CLUSTER}) FROM examples WHERE substr(question_id, 1, {len(unknown)}) <> "
            f"'{unknown}' GROUP BY question_id"
        )
        query = "SELECT id, dense_rank() OVER (ORDER BY least) - 1, least, most FROM questions ORDER BY number"
        return map(NumberedQuestion._make, self._db.execute(query))

    def scores(self) -> Iterator[ScoreRow]:
        """The score of every row, by metric and system, in the order of the examples."""
        query = (
            "SELECT metric, scores.system, questions.number, question_id, score, status FROM scores "
            "JOIN examples ON examples.number = example LEFT JOIN questions ON questions.id = question_id "
            "ORDER BY metric, scores.system, example"
        )
        return map(ScoreRow._make, self._db.execute(query))

    _ORDER = "number, metric"

    def select(self, **keys: str | int) -> Iterator[Observation]:
        """The observations in the order of the examples, then of the metrics; labels in the order of their file. keys:
        only those with these values of `run`, `example_id`, `question_id`, `system`, `judge`, `metric` or `rater`."""
        names = self.metrics
        systems = self.runs_and_names()
        own_system = keys.pop("system", None)
        conditions = "".join(f" AND {_KEYS[name]} = ?" for name in keys if name != "metric")
        if "metric" in keys:
            conditions += f" AND metric = {self._metrics.get(str(keys.pop('metric')), -1)}"
        columns = ", ".join(f"{source} AS {name}" for name, source in _SELECTED.items())
        query = (
            f"SELECT {columns} FROM scores JOIN examples ON number = example WHERE 1{conditions} "
            f"ORDER BY {self._ORDER}"
        )
        for row in self._db.execute(query, (*keys.values(),)):
            values = dict(zip(_SELECTED, row, strict=True))
            values["system"] = systems[values["system"]][1]
            if own_system in (None, values["system"]):
                values["named"] = bool(values["named"])
                values["metric"] = names[values["metric"]]
                columns_given = values["given"]
                values["given"] = (
                    {} if columns_given in (None, b"{}") else orjson.loads(columns_given)
                )
                yield Observation(**values)

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
        of_metrics = self._db.execute(
            f"SELECT count(DISTINCT id) {joined} GROUP BY metric", (run, wholes)
        )
        return count, having, [having_metric for (having_metric,) in of_metrics]

    def grouped(self) -> Iterator[tuple[tuple[int, int], Iterator[list[float]]]]:
        """Each (metric, system) with a score, and its scores as a list for each cluster."""
        query = (
            f"SELECT metric, scores.system, {_CLUSTER} AS name, score FROM scores JOIN examples ON number = example "
            "WHERE score IS NOT NULL ORDER BY metric, scores.system, name"
        )
        for key, rows in groupby(self._db.execute(query), itemgetter(0, 1)):
            yield key, ([score for *_, score in group] for _, group in groupby(rows, itemgetter(2)))

    def clusters_of(self, metric: int, system: int) -> Iterator[list[float | None]]:
        """The rows of one metric and system as a list for each cluster, None for one without a score."""
        query = (
            f"SELECT {_CLUSTER} AS name, score FROM scores JOIN examples ON number = example "
            "WHERE metric = ? AND scores.system = ? ORDER BY name"
        )
        rows = self._db.execute(query, (metric, system))
        return ([score for _, score in group] for _, group in groupby(rows, itemgetter(0)))

    def by_question(self, metric: str) -> Iterator[QuestionMean]:
        """The mean scores of a metric, by question; none of answers whose question is not known."""
        query = (
            f"SELECT question_id, MIN({_CLUSTER}), scores.system, AVG(score), COUNT(score), COUNT(*) FROM scores "
            f"JOIN examples ON number = example WHERE metric = ? AND question_id NOT LIKE '{UNKNOWN_QUESTION}%' "
            "GROUP BY question_id, scores.system ORDER BY question_id"
        )
        return map(QuestionMean._make, self._db.execute(query, (self._metrics[metric],)))

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

    def counts(self) -> dict[tuple[int, int], CellCounts]:
        """Of each (metric, system)."""
        query = "SELECT metric, system, COUNT(*), COUNT(score), MIN(score), MAX(score) FROM scores GROUP BY metric, system"
        return {
            (metric, system): CellCounts(rows, scored, least, greatest)
            for metric, system, rows, scored, least, greatest in self._db.execute(query)
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
        return {key: merged(entries) for key, entries in by_cell.items()}

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
                raise UnknownName(f"metric in {named('bounds')}", name, ordered)
            if (facts_of[name].lo, facts_of[name].hi) not in ((None, None), (lo, hi)):
                raise UserError(
                    f"{named('bounds', {name: (lo, hi)})}: the metric declares other bounds; omit the option"
                )
            query = "SELECT MIN(score), MAX(score), TOTAL(NOT score BETWEEN ? AND ?) FROM scores WHERE metric = ?"
            least, greatest, outside = self._db.execute(
                query, (lo - _ROUNDING, hi + _ROUNDING, self._metrics[name])
            ).fetchone()
            if outside:
                raise UserError(
                    f"{named('bounds', {name: (lo, hi)})}: {int(outside):,} of the scores lie outside; the scores are from "
                    f"{least:g} to {greatest:g}, so give wider bounds"
                )
            facts_of[name] = replace(facts_of[name], lo=lo, hi=hi)
        return facts_of

    def usages(self) -> Iterator[CellUsage]:
        """What was paid for each (metric, system), in order of appearance."""
        query = (
            f"SELECT metric, system, {', '.join(f'CAST(TOTAL({name}) AS INTEGER)' for name in USAGE_COUNTS)}, "
            "CASE WHEN COUNT(usd) = COUNT(*) THEN SUM(usd) END "
            "FROM scores WHERE metric < ? GROUP BY metric, system ORDER BY metric, system"
        )
        rows = self._db.execute(query, (len(self._metrics) - len(self._wholes),))
        for metric, system, *counts, usd in rows:
            counted = dict(zip(USAGE_COUNTS, counts, strict=True))
            yield CellUsage(metric, system, Usage(**counted, usd=usd))

    def spent(self) -> list[Spent]:
        """`usages` with the names of metrics and the labels of systems."""
        names = self.metrics
        labels = self.systems()
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
            values = {
                "metric": number,
                "lo": fact.lo,
                "hi": fact.attainable,
                "lower_is_better": fact.higher_is_better is False,
                "counts": fact.higher_is_better is not None,
            }
            self._db.execute(insert("metrics", list(values)), values)
        self._db.execute("DROP TABLE IF EXISTS standing")
        self._db.execute(STANDING)
        self._db.execute("CREATE INDEX IF NOT EXISTS examples_question ON examples (question_id)")

    def lowest(self) -> Iterator[int]:
        """Numbers of the examples that have a score, the lowest standing first."""
        return (
            number
            for (number,) in self._db.execute("SELECT example FROM standing ORDER BY mean, example")
        )

    def siblings(self, number: int, limit: int) -> list[int]:
        """The examples of the same question, this one first; at most `most`."""
        query = (
            "SELECT number FROM examples WHERE question_id = (SELECT question_id FROM examples WHERE number = ?) "
            "ORDER BY number != ?, number LIMIT ?"
        )
        return [example_id for (example_id,) in self._db.execute(query, (number, number, limit))]

    def example(self, number: int) -> ExamplePlace:
        """An example by its number; numbers start at 1 and have no holes."""
        query = "SELECT run, id, question_id, system FROM examples WHERE number = ?"
        return ExamplePlace._make(self._db.execute(query, (number,)).fetchone())
