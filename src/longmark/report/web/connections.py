"""The connections of the server: how many there are, and how long each may take.

A connection has 10 seconds to send the head of a request, a request 30 to send its body, and an idle connection is
closed after 75. There are at most `most`. One more closes the oldest that has not sent a whole request yet, where those
are more than a quarter: whoever opens many closes their own. Else it closes the one that is idle longest, so that a
newcomer is served where all others are kept open by people who read. What goes wrong on many connections is logged once a
minute.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from aiohttp import web

from longmark.errors import UserError

HEAD_SECONDS = 10.0
BODY_SECONDS = 30.0
IDLE_SECONDS = 75.0
_MOST = 300
_SPARE = 200
_FEWEST = 32  # connections; of the files that a process may open, those for other things


class Connections:
    """Those of one server. unserved: no request came in whole yet; idle: between two requests. Oldest first."""

    def __init__(self, limit: int | None = None, head_seconds: float = HEAD_SECONDS) -> None:
        self.most = limit or _limit()
        self.head_seconds = head_seconds
        self.unserved: OrderedDict[Connection, None] = OrderedDict()
        self.idle: OrderedDict[Connection, None] = OrderedDict()
        self.count = 0

    def put(self, connection: Connection, group: OrderedDict[Connection, None] | None) -> None:
        """Notes in which state a connection is; None: at work, or closed."""
        self.unserved.pop(connection, None)
        self.idle.pop(connection, None)
        if group is not None:
            group[connection] = None

    def drop_all(self) -> None:
        """Closes those that are not at work: the server ends."""
        for connection in (*self.unserved, *self.idle):
            connection.drop()

    def make_room(self) -> None:
        while self.count > self.most and (self.unserved or self.idle):
            many_unserved = len(self.unserved) > self.most // 4
            waiting = self.unserved if many_unserved or not self.idle else self.idle
            oldest, _ = waiting.popitem(last=False)
            oldest.drop()


class Connection(web.RequestHandler):
    """One connection, which ends when it takes too long."""

    __slots__ = ("_open", "_timer", "among")

    def __init__(self, server: web.Server, among: Connections) -> None:
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]  # paths hold links, which are secrets
            keepalive_timeout=IDLE_SECONDS,
            lingering_time=1.0,
        )
        self.among = among
        self._open = False
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._open = True
        self.among.count += 1
        self.among.put(self, self.among.unserved)
        self.limit(self.among.head_seconds)
        self.among.make_room()

    def connection_lost(self, exc: BaseException | None) -> None:
        self._closed()
        super().connection_lost(exc)

    def limit(self, seconds: float | None) -> None:
        """From now, the time until the connection is closed; None: there is no limit."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = (
            None if seconds is None or not self._open else self._loop.call_later(seconds, self.drop)
        )

    def at_work(self) -> None:
        """A whole request has come in."""
        self.among.put(self, None)
        self.limit(None)

    def served(self) -> None:
        if self._open:
            self.among.put(self, self.among.idle)
            self.limit(IDLE_SECONDS)

    def drop(self) -> None:
        if self._open and isinstance(self.transport, asyncio.Transport):
            self.transport.abort()
        self._closed()

    def _closed(self) -> None:
        if self._open:
            self._open = False
            self.among.count -= 1
            self.limit(None)
            self.among.put(self, None)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """What is no HTTP: the reply says nothing of the server, and nothing is logged of a request."""
        if status >= 500 and first_in_a_minute(type(exc).__name__):
            print(f"longmark: a request failed: {type(exc).__name__}", file=sys.stderr)
        response = web.Response(
            status=status, text="The request cannot be read.\n", headers={"Server": "longmark"}
        )
        response.force_close()
        return response


@asynccontextmanager
async def listening(
    application: web.Application, host: str, port: int, connections: Connections | None = None
) -> AsyncIterator[int]:
    """Answers requests until the block ends; yields the port. UserError where the port cannot be had."""
    runner = web.AppRunner(application, shutdown_timeout=5.0)
    loop = asyncio.get_running_loop()
    among = connections or Connections()
    await runner.setup()
    server = runner.server
    assert server is not None
    loop.set_exception_handler(log_once)
    try:
        try:
            listener = await loop.create_server(
                lambda: Connection(server, among), host, port, reuse_address=True
            )
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise UserError(
                f"cannot listen on {host}, port {port} ({why}); choose another --port"
            ) from None
        try:
            yield int(listener.sockets[0].getsockname()[1])
        finally:
            listener.close()
            among.drop_all()
    finally:
        await runner.cleanup()


async def interrupted() -> None:
    """Waits for Ctrl-C or SIGTERM."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError):  # Windows: Ctrl-C ends asyncio.run itself
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
    await stop.wait()


_logged: dict[str, float] = {}


def first_in_a_minute(problem: str) -> bool:
    """Whether this is to be logged: not if the same was within the last minute."""
    now = time.monotonic()
    if now - _logged.get(problem, -60.0) < 60:
        return False
    if len(_logged) > 1000:
        _logged.clear()
    _logged[problem] = now
    return True


def log_once(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """An exception handler of a loop: one line for each kind of problem, once a minute."""
    problem = f"{context.get('message', 'a problem')} ({type(context.get('exception')).__name__})"
    if first_in_a_minute(problem):
        print(f"longmark: {problem}", file=sys.stderr)


def _limit() -> int:
    """As many connections as the process may open files, without those for other things."""
    try:
        import resource
    except ImportError:  # Windows
        return _MOST
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if soft == resource.RLIM_INFINITY else max(_FEWEST, min(_MOST, soft - _SPARE))
