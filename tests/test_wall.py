"""The wall: the core imports nothing of `longmark.contrib`, and a package of it imports what is published, as a package
of anybody else would."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from tests.api import FOR_PLUGINS, PACKAGES, PINNED_FOR_PACKAGES, used_by_packages
from tests.program import LONGEST, ROOT, environment, write_jsonl
from tests.test_imports import MODULES, SOURCE, edges, tree

import longmark
from longmark import plugins
from longmark.models import Scheme

CONTRIB = SOURCE / "contrib"
CORE_TESTS = (
    "records",
    "text",
    "scores",
    "stats",
    "metrics",
    "models",
    "engine",
    "report",
    "analysis",
    "view",
)
CORE_SECONDS = 1800  # the core's tests take 5 to 8 minutes, and longer on a machine that is busy
NAMES = sorted(folder.name for folder in CONTRIB.iterdir() if (folder / "__init__.py").is_file())
ENTRY_POINTS: dict[str, dict[str, str]] = tomllib.loads((ROOT / "pyproject.toml").read_text())[
    "project"
]["entry-points"]


def package_of(module: str) -> str | None:
    """`make` of contrib.make.rag.answer; None for a module of the core."""
    parts = module.split(".")
    return parts[1] if parts[0] == "contrib" and len(parts) > 1 else None


def test_the_core_imports_no_package():
    wrong = [
        f"{importer} (line {line}) imports {imported}"
        for importer, imported, line in edges()
        if package_of(importer) is None and imported.startswith("contrib")
    ]
    assert wrong == []


def test_the_core_names_no_package_in_a_text_that_could_import_it():
    """Nor by name: packages are found by their entry points."""
    wrong = []
    for name, path in MODULES.items():
        if name.startswith("contrib"):
            continue
        module = tree(path)
        docstrings = {
            id(node.body[0].value)
            for node in ast.walk(module)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        wrong += [
            f"{name} (line {node.lineno})"
            for node in ast.walk(module)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and "longmark.contrib" in node.value
            and id(node) not in docstrings
        ]
    assert wrong == []


def test_a_package_imports_another_only_where_its_docstring_names_it():
    wrong = []
    for importer, imported, line in edges():
        package, other = package_of(importer), package_of(imported)
        if package and other and package != other:
            docstring = ast.get_docstring(tree(MODULES[f"contrib.{package}"])) or ""
            if f"longmark.contrib.{other}" not in docstring:
                wrong.append(f"{importer} (line {line}) imports {imported}")
    assert wrong == []


def test_packages_import_no_module_with_an_underscore():
    wrong = [
        f"{importer} (line {line}) imports {imported}"
        for importer, imported, line in edges()
        if package_of(importer) and package_of(imported) is None and "._" in f".{imported}"
    ]
    assert wrong == []


def test_only_verbs_import_the_command_line():
    wrong = [
        f"{importer} (line {line}) imports {imported}"
        for importer, imported, line in edges()
        if package_of(importer)
        and imported.split(".")[0] == "cli"
        and not {"verbs", "cli"} & {*importer.split(".")[2:]}
    ]
    assert wrong == []


def test_packages_import_published_names_only():
    """tests/api_packages.txt is written by `python -m tests.api`: a name that is new in it is a decision."""
    assert used_by_packages() == PINNED_FOR_PACKAGES.read_text(), (
        "python -m tests.api, and read what is new"
    )


def test_the_names_for_packages_of_others_exist():
    absent = [
        f"{module}.{name}"
        for module, names in FOR_PLUGINS.items()
        for name in names
        if not hasattr(import_module(module), name)
    ]
    assert absent == []


@pytest.mark.parametrize("name", NAMES)
def test_a_package_says_what_it_is_for_and_in_which_order_to_read_it(name: str):
    readme = (CONTRIB / name / "README.md").read_text()
    assert readme.startswith("# ")
    assert "registers" in readme
    assert len(readme.splitlines()) <= 30
    files = {path.name for path in (CONTRIB / name).iterdir() if path.suffix == ".py"} - {
        "__init__.py"
    }
    named = {word.strip("`,") for word in readme.split() if word.startswith("`")}
    patterns = tuple(word.removesuffix("*.py") for word in named if word.endswith("*.py"))
    assert [file for file in files - named if not (patterns and file.startswith(patterns))] == []


@pytest.mark.parametrize(
    ("group", "name"),
    [
        (group, name)
        for group, points in ENTRY_POINTS.items()
        if group.startswith("longmark.")
        for name in points
    ],
)
def test_every_entry_point_names_what_is_there(group: str, name: str):
    module, _, attribute = ENTRY_POINTS[group][name].partition(":")
    loaded = import_module(module)
    value = getattr(loaded, attribute) if attribute else None
    assert not attribute or callable(value) or isinstance(value, Scheme)


def test_the_message_that_a_package_is_missing_knows_what_each_package_adds():
    added = {
        (package, group, name)
        for package, groups in plugins.PACKAGES.items()
        for group, names in groups.items()
        for name in names
    }
    groups = {group for _, group, _ in added}
    declared = {
        (value.split(".")[2], group.removeprefix("longmark."), name)
        for group, points in ENTRY_POINTS.items()
        for name, value in points.items()
        if group.removeprefix("longmark.") in groups
    }
    assert added == declared


def test_the_packages_are_those_that_the_layout_names():
    assert [*PACKAGES] == NAMES


# The core alone -------------------------------------------------------------------------------------------------------


def core_alone(folder: Path) -> Path:
    """A copy of the sources, the tests and what they read, without packages: as if nobody had written them."""
    for name in ("src", "tests", "examples", "docs", "design", "bench"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in ("pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "THIRD-PARTY.md"):
        shutil.copy(ROOT / path, folder / path)
    shutil.rmtree(folder / "src" / "longmark" / "contrib")
    shutil.rmtree(folder / "tests" / "contrib")
    installed = folder / "src" / "longmark-0.dist-info"  # found before the one of this environment
    installed.mkdir()
    (installed / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: longmark\nVersion: {longmark.__version__}\n"
    )
    (installed / "entry_points.txt").write_text("[console_scripts]\nlongmark = longmark.cli:main\n")
    return folder


def alone(folder: Path, *words: str, seconds: float = LONGEST) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join((str(folder / "src"), str(folder)))
    own = environment(folder / "home") | {"PYTHONPATH": path}
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=own,
        capture_output=True,
        text=True,
        timeout=seconds,
    )


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return core_alone(tmp_path_factory.mktemp("core"))


def test_the_core_alone_goes_from_a_file_to_a_page_a_comparison_and_a_validation(core: Path):
    def longmark_alone(*words: str) -> str:
        done = alone(core, "-m", "longmark", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    shown = longmark_alone("--help")
    assert "metaeval" in shown
    assert "annotate" not in shown.partition("verbs:")[2]
    answers = [
        {
            "id": f"{system}{i}",
            "question_id": f"q{i}",
            "question": "Why?",
            "system": system,
            "answer": "It is. " * (i + n),
        }
        for n, system in enumerate(("first", "second"), 1)
        for i in range(1, 7)
    ]
    write_jsonl(core / "answers.jsonl", answers)
    labels = [
        {"example_id": answer["id"], "rater": "r", "label": "quality", "value": i % 5 + 1}
        for i, answer in enumerate(answers)
    ]
    write_jsonl(core / "labels.jsonl", labels)
    assert "12" in longmark_alone("look", "answers.jsonl")
    longmark_alone("run", "answers.jsonl", "--metrics", "classic.length", "--out", "run", "--quiet")
    longmark_alone("report", "run", "--out", "report.html")
    assert "first" in longmark_alone("compare", "run", "--draws", "200")
    assert "12 answers with human ratings" in longmark_alone("metaeval", "run", "labels.jsonl")
    refused = alone(core, "-m", "longmark", "compare", "run", "--labels", "labels.jsonl")
    assert refused.returncode == 2
    assert (
        "compare --labels needs a package that adds labels to longmark.corrections"
        in refused.stderr
    )


@pytest.mark.slow  # the core's tests a second time
def test_the_core_alone_passes_its_own_tests(core: Path):
    done = alone(
        core,
        "-m",
        "pytest",
        "-q",
        "-m",
        "not slow and not embedded",
        "-n",
        "2",
        *(f"tests/{name}" for name in CORE_TESTS),
        seconds=CORE_SECONDS,
    )
    assert done.returncode == 0, done.stdout[-4000:]
