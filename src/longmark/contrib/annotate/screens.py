"""The pages of the application: values in, HTML out. A page asks nothing of the store and knows no request.

Forms work without scripts. The modules in static/ add spans, keys, autosave, the timer, and what a screen shows of a pair.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
from jinja2 import Environment, pass_context
from jinja2.ext import Extension
from markupsafe import Markup, escape

from longmark.contrib.annotate import controls, words
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.language import catalogue, keys, language_of, say, sayer, translated
from longmark.contrib.annotate.store import Person
from longmark.contrib.annotate.study import JUSTIFICATION, Study
from longmark.contrib.annotate.values import Form, known_answers, parse
from longmark.report import markdown
from longmark.report.page import asset, environment
from longmark.report.tables import texts
from longmark.text.sentences import parted

_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
_MODULES = ("save.js", "keys.js", "spans.js", "timer.js", "differences.js", "sides.js")
_NONE: Mapping[str, str] = {}
_DECIDE = ("/owner/disagreements", "Disagreements")
_READ = ("/guidelines", "Guidelines")


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


def render(template: str, frame: Frame, /, **values: Any) -> str:
    """The page of a template, whole. values: all that the template names; `work`, `adjudicate`, `feedback` and `item`
    make those of pages that show an item."""
    ui = language_of(frame.lang)
    page_template = _environment(ui).get_template(f"{template}.html.j2")
    return page_template.render(frame=frame, ui=ui, t=partial(say, language=ui), **values)


@cache
def _scripts(language: str) -> str:
    """What the scripts say, as JSON: English -> the language."""
    messages = {key for name in _MODULES for key in keys(_sources()[name].decode())}
    return orjson.dumps(
        {key: message for key, message in catalogue(language).items() if key in messages}
    ).decode()


_WORK = {
    "position": 1,
    "total": 1,
    "done": 0,
    "part": "labels",
    "can_undo": False,
    "version": 0,
    "once": "",
}
_WORK |= {
    "suggestions": (),
    "preview": False,
    "saved_at": "",
    "justification": True,
    "differing": (),
}


def work(
    study: Study,
    item: StudyItem,
    form: Form,
    errors: Mapping[str, str] = _NONE,
    *,
    swapped: bool = False,
    stale: tuple[Form, str] | None = None,
    **details: Any,
) -> dict[str, Any]:
    """The labelling page.

    form      `values.form_of` of the stored answer, or what was posted
    errors    by field name, or by form name where a field has several
    stale     the version that is stored, where the page shows another: its form and when it was saved (ISO, UTC)
    details   position: the number of the item in the person's order; done, total: how far the person is; part: labels,
              training or qualification; can_undo; version: of the stored answer, 0 for none; saved_at; once: the key
              of this page view; suggestions: fields that a model filled in; preview: the owner looks at the page, and
              nothing can be posted
    """
    fields_shown = controls.controls(study, item, form, errors, swapped)
    values = {
        "controls": fields_shown,
        "marked": {control.over for control in fields_shown if control.kind == "spans"},
        "errors": errors,
        "stored": versions(study, item, form, stale[0], swapped) if stale else [],
        "elsewhere": stale and stale[1],
        "scripts": _scripts(language_of(study.language or "")),
        "guide": markdown.page(study.guidelines, 3) if study.guidelines.strip() else "",
    }
    return {**_WORK, **_read(study, item, swapped), **values, **details}


def adjudicate(
    study: Study,
    item: StudyItem,
    labels: Sequence[Mapping[str, Any]],
    form: Form,
    errors: Mapping[str, str] = _NONE,
    **details: Any,
) -> dict[str, Any]:
    """The decision on the fields that are compared, and the labels side by side once they were asked for. labels: in
    terms of the page, none before; details: as of `work`; differing: the names of the fields that differ; justification:
    whether one is asked for."""
    page = work(study, item, form, errors, **details)
    t = sayer(study.language)
    names_asked = {
        f"f.{name}" for name in study.compared
    }  # the other labels stay as the raters gave them
    return {
        **page,
        "controls": [control for control in page["controls"] if control.posted in names_asked],
        "why": next(iter(form.get(JUSTIFICATION, ())), ""),
        "names": [t("Rater {}", number) for number in range(1, len(labels) + 1)],
        "compared": _compared(study, labels, details.get("swapped", False)),
    }


def feedback(
    study: Study, item: StudyItem, values: Mapping[str, Any], swapped: bool
) -> dict[str, Any]:
    """A training item with its known answers, after it was submitted. values: what was given."""
    gold = item.gold or {}
    right, answers_known = known_answers(item, values)
    sides = {field.name for field in study.asked if field.type == "compare"}
    answers = [
        {
            name: words.shown_side(str(value), swapped) if name in sides else value
            for name, value in answer_values.items()
        }
        for answer_values in ({name: values.get(name) for name in gold}, gold)
    ]
    alone = [(name, replace(item, gold={name: answer})) for name, answer in gold.items()]
    differing = {name for name, single in alone if known_answers(single, values)[0] == 0}
    shown = {
        "compared": _compared(study, answers, swapped),
        "differing": differing,
        "right": right,
        "of": answers_known,
    }
    return {**_read(study, item, swapped), **shown}


def item_page(study: Study, item: StudyItem, labels: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """An item for the owner. labels: of each rater and of the decision: name, values (in terms of the item), at,
    seconds, state, and person_id where the owner may reopen or release it."""
    return {
        **_read(study, item, False),
        "compared": _compared(study, [label["values"] for label in labels]),
        "labels": labels,
    }


def _read(study: Study, item: StudyItem, swapped: bool) -> dict[str, Any]:
    """What is read of an item, and how its texts are set on the page."""
    kind = markdown.rich if study.markup == "markdown" else markdown.plain
    table = (
        f'aria-label="{sayer(study.language)("Table")}"'  # foreign text has no quotes of its own
    )
    setter = {"set": lambda text: Markup(kind(text).html.replace('aria-label="Table"', table))}
    return {
        "item": item,
        "parts": controls.parts(study, item, swapped),
        "marked": frozenset(),
        "differences": controls.differences(study, item, swapped),
        **setter,
    }


def versions(
    study: Study, item: StudyItem, own_form: Form, stored_form: Form, swapped: bool
) -> list[tuple[str, str, list[str]]]:
    """Where two forms differ: (field name, its label, what each holds in words)."""
    forms_in_words = []
    for form in (own_form, stored_form):
        parsed = parse(study, item, form, swapped=False, draft=True)
        unread = {name: ", ".join(form.get(f"f.{name}", ())) for name in parsed.errors}
        forms_in_words.append(parsed.values | unread)
    return [
        difference
        for difference in _compared(study, forms_in_words, swapped)
        if difference[2][0] != difference[2][1]
    ]


def _compared(
    study: Study, labels: Sequence[Mapping[str, Any]], swapped: bool = False
) -> list[tuple[str, str, list[str]]]:
    """(field name, its label, what each rater gave)"""
    t = sayer(study.language)
    labels_in_words = [dict(words.in_words(study, label)) for label in labels]
    return [
        (
            field.name,
            words.title_of(field, t, swapped),
            [label.get(field.name, "") for label in labels_in_words],
        )
        for field in study.asked
        if any(field.name in label for label in labels_in_words)
    ]


@cache
def static() -> Mapping[str, tuple[str, bytes]]:
    """name with a hash of the content -> (content type, content), to be served under /static/."""
    return {
        _hashed(name, content): (_TYPES[Path(name).suffix], content)
        for name, content in _sources().items()
    }


@cache
def _sources() -> dict[str, bytes]:
    folder = resources.files("longmark.contrib.annotate").joinpath("static")
    sources = {name: folder.joinpath(name).read_text("utf-8") for name in ("app.css", *_MODULES)}
    sources["app.css"] = asset("tokens.css") + sources["app.css"]
    return {name: text.encode() for name, text in sources.items()}


def _hashed(name: str, content: bytes) -> str:
    digest = hashlib.sha256(content).hexdigest()[:12]
    return f"{Path(name).stem}.{digest}{Path(name).suffix}"


@cache
def _environment(language: str) -> Environment:
    def preprocess(_: Extension, source: str, name: str | None, filename: str | None = None) -> str:
        return translated(source, language)

    overlay = environment("longmark.contrib.annotate").overlay(
        extensions=[type(f"In_{language}", (Extension,), {"preprocess": preprocess})]
    )
    overlay.filters["say"] = pass_context(
        lambda context, text: say(str(text), language=context["ui"])
    )
    overlay.filters.update(
        exact=_exact,
        sentence_places=_sentence_places,
        path=lambda id: quote(id, safe=""),
        minutes=_minutes,
        day=_day,
        id=_id,
    )
    overlay.globals.update(texts=texts, links=_links)
    overlay.globals["static"] = {
        name: "/static/" + _hashed(name, content) for name, content in _sources().items()
    }
    return overlay


def _sentence_places(text: str) -> str:
    """Where the sentences of a text stand, in code points, for a tap: `0-24 25-46`."""
    return " ".join(f"{start}-{end}" for start, end in parted(text))


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
        return [
            ("/owner", "Progress"),
            ("/owner/items", "Items"),
            ("/owner/people", "People"),
            _DECIDE,
            _READ,
        ]
    links = [("/work", "Label"), ("/mine", "My items")]
    return [_DECIDE, *links, _READ] if frame.person.role == "adjudicator" else [*links, _READ]
