"""Every kind of page in a real browser, at 1280 and 390, in light and dark: by axe-core, and no longer or wider than a
reader bears. `view` and the screens of annotate have tests of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.browser import chromium_or_skip

pytest.importorskip("scipy")

from tests.contrib.every_page import PAGES, on_screens

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    pytest.importorskip("axe_playwright_python")
    yield from chromium_or_skip()


@pytest.mark.parametrize("build", PAGES, ids=lambda build: build.__name__)
def test_a_page_has_no_violation_and_fits(
    build: Callable[[Path], Path], browser: Browser, tmp_path: Path
) -> None:
    with ThreadPoolExecutor(
        1
    ) as pool:  # this thread has Playwright's event loop, beside which no other can run
        page_file = pool.submit(build, tmp_path).result()
    seen = on_screens(browser, page_file.as_uri())
    assert [screen for screen in seen if screen.wrong] == []
