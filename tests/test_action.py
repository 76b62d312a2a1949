"""action.yml: its structure, its pins, and its steps as they run, with a runner's files and a `gh` that notes calls."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from tests.docs.blocks import blocks
from tests.program import ROOT, environment, write_jsonl

ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS = ACTION["runs"]["steps"]
_EXPRESSION = re.compile(r"\$\{\{\s*(.+?)\s*\}\}")
GH = """#!/usr/bin/env bash
echo "$@" >> "$GH_CALLS"
for word in "$@"; do case "$word" in body=@*) cp "${word#body=@}" "$GH_BODY";; esac; done
case "$*" in *paginate*) cat "$GH_COMMENTS";; esac
exit "${GH_CODE:-0}"
"""
PYTHON = '#!/usr/bin/env bash\nif [ "$1" = -I ]; then echo "$@" >> "$PIP_CALLS"; else exec {python} "$@"; fi\n'


def test_every_action_is_pinned_by_a_full_commit_with_its_version_beside_it() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")
    uses = re.findall(r"uses: (.+)", text)
    assert len(uses) == len([one for one in STEPS if "uses" in one]) == 7
    for one in uses:
        assert re.fullmatch(r"actions/[a-z/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one), one


def test_nothing_is_put_into_a_script_and_every_input_is_used_and_described() -> None:
    assert ACTION["runs"]["using"] == "composite"
    for step in STEPS:
        assert ("run" in step) is ("shell" in step) is ("uses" not in step)
        assert "${{" not in step.get("run", "")
    text = (ROOT / "action.yml").read_text("utf-8")
    for name, one in ACTION["inputs"].items():
        assert one["description"]
        assert f"inputs.{name}" in text
        assert one.get("required") or "default" in one
    assert set(re.findall(r"inputs\.([a-z-]+)", text)) == set(ACTION["inputs"])
    assert not re.search(r"\$\{\{[^}]*secrets", text)
    assert not [name for name in ACTION["inputs"] if "key" in name or "secret" in name]


class Runner:
    """The steps with a shell as GitHub's runner runs them; actions are left out."""

    def __init__(self, folder: Path, **inputs: str) -> None:
        self.folder, self.work, self.temp = folder, folder / "work", folder / "temp"
        self.outputs: dict[str, str] = {}
        self.code, self.log = 0, ""
        for one in (self.work, self.temp, folder / "bin"):
            one.mkdir()
        defaults = {name: one.get("default", "") for name, one in ACTION["inputs"].items()}
        self.context: dict[str, str] = {
            f"inputs.{name}": value for name, value in (defaults | inputs).items()
        } | {
            "runner.temp": str(self.temp),
            "github.event_name": "pull_request",
            "github.repository": "me/mine",
            "github.event.pull_request.head.repo.full_name": "me/mine",
            "github.event.pull_request.number": "7",
            "github.token": "the token",
            "github.action_path": "/the/action",
            "github.base_ref || github.ref_name": "main",
        }
        self.context["inputs.github-token"] = "the token"
        self.comments: list[Any] = []
        longmark = f'#!/usr/bin/env bash\nexec {sys.executable} -P -m longmark "$@"\n'
        for name, script in (
            ("gh", GH),
            ("python", PYTHON.replace("{python}", sys.executable)),
            ("longmark", longmark),
        ):
            (folder / "bin" / name).write_text(script)
            (folder / "bin" / name).chmod(0o755)

    def _value(self, found: re.Match[str]) -> str:
        name = found[1]
        if name.startswith("steps."):
            return self.outputs.get(name.rpartition(".")[2], "")
        return self.context[name]

    def holds(self, step: Mapping[str, Any]) -> bool:
        """Whether the step is to run: its condition is `name == 'text'`, `name != 'text'` `name == name` or several."""
        if step.get("if") == "always()":
            return True
        if self.code:
            return False
        for part in step["if"].split("&&") if "if" in step else ():
            left, sign, right = part.split()
            value = right[1:-1] if right[0] == "'" else self.context[right]
            if (self.context[left] == value) is not (sign == "=="):
                return False
        return True

    def run(self, **more_env: str) -> Runner:
        files = {
            name: self.folder / name.lower()
            for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GH_CALLS")
        }
        more = {
            name: self.folder / name.lower() for name in ("PIP_CALLS", "GH_BODY", "GH_COMMENTS")
        }
        for path in (files | more).values():
            path.write_text("")
        more["GH_COMMENTS"].write_text(json.dumps(self.comments))
        base = environment(
            self.folder / "home", {name: str(path) for name, path in (files | more).items()}
        )
        base |= {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{base['PATH']}",
            "GITHUB_REPOSITORY": "me/mine",
        }
        base |= more_env
        for step in STEPS:
            if "uses" in step or not self.holds(step):
                continue
            env = {
                name: _EXPRESSION.sub(self._value, value)
                for name, value in step.get("env", {}).items()
            }
            script = self.folder / "script.sh"
            script.write_text(step["run"])
            words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
            done = subprocess.run(
                words, cwd=self.work, env=base | env, capture_output=True, text=True
            )
            self.code, self.log = self.code or done.returncode, self.log + done.stdout + done.stderr
            pairs = (
                line.partition("=") for line in files["GITHUB_OUTPUT"].read_text().splitlines()
            )
            self.outputs |= {name: value for name, _, value in pairs}
        self.summary, self.calls = (
            files["GITHUB_STEP_SUMMARY"].read_text(),
            files["GH_CALLS"].read_text().splitlines(),
        )
        self.body, self.pip = more["GH_BODY"].read_text(), more["PIP_CALLS"].read_text()
        return self


def answers(runner: Runner, score: str = "mean(classic.rouge_l)>=.5") -> None:
    lines = [
        {
            "question": f"Q{i}?",
            "answer": "a b\n::error::c",
            "reference": "a b c d",
            "id": f"::x::{i}",
        }
        for i in range(3)
    ]
    write_jsonl(runner.work / "a.jsonl", lines)
    run = f"{{examples: a.jsonl, metrics: classic.rouge_l, fail_under: ['{score}']}}"
    (runner.work / "longmark.yaml").write_text(f"runs:\n  nightly: {run}\n")


def test_a_run_shows_its_summary_and_updates_its_own_comment(tmp_path: Path) -> None:
    evil = 'x\' "$(touch evil)" `touch evil`'
    runner = Runner(
        tmp_path,
        run="nightly",
        options="--limit\n2\n",
        requirement=f"longmark {evil}",
        artifact="my report",
    )
    mark = "<!-- longmark action: my-report -->"
    runner.comments = [
        {"id": 1, "user": {"type": "User"}, "body": mark},
        {"id": 2, "user": {"type": "Bot"}, "body": "other"},
        {"id": 3, "user": {"type": "Bot"}, "body": f"{mark}\nold"},
    ]
    answers(runner)
    assert runner.run().code == 0, runner.log
    assert f"longmark {evil}" in runner.pip
    assert not list(tmp_path.rglob("evil"))
    assert runner.summary.startswith(
        "<!-- longmark:run:nightly -->\n### longmark run: nightly\n\n**Passed:** 1 gate met."
    )
    assert "2 / 2" in runner.summary
    assert runner.outputs["exit-code"] == "0"
    assert sorted(one.name for one in Path(runner.outputs["results"]).iterdir()) == [
        *("comment.md", "junit.xml", "result.json", "summary.md")
    ]
    assert "api --silent -X PATCH repos/me/mine/issues/comments/3" in runner.calls[-1]
    assert runner.body == f"{mark}\n{runner.summary}"
    stop = re.search(r"::stop-commands::([0-9a-f]{32})\n", runner.log)
    assert stop
    assert f"::{stop[1]}::" in runner.log


def test_a_gate_that_is_not_met_fails_the_job_after_the_comment(tmp_path: Path) -> None:
    runner = Runner(tmp_path, run="nightly", base="runs/gone")
    answers(runner, "every answer >= .9")
    assert runner.run().code == 3, runner.log
    assert "**Failed:** 1 of 1 gate not met." in runner.summary
    assert "api --silent repos/me/mine/issues/7/comments" in runner.calls[-1], "a first comment"


def test_a_comment_that_cannot_be_written_is_a_warning_and_the_gates_decide(tmp_path: Path) -> None:
    runner = Runner(tmp_path, run="nightly")
    answers(runner)
    assert runner.run(GH_CODE="1").code == 0, runner.log
    assert "::warning::longmark: no comment was written" in runner.log
    assert len(runner.calls) == 1, "nothing is written where the comments could not be read"
    assert runner.pip.split()[-1] == "/the/action[stats]"


def test_no_file_of_the_checkout_is_imported_in_place_of_a_module(tmp_path: Path) -> None:
    runner = Runner(tmp_path, run="nightly")
    answers(runner)
    for name in ("secrets", "pip"):
        (runner.work / f"{name}.py").write_text(
            "import pathlib\npathlib.Path('ran').write_text('x')"
        )
    assert runner.run().code == 0, runner.log
    assert not (runner.work / "ran").exists()
    run = "\n".join(step.get("run", "") for step in STEPS)
    assert re.findall(r"python.*", run) == [
        'python -I -m pip install --disable-pip-version-check "${REQUIREMENT:-"$SOURCE[stats]"}"'
    ]


def test_a_fork_another_event_and_who_wants_none_get_no_comment(tmp_path: Path) -> None:
    runner = Runner(tmp_path, run="nightly")
    (step,) = [one for one in STEPS if "gh api" in one.get("run", "")]
    assert runner.holds(step)
    for name, value in {
        "github.event.pull_request.head.repo.full_name": "you/mine",
        "github.event_name": "push",
        "inputs.comment": "false",
    }.items():
        before, runner.context[name] = runner.context[name], value
        assert not runner.holds(step)
        runner.context[name] = before


def test_an_event_with_the_secrets_of_a_fork_s_target_is_refused_before_anything_is_installed(
    tmp_path: Path,
) -> None:
    runner = Runner(tmp_path, run="nightly")
    runner.context["github.event_name"] = "pull_request_target"
    assert runner.run().code == 1
    assert (runner.pip, runner.summary, runner.calls) == ("", "", [])


def test_a_mistake_stops_with_a_summary_that_says_so(tmp_path: Path) -> None:
    runner = Runner(tmp_path, run="nihgtly")
    answers(runner)
    assert runner.run().code == 2
    assert "Did you mean nightly?" in runner.log
    assert "**Stopped** with exit code 2" in runner.summary


def test_the_lines_for_jenkins_run(tmp_path: Path) -> None:
    shown = {
        block.language: block.text
        for block in blocks(ROOT / "docs" / "ci.md", ROOT)
        if block.language == "groovy"
    }
    jenkins = re.findall(r"sh '(.+)'", shown["groovy"])
    assert len(jenkins) == 2
    assert "junit 'junit.xml'" in shown["groovy"]
    runner = Runner(tmp_path, run="nightly")
    answers(runner)
    env = environment(
        tmp_path / "home", {"PIP_CALLS": str(tmp_path / "pip"), "CI_PROJECT_DIR": str(runner.work)}
    )
    env["PATH"] = f"{tmp_path / 'bin'}{os.pathsep}{env['PATH']}"
    for line in jenkins:
        subprocess.run(
            ["bash", "-ec", line], cwd=runner.work, env=env, check=True, capture_output=True
        )
    assert b"<testsuites" in (runner.work / "junit.xml").read_bytes()
