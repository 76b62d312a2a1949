"""Who has which item, as assignments are made and change: what `assign` decides by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.store import Assignment, SavedValues
from longmark.contrib.annotate.values import known_answers

COUNTED = ("open", "done")
"""The states of an assignment that counts against a quota."""


@dataclass(slots=True)
class AssignmentState:
    """Who has what. right: of known answers, how many a person gave for an item, and of how many; priorities: of the
    file of priorities; decided: items with a decision, whose labels are final; away: people who label no more; counts:
    person -> items that count against the quota; changed: the item of each `put`, in their order."""

    by_item: dict[str, dict[str, Assignment]] = field(default_factory=dict)
    by_person: dict[str, dict[str, Assignment]] = field(default_factory=dict)
    right: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    priorities: Mapping[str, float] = field(default_factory=dict)
    decided: set[str] = field(default_factory=set)
    away: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    changed: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        items: Mapping[str, StudyItem],
        assignments: Iterable[Assignment],
        answers: Iterable[SavedValues] = (),
    ) -> AssignmentState:
        state = cls()
        for assignment in assignments:
            state.put(assignment)
        for answer in answers:
            if (item := items.get(answer.item_id)) is not None:
                state.count_right(item, answer.person_id, answer.values)
        return state

    def put(self, assignment: Assignment) -> None:
        """Adds an assignment, or replaces the one of the same item and person. Whoever opened an item as an adjudicator
        has it among their own, and is never given it to label."""
        of_person = self.by_person.setdefault(assignment.person_id, {})
        self.counts[assignment.person_id] += _counted(assignment) - _counted(
            of_person.get(assignment.item_id)
        )
        of_person[assignment.item_id] = assignment
        self.changed.append(assignment.item_id)
        if assignment.kind == "adjudication":
            if assignment.status == "done":
                self.decided.add(assignment.item_id)
        else:
            self.by_item.setdefault(assignment.item_id, {})[assignment.person_id] = assignment

    def count_right(self, item: StudyItem, person: str, values: Mapping[str, Any]) -> None:
        if item.gold:
            self.right[item.id, person] = known_answers(item, values)


def _counted(assignment: Assignment | None) -> bool:
    return assignment is not None and assignment.kind == "normal" and assignment.status in COUNTED
