"""The owner's and the adjudicator's pages, and what a rater does beside labelling: skip, undo, leave and come back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.contrib.annotate.browser.people import someone
from tests.contrib.annotate.serving import ServedStudy, serving, write_study

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedStudy]:
    with serving(write_study(tmp_path)) as one:
        yield one


def test_an_owner_invites_a_person_looks_at_items_and_pauses(browser: Browser, served: ServedStudy):
    with someone(browser, served, "Olga", role="owner") as olga:
        page = olga.page
        page.get_by_role("link", name="People").click()
        page.get_by_label("Name", exact=True).fill("Ada")
        page.get_by_role("button", name="Invite").click()
        link = page.get_by_label("Invitation link").input_value()
        assert link.startswith(f"{served.url}/in/")
        page.reload()
        assert link not in page.content(), "it is shown once"
        page.get_by_role("link", name="Items").click()
        page.get_by_role("link", name="Preview").first.click()
        page.get_by_text("This is a preview").wait_for()
        page.locator("label.option").first.click()
        assert page.locator("#submit").count() == 0
        page.get_by_role("link", name="Progress").click()
        page.get_by_role("button", name="Pause the study").click()
        page.get_by_text("The study is paused").wait_for()
        with closing(served.store()) as store:
            assert store.paused
            assert store.answers() == []
            assert [one.name for one in store.people()] == ["Olga", "Ada"]


def test_a_third_person_decides_and_justifies(browser: Browser, served: ServedStudy):
    first, second = served.person("Ada"), served.person("Bo")
    for client, right in ((first, "yes"), (second, "n-a")):
        assert client.next() == "i0"
        assert client.label("i0", {"f.right": right, "f.relevance": "5"}).status == 303
    with someone(browser, served, "Cy", role="adjudicator") as cy:
        page = cy.page
        page.goto(f"{served.url}/owner/disagreements")
        page.get_by_role("button", name="I have read the guidelines").click()
        page.get_by_role("link", name="Why 0?").click()
        assert page.locator("tr.differs").count() == 0, "the adjudicator reads first"
        page.get_by_role("button", name="Show the labels").click()
        page.locator("tr.differs").wait_for()
        content = page.content()
        assert not {"Ada", "Bo", "alpha"} & set(content.replace("<", " ").replace(">", " ").split())
        assert page.locator("tr.differs td").all_inner_texts() in (["yes", "n-a"], ["n-a", "yes"])
        page.keyboard.press("y")
        page.locator("#submit").click()
        page.wait_for_function("() => document.activeElement.id === 'errors'")
        page.get_by_label("Justification").fill("The source says so.")
        page.locator("#submit").click()
        page.get_by_text("decided").wait_for()
        with closing(served.store()) as store:
            (decision,) = store.adjudications()
        assert (decision.values["right"], decision.justification) == ("yes", "The source says so.")


def test_a_rater_skips_with_a_reason_undoes_and_continues_on_a_phone(
    browser: Browser, served: ServedStudy
):
    with (
        someone(browser, served, "Ada") as ada,
        someone(browser, served, "Ada", view="phone") as phone,
    ):
        page = ada.page
        page.get_by_text("Skip this item").click()
        page.get_by_label("Why?").fill("Not my field")
        page.get_by_role("button", name="Skip", exact=True).click()
        page.wait_for_url("**/work/i1")
        for value in ("3", "8"):
            page.locator(f"label.option:has(input[name='f.relevance'][value='{value}'])").click()
            page.wait_for_timeout(700)
            ada.state("Saved")
        page.reload()
        page.get_by_role("button", name="Undo").click()
        page.wait_for_function(
            "() => document.querySelector(\"[name='f.relevance'][value='3']\")?.checked"
        )
        phone.page.goto(f"{served.url}/work/i1")
        assert phone.page.locator("[name='f.relevance'][value='3']").is_checked()
        phone.page.goto(f"{served.url}/mine")
        assert "Not my field" in phone.page.locator(".mine").inner_text()
        with closing(served.store()) as store:
            skipped = store.assignments()[0]
        assert (skipped.status, skipped.reason) == ("skipped", "Not my field")
