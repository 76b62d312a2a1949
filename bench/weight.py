"""What `longmark run` costs as a whole process, beside a bare aiohttp loop as a whole process, in one run.

`python -m bench.weight [--examples 500] [--latency 0.2] [--concurrency 50] [--rounds 5]`

Each round starts three processes against one loopback server (`tests.wire`): the bare loop (`session.post` and orjson,
the same bodies, nothing checked or stored), `longmark run` with one call an example, and the same command in another
folder, where every call is in the cache. Times include the start of the interpreter and all imports, from bytecode: a
round before the first one compiles it. Printed are the medians over the rounds, and the medians of each round's ratios
to its bare loop.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import aiohttp
import orjson

FILLER = "The levee was raised in 2011 and held during the flood of the next spring. " * 18
QUESTION = "Is the levee at the bend safe for another thirty years?"


async def bare_loop(base_url: str, examples: Path, concurrency: int) -> None:
    """The least that a program with aiohttp can do: reads the examples, sends one call each, keeps the replies."""
    records = map(orjson.loads, examples.read_bytes().splitlines())
    replies = []
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def worker() -> None:
            for record in records:
                messages = [
                    {"role": "system", "content": "You score answers with a number from 0 to 100."},
                    {"role": "user", "content": f"{record['question']}\n{record['answer']}"},
                ]
                body = {
                    "model": "judge",
                    "messages": messages,
                    "temperature": 0.0,
                    "max_tokens": 16,
                }
                headers = {"Content-Type": "application/json"}
                url = base_url + "/chat/completions"
                async with session.post(url, data=orjson.dumps(body), headers=headers) as response:
                    reply = orjson.loads(await response.read())
                replies.append(reply["choices"][0]["message"]["content"])

        await asyncio.gather(*(worker() for _ in range(concurrency)))


def measured(command: Sequence[str], home: str) -> tuple[float, float]:
    """Wall and CPU seconds of a command, its start and its end included."""
    began, before = time.perf_counter(), os.times()
    environment = {**os.environ, "LONGMARK_HOME": home, "PYTHONPYCACHEPREFIX": f"{home}/pycache"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its bytecode
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    after = os.times()
    if done.returncode:
        sys.exit(done.stderr)
    cpu = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    return time.perf_counter() - began, cpu


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.weight", description=__doc__)
    parser.add_argument("--examples", type=int, default=500)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds")
    parser.add_argument("--concurrency", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        asyncio.run(bare_loop(arguments.child[0], Path(arguments.child[1]), arguments.concurrency))
        return
    with tempfile.TemporaryDirectory() as scratch:
        examples = Path(scratch) / "examples.jsonl"
        with examples.open("wb") as file:
            for n in range(arguments.examples):
                record = {"id": str(n), "question": f"{QUESTION} ({n})", "answer": FILLER + str(n)}
                file.write(orjson.dumps(record) + b"\n")
        serve = [sys.executable, "-m", "tests.wire", "--latency", str(arguments.latency), "--stdin"]
        with subprocess.Popen(
            serve, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            print_table(server.stdout.readline().strip(), examples, arguments)
            server.stdin.close()


def print_table(base_url: str, examples: Path, arguments: argparse.Namespace) -> None:
    times: dict[str, list[tuple[float, float]]] = {
        "bare loop": [],
        "longmark run": [],
        "out of the cache": [],
    }
    for number in range(arguments.rounds + 1):
        folder = examples.parent / str(number)
        run = [
            *(
                sys.executable,
                "-m",
                "longmark",
                "run",
                str(examples),
                "--metrics",
                "ccrs.question_relevance",
            ),
            *(
                "--judge",
                f"judge@{base_url}",
                "--concurrency",
                str(arguments.concurrency),
                "--quiet",
            ),
            *("--cache", f"{folder}.sqlite", "--out"),
        ]
        child = ["--child", base_url, str(examples), "--concurrency", str(arguments.concurrency)]
        for name, command in (
            ("bare loop", [sys.executable, "-m", "bench.weight", *child]),
            ("longmark run", [*run, str(folder)]),
            ("out of the cache", [*run, f"{folder}-again"]),
        ):
            one = measured(command, str(examples.parent))
            times[name] += [one] if number else []
    print(f"{'process':17} {'wall s':>7} {'CPU s':>7} {'wall, x bare':>13} {'CPU, x bare':>12}")
    for name, found in times.items():
        wall, cpu = (statistics.median(one[i] for one in found) for i in (0, 1))
        ratios = [
            statistics.median(
                one[i] / bare[i] for one, bare in zip(found, times["bare loop"], strict=True)
            )
            for i in (0, 1)
        ]
        print(f"{name:17} {wall:7.2f} {cpu:7.2f} {ratios[0]:13.2f} {ratios[1]:12.2f}")


if __name__ == "__main__":
    main()
