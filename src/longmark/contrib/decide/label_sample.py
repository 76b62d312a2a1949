"""How labelled answers were chosen: with which probability each, and whether they are still those that were drawn.

The labelled answers must be a random sample: with equal chances, with those of the column `inclusion_probability`, or
with those of the file of a draw. Nothing here can see whether they are; what is shown are contradictions.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from longmark.contrib.decide.labelled_cells import (
    AnswerCell,
    AnswerCells,
    LabelledCells,
    cells_with_an_answer,
)
from longmark.errors import UserError
from longmark.report.format import counted
from longmark.scores.draws import Departures, DrawnAnswer
from longmark.scores.labels import PROBABILITY
from longmark.scores.observations import Observation
from longmark.scores.scored_answers import Cell, ScoredAnswer

NamedAnswer = tuple[str, str]
"""An example's id and its system, "" where the file names none."""

_TOO_FAR = 4.0  # standard errors


# Probabilities --------------------------------------------------------------------------------------------------------


def drawn_probabilities(answers: Iterable[DrawnAnswer]) -> dict[NamedAnswer, float]:
    """The inclusion probabilities of the answers of a draw."""
    return {(answer.example_id, answer.system): answer.probability for answer in answers}


def stated_probabilities(labels: Sequence[Observation], file: str) -> dict[NamedAnswer, float]:
    """The inclusion probabilities of answers; {} if the file has none. UserError if it has some."""
    with_column = [label for label in labels if PROBABILITY in label.given]
    empty = [label for label in with_column if label.given[PROBABILITY] is None]
    if empty:
        chances = {label.given[PROBABILITY] for label in with_column} - {None}
        # labels that all have one probability were drawn with equal chances, and are not called unequal
        if chances:
            kind = f"the chance {min(chances):g}" if len(chances) == 1 else "unequal chances"
        else:
            kind = "chances of their own"
        raise UserError(
            f"{file}:{empty[0].line}: {PROBABILITY}: is empty ({counted(len(empty), 'label')}). Answers that were "
            f"chosen with {kind} correct nothing unless it is stated: copy each answer's from the file of its draw "
            "(`longmark label next`), and leave out labels that no draw asked for. If every answer had the same "
            "chance, remove the column"
        )
    probabilities: dict[NamedAnswer, float] = {}
    for label in with_column:
        answer = label.example_id, label.system
        probability = label.given[PROBABILITY]
        before = probabilities.setdefault(answer, probability)
        if before != probability:
            raise UserError(
                f"{file}:{label.line}: {PROBABILITY}: {label.example_id} has {probability:g} here, {before:g} before"
            )
    return probabilities


def cell_weights(
    probabilities: Mapping[NamedAnswer, float], answers: AnswerCells
) -> dict[Cell, float]:
    """Of each cell 1 / the inclusion probability of its answer. UserError where its answers have different ones."""
    weights: dict[Cell, float] = {}
    for (example_id, system), probability in probabilities.items():
        for cell in answers.cells_of(example_id, system):
            if weights.setdefault(cell, 1 / probability) != 1 / probability:
                raise UserError(
                    f"{example_id}: several answers of one system to its question have different values of "
                    f"{PROBABILITY}; give them systems of their own"
                )
    return weights


def sample_misfits(
    cells: LabelledCells, metrics: Sequence[str], places: Sequence[int]
) -> dict[str, tuple[float, int]]:
    """Systems whose labelled answers cannot have been chosen with their probabilities: 1 / probability, summed over
    them, estimates how many answers there are (Horvitz and Thompson 1952), and is too far from that number. System ->
    the estimate, and the number."""
    misfits: dict[str, tuple[float, int]] = {}
    if not cells.weights:
        return misfits
    for metric in metrics:
        table = cells.table(metric)
        label_weights = np.where(np.isnan(table.labels), 0.0, table.weight())
        for place in places:
            questions = [
                question for question, _ in cells_with_an_answer(cells.scores, metric, [place])
            ]
            weights = np.zeros(len(table.scores))
            weights[questions] = label_weights[questions, place]
            weight_of_cluster = np.bincount(table.numbers, weights)
            labels_of_cluster = np.bincount(table.numbers, weights > 0)
            variances = weight_of_cluster * (weight_of_cluster - labels_of_cluster)
            spread = math.sqrt(float(variances.clip(0).sum()) + 1)
            estimate = float(weights.sum())
            if questions and abs(estimate - len(questions)) > _TOO_FAR * spread:
                misfits[cells.scores.systems[place]] = estimate, len(questions)
    return misfits


# The answers that were drawn, and those of the runs -------------------------------------------------------------------


def departures_from_draw(
    drawn: Sequence[DrawnAnswer],
    answers: Sequence[ScoredAnswer],
    compared: Collection[Cell],
) -> tuple[Departures, set[AnswerCell]]:
    """How the answers are not those that were drawn, and those of another text now. A system that the draw does not
    have is no departure. compared: the cells of the compared systems that have an answer."""
    if not drawn:
        return Departures(), set()
    drawn_texts = {answer.system for answer in drawn if answer.digest is not None}
    known_texts = {name for answer in answers if answer.digest is not None for name in answer.names}
    changed = _changed_answers(drawn, answers, drawn_texts, known_texts)
    departures = Departures(
        tuple(dict.fromkeys(answer.example_id for answer in changed)),
        tuple(dict.fromkeys(_added_ids(drawn, answers, compared))),
        tuple(dict.fromkeys(_removed_ids(drawn, answers))),
        texts_compared=bool(drawn_texts and known_texts),
    )
    return departures, {(answer.example_id, answer.cell) for answer in changed}


def _by_id(answers: Iterable[ScoredAnswer]) -> dict[str, list[ScoredAnswer]]:
    by_id: dict[str, list[ScoredAnswer]] = {}
    for answer in answers:
        by_id.setdefault(answer.example_id, []).append(answer)
    return by_id


def _changed_answers(
    drawn: Sequence[DrawnAnswer],
    answers: Sequence[ScoredAnswer],
    drawn_texts: Collection[str],
    known_texts: Collection[str],
) -> list[ScoredAnswer]:
    """drawn_texts: the systems of which the draw has texts; known_texts: of which the runs have any."""
    by_id = _by_id(answers)
    changed = []
    for before in drawn:
        if before.system not in drawn_texts:
            continue
        if before.system and before.system not in known_texts:
            continue
        now = [
            answer
            for answer in by_id.get(before.example_id, ())
            if before.system in ("", *answer.names)
        ]
        if all(answer.digest != before.digest for answer in now):
            changed += now
    return changed


def _removed_ids(drawn: Sequence[DrawnAnswer], answers: Sequence[ScoredAnswer]) -> list[str]:
    by_id = _by_id(answers)
    names = {name for answer in answers for name in answer.names}
    return [
        before.example_id
        for before in drawn
        if before.system in ("", *names)
        and not any(
            before.system in ("", *answer.names) for answer in by_id.get(before.example_id, ())
        )
    ]


def _added_ids(
    drawn: Sequence[DrawnAnswer],
    answers: Sequence[ScoredAnswer],
    compared: Collection[Cell],
) -> list[str]:
    systems = {answer.system for answer in drawn}
    in_draw = {(answer.example_id, answer.system) for answer in drawn}
    return [
        answer.example_id
        for answer in answers
        if answer.cell in compared
        and ("" in systems or systems & answer.names)
        and not any((answer.example_id, name) in in_draw for name in ("", *answer.names))
    ]
