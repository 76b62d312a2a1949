"""The system's Chromium, driven by Playwright, and the screens that pages are looked at on."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

VIEWS: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1440, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}


# Debian's package of the engine without windows stands first: a new page takes a fifth of the CPU seconds of one in
# the whole browser, which starts processes for toolbars that nobody sees.
NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run")
MISSING = "there is no Chromium on this machine: apt-get install chromium-headless-shell"


def program() -> str | None:
    """The path of the system's Chromium."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=program(), args=[*FLAGS])
        yield made
        made.close()


def chromium_or_skip() -> Iterator[Browser]:
    """For a fixture: a browser, or why the tests that need one are left out."""
    pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if program() is None:
        pytest.skip(MISSING)
    with chromium() as browser:
        yield browser
