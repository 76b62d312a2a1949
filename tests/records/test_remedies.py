"""A file that cannot be read says how it can be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.program import in_process

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
    mapping = {"system": "system", "id": "system,id", "question_id": "id"}
    with pytest.raises(BadInput) as caught:
        list(Reading(path))
    assert f"make them unique, which keeps each answer: mapping={mapping}" in str(caught.value)
    assert [example.id for example in Reading(path, mapping=mapping)] == ["a/1", "b/1"]


def test_the_remedy_for_many_repeated_ids_stands_once_with_their_count_and_skips_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ["doc,system,summary,ref"]
    lines += [f"d{i},M{k},Summary {i} of {k}.,A good one." for i in range(5) for k in range(16)]
    Path("s.csv").write_text("\n".join(lines), "utf-8")
    words = ["--map", "answer=summary", "--map", "references=ref", "--metrics", "classic.length"]
    assert in_process(["run", "s.csv", "--map", "id=doc", *words, "--out", "r"]) == 2
    printed = capsys.readouterr().err.splitlines()
    assert [line for line in printed if line.startswith("s.csv:")] == [
        f's.csv:{line}: id: "d0" was already used in line 2' for line in range(3, 8)
    ]
    remedy = "--map system=system --map id=system,doc --map question_id=doc"
    assert printed[-2:] == [
        "… and 70 more",
        "75 records with an id of an earlier one: if several systems have these ids, make them unique, which keeps each "
        f"answer: {remedy}; if they are copies, skip them: --skip-bad",
    ]
    assert in_process(["run", "s.csv", *remedy.split(), *words, "--out", "r", "--quiet"]) == 0
    rows = [json.loads(row) for row in Path("r/rows.jsonl").read_text("utf-8").splitlines()]
    assert len({row["example_id"] for row in rows}) == 80
    assert {row["question_id"] for row in rows} == {f"d{i}" for i in range(5)}


def test_bad_records_beside_repeated_ids_are_all_named(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    records: list[dict[str, Any]] = [
        {"id": "1", "system": name, **RECORDS[0]} for name in "abcdefgh"
    ]
    records.append({"id": "2", "question": 5})
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    with pytest.raises(BadInput) as caught:
        list(Reading(path))
    assert caught.value.skippable
    assert f"{path}:9: question: expected text, found 5" in caught.value.lines
    assert sum("already used" in line for line in caught.value.lines) == 7


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
