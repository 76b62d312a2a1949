"""The labels of a study as they are stored, joined once: item, rater, values, time, decision."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from longmark.contrib.annotate.assign import differing
from longmark.contrib.annotate.items import Item
from longmark.contrib.annotate.store import Adjudication, Answer, Assignment, Event, Person, Store
from longmark.contrib.annotate.study import (
    VERDICTS,
    Choice,
    Cloze,
    Compare,
    Edit,
    Errors,
    Matrix,
    Scale,
    Study,
)
from longmark.contrib.annotate.values import rows_of
from longmark.scores.label_scales import MOST_NUMBERS, DeclaredScale, scale_with
from longmark.scores.labels import FINAL

IMPOSSIBLE = "impossible"
_READ = ("labels seen", "consent given", "guidelines read", "another attempt")
_FINAL = Person(FINAL, FINAL, "adjudicator")


@dataclass(frozen=True, slots=True)
class Entry:
    """An item that was given to a rater. values: {} if nothing was saved, or it was withdrawn; seconds: of visible
    work, over all visits."""

    item: Item
    rater: Person
    assignment: Assignment
    values: Mapping[str, Any]
    answer: Answer | None
    seconds: float

    @property
    def counts(self) -> bool:
        """Whether it is a finished label of the study, not a draft and no check of the rater."""
        return self.assignment.status == "done" and self.item.kind == "normal"

    @property
    def first(self) -> str:
        """The side that was shown first."""
        return self.item.sides[-1] if self.assignment.swapped else self.item.sides[0]


@dataclass(frozen=True, slots=True)
class Collected:
    """entries: in the order of the items, then of the raters; decisions: item -> the third person's; deciding: item ->
    how it was shown to that person; events: of _READ."""

    study: Study
    items: Mapping[str, Item]
    people: Mapping[str, Person]
    entries: tuple[Entry, ...]
    decisions: Mapping[str, Adjudication]
    deciding: Mapping[str, Assignment]
    events: Sequence[Event]

    def looked(self, item: str, person: str) -> bool:
        """Whether an adjudicator asked for the labels of an item."""
        return any(
            (event.kind, event.item_id, event.person_id) == ("labels seen", item, person)
            for event in self.events
        )

    def people_of(self, event: str) -> set[str]:
        """Who did what an event says, or had it done to them."""
        return {
            one.content.get("person") or one.person_id or ""
            for one in self.events
            if one.kind == event
        }

    @property
    def done(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.counts]

    @property
    def by_item(self) -> dict[str, list[Entry]]:
        items: dict[str, list[Entry]] = {}
        for one in self.done:
            items.setdefault(one.item.id, []).append(one)
        return items

    def finals(self) -> Iterator[Entry]:
        """The final labels of the fields that are compared, where a third person decides: the decision, or what all
        `overlap` raters chose. Each item's as an entry of the rater `final`, with the order of whoever decided, or of
        the first rater."""
        rules = self.study.assignment
        for item, its in self.by_item.items() if rules.adjudication else ():
            shown = its[0].assignment
            values = its[0].values
            if (decision := self.decisions.get(item)) is not None:
                shown = self.deciding.get(item, shown)
                values = decision.values
            elif len(its) < rules.overlap:
                continue
            settled = {*self.study.compared} - {
                *(() if decision else differing(self.study, [one.values for one in its]))
            }
            if values := {name: value for name, value in values.items() if name in settled}:
                yield Entry(self.items[item], _FINAL, shown, values, None, 0.0)


def collect(study: Study, items: Sequence[Item], store: Store, *, names: bool = True) -> Collected:
    """All labels of a study. Assignments of items that the study no longer has are left out. names: of people;
    otherwise each has their id for a name."""
    people = {one.id: one if names else replace(one, name=one.id) for one in store.people()}
    answers = {(one.item_id, one.person_id): one for one in store.answers()}
    seconds: dict[tuple[str, str], float] = defaultdict(float)
    for visit in store.visits():
        seconds[visit.item_id, visit.person_id] += visit.seconds
    known = {item.id: (place, item) for place, item in enumerate(items)}
    ranks = {person: rank for rank, person in enumerate(people)}
    entries = []
    for one in store.assignments():
        if one.kind == "adjudication" or one.item_id not in known or one.person_id not in people:
            continue
        key = (one.item_id, one.person_id)
        answer = None if one.status == "withdrawn" else answers.get(key)
        values = {} if answer is None else answer.values
        entries.append(
            Entry(
                known[one.item_id][1],
                people[one.person_id],
                one,
                values,
                answer,
                seconds.get(key, 0.0),
            )
        )
    entries.sort(key=lambda one: (known[one.item.id][0], ranks[one.rater.id]))
    decisions = {one.item_id: one for one in store.adjudications() if one.item_id in known}
    deciders = {(one.item_id, one.person_id) for one in decisions.values()}
    deciding = {
        one.item_id: one for one in store.assignments() if (one.item_id, one.person_id) in deciders
    }
    by_id = {item.id: item for item in items}
    return Collected(
        study, by_id, people, tuple(entries), decisions, deciding, store.events(*_READ)
    )


def simple_labels(
    study: Study, item: Item, values: Mapping[str, Any]
) -> Iterator[tuple[str, str | int]]:
    """(label, value) of the values that are one word or number each.

    Of several errors, a yes or no for each kind, as FIELD.KIND; of an edit, the verdict; of a word, the word. Texts and
    spans are none, and the cells of a matrix are in `cells`.
    """
    for one in study.asked:
        if (value := values.get(one.name)) is None:
            continue
        if isinstance(one, Choice | Scale | Compare):
            yield one.name, value
        elif isinstance(one, Errors):
            for option in one.options:
                yield f"{one.name}.{option.value}", "yes" if option.value in value else "no"
        elif isinstance(one, Edit):
            yield one.name, value["verdict"]
        elif isinstance(one, Cloze):
            yield one.name, IMPOSSIBLE if IMPOSSIBLE in value else value["quote"]


def scales_of(study: Study) -> dict[str, DeclaredScale]:
    """The scale of each label of `simple_labels`, of those that have one. The options of a choice are in no order that
    is known."""
    found: dict[str, DeclaredScale | None] = {}
    for field in study.asked:
        if isinstance(field, Choice):
            found[field.name] = scale_with(field.possible)
        elif isinstance(field, Scale):
            numbers = range(field.min, min(field.max, field.min + MOST_NUMBERS) + 1)
            found[field.name] = scale_with(list(map(str, numbers)), ordered=True)
        elif isinstance(field, Errors):
            found |= {
                f"{field.name}.{option.value}": scale_with(("no", "yes"))
                for option in field.options
            }
        elif isinstance(field, Edit):
            found[field.name] = scale_with(VERDICTS)
        elif isinstance(field, Compare):
            found[field.name] = scale_with(field.possible)
    return {label: scale for label, scale in found.items() if scale is not None}


def cells(
    study: Study, item: Item, values: Mapping[str, Any]
) -> Iterator[tuple[str, str, str, str]]:
    """(label, point, column, value) of the matrices whose points every rater sees."""
    for one in study.asked:
        if isinstance(one, Matrix) and rows_of(one, item):
            for row in values.get(one.name, ()):
                for column, value in row["values"].items():
                    yield one.name, row["point"], column, value
