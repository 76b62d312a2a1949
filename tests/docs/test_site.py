"""The documentation site: it builds with warnings as errors, and needs nothing of the network. In a browser (slow):
axe-core (WCAG 2.2 AA), light and dark, desktop and phone, and the search from file://. `python -m tests.docs.site
--screenshots FOLDER` makes pictures of the same pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.browser import VIEWS, chromium_or_skip
from tests.contrib.annotate.browser.test_pages import STANDARDS, violations
from tests.docs.site import SHOWN, build, problems

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("zensical", reason="zensical is not installed")
    return build(tmp_path_factory.mktemp("site"))


def test_the_site_is_whole_and_fetches_nothing(site: Path):
    assert list(problems(site)) == []
    page = site / "docs" / "latex.html"
    kept = page.read_text("utf-8")
    page.write_text(
        '<a href="run.html#no">a</a><a href="none.html">b</a><script src="https://e.org/x.js"></script>'
    )
    assert [one.partition(": ")[2] for one in problems(site)] == [
        "run.html#no has no such anchor",
        "none.html does not exist",
        "<script> is fetched from https://e.org/x.js",
    ]
    page.write_text(kept, "utf-8")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    yield from chromium_or_skip()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", SHOWN)
def test_a_page_of_the_site_has_no_violation_and_fits(
    site: Path, browser: Browser, name: str, view: str, scheme: str
):
    context = browser.new_context(**VIEWS[view], color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / f"{name}.html").as_uri())
    assert violations(page, {"runOnly": STANDARDS[:-1]}) == []  # the best practices are the theme's
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert [url for url in asked if not url.startswith("file:")] == []
    context.close()


@pytest.mark.slow
def test_the_search_works_from_a_folder(site: Path, browser: Browser):
    context = browser.new_context(**VIEWS["desktop"])
    page = context.new_page()
    page.goto((site / "docs" / "run.html").as_uri())
    page.locator(".md-search__button").click()
    asked = page.get_by_placeholder("Search")
    asked.fill("Krippendorff")
    found = page.locator("a", has_text="Agreement among raters")
    found.wait_for()
    assert asked.input_value() == "Krippendorff"
    found.click()
    page.wait_for_url("**/docs/metaeval.html*#agreement-among-raters")
    context.close()
