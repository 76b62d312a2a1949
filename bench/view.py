"""`longmark view` on many runs and on a large one: when a page is there, and how much memory the server takes.

`python -m bench.view [--runs 200] [--answers 100000] [--rounds 3] [--folder DIR]`

Two folders are made, unless they are there: `many`, with that many runs that have the answers together, and `one`, with
all answers in a single run. An answer has about 900 characters, two passages and six scores with evidence. For each the
server is started in its own process. Printed, as the median of the rounds: seconds until it listens; seconds to the
first contentful paint of a page that says `Not Found` (what the browser and this machine take), of the list, of a run
that was not opened before, of its next page and of an answer, in headless Chromium; seconds until all scores are read;
the greatest memory (VmHWM) of the server then.

On two idle cores: `many` listens 1.02, nothing 0.19, list 0.46, run 0.63, page 2 0.33, answer 0.21, all read 74, 76 MB;
`one` listens 1.26, nothing 0.32, list 0.36, run 1.03, page 2 0.69, answer 0.82, all read 55, 88 MB.

The server's CPU for the first list of 200 runs was 0.24 s (0.08 s again), for a run 0.32 s (0.02 s again), with the
templates, which are compiled once; for the first page of the large run 0.29 s.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson

METRICS = ("ccrs.question_relevance", "ccrs.contextual_coherence", "ccrs.information_density", "classic.length.words",
           "score.readability.reading_ease", "score.readability.grade_level")  # fmt: skip
WORDS = (
    "river",
    "flood",
    "levee",
    "the",
    "of",
    "a",
    "to",
    "and",
    "heat",
    "drought",
    "warning",
    "county",
    "water",
)


def made(folder: Path, count: int, seed: int) -> None:
    """A run folder as the engine leaves it."""
    if (folder / "manifest.json").is_file():
        return
    folder.mkdir(parents=True)
    chance = random.Random(seed)
    texts = [" ".join(chance.choices(WORDS, k=170)).capitalize() + "." for _ in range(50)]
    with (
        (folder / "examples.jsonl").open("wb") as examples,
        (folder / "rows.jsonl").open("wb") as rows,
    ):
        for number in range(count):
            its: dict[str, Any] = {
                "id": f"e{number}",
                "question_id": f"q{number // 2}",
                "system": "ab"[number % 2],
            }
            said = {"question": f"Is levee {number // 2} safe?", "answer": chance.choice(texts)}
            passages = [{"text": chance.choice(texts)[:300]} for _ in range(2)]
            examples.write(orjson.dumps({**its, **said, "contexts": passages}) + b"\n")
            for metric in METRICS:
                row = {
                    "example_id": its["id"],
                    "question_id": its["question_id"],
                    "system": its["system"],
                }
                reply = {"judges": [{"model": "m", "text": "70", "score": 0.7, "prompt": metric}]}
                score = round(chance.random(), 3)
                rows.write(
                    orjson.dumps({**row, "metric": metric, "score": score, "evidence": reply})
                    + b"\n"
                )
    facts = {name: {"bounds": [0, 1], "higher_is_better": True} for name in METRICS}
    created = f"2026-{seed % 12 + 1:02}-{seed % 28 + 1:02}T08:00:00Z"
    sessions = [
        {"started": created, "ended": created, "rows": 6 * count, "before": 0, "seconds": 60.0}
    ]
    manifest: dict[str, Any] = {
        "longmark": "bench",
        "created": created,
        "finished": created,
        "system": "a",
        "metrics": facts,
    }
    manifest |= {
        "fixed": {"models": {"judge": ["m"]}},
        "sessions": sessions,
        "examples": {"rows": 6 * count},
    }
    (folder / "manifest.json").write_bytes(orjson.dumps(manifest))


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, int, float]]:
    """The address, the process and how long it took to listen."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    began = time.perf_counter()
    command = [sys.executable, "-m", "longmark", "view", str(folder), "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    assert server.stdout.readline()
    try:
        yield f"http://127.0.0.1:{port}", server.pid, time.perf_counter() - began
    finally:
        server.terminate()
        server.wait(60)


def memory(pid: int) -> float:
    """The greatest resident memory so far, in MB."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1]) / 1000


def measure(folder: Path, run: str, browser: Any) -> dict[str, float]:
    began = time.perf_counter()
    with served(folder) as (url, pid, listens):
        page = browser.new_page(bypass_csp=True)
        path = f"path={quote(run, safe='')}"
        pages = {
            "nothing": "/none",
            "list": "/",
            "run": f"/run?{path}",
            "page 2": f"/run?{path}&page=2",
        }
        pages["answer"] = f"/answer?{path}&id=e3"
        found = {"listens": listens}
        for name, address in pages.items():
            page.goto(url + address)
            page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
            found[name] = (
                page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
                / 1000
            )
        page.close()
        while "being read" in urllib.request.urlopen(url).read().decode():
            time.sleep(0.2)
        found["all read"] = time.perf_counter() - began
        urllib.request.urlopen(f"{url}/run?{path}").read()
        return {**found, "MB": memory(pid)}


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description="longmark view on many runs and on a large one")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--answers", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        root = given.folder or Path(temporary)
        for number in range(given.runs):
            made(
                root / "many" / f"{number // 20:02}" / f"run-{number:03}",
                given.answers // given.runs,
                number,
            )
        made(root / "one" / "large", given.answers, 7)
        flags = ["--no-sandbox", "--disable-gpu", "--disable-quic"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        browser.new_page(bypass_csp=True).goto("about:blank")
        for folder, run in (("many", "09/run-199"), ("one", "large")):
            rounds = [measure(root / folder, run, browser) for _ in range(given.rounds)]
            figures = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
            print(folder, *(f"{name} {value:.2f}" for name, value in figures.items()), sep="  ")


if __name__ == "__main__":
    main()
