"""One Chromium, the system's, for the tests of a module. It closes after the last of them: Playwright keeps an event
loop running, beside which a later test could not run its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.browser import chromium, program

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if program() is None:
        pytest.skip("there is no Chromium on this machine: apt-get install chromium")
    with chromium() as made:
        yield made
