"""One session of a run: read and check the examples, take up what an earlier session left, mark, put in order."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark.engine import manifest as manifests
from longmark.engine import progress as progress_of
from longmark.engine.folder import Changes, RunFolder
from longmark.engine.profile_check import ProfileCheck
from longmark.engine.progress import counted
from longmark.engine.settings import RETRIED, Settings, unsupported
from longmark.engine.source import ExampleSource, reading
from longmark.engine.worker import WorkerPool
from longmark.errors import UnknownName, UserError
from longmark.models.budget import Budget
from longmark.models.cache import CallCache
from longmark.models.client import Client, Counts
from longmark.models.handles import Backends
from longmark.models.prices import UnknownPrice
from longmark.models.registry import price_of
from longmark.records import STATUSES, Row

if TYPE_CHECKING:
    from longmark.engine.estimate import Estimate

CONCURRENCY = 16  # calls at once to one model, where the user does not say
_ROWS_PER_CALL = 2  # rows under way for each call that may be: while one is written, another one's call runs


@dataclass(frozen=True)
class Options:
    """What can change between two sessions of a run: it changes no mark.

    limit: the first examples only. mapping: our field -> column of the file. retry: statuses to ask for again, beside
    `model_error` and `over_budget`. tell: takes what the user should know, a sentence at a time. handle_signals: the
    first Ctrl-C lets the calls under way at endpoints end (main thread only). check_profiles: tell where profiles do
    not fit the domain.
    """

    limit: int | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    skip_bad: bool = False
    concurrency: int = CONCURRENCY
    budget: Budget = field(default_factory=Budget)
    retry: Collection[str] = ()
    quiet: bool = False
    tell: Callable[[str], None] = lambda _notice: None
    handle_signals: bool = False
    check_profiles: bool = True

    def __post_init__(self) -> None:
        numbers = {
            "limit": self.limit,
            "concurrency": self.concurrency,
            "max_calls": self.budget.max_calls,
            "max_tokens": self.budget.max_tokens,
        }
        for name, value in numbers.items():
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise UserError(f"{name}: expected a whole number from 1, found {value!r}")
        usd = self.budget.max_usd
        if usd is not None and (isinstance(usd, bool) or not isinstance(usd, int | float) or not 0 < usd < 1e12):
            raise UserError(f"max_usd: expected a number above 0, found {usd!r}")
        if isinstance(self.retry, str):
            raise UserError(f"retry: expected a list of statuses, found the text {self.retry!r}")


@dataclass(frozen=True)
class RunResult:
    """What a session did. folder: where the run's files are. counts: of the calls. changes: of the examples since the
    session before. skipped: bad records left out. stopped: None, `budget` or `interrupt`. unscored: values of metrics
    that have rows, and none with a value. inapplicable: those without a row, since no example is one that they are for
    (values for variants, where there are none). closed: the last words of each endpoint that was not asked any more;
    budget: why no further call was let through, "" where none was refused."""

    folder: Path
    counts: Counts
    changes: Changes
    skipped: int = 0
    stopped: str | None = None
    unscored: tuple[str, ...] = ()
    inapplicable: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    budget: str = ""

    def rows(self) -> Iterator[Row]:
        """The rows, in the order of the examples."""
        with open(self.folder / "rows.jsonl", "rb") as file:
            yield from map(Row.from_json, file)


async def execute(
    examples: ExampleSource,
    settings: Settings,
    out: Path,
    cache: CallCache,
    options: Options,
) -> RunResult:
    """Marks examples into the folder `out`. Raises UserError before any call, and whatever is broken in longmark."""
    retry = _statuses(options.retry)
    check_budget(settings.backends, options.budget)
    _tell_unsupported(settings, options)
    values = [value for chosen in settings.selected for value in chosen.scores]
    if options.handle_signals:  # asyncio's own handler waits for the event loop, which does not turn while we read
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with _disk_errors(out), RunFolder(out, values) as folder:
        manifest: dict[str, Any] | None = folder.read_manifest()
        if manifest is not None:
            manifests.same_settings(manifest, settings, out)
        found = reading(examples, mapping=options.mapping, limit=options.limit, skip_bad=options.skip_bad)
        check = ProfileCheck(settings.domain) if options.check_profiles and settings.reads_domain else None
        staged = folder.stage(check.over(found) if check else found)
        if manifest is None:
            manifest = manifests.fresh(settings, _system(out), found.name)
        manifest |= {
            "finished": None,
            "source": found.name,
            "environment": manifests.environment(),
            "examples": {"read": staged, "skipped": found.bad, "limit": options.limit},
        }
        folder.write_manifest(manifest)
        changes = folder.adopt()
        _tell_changes(options, found.bad, changes)
        if check is not None and (mismatch := check.message(settings.selected)) is not None:
            options.tell(mismatch)

        client = Client(cache, concurrency=options.concurrency, budget=options.budget, price_of=price_of)
        total = folder.rows_to_be(settings.selected)
        progress = progress_of.Progress(total, folder.rows_done(retry), client)
        work = WorkerPool(folder, settings, client, system=str(manifest["system"]), retry=retry, on_row=progress.row)
        session: dict[str, Any] = {"started": manifests.now(), "ended": None}  # so it stays where the process is killed
        manifest["sessions"].append(session)
        folder.write_manifest(manifest)
        began, stopped = time.monotonic(), None
        try:
            with progress_of.shown(progress, quiet=options.quiet), _interruptible(work, options) as interrupted:
                try:
                    await work.run(max(8, _ROWS_PER_CALL * options.concurrency))
                finally:
                    await _close(settings)
            stopped = "interrupt" if interrupted else "budget" if options.budget.stopped else None
            folder.put_in_order()
        except BaseException as error:
            stopped = "error" if isinstance(error, Exception) else "interrupt"
            raise
        finally:
            session |= {
                "ended": manifests.now(),
                "seconds": round(time.monotonic() - began, 3),
                "rows": progress.written,
                **asdict(client.counts),
                "stopped": stopped,
            }
            manifest["finished"] = manifests.now() if stopped is None else None
            folder.write_manifest(manifest)
        unscored, inapplicable = ([], []) if stopped == "interrupt" else folder.unscored()
        return RunResult(
            out,
            client.counts,
            changes,
            found.bad,
            stopped,
            tuple(unscored),
            tuple(inapplicable),
            tuple(client.closed()),
            options.budget.stopped,
        )


async def dry_run(
    examples: ExampleSource,
    settings: Settings,
    out: Path | None,
    cache: CallCache,
    options: Options,
) -> Estimate:
    """What `execute` would still take in the folder `out`: nothing is sent and the folder stays as it is."""
    import shutil
    import tempfile

    from longmark.engine.estimate import estimate

    check_budget(settings.backends, options.budget)
    _tell_unsupported(settings, options)
    values = [value for chosen in settings.selected for value in chosen.scores]
    with tempfile.TemporaryDirectory(prefix="longmark-") as scratch:
        copy = Path(scratch) / (out.name if out and out.name else "run")
        if out is not None and (out / "manifest.json").exists():
            copy.mkdir()
            for name in ("manifest.json", "examples.jsonl", "rows.jsonl"):
                if (out / name).exists():
                    shutil.copyfile(out / name, copy / name)
        with _disk_errors(copy), RunFolder(copy, values) as folder:
            manifest = folder.read_manifest()
            if manifest is not None and out is not None:
                manifests.same_settings(manifest, settings, out)
            found = reading(examples, mapping=options.mapping, limit=options.limit, skip_bad=options.skip_bad)
            folder.stage(found)
            folder.adopt()
            client = Client(cache, price_of=price_of, dry=True)
            work = WorkerPool(folder, settings, client, system="dry run", retry=_statuses(options.retry))
            return await estimate(work, settings, work.tasks(), folder.rows_done(_statuses(options.retry)))


def _statuses(retry: Collection[str]) -> frozenset[str]:
    for status in retry:
        if status not in STATUSES or status == "ok":
            known = [s for s in STATUSES if s != "ok"]
            raise UnknownName("status in --retry", status, known, f"It is one of {', '.join(known)}.")
    return RETRIED | frozenset(retry)


def check_budget(backends: Backends, budget: Budget) -> None:
    """UserError where dollars are limited and a model's price is not known: the limit could not be kept."""
    if budget.max_usd is None:
        return
    used = [*backends.judges, backends.generator, backends.embedder, backends.reranker, backends.lm]
    for model in used:
        if model is not None and isinstance(price_of(model), UnknownPrice):
            raise UserError(
                f"--max-usd: no price is known for {model.name}; limit the run by --max-calls or --max-tokens"
            )


def _tell_unsupported(settings: Settings, options: Options) -> None:
    for chosen in settings.selected:
        if (why := unsupported(settings, chosen)) is not None:
            options.tell(f"{chosen.name} will be unscored wherever it makes a call: {why}")


def _tell_changes(options: Options, skipped: int, changes: Changes) -> None:
    if skipped:
        options.tell(f"{counted(skipped, 'bad record')} skipped.")
    if changes.changed:
        options.tell(f"{counted(changes.changed, 'example')} changed since the last session; scored again.")
    if changes.removed:
        options.tell(
            f"{counted(changes.removed, 'example')} of the last session no longer in the input; its rows were removed "
            "(paid replies stay in the call cache)."
        )


def _system(out: Path) -> str:
    return out.resolve().name


async def _close(settings: Settings) -> None:
    backends = settings.backends
    used = [*backends.judges, backends.generator, backends.embedder, backends.reranker, backends.lm]
    for model in {id(model): model for model in used if model is not None}.values():
        await model.close()


@contextmanager
def _disk_errors(folder: Path) -> Iterator[None]:
    """A UserError where the folder's files cannot be written: the disk is full or broken, or the folder is not ours."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        why = getattr(error, "strerror", None) or error
        raise UserError(f"{folder} cannot be written ({why}); fix that, then repeat the same command") from None


@contextmanager
def _interruptible(work: WorkerPool, options: Options) -> Iterator[list[int]]:
    """The first Ctrl-C (or SIGTERM) lets the calls under way at endpoints end, the second one ends at once. Yields the
    list of signals that came."""
    came: list[int] = []
    if not options.handle_signals:
        yield came
        return
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def stop(number: int) -> None:
        came.append(number)
        if len(came) == 1:
            options.tell("Stopping after the calls in progress. Press Ctrl-C again to stop at once.")
            work.stop()
        else:
            task.cancel()

    numbers = (signal.SIGINT, signal.SIGTERM)
    with suppress(NotImplementedError):  # Windows has no such handlers: there the first Ctrl-C ends at once
        for number in numbers:
            loop.add_signal_handler(number, stop, number)
    try:
        yield came
    finally:
        with suppress(NotImplementedError):
            for number in numbers:
                loop.remove_signal_handler(number)
