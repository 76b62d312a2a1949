"""kill -9 at random moments, the same command again until it ends: nothing lost, nothing doubled, little paid twice."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import pytest
from tests.program import (
    QR,
    ended,
    judged,
    manifest_of,
    names_in,
    records,
    rows_of,
    run,
    server_process,
    start,
    until,
    write_jsonl,
)

import longmark
from longmark.records import STATUSES
from longmark.records.pair import example_of

CONCURRENCY = 8
READABILITY = "score.readability"


def values_of(folder: Path) -> dict[tuple[str, str], tuple[float | None, str]]:
    return {(row.example_id, row.metric): (row.score, row.status) for row in rows_of(folder)}


@pytest.mark.parametrize("kills", [5, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_at_random_moments_and_run_again_until_it_ends(tmp_path: Path, kills: int):
    # 8 calls at once of 40 ms each are 200 a second: an undisturbed run works for about 0.2 s a kill
    given = write_jsonl(tmp_path / "given.jsonl", records(40 * kills))
    with server_process("--latency", "0.04") as server:

        def command(out: str) -> list[str | Path]:
            judge = f"m@{server.base_url}"
            chosen = [
                "--metrics",
                f"{QR},{READABILITY}",
                "--judge",
                judge,
                "--concurrency",
                str(CONCURRENCY),
            ]
            return ["run", given, *chosen, "--out", tmp_path / out]

        moments = random.Random(20260713)
        folder, done = tmp_path / "killed", 0
        under_way = 0
        before = server.counts()["requests"]
        for _ in range(kills):
            process = start(*command("killed"), home=tmp_path / "home")
            # a third of the kills comes while it starts and reads, the others while calls are under way
            if moments.random() < 1 / 3:
                time.sleep(moments.uniform(0.0, 0.6))
            else:
                while server.counts()["requests"] == before and process.poll() is None:
                    time.sleep(0.002)
                time.sleep(moments.uniform(0.0, 0.25))
            process.send_signal(signal.SIGKILL)
            under_way += server.counts()["in_flight"]
            assert ended(process).code in (-signal.SIGKILL, 0)
            before = server.quiet()["requests"]
            if (folder / "rows.jsonl").exists():  # rows only ever become more
                whole = (folder / "rows.jsonl").read_bytes().count(b"\n")
                assert whole >= done
                done = whole
        last = run(*command("killed"), home=tmp_path / "home")
        assert last.code == 0, last.err
        counts = server.quiet()
        again = run(*command("killed"), home=tmp_path / "home")
        assert again.code == 0
        assert server.quiet()["requests"] == counts["requests"]
        undisturbed = run(*command("undisturbed"), home=tmp_path / "other home")
        assert undisturbed.code == 0, undisturbed.err

    assert counts["paid_again"] <= kills * CONCURRENCY
    assert counts["unique"] == len(records(40 * kills))
    found = rows_of(folder)
    assert [(row.example_id, row.metric) for row in found] == [
        (row.example_id, row.metric) for row in rows_of(tmp_path / "undisturbed")
    ]
    assert len({(row.example_id, row.metric) for row in found}) == len(found) == 3 * 40 * kills
    assert values_of(folder) == values_of(tmp_path / "undisturbed")
    assert {row.status for row in found} <= set(STATUSES)
    assert [row.signature for row in found] == [
        row.signature for row in rows_of(tmp_path / "undisturbed")
    ]
    read = [example_of(line) for line in (folder / "examples.jsonl").read_bytes().splitlines()]
    assert [example.id for example in read] == [str(i) for i in range(40 * kills)]
    manifest = manifest_of(folder)
    assert manifest["finished"] is not None
    assert manifest["sessions"][-1]["requests"] == 0
    assert manifest["fixed"] == manifest_of(tmp_path / "undisturbed")["fixed"]
    assert names_in(folder) == ["examples.jsonl", "manifest.json", "rows.jsonl"]


def test_killed_while_it_reads_the_examples_of_a_new_run(tmp_path: Path):
    dying = f"""
import os, signal, longmark
def given():
    yield {records(1)[0]}
    os.kill(os.getpid(), signal.SIGKILL)
longmark.run(given(), {READABILITY!r}, out="out")
"""
    assert run("python", "-c", dying, home=tmp_path / "home").code == -signal.SIGKILL
    assert (tmp_path / "out").is_dir()
    given = write_jsonl(tmp_path / "given.jsonl", records(3))
    again = run(
        "run", given, "--metrics", READABILITY, "--out", tmp_path / "out", home=tmp_path / "home"
    )
    assert again.code == 0, again.err
    assert len(rows_of(tmp_path / "out")) == 6
    assert names_in(tmp_path / "out") == ["examples.jsonl", "manifest.json", "rows.jsonl"]


def test_killed_while_its_calls_hang_leaves_the_rows_that_were_there(tmp_path: Path):
    write_jsonl(tmp_path / "given.jsonl", records(6))
    with server_process("--force", "ok,ok,ok,hang,hang,hang") as server:
        words = judged(server, "--concurrency", "3")
        process = start(*words, home=tmp_path / "home")
        rows = tmp_path / "out" / "rows.jsonl"
        until(
            lambda: (
                rows.exists()
                and rows.read_bytes().count(b"\n") == 3
                and server.counts()["in_flight"] == 3
            )
        )
        process.kill()
        ended(process)
        kept = rows.read_bytes()
        again = run(*words, home=tmp_path / "home")
        assert again.code == 0, again.err
        assert set(kept.splitlines()) <= set(rows.read_bytes().splitlines())
        assert (
            server.counts()["requests"] == 9
        )  # three were answered, three hung, three of these were asked again
        assert [row.example_id for row in rows_of(tmp_path / "out")] == [str(i) for i in range(6)]


@pytest.mark.parametrize(
    "left", ["no line end", "half a line", "half the file", "half a line more", "zeros", "nothing"]
)
def test_whatever_is_left_of_the_rows_they_are_whole_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: str
):
    """What a killed process or a power cut can leave at the end of rows.jsonl."""
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    rows = tmp_path / "out" / "rows.jsonl"
    longmark.run(records(4), READABILITY, out=tmp_path / "out")
    whole = rows.read_bytes()
    rows.write_bytes(
        {
            "no line end": whole[:-1],
            "half a line": whole[:-100],
            "half the file": whole[: len(whole) // 2],
            "half a line more": whole + whole[:100],
            "zeros": whole + bytes(300),
            "nothing": b"",
        }[left]
    )
    longmark.run(records(6), READABILITY, out=tmp_path / "out")
    assert rows.read_bytes().startswith(whole)
    assert [row.example_id for row in rows_of(tmp_path / "out")] == [
        str(i) for i in range(6) for _ in range(2)
    ]


@pytest.mark.parametrize("name", ["examples.jsonl", "rows.jsonl"])
def test_a_file_that_was_deleted_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    longmark.run(records(3), READABILITY, out=tmp_path / "out")
    (tmp_path / "out" / name).unlink()
    longmark.run(records(3), READABILITY, out=tmp_path / "out")
    assert len(rows_of(tmp_path / "out")) == 6
