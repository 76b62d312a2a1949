"""The answers to read first: of two systems, those to the questions on which they differ most, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from longmark.analysis.compare.results import MetricResult, QuestionApart
from longmark.records import Example
from longmark.report.document import AnswersBeside, AnswerSide, Section
from longmark.report.format import counted, fixed, metric_titles
from longmark.report.word_diff import DiffPiece, word_diff
from longmark.scores.files import examples_of, name_of, shortest_names
from longmark.scores.paired import Scores
from longmark.scores.scored_answers import label_of

TITLE = "Read these answers first"
_MOST = 5
_OPEN = 3_000
"""Characters of both answers, up to which the first pair is open."""


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """An answer of a system, as the example of its run has it."""

    system: str
    example_id: str
    text: str


@dataclass(frozen=True, slots=True)
class AnswersApart:
    """The answers of two systems to a question on which a metric sets them apart."""

    question: QuestionApart
    old: ReadAnswer
    new: ReadAnswer


def answers_apart(
    scores: Scores, results: Sequence[MetricResult], systems: tuple[str, str]
) -> tuple[AnswersApart, ...]:
    """At most five, of the metrics in turn. systems: the old one and the new one. A question whose answers the sources
    do not hold, as files of rows, is left out."""
    questions = _questions(results)
    texts = _texts(scores, {question.question_id for question in questions}, systems)
    old, new = systems
    pairs = [
        AnswersApart(question, texts[question.question_id, old], texts[question.question_id, new])
        for question in questions
        if all((question.question_id, system) in texts for system in systems)
    ]
    return tuple(pairs[:_MOST])


def _questions(results: Sequence[MetricResult]) -> list[QuestionApart]:
    """Each question once: the first of every metric, then the second of every one, …; those of primary metrics before
    those of exploratory ones."""
    exploratory = [result for result in results if result.exploratory]
    deciding = [result for result in results if not result.exploratory]
    by_id = dict[str, QuestionApart]()
    for question in (*_in_turn(deciding), *_in_turn(exploratory)):
        if question is not None:
            by_id.setdefault(question.question_id, question)
    return list(by_id.values())


def _in_turn(results: Sequence[MetricResult]) -> Iterator[QuestionApart | None]:
    return chain.from_iterable(zip_longest(*(result.apart for result in results)))


def _texts(
    scores: Scores, ids: set[str], systems: Sequence[str]
) -> dict[tuple[str, str], ReadAnswer]:
    """By question and system; of several answers to a question the first."""
    folders = [manifest.folder for manifest in scores.manifests]
    texts = dict[tuple[str, str], ReadAnswer]()
    for folder, run in zip(folders, shortest_names(folders), strict=True):
        for example in examples_of(folder):
            if not isinstance(example, Example) or example.question_id not in ids:
                continue
            system = label_of(example.system or name_of(folder), run, scores)
            if system in systems and example.answer:
                answer = ReadAnswer(system, example.id, example.answer)
                texts.setdefault((str(example.question_id), system), answer)
    return texts


def answers_section(
    pairs: Sequence[AnswersApart], results: Sequence[MetricResult], table: str
) -> tuple[Section, ...]:
    """The pairs with the words that differ; no section if there are none. table: the title of the section with the
    row of each question."""
    if not pairs:
        return ()
    by_metric = {result.metric: result for result in results}
    titles = metric_titles(by_metric)
    beside = list[AnswersBeside]()
    for pair in pairs:
        metric = by_metric[pair.question.metric]
        title = titles[metric.metric]
        difference = word_diff(pair.old.text, pair.new.text)
        beside.append(
            AnswersBeside(
                title=pair.question.text or pair.question.question_id,
                about=f"{title} ({metric.direction}), question {pair.question.question_id}.",
                old=_side(pair.old, difference.old, pair.question, metric, title),
                new=_side(pair.new, difference.new, pair.question, metric, title),
                reason=f"No word is marked: {difference.reason}." if difference.reason else "",
                is_open=not beside and len(pair.old.text) + len(pair.new.text) <= _OPEN,
            )
        )
    old = pairs[0].old.system
    new = pairs[0].new.system
    return (
        Section(
            TITLE,
            f"Questions on which {old} and {new} differ most, of each metric in turn. Words that only {old} has are "
            f"struck through, words that only {new} has are underlined.",
            beside=beside,
            row_of=table,
        ),
    )


def _side(
    answer: ReadAnswer,
    pieces: Sequence[DiffPiece],
    question: QuestionApart,
    metric: MetricResult,
    title: str,
) -> AnswerSide:
    score = fixed(question.scores[answer.system], metric.places)
    words = counted(len(answer.text.split()), "word")
    return AnswerSide(answer.system, answer.example_id, f"{title} {score}, {words}", pieces)
