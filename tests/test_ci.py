"""`longmark ci`: the files that it writes hold against the published schemas, and their lines run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.program import ROOT, environment, in_process, write_jsonl
from tests.test_action import PYTHON, Runner

from longmark.cli.ci import requirement
from longmark.cli.ci.files import ACTION, GITHUB, GITLAB, GITLAB_INCLUDED
from longmark.errors import UserError

COMMIT = "0123456789abcdef0123456789abcdef01234567"
PINNED = f"longmark[stats] @ git+https://git.example/longmark@{COMMIT}"
SECRET = "models: {o4: {model: o4-mini, endpoint: https://api.openai.com/v1, key_env: MY_KEY}}\n"
RUN = "runs: {nightly: {examples: a.jsonl, metrics: classic.rouge_l}}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with a longmark.yaml."""
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    (repository / "longmark.yaml").write_text(RUN)
    monkeypatch.chdir(repository)
    return repository


def written(forge: str, *words: str) -> int:
    return in_process(["ci", forge, *words, "--requirement", PINNED])


def inputs_of(path: Path) -> Any:
    """What the workflow gives to the action."""
    return yaml.safe_load(path.read_text())["jobs"]["answers"]["steps"][-1]


def schema_holds(schema: str, path: Path) -> None:
    """The check of `check-jsonschema` by the schema that it ships, without a network."""
    words = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    done = subprocess.run([*words, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_files_hold_against_the_schemas_of_github_and_gitlab(folder: Path) -> None:
    (folder / "longmark.yaml").write_text(
        f"{SECRET}runs: {{nightly: {{examples: a.jsonl, metrics: ccrs, judge: o4, embedder: embedded}}}}\n"
    )
    assert written("github") == 0
    assert written("gitlab") == 0
    schema_holds("github-workflows", folder / GITHUB)
    schema_holds("github-actions", folder / ACTION)
    schema_holds("gitlab-ci", folder / GITLAB)


@pytest.mark.skipif(shutil.which("actionlint") is None, reason="there is no actionlint on PATH")
def test_actionlint_finds_nothing_in_the_workflow(folder: Path) -> None:
    assert written("github") == 0
    done = subprocess.run(["actionlint", "-no-color", GITHUB], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_action_beside_the_workflow_is_that_of_the_repository(folder: Path) -> None:
    assert written("github") == 0
    assert (folder / ACTION).read_bytes() == (ROOT / "action.yml").read_bytes(), (
        "copy action.yml to src/longmark/cli/ci/action.yml"
    )


def test_a_workflow_gives_what_the_run_takes_and_no_more(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert written("github") == 0
    step = inputs_of(folder / GITHUB)
    assert step["with"] == {
        "run": "nightly",
        "requirement": PINNED,
        "base-branch": "true",
        "options": "--fail-if-worse\n",
    }
    assert "env" not in step, "no model, no key"
    (folder / GITHUB).unlink()
    (folder / "longmark.yaml").write_text(
        f"{SECRET}runs: {{nightly: {{examples: a.jsonl, metrics: ccrs, judge: o4, embedder: embedded}}}}\n"
    )
    capsys.readouterr()
    assert written("github") == 0
    step = inputs_of(folder / GITHUB)
    assert step["env"] == {"MY_KEY": "${{ secrets.MY_KEY }}"}
    assert step["with"]["options"].split() == ["--trust", "--fail-if-worse"]
    assert step["with"]["models"] == "embedder"
    assert "Set MY_KEY as a secret of the repository" in capsys.readouterr().out


def test_a_model_on_the_machine_itself_is_said_to_need_a_step_that_starts_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "longmark.yaml").write_text(
        "runs: {nightly: {examples: a.jsonl, metrics: ccrs, judge: 'm@http://localhost:8000/v1'}}\n"
    )
    assert written("gitlab") == 0
    assert "http://localhost:8000/v1, on the runner itself" in capsys.readouterr().out


def test_a_project_below_the_repository_is_run_where_it_stands(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = folder / "my service"
    below.mkdir()
    (below / "longmark.yaml").write_text(RUN)
    monkeypatch.chdir(below)
    assert written("github") == 0
    assert written("gitlab") == 0
    assert inputs_of(folder / GITHUB)["with"]["working-directory"] == "my service"
    assert "cd 'my service'" in yaml.safe_load((folder / GITLAB).read_text())["longmark"]["script"]


def test_a_file_with_other_content_stays_and_none_is_written_beside_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / GITHUB).parent.mkdir(parents=True)
    (folder / GITHUB).write_text("on: push\n")
    assert written("github") == 2
    assert f"{GITHUB} exists with other content, and is not overwritten" in capsys.readouterr().err
    assert (folder / GITHUB).read_text() == "on: push\n"
    assert not (folder / ACTION).exists()
    (folder / GITHUB).unlink()
    assert written("github") == 0
    assert written("github") == 0
    assert f"{GITHUB} is there already, with this content" in capsys.readouterr().out


@pytest.mark.parametrize("place", [".github", ".github/workflows", str(GITHUB)])
def test_no_link_in_the_repository_leads_what_is_written_elsewhere(
    place: str, folder: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    (folder / place).symlink_to(outside)
    assert written("github") == 2
    assert not list(outside.iterdir())


def test_a_gitlab_file_of_the_user_is_left_and_told_what_to_include(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / GITLAB).write_text("test: {script: [make test]}\n")
    assert written("gitlab") == 0
    assert f"- local: {GITLAB_INCLUDED}" in capsys.readouterr().out
    assert (folder / GITLAB).read_text() == "test: {script: [make test]}\n"
    schema_holds("gitlab-ci", folder / GITLAB_INCLUDED)


def test_the_workflow_starts_on_pushes_to_the_branch_that_was_cloned(folder: Path) -> None:
    head = folder / ".git/refs/remotes/origin/HEAD"
    head.parent.mkdir(parents=True)
    head.write_text("ref: refs/remotes/origin/release/2\n")
    assert written("github") == 0
    events = yaml.safe_load((folder / GITHUB).read_text())[True]  # `on` is true in YAML 1.1
    assert events["push"] == {"branches": ["release/2"]}
    assert "pull_request" in events


@pytest.mark.parametrize(
    "text",
    [
        "longmark",
        "longmark[stats]",
        f"longmark @ git+https://git.example/longmark@{COMMIT}",
        f"longmark[classic] @ git+https://git.example/longmark@{COMMIT}",
        "longmark @ git+https://git.example/longmark@main",
        f"longmark @ git+https://git.example/longmark@{COMMIT[:12]}",
        f"longmark @ git+https://git.example/longmark@{COMMIT}\nother",
        "longmark @ git+https://git.example/${{ github.head_ref }}==1",
    ],
)
def test_what_is_not_pinned_or_lacks_what_a_comparison_needs_is_refused(
    text: str, folder: Path
) -> None:
    assert in_process(["ci", "github", "--requirement", text]) == 2
    assert not (folder / GITHUB).exists()


def test_a_commit_that_pip_installed_is_what_the_runner_installs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As pip notes it (PEP 610); a folder of the machine has no commit, and is refused."""

    class Installed:
        def __init__(self, source: dict[str, Any]) -> None:
            self.source = source

        def read_text(self, _name: str) -> str:
            return json.dumps(self.source)

    url = "https://git.example/longmark"
    git = {"vcs": "git", "commit_id": COMMIT, "requested_revision": "main"}
    for source, expected in (
        ({"url": url, "vcs_info": git}, f"longmark[classic,stats] @ git+{url}@{COMMIT}"),
        (
            {"url": url, "vcs_info": git, "subdirectory": "python"},
            f"longmark[classic,stats] @ git+{url}@{COMMIT}#subdirectory=python",
        ),
    ):
        monkeypatch.setattr(requirement, "distribution", lambda _, at=source: Installed(at))
        assert requirement.installed(["stats", "classic"]) == expected
        assert requirement.checked(expected) == expected
    local = {"url": "file:///home/me/longmark", "dir_info": {"editable": True}}
    monkeypatch.setattr(requirement, "distribution", lambda _: Installed(local))
    with pytest.raises(UserError, match=r"--requirement 'longmark\[stats\] @ git"):
        requirement.installed(["stats"])


def test_a_project_with_several_runs_asks_for_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "longmark.yaml").write_text("runs: {a: {metrics: classic}, b: {metrics: classic}}\n")
    assert written("github") == 2
    assert "name a run of longmark.yaml: it has a, b" in capsys.readouterr().err
    assert written("github", "c") == 2
    assert "Its runs are a, b." in capsys.readouterr().err
    (folder / "longmark.yaml").unlink()
    assert written("github") == 2
    assert "longmark init FILE" in capsys.readouterr().err


# The lines, as they run -----------------------------------------------------------------------------------------------


def scored(place: Path, answer: str, count: int = 12) -> None:
    """A project whose references are `a b c d`: ROUGE-L is 1 for the same answer, 0 for `x`."""
    lines = [
        {"id": f"q{number}", "question": f"Q{number}?", "answer": answer, "reference": "a b c d"}
        for number in range(count)
    ]
    write_jsonl(place / "a.jsonl", lines)
    (place / "longmark.yaml").write_text(RUN)


def test_a_pull_request_is_compared_with_the_last_push_to_its_branch(tmp_path: Path) -> None:
    """Without a base a notice; after a push, a worse change fails, with verdict, worst answers and cost."""
    pytest.importorskip("scipy")
    runner = Runner(tmp_path, **{"run": "nightly", "base-branch": "true"})
    runner.context |= {"inputs.options": "--fail-if-worse\n"}
    scored(runner.work, "a b c d")
    runner.run()
    assert runner.code == 0, runner.log
    assert (
        "**No base:** --base main does not exist yet, so this run is compared with nothing"
        in runner.summary
    )
    assert "kept" not in runner.outputs, "a pull request makes no base"
    runner.context["github.event_name"] = "push"
    runner.run()
    assert (runner.code, runner.outputs["kept"]) == (0, "true"), runner.log
    base = runner.temp / "longmark-base" / "main"
    assert (base / "rows.jsonl").is_file()
    runner.context["github.event_name"] = "pull_request"
    scored(runner.work, "x")
    shutil.rmtree(runner.work / "runs")  # a new checkout
    runner.run()
    assert runner.code == 3, runner.log
    assert "**Failed:** 1 of 1 gate not met." in runner.summary
    assert "**Against main:** nightly \\(main\\) is better on ROUGE-L" in runner.summary
    assert "#### Change against main" in runner.summary
    assert "#### Worst answers" in runner.summary
    assert "Cost: 0 calls" in runner.summary


def test_the_lines_for_gitlab_compare_with_the_last_push_to_the_default_branch(
    folder: Path, tmp_path: Path
) -> None:
    pytest.importorskip("scipy")
    assert written("gitlab") == 0
    job = yaml.safe_load((folder / GITLAB).read_text())["longmark"]
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, script in (
        (
            "python",
            PYTHON.replace("{python}", sys.executable).replace("= -I ]", "= -I ] && [ $2 = -m ]"),
        ),
        ("longmark", f'#!/usr/bin/env bash\nexec {sys.executable} -P -m longmark "$@"\n'),
    ):
        (programs / name).write_text(script)
        (programs / name).chmod(0o755)

    def run(policy: str) -> tuple[int, str]:
        env = environment(tmp_path / "home", {"PIP_CALLS": str(tmp_path / "pip")}) | {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "CI_PROJECT_DIR": str(folder),
            "CI_DEFAULT_BRANCH": "main",
            "BASE_POLICY": policy,
            "LONGMARK": job["variables"]["LONGMARK"],
        }
        for name in ("LONGMARK_HOME", "RESULTS"):
            env[name] = job["variables"][name].replace("$CI_PROJECT_DIR", str(folder))
        script = "\n".join(job["script"])  # GitLab's shell runs the lines one after another
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", script], cwd=folder, env=env, capture_output=True, text=True
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    scored(folder, "a b c d")
    code, log = run("pull")
    assert code == 0, log
    assert "compared with nothing" in log
    assert not (folder / ".longmark/base").exists()
    code, log = run("pull-push")
    assert code == 0, log
    assert (folder / ".longmark/base/main/rows.jsonl").is_file()
    scored(folder, "x")
    shutil.rmtree(folder / "runs")  # a new checkout
    code, log = run("pull")
    assert code == 3, log
    assert "Change against main" in (folder / "longmark-results/summary.md").read_text()
    assert PINNED in (tmp_path / "pip").read_text()
