"""A run that names no metrics is told which ones its file allows, and by what command."""

import json
import shlex
from pathlib import Path

import pytest
from tests.program import in_process


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    reference = (
        "The limit is 600 requests a minute for each key, and a higher one can be agreed by mail."
    )
    lines = [
        {"ask": f"What is limit {i}?", "reply": f"It is {i} a minute.", "expected": reference}
        for i in range(3)
    ]
    path = tmp_path / "bot 2.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


MAP = [
    "--map=question=ask",
    "--map=answer=reply",
    "--map=references=expected",
]


def proposed(printed: str) -> list[str]:
    """The words of the last command that a message proposes."""
    lines = [line for line in printed.splitlines() if line.startswith("  longmark run ")]
    return shlex.split(lines[-1])


def test_the_command_that_is_proposed_runs(answers: Path, capsys: pytest.CaptureFixture[str]):
    assert in_process(["run", answers.name, *MAP]) == 2
    err = capsys.readouterr().err
    assert "no metrics are named: add --metrics NAME,…" in err
    words = proposed(err)
    assert "classic.rouge_l" in words[words.index("--metrics") + 1].split(",")
    assert in_process(words[1:]) == 0
    assert Path("runs/bot 2/rows.jsonl").is_file()


def test_metrics_that_ask_a_model_stand_by_their_calls(
    answers: Path, capsys: pytest.CaptureFixture[str]
):
    assert in_process(["run", answers.name, *MAP]) == 2
    lines = capsys.readouterr().err.splitlines()
    calls = [int(line.split()[1]) for line in lines if line.endswith((" call", " calls"))]
    assert len(calls) >= 3
    assert calls == sorted(calls)
    assert "climaqa.exact_match" not in " ".join(lines), "the references are sentences"


def test_a_run_without_metrics_is_refused_without_a_dry_run(
    answers: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("longmark.engine.estimate.dry_run", lambda *_, **__: pytest.fail("slow"))
    assert in_process(["run", answers.name, *MAP]) == 2
    assert "  ragchecker " in capsys.readouterr().err


def test_look_ends_with_a_command_that_runs(answers: Path, capsys: pytest.CaptureFixture[str]):
    assert in_process(["look", answers.name, *MAP]) == 0
    assert in_process(proposed(capsys.readouterr().out)[1:]) == 0


def test_what_else_is_wrong_is_said_with_it(answers: Path, capsys: pytest.CaptureFixture[str]):
    assert in_process(["run", answers.name, *MAP, "--fail-if-worse"]) == 2
    err = capsys.readouterr().err
    assert "no metrics are named" in err
    assert "need a run to compare with" in err


def test_a_file_of_which_nothing_can_be_scored_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    Path("q.jsonl").write_text('{"question": "What?"}\n', "utf-8")
    assert in_process(["run", "q.jsonl"]) == 2
    assert "longmark look q.jsonl" in capsys.readouterr().err


def test_every_wrong_name_is_told_at_once(answers: Path, capsys: pytest.CaptureFixture[str]):
    words = ["run", answers.name, *MAP, "--out", "r"]
    names = "rouge_l,classic.bleu@x=1,classic.chrf,readability"
    assert in_process([*words, "--metrics", names]) == 2
    err = capsys.readouterr().err
    assert "unknown metric: rouge_l. Did you mean classic.rouge_l" in err
    assert "unknown parameter of classic.bleu: x" in err
    assert "unknown metric: readability. Did you mean score.readability" in err
    assert "chrf" not in err
    assert in_process([*words, "--metrics", "rouge_l"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
