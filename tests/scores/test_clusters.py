"""Clusters: the question, or a field of the examples, in the figures of a run and in the pairs of a comparison."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.report.runs import RELEVANCE, manifest, row, write_run
from tests.there import there

from longmark.errors import UnknownName, UserError
from longmark.records import Example
from longmark.report.html import write_report
from longmark.report.summary import Cell, Summary, as_csv, score_table, summarise
from longmark.report.tables import as_text
from longmark.scores.paired import read_scores
from longmark.stats.means import equal_interval, mean_estimate

VALUES = [0.9, 0.2, 1.0, 0.6, 0.7, 1.0, 0.4, 0.8]


def run_of(folder: Path, rows: list[tuple[str, float, dict[str, str]]], system: str = "s") -> Path:
    """A run of (question, score, other fields)."""
    examples = [
        Example(id=f"a{i}", question_id=question, question="Why?", answer="So.", meta=meta)
        for i, (question, _, meta) in enumerate(rows)
    ]
    its = [
        row(f"a{i}", RELEVANCE, score, question_id=q, system=system)
        for i, (q, score, _) in enumerate(rows)
    ]
    return write_run(folder, examples, its, manifest())


def cell_of(summary: Summary) -> Cell:
    (cell,) = summary.cells
    return cell


def test_rows_repeated_four_times_under_one_question_have_the_same_interval(tmp_path):
    once: list[tuple[str, float, dict[str, str]]] = [
        (f"q{i}", value, {}) for i, value in enumerate(VALUES)
    ]
    four = [one for one in once for _ in range(4)]
    random.Random(1).shuffle(four)
    plain, shown = (
        summarise([run_of(tmp_path / name, rows)]) for name, rows in (("one", once), ("four", four))
    )
    a, b = cell_of(plain), cell_of(shown)
    assert (a.mean, a.interval, a.clusters) == (b.mean, b.interval, None)
    assert (b.scored, b.clusters) == (32, 8)
    assert a.interval == mean_estimate(VALUES, bounds=(0, 1)).ends
    assert "95 % CI (Hall's t over questions)" in as_text(score_table(shown))
    assert "questions" not in as_text(score_table(plain))
    assert as_csv(shown).splitlines()[1].endswith(",Hall's t,8")


def test_a_field_of_the_examples_makes_the_clusters(tmp_path):
    documents = ["x", "x", "x", "y", "y", "z", "z", "z"]
    rows = [
        (f"q{i}", value, {"document": d})
        for i, (value, d) in enumerate(zip(VALUES, documents, strict=True))
    ]
    run = run_of(tmp_path / "run", rows)
    summary = summarise([run], "document")
    cell = cell_of(summary)
    assert cell.interval == mean_estimate(VALUES, documents, (0, 1)).ends
    assert (cell.clusters, summary.notices) == (3, ())
    assert "Hall's t over clusters (document)" in summary.interval_name
    scores = read_scores([run], cluster="document")
    assert (scores.cluster, scores.clusters.tolist()) == ("document", [0, 0, 0, 1, 1, 2, 2, 2])
    assert read_scores([run]).clusters.tolist() == [0, 1, 2, 3, 4, 5, 6, 7]


def test_examples_without_the_field_are_clusters_by_their_question_and_counted(tmp_path):
    rows = [
        ("x", 0.1, {}),
        ("x", 0.2, {}),
        ("q2", 0.9, {"document": "x"}),
        ("q3", 0.5, {"document": " "}),
    ]
    summary = summarise([run_of(tmp_path / "run", rows)], "document")
    assert cell_of(summary).clusters == 3, "the question x is not the document x"
    assert summary.notices == (
        "3 of 4 examples have no document: those of one question are one cluster.",
    )


def test_a_field_that_no_example_has_is_an_error_that_names_the_fields(tmp_path):
    run = run_of(tmp_path / "run", [("q", 0.5, {"document": "x", "user": "u"})])
    with pytest.raises(
        UserError,
        match=r"cluster='docs': no example has this field; .* question_id, document, user",
    ):
        summarise([run], "docs")


def test_rows_made_elsewhere_take_a_column(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("example_id,metric,score,document\na,m,0.1,x\nb,m,0.4,x\nc,m,0.9,y\nd,m,0.8,\n")
    cell = cell_of(summarise([path], "document"))
    assert (cell.clusters, cell.interval) == (3, mean_estimate([0.1, 0.4, 0.9, 0.8], "xxyd").ends)
    with pytest.raises(UserError, match="the fields are question_id, document"):
        summarise([path], "docs")


def test_a_question_in_two_clusters_cannot_be_compared(tmp_path):
    run = run_of(tmp_path / "run", [("q", 0.5, {"user": "u"}), ("q", 0.6, {"user": "v"})])
    assert there(cell_of(summarise([run], "user")).interval)
    with pytest.raises(UserError, match=r"the question q is in two clusters \(u and v\)"):
        read_scores([run], cluster="user")


def test_scores_made_elsewhere_have_the_bounds_that_are_given(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("example_id,metric,score\na,m,0.9\nb,m,0.9\n")
    bounds = {"m": (0.0, 1.0)}
    cell = cell_of(write_report([path], tmp_path / "report.html", bounds=bounds))
    assert cell.interval == equal_interval(0.9, 2, 0, 1)
    assert read_scores([path], bounds=bounds).facts["m"].hi == 1
    with pytest.raises(UnknownName, match="metric in bounds="):
        read_scores([path], bounds={"n": (0.0, 1.0)})
    with pytest.raises(
        UserError,
        match=r"bounds=\{'m': \(0.0, 0.5\)\}: 2 of the scores lie outside; the scores are from 0.9 to 0.9",
    ):
        read_scores([path], bounds={"m": (0.0, 0.5)})
    run = run_of(tmp_path / "run", [("q", 0.5, {})])
    with pytest.raises(UserError, match="the metric declares other bounds"):
        read_scores([run], bounds={RELEVANCE: (0.0, 2.0)})
