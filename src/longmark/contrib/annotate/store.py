"""What a study knows: items, people, assignments, answers and visits, as the rest of longmark reads them.

`StudyStore` is the one interface to them. A label has one current value for each (item, person); what it was before is in
the events, which are only ever appended. Times are UTC, ISO 8601. People's links, sessions and passwords are in `auth`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import orjson

from longmark.contrib.annotate.database import Database, utc_now
from longmark.errors import UserError
from longmark.records.values import looks

Role = Literal["owner", "adjudicator", "annotator"]
Status = Literal["open", "done", "skipped", "released", "withdrawn"]
Kind = Literal["normal", "training", "qualification", "attention", "adjudication"]
ROLES: tuple[Role, ...] = ("owner", "adjudicator", "annotator")


@dataclass(frozen=True, slots=True)
class Person:
    """id: in every export; name: as the owner wrote it; active: may sign in."""

    id: str
    name: str
    role: Role
    active: bool = True


@dataclass(frozen=True, slots=True)
class Assignment:
    """An item that was given to a person. swapped: the sides were shown the other way round; status: `released` was
    open, and others get it; reason: of a skip;
    position: the number of the item in the order in which this person got them, from 1."""

    item_id: str
    person_id: str
    swapped: bool
    status: Status
    reason: str | None
    given_at: str
    done_at: str | None
    position: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class SavedValues:
    """The current values of the fields, in terms of the item. version: counts what was saved, from 1."""

    item_id: str
    person_id: str
    values: dict[str, Any]
    version: int
    saved_at: str
    complete: bool
    suggestions_shown: bool


@dataclass(frozen=True, slots=True)
class Adjudication:
    """The decision on an item whose labels differ. person_id: who decided."""

    item_id: str
    person_id: str
    values: dict[str, Any]
    justification: str
    decided_at: str


@dataclass(frozen=True, slots=True)
class Visit:
    """Seconds for which the page of an item was visible, in one view of it."""

    item_id: str
    person_id: str
    seconds: float
    started_at: str


@dataclass(frozen=True, slots=True)
class Event:
    """What happened. number: from 1, without a hole; person_id: who did it, None for a command on the server."""

    number: int
    at: str
    person_id: str | None
    kind: str
    item_id: str | None
    content: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Page:
    """Where an answer comes from. id: the key of the page view (`once`); count: which of its saves this is, 0 if the
    page does not count; submitted: by its button."""

    id: str
    count: int = 0
    submitted: bool = False


class StudyStore(Database):
    """The database of one study, beside its file: STUDY.yaml -> STUDY.sqlite. epoch: changes when what was read before
    may be out of date."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.epoch = 0
        super().__init__(path, create=create)

    def forget(self) -> None:
        self.epoch += 1

    # settings

    def setting(self, name: str) -> str | None:
        row = self.row("SELECT value FROM settings WHERE name = ?", (name,))
        return None if row is None else str(row[0])

    def set_setting(self, name: str, value: str) -> None:
        sql = "INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        self.write(sql, (name, value))

    def keep(self, name: str, entry: Mapping[str, Any]) -> None:
        """Adds an entry to a list among the settings: `exports` or `backups`, where copies of labels are."""
        listed = [*(old for old in self.kept(name) if old != entry), dict(entry)]
        self.set_setting(name, orjson.dumps(listed).decode())

    def kept(self, name: str) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = self.value(
            self.setting(name) or "[]", f"the setting {name}", list
        )
        if not all(isinstance(entry, dict) and (_KEPT[name] <= entry.keys()) for entry in entries):
            raise self.damaged(f"the setting {name}")
        return entries

    @property
    def paused(self) -> bool:
        return self.setting("paused") == "yes"

    # people

    def people(self) -> list[Person]:
        """In the order in which they were added."""
        return [_person(row) for row in self.rows(f"{_PEOPLE} ORDER BY created_at, id")]

    def person(self, id: str) -> Person | None:
        row = self.row(f"{_PEOPLE} WHERE id = ?", (id,))
        return None if row is None else _person(row)

    def add_person(self, name: str, role: Role, by: str | None = None) -> Person:
        """UserError where the name is empty, too long or in use."""
        name = " ".join(name.split())
        if not 0 < len(name) <= 80 or not name.isprintable():
            raise UserError(
                "a person's name must have 1 to 80 characters, without control characters"
            )
        if name[0] in "=+-@":  # a spreadsheet would take it for a formula
            raise UserError("a person's name must not begin with = + - or @")
        if (
            alike := next(
                (person.name for person in self.people() if looks(person.name) == looks(name)), None
            )
        ) is not None:
            raise UserError(
                f"there is a person named {alike} already; give another name, or invite this one again"
            )
        with self.unit():
            count = self.row("SELECT COUNT(*) FROM people")
            person = Person(f"p{(count or (0,))[0] + 1}", name, role)
            sql = "INSERT INTO people (id, name, role, active, created_at) VALUES (?, ?, ?, 1, ?)"
            self.write(sql, (person.id, name, role, utc_now()))
            self.note("person added", by, content={"person": person.id, "name": name, "role": role})
        return person

    def set_role(self, person_id: str, role: Role, by: str | None = None) -> None:
        """An owner does not label: their open items are released."""
        with self.unit():
            self.write("UPDATE people SET role = ? WHERE id = ?", (role, person_id))
            self.note("role changed", by, content={"person": person_id, "role": role})
            if role == "owner":
                self.release(person_id, by)

    # items

    def items(self) -> list[str]:
        """The ids, in the order of the import."""
        return [row[0] for row in self.rows("SELECT id FROM items ORDER BY place")]

    def contents(self) -> list[dict[str, Any]]:
        """The items as they were imported, in their order."""
        rows = self.rows("SELECT id, content FROM items ORDER BY place")
        return [self.value(content, f"the item {id}") for id, content in rows]

    def put_items(
        self, items: Iterable[tuple[str, Mapping[str, Any]]], actor: str | None = None
    ) -> tuple[int, int]:
        """Adds items, and replaces changed ones that nobody has been given, or of which only the probability changed.
        Items that are not named stay. Returns how many were added and replaced. UserError, and nothing is changed,
        where a given item differs."""
        stored = {row[0]: row[1] for row in self.rows("SELECT id, content FROM items")}
        texts = {
            id: orjson.dumps(content, option=orjson.OPT_SORT_KEYS).decode() for id, content in items
        }
        new = [id for id in texts if id not in stored]
        changed = [id for id in texts if id in stored and stored[id] != texts[id]]
        given_ids = {row[0] for row in self.rows("SELECT DISTINCT item_id FROM assignments")}
        if late := [
            id
            for id in changed
            if id in given_ids and self._shown(stored[id]) != self._shown(texts[id])
        ]:
            raise UserError(
                f"{len(late)} items that raters have received have changed, such as {late[0]}. Labels would refer "
                "to other texts. Give the changed items new ids, or start a new study"
            )
        imported_at = utc_now()
        place = len(stored)
        with self.unit():
            self.write_many(
                "UPDATE items SET content = ? WHERE id = ?", [(texts[id], id) for id in changed]
            )
            rows = [(id, place + i, texts[id], imported_at) for i, id in enumerate(new)]
            self.write_many(
                "INSERT INTO items (id, place, content, imported_at) VALUES (?, ?, ?, ?)", rows
            )
            self.note(
                "items imported", actor, content={"added": len(new), "replaced": len(changed)}
            )
        return len(new), len(changed)

    def _shown(self, content: str) -> dict[str, Any]:
        """An item without the probability that another draw changes."""
        item: dict[str, Any] = self.value(content, "an item")
        item.pop("probability", None)
        return item

    # assignments

    def assignments(
        self, item: str | None = None, person: str | None = None, *, labels: bool = False
    ) -> list[Assignment]:
        """Of an item, of a person, or all, in the order in which they were given. labels: without those to decide."""
        condition, values = _where(item, person)
        rows = self.rows(
            f"SELECT {_ASSIGNMENT} FROM assignments{condition} ORDER BY given_at, position", values
        )
        assignments = (Assignment(row[0], row[1], bool(row[2]), *row[3:]) for row in rows)
        return [
            assignment
            for assignment in assignments
            if not labels or assignment.kind != "adjudication"
        ]

    def assignment(self, item: str, person: str) -> Assignment | None:
        return next(iter(self.assignments(item, person)), None)

    def assign(self, new: Assignment) -> None:
        """Gives an item to a person; an assignment that is there stays as it is."""
        with self.unit():
            sql = f"INSERT INTO assignments ({_ASSIGNMENT}) VALUES (?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING"
            values = (
                new.item_id,
                new.person_id,
                int(new.swapped),
                new.status,
                new.reason,
                new.given_at,
            )
            if self.write(sql, (*values, new.done_at, new.position, new.kind)):
                details = {"position": new.position, "swapped": new.swapped, "kind": new.kind}
                self.note("given", new.person_id, new.item_id, details)

    def set_status(
        self, item: str, person: str, status: Status, by: str | None, reason: str | None = None
    ) -> None:
        """done_at stays that of the first submission."""
        first = utc_now() if status == "done" else None
        with self.unit():
            sql = "UPDATE assignments SET status = ?, reason = ?, done_at = COALESCE(done_at, ?)"
            self.write(
                f"{sql} WHERE item_id = ? AND person_id = ?", (status, reason, first, item, person)
            )
            self.note(status, by, item, {"of": person, **({"reason": reason} if reason else {})})

    def release(self, person: str, actor: str | None) -> int:
        """Gives the open items of a person to others; what they entered is kept. Returns how many."""
        open_ = [
            assignment
            for assignment in self.assignments(person=person)
            if assignment.status == "open" and assignment.kind == "normal"
        ]
        for one in open_:
            self.set_status(one.item_id, person, "released", actor)
        return len(open_)

    def give_again(self, items: Iterable[str], person: str, by: str | None) -> None:
        """Gives items to a person anew, without what they entered before, which stays in the events."""
        with self.unit():
            for item in items:
                self.write(
                    "DELETE FROM answers WHERE item_id = ? AND person_id = ?", (item, person)
                )
                self.set_status(item, person, "open", by)
                sql = "UPDATE assignments SET given_at = ?, done_at = NULL WHERE item_id = ? AND person_id = ?"
                self.write(sql, (utc_now(), item, person))
            self.note("another attempt", by, content={"person": person})
        self.forget()

    def withdraw(self, person: str, actor: str | None) -> None:
        """The labels and decisions of a person no longer count; they stay in the events."""
        with self.unit():
            decided = [
                adjudication.item_id
                for adjudication in self.adjudications()
                if adjudication.person_id == person
            ]
            self.write("DELETE FROM adjudications WHERE person_id = ?", (person,))
            for assignment in self.assignments(person=person):
                if assignment.status != "withdrawn":
                    self.set_status(assignment.item_id, person, "withdrawn", actor)
            for item in decided:  # of an earlier decision, which this person's replaced
                for assignment_of_item in self.assignments(item=item):
                    if (
                        assignment_of_item.kind == "adjudication"
                        and assignment_of_item.status == "done"
                    ):
                        self.set_status(item, assignment_of_item.person_id, "open", actor)
            self.note("labels withdrawn", actor, content={"person": person})

    # answers

    def answers(self, item: str | None = None, person: str | None = None) -> list[SavedValues]:
        """Of an item, of a person, or all; ordered by item and person."""
        condition, values = _where(item, person)
        sql = f"SELECT {_ANSWER} FROM answers{condition} ORDER BY item_id, person_id"
        rows = self.rows(sql, values)
        return [
            SavedValues(
                r[0],
                r[1],
                self.value(r[2], f"the answer of {r[1]} to {r[0]}"),
                r[3],
                r[4],
                bool(r[5]),
                bool(r[6]),
            )
            for r in rows
        ]

    def answer(self, item: str, person: str) -> SavedValues | None:
        return next(iter(self.answers(item, person)), None)

    def page_of(self, item: str, person: str) -> Page | None:
        """The page view that saved the current answer last."""
        sql = "SELECT page, page_count FROM answers WHERE item_id = ? AND person_id = ?"
        row = self.row(sql, (item, person))
        return None if row is None else Page(row[0], row[1])

    def save(
        self,
        item: str,
        person: str,
        values: Mapping[str, Any],
        page: Page,
        *,
        complete: bool,
        suggestions_shown: bool = False,
    ) -> SavedValues:
        """Makes these the current values; those before stay in the events."""
        content = orjson.dumps(values).decode()
        saved_at = utc_now()
        sql = (
            f"INSERT INTO answers ({_ANSWER}, page, page_count) VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?) "
            "ON CONFLICT (item_id, person_id) DO UPDATE SET content = excluded.content, version = answers.version + 1, "
            "saved_at = excluded.saved_at, complete = excluded.complete, page = excluded.page, "
            "suggestions_shown = CASE WHEN answers.suggestions_shown = 1 THEN 1 ELSE excluded.suggestions_shown END, "
            "page_count = excluded.page_count RETURNING version, suggestions_shown"
        )
        row = (
            item,
            person,
            content,
            saved_at,
            int(complete),
            int(suggestions_shown),
            page.id,
            page.count,
        )
        with self.unit():
            stored_row = self.row(sql, row)
            assert stored_row is not None
            kind = "submitted" if page.submitted else "draft"
            self.note(
                kind,
                person,
                item,
                {"version": stored_row[0], "complete": complete, "values": values},
            )
        return SavedValues(
            item, person, dict(values), stored_row[0], saved_at, complete, bool(stored_row[1])
        )

    def history(self, item: str, person: str) -> list[dict[str, Any]]:
        """The values before the current ones, since the item was given, oldest first; what was undone is left out."""
        sql = (
            "SELECT e.kind, content FROM events e JOIN assignments a USING (item_id, person_id) WHERE item_id = ? AND "
            "person_id = ? AND e.kind IN ('draft', 'submitted', 'undone') AND at >= given_at ORDER BY number"
        )
        past: list[dict[str, Any]] = [{}]
        for kind, content in self.rows(sql, (item, person)):
            if kind == "undone":
                past = past[:-2]  # the next draft is the value before, saved again
            else:
                past.append(
                    self.value(content, f"an event of {person} and {item}").get("values", {})
                )
        return past[:-1]

    def adjudications(self, item: str | None = None) -> list[Adjudication]:
        condition, values = _where(item, None)
        sql = f"SELECT item_id, person_id, content, justification, decided_at FROM adjudications{condition}"
        return [
            Adjudication(r[0], r[1], self.value(r[2], f"the decision on {r[0]}"), r[3], r[4])
            for r in self.rows(sql, values)
        ]

    def adjudicate(
        self, item: str, person: str, values: Mapping[str, Any], justification: str
    ) -> None:
        """The decision on an item; another decision replaces it, and both are in the events."""
        sql = (
            "INSERT INTO adjudications (item_id, person_id, content, justification, decided_at) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (item_id) DO UPDATE SET person_id = excluded.person_id, content = excluded.content, "
            "justification = excluded.justification, decided_at = excluded.decided_at"
        )
        with self.unit():
            self.write(sql, (item, person, orjson.dumps(values).decode(), justification, utc_now()))
            self.note(
                "adjudicated", person, item, {"values": values, "justification": justification}
            )

    # visits, posts, events

    def visits(self, item: str | None = None, person: str | None = None) -> list[Visit]:
        condition, values = _where(item, person)
        sql = f"SELECT item_id, person_id, seconds, started_at FROM visits{condition} ORDER BY started_at"
        return [Visit(*row) for row in self.rows(sql, values)]

    def visit(self, id: str, seen: Visit) -> None:
        """id: of the page view; what it reports again counts once, with the most seconds."""
        sql = (
            "INSERT INTO visits (id, item_id, person_id, seconds, started_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT "
            "(person_id, id) DO UPDATE SET seconds = CASE WHEN excluded.seconds > visits.seconds THEN excluded.seconds "
            "ELSE visits.seconds END WHERE visits.item_id = excluded.item_id"
        )
        with self.unit():
            self.write(sql, (id, seen.item_id, seen.person_id, seen.seconds, seen.started_at))

    def posted(self, person: str, once: str) -> str | None:
        """Where an earlier post with this key led, None if there was none."""
        row = self.row(
            "SELECT location FROM posts WHERE person_id = ? AND once = ?", (person, once)
        )
        return None if row is None else str(row[0])

    def post(self, person: str, once: str, location: str) -> None:
        sql = "INSERT INTO posts (person_id, once, location, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
        self.write(sql, (person, once, location, utc_now()))

    def events(self, *kinds: str) -> list[Event]:
        """All, or those of some kinds."""
        condition = f" WHERE kind IN ({', '.join('?' * len(kinds))})" if kinds else ""
        sql = f"SELECT number, at, person_id, kind, item_id, content FROM events{condition} ORDER BY number"
        return [
            Event(r[0], r[1], r[2], r[3], r[4], self.value(r[5], f"the event {r[0]}"))
            for r in self.rows(sql, kinds)
        ]

    def note(
        self,
        kind: str,
        by: str | None,
        item: str | None = None,
        content: Mapping[str, Any] | None = None,
    ) -> None:
        sql = (
            "INSERT INTO events (number, at, person_id, kind, item_id, content) "
            "SELECT COALESCE(MAX(number), 0) + 1, ?, ?, ?, ?, ? FROM events"
        )
        with self.unit():
            self.write(sql, (utc_now(), by, kind, item, orjson.dumps(content or {}).decode()))


_KEPT = {"exports": {"folder", "files", "names"}, "backups": {"file"}}
_PEOPLE = "SELECT id, name, role, active FROM people"
_ASSIGNMENT = "item_id, person_id, swapped, status, reason, given_at, done_at, position, kind"
_ANSWER = "item_id, person_id, content, version, saved_at, complete, suggestions_shown"


def _person(row: tuple[Any, ...]) -> Person:
    return Person(row[0], row[1], cast(Role, row[2]), bool(row[3]))


def _where(item: str | None, person: str | None) -> tuple[str, tuple[str, ...]]:
    columns = [
        (name, value)
        for name, value in (("item_id", item), ("person_id", person))
        if value is not None
    ]
    clause = " AND ".join(f"{name} = ?" for name, _ in columns)
    return (f" WHERE {clause}" if clause else ""), tuple(value for _, value in columns)
