"""A folder of BEIR: its queries are questions, its judgments are labels, and it says what reads the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.program import in_process

from longmark.errors import UserError
from longmark.records import beir
from longmark.records.read import Reading
from longmark.scores.labels import Labels


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "scifact"
    (folder / "qrels").mkdir(parents=True)
    query = {"_id": "q1", "text": "Why is ice light?", "metadata": {}}
    passage = {"_id": "d1", "title": "Ice", "text": "Ice is less dense.", "metadata": {}}
    (folder / "queries.jsonl").write_text(json.dumps(query) + "\n")
    (folder / "corpus.jsonl").write_text(json.dumps(passage) + "\n")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    return folder


def test_look_shows_the_queries_and_the_commands_that_read_the_other_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder.parent)
    assert in_process(["look", "scifact"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "question Why is ice light?" in shown
    for command in (
        "longmark run ANSWERS --questions scifact",
        "longmark rag index scifact/corpus.jsonl --map id=_id --out INDEX",
        "longmark metaeval RUN scifact/qrels/test.tsv",
    ):
        assert command in shown


def test_the_folder_is_a_file_of_questions_and_of_labels(folder: Path) -> None:
    answer = {"id": "q1/d1", "question_id": "q1", "answer": "Ice is less dense."}
    (example,) = Reading([answer], questions=folder).singles()
    assert example.question == "Why is ice light?"
    with Labels(folder) as labels:
        assert [(label.example_id, label.value) for label in labels.select()] == [("q1/d1", 1.0)]


def test_judgments_of_several_splits_are_named(folder: Path) -> None:
    (folder / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\n")
    with pytest.raises(UserError, match=r"name one: .*dev\.tsv, .*test\.tsv"):
        Labels(folder)
    for file in (folder / "qrels").iterdir():
        file.unlink()
    with pytest.raises(UserError, match="without judgments"):
        Labels(folder)


def test_a_corpus_says_how_it_is_indexed(folder: Path) -> None:
    with pytest.raises(UserError, match="longmark rag index FILE --map id=_id"):
        list(Reading(folder / "corpus.jsonl"))


def test_any_other_folder_is_none_of_beir_s(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text("")
    assert not beir.is_one(tmp_path)
    assert beir.notice(tmp_path) == ""
    with pytest.raises(UserError, match="is a folder without"):
        Reading(tmp_path)
