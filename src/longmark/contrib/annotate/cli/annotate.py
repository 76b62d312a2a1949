"""The verb `longmark annotate`: people label. The study, the server, and who may come in."""

from __future__ import annotations

import argparse
import getpass
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from shlex import quote

from longmark.cli.arguments import split
from longmark.contrib.annotate import qr
from longmark.contrib.annotate.auth import Access
from longmark.contrib.annotate.checks import load
from longmark.contrib.annotate.database import check_whole
from longmark.contrib.annotate.erase import erase as erased
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.items import KNOWN, warnings
from longmark.contrib.annotate.server import serve as serving
from longmark.contrib.annotate.site import (
    Site,
    another_attempt,
    database_of,
    import_study,
    open_store,
    restored,
    stored_items,
    stored_study,
)
from longmark.contrib.annotate.store import Person, StudyStore
from longmark.errors import UnknownName, UserError
from longmark.places import real
from longmark.progress import counted
from longmark.report.tables import Column, Table, as_text
from longmark.report.web.address import address_of
from longmark.writing import replacing

_OWNER = "Owner"


def annotate(_arguments: argparse.Namespace) -> int:
    raise UserError("no action is given; longmark annotate --help lists the actions")


def by_kind(items: Iterable[StudyItem]) -> str:
    """How many items people are to label, and how many have a known answer: `40 items, 3 training items`."""
    counts = Counter(item.kind for item in items)
    known_counts = [counted(counts[kind], f"{kind} item") for kind in KNOWN if counts[kind]]
    return ", ".join([counted(counts["normal"], "item"), *known_counts])


def import_(arguments: argparse.Namespace) -> int:
    imported = import_study(arguments.study)
    path = database_of(arguments.study)
    if imported.unnamed:
        print(
            f"Note: the study keeps {counted(imported.unnamed, 'item')} of an earlier import that its files no longer "
            "contain. To leave them out, start a new study."
            + (
                " An item without an `id` that was edited is a new item: give items ids."
                if imported.added
                else ""
            ),
            file=sys.stderr,
        )
    with closing(open_store(arguments.study)) as store:
        items = stored_items(store)
    print(
        f"{path}: {counted(imported.added, 'item')} added, {imported.replaced} replaced; in total {by_kind(items)}."
    )
    for line in warnings(imported.study, items):
        print(f"Warning: {line}", file=sys.stderr)
    return 0


def serve(arguments: argparse.Namespace) -> int:
    address = address_of(
        arguments.host, arguments.port, arguments.behind_tls, split(arguments.proxy)
    )
    if arguments.behind_tls and not address.proxies:
        print(
            "Note: without --proxy, failed sign-ins of all visitors count together: ten in a minute block sign-ins.",
            file=sys.stderr,
        )
    if not database_of(arguments.study).exists():
        import_(arguments)
    with closing(open_store(arguments.study)) as store:
        stored = stored_study(store)
        if (
            arguments.study.exists()
            and stored is not None
            and load(arguments.study).hash != stored.hash
        ):
            print(
                f"Note: {arguments.study} has changed since the import. The imported version is served. To use "
                f"the new version, run: longmark annotate import {arguments.study}",
                file=sys.stderr,
            )

    def ready(
        site: Site,
    ) -> None:  # the link is shown once: it is made when the server is known to work
        with site.store.committing():
            site.store.set_setting("url", address.url)
            link = _first_owner(site.store, address.url)
        print(
            f"{site.study.title}: {address.url} ({by_kind(site.items.values())}). Ctrl-C ends the server."
        )
        if link and sys.stdout.isatty():
            print(f"The owner's link, shown only now: {link}")
        elif link:  # not into a log
            file = arguments.study.with_suffix(".owner-link")
            with replacing(file, private=True) as out:
                out.write(f"{link}\n".encode())
            print(
                f"The owner's link is in {file}, which only you can read. Delete it after you have signed in."
            )
        sys.stdout.flush()

    serving(arguments.study, arguments.host, arguments.port, address, ready)
    return 0


def _first_owner(store: StudyStore, url: str) -> str | None:
    if any(person.role == "owner" for person in store.people()):
        return None
    return f"{url}/in/{Access(store).invite(store.add_person(_OWNER, 'owner'))}"


def invite(arguments: argparse.Namespace) -> int:
    with closing(open_store(arguments.study)) as store:
        access = Access(store)
        person = {person.name: person for person in store.people()}.get(arguments.name)
        if person is not None and arguments.role not in (None, person.role):
            raise UserError(
                f"{person.name} is {person.role}; omit --role, or change it on the owner's page People"
            )
        password = _password() if arguments.password else None
        with store.committing():
            person = person or store.add_person(arguments.name, arguments.role or "annotator")
            if password is not None:
                access.set_password(person, password)
            token = access.invite(person, days=arguments.days)
        url = (arguments.url or store.setting("url") or "http://127.0.0.1:8765").rstrip("/")
    print(f"The link of {person.name} ({person.role}), shown only now:")
    link = f"{url}/in/{token}"
    print(link)
    if sys.stdout.isatty():  # for a phone beside the screen, not for a log
        print(qr.as_text(link), end="")
    return 0


def _password() -> str:
    """Typed twice in a terminal; else the first line of standard input."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    first = getpass.getpass("Password: ")
    if getpass.getpass("Again: ") != first:
        raise UserError("the passwords differ; nothing was changed")
    return first


def _named(store: StudyStore, name: str) -> Person:
    people = {person.name: person for person in store.people()}
    if name not in people:
        raise UnknownName("person", name, people)
    return people[name]


def retry(arguments: argparse.Namespace) -> int:
    with closing(open_store(arguments.study)) as store, store.committing():
        count = another_attempt(store, _named(store, arguments.name))
    print(f"{arguments.name} gets {counted(count, 'item')} of the last attempt again.")
    return 0


def revoke(arguments: argparse.Namespace) -> int:
    with closing(open_store(arguments.study)) as store, store.committing():
        Access(store).revoke(_named(store, arguments.name).id)
    print(f"{arguments.name} can no longer sign in. Their labels are kept.")
    return 0


def erase(arguments: argparse.Namespace) -> int:
    erasure = erased(arguments.study, arguments.name, arguments.exports or ())
    erased_counts = (
        f"{counted(erasure.labels, 'label set')} and {counted(erasure.decisions, 'decision')}"
    )
    print(
        f"{erasure.person.id} is erased from {database_of(arguments.study)}: name, comments, {erased_counts}."
    )
    for folder in erasure.rewritten:
        print(f"{folder}: written again")
    for folder in erasure.outside:
        command = (
            f"longmark annotate erase {quote(str(arguments.study))} {erasure.person.id} "
            f"--exports {quote(str(folder))}"
        )
        print(
            f"Not reached: an export to {folder}, outside the folder of the study. To write it again: {command}"
        )
    for folder in erasure.gone:
        print(f"Not reached: an export to {folder}, which is no longer there")
    for path in erasure.backups:
        print(
            f"Not reached: {path}, a copy of the database. Delete it, or erase {erasure.person.id} again when restored"
        )
    if erasure.downloads:
        print(
            f"Not reached: {counted(erasure.downloads, 'file')} that an owner downloaded from the page"
        )
    for table, id in erasure.texts:
        print(
            f"Not reached: the name stands in a text of another person or of the study ({table}, item {id})"
        )
    return 0


def status(arguments: argparse.Namespace) -> int:
    with closing(open_store(arguments.study)) as store:
        study = stored_study(store)
        assert study is not None
        assignments = [
            assignment for assignment in store.assignments() if assignment.kind == "normal"
        ]
        people = store.people()
        links = Access(store).links()
        items = sum(item.kind == "normal" for item in stored_items(store))
        state = "paused" if store.paused else "open"
    counts = Counter((assignment.person_id, assignment.status) for assignment in assignments)
    n_done = sum(assignment.status == "done" for assignment in assignments)
    raters_per_item = counted(study.assignment.overlap, "person", "people")
    print(
        f"{study.title} ({state}): {counted(items, 'item')}, {raters_per_item} each; {n_done} submitted.\n"
    )
    columns = (
        Column("person", lambda row: row.name),
        Column("id", lambda row: row.id),
        Column("role", lambda row: row.role),
        *(
            Column(name, lambda row, name=name: counts[row.id, name])  # type: ignore[misc]
            for name in ("done", "open", "skipped")
        ),
        Column("links", lambda row: links.get(row.id, 0)),
    )
    print(as_text(Table("people", "People", columns, people)), end="")
    return 0


def backup(arguments: argparse.Namespace) -> int:
    with closing(open_store(arguments.study)) as store:
        check_whole(store.path)
        with store.committing():
            store.keep("backups", {"file": str(real(arguments.out))})
        store.backup(arguments.out)
    print(f"{arguments.out} holds all people and labels of {arguments.study}. Keep it private.")
    return 0


def restore(arguments: argparse.Namespace) -> int:
    old_database = restored(arguments.study, arguments.backup, replace=arguments.replace)
    print(
        f"{arguments.study} is restored."
        + (f" The previous database is {old_database}." if old_database else "")
    )
    return 0
