"""One Chromium, the system's, for the tests of a module. It closes after the last of them: Playwright keeps an event
loop running, beside which a later test could not run its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.browser import chromium_or_skip

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    yield from chromium_or_skip()
