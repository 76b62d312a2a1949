"""What breaks around a run: its folder's index, the terminal, the start itself. None of it is a bug of a metric."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from tests.program import FRE, ended, names_in, records, rows_of, run, start, until, write_jsonl

import longmark
from longmark.engine.folder import RunFolder
from longmark.errors import UserError


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))


def test_an_index_that_cannot_grow_is_a_message_and_the_run_goes_on_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """SQLite itself says that the disk is full: the file may have no page more than the examples took."""
    adopt = RunFolder.adopt

    def adopt_and_fill(folder: RunFolder, *, removed_count: bool) -> object:
        changes = adopt(folder, removed_count=removed_count)
        pages = folder._db.execute("PRAGMA page_count").fetchone()[0]
        folder._db.execute(f"PRAGMA max_page_count = {pages}")
        return changes

    with monkeypatch.context() as full:
        full.setattr(RunFolder, "adopt", adopt_and_fill)
        with pytest.raises(UserError, match="full"):
            longmark.run(records(500), FRE, out=tmp_path / "r")
    longmark.run(records(500), FRE, out=tmp_path / "r")
    assert [row.example_id for row in rows_of(tmp_path / "r")] == [str(i) for i in range(500)]


def test_a_run_that_could_not_begin_leaves_its_folder_free(tmp_path: Path):
    """Also while its error is still held, as a notebook holds the last one."""
    (tmp_path / "r" / ".index.sqlite").mkdir(parents=True)
    with pytest.raises(UserError, match="cannot be written") as held:
        longmark.run(records(3), FRE, out=tmp_path / "r")
    (tmp_path / "r" / ".index.sqlite").rmdir()
    longmark.run(records(3), FRE, out=tmp_path / "r")
    assert len(rows_of(tmp_path / "r")) == 3
    assert held.value


def test_a_terminal_that_is_gone_does_not_end_the_run(tmp_path: Path):
    given = write_jsonl(tmp_path / "given.jsonl", records(20))
    reading, writing = os.pipe()
    os.close(reading)
    try:
        words: list[str | Path] = ["run", given, "--metrics", FRE, "--out", tmp_path / "r"]
        done = ended(start(*words, home=tmp_path / "home", stderr=writing))
    finally:
        os.close(writing)
    assert done.code == 0
    assert len(rows_of(tmp_path / "r")) == 20


def test_of_several_that_begin_a_folder_at_once_one_works_and_the_others_are_told(tmp_path: Path):
    """Some of them with bad input, for which a folder that was just made is taken away again."""
    good = write_jsonl(tmp_path / "good.jsonl", records(20))
    bad = write_jsonl(tmp_path / "bad.jsonl", [{"id": "1", "question": "?", "answer": 3}])
    for round_ in range(2):
        out = tmp_path / f"r{round_}"
        words: list[str | Path] = ["--metrics", FRE, "--out", out, "--quiet"]
        several = [
            start("run", given, *words, home=tmp_path / "home") for given in (good, bad, good, bad)
        ]
        done = [ended(process) for process in several]
        assert {one.code for one in done} <= {0, 2}
        told = [one.err for one in done if one.code == 2]
        others = [text for text in told if "in use" not in text and "expected text" not in text]
        assert not others
        again = run("run", good, *words, home=tmp_path / "home")
        assert again.code == 0, again.err
        assert len(rows_of(out)) == 20
        assert names_in(out) == ["examples.jsonl", "manifest.json", "rows.jsonl"]


def test_ctrl_c_while_nothing_waits_for_a_call(tmp_path: Path):
    """A metric that is computed here never gives the event loop a turn by itself."""
    n = 8_000
    given = write_jsonl(tmp_path / "given.jsonl", records(n))
    words: list[str | Path] = ["run", given, "--metrics", FRE, "--out", tmp_path / "r", "--quiet"]
    process = start(*words, home=tmp_path / "home")
    rows = tmp_path / "r" / "rows.jsonl"
    until(lambda: rows.exists() and rows.stat().st_size)
    process.send_signal(signal.SIGINT)
    done = ended(process)
    assert (done.code, "Stopping" in done.err) == (130, True), done.err
    assert 0 < len(rows_of(tmp_path / "r")) < n
    assert run(*words, home=tmp_path / "home").code == 0
    assert [row.example_id for row in rows_of(tmp_path / "r")] == [str(i) for i in range(n)]


ODD = """
from longmark.metric import Metric, Score

async def score(example, models, params):
    kind = example.id
    if kind == "1":
        return {}["missing"]
    if kind == "2":
        return Score(float("nan"))
    if kind == "3":
        return 0.5
    if kind == "4":
        return Score(0.5, {"set": object()})
    if kind == "5":
        return {"other": Score(1.0)}
    if kind == "6":
        open("/no/such/file")
    return Score(0.5)

METRIC = Metric(score, needs=("answer",), bounds=(0.0, 1.0))
"""


def test_a_metric_whose_code_fails_leaves_a_row_that_says_so_and_all_others_are_scored(
    tmp_path: Path,
):
    """Without a docstring, too: the file stands outside the package, so none is looked for there."""
    (tmp_path / "odd.py").write_text(ODD)
    given = write_jsonl(tmp_path / "given.jsonl", records(8))
    done = run(
        "run", given, "--metrics", f"odd.py,{FRE}", "--out", "r", "--quiet", home=tmp_path / "home"
    )
    assert done.code == 1, done.err
    assert (
        "longmark: odd: its code failed on 6 examples; the first: odd failed: KeyError: 'missing' (odd.py:7)"
        in (done.err)
    )
    assert "Traceback" not in done.err
    reasons = {
        row.example_id: row.reason or "" for row in rows_of(tmp_path / "r") if row.metric == "odd"
    }
    expected = (
        "KeyError: 'missing'",
        "ValueError: score",
        "AttributeError",
        "TypeError",
        "KeyError: 'odd'",
    )
    for number, words in enumerate((*expected, "FileNotFoundError"), 1):
        assert reasons.pop(str(number)).startswith(f"odd failed: {words}")
    assert set(reasons.values()) == {""}
    assert [row.status for row in rows_of(tmp_path / "r") if row.metric == FRE] == ["ok"] * 8


SLOW = """
import time
from pathlib import Path
from longmark.metric import Metric, Score

async def score(example, models, params):
    if example.id != "0":
        Path("computing").touch()
        end = time.monotonic() + 600
        while time.monotonic() < end:
            sum(range(1000))
    return Score(0.5)

METRIC = Metric(score, needs=("answer",), bounds=(0.0, 1.0))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_a_metric_that_computes_and_no_row_is_torn(
    tmp_path: Path, number: signal.Signals
):
    (tmp_path / "slow.py").write_text(SLOW)
    given = write_jsonl(tmp_path / "given.jsonl", records(200))
    process = start(
        "run", given, "--metrics", "slow.py", "--out", "r", "--quiet", home=tmp_path / "home"
    )
    until((tmp_path / "computing").exists)
    process.send_signal(number)
    done = ended(process)
    assert (done.code, "Stopping" in done.err) == (130, True), done.err
    assert [(row.example_id, row.score) for row in rows_of(tmp_path / "r")] == [("0", 0.5)]
    assert names_in(tmp_path / "r") == ["examples.jsonl", "manifest.json", "rows.jsonl"]


def test_a_second_signal_ends_a_metric_that_swallows_errors(tmp_path: Path):
    stubborn = "            try:\n                sum(range(1000))\n            except Exception:\n                pass\n"
    (tmp_path / "slow.py").write_text(SLOW.replace("            sum(range(1000))\n", stubborn))
    given = write_jsonl(tmp_path / "given.jsonl", records(3))
    process = start(
        "run", given, "--metrics", "slow.py", "--out", "r", "--quiet", home=tmp_path / "home"
    )
    until((tmp_path / "computing").exists)
    process.send_signal(signal.SIGINT)
    time.sleep(0.2)  # two at once would be heard as one
    process.send_signal(signal.SIGINT)
    done = ended(process)
    assert (done.code, "Traceback" in done.err) == (130, False), done.err
    assert [row.example_id for row in rows_of(tmp_path / "r")] == ["0"]


def test_ctrl_c_while_the_examples_are_read(tmp_path: Path):
    given = write_jsonl(tmp_path / "given.jsonl", records(50_000))
    words: list[str | Path] = ["run", given, "--metrics", FRE, "--out", tmp_path / "r", "--quiet"]
    process = start(*words, home=tmp_path / "home")
    until((tmp_path / "r" / ".examples.jsonl.new").exists)
    process.send_signal(signal.SIGINT)
    done = ended(process)
    assert done.code == 130, done.err
    assert not (tmp_path / "r").exists()  # nothing had begun
