"""A long run: a million calls against a hostile endpoint, processes that are killed about every minute, and what is left.

`python -m bench.soak --out FOLDER [--calls 1000000] [--minutes 100] [--kill-every 60] [--latency .05]`

Four processes of `longmark run` work at once, each row one call, each lane with an endpoint of its own
(`tests.wire`: 3 % 429, 1 % 500, 1 % prose, .5 % dropped, .2 % cut, .2 % truncated, .2 % no JSON, .02 % never answered):

    steady     two fifths of the calls, one run, a cache in a file, never killed: memory, handles, latency over time
    twins      three tenths, two processes on the same examples and one cache in a file, killed in turn
    postgres   three tenths, a cache in PostgreSQL (its own server on loopback, without fsync), killed

The killed lanes score file after file of 10,000 examples (`--part`): before it sends anything a run copies and checks
its input, and one that is killed while it does so begins anew. A killed process (SIGKILL) is started again at once with
the same command. Every five seconds the resident memory and
the open handles of each process are written to `samples.csv`. When all lanes have ended, or at `--minutes`, each lane
is checked:

    rows       every example once and in order, each unscored one with a reason; twins: the same scores
    verify     `longmark verify` computes each score again from the stored replies (`--verify`; slow: it reads all)
    cache      SQLite's own integrity check; no claim is held; replies stored, replies that the endpoint
               served, and those served again (paid for, then lost to a kill)
    ledger     attempts written before they were sent are no fewer than the requests that the endpoint saw
    latency    from sending to the stored reply, median and 99th percentile, by tenths of the run

Exit code 1 if a check fails. A lane that `--minutes` ended is checked as far as it came.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from tests.postgres import PostgresServer, running

METRIC = "ccrs.question_relevance"
FAULTS = {
    "429": 0.03,
    "500": 0.01,
    "prose": 0.01,
    "drop": 0.005,
    "cut": 0.002,
    "truncated": 0.002,
    "not_json": 0.002,
    "hang": 0.0002,
}
SAMPLE_SECONDS = 5.0
WARM_UP_SECONDS = 60.0  # memory before that is not compared: imports, buffers, the first rows


@dataclass
class HostileEndpoint:
    """A hostile endpoint, a process of its own, so that its counts are of one lane."""

    process: subprocess.Popen[str]
    base_url: str

    @classmethod
    def start(cls, latency: float) -> HostileEndpoint:
        rates = [word for name, share in FAULTS.items() for word in ("--rate", f"{name}={share}")]
        command = [sys.executable, "-m", "tests.wire", "--port", "0", "--stdin"]
        process = subprocess.Popen(
            [*command, "--latency", str(latency), *rates],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        return cls(process, process.stdout.readline().strip())

    def counts(self) -> dict[str, Any]:
        root = self.base_url.removesuffix("/v1")
        with urllib.request.urlopen(f"{root}/counts", timeout=60) as reply:
            counts: dict[str, Any] = orjson.loads(reply.read())
        return counts


@dataclass
class SoakProcess:
    """One `longmark run` after the other, each started again whenever it is killed. runs: their folders; ended: how
    many of them have; kills: how often it was killed; failures: exit codes other than 0."""

    name: str
    commands: Sequence[Sequence[str]]
    runs: Sequence[Path]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    began: float = 0.0
    ended: int = 0
    kills: int = 0
    failures: list[int] = field(default_factory=list)

    @property
    def done(self) -> bool:
        return self.ended == len(self.commands)

    def start(self) -> None:
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(self.commands[self.ended], stdout=output, stderr=output)
        self.began = time.monotonic()

    def look(self) -> None:
        """Starts the next run, or the same where it ended otherwise than well: its user would resume it."""
        if self.process is None or self.done or (code := self.process.poll()) is None:
            return
        if code:
            self.failures.append(code)
        else:
            self.ended += 1
        if not self.done:
            self.start()

    def kill(self) -> None:
        if self.process is None or self.done or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.kills += 1
        self.start()

    def end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()


@dataclass
class Lane:
    """Workers on the same examples and the same cache."""

    name: str
    inputs: Sequence[range]  # the numbers of the examples in each file
    cache: str
    endpoint: HostileEndpoint
    folder: Path
    killed: bool
    workers: list[SoakProcess] = field(default_factory=list)

    def add_workers(self, count: int, concurrency: int) -> None:
        for part, numbers in enumerate(self.inputs):
            write_examples(self.folder / f"examples{part}.jsonl", self.name, numbers)
        for number in range(count):
            name = f"{self.name}{number}"
            runs = [self.folder / f"run{number}-{part}" for part in range(len(self.inputs))]
            commands = [
                self.command(self.folder / f"examples{part}.jsonl", run, concurrency)
                for part, run in enumerate(runs)
            ]
            self.workers.append(SoakProcess(name, commands, runs, self.folder / f"{name}.log"))

    def command(self, examples: Path, run: Path, concurrency: int) -> list[str]:
        command = [sys.executable, "-m", "longmark", "run", str(examples), "--out", str(run)]
        command += ["--metrics", METRIC, "--judge", f"judge@{self.endpoint.base_url}"]
        command += ["--cache", self.cache, "--quiet", "--timeout", "10"]
        return [*command, "--concurrency", str(concurrency)]


def write_examples(path: Path, name: str, numbers: range) -> None:
    """Examples of about 300 characters, all different."""
    answer = "The levee was raised in 2011 and held during the flood of the next spring. " * 3
    with path.open("wb") as file:
        for number in numbers:
            question = f"Is the levee at bend {number} of {name} safe for another thirty years?"
            record = {"id": str(number), "question": question, "answer": f"{answer}{number}"}
            file.write(orjson.dumps(record) + b"\n")


def resident_mb(pid: int) -> float:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
    return float("nan")


def open_handles(pid: int) -> int:
    with contextlib.suppress(OSError):
        return len(os.listdir(f"/proc/{pid}/fd"))
    return 0


def work(lanes: Sequence[Lane], end: float, kill_every: float, samples: Path) -> None:
    """Until all lanes have ended or the time is up. The workers of a lane are killed in turn, one at a time, after
    half to one and a half of `kill_every` seconds: at equal steps, a claim in PostgreSQL, whose lease of 60 seconds
    ends just after the next kill, would be waited for without end."""
    turns = {lane.name: 0 for lane in lanes}
    draw = random.Random(0)
    next_kill = time.monotonic() + kill_every
    with samples.open("w") as file:
        file.write("seconds,worker,seconds_alive,mb,handles\n")
        start = time.monotonic()
        while time.monotonic() < end and not all(w.done for lane in lanes for w in lane.workers):
            time.sleep(SAMPLE_SECONDS)
            now = time.monotonic()
            for worker in (w for lane in lanes for w in lane.workers):
                worker.look()
                if worker.process is not None and worker.process.poll() is None:
                    pid = worker.process.pid
                    alive = now - worker.began
                    figures = f"{resident_mb(pid):.1f},{open_handles(pid)}"
                    file.write(f"{now - start:.0f},{worker.name},{alive:.0f},{figures}\n")
            file.flush()
            if now >= next_kill:
                next_kill = now + kill_every * draw.uniform(0.5, 1.5)
                for lane in lanes:
                    if lane.killed:
                        lane.workers[turns[lane.name] % len(lane.workers)].kill()
                        turns[lane.name] += 1
    for worker in (w for lane in lanes for w in lane.workers):
        worker.look()
        worker.end()


def rows_of(run: Path) -> Iterator[dict[str, Any]]:
    """Rows of a run folder, in the order of the file; the last line of a killed run may be half a line."""
    path = run / "rows.jsonl"
    paths = [path] if path.exists() else sorted(run.glob(".rows.jsonl*"))
    for found in paths:
        with found.open("rb") as file:
            for line in file:
                if line.endswith(b"\n"):
                    yield orjson.loads(line)


def check_rows(lane: Lane) -> tuple[list[str], list[str]]:
    """What the rows of a lane say, and what is wrong with them."""
    facts, faults = [], []
    scores: list[dict[str, float | None]] = []
    for worker in lane.workers:
        statuses: dict[str, int] = {}
        values: dict[str, float | None] = {}
        for part, run in enumerate(worker.runs):
            numbers: list[int] = []
            for row in rows_of(run):
                numbers.append(int(row["example_id"]))
                statuses[row["status"]] = statuses.get(row["status"], 0) + 1
                values[row["example_id"]] = row["score"]
                if row["status"] != "ok" and not row["reason"]:
                    faults.append(f"{run.name}: {row['example_id']} is unscored without a reason")
            if len(set(numbers)) != len(numbers):
                faults.append(f"{run.name}: rows stand twice")
            if part < worker.ended and numbers != list(lane.inputs[part]):
                faults.append(f"{run.name}: rows are missing or out of order")
        scores.append(values)
        facts.append(
            f"{worker.name}: {worker.ended} of {len(worker.runs)} runs ended, {len(values):,} rows, "
            f"{statuses}; killed {worker.kills} times, other exit codes {worker.failures}"
        )
    if len(scores) == 2:
        both = scores[0].keys() & scores[1].keys()
        # An unscored row may have been scored when the twin asked once more: only two scores can contradict.
        pairs = [(scores[0][key], scores[1][key]) for key in both]
        unequal = sum(None not in pair and pair[0] != pair[1] for pair in pairs)
        facts.append(f"{lane.name}: {len(both):,} rows of both, {unequal} with different scores")
        faults += [f"{lane.name}: {unequal} scores differ between the twins"] * bool(unequal)
    return facts, faults


CACHE_QUESTIONS = {
    "replies": "SELECT count(*) FROM SCHEMA.calls",
    "claims": "SELECT count(*) FROM SCHEMA.claims",
    "attempts": "SELECT coalesce(sum(count), 0) FROM SCHEMA.attempts",
    "latency": "SELECT a.sent, c.created - a.sent FROM SCHEMA.calls c "
    "JOIN SCHEMA.attempts a ON a.id = c.attempt",
}


def cache_answers(lane: Lane, server: PostgresServer | None) -> dict[str, Any]:
    """The answers to `CACHE_QUESTIONS`, and what SQLite's own check says."""
    if server is not None and lane.cache.startswith("postgres"):
        name = lane.cache.rpartition("/")[2]
        answers: dict[str, Any] = {
            key: server.sql(question.replace("SCHEMA", "longmark"), name)
            for key, question in CACHE_QUESTIONS.items()
        }
        return {**answers, "integrity": "ok"}
    with contextlib.closing(sqlite3.connect(lane.cache)) as connection:
        answers = {
            key: connection.execute(question.replace("SCHEMA", "main")).fetchall()
            for key, question in CACHE_QUESTIONS.items()
        }
        integrity = connection.execute("PRAGMA integrity_check").fetchone()[0]
    return {**answers, "integrity": integrity}


def check_cache(lane: Lane, server: PostgresServer | None) -> tuple[list[str], list[str]]:
    """What the cache and the endpoint of a lane say of each other, and what is wrong."""
    answers = cache_answers(lane, server)
    counts = lane.endpoint.counts()
    replies = answers["replies"][0][0]
    claims = answers["claims"][0][0]
    attempts = int(answers["attempts"][0][0])
    faults = []
    if answers["integrity"] != "ok":
        faults.append(f"{lane.name}: the cache is damaged: {answers['integrity']}")
    if attempts < counts["requests"]:
        faults.append(f"{lane.name}: {counts['requests'] - attempts} requests are in no ledger")
    ended = all(worker.done for worker in lane.workers)
    if ended and claims:
        faults.append(f"{lane.name}: {claims} claims are still held")
    facts = [
        f"{lane.name}: endpoint: {counts['requests']:,} requests, {counts['by_status']}, "
        f"{counts['unique']:,} different, {counts['paid_again']:,} answered with 200 again",
        f"{lane.name}: cache: {replies:,} replies, {attempts:,} attempts, integrity ok",
    ]
    timed = np.array([(sent, took) for sent, took in answers["latency"] if took is not None])
    if len(timed) >= 1000:
        order = np.argsort(timed[:, 0], kind="stable")
        parts = np.array_split(timed[order, 1] * 1000, 10)
        medians = " ".join(f"{np.median(part):.0f}" for part in parts)
        late = " ".join(f"{np.quantile(part, 0.99):.0f}" for part in parts)
        facts.append(f"{lane.name}: ms from sending to stored, by tenths: median {medians}")
        facts.append(f"{lane.name}: 99th percentile {late}")
    return facts, faults


def memory_facts(samples: Path) -> list[str]:
    """Memory and handles of each worker's lives: the first sample after the warm-up, the last, the greatest."""
    lives: dict[tuple[str, float], list[tuple[float, float, int]]] = {}
    for line in samples.read_text().splitlines()[1:]:
        seconds, worker, alive, mb, handles = line.split(",")
        life = (worker, round((float(seconds) - float(alive)) / 10))
        if float(alive) >= WARM_UP_SECONDS:
            lives.setdefault(life, []).append((float(alive), float(mb), int(handles)))
    longest: dict[str, list[tuple[float, float, int]]] = {}
    for (worker, _), life_samples in lives.items():
        if len(life_samples) > len(longest.get(worker, [])):
            longest[worker] = life_samples
    return [
        f"{worker}: longest life {points[-1][0]:.0f} s: {points[0][1]:.0f} MB after "
        f"{points[0][0]:.0f} s, {points[-1][1]:.0f} MB at its end, at most {max(p[1] for p in points):.0f}; "
        f"handles {points[0][2]}, {points[-1][2]}, at most {max(p[2] for p in points)}"
        for worker, points in longest.items()
    ]


def verify(lane: Lane) -> tuple[list[str], list[str]]:
    """`longmark verify` on each run of a lane that has ended."""
    facts, faults = [], []
    for worker in lane.workers:
        verified = 0
        for run in worker.runs[: worker.ended]:
            command = [sys.executable, "-m", "longmark", "verify", str(run), "--cache", lane.cache]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                faults.append(f"{lane.name}, {run.name}: verify exits {done.returncode}")
                faults += (done.stdout + done.stderr).strip().splitlines()[-1:]
            else:
                verified += 1
        facts.append(f"{worker.name}: {verified} of {worker.ended} runs verified")
    return facts, faults


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.soak",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--minutes", type=float, default=100)
    parser.add_argument("--kill-every", type=float, default=60, help="seconds")
    parser.add_argument("--latency", type=float, default=0.05, help="seconds")
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--part", type=int, default=10_000, help="examples of a killed run")
    parser.add_argument("--verify", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True)
    os.environ["LONGMARK_HOME"] = str(options.out / "home")
    os.environ.setdefault("OPENAI_API_KEY", "unused")
    start = time.monotonic()
    with running() as server:
        lanes = []
        for name, share, workers in (("steady", 4, 1), ("twins", 3, 2), ("postgres", 3, 1)):
            folder = options.out / name
            folder.mkdir()
            calls = options.calls * share // 10
            part = calls if name == "steady" else min(options.part, calls)
            inputs = [range(i, min(i + part, calls)) for i in range(0, calls, part)]
            cache = server.database() if name == "postgres" else str(folder / "calls.sqlite")
            endpoint = HostileEndpoint.start(options.latency)
            lane = Lane(name, inputs, cache, endpoint, folder, killed=name != "steady")
            lane.add_workers(workers, options.concurrency)
            lanes.append(lane)
        for worker in (w for lane in lanes for w in lane.workers):
            worker.start()
        samples = options.out / "samples.csv"
        work(lanes, start + 60 * options.minutes, options.kill_every, samples)
        print(f"{(time.monotonic() - start) / 60:.0f} minutes of work")
        faults = []
        for lane in lanes:
            for check in (check_rows, lambda lane: check_cache(lane, server)):
                facts, wrong = check(lane)
                print("\n".join(facts), flush=True)
                faults += wrong
            if options.verify:
                facts, wrong = verify(lane)
                print("\n".join(facts), flush=True)
                faults += wrong
        print("\n".join(memory_facts(samples)))
        for lane in lanes:
            lane.endpoint.process.kill()
    print("\n".join(["faults:", *faults]) if faults else "no fault")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
