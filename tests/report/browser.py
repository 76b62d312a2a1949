"""The report in a real browser: Debian's `chromium`, where it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (apt-get install chromium)")

_FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--enable-logging=stderr"),
    *("--window-size=1280,900", "--virtual-time-budget=5000", "--dump-dom"),
]


def opened(page: Path, profile: Path, state: str = "") -> str:
    """The page's HTML after its script has run; fails where the console holds any message. state: of the address."""
    assert CHROMIUM is not None
    done = subprocess.run(
        [CHROMIUM, *_FLAGS, f"--user-data-dir={profile}", page.as_uri() + state],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    assert not console, console
    return done.stdout.split('<script type="application/json"')[0]


def after(page: Path, profile: Path, script: str, state: str = "") -> str:
    """The same where a reader does more than the address can say: `script` runs at the end, in a copy of the page that
    has no content policy."""
    source = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text("utf-8"))
    copy = page.with_name(f"{page.stem}-after.html")
    copy.write_text(source.replace("</body>", f"<script>{script}</script></body>"), "utf-8")
    return opened(copy, profile, state)


class _Reader(HTMLParser):
    """Collects what a reader sees: nothing of what is folded but its summary; a cell's label before the cell."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.folds: list[bool] = []  # whether what comes of each fold that is not closed yet is in sight
        self.opens: list[bool] = []
        self.silent = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.parts.append("|")
        if tag == "details":
            self.opens.append("open" in given)
            self.folds.append("open" in given)
        elif tag == "summary":
            self.folds[-1] = True
        elif tag in ("style", "script"):
            self.silent = True
        self.handle_data(f"{given['data-label']}|" if given.get("data-label") else "")

    def handle_endtag(self, tag: str) -> None:
        self.parts.append("|")
        if tag == "details" and self.folds:
            self.folds.pop(), self.opens.pop()
        elif tag == "summary" and self.folds:
            self.folds[-1] = self.opens[-1]
        self.silent = False

    def handle_data(self, data: str) -> None:
        if all(self.folds) and not self.silent:
            self.parts.append(data)


def texts(source: str) -> str:
    """What a reader reads: the text with a bar between elements."""
    reader = _Reader()
    reader.feed(source)
    return re.sub(r"\s*\|[\s|]*", "|", "".join(reader.parts))
