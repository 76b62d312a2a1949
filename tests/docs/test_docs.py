"""The docs are executed or generated: every command and every Python block of a page is run, in its order.

Each page has a folder of its own, with what is in `examples/`. An endpoint at http://localhost:PORT/v1 is a test
server; nothing else is reachable. Blocks on the embedded judge are in the slow set (see `blocks.py`).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shutil
import stat
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.docs import generate
from tests.docs.blocks import RUN_HERE, Block, Command, blocks, not_printed, run_command
from tests.program import there
from tests.wire import serve

from longmark import metrics
from longmark.cli import parser
from longmark.contrib.local import catalogue
from longmark.home import home
from longmark.records import STATUSES

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LINKED = [*PAGES, ROOT / "CHANGELOG.md", *sorted((ROOT / "design").glob("*.md"))]
_ENDPOINT = re.compile(r"http://localhost:\d+/v1")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")

# Runs that a page takes to be there.
_BEFORE = {
    "report.md": [
        f"longmark run answers.jsonl --metrics score.readability --out runs/{name} --quiet"
        for name in ("first", "second")
    ]
}


@pytest.fixture
def endpoint() -> Iterator[str]:
    with serve() as server:
        yield server.base_url


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the example files, and a command `longmark` for the shell."""
    place = tmp_path / "page"
    shutil.copytree(ROOT / "examples", place)
    command = tmp_path / "bin" / "longmark"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m longmark "$@"\n', encoding="utf-8")
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    return place


def variables(tmp_path: Path) -> dict[str, str]:
    path = f"{tmp_path / 'bin'}:{Path(sys.executable).parent}:/usr/bin:/bin"
    return {
        "LONGMARK_HOME": str(tmp_path / "home"),
        "PATH": path,
        "PYTHONPATH": str(ROOT / "src"),
        "COLUMNS": "200",
    }


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def run_blocks(page: Path, mark: str, folder: Path, env: dict[str, str], endpoint: str) -> None:
    """Runs the blocks of a page that have this mark."""
    for text in _BEFORE.get(page.name, []):
        code, printed = run_command(Command(text, 0, ()), folder, env)
        assert code == 0, printed
    names: dict[str, Any] = {"__name__": "__docs__"}
    chosen = [
        block for block in blocks(page, ROOT) if block.language in RUN_HERE and block.mark == mark
    ]
    for block in chosen:
        if block.language == "python":
            code_ = compile(_ENDPOINT.sub(endpoint, block.text), block.place, "exec")
            with there(folder, {**os.environ, **env}), contextlib.redirect_stdout(io.StringIO()):
                exec(code_, names)
        else:
            run_console(block, folder, env, endpoint)


def run_console(block: Block, folder: Path, env: dict[str, str], endpoint: str) -> None:
    for command in block.commands:
        asked = Command(_ENDPOINT.sub(endpoint, command.text), command.code, command.printed)
        code, printed = run_command(asked, folder, env)
        shown = f"{block.place}: $ {command.text}\n{printed}"
        assert code == command.code, f"{shown}\nexit code {code}, documented {command.code}"
        lines = tuple(_ENDPOINT.sub(endpoint, line) for line in command.printed)
        missing = not_printed(lines, printed, figures=block.mark != "embedded")
        assert missing is None, f"{shown}\nnot printed in its turn: {missing}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_what_a_page_shows_is_what_happens(page: Path, tmp_path: Path, folder: Path, endpoint: str):
    run_blocks(page, "", folder, variables(tmp_path), endpoint)


@pytest.mark.slow
@pytest.mark.embedded
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(b.mark == "embedded" for b in blocks(page, ROOT))],
    ids=name_of,
)
def test_what_a_page_shows_on_the_embedded_judge(
    page: Path, tmp_path: Path, folder: Path, endpoint: str
):
    if not catalogue.is_installed("judge"):
        pytest.skip("the embedded judge is not installed: longmark models install judge")
    models = (home() / "models").resolve()
    env = variables(tmp_path)
    Path(env["LONGMARK_HOME"]).mkdir()
    (Path(env["LONGMARK_HOME"]) / "models").symlink_to(models)
    run_blocks(page, "embedded", folder, env, endpoint)


def test_a_reason_is_given_for_what_is_not_run():
    left_out = [
        block
        for page in PAGES
        for block in blocks(page, ROOT)
        if block.language in RUN_HERE and block.mark == "not run"
    ]
    assert len(left_out) <= 9, [block.place for block in left_out]


@pytest.mark.parametrize("path", generate.WRITTEN, ids=name_of)
def test_a_generated_file_is_what_is_generated(path: Path):
    assert path.read_text(encoding="utf-8") == generate.WRITTEN[path](), (
        "run: python -m tests.docs.generate"
    )


def test_every_metric_has_its_section():
    written = generate.PAGE.read_text(encoding="utf-8")
    assert [name for name in metrics.names() if f"\n### {name}\n" not in written] == []


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = [page.name for page in PAGES if page.parent.name == "docs" and page.name != "index.md"]
    assert [name for name in pages if f"]({name})" not in index] == []


def test_every_page_is_in_the_navigation_of_the_site():
    site = (ROOT / "zensical.toml").read_text(encoding="utf-8")
    pages = [name_of(page) for page in PAGES if page.parent.name == "docs"]
    assert [name for name in pages if site.count(f'"{name}"') != 1] == []


def test_every_extra_and_every_family_of_metrics_is_named():
    readme, install = (
        (ROOT / name).read_text("utf-8") for name in ("README.md", "docs/install.md")
    )
    for extra in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]:
        assert f"| `{extra}` |" in install, extra
    for family in {name.split(".")[0] for name in metrics.names()}:
        assert family in readme.lower(), family


def test_the_first_screen_of_the_readme_has_what_a_fresh_machine_needs():
    screen = (ROOT / "README.md").read_text("utf-8").splitlines()[:24]
    commands = re.findall(r"^\$ (.*)$", "\n".join(screen), re.MULTILINE)
    assert commands == ["make demo", "make test"]
    targets = (ROOT / "Makefile").read_text("utf-8")
    assert all(f"\n{command.removeprefix('make ')}: " in targets for command in commands)


def test_every_status_is_explained():
    text = (ROOT / "docs" / "records.md").read_text(encoding="utf-8")
    table = text.partition("| status | meaning |\n|---|---|\n")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(STATUSES)


def test_every_verb_and_every_option_is_named():
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES if page.name != "cli.md")
    verbs = next(a for a in parser()._actions if isinstance(a, argparse._SubParsersAction)).choices
    assert [verb for verb in verbs if not re.search(rf"longmark {verb}\b", text)] == []
    index = " ".join(
        (ROOT / "docs" / "index.md")
        .read_text(encoding="utf-8")
        .partition("All commands:")[2]
        .split()
    )
    assert sorted(re.findall(r"`longmark ([a-z-]+)`", index)) == sorted(verbs)
    unnamed = [
        f"{verb} {option}"
        for verb, its in verbs.items()
        for option in _options(its)
        if not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text)
    ]
    assert unnamed == []
    of_run = (ROOT / "docs" / "run.md").read_text(encoding="utf-8")
    assert [
        o
        for o in _options(verbs["run"])
        if not re.search(rf"(?<![\w-]){re.escape(o)}(?![\w-])", of_run)
    ] == []


def _options(its: argparse.ArgumentParser) -> Iterator[str]:
    for action in its._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _options(below)
        elif action.help is not argparse.SUPPRESS:
            yield from (o for o in action.option_strings if o.startswith("--") and o != "--help")


@pytest.mark.parametrize("page", LINKED, ids=name_of)
def test_links_lead_somewhere(page: Path):
    broken = []
    for target in _LINK.findall(_without_code(page)):
        if "://" in target or target.startswith("mailto:"):
            continue
        path, _, anchor = target.partition("#")
        there_ = (page.parent / path).resolve() if path else page
        if not there_.exists() or (anchor and anchor not in _anchors(there_)):
            broken.append(target)
    assert broken == []


def _without_code(page: Path) -> str:
    text = re.sub(
        r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    return re.sub(r"`[^`]*`", "", text)


def _anchors(page: Path) -> set[str]:
    """As GitHub names headings: lower case, without punctuation, `-` for spaces."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize(
    ("shown", "printed", "missing"),
    [
        (("a  1",), "a 1\n", None),
        (("a 1",), "a 2\n", "a 1"),
        (("a", "c"), "a\nb\nc\n", "c"),
        (("a", "…", "c"), "a\nb\nb\nc\n", None),
        (("a", "…"), "a\nb\n", None),
        (("a … z",), "a b z\n", None),
        (("a",), "a\nb\n", "(nothing more, but it printed: b)"),
        ((), "a\n", None),
    ],
)
def test_shown_lines_are_held_against_printed_ones(
    shown: tuple[str, ...], printed: str, missing: str | None
):
    assert not_printed(shown, printed, figures=True) == missing


def test_figures_of_a_model_may_differ_and_words_may_not():
    assert not_printed(("mean 0.512",), "mean 0.498\n", figures=False) is None
    assert not_printed(("mean 0.512",), "median 0.512\n", figures=False) == "mean 0.512"


def test_blocks_and_their_marks(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ false\n$ echo $?\n1\n$ longmark \\\n  --version\nlongmark 0\n```\n\n"
        "<!-- not run: it costs money -->\n```console\n$ true\n```\n<!-- embedded -->\n```python\n1\n```\n",
        encoding="utf-8",
    )
    first, second, third = blocks(page, tmp_path)
    assert first.commands == (
        Command("false", 1, ()),
        Command("longmark    --version", 0, ("longmark 0",)),
    )
    assert [(b.language, b.mark) for b in (second, third)] == [
        ("console", "not run"),
        ("python", "embedded"),
    ]
    page.write_text("```console\n$ true\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no end"):
        list(blocks(page, tmp_path))


def test_a_command_that_fails_is_noticed(tmp_path: Path, folder: Path, endpoint: str):
    block = Block(
        "page:1",
        "console",
        "",
        "",
        (Command("longmark run answers.jsonl --metrics no.such --out r", 0, ()),),
    )
    with pytest.raises(AssertionError, match="exit code 2, documented 0"):
        run_console(block, folder, variables(tmp_path), endpoint)
