"""Runs the cases of a fuzzer: each from a seed of its own, timed, and with what it may end in."""

from __future__ import annotations

import random
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from longmark.errors import UserError

SECONDS = 2.0  # of processor time that a case may take
WAITED = 60.0  # seconds by the clock, for a case that waits for what never comes; a busy machine takes less
GROWTH = 500 << 20  # bytes that a case may add to the greatest resident size
_MAXRSS = 1 if sys.platform == "darwin" else 1024  # bytes in which the system counts it
_FILES, _SHOWN = 2, 400  # files that made a case fail, and bytes of each, that are shown


class TooSlow(KeyboardInterrupt):
    """A case took too long. (Of this kind, since nothing on the way catches it and an event loop lets it through.)"""


class TooLarge(Exception):
    """A case took too much memory."""


@dataclass(frozen=True)
class Fuzzer:
    """one: a case, from a generator and an empty folder that what it makes is left in; it raises nothing, or `may`.
    share: how many of 10,000 cases are this fuzzer's."""

    name: str
    share: int
    one: Callable[[random.Random, Path], object]
    may: type[Exception] = UserError


@dataclass
class Failure:
    """One way to fail. case: the number of the smallest input; shown: that input, and what was raised."""

    case: int
    size: int
    shown: str
    count: int = 0


@dataclass
class Report:
    """What came of a fuzzer's cases. ended: how many in a result; failures: by error and place."""

    name: str
    cases: int = 0
    ended: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    slowest: tuple[float, int] = (0.0, 0)
    failures: dict[str, Failure] = field(default_factory=dict)

    def shown(self, seed: int) -> str:
        """For whoever reads it: a line, and some for each way to fail."""
        slowest, number = self.slowest
        lines = [
            f"{self.name}: {self.cases:,} cases, {self.ended:,} of them with a result, in {self.seconds:.1f} s "
            f"({self.cpu:.1f} s of work; the longest {slowest:.2f} s, case {number})"
        ]
        for place, failure in self.failures.items():
            again = f"python -m tests.fuzz {self.name} --seed {seed} --case {failure.case}"
            lines.append(f"  {failure.count} x {place}: {failure.shown}\n    again: {again}")
        return "\n".join(lines)


def run(
    fuzzer: Fuzzer,
    seed: int,
    numbers: Iterable[int],
    base: Path,
    at: Callable[[str], object],
    raised: Callable[[BaseException], object] | None = None,
) -> Report:
    """The cases of these numbers. at: told of each before it begins; raised: of what was raised, expected or not."""
    report = Report(fuzzer.name)
    began, cpu = time.perf_counter(), time.process_time()
    for number in numbers:
        folder = base / "case"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        at(f"{fuzzer.name} --seed {seed} --case {number}")
        before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        report.cases += 1
        try:
            with limited():
                fuzzer.one(random.Random(f"{fuzzer.name} {seed} {number}"), folder)
            report.ended += 1
        except (Exception, TooSlow) as error:
            if raised is not None:
                raised(error)
            if not isinstance(error, fuzzer.may):
                _note(report, number, error, folder)
        report.slowest = max(report.slowest, (time.process_time() - start, number))
        if (
            grown := (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * _MAXRSS
        ) > GROWTH:
            _note(report, number, TooLarge(f"{grown >> 20} MiB"), folder)
    report.seconds, report.cpu = time.perf_counter() - began, time.process_time() - cpu
    return report


@contextmanager
def limited() -> Iterator[None]:
    """TooSlow where the block takes more than its time."""

    def stop(number: int, _frame: FrameType | None) -> None:
        raise TooSlow(
            f"{SECONDS:g} s of work" if number == signal.SIGPROF else f"waited {WAITED:g} s"
        )

    timers = (
        (signal.ITIMER_PROF, signal.SIGPROF, SECONDS),
        (signal.ITIMER_REAL, signal.SIGALRM, WAITED),
    )
    for timer, number, seconds in timers:
        signal.signal(number, stop)
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for timer, _, _ in timers:
            signal.setitimer(timer, 0)


def _note(report: Report, number: int, error: BaseException, folder: Path) -> None:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    files = [
        path
        for path in folder.rglob("[!.]*")
        if path.is_file() and not path.is_symlink() and path.suffix != ".sqlite"
    ]
    files.sort(
        key=lambda path: -path.stat().st_mtime_ns
    )  # what was damaged, or sent, was written last
    size = sum(path.stat().st_size for path in files)
    failure = report.failures.setdefault(_place(error), Failure(number, size + 1, ""))
    failure.count += 1
    if size < failure.size:
        made = "".join(
            f"\n    {path.relative_to(folder)}: {path.read_bytes()[:_SHOWN]!r}"
            for path in files[:_FILES]
        )
        failure.case, failure.size, failure.shown = number, size, f"{str(error)[:300]!a}{made}"


def _place(error: BaseException) -> str:
    """The error's type, and the innermost frame of longmark's (of any, where it was not in longmark)."""
    frames: list[Any] = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/src/longmark/" in frame.filename] or frames[-1:]
    if isinstance(error, TooSlow) and not ours:
        ours = frames[-2:-1]  # the last one is the alarm's
    if not ours:
        return type(error).__name__
    place = f"{ours[-1].filename.split('/src/')[-1]}:{ours[-1].name}"
    if isinstance(error, AssertionError):  # a promise that was checked here
        place = f"{frames[-1].filename.rsplit('/', 1)[-1]}:{frames[-1].name}: {frames[-1].line}"
    return f"{type(error).__name__} at {place}"
