"""Files that are named within texts of longmark.yaml: relative to the file, and trusted where they lie elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.program import in_process

from longmark.cli import project
from longmark.cli.project_files import FILE_PARAMETERS

METRICS = Path(project.__file__).parent.parent / "metrics"

TEXTS = [
    ("metaeval", "order", "quality=@{}", "classes.txt"),
    ("metaeval", "leave_out", "@{}", "classes.txt"),
    ("report", "leave_out", "@{}", "classes.txt"),
    ("run", "metrics", "nuggets@file={}", "nuggets.jsonl"),
    ("run", "metrics", "pairs.geval.overall@aspects=own@panel={}", "panel.yaml"),
    ("decide", "metrics", "rubric.yaml,criteria@file={}", "nuggets.jsonl"),
    ("compare", "metrics", "nuggets@file={}", "nuggets.jsonl"),
    ("run", "metrics", "classic.bertscore@encoder=hf:{}", "runs"),
    ("check", "assertions", "same as {} within 0.1", "runs/kept"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in a folder below the working folder."""
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine" / "runs" / "kept").mkdir(parents=True)
    return tmp_path / "mine"


def read(folder: Path, verb: str, option: str, text: str) -> tuple[str, list[str]]:
    """The option as the file `mine/longmark.yaml` gives it, and what it reaches out to."""
    (folder / "longmark.yaml").write_text(f"{verb}:\n  {option}: ['{text}']\n")
    read_file = project.load(Path("mine/longmark.yaml"))
    (value,) = read_file.sections[verb][option]
    return value, [reach.does for reach in read_file.reaches()]


@pytest.mark.parametrize(("verb", "option", "text", "name"), TEXTS)
def test_a_file_in_a_text_is_relative_to_the_project_file(
    folder: Path, verb: str, option: str, text: str, name: str
) -> None:
    value, _ = read(folder, verb, option, text.format(name))
    expected = text.replace("rubric", "mine/rubric").format(f"mine/{name}")
    assert sorted(value.split("@")) == sorted(expected.split("@"))  # parameters are sorted


@pytest.mark.parametrize(("verb", "option", "text", "name"), TEXTS)
def test_a_file_in_a_text_that_lies_elsewhere_needs_trust(
    folder: Path, verb: str, option: str, text: str, name: str
) -> None:
    (folder.parent / "elsewhere").mkdir()
    _, does = read(folder, verb, option, text.format("../elsewhere"))
    assert any(str(folder.parent / "elsewhere") in line or "../elsewhere" in line for line in does)
    _, does = read(folder, verb, option, text.format(name))
    assert not any("outside of the folder" in line for line in does)


def test_a_strangers_file_of_classes_is_not_read(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder.parent / "secret.txt").write_text("a line of mine\n")
    text = "metaeval: {rows: r.jsonl, human: h.csv, leave_out: '@../secret.txt'}"
    (folder / "longmark.yaml").write_text(text)
    assert in_process(["metaeval", "--config", "mine/longmark.yaml"]) == 2
    error = capsys.readouterr().err
    assert "secret.txt, outside of the folder of the file" in error
    assert "a line of mine" not in error


def test_an_assertion_names_a_run_of_the_file_or_one_that_is_checked(folder: Path) -> None:
    (folder / "longmark.yaml").write_text(
        "runs: {quick: {out: short}}\n"
        "check: {runs: [runs/kept, quick], assertions: [same as quick, same as kept, m mean >= 1]}\n"
    )
    options = project.load(Path("mine/longmark.yaml")).sections["check"]
    assert options["runs"] == [Path("mine/runs/kept"), Path("mine/short")]
    assert options["assertions"] == ["same as mine/short", "same as kept", "m mean >= 1"]


def test_a_run_of_the_file_stands_for_its_examples_where_a_verb_reads_one_thing(
    folder: Path,
) -> None:
    (folder / "longmark.yaml").write_text(
        "runs: {quick: {examples: a.jsonl}}\nlook: {examples: quick}\n"
    )
    sections = project.load(Path("mine/longmark.yaml")).sections
    assert sections["look"]["examples"] == Path("mine/a.jsonl")


def test_every_parameter_of_a_metric_that_names_a_file_is_known() -> None:
    signed = {
        name
        for path in METRICS.rglob("*.py")
        for name in re.findall(r"\bsigned\(self\.(\w+)", path.read_text("utf-8"))
    }
    assert signed == FILE_PARAMETERS
