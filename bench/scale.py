"""Memory and speed of every step as a run grows: the run, resuming it, its tables and pages, and the run of parts.

`python -m bench.scale [--examples 1000 --examples 20000 --examples 100000] [--steps run,again,…] [--sent]`

Each line is a process of its own. One metric of one call an example; examples of about 200 characters, of two systems
that answer the same questions. Printed: CPU seconds of the process and its microseconds an example, seconds by the
clock, the greatest memory in MB, and how far that is above the same step on the first number of examples.

    sent      (only with --sent) every call goes to a loopback server (`tests.wire`, no latency), in a cache of its own
    run       every call is answered by the cache, which was filled before
    again     the same command on the same folder: nothing is left to do
    report    `longmark report` on the folder
    compare   `longmark compare` of its two systems
    metaeval  `longmark metaeval` of the run beside a label for every answer, for at most 100,000
    split     `longmark split` into four parts
    parts     the runs of the parts, one after the other, out of the cache (the greatest memory is that of one of them)
    merge     `longmark merge` of them
"""

from __future__ import annotations

import argparse
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, closing, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson

from longmark.cli import main as command
from longmark.judging import Judging
from longmark.metrics.ccrs.question_relevance import METRIC
from longmark.models.cache import CallCache, call_key
from longmark.models.protocols import ChatReply, Tokens
from longmark.prompts import PromptBook
from longmark.records import Example

STEPS = ("run", "again", "report", "compare", "metaeval", "split", "parts", "merge")
SEEN_BY_NOBODY = "http://127.0.0.1:9"  # the discard port: a call that is sent fails
PARTS = 4
LABELS = 100_000  # at most: no one has a million


def examples(count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        question, system = number // 2, "ab"[number % 2]
        yield {
            "id": str(number),
            "question": f"Is the levee at kilometre {question} safe for another thirty years?",
            "answer": f"It was raised in {1900 + number % 120} and held in {number % 7} floods, says system {system}.",
            "system": system,
        }


def score_of(number: int) -> int:
    """From 0 to 100: no rule that a table could show, and system b a little better."""
    return min(100, number * 7919 % 97 + 3 * (number % 2))


def write_inputs(folder: Path, count: int) -> None:
    with (folder / "examples.jsonl").open("wb") as file:
        file.writelines(orjson.dumps(one) + b"\n" for one in examples(count))
    with (folder / "labels.jsonl").open("wb") as file:
        for number in range(0, count, -(-count // LABELS)):
            value = min(100, max(0, score_of(number) + number % 31 - 15))
            label = {
                "example_id": str(number),
                "label": "relevance",
                "value": value,
                "rater": f"r{number % 5}",
            }
            file.write(orjson.dumps(label) + b"\n")


def fill(cache: Path, count: int) -> None:
    """Stores a reply to every call that the run will make, as an earlier run would have."""
    asked: list[bytes] = []
    identity = f"judge@{SEEN_BY_NOBODY}"

    class RecordingJudge:
        name = identity
        model = SimpleNamespace(reply_limit=None)

        async def chat(self, request: Any) -> ChatReply:
            asked.append(call_key(identity, "chat", request))
            return ChatReply("50")

        def asking(self, _prompt: str) -> AbstractAsyncContextManager[RecordingJudge]:
            return nullcontext(self)

        def heard(self, _reply: ChatReply, *, read: bool) -> None: ...

    models: Any = SimpleNamespace(
        judges=(RecordingJudge(),), prompts=PromptBook(), judging=Judging(reasons=True)
    )

    def rows() -> Iterator[tuple[object, ...]]:
        for number, one in enumerate(examples(count)):
            try:
                METRIC.score(Example(**one), models, METRIC.params).send(None)  # type: ignore[attr-defined]
            except StopIteration:  # it waits for nothing
                said = orjson.dumps(
                    {"reason": "It says so.", "quotes": [], "score": score_of(number)}
                ).decode()
                reply = orjson.dumps(ChatReply(said, tokens=Tokens(300, 0, 30)))
                yield asked.pop(), "chat", identity, time.time(), None, reply, None

    CallCache(cache).close()
    with closing(sqlite3.connect(cache)) as database, database:
        database.executemany("INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?)", rows())


def greatest_memory() -> float:
    """MB. What Linux says of this program alone; `getrusage` also counts the process it was forked from."""
    status = Path("/proc/self/status")
    if status.exists():
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(peak.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def words_of(step: str, folder: Path, part: str = "") -> list[str]:
    """The command line of a step."""
    run, labels = str(folder / "run"), str(folder / "labels.jsonl")
    judge = f"judge@{os.environ['BENCH_SERVER'] if step == 'sent' else SEEN_BY_NOBODY}"
    scored = ["--metrics", "ccrs.question_relevance", "--judge", judge, "--quiet"]
    scored += [
        "--cache",
        str(folder / ("sent.sqlite" if step == "sent" else "calls.sqlite")),
        "--concurrency",
        "50",
    ]
    given = str(folder / "examples.jsonl")
    return {
        "sent": ["run", given, *scored, "--out", str(folder / "sent")],
        "run": ["run", given, *scored, "--out", run],
        "again": ["run", given, *scored, "--out", run],
        "report": ["report", run, "--out", str(folder / "report.html")],
        "compare": ["compare", run, "--out", str(folder / "compare.html")],
        "metaeval": ["metaeval", run, labels, "--out", str(folder / "metaeval.html")],
        "split": ["split", given, "--parts", str(PARTS), "--out", str(folder / "parts")],
        "parts": [
            "run",
            str(folder / "parts" / f"{part}.part"),
            *scored,
            "--out",
            str(folder / f"run{part}"),
        ],
        "merge": [
            "merge",
            *(str(folder / f"run{n}") for n in range(1, PARTS + 1)),
            "--out",
            str(folder / "merged"),
        ],
    }[step]


def child(step: str, folder: Path, part: str) -> None:
    """One measured process."""
    began = time.perf_counter()
    code = command(words_of(step, folder, part))
    wall, used = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF)
    found = {
        "code": code,
        "cpu": used.ru_utime + used.ru_stime,
        "wall": wall,
        "mb": greatest_memory(),
    }
    print(f"\n{orjson.dumps(found).decode()}")


def measured(step: str, folder: Path, part: str = "") -> dict[str, float]:
    words = [sys.executable, "-m", "bench.scale", "--child", step, str(folder), part]
    environment = {**os.environ, "LONGMARK_HOME": str(folder / "home")}
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    found: dict[str, float] = (
        orjson.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"code": -1}
    )
    if found["code"]:
        sys.exit(f"{step}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return found


def measure(count: int, steps: list[str], least: dict[str, float], scratch: Path | None) -> None:
    with tempfile.TemporaryDirectory(dir=scratch) as made:
        folder = Path(made)
        write_inputs(folder, count)
        fill(folder / "calls.sqlite", count)
        for step in steps:
            every = [
                measured(step, folder, str(n + 1)) for n in range(PARTS if step == "parts" else 1)
            ]
            cpu, wall = (sum(one[name] for one in every) for name in ("cpu", "wall"))
            mb = max(one["mb"] for one in every)
            more = mb - least.setdefault(step, mb)
            print(
                f"{count:8} {step:9} {cpu:8.1f} {cpu / count * 1e6:8.0f} {wall:8.1f} {mb:6.0f} {more:+6.0f}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument(
        "--examples", type=int, action="append", help="default: 1000, 20000 and 100000"
    )
    parser.add_argument("--steps", default=",".join(STEPS))
    parser.add_argument("--sent", action="store_true", help="measure calls that are sent, too")
    parser.add_argument(
        "--scratch", type=Path, help="where the files are made, about 4 GB for a million examples"
    )
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        step, folder, part = arguments.child
        child(step, Path(folder), part)
        return
    print("examples step         CPU s       us    wall s     MB   more")
    words = [sys.executable, "-m", "tests.wire", "--port", "0", "--stdin"]
    steps = [*(["sent"] if arguments.sent else []), *filter(None, arguments.steps.split(","))]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        least: dict[str, float] = {}
        os.environ["BENCH_SERVER"] = server.stdout.readline().strip()
        for count in arguments.examples or (1_000, 20_000, 100_000):
            measure(count, steps, least, arguments.scratch)
        server.kill()


if __name__ == "__main__":
    main()
