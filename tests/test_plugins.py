"""A package that adds a metric, a way to name a model and a verb: the one of `examples/plugin`, as it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.program import ROOT, Done, run
from tests.report.runs import answers_on

PLUGIN = ROOT / "examples" / "plugin"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pip installed the package."""
    site = tmp_path_factory.mktemp("site")
    offline = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--no-compile")
    pip = [sys.executable, "-m", "pip", "install", *offline, "--target", str(site), str(PLUGIN)]
    subprocess.run(pip, check=True, timeout=300)
    return site


@pytest.fixture
def installed(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a copy of it that may be changed, first on the path of imports."""
    shutil.copytree(site, tmp_path, dirs_exist_ok=True)
    (tmp_path / "e.jsonl").write_text(
        '{"question": "Q?", "answer": "It may. It is.", "system": "x", "contexts": ["It is."]}\n'
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("longmark_example", None)


def longmark(folder: Path, *words: str) -> Done:
    return run(*words, home=folder / "home", cwd=folder)


def test_what_it_adds_is_listed_with_its_origin(installed: Path):
    for verb, name in (("metrics", "hedges"), ("models", "echo:REPLY")):
        (line,) = [
            one for one in longmark(installed, verb).out.splitlines() if one.split()[:1] == [name]
        ]
        assert line.endswith("(longmark-example 1.0)")
    assert "count-answers" in longmark(installed, "--help").out


def test_what_it_adds_works_as_ours(installed: Path):
    names = "hedges,hedges@modals=false,ccrs.question_relevance"
    done = longmark(
        installed,
        "run",
        "e.jsonl",
        "--metrics",
        names,
        "--judge",
        "echo:80",
        "--out",
        "r",
        "--quiet",
    )
    assert done.code == 0, done.err
    scores = {
        line.split()[0]: line.split()[2]
        for line in done.out.splitlines()
        if line.startswith(("hedges", "ccrs"))
    }
    assert scores == {
        "hedges": "0.500",
        "hedges@modals=false": "0.000",
        "ccrs.question_relevance": "0.800",
    }
    again = longmark(
        installed,
        "run",
        "e.jsonl",
        "--metrics",
        names,
        "--judge",
        "echo:20",
        "--out",
        "r2",
        "--quiet",
    )
    assert re.search(r"^ccrs\.question_relevance +x +0\.200 ", again.out, re.MULTILINE), (
        "no reply of another model"
    )
    assert longmark(installed, "report", "r", "--out", "r.html").code == 0
    (page,) = answers_on(installed / "r.html")
    assert '<mark class="quoted" data-quotes="1">It may.</mark> It is.' in page
    assert "Passages of the answer" in page
    assert "Evidence as recorded</bdi>" not in page, (
        "hedges@modals=false marks nothing, which is no other form"
    )
    assert longmark(installed, "count-answers", "e.jsonl").out == "x: 1\n"
    other = ("--metrics", "score.robustness", "--embedder", "echo:80", "--out", "s")
    refused = longmark(installed, "run", "e.jsonl", *other)
    assert (
        refused.err
        == "longmark: --embedder echo:80: echo:REPLY can be judge, generator, checker, not embedder\n"
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("metrics",),
            "cannot be used: hedges (longmark.metrics of longmark-example 1.0): ZeroDivisionError",
        ),
        (
            ("models",),
            "echo (longmark.models of longmark-example 1.0): ZeroDivisionError while it was imported",
        ),
        (
            ("count-answers", "e.jsonl"),
            "count-answers (longmark.verbs of longmark-example 1.0): ZeroDivisionError",
        ),
    ],
)
def test_a_package_that_cannot_be_imported_is_named(
    installed: Path, words: tuple[str, ...], told: str
):
    (installed / "longmark_example.py").write_text("1 / 0")
    done = longmark(installed, *words)
    assert told in " ".join((done.out + done.err).split())
    assert longmark(installed, "prompts").code == 0  # verbs of ours do not need it
