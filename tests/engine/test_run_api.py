"""`longmark.run`: the same from a script, from a notebook's running loop and from threads."""

from __future__ import annotations

import asyncio
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.program import (
    FKGL,
    FRE,
    QR,
    ended,
    records,
    rows_of,
    run,
    server_process,
    start,
    until,
    write_jsonl,
)
from tests.wire import serve

import longmark
from longmark import Example
from longmark.errors import BadInput, FolderInUse, SettingsChanged, UnknownName, UserError

READABILITY = "score.readability"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("LONGMARK_API_KEY", raising=False)


def test_dicts_examples_and_a_file_are_the_same(tmp_path: Path):
    path = write_jsonl(tmp_path / "given.jsonl", records(3))
    read = [Example(**record) for record in records(3)]
    found = [
        [(row.example_id, row.question_id, row.metric, row.score) for row in result.rows()]
        for result in (
            longmark.run(records(3), READABILITY, out=tmp_path / "dicts"),
            longmark.run(
                (record for record in records(3)), [READABILITY], out=tmp_path / "generator"
            ),
            longmark.run(read, [FRE, FKGL], out=tmp_path / "examples"),
            longmark.run(path, READABILITY, out=str(tmp_path / "path")),
            longmark.run(str(path), f"{FRE},{FKGL}", out=tmp_path / "text"),
        )
    ]
    assert len(found[0]) == 6
    assert all(rows == found[0] for rows in found)


def test_the_result_says_what_was_done(tmp_path: Path):
    with serve(reply="80") as server:
        judge = f"m@{server.base_url}"
        result = longmark.run(records(4), QR, judges=judge, out=tmp_path / "r")
        assert (result.folder, result.stopped, result.unscored) == (tmp_path / "r", None, ())
        assert (result.counts.requests, result.counts.calls, result.counts.usd) == (4, 4, None)
        assert [row.score for row in result.rows()] == [0.8] * 4
        again = longmark.run(
            records(6), QR, judges=[judge], out=tmp_path / "r"
        )  # usable twice, and it goes on
        assert (again.counts.requests, again.changes.new, again.changes.kept_rows) == (2, 2, 4)
        assert len(list(again.rows())) == 6
        limited = longmark.run(records(9), QR, judges=judge, out=tmp_path / "r", max_calls=1)
        assert (limited.stopped, limited.counts.requests) == ("budget", 1)
        assert server.counts["requests"] == 7


def test_inside_a_running_event_loop(tmp_path: Path):
    with serve(reply="80") as server:
        ticks = 0

        async def notebook() -> list[float | None]:
            result = longmark.run(records(3), QR, judges=f"m@{server.base_url}", out=tmp_path / "r")
            with pytest.raises(UserError):
                longmark.run(records(3), "ccrs", out=tmp_path / "s")
            with pytest.raises(BadInput):
                longmark.run([{"question": 5}], READABILITY, out=tmp_path / "s")
            nonlocal ticks
            await asyncio.sleep(0)  # the loop is as it was
            ticks += 1
            again = longmark.run(records(4), QR, judges=f"m@{server.base_url}", out=tmp_path / "r")
            return [row.score for row in again.rows()] + [row.score for row in result.rows()]

        assert asyncio.run(notebook()) == [0.8] * 8
        assert ticks == 1
        assert server.counts["requests"] == 4


@pytest.mark.parametrize(
    ("changes", "error", "told"),
    [
        ({"metrics": "ccrs.question_relevence"}, UnknownName, "ccrs.question_relevance"),
        ({"metrics": []}, UserError, "no metric"),
        ({"metrics": QR}, UserError, "judge"),
        ({"metrics": QR, "judges": "gpt-4o"}, UserError, "BASE_URL"),
        ({"metrics": "score.readability@syllable=rule"}, UnknownName, "Did you mean syllables"),
        (
            {"metrics": "classic.rouge_1,climaqa.mcq@x=1"},
            UnknownName,
            "unknown parameter of climaqa.mcq: x",
        ),
        ({"scoring": "text-like"}, UnknownName, "scoring"),
        (
            {"max_call": 3},
            UnknownName,
            "unknown option of longmark.run: max_call. Did you mean max_calls",
        ),
        ({"retry": ["ok"]}, UnknownName, "retry"),
        ({"prompts": "nowhere"}, UserError, "nowhere"),
        ({"examples": [{"question": 5}]}, BadInput, "records:1: question: expected text, found 5"),
        ({"examples": [*records(1), *records(1)]}, BadInput, "already used"),
        ({"examples": [7]}, BadInput, "records:1"),
        ({"examples": "none.jsonl"}, UserError, "none.jsonl"),
        ({"mapping": {"answer": "reply"}}, UserError, "reply"),
    ],
)
def test_mistakes_are_user_errors_before_any_row(
    tmp_path: Path, changes: dict[str, Any], error: type[UserError], told: str
):
    given: dict[str, Any] = {"examples": records(1), "metrics": READABILITY, "out": tmp_path / "r"}
    with pytest.raises(error, match=told):
        longmark.run(**given | changes)
    assert not (tmp_path / "r").exists()


def test_no_examples_at_all_are_a_mistake_that_costs_no_rows(tmp_path: Path):
    given = iter(records(2))
    longmark.run(given, READABILITY, out=tmp_path / "r")
    with pytest.raises(UserError, match="no examples"):
        longmark.run(given, READABILITY, out=tmp_path / "r")  # a generator gives its records once
    assert len(rows_of(tmp_path / "r")) == 4
    with pytest.raises(UserError, match="no examples"):
        longmark.run([], READABILITY, out=tmp_path / "s")
    assert not (tmp_path / "s").exists()


def test_two_threads_work_at_once_in_two_folders_and_not_in_one(tmp_path: Path):
    with serve(latency=0.05) as server:
        found: dict[str, Any] = {}

        def work(name: str, out: str, begin: threading.Barrier) -> None:
            begin.wait()
            try:
                words: dict[str, Any] = {
                    "judges": f"m@{server.base_url}",
                    "cache": tmp_path / f"{out == 'same'}.sqlite",
                }
                result = longmark.run(records(30), QR, out=tmp_path / out, concurrency=4, **words)
                found[name] = [row.score for row in result.rows()]
            except UserError as error:
                found[name] = error

        for names in ({"a": "a", "b": "b"}, {"c": "same", "d": "same"}):
            begin = threading.Barrier(2)
            threads = [
                threading.Thread(target=work, args=(name, out, begin))
                for name, out in names.items()
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert found["a"] == found["b"]
        assert len(found["a"]) == 30
        done = [name for name in "cd" if isinstance(found[name], list)]
        refused = [name for name in "cd" if isinstance(found[name], FolderInUse)]
        assert len(done) == len(refused) == 1
        assert server.counts["unique"] == 30


def test_settings_of_a_folder_are_kept(tmp_path: Path):
    longmark.run(records(1), READABILITY, out=tmp_path / "r", seed=1)
    with pytest.raises(SettingsChanged, match="seed=: was 1, now 2"):
        longmark.run(records(1), READABILITY, out=tmp_path / "r", seed=2)


NOTEBOOK = """
import asyncio, signal, sys
import longmark
async def cell():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # as a kernel has it: not asyncio.run's own
    try:
        longmark.run(sys.argv[1], "ccrs.question_relevance", judges=sys.argv[2], out="out", concurrency=3)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    print(longmark.run(sys.argv[1], "ccrs.question_relevance", judges=sys.argv[2], out="out").counts.requests)
asyncio.run(cell())
"""


def test_an_interrupted_notebook_stops_and_the_same_cell_goes_on(tmp_path: Path):
    given = write_jsonl(tmp_path / "given.jsonl", records(6))
    with server_process("--force", "ok,ok,ok,hang,hang,hang") as server:
        process = start(
            "python", "-c", NOTEBOOK, given, f"m@{server.base_url}", home=tmp_path / "home"
        )
        until(lambda: server.counts()["requests"] == 6)
        process.send_signal(signal.SIGINT)
        done = ended(process)
    assert done.code == 0, done.err
    assert done.out.split() == ["interrupted", "3"]
    assert "Traceback" not in done.err
    assert len(rows_of(tmp_path / "out")) == 6


def test_a_script_that_was_interrupted_goes_on(tmp_path: Path):
    given = write_jsonl(tmp_path / "given.jsonl", records(6))
    script = "import sys, longmark; longmark.run(*sys.argv[1:3], judges=sys.argv[3], out='out', concurrency=3)"
    with server_process("--force", "ok,ok,ok,hang,hang,hang") as server:
        words: list[str | Path] = ["python", "-c", script, given, QR, f"m@{server.base_url}"]
        process = start(*words, home=tmp_path / "home")
        until(lambda: server.counts()["requests"] == 6)
        process.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in ended(process).err
        assert run(*words, home=tmp_path / "home").code == 0
        assert server.counts()["requests"] == 9
    assert len(rows_of(tmp_path / "out")) == 6
