"""People's labels of answers, from a file: a line for each item, rater and dimension.

    item        the id of an answer (or the question_id of its question)
    system      which generator answered; may be left out where the study has one generator
    rater       who labelled it
    dimension   one of the domain's (hazards: hazard, location, timeline, intensity), `answer_relevance` or
                `context_utilization`
    label       yes, no or n/a for the domain's dimensions; a number for the two scales

JSON Lines, JSON, CSV, TSV or Parquet. Upper and lower case make no difference in dimensions and labels. Labels of other
dimensions (a rater's confidence, say) are left out and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longmark.errors import BadInput, UserError
from longmark.records import labels
from longmark.records.labels import Label

RELEVANCE, UTILIZATION = "answer_relevance", "context_utilization"
SCALES = (RELEVANCE, UTILIZATION)
_CATEGORIES = {"yes": "yes", "no": "no", "n/a": "n/a", "na": "n/a"}


@dataclass(frozen=True, slots=True)
class Item:
    """An answer: who gave it, the id of its example, and the question that it shares with other generators' answers."""

    generator: str
    example: str
    question: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Labels:
    """categories: dimension -> item -> rater -> yes, no or n/a; ratings: scale -> item -> rater -> number; left_out:
    dimension that is none of the study's -> how many labels."""

    categories: Mapping[str, Mapping[Item, Mapping[str, str]]]
    ratings: Mapping[str, Mapping[Item, Mapping[str, float]]]
    left_out: Mapping[str, int]

    @property
    def raters(self) -> set[str]:
        every = (*self.categories.values(), *self.ratings.values())
        return {rater for by_item in every for by_rater in by_item.values() for rater in by_rater}

    @property
    def items(self) -> set[Item]:
        return {item for by_item in (*self.categories.values(), *self.ratings.values()) for item in by_item}


def read_labels(path: Path, dimensions: Collection[str], known: Mapping[str, Mapping[str, Item]]) -> Labels:
    """The labels of a file. known: generator -> id (of an example, or of its question) -> the answer.

    BadInput, a line for each record that is wrong; UserError where the file holds no label of the study.
    """
    categories: dict[str, dict[Item, dict[str, str]]] = {}
    ratings: dict[str, dict[Item, dict[str, float]]] = {}
    left_out, wrong = Counter[str](), list[str]()
    names = {_folded(name): name for name in (*dimensions, *SCALES)}
    for one in labels.read_labels(path, needed=("rater", "label", "value")).ratings:
        try:
            item = _item(one, known)
            dimension = one.label if one.label in dimensions else names.get(_folded(one.label), one.label)
            if dimension in SCALES:
                _put(ratings.setdefault(dimension, {}), item, one.rater, _number(one.value))
            elif dimension in dimensions:
                _put(categories.setdefault(dimension, {}), item, one.rater, _category(one.value))
            else:
                left_out[dimension] += 1
        except ValueError as error:
            wrong.append(f"{path}:{one.line}: {error}")
    if wrong:
        raise BadInput(wrong[: labels.SHOWN], len(wrong))
    if not categories and not ratings:
        raise UserError(f"{path} has no label of the study's dimensions: {', '.join((*dimensions, *SCALES))}")
    return Labels(categories, ratings, dict(left_out))


def _item(one: Label, known: Mapping[str, Mapping[str, Item]]) -> Item:
    if one.system is None and len(known) > 1:
        raise ValueError(f"no system: the study has several generators, {', '.join(known)}")
    generator = one.system or next(iter(known))
    if generator not in known:
        raise ValueError(f"system: the study has no generator {generator}; it has {', '.join(known)}")
    item = known[generator].get(one.example_id)
    if item is None:
        raise ValueError(f"item: {generator} has no answer {one.example_id}")
    return item


def _put(table: dict[Item, dict[str, Any]], item: Item, rater: str, label: Any) -> None:
    by_rater = table.setdefault(item, {})
    if rater in by_rater:
        raise ValueError(f"{rater} labels this item and dimension twice")
    by_rater[rater] = label


def _folded(name: str) -> str:
    """A dimension's name in lower case, with underscores for spaces and hyphens."""
    return name.casefold().replace(" ", "_").replace("-", "_")


def _category(label: float | str) -> str:
    found = _CATEGORIES.get(str(label).strip().casefold())
    if found is None:
        raise ValueError(f"label: expected yes, no or n/a, found {label!r}")
    return found


def _number(label: float | str) -> float:
    if isinstance(label, str):
        raise ValueError(f"label: expected a number, found {label!r}")
    return label
