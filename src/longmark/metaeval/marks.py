"""The metrics' side: rows of one or several runs, as one table of answers and marks.

A source is a run's folder, a file of rows, or Rows. An answer is known by its `example_id`, and where several systems
use the same ids by its `system` too. Two sources that marked the same answers (two judges, say) are told from two
systems that answered the same questions by the answers themselves, where the runs hold them, and else by the systems'
names; in the first case the source's name stands behind the metric's, unless their marks are the same, so that both
can be held against the same people.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import orjson

from longmark.errors import UnknownName, UserError
from longmark.records import Row
from longmark.records.write import read_rows
from longmark.report.examples import examples_of
from longmark.report.manifest import MetricFacts, read_manifest
from longmark.stats.samples import Floats


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that metrics marked. length: characters of its text, None where the source does not hold it."""

    example_id: str
    question_id: str
    system: str
    length: int | None


@dataclass(frozen=True, slots=True)
class Marks:
    """Answers, and for each metric its value or the status of the gap, by the answer's place in `answers`.

    mixed: metrics whose marks were not all made by the same models, prompts and parameters.
    """

    sources: tuple[str, ...]
    answers: tuple[Answer, ...]
    metrics: dict[str, MetricFacts]
    values: dict[str, dict[int, float]]
    gaps: dict[str, dict[int, str]]
    by_id: dict[str, tuple[int, ...]]
    by_system: dict[tuple[str, str], tuple[int, ...]]
    mixed: tuple[str, ...] = ()

    def column(self, metric: str) -> Floats:
        """The metric's value of every answer, NaN where there is none."""
        column = np.full(len(self.answers), np.nan)
        values = self.values[metric]
        column[list(values)] = list(values.values())
        return column

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(answer.system for answer in self.answers))


Source = str | Path | Iterable[Row]


def read_marks(given: Source | Sequence[Source], wanted: Sequence[str] = (), lower: Sequence[str] = ()) -> Marks:
    """The marks of all sources. wanted: metrics or families of them; lower: metrics of which less is better.

    Errors: UserError where a source has no rows, UnknownName where a metric has none.
    """
    sources = [_read(source) for source in _listed(given)]
    names = _labels([source.path for source in sources])
    for place, source in enumerate(sources):
        if not source.values and not source.gaps:
            raise UserError(f"{names[place]} has no rows; mark the answers first: longmark run FILE --metrics …")
    groups = _groups(sources)
    return _selected(_joined(sources, names, groups), wanted, lower)


@dataclass(slots=True)
class _Source:
    """One source as it was read: answers by id, values and gaps by metric and id."""

    path: Path | None
    facts: dict[str, MetricFacts] = field(default_factory=dict)
    answers: dict[tuple[str, str], Answer] = field(default_factory=dict)  # (id, system)
    texts: dict[str, tuple[int, int]] = field(default_factory=dict)  # id -> length and hash of the answer
    values: dict[str, dict[tuple[str, str], float]] = field(default_factory=dict)
    gaps: dict[str, dict[tuple[str, str], str]] = field(default_factory=dict)
    made_by: dict[str, set[bytes]] = field(default_factory=dict)

    def systems_of(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for name, system in self.answers:
            found.setdefault(name, set()).add(system)
        return found


def _listed(given: Source | Sequence[Source]) -> list[Source]:
    if isinstance(given, str | Path):
        return [given]
    listed = list(given)
    if all(isinstance(item, Row) for item in listed):
        return [listed]  # type: ignore[list-item]
    return listed  # type: ignore[return-value]


def _read(given: Source) -> _Source:
    if not isinstance(given, str | Path):
        return _filled(_Source(None), given)
    path = Path(given)
    if path.name == "rows.jsonl" and path.with_name("manifest.json").is_file():
        path = path.parent
    if not path.is_dir():
        return _filled(_Source(path), read_rows(path))
    source = _Source(path, facts=read_manifest(path).metrics())
    for example in examples_of(path):
        if example.answer is not None:
            source.texts[example.id] = (len(example.answer.strip()), hash(example.answer))
    return _filled(source, read_rows(path / "rows.jsonl"))


def _filled(source: _Source, rows: Iterable[Row]) -> _Source:
    """The last row of an answer and metric counts, as everywhere."""
    for row in rows:
        key = (row.example_id, row.system)
        if key not in source.answers:
            length = source.texts.get(row.example_id, (None, 0))[0]
            source.answers[key] = Answer(row.example_id, row.question_id, row.system, length)
        values, gaps = source.values.setdefault(row.metric, {}), source.gaps.setdefault(row.metric, {})
        source.made_by.setdefault(row.metric, set()).add(_made_by(row))
        if row.score is None:
            values.pop(key, None)
            gaps[key] = row.status
        else:
            gaps.pop(key, None)
            values[key] = row.score
    return source


def _made_by(row: Row) -> bytes:
    how = row.signature
    return orjson.dumps([how.models, how.prompts, how.params], option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)


def _labels(paths: list[Path | None]) -> list[str]:
    """A short name for each source, with as much of its path as tells it from the others."""
    names = ["rows" if path is None else path.stem if path.is_file() else path.resolve().name for path in paths]
    if len(set(names)) < len(names):
        names = [
            name if path is None else f"{path.resolve().parent.name}/{name}"
            for path, name in zip(paths, names, strict=True)
        ]
    if len(set(names)) < len(names):
        names = [f"{name} {number}" for number, name in enumerate(names, 1)]
    return names


def _groups(sources: Sequence[_Source]) -> list[int]:
    """For each source the first one that marked the same answers as it."""
    groups: list[int] = []
    for place, source in enumerate(sources):
        first = next((i for i in range(place) if groups[i] == i and _same_answers(sources[i], source)), place)
        groups.append(first)
    return groups


def _same_answers(one: _Source, other: _Source) -> bool:
    shared = one.texts.keys() & other.texts.keys()
    if shared:
        return all(one.texts[name] == other.texts[name] for name in shared)
    mine, theirs = one.systems_of(), other.systems_of()
    both = mine.keys() & theirs.keys()
    return bool(both) and all(mine[name] & theirs[name] for name in both)


def _joined(sources: Sequence[_Source], names: Sequence[str], groups: Sequence[int]) -> Marks:
    answers: list[Answer] = []
    places: dict[tuple[int, str, str], int] = {}
    values: dict[str, dict[int, float]] = {}
    gaps: dict[str, dict[int, str]] = {}
    facts: dict[str, MetricFacts] = {}
    made_by: dict[str, set[bytes]] = {}
    held: dict[int, dict[str, str]] = {}  # of each group: id -> system, where the sources name systems differently
    for source, name, group in zip(sources, names, groups, strict=True):
        systems = held.setdefault(group, {})
        alone = groups.count(group) == 1
        for key, answer in source.answers.items():
            system = answer.system if alone else systems.setdefault(answer.example_id, answer.system)
            place = places.setdefault((group, answer.example_id, system), len(answers))
            if place == len(answers):
                answers.append(replace(answer, system=system))
            places[group, answer.example_id, key[1]] = place
        for metric in source.values:
            twice = any(
                _marked_otherwise(source, other, metric)
                for other, theirs in zip(sources, groups, strict=True)
                if other is not source and theirs == group
            )
            label = f"{metric} ({name})" if twice else metric
            facts.setdefault(label, source.facts.get(metric, MetricFacts()))
            made_by.setdefault(label, set()).update(source.made_by[metric])
            into = values.setdefault(label, {})
            into.update({places[group, *key]: value for key, value in source.values[metric].items()})
            without = gaps.setdefault(label, {})
            without.update({places[group, *key]: status for key, status in source.gaps[metric].items()})
    by_id: dict[str, list[int]] = {}
    by_system: dict[tuple[str, str], list[int]] = {}
    for place, answer in enumerate(answers):
        by_id.setdefault(answer.example_id, []).append(place)
        by_system.setdefault((answer.question_id, answer.system), []).append(place)
    return Marks(
        tuple(names),
        tuple(answers),
        facts,
        values,
        gaps,
        {key: tuple(found) for key, found in by_id.items()},
        {key: tuple(found) for key, found in by_system.items()},
        tuple(name for name, ways in made_by.items() if len(ways) > 1),
    )


def _marked_otherwise(one: _Source, other: _Source, metric: str) -> bool:
    """Whether two sources of the same answers have marks of a metric that are not the same."""
    if metric not in other.values:
        return False
    mine, theirs = ({name: value for (name, _), value in source.values[metric].items()} for source in (one, other))
    return mine != theirs


def _selected(marks: Marks, wanted: Sequence[str], lower: Sequence[str]) -> Marks:
    chosen = dict(marks.metrics)
    if wanted:
        chosen = {}
        for name in wanted:
            hits = _under(name, marks.metrics)
            if not hits:
                raise UnknownName("metric in the rows", name, marks.metrics, f"There are {', '.join(marks.metrics)}.")
            chosen.update({hit: marks.metrics[hit] for hit in hits})
    for name in lower:
        hits = _under(name, chosen)
        if not hits:
            raise UnknownName("metric in the rows", name, chosen, f"There are {', '.join(chosen)}.")
        chosen.update({hit: replace(chosen[hit], higher_is_better=False) for hit in hits})
    return replace(marks, metrics=chosen)


def _under(name: str, metrics: Iterable[str]) -> list[str]:
    """The metrics that bear a name, stand under it, or bear it with their source's name behind."""
    return [metric for metric in metrics if metric == name or metric.startswith((f"{name}.", f"{name} ("))]
