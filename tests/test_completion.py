"""`longmark completion`: what a shell offers after the words that were typed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from longmark import cli

TYPED = """source longmark.bash
COMP_WORDS=(longmark "$@"); COMP_CWORD=$#
_shtab_longmark; printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_offers_verbs_options_metrics_choices_and_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    assert cli.main(["completion", "bash"]) == 0
    (tmp_path / "longmark.bash").write_text(capsys.readouterr().out, "utf-8")
    (tmp_path / "answers.jsonl").touch()

    def offered(*words: str) -> list[str]:
        done = subprocess.run(
            ["bash", "-c", TYPED, "bash", *words], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.stderr == ""
        return sorted(set(done.stdout.split()))

    assert offered("metr") == ["metrics", "metrics-study"]
    assert offered("cache", "") == ["clear", "compact", "copy", "ledger"]
    assert offered("run", "--scor") == ["--scoring"]
    assert offered("run", "--scoring", "") == ["expected", "text"]
    assert offered("run", "--metrics", "climaqa.m") == ["climaqa.mcq"]
    assert offered("run", "ans") == ["answers.jsonl"]
    assert offered("run", "--seed", "") == []


@pytest.mark.parametrize("shell", ["zsh", "tcsh"])
def test_other_shells_have_a_script_too(shell: str, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["completion", shell]) == 0
    assert "metrics-study" in capsys.readouterr().out
