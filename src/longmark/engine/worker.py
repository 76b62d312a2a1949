"""Scores examples: every metric on every example that has no row yet, several at once; and how far that is."""

from __future__ import annotations

import asyncio
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from longmark import progress
from longmark.concurrency import COMPUTING
from longmark.engine import pairs
from longmark.engine.folder import RunFolder
from longmark.engine.pairs import ChoiceRule
from longmark.engine.settings import RETRIED, Settings
from longmark.errors import LongmarkError, NoScore, UserError
from longmark.metric import Score
from longmark.metrics import Selected
from longmark.models.client import Booked, Client, UsageLog
from longmark.models.handles import Models
from longmark.models.protocols import Settling
from longmark.models.sending import Stopped
from longmark.models.verdicts import VerdictCounter
from longmark.records import Answered, Row, Signature, Usage

_UNANSWERED = frozenset({"model_error", "over_budget"})
_NO_REPLY = RETRIED | {
    "too_long"
}  # these rows had no reply; replies that the cache holds for them are good


Results = Mapping[str, Score | NoScore]
"""The full name of each score that is wanted -> what it came to."""

_HELD = 256  # rows that wait until what is sent to the models is settled, at most
_LONGEST = 300  # characters of an error of a metric's code in a reason
_TRIED = 3  # examples without a reply, after which that is not waited for


@dataclass(frozen=True, slots=True)
class Task:
    """One computation: a metric on an example. wanted: the scores that still need a row; refresh: request again what
    the cache holds, since the reply that it holds could not be used."""

    n: int
    example: Answered
    chosen: Selected
    wanted: list[str]
    refresh: bool = False


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """What came of a task: a result for each score that is wanted."""

    task: Task
    results: Results
    usage_log: UsageLog

    @property
    def failed(self) -> bool:
        """A model gave no reply."""
        return any(
            isinstance(result, NoScore) and result.status in _UNANSWERED
            for result in self.results.values()
        )


class Executor(Protocol):
    """Computes scores in other processes. ahead: how many computations it is given at once, so that they travel
    together; takes: whether it computes this one; results: None if it turns out that it cannot."""

    ahead: int

    def takes(self, task: Task) -> bool: ...

    async def results(self, task: Task) -> Results | None: ...


class WorkerPool:
    """The work of one session in a run's folder.

    system: the system of examples that name none. on_row: called with every row that is written. on_calls: called
    before a row is written, with the calls that it counts; None: they are not noted. executor: computes elsewhere what
    it takes; None: all is computed here. verdicts: counts the replies that are to have one; None: nobody does.
    """

    def __init__(
        self,
        folder: RunFolder,
        settings: Settings,
        client: Client,
        *,
        system: str,
        retry: frozenset[str] = RETRIED,
        on_row: Callable[[Row], None] = lambda _row: None,
        on_calls: Callable[[Row, Sequence[Booked]], None] | None = None,
        executor: Executor | None = None,
        verdicts: VerdictCounter | None = None,
    ) -> None:
        self._folder = folder
        self._settings = settings
        self._client = client
        self._system = system
        self._retry = retry
        self._on_row = on_row
        self._on_calls = on_calls
        self._executor = executor
        self._verdicts = verdicts
        self._stop = False
        self._computing: set[asyncio.Future[Any]] = set()
        COMPUTING.set(self._computing)
        self._broken: list[Exception] = []
        self._held: list[TaskOutcome] = []
        self._judging = {chosen.name: settings.judging_of(chosen) for chosen in settings.selected}
        self._signatures: dict[str, Signature] = {}
        self.versions: dict[str, dict[str, None]] = {}
        self.failed: dict[
            str, tuple[int, str]
        ] = {}  # metric -> how many examples its code failed on, and how first

    def begin_nothing(self) -> None:
        """Begins nothing new. (A signal handler may call this at any moment.)"""
        self._stop = True

    def stop(self) -> None:
        """Begins nothing new; calls under way are waited for and stored, rows that need more calls or a long
        computation are left out."""
        self._stop = True
        self._client.stop()
        for computation in list(self._computing):
            if not computation.done():
                computation.set_exception(Stopped("The run was stopped during this computation."))

    @staticmethod
    def computes(frame: FrameType | None) -> bool:
        """Whether this frame belongs to the computation of a score, which can be left without harm."""
        while frame is not None and frame.f_code is not WorkerPool._outcome.__code__:
            frame = frame.f_back
        return frame is not None

    async def settle(self, before: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
        """Settles what is sent to each chat model before a row is written: model -> what is not (`no temperature`).

        Examples are scored one by one until each model has replied, and their rows are kept for `run`. A refusal of the
        temperature is learnt here; later it is an error, so that all rows have one signature. A model that has not
        replied by then (its endpoint fails) is not in the result. before: what earlier sessions settled.
        """
        models = [model for model in self._settings.backends.all() if isinstance(model, Settling)]
        open_ = {model.name for model in models if model.name not in before}
        for model in models:
            if model.name in before:
                model.settle(before[model.name])
        replied: set[str] = set()
        failed = 0
        try:
            for task in self.tasks() if open_ else ():
                outcome = await self._outcome(task)
                if not outcome.usage_log.usage.calls and not outcome.failed:
                    continue  # it is scored again for nothing
                self._held.append(outcome)
                replied |= open_ & outcome.usage_log.versions.keys()
                failed += outcome.failed
                if replied == open_ or self._stop or failed >= _TRIED or len(self._held) >= _HELD:
                    break
        except Stopped:
            pass
        except Exception as error:
            self._broken.append(error)
            self.stop()
        for model in models:
            if model.name in open_:
                model.settle()
        return {model.name: model.settled for model in models if model.name in replied}

    async def run(self, workers: int) -> None:
        """Works until there is nothing left, it is stopped, or something is broken: a disk that is full (UserError), or
        a bug. That is raised once the calls under way have ended, since they are paid for and their replies are kept.
        """
        for outcome in self._held:
            self._append(outcome)
        scored = {(outcome.task.n, outcome.task.chosen.name) for outcome in self._held}
        tasks = (task for task in self.tasks() if (task.n, task.chosen.name) not in scored)
        async with asyncio.TaskGroup() as group:
            for _ in range(max(workers, self._executor.ahead if self._executor else 0)):
                group.create_task(self._worker(tasks))
        if self._broken:
            bugs = [error for error in self._broken if not isinstance(error, UserError)]
            raise ExceptionGroup("scoring failed", bugs) if bugs else self._broken[0]

    def tasks(self) -> Iterator[Task]:
        """What still needs a row, in the order of the examples; read as it is asked for."""
        for n, example in self._folder.examples():
            for chosen in self._settings.selected:
                due = chosen.due(is_variant=example.variant_of is not None, kind=example.variant)
                missing = self._folder.missing(n, due, self._retry)
                if missing:
                    refresh = any(
                        status not in _NO_REPLY for status in missing.values() if status is not None
                    )
                    yield Task(n, example, chosen, list(missing), refresh)

    async def _worker(self, tasks: Iterator[Task]) -> None:
        try:
            for task in tasks:
                if self._stop:
                    return
                self._append(await self._outcome(task))
                await asyncio.sleep(0)  # without a call nothing else lets a Ctrl-C be heard
        except Stopped:
            return
        except Exception as error:
            self._broken.append(error)
            self.stop()

    def _append(self, outcome: TaskOutcome) -> None:
        rows = self._rows(outcome)
        if self._on_calls is not None and outcome.usage_log.booked:
            self._on_calls(rows[0], outcome.usage_log.booked)
        for row in rows:
            self._folder.append(outcome.task.n, row)
            self._on_row(row)
        if reason := next((row.reason for row in rows if row.status == "metric_error"), None):
            count, first = self.failed.get(outcome.task.chosen.name, (0, reason))
            self.failed[outcome.task.chosen.name] = count + 1, first
        for name, versions in outcome.usage_log.versions.items():
            self.versions.setdefault(name, {}).update(versions)

    async def score(self, task: Task) -> list[Row]:
        """The rows of one computation, one for each score that is wanted."""
        return self._rows(await self._outcome(task))

    async def _outcome(self, task: Task) -> TaskOutcome:
        chosen = task.chosen
        settings = self._settings
        booked = None if self._on_calls is None else list[Booked]()
        usage_log = UsageLog(first=self._folder.first, refresh=task.refresh, booked=booked)
        usage_log.metric = chosen.name
        usage_log.verdicts = self._verdicts
        if self._executor is not None and self._executor.takes(task):
            results = await self._executor.results(task)
            if results is not None:
                return TaskOutcome(task, results, usage_log)
        models = Models(
            settings.backends,
            self._client,
            usage_log,
            settings.prompts,
            settings.domain,
            self._judging[chosen.name],
        )
        results = await computed(chosen, task.example, models, task.wanted, settings.comparison)
        return TaskOutcome(task, results, usage_log)

    def _rows(self, outcome: TaskOutcome) -> list[Row]:
        task = outcome.task
        usage_log = outcome.usage_log
        usages = [usage_log.usage, *(Usage() for _ in task.wanted[1:])]
        versions = {
            name: sorted(answering) for name, answering in usage_log.versions.items() if answering
        }
        signature = self._signatures.get(task.chosen.name) or self._signature(task)

        def row(name: str, usage: Usage, result: Score | NoScore) -> Row:
            scored = isinstance(result, Score)
            row = Row(
                example_id=task.example.id,
                question_id=task.example.question_id,
                system=task.example.system or self._system,
                metric=name,
                score=float(result.value) if isinstance(result, Score) else None,
                status="ok" if isinstance(result, Score) else result.status,
                reason=None if isinstance(result, Score) else result.reason,
                evidence=result.evidence,
                signature=signature,
                usage=usage,
                automatic=isinstance(result, Score) and result.automatic,
                versions=versions,
            )
            if task.chosen.metric.source and scored:
                row.to_json()  # evidence of a metric from outside the package can be anything
            return row

        rows = []
        for name, usage in zip(task.wanted, usages, strict=True):
            try:
                rows.append(row(name, usage, outcome.results[name]))
            except (TypeError, ValueError, OverflowError, AttributeError) as error:
                rows.append(row(name, usage, _bug(task.chosen, error)))
        return rows

    def _signature(self, task: Task) -> Signature:
        settings = self._settings
        chosen = task.chosen
        unsettled = settings.signature(chosen)
        settled = {
            model.name: model.settled
            for model in settings.backends.having(chosen.metric.models)
            if isinstance(model, Settling) and model.settled
        }
        compared = pairs.params_of(chosen, task.example, settings.comparison)
        signature = replace(unsettled, params=unsettled.params | compared, settled=settled)
        return self._signatures.setdefault(chosen.name, signature)


async def computed(
    chosen: Selected, example: Answered, models: Models, scores: Sequence[str], by: ChoiceRule
) -> Results:
    """The scores of one computation; those that its code fails on have the status `metric_error`. Raises a
    LongmarkError that is no matter of the example."""
    try:
        return await pairs.score(chosen, example, models, scores, by)
    except Exception as error:
        cause: BaseException = error
        while isinstance(cause, BaseExceptionGroup):  # of a metric that has tasks of its own
            cause = cause.exceptions[0]
        if isinstance(cause, LongmarkError):
            raise cause from None
        return dict.fromkeys(scores, _bug(chosen, cause))


def _bug(chosen: Selected, error: BaseException) -> NoScore:
    """Why a metric whose code failed gives no score: its name, the error, and the line of its file."""
    frames = traceback.extract_tb(error.__traceback__)
    source = getattr(sys.modules.get(chosen.metric.score.__module__), "__file__", None)
    last = next((frame for frame in reversed(frames) if frame.filename == source), frames[-1])
    words = " ".join(f"{type(error).__name__}: {error}".encode("utf-8", "replace").decode().split())
    words = words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"
    return NoScore(
        "metric_error", f"{chosen.name} failed: {words} ({Path(last.filename).name}:{last.lineno})"
    )


class RunProgress:
    """total: rows there will be when the run has ended; done: rows there are already, of which `unscored` have no
    score. client: what the calls go through."""

    def __init__(self, total: int, done: int, client: Client) -> None:
        self.total = total
        self.done = done
        self.written = 0
        self.unscored = 0
        self._client = client
        self._began = time.monotonic()
        self.tell: Callable[[], None] = lambda: None

    def row(self, row: Row) -> None:
        """A row was written."""
        self.done += 1
        self.written += 1
        self.unscored += row.score is None
        self.tell()

    def state(self) -> tuple[int, int, str]:
        """Rows done, rows in all, and all figures in one line."""
        counts = self._client.counts
        seconds = max(time.monotonic() - self._began, 1e-9)
        left = (self.total - self.done) / (self.written / seconds) if self.written else None
        parts = [
            f"{self.done}/{self.total} rows",
            f"{progress.counted(counts.calls, 'call')} ({counts.calls / seconds:.1f}/s)",
            f"{counts.from_cache} from cache",
            progress.cost(counts.usd),
        ]
        parts += [f"{counts.retries} retries"] if counts.retries else []
        parts += [f"{self.unscored} unscored"] if self.unscored else []
        parts += (
            [f"{progress.duration(left)} left"]
            if left is not None and self.done < self.total
            else []
        )
        parts += [f"waiting {why}"] if (why := self._client.waiting()) else []
        return self.done, self.total, " · ".join(parts)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Shows it within a running event loop, also while nothing but waiting is done."""
        with progress.shown(self.state) as self.tell:
            ticks = asyncio.get_running_loop().create_task(self._tick())
            try:
                yield
            finally:
                ticks.cancel()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(1)
            self.tell()
