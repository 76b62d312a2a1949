"""Which normal items of a study still lack people, kept up with the assignments: a study of 9,000 items is not walked for
each item that somebody gets.

An item that nobody ever had is `untouched`. Those are alike but for their place in a person's order, so that the first of
them stands for all. An item that some have is `begun` until as many have finished it as should; only these are looked at
one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from longmark.contrib.annotate.assignment_state import AssignmentState
from longmark.contrib.annotate.item_columns import StudyItem


class FreeItems:
    """begun: ids of items that some had and fewer than `overlap` finished, in no order."""

    def __init__(self, items: Iterable[StudyItem], overlap: int) -> None:
        self._overlap = overlap
        self._items = {item.id: item for item in items}
        self._state: AssignmentState | None = None
        self._read = 0
        self._touched: set[str] = set()
        self._firsts: dict[tuple[str, bool], tuple[Sequence[StudyItem], int]] = {}
        self.begun: dict[str, StudyItem] = {}

    def follow(self, state: AssignmentState) -> None:
        """Reads what has changed in a state; all of it where it is another one than before."""
        if self._state is not state:
            self._state = state
            self._touched = set()
            self._firsts = {}
            self.begun = {}
            self._read = len(state.changed)
            changed: Iterable[str] = {*state.by_item, *state.decided}
        else:
            changed = state.changed[self._read :]
            self._read = len(state.changed)
        for item_id in changed:
            if (item := self._items.get(item_id)) is not None:
                self._put(state, item)

    def _put(self, state: AssignmentState, item: StudyItem) -> None:
        of_item = state.by_item.get(item.id, {})
        if not of_item and item.id not in state.decided:
            return
        self._touched.add(item.id)
        done_count = sum(assignment.status == "done" for assignment in of_item.values())
        if done_count >= self._overlap or item.id in state.decided:
            self.begun.pop(item.id, None)
        else:
            self.begun[item.id] = item

    def untouched_count(self, of_person: Iterable[str]) -> int:
        """How many items nobody had. of_person: ids of what the person had, also as an adjudicator; they do not count."""
        untouched_of_person = sum(
            item in self._items and item not in self._touched for item in of_person
        )
        return len(self._items) - len(self._touched) - untouched_of_person

    def first_untouched(
        self,
        order: Sequence[StudyItem],
        person: str,
        of_person: Iterable[str],
        fits: Callable[[StudyItem], bool] | None = None,
    ) -> StudyItem | None:
        """The first item of a person's order that nobody had. The place where the untouched ones begin is kept for each
        order, as an item that was touched stays so. fits: of which items (None: all)."""
        kept_order, place = self._firsts.get((person, fits is None), (order, 0))
        place = place if kept_order is order else 0
        while place < len(order) and order[place].id in self._touched:
            place += 1
        self._firsts[person, fits is None] = (order, place)
        for at in range(place, len(order)):
            item = order[at]
            if (
                item.id not in self._touched
                and item.id not in of_person
                and (not fits or fits(item))
            ):
                return item
        return None
