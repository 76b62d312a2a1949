"""`longmark init` on files as people have them: it writes a file that runs, or says what is wrong with theirs and leaves
nothing behind."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.program import in_process
from tests.records.test_containers import sheet

NESTED = '{"q": {"a": {"text": "Why is it so?"}}, "r": {"b": "It is so."}}\n'
READ: dict[str, bytes] = {
    "bom.csv": "\ufeffquestion;answer\nWhy?;It is so.\n".encode(),
    "one column.csv": b"answer\nIt is so.\nIt is not so.\n",
    "one.jsonl": b'{"answer": "It is so."}',
    "tabs.tsv": b"question\tanswer\r\nWhy?\tIt is so.\r\n",
    "a list.json": b'[{"question": "Why?", "answer": "It is so."}]',
    "some bad.jsonl": b'{"question": "Why?", "answer": "It is so."}\n7\n',
}
REFUSED: dict[str, tuple[bytes, str]] = {
    "empty.jsonl": (b"", "empty.jsonl is empty"),
    "blank.jsonl": (b"\n\n", "has no records"),
    "head.csv": (b"question,answer\n", "has no records"),
    "one.csv": (
        b"text\nIt is so.\n",
        "(found text); name the columns with (COLUMN stands for one of them):",
    ),
    "nested.jsonl": (NESTED.encode(), "(found q, r; in them q.a, q.a.text, r.b); name the columns"),
    "broken.jsonl": (b'{"question": "Why?", \n', "broken.jsonl:1: is not JSON"),
    "numbers.json": (b"[1, 2]", "expected an object with named fields, found 1"),
    "text.json": (b'"x"', "expected a list of records"),
    "latin.csv": ("question,answer\nWarum?,Es fällt.\n".encode("cp1252"), "--encoding cp1252"),
    "twice.csv": (b"answer,answer\nSo.,No.\n", "the column answer appears twice"),
    "question.jsonl": (b'{"question": "Why?"}\n', "no metric has all that it needs"),
    "noise.xlsx": (bytes(range(256)) * 9, "noise.xlsx is damaged"),
    "noise.csv": (bytes(range(256)) * 9, "noise.csv"),
    "letter.docx": (b"x", "the suffix must be one of"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", READ)
def test_what_can_be_read_gets_a_file_that_runs(name: str) -> None:
    Path(name).write_bytes(READ[name])
    assert in_process(["init", name]) == 0
    assert in_process(["run", "first", "--quiet"]) == 0


def test_a_spreadsheet_gets_a_file_that_runs() -> None:
    rows = [["Question", "Answer", "System"], ["Why?", "It is so.", "a"], ["How?", "So.", "b"]]
    sheet(Path("answers.xlsx"), rows)
    assert in_process(["init", "answers.xlsx"]) == 0
    assert in_process(["run", "first", "--quiet"]) == 0


def refused(name: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert in_process(["init", name]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert name in captured.err
    assert "Traceback" not in captured.err
    assert len(captured.err.splitlines()) < 6, "no more than a reader reads"
    assert captured.out == ""
    assert not Path("longmark.yaml").exists()
    assert not Path("longmark.schema.json").exists()


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_with_what_is_wrong(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    content, message = REFUSED[name]
    Path(name).write_bytes(content)
    refused(name, message, capsys)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda name: None, "does not exist"),
        (os.mkdir, "is a folder without"),
        (os.mkfifo, "is a pipe or a device"),
        (lambda name: os.symlink("nowhere.csv", name), "is a link that leads to no file"),
    ],
)
def test_what_is_no_file_is_refused(
    make: Callable[[str], None], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make("odd.csv")
    refused("odd.csv", message, capsys)


@pytest.mark.parametrize("verb", ["init", "look", "run"])
def test_where_every_record_is_bad_nobody_is_told_to_skip_them(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.jsonl").write_text('7\n{"question": 1}\n', "utf-8")
    assert in_process([verb, "bad.jsonl"]) == 2
    err = capsys.readouterr().err
    assert "bad.jsonl: all records are bad (2 of 2)" in err
    assert "--skip-bad" not in err
