"""`longmark climaqa-study`: from answers over a run to the page, what is not made, what is resumed, what is refused."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from tests.contrib.papers.climaqa.climaqa_runs import (
    answers,
    write_benchmark,
    write_beside,
    write_run,
)
from tests.program import Done, names_in, run, write_jsonl

_TABLES = (
    "table3",
    "table4",
    "table5",
    "table6",
    "table7",
    "table10",
    "figure4",
    "figure7",
    "figure8",
    "generator",
)


@pytest.fixture
def study(tmp_path: Path):
    def command(*words: str | Path) -> Done:
        return run("climaqa-study", *words, "--out", "out", home=tmp_path / "home", cwd=tmp_path)

    return command


def lines(folder: Path, table: str) -> list[dict[str, str]]:
    with (folder / "out" / "tables" / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_study_makes_every_table(tmp_path: Path, study):
    runs = [write_run(tmp_path / setting, setting) for setting in ("default", "rag-source")]
    given = [word for pair in write_beside(tmp_path / "beside").items() for word in pair]
    done = study(*runs, "--benchmark", write_benchmark(tmp_path / "bench"), *given)
    assert (done.code, done.err) == (0, "")
    assert "Left out" not in done.out
    for table in _TABLES:
        assert (tmp_path / "out" / "tables" / f"{table}.tex").exists(), table
    (writer,) = [
        line for line in lines(tmp_path, "table3") if line["system"] == "writer-rag-source"
    ]
    assert float(writer["mcq_overall"]) == 0.75  # three of four items
    books = {line["book"]: (line["items"], line["pages"]) for line in lines(tmp_path, "table4")}
    assert books == {"Clouds": ("36", ""), "Oceans": ("36", "3")}
    assert [line["valid"] for line in lines(tmp_path, "table10")] == [
        "20",
        "30",
    ]  # each sixth item is rejected
    assert len(lines(tmp_path, "figure4")) == 11
    assert any(
        "figure-5" in name or "by-level" in name for name in names_in(tmp_path / "out" / "figures")
    )


def test_answers_are_scored_and_studied_without_anything_else(tmp_path: Path, study):
    write_jsonl(tmp_path / "answers.jsonl", list(answers("default")))
    metrics = "climaqa.mcq,climaqa.exact_match,classic.bleu@form=climaqa"
    words = ("run", "answers.jsonl", "--metrics", metrics, "--out", "run", "--quiet")
    scored = run(*words, home=tmp_path / "home", cwd=tmp_path)
    assert scored.code == 0
    done = study("run", "--benchmark", write_benchmark(tmp_path / "bench"))
    assert (done.code, done.err) == (0, "")
    for part in (
        "Left out: figure 4. Give a run on labelled answers",
        "Left out: table 10 and figure 7. Give the labels of experts (--labels).",
        "Left out: figure 8.",
        "Left out: tests between settings.",
    ):
        assert part in " ".join(done.out.split())
    assert [line["mcq_overall"] for line in lines(tmp_path, "table3")] == ["0.5", "0.5"]
    assert not (tmp_path / "out" / "tables" / "table10.csv").exists()


def test_silver_items_alone_are_in_their_own_tables(tmp_path: Path, study):
    bench = write_benchmark(tmp_path / "bench")
    items = (bench / "items.jsonl").read_text()
    (bench / "items.jsonl").write_text(items.replace('"tier":"gold"', '"tier":"silver"'))
    done = study(write_run(tmp_path / "run", "default"), "--benchmark", bench)
    assert done.code == 0
    told = " ".join(done.out.split())
    assert "Left out: table 3." in told
    assert "Left out: table 5." in told
    assert "Left out: tables 6 and 7." not in told
    assert [line["mcq_overall"] for line in lines(tmp_path, "table6")] == ["0.5", "0.5"]
    assert lines(tmp_path, "models")[0]["difference_n"] == "24"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "there is nothing to study"),
        (("--labels", "none.jsonl"), "none.jsonl"),
        (("default",), "give the benchmark of the answers as --benchmark"),
        (("--window-labels", "default"), "found 0 right and 0 wrong"),
        (("--validator", "default"), "curves.json"),
        (("--fever", "default", "--alpha", "2"), "a confidence level"),
    ],
)
def test_what_cannot_be_done_is_an_error_before_anything_is_made(
    tmp_path: Path, study, words, says: str
):
    write_run(tmp_path / "default", "default")
    done = study(*words)
    assert done.code == 2, done.out + done.err
    assert says in done.err
    assert not (tmp_path / "out" / "report.html").exists()
