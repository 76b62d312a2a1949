"""The annotation server under load, and large studies.

`python -m bench.annotate [--people 50] [--items 200] [--pages]`

load      a server in its own process; each person submits every item as fast as the server answers, in one process with
          50 connections. --pages opens each page before it is submitted, as a browser does. Printed: submits a second,
          CPU of the server, the latency of a submit (median, 95 %, greatest), and how many labels are lost or doubled.
large     10,000 items with 5 raters each in the database: seconds of CPU to count all items, and for each export.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import orjson

from longmark.contrib.annotate import export
from longmark.contrib.annotate.auth import Access
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.site import import_study, open_store, stored_study
from longmark.contrib.annotate.store import Assignment, Page, StudyStore, Visit

STUDY = """
title: Load
items: {{from: jsonl, path: items.jsonl}}
show: [question, answer]
fields:
  - {{name: right, type: choice, options: [yes, no, n-a]}}
  - {{name: relevance, type: scale, min: 1, max: 10}}
  - {{name: comment, type: text}}
assignment: {{overlap: {overlap}}}
"""


def make(folder: Path, items: int, overlap: int) -> Path:
    answer = (
        "The levee was raised in 1920 and held in five floods since then, so it may be safe. " * 20
    )
    with (folder / "items.jsonl").open("wb") as file:
        for n in range(items):
            line = {
                "id": f"i{n}",
                "question": f"Is levee {n} safe?",
                "answer": answer,
                "system": f"s{n % 3}",
            }
            file.write(orjson.dumps(line) + b"\n")
    path = folder / "study.yaml"
    path.write_text(STUDY.format(overlap=overlap))
    import_study(path)
    return path


def links(store: StudyStore, people: int) -> list[str]:
    access = Access(store)
    with store.committing():
        return [
            f"/in/{access.invite(store.add_person(f'Rater {n}', 'annotator'))}"
            for n in range(people)
        ]


async def person(base: str, link: str, pages: bool, times: list[float], done: list[str]) -> None:
    """Submits every item that the server gives."""
    headers = {"Origin": base}
    async with aiohttp.ClientSession(
        base, headers=headers, cookie_jar=aiohttp.CookieJar(unsafe=True)
    ) as session:
        async with session.post(
            link, data={}, headers={"Content-Type": "application/x-www-form-urlencoded"}
        ) as reply:
            assert reply.status == 200, await reply.text()
            found = re.search(r'name="token" value="(\w+)"', await reply.text())
            assert found
        async with session.get("/work", allow_redirects=False) as reply:
            where = reply.headers["Location"]
        while where.startswith("/work/"):
            once = f"{where}-{len(done)}"
            if pages:
                async with session.get(where) as reply:
                    page = await reply.text()
                    once = re.findall(r'name="once" value="([\w-]+)"', page)[0]
            form = {
                "token": found[1],
                "once": once,
                "version": "0",
                "f.right": "yes",
                "f.relevance": "7",
            }
            began = time.perf_counter()
            async with session.post(where, data=form, allow_redirects=False) as reply:
                assert reply.status == 303, (reply.status, await reply.text())
                times.append(time.perf_counter() - began)
                done.append(where.removeprefix("/work/"))
                where = reply.headers["Location"]


async def crowd(
    base: str, people: list[str], pages: bool
) -> tuple[list[float], list[list[str]], float]:
    times: list[float] = []
    done: list[list[str]] = [[] for _ in people]
    began = time.perf_counter()
    await asyncio.gather(
        *(person(base, link, pages, times, own) for link, own in zip(people, done, strict=True))
    )
    return times, done, time.perf_counter() - began


def load(people: int, items: int, pages: bool) -> tuple[list[float], int, int]:
    """The latencies of submits, and how many labels are lost and doubled."""
    with tempfile.TemporaryDirectory() as name, socket.socket() as free:
        folder = Path(name)
        path = make(folder, items, people)
        with closing(open_store(path)) as store:
            own = links(store, people)
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        command = [
            sys.executable,
            "-m",
            "longmark",
            "annotate",
            "serve",
            str(path),
            "--port",
            str(port),
        ]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        try:
            assert process.stdout is not None
            while b"Ctrl-C" not in process.stdout.readline():
                assert process.poll() is None, "the server did not start"
            base = f"http://127.0.0.1:{port}"
            times, done, seconds = asyncio.run(
                crowd(base, [urlsplit(link).path for link in own], pages)
            )
        finally:
            process.terminate()
            process.wait()
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
        with closing(open_store(path)) as store:
            stored = Counter((one.item_id, one.person_id) for one in store.answers())
            submitted = sum(event.kind == "submitted" for event in store.events())
        expected = sum(map(len, done))
        cpu = used.ru_utime + used.ru_stime
        print(f"{expected / seconds:,.0f} submits a second, {seconds:.1f} s in all")
        print(f"server: {cpu:.1f} s of CPU, start included, {cpu / expected * 1e3:.2f} ms a submit")
        return sorted(times), expected - len(stored), submitted - len(stored)


def large(items: int, raters: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = make(folder, items, raters)
        with closing(open_store(path)) as store:
            links(store, raters)
            people = [one.id for one in store.people()]
            began = time.perf_counter()
            fill(store, people)
            print(f"filled: {time.perf_counter() - began:.1f} s for {items * raters:,} labels")
        with closing(open_store(path)) as store:
            began = time.process_time()
            study = stored_study(store)
            assert study is not None
            read = [StudyItem(**one) for one in store.contents()]
            counts = Counter((one.item_id, one.status) for one in store.assignments())
            print(f"listed: {time.process_time() - began:.1f} s ({len(counts):,} items)")
            for file in export.FILES:
                began = time.process_time()
                made = export.export(study, read, store, folder / "out", chosen_files=(file,))
                size = made[0].stat().st_size / 1e6 if made else 0
                print(f"{file}: {time.process_time() - began:.1f} s, {size:.1f} MB")


def fill(store: StudyStore, people: list[str]) -> None:
    now = "2026-11-23T08:00:00.000Z"
    for position, item in enumerate(store.items(), 1):
        with store.unit():
            for n, one in enumerate(people):
                store.assign(
                    Assignment(item, one, False, "open", None, now, None, position, "normal")
                )
                values = {
                    "right": ("yes", "no")[(position + n // 4) % 2],
                    "relevance": 1 + (position + n // 3) % 10,
                }
                store.save(item, one, values, Page(f"{n}", 1, submitted=True), complete=True)
                store.visit(f"{item}{n}", Visit(item, one, 30.0 + n, now))
                store.set_status(item, one, "done", one)
    store.commit()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--items", type=int, default=200)
    parser.add_argument("--pages", action="store_true")
    parser.add_argument("--only", choices=("load", "large"))
    given = parser.parse_args()
    if given.only != "large":
        times, lost, doubled = load(given.people, given.items, given.pages)
        half, most = times[len(times) // 2], times[int(len(times) * 0.95)]
        print(
            f"latency: median {half * 1e3:.0f} ms, 95 % {most * 1e3:.0f} ms, greatest {times[-1] * 1e3:.0f} ms"
        )
        print(f"lost: {lost}, doubled: {doubled}")
    if given.only != "load":
        large(10_000, 5)


if __name__ == "__main__":
    main()
