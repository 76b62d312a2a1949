"""The scores of several sources as one matrix per metric: questions x systems, paired by `question_id`.

What is compared is called a system here. By run, each source (run folder or file of rows) is one; by system, each name
in the rows' field `system` is one, whichever source its rows are in. If a system answered a question more than once,
its score is the mean of the scores there are.

Missing rows of a run are found by its examples and rows: a metric is either for originals or for variants of
questions, and if one original has a row of a metric, every original must have one. Nothing is certain for variants,
since a metric may apply to some kinds only.

Errors: UserError for a path that is no source, a source given twice, or scores that cannot be paired.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from pathlib import Path
from statistics import fmean
from sys import intern
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longmark.errors import UnknownName, UserError
from longmark.options import named
from longmark.options.analyses import ComparedSystems
from longmark.records import Signature, Usage
from longmark.records.metric_name import under, without_slice
from longmark.scores.clusters import QUESTION
from longmark.scores.files import (
    UNKNOWN_QUESTION,
    examples_of,
    names_given,
    shortest_names,
    sources_of,
)
from longmark.scores.manifest import (
    Manifest,
    MetricFacts,
    read_manifest,
    refuse_pairs,
    without_descriptive,
)
from longmark.scores.observations import Observations, Unscored, merged

BY_RUN = "run"
BY_SYSTEM = "system"
BY_EACH = "run and system"  # each system of each run
BY = (BY_RUN, BY_SYSTEM)
_LARGEST = 1e100  # in size: squares of sums still fit a float
_ByRun = dict[tuple[str, str], dict[int | None, dict[int, list[float | None]]]]
"""(metric, system) -> question, None if it is not known -> run -> the scores of its answers."""
TOO_LARGE = f"it has scores beyond {_LARGEST:g}, which cannot be averaged"


@dataclass(frozen=True, slots=True)
class Missing:
    """A run with missing rows. run: its place; examples: originals; without: those that have no row; rows: missing rows
    in all, including those of `without`; empty: the run has no row, so nothing else is known."""

    run: int
    examples: int
    without: int
    rows: int
    empty: bool

    def in_words(self) -> str:
        none = (
            f"{self.without:,} of {self.examples:,} examples have no row at all; "
            if self.without
            else ""
        )
        return f"{none}{self.rows:,} row{'s' if self.rows > 1 else ''} {'are' if self.rows > 1 else 'is'} missing"


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of sources. metrics: in the order of the manifests; systems: in order of appearance;
    questions: by their ids, so that the order of the rows changes no draw.

    clusters: for each question the number of its cluster, of shape (questions,); cluster: the field that the questions
    of a cluster share; by: what a system is here, `run` or `system`; manifests: of each source; signatures: metric ->
    for each source (by its place) the different signatures of its rows; repeated: (metric, system) -> questions with
    several scores, of which the mean is taken; missing: the runs with missing rows; notices: what the readers left out.
    """

    metrics: tuple[str, ...]
    systems: tuple[str, ...]
    questions: Ids
    clusters: NDArray[np.int64]
    cluster: str
    facts: dict[str, MetricFacts]
    by: str
    manifests: tuple[Manifest, ...]
    signatures: dict[str, tuple[tuple[Signature, ...], ...]]
    repeated: dict[tuple[str, str], int]
    missing: tuple[Missing, ...]
    notices: tuple[str, ...]
    _columns: dict[tuple[str, str], _Column] = field(repr=False)
    _unscored: dict[tuple[str, str], tuple[Unscored, ...]] = field(repr=False)
    _usage: dict[tuple[str, str], Usage] = field(repr=False)

    def matrix(self, metric: str, unscored: float | None = None) -> NDArray[np.float64]:
        """Scores of shape (questions, systems), in the metric's units; NaN for no score. unscored: what rows without a
        score count as; then NaN is for no row."""
        table = np.full((len(self.questions), len(self.systems)), np.nan)
        for place, system in enumerate(self.systems):
            column = self._columns.get((metric, system))
            if column is not None:
                table[:, place] = column.means(len(self.questions), unscored)
        return table

    def shares_unscored(self, metric: str) -> NDArray[np.float64]:
        """Of each question the share of a system's rows without a score, of shape (questions, systems); 1 for no row,
        NaN where no system has a row."""
        shares = np.ones((len(self.questions), len(self.systems)))
        has_rows = np.zeros(len(self.questions), dtype=bool)
        for place, system in enumerate(self.systems):
            column = self._columns.get((metric, system), _Column())
            scored, silent = (
                np.bincount(places, minlength=len(has_rows)) for places in column.places()
            )
            rows = scored + silent
            has_rows |= rows > 0
            shares[:, place] = np.where(
                rows > 0,
                silent / np.maximum(rows, 1),
                1.0,
            )
        shares[~has_rows] = np.nan
        return shares

    def unanswered(self, metric: str, system: str) -> tuple[int, int]:
        """How many answers of a system have no score, and how many there should be: its rows, and a row for each
        question on which another system has one."""
        column = self._columns.get((metric, system), _Column())
        unanswered = np.zeros(len(self.questions), dtype=bool)
        for name in self.systems:
            for places in self._columns.get((metric, name), _Column()).places():
                unanswered[places] = True
        for places in column.places():
            unanswered[places] = False
        no_row = int(unanswered.sum())
        unscored = len(column.silent) + max(
            column.lost, no_row
        )  # what is lost may be what is without a row
        return unscored, len(column.questions) + unscored

    def rows_scored(
        self, metric: str, system: str
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Every score of a system, not averaged by question, and the place of its question."""
        column = self._columns.get((metric, system), _Column())
        return np.array(column.values, dtype=np.float64), column.places()[0]

    def named(self, selection: str | Sequence[str]) -> list[str]:
        """The metrics of these names and families; all if none is given. UnknownName if there is none."""
        selection = names_given(selection)
        chosen = {name: under(name, self.metrics) for name in selection}
        for name, metrics in chosen.items():
            if not metrics:
                raise UnknownName(
                    "metric", name, self.metrics, f"The runs have {', '.join(self.metrics)}."
                )
        whole_of = {
            metric: without_slice(metric)[0] for metric in self.metrics
        }  # a slice is there where its metric is
        return [
            metric
            for metric in whole_of
            if not selection
            or any({metric, whole_of[metric]} & {*metrics} for metrics in chosen.values())
        ]

    def directed(self, higher: Sequence[str], lower: Sequence[str]) -> Scores:
        """These scores, with the direction of metrics whose runs declare none: names or families of which higher, or
        lower, scores are better. UserError where a run declares another direction, or both are given."""
        facts = dict(self.facts)
        for option, better, names in (("higher", True, higher), ("lower", False, lower)):
            for name in self.named(names) if names else ():
                declared = facts[name]
                is_open = not declared.declared or declared.descriptive
                if not is_open and declared.higher_is_better is not better:
                    raise UserError(
                        f"{named(option, name)}: the metric has another direction; omit the option"
                    )
                facts[name] = replace(
                    declared, higher_is_better=better, declared=True, descriptive=""
                )
        return replace(self, facts=facts)

    def deciding(self, metrics: Collection[str]) -> Scores:
        """These scores, where a metric that only describes has no direction beside others of `metrics` that decide."""
        return replace(self, facts=without_descriptive(self.facts, metrics))

    def refuse_huge(self, metrics: Sequence[str]) -> None:
        """UserError for a metric with scores that cannot be averaged."""
        for metric in metrics:
            if huge(self.matrix(metric)):
                raise UserError(
                    f"{metric}: {TOO_LARGE}; correct the scores, or select other metrics with {named('metrics')}"
                )

    def rows(self, metric: str, system: str) -> int:
        """How many rows the system has on the metric, scored or not."""
        column = self._columns.get((metric, system))
        return 0 if column is None else column.rows

    def unscored(self, metric: str, system: str) -> tuple[Unscored, ...]:
        """Why rows have no score: each status with its count and its most frequent reason."""
        return self._unscored.get((metric, system), ())

    def statuses(self, metric: str, system: str) -> dict[int, tuple[str, ...]]:
        """The statuses of rows without a score, by the place of their question; where scores are means over judges, of
        which each has its own, `unscored`."""
        column = self._columns.get((metric, system), _Column())
        statuses = dict[int, tuple[str, ...]]()
        for place, status in zip_longest(column.silent, column.statuses):
            statuses[place] = (*statuses.get(place, ()), status or "unscored")
        return statuses

    def usage(self, metric: str, system: str) -> Usage:
        """What the rows cost when they were first paid for."""
        return self._usage.get((metric, system), Usage())

    def lines(self, metrics: Sequence[str]) -> tuple[str, ...]:
        """What to cite of the metrics, a line for each way that scores were made; none for rows made elsewhere."""
        signed = (
            (name, signature)
            for name in metrics
            for of_run in self.signatures[name]
            for signature in of_run
        )
        return tuple(
            dict.fromkeys(signature.line(name) for name, signature in signed if signature.version)
        )

    def question_texts(self, ids: Collection[str]) -> dict[str, str]:
        """The questions' texts, as far as the runs' examples hold them."""
        missing_ids = set(ids)
        texts = dict[str, str]()
        for manifest in self.manifests:
            for example in examples_of(manifest.folder):
                if example.question_id in missing_ids and example.question:
                    texts.setdefault(example.question_id, example.question)
            if len(texts) == len(missing_ids):
                break
        return texts


class Ids(Sequence[str]):
    """Many ids in one buffer: 16 letters are 24 bytes, as a string in a tuple they are 88."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._ends = array("q", [0])

    def append(self, identifier: str) -> None:
        self._bytes += identifier.encode("utf-8", "surrogatepass")
        self._ends.append(len(self._bytes))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, place: Any) -> Any:
        at = range(len(self))[place]
        start, end = self._ends[at : at + 2]
        return self._bytes[start:end].decode("utf-8", "surrogatepass")


@dataclass(slots=True)
class _Column:
    """Values of one metric and system, with the numbers of their questions; silent, statuses: of rows without a score,
    the question and the status; lost: answers without a score, to questions that are not known."""

    rows: int = 0
    questions: array[int] = field(default_factory=lambda: array("q"))
    values: array[float] = field(default_factory=lambda: array("d"))
    silent: array[int] = field(default_factory=lambda: array("q"))
    statuses: list[str] = field(default_factory=list)
    lost: int = 0

    def places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The questions of the rows with a score, and of those without."""
        return np.asarray(self.questions, dtype=np.int64), np.asarray(self.silent, dtype=np.int64)

    def means(self, count: int, unscored: float | None = None) -> NDArray[np.float64]:
        places, silent = self.places()
        values = np.asarray(self.values, dtype=np.float64)
        if unscored is not None:
            places = np.append(places, silent)
            values = np.append(values, np.full(len(silent), unscored))
        times = np.bincount(places, minlength=count)
        means = np.full(count, np.nan)
        means[places] = values  # a single score as it is, without the rounding of a sum
        several = times > 1
        if several.any():
            means[several] = (
                np.bincount(
                    places,
                    values,
                    count,
                )
                / np.maximum(times, 1)
            )[several]
        return means

    def repeated(self) -> int:
        return len(self.questions) - int(np.count_nonzero(np.bincount(self.places()[0])))


def read_scores(
    runs: Sequence[Path],
    by: str | None = None,
    cluster: str = QUESTION,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    *,
    judges: bool = False,
    slices: Sequence[str] = (),
) -> Scores:
    """The scores of run folders and files of rows. by: `run` or `system`; None: by run for several, else by system.
    cluster: the field of the examples that the questions of a cluster share; bounds: of metrics whose runs declare
    none; judges: the runs score the same systems, and an answer's score is the mean over the runs, if all that have
    the metric scored it; slices: fields of the examples, each of whose values makes a metric of every metric."""
    folders = sources_of(runs)
    by = by or (BY_RUN if len(folders) > 1 else BY_SYSTEM)
    if by not in (*BY, BY_EACH):
        raise UserError(f"{named('by', by)}: expected {' or '.join(BY)}")
    manifests = tuple(read_manifest(run) for run in folders)
    refuse_pairs(manifests)
    with Observations(cluster, bounds, slices) as index:
        index.read(folders)
        index.refuse_empty(runs)
        return _scores(index, manifests, by, judges)


def _scores(
    index: Observations, manifests: tuple[Manifest, ...], by: str, judges: bool = False
) -> Scores:
    """Makes `Scores` of an index: which of its systems are which of ours."""
    members = index.runs_and_names()
    runs = shortest_names([manifest.folder for manifest in manifests])
    labels = [runs[run] if by == BY_RUN else name for run, name in members]
    labels = index.systems() if by == BY_EACH else labels
    shared = {
        label for label, count in Counter(labels).items() if count > 1
    }  # of several systems of the index
    names = index.metrics
    facts = index.facts(manifests)
    questions = Ids()
    clusters = array("q")
    for question, cluster, least, greatest in index.number_questions(UNKNOWN_QUESTION):
        if least != greatest:
            raise UserError(
                f"{named('cluster', index.cluster)}: the question {question} is in two clusters ({least[1:]} and "
                f"{greatest[1:]}), and systems are compared by question: use a field that all answers to a question share"
            )
        questions.append(question)
        clusters.append(cluster)
    columns: dict[tuple[str, str], _Column] = {}
    owner: dict[tuple[int, str, int], int] = {}
    cells: _ByRun = {}
    for metric, system, number, question, score, status in index.scores():
        label = labels[system]
        column = columns.setdefault((names[metric], label), _Column())
        column.rows += 1
        if judges:
            by_run = cells.setdefault((names[metric], label), {}).setdefault(number, {})
            by_run.setdefault(members[system][0], []).append(score)
        if number is None:
            column.lost += 1
            continue
        if (
            label in shared
            and not judges
            and (first := owner.setdefault((metric, label, number), system)) != system
        ):
            folders = [
                str(manifests[members[label_of_run][0]].folder) for label_of_run in (first, system)
            ]
            systems = [members[label_of_run][1] for label_of_run in (first, system)]
            raise UserError(_collision(label, question, folders, systems, by))
        if score is not None:
            column.questions.append(number)
            column.values.append(score)
        else:
            column.silent.append(number)
            column.statuses.append(intern(status))
    if judges:
        _over_judges(columns, cells)
    unscored: dict[tuple[str, str], tuple[Unscored, ...]] = {}
    for (metric, system), reasons in index.unscored().items():
        key = (names[metric], labels[system])
        unscored[key] = merged((*unscored.get(key, ()), *reasons))
    usages: dict[tuple[str, str], Usage] = {}
    for metric, system, usage in index.usages():
        usages.setdefault((names[metric], labels[system]), Usage()).add(usage)
    return Scores(
        metrics=tuple(facts),
        systems=tuple(dict.fromkeys(labels)),
        questions=questions,
        clusters=np.array(clusters, dtype=np.int64),
        cluster=index.cluster,
        facts=facts,
        by=by,
        manifests=manifests,
        signatures={
            name: tuple(tuple(index.signatures(name, run)) for run in range(len(manifests)))
            for name in facts
        },
        repeated={key: count for key, column in columns.items() if (count := column.repeated())},
        missing=_missing_rows(index, manifests),
        notices=tuple(index.notices),
        _columns=columns,
        _unscored=unscored,
        _usage=usages,
    )


def _over_judges(columns: dict[tuple[str, str], _Column], cells: _ByRun) -> None:
    """Makes the columns those of answers, whose score is the mean over the runs that have the metric if all of these
    scored it. given: the scores by run."""
    judged: dict[str, set[int]] = {}
    for (metric, _), questions in cells.items():
        runs = (
            run
            for by_run in questions.values()
            for run, scores in by_run.items()
            if set(scores) != {None}
        )
        judged.setdefault(metric, set()).update(runs)
    for (metric, label), questions in cells.items():
        column = columns[metric, label] = _Column()
        for number, by_run in questions.items():
            answers = {
                run: [score for score in scores if score is not None]
                for run, scores in by_run.items()
            }
            scored = min((len(answers.get(run, ())) for run in judged[metric]), default=0)
            silent = max(map(len, by_run.values())) - scored
            column.rows += scored + silent
            if number is None:
                column.lost += silent
                continue
            column.questions.extend([number] * scored)
            column.values.extend([fmean(chain(*answers.values()))] * scored if scored else ())
            column.silent.extend([number] * silent)


def _collision(
    label: str, question: str, folders: Sequence[str], systems: Sequence[str], by: str
) -> str:
    by_judges = named("judges", True, ComparedSystems)
    if by == BY_RUN:
        example = f"({systems[0]} and {systems[1]} on {question})"
        return (
            f"the run {label} holds scores of several systems on the same question {example}: use "
            f"{named('by', 'system')}; if the runs are by different judges, use `compare` with {by_judges}"
        )
    return (
        f"the system {label} has scores on the same question ({question}) in two runs, {folders[0]} and {folders[1]}: "
        f"if different judges scored the same systems, use `compare` with {by_judges}; else "
        f"compare the runs, {named('by', 'run')}, or give each system a name of its own in the examples' `system`"
    )


def _missing_rows(index: Observations, manifests: Sequence[Manifest]) -> tuple[Missing, ...]:
    having = {run for run, _ in index.runs_and_names()}
    missing = []
    for run, manifest in enumerate(manifests):
        ids = (example.id for example in examples_of(manifest.folder) if example.variant_of is None)
        originals, seen, metrics = index.having_rows(run, ids)
        if run not in having:
            missing.append(Missing(run, originals, originals, 0, empty=True))
        elif rows := sum(originals - count for count in metrics):
            missing.append(
                Missing(
                    run,
                    originals,
                    originals - seen,
                    rows,
                    empty=False,
                )
            )
    return tuple(missing)


def huge(matrix: NDArray[np.float64]) -> bool:
    """Whether a score is too large to be averaged."""
    return bool((np.abs(matrix) > _LARGEST).any())
