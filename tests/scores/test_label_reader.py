"""What the one reader of labels keeps: classes that look like missing values, declared scales, hashes of answers."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.program import run, write_jsonl

from longmark import metaeval
from longmark.analysis.metaeval.labels import BINARY, CATEGORIES, NUMERIC, ORDERED, Rating, scale_of
from longmark.contrib.decide.correction_options import CorrectionOptions
from longmark.contrib.decide.label_file import read_label_file
from longmark.errors import BadInput, UserError
from longmark.records.values import Problem
from longmark.scores.answer_texts import answer_sha256, labels_of_other_answers
from longmark.scores.label_scales import (
    DeclaredScale,
    classes_of_option,
    classes_of_order,
    read_scale,
    scale_with,
)
from longmark.scores.labels import ColumnOptions, Labels

LEVELS = ("None", "Partial", "Full")


def table(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, list(dict.fromkeys(column for row in rows for column in row)))
        out.writeheader()
        out.writerows(rows)
    return path


def ratings_of(values: list[Any]) -> list[dict[str, Any]]:
    return [
        {"example_id": str(number), "value": value, "rater": "ann"}
        for number, value in enumerate(values)
    ]


def scored(folder: Path, values: list[float], texts: dict[str, str] | None = None) -> Path:
    """A run's rows, and its examples where the answers have texts."""
    folder.mkdir(exist_ok=True)
    rows = [
        {"example_id": str(number), "metric": "m", "score": value}
        for number, value in enumerate(values)
    ]
    write_jsonl(folder / "rows.jsonl", rows)
    if texts is not None:
        examples = [
            {"id": name, "question": f"Question {name}?", "answer": text}
            for name, text in texts.items()
        ]
        write_jsonl(folder / "examples.jsonl", examples)
    return folder if texts is not None else folder / "rows.jsonl"


# Words for none -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["None", "N/A", "nan", "NULL", "na"])
@pytest.mark.parametrize("raters", [(), ("ann", "bo")])
def test_a_word_for_none_is_a_class_where_the_order_names_it(
    tmp_path: Path, word: str, raters: tuple[str, ...]
):
    """Twelve answers of four in each class: Spearman's rho of 0.30, 0.35 … 0.85 with 0, 0, 0, 0, .5 … 1 is .946 (scipy
    1.16.3, spearmanr)."""
    words = [word] * 4 + ["Partial"] * 4 + ["Full"] * 4
    rows = ratings_of(words)
    if raters:
        rows = [
            {"example_id": row["example_id"], "ann": row["value"], "bo": row["value"]}
            for row in rows
        ]
    path = table(tmp_path / "support.csv", rows)
    scores = scored(tmp_path, [0.30 + 0.05 * place for place in range(12)])
    found = metaeval(
        scores, path, order={"rating": [word.lower(), "Partial", "Full"]}, raters=list(raters)
    )
    (label,) = found.labels
    assert label.metrics[0].spearman.value == pytest.approx(0.946, abs=5e-4)  # type: ignore[union-attr]
    assert (label.metrics[0].scored, found.empty, found.notices) == (12, 0, ())


def test_second_labels_of_a_file_without_raters_are_said_once(tmp_path: Path):
    """Ten answers with two labels each: ten lines that may be of another person, and one message."""
    rows = [{"example_id": str(number // 2), "value": number % 5} for number in range(20)]
    with pytest.raises(BadInput) as error:
        Labels(table(tmp_path / "labels.csv", rows))
    (line,) = str(error.value).splitlines()
    assert 'labels.csv:3: "0" already has a label (' in line
    assert line.endswith("add a column rater (10 lines are such labels)")


def test_a_word_that_nothing_names_is_left_out_and_said_with_the_remedy(tmp_path: Path):
    path = table(tmp_path / "support.csv", ratings_of(["None", "none", "", "Partial", "Full"]))
    with Labels(path, options=ColumnOptions(order={})) as labels:
        assert [one.value for one in labels.select()] == ["Partial", "Full"]
        assert labels.empty == 3
        assert labels.notices == [
            f"1 empty value in {path}: ignored.",
            f'1 value "None" of rating in {path} read as missing; to keep "None" as a class of rating, name it: '
            "--order rating=None,….",
            f'1 value "none" of rating in {path} read as missing; to keep "none" as a class of rating, name it: '
            "--order rating=none,….",
        ]


def test_in_json_null_is_missing_and_the_text_none_is_a_class(tmp_path: Path):
    path = tmp_path / "support.jsonl"
    write_jsonl(path, ratings_of([None, "None", "nan", "null", "Full", "N/A"]))
    with Labels(path) as labels:
        assert [one.value for one in labels.select()] == ["None", "nan", "null", "Full"]
        assert (labels.empty, dict(labels.words["rating"])) == (2, {"N/A": 1})


def test_a_choice_of_neither_is_said_by_its_word(tmp_path: Path):
    rows = [
        {"question_id": str(i), "a": "s", "b": "t", "choice": word}
        for i, word in enumerate(("a", "b", "None"))
    ]
    with Labels(table(tmp_path / "choices.csv", rows)) as labels:
        assert labels.notices == [f'1 value "None" of preference in {labels.name} read as missing.']


def test_options_of_a_study_that_are_called_none_come_back_from_its_export(tmp_path: Path):
    """The column label_scale names the class: no --order is needed to count it."""
    rows = [
        one | {"label_scale": "Full|Partial|None"}
        for one in ratings_of(["None", "Partial", "Full", "None"])
    ]
    with Labels(table(tmp_path / "support.csv", rows)) as labels:
        assert [one.value for one in labels.select()] == ["None", "Partial", "Full", "None"]
        assert (labels.empty, labels.notices) == (0, [])
    with Labels(
        table(tmp_path / "support.csv", rows),
        options=ColumnOptions(order={"rating": ["Partial", "Full"]}),
    ) as its:
        assert [one.value for one in its.select()] == ["Partial", "Full"], "a given order wins"


def test_not_applicable_beside_numbers_alone_is_no_class(tmp_path: Path):
    """An option for raters who have no rating to give does not turn the numbers of the others into categories."""
    rows = [one | {"label_scale": "1|2|3|N/A"} for one in ratings_of([1, 2, 3, "N/A"])]
    with Labels(table(tmp_path / "rated.csv", rows)) as labels:
        assert ([one.value for one in labels.select()], labels.words["rating"]["N/A"]) == (
            [1, 2, 3],
            1,
        )
        ratings = [Rating(one.metric, one.rater, one.value, one.line) for one in labels.select()]
        scale = scale_of(ratings, declared=labels.scales["rating"])
    assert (scale.kind, scale.declared) == (NUMERIC, ("1", "2", "3"))


def test_cells_that_a_spreadsheet_would_take_for_formulas_are_read_back(tmp_path: Path):
    path = tmp_path / "rated.csv"
    path.write_text("example_id,value,label_scale\n'-a1,'=x,'=x|y\n'@b,y,'=x|y\nc,-1,\n")
    with Labels(path) as labels:
        assert [(one.example_id, one.value) for one in labels.select()] == [
            ("-a1", "=x"),
            ("@b", "y"),
            ("c", -1),
        ]


# Scales ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "classes", "ordered"),
    [
        ("1..5", ("1", "2", "3", "4", "5"), True),
        ("-2..2", ("-2", "-1", "0", "1", "2"), True),
        ("None<Partial<Full", LEVELS, True),
        ("yes|no|n/a", ("yes", "no", "n/a"), False),
        ("No%2C not at all|Yes%7Cfully|100 %25", ("No, not at all", "Yes|fully", "100 %"), False),
    ],
)
def test_a_scale_is_read_as_it_is_written(text: str, classes: tuple[str, ...], ordered: bool):
    scale = DeclaredScale(classes, ordered)
    assert (read_scale(text), scale.written()) == (scale, text)


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1),
        min_size=2,
        unique_by=str.casefold,
    )
)
def test_every_scale_comes_back(classes: list[str]):
    for ordered in (False, True):
        if (scale := scale_with(classes, ordered=ordered)) is not None:
            assert read_scale(scale.written()) == scale


@pytest.mark.parametrize(
    "text", ["", "yes", "5..1", "1..5000", "a..b", "a<b|c", "yes|YES", "a||b", "0.5..1"]
)
def test_what_is_no_scale_is_refused(text: str):
    with pytest.raises(Problem, match="label_scale: expected"):
        read_scale(text)


def test_the_declared_scale_has_its_ends_where_nobody_used_them():
    ratings = [Rating("quality", "ann", value, 2) for value in (3.0, 4.0)]
    assert (scale_of(ratings).low, scale_of(ratings).declared) == (3, ())
    scale = scale_of(ratings, declared=read_scale("1..5"))
    assert (scale.kind, scale.low, scale.high, scale.number["4"]) == (NUMERIC, 1, 5, 4.0)
    assert scale.classes == scale.declared == ("1", "2", "3", "4", "5")
    given_order = scale_of(ratings, ["1", "2", "3", "4"], declared=read_scale("1..5"))
    assert (given_order.kind, given_order.number["4"], given_order.declared) == (
        ORDERED,
        1.0,
        ("1", "2", "3", "4"),
    )


def test_classes_that_the_file_declares_are_of_the_kind_that_they_say():
    full = [Rating("support", "ann", "full", 2)]
    unordered = scale_of(full, declared=read_scale("Full|None"))
    assert (unordered.kind, unordered.class_of("full"), unordered.declared) == (
        CATEGORIES,
        "Full",
        ("Full", "None"),
    )
    ordered = scale_of(full, declared=read_scale("None<Partial<Full"))
    assert (ordered.kind, ordered.number["full"]) == (ORDERED, 1.0)
    yes = scale_of([Rating("ok", "ann", "yes", 2)], declared=read_scale("yes|no"))
    assert (yes.kind, yes.declared) == (BINARY, ("no", "yes"))
    with pytest.raises(
        BadInput, match=r"human:2: support: 'full' is not on the scale 1..5 that the file declares"
    ):
        scale_of(full, declared=read_scale("1..5"))


def test_a_label_has_one_scale(tmp_path: Path):
    rows = [
        row | {"label_scale": text}
        for row, text in zip(ratings_of([1, 2]), ("1..5", "1..7"), strict=True)
    ]
    with pytest.raises(
        BadInput, match=r"label_scale: is 1..7 here, and 1..5 in earlier lines of rating"
    ):
        Labels(table(tmp_path / "rated.csv", rows))


def test_a_class_with_a_comma_can_be_named_in_an_order(tmp_path: Path):
    """The same twelve answers as above."""
    assert classes_of_order("No%2C not at all,Yes%2C partly,100 %25") == [
        "No, not at all",
        "Yes, partly",
        "100 %",
    ]
    words = ["No, not at all"] * 4 + ["Yes, partly"] * 4 + ["Yes, fully"] * 4
    rated = table(tmp_path / "ratings.csv", ratings_of(words))
    rows = scored(tmp_path, [0.30 + 0.05 * place for place in range(12)])
    told = run("metaeval", rows, rated, home=tmp_path)
    assert 'the classes ("No, not at all", "Yes, fully", "Yes, partly") have no order' in told.out
    order = "rating=No%2C not at all,Yes%2C partly,Yes%2C fully"
    assert "0.946" in run("metaeval", rows, rated, "--order", order, home=tmp_path).out


# Answers --------------------------------------------------------------------------------------------------------------


def test_the_hash_of_an_answer_is_of_its_text():
    """`printf 'Water\\nfalls.' | sha256sum` begins with the digits."""
    assert answer_sha256("Water\nfalls.") == "0d1093c6a5bc0725"
    assert answer_sha256(" Water\r\nfalls.\n") == answer_sha256("Water\nfalls.")
    assert answer_sha256("Water\nfalls!") != answer_sha256("Water\nfalls.")


def test_labels_of_other_answers_are_left_out_and_counted(tmp_path: Path):
    """Two of five labels are of texts that the answers with their ids no longer have; one has no hash."""
    texts = {str(number): f"Answer {number}." for number in range(4)}
    rows = [
        row | {"answer_sha256": answer_sha256(texts[row["example_id"]])}
        for row in ratings_of([1, 2, 3, 4])
    ]
    rows[1]["answer_sha256"] = answer_sha256("An earlier answer.")
    rows[2]["answer_sha256"] = ""
    rows.append(rows[0] | {"rater": "bo", "answer_sha256": answer_sha256("Another earlier one.")})
    path = table(tmp_path / "ratings.csv", rows)
    found = metaeval(scored(tmp_path / "run", [0.1, 0.2, 0.3, 0.4], texts), path)
    (label,) = found.labels
    assert (label.join.joined, label.metrics[0].scored) == (3, 3)
    assert (
        f"2 labels of 2 answers in {path} left out: the text of the answer is not the one that was labelled (1, 0)."
        in found.notices
    )
    without_texts = metaeval(scored(tmp_path, [0.1, 0.2, 0.3, 0.4]), path)
    assert without_texts.labels[0].join.joined == 4, "rows without texts cannot tell"


def test_choices_between_other_answers_are_left_out(tmp_path: Path):
    examples = [
        {
            "id": f"{number}{side}",
            "question": f"Question {number}?",
            "system": side,
            "answer": f"{side} {number}.",
        }
        for number in range(3)
        for side in "st"
    ]
    write_jsonl(tmp_path / "answers.jsonl", examples)
    run(
        "run",
        tmp_path / "answers.jsonl",
        "--metrics",
        "classic.length.words",
        "--out",
        tmp_path / "run",
        "--quiet",
        home=tmp_path,
    )
    rows = [
        {
            "a": f"{number}s",
            "b": f"{number}t",
            "choice": "a",
            "b_sha256": answer_sha256(f"t {number * 2}."),
        }
        for number in range(3)
    ]
    path = table(tmp_path / "choices.csv", rows)
    found = metaeval(tmp_path / "run", path)
    assert (found.joined, len(found.notices)) == (1, 1)
    assert found.notices[0].startswith(
        f"2 labels of 2 pairs in {path} left out: the text of the answer is not the one"
    )


def test_a_run_whose_answers_are_all_others_is_refused(tmp_path: Path):
    rows = [
        row | {"answer_sha256": answer_sha256("An earlier answer.")} for row in ratings_of([1, 2])
    ]
    texts = {"0": "Answer 0.", "1": "Answer 1."}
    with pytest.raises(UserError, match="the text of the answer is not the one that was labelled"):
        metaeval(scored(tmp_path / "run", [0.1, 0.2], texts), table(tmp_path / "ratings.csv", rows))


def test_a_hash_of_more_digits_is_the_same_hash_and_other_texts_are_refused(tmp_path: Path):
    path = tmp_path / "ratings.csv"
    path.write_text("example_id,value,answer_sha256\n0,1,0D1093C6A5BC0725" + "0" * 48 + "\n")
    with Labels(path) as labels:
        assert (
            labels_of_other_answers(labels.select(), lambda _: [answer_sha256("Water\nfalls.")])
            == []
        )
        assert len(labels_of_other_answers(labels.select(), lambda _: ["0" * 16])) == 1
        assert labels_of_other_answers(labels.select(), lambda _: []) == [], "no text is known"
    path.write_text("example_id,value,answer_sha256\n0,1,Water falls.\n")
    with pytest.raises(
        BadInput, match="answer_sha256: expected the first 16 hexadecimal digits of a SHA-256"
    ):
        Labels(path)


def test_unknown_ids_empty_cells_and_replaced_labels_are_said(tmp_path: Path):
    """Of six lines three count: one has an id that no answer has, one has no value, one is replaced."""
    rows = ratings_of([1, 2, "", 4])
    rows += [rows[0] | {"value": 5}, rows[0] | {"example_id": "x9", "value": 3}]
    path = table(tmp_path / "ratings.csv", rows)
    found = metaeval(scored(tmp_path, [0.1, 0.2, 0.3, 0.4]), path)
    assert found.notices == (
        f"1 label of 1 answer in {path} left out: no such answer in the rows (x9).",
        f"1 empty value in {path}: ignored.",
        f"1 label was replaced by later labels of the same rater in {path}.",
    )
    told = run("metaeval", tmp_path / "rows.jsonl", path, home=tmp_path).out
    assert json.dumps(told).count("left out: no such answer in the rows (x9)") == 1


def test_canonically_equal_ids_systems_and_classes_of_labels_are_equal():
    given = [
        {
            "example_id": "cafe\u0301",
            "system": "Cafe\u0301",
            "label": "fit",
            "value": "schön",
            "rater": "r",
        },
        {
            "example_id": "café",
            "system": "Café",
            "label": "fit",
            "value": "scho\u0308n",
            "rater": "s",
        },
    ]
    with Labels(given) as labels:
        read = list(labels.select())
    assert {(one.example_id, one.system, one.label) for one in read} == {("café", "Café", "schön")}
    scale = scale_of(
        [Rating("fit", "r", "schön", 1), Rating("fit", "s", "gut", 2)], ["gut", "scho\u0308n"]
    )
    assert (scale.kind, len(scale.classes)) == (BINARY, 2)


# Values to leave out --------------------------------------------------------------------------------------------------


ABSTAINED = [4, "Abstained", 99, "ABSTAINED", "99.0", 2]


@pytest.mark.parametrize("leave_out", [("abstained", "99"), ("ABSTAINED", "99.0")])
def test_values_are_left_out_in_any_case_and_form_and_counted(
    tmp_path: Path, leave_out: tuple[str, ...]
):
    path = table(tmp_path / "ratings.csv", ratings_of(ABSTAINED))
    with Labels(path, options=ColumnOptions(leave_out=leave_out)) as labels:
        assert [label.value for label in labels.select()] == [4.0, 2.0]
        assert labels.notices == [
            f'2 values "Abstained" of rating in {path} left out, as leave_out= says.',
            f'2 values "99" of rating in {path} left out, as leave_out= says.',
        ]
        assert labels.empty == 4


def test_a_value_to_leave_out_that_no_label_has_is_refused_with_the_nearest(tmp_path: Path):
    path = table(tmp_path / "ratings.csv", ratings_of(["Abstained", "good"]))
    with (
        pytest.raises(UserError, match=r"abstain\. Did you mean Abstained\?"),
        Labels(path, options=ColumnOptions(leave_out=["abstain"])),
    ):
        pass


def test_classes_of_options_stand_in_a_file_one_a_line_as_they_are(tmp_path: Path):
    classes = tmp_path / "classes.txt"
    classes.write_text("No, not at all\n\nYes, 100%25\n")
    assert classes_of_option(f"@{classes}") == ["No, not at all", "Yes, 100%25"]
    assert classes_of_option("No%2C not at all,%40home") == ["No, not at all", "@home"]
    with pytest.raises(UserError, match="does not exist"):
        classes_of_option(f"@{tmp_path / 'none.txt'}")


def test_metaeval_takes_classes_of_files_in_both_options(tmp_path: Path):
    """Scores rise with the order of the three classes, so Spearman is 1; the fourth answer has a class left out."""
    values = ["No, not at all", "Yes, partly", "Yes, fully", "JUDGE_PARSE_FAILED"]
    path = table(tmp_path / "ratings.csv", ratings_of(values))
    rows = scored(tmp_path, [0.1, 0.2, 0.3, 0.0])
    (tmp_path / "order.txt").write_text("\n".join(values[:3]))
    (tmp_path / "out.txt").write_text("judge_parse_failed")
    told = run(
        "metaeval",
        rows,
        path,
        f"--order=rating=@{tmp_path / 'order.txt'}",
        f"--leave-out=@{tmp_path / 'out.txt'}",
        home=tmp_path,
    ).out
    assert "3 answers with human ratings and rows" in told
    assert "1.000" in told
    assert 'value "JUDGE_PARSE_FAILED" of rating' in told


def test_a_corrected_mean_leaves_values_out_too():
    """The labels of a and b are read; that of c, a code for an abstention, is not, and stands for no number."""
    records = [
        {"example_id": name, "value": value} for name, value in zip("abc", [1, 3, 99], strict=True)
    ]
    file = read_label_file(records, CorrectionOptions(leave_out=["99"]))
    assert [label.value for label in file.counted] == [1.0, 3.0]
    assert file.empty == 1


# Labels inside a record -----------------------------------------------------------------------------------------------


TASKS = [
    {
        "data": {"example_id": "a"},
        "annotations": [
            {"completed_by": 1, "result": [{"from_name": "quality", "value": {"rating": 4}}]},
            {"completed_by": 2, "result": [{"from_name": "quality", "value": {"rating": 5}}]},
        ],
    },
    {
        "data": {"example_id": "b"},
        "annotations": [
            {"completed_by": 1, "result": [{"from_name": "quality", "value": {"rating": 2}}]},
            {"completed_by": 2, "result": []},
        ],
    },
    {"data": {"example_id": "c"}, "annotations": []},
]
PATHS = {
    "example_id": "data.example_id",
    "rater": "annotations[].completed_by",
    "label": "annotations[].result[].from_name",
    "value": "annotations[].result[].value.rating",
}


def read_with_paths(source: Any, mapping: dict[str, str]) -> list[tuple[str, str, str, Any]]:
    with Labels(source, options=ColumnOptions(mapping=mapping)) as labels:
        return [
            (label.example_id, label.rater, label.metric, label.value) for label in labels.select()
        ]


def test_a_mapped_path_reads_a_label_for_each_element_of_its_lists(tmp_path: Path):
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(TASKS))
    assert read_with_paths(path, PATHS) == [
        ("a", "1", "quality", 4.0),
        ("a", "2", "quality", 5.0),
        ("b", "1", "quality", 2.0),
    ]
    with Labels(path, options=ColumnOptions(mapping=PATHS)) as labels:
        assert labels.notices == [f"1 empty value in {path}: ignored."]  # the task of c


def test_a_rating_in_the_json_of_a_cell_is_read_by_its_path_and_else_refused_with_it(
    tmp_path: Path,
):
    rows = [{"example_id": "a", "stars": '[{"rating":4}]', "rater": "ann"}]
    path = table(tmp_path / "labels.csv", rows)
    assert read_with_paths(path, {"value": "stars[0].rating"}) == [("a", "ann", "rating", 4.0)]
    with pytest.raises(BadInput, match=r"found a list; name .* path: .*stars\[0\]\.rating"):
        read_with_paths(path, {"value": "stars"})


def test_a_path_that_no_record_has_is_refused_with_the_nearest(tmp_path: Path):
    with pytest.raises(UserError, match=r"data\.exampel_id.*Did you mean data\.example_id"):
        read_with_paths(TASKS, PATHS | {"example_id": "data.exampel_id"})


def test_metaeval_takes_paths_of_labels_on_the_command_line(tmp_path: Path):
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(TASKS))
    write_jsonl(
        tmp_path / "rows.jsonl",
        [{"example_id": name, "metric": "m", "score": 0.5} for name in ("a", "b")],
    )
    options = [f"--map={name}={text}" for name, text in PATHS.items()]
    told = run("metaeval", tmp_path / "rows.jsonl", path, *options, home=tmp_path).out
    assert "2 answers with human ratings and rows" in told
