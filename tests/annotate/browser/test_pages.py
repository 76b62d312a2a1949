"""Every screen by axe-core (WCAG 2.2 AA and its best practices), in light and dark, and at the width of 400 % zoom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.annotate.browser.people import written
from tests.annotate.browser.samples import ARABIC, UNBROKEN

from longmark.annotate import markdown, screens
from longmark.annotate.checks import load
from longmark.annotate.items import read_items
from longmark.annotate.screens import (
    Adjudicate,
    Dashboard,
    Disagreement,
    Disagreements,
    Feedback,
    Frame,
    Guidelines,
    ItemPage,
    ItemRow,
    Items,
    Labels,
    Mine,
    Owner,
    People,
    PersonRow,
    Problem,
    SignIn,
    Stale,
    Work,
)
from longmark.annotate.store import Person
from longmark.annotate.study import TEMPLATES
from longmark.annotate.web import HEADERS
from longmark.report.tables import Column, Table

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

AT = "2026-11-23T04:05:06Z"
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def frame(role: Any, title: str = "Answers about floods", **more: Any) -> Frame:
    return Frame(title, Person("p1", "Ada", role), "token", **more)


def pages(folder: Path) -> dict[str, screens.Screen]:
    made: dict[str, screens.Screen] = {}
    for name in TEMPLATES:
        (folder / name).mkdir()
        path = written(folder / name, name)
        study = load(path)
        for number, item in enumerate(read_items(study, path.parent)):
            one = Work(frame("annotator", study.title), study, item, position=2, total=5, done=1, can_undo=True)
            made[f"{name}-{number}"] = one
    score, pair = made["score-0"], made["pairs-1"]
    assert isinstance(score, Work)
    assert isinstance(pair, Work)
    labels = [Labels("Ada", {"preference": "a"}, AT, 84.0, "done"), Labels("Bo", {"preference": "b"}, AT)]
    values = [one.values for one in labels]
    table = Table(
        "a", "Agreement", (Column("Field"), Column("kappa", places=2)), [("hazard", 0.71)], note="Two labels."
    )
    people = Table("p", "By person", (Column("Person"), Column("Done")), [("Ada", 3)])
    exports = [("labels.jsonl", "every label")]
    state = frame("annotator", notice="Saved.", paused=True)
    errors = {"location": "is not answered yet", "answer_relevance": "expected a whole number from 1 to 10"}
    ready = {"f.hazard": ["yes"], "f.comment": ["fine"]}
    stale = Stale({"f.hazard": ["no"], "f.confidence": ["3"]}, AT)
    rows = [
        Mine("a", "When?", "done", AT),
        Mine("b", ARABIC, "skipped", AT, "Not my field"),
        Mine("c", UNBROKEN, "draft", AT, editable=False),
        Mine("d", "How?", "open"),
    ]
    owner = frame("owner")
    return made | {
        "errors": Work(state, score.study, score.item, ready, errors, stale=stale, suggestions=["hazard"]),
        "preview": Work(owner, pair.study, pair.item, preview=True),
        **{state: SignIn(Frame("Floods"), state, "/in/x", "Ada") for state in ("none", "ready", "wrong", "invalid")},
        "mine": Dashboard(frame("annotator"), rows, [("training", 2, 5), ("labels", 1, 4)], message="One is left."),
        "guidelines": Guidelines(frame("annotator"), markdown.page("## How\n\nRead *first*.\n\n|a|b|\n|-|-|\n|1|2|\n")),
        "consent": Guidelines(frame("annotator"), markdown.page("I agree."), consent=True, confirm=True),
        "feedback": Feedback(
            frame("annotator"), score.study, replace(score.item, gold={"hazard": "no"}), {"hazard": "yes"}, 0, 1
        ),
        "owner": Owner(owner, [("Items", "50")], [people], [table], ["item i1 names a system"], exports),
        "people": People(
            owner, [PersonRow("p2", "Bo", "annotator", outlier="fast")], "https://e.org/in/x", "Bo", "No."
        ),
        "items": Items(owner, [ItemRow("i1", "When?", 1, 2, 1, "open")], 2, 3, 250),
        "item": ItemPage(owner, pair.study, pair.item, labels),
        "disagreements": Disagreements(frame("adjudicator"), [Disagreement("a", "When?", ["preference"], mine=True)]),
        "adjudicate": Adjudicate(
            frame("adjudicator"), pair.study, pair.item, values, {}, {"justification": "is missing"}, ["preference"]
        ),
        "problem": Problem(frame("annotator"), 409, "Closed", "Not saved.", "Ask.", [("Comment", "my words")]),
    }


NAMES = [f"{name}-0" for name in TEMPLATES] + ["score-1", "climaqa-1", "errors", "preview", "none", "ready", "wrong"]
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


@pytest.fixture(scope="module")
def shown(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A page at http://study.test/NAME, with the server's policy; axe-core is let in beside it."""
    made = pages(tmp_path_factory.mktemp("studies"))

    def answer(route: Route) -> None:
        name = route.request.url.removeprefix("http://study.test/")
        if name.startswith("static/"):
            kind, body = screens.static()[name.removeprefix("static/")]
            route.fulfill(content_type=kind, body=body)
        else:
            route.fulfill(
                headers={**HEADERS, "Content-Type": "text/html; charset=utf-8"}, body=screens.render(made[name])
            )

    context = browser.new_context(bypass_csp=True, reduced_motion="reduce", viewport={"width": 1440, "height": 900})
    context.route("**/*", answer)
    yield context.new_page()
    context.close()


def violations(page: Page, run: dict[str, Any]) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
    found = page.evaluate("run => axe.run(document, {...run, resultTypes: ['violations']})", run)["violations"]
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
    assert violations(shown, {"runOnly": ["target-size", "label", "scrollable-region-focusable"]}) == []


def test_the_check_finds_what_is_wrong(shown: Page):
    shown.goto("http://study.test/problem")
    shown.evaluate("document.querySelector('main').insertAdjacentHTML('beforeend', '<input><p class=grey>a</p>')")
    assert [one.partition(":")[0] for one in violations(shown, {"runOnly": STANDARDS})] == ["label"]
