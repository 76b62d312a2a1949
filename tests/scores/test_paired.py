"""The scores of several runs, paired by question."""

from __future__ import annotations

import math
import re

import pytest
from tests.report.runs import manifest, row, write_run

from longmark.errors import UserError
from longmark.records import Example, Usage
from longmark.scores.paired import Ids, read_scores

METRIC = "ccrs.question_relevance"


def mark(example, question, value, system="first", metric=METRIC, **more):
    return row(example, metric, value, question_id=question, system=system, **more)


def test_runs_are_paired_by_question(tmp_path):
    one = write_run(tmp_path / "one", [], [mark("a", "q1", 0.5), mark("b", "q2", None)], manifest())
    two = write_run(tmp_path / "two", [], [mark("z", "q2", 0.25), mark("y", "q3", 1.0)], manifest())
    marks = read_scores([one, two])
    assert (marks.by, marks.systems, [*marks.questions]) == (
        "run",
        ("one", "two"),
        ["q1", "q2", "q3"],
    )
    found = [[None if math.isnan(x) else x for x in line] for line in marks.matrix(METRIC)]
    assert found == [[0.5, None], [None, 0.25], [None, 1.0]]
    assert marks.rows(METRIC, "one") == 2
    assert [(gap.status, gap.count) for gap in marks.unscored(METRIC, "one")] == [("unparsable", 1)]
    assert marks.unscored(METRIC, "two") == ()
    assert marks.matrix("none such").shape == (3, 2)


def test_ids_of_questions_are_held_as_they_are():
    given = ["q1", "", "Überflutung", "q\n2", "\ud800", "日本"]  # a JSON file can hold half a pair
    ids = Ids()
    for one in given:
        ids.append(one)
    assert ([*ids], len(ids), ids[-1], ids.index("q\n2")) == (given, 6, "日本", 3)
    with pytest.raises(IndexError):
        ids[6]


def test_answers_without_a_score_are_counted_by_question(tmp_path):
    rows = [mark("a", "q1", 0.2), mark("b", "q1", 0.6), mark("c", "q2", None), mark("d", "q3", 0.5)]
    rows += [
        mark("e", "q3", 0.1, "other"),
        mark("f", "q4", None, "other"),
        mark("g", "q4", 0.3, "other"),
    ]
    marks = read_scores([write_run(tmp_path / "one", [], rows)])
    assert marks.unanswered(METRIC, "first") == (2, 5)  # q2, and q4 without a row
    assert marks.unanswered(METRIC, "other") == (3, 5)  # one to q4, and q1 and q2
    assert marks.unanswered("none such", "first") == (0, 0)


def test_systems_of_one_run_and_of_several_are_told_apart_by_name(tmp_path):
    other = "score.readability.reading_ease"
    one = write_run(tmp_path / "one", [], [mark("a", "q1", 0.5, "x"), mark("b", "q1", 0.7, "y")])
    two = write_run(tmp_path / "two", [], [mark("a", "q1", 60.0, "x", other)])
    assert read_scores([one]).systems == ("x", "y")
    marks = read_scores([one, two], by="system")
    assert (marks.systems, marks.metrics) == (("x", "y"), (METRIC, other))
    assert marks.matrix(other)[0, 0] == 60.0


def test_systems_may_use_the_same_example_ids(tmp_path):
    rows = [
        mark(f"e{i}", f"q{i}", i / 10 + shift, system)
        for system, shift in (("x", 0.0), ("y", 0.5))
        for i in (1, 2)
    ]
    marks = read_scores([write_run(tmp_path / "one", [], rows)])
    assert marks.systems == ("x", "y")
    assert marks.matrix(METRIC).tolist() == [[0.1, 0.6], [0.2, 0.7]]
    assert marks.rows(METRIC, "x") == 2


def test_rows_without_a_system_have_the_name_of_their_folder(tmp_path):
    for name in ("one", "two"):
        write_run(tmp_path / name, [], [mark("a", "q", 0.5, system="")])
    runs = [tmp_path / "one", tmp_path / "two"]
    assert read_scores(runs[:1]).systems == ("one",)
    assert read_scores(runs, by="system").systems == ("one", "two")


def test_several_answers_to_a_question_count_once_by_their_mean(tmp_path):
    rows = [mark("a", "q1", 0.2), mark("b", "q1", 0.6), mark("c", "q1", None), mark("d", "q2", 0.1)]
    marks = read_scores([write_run(tmp_path / "one", [], rows)])
    # (0.2 + 0.6) / 2; the answer without a value does not count
    assert marks.matrix(METRIC)[:, 0].tolist() == [pytest.approx(0.4), 0.1]
    assert marks.repeated == {(METRIC, "first"): 1}
    assert marks.rows(METRIC, "first") == 4


def test_marks_that_cannot_be_paired_are_refused(tmp_path):
    two_systems = write_run(
        tmp_path / "one", [], [mark("a", "q1", 0.5, "x"), mark("b", "q1", 0.7, "y")]
    )
    other = write_run(tmp_path / "two", [], [mark("a", "q1", 0.1, "x")])
    with pytest.raises(
        UserError, match=r"one holds scores of several systems .*\(x and y on q1\).*by='system'"
    ):
        read_scores([two_systems, other])
    with pytest.raises(
        UserError, match=r"the system x has scores on the same question \(q1\) in two runs"
    ):
        read_scores([two_systems, other], by="system")
    with pytest.raises(UserError, match="given twice"):
        read_scores([other, tmp_path / "two" / ".." / "two"])
    with pytest.raises(UserError, match="run or system"):
        read_scores([other], by="judge")
    empty = write_run(tmp_path / "three", [], [])
    with pytest.raises(UserError, match=re.escape("there are no rows")):
        read_scores([empty])


def test_gaps_usage_signatures_and_question_texts_come_along(tmp_path):
    reason = "The judge gave nothing."
    paid = Usage(calls=2, prompt_tokens=10, usd=0.5)
    rows = [
        mark("a", "q1", 0.5, "x", usage=paid),
        mark("b", "q2", None, "x", usage=paid, reason=reason),
    ]
    one = write_run(
        tmp_path / "one", [Example(id="a", question_id="q1", question="Why?")], rows, manifest()
    )
    two = write_run(tmp_path / "two", [], [mark("c", "q3", None, "x")], manifest())
    marks = read_scores([one, two], by="system")
    assert [(gap.count, gap.giving) for gap in marks.unscored(METRIC, "x")] == [(2, 1)]
    assert marks.usage(METRIC, "x") == Usage(calls=4, prompt_tokens=20, usd=1.0)
    assert marks.question_texts(["q1", "q2"]) == {"q1": "Why?"}
    assert [len(of_run) for of_run in marks.signatures[METRIC]] == [1, 1]
    assert marks.facts[METRIC].lo == 0
