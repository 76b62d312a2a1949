"""The report in a real browser: the system's Chromium, where it is installed."""

from __future__ import annotations

import atexit
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

import pytest
from tests.browser import FLAGS, MISSING, program

needs_chromium = pytest.mark.skipif(program() is None, reason=MISSING)

_BUDGET = 5000  # virtual milliseconds that a page has: its clock jumps over waits


class _Browser:
    """One browser, with one page, for all tests of a process: a start takes as long as five pages. It lives on a thread
    of its own, because Playwright keeps an event loop running, beside which a test could not run its own."""

    def __init__(self) -> None:
        self._addresses: SimpleQueue[str | None] = SimpleQueue()
        self._replies: SimpleQueue[tuple[str, list[str]] | Exception] = SimpleQueue()
        self._thread = Thread(target=self._live, daemon=True)
        self._thread.start()
        atexit.register(self._end)

    def show(self, address: str) -> tuple[str, list[str]]:
        """The HTML of a page when its time is over, and what the console held."""
        self._addresses.put(address)
        reply = self._replies.get(timeout=120)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def _end(self) -> None:
        self._addresses.put(None)
        self._thread.join(10)

    def _live(self) -> None:
        try:
            from playwright.sync_api import sync_playwright

            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=program(), args=[*FLAGS])
                self._serve(browser.new_page(viewport={"width": 1280, "height": 900}))
                browser.close()
        except Exception as error:
            while self._addresses.get() is not None:
                self._replies.put(error)

    def _serve(self, page: Any) -> None:
        console: list[str] = []
        over: list[object] = []
        page.on("console", lambda message: console.append(message.text))
        page.on("pageerror", lambda error: console.append(str(error)))
        clock = page.context.new_cdp_session(page)
        policy = {"policy": "pauseIfNetworkFetchesPending", "budget": _BUDGET}
        clock.on("Emulation.virtualTimeBudgetExpired", lambda event: over.append(event))
        while (address := self._addresses.get()) is not None:
            try:
                clock.send("Emulation.setVirtualTimePolicy", {"policy": "advance"})
                console.clear()
                over.clear()
                page.goto(address)
                clock.send("Emulation.setVirtualTimePolicy", policy)
                while not over:
                    page.wait_for_timeout(5)
                reply = page.content(), list(console)
                # An address that differs in its state alone would not load the page again; and a page whose clock runs
                # free takes a whole core until the next one.
                clock.send("Emulation.setVirtualTimePolicy", {"policy": "advance"})
                page.goto("about:blank")
                clock.send("Emulation.setVirtualTimePolicy", {"policy": "pause"})
                self._replies.put(reply)
            except Exception as error:
                self._replies.put(error)


_browser = cache(_Browser)


def opened(page: Path, state: str = "") -> str:
    """The page's HTML after its script has run; fails where the console holds any message. state: of the address."""
    source, console = _browser().show(page.as_uri() + state)
    assert not console, console
    return source.split('<script type="application/json"')[0]


def after(page: Path, script: str, state: str = "") -> str:
    """The same where a reader does more than the address can say: `script` runs at the end, in a copy of the page that
    has no content policy."""
    source = re.sub(
        r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text("utf-8")
    )
    copy = page.with_name(f"{page.stem}-after.html")
    copy.write_text(source.replace("</body>", f"<script>{script}</script></body>"), "utf-8")
    return opened(copy, state)


_HEIGHT = """
    document.querySelectorAll("script").forEach(e => e.remove());
    const frame = document.createElement("iframe"), source = document.documentElement.outerHTML;
    frame.style.cssText = "width: 390px; height: 844px; border: 0";
    frame.srcdoc = source;
    frame.onload = () => {
      const high = frame.contentDocument.documentElement.scrollHeight;
      document.body.innerHTML = `<pre id="high">${high}</pre>`;
    };
    document.body.append(frame);
"""


def height_on_a_phone(page: Path) -> int:
    """The height of a page on a screen 390 pixels wide, when its script has run and nothing is unfolded."""
    high = re.search(r'<pre id="high">(\d+)</pre>', after(page, _HEIGHT))
    assert high is not None
    return int(high[1])


class _VisibleText(HTMLParser):
    """Collects what a reader sees: nothing of what is folded but its summary; a cell's label before the cell."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.folds: list[
            bool
        ] = []  # whether what comes of each fold that is not closed yet is in sight
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
    reader = _VisibleText()
    reader.feed(source)
    return re.sub(r"\s*\|[\s|]*", "|", "".join(reader.parts))
