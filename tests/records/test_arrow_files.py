"""Tables whose few bytes stand for many values: read in a process of their own, within limits that a message names.

All files are harmless: a constant column, a list of zeros, one text in each record.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from longmark.errors import UserError
from longmark.records import arrow_files, arrow_reader, reader_process, sources
from longmark.records.raw_record import LONGEST_CELL
from longmark.records.read import Reading

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
LIMITS = arrow_files.limits(LONGEST_CELL)


def arrow(path: Path, table: Any) -> Path:
    with pyarrow.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    return path


def repeated(text: str, count: int) -> Any:
    """A column in which each record refers to the one text."""
    return pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * count, "int32"), [text])


def refused(path: Path) -> str:
    with pytest.raises(UserError) as error:
        list(Reading(path))
    return str(error.value)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_columns_whose_type_is_json_are_read_as_what_their_texts_spell(
    suffix: str, tmp_path: Path
) -> None:
    text = pyarrow.json_(pyarrow.string())

    def spelled(values: list[str]) -> Any:
        return pyarrow.ExtensionArray.from_storage(text, pyarrow.array(values))

    passages = spelled(['"p1"', '"p2"', '{"id": "d1", "text": "t"}'])
    table = pyarrow.table(
        {
            "question": ["q", "r"],
            "contexts": pyarrow.ListArray.from_arrays([0, 2, 3], passages),
            "references": spelled(['["Paris", "paris"]', '"Rome"']),
        }
    )
    path = tmp_path / f"mixed.{suffix}"
    if suffix == "parquet":
        parquet.write_table(table, path)
    else:
        arrow(path, table)
    first, second = Reading(path).singles()
    assert [passage.text for passage in first.contexts] == ["p1", "p2"]
    assert [(passage.id, passage.text) for passage in second.contexts] == [("d1", "t")]
    assert (first.references, second.references) == (("Paris", "paris"), ("Rome",))


def test_a_damaged_text_in_a_column_of_json_is_a_bad_record_that_names_the_column(
    tmp_path: Path,
) -> None:
    values = pyarrow.ExtensionArray.from_storage(
        pyarrow.json_(pyarrow.string()), pyarrow.array(["{", '"Rome"'])
    )
    table = pyarrow.table({"question": ["q", "r"], "references": values})
    parquet.write_table(table, tmp_path / "mixed.parquet")
    reading = Reading(tmp_path / "mixed.parquet", skip_bad=True)
    assert [example.question for example in reading.singles()] == ["r"]
    assert "references: is not JSON" in reading.bad_lines[0]


def test_a_table_of_more_records_than_its_bytes_can_tell_apart_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_files, "ANY_RECORDS", 10_000)
    monkeypatch.setattr(arrow_files, "RECORDS_PER_BYTE", 2)
    table = pyarrow.table({"question": ["Why?"] * 30_000, "answer": ["So."] * 30_000})
    parquet.write_table(table, tmp_path / "a.parquet")
    size = (tmp_path / "a.parquet").stat().st_size
    assert f"has 30,000 or more records in {size:,} bytes, so most of them are the same" in refused(
        tmp_path / "a.parquet"
    )
    parquet.write_table(table.slice(0, 9_000), tmp_path / "a.parquet")
    assert sum(1 for _ in sources.records(tmp_path / "a.parquet", "parquet")) == 9_000


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_record_of_too_many_values_is_named_with_the_limit(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_files, "MOST_VALUES", 1000)
    table = pyarrow.table({"question": ["Why?", "Who?"], "wide": [[0], [0] * 50_000]})
    path = tmp_path / f"a.{suffix}"
    parquet.write_table(table, path) if suffix == "parquet" else arrow(path, table)
    assert "the record 2 has 50,001 values or more" in refused(path)
    assert "the limits are 1,000 values and 256 MiB; leave out what is not scored" in refused(path)


@pytest.mark.parametrize(
    ("array", "values", "used"),
    [
        (pyarrow.array(["ab", None, "cde"]), 3, None),
        (pyarrow.nulls(7), 7, 0),
        (pyarrow.array([[1, 2], [], [3]], pyarrow.list_(pyarrow.int32())), 6, None),
        (pyarrow.array([[1, 2], [3, 4]], pyarrow.list_(pyarrow.int32(), 2)), 6, None),
        (pyarrow.array([{"a": 1, "b": [1, 2]}, {"a": 2, "b": []}]), 2 + 2 + 2 + 2, None),
        (
            pyarrow.array([[("k", 1), ("l", 2)]], pyarrow.map_(pyarrow.string(), pyarrow.int32())),
            1 + 2 + 2,
            None,
        ),
        (repeated("x" * 100, 50), 50, 5000),
        (repeated("x" * 100, 50).slice(10, 5), 5, 500),
        (pyarrow.array([b"ab"] * 3, pyarrow.binary(2)), 3, 6),
        (pyarrow.array(["ab", "ab"], pyarrow.string_view()), 2, 4),
        (pyarrow.RunEndEncodedArray.from_arrays([40], ["x" * 10]), 40, 400),
        (pyarrow.array([[0, 0]] * 3, pyarrow.list_view(pyarrow.int8())), 9, None),
    ],
)
def test_the_values_of_a_column_are_counted_as_python_would_make_them(
    array: Any, values: int, used: int | None
) -> None:
    counted, size = arrow_reader.weight(array, 10_000)
    assert counted == values
    assert used is None or size == used


def test_records_that_share_one_long_text_are_read_few_at_a_time(tmp_path: Path) -> None:
    limits = replace(LIMITS, size=1000)
    _, batches = arrow_reader.table_of(
        str(arrow(tmp_path / "a.arrow", pyarrow.table({"question": repeated("x" * 100, 64)}))),
        "arrow",
        limits,
        limited=False,
    )
    assert [batch.num_rows for batch in batches] == [
        8
    ] * 8  # 64, 32 and 16 of 100 bytes are more than 1,000


def test_a_file_that_needs_too_much_memory_is_read_in_smaller_batches_to_its_end(
    tmp_path: Path,
) -> None:
    """The usual batch fails after the first one, as where memory is limited; no record is lost or read twice."""
    table = pyarrow.table({"n": list(range(1000))})
    parquet.write_table(table, tmp_path / "a.parquet")

    class FailingTable:
        def iter_batches(self, batch_size: int, use_threads: bool) -> Any:
            yield table.slice(0, batch_size).to_batches()[0]
            raise MemoryError

        def close(self) -> None: ...

    batches = arrow_reader._read(str(tmp_path / "a.parquet"), FailingTable(), 300, 128)
    assert [n for batch in batches for n in batch.column(0).to_pylist()] == list(range(1000))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_what_needs_more_memory_than_the_process_has_is_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_process, "MOST_BYTES", 48 << 20)
    table = pyarrow.table(
        {
            "question": ["Why?"],
            "wide": pyarrow.array([[0] * 8_000_000], pyarrow.list_(pyarrow.int64())),
        }
    )
    parquet.write_table(table, tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < 200_000
    assert "a.parquet cannot be read as Parquet: it needs more than 48 MiB of memory" in refused(
        tmp_path / "a.parquet"
    )


PEAK = """
import resource, sys
from pathlib import Path
from longmark.records import sources
count = sum(1 for _ in sources.records(Path(sys.argv[1]), "arrow"))
both = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(count, max(both) // (1024 if sys.platform != "darwin" else 1 << 20))
"""


def test_a_text_of_a_megabyte_in_each_of_a_thousand_records_takes_little_memory(
    tmp_path: Path,
) -> None:
    """All together they would take a GiB; a batch of 128 of them, as before, 128 MiB twice. The bound is a batch of
    256 MiB, in both processes, and the libraries."""
    path = arrow(tmp_path / "a.arrow", pyarrow.table({"question": repeated("x" * (1 << 20), 1000)}))
    assert path.stat().st_size < 1_100_000
    # A process begins with the peak of the one that started it: the tests' own would hide what is measured.
    small = (
        "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', *sys.argv[1:]]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", small, PEAK, path], capture_output=True, text=True, check=True
    )
    count, peak = map(int, done.stdout.split())
    assert (count, peak < 700) == (1000, True)


def test_a_reading_that_ends_early_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []
    begin = subprocess.Popen

    def recorded(*args: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(begin(*args, **options))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", recorded)
    table = pyarrow.table({"question": [f"Why {n}? {'x' * 500}" for n in range(20_000)]})
    parquet.write_table(table, tmp_path / "a.parquet")
    records = sources.records(tmp_path / "a.parquet", "parquet")
    assert next(records)[0] == 1
    records.close()  # type: ignore[attr-defined]
    assert len(started) == 1
    assert started[0].returncode is not None


def test_a_folder_of_several_files_is_read_by_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []
    begin = subprocess.Popen

    def recorded(*args: Any, **options: Any) -> Any:
        started.append(args)
        return begin(*args, **options)

    monkeypatch.setattr(subprocess, "Popen", recorded)
    for n in range(3):
        arrow(tmp_path / f"data-{n}.arrow", pyarrow.table({"question": [f"Why {n}?", f"Who {n}?"]}))
    assert [(n, record["question"]) for n, record in sources.records(tmp_path, "folder")] == [
        (1, "Why 0?"), (2, "Who 0?"), (3, "Why 1?"), (4, "Who 1?"), (5, "Why 2?"), (6, "Who 2?"),
    ]  # fmt: skip
    assert len(started) == 1
