"""Kills runs in batches at random moments, and counts at the server what was paid twice.

`python -m bench.batches --moments 40 --calls 2000` runs a metric of three steps (three rounds) on a server that follows
the vendor's format strictly, kills the process at so many random moments, repeats the command after each, and prints
what the server counted. `tests/contrib/scale/batches/test_killed.py` does the same, smaller.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import yaml
from tests.contrib.scale.batches.strict_server import BatchServer, Behaviour, serve
from tests.contrib.scale.batches.three_steps import THREE_STEPS
from tests.program import records, rows_of, start, write_jsonl


@dataclass(frozen=True)
class ServerCounts:
    """What the server counted. kills: that hit a living process; paid: requests of batches that were processed; twice:
    those beyond the first of each; single, single_twice: the same of single calls; rows, unscored: of the run; batches:
    submitted."""

    kills: int
    paid: int
    twice: int
    single: int
    single_twice: int
    rows: int
    unscored: int
    batches: int


def prepared(folder: Path, server: BatchServer, dialect: str, examples: int) -> list[str]:
    """The words of the command, for a folder with its files."""
    entry = {"model": "m", "endpoint": server.base_url}
    entry |= {"dialect": "anthropic"} if dialect == "anthropic" else {}
    (folder / "longmark.yaml").write_text(yaml.safe_dump({"models": {"m": entry}}))
    (folder / "three.py").write_text(THREE_STEPS)
    write_jsonl(folder / "given.jsonl", records(examples))
    words = [
        "run",
        "given.jsonl",
        "--metrics",
        "three.py",
        "--judge",
        "m",
        "--trust",
        "--quiet",
        "--batch",
    ]
    return [*words, "--out", "out", "--cache", "calls.sqlite", "--timeout", "3"]


def killed(
    dialect: str, moments: int, examples: int, seed: int, latency: float = 0.3
) -> ServerCounts:
    """A run that is killed so many times, each at a random moment of the rest of its life, and then finished."""
    rng = random.Random(seed)
    with (
        serve(dialect, Behaviour(latency=latency)) as server,
        tempfile.TemporaryDirectory() as name,
    ):
        folder = Path(name)
        words = prepared(folder, server, dialect, examples)
        kills = 0
        for _ in range(moments):
            process = start(*words, home=folder / "home", cwd=folder)
            until = time.monotonic() + rng.uniform(0.4, 4.0)
            while process.poll() is None and time.monotonic() < until:
                time.sleep(0.002)
            kills += process.poll() is None
            process.kill()
            process.communicate()
            if process.returncode == 0:
                break
        done = start(*words, home=folder / "home", cwd=folder)
        _, err = done.communicate(timeout=300)
        if done.returncode != 0:
            raise SystemExit(err.decode())
        rows = rows_of(folder / "out")
        return ServerCounts(
            kills,
            sum(server.paid.values()),
            sum(count - 1 for count in server.paid.values()),
            sum(server.singles.values()),
            sum(count - 1 for count in server.singles.values()),
            len(rows),
            sum(row.status != "ok" for row in rows),
            server.created,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--moments", type=int, default=40, help="moments at which a run is killed, over all runs"
    )
    parser.add_argument("--calls", type=int, default=2000, help="calls of a run, in three rounds")
    parser.add_argument("--each", type=int, default=5, help="kills of one run")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for dialect in ("openai", "anthropic"):
        hit, seed = 0, options.seed
        while hit < options.moments / 2:
            found = killed(dialect, options.each, options.calls // 3, seed)
            hit, seed = hit + found.kills, seed + 1
            print(dialect, found, flush=True)


if __name__ == "__main__":
    main()
