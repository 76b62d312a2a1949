"""Rows of a passage each, and texts that a spreadsheet cut. Expected values are worked by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from longmark.errors import BadInput
from longmark.records.read import Reading

# The answer stands in the first row of each answer, as open-rag-eval has it; of its own columns, which are read as they
# are, two have other names here.
ROWS_OF_PASSAGES = """\
query_id,query,run,number,passage,generated_answer
query_1,Why does ice float?,1,[1],Ice is less dense than water.,It is light [1] and floats [2]
query_1,Why does ice float?,1,[2],Ice floats.,
query_2,Why is roads' salt spread?,1,[1],Salt lowers the freezing point.,It lowers the freezing point [1]
query_2,Why is roads' salt spread?,2,[1],Salt lowers the freezing point.,It melts the ice [1]
"""
MAPPING = {"answer": "generated_answer", "contexts": "passage"}


def row(passage: str, **fields: Any) -> dict[str, Any]:
    return {"id": "1", "question": "Why?", "answer": "So.", "contexts": [passage]} | fields


def texts_of(reading: Reading) -> list[tuple[str, list[str]]]:
    return [(example.id, [context.text for context in example.contexts]) for example in reading]


def test_a_row_for_each_passage_is_one_answer_with_its_passages_and_a_run_is_told_apart_by_a_column(
    tmp_path: Path,
) -> None:
    file = tmp_path / "results.csv"
    file.write_text(ROWS_OF_PASSAGES)
    mapping = {**MAPPING, "id": "query_id,run", "question_id": "query_id"}
    reading = Reading(file, mapping=mapping)
    examples = list(reading)
    assert [(example.id, example.question_id) for example in examples] == [
        ("query_1/1", "query_1"),
        ("query_2/1", "query_2"),
        ("query_2/2", "query_2"),
    ]
    assert [context.text for context in examples[0].contexts] == [
        "Ice is less dense than water.",
        "Ice floats.",
    ]
    assert examples[0].meta["number"] == ["[1]", "[2]"]
    assert reading.notices == (
        f"1 record of {file} with the id of the record before, and no other answer, read as further passages of 1 "
        "answer.",
    )


def test_another_answer_with_the_id_is_refused_with_the_way_to_tell_it_apart(
    tmp_path: Path,
) -> None:
    file = tmp_path / "results.csv"
    file.write_text(ROWS_OF_PASSAGES)
    with pytest.raises(BadInput, match=r"by several columns: .*COLUMN,COLUMN"):
        list(Reading(file, mapping=MAPPING))


def test_a_skipped_record_takes_no_passage_with_it(tmp_path: Path) -> None:
    file = tmp_path / "results.csv"
    file.write_text(ROWS_OF_PASSAGES)
    reading = Reading(file, mapping=MAPPING, skip_bad=True)
    assert [texts for _, texts in texts_of(reading)] == [
        ["Ice is less dense than water.", "Ice floats."],
        ["Salt lowers the freezing point."],
    ]
    assert reading.bad == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (row("p"), row("q")),  # the answer in each row, as a join in a database has it
        (row("p"), {"id": "1", "contexts": ["q"]}),
        (row("p"), row("q", answer="", question=None)),
        ({"id": "1", "contexts": ["p"]}, row("q")),  # the answer in the last row
        (row("p", system="s"), row("q", system="s")),
    ],
)
def test_a_field_of_a_further_row_is_equal_or_empty(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    reading = Reading([first, second])
    (example,) = reading.singles()
    assert (example.question, example.answer) == ("Why?", "So.")
    assert [context.text for context in example.contexts] == ["p", "q"]


def test_a_first_row_without_a_passage_has_those_of_the_next_ones() -> None:
    answer = {"id": "1", "question": "Why?", "answer": "So."}
    assert texts_of(Reading([answer, row("p"), row("q")])) == [("1", ["p", "q"])]


@pytest.mark.parametrize(
    "second",
    [
        row("q", answer="Otherwise."),
        row("q", system="another"),
        row("q", references=["Another one."]),
        row("p"),  # the very same row
        row("q", contexts=["q", "r"]),  # an answer with its own list
        row("q", contexts=[]),
    ],
)
def test_what_is_no_further_passage_is_refused(second: dict[str, Any]) -> None:
    first = row("p", system="one", references=["One."])
    with pytest.raises(BadInput, match="already used in line 1"):
        list(Reading([first, {"system": "one", "references": ["One."], **second}]))


@pytest.mark.parametrize("column", ["epoch", "Run", "run-id", "seed"])
def test_an_answer_that_was_given_again_is_no_further_passage(column: str) -> None:
    for passages in (("p", "q"), ("p", "p")):
        rows = [row(passage, **{column: time}) for time, passage in enumerate(passages)]
        with pytest.raises(BadInput, match='id: "1" was already used'):
            list(Reading(rows))


def test_rows_of_an_answer_that_are_apart_are_refused_with_the_remedy() -> None:
    with pytest.raises(BadInput, match="must follow it at once"):
        list(Reading([row("p"), row("r", id="2"), row("q")]))


def test_the_limit_counts_answers_and_not_their_rows() -> None:
    rows = [row(f"p{place}", id=str(place // 3)) for place in range(9)]
    assert texts_of(Reading(rows, limit=2)) == [
        ("0", ["p0", "p1", "p2"]),
        ("1", ["p3", "p4", "p5"]),
    ]


def test_values_beside_the_fields_are_kept_for_each_row_where_they_differ() -> None:
    rows = [row("p", rank=1, topic="ice"), row("q", rank=2, topic="ice"), row("r", topic="ice")]
    (example,) = Reading(rows)
    assert example.meta == {"rank": [1, 2, None], "topic": "ice"}


# Cells of a spreadsheet ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("x" * 32_767, True),
        ("x" * 32_766, False),
        ("x" * 32_768, False),
        ("\N{GRINNING FACE}" * 16_383 + "x", True),  # two UTF-16 code units each
        ("\N{GRINNING FACE}" * 16_384, False),
    ],
)
def test_a_text_as_long_as_a_cell_may_have_been_cut_and_that_is_said(
    tmp_path: Path, text: str, is_told: bool
) -> None:
    file = tmp_path / "report.jsonl"
    short = {"question": "Why?", "answer": "So."}
    file.write_text(f"{json.dumps(short)}\n{json.dumps(short | {'answer': text})}\n")
    reading = Reading(file)
    assert len(list(reading)) == 2
    notice = (
        f"Texts of {file} have 32,767 characters, the most that a cell of a spreadsheet holds (1 answer; the first in "
        f"{file}:2): they may have been cut. Export the texts in another way, such as JSON Lines."
    )
    assert reading.notices == ((notice,) if is_told else ())


def test_passages_and_answers_of_pairs_that_may_be_cut_are_counted_too() -> None:
    long = "x" * 32_767
    pair = {"question": "Why?", "a": long, "b": "So.", "contexts": [long, long]}
    reading = Reading([pair])
    list(reading)
    assert "(1 a, 2 contexts; the first in records:1)" in reading.notices[-1]
