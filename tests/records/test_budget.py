"""What a file may hold: values, bytes and depth are bounded in every format, and the message has the limit.

Limits are lowered where the test would be large otherwise; the one file that is read as it stands takes 24 MB.
"""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from longmark.errors import BadInput, UserError
from longmark.records import containers, csv_records, files
from longmark.records.read import Reading

RECORD = {"id": "1", "question": "Why?", "answer": "So, [and] {so}."}


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record has 20 values at most."""
    for module in (files, containers, csv_records):
        monkeypatch.setattr(module, "MOST_VALUES", 20)


def read(path: Path) -> list[Any]:
    return list(Reading(path))


@pytest.mark.parametrize(
    "text",
    [b'{"a": [1, 2, {"b": 3}]}', b'["a, [b]", "\\"{,", {"c": "d"}, []]', b"[[],[],[]]", b"1"],
)
def test_the_values_of_a_text_are_counted_without_parsing_it(text: bytes) -> None:
    def count(value: Any) -> int:
        inner = (
            list(value.values())
            if isinstance(value, dict)
            else value
            if isinstance(value, list)
            else []
        )
        return 1 + sum(map(count, inner))

    # one mark, a comma or a bracket, for each value: an empty list or object counts twice
    empty = text.count(b"[]") + text.count(b"{}")
    assert count(json.loads(text)) <= files.values_in(text) <= count(json.loads(text)) + empty + 1
    assert files.values_in(text.decode()) == files.values_in(text)


def test_commas_and_brackets_of_a_text_are_no_values(few: None) -> None:
    text = json.dumps({**RECORD, "answer": "one, two, [three], {four}, " * 99})
    assert files.parse_json(text)["id"] == "1"


def test_a_record_of_too_many_values_is_a_bad_record_that_names_the_limit(
    few: None, tmp_path: Path
) -> None:
    """Itself, three texts, two that hold others, and 40 numbers: 46 values."""
    wide = {**RECORD, "id": "2", "meta": {"wide": list(range(40))}}
    (tmp_path / "a.jsonl").write_text(
        "".join(f"{json.dumps(one)}\n" for one in (RECORD, wide, {**RECORD, "id": "3"}))
    )
    with pytest.raises(
        BadInput, match=r"a.jsonl:2: has 46 values, more than the limit of 20; leave out"
    ):
        read(tmp_path / "a.jsonl")
    assert [example.id for example in Reading(tmp_path / "a.jsonl", skip_bad=True)] == ["1", "3"]


def test_a_json_array_with_a_wide_record_is_refused_before_the_record_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(containers, "MOST_VALUES", 1000)
    monkeypatch.setattr(containers, "_READ", 1 << 10)
    monkeypatch.setattr(containers, "_READ_MORE", 1 << 12)
    wide = {**RECORD, "meta": {"wide": [[]] * 40_000}}
    (tmp_path / "a.json").write_text(json.dumps([wide]))
    with pytest.raises(UserError, match=r"values, more than the limit of 1,000"):
        read(tmp_path / "a.json")
    (tmp_path / "a.json").write_text(json.dumps([{**RECORD, "id": str(n)} for n in range(2000)]))
    assert len(read(tmp_path / "a.json")) == 2000


def test_a_document_that_is_parsed_at_once_has_a_limit_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_AT_ONCE", 100)
    (tmp_path / "a.json").write_text(json.dumps({"results": [RECORD] * 50}))
    with pytest.raises(UserError, match=r"a.json has 202 values, more than the limit of 100"):
        read(tmp_path / "a.json")


@pytest.mark.parametrize("line", ['"a, b"' + ",1" * 40, "x" * 300])
def test_a_row_of_too_many_cells_or_characters_ends_the_reading_with_its_line(
    line: str, few: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_records, "LONGEST_LINE", 200)
    (tmp_path / "a.csv").write_text(f"question,answer\nWhy?,So.\n{line}\n")
    with pytest.raises(
        UserError, match=r"a.csv:3: (has more than the limit of 20 cells|a record is longer than)"
    ):
        read(tmp_path / "a.csv")


def test_a_table_that_names_too_many_columns_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_records, "MOST_COLUMNS", 10)
    (tmp_path / "a.csv").write_text(",".join(f"c{n}" for n in range(20)) + "\n")
    with pytest.raises(UserError, match="the first line must name the columns, 10 at most"):
        read(tmp_path / "a.csv")


def log(path: Path, sample: dict[str, Any]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", json.dumps({"eval": {"task": "t"}}))
        file.writestr("samples/1_epoch_1.json", json.dumps(sample))


def test_a_sample_that_unpacks_to_far_more_than_its_size_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "ALWAYS_UNPACKED", 1 << 16)
    sample = {
        "id": 1,
        "epoch": 1,
        "input": "Why? " * 40_000,
        "target": "So.",
        "output": {"completion": "So."},
    }
    log(tmp_path / "a.eval", sample)
    with pytest.raises(
        UserError,
        match=r"samples/1_epoch_1.json unpacks from [\d,]+ bytes to more than the limit of",
    ):
        list(containers.of_inspect(tmp_path / "a.eval"))
    monkeypatch.setattr(files, "ALWAYS_UNPACKED", 1 << 20)
    assert len(list(containers.of_inspect(tmp_path / "a.eval"))) == 1


def test_a_sample_of_too_many_values_is_refused(few: None, tmp_path: Path) -> None:
    log(tmp_path / "a.eval", {"id": 1, "wide": [[]] * 2000})
    with pytest.raises(
        UserError, match=r"a.eval cannot be read as an Inspect log: has [\d,]+ values, more than"
    ):
        list(containers.of_inspect(tmp_path / "a.eval"))


PEAK = """
import resource, sys
from longmark.records.read import Reading
from longmark.errors import UserError
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    list(Reading(sys.argv[1]))
except UserError as error:
    print(error)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(peak // (1024 if sys.platform != "darwin" else 1 << 20))
"""


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_eight_million_empty_lists_take_no_more_memory_than_their_text(
    name: str, tmp_path: Path
) -> None:
    """Parsed, they would take more than 400 MiB; 24 MB of text are held about four times at most."""
    wide = '{"question": "Why?", "answer": "So.", "meta": {"wide": [' + "[]," * 8_000_000 + "[]]}}"
    (tmp_path / name).write_text(f"[{wide}]" if name == "a.json" else f"{wide}\n")
    # A process begins with the peak of the one that started it: the tests' own would hide what is measured.
    small = (
        "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', *sys.argv[1:]]))"
    )
    words = [sys.executable, "-c", small, PEAK, str(tmp_path / name)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    message, peak = done.stdout.splitlines()
    assert "more than the limit of 2,000,000" in message
    assert int(peak) < 250


@pytest.mark.parametrize(
    "name", ["a.jsonl", "a.json", "a.parquet"]
)  # a row of CSV: by its separators
def test_the_json_texts_in_the_cells_of_a_record_are_bounded_together(
    name: str, few: None, tmp_path: Path
) -> None:
    """Each of the five texts is a list of 13 numbers, 14 values: below the limit of 20 by itself; together 70."""
    cell = json.dumps(list(range(13)))
    wide = {"id": "2", "question": "Why?", "answer": "So.", **{f"more{n}": cell for n in range(5)}}
    fit = {**wide, "id": "1", **{f"more{n}": "[0]" for n in range(5)}}
    path = tmp_path / name
    if name == "a.jsonl":
        path.write_text(f"{json.dumps(fit)}\n{json.dumps(wide)}\n")
    elif name == "a.json":
        path.write_text(json.dumps([fit, wide], indent=1))
    else:
        pyarrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(
            pyarrow.Table.from_pylist([fit, wide]), path
        )
    with pytest.raises(
        BadInput,
        match=rf"{name}:\d: has 70 values in its JSON texts together, more than the limit of 20",
    ):
        read(path)
    assert [example.id for example in Reading(path, skip_bad=True)] == ["1"]


def test_the_json_texts_inside_of_each_other_count_together_too(few: None) -> None:
    """Two texts in a list in an object: 2 x 14 values."""
    cell = json.dumps(list(range(13)))
    files.check_texts(
        {"inputs": {"messages": [cell, "[1] So. " * 3]}}
    )  # a text that only begins like JSON
    with pytest.raises(ValueError, match="has 28 values in its JSON texts together"):
        files.check_texts({"inputs": {"messages": [cell, "so"]}, "outputs": [[cell]]})
