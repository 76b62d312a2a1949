"""The studies of all papers from the first item to the last: by hand on a desktop and on a phone, by keyboard alone,
and without scripts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.contrib.annotate.browser.people import Labeller, by_keyboard, fill, someone, study_of
from tests.contrib.annotate.browser.samples import RECORDS
from tests.contrib.annotate.serving import ServedStudy

from longmark.contrib.annotate.study import TEMPLATES

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def all_done(served: ServedStudy, name: str) -> None:
    store = served.store()
    assert [one.status for one in store.assignments()] == ["done"] * len(RECORDS[name])
    assert all(answer.complete for answer in store.answers())
    store.close()


def finish(person: Labeller, name: str) -> None:
    person.page.wait_for_selector("text=All your items are done")
    all_done(person.served, name)


PLAIN = [
    name if name in ("calf", "pairs", "climaqa") else pytest.param(name, marks=pytest.mark.slow)
    for name in TEMPLATES
]
MOUSE = [
    pytest.param(name, "desktop", marks=pytest.mark.slow) for name in TEMPLATES if name != "pairs"
]


@pytest.mark.parametrize(
    ("name", "view"), [*((name, "phone") for name in TEMPLATES), ("pairs", "desktop"), *MOUSE]
)
def test_every_item_by_hand(browser: Browser, tmp_path: Path, name: str, view: str):
    with study_of(tmp_path, name) as served, someone(browser, served, "Ada", view=view) as ada:
        for _ in RECORDS[name]:
            width, shown = ada.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert width <= shown, "nothing is wider than the screen"
            assert "hidden-" not in ada.page.content(), "names of systems are hidden"
            fill(ada.page)
            ada.state("Saved")
            ada.submit()
        finish(ada, name)
        assert ada.served.store().visits(), "the visible time is counted"


@pytest.mark.parametrize("name", PLAIN)
def test_every_item_by_the_keyboard_alone(browser: Browser, tmp_path: Path, name: str):
    with study_of(tmp_path, name) as served, someone(browser, served, "Ada") as ada:
        for _ in RECORDS[name]:
            once = ada.page.locator("input[name=once]").input_value()
            by_keyboard(ada.page)
            ada.gone(once)
        finish(ada, name)


@pytest.mark.parametrize("name", PLAIN)
def test_every_item_without_scripts(browser: Browser, tmp_path: Path, name: str):
    with (
        study_of(tmp_path, name) as served,
        someone(browser, served, "Ada", java_script_enabled=False) as ada,
    ):
        for number, _ in enumerate(RECORDS[name], 1):
            fill(ada.page, scripts=False)
            for reason in ada.page.locator("textarea[name$='.reason']").all():
                reason.fill("", force=True)
            ada.page.locator("#submit").click()
            if number < len(RECORDS[name]):
                ada.page.wait_for_selector(f"h1:has-text('Item {number + 1} of')")
        finish(ada, name)
