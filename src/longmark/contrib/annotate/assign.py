"""Who gets which item next, which side of a pair first, and which items need a third person. Pure: no store, no clock.

An item is given to `overlap` people. One that others have begun comes before a new one, so that items are complete
early. With a quota the one that the fewest people have comes first, and among these the one that the others can least
take: otherwise the last people find only items that they have done. `slack` lets a person exceed the quota by so many
items that nobody else can take. Training and qualification items come first, attention items in between. A person
gets no item twice, also not one that was skipped, released or withdrawn.

The sides of a pair are balanced over the people of an item first, then over the items of a person; what is left is
drawn from the study's seed. An adjudicator is blinded as a rater is: their sides are balanced over their own cases.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any

from longmark.contrib.annotate.assignment_state import COUNTED, AssignmentState
from longmark.contrib.annotate.free_items import FreeItems
from longmark.contrib.annotate.item_columns import Kind, StudyItem
from longmark.contrib.annotate.store import Person, SavedValues
from longmark.contrib.annotate.study import Qualification, Study

_KINDS: tuple[Kind, ...] = ("normal", "attention", "training", "qualification")
PHASES = _KINDS[2:]  # what comes before the labels


@dataclass(frozen=True, slots=True)
class Assigned:
    """An item for a person. swapped: its sides are shown the other way round; new: it was not given before."""

    item_id: str
    kind: Kind
    swapped: bool
    position: int
    new: bool = True


@dataclass(frozen=True, slots=True)
class Candidate:
    """A free item. people: how many have it; spare: labels that others can give under their quotas."""

    item: StudyItem
    people: int
    spare: int


class Queue:
    """The order of a study's items for each person. Kept while the study runs: an order is made once."""

    def __init__(self, study: Study, items: Sequence[StudyItem]) -> None:
        self.study = study
        self.items = {item.id: item for item in items}
        self._of_kind: dict[str, list[StudyItem]] = {
            kind: [item for item in items if item.kind == kind] for kind in _KINDS
        }
        self._orders: dict[str, list[StudyItem]] = {}
        self._by_priority: dict[str, tuple[Mapping[str, float], list[StudyItem]]] = {}
        self._free = FreeItems(self._of_kind["normal"], study.assignment.overlap)
        self._places = {item.id: place for place, item in enumerate(self._of_kind["normal"])}
        self._block_places: dict[str, dict[Any, int]] = {}

    def next(self, state: AssignmentState, person: str, moment: datetime) -> Assigned | None:
        """The item that a person works on next: an open one, or a new one. None: there is none (`why_none`)."""
        of_person = state.by_person.get(person, {})
        begun = [
            assignment
            for assignment in of_person.values()
            if assignment.status == "open"
            and assignment.kind != "adjudication"
            and assignment.item_id not in state.decided
        ]
        if begun:
            first = min(begun, key=lambda assignment: assignment.position)
            return Assigned(first.item_id, first.kind, first.swapped, first.position, new=False)
        if (item := self._new(state, person, moment)) is None:
            return None
        # positions are the order in which a person saw the items
        position = max((assignment.position for assignment in of_person.values()), default=0) + 1
        return Assigned(item.id, item.kind, self.swapped(state, person, item), position)

    def why_none(self, state: AssignmentState, person: str) -> str:
        """Why a person gets no item: `not qualified`, `quota` or `done`."""
        if self._qualified(state, person) is False:
            return "not qualified"
        quota = self.study.assignment.quota
        return "quota" if quota is not None and state.counts[person] >= quota else "done"

    def total(self, state: AssignmentState, person: str, part: str = "labels") -> int:
        """How many items of a part (`part_of`) this person will have in all, as far as is known: the attempts that were
        begun; of the labels, the quota, or what is still there."""
        of_part = [
            assignment
            for assignment in state.by_person.get(person, {}).values()
            if part_of(assignment.kind) == part
        ]
        if part in PHASES:
            sizes = accumulate(len(attempt) for attempt in self._attempts(part))
            return next((size for size in sizes if size >= len(of_part)), len(of_part))
        quota = self.study.assignment.quota
        left = len(self._of_kind["normal"])
        checks = sum(assignment.kind == "attention" for assignment in of_part)
        return max(len(of_part), checks + (left if quota is None else min(quota, left)))

    def _new(self, state: AssignmentState, person: str, moment: datetime) -> StudyItem | None:
        qualified = self._qualified(state, person)
        if qualified is not True:
            return qualified or None
        of_person = state.by_person.get(person, {})
        rules = self.study.assignment
        counted = state.counts[person]
        if rules.attention is not None:
            left = [item for item in self._of_kind["attention"] if item.id not in of_person]
            # one attention item after every so many labels: as many as are due less those that were given
            if left and counted // rules.attention.every > len(self._of_kind["attention"]) - len(
                left
            ):
                return left[0]
        quota_left: dict[str, int] = {}  # person -> items up to the quota
        if rules.quota is not None:
            quota_left = {
                rater: rules.quota - state.counts[rater]
                for rater in state.by_person.keys() - state.away - {person}
                if state.counts[rater] < rules.quota
            }
            # beyond the quota a person helps out where others will not reach theirs, but not without end
            if counted >= rules.quota + rules.slack:
                return None
        # what others can still give: an item that they can finish is left to them
        labels_left = sum(quota_left.values())
        self._free.follow(state)
        begun = [
            Candidate(
                item,
                people,
                labels_left
                - sum(quota_left.get(rater, 0) for rater in state.by_item.get(item.id, ())),
            )
            for item in self._free.begun.values()
            if item.id not in of_person
            and (people := self._people(state, item, moment)) < rules.overlap
        ]
        untouched = self._free.first_untouched(self.order(person), person, of_person)
        if rules.quota is not None and counted >= rules.quota:
            # who has met the quota gets an item only near the end, and only one that nobody else can take
            needed = sum(rules.overlap - candidate.people for candidate in begun)
            needed += rules.overlap * self._free.untouched_count(of_person)
            late_enough = needed <= rules.slack * len(
                state.by_person
            )  # else it is too early: more people may come
            begun = [candidate for candidate in begun if late_enough and candidate.spare <= 0]
            if not late_enough or labels_left > 0:
                untouched = None
        return self._best(begun, untouched, labels_left, person, state)

    def _best(
        self,
        begun: list[Candidate],
        untouched: StudyItem | None,
        labels_left: int,
        person: str,
        state: AssignmentState,
    ) -> StudyItem | None:
        """One of the block that the person is in: the first of the file, of the highest priority, or begun by most.
        begun: the free items that some have; untouched: the first of the person's order that nobody had."""
        of_person = state.by_person.get(person, {})
        firsts = [candidate.item for candidate in begun] + ([untouched] if untouched else [])
        if not firsts:
            return None
        in_block: Callable[[StudyItem], bool] | None = None
        if column := self.study.assignment.blocks:
            last = max(
                (assignment for assignment in of_person.values() if assignment.kind == "normal"),
                key=lambda assignment: assignment.position,
                default=None,
            )
            # a person stays in a block until it has nothing left for them
            block = None if last is None else _block(self.items.get(last.item_id), column)

            def in_block(item: StudyItem) -> bool:
                return _block(item, column) == block

            in_this = untouched and self._free.first_untouched(
                self.order(person), person, of_person, in_block
            )
            if in_this is None and not any(in_block(candidate.item) for candidate in begun):
                block = _block(min(firsts, key=lambda item: self._rank(person, item)), column)
                in_this = untouched if untouched and in_block(untouched) else None
            untouched = in_this
            begun = [candidate for candidate in begun if in_block(candidate.item)]
        rules = self.study.assignment
        if untouched and rules.order == "priority":
            order = self._order_of_priority(person, state.priorities)
            untouched = self._free.first_untouched(order, person, of_person, in_block)
        candidates = [*begun, Candidate(untouched, 0, labels_left)] if untouched else begun

        def key(candidate: Candidate) -> tuple[float, ...]:
            if rules.order == "file":
                return ()
            if rules.order == "priority":
                return (-_priority(candidate.item, state.priorities), -candidate.people)
            if rules.quota is None:
                # the item that most have begun, so that items are finished one after the other
                return (-candidate.people,)
            # with a quota the labels are just enough: the item that most lacks people, then the one
            # that fewest others can take
            return (candidate.people, candidate.spare)

        keys = [key(candidate) for candidate in candidates]
        least = min(keys)
        equal = [
            candidate.item
            for candidate, candidate_key in zip(candidates, keys, strict=True)
            if candidate_key == least
        ]
        return min(equal, key=lambda item: self._rank(person, item))

    def _order_of_priority(self, person: str, priorities: Mapping[str, float]) -> list[StudyItem]:
        """The normal items by their priorities, then in the order for a person."""
        before, items = self._by_priority.get(person, (None, []))
        if before is not priorities:
            items = sorted(self.order(person), key=lambda item: -_priority(item, priorities))
            self._by_priority[person] = (priorities, items)
        return items

    def _rank(self, person: str, item: StudyItem) -> tuple[int, ...]:
        """What sorts the normal items into the order for a person."""
        if not (column := self.study.assignment.blocks):
            return self._item_rank(person, item)
        if person not in self._block_places:
            self.order(person)
        return (self._block_places[person][_block(item, column)], *self._item_rank(person, item))

    def _item_rank(self, person: str, item: StudyItem) -> tuple[int, ...]:
        rules = self.study.assignment
        place = self._places[item.id]
        if rules.order == "file":
            return (place,)
        # drawn by a hash of each item, so that an item that is added later moves no other one
        return (draw(rules.seed, person, item.id), place)

    def _people(self, state: AssignmentState, item: StudyItem, moment: datetime) -> int:
        """How many have the item, or had it. One who left it open for too long does not count."""
        of_item = state.by_item.get(item.id)
        if not of_item:
            return 0
        hours = self.study.assignment.release
        since = None if hours is None else moment - timedelta(hours=hours)
        return sum(
            assignment.status == "done"
            or (
                assignment.status == "open"
                and (since is None or datetime.fromisoformat(assignment.given_at) > since)
            )
            for assignment in of_item.values()
        )

    def _qualified(self, state: AssignmentState, person: str) -> StudyItem | bool:
        """True; False if every attempt failed; or the next item of the training, then of the qualification."""
        for kind in PHASES:
            if (outcome := self.passed(kind, state, person)) is not True:
                return outcome
        return True

    def failed(self, state: AssignmentState, person: str) -> list[StudyItem]:
        """The last attempt's items of the training or qualification that a person failed; [] for anybody else."""
        for kind in PHASES:
            if (outcome := self.passed(kind, state, person)) is not True:
                # an attempt that is not over was not failed
                last = [] if outcome else list(self._attempts(kind))[-1]
                of_person = state.by_person.get(person, {})
                return [] if any(of_person[item.id].status == "open" for item in last) else last
        return []

    def _attempts(self, kind: str) -> Iterator[list[StudyItem]]:
        rules: Qualification | None = getattr(self.study.assignment, kind)
        if rules is not None:
            size = rules.items or len(self._of_kind[kind])
            yield from (self._of_kind[kind][at * size :][:size] for at in range(rules.attempts))

    def passed(self, kind: str, state: AssignmentState, person: str) -> StudyItem | bool:
        """Of PHASES: True (also where the study has none); False if every attempt failed; or the next item of it."""
        rules: Qualification | None = getattr(self.study.assignment, kind)
        if rules is None:
            return True
        of_person = state.by_person.get(person, {})
        for attempt in self._attempts(kind):
            # an attempt is shown to its end, right or wrong: a person must not learn from when it stops
            if left := next((item for item in attempt if item.id not in of_person), None):
                return left
            answered = [
                state.right.get((item.id, person), (0, len(item.gold or {}))) for item in attempt
            ]
            if attempt and sum(right for right, _ in answered) >= rules.needed * sum(
                asked_count for _, asked_count in answered
            ):
                return True
        return False

    def order(self, person: str) -> list[StudyItem]:
        """The normal items in the order for a person."""
        if person not in self._orders:
            items = self._of_kind["normal"]
            rules = self.study.assignment
            if rules.blocks:
                by_item = sorted(items, key=lambda item: self._item_rank(person, item))
                places: dict[Any, int] = {}
                for place, item in enumerate(by_item):
                    # blocks come in the order of their first items, and keep their own order within
                    places.setdefault(_block(item, rules.blocks), place)
                self._block_places[person] = places
            self._orders[person] = sorted(items, key=lambda item: self._rank(person, item))
        return self._orders[person]

    def swapped(
        self, state: AssignmentState, person: str, item: StudyItem, *, adjudicates: bool = False
    ) -> bool:
        """Whether a person sees side b of a pair first, as a rater or as an adjudicator."""
        if item.sides == ("answer",) or self.study.blind.sides == "as_given":
            return False
        raters = () if adjudicates else state.by_item.get(item.id, {}).values()
        other_sides = [rater.swapped for rater in raters if rater.status in COUNTED]
        own_sides = [
            assignment.swapped
            for assignment in state.by_person.get(person, {}).values()
            if (assignment.kind == "adjudication") == adjudicates
            and assignment.item_id in self.items
            and self.items[assignment.item_id].sides != ("answer",)
        ]
        # the item's raters first, so that it is seen in both orders; then the person's own items
        for seen in (other_sides, own_sides):
            if (surplus := 2 * sum(seen) - len(seen)) != 0:
                return surplus < 0
        return draw(self.study.assignment.seed, "side", person, item.id) % 2 == 1


def part_of(kind: str) -> str:
    """What an assignment is counted with: training, qualification, adjudication, or labels, where attention items are,
    so that nobody can tell them."""
    return "labels" if kind in _KINDS[:2] else kind


def draw(*parts: Any) -> int:
    """A number that looks random, and is the same for the same parts."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).digest()[:8])


def _block(item: StudyItem | None, column: str | None) -> str | None:
    if item is None or column is None:
        return None
    return item.question_id if column == "question_id" else str(item.columns.get(column))


def _priority(item: StudyItem, priorities: Mapping[str, float]) -> float:
    priority = priorities.get(item.id, item.priority)
    return float("-inf") if priority is None else priority


def away(people: Iterable[Person]) -> set[str]:
    """Those whose labels are not expected: without access, owners, and adjudicators, who may label but need not."""
    return {person.id for person in people if not person.active or person.role != "annotator"}


# Adjudication ---------------------------------------------------------------------------------------------------------
def differing(study: Study, labels: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The fields on which the labels of an item differ, of those that are compared."""
    return tuple(
        name
        for name in study.compared
        if len({_comparable(values.get(name)) for values in labels}) > 1
    )


def _comparable(value: Any) -> Any:
    return tuple(sorted(map(str, value))) if isinstance(value, list) else str(value)


def to_adjudicate(
    study: Study,
    answers: Iterable[SavedValues],
    done_pairs: Iterable[tuple[str, str]],
    decided: Iterable[str],
) -> dict[str, tuple[str, ...]]:
    """Item -> the fields on which people differ, of items that `overlap` people finished and nobody decided.

    done_pairs: (item, person) of finished assignments; decided: items with a decision.
    """
    if study.assignment.adjudication is None:
        return {}
    finished = set(done_pairs)
    closed = set(decided)
    labels: dict[str, list[Mapping[str, Any]]] = {}
    for answer in answers:
        if (answer.item_id, answer.person_id) in finished and answer.item_id not in closed:
            labels.setdefault(answer.item_id, []).append(answer.values)
    differing_fields = {
        item: differing(study, item_labels)
        for item, item_labels in labels.items()
        if len(item_labels) >= study.assignment.overlap
    }
    return {item: fields for item, fields in differing_fields.items() if fields}


def may_adjudicate(state: AssignmentState, item: str, person: str) -> bool:
    """Whether a person is a third one: the item was not given to them."""
    return person not in state.by_item.get(item, {})
