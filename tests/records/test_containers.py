"""Files with a form of their own around their records: long JSON lists, .xlsx, Inspect's .eval, folders of data sets;
text in other encodings; paths in --map."""

from __future__ import annotations

import datetime
import json
import re
import struct
import subprocess
import sys
import zipfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmark.errors import BadInput, UnknownName, UserError
from longmark.records import Example, containers, sheets
from longmark.records.read import Reading
from longmark.records.table_titles import from_the_names

TOOLS = Path(__file__).parent / "tools"
NILE = {"question": "Where is the Nile?", "answer": "In Africa."}


def read(path: Any, **options: Any) -> list[Example]:
    return list(Reading(path, **options).singles())


# JSON -----------------------------------------------------------------------------------------------------------------
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.lists(VALUES, max_size=6), st.integers(1, 40), st.sampled_from([None, 1]), st.booleans())
@settings(max_examples=25, deadline=None)
def test_a_list_that_is_read_in_pieces_is_what_json_reads(
    values: list[Any], size: int, indent: int | None, ascii_: bool
) -> None:
    path = Path(TOOLS.parent / "none.json")
    text = json.dumps(values, indent=indent, ensure_ascii=ascii_)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(containers, "_READ", size)
        patched.setattr(containers, "opened", lambda _path: OpenedText(text))
        assert list(containers.of_json(path, "utf-8")) == json.loads(text)


class OpenedText:
    """Stands for an open file."""

    def __init__(self, text: str) -> None:
        import io

        self._file = io.BytesIO(text.encode("utf-8", "surrogatepass"))

    def __enter__(self) -> Any:
        return self._file

    def __exit__(self, *_error: object) -> None:
        pass


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"question": "a"} {"question": "b"}]', "a comma is missing"),
        ('[{"question": "a"}, ', "the list does not end"),
        ('[{"question": "a"}] x', "text after the end"),
        ('[{"question": "a"},]', "is not JSON"),
        ('[{"question": a}]', "is not JSON: Expecting value: 'a}]'"),
    ],
)
def test_a_broken_list_says_how(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(content, "utf-8")
    with pytest.raises(UserError, match=message):
        read(path)


def test_a_record_of_a_list_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "LONGEST_LINE", 100)
    monkeypatch.setattr(containers, "_READ", 10)
    (tmp_path / "a.json").write_text(json.dumps([NILE | {"answer": "x" * 500}]), "utf-8")
    with pytest.raises(UserError, match="a record that is longer than the limit"):
        read(tmp_path / "a.json")


# Encodings ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "shift_jis"])
@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv"])
def test_a_file_in_another_encoding_is_read_if_it_is_named(
    tmp_path: Path, encoding: str, suffix: str
) -> None:
    question = "日本語の質問" if encoding == "shift_jis" else "Où est la rivière ?"
    path = tmp_path / f"a.{suffix}"
    line = json.dumps({"question": question}, ensure_ascii=False)
    path.write_bytes(
        {"jsonl": f"{line}\n", "json": f"[{line}]", "csv": f"question\n{question}\n"}[
            suffix
        ].encode(encoding)
    )
    assert [one.question for one in read(path, encoding=encoding)] == [question]
    with pytest.raises(UserError, match="add encoding="):
        read(path)


def test_the_error_of_a_file_that_is_not_utf_8_names_once_what_it_looks_like(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("question,answer\nà côté,été\nforêt,où ça\n".encode("cp1252"))
    with pytest.raises(
        BadInput, match=r"it looks like cp1252 or cp125\d: add encoding='cp1252'"
    ) as caught:
        read(path)
    assert str(caught.value).count("encoding=") == 1
    path.write_bytes("question,answer\nà côté,été\n".encode("cp1252"))
    with pytest.raises(BadInput, match=r"all records are bad.*\n.*\n.*encoding='cp1252'"):
        read(path, skip_bad=True)
    path.write_bytes("question\nГде находится река Нил?\n".encode("cp1251"))
    with pytest.raises(BadInput, match="add encoding='cp1251'"):
        read(path)
    with pytest.raises(UnknownName, match=r"unknown encoding: cp1225\. Did you mean cp125"):
        read(path, encoding="cp1225")


# Paths ----------------------------------------------------------------------------------------------------------------
RECORD = {
    "title": "Rivers",
    "input": {"messages": [{"content": "Hi"}, {"content": "Where is the Nile?"}]},
    "n": 3,
}


def test_a_mapping_may_be_a_path_and_several_columns() -> None:
    (one,) = read(
        [RECORD],
        mapping={
            "question": "title,input.messages[-1].content",
            "id": "title,n",
            "answer": "title",
        },
    )
    assert (one.question, one.id, one.answer) == (
        "Rivers\n\nWhere is the Nile?",
        "Rivers/3",
        "Rivers",
    )
    (one,) = read(
        [{"q": "x", "one": ["p"], "two": "r"}], mapping={"question": "q", "contexts": "one,two"}
    )
    assert [passage.text for passage in one.contexts] == ["p", "r"]


def test_a_path_looks_into_json_in_a_cell(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('title,input\nx,"{""messages"": [{""content"": ""Why?""}]}"\n', "utf-8")
    assert [
        one.question for one in read(path, mapping={"question": "input.messages[0].content"})
    ] == ["Why?"]


def test_a_column_of_that_very_name_comes_first() -> None:
    (one,) = read(
        [{"a.b": "column", "a": {"b": "path"}, "x,y": "both"}],
        mapping={"question": "a.b", "answer": "x,y"},
    )
    assert (one.question, one.answer) == ("column", "both")


def test_a_path_that_no_record_has_is_named_once_with_the_nearest() -> None:
    with pytest.raises(
        UserError, match=r"has the column input\.mesages\[-1\]\.content \(near: input\.messages"
    ) as caught:
        read(
            [RECORD] * 3,
            mapping={"question": "input.mesages[-1].content", "answer": "title"},
            skip_bad=True,
        )
    assert str(caught.value).count("mesages") == 1
    with pytest.raises(
        UserError,
        match=r"the column input\.text \(near: input\), n\[\?; the columns are title, input, n",
    ):
        read([RECORD], mapping={"question": "title,input.text", "answer": "n[?"}, skip_bad=True)


def test_a_chat_is_read_by_the_functions_of_paths() -> None:
    chat = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "So."}]
    mapping = {"question": "question(messages)", "answer": "answer(messages)"}
    (one,) = read([{"messages": chat, "lang": "en"}], mapping=mapping)
    assert (one.question, one.answer, one.meta["lang"]) == ("Why?", "So.", "en")


def test_a_mapping_replaces_what_a_shape_reads() -> None:
    (one, _) = read(
        TOOLS / "langfuse.json", mapping={"references": "name", "system": "environment,name"}
    )
    assert (one.references, one.system, one.answer) == (("ask",), "production/ask", "In Africa.")


# Other files ----------------------------------------------------------------------------------------------------------
def sheet(path: Path, rows: list[list[Any]], before: list[list[Any]] | None = None) -> None:
    """A minimal .xlsx file: texts, numbers, and dates as days since 1899-12-30. before: another sheet, the first."""

    def cell(value: Any) -> str:
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
        style = ' s="1"' if isinstance(value, datetime.date) else ""
        number = (value - datetime.date(1899, 12, 30)).days if style else value
        return "<c/>" if value is None else f"<c{style}><v>{number}</v></c>"

    base = "http://schemas.openxmlformats.org"
    main, office = (
        f'xmlns="{base}/spreadsheetml/2006/main"',
        f"{base}/officeDocument/2006/relationships",
    )
    head = f'<Relationships xmlns="{base}/package/2006/relationships">'

    def link(name: str, kind: str, target: str) -> str:
        return f'<Relationship Id="{name}" Type="{office}/{kind}" Target="{target}"/>'

    first = "" if before is None else '<sheet name="B" sheetId="2" r:id="d"/>'
    sheets = f'<sheets>{first}<sheet name="A" sheetId="1" r:id="b"/></sheets>'
    styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
    parts = link("b", "worksheet", "worksheets/a.xml") + link("c", "styles", "styles.xml")
    parts += "" if before is None else link("d", "worksheet", "worksheets/b.xml")
    members = {"a": rows} | ({} if before is None else {"b": before})
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(
            "_rels/.rels", f"{head}{link('a', 'officeDocument', 'xl/workbook.xml')}</Relationships>"
        )
        file.writestr("xl/workbook.xml", f'<workbook {main} xmlns:r="{office}">{sheets}</workbook>')
        file.writestr("xl/_rels/workbook.xml.rels", f"{head}{parts}</Relationships>")
        file.writestr("xl/styles.xml", f"<styleSheet {main}>{styles}</styleSheet>")
        for name, member in members.items():
            body = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in member)
            file.writestr(
                f"xl/worksheets/{name}.xml",
                f"<worksheet {main}><sheetData>{body}</sheetData></worksheet>",
            )


def test_a_sheet_is_read_like_cells(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        ["id", "question", "answer", "contexts", "day"],
        [7, "Where?", "In Africa.", '["a", "b"]', datetime.date(2026, 11, 2)],
    ]
    sheet(tmp_path / "a.xlsx", [*rows, [8, "Why?", None, "one", None]])
    one, two = read(tmp_path / "a.xlsx")
    assert (one.id, one.answer, [passage.text for passage in one.contexts]) == (
        "7",
        "In Africa.",
        ["a", "b"],
    )
    assert one.meta == {"day": "2026-11-02"}
    assert (two.answer, len(two.contexts)) == (None, 1)


NAMES, TEXTS = ["question", "answer"], ["Where?", "In Africa."]


@pytest.mark.parametrize(
    ("rows", "before"),
    [
        ([["Answers of the pilot", None], [None, None], NAMES, TEXTS], None),
        ([["Pilot", None], ["by Ada", None], NAMES, TEXTS], None),
        ([NAMES, TEXTS], [["Read me first"], ["By Ada, in May"]]),
        ([["Pilot", None], NAMES, TEXTS], [["Version", "2"]]),
    ],
)
def test_titles_above_a_table_and_a_sheet_of_remarks_before_it_are_no_columns(
    tmp_path: Path, rows: list[list[Any]], before: list[list[Any]] | None
) -> None:
    sheet(tmp_path / "a.xlsx", rows, before)
    (example,) = read(tmp_path / "a.xlsx")
    assert (example.question, example.answer) == ("Where?", "In Africa.")


ROWS_OF_A_SHEET = st.lists(
    st.lists(st.sampled_from(["", "x", "question", "In Africa."]), min_size=1, max_size=3),
    max_size=8,
)


@given(ROWS_OF_A_SHEET)
def test_of_a_sheet_nothing_is_left_out_but_titles(rows: list[list[str]]) -> None:
    from_names = [row for _, row in from_the_names(iter(list(enumerate(rows))))]
    filled = [row for row in rows if any(row)]
    left_out = filled[: len(filled) - len([row for row in from_names if any(row)])]
    assert filled == [*left_out, *(row for row in from_names if any(row))]
    assert all(sum(map(bool, row)) == 1 and "question" not in row for row in left_out)
    assert len(left_out) <= 5
    assert not left_out or sum(map(bool, from_names[0])) > 1


def test_a_single_column_without_a_known_name_keeps_its_first_row_as_the_name() -> None:
    rows = [(1, ["text"]), (2, ["a b"]), (3, ["c d"])]
    assert list(from_the_names(iter(rows))) == rows
    index = [(1, ["", "text"]), (2, ["0", "a b"]), (3, ["1", "c d"])]
    assert list(from_the_names(iter(index))) == index, (
        "an index without a name, as pandas writes it"
    )


def test_a_folder_of_files_says_how_they_are_compared(tmp_path: Path) -> None:
    for name in ("alder.json", "birch.json", "notes.txt"):
        (tmp_path / name).write_text('[{"question": "Why?", "answer": "So."}]')
    with pytest.raises(UserError) as refused:
        read(tmp_path)
    assert str(refused.value) == (
        f"{tmp_path} is a folder of 2 files, and one is read at a time: alder.json, birch.json. If each has the answers "
        "of one system, score each into a run of its own, whose name is then the system's, and compare the runs"
    )


def test_an_error_of_a_sheet_is_a_bad_record_that_names_it(tmp_path: Path) -> None:
    error, formula = '<c t="e"><f>A9</f><v>#REF!</v></c>', "<c><f>A9</f></c>"
    rows: list[list[Any]] = [
        ["id", "question", "answer"],
        ["q1", "Where?", "Here."],
        ["q2", "Where?", None],
        ["q3", "Why?", None],
    ]
    sheet(tmp_path / "a.xlsx", rows)
    with zipfile.ZipFile(tmp_path / "a.xlsx") as file:
        members = {name: file.read(name) for name in file.namelist()}
    body = (
        members["xl/worksheets/a.xml"]
        .decode()
        .replace("<c/>", error, 1)
        .replace("<c/>", formula, 1)
    )
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as file:
        for name, content in members.items():
            file.writestr(name, body if name.endswith("a.xml") else content)
    with pytest.raises(BadInput) as wrong:
        read(tmp_path / "a.xlsx")
    assert [line.partition("a.xlsx:")[2] for line in wrong.value.lines] == [
        "3: answer: holds the error #REF!",
        "4: answer: holds a formula without a stored value; open and save the file",
    ]


def test_a_sheet_with_too_many_cells_is_refused_before_they_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longmark.records.sheets.MOST_CELLS", 10)
    sheet(tmp_path / "a.xlsx", [["question", "answer"], *(["Why?", "So."] for _ in range(5))])
    with pytest.raises(
        UserError, match="6 rows of 2 columns, more than 10 cells; delete empty rows"
    ):
        read(tmp_path / "a.xlsx")


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (
            "import os; os.abort()",
            "its reader ended with SIGABRT. The file is damaged or too large",
        ),
        ("raise SystemExit(9)", "its reader ended with the exit code 9. Save the file again"),
        (
            "import sys; print('no such sheet', file=sys.stderr); raise SystemExit(3)",
            "cannot be read as .xlsx: no such",
        ),
    ],
)
def test_what_ends_the_reader_of_a_sheet_is_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, why: str
) -> None:
    (tmp_path / "reader.py").write_text(program)
    monkeypatch.setattr("longmark.records.sheet_reader.__file__", str(tmp_path / "reader.py"))
    sheet(tmp_path / "a.xlsx", [["question", "answer"], ["Why?", "So."]])
    with pytest.raises(UserError, match=re.escape(why)):
        read(tmp_path / "a.xlsx")


def test_a_sheet_that_is_not_read_to_its_end_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[str]] = []
    begin = subprocess.Popen

    def recorded(*args: Any, **options: Any) -> subprocess.Popen[str]:
        started.append(begin(*args, **options))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", recorded)
    sheet(
        tmp_path / "a.xlsx",
        [["question", "answer"], *([f"Why {i}?", "So."] for i in range(20_000))],
    )
    rows = sheets.rows_of(tmp_path / "a.xlsx")
    assert isinstance(rows, Generator)
    next(rows)
    rows.close()
    assert [child.returncode for child in started] == [-9]


@pytest.mark.parametrize("suffix", ["xlsx", "eval", "arrow"])
@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"question,answer\n", b"\x00" * 100])
def test_a_damaged_file_is_named(tmp_path: Path, suffix: str, content: bytes) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(content)
    with pytest.raises(UserError, match=rf"a\.{suffix}"):
        read(path)


def zstandard(path: Path) -> None:
    """Compresses the members of a ZIP file by Zstandard, as Inspect does."""
    pyarrow = pytest.importorskip("pyarrow")
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, pyarrow.compress(content, "zstd", asbytes=True))
    raw = bytearray(path.read_bytes())
    for mark, method in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = raw.find(mark)
        while at >= 0:
            struct.pack_into("<H", raw, at + method, 93)
            at = raw.find(mark, at + 4)
    path.write_bytes(raw)


@pytest.mark.parametrize("packed", [False, True])
def test_an_inspect_log_of_samples_in_a_zip_file_is_read_as_its_json(
    tmp_path: Path, packed: bool
) -> None:
    log = json.loads((TOOLS / "inspect.json").read_text("utf-8"))
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for number, sample in enumerate(log.pop("samples")):
            file.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample))
        file.writestr("header.json", json.dumps(log))
    if packed:
        zstandard(path)
    assert read(path) == read(TOOLS / "inspect.json")


def test_an_inspect_sample_that_failed_has_no_answer() -> None:
    sample = json.loads((TOOLS / "inspect.json").read_text("utf-8"))["samples"][0]
    failed = sample | {
        "output": {"model": "m", "choices": [], "completion": ""},
        "error": {"message": "no"},
        "log": {},
    }
    (one,) = read([failed])
    assert (one.answer, one.meta["error"]) == (None, "no")


def test_a_folder_of_a_data_set_is_read(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.Table.from_pylist([NILE | {"id": str(number)} for number in range(300)])
    saved = tmp_path / "saved" / "test"
    saved.mkdir(parents=True)
    with (
        pyarrow.OSFile(str(saved / "data-00000-of-00001.arrow"), "wb") as file,
        pyarrow.ipc.new_stream(file, table.schema) as out,
    ):
        out.write_table(table)
    (tmp_path / "saved" / "dataset_dict.json").write_text('{"splits": ["test"]}', "utf-8")
    with pytest.raises(UserError, match=r"has several splits; name one: .*saved/test"):
        read(tmp_path / "saved")
    for number in (1, 2):
        part = tmp_path / "files" / f"part-{number}.parquet"
        part.parent.mkdir(exist_ok=True)
        parquet.write_table(table.slice((number - 1) * 150, 150), part)
    assert (
        [one.id for one in read(saved)]
        == [one.id for one in read(tmp_path / "files")]
        == [str(n) for n in range(300)]
    )
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"empty is a folder without \.arrow or \.parquet files"):
        read(tmp_path / "empty")
    with pytest.raises(UserError, match="dict is no list; choose one of train, test"):
        Reading({"train": [NILE], "test": [NILE]})


@pytest.mark.slow
@pytest.mark.skipif(
    not Path("/proc/self/status").exists(),
    reason="the greatest memory of a process is read in /proc",
)
def test_two_gigabytes_are_read_within_200_megabytes(tmp_path: Path) -> None:
    record = json.loads((TOOLS / "langfuse.json").read_text("utf-8"))[0] | {
        "metadata": {"text": "x" * 100_000}
    }
    line = json.dumps(record).replace(record["id"], "{}", 1)
    path = tmp_path / "a.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(2 * 10**9 // len(line)):
            file.write(line.replace("{}", f"{number:032x}", 1) + "\n")
    code = (
        "import sys; from longmark.records.read import Reading; n = sum(1 for _ in Reading(sys.argv[1]));"
        "print(n, next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    # not ru_maxrss: a process begins with that of the one that started it
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    count, kilobytes = map(int, done.stdout.split())
    assert count == 2 * 10**9 // len(line)
    assert kilobytes < 200 * 1024


def test_a_table_that_pandas_wrote_by_columns_and_rows_is_read(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    table = {"columns": ["question", "answer"], "index": [0, 1], "data": [["q", "a"], ["r", None]]}
    path.write_text(json.dumps(table))
    examples = [(example.question, example.answer) for example in Reading(path).singles()]
    assert examples == [("q", "a"), ("r", None)]


@pytest.mark.parametrize(
    "table",
    [
        {"columns": ["question"], "data": [["q", "too many"]]},
        {"columns": ["question", "question"], "data": [["q", "q"]]},
        {"columns": [], "data": []},
        {"columns": ["question"], "data": "q"},
        {"columns": [1], "data": [["q"]]},
    ],
)
def test_what_is_no_table_by_columns_and_rows_is_refused(table: Any, tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text(json.dumps(table))
    with pytest.raises(UserError):
        list(Reading(path))
