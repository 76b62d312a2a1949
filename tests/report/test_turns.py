"""A conversation on the page in a real browser: by axe-core and by keyboard, on a desktop and a phone."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from tests.browser import FLAGS, program
from tests.report.browser import needs_chromium

import longmark
from longmark.report.html import write_report

STANDARDS = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]
CALL = {"role": "assistant", "calls": ['lookup({"river": "Nile"})']}


def conversation(system: str) -> dict[str, Any]:
    turns: list[dict[str, Any]] = [{"role": "system", "text": "Be brief."}]
    turns += [
        {"role": role, "text": f"{role} {n} " * 9}
        for n in range(3)
        for role in ("user", "assistant")
    ]
    turns += [{"role": "user", "text": "Und?"}, CALL, {"role": "tool", "text": "6,650 km"}]
    last = {"role": "assistant", "text": "Lang.", "contexts": ["Long."]}
    return {"id": f"c-{system}", "question_id": "c", "system": system, "turns": [*turns, last]}


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize("mode", ["last", "each", "all"])
def test_a_conversation_is_read_by_everybody(mode: str, tmp_path: Path) -> None:
    pytest.importorskip("axe_playwright_python")
    playwright = pytest.importorskip("playwright.sync_api")
    longmark.run(list(map(conversation, "ab")), "classic.length", out=tmp_path / "r", turns=mode)
    write_report([tmp_path / "r"], tmp_path / "r.html")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program(), args=[*FLAGS])
        page = browser.new_context(bypass_csp=True, reduced_motion="reduce").new_page()
        for scheme, width in (("light", 1440), ("dark", 320)):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            page.goto((tmp_path / "r.html").as_uri())
            summary = page.locator("details.item > summary").first
            summary.focus()
            page.keyboard.press("Enter")
            page.wait_for_selector(".panel")
            page.evaluate(
                "for (const one of document.querySelectorAll('.panel details')) one.open = true"
            )
            page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
            found = page.evaluate("runOnly => axe.run(document, {runOnly})", STANDARDS)[
                "violations"
            ]
            assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []
            wide, screen = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert wide <= screen
        turns = (
            "[...document.querySelectorAll('.panel .turn h5 .id')].map((one) => one.textContent)"
        )
        assert page.evaluate(turns) == [f"turn {n}" for n in range(1, 12)] * 2, (
            "each conversation is whole"
        )
        scored = page.locator(".panel .turn.scored").count()
        assert scored == {"last": 2, "each": 8, "all": 0}[mode]
        browser.close()
