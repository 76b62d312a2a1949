"""`python -m tests.compat RELEASE` makes files of a release, which every later 1.x reads (`test_compat.py`).

It is run once, for a release that adds a form of file, into a new folder. It never replaces one that is there: the
tests would then read what the present version writes, not what people have.
"""

from __future__ import annotations

import csv
import gzip
import json
import random
import sys
import tempfile
from pathlib import Path

from tests.program import QR, run
from tests.wire import serve

HERE = Path(__file__).parent
READABILITY = "score.readability.reading_ease"
TEXT = "water rises when the river meets the tide and nobody has closed the gate before evening"
KEPT = ("manifest.json", "examples.jsonl", "rows.jsonl")


def write_input(folder: Path) -> None:
    """100 answers of two systems, and the ratings of three people, who mostly prefer the short one."""
    with (folder / "answers.jsonl").open("w") as answers, (folder / "ratings.csv").open("w", newline="") as file:
        ratings, chance = csv.writer(file), random.Random(7)
        ratings.writerow(["example_id", "rater", "name", "value"])
        for number in range(50):
            for system, length in (("brief", 5), ("winding", 11)):
                id_ = f"{system}-{number}"
                answer = " ".join((TEXT.split() * 3)[number % 7 :][: length + number % 4]).capitalize() + "."
                line = {"id": id_, "question": f"What happens at gate {number}?", "answer": answer, "system": system}
                answers.write(json.dumps(line | {"contexts": [TEXT]}) + "\n")
                quality = chance.randint(1, 3) + (system == "brief")
                for rater in range(3):
                    ratings.writerow(
                        [
                            id_,
                            f"rater-{rater}",
                            "helpful",
                            quality + chance.randint(0, 1),
                        ]
                    )


def make(folder: Path, home: Path) -> None:
    """Runs the commands in the folder and keeps what later commands read."""

    def command(*words: str) -> None:
        done = run(*words, home=home, cwd=folder)
        if done.code:
            raise SystemExit(f"{' '.join(words)}\n{done.out}{done.err}")

    write_input(folder)
    with serve() as server:
        judge = ("--judge", f"m@{server.base_url}")
        command(
            "run",
            "answers.jsonl",
            "--metrics",
            f"{QR},{READABILITY}",
            *judge,
            "--cache",
            "calls.sqlite",
            "--out",
            "run",
            "--quiet",
        )
    command("split", "answers.jsonl", "--parts", "2", "--limit", "20", "--out", "parts")
    for part in "12":
        command("run", f"parts/{part}.part", "--metrics", READABILITY, "--out", f"part-{part}", "--quiet")
    command("compare", "run", "--metrics", READABILITY, "--json", "compare.json")
    command("label", "next", "run", "--metrics", READABILITY, "--n", "10", "--out", "draw.jsonl")
    claim = f"brief better than winding on {READABILITY}"
    command("certify", "run", "--labels", "ratings.csv", "--claim", claim, "--equal-chances", "--out", "certificate")


def main(release: str) -> None:
    target = HERE / release
    if target.exists():
        raise SystemExit(f"{target} exists. Files of a release are never made again.")
    with tempfile.TemporaryDirectory() as made:
        folder, home = Path(made, "made"), Path(made, "home")
        folder.mkdir()
        make(folder, home)
        single = (
            "answers.jsonl",
            "ratings.csv",
            "compare.json",
            "draw.jsonl",
            "certificate/certificate.json",
            "parts/1.part",
        )
        runs = [f"{name}/{file}" for name in ("run", "part-1", "part-2") for file in KEPT]
        runs += ["part-1/part.jsonl", "part-2/part.jsonl"]
        for name in (*single, *runs):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes((folder / name).read_bytes())
        (target / "calls.sqlite.gz").write_bytes(gzip.compress((folder / "calls.sqlite").read_bytes(), mtime=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
