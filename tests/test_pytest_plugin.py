"""The pytest plugin: inert until it is used; its gates are those of the command line; safe under xdist."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.program import ROOT, environment
from tests.wire import Server, serve

QR = "ccrs.question_relevance"
REPLY = '{"reason": "It names @octocat only.", "quotes": [], "score": 40}'
FEW = f'''
import pytest
from longmark.pytest_plugin import assert_scores

pytestmark = pytest.mark.longmark(metrics="{QR}")

@pytest.mark.longmark(run="fast")
@pytest.mark.parametrize("word", ["one", "two"])
def test_mean(score, word):
    assert_scores(score({{"question": "What?", "answer": f"It is {{word}}."}}), "mean({QR}) >= .4")

def test_every(score):
    answers = [{{"id": word, "question": "What?", "answer": f"It is {{word}}."}} for word in ("one", "two")]
    assert_scores(score(answers), "{QR} every answer >= .3", "{QR} every answer >= .5", "{QR} >= .9")

@pytest.mark.longmark(metrics="classic.length.words")
def test_without_a_model(score):
    result = score({{"question": "What?", "answer": "It is one.", "lang": "de"}})
    assert_scores(result, "mean(classic.length.words) >= 3", "every answer >= 3")
    assert_scores(result, "mean(classic.length.words) >= 3", by="lang")

def test_a_wrong_gate(score):
    assert_scores(score({{"question": "What?", "answer": "It is one."}}), "{QR} => .4")
'''


@pytest.fixture
def server() -> Iterator[Server]:
    with serve(reply=REPLY) as found:
        yield found


def run_pytest(folder: Path, *words: str) -> tuple[int, str]:
    plugins = ("-p", "xdist", "-p", "longmark.pytest_plugin", "-p", "no:cacheprovider")
    env = {**environment(folder / "home"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "300"}
    words = (sys.executable, "-m", "pytest", "-q", "--strict-markers", *plugins, *words)
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_nothing_is_imported_until_it_is_used() -> None:
    code = (
        "import pytest, sys; before = {*sys.modules}; import longmark.pytest_plugin; "
        "print(*sorted(name for name in {*sys.modules} - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
    )
    assert done.stdout.split() == [b"longmark", b"longmark.pytest_plugin"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"longmark": "longmark.pytest_plugin"}
    assert not [one for one in project["dependencies"] if one.startswith("pytest")]


@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.slow)], ids=["one", "two"]
)
def test_tests_score_and_assert_gates_and_pay_once(
    tmp_path: Path, server: Server, workers: tuple[str, ...]
) -> None:
    (tmp_path / "test_few.py").write_text(FEW)
    models = f"models:\n  mine: {{endpoint: '{server.base_url}', model: m}}\n"
    run = "examples: none.jsonl, metrics: classic.length.words, judge: mine"
    (tmp_path / "longmark.yaml").write_text(
        f"{models}runs:\n  fast: {{{run}}}\nrun: {{judge: mine}}\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    code, out = run_pytest(tmp_path, *workers, "--longmark-trust")
    assert (code, "2 failed, 3 passed" in out) == (1, True), out
    paid = server.counts["requests"]
    assert paid == 2 or (workers and paid <= 4), (
        "two answers; workers can ask for the same one at the same time"
    )
    lines = out.splitlines()
    assert f"not met: {QR} every >= 0.5 for " in out
    assert f"{QR} every >= 0.3" not in out.replace("assert_scores(score(answers)", "")
    assert f"  two: {QR} 0.400: It names @octocat only" in "\n".join(lines), out
    assert f"  To test the mean of these answers: {QR} sample mean >= 0.9" in lines
    assert (
        "longmark: assert_scores 'ccrs.question_relevance => .4': expected >= or <= at character 25:"
        in out
    )
    if not workers:
        return
    assert "2 failed, 3 passed" in run_pytest(tmp_path, "--longmark-trust")[1]
    assert server.counts["requests"] == paid, "every reply is in the cache"


def test_a_project_file_that_is_not_trusted_and_settings_that_are_missing_fail_with_the_reason(
    tmp_path: Path,
) -> None:
    (tmp_path / "longmark.yaml").write_text(
        "models:\n  mine: {endpoint: 'http://example.com/v1', model: m}\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    test = (
        "import pytest\n"
        f"@pytest.mark.longmark(metrics='{QR}', judge='mine')\n"
        "def test_a(score): score({'question': 'Q', 'answer': 'A'})\n"
        "def test_b(score): score([])\n"
        "@pytest.mark.longmark(run='slow')\ndef test_c(score): score([])\n"
    )
    (tmp_path / "test_few.py").write_text(test)
    code, out = run_pytest(tmp_path)
    assert code == 1
    assert "longmark trust" in out
    assert "longmark: metrics are missing: @pytest.mark.longmark(metrics=…)" in out
    assert "unknown run of " in out
    assert "Traceback" not in out
