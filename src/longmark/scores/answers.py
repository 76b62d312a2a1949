"""The scores of one or several sources as one table: a line per answer, a column per metric.

A source is a run folder, a file of rows, or Row objects. An answer is identified by its `example_id`, and by its
`system` if several systems use the same ids. Two sources may have scored the same answers (two judges), or the answers
of two systems to the same questions: the texts of the answers decide, or the names of the systems if a source has no
texts. For the same answers the metric's name is followed by the source's, unless the scores are equal, so that both
can be compared with the same labels.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

from longmark.errors import UnknownName
from longmark.records import Example, Row, Signature
from longmark.scores.answer_texts import answer_sha256
from longmark.scores.files import examples_of, no_rows, shortest_names, source_of
from longmark.scores.manifest import MetricFacts, read_manifest, refuse_pairs
from longmark.scores.observations import Observation, Observations

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_NONE = float("nan")
_HASH = 64  # bits
_FIRST = 3  # answers that an error can show


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that metrics scored. text: length and hash of its text in one number, None if the source does not have
    the text; words: how many it has, where they were counted."""

    example_id: str
    question_id: str
    system: str
    text: int | None
    words: int | None = None

    @property
    def length(self) -> int | None:
        """Characters of its text."""
        return None if self.text is None else self.text >> _HASH

    @property
    def digest(self) -> str | None:
        """Of its text, as `answer_texts.answer_sha256` has it."""
        return None if self.text is None else f"{self.text & (1 << _HASH) - 1:016x}"


@dataclass(frozen=True)
class AnswerScores:
    """For each metric the scores of the answers, by the answer's place; NaN for none.

    answers: by place; those that were asked for. questions, system_of: of all answers, the number of the question, and
    the place of the system in `systems`. unscored: metric -> place -> status, of `answers`; signatures: of each metric,
    a line for each way that its scores were made (none for rows made elsewhere); mixed: metrics whose scores were not
    all made by the same models, prompts and parameters; notices: what the readers left out.
    """

    sources: tuple[str, ...]
    answers: Mapping[int, Answer]
    questions: Ints
    systems: tuple[str, ...]
    system_of: NDArray[np.int32]
    metrics: dict[str, MetricFacts]
    scores: dict[str, Floats]
    unscored: dict[str, dict[int, str]]
    signatures: dict[str, tuple[str, ...]] = field(default_factory=dict)
    mixed: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    @cached_property
    def by_id(self) -> dict[str, tuple[int, ...]]:
        places: dict[str, tuple[int, ...]] = {}
        for place, answer in self.answers.items():
            places[answer.example_id] = (*places.get(answer.example_id, ()), place)
        return places

    @cached_property
    def by_system(self) -> dict[tuple[str, str], tuple[int, ...]]:
        """By question and system."""
        places: dict[tuple[str, str], tuple[int, ...]] = {}
        for place, answer in self.answers.items():
            key = (answer.question_id, answer.system)
            places[key] = (*places.get(key, ()), place)
        return places


@dataclass(frozen=True, slots=True)
class ScoredParts:
    """Scores of parts of the answers of a source (`answer_parts`). rows: their `example_id` is the part's name; facts: of
    their metrics; texts: name of a part -> the text of its whole answer, which labels are compared with; notices:
    what was left out."""

    path: Path
    rows: Sequence[Row]
    facts: Mapping[str, MetricFacts]
    texts: Mapping[str, str]
    notices: Sequence[str] = ()


Source = str | Path | Iterable[Row]
Named = Callable[[str, str, str | None], bool]
"""Whether an answer is asked for, by its example_id, question_id and system (None: of any system)."""
WordCount = Callable[[str], int | None]


def read_answers(
    scored: Source | Sequence[Source] | Sequence[ScoredParts],
    wanted: Sequence[str] = (),
    lower: Sequence[str] = (),
    named: Named | None = None,
    word_count: WordCount | None = None,
) -> AnswerScores:
    """The scores of all sources. wanted: metrics or families; lower: metrics of which lower scores are better; named:
    the answers that are asked for (default: all), and some others; word_count: counts the words of each (default: not
    counted). Several sources are joined by all their answers.

    Errors: UserError if a source has no rows, UnknownName if a metric has none.
    """
    notices: list[str] = []
    listed = _listed(scored)
    sources = [
        _read(
            source,
            notices,
            named if len(listed) == 1 else None,
            word_count,
        )
        for source in listed
    ]
    # a table that names no system gets those of the run beside it, in any order
    sources.sort(key=lambda source: source.names_no_system)
    names = _names([source.path for source in sources])
    if empty := next((source for source in sources if not source.questions), None):
        raise no_rows([empty.path or Path("the list")])
    groups = _groups(sources)
    for source in sources:
        source.texts.clear()
        source.words.clear()
    return replace(
        _selected(
            _joined(sources, names, groups),
            wanted,
            lower,
        ),
        notices=tuple(notices),
    )


@dataclass(slots=True)
class _Source:
    """One source as it was read: scores (NaN: none) and statuses by metric and the answer's place, as `AnswerScores`
    has them. questions: a hash for each answer; at: the id and the system of the last answer."""

    path: Path | None
    named: Named | None
    facts: dict[str, MetricFacts] = field(default_factory=dict)
    answers: dict[int, Answer] = field(default_factory=dict)
    questions: array[int] = field(default_factory=lambda: array("q"))
    systems: dict[str, int] = field(default_factory=dict)
    system_of: array[int] = field(default_factory=lambda: array("i"))
    at: tuple[str, str] | None = None
    texts: dict[str, int] = field(
        default_factory=dict
    )  # id -> length and hash of the answer, in one number
    words: dict[str, int | None] = field(default_factory=dict)  # id -> of the answer
    scores: dict[str, array[float]] = field(default_factory=dict)
    unscored: dict[str, dict[int, str]] = field(default_factory=dict)
    signatures: dict[str, list[Signature]] = field(default_factory=dict)

    def asks_for(self, example_id: str, question_id: str, system: str | None) -> bool:
        return self.named is None or self.named(example_id, question_id, system)

    def add(self, observation: Observation) -> None:
        """Observations of an answer follow each other."""
        system = observation.system if observation.named else ""
        if self.at != (observation.example_id, system):
            self.at = observation.example_id, system
            place = len(self.questions)
            if place < _FIRST or self.asks_for(
                observation.example_id, observation.question_id, system
            ):
                text = self.texts.get(observation.example_id)
                words = self.words.get(observation.example_id)
                self.answers[place] = Answer(
                    observation.example_id, observation.question_id, system, text, words
                )
            self.questions.append(hash(observation.question_id))
            self.system_of.append(self.systems.setdefault(system, len(self.systems)))
        place = len(self.questions) - 1
        column = self.scores[observation.metric]
        column.extend([_NONE] * (place - len(column)))
        column.append(_NONE if observation.score is None else observation.score)
        if observation.score is None and place in self.answers:
            self.unscored[observation.metric][place] = observation.status

    @property
    def names_no_system(self) -> bool:
        return self.systems.keys() == {""}

    def systems_of(self) -> dict[str, set[str]]:
        systems: dict[str, set[str]] = {}
        for answer in self.answers.values():
            systems.setdefault(answer.example_id, set()).add(answer.system)
        return systems


def _listed(
    sources: Source | Sequence[Source] | Sequence[ScoredParts],
) -> list[Source | ScoredParts]:
    if isinstance(sources, str | Path):
        return [sources]
    listed = list(sources)
    if all(isinstance(item, Row) for item in listed):
        return [listed]  # type: ignore[list-item]
    return listed  # type: ignore[return-value]


def _read(
    scored: Source | ScoredParts,
    notices: list[str],
    asked_for: Named | None,
    word_count: WordCount | None,
) -> _Source:
    with Observations() as observations:
        if isinstance(scored, ScoredParts):
            source = _Source(scored.path, asked_for, facts=dict(scored.facts))
            source.texts |= {name: _length_and_hash(text) for name, text in scored.texts.items()}
            observations.add_rows(scored.rows)
            notices += scored.notices
        elif not isinstance(scored, str | Path):
            source = _Source(None, asked_for)
            observations.add_rows(scored)
        else:
            path = source_of(Path(scored))
            manifest = read_manifest(path)
            refuse_pairs((manifest,))
            source = _Source(path, asked_for, facts=manifest.metrics())
            observations.add_run(path)
            for example in examples_of(path):
                if not isinstance(example, Example) or example.answer is None:
                    continue
                if source.asks_for(example.id, example.question_id, None):
                    source.texts[example.id] = _length_and_hash(example.answer)
                    if word_count is not None:
                        source.words[example.id] = word_count(example.answer)
        for metric in observations.metrics:
            source.signatures[metric] = observations.signatures(metric, 0)
            source.scores[metric] = array("d")
            source.unscored[metric] = {}
        for observation in observations.select():
            source.add(observation)
        for column in source.scores.values():
            column.extend([_NONE] * (len(source.questions) - len(column)))
        notices += observations.notices
    return source


def _length_and_hash(answer: str) -> int:
    """Of an answer's text, in one number."""
    return len(answer.strip()) << _HASH | int(answer_sha256(answer), 16)


def _made_by(signature: Signature) -> bytes:
    settings = [
        signature.models,
        signature.configured,
        signature.settled,
        signature.prompts,
        signature.params,
    ]
    return orjson.dumps(settings, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)


def _names(paths: list[Path | None]) -> list[str]:
    """A short name for each source, with as much of its path as makes it unique."""
    of_paths = iter(shortest_names([path for path in paths if path is not None]))
    names = ["rows" if path is None else next(of_paths) for path in paths]
    if len(set(names)) < len(names):
        names = [f"{name} {number}" for number, name in enumerate(names, 1)]
    return names


def _groups(sources: Sequence[_Source]) -> list[int]:
    """For each source the first one that scored the same answers."""
    groups: list[int] = []
    for place, source in enumerate(sources):
        first = next(
            (i for i in range(place) if groups[i] == i and _same_answers(sources[i], source)), place
        )
        groups.append(first)
    return groups


def _same_answers(first: _Source, second: _Source) -> bool:
    shared = first.texts.keys() & second.texts.keys()
    if shared:
        return all(first.texts[name] == second.texts[name] for name in shared)
    mine = first.systems_of()
    theirs = second.systems_of()
    shared_names = mine.keys() & theirs.keys()
    if (
        second.names_no_system
    ):  # its answers are those of the first with these ids, if each is of one system
        return bool(shared_names) and all(len(mine[name]) == 1 for name in shared_names)
    return bool(shared_names) and all(mine[name] & theirs[name] for name in shared_names)


def _joined(
    sources: Sequence[_Source], names: Sequence[str], groups: Sequence[int]
) -> AnswerScores:
    answers: dict[int, Answer] = {}
    questions = array("q")
    system_of = array("i")
    systems = dict[str, int]()
    places: dict[tuple[int, str, str], int] = {}
    parts: dict[str, list[tuple[Sequence[int], Floats]]] = {}  # metric -> places and scores
    unscored: dict[str, dict[int, str]] = {}
    facts: dict[str, MetricFacts] = {}
    ways: dict[str, set[bytes]] = {}
    lines: dict[str, list[str]] = {}
    held: dict[
        tuple[int, str], str
    ] = {}  # (group, id) -> system, if the sources name systems differently
    for source, name, group in zip(
        sources,
        names,
        groups,
        strict=True,
    ):
        same_answers = [
            candidate
            for candidate, other_group in zip(sources, groups, strict=True)
            if other_group == group and candidate is not source
        ]
        number_at: Sequence[int] = range(len(questions), len(questions) + len(source.questions))
        if same_answers:
            number_at = []
            for at, answer in source.answers.items():
                system = held.setdefault((group, answer.example_id), answer.system)
                place = places.setdefault((group, answer.example_id, system), len(questions))
                if place == len(questions):
                    answers[place] = replace(answer, system=system)
                    questions.append(source.questions[at])
                    system_of.append(systems.setdefault(system, len(systems)))
                places[group, answer.example_id, answer.system] = place
                number_at.append(place)
        else:
            for at, answer in source.answers.items():
                answers[number_at[at]] = answer
            questions += source.questions
            own_numbers = [systems.setdefault(system, len(systems)) for system in source.systems]
            system_of.extend(own_numbers[at] for at in source.system_of)
        for metric in source.scores:
            twice = any(_scored_otherwise(source, candidate, metric) for candidate in same_answers)
            label = f"{metric} ({name})" if twice else metric
            facts.setdefault(label, source.facts.get(metric, MetricFacts()))
            signatures = source.signatures[metric]
            ways.setdefault(label, set()).update(map(_made_by, signatures))
            lines.setdefault(label, []).extend(
                signature.line(metric) for signature in signatures if signature.version
            )
            parts.setdefault(label, []).append((number_at, np.asarray(source.scores[metric])))
            unscored.setdefault(label, {}).update(
                {number_at[at]: why for at, why in source.unscored[metric].items()}
            )
        if not same_answers:  # of a million answers 20 MB
            source.questions = array("q")
            source.system_of = array("i")
            source.scores = {}
    scores = {label: _filled(len(questions), parts.pop(label)) for label in list(parts)}
    return AnswerScores(
        tuple(names),
        answers,
        _numbered(np.frombuffer(questions, dtype=np.int64)),
        tuple(systems),
        np.frombuffer(system_of, dtype=np.int32),
        facts,
        scores,
        unscored,
        {label: tuple(dict.fromkeys(listed)) for label, listed in lines.items()},
        tuple(label for label, kinds in ways.items() if len(kinds) > 1),
    )


def _filled(answers: int, parts: Iterable[tuple[Sequence[int], Floats]]) -> Floats:
    """The scores of all answers, of parts with the places of theirs."""
    column_filled = np.full(answers, np.nan)
    for places, column in parts:
        scored = ~np.isnan(column)
        if isinstance(
            places, range
        ):  # as an array, a million places are 8 MB, and 40 while it is made
            column_filled[places.start : places.stop][scored] = column[scored]
        else:
            column_filled[np.array(places, dtype=np.int64)[scored]] = column[scored]
    return column_filled


def _numbered(hashes: Ints) -> Ints:
    """The numbers from 0 in place of the hashes, in the order in which these first occur."""
    order = np.argsort(hashes, kind="stable")
    numbers = hashes[order]
    first = np.ones(len(hashes), dtype=bool)
    first[1:] = numbers[1:] != numbers[:-1]
    number = np.empty(int(first.sum()), dtype=np.int32)  # half of what a million answers need here
    number[np.argsort(order[first])] = np.arange(len(number))
    places = np.cumsum(first, dtype=np.int32)
    places -= 1
    numbers[order] = number[places]
    return numbers


def _scored_otherwise(first: _Source, second: _Source, metric: str) -> bool:
    """Whether two sources of the same answers have different scores of a metric."""
    if metric not in second.scores:
        return False
    mine, theirs = (
        {
            answer.example_id: score
            for answer, score in zip(
                source.answers.values(),
                source.scores[metric],
                strict=True,
            )
            if score == score
        }
        for source in (first, second)
    )
    return mine != theirs


def _selected(scored: AnswerScores, names: Sequence[str], lower: Sequence[str]) -> AnswerScores:
    def selected_by(name: str, among: dict[str, MetricFacts]) -> list[str]:
        if hits := _under(name, among):
            return hits
        raise UnknownName("metric in the rows", name, among, f"There are {', '.join(among)}.")

    chosen = dict(scored.metrics)
    if names:
        chosen = {
            hit: scored.metrics[hit] for name in names for hit in selected_by(name, scored.metrics)
        }
    for name in lower:
        chosen.update(
            {hit: replace(chosen[hit], higher_is_better=False) for hit in selected_by(name, chosen)}
        )
    return replace(scored, metrics=chosen)


def _under(name: str, metrics: Iterable[str]) -> list[str]:
    """The metrics of this name, of this family, or of this name with a source's name behind."""
    return [
        metric
        for metric in metrics
        if metric == name or metric.startswith((f"{name}.", f"{name} ("))
    ]
