"""Disagreements, and the decision of a third person, who works as a rater does: systems hidden, sides balanced, and a
reading of their own before the labels of the raters. These are shown on request, without names and in an order drawn
for each item; the request is an event.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from aiohttp import web

from longmark.contrib.annotate import screens
from longmark.contrib.annotate.assign import differing, draw, may_adjudicate, to_adjudicate
from longmark.contrib.annotate.database import utc_now
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.routes_work import title_of, unconfirmed
from longmark.contrib.annotate.store import Adjudication, Assignment, SavedValues
from longmark.contrib.annotate.study import JUSTIFICATION
from longmark.contrib.annotate.values import complete, form_of, parse
from longmark.contrib.annotate.web import NOT_FOUND, Refused, RequestContext, once

_LONGEST = 10_000  # characters of a justification


async def disagreements(c: RequestContext) -> web.Response:
    """GET /owner/disagreements: those to decide first, in an order of the person's own."""
    if (first := _first(c)) is not None:
        return c.to(first)
    store = c.site.store
    study = c.site.study
    items = c.site.items
    rows = [_row(c, items[item], fields, decided=False) for item, fields in _undecided(c).items()]
    rows.sort(key=lambda row: row["mine"])
    for adjudication in store.adjudications():
        fields = differing(study, [answer.values for answer in _labels(c, adjudication.item_id)])
        rows.append(_row(c, items[adjudication.item_id], fields, decided=True))
    return c.page("disagreements", rows=rows, next=_next(c))


def _undecided(c: RequestContext) -> dict[str, tuple[str, ...]]:
    """The items to decide with the fields on which people differ, in the order of this person."""
    store = c.site.store
    items = c.site.items
    places = {item.id: place for place, item in enumerate(c.site.queue.order(c.person.id))}
    finished = {
        (assignment.item_id, assignment.person_id)
        for assignment in store.assignments()
        if _counts(assignment)
    }
    undecided = to_adjudicate(
        c.site.study,
        store.answers(),
        finished,
        [adjudication.item_id for adjudication in store.adjudications()],
    )
    return {
        item: undecided[item]
        for item in sorted(undecided.keys() & items.keys(), key=lambda item: places[item])
    }


def _next(c: RequestContext) -> str | None:
    """The first item that this person may decide; None if there is none."""
    may_decide = (item for item in _undecided(c) if may_adjudicate(c.site.state, item, c.person.id))
    return next(may_decide, None)


def _after_deciding(c: RequestContext) -> str:
    """Where a decision leads: to the next disagreement, or to the list of them."""
    item = None if c.given("then") == "list" else _next(c)
    return "/owner/disagreements" if item is None else f"/adjudicate/{quote(item, safe='')}"


def _row(
    c: RequestContext, item: StudyItem, fields: tuple[str, ...], *, decided: bool
) -> dict[str, Any]:
    labels = [c.site.study.field(name).shown for name in fields]
    mine = not may_adjudicate(c.site.state, item.id, c.person.id)
    return {
        "item_id": item.id,
        "title": title_of(item),
        "fields": labels,
        "decided": decided,
        "mine": mine,
    }


def _counts(assignment: Assignment) -> bool:
    return (
        assignment.status == "done" and assignment.kind == "normal"
    )  # the answers of the others are known


def _labels(c: RequestContext, item_id: str) -> list[SavedValues]:
    """The finished labels of an item, in an order that says nothing about the people."""
    seed = c.site.study.assignment.seed
    people_done = {
        assignment.person_id
        for assignment in c.site.store.assignments(item=item_id)
        if _counts(assignment)
    }
    labels = [answer for answer in c.site.store.answers(item_id) if answer.person_id in people_done]
    return sorted(labels, key=lambda label: draw(seed, "labels", item_id, label.person_id))


def _case(
    c: RequestContext,
) -> tuple[StudyItem, list[SavedValues], tuple[str, ...], Adjudication | None]:
    """The item of the address, its labels, where they differ, and the decision. Refused where there is nothing to
    decide, or where the person is no third one."""
    item = c.site.items.get(c.item_id)
    store = c.site.store
    if item is None:
        raise Refused(*NOT_FOUND)
    decision = next(iter(store.adjudications(item.id)), None)
    labels = _labels(c, item.id)
    finished = [(item.id, answer.person_id) for answer in labels]
    fields = differing(c.site.study, [answer.values for answer in labels])
    if decision is None and item.id not in to_adjudicate(c.site.study, labels, finished, ()):
        raise Refused(
            404, "There is nothing to decide", "The labels of this item agree, or are not complete."
        )
    if not may_adjudicate(c.site.state, item.id, c.person.id):
        raise Refused(
            403, "Another person decides", "Your own labels are among those of this item."
        )
    return item, labels, fields, decision


def _given(c: RequestContext, item: StudyItem) -> Assignment:
    """The item as it is shown to this person: from the first time that they open it."""
    store = c.site.store
    person = c.person.id
    if (assignment := store.assignment(item.id, person)) is None:
        swapped = c.site.queue.swapped(c.site.state, person, item, adjudicates=True)
        assignment = Assignment(
            item.id, person, swapped, "open", None, utc_now(), None, 0, "adjudication"
        )
        store.assign(assignment)
        c.site.noted(item.id, person)
    return assignment


def _seen(c: RequestContext, item_id: str) -> bool:
    """Whether this person has asked for the labels of the item."""
    return any(
        (event.item_id, event.person_id) == (item_id, c.person.id)
        for event in c.site.store.events("labels seen")
    )


def _as_shown(
    c: RequestContext, item: StudyItem, values: Mapping[str, Any], swapped: bool
) -> Mapping[str, Any]:
    """Labels in terms of the page: `a` is the answer that is shown first."""
    study = c.site.study
    return parse(
        study, item, form_of(study, item, values, swapped=swapped), swapped=False, draft=True
    ).values


def _page(
    c: RequestContext, status: int = 200, errors: dict[str, str] | None = None
) -> web.Response:
    item, labels, fields, decision = _case(c)
    swapped = _given(c, item).swapped
    seen = _seen(c, item.id)
    form: dict[str, list[str]] = c.form
    if not form and decision is not None and (seen or decision.person_id == c.person.id):
        form = form_of(c.site.study, item, decision.values, swapped=swapped)
        form[JUSTIFICATION] = [decision.justification]
    rules = c.site.study.assignment.adjudication
    labels_shown = [_as_shown(c, item, answer.values, swapped) for answer in labels] if seen else []
    details = {
        "once": once(),
        "version": _decisions(c, item.id),
        "justification": rules is None or rules.justification,
    }
    page = screens.adjudicate(
        c.site.study,
        item,
        labels_shown,
        form,
        errors or {},
        differing=fields,
        swapped=swapped,
        **details,
    )
    return c.page("adjudicate", status, **page)


def _decisions(c: RequestContext, item_id: str) -> int:
    return sum(event.item_id == item_id for event in c.site.store.events("adjudicated"))


async def case(c: RequestContext) -> web.Response:
    """GET /adjudicate/{item}: from now on, this person is not given the item to label."""
    first = _first(c)
    return _page(c) if first is None else c.to(first)


def _first(c: RequestContext) -> str | None:
    """What an adjudicator confirms first, as a rater does; the owner wrote it."""
    return unconfirmed(c) if c.person.role == "adjudicator" else None


async def labels(c: RequestContext) -> web.Response:
    """POST /adjudicate/{item}/labels: shows them; what was chosen before is recorded, and stays on the page."""
    item, *_ = _case(c)
    if not _seen(c, item.id):
        parsed = parse(c.site.study, item, c.form, swapped=_given(c, item).swapped, draft=True)
        c.site.store.note("labels seen", c.person.id, item.id, {"values": parsed.values})
    return _page(c)


async def decide(c: RequestContext) -> web.Response:
    store = c.site.store
    person = c.person.id
    key = c.key
    if (following := store.posted(person, key)) is not None:
        return c.to(following)
    item, *_ = _case(c)
    if c.given("version") != str(_decisions(c, item.id)):
        raise Refused(
            409,
            "Another person has decided this item",
            "Your decision was not saved.",
            "Open the item again to see the other decision. To replace it, decide again.",
        )
    assignment = _given(c, item)
    parsed = parse(c.site.study, item, c.form, swapped=assignment.swapped, draft=True)
    absent = complete(c.site.study, item, parsed.values)
    errors = {
        **{name: problem for name, problem in absent.items() if name in c.site.study.compared},
        **parsed.errors,
    }
    justification = c.given(JUSTIFICATION).replace("\r\n", "\n").strip()
    rules = c.site.study.assignment.adjudication
    if (rules is None or rules.justification) and not justification:
        errors[JUSTIFICATION] = "is missing"
    if len(justification) > _LONGEST:
        errors[JUSTIFICATION] = f"has {len(justification):,} characters; the limit is {_LONGEST:,}"
    if errors:
        return _page(c, 422, errors)
    with store.unit():
        store.adjudicate(item.id, person, parsed.values, justification)
        store.set_status(item.id, person, "done", person)
        c.site.noted(item.id, person)
        following = _after_deciding(c)
        store.post(person, key, following)
    return c.to(following)
