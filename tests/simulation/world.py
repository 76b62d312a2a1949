"""A world of simulated processes: one clock that jumps, one disk that can fill, and death at any moment.

A process is an event loop of its own (`Process`); `World` lets one of those that are ready run one callback at a time,
in an order that the seed decides. Before an operation on the disk another process may run too (by greenlets, which
playwright brings), so that processes interleave within a callback, on one thread. (The library looptime has one loop on
a virtual clock; here there are several, and they die.) Time passes only while all of them wait.

A moment of a process is a callback or an operation on the disk. A process that is killed before moment n has done n - 1
of them: from then on its callbacks are dropped, its operations raise `Killed` (which the code under test does not
catch; whatever it runs while that unwinds can write nothing), its buffers are lost, its files and locks are closed as
the kernel does, and its open transaction is rolled back.

The disk is a real folder in memory, and SQLite is the real one. What is simulated: a full disk (ENOSPC, a short
`write`, SQLITE_FULL with and without SQLite's own rollback), a database that another program keeps locked, and kills
between operations; of power cuts, that a database loses every commit since the last synchronous one. What is not: power
cuts of other files, lost or reordered writes within a commit, damaged pages, the recovery of a WAL by the next process
(a killed connection is closed here, which rolls back and may checkpoint), I/O errors other than a full disk, and a kill
or another process within one system call or SQL statement. A run's index, which each session
makes anew, is kept in memory.
"""

from __future__ import annotations

import asyncio
import builtins
import contextvars
import errno
import heapq
import io
import os
import random
import secrets
import shutil
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from greenlet import getcurrent, greenlet

EPOCH = 1_700_000_000.0  # of the simulated wall clock
LONGEST = 2 * 3600.0  # virtual seconds of a schedule, beyond which it hangs
MOST_MOMENTS = 400_000  # of all processes together, beyond which they turn in a circle
_PAUSES = 0.1  # of a process's operations on the disk: another process may run before them
_FIRST_PID = 400_000_000  # no process of a real machine has it


class Killed(BaseException):
    """The process is dead: what it was about to do is not done."""


class Violation(AssertionError):
    """A promise was broken."""


class Process:
    """A process. name: in messages; main: makes its main coroutine; signals: the moments of a Ctrl-C."""

    def __init__(
        self, world: World, name: str, main: Callable[[Process], Coroutine[Any, Any, Any]]
    ) -> None:
        self.world, self.name = world, name
        self._loop: Any = self
        self._running: Any = self
        self._paused: greenlet | None = None  # in the middle of a callback
        self.alive = True  # neither dead nor at its end
        self.pid: int = _FIRST_PID + len(world.processes)
        if world.reuses_pids:
            self.pid = next(
                (ended.pid for ended in reversed(world.processes) if not ended.alive), self.pid
            )
        self.killed = False
        self.struck = False  # by a fault of the disk, the last time at:
        self.struck_at = -1.0
        self.limited = False  # its tokens or dollars
        self.resends = True  # calls whose last attempt is unknown
        self.resends_lines = True  # those whose batch is lost
        self.tokens: set[str] = set()  # that it made: one names its attempts in the ledger
        self.moments = 0
        self.kill_at: int | None = None
        self.signals: list[int] = []
        self.stalls: list[tuple[int, float]] = []  # before which moment, for how many seconds
        self.asleep_until = 0.0
        self.handlers: dict[int, Any] = {}
        self.result: Any = None
        self.error: BaseException | None = None
        self.at_exit: Callable[[], None] = lambda: None  # after its loop has ended
        self.at_end: Callable[[], None] = lambda: (
            None
        )  # of the world: the process has ended or died
        self.files: set[Any] = set()
        self.written: list[bytes] = []  # by `os.write`: rows
        self.databases: list[sqlite3.Connection] = []
        self.tasks: list[asyncio.Task[Any]] = []
        self._ready: deque[asyncio.Handle] = deque()
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._timer_count = 0
        self._main: asyncio.Task[Any] | None = None
        self.call_soon(self._begin, main)

    # What asyncio asks of a loop, as far as it is used ------------------------------------------------------------
    def time(self) -> float:
        return self.world.now

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return self.alive

    def is_closed(self) -> bool:
        return not self.alive

    def call_soon(
        self, callback: Any, *args: Any, context: contextvars.Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self._loop, context)
        if self.alive:
            self._ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon

    def call_later(
        self, delay: float, callback: Any, *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self.world.now + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Any, *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        timer = asyncio.TimerHandle(when, callback, args, self._loop, context)
        self._timer_count += 1
        heapq.heappush(self._timers, (when, self._timer_count, timer))
        return timer

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Nothing: a cancelled timer is passed over."""

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self._loop)

    def create_task(
        self, coro: Any, *, name: str | None = None, context: Any = None
    ) -> asyncio.Task[Any]:
        task = asyncio.Task(coro, loop=self._loop, name=name or "task", context=context)
        self.tasks.append(task)
        return task

    def set_exception_handler(self, handler: Any) -> None:
        """The world is told of all."""

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if self.alive:
            self.world.complain(
                f"{self.name}: {context.get('message')}: {context.get('exception')!r}"
            )

    # Its life -----------------------------------------------------------------------------------------------------
    def _begin(self, main: Callable[[Process], Coroutine[Any, Any, Any]]) -> None:
        self._main = self.create_task(main(self))
        self._main.add_done_callback(self._finish)

    def _finish(self, main: asyncio.Task[Any]) -> None:
        """The main task has ended: the others are cancelled, as `asyncio.run` does, then the process exits."""
        left = [task for task in self.tasks if not task.done()]
        for task in left:
            task.cancel()
        if left:
            gathered = asyncio.gather(*left, return_exceptions=True)
            gathered.add_done_callback(lambda _done: self._exit(main))
        else:
            self._exit(main)

    def _exit(self, main: asyncio.Task[Any]) -> None:
        self.error = asyncio.CancelledError() if main.cancelled() else main.exception()
        self.result = None if self.error else main.result()
        self._running = None
        asyncio._set_running_loop(None)
        try:
            self.at_exit()
        except Exception as error:
            self.world.complain(f"{self.name} at its exit: {error!r}")
        self._ends()

    def due(self, now: float) -> bool:
        """Whether it can run now; timers that have come are made ready."""
        if self.asleep_until > now:
            return False
        if self._paused is not None:
            return True
        while self._timers and self._timers[0][0] <= now:
            self._ready.append(heapq.heappop(self._timers)[2])
        return bool(self._ready)

    def next(self) -> float | None:
        """When it can run next."""
        while self._timers and self._timers[0][2].cancelled():
            heapq.heappop(self._timers)
        if self._ready or self._paused is not None:
            return self.asleep_until
        return max(self._timers[0][0], self.asleep_until) if self._timers else None

    def turn(self) -> None:
        """Runs one callback, or what is left of one."""
        world = self.world
        if self._paused is None and self.stalls and self.stalls[0][0] <= self.moments:
            self.asleep_until = world.now + self.stalls.pop(0)[1]
            return
        world.current = self
        asyncio._set_running_loop(self._running)
        try:
            if self._paused is not None:
                paused, self._paused = self._paused, None
                paused.switch()
            elif world.crowded:
                greenlet(self._callback).switch()
            else:
                self._callback()
        finally:
            asyncio._set_running_loop(None)
            world.current = None

    def _callback(self) -> None:
        handle = self._ready.popleft()
        try:
            if not handle.cancelled() and self._tick():
                handle._run()
                if self.signals and self.signals[0] <= self.moments:
                    self._signal()
        except Killed:
            pass

    def pause(self, seconds: float = 0.0) -> bool:
        """Lets other processes run in the middle of a callback; False where there are none."""
        here = getcurrent()
        if here.parent is None:
            return False
        self._paused, self.asleep_until = here, max(self.asleep_until, self.world.now + seconds)
        here.parent.switch()
        return True

    def _tick(self) -> bool:
        """A moment has come; whether the process lives to see it."""
        if not self.alive:
            return False
        self.moments += 1
        self.world._moments += 1
        if self.world._moments >= self.world._next:
            self.world.tick()
        if self.kill_at is not None and self.moments >= self.kill_at:
            self.die()
            return False
        return True

    def _signal(self) -> None:
        if callable(handler := self.handlers.get(2)) and handler is not SIGNALS.default_int_handler:
            self.signals.pop(0)
            handler(2, None)

    def operation(self) -> bool:
        """The process operates on the disk; whether the disk is full. Killed where it is dead."""
        if not self._tick():
            raise Killed
        if self.world.crowded and self.world.rng.random() < _PAUSES:
            self.pause()
        full = self.world.operation()
        if full:
            self.strike()
        return full

    def strike(self) -> None:
        """The disk fails it."""
        self.struck, self.struck_at = True, self.world.now

    def die(self) -> None:
        """kill -9."""
        self.killed = True
        self._ends()

    def _ends(self) -> None:
        self.alive = False
        for file in list(self.files):
            (REAL["close"](file) if isinstance(file, int) else file.lose())
        self.files.clear()
        for database in self.databases:
            sqlite3.Connection.close(database)
        self.world.ended.append(self)

    def bury(self) -> None:
        """Ends the coroutines of a dead process; what they do then has no effect."""
        self.world.current = self
        asyncio._set_running_loop(self._loop)
        try:
            if self._paused is not None:
                self._paused.throw(Killed)
            for task in self.tasks:
                task._log_destroy_pending = False  # type: ignore[attr-defined]
                coroutine: Any = task.get_coro()
                for _ in range(10):
                    try:
                        coroutine.close()
                        break
                    except BaseException:  # from a `finally` that could do nothing
                        continue
        finally:
            asyncio._set_running_loop(None)
            self.world.current = None
        self.tasks.clear()
        self._ready.clear()
        self._timers.clear()


class World:
    """rng: the order of the processes; full: (first operation on the disk, how many) while it is full; busy: the
    transactions that find the database locked; short: the writes of rows that have room for a half; jumps: (before
    which moment of all processes, seconds) of the wall clock; power: the moments of all processes when the power fails;
    database: the file that loses then what was not synchronised."""

    def __init__(
        self,
        rng: random.Random,
        full: tuple[tuple[int, int], ...] = (),
        busy: tuple[int, ...] = (),
        short: tuple[int, ...] = (),
        jumps: tuple[tuple[int, float], ...] = (),
        power: tuple[int, ...] = (),
        database: Path = Path(),
    ) -> None:
        self.rng = rng
        self.now = 0.0
        self.current: Process | None = None
        self.processes: list[Process] = []
        self.ended: list[Process] = []
        self.complaints: list[str] = []
        self.events: list[tuple[float, int, Callable[[], None]]] = []
        self._event_count = 0
        self.longest = LONGEST
        self.thread = threading.get_ident()
        self.is_full = False
        self.crowded = False  # several processes are alive
        self._busy, self._short = busy, short
        self._full = full
        self._jumps = sorted(jumps)
        self._offset = 0.0
        self.power, self._database = sorted(power), database
        self._synced: dict[str, bytes] = {}
        self.blackouts = 0
        self._is_dark = False
        self.at_blackout: Callable[[], None] = lambda: None
        self.reuses_pids = False  # a new process has the number of the one that ended last
        self._next = 0  # moment at which something befalls all processes
        self._moments = self._operations = self._begins = self._writes = 0

    def at(self, when: float, event: Callable[[], None]) -> None:
        """Something from outside happens at a time."""
        self._event_count += 1
        heapq.heappush(self.events, (when, self._event_count, event))

    def start(self, name: str, main: Callable[[Process], Coroutine[Any, Any, Any]]) -> Process:
        process = Process(self, name, main)
        self.processes.append(process)
        return process

    def run(self) -> None:
        """Until every process has ended. Violation where they do not."""
        while True:
            if self._is_dark:
                self._restore()
            while self.ended:
                self.ended.pop().at_end()
            alive = [process for process in self.processes if process.alive]
            self.crowded = len(alive) > 1
            while len(alive) == 1 and not self.ended and alive[0].due(self.now):
                alive[0].turn()
            if self.ended:
                continue
            ready = [process for process in alive if process.due(self.now)]
            if ready:
                (ready[0] if len(ready) == 1 else self.rng.choice(ready)).turn()
                continue
            times = [when for process in alive if (when := process.next()) is not None]
            if self.events:
                times.append(self.events[0][0])
            if not times:
                if alive:
                    raise Violation(f"hangs: {alive[0].name} waits for nothing")
                return
            self.now = max(self.now, min(times))
            if self.now > self.longest:
                raise Violation(
                    f"hangs: {', '.join(process.name for process in alive)} after {self.longest:.0f} s"
                )
            while self.events and self.events[0][0] <= self.now:
                heapq.heappop(self.events)[2]()

    def tick(self) -> None:
        """The moment has come for what befalls all processes."""
        while self._jumps and self._jumps[0][0] <= self._moments:
            self._offset += self._jumps.pop(0)[1]
        if self.power and self.power[0] <= self._moments:
            self._fail()
        if self._moments > MOST_MOMENTS:
            raise Violation(f"hangs: {MOST_MOMENTS:,} moments")
        self._next = min(
            [MOST_MOMENTS + 1, *self.power[:1], *(moment for moment, _ in self._jumps[:1])]
        )

    def _fail(self) -> None:
        """The power fails: no process does anything more."""
        self.power.pop(0)
        self._is_dark, self.blackouts = True, self.blackouts + 1
        for process in self.processes:
            if process.alive and process is not self.current:
                process.die()
            process.kill_at = 0

    def synced(self) -> None:
        """What the database's files hold now is on the disk."""
        files = (self._database.with_name(self._database.name + end) for end in ("", "-wal"))
        self._synced = {str(file): file.read_bytes() for file in files if file.exists()}

    def _restore(self) -> None:
        """The database's files hold what they held when they were synchronised last."""
        self._is_dark = False
        self.at_blackout()
        for end in ("", "-wal", "-shm"):
            file = f"{self._database}{end}"
            if file in self._synced:
                with REAL["open"](file, "wb") as written:
                    written.write(self._synced[file])
            elif os.path.exists(file):
                os.remove(file)

    def operation(self) -> bool:
        self._operations += 1
        if self._full:
            self.is_full = any(
                first <= self._operations < first + length for first, length in self._full
            )
        return self.is_full

    def is_short(self) -> bool:
        """Whether a write to a row file has room for a part only."""
        self._writes += 1
        return self._writes in self._short

    def is_busy(self) -> bool:
        """Whether another program keeps the database locked."""
        self._begins += 1
        return self._begins in self._busy

    def heal(self) -> None:
        """Nothing goes wrong from here on."""
        self._full, self._busy, self._short, self._jumps, self.power = (), (), (), [], []
        self.is_full = False

    def wall(self) -> float:
        return EPOCH + self.now + self._offset

    def complain(self, text: str) -> None:
        self.complaints.append(text)

    def mine(self) -> Process | None:
        """The process that runs now, on the thread that asks."""
        return (
            self.current
            if self.current is not None and threading.get_ident() == self.thread
            else None
        )

    def bury(self) -> None:
        for process in self.processes:
            process.alive = False
            process.bury()


# The disk ------------------------------------------------------------------------------------------------------------
def _no_space() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class File:
    """A file that is written; its buffer is lost with its process."""

    def __init__(self, process: Process, file: Any, mode: str) -> None:
        process.files.discard(file)
        self._process, self._raw, self._held = process, io.FileIO(file, mode.replace("b", "")), b""
        process.files.add(self)

    def __enter__(self) -> File:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fileno(self) -> int:
        return self._raw.fileno()

    def write(self, data: bytes) -> int:
        self._held += data
        return len(data)

    def flush(self) -> None:
        if self._held:
            full = self._process.operation()
            self._raw.write(self._held[: len(self._held) // 2] if full else self._held)
            if full:
                raise _no_space()
            self._held = b""

    def close(self) -> None:
        if not self._raw.closed:
            try:
                self.flush()
            finally:
                self._process.operation()
                self.lose()

    def lose(self) -> None:
        """Closes it without its buffer."""
        self._process.files.discard(self)
        self._raw.close()


@cache
def _kind(statement: str) -> str:
    return statement.lstrip()[:6].upper()


class SimulatedDatabase(sqlite3.Connection):
    """A connection of a process."""

    process: Process
    patience: float

    def _before(self, statement: str) -> None:
        kind = _kind(statement)
        if kind in ("SELECT", "PRAGMA"):
            if not self.process.alive:
                raise Killed
        elif self.process.operation() and kind != "ROLLBA":
            if (
                self.process.world.rng.random() < 0.5 and self.in_transaction
            ):  # SQLite may do so itself
                super().execute("ROLLBACK")
            raise _sqlite_error("database or disk is full", sqlite3.SQLITE_FULL)
        elif kind == "BEGIN " and self.process.world.is_busy():
            self.process.strike()
            raise _sqlite_error("database is locked", sqlite3.SQLITE_BUSY)

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        return self._patiently(super().execute, statement, *values)

    def executemany(self, statement: str, values: Any) -> sqlite3.Cursor:
        return self._patiently(super().executemany, statement, values)

    def executescript(self, script: str) -> sqlite3.Cursor:
        return self._patiently(super().executescript, script)

    def _patiently(
        self, execute: Callable[..., sqlite3.Cursor], statement: str, *values: Any
    ) -> sqlite3.Cursor:
        """Waits while another process has the database locked, as long as the connection's timeout says."""
        self._before(statement)
        until = self.process.world.now + self.patience
        while True:
            try:
                cursor = execute(statement, *values)
                if (
                    self.process.world.power
                    and not self.in_transaction
                    and self._is_synchronous(statement)
                ):
                    self.process.world.synced()
                return cursor
            except sqlite3.OperationalError as error:
                late = self.process.world.now >= until
                if (
                    error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY
                    or late
                    or not self.process.pause(0.05)
                ):
                    raise

    def _is_synchronous(self, statement: str) -> bool:
        """Whether a statement that ended a transaction is on the disk (it does not end one that only reads)."""
        return (
            statement[:6] not in ("SELECT", "PRAGMA")
            and super().execute("PRAGMA synchronous").fetchone()[0] == 2
        )

    def close(self) -> None:
        if not self.process.alive:
            raise Killed
        super().close()


def _sqlite_error(message: str, code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(message)
    error.sqlite_errorcode = code
    return error


# The patches ---------------------------------------------------------------------------------------------------------
REAL: dict[str, Any] = {
    "close": os.close,
    "connect": sqlite3.connect,
    "disk_usage": shutil.disk_usage,
    "getpid": os.getpid,
    "kill": os.kill,
    "monotonic": time.monotonic,
    "open": builtins.open,
    "os_open": os.open,
    "sleep": time.sleep,
    "time": time.time,
    "token_hex": secrets.token_hex,
    "write": os.write,
}
Patch = tuple[Any, str, Any]
_UNBUFFERED = (
    "fsync",
    "ftruncate",
    "mkdir",
    "replace",
    "rmdir",
    "unlink",
)  # of `os`: one operation each
_CREATES = ("mkdir",)

SIGNALS = SimpleNamespace(
    SIGINT=2, SIGTERM=15, SIGALRM=14, ITIMER_REAL=0, default_int_handler=lambda *_: None
)


@contextmanager
def inhabited(world: World, *more: Patch) -> Iterator[None]:
    """While it is open, what a process of the world does to clock, disk and other processes happens in the world.
    more: places, attributes and what stands there meanwhile."""
    mine = world.mine

    def open_(file: Any, mode: str = "r", *args: Any, **more: Any) -> Any:
        process = mine()
        if process is None or not process.alive or "b" not in mode or not set(mode) & set("wax"):
            if process is not None and not process.alive:
                raise Killed
            return REAL["open"](file, mode, *args, **more)
        if process.operation() and not isinstance(file, int) and not os.path.exists(file):
            raise _no_space()
        return File(process, file, mode)

    def os_open(path: Any, flags: int, *args: Any, **more: Any) -> int:
        process = mine()
        if (
            process is not None
            and process.operation()
            and flags & os.O_CREAT
            and not os.path.exists(path)
        ):
            raise _no_space()
        file: int = REAL["os_open"](path, flags, *args, **more)
        if process is not None:
            process.files.add(file)
        return file

    def write(file: int, data: bytes) -> int:
        process = mine()
        if process is not None:
            full, short = process.operation(), world.is_short()
            if full and not short:
                raise _no_space()
            process.struck |= short
            data = data[: len(data) // 2] if short else data
            process.written.append(data)
        return int(REAL["write"](file, data))

    def close(file: int) -> None:
        process = mine()
        if process is not None:
            process.operation()
            process.files.discard(file)
        REAL["close"](file)

    def connect(path: Any, *args: Any, **more: Any) -> sqlite3.Connection:
        process = mine()
        if process is None or path in ("", ":memory:"):
            return REAL["connect"](path, *args, **more)  # type: ignore[no-any-return]
        process.operation()
        here = ":memory:" if str(path).endswith(".index.sqlite") else path
        database: SimulatedDatabase = REAL["connect"](
            here, *args, **{**more, "timeout": 0, "factory": SimulatedDatabase}
        )
        database.process, database.patience = process, more.get("timeout", 5.0)
        process.databases.append(database)
        return database

    def plain(name: str, real: Any) -> Callable[..., Any]:
        def operate(*args: Any, **more: Any) -> Any:
            process = mine()
            if process is not None and process.operation() and name in _CREATES:
                raise _no_space()
            return real(*args, **more)

        return operate

    def kill(pid: int, number: int) -> None:
        if mine() is None:
            REAL["kill"](pid, number)
        elif not any(process.pid == pid and process.alive for process in world.processes):
            raise ProcessLookupError(errno.ESRCH, "No such process")

    def sleep(seconds: float) -> None:
        process = mine()
        if process is None:
            REAL["sleep"](seconds)
        elif not process.pause(seconds):
            world.now += seconds

    def signal_(number: int, handler: Any) -> Any:
        assert world.current is not None
        before = world.current.handlers.get(number, SIGNALS.default_int_handler)
        world.current.handlers[number] = handler
        return before

    def setitimer(*_: object) -> None:
        """The loop of a simulated process always turns."""

    def disk_usage(path: Any) -> Any:
        if mine() is None:
            return REAL["disk_usage"](path)
        world.current.struck |= world.is_full  # type: ignore[union-attr]
        return SimpleNamespace(free=0 if world.is_full else 1 << 40)

    def token_hex(count: int) -> str:
        if (process := mine()) is None:
            return str(REAL["token_hex"](count))
        process.tokens.add(token := f"{world.rng.getrandbits(8 * count):0{2 * count}x}")
        return token

    from longmark.engine import manifest, session
    from longmark.models import flights
    from longmark.models.stores import sqlite

    def price_of(model: Any) -> Any:
        share = getattr(model, "batch_share", 1.0)
        return model.price if share == 1.0 else lambda tokens: share * model.price(tokens)

    patches: list[Patch] = [
        (builtins, "open", open_),
        (io, "open", open_),
        (os, "open", os_open),
        (os, "write", write),
        (os, "close", close),
        *((os, name, plain(name, getattr(os, name))) for name in _UNBUFFERED),
        (os, "kill", kill),
        (
            os,
            "getpid",
            lambda: process.pid if (process := mine()) is not None else REAL["getpid"](),
        ),
        (sqlite3, "connect", connect),
        (time, "time", lambda: world.wall() if mine() is not None else REAL["time"]()),
        (time, "monotonic", lambda: world.now if mine() is not None else REAL["monotonic"]()),
        (time, "sleep", sleep),
        (shutil, "disk_usage", disk_usage),
        (secrets, "token_hex", token_hex),
        (session, "signal", SimpleNamespace(**vars(SIGNALS), signal=signal_, setitimer=setitimer)),
        (flights, "random", SimpleNamespace(Random=lambda *_: random.Random(world.rng.random()))),
        (manifest, "environment", dict),  # what is not under test, and slow
        (sqlite, "file_system", lambda _path: ""),
        (session, "price_of", price_of),
        (flights, "_LOOK_AGAIN", 2.9),  # seconds: 0.1 would be most of the work
        *more,
    ]
    before = [(place, name, getattr(place, name)) for place, name, _ in patches]
    try:
        for place, name, new in patches:
            setattr(place, name, new)
        try:
            yield
        finally:
            world.bury()
    finally:
        for place, name, old in before:
            setattr(place, name, old)
        with suppress(AttributeError):
            world.current = None
