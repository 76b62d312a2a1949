"""The labels of a study as they are stored, joined once: item, rater, values, time, decision."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from longmark.contrib.annotate.assign import differing
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.store import (
    Adjudication,
    Assignment,
    Event,
    Person,
    SavedValues,
    StudyStore,
)
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
class AssignedItem:
    """An item that was given to a rater. values: {} if nothing was saved, or it was withdrawn; seconds: of visible
    work, over all visits."""

    item: StudyItem
    rater: Person
    assignment: Assignment
    values: Mapping[str, Any]
    answer: SavedValues | None
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
    items: Mapping[str, StudyItem]
    people: Mapping[str, Person]
    entries: tuple[AssignedItem, ...]
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
    def done(self) -> list[AssignedItem]:
        return [entry for entry in self.entries if entry.counts]

    @property
    def by_item(self) -> dict[str, list[AssignedItem]]:
        items: dict[str, list[AssignedItem]] = {}
        for entry in self.done:
            items.setdefault(entry.item.id, []).append(entry)
        return items

    def finals(self) -> Iterator[AssignedItem]:
        """The final labels of the fields that are compared, where a third person decides: the decision, or what all
        `overlap` raters chose. Each item's as an entry of the rater `final`, with the order of whoever decided, or of
        the first rater."""
        rules = self.study.assignment
        for item, entries_of_item in self.by_item.items() if rules.adjudication else ():
            assignment = entries_of_item[0].assignment
            values = entries_of_item[0].values
            if (decision := self.decisions.get(item)) is not None:
                assignment = self.deciding.get(item, assignment)
                values = decision.values
            elif len(entries_of_item) < rules.overlap:
                continue
            settled = {*self.study.compared} - {
                *(
                    ()
                    if decision
                    else differing(self.study, [entry.values for entry in entries_of_item])
                )
            }
            if values := {name: value for name, value in values.items() if name in settled}:
                yield AssignedItem(self.items[item], _FINAL, assignment, values, None, 0.0)


def collect(
    study: Study, items: Sequence[StudyItem], store: StudyStore, *, names: bool = True
) -> Collected:
    """All labels of a study. Assignments of items that the study no longer has are left out. names: of people;
    otherwise each has their id for a name."""
    people = {
        person.id: person if names else replace(person, name=person.id) for person in store.people()
    }
    answers = {(answer.item_id, answer.person_id): answer for answer in store.answers()}
    seconds: dict[tuple[str, str], float] = defaultdict(float)
    for visit in store.visits():
        seconds[visit.item_id, visit.person_id] += visit.seconds
    places = {item.id: (place, item) for place, item in enumerate(items)}
    ranks = {person: rank for rank, person in enumerate(people)}
    entries = []
    for assignment in store.assignments():
        if (
            assignment.kind == "adjudication"
            or assignment.item_id not in places
            or assignment.person_id not in people
        ):
            continue
        key = (assignment.item_id, assignment.person_id)
        answer = None if assignment.status == "withdrawn" else answers.get(key)
        values = {} if answer is None else answer.values
        entries.append(
            AssignedItem(
                places[assignment.item_id][1],
                people[assignment.person_id],
                assignment,
                values,
                answer,
                seconds.get(key, 0.0),
            )
        )
    entries.sort(key=lambda entry: (places[entry.item.id][0], ranks[entry.rater.id]))
    decisions = {
        adjudication.item_id: adjudication
        for adjudication in store.adjudications()
        if adjudication.item_id in places
    }
    deciders = {(decision.item_id, decision.person_id) for decision in decisions.values()}
    deciding = {
        assignment.item_id: assignment
        for assignment in store.assignments()
        if (assignment.item_id, assignment.person_id) in deciders
    }
    by_id = {item.id: item for item in items}
    return Collected(
        study, by_id, people, tuple(entries), decisions, deciding, store.events(*_READ)
    )


def simple_labels(
    study: Study, item: StudyItem, values: Mapping[str, Any]
) -> Iterator[tuple[str, str | int]]:
    """(label, value) of the values that are one word or number each.

    Of several errors, a yes or no for each kind, as FIELD.KIND; of an edit, the verdict; of a word, the word. Texts and
    spans are none, and the cells of a matrix are in `cells`.
    """
    for field in study.asked:
        if (value := values.get(field.name)) is None:
            continue
        if isinstance(field, Choice | Scale | Compare):
            yield field.name, value
        elif isinstance(field, Errors):
            for option in field.options:
                yield f"{field.name}.{option.value}", "yes" if option.value in value else "no"
        elif isinstance(field, Edit):
            yield field.name, value["verdict"]
        elif isinstance(field, Cloze):
            yield field.name, IMPOSSIBLE if IMPOSSIBLE in value else value["quote"]


def scales_of(study: Study) -> dict[str, DeclaredScale]:
    """The scale of each label of `simple_labels`, of those that have one. The options of a choice are in an order
    only if the study says so."""
    scales: dict[str, DeclaredScale | None] = {}
    for field in study.asked:
        if isinstance(field, Choice):
            scales[field.name] = scale_with(field.possible, ordered=field.ordered)
        elif isinstance(field, Scale):
            numbers = range(field.min, min(field.max, field.min + MOST_NUMBERS) + 1)
            scales[field.name] = scale_with(list(map(str, numbers)), ordered=True)
        elif isinstance(field, Errors):
            scales |= {
                f"{field.name}.{option.value}": scale_with(("no", "yes"))
                for option in field.options
            }
        elif isinstance(field, Edit):
            scales[field.name] = scale_with(VERDICTS)
        elif isinstance(field, Compare):
            scales[field.name] = scale_with(field.possible)
    return {label: scale for label, scale in scales.items() if scale is not None}


def cells(
    study: Study, item: StudyItem, values: Mapping[str, Any]
) -> Iterator[tuple[str, str, str, str]]:
    """(label, point, column, value) of the matrices whose points every rater sees."""
    for field in study.asked:
        if isinstance(field, Matrix) and rows_of(field, item):
            for row in values.get(field.name, ()):
                for column, value in row["values"].items():
                    yield field.name, row["point"], column, value
