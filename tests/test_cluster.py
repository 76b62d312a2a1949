"""`longmark split`, `run`, `status` and `merge` as a user types them."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest
from bench.scale import greatest_memory
from tests.program import (
    QR,
    ended,
    environment,
    names_in,
    records,
    rows_of,
    run,
    server_process,
    start,
    until,
    write_jsonl,
)

from longmark import cli

READ = ("--metrics", "score.readability", "--quiet")


def test_a_merged_run_is_reported_compared_exported_and_resumed(tmp_path: Path):
    home = tmp_path / "home"
    answers = [{**one, "id": f"{s}{one['id']}", "system": s} for s in "ab" for one in records(12)]
    write_jsonl(tmp_path / "in.jsonl", [*answers, {"question": "Bad?", "answer": 3, "system": "a"}])

    def done(*words: str | Path, code: int = 0) -> str:
        ended_ = run(*words, home=home, cwd=tmp_path)
        assert ended_.code == code, ended_.err
        return ended_.out + ended_.err

    with server_process() as server:
        judged = (
            "--metrics",
            f"{QR},score.readability",
            "--judge",
            f"m@{server.base_url}",
            "--quiet",
        )
        done("split", "in.jsonl", "--parts", "3", "--out", "parts", code=2)
        said = done(
            "split", "in.jsonl", "--parts", "3", "--out", "parts", "--skip-bad", "--max-calls", "99"
        )
        assert "1 bad record skipped. The merged run counts them." in said
        assert said.splitlines()[0].split() == ["part", "examples", "--max-calls"]
        for n in "123":
            done("run", f"parts/{n}.part", *judged, "--out", f"runs/{n}")
        states = orjson.loads(done("status", "--json", "runs/1", "runs/2", "runs/3", "runs/4"))
        assert [one["state"] for one in states] == ["finished"] * 3 + ["not begun"]
        assert sum(one["rows"] for one in states) == sum(one["total"] or 0 for one in states) == 72
        done("merge", "runs/1", "runs/2", "--out", "all", code=2)
        done("split", "in.jsonl", "--parts", "3", "--out", "few", "--skip-bad", "--max-calls", "4")
        poor = done(
            "run", "few/1.part", *judged, "--out", "few/run", "--cache", "few/calls.sqlite", code=4
        )
        assert (
            "The part has a share of --max-calls: for a larger one, split the input again" in poor
        )
        assert (
            done("merge", "runs/1", "runs/2", "runs/3", "--out", "all")
            == "Merged: all (24 examples, 72 rows)\n"
        )
        done("run", "in.jsonl", *judged, "--skip-bad", "--out", "one/all")
        for name in ("examples.jsonl", "absent.jsonl"):
            assert (tmp_path / "all" / name).read_bytes() == (
                tmp_path / "one/all" / name
            ).read_bytes()
        asked = server.quiet()["requests"]
        done("run", "in.jsonl", *judged, "--skip-bad", "--out", "all")
        assert server.quiet()["requests"] == asked
    assert "72 of 72 rows verified" in done("verify", "all")
    assert "Bundle: all.zip" in done("export", "all", "--bundle", "all.zip")
    done("report", "all", "--out", "all.html")
    assert "12 of 13 scored" in (tmp_path / "all.html").read_text("utf-8")
    done("compare", "all", "--out", "compared")


def test_the_run_of_an_empty_part_succeeds(tmp_path: Path):
    """One question, seven parts; pairs, so that an empty part must know what it would have had."""
    write_jsonl(tmp_path / "in.jsonl", [{"question": "What?", "a": "This one.", "b": "Or that?"}])
    home = tmp_path / "home"
    assert run("split", "in.jsonl", "--parts", "7", "--out", "parts", home=home).code == 0
    for n in range(1, 8):
        done = run(
            "run", f"parts/{n}.part", *READ, "--tie-band", "0.1", "--out", f"runs/{n}", home=home
        )
        assert done.code == 0, done.err
        empty = f"part {n} of 7 has no examples" in done.err
        assert empty == (not (tmp_path / f"runs/{n}/rows.jsonl").read_bytes())
    merged = run("merge", *(f"runs/{n}" for n in range(1, 8)), "--out", "all", home=home)
    assert (merged.code, merged.out) == (0, "Merged: all (1 example, 2 rows)\n")


def test_the_status_of_a_run_that_works(tmp_path: Path):
    write_jsonl(tmp_path / "in.jsonl", records(200))
    with server_process("--latency", "0.05") as server:
        options = (
            "--metrics",
            QR,
            "--judge",
            f"m@{server.base_url}",
            "--quiet",
            "--concurrency",
            "2",
            "--out",
            "run",
        )
        working = start("run", "in.jsonl", *options, home=tmp_path / "home")
        rows = tmp_path / "run" / "rows.jsonl"
        until(lambda: rows.exists() and rows.stat().st_size)
        done = run("status", "run", home=tmp_path / "home")
        assert done.code == 0
        assert done.out.splitlines()[1].split()[:4] == [
            "run",
            "running",
            done.out.split()[9],
            "of",
        ], done.out
        (found,) = orjson.loads(run("status", "run", "--json", home=tmp_path / "home").out)
        assert (found["state"], found["total"]) == ("running", 200)
        assert 0 < found["rows"] < 200
        working.send_signal(signal.SIGINT)
        assert ended(working).code == 130
    assert "stopped (interrupt)" in run("status", "run", home=tmp_path / "home").out


@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.slow)])
def test_a_merge_that_is_killed_leaves_no_folder_or_a_complete_one(tmp_path: Path, kills: int):
    home, chance = tmp_path / "home", random.Random(7)
    write_jsonl(tmp_path / "in.jsonl", records(400))
    assert run("split", "in.jsonl", "--parts", "2", "--out", "parts", home=home).code == 0
    for n in "12":
        assert run("run", f"parts/{n}.part", *READ, "--out", f"runs/{n}", home=home).code == 0
    assert run("merge", "runs/1", "runs/2", "--out", "good/all", home=home).code == 0
    good = (tmp_path / "good/all/rows.jsonl").read_bytes()
    died = 0
    for _ in range(kills):
        merging = start("merge", "runs/1", "runs/2", "--out", "all", home=home)
        until(lambda: (tmp_path / ".all.new").exists() or merging.poll() is not None)  # noqa: B023
        time.sleep(chance.uniform(0, 0.15))
        merging.kill()
        died += ended(merging).code != 0
        if (tmp_path / "all").exists():
            assert (tmp_path / "all/rows.jsonl").read_bytes() == good
            (tmp_path / "all").rename(tmp_path / f"all-{died}-{time.monotonic_ns()}")
    assert died
    last = run("merge", "runs/1", "runs/2", "--out", "all", home=home)
    assert last.code == 0, last.err
    assert (tmp_path / "all/rows.jsonl").read_bytes() == good
    assert not (tmp_path / ".all.new").exists()
    assert names_in(tmp_path / "runs/1") == [
        "examples.jsonl",
        "manifest.json",
        "part.jsonl",
        "rows.jsonl",
    ]


@pytest.mark.slow
def test_split_and_merge_of_100_000_lines_need_no_more_memory_than_of_1_000(tmp_path: Path):
    """Measured: split 42 MB for both, merge 42 and 51 MB (SQLite's caches of 4 MB and 2 MB fill up)."""
    peaks: dict[int, list[int]] = {}
    for count in (1_000, 100_000):
        folder = tmp_path / str(count)
        folder.mkdir()
        write_jsonl(folder / "in.jsonl", records(count))
        commands = [
            ["split", "in.jsonl", "--parts", "3", "--out", "parts"],
            *(
                [
                    "run",
                    f"parts/{n}.part",
                    "--metrics",
                    "classic.length.words",
                    "--quiet",
                    "--out",
                    f"runs/{n}",
                ]
                for n in (1, 2, 3)
            ),
            ["status", "runs/1", "runs/2", "runs/3"],
            ["merge", "runs/1", "runs/2", "runs/3", "--out", "all"],
        ]
        for words in commands:
            program = f"import sys; from tests.test_cluster import peak; sys.exit(peak({words!r}))"
            env = environment(tmp_path / "home")
            done = subprocess.run(
                [sys.executable, "-c", program], cwd=folder, env=env, capture_output=True, text=True
            )
            assert done.returncode == 0, done.stderr
            peaks.setdefault(count, []).append(int(done.stderr.splitlines()[-1]))
        assert len(rows_of(folder / "all")) == count
    assert all(
        large < small + 20 for small, large in zip(peaks[1_000], peaks[100_000], strict=True)
    ), peaks


def peak(words: list[str]) -> int:
    """Runs a command and prints the greatest memory of this process in MB on standard error."""
    code = cli.main(words)
    print(round(greatest_memory()), file=sys.stderr)
    return code
