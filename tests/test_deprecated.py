"""What is deprecated works and says so, once, and is gone from the release on that should not have it."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from tests.program import ROOT, run, write_jsonl

import longmark.api
from longmark.deprecated import DEPRECATED

GIVEN = {"id": "a", "question": "Why?", "answer": "It rains here.", "truth": "Rain."}
SAYS = "the field `reference` of --map is deprecated since longmark 1.0.0 and will be removed in 2.0.0; use `references`"
EASE = "score.readability.reading_ease"


def overdue(version: str) -> list[str]:
    """What a release must not have any more."""
    numbers = [int(one) for one in re.findall(r"\d+", version)]
    return [
        name for name, one in DEPRECATED.items() if [*map(int, one.removed.split("."))] <= numbers
    ]


def test_nothing_deprecated_outlives_its_release():
    assert overdue(longmark.__version__) == []
    assert "the field `reference` of --map" in overdue("2.0.0")
    assert "the field `reference` of --map" not in overdue("1.10.3")


@pytest.mark.parametrize("name", DEPRECATED)
def test_a_major_release_removes_it_and_the_changelog_names_it(name: str):
    one = DEPRECATED[name]
    major = int(one.since.partition(".")[0])
    assert re.fullmatch(rf"(?!{major}\.)\d+\.0\.0", one.removed)
    deprecated = (ROOT / "CHANGELOG.md").read_text("utf-8").split("### Deprecated")[1:]
    (said,) = [
        line for part in deprecated for line in part.split("\n#")[0].splitlines() if name in line
    ]
    assert one.removed in said
    assert one.instead in said


@pytest.mark.parametrize("notebook", [False, True])
def test_python_warns_at_the_line_that_called_longmark(tmp_path: Path, notebook: bool):
    async def run_in_loop() -> longmark.api.Result:
        return score()

    def score() -> longmark.api.Result:
        return longmark.run(
            [GIVEN], metrics=EASE, out=tmp_path / "out", mapping={"reference": "truth"}
        )

    with pytest.warns(DeprecationWarning, match=re.escape(SAYS)) as warned:
        done = asyncio.run(run_in_loop()) if notebook else score()
    assert __file__ in {one.filename for one in warned}
    assert '"references":["Rain."]' in (done.folder / "examples.jsonl").read_text("utf-8")


@pytest.mark.parametrize("by", ["option", "file"])
def test_the_command_line_prints_one_line(tmp_path: Path, by: str):
    write_jsonl(tmp_path / "given.jsonl", [GIVEN])
    words: list[str] = [
        "run",
        "given.jsonl",
        "--metrics",
        EASE,
        "--out",
        "out",
        "--map",
        "reference=truth",
        "--quiet",
    ]
    if by == "file":
        text = f"runs: {{first: {{examples: given.jsonl, metrics: {EASE}, map: {{reference: truth}}, out: out}}}}"
        (tmp_path / "longmark.yaml").write_text(text, encoding="utf-8")
        words = ["run", "first", "--quiet"]
    done = run(*words, home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, done.err.splitlines().count(f"longmark: {SAYS}")) == (0, 1), done.err
    assert '"references":["Rain."]' in (tmp_path / "out" / "examples.jsonl").read_text("utf-8")
