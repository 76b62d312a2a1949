"""The studies of all papers from the first item to the last: by hand on a desktop and on a phone, by keyboard alone,
and without scripts."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.contrib.annotate.browser.people import Labeller, by_keyboard, fill, someone, study_of
from tests.contrib.annotate.browser.samples import RECORDS
from tests.contrib.annotate.serving import ServedStudy

from longmark.contrib.annotate.site import stored_items, stored_study
from longmark.contrib.annotate.study import (
    TEMPLATES,
    Choice,
    Cloze,
    Compare,
    Edit,
    Errors,
    FreeText,
    Scale,
    Spans,
)

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


def check_saved(served: ServedStudy, *, text: str, marks: bool) -> None:
    """Every field that was asked has what was entered: the first option as the page showed it, the text that was typed,
    a mark (or none) that stands in its text. `a` of a choice between answers is the one that was shown first."""
    with closing(served.store()) as store:
        study = stored_study(store)
        assert study is not None
        items = {item.id: item for item in stored_items(store)}
        answers = store.answers()
        swapped = {one.item_id: one.swapped for one in store.assignments()}
    assert {answer.item_id for answer in answers} == set(items)
    for answer in answers:
        item = items[answer.item_id]
        asked = [
            field for field in study.asked if study.applies(field, answer.values, item.columns)
        ]
        assert answer.values.keys() <= {field.name for field in asked}
        for field in asked:
            value = answer.values.get(field.name)
            if isinstance(field, Spans):
                assert len(value or ()) <= marks
                for span in value or ():
                    assert span["quote"] == item.shown[field.over][span["start"] : span["end"]]
                    assert span["tag"] == field.tags[0].value
            elif isinstance(field, Compare):
                assert value == ("b" if swapped[item.id] else "a")
            elif isinstance(field, Errors):
                assert value == [field.possible[0]]
            elif isinstance(field, Choice):
                assert value == field.possible[0]
            elif isinstance(field, Scale):
                assert value == field.min
            elif isinstance(field, FreeText):
                assert value == text
            elif isinstance(field, Edit):
                assert value == {"verdict": "accept"}
            elif isinstance(field, Cloze):
                assert value is not None
                assert value["quote"] == item.shown[field.over][value["start"] : value["end"]]
            else:
                assert value is not None
                assert [row["point"] for row in value]
                assert {cell for row in value for cell in row["values"].values()} == {
                    field.values[0].value
                }
    if marks and any(isinstance(field, Spans) for field in study.asked):
        assert any(
            answer.values.get(field.name)
            for answer in answers
            for field in study.asked
            if isinstance(field, Spans)
        )


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
        check_saved(served, text="Right", marks=True)


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
        check_saved(served, text="It is right 🌊.", marks=False)
