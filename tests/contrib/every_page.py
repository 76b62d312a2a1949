"""Every kind of page that longmark writes as a file, made of small runs, and what is wrong with one in a browser."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.analysis.compare.runs import run_of
from tests.contrib.decide import test_audit, test_certify
from tests.contrib.papers import comprehensiveness_runs
from tests.contrib.papers.calf.calf_runs import write_pairs
from tests.contrib.papers.climaqa import climaqa_runs
from tests.contrib.papers.score_models import Fakes, carry, make_index
from tests.program import in_process, run, write_jsonl
from tests.report.runs import RELEVANCE, hostile, long_names, made_up, manifest
from tests.wire import serve

from longmark.contrib.decide.certificate_page import document as certificate_page
from longmark.contrib.decide.certify import Claimed, certify
from longmark.models.cache import CallCache
from longmark.records import Example
from longmark.report.document import write_document

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

STANDARDS = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]
OF_A_SCREEN = ["color-contrast", "target-size", "scrollable-region-focusable"]
"""Rules whose result depends on the width or the colours; the others are asked on the first screen."""
SCREENS: list[tuple[int, Any]] = [
    (width, scheme) for width in (1280, 390) for scheme in ("light", "dark")
]
LONGEST = 8_000  # pixels of a page whose folds are closed
LENGTH = "classic.length.characters"


def done(*words: object) -> None:
    assert in_process([str(word) for word in words]) == 0


def in_own_process(folder: Path, *words: str) -> None:
    """For what scores: a run handles signals, which only a main thread can."""
    ended = run(*words, home=folder / "home", cwd=folder, stdin=subprocess.DEVNULL)
    assert ended.code == 0, ended.err


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


def certificate(folder: Path, *, systems: str = "ba", **given: Any) -> Path:
    rated, labels = folder / "run", folder / "labels.jsonl"
    if not labels.exists():
        labelled(folder)
    better, worse = tuple(systems)
    claim = f"{better} better than {worse} on {RELEVANCE}"
    claimed = Claimed(claim=claim, runs=(str(rated),), labels=str(labels), mapping={}, order={})
    write_document(certificate_page(certify(replace(claimed, **given))), folder / "page.html")
    return folder / "page.html"


def certificate_refused(folder: Path) -> Path:
    """The claim the other way round."""
    return certificate(folder, systems="ab")


def certificate_undecided(folder: Path) -> Path:
    """Raters to whom the two are about equal."""
    _, labels = labelled(folder)
    write_jsonl(labels, test_certify.of_two_tastes(-0.5, -0.4))
    return certificate(folder, order={"rating": test_certify.ORDER})


def audit(folder: Path) -> Path:
    with serve(answer=test_audit.BiasedJudge()) as server:
        judge = f"m@{server.base_url}"
        in_own_process(folder, "audit", "--judge", judge, "--no-reasons", "--quiet", "--out", "out")
    return folder / "out/report.html"


def score_study(folder: Path) -> Path:
    plan = Fakes().plan(folder / "s", make_index(folder / "idx"))
    outcome = carry(plan, CallCache(folder / "calls.sqlite"))
    assert outcome.document is not None
    write_document(outcome.document, folder / "page.html")
    return folder / "page.html"


def calf_study(folder: Path) -> Path:
    pairs = write_pairs(folder)
    in_own_process(folder, "calf-study", str(pairs), "--metrics", LENGTH, "--out", "out")
    return folder / "out/report.html"


def calf_disagreements(folder: Path) -> Path:
    calf_study(folder)
    return folder / f"out/disagreements/{LENGTH}.html"


def climaqa_study(folder: Path) -> Path:
    settings = ("default", "rag-source")
    scored = [climaqa_runs.write_run(folder / setting, setting) for setting in settings]
    beside = climaqa_runs.write_beside(folder / "beside").items()
    words = [word for pair in beside for word in pair]
    benchmark = climaqa_runs.write_benchmark(folder / "bench")
    done("climaqa-study", *scored, "--benchmark", benchmark, *words, "--out", folder / "out")
    return folder / "out/report.html"


def comprehensiveness_study(folder: Path) -> Path:
    """Two methods on both data sets."""

    def often_right(example: Example) -> float:
        is_right = len(f"{example.question}{example.answer}") % 3 or example.id.endswith("0")
        return comprehensiveness_runs.right(example) if is_right else 0.3

    named = (comprehensiveness_runs.NLI, comprehensiveness_runs.E2E)
    scores: dict[str, comprehensiveness_runs.Scores] = dict.fromkeys(named, often_right)
    written = [
        comprehensiveness_runs.write_run(folder / name, examples, "big", scores)
        for name, examples in (
            ("w", comprehensiveness_runs.wiki(folder, 12)),
            ("b", comprehensiveness_runs.bank(folder, 6)),
        )
    ]
    words = ("--answers", written[0], "--resamples", 300, "--out", folder / "out")
    done("comprehensiveness-study", *written, *words)
    return folder / "out/report.html"


def demo(folder: Path) -> Path:
    in_own_process(folder, "demo", "--out", "out")
    return folder / "out/index.html"


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
    certificate_refused,
    certificate_undecided,
    audit,
    score_study,
    calf_study,
    calf_disagreements,
    climaqa_study,
    comprehensiveness_study,
    demo,
]


@dataclass(frozen=True)
class PageOnScreen:
    """A page as a screen shows it, its folds closed for the height. wrong: what a reader would meet."""

    width: int
    scheme: str
    height: int
    wrong: tuple[str, ...]


def on_screens(
    browser: Browser,
    url: str,
    *,
    screens: Sequence[tuple[int, Any]] = tuple(SCREENS),
    prepare: Callable[[BrowserContext], object] = lambda context: None,
    picture: Path | None = None,
) -> Iterator[PageOnScreen]:
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
    for width, scheme in screens:
        context = browser.new_context(
            bypass_csp=True,
            reduced_motion="reduce",
            color_scheme=scheme,
            viewport={"width": width, "height": 900},
            has_touch=width < 600,
            is_mobile=width < 600,
        )
        prepare(context)
        page = context.new_page()
        page.goto(url)
        height = page.evaluate("document.documentElement.scrollHeight")
        if picture is not None:
            page.screenshot(path=f"{picture}-{width}-{scheme}.png", full_page=True)
        wrong = [f"{height} px long"] if height > LONGEST else []
        page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
        page.evaluate(axe)
        rules = STANDARDS if (width, scheme) == screens[0] else OF_A_SCREEN
        violations = page.evaluate("runOnly => axe.run(document, {runOnly})", rules)["violations"]
        wrong += [
            f"{violation['id']}: {violation['nodes'][0]['html'][:200]}" for violation in violations
        ]
        wide, screen = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        if wide > screen:
            wrong.append(f"{wide} px wide")
        context.close()
        yield PageOnScreen(width, scheme, height, tuple(wrong))
