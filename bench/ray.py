"""`longmark run --executor ray` beside one process and beside two processes of `longmark split`, in one run.

`python -m bench.ray [--examples 50000] [--rounds 3]` (needs the extra `ray`)

Answers of about 110 words with a reference of the same length; ROUGE-1, -2 and -L, chrF and readability: six rows each.
Each round starts the three ways one after the other, with two cores (`taskset`). Printed are medians over the rounds:

    wall      seconds of the whole command, table included (split: both runs and the merge)
    start     until the first row is written
    CPU       seconds of all processes, children included; first: of the process that writes the rows, and its share
    x one     wall seconds after the start, of one process / of this way, in the same round

On a busy machine two processes get more of it than one, so `x one` is too high. `CPU / 2` shows what two idle cores
could do at best: CPU seconds of one process / half of this way's, both from the first row on.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

METRICS = "classic.rouge_1,classic.rouge_2,classic.rouge_l,classic.chrf,score.readability"
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class WaySeconds:
    """Seconds of a way. cpu, began: of all its processes, in all and before the first row; first: of its own ones."""

    wall: float
    start: float
    cpu: float
    began: float
    first: float


def write_examples(path: Path, count: int) -> None:
    root = Path(__file__).parent.parent
    words = " ".join(file.read_text() for file in sorted((root / "docs").glob("*.md"))).split()
    words = [word for word in words if word.isalpha()]
    draw = random.Random(20261124)

    def text(sentences: int) -> str:
        starts = (draw.randrange(len(words) - 20) for _ in range(sentences))
        return " ".join(" ".join(words[at : at + 14]).capitalize() + "." for at in starts)

    with path.open("wb") as file:
        for number in range(count):
            reference = text(8)
            record = {
                "id": str(number),
                "question": f"Question {number}?",
                "references": [reference],
            }
            file.write(orjson.dumps(record | {"answer": f"{text(5)} {reference[:300]}"}) + b"\n")


def seconds_of(first: Sequence[int], known: dict[int, float]) -> None:
    """Notes the CPU seconds of these processes and of all their descendants, as far as they live."""
    parents, times = dict[int, int](), dict[int, float]()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                stat = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat[1])
            times[int(entry.name)] = (int(stat[11]) + int(stat[12])) / _TICK
    for pid in times:
        above = pid
        while above in parents and above not in first:
            above = parents[above]
        if above in first:
            known[pid] = times[pid]


def measured(
    commands: Sequence[Sequence[str]], rows: Sequence[Path], then: Sequence[str] = ()
) -> WaySeconds:
    """What commands that run at once cost, and a last one after them. rows: the files whose first row is the start."""
    began, start, before = time.perf_counter(), 0.0, 0.0
    known, own, owned = dict[int, float](), list[int](), 0.0
    for some in filter(None, (commands, [then] if then else [])):
        running = [
            subprocess.Popen(one, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for one in some
        ]
        own += [one.pid for one in running]
        while any(one.poll() is None for one in running):
            time.sleep(0.1)
            seconds_of(own, known)
            if not start and all(one.exists() and one.stat().st_size for one in rows):
                start, before = time.perf_counter() - began, sum(known.values())
        for one in running:
            assert one.stderr is not None
            if one.returncode:
                sys.exit(one.stderr.read().decode())
    owned = sum(known.get(pid, 0.0) for pid in own)
    return WaySeconds(time.perf_counter() - began, start, sum(known.values()), before, owned)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.ray", description=__doc__)
    parser.add_argument("--examples", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    found: dict[str, list[WaySeconds]] = {"one process": [], "ray": [], "split, 2": []}
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["LONGMARK_HOME"] = scratch
        examples = Path(scratch) / "examples.jsonl"
        write_examples(examples, arguments.examples)
        longmark = ["taskset", "-c", "0,1", sys.executable, "-m", "longmark"]
        parts = [f"{scratch}/parts/{part}.part" for part in (1, 2)]
        subprocess.run(
            [*longmark, "split", str(examples), "--parts", "2", "--out", f"{scratch}/parts"],
            check=True,
        )

        def run(given: Path | str, out: str, *more: str) -> list[str]:
            return [
                *longmark,
                "run",
                str(given),
                "--metrics",
                METRICS,
                "--out",
                out,
                "--quiet",
                *more,
            ]

        for number in range(arguments.rounds):
            print(f"round {number + 1}, load {os.getloadavg()[0]:.1f}", flush=True)
            outs = {
                name: Path(scratch) / str(number) / name for name in ("one", "ray", "1", "2", "all")
            }
            rows = {name: out / "rows.jsonl" for name, out in outs.items()}
            merge = [*longmark, "merge", str(outs["1"]), str(outs["2"]), "--out", str(outs["all"])]
            one, ray = (
                run(examples, str(outs["one"])),
                run(examples, str(outs["ray"]), "--executor", "ray"),
            )
            both = [run(part, str(outs[n])) for part, n in zip(parts, "12", strict=True)]
            found["one process"].append(measured([one], [rows["one"]]))
            found["ray"].append(measured([ray], [rows["ray"]]))
            found["split, 2"].append(measured(both, [rows["1"], rows["2"]], merge))
            bodies = [b"".join(_without_system(rows[name])) for name in ("one", "ray", "all")]
            assert bodies[0] == bodies[1] == bodies[2], "the rows differ"
    print_table(found)


def _without_system(path: Path) -> list[bytes]:
    lines = map(orjson.loads, path.read_bytes().splitlines())
    return [orjson.dumps({**line, "system": ""}) for line in lines]


def print_table(found: dict[str, list[WaySeconds]]) -> None:
    def median(values: Sequence[float]) -> float:
        return statistics.median(values)

    print(
        f"{'way':12} {'wall':>7} {'start':>6} {'CPU':>7} {'first':>14} {'x one':>6} {'CPU / 2':>8}"
    )
    for name, costs in found.items():
        pairs = list(zip(found["one process"], costs, strict=True))
        wall = median([(one.wall - one.start) / (this.wall - this.start) for one, this in pairs])
        ideal = median([2 * (one.cpu - one.began) / (this.cpu - this.began) for one, this in pairs])
        first = median([cost.first for cost in costs])
        cpu = median([cost.cpu for cost in costs])
        figures = f"{median([cost.wall for cost in costs]):7.1f} {median([cost.start for cost in costs]):6.1f} {cpu:7.1f}"
        share = f"{first:7.1f} ({first / cpu:4.0%})"
        print(
            f"{name:12} {figures} {share:>14} {wall:6.2f} {'' if name == 'one process' else f'{ideal:8.2f}'}"
        )


if __name__ == "__main__":
    main()
