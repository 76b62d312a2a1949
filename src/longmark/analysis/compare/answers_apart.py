"""The answers of two systems side by side: those to read first, and others by the filters of `report.filters`.

Of every metric in turn come the questions with the widest differences, those of primary metrics before those of
exploratory ones; the first five are the ones to read first. Behind them every filter has its turn, so that a few
refusals are there beside many differences. There are at most `MOST` pairs and `_CHARACTERS` of text; pairs that pass no
filter, whose scores are equal and not poor, are left out.

A pair passes a filter if either answer does; worse is the new one below the old one. A question is left out where the
sources do not hold both texts, as files of rows. Several answers of a system to a question: the scores are their means,
and the text is that of the first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

import numpy as np

from longmark.analysis.compare.estimates import TIE
from longmark.analysis.compare.results import MetricResult, QuestionApart
from longmark.records import Example
from longmark.report.filters import FILTERS, FilteredAnswer, filters_of
from longmark.scores.files import examples_of, name_of, shortest_names
from longmark.scores.paired import Scores
from longmark.scores.scored_answers import label_of
from longmark.text.refusal import only_declines

FIRST = 5
"""Pairs to read first."""
MOST = 60
_CHARACTERS = 400_000
"""Of all texts on the page: with the limits of `report.word_diff` their words are compared within seconds."""
_BATCH = 1_000
"""Questions that are filtered at a time, so that memory does not grow with the run."""


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """An answer of a system, as the example of its run has it. shown_id: what a page calls it, as of an example."""

    system: str
    example_id: str
    shown_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """The scores of both answers on a metric. status: why one has none, "" where both have one."""

    metric: str
    old: float | None
    new: float | None
    status: str


@dataclass(frozen=True, slots=True)
class AnswersApart:
    """The answers of two systems to a question. question: with its scores on the metric that it is shown for, the one
    with the widest difference in its turn; changes: of every metric with a row; filters: those that it passes."""

    question: QuestionApart
    old: ReadAnswer
    new: ReadAnswer
    changes: tuple[ScoreChange, ...]
    filters: tuple[str, ...]


def answers_apart(
    scores: Scores,
    results: Sequence[MetricResult],
    systems: tuple[str, str],
    left_out: Sequence[str] = (),
) -> tuple[tuple[AnswersApart, ...], dict[str, int]]:
    """The pairs, those to read first in front; and how many pass each filter, also of those that are left out, with ""
    for how many pass any. systems: the old one and the new one; left_out: metrics that could not be compared, as those
    without a score: the filters count them as the pages of a run do."""
    table = _ScoreTable(scores, results, systems, left_out)
    answered, declined = _answered(scores, systems)
    old_name, new_name = systems
    places = [
        place
        for place, question_id in enumerate(scores.questions)
        if (question_id, old_name) in answered
        if (question_id, new_name) in answered
    ]
    filters = _filters(table, places, declined)
    totals = Counter(chain.from_iterable(filters.values()))
    totals[""] = sum(map(bool, filters.values()))
    shown_for = _in_turn(table, results, set(places))
    for place in filter(filters.get, places):
        shown_for.setdefault(place, table.missing_metric(place))
    chosen = _chosen(list(shown_for), filters)
    texts, question_texts = _texts(scores, {scores.questions[place] for place in chosen}, systems)
    pairs = list[AnswersApart]()
    characters = 0
    for place in chosen:
        question = table.question(place, shown_for[place], question_texts)
        old = texts[question.question_id, old_name]
        new = texts[question.question_id, new_name]
        characters += len(old.text) + len(new.text)
        if characters > _CHARACTERS and len(pairs) >= FIRST:
            break
        pairs.append(
            AnswersApart(
                question,
                old,
                new,
                table.changes(place),
                filters[place],
            )
        )
    return tuple(pairs), dict(totals)


class _ScoreTable:
    """The scores of both systems on every metric. Deciding metrics first."""

    def __init__(
        self,
        scores: Scores,
        results: Sequence[MetricResult],
        systems: tuple[str, str],
        left_out: Sequence[str],
    ) -> None:
        self.scores = scores
        self.systems = systems
        self.metrics = [
            result.metric for result in sorted(results, key=lambda result: result.exploratory)
        ]
        self.filtered = [*self.metrics, *left_out]
        columns = [scores.systems.index(system) for system in systems]
        self.values = {metric: scores.matrix(metric)[:, columns] for metric in self.filtered}
        self.statuses = {
            metric: tuple(scores.statuses(metric, system) for system in systems)
            for metric in self.filtered
        }

    def score(self, metric: str, place: int, side: int) -> float | None:
        value = self.values[metric][place, side]
        if np.isnan(value):
            return None
        return float(value)

    def answer(self, place: int, side: int, *, declined: bool) -> FilteredAnswer:
        """What the filters know of an answer. Of several with a score and without one, the status is the latter's."""
        scores = dict[str, float | None]()
        statuses = dict[str, str]()
        for metric in self.filtered:
            score = self.score(metric, place, side)
            unscored = self.statuses[metric][side].get(place, ())
            if score is not None or unscored:
                scores[metric] = score
                statuses[metric] = unscored[0] if unscored else "ok"
        return FilteredAnswer(
            self.scores.questions[place],
            side,
            scores,
            statuses,
            declined,
        )

    def widest(self, metric: str) -> list[int]:
        """The questions with different scores, the widest difference first."""
        values = self.values[metric]
        distances = np.abs(values[:, 0] - values[:, 1])
        distances[np.isnan(distances)] = 0.0
        order = np.argsort(-distances, kind="stable")
        return [int(place) for place in order if distances[place] > TIE]

    def missing_metric(self, place: int) -> str:
        """The metric that a question without a difference is shown for: the first one that lacks a score."""
        return next(
            (
                metric
                for metric in self.metrics
                if any(place in statuses for statuses in self.statuses[metric])
            ),
            self.metrics[0],
        )

    def question(self, place: int, metric: str, texts: Mapping[str, str]) -> QuestionApart:
        question_id = self.scores.questions[place]
        by_system = {
            system: self.score(metric, place, side) for side, system in enumerate(self.systems)
        }
        scored = {system: score for system, score in by_system.items() if score is not None}
        highest = max(scored, key=scored.__getitem__, default="")
        lowest = min(scored, key=scored.__getitem__, default="")
        return QuestionApart(
            metric=metric,
            question_id=question_id,
            text=texts.get(question_id),
            spread=scored[highest] - scored[lowest] if scored else 0.0,
            highest=highest,
            lowest=lowest,
            scores=by_system,
        )

    def changes(self, place: int) -> tuple[ScoreChange, ...]:
        changes = list[ScoreChange]()
        for metric in self.metrics:
            old = self.score(metric, place, 0)
            new = self.score(metric, place, 1)
            unscored = list[str]()
            for statuses in self.statuses[metric]:
                unscored += statuses.get(place, ())
            if old is not None or new is not None or unscored:
                status = unscored[0] if unscored else ""
                changes.append(
                    ScoreChange(
                        metric,
                        old,
                        new,
                        status,
                    )
                )
        return tuple(changes)


def _answered(
    scores: Scores, systems: Sequence[str]
) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The questions and systems with an answer, and those whose answer says only that there is none."""
    answered = set[tuple[str, str]]()
    declined = set[tuple[str, str]]()
    for system, example in _examples(scores, systems):
        cell = (str(example.question_id), system)
        answered.add(cell)
        if only_declines(example.answer or ""):
            declined.add(cell)
    return answered, declined


def _filters(
    table: _ScoreTable, places: Sequence[int], declined: set[tuple[str, str]]
) -> dict[int, tuple[str, ...]]:
    """The filters that each pair passes, in the order of `FILTERS`."""
    filters = dict[int, tuple[str, ...]]()
    for start in range(0, len(places), _BATCH):
        batch = places[start : start + _BATCH]
        answers = {
            (place, side): table.answer(
                place, side, declined=(table.scores.questions[place], system) in declined
            )
            for place in batch
            for side, system in enumerate(table.systems)
        }
        passed = filters_of(answers, table.scores.facts)
        for place in batch:
            of_old = passed[place, 0]
            of_new = passed[place, 1]
            filters[place] = tuple(name for name in FILTERS if name in of_old or name in of_new)
    return filters


def _in_turn(
    table: _ScoreTable, results: Sequence[MetricResult], places: set[int]
) -> dict[int, str]:
    """The questions with different scores, each once and with the metric that it is shown for: the first of every
    metric, then the second of every one, …; those of primary metrics before those of exploratory ones."""
    shown_for = dict[int, str]()
    for exploratory in (False, True):
        metrics = [result.metric for result in results if result.exploratory is exploratory]
        widest = [table.widest(metric) for metric in metrics]
        for row in zip_longest(*widest):
            for metric, place in zip(metrics, row, strict=True):
                if place in places:
                    shown_for.setdefault(place, metric)
    return shown_for


def _chosen(order: Sequence[int], filters: Mapping[int, Sequence[str]]) -> list[int]:
    """At most `MOST`: the first ones, then of every filter in turn, then any."""
    by_filter = list[list[int]]()
    for name in FILTERS:
        by_filter.append([place for place in order if name in filters[place]])
    in_turn: Iterable[int | None] = chain.from_iterable(zip_longest(*by_filter))
    ordered = dict.fromkeys(chain(order[:FIRST], in_turn, order))
    chosen = [place for place in ordered if place is not None]
    return chosen[:MOST]


def _texts(
    scores: Scores, ids: set[str], systems: Sequence[str]
) -> tuple[dict[tuple[str, str], ReadAnswer], dict[str, str]]:
    """By question and system, of several answers to a question the first; and the texts of the questions."""
    answers = dict[tuple[str, str], ReadAnswer]()
    questions = dict[str, str]()
    for system, example in _examples(scores, systems):
        question_id = str(example.question_id)
        if question_id in ids:
            answer = ReadAnswer(
                system,
                example.id,
                example.shown_id,
                str(example.answer),
            )
            answers.setdefault(
                (question_id, system),
                answer,
            )
            if example.question:
                questions.setdefault(question_id, example.question)
    return answers, questions


def _examples(scores: Scores, systems: Sequence[str]) -> Iterator[tuple[str, Example]]:
    """The examples with an answer of these systems."""
    folders = [manifest.folder for manifest in scores.manifests]
    names = shortest_names(folders)
    for folder, run in zip(folders, names, strict=True):
        for example in examples_of(folder):
            if not isinstance(example, Example) or not example.answer:
                continue
            own_name = example.system or name_of(folder)
            system = label_of(own_name, run, scores)
            if system in systems:
                yield system, example
