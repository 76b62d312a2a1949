"""What the tables of a recipe are made of: members (what is compared, such as metrics), items (what they were measured
on, such as answers), and measures, each a function of some members and some items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal, Protocol

from longmark.analysis.grid import Grid
from longmark.contrib.papers.recipe.schema import Condition
from longmark.report.document import Section
from longmark.report.figures import Figure
from longmark.report.tables import Cell, Table

Member = tuple[str, ...]
Places = Sequence[int]
Kind = Literal["estimate", "number", "text", "p"]
NUMBER = "number"
YES_OR_NO = "yes or no"
YES = "yes"


@dataclass(frozen=True, slots=True)
class Measure:
    """What stands in a cell. of: makes it of the members and the places of the items; kind: what it makes; decimals: of
    its numbers, None for whole ones."""

    of: Callable[[Sequence[Member], Places], Cell]
    kind: Kind = "estimate"
    decimals: int | None = 3


class BestRow(Protocol):
    """Which of several members is the best by a measure. parts: places of items, whose values are averaged."""

    def __call__(
        self, measure: str, members: Sequence[Member], parts: Sequence[Places]
    ) -> Member | None: ...


def _nobody(
    measure: str,
    members: Sequence[Member],
    parts: Sequence[Places],
) -> Member | None:
    return None


@dataclass(frozen=True)
class RecipeSource:
    """heads: the fields of a member, name -> kind of its column ("metric", NUMBER, YES_OR_NO or ""); members: a text for
    each head; items: their number; fields: of the items, name -> the value of each ("" for none); orders: field -> its
    values in their order (default: sorted).

    tables, figures, sections, texts, links: what the source makes itself, by name; references: numbers that figures can
    mark; notices: what a reader must know of the data.
    """

    heads: Mapping[str, str]
    members: Sequence[Member]
    measures: Mapping[str, Measure]
    items: int = 0
    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)
    best: BestRow = _nobody
    tables: Mapping[str, Callable[[], Iterable[Table | Grid[Any]]]] = field(default_factory=dict)
    figures: Mapping[str, Callable[[], Sequence[Figure]]] = field(default_factory=dict)
    sections: Mapping[str, Callable[[], Section]] = field(default_factory=dict)
    texts: Mapping[str, Callable[[], str]] = field(default_factory=dict)
    links: Mapping[str, Callable[[], Sequence[tuple[str, str]]]] = field(default_factory=dict)
    references: Mapping[str, Callable[[], float | None]] = field(default_factory=dict)
    notices: Sequence[str] = ()

    @property
    def names(self) -> list[str]:
        """Of all fields, those of members first."""
        return [*self.heads, *self.fields]

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.heads)}

    def values(
        self, name: str, where: Mapping[str, Condition] | None = None, places: Places | None = None
    ) -> list[str]:
        """The values of a field in their order, without the empty one: of a member's field in the order of the members
        that `where` lets pass, of an item's field those at `places`."""
        if name in self.heads:
            position = self._positions[name]
            members = self.chosen_members(where or {})
            return list(dict.fromkeys(member[position] for member in members))
        column = self.fields[name]
        present = {column[place] for place in (range(self.items) if places is None else places)}
        order = self.orders.get(name)
        return [value for value in order if value in present] if order else sorted(present - {""})

    def chosen_members(
        self,
        *condition_sets: Mapping[str, Condition],
    ) -> list[Member]:
        """The members that meet all conditions on their fields."""
        conditions = [
            (self._positions[name], self.heads[name], condition)
            for conditions_given in condition_sets
            for name, condition in conditions_given.items()
            if name in self.heads
        ]
        return [
            member
            for member in self.members
            if all(
                meets(member[position], condition, kind) for position, kind, condition in conditions
            )
        ]

    def chosen_items(
        self,
        *condition_sets: Mapping[str, Condition],
    ) -> list[int]:
        """The places of the items that meet all conditions on their fields."""
        conditions = [
            (self.fields[name], condition)
            for conditions_given in condition_sets
            for name, condition in conditions_given.items()
            if name in self.fields
        ]
        return [
            place
            for place in range(self.items)
            if all(meets(column[place], condition) for column, condition in conditions)
        ]


Getter = Callable[[Any], Any] | str
"""Reads a record: a function, or the path of an attribute."""


@dataclass(frozen=True, slots=True)
class RecordMeasure:
    """What stands in the cell of a record. get: reads it; kind, decimals: as of `Measure`."""

    get: Getter
    kind: Kind = "estimate"
    decimals: int | None = 3


def source_of_records(
    records: Iterable[Any],
    heads: Mapping[str, Getter],
    measures: Mapping[str, RecordMeasure],
) -> RecipeSource:
    """A source whose members are results that were computed: a table of it has a row for each. heads: field -> the
    text, number or truth of a record; a text twice is numbered, so that each record keeps its row."""
    of_member: dict[Member, Any] = {}
    kinds = dict.fromkeys(heads, "")
    getters = {name: _reader(get) for name, get in heads.items()}
    for record in records:
        values = {name: get(record) for name, get in getters.items()}
        for name, value in values.items():
            kinds[name] = _kind_of(value) or kinds[name]
        member = tuple(_in_text(value) for value in values.values())
        same = 2
        while member in of_member:
            member = (*member[:-1], f"{_in_text(values[list(heads)[-1]])} ({same})")
            same += 1
        of_member[member] = record

    def measure(record_measure: RecordMeasure) -> Measure:
        get = _reader(record_measure.get)

        def measured(members: Sequence[Member], _places: Places) -> Cell:
            return get(of_member[members[0]]) if len(members) == 1 else None

        return Measure(measured, record_measure.kind, record_measure.decimals)

    return RecipeSource(
        heads=kinds,
        members=list(of_member),
        measures={name: measure(record_measure) for name, record_measure in measures.items()},
    )


def _reader(get: Getter) -> Callable[[Any], Any]:
    return attrgetter(get) if isinstance(get, str) else get


def _kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return YES_OR_NO
    return NUMBER if isinstance(value, int) else ""


def _in_text(value: Any) -> str:
    if isinstance(value, bool):
        return YES if value else "no"
    return "" if value is None else str(value)


def meets(
    value: str,
    condition: Condition,
    kind: str = "",
) -> bool:
    """Whether a value is one that the condition lets pass. Of metrics, a name stands for its family too."""

    def among(names: Iterable[str]) -> bool:
        return any(value == name or (kind == "metric" and _within(value, name)) for name in names)

    if condition.other_than is not None:
        return not among(condition.other_than)
    return among(condition.among or ())


def _within(metric: str, family: str) -> bool:
    """Whether a metric, with its parameters or its run, is the one named or of the family named."""
    return metric.startswith(family) and metric[len(family) : len(family) + 1] in (
        ".",
        "@",
        " ",
        "[",
    )
