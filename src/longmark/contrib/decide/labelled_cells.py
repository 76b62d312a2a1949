"""Labels joined to answers: the cells of a table of questions by systems, each with its label and its scores.

A system's cell of a question is the mean of its answers there, its label the mean of its raters' labels (a final label
alone, where there is one). A label is joined by `example_id`, and by `system` (or the run's name) where several systems
use one id; what cannot be joined is counted with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from longmark.analysis.metaeval.labels import NO_ANSWER, SEVERAL, LabelScale, text_of
from longmark.scores.answer_texts import ANSWER_SHA256, OTHER_TEXT, labels_of_other_answers
from longmark.scores.clusters import QUESTION
from longmark.scores.observations import Observation
from longmark.scores.paired import Scores
from longmark.scores.scored_answers import Cell, ScoredAnswer
from longmark.stats.corrected import LabelledScores

AnswerCell = tuple[str, Cell]
"""An example's id, and a cell in which it has an answer."""


@dataclass(frozen=True, slots=True)
class AnswerCells:
    """Where the answers of examples stand. systems: example_id -> the cells of its answers, each with the names that
    its system goes by; digests: of the answers' texts, as far as they are known."""

    systems: dict[str, dict[Cell, set[str]]] = field(default_factory=dict)
    digests: dict[AnswerCell, set[str]] = field(default_factory=dict)

    @staticmethod
    def of(answers: Iterable[ScoredAnswer]) -> AnswerCells:
        cells = AnswerCells()
        for answer in answers:
            of_example = cells.systems.setdefault(answer.example_id, {})
            of_example.setdefault(answer.cell, set()).update(answer.names)
            if answer.digest is not None:
                cells.digests.setdefault((answer.example_id, answer.cell), set()).add(answer.digest)
        return cells

    def cells_of(self, example_id: str, system: str) -> list[Cell]:
        """The cells of an example's answers of a system; "" for a system that is not named: of all."""
        return [
            cell
            for cell, names in self.systems.get(example_id, {}).items()
            if not system or system in names
        ]

    def system_names(self) -> set[str]:
        return {
            name for cells in self.systems.values() for names in cells.values() for name in names
        }

    def first_ids(self) -> dict[Cell, str]:
        """The first id of each cell's answers."""
        ids: dict[Cell, str] = {}
        for example_id, cells in self.systems.items():
            for cell in cells:
                ids.setdefault(cell, example_id)
        return ids


@dataclass(frozen=True, slots=True)
class JoinedLabels:
    """values: rater -> cell -> the mean of their labels there; unjoined: why others have no cell -> their ids."""

    values: dict[str, dict[Cell, float]]
    unjoined: dict[str, tuple[str, ...]]

    @property
    def cells(self) -> list[Cell]:
        return sorted({cell for of_rater in self.values.values() for cell in of_rater})


def joined_labels(
    labels: Iterable[Observation],
    scale: LabelScale,
    answers: AnswerCells,
    changed: Collection[AnswerCell],
) -> JoinedLabels:
    """changed: answers of another text than when they were drawn, which is what labels without a hash are of."""
    numbers: dict[str, dict[Cell, list[float]]] = {}
    reason_of: dict[tuple[str, str], str] = {}
    for label in labels:
        cells = answers.cells_of(label.example_id, label.system)
        # a label that could be of several answers is of none: a guess would shift a system's mean
        if len(cells) != 1:
            reason_of[label.example_id, label.system] = SEVERAL if cells else NO_ANSWER
        elif _is_of_other_text(label, (label.example_id, cells[0]), answers, changed):
            reason_of[label.example_id, label.system] = OTHER_TEXT
        else:
            of_rater = numbers.setdefault(label.rater, {})
            of_rater.setdefault(cells[0], []).append(scale.number[text_of(label.value)])
    unjoined: dict[str, list[str]] = {}
    for (example_id, _), reason in reason_of.items():
        unjoined.setdefault(reason, []).append(example_id)
    return JoinedLabels(
        values={
            rater: {cell: sum(values) / len(values) for cell, values in of_rater.items()}
            for rater, of_rater in numbers.items()
        },
        unjoined={reason: tuple(ids) for reason, ids in unjoined.items()},
    )


def _is_of_other_text(
    label: Observation,
    answer: AnswerCell,
    answers: AnswerCells,
    changed: Collection[AnswerCell],
) -> bool:
    # without a hash the draw says which text the rater saw
    if not label.given.get(ANSWER_SHA256) and answer in changed:
        return True
    digests = answers.digests.get(answer, set())
    return bool(labels_of_other_answers([label], lambda _: digests))


def cells_with_an_answer(scores: Scores, metric: str, places: Sequence[int]) -> list[Cell]:
    """The cells of these systems that have an answer, with a score or without."""
    answered = ~np.isnan(scores.matrix(metric, unscored=0.0))
    return [
        (int(question), place)
        for place in places
        for question in np.flatnonzero(answered[:, place])
    ]


def label_matrix(values: Mapping[Cell, float], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """A rater's labels, of shape (questions, systems), NaN for none."""
    # NaN, not 0: most answers have no label
    labels = np.full(shape, np.nan)
    for cell, value in values.items():
        labels[cell] = value
    return labels


@dataclass(frozen=True, slots=True)
class LabelledCells:
    """What makes a metric's table: the scores, rater -> cell -> label, the cells' weights (none: all alike), the ends
    of the labels' scale (None: not known), and whether results are for these raters only."""

    scores: Scores
    values: Mapping[str, Mapping[Cell, float]]
    weights: Mapping[Cell, float]
    bounds: tuple[float, float] | None
    these_raters: bool = False

    def table(self, metric: str) -> LabelledScores:
        scores = self.scores.matrix(metric)
        of_raters = [label_matrix(values, scores.shape) for values in self.values.values()]
        unscored = self.scores.shares_unscored(metric)
        return LabelledScores(
            scores=scores,
            labels=_mean_labels(of_raters),
            weights=self._weight_matrix(scores.shape),
            clusters=None if self.scores.cluster == QUESTION else self.scores.clusters,
            rater_labels=of_raters,
            unscored=unscored,
            lost=[self._lost(metric, system, unscored) for system in self.scores.systems],
            bounds=self.bounds,
            these_raters=self.these_raters,
        )

    def _weight_matrix(self, shape: tuple[int, ...]) -> NDArray[np.float64] | None:
        if not self.weights:
            return None
        weights = np.ones(shape)
        for cell, weight in self.weights.items():
            weights[cell] = weight
        return weights

    def _lost(self, metric: str, system: str, unscored: NDArray[np.float64]) -> float:
        """How many answers of a system are missing of which no row tells the question."""
        without_score, _ = self.scores.unanswered(metric, system)
        scored, _ = self.scores.rows_scored(metric, system)
        unscored_rows = self.scores.rows(metric, system) - len(scored)
        answered = ~np.isnan(self.scores.matrix(metric, unscored=0.0))
        has_row = answered[:, self.scores.systems.index(system)]
        questions_without_row = int((~np.isnan(unscored[:, 0]) & ~has_row).sum())
        return max(0.0, float(without_score - unscored_rows - questions_without_row))


def _mean_labels(of_raters: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The mean of the raters' labels of each cell, NaN for none."""
    labelled = ~np.isnan(of_raters)
    counts = labelled.sum(axis=0)
    sums = np.where(labelled, of_raters, 0.0).sum(axis=0)
    means: NDArray[np.float64] = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return means
