"""What people said, out of files: columns, values, and every kind of broken line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.analysis.metaeval.labels import BINARY, CATEGORIES, NUMERIC, ORDERED, Rating, scale_of
from longmark.errors import BadInput, UnknownName, UserError
from longmark.records.pair import plurality
from longmark.scores.label_values import class_key, plain_value
from longmark.scores.labels import ColumnOptions, Labels


def written(folder: Path, text: str, name: str = "human.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def ratings(values: list[Any]) -> list[Rating]:
    labels = Labels([{"example_id": str(i), "value": value} for i, value in enumerate(values)])
    return [Rating(one.metric, one.rater, one.value, one.line) for one in labels.select()]


def test_a_file_of_ratings(tmp_path: Path):
    path = written(
        tmp_path,
        "\ufeffExample ID;Label;Value;Rater;subject\n007;correct; 4.0 ;ann;law\n8;correct;;bo;\n",
    )
    human = Labels(path)
    (one,) = human.select()
    assert (one.line, one.example_id, one.system, one.metric, one.value, one.rater) == (
        2,
        "007",
        "",
        "correct",
        4,
        "ann",
    )
    assert (one.given, human.by, human.empty, human.choices) == (
        {"subject": "law"},
        ("subject",),
        1,
        False,
    )


def test_a_file_of_choices_folds_case_and_maps_columns(tmp_path: Path):
    path = written(tmp_path, '{"q": 1, "a": "s1", "b": "s2", "verdict": " TIE "}\n', "human.jsonl")
    human = Labels(path, options=ColumnOptions(mapping={"question_id": "q", "choice": "verdict"}))
    (one,) = human.select()
    assert (one.question_id, one.given, one.value, one.rater) == (
        "1",
        {"a": "s1", "b": "s2"},
        "tie",
        "people",
    )


def test_raters_whose_names_look_the_same_are_named() -> None:
    """A small letter, a wide one, a Cyrillic one; bo stands alone."""
    names = ["ann", "Ann", "ａnn", "\u0430nn", "bo"]
    human = Labels(
        [{"example_id": str(i), "value": 1, "rater": name} for i, name in enumerate(names)]
    )
    same = " and ".join(map(ascii, names[:4]))
    assert human.notices == [f"The raters {same} in human look the same and count as 4 people."]


def test_values_that_differ_in_case_alone_are_named_and_stay_classes_of_their_own() -> None:
    values = ["Yes", "YES", "yes ", "no", "n"]
    human = Labels([{"example_id": str(i), "value": value} for i, value in enumerate(values)])
    (notice,) = human.notices
    assert notice.startswith('The values "Yes", "YES", "yes" of rating in human differ in case')
    assert [label.value for label in human.select()] == ["Yes", "YES", "yes", "no", "n"]


def test_raters_may_have_a_column_each_with_words_for_an_empty_cell(tmp_path: Path):
    human = Labels(
        written(tmp_path, "example_id,ann,bo\n7,4,NA\n8,n/a,2\n9,#N/A,\n"),
        options=ColumnOptions(raters=["ann", "bo"]),
    )
    assert [(one.line, one.example_id, one.rater, one.value) for one in human.select()] == [
        (2, "7", "ann", 4.0), (3, "8", "bo", 2.0),
    ]  # fmt: skip
    assert human.empty == 4
    choices = Labels(
        written(tmp_path, "question_id,a,b,ann,bo\nq,s,t,a,tie\n"),
        options=ColumnOptions(raters=["ann", "bo"]),
    ).select()
    assert [(one.rater, one.value) for one in choices] == [("ann", "a"), ("bo", "tie")]


def test_columns_of_raters_that_cannot_be_read_are_refused(tmp_path: Path):
    with pytest.raises(UserError, match=r"or the columns of several raters with raters=COLUMN,…"):
        Labels(written(tmp_path, "example_id,ann,bo\n7,4,5\n"), options=ColumnOptions(mapping={}))
    with pytest.raises(UnknownName, match="unknown column in raters=: bob"):
        Labels(
            written(tmp_path, "example_id,ann,bo\n7,4,5\n"), options=ColumnOptions(raters=["bob"])
        )
    with pytest.raises(UserError, match="a column value and a column for each rater; omit raters="):
        Labels(
            written(tmp_path, "example_id,value,bo\n7,4,5\n"), options=ColumnOptions(raters=["bo"])
        )


def test_graded_preferences_are_choices_with_a_grade(tmp_path: Path):
    human = Labels(
        written(tmp_path, "question_id,a,b,choice\n1,s,t,-2\n2,s,t,0\n3,s,t,1.5\n4,s,t,NA\n")
    )
    assert [(one.label, one.score) for one in human.select()] == [
        ("a", -2.0),
        ("tie", 0.0),
        ("b", 1.5),
    ]
    assert human.empty == 1


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            "question_id,a,b,choice\nq,s,t,A+\n",
            'human.csv:2: choice: expected a, b or tie, or a number .* found "A\\+"',
        ),
        ("question_id,a,b,choice\nq,s,s,a\n", 'a and b are both "s"'),
        (
            "question_id,a,b,choice\nq,s,t,a\nq,s,t,b\n",
            '"s" or "t" already has a label .preference. in line 2',
        ),
        ('example_id,value\ne1,"0,5"\n', "decimal comma; write 0.5$"),
        ('example_id,value\ne1,"1,234"\n', "decimal comma; write 1.234, or 1234"),
        ('example_id,value\ne1,"٣,٥"\n', "decimal comma; write 3.5$"),
        ("example_id,value\ne1,1e400\n", "too large for a rating"),
        ("example_id,value\ne1,-1e60\n", "60 is too large for a rating"),
        ("example_id,value\ne1,1e-200\n", "1e-200 is too near to 0 for a rating; write 0"),
        ("example_id,value\ne1\n", "1 cell for 2 columns"),
    ],
)
def test_broken_lines_are_named(tmp_path: Path, lines: str, message: str):
    with pytest.raises(BadInput, match=message):
        Labels(written(tmp_path, lines))


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("３", 3.0),
        ("٣", 3.0),
        ("٣٫٥", 3.5),
        ("−1", -1.0),
        ("４．５", 4.5),
        ("½", "½"),
        ("三", "三"),
    ],
)
def test_a_rating_in_the_digits_of_another_script_is_a_number(
    cell: str, value: float | str
) -> None:
    assert plain_value("value", cell) == value
    assert class_key(cell) == (repr(value) if isinstance(value, float) else cell)


def test_the_first_broken_lines_are_listed_and_the_rest_counted(tmp_path: Path):
    with pytest.raises(BadInput) as caught:
        Labels(written(tmp_path, "example_id,value\n" + ",1\n" * 100))
    assert caught.value.total == 100
    assert len(caught.value.lines) == 50
    assert "… and 50 more" in str(caught.value)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("example_id,value\n", "has no records"),
        ("example_id,value\ne1,\ne2,nan\n", "no line has a value"),
        ("id2,value\ne1,1\n", "need a column example_id; found id2, value"),
        ("question_id,a,choice\nq,s,a\n", "labels need a column b"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, lines: str, message: str):
    with pytest.raises(UserError, match=message):
        Labels(written(tmp_path, lines))


def test_names_that_do_not_exist(tmp_path: Path):
    path = written(tmp_path, "example_id,value,subjekt\ne1,1,law\n")
    with pytest.raises(UnknownName, match="unknown field: val"):
        Labels(path, options=ColumnOptions(mapping={"val": "value"}))
    with pytest.raises(UnknownName, match="unknown column in mapping=: mark"):
        Labels(path, options=ColumnOptions(mapping={"value": "mark"}))
    with pytest.raises(UnknownName, match="Did you mean subjekt"):
        Labels(path, options=ColumnOptions(by=["subject"]))


@pytest.mark.parametrize(
    ("values", "kind", "classes"),
    [
        ([1, "0", 1.0], BINARY, ("0", "1")),
        (["Yes", "no", "YES"], BINARY, ("no", "yes")),
        ([True, False], BINARY, ("false", "true")),
        (["1", "4.0", 2.5], NUMERIC, ("1", "2.5", "4")),
        (["good", "bad"], CATEGORIES, ("bad", "good")),
        (list(range(40)), NUMERIC, ()),
    ],
)
def test_what_kind_of_question_a_label_is(values: list[Any], kind: str, classes: tuple[str, ...]):
    scale = scale_of(ratings(values))
    assert (scale.kind, scale.classes) == (kind, classes)


def test_categories_in_an_order_are_numbers_from_0_to_1():
    said = ratings(["Partly", "right", "wrong"])
    scale = scale_of(said, ["wrong", "partly", "right"])
    assert scale.kind == ORDERED
    assert [scale.mean_of([rating]) for rating in said] == [0.5, 1, 0]
    assert scale.class_of("Partly") == "partly"
    assert scale.mean_of(said) == 0.5
    numbers = ratings([1, 3, 5])
    scale = scale_of(numbers, ["1", "2", "3", "4", "5"])
    assert [scale.mean_of([rating]) for rating in numbers] == [0, 0.5, 1]


def test_mixed_values_and_values_beyond_the_order_are_refused():
    with pytest.raises(BadInput, match=r"'unclear' is not a number, but 2 other ratings are"):
        scale_of(ratings([1, "unclear", 3]))
    with pytest.raises(BadInput, match="'great' is not in the order bad, good"):
        scale_of(ratings(["good", "great"]), ["bad", "good"])
    with pytest.raises(UserError, match="each once"):
        scale_of(ratings(["good"]), ["good", "Good"])
    with pytest.raises(UserError, match="60 different texts"):
        scale_of(ratings([f"note {i}" for i in range(60)]))


@given(st.lists(st.sampled_from("abc"), max_size=9))
def test_the_plurality_is_the_only_value_that_comes_most_often(votes: list[str]):
    most = max((votes.count(vote) for vote in votes), default=0)
    leading = {vote for vote in votes if votes.count(vote) == most}
    assert plurality(votes) == (leading.pop() if len(leading) == 1 else None)
    half = [vote for vote in set(votes) if 2 * votes.count(vote) > len(votes)]
    assert plurality(votes, absolute=True) == (half[0] if half else None)
