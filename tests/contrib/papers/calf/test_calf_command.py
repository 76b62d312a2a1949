"""`longmark calf-study`: it scores pairs and reads runs, resumes, and says what it cannot do."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tests.contrib.papers.calf.calf_runs import METRIC, pairs, write_pairs, write_run
from tests.program import Done, names_in, rows_of, run, write_jsonl

LENGTH = "classic.length.characters"


@pytest.fixture
def study(tmp_path: Path):
    def command(*words: str | Path) -> Done:
        return run("calf-study", *words, home=tmp_path / "home", cwd=tmp_path)

    return command


def figures(folder: Path, table: str) -> dict[str, dict[str, str]]:
    with (folder / "tables" / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return {line["metric"]: line for line in csv.DictReader(file)}


def test_pairs_are_scored_and_compared_with_people(tmp_path: Path, study):
    write_pairs(tmp_path)
    first = study("pairs.jsonl", "--metrics", LENGTH, "--out", "out")
    assert first.code == 0
    assert "Agreement of raters: 0.750." in first.out
    accuracy = figures(tmp_path / "out", "accuracy")
    assert float(accuracy[LENGTH]["accuracy"]) == 0.5  # as the baseline: right on 1, 5, 7, 8
    assert accuracy[LENGTH]["conclusion"] == "not tested"  # four questions
    assert accuracy["always the longer answer"]["conclusion"] == "baseline"
    assert "figure 9" in (tmp_path / "out" / "report.html").read_text("utf-8")
    assert names_in(tmp_path / "out" / "disagreements") == [f"{LENGTH}.html"]
    page = (tmp_path / "out" / "disagreements" / f"{LENGTH}.html").read_text("utf-8")
    assert "q3" in page
    assert (
        "Pairs on which the most metrics disagree with people come first." in page
    )  # a page of pairs, side by side
    assert f"pairs from the worst disagreements of {LENGTH} with people" in page
    assert "has not finished" not in page
    assert (tmp_path / "out" / "tables" / "table2.md").exists()
    before = rows_of(tmp_path / "out" / "run")
    assert study("pairs.jsonl", "--metrics", LENGTH, "--out", "out").code == 0
    assert rows_of(tmp_path / "out" / "run") == before


def test_a_dry_run_sends_and_writes_nothing(tmp_path: Path, study):
    write_pairs(tmp_path)
    done = study("pairs.jsonl", "--metrics", LENGTH, "--out", "out", "--dry-run")
    assert done.code == 0
    assert done.out.splitlines()[1].split() == ["scores", "8", "0"]
    assert not (tmp_path / "out").exists()


def test_unscored_pairs_have_their_reason_in_the_table(tmp_path: Path, study):
    write_pairs(tmp_path, [{**pair, "references": []} for pair in pairs()])
    done = study("pairs.jsonl", "--metrics", "classic.rouge_1", "--out", "out")
    assert (done.code, done.err.splitlines()[-1]) == (4, "longmark: classic.rouge_1: has no score")
    assert (tmp_path / "out" / "report.html").exists()
    reason = figures(tmp_path / "out", "accuracy")["classic.rouge_1"]["unscored_because"]
    assert reason == "8 missing_input (Answer a: The example has no reference answer)"


@pytest.mark.parametrize("option", [("--tie-band", "0.1"), ("--pair-decimals", "raw")])
def test_options_of_pairs_are_refused_for_single_answers(tmp_path: Path, option: tuple[str, str]):
    write_jsonl(tmp_path / "single.jsonl", [{"id": "1", "question": "Q?", "answer": "A."}])
    for more in ((), ("--dry-run",)):
        words = ("run", "single.jsonl", "--metrics", LENGTH, "--out", "out", *option, *more)
        done = run(*words, home=tmp_path / "home", cwd=tmp_path)
        assert done.code == 2
        assert (
            "--tie-band and --pair-decimals say when two answers tie, and the records of single.jsonl"
            in done.err
        )


def test_runs_are_read_beside_each_other(tmp_path: Path, study):
    for name in ("small", "large"):
        write_run(tmp_path / name)
    done = study("small", "large", "--out", "out", "--development", "0.4")
    assert (done.code, done.err) == (0, "")
    assert f"{METRIC} (small)" in figures(tmp_path / "out", "accuracy")
    assert figures(tmp_path / "out", "development")[f"{METRIC} (large)"]["band"]
    for table in (
        "table1",
        "table2",
        "table3",
        "table4",
        "table15",
        "table16",
        "table17",
        "figure2",
        "orders",
    ):
        assert (tmp_path / "out" / "tables" / f"{table}.tex").exists()
    assert any(
        "figure-11" in name or "model-model" in name
        for name in names_in(tmp_path / "out" / "figures")
    )


def test_pairs_without_a_second_rater_say_so(tmp_path: Path, study):
    write_pairs(tmp_path, [{**pair, "labels": {}, "subject": None} for pair in pairs()])
    done = study("pairs.jsonl", "--out", "out")
    assert "Agreement of raters: no second rater." in done.out
    assert "Tables 2, 16 and 17 are left out: no second rater." in done.out
    assert "The pairs have no subject" in done.out
    assert not (tmp_path / "out" / "tables" / "table2.csv").exists()


def test_foreign_text_stays_text(tmp_path: Path, study):
    evil = "<script>alert(1)</script>"
    given = [{**pair, "subject": evil, "question": evil, "a": evil + pair["a"]} for pair in pairs()]
    write_pairs(tmp_path, given)
    assert study("pairs.jsonl", "--metrics", LENGTH, "--out", "out").code == 0
    for page in (tmp_path / "out").rglob("*.html"):
        assert evil not in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.jsonl"], "none.jsonl"),
        (["unlabelled.jsonl"], "none of 8 examples is a pair with a human choice"),
        (["single.jsonl"], "none of 1 example is a pair"),
        (["run", "--metrics", LENGTH], "--metrics needs a file of pairs"),
        (["pairs.jsonl", "unlabelled.jsonl"], "second file of pairs"),
        (["pairs.jsonl", "--development", "1"], "--development"),
        (["pairs.jsonl", "--metrics", "classic.lenght"], "classic.length"),
    ],
)
def test_mistakes_are_explained(tmp_path: Path, study, words: list[str], message: str):
    write_pairs(tmp_path)
    write_run(tmp_path / "run")
    write_jsonl(
        tmp_path / "unlabelled.jsonl", [{**pair, "label": None, "labels": {}} for pair in pairs()]
    )
    (tmp_path / "single.jsonl").write_text(
        json.dumps({"question": "Why?", "answer": "So."}), "utf-8"
    )
    done = study(*words, "--out", "out")
    assert done.code == 2
    assert message in done.err


@pytest.mark.parametrize("name", [LENGTH, "always the first answer"])
def test_verdicts_with_the_name_of_a_metric_are_an_error_before_anything_is_scored(
    tmp_path: Path, study, name: str
):
    write_pairs(
        tmp_path, [{**pair, "meta": {"verdicts": {name: [{"choice": "a"}]}}} for pair in pairs()]
    )
    done = study("pairs.jsonl", "--metrics", LENGTH, "--out", "out")
    assert done.code == 2
    assert (
        f"pairs.jsonl: 1: meta.verdicts: {name} is also the name of a metric or a baseline"
        in done.err
    )
    assert not (tmp_path / "out" / "run").exists()
