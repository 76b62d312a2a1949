"""Every screen by axe-core (WCAG 2.2 AA and its best practices), in light and dark, and at the width of 400 % zoom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from markupsafe import Markup
from tests.contrib.annotate.browser.people import written
from tests.contrib.annotate.browser.samples import ARABIC, UNBROKEN

from longmark.contrib.annotate import screens
from longmark.contrib.annotate.checks import load
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.items import read_items
from longmark.contrib.annotate.progress import Progress
from longmark.contrib.annotate.qr import as_svg
from longmark.contrib.annotate.screens import Frame
from longmark.contrib.annotate.store import Person
from longmark.contrib.annotate.study import TEMPLATES, Study
from longmark.report import markdown
from longmark.report.tables import Column, Table
from longmark.report.web.headers import HEADERS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

AT = "2026-11-23T04:05:06Z"
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def frame(role: Any, title: str = "Answers about floods", **more: Any) -> Frame:
    return Frame(title, Person("p1", "Ada", role), "token", **more)


def pages(folder: Path) -> dict[str, tuple[str, Frame, dict[str, Any]]]:
    """Each page: its template, what every page has, and the template's values."""
    made: dict[str, tuple[str, Frame, dict[str, Any]]] = {}
    of: dict[str, tuple[Study, StudyItem]] = {}
    for name in TEMPLATES:
        (folder / name).mkdir()
        path = written(folder / name, name)
        study = load(path)
        for number, item in enumerate(read_items(study, path.parent)):
            of[f"{name}-{number}"] = study, item
            values = screens.work(study, item, {}, position=2, total=5, done=1, can_undo=True)
            made[f"{name}-{number}"] = "work", frame("annotator", study.title), values
    score, pair, owner, rater = of["score-0"], of["pairs-1"], frame("owner"), frame("annotator")
    labels: list[dict[str, Any]] = [
        {
            "name": "Ada",
            "values": {"preference": "a"},
            "at": AT,
            "seconds": 84.0,
            "state": "done",
            "person_id": "p1",
        },
        {
            "name": "Bo",
            "values": {"preference": "b"},
            "at": AT,
            "seconds": None,
            "state": "open",
            "person_id": "p2",
        },
    ]
    table = Table(
        "a",
        "Agreement",
        (Column("Field"), Column("kappa", places=2)),
        [("hazard", 0.71)],
        note="Two labels.",
    )
    people = Table("p", "By person", (Column("Person"), Column("Done")), [("Ada", 3)])
    errors = {
        "location": "is not answered yet",
        "answer_relevance": "expected a whole number from 1 to 10",
    }
    ready, stale = (
        {"f.hazard": ["yes"], "f.comment": ["fine"]},
        {"f.hazard": ["no"], "f.confidence": ["3"]},
    )
    own = ("item_id", "title", "state", "at", "reason", "editable", "part")
    mine = (
        ("a", "When?", "done", AT, "", True, "labels"),
        ("b", ARABIC, "skipped", AT, "Not my field", True, "labels"),
        ("c", UNBROKEN, "draft", "", "", False, "labels"),
        ("d", "How?", "open", "", "", True, "labels"),
    )
    rows = [dict(zip(own, one, strict=True)) for one in mine]
    person = {
        "person": Person("p2", "Bo", "annotator"),
        "done": 0,
        "skipped": 0,
        "phases": 0,
        "failed": False,
    }
    person |= {"median_seconds": None, "last_at": "", "outlier": "fast"}
    listed = {
        "item_id": "i1",
        "title": "When?",
        "done": 1,
        "wanted": 2,
        "skipped": 1,
        "state": "open",
    }
    case = {
        "item_id": "a",
        "title": "When?",
        "fields": ["preference"],
        "decided": False,
        "mine": True,
    }
    progress = Progress([("Items", "50")], [people], [table], ["item i1 names a system"], {})
    asked = screens.adjudicate(
        *pair,
        [{"preference": "a"}, {"preference": "b"}],
        {},
        {"justification": "is missing"},
        differing=["preference"],
    )
    known = replace(score[1], gold={"hazard": "no"})
    guide = markdown.page("## How\n\nRead *first*.\n\n|a|b|\n|-|-|\n|1|2|\n")
    more: dict[str, tuple[str, Frame, dict[str, Any]]] = {
        "errors": (
            "work",
            frame("annotator", notice="Saved.", paused=True),
            screens.work(*score, ready, errors, stale=(stale, AT), suggestions=["hazard"]),
        ),
        "preview": ("work", owner, screens.work(*pair, {}, preview=True)),
        "mine": (
            "dashboard",
            rater,
            {
                "rows": rows,
                "parts": [("training", 2, 5), ("labels", 1, 4)],
                "more": True,
                "message": "One is left.",
            },
        ),
        "guidelines": ("guidelines", rater, {"html": guide, "consent": False, "confirm": False}),
        "consent": (
            "guidelines",
            rater,
            {"html": markdown.page("I agree."), "consent": True, "confirm": True},
        ),
        "feedback": (
            "feedback",
            rater,
            screens.feedback(score[0], known, {"hazard": "yes"}, swapped=False),
        ),
        "owner": (
            "owner",
            owner,
            {"progress": progress, "exports": {"labels.jsonl": "every label"}},
        ),
        "people": (
            "people",
            owner,
            {
                "rows": [person],
                "link": "https://e.org/in/x",
                "link_for": "Bo",
                "error": "No.",
                "code": Markup(as_svg("https://e.org/in/x")),
            },
        ),
        "items": ("items", owner, {"rows": [listed], "page": 2, "pages": 3, "total": 250}),
        "item": ("itempage", owner, screens.item_page(*pair, labels)),
        "disagreements": ("disagreements", frame("adjudicator"), {"rows": [case], "next": "i0"}),
        "adjudicate": ("adjudicate", frame("adjudicator"), asked),
        "problem": (
            "problem",
            rater,
            {
                "title": "Closed",
                "text": "Not saved.",
                "remedy": "Ask.",
                "kept": [("Comment", "my words")],
                "back": "/",
            },
        ),
    }
    for state in ("none", "ready", "wrong", "invalid"):
        more[state] = (
            "signin",
            Frame("Floods"),
            {"link_state": state, "action": "/in/x", "name": "Ada"},
        )
    return made | more


NAMES = [f"{name}-0" for name in TEMPLATES] + [
    "score-1",
    "climaqa-1",
    "errors",
    "preview",
    "none",
    "ready",
    "wrong",
]
NAMES += [
    "invalid",
    "mine",
    "guidelines",
    "owner",
    "people",
    "items",
    "item",
    "disagreements",
    "adjudicate",
    "problem",
    "consent",
    "feedback",
]


def answer(templates: dict[str, tuple[str, Frame, dict[str, Any]]], route: Route) -> None:
    """The page at http://study.test/NAME, with the server's policy."""
    name = route.request.url.removeprefix("http://study.test/")
    if name.startswith("static/"):
        kind, body = screens.static()[name.removeprefix("static/")]
        route.fulfill(content_type=kind, body=body)
    else:
        template, frame, values = templates[name]
        try:
            page = screens.render(template, frame, **values)
        except Exception:  # without an answer the browser would wait for ever
            route.fulfill(status=500, body="")
            raise
        route.fulfill(headers={**HEADERS, "Content-Type": "text/html; charset=utf-8"}, body=page)


@pytest.fixture(scope="module")
def shown(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """Shows what `answer` serves; axe-core is let in beside it."""
    made = pages(tmp_path_factory.mktemp("studies"))

    context = browser.new_context(
        bypass_csp=True, reduced_motion="reduce", viewport={"width": 1440, "height": 900}
    )
    context.route("**/*", partial(answer, made))
    yield context.new_page()
    context.close()


def violations(page: Page, run: dict[str, Any]) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
    found = page.evaluate("run => axe.run(document, {...run, resultTypes: ['violations']})", run)[
        "violations"
    ]
    return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize("name", NAMES)
def test_a_screen_has_no_violation_and_fits(shown: Page, name: str):
    shown.set_viewport_size({"width": 1440, "height": 900})
    shown.emulate_media(color_scheme="light")
    shown.goto(f"http://study.test/{name}")
    assert violations(shown, {"runOnly": STANDARDS}) == []
    shown.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    shown.emulate_media(color_scheme="dark")
    assert violations(shown, {"runOnly": ["color-contrast"]}) == []
    shown.set_viewport_size({"width": 320, "height": 700})
    width, screen = shown.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width <= screen, "no scrolling in two directions at 400 % zoom (WCAG 1.4.10)"
    assert (
        violations(shown, {"runOnly": ["target-size", "label", "scrollable-region-focusable"]})
        == []
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_dark_screen_of_a_phone_has_no_violation(shown: Page, name: str):
    shown.set_viewport_size({"width": 390, "height": 844})
    shown.emulate_media(color_scheme="dark")
    shown.goto(f"http://study.test/{name}")
    shown.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    assert violations(shown, {"runOnly": STANDARDS}) == []
    assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_check_finds_what_is_wrong(shown: Page):
    shown.goto("http://study.test/problem")
    shown.evaluate(
        "document.querySelector('main').insertAdjacentHTML('beforeend', '<input><p class=grey>a</p>')"
    )
    assert [one.partition(":")[0] for one in violations(shown, {"runOnly": STANDARDS})] == ["label"]
