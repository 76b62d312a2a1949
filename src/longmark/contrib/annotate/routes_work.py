"""What an annotator does: the next item, saving, submitting, skipping, undoing, and one's own list.

A page view has a key (`once`) and the version of the answer that it shows. What it saves is stale only if another view
saved in between; then both versions are shown and the person chooses. A view that was submitted is used up: the same
post again leads to the same place. An answer counts as it was saved last: an item that was submitted and is changed to
be incomplete is open again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import quote

import orjson
from aiohttp import web

from longmark.contrib.annotate import screens
from longmark.contrib.annotate.assign import PHASES, part_of
from longmark.contrib.annotate.database import utc_now
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.language import sayer
from longmark.contrib.annotate.store import Assignment, Page, SavedValues, Visit
from longmark.contrib.annotate.study import Study
from longmark.contrib.annotate.values import complete, form_of, parse
from longmark.contrib.annotate.web import NOT_FOUND, Refused, RequestContext, once
from longmark.report import markdown

_LONGEST_VISIT = 86_400.0  # seconds
_LONGEST_REASON = 2_000
_NONE_LEFT = {
    "done": "There is no item for you to label. All your items are done.",
    "quota": "You have labelled the maximum number of items for one person. Thank you.",
    "not qualified": "Too few training or qualification answers are right. The owner of the study decides what to do.",
}


async def next_item(c: RequestContext) -> web.Response:
    return c.to(_next(c))


def _next(c: RequestContext) -> str:
    """Where the next item is; a new one is given here."""
    site = c.site
    person = c.person.id
    if site.store.paused:
        return "/mine"
    if (first := unconfirmed(c)) is not None:
        return first
    assigned = site.queue.next(site.state, person, datetime.now(UTC))
    if assigned is None:
        return "/mine"
    if assigned.new:
        position_and_kind = assigned.position, assigned.kind
        site.store.assign(
            Assignment(
                assigned.item_id,
                person,
                assigned.swapped,
                "open",
                None,
                utc_now(),
                None,
                *position_and_kind,
            )
        )
        site.noted(assigned.item_id, person)
    return path_of(assigned.item_id)


_BEFORE = {"consent": "consent given", "guidelines": "guidelines read"}
"""What comes before the first item -> the event that says that it was done."""


def unconfirmed(c: RequestContext) -> str | None:
    """The page that a person has not confirmed yet, as its text is now."""
    for name, event in _BEFORE.items():
        sql = "SELECT 1 FROM events WHERE person_id = ? AND kind = ? AND content LIKE ?"
        text = getattr(c.site.study, name).strip()
        if text and c.site.store.row(sql, (c.person.id, event, f"%{_digest(text)}%")) is None:
            return f"/{name}"
    return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def path_of(item_id: str) -> str:
    return f"/work/{quote(item_id, safe='')}"


async def work(c: RequestContext) -> web.Response:
    assignment, item = _own(c)
    if not _editable(c, assignment):
        return c.to("/mine")
    if (first := unconfirmed(c)) is not None:
        return c.to(first)
    stored = c.site.store.answer(item.id, c.person.id)
    values = stored.values if stored else suggestions(c.site.study, item)
    return _page(
        c, assignment, item, form_of(c.site.study, item, values, swapped=assignment.swapped)
    )


def _page(
    c: RequestContext,
    given: Assignment,
    item: StudyItem,
    form: Mapping[str, Any],
    status: int = 200,
    **details: Any,
) -> web.Response:
    """The labelling page as a new view. details: of `screens.work`."""
    site = c.site
    person = c.person.id
    stored = site.store.answer(item.id, person)
    part = part_of(given.kind)
    own_assignments = [
        assignment
        for assignment in site.store.assignments(person=person)
        if part_of(assignment.kind) == part
    ]
    notice = details.pop("notice", None)
    page = screens.work(
        site.study,
        item,
        form,
        swapped=given.swapped,
        position=sum(
            own_assignment.position <= given.position for own_assignment in own_assignments
        ),
        total=site.queue.total(site.state, person, part),
        part=part,
        done=sum(own_assignment.status == "done" for own_assignment in own_assignments),
        can_undo=stored is not None and bool(site.store.history(item.id, person)),
        version=stored.version if stored else 0,
        once=once(),
        suggestions=() if stored else tuple(suggestions(site.study, item)),
        saved_at=stored.saved_at if stored else "",
        **details,
    )
    return c.page("work", status, notice, **page)


def suggestions(study: Study, item: StudyItem) -> dict[str, Any]:
    """What the study fills in before the rater sees the item, as far as its fields can have it."""
    form: dict[str, list[str]] = {}
    for name, column in study.suggestions.items():
        value = item.columns.get(column)
        if isinstance(value, dict) or (
            isinstance(value, list)
            and any(isinstance(part_of_value, dict) for part_of_value in value)
        ):
            form[f"f.{name}"] = [orjson.dumps(value).decode()]
        elif value is not None:
            form[f"f.{name}"] = [
                str(part_of_value)
                for part_of_value in (value if isinstance(value, list) else [value])
            ]
    return parse(study, item, form, swapped=False, draft=True).values if form else {}


def _own(c: RequestContext) -> tuple[Assignment, StudyItem]:
    """The assignment and the item of the address. Refused unless it was given to this person."""
    assignment = c.site.store.assignment(c.item_id, c.person.id)
    item = c.site.items.get(c.item_id)
    if (
        assignment is None
        or item is None
        or assignment.status == "withdrawn"
        or assignment.kind == "adjudication"
    ):
        raise Refused(*NOT_FOUND)
    return assignment, item


def _editable(c: RequestContext, assignment: Assignment) -> bool:
    """Known answers count as they were submitted; a decision rests on the labels as they were."""
    if assignment.kind in ("training", "qualification") and assignment.status == "done":
        return False
    return not c.site.store.adjudications(assignment.item_id)


def _open(c: RequestContext) -> tuple[Assignment, StudyItem]:
    """As `_own`, of an item that can be changed now."""
    assignment, item = _own(c)
    if c.site.store.paused:
        raise Refused(
            503,
            "The study is paused",
            "What you sent was not saved.",
            "Send it again when it is open.",
            paused=True,
        )
    if not _editable(c, assignment):
        raise Refused(
            409,
            "This item is closed",
            "Its labels are final, and what you sent was not saved.",
            closed=True,
        )
    return assignment, item


async def draft(c: RequestContext) -> web.Response:
    assignment, item = _open(c)
    saved = _save(c, assignment, item, submitted=False)
    if isinstance(saved, Stale):
        differing = screens.versions(c.site.study, item, c.form, saved.form, assignment.swapped)
        differ = [[label, *texts] for _, label, texts in differing]
        reply = {
            "saved": False,
            "stale": True,
            "version": saved.version,
            "at": saved.saved_at,
            "differ": differ,
        }
        return web.json_response(reply, status=409)
    answer, errors = saved
    saved_at = answer.saved_at if answer else utc_now()
    reply = {"saved": not errors, "version": answer.version if answer else 0, "at": saved_at}
    t = sayer(c.site.study.language)
    errors = {name: t(message) for name, message in errors.items()}
    return web.json_response(reply | ({"errors": errors} if errors else {}))


async def submit(c: RequestContext) -> web.Response:
    store = c.site.store
    person = c.person.id
    key = c.key
    if (
        led := store.posted(person, key)
    ) is not None:  # a double click, or the post again after a lost reply
        return c.to(led)
    assignment, item = _open(c)
    with store.unit():
        saved = _save(c, assignment, item, submitted=True)
        if isinstance(saved, Stale):
            return _page(c, assignment, item, c.form, 409, stale=saved[:2])
        answer, errors = saved
        missing = {**complete(c.site.study, item, answer.values if answer else {}), **errors}
        if missing or answer is None:
            return _page(c, assignment, item, c.form, 422, errors=missing)
        if assignment.status != "done":
            store.set_status(item.id, person, "done", person)
        c.site.noted(item.id, person)
        c.site.state.count_right(item, person, answer.values)
        led = f"{path_of(item.id)}/feedback" if assignment.kind == "training" else _next(c)
        store.post(person, key, led)
    return c.to(led)


async def skip(c: RequestContext) -> web.Response:
    """POST /work/{item}/skip: what was entered is kept."""
    store = c.site.store
    person = c.person.id
    key = c.key
    if (led := store.posted(person, key)) is not None:
        return c.to(led)
    assignment, item = _open(c)
    reason = c.given("reason").strip()
    with store.unit():
        saved = _save(c, assignment, item, submitted=False)
        if isinstance(saved, Stale):
            return _page(c, assignment, item, c.form, 409, stale=saved[:2])
        if not 0 < len(reason) <= _LONGEST_REASON:
            notice = f"Not skipped yet. Say why you skip this item, in {_LONGEST_REASON:,} characters at most."
            return _page(c, assignment, item, c.form, 422, notice=notice)
        store.set_status(item.id, person, "skipped", person, reason)
        c.site.noted(item.id, person)
        led = _next(c)
        store.post(person, key, led)
    return c.to(led)


async def undo(c: RequestContext) -> web.Response:
    """POST /work/{item}/undo: the values before the last change that was saved."""
    store = c.site.store
    person = c.person.id
    key = c.key
    assignment, item = _open(c)
    if store.posted(person, key) is None and (past := store.history(item.id, person)):
        with store.unit():
            store.note("undone", person, item.id)
            is_complete = not complete(c.site.study, item, past[-1])
            store.save(item.id, person, past[-1], Page(key), complete=is_complete)
            _reopen(c, assignment, is_complete)
            store.post(person, key, path_of(item.id))
    return c.to(path_of(item.id))


class Stale(NamedTuple):
    """The version that is stored, where the page shows another. form: as `values.parse` reads it."""

    form: dict[str, list[str]]
    saved_at: str
    version: int


def _save(
    c: RequestContext, assignment: Assignment, item: StudyItem, *, submitted: bool
) -> Stale | tuple[SavedValues | None, dict[str, str]]:
    """Saves what was posted: the answer as it is now (None: there is nothing), and what could not be read. Or what is
    stored, where another page view saved it."""
    store = c.site.store
    study = c.site.study
    person = c.person.id
    view = Page(c.key, _number(c.given("count")), submitted)
    parsed = parse(study, item, c.form, swapped=assignment.swapped, draft=True)
    stored = store.answer(item.id, person)
    last = store.page_of(item.id, person)
    if stored is not None and last is not None:
        unchanged = stored.values == parsed.values and not parsed.errors
        if unchanged and (not submitted or assignment.status == "done"):
            return stored, {}
        if (
            not unchanged
            and stored.version != _number(c.given("version"))
            and c.given("force") != "1"
        ):
            same_view = last.id == view.id and store.posted(person, view.id) is None
            if same_view and not submitted and 0 < view.count <= last.count:
                return stored, {}  # overtaken on the way by a later draft of the same page
            if not same_view:
                form = form_of(study, item, stored.values, swapped=assignment.swapped)
                return Stale(form, stored.saved_at, stored.version)
    elif not parsed.values and not submitted:
        return None, parsed.errors
    is_complete = not parsed.errors and not complete(study, item, parsed.values)
    had_suggestions = bool(stored is None and suggestions(study, item))
    with store.unit():
        answer = store.save(
            item.id,
            person,
            parsed.values,
            replace(view, submitted=submitted and is_complete),
            complete=is_complete,
            suggestions_shown=had_suggestions,
        )
        _reopen(c, assignment, is_complete)
    return answer, parsed.errors


def _reopen(c: RequestContext, assignment: Assignment, is_complete: bool) -> None:
    """An item that was finished and is not complete any more is open again; so is one that was skipped or released."""
    if assignment.status in ("skipped", "released") or (
        assignment.status == "done" and not is_complete
    ):
        c.site.store.set_status(
            assignment.item_id, assignment.person_id, "open", assignment.person_id
        )
        c.site.noted(assignment.item_id, assignment.person_id)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


async def visit(c: RequestContext) -> web.Response:
    """POST /work/{item}/visit: the seconds that this page view was visible so far."""
    assignment, item = _own(c)
    try:
        seconds = float(c.given("seconds"))
        started = datetime.fromisoformat(c.given("started")).astimezone(UTC)
    except (ValueError, OverflowError):
        seconds = -1.0
        started = datetime.now(UTC)
    key = c.given("visit")
    if not 0 <= seconds <= _LONGEST_VISIT or not 0 < len(key) <= 64:
        raise Refused(400, "The form cannot be read", "Expected visit, seconds and started.")
    if c.site.study.time == "visible":
        started_at = started.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        c.site.store.visit(key, Visit(item.id, assignment.person_id, round(seconds, 1), started_at))
    return web.json_response({"saved": True})


async def feedback(c: RequestContext) -> web.Response:
    """GET /work/{item}/feedback: the known answers of a training item beside those that were given."""
    assignment, item = _own(c)
    answer = c.site.store.answer(item.id, c.person.id)
    if (assignment.kind, assignment.status) != ("training", "done") or answer is None:
        raise Refused(*NOT_FOUND)
    return c.page(
        "feedback", **screens.feedback(c.site.study, item, answer.values, assignment.swapped)
    )


async def confirm(c: RequestContext) -> web.Response:
    """POST /guidelines, /consent: the time is kept, with a hash of the text."""
    name = c.request.path.removeprefix("/")
    if unconfirmed(c) == f"/{name}":
        text = getattr(c.site.study, name).strip()
        c.site.store.note(_BEFORE[name], c.person.id, content={"hash": _digest(text)})
    if (
        c.person.role == "adjudicator"
    ):  # who is given no item to label without asking: they could not decide on it
        return c.to(unconfirmed(c) or "/owner/disagreements")
    return c.to("/work")


async def consent(c: RequestContext) -> web.Response:
    text = c.site.study.consent
    to_confirm = unconfirmed(c) == "/consent"
    return c.page("guidelines", html=markdown.page(text), consent=True, confirm=to_confirm)


async def guidelines(c: RequestContext) -> web.Response:
    to_confirm = c.person.role != "owner" and unconfirmed(c) == "/guidelines"
    return c.page(
        "guidelines", html=markdown.page(c.site.study.guidelines), consent=False, confirm=to_confirm
    )


async def mine(c: RequestContext) -> web.Response:
    """GET /mine: a person's own items with their state, once they have agreed to take part."""
    if (first := unconfirmed(c)) is not None:
        return c.to(first)
    site = c.site
    person = c.person.id
    drafts = {answer.item_id: answer for answer in site.store.answers(person=person)}
    rows = []
    for assignment in sorted(
        site.store.assignments(person=person, labels=True),
        key=lambda assignment: -assignment.position,
    ):
        if assignment.status == "withdrawn" or (item := site.items.get(assignment.item_id)) is None:
            continue
        answer = drafts.get(assignment.item_id)
        state = "draft" if assignment.status == "open" and answer else assignment.status
        saved_at = answer.saved_at if answer else assignment.given_at
        shown = {
            "item_id": item.id,
            "title": title_of(item),
            "state": state,
            "at": saved_at,
            "reason": assignment.reason,
        }
        rows.append(
            {**shown, "editable": _editable(c, assignment), "part": part_of(assignment.kind)}
        )
    has_next = (
        not site.store.paused and site.queue.next(site.state, person, datetime.now(UTC)) is not None
    )
    message = (
        "" if has_next or site.store.paused else _NONE_LEFT[site.queue.why_none(site.state, person)]
    )
    done_by_part = Counter(row["part"] for row in rows if row["state"] == "done")
    parts = [
        (part, done_by_part[part], site.queue.total(site.state, person, part))
        for part in (*PHASES, "labels")
    ]
    return c.page(
        "dashboard",
        rows=rows,
        parts=[part for part in parts if part[2]],
        more=has_next,
        message=message,
    )


def title_of(item: StudyItem) -> str:
    """A line that says which item it is."""
    texts = [item.shown.get("question"), item.shown.get("statement"), *item.shown.values()]
    return next(
        (" ".join(text.split()) for text in texts if isinstance(text, str) and text.strip()),
        item.id,
    )[:200]
