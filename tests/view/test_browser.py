"""The pages in a real browser: by axe-core, by keyboard, on a desktop and a phone, in light and dark."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Literal

import orjson
import pytest
from tests.browser import VIEWS, chromium
from tests.report.browser import needs_chromium
from tests.report.runs import hostile, made_up
from tests.report.test_support import RECORD
from tests.report.test_turns import STANDARDS, conversation
from tests.view.serving import serving
from tests.view.test_folder import begun

import longmark
from longmark.workspace import Workspace

LONGEST = 8_000  # pixels
SCREENS: tuple[tuple[str, Literal["light", "dark"]], ...] = (
    ("desktop", "light"),
    ("phone", "dark"),
)
PAGES = {
    "runs": "/?metric=ccrs.question_relevance",
    "run": "/run?path=alpha",
    "answer": "/answer?path=alpha&id=alpha-0002",
    "support": "/answer?path=support&id=ice",
    "hostile": "/run?path=hostile",
    "turns": "/answer?path=turns&id=c-a%233&beside=1",
    "problem": "/run?path=none",
}


def shown_runs(folder: Path) -> None:
    """The runs that PAGES show."""
    made_up(folder / "alpha", 30, system="alpha")
    hostile(folder / "hostile")
    (folder / "empty").mkdir()
    longmark.run(
        list(map(conversation, "ab")), "classic.length", out=folder / "turns", turns="each"
    )
    longmark.run([RECORD], "ragchecker", out=folder / "support")


@pytest.mark.slow
@needs_chromium
def test_every_page_is_read_by_everybody(tmp_path: Path):
    pytest.importorskip("axe_playwright_python")
    shown_runs(tmp_path)
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
    with serving(tmp_path) as served, chromium() as browser:
        for path in PAGES.values():
            served.settled(path)
        for view, scheme in SCREENS:
            context = browser.new_context(**VIEWS[view], bypass_csp=True, color_scheme=scheme)
            page = context.new_page()
            for name, path in PAGES.items():
                page.goto(served.url + path)
                page.evaluate(
                    "for (const one of document.querySelectorAll('details')) one.open = true"
                )
                page.evaluate(axe)
                found = page.evaluate("runOnly => axe.run(document, {runOnly})", STANDARDS)[
                    "violations"
                ]
                assert [(name, one["id"], one["nodes"][0]["html"][:300]) for one in found] == []
                wide, screen = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
                assert wide <= screen, (view, name)
                height = page.evaluate("document.documentElement.scrollHeight")
                assert height < LONGEST, "a column of evidence has no width"
            context.close()


@pytest.mark.slow
@needs_chromium
def test_the_keyboard_leads_from_the_list_to_an_answer_and_progress_renews_itself(tmp_path: Path):
    run = begun(tmp_path / "run", rows=20)
    complaints: list[str] = []
    with serving(tmp_path) as served, chromium() as browser, Workspace(run, "manifest.json", "run"):
        page = browser.new_page()
        page.on("console", lambda said: complaints.append(said.text))
        page.goto(served.url)
        page.wait_for_selector("td >> text=12 of 20 rows")
        rows = (run / "rows.jsonl").read_bytes().splitlines(keepends=True)
        with (run / "rows.jsonl").open("ab") as file:
            for number, line in enumerate(rows[:8]):
                file.write(orjson.dumps({**orjson.loads(line), "metric": f"new.{number}"}) + b"\n")
        page.wait_for_selector("td >> text=20 of 20 rows", timeout=60_000)
        for words in ("Skip to the content", "run", "first-0000"):
            for _ in range(40):
                page.keyboard.press("Tab")
                at = page.evaluate(
                    "document.activeElement.textContent + document.activeElement.href"
                )
                if words in at:
                    break
            else:
                raise AssertionError(f"the keyboard does not lead to {words}")
            with page.expect_navigation():
                page.keyboard.press("Enter")
        assert page.locator("article.answer").count() == 1
    assert complaints == []
