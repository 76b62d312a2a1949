"""Human labels of the answers of a SCORE study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from longmark.contrib.papers.score.plan import ScorePlan
from longmark.errors import UserError
from longmark.records.read import Reading
from longmark.scores import labels as records
from longmark.scores.labels import FINAL
from longmark.scores.observations import Observation

RELEVANCE = "answer_relevance"
UTILIZATION = "context_utilization"
SCALES = (RELEVANCE, UTILIZATION)
_CATEGORIES = {"yes": "yes", "no": "no", "n/a": "n/a", "na": "n/a"}


@dataclass(frozen=True, slots=True)
class GeneratedAnswer:
    """An answer: who gave it, the id of its example, and the question that it shares with other generators' answers."""

    generator: str
    example: str
    question: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Label:
    """What a rater gave an answer. value: yes, no or n/a, or a number on a scale."""

    dimension: str
    item: GeneratedAnswer
    rater: str
    value: Any


@dataclass(frozen=True)
class DimensionLabels:
    """every: the labels; left_out: dimension that the study does not have -> number of labels; notices: what the file
    says twice, and names of raters that look the same."""

    every: Sequence[Label]
    left_out: Mapping[str, int] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    @cached_property
    def by_dimension(self) -> dict[str, dict[GeneratedAnswer, dict[str, Any]]]:
        """What raters gave: dimension or scale -> item -> rater -> value."""
        values: dict[str, dict[GeneratedAnswer, dict[str, Any]]] = {}
        for label in self.every:
            if label.rater != FINAL:
                values.setdefault(label.dimension, {}).setdefault(label.item, {})[label.rater] = (
                    label.value
                )
        return values

    @property
    def raters(self) -> set[str]:
        return {label.rater for label in self.every} - {FINAL}

    @property
    def items(self) -> set[GeneratedAnswer]:
        return {label.item for label in self.every}

    def given(self, dimension: str) -> list[tuple[GeneratedAnswer, Any]]:
        """The labels of each item that count, with the item."""
        labels = [label for label in self.every if label.dimension == dimension]
        return [
            (label.item, label.value)
            for label in records.decisive(labels, lambda label: label.item)
        ]


def answers_of(plan: ScorePlan) -> dict[str, dict[str, GeneratedAnswer]]:
    """generator -> id of an answer to an original, or of its question -> the answer."""
    answers: dict[str, dict[str, GeneratedAnswer]] = {}
    for generator in plan.generators:
        items = answers.setdefault(generator.label, {})
        path = plan.answers_path(generator)
        for example in Reading(path) if path.exists() else ():
            if example.variant_of is None:
                item = GeneratedAnswer(generator.label, example.id, example.question_id)
                items.setdefault(example.question_id, item)
                items[example.id] = item
    return answers


def read_labels(
    path: Path, dimensions: Collection[str], answers: Mapping[str, Mapping[str, GeneratedAnswer]]
) -> DimensionLabels:
    """The labels of a file (JSON Lines, JSON, CSV, TSV or Parquet). answers: generator -> id -> the answer.

    Case does not matter in dimensions and labels. BadInput, a line for each record that is wrong; UserError if the file
    has no label of the study.
    """
    names = {_folded(name): name for name in (*dimensions, *SCALES)}

    def read(observation: Observation) -> Label:
        item = _item(observation, answers)
        name = (
            observation.metric.removesuffix(f".{FINAL}")
            if observation.rater == FINAL
            else observation.metric
        )
        dimension = names.get(_folded(name), name)
        value = (
            _label(observation.value, is_number=dimension in SCALES)
            if dimension in names.values()
            else None
        )
        return Label(dimension, item, observation.rater, value)

    with records.Labels(
        path, options=records.ColumnOptions(filled=("rater", "label", "value"))
    ) as label_file:
        every = label_file.each(read)
        notices = tuple(label_file.notices)
    labels = [
        *{
            (label.dimension, label.item, label.rater): label
            for label in every
            if label.value is not None
        }.values()
    ]
    if not labels:
        raise UserError(
            f"{path} has no label of the study's dimensions: {', '.join((*dimensions, *SCALES))}"
        )
    return DimensionLabels(
        labels, dict(Counter(label.dimension for label in every if label.value is None)), notices
    )


def _item(
    observation: Observation, answers: Mapping[str, Mapping[str, GeneratedAnswer]]
) -> GeneratedAnswer:
    if not observation.system and len(answers) > 1:
        raise ValueError(f"no system: the study has several generators, {', '.join(answers)}")
    generator = observation.system or next(iter(answers))
    if generator not in answers:
        raise ValueError(
            f"system: the study has no generator {generator}; it has {', '.join(answers)}"
        )
    item = answers[generator].get(observation.example_id)
    if item is None:
        raise ValueError(f"item: {generator} has no answer {observation.example_id}")
    return item


def _folded(name: str) -> str:
    """A dimension's name in lower case, with underscores for spaces and hyphens."""
    return name.casefold().replace(" ", "_").replace("-", "_")


def _label(value: float | str, *, is_number: bool) -> float | str:
    category = _CATEGORIES.get(str(value).strip().casefold())
    if is_number and isinstance(value, str):
        raise ValueError(f"label: expected a number, found {value!r}")
    if not is_number and category is None:
        raise ValueError(f"label: expected yes, no or n/a, found {value!r}")
    return value if is_number or category is None else category
