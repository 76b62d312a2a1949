"""Scores in a wide table, and the columns that are proposed for one."""

from __future__ import annotations

import csv
import json
import random
import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.report.runs import RELEVANCE, manifest, row, write_run

from longmark.analysis.metaeval import metaeval
from longmark.cli import main
from longmark.cli.next_steps import ratings_alone
from longmark.errors import BadInput, UnknownName, UserError
from longmark.scores.wide_columns import wide_columns
from longmark.scores.wide_scores import wide_scores

HEAD = ["Item", "Prompt", "FactMetric", "Words", "Latency ms", "Rater A", "Rater B"]
RATERS = ["Rater A", "Rater B"]


def table(path: Path, records: list[list[object]], head: list[str] = HEAD) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([head, *records])
    return path


def study(path: Path, answers: int = 40) -> Path:
    """A metric near both raters, and a number of words that is chance."""
    chance = random.Random(4)
    records: list[list[object]] = []
    for place in range(answers):
        truth = chance.gauss(0, 1)
        ratings = [max(1, min(5, round(3 + truth + chance.gauss(0, 0.4)))) for _ in RATERS]
        score = round(0.5 + 0.2 * truth, 3)
        records.append(
            [f"Q{place}", f"Explain {place}?", score, chance.randint(9, 90), 1200 + place, *ratings]
        )
    return table(path, records)


def test_each_column_is_a_metric_and_an_empty_cell_an_answer_without_a_score(tmp_path: Path):
    path = table(tmp_path / "t.csv", [["a", "?", 0.5, 3, 1, 1, 2], ["b", "?", "", 4, 1, 2, 2]])
    rows = wide_scores(path, ["FactMetric", "Words"], {"example_id": "Item"}).rows
    assert [(row.example_id, row.metric, row.score, row.status) for row in rows] == [
        ("a", "FactMetric", 0.5, "ok"),
        ("a", "Words", 3.0, "ok"),
        ("b", "FactMetric", None, "undefined"),
        ("b", "Words", 4.0, "ok"),
    ]
    assert rows[2].reason == "the cell is empty"


def test_a_wide_table_gives_what_a_line_for_each_score_gives(tmp_path: Path):
    path = study(tmp_path / "study.csv")
    with path.open() as file:
        records = list(csv.DictReader(file))
    long = table(
        tmp_path / "long.csv",
        [[one["Item"], name, one[name]] for one in records for name in ("FactMetric", "Words")],
        ["example_id", "metric", "score"],
    )
    mapping = {"example_id": "Item"}
    scores = ["FactMetric", "Words"]
    wide = metaeval(path, path, mapping=mapping, raters=RATERS, scores=scores)
    beside = metaeval(long, path, mapping=mapping, raters=RATERS)
    assert wide.labels == beside.labels
    assert wide.joined == 40


def test_a_line_for_each_rater_counts_once_and_other_scores_of_an_answer_are_refused(
    tmp_path: Path,
):
    head = ["example_id", "system", "m", "rater", "value"]
    path = table(
        tmp_path / "t.csv",
        [["a", "x", 1, "ann", 3], ["a", "x", 1, "bo", 4], ["a", "y", 2, "ann", 5]],
        head,
    )
    rows = wide_scores(path, ["m"], {}).rows
    assert [(row.example_id, row.system, row.score) for row in rows] == [
        ("a", "x", 1.0),
        ("a", "y", 2.0),
    ]
    path = table(tmp_path / "other.csv", [["a", "x", 1, "", 3], ["a", "x", 2, "", 4]], head)
    with pytest.raises(BadInput, match="a of x has other scores in line 2"):
        wide_scores(path, ["m"], {})


def test_what_is_no_number_and_a_column_that_is_not_there_are_refused_by_name(tmp_path: Path):
    path = table(tmp_path / "t.csv", [["a", "why", 0.5, "many", 1, 1, 1], ["", "", 1, 1, 1, 1, 1]])
    mapping = {"example_id": "Item"}
    with pytest.raises(BadInput) as bad:
        wide_scores(path, ["Words"], mapping)
    assert 't.csv:2: Words: expected a number, found "many"' in str(bad.value)
    assert "t.csv:3: Item: is empty" in str(bad.value)
    with pytest.raises(UnknownName, match="Did you mean FactMetric"):
        wide_scores(path, ["FactMetrik"], mapping)
    with pytest.raises(UserError, match="need a column that names the answer"):
        wide_scores(path, ["Words"], {})
    with pytest.raises(UserError, match="is a folder"):
        metaeval(
            tmp_path,
            study(tmp_path / "study.csv"),
            mapping=mapping,
            raters=RATERS,
            scores=["Words"],
        )


def test_ids_scores_and_raters_are_proposed_by_names_and_values(tmp_path: Path):
    columns = wide_columns(study(tmp_path / "study.csv"))
    assert columns is not None
    assert columns.keys == {"example_id": "Item"}
    assert columns.scores == ("FactMetric", "Words"), "a latency is no score"
    assert columns.raters == ("Rater A", "Rater B")
    by_system = table(
        tmp_path / "s.jsonl.csv",
        [["1", "x", 0.1, "good"], ["1", "y", 0.2, "bad"]],
        ["ticket", "build", "m", "expert"],
    )
    columns = wide_columns(by_system)
    assert columns is not None
    assert columns.keys == {"example_id": "ticket", "system": "build"}
    assert columns.raters == ("expert",)
    no_raters = table(tmp_path / "n.csv", [["1", 0.1]], ["ticket", "m"])
    assert wide_columns(no_raters) is None
    broken = tmp_path / "broken.csv"
    broken.write_bytes(b"\xff\xfe\x00")
    assert wide_columns(broken) is None


@pytest.mark.parametrize("verb", ["look STUDY", "metaeval STUDY STUDY"])
def test_the_command_that_look_or_a_refusal_names_runs(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    study(tmp_path / "study.csv")
    main(verb.replace("STUDY", "study.csv").split())
    captured = capsys.readouterr()
    (line,) = [
        line
        for line in (captured.out + captured.err).splitlines()
        if line.startswith("  longmark metaeval")
    ]
    assert main(shlex.split(line)[1:]) == 0
    assert "FactMetric agrees best with the human ratings" in capsys.readouterr().out


RATING_FILES = {
    "long": (
        ["answer_nr", "rater", "helpful"],
        [[f"e{i}", r, i % 5] for i in range(9) for r in "xy"],
    ),
    "no": (
        ["no", "who rater", "ms", "stars"],
        [[f"e{i}", r, 7, i] for i in range(9) for r in "xy"],
    ),
    "wide": (["Nr", "anna", "bo"], [[f"e{i}", i % 5, i % 4] for i in range(9)]),
    "one": (["case no", "stars", "remark"], [[f"e{i}", i % 5, "good"] for i in range(9)]),
}


@pytest.mark.parametrize("kind", RATING_FILES)
def test_ratings_with_names_of_their_own_are_refused_once_and_the_command_named_runs(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    head, lines = RATING_FILES[kind]
    table(Path("human.csv"), lines, head)
    scores: list[list[object]] = [[f"e{i}", "m", i % 5] for i in range(9)]
    table(Path("rows.csv"), scores, ["example_id", "metric", "score"])
    assert main(["look", "human.csv"]) == 2
    of_look = capsys.readouterr().err.splitlines()[-1].replace(" RUN ", " rows.csv ")
    assert main(["metaeval", "rows.csv", "human.csv"]) == 2
    refusal = capsys.readouterr().err
    assert "labels need columns example_id and value; found " in refusal
    assert "--map example_id=COLUMN --map value=COLUMN, or, for value, the columns of" in refusal
    command = refusal.splitlines()[-1]
    assert command == of_look
    assert main(shlex.split(command)[1:]) == 0
    assert "9 answers with human" in capsys.readouterr().out


def test_tables_that_are_not_of_ratings_get_no_command_of_ratings(tmp_path: Path):
    usual = table(tmp_path / "u.csv", [["a", "r", 1, 2]], ["example_id", "rater", "value", "other"])
    assert ratings_alone(usual) == []
    texts = [[i, f"What is thing {i}?", f"It is {i}.", i] for i in range(20)]
    assert ratings_alone(table(tmp_path / "t.csv", texts, ["nr", "ask", "say", "stars"])) == []
    assert ratings_alone(tmp_path / "absent.csv") == []


def test_a_run_with_two_systems_names_compare_and_one_of_one_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    for name, systems in (("two", "xy"), ("one", "x")):
        lines = [
            json.dumps({"question": f"What is {i}?", "answer": f"It is {i}.", "system": system})
            for i in range(3)
            for system in systems
        ]
        Path(f"{name}.jsonl").write_text("\n".join(lines) + "\n")
        main(["run", f"{name}.jsonl", "--metrics", "classic.length", "--out", f"runs/{name}"])
    printed = capsys.readouterr().out
    assert "Next: longmark compare runs/two\n" in printed
    assert "Next: longmark report runs/one --out runs/one.html\n" in printed


def test_look_says_what_rows_labels_and_runs_are_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    table(Path("rows.csv"), [["a", "m", 1]], ["example_id", "metric", "score"])
    table(Path("labels.csv"), [["a", 1]], ["example_id", "value"])
    Path("run").mkdir()
    Path("run/rows.jsonl").touch()
    for name, wanted in (
        ("rows.csv", "longmark compare rows.csv"),
        ("labels.csv", "longmark metaeval RUN labels.csv"),
        ("run", "longmark report run --out run.html"),
    ):
        assert main(["look", name]) == 2
        assert wanted in capsys.readouterr().err


def test_the_list_of_all_labels_of_a_study_leads_to_its_ratings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    table(Path("rows.csv"), [["a", "m", 1]], ["example_id", "metric", "score"])
    Path("labels").mkdir()
    Path("labels/labels.jsonl").write_text(
        json.dumps({"item": "a", "field": "f", "value": 1}) + "\n"
    )
    assert main(["metaeval", "rows.csv", "labels/labels.jsonl"]) == 2
    assert "beside it" not in capsys.readouterr().err
    Path("labels/ratings.csv").touch()
    assert main(["metaeval", "rows.csv", "labels/labels.jsonl"]) == 2
    assert "longmark metaeval rows.csv labels/ratings.csv" in capsys.readouterr().err


@pytest.mark.parametrize("table_first", [False, True])
def test_the_run_of_the_baselines_stands_beside_the_table_of_a_metric(
    tmp_path: Path, table_first: bool
):
    path = study(tmp_path / "study.csv")
    rows = [
        row(f"Q{i}", RELEVANCE, i / 40, system="ab"[i % 2], question_id=f"q{i // 2}")
        for i in range(40)
    ]
    baselines = write_run(tmp_path / "run", [], rows, manifest())
    sources = [path, baselines] if table_first else [baselines, path]
    options = {"mapping": {"example_id": "Item"}, "raters": RATERS}
    both = metaeval(sources, path, scores=["FactMetric"], **options)
    alone = metaeval(path, path, scores=["FactMetric"], **options)
    assert both.joined == 40
    assert set(both.metrics) == {RELEVANCE, "FactMetric"}
    of_both = {result.metric: result for result in both.labels[0].metrics}
    ranks: list[Any] = [of_both["FactMetric"], alone.labels[0].metrics[0], of_both[RELEVANCE]]
    joined, alone_ranked, baseline = (result.spearman for result in ranks)
    assert joined.value == alone_ranked.value
    assert joined.clusters == baseline.clusters == 20


def test_an_id_of_two_systems_is_not_joined_with_a_table_that_names_none(tmp_path: Path):
    path = study(tmp_path / "study.csv")
    rows = [
        row(f"Q{i}", RELEVANCE, i / 40, system=system, question_id=f"q{i}")
        for i in range(40)
        for system in "ab"
    ]
    baselines = write_run(tmp_path / "run", [], rows, manifest())
    with pytest.raises(UserError, match="several systems"):
        metaeval(
            [baselines, path],
            path,
            scores=["FactMetric"],
            mapping={"example_id": "Item"},
            raters=RATERS,
        )
