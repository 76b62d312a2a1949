"""The index of items that lack people gives what a walk over all items gives."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Literal

import pytest
from tests.contrib.annotate.test_assign import NOW, items_of, study_with

from longmark.contrib.annotate.assign import Queue
from longmark.contrib.annotate.assignment_state import AssignmentState
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.store import Assignment


def walked(queue: Queue, state: AssignmentState, person: str, moment: datetime) -> str | None:
    """The new item of a person, by looking at every item: what the queue did before it had an index."""
    rules = queue.study.assignment
    of_person = state.by_person.get(person, {})
    counted = state.counts[person]
    quota_left: dict[str, int] = {}
    if rules.quota is not None:
        quota_left = {
            rater: rules.quota - state.counts[rater]
            for rater in state.by_person.keys() - state.away - {person}
            if state.counts[rater] < rules.quota
        }
        if counted >= rules.quota + rules.slack:
            return None
    labels_left = sum(quota_left.values())
    free = []
    for item in queue.order(person):
        raters = state.by_item.get(item.id, {})
        people = sum(counts(assignment, rules.release, moment) for assignment in raters.values())
        if item.id not in of_person and item.id not in state.decided and people < rules.overlap:
            spare = labels_left - sum(quota_left.get(rater, 0) for rater in raters)
            free.append((item, people, spare))
    if rules.quota is not None and counted >= rules.quota:
        late = sum(rules.overlap - people for _, people, _ in free) <= rules.slack * len(
            state.by_person
        )
        free = [candidate for candidate in free if late and candidate[2] <= 0]
    if not free:
        return None
    if rules.blocks:
        labelled = [entry for entry in of_person.values() if entry.kind == "normal"]
        last = max(labelled, key=lambda entry: entry.position, default=None)
        block = queue.items[last.item_id].question_id if last else None
        if not any(item.question_id == block for item, _, _ in free):
            block = free[0][0].question_id
        free = [candidate for candidate in free if candidate[0].question_id == block]
    if rules.order == "file":
        return free[0][0].id
    if rules.order == "priority":
        return max(free, key=lambda it: (priority(it[0], state.priorities), it[1]))[0].id
    if rules.quota is None:
        return max(free, key=lambda candidate: candidate[1])[0].id
    return min(free, key=lambda candidate: candidate[1:])[0].id


def counts(assignment: Assignment, hours: float | None, moment: datetime) -> bool:
    if assignment.status == "done":
        return True
    in_time = hours is None or (
        datetime.fromisoformat(assignment.given_at) > moment - timedelta(hours=hours)
    )
    return assignment.status == "open" and in_time


def priority(item: StudyItem, priorities: Mapping[str, float]) -> float:
    return priorities.get(item.id, float("-inf"))


def rules_of(chance: random.Random) -> dict[str, Any]:
    rules: dict[str, Any] = {
        "overlap": chance.randint(1, 3),
        "order": chance.choice(["file", "random", "priority"]),
        "seed": chance.randint(0, 9),
    }
    if chance.random() < 0.5:
        rules["blocks"] = "question_id"
    if chance.random() < 0.5:
        rules |= {"quota": chance.randint(1, 6), "slack": chance.randint(0, 2)}
    if chance.random() < 0.5:
        rules["release"] = 2
    return rules


@pytest.mark.parametrize("seed", range(60))
def test_the_index_gives_the_item_that_a_walk_over_all_items_gives(seed: int) -> None:
    chance = random.Random(seed)
    study = study_with(**rules_of(chance))
    items = items_of(chance.randint(1, 14))
    queue = Queue(study, items)
    state = AssignmentState()
    people = [f"p{number}" for number in range(chance.randint(1, 5))]
    moment = NOW
    for _ in range(60):
        person = chance.choice(people)
        moment += timedelta(minutes=chance.randint(0, 90))
        if study.assignment.order == "priority" and chance.random() < 0.2:
            state.priorities = {item.id: chance.randint(0, 3) for item in items[::2]}
        if chance.random() < 0.1:
            assignments = [entry for own in state.by_person.values() for entry in own.values()]
            rebuilt = AssignmentState.of(queue.items, assignments)
            rebuilt.priorities = state.priorities
            state = rebuilt
        state.away = {chance.choice(people)} if chance.random() < 0.2 else set()
        own = state.by_person.get(person, {})
        is_open = any(
            entry.status == "open"
            and entry.kind != "adjudication"
            and entry.item_id not in state.decided
            for entry in own.values()
        )
        expected = walked(queue, state, person, moment)
        assigned = queue.next(state, person, moment)
        if is_open:
            assert assigned is not None
            assert not assigned.new
        else:
            assert (assigned.item_id if assigned else None) == expected
        if assigned is not None:
            status = chance.choice(["done", "done", "done", "skipped", "released", "open"])
            state.put(
                Assignment(
                    assigned.item_id,
                    person,
                    assigned.swapped,
                    status,  # type: ignore[arg-type]
                    None,
                    moment.isoformat(),
                    moment.isoformat(),
                    assigned.position,
                    assigned.kind,
                )
            )
        if chance.random() < 0.1:
            item = chance.choice(items)
            third = chance.choice(people)
            if third not in state.by_item.get(item.id, {}):
                begun: Literal["open", "done"] = chance.choice(["open", "done"])
                state.put(
                    Assignment(
                        item.id,
                        third,
                        False,
                        begun,
                        None,
                        NOW.isoformat(),
                        None,
                        99,
                        "adjudication",
                    )
                )


def test_an_item_costs_as_little_in_a_large_study_as_in_a_small_one() -> None:
    """What is counted is how many items are looked at, since times differ between machines."""
    looked_at: list[str] = []

    class Watched(Queue):
        def _people(self, state: AssignmentState, item: StudyItem, moment: datetime) -> int:
            looked_at.append(item.id)
            return super()._people(state, item, moment)

    queue = Watched(study_with(overlap=2), items_of(3000))
    state = AssignmentState()
    for number in range(400):
        person = f"p{number % 4}"
        assigned = queue.next(state, person, NOW)
        assert assigned is not None
        entry = Assignment(
            assigned.item_id,
            person,
            assigned.swapped,
            "done",
            None,
            NOW.isoformat(),
            NOW.isoformat(),
            assigned.position,
            assigned.kind,
        )
        state.put(entry)
    assert len(looked_at) < 400 * 8
