"""A file of examples that several readers of one command share."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.program import records, run, write_jsonl

from longmark.errors import UserError
from longmark.records import kept
from longmark.records.kept import KeptFile
from longmark.records.read import Reading


@pytest.fixture
def opens(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The name of the data file, once for each time that it was opened."""
    names: list[str] = []
    unwatched = Path.open

    def watched(self: Path, *words: object, **settings: object) -> object:
        names.extend([self.name] * (self.name == "a.jsonl"))
        return unwatched(self, *words, **settings)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", watched)
    return names


def readings(path: Path, opens: list[str]) -> int:
    """How often one reading opens a file: for a look at its encoding, and for its records."""
    opens.clear()
    list(Reading(path))
    once = len(opens)
    opens.clear()
    return once


def test_a_run_with_clusters_slices_and_a_gate_reads_its_input_once(
    tmp_path: Path, opens: list[str]
):
    write_jsonl(
        tmp_path / "a.jsonl", [dict(one, lang="en", doc=i % 3) for i, one in enumerate(records(8))]
    )
    once = readings(tmp_path / "a.jsonl", opens)
    words = ("run", "a.jsonl", "--metrics", "classic.length.words", "--out", "out", "--quiet")
    more = ("--cluster", "doc", "--by", "lang", "--fail-under", "mean(classic.length.words)>=0")
    done = run(*words, *more, home=tmp_path / "home", cwd=tmp_path)
    assert done.code in (0, 3), done.err
    assert (len(opens), once) == (2, 2)
    opens.clear()
    done = run(*words, *more, "--dry-run", home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, len(opens)) == (0, once), done.err


def test_the_second_reader_sees_what_the_first_saw_and_the_rest(tmp_path: Path, opens: list[str]):
    path = write_jsonl(tmp_path / "a.jsonl", records(5))
    file = KeptFile(path)
    first = next(iter(Reading(file)))
    path.write_text("no JSON", "utf-8")  # it is open: what the first reader began is read on
    again = [example.id for example in Reading(file)]
    assert again == ["0", "1", "2", "3", "4"] == [example.id for example in Reading(file)]
    assert first.id == "0"


def test_a_reader_may_change_its_records(tmp_path: Path):
    file = KeptFile(write_jsonl(tmp_path / "a.jsonl", records(2)))

    def read() -> list[tuple[int, dict[str, str]]]:
        return list(file.records("", lambda: iter([(1, {"a": "x"}), (2, {"a": "y"})])))

    for _line, record in read():
        record["a"] = "changed"
    assert read() == [(1, {"a": "x"}), (2, {"a": "y"})]


def test_an_error_of_the_file_comes_to_every_reader_at_its_place(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        b'{"question": "a", "answer": "b"}\n' + '{"question": "ä"}\n'.encode("latin-1")
    )
    file = KeptFile(path)
    messages = set()
    for _ in range(2):
        with pytest.raises(UserError) as caught:
            list(Reading(file))
        messages.add(str(caught.value))
    with pytest.raises(UserError) as caught:
        list(Reading(path))
    assert messages == {str(caught.value)}


def test_a_file_that_would_fill_the_memory_is_read_again(
    tmp_path: Path, opens: list[str], monkeypatch: pytest.MonkeyPatch
):
    path = write_jsonl(tmp_path / "a.jsonl", records(5))
    monkeypatch.setattr(kept, "LARGEST", 10)
    file = KeptFile(path)
    once = readings(path, opens)
    assert [len(list(Reading(file))) for _ in range(2)] == [5, 5]
    assert len(opens) == 2 * once
