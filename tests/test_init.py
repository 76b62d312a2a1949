"""`longmark init`: a longmark.yaml for a file of answers, with what its columns allow and what that takes."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
import yaml
from tests.program import ROOT, in_process, records, write_jsonl

from longmark.cli import project


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_file_runs_as_it_is_and_is_never_overwritten(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copy(ROOT / "examples/answers.jsonl", "answers.jsonl")
    assert in_process(["init", "answers.jsonl"]) == 0
    text = Path("longmark.yaml").read_text()
    assert text.startswith("# yaml-language-server: $schema=longmark.schema.json\n")
    assert Path("longmark.schema.json").read_text() == project.SCHEMA.read_text()
    made = project.load(Path("longmark.yaml"))
    assert "classic.rouge_l" in made.runs["first"]["metrics"]
    assert "score.readability" in made.runs["first"]["metrics"]
    assert "# score.specificity: --domain is missing" in text
    assert in_process(["run", "first", "--quiet", "--metrics", "score.readability"]) == 0
    capsys.readouterr()
    assert in_process(["init"]) == 2
    assert "longmark.yaml exists, and is not overwritten" in capsys.readouterr().err
    assert Path("longmark.yaml").read_text() == text


def test_what_a_metric_takes_is_what_the_dry_run_says(capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(ROOT / "examples/answers.jsonl", "answers.jsonl")
    assert in_process(["init", "answers.jsonl"]) == 0
    (line,) = (
        one
        for one in Path("longmark.yaml").read_text().splitlines()
        if "- ccrs.question_relevance" in one
    )
    words = ["run", "first", "--metrics", "ccrs.question_relevance", "--dry-run"]
    capsys.readouterr()
    assert in_process(words) == 0
    (of_run,) = (
        one
        for one in capsys.readouterr().out.splitlines()
        if one.startswith("ccrs.question_relevance")
    )
    _name, _rows, calls, _most, _cached, prompt, _most, completion, *_others = of_run.split()
    assert line.endswith(f"# {calls} calls, {prompt} prompt and {completion} completion tokens")


def test_a_metric_whose_extra_is_not_installed_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from longmark.metrics.classic import _encoders

    _encoders.vectors.cache_clear()
    _encoders.encoder.cache_clear()
    for name in ("numpy", "tokenizers", "sacrebleu", "pint"):
        monkeypatch.setitem(sys.modules, name, None)
    shutil.copy(ROOT / "examples/answers.jsonl", "answers.jsonl")
    assert in_process(["init", "answers.jsonl"]) == 0
    text = Path("longmark.yaml").read_text()
    assert "# classic.bertscore: the embedded" in text, "it is not installed, or its extra is not"
    assert "classic.bertscore" not in project.load(Path("longmark.yaml")).runs["first"]["metrics"]


def test_a_metric_that_asks_no_model_here_has_no_calls_in_look_and_init(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copy(ROOT / "examples/answers.jsonl", "answers.jsonl")
    assert in_process(["init", "answers.jsonl"]) == 0
    assert "climaqa.phrase_similarity # on 5 of 6 # 0 calls" in Path("longmark.yaml").read_text()
    capsys.readouterr()
    assert in_process(["look", "answers.jsonl"]) == 0
    (line,) = (
        one for one in capsys.readouterr().out.splitlines() if "climaqa.phrase_similarity" in one
    )
    assert "0 calls" in line


def test_what_a_file_does_not_allow_is_said_with_the_reason() -> None:
    write_jsonl(Path("a.jsonl"), records(2))
    assert in_process(["init", "a.jsonl", "--out", "own.yaml"]) == 0
    text = Path("own.yaml").read_text()
    assert "# Without references: " in text
    (line,) = (one for one in text.splitlines() if "Without references:" in one)
    assert "classic.rouge_1" in line
    assert "- classic.rouge_1" not in text


def test_names_and_options_of_the_input_are_kept_as_they_are(folder: Path) -> None:
    (data := folder / "data").mkdir()
    odd = data / 'a "b": #c.csv'
    odd.write_text("Nr,Frage,Antwort\n1,Warum?,Weil es so ist.\n", encoding="utf-8")
    words = [
        "--map",
        "id=Nr",
        "--map",
        "question=Frage",
        "--map",
        "answer=Antwort",
        "--encoding",
        "utf-8",
    ]
    assert in_process(["init", str(odd), "--out", "longmark.yaml", *words]) == 0
    run = project.load(Path("longmark.yaml")).runs["first"]
    assert run["examples"].resolve() == odd
    assert run["map"] == ["id=Nr", "question=Frage", "answer=Antwort"]
    assert run["encoding"] == "utf-8"
    assert in_process(["run", "first", "--quiet", "--metrics", "score.readability"]) == 0


@pytest.mark.parametrize("content", ["", "{\n", '{"id": "1", "question": "Why?"}\n'])
def test_a_file_that_allows_nothing_leaves_no_file(content: str) -> None:
    Path("a.jsonl").write_text(content)
    assert in_process(["init", "a.jsonl"]) == 2
    assert not Path("longmark.yaml").exists()


def test_without_a_file_there_is_one_to_fill_in() -> None:
    assert in_process(["init"]) == 0
    assert (
        yaml.safe_load(Path("longmark.yaml").read_text())["runs"]["first"]["examples"]
        == "answers.jsonl"
    )
