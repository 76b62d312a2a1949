"""A folder of runs that is shown on loopback, and requests to it."""

from __future__ import annotations

import asyncio
import http.client
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from longmark.report.web.connections import listening
from longmark.view.server import application
from longmark.view.site import RunSite


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    text: str


@dataclass(frozen=True)
class ServedView:
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str, method: str = "GET", **headers: str) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, headers=headers)
        reply = connection.getresponse()
        found = Reply(reply.status, dict(reply.getheaders()), reply.read().decode())
        connection.close()
        return found

    def settled(self, path: str) -> Reply:
        """The reply, when nothing is being read any more."""
        while "being read" in (reply := self.get(path)).text:
            pass
        return reply

    def read(self, path: str) -> str:
        """A page, when nothing is being read any more."""
        reply = self.settled(path)
        assert reply.status == 200, reply.text
        return reply.text


@contextmanager
def serving(folder: Path) -> Iterator[ServedView]:
    loop, started = asyncio.new_event_loop(), threading.Event()
    ports: list[int] = []
    stop = asyncio.Event()
    hosts: set[str] = set()

    async def run() -> None:
        async with listening(application(RunSite(folder), hosts), "127.0.0.1", 0) as port:
            hosts.update((f"127.0.0.1:{port}", f"localhost:{port}"))
            ports.append(port)
            started.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),), daemon=True)
    thread.start()
    assert started.wait(20), "the server did not start"
    try:
        yield ServedView(ports[0])
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(20)
        loop.close()
