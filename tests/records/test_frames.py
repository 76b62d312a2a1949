"""DataFrames and Arrow tables are read as records, their missing values as missing fields."""

from __future__ import annotations

from typing import Any

import pandas
import pyarrow
import pytest

from longmark.errors import UserError
from longmark.records.read import Reading

ROWS: dict[str, Any] = {
    "id": ["a", "b", "c"],
    "question": ["Q1?", "Q2?", "Q3?"],
    "answer": ["One.", None, float("nan")],
    "contexts": [["x"], None, ["y", "z"]],
}


class Stream:
    """A table of another library: it has Arrow's interface and nothing else."""

    def __init__(self, table: pyarrow.Table) -> None:
        self.__arrow_c_stream__ = table.__arrow_c_stream__


FRAME = pandas.DataFrame(ROWS)
TABLE = pyarrow.Table.from_pandas(FRAME)


@pytest.mark.parametrize(
    "frame", [FRAME, TABLE, Stream(TABLE)], ids=["pandas", "pyarrow", "another"]
)
def test_a_frame_gives_the_examples_of_its_rows(frame: Any):
    examples = list(Reading(frame).singles())
    assert [example.answer for example in examples] == ["One.", None, None]
    assert [[one.text for one in example.contexts] for example in examples] == [
        ["x"],
        [],
        ["y", "z"],
    ]


def test_rows_that_were_selected_keep_no_index():
    assert [example.id for example in Reading(FRAME.iloc[1:])] == ["b", "c"]


def test_a_mapped_column_is_read():
    frame = FRAME.rename(columns={"answer": "out"})
    assert [example.answer for example in Reading(frame, mapping={"answer": "out"}).singles()] == [
        "One.",
        None,
        None,
    ]


def test_a_column_of_several_types_and_a_repeated_name_are_refused():
    with pytest.raises(UserError, match="the DataFrame cannot be read: "):
        list(Reading(pandas.DataFrame({"answer": ["a", 1, ["b"]]})))
    twice = pyarrow.table([["a"], ["b"]], names=["answer", "answer"])
    with pytest.raises(
        UserError, match="the DataFrame: the column answer appears twice; rename one"
    ):
        list(Reading(twice))


def test_an_empty_frame_has_no_examples():
    with pytest.raises(UserError, match="there are no examples"):
        list(Reading(FRAME.iloc[:0]))


def test_no_records_and_an_empty_frame_are_named_as_what_they_are():
    with pytest.raises(
        UserError, match="examples: expected a file, records or a DataFrame, found NoneType"
    ):
        Reading(None)
    with pytest.raises(UserError, match=r"the input is empty$"):
        list(Reading(FRAME.head(0)))
    with pytest.raises(UserError, match="a generator can be read only once"):
        list(Reading(iter([])))
