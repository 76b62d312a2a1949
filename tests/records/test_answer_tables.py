"""Tables with a column for each system (promptfoo's CSV)."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from longmark.errors import UserError
from longmark.records import Example
from longmark.records.answer_tables import BESIDE, own_names
from longmark.records.read import Reading

PASSED = ("PASS", "1.00", "", "All assertions passed", "")
FAILED = ("ERROR", "0.00", "", "", "")


def examples(path: Path, *rows: tuple[str, ...], **mapping: str) -> list[Example]:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return list(Reading(path, mapping=mapping or None).singles())


def test_one_prompt_is_not_named_and_several_are(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    names: tuple[str, ...] = ("question", "[one] Be [very] brief", *BESIDE)
    assert examples(path, names, ("Why?", "So.", *PASSED))[0].system == "one"
    names += ("[one] Be long", *BESIDE)
    answers = examples(path, names, ("Why?", "So.", *PASSED, "So, so.", *PASSED))
    assert [answer.system for answer in answers] == ["one / Be [very] brief", "one / Be long"]


def test_the_error_of_a_failed_call_is_no_answer_and_an_empty_cell_that_passed_is_one(
    tmp_path: Path,
) -> None:
    names = ("question", "[one] p", *BESIDE, "[two] p", *BESIDE)
    row = ("Why?", "429 Too Many Requests", *FAILED, "", *PASSED)
    answers = examples(tmp_path / "results.csv", names, row)
    assert [answer.answer for answer in answers] == [None, ""]


def test_answers_of_other_systems_and_their_scores_are_not_kept_beside_an_answer(
    tmp_path: Path,
) -> None:
    names = ("Description", "question", "topic", "[one] p", *BESIDE, "[two] p", *BESIDE)
    row = ("first", "Why?", "causes", "So.", *PASSED, "Thus.", *PASSED)
    for answer in examples(tmp_path / "results.csv", names, row):
        assert answer.meta == {
            "Description": "first",
            "topic": "causes",
            "reason": "All assertions passed",
        }


def test_a_variable_of_any_name_can_be_the_question(tmp_path: Path) -> None:
    names = ("town", "answer", "[one] p", *BESIDE)
    row = ("Rome", "in Italy", "It is in Italy.", *PASSED)
    (answer,) = examples(tmp_path / "results.csv", names, row, question="town", references="answer")
    assert (answer.question, answer.answer, answer.references) == (
        "Rome",
        "It is in Italy.",
        ("in Italy",),
    )


def test_the_same_answer_of_two_runs_of_a_test_stays_two_answers(tmp_path: Path) -> None:
    names = ("question", "[one] p", *BESIDE)
    row = ("Why?", "So.", *PASSED)
    answers = examples(tmp_path / "results.csv", names, row, row)
    assert [answer.id for answer in answers] == ["0-0", "1-0"]
    assert len({answer.question_id for answer in answers}) == 1


def test_columns_of_one_name_are_refused_in_any_other_table(tmp_path: Path) -> None:
    names = ("question", "answer", "Status", "Score", "Status")
    with pytest.raises(UserError, match="the column Status appears twice"):
        examples(tmp_path / "results.csv", names, ("Why?", "So.", "PASS", "1", "FAIL"))


def test_names_are_told_apart_only_where_all_of_a_group_follow_an_answer() -> None:
    short_of_one = ["question", "[one] p", *BESIDE[:-1]]
    assert own_names(short_of_one) == short_of_one
    assert own_names([]) == []
    assert own_names(list(BESIDE)) == list(BESIDE)
    grouped = own_names(["[one] p", *BESIDE, "[two] p", *BESIDE])
    assert len(set(grouped)) == len(grouped)
