"""Files of labels that could be read as something else than they hold: they are refused, or a notice says it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from longmark.errors import BadInput, UserError
from longmark.scores.labels import ColumnOptions, Labels


def notices_of(file: Path, **options: Any) -> tuple[list[tuple[str, str, str, Any]], list[str]]:
    """(answer, rater, label, value) of each label, and the notices without the file's name."""
    with Labels(file, options=ColumnOptions(**options)) as labels:
        read = [
            (
                label.example_id,
                label.rater,
                label.metric,
                label.score if label.label is None else label.label,
            )
            for label in labels.select()
        ]
        return read, [notice.replace(str(file), "FILE") for notice in labels.notices]


def table(folder: Path, text: str) -> Path:
    file = folder / "labels.csv"
    file.write_text(text)
    return file


def test_raters_named_a_and_b_are_people_and_no_two_answers(tmp_path: Path) -> None:
    file = table(tmp_path, "example_id,A,B,C\nx,1,2,3\n")
    labels, notices = notices_of(file, raters=["A", "B", "C"])
    assert labels == [
        ("x", "A", "rating", 1.0),
        ("x", "B", "rating", 2.0),
        ("x", "C", "rating", 3.0),
    ]
    assert notices == []


def test_two_columns_whose_names_differ_in_case_alone_have_to_be_told_apart(tmp_path: Path) -> None:
    file = table(tmp_path, "example_id,Value,value,rater\nx,1,5,ann\n")
    with pytest.raises(UserError, match="Value and value could both be the value; choose one"):
        notices_of(file)
    labels, _ = notices_of(file, mapping={"value": "value"})
    assert labels == [("x", "ann", "rating", 5.0)]


@pytest.mark.parametrize(
    ("choices", "for_b", "ties"), [((1, 2, 1), 3, 0), ((0, 1, 1), 2, 1), ((-1, 1, 2), 0, 0)]
)
def test_choices_that_are_numbers_of_the_answers_are_said_to_be_all_for_b(
    tmp_path: Path, choices: tuple[int, ...], for_b: int, ties: int
) -> None:
    lines = [f"q{place},m1,m2,{choice},ann" for place, choice in enumerate(choices)]
    _, notices = notices_of(table(tmp_path, "\n".join(["question_id,a,b,choice,rater", *lines])))
    expected = [
        f"No number of choice in FILE is below 0, which is for a: {for_b} are above 0, for b, and {ties} are 0, "
        "ties. If 1 and 2, or 0 and 1, stand for the answers, write a and b."
    ]
    assert notices == (expected if for_b else [])


def test_two_labels_of_one_person_in_one_record_are_of_two_people(tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text(json.dumps({"example_id": "x", "rater": "team", "marks": [4, 5]}) + "\n")
    with pytest.raises(BadInput, match=r'"x" has two labels \(rating\) of team in one record'):
        notices_of(file, mapping={"value": "marks[]"})


@pytest.mark.parametrize(
    ("column", "values", "option"),
    [
        ("model", ("small", "large"), "mapping={'system': 'model'}"),
        ("aspect", ("clear", "whole"), "mapping={'label': 'aspect'}"),
        ("note", ("same", "same"), ""),
    ],
)
def test_a_column_that_tells_replaced_labels_apart_is_named(
    tmp_path: Path, column: str, values: tuple[str, str], option: str
) -> None:
    lines = [f"x,{place},ann,{value}" for place, value in enumerate(values)]
    _, notices = notices_of(
        table(tmp_path, "\n".join([f"example_id,value,rater,{column}", *lines]))
    )
    replaced = "1 label was replaced by later labels of the same rater in FILE."
    apart = f" If a column tells them apart, name it: {option}." if option else ""
    assert notices == [replaced + apart]


def test_new_labels_beside_those_of_a_published_set_are_the_ones_that_are_read(
    tmp_path: Path,
) -> None:
    file = table(tmp_path, "query-id,corpus-id,score,example_id,value,rater\nq1,d1,2,q1/d1,0,ann\n")
    assert notices_of(file) == ([("q1/d1", "ann", "rating", 0.0)], [])


def test_a_record_in_another_form_is_no_record_without_a_label(tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    of_potato = {"instance_id": "x", "user_id": "ann", "labels": {"quality": {"4": "4"}}}
    records = [of_potato, {"example_id": "y", "value": 1, "rater": "ben"}]
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    labels, notices = notices_of(file)
    assert labels == [("x", "ann", "quality", 4.0)]
    assert notices == ["FILE: read as Potato. Not read: 1 records in another form."]


def test_a_ranking_of_argilla_2_is_a_category_in_its_own_order(tmp_path: Path) -> None:
    def ranked(*places: str) -> dict[str, Any]:
        answer = {"value": places, "user_id": "u1", "status": "submitted"}
        return {"fields": {}, "suggestions": {}, "responses": {"order": [answer]}}

    records = [{"id": "x", **ranked("second", "first")}, {"id": "y", **ranked("first", "second")}]
    file = tmp_path / "argilla.json"
    file.write_text(json.dumps(records))
    labels, _ = notices_of(file)
    assert labels == [
        ("x", "u1", "order", "second; first"),
        ("y", "u1", "order", "first; second"),
    ]


def test_a_column_a_label_is_read_as_labels_of_their_own(tmp_path: Path) -> None:
    file = table(
        tmp_path,
        "doc,system,coherence,fluency,rater\nd,M1,4.5,5,ann\nd,M2,1,,ann\nd,M1,4,3,bo\n",
    )
    labels, notices = notices_of(
        file, label_columns=["coherence", "fluency"], mapping={"example_id": "system,doc"}
    )
    assert sorted(labels) == [
        ("M1/d", "ann", "coherence", 4.5),
        ("M1/d", "ann", "fluency", 5.0),
        ("M1/d", "bo", "coherence", 4.0),
        ("M1/d", "bo", "fluency", 3.0),
        ("M2/d", "ann", "coherence", 1.0),
    ]
    assert notices == ["1 empty value in FILE: ignored."]


def test_columns_of_raters_that_are_named_like_criteria_are_noticed_with_the_option_for_labels(
    tmp_path: Path,
) -> None:
    file = table(tmp_path, "example_id,coherence,expert_fluency,ann\nx,1,2,3\n")
    raters = ["coherence", "expert_fluency", "ann"]
    _, (notice,) = notices_of(file, raters=raters, label_columns=())
    assert notice == (
        "The columns coherence, expert_fluency are read as raters of one label, but are named like labels. If they are, "
        "read each as a label of its own: label_columns=['coherence', 'expert_fluency']"
    )
    assert notices_of(file, raters=["ann"], label_columns=())[1] == []
    # a caller without the option is told nothing of it
    assert notices_of(file, raters=raters)[1] == []


def test_columns_of_labels_that_cannot_be_read_so_are_refused(tmp_path: Path) -> None:
    file = table(tmp_path, "example_id,coherence,fluency,value\nx,1,2,3\n")
    with pytest.raises(UserError, match=r"unknown column in label_columns=: coherense\."):
        notices_of(file, label_columns=["coherense"])
    with pytest.raises(UserError, match=r"has a value and a column for each label; omit"):
        notices_of(file, label_columns=["coherence", "fluency"])
    with pytest.raises(UserError, match=r"raters= and label_columns= name the columns"):
        notices_of(file, label_columns=["coherence"], raters=["fluency"])
