"""Every kind of page in a real browser, at 1280 and 390, in light and dark: by axe-core, and no longer or wider than a
reader bears. `view` and the screens of annotate have tests of their own."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.analysis.compare.runs import run_of
from tests.browser import chromium_or_skip
from tests.contrib.decide import test_audit, test_certify
from tests.contrib.papers.score_models import Fakes, carry, make_index
from tests.program import in_process, run, write_jsonl
from tests.report.runs import RELEVANCE, hostile, long_names, made_up, manifest
from tests.wire import serve

from longmark.contrib.decide.certificate_page import document as certificate_page
from longmark.contrib.decide.certify import Claimed, certify
from longmark.models.cache import CallCache
from longmark.report.document import write_document

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytest.importorskip("scipy")
pytestmark = pytest.mark.slow

STANDARDS = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]
OF_A_SCREEN = ["color-contrast", "target-size", "scrollable-region-focusable"]
"""Rules whose result depends on the width or the colours; the others are asked on the first screen."""
SCREENS: list[tuple[int, Any]] = [
    (width, scheme) for width in (1280, 390) for scheme in ("light", "dark")
]
LONGEST = 8_000  # pixels of a page whose folds are closed


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    pytest.importorskip("axe_playwright_python")
    yield from chromium_or_skip()


def done(*words: object) -> None:
    assert in_process([str(word) for word in words]) == 0


def runs(folder: Path) -> list[Path]:
    """Two systems, each with every status and every kind of evidence."""
    return [made_up(folder / system, 8, seed, system) for seed, system in enumerate(("old", "new"))]


def report(folder: Path) -> Path:
    done("report", *runs(folder), "--out", folder / "page.html")
    return folder / "page.html"


def report_of_hostile_texts(folder: Path) -> Path:
    done("report", hostile(folder / "run"), "--out", folder / "page.html")
    return folder / "page.html"


def report_of_long_names(folder: Path) -> Path:
    done("report", *long_names(folder), "--out", folder / "page.html")
    return folder / "page.html"


def compare(folder: Path) -> Path:
    done("compare", *runs(folder), "--out", folder / "out", "--draws", 200)
    return folder / "out/report.html"


def compare_of_long_names(folder: Path) -> Path:
    done("compare", *long_names(folder), "--out", folder / "out", "--draws", 200)
    return folder / "out/report.html"


def labelled(folder: Path) -> tuple[Path, Path]:
    rated = run_of(folder / "run", test_certify.scores(), described=manifest() | {"finished": True})
    write_jsonl(folder / "labels.jsonl", test_certify.labels())
    return rated, folder / "labels.jsonl"


def compare_with_labels(folder: Path) -> Path:
    rated, labels = labelled(folder)
    done("compare", rated, "--out", folder / "out", "--draws", 200, "--labels", labels)
    return folder / "out/report.html"


def metaeval(folder: Path) -> Path:
    done("metaeval", *labelled(folder), "--out", folder / "out")
    return folder / "out/report.html"


def metrics_study(folder: Path) -> Path:
    done("metrics-study", *runs(folder), "--out", folder / "out")
    return folder / "out/report.html"


def power(folder: Path) -> Path:
    rated, _ = labelled(folder)
    done("power", rated, "--questions", 200, "--out", folder / "out")
    return folder / "out/report.html"


def certificate(folder: Path) -> Path:
    rated, labels = labelled(folder)
    claim = f"b better than a on {RELEVANCE}"
    claimed = Claimed(claim=claim, runs=(str(rated),), labels=str(labels), mapping={}, order={})
    write_document(certificate_page(certify(claimed)), folder / "page.html")
    return folder / "page.html"


def audit(folder: Path) -> Path:
    with serve(answer=test_audit.BiasedJudge()) as server:
        words = (
            "audit",
            "--judge",
            f"m@{server.base_url}",
            "--no-reasons",
            "--quiet",
            "--out",
            "out",
        )
        # in a process of its own: a run handles signals, which only a main thread can
        ended = run(*words, home=folder / "home", cwd=folder, stdin=subprocess.DEVNULL)
    assert ended.code == 0, ended.err
    return folder / "out/report.html"


def score_study(folder: Path) -> Path:
    plan = Fakes().plan(folder / "s", make_index(folder / "idx"))
    outcome = carry(plan, CallCache(folder / "calls.sqlite"))
    assert outcome.document is not None
    write_document(outcome.document, folder / "page.html")
    return folder / "page.html"


PAGES: list[Callable[[Path], Path]] = [
    report,
    report_of_hostile_texts,
    report_of_long_names,
    compare,
    compare_of_long_names,
    compare_with_labels,
    metaeval,
    metrics_study,
    power,
    certificate,
    audit,
    score_study,
]


@pytest.mark.parametrize("build", PAGES, ids=lambda build: build.__name__)
def test_a_page_has_no_violation_and_fits(
    build: Callable[[Path], Path], browser: Browser, tmp_path: Path
) -> None:
    with ThreadPoolExecutor(
        1
    ) as pool:  # this thread has Playwright's event loop, beside which no other can run
        page_file = pool.submit(build, tmp_path).result()
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
    wrong: list[Any] = []
    for width, scheme in SCREENS:
        context = browser.new_context(
            bypass_csp=True,
            reduced_motion="reduce",
            color_scheme=scheme,
            viewport={"width": width, "height": 900},
            has_touch=width < 600,
            is_mobile=width < 600,
        )
        page = context.new_page()
        page.goto(page_file.as_uri())
        length = page.evaluate("document.documentElement.scrollHeight")
        if length > LONGEST:
            wrong.append((width, scheme, f"{length} px long"))
        page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
        page.evaluate(axe)
        rules = STANDARDS if (width, scheme) == SCREENS[0] else OF_A_SCREEN
        violations = page.evaluate("runOnly => axe.run(document, {runOnly})", rules)["violations"]
        wrong += [
            (width, scheme, violation["id"], violation["nodes"][0]["html"][:200])
            for violation in violations
        ]
        wide, screen = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        if wide > screen:
            wrong.append((width, scheme, f"{wide} px wide"))
        context.close()
    assert wrong == []
