"""Questions that stand several times among those that were scored, under other ids, with the same answers.

Their labels say one thing several times. As independent questions they make an interval too narrow: where each of 30
questions stood ten times, .11 of false claims were certified (300 studies).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from longmark.progress import counted
from longmark.scores.files import examples_of
from longmark.scores.labels import first_few
from longmark.scores.paired import Scores
from longmark.scores.scored_answers import ScoredAnswer

MOST_REPEATS = 1.1
"""How many times as large the variance may be as that of questions which stand once; 1 pair in 20 makes it 1.1."""


@dataclass(frozen=True, slots=True)
class RepeatedQuestions:
    """ids: of questions that stand for one which came before; questions: how many there are in all; inflation: how many
    times as large the variance of a mean is as if each were another question."""

    ids: tuple[str, ...] = ()
    questions: int = 0
    inflation: float = 1.0

    @property
    def too_many(self) -> bool:
        return self.inflation > MOST_REPEATS

    def in_words(self) -> str:
        return (
            f"{len(self.ids):,} of {counted(self.questions, 'question')} ({first_few(self.ids, 3)}) repeat the text and "
            "the answers of another one"
        )


def repeated_questions(
    paths: Sequence[Path], scores: Scores, answers: Sequence[ScoredAnswer], places: Collection[int]
) -> RepeatedQuestions:
    """Those with the same text, and the same texts of the answers of the compared systems, in another cluster. None where
    the runs have no texts."""
    texts_of_answers: dict[int, set[tuple[int, str]]] = defaultdict(set)
    for answer in answers:
        question, place = answer.cell
        if place in places and answer.digest is not None:
            texts_of_answers[question].add((place, answer.digest))
    same_answers: dict[frozenset[tuple[int, str]], list[int]] = defaultdict(list)
    for question, texts in texts_of_answers.items():
        same_answers[frozenset(texts)].append(question)
    suspects = {
        scores.questions[question]
        for questions in same_answers.values()
        if len(questions) > 1
        for question in questions
    }
    if not suspects:
        return RepeatedQuestions(questions=len(texts_of_answers))
    text_of: dict[str, str] = {}
    for path in paths:
        for example in examples_of(path):
            if example.question_id in suspects:
                text_of.setdefault(example.question_id, getattr(example, "question", "") or "")
    first_of: dict[tuple[frozenset[tuple[int, str]], str], dict[int, str]] = defaultdict(dict)
    ids = []
    for answer_texts, questions in same_answers.items():
        for question in sorted(questions):
            name = scores.questions[question]
            clusters = first_of[answer_texts, text_of.get(name, name)]
            if clusters and int(scores.clusters[question]) not in clusters:
                ids.append(name)
            clusters.setdefault(int(scores.clusters[question]), name)
    sizes = np.array([len(clusters) for clusters in first_of.values()], dtype=np.float64)
    return RepeatedQuestions(
        tuple(ids), len(texts_of_answers), float(sizes @ sizes) / float(sizes.sum())
    )
