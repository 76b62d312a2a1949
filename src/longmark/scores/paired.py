"""The scores of several sources as one matrix per metric: questions x systems, paired by `question_id`.

What is compared is called a system here. By run, each source (run folder or file of rows) is one; by system, each name
in the rows' field `system` is one, whichever source its rows are in. If a system answered a question more than once,
its score is the mean of the scores there are.

Errors: UserError for a path that is no source, a source given twice, or scores that cannot be paired.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from longmark.errors import UnknownName, UserError
from longmark.records import Signature, Usage
from longmark.scores.completeness import Missing, missing_rows
from longmark.scores.files import examples_of, shortest_names, sources_of
from longmark.scores.index import ScoreIndex, Unscored, merged
from longmark.scores.manifest import Manifest, MetricFacts, read_manifest

BY_RUN, BY_SYSTEM = "run", "system"
BY = (BY_RUN, BY_SYSTEM)


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of sources. metrics: in the order of the manifests; systems, questions: in order of appearance.

    by: what a system is here, `run` or `system`; manifests: of each source; signatures: metric -> for each source (by
    its place) the different signatures of its rows; repeated: (metric, system) -> questions with several scores, of
    which the mean is taken; missing: the runs with missing rows; notices: what the readers left out.
    """

    metrics: tuple[str, ...]
    systems: tuple[str, ...]
    questions: tuple[str, ...]
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

    def matrix(self, metric: str) -> NDArray[np.float64]:
        """Scores of shape (questions, systems), in the metric's units; NaN for no score."""
        found = np.full((len(self.questions), len(self.systems)), np.nan)
        for place, system in enumerate(self.systems):
            column = self._columns.get((metric, system))
            if column is not None:
                found[:, place] = column.means(len(self.questions))
        return found

    def named(self, wanted: Sequence[str]) -> list[str]:
        """The metrics of these names and families; all where none is given. UnknownName where there is none of it."""
        found = {name: [one for one in self.metrics if one == name or one.startswith(f"{name}.")] for name in wanted}
        for name, metrics in found.items():
            if not metrics:
                raise UnknownName("metric", name, self.metrics, f"The runs have {', '.join(self.metrics)}.")
        return [one for one in self.metrics if not wanted or any(one in metrics for metrics in found.values())]

    def rows(self, metric: str, system: str) -> int:
        """How many rows the system has on the metric, scored or not."""
        column = self._columns.get((metric, system))
        return 0 if column is None else column.rows

    def unscored(self, metric: str, system: str) -> tuple[Unscored, ...]:
        """Why rows have no score: each status with its count and its most frequent reason."""
        return self._unscored.get((metric, system), ())

    def usage(self, metric: str, system: str) -> Usage:
        """What the rows cost when they were first paid for."""
        return self._usage.get((metric, system), Usage())

    def question_texts(self, ids: Collection[str]) -> dict[str, str]:
        """The questions' texts, as far as the runs' examples hold them."""
        wanted, found = set(ids), dict[str, str]()
        for manifest in self.manifests:
            for example in examples_of(manifest.folder):
                if example.question_id in wanted and example.question:
                    found.setdefault(example.question_id, example.question)
            if len(found) == len(wanted):
                break
        return found


@dataclass(slots=True)
class _Column:
    """Values of one metric and system, with the numbers of their questions."""

    rows: int = 0
    questions: array[int] = field(default_factory=lambda: array("q"))
    values: array[float] = field(default_factory=lambda: array("d"))

    def means(self, count: int) -> NDArray[np.float64]:
        places = np.frombuffer(self.questions, dtype=np.int64) if self.questions else np.zeros(0, np.int64)
        values = np.frombuffer(self.values, dtype=np.float64) if self.values else np.zeros(0)
        times = np.bincount(places, minlength=count)
        found = np.full(count, np.nan)
        found[places] = values  # as they are where there is one, without the rounding of a sum
        several = times > 1
        if several.any():
            found[several] = (np.bincount(places, values, count) / np.maximum(times, 1))[several]
        return found

    def repeated(self) -> int:
        return len(self.questions) - len(set(self.questions))


def read_scores(runs: Sequence[Path], by: str | None = None) -> Scores:
    """The scores of run folders and files of rows. by: `run` or `system`; None: by run for several, else by system."""
    folders = sources_of(runs)
    by = by or (BY_RUN if len(folders) > 1 else BY_SYSTEM)
    if by not in BY:
        raise UserError(f"--by {by}: what is compared is {' or '.join(BY)}")
    manifests = tuple(read_manifest(run) for run in folders)
    with ScoreIndex() as index:
        for run in folders:
            index.add_run(run)
        if not index.metrics:
            raise UserError(f"no scores: there are no rows in {', '.join(str(run) for run in runs)}")
        return _Joining(index, manifests, by).scores()


class _Joining:
    """Makes `Scores` of an index: which of its systems are which of ours."""

    def __init__(self, index: ScoreIndex, manifests: tuple[Manifest, ...], by: str) -> None:
        self._index, self._manifests, self._by = index, manifests, by
        names = shortest_names([manifest.folder for manifest in manifests])
        members = index.runs_and_names()
        self._labels = [names[run] if by == BY_RUN else name for run, name in members]
        self._members = members

    def scores(self) -> Scores:
        index, manifests = self._index, self._manifests
        names = index.metrics
        facts = index.facts(manifests)
        numbers: dict[str, int] = {}
        columns: dict[tuple[str, str], _Column] = {}
        owner: dict[tuple[int, str, int], int] = {}
        shared = self._shared()
        for stored in index.scores():
            label = self._labels[stored.system]
            question = numbers.setdefault(stored.question_id, len(numbers))
            if label in shared:
                first = owner.setdefault((stored.metric, label, question), stored.system)
                if first != stored.system:
                    raise UserError(self._collision(label, first, stored.system, stored.question_id))
            column = columns.setdefault((names[stored.metric], label), _Column())
            column.rows += 1
            if stored.score is not None:
                column.questions.append(question)
                column.values.append(stored.score)
        return Scores(
            metrics=tuple(facts),
            systems=tuple(dict.fromkeys(self._labels)),
            questions=tuple(numbers),
            facts=facts,
            by=self._by,
            manifests=manifests,
            signatures={
                name: tuple(tuple(index.signatures(run, name)) for run in range(len(manifests))) for name in facts
            },
            repeated={key: count for key, column in columns.items() if (count := column.repeated())},
            missing=missing_rows(index, manifests),
            notices=tuple(index.notices),
            _columns=columns,
            _unscored=self._unscored(names),
            _usage=self._usage(),
        )

    def _shared(self) -> set[str]:
        """Labels of several systems of the index: no two of these may have the same question."""
        return {label for label in self._labels if self._labels.count(label) > 1}

    def _collision(self, label: str, first: int, second: int, question: str) -> str:
        (run, name), (other_run, other) = self._members[first], self._members[second]
        if self._by == BY_RUN:
            return (
                f"the run {label} holds scores of several systems on the same question ({name} and {other} on "
                f"{question}): compare the systems, --by system"
            )
        folders = [self._manifests[place].folder for place in (run, other_run)]
        return (
            f"the system {label} has scores on the same question ({question}) in two runs, {folders[0]} and "
            f"{folders[1]}: compare the runs, --by run, or give each system a name of its own in the examples' `system`"
        )

    def _unscored(self, names: list[str]) -> dict[tuple[str, str], tuple[Unscored, ...]]:
        found: dict[tuple[str, str], tuple[Unscored, ...]] = {}
        for (metric, system), each in self._index.unscored().items():
            key = (names[metric], self._labels[system])
            found[key] = merged((*found.get(key, ()), *each))
        return found

    def _usage(self) -> dict[tuple[str, str], Usage]:
        found: dict[tuple[str, str], Usage] = {}
        for metric, system, usage in self._index.usages():
            found.setdefault((self._index.metrics[metric], self._labels[system]), Usage()).add(usage)
        return found
