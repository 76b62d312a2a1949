"""Which answers belong together: those to one question, whose marks and ratings rise and fall with it."""

from __future__ import annotations

from collections.abc import Sequence

from longmark.scores.answers import AnswerScores

Clusters = Sequence[str] | None
"""For each answer its question; None where no question has two answers, and each counts by itself."""


def clusters_of(questions: Sequence[str]) -> Clusters:
    """None where all differ."""
    return questions if len(set(questions)) < len(questions) else None


def questions_of(marks: AnswerScores, places: Sequence[int]) -> list[str]:
    """The question of each of these answers."""
    return [marks.answers[place].question_id for place in places]


def taken(clusters: Clusters, rows: Sequence[bool]) -> Clusters:
    """The clusters of the rows that are True."""
    return None if clusters is None else [name for name, here in zip(clusters, rows, strict=True) if here]
