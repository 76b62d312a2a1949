"""200 people who label for a while, as people do: memory, handles and latency of the server, and whether a label is lost.

`python -m bench.annotate_crowd [--people 200] [--minutes 20] [--think 8] [--items N]`

Each person opens an item, thinks for half to one and a half of `think` seconds, and submits it. One in ten submits sends
the same form twice at once (a double click), one in ten reloads the page first, one in fifty leaves and comes back by a new
invitation link. The server closes idle connections beyond 300; a request on one that it closed is sent again, as browsers
do. The server runs in a process of its own; its resident memory and open handles are read every five
seconds. At the end it is stopped as a terminal stops it, and the study's database is compared with what the people were
told is saved: each label once, with the values that were sent last. Exit code 1 if that does not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
from bench.annotate import make
from bench.soak import open_handles, resident_mb

from longmark.contrib.annotate.auth import Access
from longmark.contrib.annotate.site import open_store
from longmark.contrib.annotate.store import StudyStore

OVERLAP = 3
SAMPLE_SECONDS = 5.0
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass
class CrowdLog:
    """What the people saw. saved: (person, item) -> the relevance of the last submit that the server confirmed; seconds:
    of each request, with when it was sent."""

    saved: dict[tuple[str, str], int] = field(default_factory=dict)
    submits: list[tuple[float, float]] = field(default_factory=list)
    pages: list[tuple[float, float]] = field(default_factory=list)
    twice: int = 0
    again: int = 0  # on a connection that the server had closed
    returns: int = 0
    failures: list[str] = field(default_factory=list)


@dataclass
class CrowdMember:
    """One of the people. links: of invitations, of which one is used at a time."""

    id: str
    links: list[str]
    base: str
    end: float
    think: float
    log: CrowdLog
    draw: random.Random

    async def labels(self) -> None:
        """Comes and labels until the end, or until no item is left."""
        while time.monotonic() < self.end and self.links:
            jar = aiohttp.CookieJar(unsafe=True)
            origin = {"Origin": self.base}
            async with aiohttp.ClientSession(self.base, headers=origin, cookie_jar=jar) as session:
                if not await self._visit(session):
                    return
            self.log.returns += 1

    async def _visit(self, session: aiohttp.ClientSession) -> bool:
        """One visit; True where the person left before the end."""
        async with session.post(self.links.pop(), data={}, headers=FORM) as reply:
            token = re.search(r'name="token" value="(\w+)"', await reply.text())
            if token is None:
                self.log.failures.append(f"{self.id}: no session, status {reply.status}")
                return False
        async with session.get("/work", allow_redirects=False) as reply:
            where = reply.headers.get("Location", "")
        while where.startswith("/work/") and time.monotonic() < self.end:
            if self.links and self.draw.random() < 0.02:
                return True
            where = await self._item(session, where, token[1])
        return False

    async def _item(self, session: aiohttp.ClientSession, where: str, token: str) -> str:
        """Labels an item; the place of the next one."""
        page = ""
        for _ in range(2 if self.draw.random() < 0.1 else 1):
            _, page = await self._sent(session, "GET", where, None, self.log.pages)
        await asyncio.sleep(self.think * self.draw.uniform(0.5, 1.5))
        once = re.findall(r'name="once" value="([\w-]+)"', page)
        version = re.findall(r'name="version" value="(\d+)"', page)
        if not once:
            self.log.failures.append(f"{self.id}: {where} has no form")
            return ""
        relevance = self.draw.randint(1, 10)
        form = {
            "token": token,
            "once": once[0],
            "version": version[0] if version else "0",
            "f.right": self.draw.choice(("yes", "no")),
            "f.relevance": str(relevance),
            "f.comment": "It was raised. " * self.draw.randint(0, 9),
        }
        sent = 2 if self.draw.random() < 0.1 else 1
        self.log.twice += sent - 1
        places = await asyncio.gather(*(self._submit(session, where, form) for _ in range(sent)))
        confirmed = [place for place in places if place]
        if confirmed:
            self.log.saved[self.id, where.removeprefix("/work/")] = relevance
        return confirmed[0] if confirmed else ""

    async def _submit(
        self, session: aiohttp.ClientSession, where: str, form: dict[str, str]
    ) -> str:
        reply, body = await self._sent(session, "POST", where, form, self.log.submits)
        if reply.status != 303:
            self.log.failures.append(f"{self.id}: {where}: status {reply.status}: {body[:200]}")
            return ""
        return reply.headers["Location"]

    async def _sent(
        self,
        session: aiohttp.ClientSession,
        method: str,
        where: str,
        form: dict[str, str] | None,
        times: list[tuple[float, float]],
    ) -> tuple[aiohttp.ClientResponse, str]:
        """The reply and its text. A request on a connection that the server has closed is sent again, four times at
        most."""
        began = time.perf_counter()
        for attempt in range(5):
            try:
                async with session.request(
                    method, where, data=form, allow_redirects=False
                ) as reply:
                    body = await reply.text()
                times.append((time.monotonic(), time.perf_counter() - began))
                return reply, body
            except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
                if attempt == 4:
                    raise
                self.log.again += 1
        raise AssertionError("unreachable")


def invited(store: StudyStore, people: int, links_each: int) -> dict[str, list[str]]:
    """Id of a person -> links of invitations."""
    access = Access(store)
    with store.committing():
        raters = [store.add_person(f"Rater {number}", "annotator") for number in range(people)]
        return {
            rater.id: [f"/in/{access.invite(rater)}" for _ in range(links_each)] for rater in raters
        }


async def sampled(pid: int, end: float, samples: list[tuple[float, int]]) -> None:
    while time.monotonic() < end:
        samples.append((resident_mb(pid), open_handles(pid)))
        await asyncio.sleep(SAMPLE_SECONDS)


async def crowd(
    people: list[CrowdMember], pid: int, end: float, samples: list[tuple[float, int]]
) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(sampled(pid, end, samples))
        for person in people:
            group.create_task(person.labels())


def served(path: Path, port: int) -> subprocess.Popen[bytes]:
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
    assert process.stdout is not None
    while b"Ctrl-C" not in process.stdout.readline():
        assert process.poll() is None, "the server did not start"
    return process


def difference(path: Path, log: CrowdLog) -> list[str]:
    """What the study's database has otherwise than the people were told."""
    with closing(open_store(path)) as store:
        stored = {
            (answer.person_id, answer.item_id): answer.values.get("relevance")
            for answer in store.answers()
        }
        submitted = sum(event.kind == "submitted" for event in store.events())
    lost = [key for key in log.saved if key not in stored]
    unequal = [key for key, value in log.saved.items() if key in stored and stored[key] != value]
    unknown = [key for key in stored if key not in log.saved]
    print(
        f"{len(log.saved):,} labels confirmed, {len(stored):,} stored, {submitted:,} events of a "
        f"submit; lost {len(lost)}, other values {len(unequal)}, not confirmed {len(unknown)}"
    )
    doubled = submitted - len(stored)
    return [
        *(f"lost: {key}" for key in lost[:3]),
        *(f"other values: {key}" for key in unequal[:3]),
        *([f"{doubled} labels are submitted twice"] if doubled else []),
        *log.failures[:5],
    ]


def quantiles(requests: list[tuple[float, float]]) -> str:
    """Median, 99th percentile and greatest, in ms; of the first and the last quarter the 99th percentile."""
    times = sorted(seconds for _, seconds in requests)
    by_time = [seconds for _, seconds in sorted(requests)]
    quarter = max(1, len(by_time) // 4)

    def at(part: list[float], share: float) -> float:
        return 1000 * sorted(part)[min(len(part) - 1, int(share * len(part)))]

    return (
        f"median {at(times, 0.5):.0f} ms, 99 % {at(times, 0.99):.0f} ms (first quarter "
        f"{at(by_time[:quarter], 0.99):.0f}, last {at(by_time[-quarter:], 0.99):.0f}), greatest "
        f"{1000 * times[-1]:.0f} ms"
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.annotate_crowd",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--think", type=float, default=8, help="seconds for an item")
    parser.add_argument("--items", type=int, default=0, help="at least so many (default: enough)")
    options = parser.parse_args()
    most_labels = options.people * (60 * options.minutes / (options.think * 0.8) + 20)
    with tempfile.TemporaryDirectory() as name, socket.socket() as free:
        enough = int(most_labels / OVERLAP) + options.people
        path = make(Path(name), max(enough, options.items), OVERLAP)
        with closing(open_store(path)) as store:
            links = invited(store, options.people, 5)
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        process = served(path, port)
        log = CrowdLog()
        samples: list[tuple[float, int]] = []
        end = time.monotonic() + 60 * options.minutes
        people = [
            CrowdMember(
                person,
                [urlsplit(link).path for link in own_links],
                f"http://127.0.0.1:{port}",
                end,
                options.think,
                log,
                random.Random(number),
            )
            for number, (person, own_links) in enumerate(links.items())
        ]
        try:
            asyncio.run(crowd(people, process.pid, end, samples))
            cpu = sum(os.sysconf("SC_CLK_TCK") ** -1 * ticks for ticks in ticks_of(process.pid))
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)
        seconds = 60 * options.minutes
        requests = len(log.submits) + len(log.pages)
        print(
            f"{options.people} people, {options.minutes:g} minutes: {requests / seconds:.1f} requests "
            f"and {len(log.submits) / seconds:.1f} submits a second, {log.twice:,} of them sent "
            f"twice; {log.returns:,} returns; {log.again:,} requests on closed connections, sent again"
        )
        print(f"pages: {quantiles(log.pages)}")
        print(f"submits: {quantiles(log.submits)}")
        after_minute = samples[int(60 / SAMPLE_SECONDS) :] or samples
        print(
            f"server: {1000 * cpu / requests:.2f} ms of CPU a request; {after_minute[0][0]:.0f} MB "
            f"after a minute, {samples[-1][0]:.0f} at the end, at most {max(mb for mb, _ in samples):.0f}; "
            f"handles {after_minute[0][1]}, {samples[-1][1]}, at most {max(n for _, n in samples)}"
        )
        faults = difference(path, log)
    print("\n".join(["faults:", *faults]) if faults else "no fault")
    return 1 if faults else 0


def ticks_of(pid: int) -> tuple[int, int]:
    """Ticks of the processor that a process used, as a user and in the kernel."""
    parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(parts[11]), int(parts[12])


if __name__ == "__main__":
    sys.exit(main())
