"""What the owner sees and does: progress, items with their labels, people and their links, exports, pause, withdrawal.

Labels of an item are shown once it is done, or once the study is paused: an owner who looks early is not blind either.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any, TypeVar
from urllib.parse import quote

from aiohttp import web
from markupsafe import Markup

from longmark.contrib.annotate import qr, screens
from longmark.contrib.annotate.assign import PHASES, part_of
from longmark.contrib.annotate.export import FILES, available, export
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.labels import collect
from longmark.contrib.annotate.language import sayer
from longmark.contrib.annotate.progress import progress as current
from longmark.contrib.annotate.progress import speed_outliers
from longmark.contrib.annotate.routes_work import suggestions, title_of
from longmark.contrib.annotate.site import another_attempt
from longmark.contrib.annotate.store import ROLES, Assignment, Person, Role, Status, StudyStore
from longmark.contrib.annotate.study import Study
from longmark.contrib.annotate.values import form_of
from longmark.contrib.annotate.web import NOT_FOUND, Refused, RequestContext
from longmark.errors import UserError

_ON_A_PAGE = 100
_TYPES = {".jsonl": "application/jsonl", ".csv": "text/csv", ".md": "text/markdown"}
T = TypeVar("T")


async def _apart(c: RequestContext, work: Callable[[Study, list[StudyItem], StudyStore], T]) -> T:
    """Work that takes seconds, in a thread with a connection of its own, while people go on."""
    study = c.site.study
    items = list(c.site.items.values())

    def run() -> T:
        with closing(StudyStore(c.site.store.path)) as store:
            return work(study, items, store)

    await c.site.store.committed()
    async with c.site.heavy:
        return await asyncio.to_thread(run)


async def progress(c: RequestContext) -> web.Response:
    site, last_event = c.site, c.site.store.row("SELECT MAX(number) FROM events")
    if site.progress is None or site.progress[0] != last_event:
        computed = await _apart(
            c, lambda *study_data: (current(*study_data), available(*study_data))
        )
        site.progress = (last_event, *computed)
    _, progress, files = site.progress
    return c.page("owner", progress=progress, exports={name: FILES[name] for name in files})


async def exported(c: RequestContext) -> web.Response:
    name = c.request.match_info["file"]
    if name not in FILES:
        raise Refused(*NOT_FOUND)

    def written(study: Study, items: list[StudyItem], store: StudyStore) -> bytes | None:
        with tempfile.TemporaryDirectory() as folder:
            paths = export(study, items, store, Path(folder), chosen_files=(name,))
            return paths[0].read_bytes() if paths else None

    content = await _apart(c, written)
    if content is None:
        raise Refused(404, "There is nothing to export", f"The study has no labels for {name} yet.")
    with c.site.store.unit():
        c.site.store.note("exported", c.person.id, content={"file": name})
    kind = _TYPES[Path(name).suffix]
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Content-Type": f"{kind}; charset=utf-8",
    }
    return web.Response(body=content, headers=headers)


# items


async def items(c: RequestContext) -> web.Response:
    site = c.site
    pages = max(1, -(-len(site.items) // _ON_A_PAGE))
    page_asked = c.request.query.get("page", "1")
    page = min(
        pages,
        max(
            1,
            int(page_asked)
            if page_asked.isascii() and page_asked.isdecimal() and len(page_asked) < 7
            else 1,
        ),
    )
    counts: Counter[tuple[str, str]] = Counter()
    for assignment in site.store.assignments(labels=True):
        counts[assignment.item_id, assignment.status] += 1
    rows = []
    for item in list(site.items.values())[(page - 1) * _ON_A_PAGE : page * _ON_A_PAGE]:
        n_done = counts[item.id, "done"]
        n_wanted = _wanted(c, item)
        state = (
            "done" if n_done >= n_wanted else "begun" if n_done or counts[item.id, "open"] else ""
        )
        row = {
            "item_id": item.id,
            "title": title_of(item),
            "done": n_done,
            "wanted": n_wanted,
            "state": state,
        }
        rows.append({**row, "skipped": counts[item.id, "skipped"]})
    return c.page("items", rows=rows, page=page, pages=pages, total=len(site.items))


def _wanted(c: RequestContext, item: StudyItem) -> int:
    """How many people are to label an item; those that check people are for everybody."""
    return c.site.study.assignment.overlap if item.kind == "normal" else 1


def _item(c: RequestContext) -> StudyItem:
    if (item := c.site.items.get(c.item_id)) is None:
        raise Refused(*NOT_FOUND)
    return item


async def item(c: RequestContext) -> web.Response:
    """GET /owner/items/{item}: its labels, once nobody is at work on it any more."""
    shown_item = _item(c)
    store = c.site.store
    given_assignments = store.assignments(item=shown_item.id, labels=True)
    n_done = sum(assignment.status == "done" for assignment in given_assignments)
    shows_labels = store.paused or (
        n_done >= _wanted(c, shown_item) and shown_item.kind == "normal"
    )
    values = (
        {answer.person_id: answer for answer in store.answers(shown_item.id)}
        if shows_labels
        else {}
    )
    names = {person.id: person.name for person in store.people()}
    decision = next(iter(store.adjudications(shown_item.id)), None)
    seconds: defaultdict[str, float] = defaultdict(float)
    for visit in store.visits(shown_item.id):
        seconds[visit.person_id] += visit.seconds
    labels: list[dict[str, Any]] = [
        {
            "name": names[assignment.person_id],
            "values": values[assignment.person_id].values
            if assignment.person_id in values and assignment.status == "done"
            else {},
            "at": assignment.done_at or assignment.given_at,
            "seconds": seconds.get(assignment.person_id),
            "state": assignment.status + (f" ({assignment.reason})" if assignment.reason else ""),
            "person_id": ""
            if decision
            else assignment.person_id,  # labels under a decision are final
        }
        for assignment in given_assignments
    ]
    if decision is not None:
        decider = sayer(c.site.study.language)("{} (decision)", names[decision.person_id])
        decision_facts = {"name": decider, "state": decision.justification, "person_id": ""}
        labels.append(
            {
                **decision_facts,
                "values": decision.values,
                "at": decision.decided_at,
                "seconds": None,
            }
        )
    hidden = (
        None
        if shows_labels
        else "Labels are shown once all of them are given, or while the study is paused."
    )
    return c.page("itempage", 200, hidden, **screens.item_page(c.site.study, shown_item, labels))


async def preview(c: RequestContext) -> web.Response:
    """GET /owner/preview/{item}: the page as a person sees it; nothing can be saved."""
    shown_item = _item(c)
    study = c.site.study
    form = form_of(study, shown_item, suggested := suggestions(study, shown_item), swapped=False)
    return c.page(
        "work", **screens.work(study, shown_item, form, suggestions=tuple(suggested), preview=True)
    )


# people


async def people(c: RequestContext, status: int = 200, **values: str) -> web.Response:
    """values: link, an invitation that was just made, shown this once; link_for: whose; error: why none was made."""
    store = c.site.store
    seconds: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    last: dict[str, str] = dict(
        store.rows("SELECT person_id, MAX(at) FROM events GROUP BY person_id")
    )
    for visit in store.visits():
        seconds[visit.person_id][visit.item_id] += visit.seconds
    counts = Counter(
        (assignment.person_id, assignment.status, part_of(assignment.kind))
        for assignment in store.assignments()
    )
    outliers = await _apart(c, lambda *study_data: speed_outliers(collect(*study_data)))
    rows = [
        {
            "person": person,
            "done": counts[person.id, "done", "labels"],
            "skipped": counts[person.id, "skipped", "labels"],
            "phases": sum(
                counts[person.id, "done", part] for part in PHASES
            ),  # of the training and qualification
            "failed": person.role == "annotator"
            and bool(c.site.queue.failed(c.site.state, person.id)),
            "median_seconds": median(seconds[person.id].values()) if seconds[person.id] else None,
            "last_at": last.get(person.id, ""),
            "outlier": outliers.get(person.id, ""),
        }
        for person in store.people()
    ]
    texts = {"link": "", "link_for": "", "error": "", **values}
    link = texts["link"]
    code = Markup(qr.as_svg(link)) if link else ""
    return c.page("people", status, rows=rows, code=code, **texts)


async def invite(c: RequestContext) -> web.Response:
    """POST /owner/invite: a new person, or a new link for one. The link is on this page alone."""
    store = c.site.store
    try:
        with store.unit():
            person = (
                _person(c)
                if c.given("person")
                else store.add_person(c.given("name"), _role(c), c.person.id)
            )
            token = c.site.access.invite(person, c.person.id)
    except UserError as error:
        return await people(c, 422, error=str(error))
    c.site.forget()
    return await people(c, link=f"{c.site.address.url}/in/{token}", link_for=person.name)


def _person(c: RequestContext) -> Person:
    if (person := c.site.store.person(c.given("person"))) is None:
        raise Refused(404, "Unknown person", "The page may be out of date.", "Reload it.")
    return person


def _role(c: RequestContext) -> Role:
    for role in ROLES:
        if role == c.given("role"):
            return role
    raise Refused(400, "Unknown role", f"The roles are {', '.join(ROLES)}.")


def _not_the_last_owner(c: RequestContext, person: Person) -> None:
    owners = [
        person.id for person in c.site.store.people() if person.role == "owner" and person.active
    ]
    if owners == [person.id]:
        raise Refused(
            409,
            "The study needs an owner",
            f"{person.name} is the only one.",
            "Invite another owner first.",
        )


async def revoke(c: RequestContext) -> web.Response:
    person = _person(c)
    _not_the_last_owner(c, person)
    c.site.access.revoke(person.id, c.person.id)
    c.site.forget()
    return c.to("/owner/people")


async def role(c: RequestContext) -> web.Response:
    person = _person(c)
    new = _role(c)
    if person.role == "owner" and new != "owner":
        _not_the_last_owner(c, person)
    if person.role != new:
        c.site.store.set_role(person.id, new, c.person.id)
        c.site.forget()
    return c.to("/owner/people")


async def retry(c: RequestContext) -> web.Response:
    """POST /owner/retry: a person who failed the training or qualification may try again."""
    person = _person(c)
    site = c.site
    try:
        another_attempt(site.store, person, c.person.id)
    except UserError as error:
        raise Refused(409, "No other attempt", f"{error}.") from None
    site.forget()
    return c.to("/owner/people")


async def withdraw(c: RequestContext) -> web.Response:
    """POST /owner/withdraw: a person's labels and decisions no longer count, and others get the items."""
    person = _person(c)
    store = c.site.store
    if c.given("sure") != "yes":
        raise Refused(400, "Not withdrawn", "Select the checkbox to confirm, then try again.")
    _not_the_last_owner(c, person)
    with store.unit():
        store.withdraw(person.id, c.person.id)
        c.site.access.revoke(person.id, c.person.id)
    c.site.forget()
    return c.to("/owner/people")


# the study


async def pause(c: RequestContext) -> web.Response:
    return _paused(c, "yes")


async def reopen(c: RequestContext) -> web.Response:
    """POST /owner/reopen: the study; or an item for a person, where both are named."""
    if not c.given("item"):
        return _paused(c, "no")
    return _set(
        c,
        ("done", "skipped", "released"),
        "open",
        "Not reopened",
        "This person has not finished the item.",
    )


async def release(c: RequestContext) -> web.Response:
    """POST /owner/release: an item that a person left open is given to another."""
    return _set(
        c, ("open",), "released", "Not released", "This person does not have the item open."
    )


def _set(
    c: RequestContext, before: tuple[Status, ...], after: Status, title: str, why: str
) -> web.Response:
    """Changes the status of the item and person that the form names. Refused unless it is one of those before."""
    person = _person(c)
    store = c.site.store
    assignment: Assignment | None = store.assignment(c.given("item"), person.id)
    if assignment is None or assignment.kind == "adjudication" or assignment.status not in before:
        raise Refused(409, title, why)
    if store.adjudications(assignment.item_id):
        raise Refused(409, title, "The item is decided. Its labels are final.")
    with store.unit():
        store.set_status(assignment.item_id, person.id, after, c.person.id)
        c.site.noted(assignment.item_id, person.id)
    return c.to(f"/owner/items/{quote(assignment.item_id, safe='')}")


def _paused(c: RequestContext, value: str) -> web.Response:
    store = c.site.store
    with store.unit():
        if store.setting("paused") != value:
            store.set_setting("paused", value)
            store.note("study paused" if value == "yes" else "study reopened", c.person.id)
    return c.to("/owner")
