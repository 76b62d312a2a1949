"""The marks of several runs as one array for each metric: questions by systems, paired by `question_id`.

What is compared is called a system here. By run, each run folder is one; by system, each name in the rows' field
`system`, whichever run its rows stand in. Where a system answered a question more than once, its mark is the mean of
the values there are.

Errors: UserError for a folder that is no run, a run given twice, or marks that cannot be paired.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from longmark.compare.completeness import Lacking, lacking
from longmark.errors import UnknownName, UserError
from longmark.records import Signature, Usage
from longmark.report.examples import examples_of
from longmark.report.index import MarkIndex, shortest_names
from longmark.report.manifest import Manifest, MetricFacts, read_manifest
from longmark.report.summary import Gap, facts_of, gaps_of

BY_RUN, BY_SYSTEM = "run", "system"
BY = (BY_RUN, BY_SYSTEM)


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of runs. metrics: in the order of the manifests; systems, questions: in order of appearance.

    by: what a system is here, `run` or `system`; repeated: (metric, system) -> questions with several values, of which
    the mean is taken; signatures: metric -> for each run (by its place) the different signatures of its rows; lacking:
    the runs that lack rows which they must have.
    """

    metrics: tuple[str, ...]
    systems: tuple[str, ...]
    questions: tuple[str, ...]
    facts: dict[str, MetricFacts]
    by: str
    manifests: tuple[Manifest, ...]
    signatures: dict[str, tuple[tuple[Signature, ...], ...]]
    repeated: dict[tuple[str, str], int]
    lacking: tuple[Lacking, ...]
    _columns: dict[tuple[str, str], _Column] = field(repr=False)
    _gaps: dict[tuple[str, str], tuple[Gap, ...]] = field(repr=False)
    _usage: dict[tuple[str, str], Usage] = field(repr=False)

    def matrix(self, metric: str) -> NDArray[np.float64]:
        """Values of shape (questions, systems); NaN where there is no value."""
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
        """How many rows the system has on the metric, with a value or without."""
        column = self._columns.get((metric, system))
        return 0 if column is None else column.rows

    def gaps(self, metric: str, system: str) -> tuple[Gap, ...]:
        """Why rows have no value: each status with its count and its most frequent reason."""
        return self._gaps.get((metric, system), ())

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


def read_marks(runs: Sequence[Path], by: str | None = None) -> Marks:
    """The marks of run folders. by: `run` or `system`; None: by run where several are given, else by system."""
    folders = [run.resolve() for run in runs]
    if not folders:
        raise UserError("give at least one run folder")
    if len(set(folders)) < len(folders):
        raise UserError("a run folder is given twice; give each once")
    by = by or (BY_RUN if len(folders) > 1 else BY_SYSTEM)
    if by not in BY:
        raise UserError(f"--by {by}: what is compared is {' or '.join(BY)}")
    manifests = tuple(read_manifest(run) for run in folders)
    with MarkIndex() as index:
        for run in folders:
            index.add_run(run)
        if not index.metrics:
            raise UserError(f"no marks: there are no rows in {', '.join(str(run) for run in runs)}")
        return _Joining(index, manifests, by).marks()


class _Joining:
    """One index on its way to `Marks`: which of its systems are which of ours."""

    def __init__(self, index: MarkIndex, manifests: tuple[Manifest, ...], by: str) -> None:
        self._index, self._manifests, self._by = index, manifests, by
        names = shortest_names([manifest.folder for manifest in manifests])
        members = index.runs_and_names()
        self._labels = [names[run] if by == BY_RUN else name for run, name in members]
        self._members = members

    def marks(self) -> Marks:
        index, manifests = self._index, self._manifests
        names = index.metrics
        facts = facts_of(index, manifests)
        numbers: dict[str, int] = {}
        columns: dict[tuple[str, str], _Column] = {}
        owner: dict[tuple[int, str, int], int] = {}
        shared = self._shared()
        for mark in index.marks():
            label = self._labels[mark.system]
            question = numbers.setdefault(mark.question_id, len(numbers))
            if label in shared:
                first = owner.setdefault((mark.metric, label, question), mark.system)
                if first != mark.system:
                    raise UserError(self._collision(label, first, mark.system, mark.question_id))
            column = columns.setdefault((names[mark.metric], label), _Column())
            column.rows += 1
            if mark.value is not None:
                column.questions.append(question)
                column.values.append(mark.value)
        return Marks(
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
            lacking=lacking(index, manifests),
            _columns=columns,
            _gaps=self._gaps(names),
            _usage=self._usage(),
        )

    def _shared(self) -> set[str]:
        """Labels that several systems of the index come under: their questions must not meet."""
        return {label for label in self._labels if self._labels.count(label) > 1}

    def _collision(self, label: str, first: int, second: int, question: str) -> str:
        (run, name), (other_run, other) = self._members[first], self._members[second]
        if self._by == BY_RUN:
            return (
                f"the run {label} holds marks of several systems on the same question ({name} and {other} on "
                f"{question}): compare the systems, --by system"
            )
        folders = [self._manifests[place].folder for place in (run, other_run)]
        return (
            f"the system {label} has marks on the same question ({question}) in two runs, {folders[0]} and "
            f"{folders[1]}: compare the runs, --by run, or give each system a name of its own in the examples' `system`"
        )

    def _gaps(self, names: list[str]) -> dict[tuple[str, str], tuple[Gap, ...]]:
        found: dict[tuple[str, str], tuple[Gap, ...]] = {}
        for (metric, system), gaps in gaps_of(self._index).items():
            key = (names[metric], self._labels[system])
            found[key] = _merged(*found.get(key, ()), *gaps)
        return found

    def _usage(self) -> dict[tuple[str, str], Usage]:
        found: dict[tuple[str, str], Usage] = {}
        for metric, system, usage in self._index.usages():
            found.setdefault((self._index.metrics[metric], self._labels[system]), Usage()).add(usage)
        return found


def _merged(*gaps: Gap) -> tuple[Gap, ...]:
    """Each status once, the most frequent first, with the most frequent reason that any of them gives."""
    found: dict[str, Gap] = {}
    for gap in sorted(gaps, key=lambda gap: -gap.giving):
        before = found.get(gap.status)
        found[gap.status] = replace(before, count=before.count + gap.count) if before else gap
    return tuple(sorted(found.values(), key=lambda gap: -gap.count))
