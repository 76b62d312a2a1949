"""The pages of the application: a dataclass in, HTML out. A page asks nothing of the store and knows no request.

Forms work without scripts. The four modules in static/ add spans, keys, autosave and the timer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import orjson
from jinja2 import Environment, pass_context
from jinja2.ext import Extension
from markupsafe import Markup, escape

from longmark.annotate import controls, markdown, words
from longmark.annotate.items import Item
from longmark.annotate.language import catalogue, keys, language_of, say, sayer, translated
from longmark.annotate.store import Person, Role
from longmark.annotate.study import Study
from longmark.annotate.values import Form, known_answers
from longmark.report.page import asset, environment
from longmark.report.tables import Table, texts

LinkState = Literal["none", "ready", "password", "wrong", "invalid", "limited"]
_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
_MODULES = ("save.js", "keys.js", "spans.js", "timer.js")
_DECIDE, _READ = ("/owner/disagreements", "Disagreements"), ("/guidelines", "Guidelines")


@dataclass(frozen=True, slots=True)
class Frame:
    """What every page has. person: who is signed in; csrf: the form token; lang: of the study's texts; notice: a
    line at the top, such as `Saved. This is the next item.`; study_id: another one for each database, under which a
    browser keeps what is not saved yet."""

    study_title: str
    person: Person | None = None
    csrf: str = ""
    lang: str = ""
    paused: bool = False
    notice: str | None = None
    study_id: str = ""


@dataclass(frozen=True, slots=True)
class Stale:
    """The version that is stored, where the page shows another: its form and when it was saved (ISO, UTC)."""

    values: Form
    saved_at: str


@dataclass(frozen=True, slots=True)
class Work:
    """The labelling page.

    values    the form: `values.form_of` of the stored answer, or what was posted
    errors    by field name, or by form name where a field has several
    position  the number of the item in the person's order; done, total: how far the person is; of the part: labels,
              training or qualification
    version   of the stored answer, 0 for none; once: the key of this page view
    suggestions  fields that a model filled in
    preview   the owner looks at the page: nothing can be posted
    """

    frame: Frame
    study: Study
    item: Item
    values: Form = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    swapped: bool = False
    position: int = 1
    total: int = 1
    done: int = 0
    part: str = "labels"
    can_undo: bool = False
    version: int = 0
    once: str = ""
    suggestions: Sequence[str] = ()
    preview: bool = False
    stale: Stale | None = None
    saved_at: str = ""


@dataclass(frozen=True, slots=True)
class SignIn:
    """link_state: none (no link), ready (a button signs in), password, wrong (password), invalid (unknown or revoked)
    or limited (too many attempts). action: where the button posts to; name: who the link is for."""

    frame: Frame
    link_state: LinkState
    action: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Mine:
    """An item in a person's own list. state: open, draft, done or skipped; part: labels, training or qualification."""

    item_id: str
    title: str
    state: str
    at: str = ""
    reason: str = ""
    editable: bool = True
    part: str = "labels"


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A person's own items. parts: (part, done, total); more: there is a next item; message: why there is none."""

    frame: Frame
    rows: Sequence[Mine] = ()
    parts: Sequence[tuple[str, int, int]] = ()
    more: bool = True
    message: str = ""


@dataclass(frozen=True, slots=True)
class Guidelines:
    """The guidelines, or the text to agree to. confirm: ask for it, before the first item."""

    frame: Frame
    html: Markup
    consent: bool = False
    confirm: bool = False


@dataclass(frozen=True, slots=True)
class Feedback:
    """A training item with its known answers, after it was submitted. values: what was given; right, of: how many."""

    frame: Frame
    study: Study
    item: Item
    values: Mapping[str, Any]
    right: int
    of: int
    swapped: bool = False


@dataclass(frozen=True, slots=True)
class Owner:
    """Progress and agreement. figures: (label, value); warnings: such as texts that betray a system; exports: (file,
    what it holds)."""

    frame: Frame
    figures: Sequence[tuple[str, str]] = ()
    progress: Sequence[Table] = ()
    agreement: Sequence[Table] = ()
    warnings: Sequence[str] = ()
    exports: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class PersonRow:
    """active: may sign in; links: invitations that work; phases: items of the training and qualification that are done;
    failed: may be given another attempt; outlier: what is odd about the times."""

    id: str
    name: str
    role: Role
    active: bool = True
    links: int = 0
    done: int = 0
    phases: int = 0
    failed: bool = False
    skipped: int = 0
    median_seconds: float | None = None
    last_at: str = ""
    outlier: str = ""


@dataclass(frozen=True, slots=True)
class People:
    """link: an invitation that was just made, shown this once; link_for: whose."""

    frame: Frame
    rows: Sequence[PersonRow] = ()
    link: str | None = None
    link_for: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class ItemRow:
    item_id: str
    title: str
    done: int = 0
    wanted: int = 1
    skipped: int = 0
    state: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A page of the items; page and pages from 1."""

    frame: Frame
    rows: Sequence[ItemRow] = ()
    page: int = 1
    pages: int = 1
    total: int = 0


@dataclass(frozen=True, slots=True)
class Labels:
    """One rater's labels, in terms of the item, for the owner."""

    name: str
    values: Mapping[str, Any]
    at: str = ""
    seconds: float | None = None
    state: str = ""
    person_id: str = ""


@dataclass(frozen=True, slots=True)
class ItemPage:
    """An item with all its labels, for the owner."""

    frame: Frame
    study: Study
    item: Item
    labels: Sequence[Labels] = ()
    decision: Labels | None = None


@dataclass(frozen=True, slots=True)
class Disagreement:
    item_id: str
    title: str
    fields: Sequence[str] = ()
    decided: bool = False
    mine: bool = False


@dataclass(frozen=True, slots=True)
class Disagreements:
    frame: Frame
    rows: Sequence[Disagreement] = ()


@dataclass(frozen=True, slots=True)
class Adjudicate:
    """The decision on the fields that are compared, and the labels side by side once they were asked for. values: the
    form, as in Work; labels: in terms of the page, none before; differing: the names of the fields that differ;
    justification: ask for one (posted as `justification`)."""

    frame: Frame
    study: Study
    item: Item
    labels: Sequence[Mapping[str, Any]]
    values: Form = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    differing: Sequence[str] = ()
    once: str = ""
    version: int = 0
    justification: bool = True
    swapped: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """kept: what was posted and not saved, as (field, text), so that nobody has to type it again."""

    frame: Frame
    status: int
    title: str
    text: str
    remedy: str = ""
    kept: Sequence[tuple[str, str]] = ()
    back: str = "/"


_Owners = Owner | People | Items | ItemPage
Screen = Work | Feedback | SignIn | Dashboard | Guidelines | _Owners | Disagreements | Adjudicate | Problem


def render(screen: Screen) -> str:
    """The page, whole."""
    ui = language_of(screen.frame.lang)
    template = _environment(ui).get_template(f"{type(screen).__name__.lower()}.html.j2")
    return template.render(it=screen, frame=screen.frame, ui=ui, t=partial(say, language=ui), **_more(screen))


@cache
def _scripts(language: str) -> str:
    """What the scripts say, as JSON: English -> the language."""
    said = {key for name in _MODULES for key in keys(_sources()[name].decode())}
    return orjson.dumps({key: own for key, own in catalogue(language).items() if key in said}).decode()


def _read(study: Study, item: Item, swapped: bool) -> dict[str, Any]:
    """What is read of an item, and how its texts are set on the page."""
    kind = markdown.rich if study.markup == "markdown" else markdown.plain
    table = f'aria-label="{sayer(study.language)("Table")}"'  # foreign text has no quotes of its own
    shown = {"set": lambda text: Markup(kind(text).html.replace('aria-label="Table"', table))}
    return {"parts": controls.parts(study, item, swapped), "marked": frozenset(), **shown}


def _more(screen: Screen) -> dict[str, Any]:
    if isinstance(screen, Work | Adjudicate):
        study, item, swapped = screen.study, screen.item, screen.swapped
        more: dict[str, Any] = {
            **_read(study, item, swapped),
            "controls": controls.controls(study, item, screen.values, screen.errors, swapped),
            "scripts": _scripts(language_of(screen.frame.lang)),
            "guide": markdown.page(study.guidelines, 3) if study.guidelines.strip() else "",
        }
        more["marked"] = {one.over for one in more["controls"] if one.kind == "spans"}
        if isinstance(screen, Adjudicate):
            asked = {f"f.{name}" for name in study.compared}  # the other labels stay as the raters gave them
            more["controls"] = [one for one in more["controls"] if one.posted in asked]
            compared = _compared(study, screen.labels, swapped)
            t = sayer(study.language)
            more["names"] = [t("Rater {}", number) for number in range(1, len(screen.labels) + 1)]
            return more | {"compared": compared, "differing": frozenset(screen.differing)}
        if screen.stale is not None:
            more["stored"] = versions(study, item, screen.values, screen.stale.values, swapped)
        return more
    if isinstance(screen, Feedback):
        study, item, gold, swapped = screen.study, screen.item, screen.item.gold or {}, screen.swapped
        sides = {one.name for one in study.asked if one.type == "compare"}
        answers = [
            {name: words.shown_side(str(value), swapped) if name in sides else value for name, value in its.items()}
            for its in ({name: screen.values.get(name) for name in gold}, gold)
        ]
        alone = [(name, replace(item, gold={name: answer})) for name, answer in gold.items()]
        return {
            **_read(study, item, swapped),
            "compared": _compared(study, answers, swapped),
            "differing": {name for name, one in alone if known_answers(one, screen.values)[0] == 0},
        }
    if isinstance(screen, ItemPage):
        labels = [*screen.labels, *([screen.decision] if screen.decision else [])]
        compared = _compared(screen.study, [one.values for one in labels])
        return {**_read(screen.study, screen.item, False), "compared": compared, "labels": labels}
    return {}


def versions(study: Study, item: Item, here: Form, there: Form, swapped: bool) -> list[tuple[str, str, list[str]]]:
    """Where two forms differ: (name in the form, label, what each holds in words)."""
    both = zip(*(controls.controls(study, item, form, {}, swapped) for form in (here, there)), strict=True)
    t = sayer(study.language)
    said = [(a.posted, a.legend, [controls.said(a, t), controls.said(b, t)]) for a, b in both]
    return [one for one in said if one[2][0] != one[2][1]]


def _compared(
    study: Study, labels: Sequence[Mapping[str, Any]], swapped: bool = False
) -> list[tuple[str, str, list[str]]]:
    """(field name, its label, what each rater gave)"""
    t = sayer(study.language)
    given = [dict(words.in_words(study, one)) for one in labels]
    return [
        (asked.name, words.title_of(asked, t, swapped), [one.get(asked.name, "") for one in given])
        for asked in study.asked
        if any(asked.name in one for one in given)
    ]


@cache
def static() -> Mapping[str, tuple[str, bytes]]:
    """name with a hash of the content -> (content type, content), to be served under /static/."""
    return {_hashed(name, content): (_TYPES[Path(name).suffix], content) for name, content in _sources().items()}


@cache
def _sources() -> dict[str, bytes]:
    folder = resources.files("longmark.annotate").joinpath("static")
    found = {name: folder.joinpath(name).read_text("utf-8") for name in ("app.css", *_MODULES)}
    found["app.css"] = asset("tokens.css") + found["app.css"]
    return {name: text.encode() for name, text in found.items()}


def _hashed(name: str, content: bytes) -> str:
    digest = hashlib.sha256(content).hexdigest()[:12]
    return f"{Path(name).stem}.{digest}{Path(name).suffix}"


@cache
def _environment(language: str) -> Environment:
    def preprocess(_: Extension, source: str, name: str | None, filename: str | None = None) -> str:
        return translated(source, language)

    made = environment("longmark.annotate").overlay(
        extensions=[type(f"In_{language}", (Extension,), {"preprocess": preprocess})]
    )
    made.filters["say"] = pass_context(lambda context, text: say(str(text), language=context["ui"]))
    made.filters.update(exact=_exact, path=lambda id: quote(id, safe=""), minutes=_minutes, day=_day, id=_id)
    made.globals.update(texts=texts, links=_links)
    made.globals["static"] = {name: "/static/" + _hashed(name, content) for name, content in _sources().items()}
    return made


def _exact(text: str) -> Markup:
    """A text whose characters a browser counts as we do: a carriage return stays one."""
    return Markup(str(escape(text)).replace("\r", "&#13;"))


def _minutes(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.1f} min"


def _day(at: str) -> str:
    """2026-11-23T04:05:06.7Z as 2026-11-23 04:05 UTC."""
    return f"{at[:10]} {at[11:16]} UTC" if len(at) >= 16 else at


def _id(name: str) -> str:
    return "part-" + "".join(c if c.isascii() and c.isalnum() else f"-{ord(c):x}-" for c in name)


def _links(frame: Frame) -> list[tuple[str, str]]:
    """(path, words) of the pages that a person may open."""
    if frame.person is None:
        return []
    if frame.person.role == "owner":
        return [("/owner", "Progress"), ("/owner/items", "Items"), ("/owner/people", "People"), _DECIDE, _READ]
    links = [("/work", "Label"), ("/mine", "My items")]
    return [_DECIDE, *links, _READ] if frame.person.role == "adjudicator" else [*links, _READ]
