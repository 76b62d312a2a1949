"""Memory and speed of a run as it grows: a first run, the same command on the finished folder, and its report.

`python -m bench.scale [--examples 20000 --examples 60000 --examples 200000] [--concurrency 50]`

Each line is a process of its own against the same loopback server (`tests.wire`, no latency); one metric of one call an
example, examples of about 200 characters. Printed: CPU seconds of the process, calls (or rows) a second by the clock,
the greatest memory in MB, and the size of what it left on the disk.

    run       every call is sent
    again     the same command on the same folder: nothing is left to do
    elsewhere the same in another folder: every call is answered by the cache
    report    `longmark report` on the folder
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson

import longmark
from longmark.cli import main as command

WORK = ("run", "again", "elsewhere", "report")


def write_examples(path: Path, count: int) -> None:
    with path.open("wb") as file:
        for number in range(count):
            question = f"Is the levee at kilometre {number} safe for another thirty years?"
            answer = f"It was raised in {1900 + number % 120} and held in {number % 7} floods since then, so it may be."
            file.write(orjson.dumps({"id": str(number), "question": question, "answer": answer}) + b"\n")


def greatest_memory() -> float:
    """MB. What Linux says of this program alone; `getrusage` also counts the process it was forked from."""
    status = Path("/proc/self/status")
    if status.exists():
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(peak.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def child(name: str, folder: Path, base_url: str, concurrency: int) -> None:
    """One measured process."""
    began = time.perf_counter()
    out = folder / ("elsewhere" if name == "elsewhere" else "run")
    if name == "report":
        page = folder / "report.html"
        if command(["report", str(out), "--out", str(page)]):
            sys.exit("the report failed")
        left, calls = page.stat().st_size, 0
    else:
        result = longmark.run(
            folder / "examples.jsonl",
            "ccrs.question_relevance",
            judges=[f"judge@{base_url}"],
            out=out,
            cache=folder / "calls.sqlite",
            concurrency=concurrency,
        )
        left, calls = (out / "rows.jsonl").stat().st_size, result.counts.calls
    wall = time.perf_counter() - began
    used = resource.getrusage(resource.RUSAGE_SELF)
    found = {"cpu": used.ru_utime + used.ru_stime, "wall": wall, "mb": greatest_memory(), "left": left, "calls": calls}
    print(f"\n{orjson.dumps(found).decode()}")


def measure(count: int, concurrency: int, base_url: str) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        write_examples(Path(scratch) / "examples.jsonl", count)
        for name in WORK:
            words = [sys.executable, "-m", "bench.scale", "--child", name, scratch, base_url]
            words += ["--concurrency", str(concurrency)]
            done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "LONGMARK_HOME": scratch})
            if done.returncode:
                sys.exit(done.stderr)
            found = orjson.loads(done.stdout.splitlines()[-1])
            print(
                f"{count:8} {name:10} {found['calls']:8} {found['cpu']:8.1f} {found['wall']:8.1f} "
                f"{count / found['wall']:8.0f} {found['mb']:6.0f} {found['left'] / 1e6:8.1f}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--examples", type=int, action="append", help="default: 20000, 60000 and 200000")
    parser.add_argument("--concurrency", type=int, default=50)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        name, folder, base_url = arguments.child
        child(name, Path(folder), base_url, arguments.concurrency)
        return
    print("examples what          calls    CPU s   wall s   rows/s     MB  MB left")
    words = [sys.executable, "-m", "tests.wire", "--port", "0", "--stdin"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        base_url = server.stdout.readline().strip()
        for count in arguments.examples or (20_000, 60_000, 200_000):
            measure(count, arguments.concurrency, base_url)
        server.kill()


if __name__ == "__main__":
    main()
