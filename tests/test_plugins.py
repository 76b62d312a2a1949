"""A package that adds a metric, a verb with a page and a way to name a model: the one of `examples/plugin`, as it is
installed. It is written by somebody outside: it imports published names only, and has tests of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from tests import api
from tests.program import LONGEST, ROOT, Done, environment, run
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
    for module in [name for name in sys.modules if name.startswith("longmark_example")]:
        del sys.modules[module]


def longmark(folder: Path, *words: str) -> Done:
    return run(*words, home=folder / "home", cwd=folder)


def test_what_it_adds_is_listed_with_its_origin(installed: Path):
    for verb, name in (("metrics", "hedges"), ("models", "echo:REPLY")):
        (line,) = [
            one for one in longmark(installed, verb).out.splitlines() if one.split()[:1] == [name]
        ]
        assert line.endswith("(longmark-example 1.0)")
    assert "hedges" in longmark(installed, "--help").out.partition("verbs:")[2]


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
    shown = longmark(installed, "hedges", "r", "--out", "hedging")
    assert re.search(r"^x +1 +0 +2 +1 +0\.500", shown.out, re.MULTILINE), shown.err
    page = unescape((installed / "hedging" / "report.html").read_text("utf-8"))
    assert "1 of 1 answers scored by hedges." in page
    assert "It may." in page
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
            ("hedges", "r"),
            "hedges (longmark.verbs of longmark-example 1.0): ZeroDivisionError",
        ),
    ],
)
def test_a_package_that_cannot_be_imported_is_named(
    installed: Path, words: tuple[str, ...], told: str
):
    (installed / "longmark_example" / "__init__.py").write_text("1 / 0")
    done = longmark(installed, *words)
    assert told in " ".join((done.out + done.err).split())
    assert longmark(installed, "prompts").code == 0  # verbs of ours do not need it


def published_names() -> set[tuple[str, str]]:
    """(module, name) of tests/api.txt and of tests/api_packages.txt; the name is "" for a module as a whole."""
    names: set[tuple[str, str]] = set()
    module = ""
    for line in api.PINNED.read_text().splitlines():
        if heading := re.fullmatch(r"\[(.+)\]", line):
            module = heading[1]
            names.add((module, ""))
        elif name := re.match(r"(?:class )?(\w+)", line):  # members and parameters are indented
            names.add((module, name[1]))
    for line in api.PINNED_FOR_PACKAGES.read_text().splitlines():
        module, _, listed = line.partition(": ")
        names |= {(module, name.replace("(the module)", "")) for name in listed.split(", ")}
    return names


def test_the_examples_import_published_names_only():
    sources = [*PLUGIN.rglob("*.py"), ROOT / "examples" / "my_metric.py"]
    imported = {
        (path.name, module, name)
        for path in sources
        for module, name in api.imported_names(path)
        if not module.startswith("longmark_example")
    }
    published = published_names()
    assert len(imported) > 15
    assert [(path, *names) for path, *names in sorted(imported) if (*names,) not in published] == []


def test_its_own_tests_pass(site: Path, tmp_path: Path):
    own = environment(tmp_path / "home")
    own["PYTHONPATH"] = os.pathsep.join((own["PYTHONPATH"], str(site)))
    own["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # they take a second to import, and it needs none
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", str(PLUGIN / "tests"))
    done = subprocess.run(
        [sys.executable, *words],
        cwd=PLUGIN,
        env=own,
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert re.search(r"^\d+ passed", done.stdout, re.MULTILINE)
