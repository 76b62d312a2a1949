"""What an answer to a question is expected to hold: nuggets (facts), and criteria with points.

Nuggets have the layout of TREC RAG's files and of nuggetizer, `{text, importance, assignment}`; criteria that of
HealthBench, `{criterion, points, tags}`, or of ResearchRubrics, `{criterion, weight, axis}` (design/nuggets.md).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, field_validator

from longmark.progress import counted
from longmark.records.cited import HOLDS_SOURCES
from longmark.records.same import all_canonical
from longmark.records.values import Problem, found, missing, text

Importance = Literal["vital", "okay"]
Assignment = Literal["support", "partial_support", "not_support"]

VITAL: Final = "vital"
OKAY: Final = "okay"
IMPORTANCES = (VITAL, OKAY)

SUPPORT: Final = "support"
PARTIAL: Final = "partial_support"
NOT_SUPPORT: Final = "not_support"
ASSIGNMENTS = (SUPPORT, PARTIAL, NOT_SUPPORT)

_WEIGHTS = ("weight", "priority", "points", "score", "level", "required", "optional")
"""Keys under which other lists of facts say how much one matters, in ways that are not vital or okay."""

_FAILED = "failed"  # what nuggetizer writes where its call failed: there is no assignment
_NUMBER = re.compile(r"[-+]?\d{1,12}(?:\.\d{1,12})?")
_MOST_POINTS = (
    1e9  # of a criterion: greater numbers are typing errors, and their sum can be infinite
)


class Nugget(BaseModel):
    """A fact that a good answer holds. importance: `vital` ones must be there, `okay` ones are worth it; assignment:
    how far the answer of this example holds it, None: not known."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    text: str
    importance: Importance = "vital"
    assignment: Assignment | None = None

    _in_one_form = field_validator("text")(all_canonical)

    @property
    def states_importance(self) -> bool:
        """Whether the file says it; where not, `vital` is the default."""
        return "importance" in self.model_fields_set


class RubricItem(BaseModel):
    """What an answer is given points for. points: negative for what it should not do; tags: groups of items."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    criterion: str
    points: float
    tags: tuple[str, ...] = ()

    _in_one_form = field_validator("criterion", "tags")(all_canonical)


def nuggets_of(place: str, raw: Any) -> tuple[Nugget, ...]:
    """The nuggets in a list of objects or texts. The importance stands under `importance` or `label`, or as
    `vital: false`; one that says nothing of it is vital, as nuggetizer reads it, and one that says it in another way is
    refused. Raises Problem."""
    if not isinstance(raw, list | tuple):
        raise Problem(f"{place}: expected a list of nuggets, found {found(raw)}")
    return tuple(_nugget(f"{place}[{number}]", entry) for number, entry in enumerate(raw))


def rubric_of(place: str, raw: Any) -> tuple[RubricItem, ...]:
    """The criteria in a list of objects. Raises Problem."""
    if not isinstance(raw, list | tuple):
        raise Problem(f"{place}: expected a list of criteria, found {found(raw)}")
    return tuple(_rubric_item(f"{place}[{number}]", entry) for number, entry in enumerate(raw))


def with_weighted_dimensions(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """A record of DeepResearch Bench's criteria with one list of them, `criteria`; any other record as it is. Raises
    Problem.

    Its `criterions` are lists by dimension, with `weight` and `explanation`; `dimension_weight` weighs the dimensions. The
    points of a criterion are its share of both, so that the points of all are 1 (utils/score_calculator.py at 214741e:
    the mean by dimension, then the sum). The judge there reads the explanation, too.
    """
    dimensions = record.get("criterions")
    weights = record.get("dimension_weight")
    if not isinstance(dimensions, Mapping) or not isinstance(weights, Mapping):
        return record
    entries: list[dict[str, Any]] = []
    for dimension, items in dimensions.items():
        place = f"criterions.{dimension}"
        dimension_weight = _weight(f"dimension_weight.{dimension}", weights.get(dimension))
        if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
            raise Problem(f"{place}: expected a list of criteria, found {found(items)}")
        shares = [
            _weight(f"{place}[{number}].weight", item.get("weight"))
            for number, item in enumerate(items)
        ]
        total = math.fsum(shares)
        for item, share in zip(items, shares, strict=True):
            texts = [item.get("criterion"), item.get("explanation")]
            entries.append(
                {
                    "criterion": ": ".join(text for text in texts if isinstance(text, str)),
                    "points": dimension_weight * share / total if total else 0,
                    "tags": [dimension],
                }
            )
    return {**record, "criteria": entries}


def _weight(place: str, raw: Any) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not 0 <= raw <= _MOST_POINTS:
        raise Problem(f"{place}: expected a weight from 0 on, found {found(raw)}")
    return float(raw)


def _nugget(place: str, raw: Any) -> Nugget:
    if isinstance(raw, str):
        raw = {"text": raw}
    if not isinstance(raw, Mapping):
        raise Problem(f"{place}: expected an object with text and importance, found {found(raw)}")
    assignment = raw.get("assignment")
    if assignment == _FAILED:
        assignment = None
    importance = _importance(place, raw)
    stated: dict[str, Any] = {} if importance is None else {"importance": importance}
    return Nugget(
        **stated,
        text=_filled(f"{place}.text", raw.get("text")),
        assignment=_label(f"{place}.assignment", assignment, ASSIGNMENTS),
    )


def _importance(place: str, raw: Mapping[str, Any]) -> Importance | None:
    """What a nugget says of its importance under any of the keys for it, which have to agree; None: nothing."""
    by_key: dict[str, Any] = {
        "importance": _label(f"{place}.importance", raw.get("importance"), IMPORTANCES)
    }
    for key, where_true, where_false in ((VITAL, VITAL, OKAY), (OKAY, OKAY, VITAL)):
        if not missing(raw.get(key)):
            by_key[key] = where_true if _truth(f"{place}.{key}", raw[key]) else where_false
    if not any(by_key.values()):  # beside an importance, a label is of something else
        by_key["label"] = _label(f"{place}.label", raw.get("label"), IMPORTANCES)
    stated = {key: label for key, label in by_key.items() if label is not None}
    if len({*stated.values()}) > 1:
        contradiction = " but ".join(f"{key} means {label}" for key, label in stated.items())
        raise Problem(f"{place}: {contradiction}; keep one of them")
    if not stated:
        weighed_by = next((key for key in _WEIGHTS if not missing(raw.get(key))), None)
        if weighed_by is not None:
            raise Problem(
                f"{place}.{weighed_by}: nuggets are vital or okay and have no weights; write importance: vital or okay"
            )
    importance: Importance | None = next(iter(stated.values()), None)
    return importance


def _truth(place: str, raw: Any) -> bool:
    truth = raw.strip().casefold() if isinstance(raw, str) else raw
    for values, meaning in (((True, 1, "true"), True), ((False, 0, "false"), False)):
        if truth in values:
            return meaning
    raise Problem(f"{place}: expected true or false, found {found(raw)}")


def _rubric_item(place: str, raw: Any) -> RubricItem:
    if not isinstance(raw, Mapping):
        raise Problem(f"{place}: expected an object with criterion and points, found {found(raw)}")
    points = _number(raw.get("points", raw.get("weight")))
    if isinstance(points, bool) or not isinstance(points, int | float) or not math.isfinite(points):
        raise Problem(f"{place}.points: expected a number, found {found(points)}")
    if abs(points) > _MOST_POINTS:
        raise Problem(
            f"{place}.points: expected a number up to {_MOST_POINTS:,.0f}, found {points:g}"
        )
    tags = raw.get("tags", raw.get("axis"))
    tags = [] if missing(tags) else [tags] if isinstance(tags, str) else tags
    if not isinstance(tags, list | tuple):
        raise Problem(f"{place}.tags: expected a list of texts, found {found(tags)}")
    return RubricItem(
        criterion=_filled(f"{place}.criterion", raw.get("criterion")),
        points=float(points),
        tags=tuple(text(f"{place}.tags", tag) for tag in tags),
    )


def _number(raw: Any) -> Any:
    """A number that stands as text, as a number; anything else as it is."""
    return float(raw) if isinstance(raw, str) and _NUMBER.fullmatch(raw.strip()) else raw


def _filled(place: str, raw: Any) -> str:
    filled = text(place, raw)
    if not filled.strip():
        raise Problem(f"{place}: is empty; remove the entry or write its text")
    return filled


def _label(place: str, raw: Any, labels: tuple[str, ...]) -> Any:
    """One of the labels, whatever its case; None where none is given."""
    if missing(raw):
        return None
    label = raw.strip().casefold() if isinstance(raw, str) else raw
    if label not in labels:
        raise Problem(f"{place}: expected {' or '.join(labels)}, found {found(raw)}")
    return label


def _are_nuggets(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(
        isinstance(entry, str | Mapping) for entry in value
    )


def _are_criteria(value: Any) -> bool:
    if not isinstance(value, list | tuple):
        return False
    return not value or any(isinstance(entry, Mapping) and "criterion" in entry for entry in value)


HOLDS: dict[str, Callable[[Any], bool]] = {
    "nuggets": _are_nuggets,
    "criteria": _are_criteria,
    **HOLDS_SOURCES,
}
"""Field -> whether a column of its name holds it: other tools have columns of these names that mean something else."""

LISTED_AS = {
    "nuggets": "a list of texts, or of objects with a text",
    "criteria": "a list of objects with a criterion and points",
}
"""Field -> what its column has to hold, in words."""


class ExpectationsOfQuestions:
    """What the answers to each question are expected to hold, to tell where that differs between two answers: their
    scores then count different things."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], int] = {}
        self._differing: dict[str, dict[str, None]] = {}

    def add(self, example: Any) -> None:
        """example: an Example."""
        contents = {
            "nuggets": [(nugget.text, nugget.importance) for nugget in example.nuggets or ()],
            "criteria": [(item.criterion, item.points) for item in example.criteria or ()],
        }
        for field, entries in contents.items():
            if not entries:
                continue
            content = hash(frozenset(entries))
            first = self._first.setdefault((field, example.question_id), content)
            if first != content:
                self._differing.setdefault(field, {})[example.question_id] = None

    def notices(self) -> list[str]:
        """A sentence for each kind that differs, with the first such question."""
        return [
            f"Answers to {counted(len(questions), 'question')} have different {field} (the first: "
            f'"{next(iter(questions))}"): their scores count different {_COUNTED[field]}, and a difference between '
            "systems can come from that."
            for field, questions in self._differing.items()
        ]


_COUNTED = {"nuggets": "facts", "criteria": "points"}
