"""One Chromium, the system's, for the tests of a module. It closes after the last of them: Playwright keeps an event
loop running, beside which a later test could not run its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    program = next((found for name in CHROMIUM if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("there is no Chromium on this machine: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
        made = playwright.chromium.launch(executable_path=program, args=options)
        yield made
        made.close()
