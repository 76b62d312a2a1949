"""Files of examples: formats, lines, encodings, bad records, repeated ids, memory."""

from __future__ import annotations

import datetime
import decimal
import json
import os
import time
import tracemalloc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmark.errors import BadInput, UserError
from longmark.records import Example, arrow_files, arrow_reader, arrow_records, files
from longmark.records.read import Reading

DATA = Path(__file__).parents[2].parent / "shared" / "data"


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def lines(path: Path) -> list[tuple[int, str]]:
    """(line, question or message) of every record."""
    return [
        (line, one if isinstance(one, str) else one.question or "")
        for line, one in Reading(path).records()
    ]


def test_jsonl(tmp_path: Path) -> None:
    path = written(
        tmp_path, "a.jsonl", '\ufeff{"question": "a"}\r\n\n{"question": 5}\n[1]\n{"question": "é"}'
    )
    assert lines(path) == [
        (1, "a"),
        (3, "question: expected text, found 5"),
        (4, "expected an object with named fields, found a list"),
        (5, "é"),
    ]


def test_jsonl_that_is_broken_in_places(tmp_path: Path) -> None:
    content = (
        b'{"question": "caf\xe9"}\n{"question": "a", "score": NaN}\n{"question": "\\ud800"}\n'
        b'{"question": "a"\n{"question": "big", "n": 123456789012345678901234567890}\n'
        + b"[" * 5000
        + b"\n"
    )
    found = lines(written(tmp_path, "a.jsonl", content))
    assert found[0] == (1, "is not UTF-8 (byte 0xE9); save the file as UTF-8")
    assert found[1] == (2, "a")
    assert found[2][1].startswith("question: contains half a character")
    assert found[3][1].startswith("is not JSON: ")
    assert found[4] == (5, "big")
    assert found[5][0] == 6
    assert all("\n" not in message for _, message in found)


def test_csv(tmp_path: Path) -> None:
    content = (
        "\ufeffid,question,answer,contexts\r\n1,first,,plain\r\n"
        '2,"second, with\r\ntwo lines","=A1","[""c"", ""d""]"\r\n3,short\r\n\r\n4,last,"""""",\r\n'
    )
    items = list(Reading(written(tmp_path, "a.csv", content)).records())
    assert [line for line, _ in items] == [2, 3, 5, 7]
    assert items[2] == (
        5,
        "2 cells for 4 columns; they are separated by commas, like the names in the first line",
    )
    good = [item for _, item in items if isinstance(item, Example)]
    assert [example.id for example in good] == ["1", "2", "4"]
    assert [example.answer for example in good] == [None, "=A1", ""]
    assert good[1].question == "second, with\r\ntwo lines"
    assert [context.text for context in good[1].contexts] == ["c", "d"]


def test_csv_that_is_broken_in_places(tmp_path: Path) -> None:
    content = b'question,answer\ncaf\xe9,a\n"a"b,c\nlong,' + b"x" * 200_000 + b'\n"never closed,d\n'
    found = lines(written(tmp_path, "a.csv", content))
    assert found[0] == (2, "question: is not UTF-8 (byte 0xE9); save the file as UTF-8")
    assert found[1][0] == 3
    assert found[1][1].startswith("is not CSV: ")
    assert found[2] == (4, "long")
    assert found[3][0] == 5
    assert found[3][1].startswith("is not CSV: ")


def test_tsv(tmp_path: Path) -> None:
    assert lines(written(tmp_path, "a.tsv", "question\tanswer\na, b\tc\n")) == [(2, "a, b")]


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("question;answer;contexts", 'a, b;"c;d";e'),
        ("Frage;Antwort;question", "x;y;a, b"),
        ("question\tanswer\tcontexts", "a, b\tc;d\te"),
        ('"question";"answer, contexts, meta"', '"a, b";c'),
        ('"question";answer;"two\nlines, or, more"', '"a, b";c;d'),
        (
            "question;notes, dates, places",
            "a, b;c",
        ),  # one known name against none, though commas are more
    ],
)
def test_the_names_of_the_columns_tell_what_separates_them(
    tmp_path: Path, header: str, row: str
) -> None:
    line = 2 + header.count("\n")
    assert lines(written(tmp_path, "a.csv", f"\ufeff{header}\r\n{row}\r\n")) == [(line, "a, b")]
    assert lines(written(tmp_path, "a.tsv", f"{header}\n{row}")) == [(line, "a, b")]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("hint", ["sep={}", '"SEP={}"'])
def test_the_first_line_may_be_excels_hint(tmp_path: Path, mark: str, hint: str) -> None:
    content = f'\ufeff{hint.format(mark)}\r\nquestion{mark}"a;b,c"\r\na{mark}x\r\nshort\r\n'
    found = lines(written(tmp_path, "a.csv", content))
    assert found[0] == (3, "a")
    assert found[1][0] == 4
    assert found[1][1].startswith("1 cell for 2 columns; they are separated by ")


def test_cells_separated_otherwise_than_the_names(tmp_path: Path) -> None:
    assert lines(written(tmp_path, "a.csv", "question;answer\na,b\na;b;c\nd;e\n")) == [
        (
            2,
            "1 cell for 2 columns; they are separated by semicolons, like the names in the first line",
        ),
        (3, "3 cells for 2 columns; quote cells that hold semicolons"),
        (4, "d"),
    ]


def test_json_documents(tmp_path: Path) -> None:
    records = [{"question": "a"}, {"question": 5}]
    expected = [(1, "a"), (2, "question: expected text, found 5")]
    assert lines(written(tmp_path, "a.json", json.dumps(records))) == expected
    assert (
        lines(written(tmp_path, "b.json", json.dumps({"results": records, "metrics": {}})))
        == expected
    )


def test_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="needs the extra `parquet`")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table(
        {
            "id": pyarrow.array([1, 2], pyarrow.int64()),
            "user_input": ["a", None],
            "response": ["", "b"],
            "retrieved_contexts": [["c"], None],
            "score": [float("nan"), 0.5],
            "day": [datetime.date(2024, 1, 2), None],
            "price": [decimal.Decimal("1.50"), None],
            "reference": pyarrow.array([b"bytes", b"caf\xe9"]),
        }
    )
    path = tmp_path / "a.parquet"
    parquet.write_table(table, path)
    (_, first), second = Reading(path).records()
    assert isinstance(first, Example)
    assert (first.id, first.question, first.answer) == ("1", "a", "")
    assert first.references == ("bytes",)
    assert first.meta == {"day": "2024-01-02", "price": "1.50"}
    assert second == (2, "references[0]: is not UTF-8 (byte 0xE9); save the file as UTF-8")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"x", "the suffix must be one of"),
        ("a.jsonl.gz", b"x", "unpack it first"),
        ("a.jsonl", b"", "is empty"),
        ("a.jsonl", b"\n\n", "has no records"),
        ("a.json", b"[]", "has no records"),
        ("a.csv", b"question,answer\n", "has no records"),
        ("a.jsonl", b'{\n"question": "a"\n}', "rename it to .json"),
        ("a.json", b'{"question": "a"}\n{"question": "b"}\n', "rename it to .jsonl"),
        ("a.json", b'{"question": "a"}', "under `results`; found question"),
        ("a.json", b'[{"question": ', "is not JSON"),
        ("a.json", b"3", "expected a list of records"),
        ("a.jsonl", b"\xff\xfe{\x00", "is UTF-16"),
        ("a.csv", b"\xff\xfeq\x00", "is UTF-16"),
        (
            "a.jsonl",
            '{"question": "日本語の質問"}'.encode("utf-16-le"),
            "looks like UTF-16; save it as UTF-8",
        ),
        (
            "a.csv",
            "Übung,question\na,b\n".encode("utf-16-be"),
            "looks like UTF-16; save it as UTF-8",
        ),
        (
            "a.json",
            '[{"question": "a"}]'.encode("utf-16-be"),
            "looks like UTF-16; save it as UTF-8",
        ),
        ("a.jsonl", b'{"question": "a"}\n' + b"\x00" * 4096, "contains many NUL bytes"),
        (
            "a.csv",
            b"question;answer,contexts\na;b,c\n",
            "has commas and semicolons between the names",
        ),
        ("a.csv", b"sep=;\nanswer;answer\na;b\n", "the column answer appears twice"),
        ("a.csv", b"sep=;\n", "must name the columns"),
        ("a.csv", b"answer,answer\na,b\n", "the column answer appears twice"),
        ("a.csv", b"\na,b\n", "must name the columns"),
        ("a.parquet", b"PAR1 not really", "cannot be read as Parquet"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    with pytest.raises(UserError, match=message):
        list(Reading(written(tmp_path, name, content)).records())


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist"):
        Reading(tmp_path / "none.jsonl")
    with pytest.raises(UserError, match="is a folder"):
        Reading(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are a thing of POSIX")
def test_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    with pytest.raises(UserError, match="is a pipe or a device"):
        Reading(tmp_path / "a.jsonl")


def test_mapped_column_that_no_record_has(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", '{"q": "a", "answer": "x"}\n{"q": "b", "answer": "x"}\n')
    with pytest.raises(UserError, match=r"no record of .* has the column Q;"):
        list(Reading(path, mapping={"question": "Q"}))
    with pytest.raises(UserError, match="has the column Q;"):
        list(Reading(path, mapping={"question": "Q"}, limit=1))
    assert [example.question for example in Reading(path, mapping={"question": "q"})] == ["a", "b"]


def test_bad_input_names_each_record_and_the_first_use_of_an_id(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "bad.jsonl",
        '{"id": "a", "question": "x"}\n{"id": "b", "question": 5}\n{"id": 1, "question": "y"}\n'
        '{"id": "1", "question": "y"}\n{"id": "a", "question": "x"}\n',
    )
    reading = Reading(path)
    with pytest.raises(BadInput) as caught:
        list(reading)
    assert str(caught.value).splitlines() == [
        f"{path}:2: question: expected text, found 5",
        f'{path}:4: id: "1" was already used in line 3',
        f'{path}:5: id: "a" was already used in line 1',
    ]


def test_equal_records_without_ids(tmp_path: Path) -> None:
    path = written(
        tmp_path, "a.jsonl", '{"question": "x"}\n{"question": "y"}\n{"question": "x", "id": ""}\n'
    )
    with pytest.raises(BadInput) as caught:
        list(Reading(path))
    assert str(caught.value) == f"{path}:3: the same record as line 1; add ids to keep both"


def test_only_the_first_fifty_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", '{"question": 5}\n' * 73)
    with pytest.raises(BadInput) as caught:
        list(Reading(path))
    assert len(caught.value.lines) == 50
    assert caught.value.total == 73
    assert str(caught.value).endswith("… and 23 more")


def test_skip_bad_goes_on_with_the_rest(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", '{"question": 5}\n{"question": "x"}\n{"question": "y"}\n')
    reading = Reading(path, skip_bad=True)
    assert [example.question for example in reading] == ["x", "y"]
    assert (reading.good, reading.bad, len(reading.bad_lines)) == (2, 1, 1)
    assert [example.question for example in reading] == ["x", "y"]  # it can be read again
    limited = Reading(path, skip_bad=True, limit=1)
    assert [example.question for example in limited] == ["x"]


def test_skip_bad_where_no_record_is_good(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", '{"question": 5}\n' * 60)
    with pytest.raises(BadInput) as caught:
        list(Reading(path, skip_bad=True))
    first, *_, last = str(caught.value).splitlines()
    assert first == f"{path}: all records are bad (60 of 60)"
    assert last == "… and 10 more"
    assert caught.value.lines[1:] == tuple(
        f"{path}:{n}: question: expected text, found 5" for n in range(1, 51)
    )


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        path = tmp_path / f"{count}.jsonl"
        with path.open("w") as file:
            for number in range(count):
                file.write(
                    json.dumps({"id": number, "question": f"q {number}", "answer": "a" * 100})
                    + "\n"
                )
        tracemalloc.start()
        assert sum(1 for _ in Reading(path)) == count
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    peak(200)  # what is loaded once
    small, large = peak(500), peak(5000)
    assert large < small + 100_000  # 5,000 answers alone would be 500,000 bytes


@settings(max_examples=200)
@given(st.binary(max_size=300))
def test_any_bytes_give_records_or_a_user_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    folder = tmp_path_factory.mktemp("any")
    for name in ("a.jsonl", "a.json", "a.csv"):
        try:
            items = list(Reading(written(folder, name, content)).records())
        except UserError:
            continue
        assert all(isinstance(item, Example) or "\n" not in item for _, item in items)


@pytest.mark.skipif(not DATA.exists(), reason="the shared data are not in this clone")
def test_real_files() -> None:
    expert = list(Reading(DATA / "expertqa" / "rand_lfqa_test.jsonl").singles())
    assert len(expert) == 219
    assert all(example.question and example.answer and not example.contexts for example in expert)
    assert expert[0].id == "0"
    checked = list(Reading(DATA / "ragchecker" / "checking_outputs.json").singles())
    assert [example.id for example in checked] == ["0", "1"]
    assert checked[0].contexts[0].id == "000"
    assert len(checked[0].references) == 1
    assert len(checked[0].claims or ()) == 11
    assert checked[0].claims_by_reference[:2] == ("neutral", "entails")  # type: ignore[index]
    assert list(checked[0].meta) == ["metrics"]


def parquet(folder: Path, columns: dict[str, object]) -> Path:
    pytest.importorskip("pyarrow", reason="needs the extra `parquet`")
    import pyarrow.parquet

    path = folder / "a.parquet"
    pyarrow.parquet.write_table(pyarrow.table(list(columns.values()), names=list(columns)), path)
    return path


def stored(kind: str, unit: str, *values: int | None) -> Any:
    """An array of a kind of date, time or duration from the whole numbers that Arrow keeps."""
    pyarrow = pytest.importorskip("pyarrow")
    made = getattr(pyarrow, kind)(*([unit] if unit else []))
    return pyarrow.array(values, pyarrow.int32() if made.bit_width == 32 else pyarrow.int64()).view(
        made
    )


def test_parquet_dates_beyond_python_are_text(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="needs the extra `parquet`")

    moment = stored("timestamp", "ns", 1_700_000_000_123_456_789, None)
    path = parquet(
        tmp_path,
        {
            "question": ["q", "r"],
            "moment": moment,
            "zoned": moment.cast(pyarrow.timestamp("ns", "Asia/Kolkata")),
            "micro": stored("timestamp", "ns", 1_700_000_000_123_456_000, -1),
            "far": stored("timestamp", "s", 10**13, None),
            "day": stored("date32", "", 2**31 - 1, None),
            "time": stored("time64", "ns", 1_000_000_001, None),
            "long": stored("duration", "ns", 1_234_567_890_123, None),
            "longest": stored("duration", "s", 2**60, None),
            "listed": pyarrow.ListArray.from_arrays(
                pyarrow.array([0, 1, 2], pyarrow.int32()), moment
            ),
            "parts": pyarrow.StructArray.from_arrays([moment], names=["at"]),
            "map": pyarrow.array(
                [[("k", 1)], []], pyarrow.map_(pyarrow.string(), pyarrow.timestamp("ns"))
            ),
        },
    )
    first, second = (one.meta for _, one in Reading(path).records() if isinstance(one, Example))
    assert first == {
        "moment": "2023-11-14T22:13:20.123456789",
        "zoned": "2023-11-15T03:43:20.123456789+05:30",
        "micro": "2023-11-14T22:13:20.123456",
        "far": "10000000000000000 (timestamp[ms])",
        "day": "2147483647 (date32[day])",
        "time": "00:00:01.000000001",
        "long": "0:20:34.567890123",
        "longest": f"{2**60} (duration[s])",
        "listed": ["2023-11-14T22:13:20.123456789"],
        "parts": {"at": "2023-11-14T22:13:20.123456789"},
        "map": [["k", "1970-01-01T00:00:00.000000001"]],
    }
    assert second["micro"] == "1969-12-31T23:59:59.999999999"


def test_bad_utf8_in_parquet_is_a_bad_record(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="needs the extra `parquet`")

    texts = pyarrow.array([b"\xff.", b"fine", b"caf\xe9"], pyarrow.binary()).view(pyarrow.string())
    twins = pyarrow.StructArray.from_arrays([pyarrow.array([1, 2, None])] * 2, names=["n", "n"])
    path = parquet(tmp_path, {"question": texts, "twins": [None] * 3})
    assert lines(path) == [
        (1, "question: is not UTF-8 (byte 0xFF); save the file as UTF-8"),
        (2, "fine"),
        (3, "question: is not UTF-8 (byte 0xE9); save the file as UTF-8"),
    ]
    assert [example.question for example in Reading(path, skip_bad=True)] == ["fine"]
    found = lines(parquet(tmp_path, {"question": ["a", "b", "c"], "twins": twins}))
    assert found[0][1].startswith("twins: cannot be read as struct")


def test_a_parquet_column_twice_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="needs the extra `parquet`")
    import pyarrow.parquet

    table = pyarrow.table([["q"], ["a"], ["b"]], names=["question", "answer", "answer"])
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(UserError, match="the column answer appears twice"):
        lines(tmp_path / "a.parquet")


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_duplicate_keys_and_infinity_are_bad_records(tmp_path: Path, name: str) -> None:
    bad = [
        '{"question": "a", "question": "b"}',
        '{"question": "a", "answer": Infinity}',
        '{"question": "a", "x": 1e999}',
    ]
    records = ['{"question": "fine"}', *bad, '{"question": "a", "meta": {"x": 1, "x": 2}}']
    content = "\n".join(records) if name.endswith("l") else f"[{', '.join(records)}]"
    found = lines(written(tmp_path, name, content))
    assert [line for line, _ in found] == [1, 2, 3, 4, 5]
    assert [message.split(";")[0] for _, message in found] == [
        "fine",
        "has the key 'question' twice in one object",
        "holds Infinity, which is not valid JSON",
        "holds the number '1e999', which is too large",
        "has the key 'x' twice in one object",
    ]


def test_the_header_of_a_wide_table_takes_no_time(tmp_path: Path) -> None:
    names = ",".join(f"c{i}" for i in range(20_000))
    path = written(tmp_path, "a.csv", f"question,{names}\n" + "q" + ",1" * 20_000 + "\n")
    began = time.process_time()
    assert lines(path) == [(2, "q")]
    assert time.process_time() - began < 3  # 7 s where each name is compared with all


def test_a_line_without_an_end_is_not_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LONGEST_LINE", 100)
    path = written(tmp_path, "a.jsonl", '{"question": "q"}\n' + "x" * 200)
    with pytest.raises(UserError, match=r"a\.jsonl:2: is longer"):
        lines(path)


def test_an_id_cannot_forge_a_line_of_an_error(tmp_path: Path) -> None:
    path = written(
        tmp_path, "a.jsonl", '{"id": "1\\n\\u001b[2Jx.jsonl:7: fine", "question": "q"}\n' * 2
    )
    with pytest.raises(BadInput) as caught:
        list(Reading(path))
    assert (
        str(caught.value)
        == f'{path}:2: id: "1\\n\\x1b[2Jx.jsonl:7: fine" was already used in line 1'
    )


def test_parquet_that_unpacks_to_huge_texts_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = parquet(tmp_path, {"question": ["q" * 3000, *"rstuvwxyz"]})
    monkeypatch.setattr(arrow_records, "LONGEST_CELL", 2000)
    assert [line for line, message in lines(path) if len(message) == 1] == [*range(2, 11)]
    assert "question: cannot be read as string (is larger than the limit" in lines(path)[0][1]
    with pytest.raises(
        UserError, match=r"the column question unpacks to 0 MiB in 2 records, more than the limit"
    ):
        lines(parquet(tmp_path, {"question": ["q" * 9000, "r"]}))


def test_parquet_with_large_values_is_unpacked_few_records_at_a_time() -> None:
    """A GiB of values of 256 MiB each, if one takes all of its chunk; 16 MiB on average."""
    chunk = SimpleNamespace(total_uncompressed_size=1 << 28, path_in_schema="question")
    group = SimpleNamespace(num_rows=1000, num_columns=1, column=lambda _place: chunk)
    metadata = SimpleNamespace(num_row_groups=1, row_group=lambda _number: group)
    assert arrow_reader.batch_sizes(metadata, arrow_files.limits(1 << 26)) == (4, 62)


def test_a_column_that_pandas_wrote_twice_is_read_once(tmp_path: Path) -> None:
    """An index that has the name of a column, as that of Phoenix's spans."""
    path = tmp_path / "a.csv"
    path.write_text("id,question,answer,id\n1,q,a,1\n2,q,b,2\n")
    assert [(example.id, example.answer) for example in Reading(path).singles()] == [
        ("1", "a"),
        ("2", "b"),
    ]
    path.write_text("id,question,answer,id\n1,q,a,1\n2,q,b,3\n")
    with pytest.raises(UserError, match="the column id appears twice"):
        list(Reading(path).singles())
