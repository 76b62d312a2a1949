"""The annotation server while somebody opens connections and sends nothing, or sends bodies slowly. Loopback only.

`python -m bench.annotate_flood [--half-open 2000] [--slow 200] [--seconds 60]`

The server runs in a process of its own, which may open 1,024 files. `half-open` connections send the first line of a
request and no more, and are opened again when they are closed. `slow` posts without a session announce 4 MB and send
64 KB a second; as many come from an annotator who is signed in. Meanwhile a rater labels one item after the other.
Printed: how many items were labelled and how fast, the most memory of the server, and the size of its output.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from statistics import median

from bench.annotate import make
from tests.contrib.annotate.serving import ServedStudy, Visitor

CODE = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
from longmark.cli import main
sys.exit(main(sys.argv[1:]))
"""
HALF = b"GET /mine HTTP/1.1\r\nHost: "


async def half_open(port: int, end: float) -> None:
    """One connection that is always half-open."""
    while time.monotonic() < end:
        with suppress(OSError, TimeoutError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(HALF)
            async with asyncio.timeout(max(0.1, end - time.monotonic())):
                await reader.read()
            writer.close()
        await asyncio.sleep(0.5)


async def slow(port: int, end: float, cookie: str) -> None:
    """A post whose body comes slowly, again and again."""
    host = f"127.0.0.1:{port}"
    head = f"POST /work/i0/draft HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {cookie}\r\n"
    head += "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 4194304\r\n\r\n"
    while time.monotonic() < end:
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(head.encode())
            while time.monotonic() < end and not writer.is_closing():
                writer.write(b"x" * 65_536)
                await writer.drain()
                await asyncio.sleep(1)
            writer.close()
        await asyncio.sleep(0.5)


def label(client: Visitor, end: float) -> tuple[list[float], int]:
    """Opens and posts an item until the end: seconds of each answer, and how many failed."""
    times, failed = [], 0
    item = client.next()
    while time.monotonic() < end and item is not None:
        began = time.perf_counter()
        try:
            path, hidden = client.view(item)
            answer = client.post(path, {**hidden, "f.right": "yes", "f.relevance": "7"})
            times.append(time.perf_counter() - began)
            item = answer.location.removeprefix("/work/") if answer.status == 303 else item
            failed += answer.status != 303
        except (OSError, AssertionError):
            failed += 1
        time.sleep(0.05)
    return times, failed


def memory(pid: int) -> float:
    """MB in use now."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0.0


async def flood(
    port: int, end: float, half: int, bodies: int, rater: Visitor, cookie: str
) -> tuple[list[float], int]:
    attacks = [half_open(port, end) for _ in range(half)]
    attacks += [slow(port, end, own) for own in ("", cookie) for _ in range(bodies)]
    attack = asyncio.gather(*attacks, return_exceptions=True)
    found = await asyncio.to_thread(label, rater, end)
    attack.cancel()
    with suppress(asyncio.CancelledError):
        await attack
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half-open", type=int, default=2000)
    parser.add_argument("--slow", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    resource.setrlimit(
        resource.RLIMIT_NOFILE, (min(10_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2
    )
    with tempfile.TemporaryDirectory() as name, socket.socket() as free:
        path, log = make(Path(name), 2000, 2), Path(name) / "log"
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        with log.open("wb") as output:
            command = [
                sys.executable,
                "-c",
                CODE,
                "annotate",
                "serve",
                str(path),
                "--port",
                str(port),
            ]
            process = subprocess.Popen(command, stdout=output, stderr=output)
        try:
            served, end = ServedStudy(f"http://127.0.0.1:{port}", path), time.monotonic() + 30
            while b"Ctrl-C" not in log.read_bytes():
                assert time.monotonic() < end, log.read_text()
                time.sleep(0.1)
            rater, insider = served.person("Ada"), served.person("Mallory")
            insider.next()
            cookie = "; ".join(f"{key}={value}" for key, value in insider.cookies.items())
            end = time.monotonic() + given.seconds
            times, failed = asyncio.run(
                flood(port, end, given.half_open, given.slow, rater, cookie)
            )
            print(
                f"{len(times)} items labelled, {failed} failed; seconds an item: median {median(times):.3f}, "
                f"greatest {max(times):.3f}"
            )
            print(
                f"memory: at most {memory(process.pid):.0f} MB; output: {log.stat().st_size:,} bytes"
            )
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
