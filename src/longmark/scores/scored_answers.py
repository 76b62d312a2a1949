"""The answers of runs by the cell of the table of scores that they stand in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from longmark.scores.answers import read_answers
from longmark.scores.files import name_of, shortest_names
from longmark.scores.paired import BY_EACH, BY_RUN, Scores

Cell = tuple[int, int]
"""The number of a question, and of a system."""


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """An answer of a cell. system: its own name, or its run's; names: all that its system goes by; length, digest:
    characters and hash of its text (`scores.answer_texts`), None if the source has no texts."""

    example_id: str
    question_id: str
    cell: Cell
    system: str
    names: frozenset[str]
    length: int | None
    digest: str | None


def label_of(own_name: str, run: str, scores: Scores) -> str:
    """The system that an answer belongs to in the scores. own_name: its system's; run: the shortest name of its run."""
    if scores.by == BY_RUN:
        return run
    if scores.by == BY_EACH and own_name not in scores.systems:
        return f"{own_name} ({run})"
    return own_name


def answers_of(paths: Sequence[Path], scores: Scores) -> Iterator[ScoredAnswer]:
    """The answers of runs whose system and question are among the scores'."""
    questions = {name: place for place, name in enumerate(scores.questions)}
    runs = shortest_names([manifest.folder for manifest in scores.manifests])
    for run, path in enumerate(paths):
        for answer in read_answers([path]).answers.values():
            own_name = answer.system or name_of(path)
            system = label_of(own_name, runs[run], scores)
            if answer.question_id in questions and system in scores.systems:
                cell = questions[answer.question_id], scores.systems.index(system)
                names = frozenset((answer.system, own_name, system))
                yield ScoredAnswer(
                    answer.example_id,
                    answer.question_id,
                    cell,
                    own_name,
                    names,
                    answer.length,
                    answer.digest,
                )
