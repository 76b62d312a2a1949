"""Removes what a study knows of a person: from the database with its audit log, and from the exports that it wrote.

What stays is the person's id, such as p3, with the items and times of what they did. Files that were copied elsewhere
cannot be reached: backups are named.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from filelock import Timeout

from longmark.contrib.annotate.database import checked
from longmark.contrib.annotate.export import FILES, export
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.site import (
    database_of,
    lock_of,
    open_store,
    stored_items,
    stored_study,
)
from longmark.contrib.annotate.store import Person, StudyStore
from longmark.contrib.annotate.study import Study
from longmark.errors import UnknownName, UserError
from longmark.places import real
from longmark.records.files import opened

_SQLITE = (
    b"SQLite format 3\0"  # the first bytes of every database (sqlite.org/fileformat.html, 1.3)
)
_SHORTEST = 3  # characters of a name that is looked for in the texts of others


@dataclass(slots=True)
class Erased:
    """labels, decisions: how many there were; rewritten: folders of exports; outside: those in other folders than the
    study's, which were not named; gone: those that are not there any more; backups: copies of the database, which still
    hold everything; downloads: of exports, from the owner's page; texts: of other people that contain the name, as
    (table, id)."""

    person: Person
    labels: int = 0
    decisions: int = 0
    rewritten: list[Path] = field(default_factory=list)
    outside: list[Path] = field(default_factory=list)
    gone: list[Path] = field(default_factory=list)
    backups: list[Path] = field(default_factory=list)
    downloads: int = 0
    texts: list[tuple[str, str]] = field(default_factory=list)


def erase(path: Path, name: str, exports: Collection[Path] = ()) -> Erased:
    """Erases a person of STUDY.yaml, by name or id. exports: folders outside the study's own in which its exports may
    be written again: the database says where they are, and it can come from someone else. UserError while the study is
    served, for the only owner, and for a folder to which nothing was exported."""
    try:
        with lock_of(database_of(path)), closing(open_store(path)) as store:
            export_folders = {
                Path(export_record["folder"]) for export_record in store.kept("exports")
            }
            if unknown := next(
                (export for export in exports if real(export) not in export_folders), None
            ):
                raise UserError(f"--exports {unknown}: the study was not exported to this folder")
            return _erase(
                path, store, name, {real(path.parent), *(real(export) for export in exports)}
            )
    except Timeout:
        raise UserError(
            f"{database_of(path)} is served by another process; stop it first"
        ) from None


def _erase(path: Path, store: StudyStore, name: str, allowed: Collection[Path]) -> Erased:
    people = {key: person for person in store.people() for key in (person.id, person.name)}
    if (person := people.get(name)) is None:
        raise UnknownName("person", name, [person.name for person in store.people()])
    if [person.id for person in store.people() if person.role == "owner" and person.active] == [
        person.id
    ]:
        raise UserError(f"{person.name} is the only owner of the study; invite another owner first")
    study = stored_study(store)
    items = stored_items(store)  # a damaged one stops it before anything is erased
    assert study is not None
    exported = store.kept("exports")
    erased = Erased(person)
    person_row = (person.id,)
    erased.labels = len(store.answers(person=person.id))
    erased.decisions = sum(
        adjudication.person_id == person.id for adjudication in store.adjudications()
    )
    with store.committing():
        store.withdraw(person.id, None)
        for table in ("sessions", "answers", "visits", "posts"):
            store.write(f"DELETE FROM {table} WHERE person_id = ?", person_row)
        revoked_time = "COALESCE(revoked_at, created_at)"
        store.write(
            f"UPDATE invitations SET revoked_at = {revoked_time} WHERE person_id = ?", person_row
        )
        store.write("UPDATE assignments SET reason = NULL WHERE person_id = ?", person_row)
        sql = "UPDATE people SET name = ?, password = NULL, active = 0 WHERE id = ?"
        store.write(sql, (f"erased {person.id}", person.id))
        store.write("UPDATE events SET content = '{}' WHERE person_id = ?", person_row)
        for number, content in store.rows(
            "SELECT number, content FROM events WHERE kind = 'person added'"
        ):
            if (content_of_event := store.value(content, f"the event {number}")).get(
                "person"
            ) == person.id:
                content_of_event.pop("name", None)
                store.write(
                    "UPDATE events SET content = ? WHERE number = ?",
                    (orjson.dumps(content_of_event).decode(), number),
                )
        store.note("erased", None, content={"person": person.id})
    store.compact()
    erased.downloads = sum(
        event.kind == "exported" and "file" in event.content for event in store.events()
    )
    for export_record in exported:
        _write_again(study, items, store, export_record, erased, allowed)
    erased.backups = _backups(path, store)
    erased.texts = _mentions(store, person.name)
    return erased


def _write_again(
    study: Study,
    items: list[StudyItem],
    store: StudyStore,
    exported: Mapping[str, Any],
    erased: Erased,
    allowed: Collection[Path],
) -> None:
    """Writes an export again that is in the allowed folders."""
    folder = Path(exported["folder"])
    files = [name for name in FILES if name in exported["files"]]
    files = [name for name in files if (folder / name).exists()]
    if not files:
        erased.gone.append(folder)
    elif not any(real(folder).is_relative_to(place) for place in allowed):
        erased.outside.append(folder)
    else:
        export(study, items, store, folder, files, names=exported["names"])
        erased.rewritten.append(folder)


def _backups(path: Path, store: StudyStore) -> list[Path]:
    """Copies of the database: those that `backup` wrote and that are still there, and those in the study's folder."""
    original = real(database_of(path))
    copies = {
        real(copy)
        for copy in (
            *(Path(backup["file"]) for backup in store.kept("backups")),
            *original.parent.iterdir(),
        )
    }
    return [copy for copy in sorted(copies - {original}) if _study_of(copy) == store.setting("id")]


def _study_of(path: Path) -> str | None:
    """The id of the study whose database a file is, whatever its name; None for any other file."""
    try:
        with opened(path) as file:
            return checked(path) if file.read(len(_SQLITE)) == _SQLITE else None
    except (OSError, UserError):
        return None


def _mentions(store: StudyStore, name: str) -> list[tuple[str, str]]:
    """Where the name stands in a text of another person, or of the study."""
    if len(name) < _SHORTEST:
        return []
    pattern = f"%{name.replace('!', '!!').replace('%', '!%').replace('_', '!_')}%"
    tables = {
        "answers": "item_id",
        "adjudications": "item_id",
        "items": "id",
        "assignments": "item_id",
    }
    texts = {"assignments": "reason"}
    return [
        (table, row[0])
        for table, id in tables.items()
        for row in store.rows(
            f"SELECT {id} FROM {table} WHERE {texts.get(table, 'content')} LIKE ? ESCAPE '!'",
            (pattern,),
        )
    ]
