"""What people say of nuggets, the facts that a good answer holds: as labels, as scores of answers, as lists.

Three fields of a study say something of them, known by what they ask:

    assignments   a matrix with `rows: nuggets` and a column for each answer: whether the answer holds each nugget. Where
                  its values are those of `records.expected.ASSIGNMENTS`, an answer has scores by the formulas of the
                  metric `nuggets`, named FIELD.strict_vital and so on
    importance    a matrix with `rows: nuggets`, `columns: [importance]` and the values vital and okay: where a rater
                  disagrees with the list
    missing       the same with `rows: typed`: facts that a rater adds

A rater's scores count the nuggets and the importance of the list that was shown, as the metric does, so that both count
the same. Corrections are in the lists alone. A rater who was not asked about an answer to a question, or who corrected
nothing there, leaves the importance as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.labels import Collected, cells
from longmark.contrib.annotate.study import Matrix, Study
from longmark.metrics.nuggets import FORMULAS
from longmark.records.expected import ASSIGNMENTS, IMPORTANCES, VITAL
from longmark.records.same import comparable
from longmark.scores.label_scales import DeclaredScale, scale_with

NUGGETS = "nuggets"
IMPORTANCE = "importance"


def nugget_assignments(
    study: Study, item: StudyItem, values: Mapping[str, Any]
) -> Iterator[tuple[str, str, str, str]]:
    """(field, nugget, side, value) of each nugget that a rater assigned to an answer."""
    fields = {field.name for field in _assigning(study)}
    for label, nugget, side, value in cells(study, item, values):
        if label in fields:
            yield label, nugget, side, value


def nugget_scales(study: Study) -> dict[str, DeclaredScale]:
    """The scale of each label of `nugget_assignments` whose values have an order."""
    scale = scale_with(tuple(reversed(ASSIGNMENTS)), ordered=True)
    if scale is None:
        return {}
    return {field.name: scale for field in _assigning(study) if _is_scored(field)}


def nugget_scores(
    study: Study, item: StudyItem, values: Mapping[str, Any]
) -> Iterator[tuple[str, str, float]]:
    """(side, label, score) of the answers of an item, where a rater assigned all its nuggets. A score over no nugget is
    left out."""
    nuggets = item.shown.get(NUGGETS, ())
    importances = {nugget["text"]: nugget[IMPORTANCE] for nugget in nuggets}
    scored_fields = {field.name for field in _assigning(study) if _is_scored(field)}
    pairs: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for label, nugget, side, value in nugget_assignments(study, item, values):
        if label in scored_fields:
            pairs.setdefault((side, label), []).append((importances[nugget], value))
    for (side, label), assigned in pairs.items():
        if len(assigned) < len(importances):
            continue
        for name, formula in FORMULAS.items():
            score = formula.value(assigned, as_authors=False)
            if score is not None:
                yield side, f"{label}.{name}", score


def lists_of_people(collected: Collected) -> Iterator[dict[str, Any]]:
    """The nuggets of each question that a rater finished an answer to, as nuggetizer writes them: `qid`, `query`,
    `nuggets`. None where the study asks for neither importance nor facts.

    The importance is that of most raters; of as many for both, that of the list. A nugget that a rater adds follows
    those of the list, once, whoever wrote it, and is vital unless more of those who wrote it say okay.
    """
    study = collected.study
    correcting = set()
    adding = set()
    for matrix in _matrices(study):
        if _corrects(matrix):
            correcting.add(matrix.name)
        elif _adds(matrix):
            adding.add(matrix.name)
    if not correcting | adding:
        return
    lists: dict[str, _PeoplesList] = {}
    for entry in collected.done:
        question = lists.setdefault(entry.item.question_id, _PeoplesList())
        question.see(entry.item, entry.rater.id)
        for field, value in entry.values.items():
            if field in correcting:
                question.correct(value, entry.rater.id)
            elif field in adding:
                question.add(value, entry.rater.id)
    for question_id, question in lists.items():
        if nuggets := question.nuggets():
            query = {"query": question.text} if question.text else {}
            yield {"qid": question_id, **query, NUGGETS: nuggets}


class _PeoplesList:
    """The nuggets of a question, as its raters leave them. text: of the question."""

    def __init__(self) -> None:
        self.text = ""
        self._listed: dict[str, dict[str, str]] = {}  # as compared -> text and importance
        self._raters: dict[str, None] = {}
        self._importance: dict[str, dict[str, str]] = {}  # as compared -> rater -> importance
        self._added: dict[str, str] = {}

    def see(self, item: StudyItem, rater: str) -> None:
        question = item.columns.get("question")
        self.text = self.text or (question if isinstance(question, str) else "")
        self._raters[rater] = None
        for nugget in item.shown.get(NUGGETS, ()):
            self._listed.setdefault(comparable(nugget["text"]), nugget)

    def correct(self, rows: Any, rater: str) -> None:
        for row in rows:
            for importance in row["values"].values():
                self._importance.setdefault(comparable(row["point"]), {})[rater] = importance

    def add(self, rows: Any, rater: str) -> None:
        for row in rows:
            if key := comparable(row["point"]):
                self._added.setdefault(key, row["point"].strip())
                importance = row["values"].get(IMPORTANCE, VITAL)
                self._importance.setdefault(key, {})[rater] = importance

    def nuggets(self) -> list[dict[str, str]]:
        nuggets = []
        for key, nugget in self._listed.items():
            by_rater = self._importance.get(key, {})
            of_raters = [by_rater.get(rater, nugget[IMPORTANCE]) for rater in self._raters]
            nuggets.append(
                {
                    "text": nugget["text"],
                    IMPORTANCE: _most(of_raters, nugget[IMPORTANCE]),
                }
            )
        for key, text in self._added.items():
            if key in self._listed:
                continue
            nuggets.append(
                {
                    "text": text,
                    IMPORTANCE: _most(self._importance[key].values(), VITAL),
                }
            )
        return nuggets


def _most(importances: Any, where_equal: str) -> str:
    counts = Counter(importances)
    greatest_count = max(counts.values())
    if counts[where_equal] == greatest_count:
        return where_equal
    for importance in IMPORTANCES:
        if counts[importance] == greatest_count:
            return importance
    raise AssertionError("a count is the greatest")


def _matrices(study: Study) -> Iterator[Matrix]:
    for field in study.asked:
        if isinstance(field, Matrix):
            yield field


def _assigning(study: Study) -> Iterator[Matrix]:
    for field in _matrices(study):
        if field.rows == NUGGETS and field.columns == "answers":
            yield field


def _values(field: Matrix) -> set[str]:
    return {option.value for option in field.values}


def _is_scored(field: Matrix) -> bool:
    return _values(field) <= set(ASSIGNMENTS)


def _asks_importance(field: Matrix) -> bool:
    return field.columns == (IMPORTANCE,) and _values(field) <= set(IMPORTANCES)


def _corrects(field: Matrix) -> bool:
    return field.rows == NUGGETS and _asks_importance(field)


def _adds(field: Matrix) -> bool:
    return field.typed and _asks_importance(field)
