"""A file that cannot be read says how it can be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from longmark.errors import BadInput, UserError
from longmark.records.read import Reading

RECORDS = [{"question": "Why?", "answer": "Air."}, {"question": "How?", "answer": "Well."}]
COLUMNS = {"question": ["Why?", "How?"], "answer": ["Air.", "Well."]}


def document(folder: Path, content: Any) -> Path:
    path = folder / "answers.json"
    path.write_text(json.dumps(content))
    return path


def test_the_only_list_of_objects_of_a_document_is_its_records(tmp_path: Path):
    read = list(Reading(document(tmp_path, {"version": 1, "tags": ["x"], "samples": RECORDS})))
    assert [one.question for one in read] == ["Why?", "How?"]


def test_two_lists_of_objects_are_named(tmp_path: Path):
    with pytest.raises(
        UserError, match=r"several lists of records: samples, failed; write the one that is meant"
    ):
        list(Reading(document(tmp_path, {"samples": RECORDS, "failed": RECORDS})))


def test_columns_as_lists_say_how_to_write_records(tmp_path: Path):
    with pytest.raises(
        UserError, match=r"These are columns; write records: with pandas, pandas.DataFrame"
    ):
        list(Reading(document(tmp_path, COLUMNS)))
    with pytest.raises(
        UserError,
        match=r"dict of columns is no list of records; give a table, such as pandas.DataFrame",
    ):
        Reading(COLUMNS)
    with pytest.raises(UserError, match=r"dict is no list; choose one of train"):
        Reading({"train": object()})


def test_ids_that_systems_share_are_made_unique_by_the_option_that_the_message_names(
    tmp_path: Path,
):
    path = tmp_path / "answers.jsonl"
    path.write_text(
        "".join(json.dumps({"id": "1", "system": name, **RECORDS[0]}) + "\n" for name in "ab")
    )
    with pytest.raises(
        BadInput, match=r"make them unique: mapping={'id': 'join\(`\"-\"`, \[system, id\]\)'}"
    ):
        list(Reading(path))
    assert [one.id for one in Reading(path, mapping={"id": 'join(`"-"`, [system, id])'})] == [
        "a-1",
        "b-1",
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("results.yaml", "evalId: eval-JtC-2026\nresults:\n  version: 3\n"),
        ("results.xml", '<?xml version="1.0"?>\n<promptfoo>\n  <evalId>eval-JtC</evalId>\n'),
        ("results.html", "<!DOCTYPE html><html><head><title>Table Output | promptfoo</title>"),
    ],
)
def test_results_of_promptfoo_in_another_form_say_how_to_write_them_as_json(
    tmp_path: Path, name: str, text: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(UserError, match=r"promptfoo export eval ID --output results\.json"):
        Reading(path)


def test_a_page_of_another_tool_is_not_taken_for_promptfoo_s(tmp_path: Path) -> None:
    path = tmp_path / "results.yaml"
    path.write_text("results: []\n")
    with pytest.raises(UserError, match=r"export the answers as \.json"):
        Reading(path)
