"""A run as a data set of Hugging Face: a folder that `datasets.load_dataset` reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from longmark.cli import main
from longmark.errors import UserError
from longmark.records import Context, Example, Pair, Row, Signature, Usage
from longmark.records.read import Reading
from longmark.records.write import write_examples, write_rows
from longmark.scores.exchange import write_scores

parquet = pytest.importorskip("pyarrow.parquet")

EXAMPLES = [
    Example(
        id="a1",
        question="Why?",
        answer="So.",
        contexts=(Context(text="first", id="p1"), Context(text="second")),
        references=("Because.",),
        system="alpha",
    ),
    Example(id="a2", question="How?", answer="", system="beta"),
    Example(id="a3", question="Who?", answer=None, system="beta"),
]


def row(example: Example, metric: str, score: float | None) -> Row:
    status, reason = ("ok", None) if score is not None else ("refused", "The judge declined.")
    key = (example.id, example.question_id, example.system or "", metric)
    return Row(*key, score, status, reason, {}, Signature("1"), Usage())


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Three answers; one metric scored the first, and another one nothing."""
    folder = tmp_path / "run"
    folder.mkdir()
    first, second, _ = EXAMPLES
    write_examples(EXAMPLES, folder / "examples.jsonl")
    write_rows(
        [row(first, "m.x", 0.75), row(second, "m.x", None), row(first, "m.y", None)],
        folder / "rows.jsonl",
    )
    return folder


def expected() -> list[dict[str, Any]]:
    return [
        {
            "example_id": example.id,
            "question_id": example.question_id,
            "system": example.system,
            "question": example.question,
            "answer": example.answer,
            "contexts": [{"id": context.id, "text": context.text} for context in example.contexts],
            "references": list(example.references),
            "m.x": score,
            "m.x.status": status,
            "m.y": None,
            "m.y.status": "refused" if example.id == "a1" else None,
        }
        for example, score, status in zip(
            EXAMPLES, (0.75, None, None), ("ok", "refused", None), strict=True
        )
    ]


def test_a_row_of_the_data_set_is_an_answer_with_all_scores(run: Path, tmp_path: Path) -> None:
    assert write_scores(run, "datasets", tmp_path / "set") == (3, 0)
    table = parquet.read_table(tmp_path / "set" / "data.parquet")
    assert table.to_pylist() == expected()
    types = {field.name: str(field.type) for field in table.schema}
    assert (types["m.x"], types["m.y"], types["m.y.status"]) == ("double", "double", "string")


def test_longmark_reads_the_data_set_as_the_answers_that_it_had(run: Path, tmp_path: Path) -> None:
    write_scores(run, "datasets", tmp_path / "set")
    names = ("id", "question_id", "question", "answer", "contexts", "references", "system")
    for read, written in zip(Reading(tmp_path / "set").singles(), EXAMPLES, strict=True):
        assert {name: getattr(read, name) for name in names} == {
            name: getattr(written, name) for name in names
        }


def test_a_row_of_the_data_set_of_pairs_is_a_pair_with_its_label(tmp_path: Path) -> None:
    pairs = [
        Pair(
            id="p1",
            question="Why?",
            a="So.",
            b="",
            a_system="alpha",
            b_system="beta",
            label="a",
            references=("Because.",),
        ),
        Pair(id="p2", question="How?", a="Well.", b="Thus."),
    ]
    folder = tmp_path / "run"
    folder.mkdir()
    write_examples(pairs, folder / "examples.jsonl")
    key = ("p1", pairs[0].question_id, "run", "m.x")
    write_rows([Row(*key, -1.0, "ok", None, {}, Signature("1"), Usage())], folder / "rows.jsonl")
    assert write_scores(folder, "datasets", tmp_path / "set") == (1, 0)
    first, second = parquet.read_table(tmp_path / "set" / "data.parquet").to_pylist()
    assert first == {
        "example_id": "p1",
        "question_id": pairs[0].question_id,
        "question": "Why?",
        "a": "So.",
        "b": "",
        "a_system": "alpha",
        "b_system": "beta",
        "label": "a",
        "contexts": [],
        "references": ["Because."],
        "m.x": -1.0,
        "m.x.status": "ok",
    }
    assert (second["a"], second["label"], second["m.x"]) == ("Well.", None, None)
    names = ("id", "question_id", "a", "b", "a_system", "b_system", "label", "references")
    for read, written in zip(Reading(tmp_path / "set"), pairs, strict=True):
        assert {name: getattr(read, name) for name in names} == {
            name: getattr(written, name) for name in names
        }


def test_datasets_loads_the_folder(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    write_scores(run, "datasets", tmp_path / "set")
    loaded = datasets.load_dataset(
        str(tmp_path / "set"), split="train", cache_dir=str(tmp_path / "cache")
    )
    assert loaded.to_list() == expected()


def test_a_second_export_replaces_the_first_and_no_other_file_is_read_with_it(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["export", str(run), "--to", "datasets", "--out", str(tmp_path / "set")]
    assert main(words) == main(words) == 0
    (tmp_path / "set" / "old.parquet").write_bytes(b"x")
    capsys.readouterr()
    assert main(words) == 2
    assert "has other files (old.parquet)" in capsys.readouterr().err
    with pytest.raises(UserError, match="is a file; a data set is a folder"):
        write_scores(run, "datasets", run / "rows.jsonl")


def test_a_file_of_rows_has_no_answers_to_write(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="name the run's folder"):
        write_scores(run / "rows.jsonl", "datasets", tmp_path / "set")
    assert not (tmp_path / "set").exists()
