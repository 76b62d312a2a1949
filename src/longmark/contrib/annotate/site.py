"""One study that is served: its file, its database, and what is kept in memory of both.

STUDY.yaml and what it names are read at the import. Then the study stands in STUDY.sqlite, beside the file, and does
not depend on files that move.
"""

from __future__ import annotations

import asyncio
import secrets
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson
from filelock import FileLock, Timeout
from pydantic import TypeAdapter, ValidationError

from longmark.contrib.annotate.assign import Queue, away
from longmark.contrib.annotate.assignment_state import AssignmentState
from longmark.contrib.annotate.auth import Access, Attempts
from longmark.contrib.annotate.checks import load
from longmark.contrib.annotate.database import checked, utc_now
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.items import read_items
from longmark.contrib.annotate.progress import Progress
from longmark.contrib.annotate.store import Person, StudyStore
from longmark.contrib.annotate.study import Study
from longmark.errors import UserError
from longmark.records import sources
from longmark.records.files import BadLines
from longmark.records.values import Problem, found, name
from longmark.report.web.address import Address
from longmark.writing import check_database, check_ours, move, remove, replacing

PORT = 8765


def database_of(path: Path) -> Path:
    """STUDY.yaml -> STUDY.sqlite"""
    return path.with_suffix(".sqlite")


@dataclass(frozen=True, slots=True)
class Imported:
    study: Study
    added: int
    replaced: int
    unnamed: int  # of an earlier import, not in the files any more; they stay


def import_study(path: Path, actor: str | None = None) -> Imported:
    """Reads STUDY.yaml and its items into the database, which is made where there is none. Again: adds new items.

    UserError, and nothing is changed, where labels exist that the changed study or items would no longer fit.
    """
    study = load(path)
    items = read_items(study, path.parent)
    if unfit := next((item.id for item in items if item.id in (".", "..")), None):
        raise UserError(
            f"an item has the id {unfit}, which a URL cannot contain; give it another id"
        )
    database = database_of(path)
    existed = database.exists()
    store = StudyStore(database, create=True)
    try:
        with store.committing():
            _still_fits(store, study)
            stored_items(store)  # what is damaged is not replaced unseen
            contents = _with_stored_ids(
                store.contents(), [orjson.loads(item.to_json()) for item in items]
            )
            added, replaced = store.put_items(
                [(content_of_item["id"], content_of_item) for content_of_item in contents], actor
            )
            store.set_setting("study", study.model_dump_json(by_alias=True))
            if store.setting("id") is None:
                store.set_setting("id", secrets.token_hex(4))
            store.note("study imported", actor, content={"hash": study.hash, "file": path.name})
        unnamed = len(store.items()) - len(contents)
    except BaseException:
        store.close()
        if not existed:
            remove(database)
        raise
    store.close()
    return Imported(study, added, replaced, unnamed)


def _with_stored_ids(
    stored: Sequence[dict[str, Any]], items: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The items, each under the id that it was stored with: an item gets another one when a second system shares its
    id, and would be labelled twice."""

    def content(item_content: dict[str, Any]) -> bytes:
        return orjson.dumps(
            {**item_content, "id": "", "probability": None}, option=orjson.OPT_SORT_KEYS
        )

    new_ids = {item["id"] for item in items}
    before = {
        content(content_of_item): content_of_item["id"]
        for content_of_item in stored
        if content_of_item["id"] not in new_ids
    }
    return [{**item, "id": before.get(content(item), item["id"])} for item in items]


def _still_fits(store: StudyStore, study: Study) -> None:
    if (stored := stored_study(store)) is None or store.row(
        "SELECT 1 FROM answers LIMIT 1"
    ) is None:
        return
    types = {field.name: field.type for field in study.asked}
    if lost := [field.name for field in stored.asked if types.get(field.name) != field.type]:
        raise UserError(
            f"people have labelled with the fields {', '.join(lost)}, which the study no longer has in this form. "
            "Keep their names and types, or start a new study in another folder"
        )


def stored_study(store: StudyStore) -> Study | None:
    """The study as it was imported; None where nothing was. UserError where it is damaged."""
    if (text := store.setting("study")) is None:
        return None
    try:
        return Study.model_validate_json(text)
    except ValidationError:
        raise store.damaged("the study") from None


def stored_items(store: StudyStore) -> list[StudyItem]:
    """The items as they were imported, in their order. UserError where one is damaged."""
    items = []
    for content in store.contents():
        try:
            items.append(_ITEM.validate_python(content))
        except ValidationError:
            raise store.damaged(f"the item {content.get('id')}") from None
    return items


_ITEM = TypeAdapter(StudyItem)


def open_store(path: Path) -> StudyStore:
    """The database of STUDY.yaml. UserError where nothing was imported yet."""
    store = StudyStore(database_of(path))
    if store.setting("study") is None:
        raise UserError(f"{store.path} contains no study yet; run: longmark annotate import {path}")
    return store


def lock_of(database: Path) -> FileLock:
    """Held by the process that serves a database, or replaces it."""
    lock = Path(f"{database}.lock")
    check_ours(lock)
    return FileLock(lock, timeout=0)


def restored(path: Path, backup: Path, *, replace: bool) -> Path | None:
    """Puts a backup in the place of the database of STUDY.yaml. Returns the name under which the one before is kept.
    UserError where one is there and is not to be replaced, is of another study, or is served."""
    database = database_of(path)
    id = checked(backup)
    try:
        with lock_of(database):
            check_database(database)
            old_database = _put_aside(database, id, replace) if database.exists() else None
            with open(backup, "rb") as source, replacing(database, private=True) as target:
                shutil.copyfileobj(source, target)
            return old_database
    except Timeout:
        raise UserError(f"{database} is served by another process; stop it first") from None


def _put_aside(database: Path, id: str, replace: bool) -> Path:
    if not replace:
        raise UserError(
            f"{database} already exists; --replace keeps it under another name and restores the backup"
        )
    with closing(StudyStore(database)) as store:
        if store.setting("id") != id:
            raise UserError(
                f"{database} belongs to another study; restore the backup beside its own YAML file"
            )
    aside = database.with_name(f"{database.name}.{utc_now().replace(':', '')}")
    move(database, aside)
    for suffix in ("-wal", "-shm"):
        remove(database.with_name(database.name + suffix))
    return aside


@dataclass
class Site:
    """What the handlers of requests work with."""

    store: StudyStore
    folder: Path
    address: Address
    attempts: Attempts = field(default_factory=Attempts)

    def __post_init__(self) -> None:
        self.access = Access(self.store)
        self.heavy = asyncio.Semaphore(1)  # one table or export at a time
        self.reading: Counter[str] = Counter()  # person -> bytes of bodies that are arriving
        self.progress: tuple[Any, Progress, list[str]] | None = (
            None  # and files, after the event with this number
        )
        self._epoch = -1
        self._priorities: tuple[float, Mapping[str, float]] = (0.0, {})
        self.load()

    @cached_property
    def cookie(self) -> str:
        """The name of its cookie: studies on one host do not disturb each other."""
        name = f"longmark-{self.store.setting('id')}"
        return f"__Host-{name}" if self.address.secure else name

    def load(self) -> None:
        study = stored_study(self.store)
        assert study is not None
        self.study = study
        self.items = {item.id: item for item in stored_items(self.store)}
        self.queue = Queue(study, list(self.items.values()))
        self._imported = self._imports()
        self._state: AssignmentState | None = None

    def refresh(self) -> None:
        """Notices what another process wrote: an invitation, or an import."""
        self.store.refresh()
        if self._epoch != self.store.epoch:
            self._epoch = self.store.epoch
            self._state = None
            if self._imports() != self._imported:
                self.load()

    def _imports(self) -> tuple[Any, ...] | None:
        return self.store.row(
            "SELECT COUNT(*), MAX(number) FROM events WHERE kind = 'study imported'"
        )

    @property
    def state(self) -> AssignmentState:
        """Who has what; kept up to date by `noted`."""
        if self._state is None:
            gold_ids = [item.id for item in self.items.values() if item.gold]
            answers = [answer for id in gold_ids for answer in self.store.answers(id)]
            self._state = AssignmentState.of(self.items, self.store.assignments(), answers)
            self._state.away = away(self.store.people())
        self._state.priorities = self._read_priorities()
        return self._state

    def forget(self) -> None:
        """Many assignments were changed: they are read again."""
        self._state = None

    def noted(self, item_id: str, person_id: str) -> None:
        """An assignment was made or changed."""
        assignment = self.store.assignment(item_id, person_id)
        if self._state is not None and assignment is not None:
            self._state.put(assignment)

    def _read_priorities(self) -> Mapping[str, float]:
        """Those of the file, read again when it changes; the last good ones where it cannot be read."""
        priorities_file = self.study.assignment.priorities
        if priorities_file is None:
            return {}
        path = self.folder / priorities_file
        before, last_priorities = self._priorities
        try:
            if (changed := path.stat().st_mtime) != before:
                self._priorities = (changed, last_priorities)
                self._priorities = (changed, read_priorities(path, self.items.values()))
        except FileNotFoundError:
            pass  # it may be written later
        except (OSError, UserError) as error:
            print(f"longmark: the priorities stay as they were: {error}", file=sys.stderr)
        return self._priorities[1]


def another_attempt(store: StudyStore, person: Person, actor: str | None = None) -> int:
    """Gives a person the last attempt's items of the training or qualification again. Returns how many. UserError for
    anybody who has not failed it."""
    study = stored_study(store)
    items_by_id = {item.id: item for item in stored_items(store)}
    assert study is not None
    state = AssignmentState.of(items_by_id, store.assignments(), store.answers())
    if not (items := Queue(study, list(items_by_id.values())).failed(state, person.id)):
        raise UserError(f"{person.name} has not failed the training or the qualification")
    store.give_again([item.id for item in items], person.id, actor)
    return len(items)


def read_priorities(path: Path, items: Iterable[StudyItem]) -> dict[str, float]:
    """Item -> priority (the highest comes first), from JSON Lines with `item` and `priority`. Unknown items are left
    out: the file may be of a larger pool. UserError with the line for anything else."""
    item_ids = {item.id for item in items}
    priorities: dict[str, float] = {}
    wrong = BadLines()
    for line, record in sources.records(path, sources.kind_of(path)):
        fields = record if isinstance(record, Mapping) else {}
        try:
            item_id = name("item", fields.get("item", ""))
            value = fields.get("priority")
            if isinstance(value, str):  # a cell of a CSV file
                value = float(value)
            if (
                item_id is None
                or isinstance(value, bool)
                or not isinstance(value, int | float)
                or value != value
            ):
                raise Problem(f"expected an item and its priority, a number; found {found(record)}")
            if item_id in item_ids:
                priorities[item_id] = float(value)
        except (Problem, ValueError) as problem:
            wrong.add(f"{path}:{line}: {problem}")
    wrong.check()
    return priorities
