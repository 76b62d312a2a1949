"""What a call costs through the whole engine, beside bare client loops, in one run.

`python -m bench.engine [--examples 2000] [--latency 0.2] [--concurrency 50] [--faults] [--only NAME]`

Each line is a process of its own against the same loopback server (`tests.wire`, also a process of its own): CPU time
in milliseconds a call (its start subtracted for the loops, included for the engine), wall time as a ratio to the ideal
(calls / concurrency x latency), and the greatest memory.

    streams, aiohttp   bare loops (`bench.bare`): no validation, no cache, no journal, no rows
    engine             `longmark.run` on a file: records checked, calls cached, rows journalled and put in order
    engine, again      the same in another folder: everything from the cache

Modules are compiled before (as an installation does), so no figure has that in it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import orjson

import longmark

QUESTION = "Is the levee at the bend safe for another thirty years?"


def write_examples(path: Path, count: int) -> None:
    """Examples of about 1,500 characters, all different."""
    from bench import bare

    with path.open("wb") as file:
        for number in range(count):
            record = {
                "id": str(number),
                "question": f"{QUESTION} ({number})",
                "answer": bare.FILLER + str(number),
            }
            file.write(orjson.dumps(record) + b"\n")


def child(name: str, folder: Path, base_url: str, concurrency: int, count: int) -> None:
    """One measured process: prints CPU seconds, wall seconds, memory in MB and what came out."""
    run = longmark.run  # imported before the clock starts, as the clients of the loops are
    began = time.perf_counter()
    if name.startswith("engine"):
        result = run(
            folder / "examples.jsonl",
            "ccrs.question_relevance",
            judges=[f"judge@{base_url}"],
            out=folder / name.replace(", ", "-"),
            cache=folder / "calls.sqlite",
            concurrency=concurrency,
        )
        counts = result.counts
        said = f"{counts.calls} calls, {counts.from_cache} cached, {counts.retries} retries"
        calls = count
    else:
        from bench import bare  # imports aiohttp, which a run out of the cache does not

        asyncio.run(bare.CLIENTS[name](base_url, count, concurrency))
        said, calls = f"{count} calls", count
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(
        orjson.dumps(
            {
                "cpu_ms": 1000 * (used.ru_utime + used.ru_stime) / calls,
                "cpu": used.ru_utime + used.ru_stime,
                "wall": time.perf_counter() - began,
                "mb": used.ru_maxrss / 1024,
                "said": said,
            }
        ).decode()
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.engine", description=__doc__)
    parser.add_argument("--examples", type=int, default=2000)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds")
    parser.add_argument("--concurrency", type=int, default=50)
    parser.add_argument(
        "--faults", action="store_true", help="5 %% 429, 2 %% 500, 3 %% prose, 1 %% dropped"
    )
    parser.add_argument("--only", action="append", choices=["streams", "aiohttp", "engine"])
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        name, folder, base_url = arguments.child
        child(name, Path(folder), base_url, arguments.concurrency, arguments.examples)
        return
    names = arguments.only or (["engine"] if arguments.faults else ["streams", "aiohttp", "engine"])
    names += ["engine, again"] if "engine" in names else []
    faults = [
        "--rate",
        "429=0.05",
        "--rate",
        "500=0.02",
        "--rate",
        "prose=0.03",
        "--rate",
        "drop=0.01",
    ]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_examples(folder / "examples.jsonl", arguments.examples)
        ideal = arguments.examples / arguments.concurrency * arguments.latency
        print(f"{'client':14} {'CPU ms/call':>12} {'CPU s':>7} {'wall/ideal':>11} {'MB':>6}")
        server = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.wire",
                "--port",
                "0",
                "--latency",
                str(arguments.latency),
                "--stdin",
            ]
            + (faults if arguments.faults else []),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert server.stdout is not None
        kept = {
            name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
        }
        environment = {
            **kept,
            "LONGMARK_HOME": scratch,
            "PYTHONPYCACHEPREFIX": f"{scratch}/compiled",
        }
        base_url = server.stdout.readline().strip()

        def measured(name: str, folder: Path, count: int) -> dict[str, Any]:
            words = [sys.executable, "-m", "bench.engine", "--child", name, str(folder), base_url]
            words += ["--examples", str(count), "--concurrency", str(arguments.concurrency)]
            done = subprocess.run(words, capture_output=True, text=True, env=environment)
            if done.returncode:
                sys.exit(done.stderr)
            found: dict[str, Any] = orjson.loads(done.stdout)
            return found

        (folder / "first").mkdir()
        write_examples(folder / "first" / "examples.jsonl", 1)
        for name in names:  # compiles
            measured(name, folder / "first", 1)
        for name in names:
            found = measured(name, folder, arguments.examples)
            print(
                f"{name:14} {found['cpu_ms']:12.2f} {found['cpu']:7.2f} {found['wall'] / ideal:11.2f} "
                f"{found['mb']:6.0f}  {found['said']}"
            )
        server.kill()


if __name__ == "__main__":
    main()
