"""Who gets what: overlap, quotas, blocks, sides, qualification, attention, priorities, the third person."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

from longmark.contrib.annotate.assign import (
    Queue,
    differing,
    may_adjudicate,
    to_adjudicate,
)
from longmark.contrib.annotate.assignment_state import AssignmentState
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.store import Assignment, SavedValues
from longmark.contrib.annotate.study import Study

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def study_with(pairs: bool = True, **rules: Any) -> Study:
    items = {"from": "pairs" if pairs else "file", "path": "x.jsonl"}
    field = (
        {"name": "better", "type": "compare"}
        if pairs
        else {"name": "better", "type": "choice", "options": ["a"]}
    )
    shown = ["question", "answers"] if pairs else ["question"]
    return Study.model_validate(
        {"title": "T", "items": items, "show": shown, "fields": [field], "assignment": rules}
    )


def items_of(n: int, **more: Any) -> list[StudyItem]:
    shown = {"question": "Q?", "a": "A", "b": "B"}
    return [StudyItem(f"i{number}", f"q{number // 2}", {}, shown, **more) for number in range(n)]


def gold_of(n: int, kind: Any) -> list[StudyItem]:
    return [
        StudyItem(
            f"{kind}{k}",
            "g",
            {},
            {"question": "Q?", "a": "A", "b": "B"},
            gold={"better": "a"},
            kind=kind,
        )
        for k in range(n)
    ]


class Working:
    """A study at work, without a store."""

    def __init__(self, study: Study, items: list[StudyItem]) -> None:
        self.queue, self.state, self.now = Queue(study, items), AssignmentState(), NOW

    def takes(self, person: str, choice: str = "a", status: str = "done") -> str | None:
        """The next item of a person, who labels it."""
        given = self.queue.next(self.state, person, self.now)
        if given is None:
            return None
        at = self.now.isoformat()
        one = Assignment(
            given.item_id,
            person,
            given.swapped,
            status,  # type: ignore[arg-type]
            None,
            at,
            at,
            given.position,
            given.kind,
        )
        self.state.put(one)
        self.state.count_right(self.queue.items[given.item_id], person, {"better": choice})
        return given.item_id

    def takes_all(self, person: str, choice: str = "a") -> list[str]:
        return list(iter(lambda: self.takes(person, choice), None))


def test_every_item_goes_to_as_many_people_as_asked_and_to_nobody_twice():
    work = Working(study_with(overlap=2), items_of(8))
    done = {person: work.takes_all(person) for person in ("ann", "bo", "cy")}
    assert Counter(item for its in done.values() for item in its) == {f"i{k}": 2 for k in range(8)}
    assert all(len(set(its)) == len(its) for its in done.values())
    assert done["ann"] != sorted(done["ann"])
    assert sorted(done["ann"]) == sorted(done["bo"])
    assert work.queue.why_none(work.state, "cy") == "done"


def test_ten_people_with_ten_items_each_label_fifty_items_twice():
    # 10 * 10 = 50 * 2: nothing is left over if the people take turns, as SCORE's study has it
    work = Working(study_with(overlap=2, quota=10), items_of(50))
    people = [f"p{number}" for number in range(10)]
    for _ in range(10):
        assert all(work.takes(person) for person in people)
    assert all(work.takes(person) is None for person in people)
    assert Counter(len(its) for its in work.state.by_item.values()) == {2: 50}
    assert work.queue.why_none(work.state, "p0") == "quota"


def test_with_a_quota_no_label_is_missing_when_people_come_in_any_order():
    """8 people with 30 of 80 items each, 3 labels an item: just enough. Ties go to what the others can least take."""
    for seed in range(4):
        chance, work = random.Random(seed), Working(study_with(overlap=3, quota=30), items_of(80))
        people = {f"p{number}": chance.random() + 0.2 for number in range(8)}
        while people:
            person = chance.choices(list(people), list(people.values()))[0]
            if work.takes(person) is None:
                del people[person]
        assert sum(3 - len(its) for its in work.state.by_item.values()) == 0


def test_slack_is_for_items_that_nobody_else_can_label():
    """bo skipped two of the three items, which only ann can label then; the third is left to bo."""
    for slack in (0, 1):
        work = Working(study_with(quota=1, slack=slack), items_of(3))
        skipped = [work.takes("bo", status="skipped") for _ in range(2)]
        taken = work.takes_all("ann")
        assert len(taken) == 1 + slack
        assert set(taken) <= set(skipped)
        assert work.takes("bo") not in (None, *skipped)


def test_sides_are_balanced_over_the_people_of_an_item_and_the_items_of_a_person():
    work = Working(study_with(overlap=2), items_of(20))
    for person in ("ann", "bo"):
        work.takes_all(person)
    seen = {item: [one.swapped for one in its.values()] for item, its in work.state.by_item.items()}
    assert all(sorted(sides) == [False, True] for sides in seen.values())
    assert sum(one.swapped for one in work.state.by_person["ann"].values()) == 10
    fixed = study_with().model_copy(
        update={"blind": study_with().blind.model_copy(update={"sides": "as_given"})}
    )
    assert not Queue(fixed, items_of(20)).next(AssignmentState(), "ann", NOW).swapped  # type: ignore[union-attr]


def test_the_order_is_the_same_again_and_another_for_each_person():
    study, items = study_with(overlap=5), items_of(30)
    first = Working(study, items).takes_all("ann")
    assert first == Working(study, items).takes_all("ann") != Working(study, items).takes_all("bo")
    assert Working(study_with(order="file"), items).takes_all("ann") == [item.id for item in items]


def test_an_open_item_comes_again_and_a_skipped_one_goes_to_another_person():
    work = Working(study_with(), items_of(2))
    first = work.takes("ann", status="open")
    again = work.queue.next(work.state, "ann", NOW)
    assert again is not None
    assert (again.item_id, again.new, again.position) == (first, False, 1)
    work = Working(study_with(), items_of(2))
    skipped = work.takes("ann", status="skipped")
    assert skipped not in work.takes_all("ann")
    assert work.takes_all("bo") == [skipped]


def test_an_item_that_somebody_left_is_released_after_some_hours():
    work = Working(study_with(release=2), items_of(1))
    work.takes("ann", status="open")
    work.now = NOW + timedelta(hours=1)
    assert work.takes("bo") is None
    work.now = NOW + timedelta(hours=3)
    assert work.takes("bo") == "i0"


def test_a_block_is_finished_before_the_next():
    taken = Working(study_with(blocks="question_id"), items_of(20)).takes_all("ann")
    questions = [int(item[1:]) // 2 for item in taken]
    assert all(questions[k] == questions[k + 1] for k in range(0, 20, 2))
    assert questions != sorted(questions)


def test_priorities_decide_and_may_change_while_people_work():
    work = Working(study_with(order="priority", priorities="p.jsonl"), items_of(6))
    work.state.priorities = {"i4": 2.0, "i2": 1.0}
    assert work.takes("ann") == "i4"
    work.state.priorities = {"i5": 9.0, "i2": 1.0}
    assert [work.takes("ann"), work.takes("ann")] == ["i5", "i2"]


def test_who_does_not_qualify_gets_nothing_else_and_an_attempt_has_new_items():
    items = [*items_of(4), *gold_of(4, "qualification")]
    rules = {"path": "q.jsonl", "items": 2, "pass": 0.9, "attempts": 2}
    work = Working(study_with(qualification=rules), items)
    assert work.takes_all("ann", "b") == [f"qualification{k}" for k in range(4)]
    assert work.queue.why_none(work.state, "ann") == "not qualified"
    assert [work.takes("bo", "b"), work.takes("bo", "a")] == [
        "qualification0",
        "qualification1",
    ]  # 1 of 2 is below .9
    assert [work.takes("bo"), work.takes("bo")] == ["qualification2", "qualification3"]
    assert sorted(work.takes_all("bo")) == ["i0", "i1", "i2", "i3"]


def test_an_attention_item_comes_after_so_many_others():
    items = [*items_of(7), *gold_of(2, "attention")]
    taken = Working(study_with(attention={"path": "a.jsonl", "every": 3}), items).takes_all("ann")
    assert [place for place, item in enumerate(taken) if item.startswith("attention")] == [3, 7]


def test_people_who_come_and_go_at_random_lose_nothing():
    chance = random.Random(4)
    for _ in range(20):
        work = Working(study_with(overlap=2), items_of(9))
        people = ["ann", "bo", "cy", "di"]
        for _ in range(40):
            work.takes(chance.choice(people), status=chance.choice(["done", "done", "skipped"]))
        for its in work.state.by_item.values():
            assert sum(one.status == "done" for one in its.values()) <= 2


def answer(item: str, person: str, **values: Any) -> SavedValues:
    return SavedValues(item, person, values, 1, NOW.isoformat(), True, False)


def test_a_third_person_decides_where_two_differ():
    study = study_with(overlap=2, adjudication={})
    given = [answer("i0", "ann", better="a"), answer("i0", "bo", better="b")]
    given += [answer("i1", "ann", better="a"), answer("i1", "bo", better="a")]
    given += [
        answer("i2", "ann", better="a"),
        answer("i2", "bo", better="b"),
    ]  # bo has not finished it
    done = [(one.item_id, one.person_id) for one in given if one != given[-1]]
    assert to_adjudicate(study, given, done, []) == {"i0": ("better",)}
    assert to_adjudicate(study, given, done, ["i0"]) == {}
    assert to_adjudicate(study_with(overlap=2), given, done, []) == {}
    state = AssignmentState()
    state.put(Assignment("i0", "ann", False, "done", None, NOW.isoformat(), None, 1, "normal"))
    assert (may_adjudicate(state, "i0", "ann"), may_adjudicate(state, "i0", "cy")) == (False, True)


def test_lists_differ_by_what_is_in_them():
    study = study_with().model_copy(update={})
    assert differing(study, [{"better": "a"}, {"better": "a"}]) == ()
    assert differing(study, [{"better": ["x", "y"]}, {"better": ["y", "x"]}]) == ()
    assert differing(study, [{"better": "a"}, {}]) == ("better",)


def test_a_single_call_gives_what_a_queue_gives():
    study, items = study_with(), items_of(5)
    given = Queue(study, items).next(AssignmentState(), "ann", NOW)
    assert given is not None
    assert given.item_id == Working(study, items).takes("ann")
