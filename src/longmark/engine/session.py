"""One session of a run: read and check the examples, resume what an earlier session left, score, put in order."""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from longmark import plugins
from longmark.engine import manifest as manifests
from longmark.engine.folder import ExampleChanges, RunFolder
from longmark.engine.interruption import interruptible
from longmark.engine.pairs import check_kind
from longmark.engine.profile_check import ProfileCheck
from longmark.engine.remarks import Remarks
from longmark.engine.settings import SessionOptions, Settings, check_turns, unsupported
from longmark.engine.split import PartNotes, limited, same_part
from longmark.engine.worker import RunProgress, WorkerPool
from longmark.errors import UserError
from longmark.metrics import Selected
from longmark.models.budget import Budget, UnknownPrice
from longmark.models.cache import CallCache
from longmark.models.client import Client, Counts
from longmark.models.handles import Backends
from longmark.models.registry import price_of
from longmark.models.verdicts import VerdictCounter
from longmark.options import YES, listed, named
from longmark.places import real
from longmark.progress import counted
from longmark.records import Answered, Row
from longmark.records.example import question_hash
from longmark.records.parts import Part, part_of
from longmark.records.read import ExampleSource, Reading
from longmark.records.row import Usage
from longmark.records.verdicts import UnreadableJudge, Verdicts
from longmark.records.write import read_rows
from longmark.workspace import now

if TYPE_CHECKING:
    from longmark.records.manifest_types import RunManifest, SessionEntry

# Rows under way for each call that may be: while one is written, another one's call runs.
_ROWS_PER_CALL = 2


@dataclass(frozen=True)
class RunResult:
    """What a session did. folder: where the run's files are. counts: of the calls. changes: of the examples since the
    session before. skipped: bad records left out. stopped: None, `budget`, `interrupt`, `refused` or `unreadable`.
    unreadable: the judges none of whose first replies had a verdict (`records.verdicts`). unscored: metrics for which
    every example is unscored; inapplicable: those without a row, since they apply to no example (metrics of variants,
    where there are none). closed: the last error of each endpoint that was not called any more; budget: why no further
    call was allowed, "" where none was refused; refused: what an endpoint said that refused its first calls, which
    stopped the run, else ""; left: rows that were not written; unjudged: metrics that ask a judge, whose only scores
    are automatic; failed: metrics whose own code failed -> on how many examples, and how first."""

    folder: Path
    counts: Counts
    changes: ExampleChanges
    skipped: int = 0
    stopped: str | None = None
    unscored: tuple[str, ...] = ()
    inapplicable: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    budget: str = ""
    refused: str = ""
    left: int = 0
    unjudged: tuple[str, ...] = ()
    failed: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    unreadable: tuple[UnreadableJudge, ...] = ()

    def rows(self) -> Iterator[Row]:
        """The rows, in the order of the examples; where an answer and metric have several, the last."""
        return read_rows(self.folder / "rows.jsonl", lambda unfinished: None)

    def to_finish(self) -> tuple[Usage, int] | None:
        """What the rows over the budget will take, if each takes as much as the mean of its metric's finished rows, and
        the number of these rows. An estimate: what was paid for them already is not deducted. None: there are none, or
        one of their metrics has no finished row."""
        taken: dict[str, Usage] = {}
        finished = Counter[str]()
        left = Counter[str]()
        for row in self.rows():
            if row.status == "over_budget":
                left[row.metric] += 1
            elif row.usage.calls or row.status == "ok":
                # of several scores of one computation, the first has its usage
                finished[row.metric] += 1
                taken.setdefault(row.metric, Usage()).add(row.usage)
        if not left or left.keys() - finished.keys():
            return None
        usage = Usage()
        for metric, rows in left.items():
            usage.add(taken[metric].scaled(rows / finished[metric]))
        return usage, left.total()


async def execute(
    examples: ExampleSource,
    settings: Settings,
    out: Path,
    cache: CallCache,
    options: SessionOptions,
    shared: Budget | None = None,
) -> RunResult:
    """Scores examples into the folder `out`. Raises UserError before any call, and whatever is a bug in longmark.

    shared: the budget of several sessions together; None: a new one, with the limits of the options."""
    retry = options.retried
    part = part_of(examples)
    options = limited(options, part) if part else options
    settings = replace(settings, turns=part.turns) if part else settings
    budget = options.budget.unspent() if shared is None else shared
    await _check(settings, options, budget)
    if options.handle_signals:
        # asyncio's own handler waits for the event loop, which does not turn while we read
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with RunFolder(out, settings.scores) as folder, ExitStack() as resources:
        session = _Session(out, folder, settings, options, part, resources)
        session.read(examples)
        session.tell_what_was_read()
        session.open_client(cache, budget)
        session.open_workers(retry)
        await session.score()
        return session.result()


async def _check(settings: Settings, options: SessionOptions, budget: Budget) -> None:
    """What can be known before the examples are read: UserError for what cannot work, a notice for what is ignored."""
    check_turns(settings)
    check_budget(settings.backends, budget)
    if options.ray is not None:
        await _ray_cluster().prepare(options.ray)
    tell_unsupported(settings, options)


class _Session:
    """A session in an open run folder. Its steps, in this order: `read`, `tell_what_was_read`, `open_client`,
    `open_workers`, `score`, `result`. part: the part of an input that the examples are, None for a whole one;
    resources: what is closed after the session."""

    def __init__(
        self,
        out: Path,
        folder: RunFolder,
        settings: Settings,
        options: SessionOptions,
        part: Part | None,
        resources: ExitStack,
    ) -> None:
        self._out = out
        self._folder = folder
        self._settings = settings
        self._options = options
        self._part = part
        self._resources = resources
        self._manifest = cast("RunManifest", folder.space.manifest)
        self._entry: SessionEntry = {}  # what the manifest says of this session
        self._stopped: str | None = None
        self._unreadable: tuple[UnreadableJudge, ...] = ()

    def read(self, examples: ExampleSource) -> None:
        """Reads all examples into the folder: bad input is known before the first call, and before rows are dropped."""
        space = self._folder.space
        options = self._options
        space.fix(self._settings.fixed())
        if self._part or "part" in self._manifest:
            same_part(space, self._part)
        self._source = Reading(examples, **options.reading, on_bad=self._leave_out_bad)
        checked = options.check_profiles and self._settings.reads_domain
        self._profiles = ProfileCheck(self._settings.domain) if checked else None
        self._notes: PartNotes | None = None
        if self._part:
            self._notes = self._resources.enter_context(closing(PartNotes(self._out, self._part)))
        answered: Iterable[Answered] = self._source
        if self._notes:
            answered = self._notes.places(self._source)
        if self._profiles:
            answered = self._profiles.over(answered)
        self._remarks = Remarks(self._settings.selected)
        answered = self._remarks.over(answered)
        staged = self._folder.stage(_due(answered, self._settings.selected, self._folder))
        self._begin(staged)
        # The manifest is on the disk with its new settings before the first outdated row is dropped.
        self._changes = self._folder.adopt(removed_count=options.limit is None)
        self._manifest["examples"]["absent"] = manifests.absent_hash(self._out)
        if self._notes:
            self._notes.begin()

    def _leave_out_bad(self, line: int, fields: Mapping[str, Any], why: str) -> None:
        """Notes a bad record as an absent answer of its system, to its question as far as that can be read."""
        question = fields.get("question")
        question_id = fields.get("question_id") or (
            question_hash(question) if question else fields.get("id")
        )
        system = (fields.get("system") or "") if fields else None
        self._folder.leave_out(f"line {line}", question_id, system, "skipped", f"Bad record: {why}")

    def _begin(self, staged: int) -> None:
        """Writes what the manifest says of the examples. staged: how many were read."""
        space = self._folder.space
        source = self._source
        manifest = self._manifest
        check_kind(source, self._settings.selected, self._settings.comparison)
        if not space.begun:
            space.manifest |= manifests.begun(
                self._settings, real(self._out).name, bool(source.pairs)
            )
        elif source.pairs is not None:
            manifests.same_kind(space, source.pairs)
        manifests.keep_rule(space, self._options.stopping)
        self._entry = {"started": now(), "ended": None}  # None stays where the process is killed
        if self._options.cluster:
            manifest["cluster"] = self._options.cluster
        manifest["finished"] = None
        manifest["source"] = source.name
        manifest["environment"] = manifests.environment()
        manifest["examples"] = {
            "read": staged,
            "skipped": source.bad,
            "limit": self._options.limit,
        }
        if source.shape:
            manifest["shape"] = source.shape.name
            manifest["ignored"] = +source.ignored
        if self._part:
            manifest["part"] = asdict(self._part)
        space.write()

    def tell_what_was_read(self) -> None:
        notices = (
            self._source.notice,
            self._source.unanswered,
            *self._source.notices,
            *(self._folder.told_apart.notices() if self._folder.told_apart is not None else ()),
            *self._remarks.notices(),
        )
        for notice in filter(None, notices):
            self._options.tell(notice)
        _tell_changes(self._options, self._source.bad, self._changes, self._folder.absent())
        if self._profiles is not None:
            misfit = self._profiles.message(self._settings.selected)
            if misfit is not None:
                self._options.tell(misfit)

    def open_client(self, cache: CallCache, budget: Budget) -> None:
        """The client of all calls, and the count of the replies that are to hold a verdict."""
        options = self._options
        if cache.store.read_only:
            options.tell(
                f"This role may only read the call cache {cache.path}: it serves replies, and no call is sent."
            )
        self._budget = budget
        self._client = Client(
            cache,
            concurrency=options.concurrency,
            budget=budget,
            price_of=price_of,
            run=self._out,
            resend_unknown=options.resend_unknown is not False,
            batching=options.batching,
        )
        self._entry["ledger"] = self._client.token
        if options.budget_group is not None:
            self._client.share_budget(options.budget_group)
        self._client.stops_when_refused = True
        self._client.share = self._part.share if self._part else 1.0
        self._verdicts = Verdicts(self._manifest.get("verdicts"))
        self._manifest["verdicts"] = self._verdicts.kept
        if options.retry:
            self._verdicts.forget()

    def open_workers(self, retry: frozenset[str]) -> None:
        """The workers, and the entry of this session in the manifest. retry: the statuses that are scored again."""
        folder = self._folder
        options = self._options
        self._progress = RunProgress(
            folder.rows_to_be(self._settings.selected), folder.rows_done(retry), self._client
        )
        self._progress.unscored = folder.unscored_rows(retry)
        self._finished = self._progress.total == self._progress.done
        executor = None
        if options.ray is not None and not self._finished:
            executor = self._resources.enter_context(
                _ray_cluster().opened(self._settings, options.ray, options.tell)
            )
            self._settings = replace(self._settings, backends=executor.backends)
        self._workers = WorkerPool(
            folder,
            self._settings,
            self._client,
            system=str(self._manifest["system"]),
            retry=retry,
            on_row=self._progress.row,
            on_calls=self._notes.calls if self._notes else None,
            executor=executor,
            verdicts=VerdictCounter(
                self._verdicts,
                folder.space.write,  # the count is on the disk before a kill
                None if options.keep_going else self._stop_workers,
            ),
        )
        self._manifest["examples"]["rows"] = self._progress.total
        self._entry["before"] = self._progress.done
        self._manifest["sessions"].append(self._entry)
        folder.space.write()
        if self._verdicts.unreadable() and not options.keep_going and not self._finished:
            self._workers.stop()  # the session before stopped for the same reason

    def _stop_workers(self) -> None:
        self._workers.stop()

    async def score(self) -> None:
        """Scores what has no row yet and puts the rows in order. However it ends, the manifest says so."""
        began = time.monotonic()
        try:
            interrupted = await self._work()
            self._unreadable = tuple(self._verdicts.unreadable())
            self._stopped = self._why_stopped(interrupted=interrupted)
            self._folder.put_in_order()
            if count := self._client.not_resent:
                self._options.tell(
                    f"{counted(count, 'call')} not sent again: the last attempt may have been billed, and "
                    f"got no reply. Their rows are unscored; {named('resend_unknown', YES)} sends them."
                )
        except BaseException as error:
            self._stopped = "error" if isinstance(error, Exception) else "interrupt"
            raise
        finally:
            self._end(time.monotonic() - began)

    async def _work(self) -> bool:
        """Has the workers do all that is due; whether a signal stopped them."""
        options = self._options
        client = self._client
        hidden = options.quiet or self._finished
        with (
            nullcontext() if hidden else self._progress.shown(),
            interruptible(self._workers, options) as signals,
        ):
            try:
                if not client.stopped:
                    with client.one_by_one():
                        await _settle(self._workers, self._manifest, self._settings, options)
                self._folder.space.write()
                usual = max(8, _ROWS_PER_CALL * options.concurrency)
                await self._workers.run(client.at_once(self._settings.backends.all(), usual))
            finally:
                for notice in client.end_batches():
                    options.tell(notice)
                # one model can play several roles
                for model in {id(model): model for model in self._settings.backends.all()}.values():
                    await model.close()
                if self._budget.group is not None:
                    await self._budget.group.close()
        return bool(signals)

    def _why_stopped(self, *, interrupted: bool) -> str | None:
        """`stopped` of the result, where no error ended the session; the first reason that holds."""
        if interrupted:
            return "interrupt"
        if self._client.refused:
            return "refused"
        if self._client.stopped and self._unreadable:
            return "unreadable"
        return "budget" if self._budget.stopped else None

    def _end(self, seconds: float) -> None:
        """Writes how the session ended, and what it counted."""
        entry = cast("dict[str, Any]", self._entry)  # the counts' names are the client's
        entry |= {
            "ended": now(),
            "seconds": round(seconds, 3),
            "rows": self._progress.written,
            **asdict(self._client.counts),
            "stopped": self._stopped,
        }
        self._manifest["versions"] = _versions(
            self._manifest.get("versions"), self._workers.versions
        )
        self._manifest["finished"] = now() if self._stopped is None else None
        self._folder.space.write()

    def result(self) -> RunResult:
        # A session that stopped early says nothing of metrics that it did not come to.
        ended = self._stopped not in ("interrupt", "refused", "unreadable")
        unscored, unjudged, inapplicable = self._folder.unscored() if ended else ([], [], [])
        return RunResult(
            folder=self._out,
            counts=self._client.counts,
            changes=self._changes,
            skipped=self._source.bad,
            stopped=self._stopped,
            unscored=tuple(unscored),
            inapplicable=tuple(inapplicable),
            closed=tuple(self._client.closed()),
            budget=self._budget.stopped,
            refused=self._client.refused,
            left=self._progress.total - self._progress.done,
            unjudged=tuple(unjudged),
            failed=self._workers.failed,
            unreadable=self._unreadable,
        )


async def _settle(
    workers: WorkerPool, manifest: RunManifest, settings: Settings, options: SessionOptions
) -> None:
    """Puts into the manifest what is sent to each chat model, before the first row, and tells what is not."""
    before = manifest.setdefault("settled", {})
    for name, words in (await workers.settle(before)).items():
        before[name] = words
        if words:
            refused = " and ".join(words).removeprefix("no ")
            use = "its samples use" if settings.judging.samples > 1 else "using"
            options.tell(f"{name} does not accept a {refused}; {use} the model's default.")


def _due(
    examples: Iterable[Answered], selected: Sequence[Selected], folder: RunFolder
) -> Iterator[Answered]:
    """The examples; variants that no metric scores are noted."""
    for example in examples:
        if example.variant_of is not None and not any(
            chosen.due(is_variant=True, kind=example.variant) for chosen in selected
        ):
            why = "A variant of a question, and no metric of the run scores variants of its kind."
            identity = (example.id, example.question_id, example.system or "", "inapplicable", why)
            folder.leave_out(*identity, example.variant_of)
        yield example


def _versions(
    before: Mapping[str, list[str]] | None, now: Mapping[str, Iterable[str]]
) -> dict[str, list[str]]:
    """model -> the versions that its endpoint reported, in the order in which they came, of all sessions."""
    all_versions: dict[str, list[str]] = dict(before or {})
    for name, versions in now.items():
        all_versions[name] = list(dict.fromkeys((*all_versions.get(name, ()), *versions)))
    return all_versions


def check_budget(backends: Backends, budget: Budget) -> None:
    """UserError where dollars are limited and a model's price is not known: the limit could not be kept."""
    if budget.max_usd is None:
        return
    for model in backends.all():
        if isinstance(price_of(model), UnknownPrice):
            raise UserError(
                f"{named('max_usd')}: no price is known for {model.name}; give it to the model in longmark.yaml (price: "
                "{input: 0.15, output: 0.60}, dollars for a million tokens), or limit the run by "
                f"{listed(('max_calls', 'max_tokens'), 'or')}"
            )


def _ray_cluster() -> Any:
    """The module that computes on a Ray cluster. UserError where no package adds it."""
    return plugins.required("executors", "ray", named("executor", "ray"))


def tell_unsupported(settings: Settings, options: SessionOptions) -> None:
    batched = [
        model
        for model in settings.backends.all()
        if model.width is None and options.batching.wants(model)
    ]
    if batched:
        vendor_of = plugins.required("batches", "vendor_of", named("batch"))
        for name in sorted(
            {model.name for model in batched if hasattr(model, "chat") and vendor_of(model) is None}
        ):
            options.tell(
                f"{name}: no batch API is known here. Its calls are sent one by one, at the full price."
            )
    for chosen in settings.selected:
        if (why := unsupported(settings, chosen)) is not None:
            options.tell(
                f"{chosen.name} will be unscored for every example that needs a call: {why}"
            )


def _tell_changes(
    options: SessionOptions, skipped: int, changes: ExampleChanges, absent: Mapping[str, int]
) -> None:
    if skipped:
        counts = ", and counted as unscored answers of the systems" if absent.get("skipped") else ""
        options.tell(f"{counted(skipped, 'bad record')} skipped{counts}.")
    if variants := absent.get("inapplicable"):
        options.tell(
            f"{counted(variants, 'answer')} to variants of questions will have no row, because no metric of the run "
            "scores them. They count as unscored: select a metric of variants, or leave them out of the file."
        )
    if changes.changed:
        options.tell(
            f"{counted(changes.changed, 'example')} changed since the last session; scored again."
        )
    if changes.removed:
        options.tell(
            f"{counted(changes.removed, 'example')} of the last session no longer in the input: left out of the rows "
            "(paid replies stay in the call cache)."
        )
    if removed := absent.get("removed"):
        options.tell(
            f"{counted(removed, 'answer')} that the folder held to questions that their system no longer answers "
            "count as unscored. If they should not, score the file into another folder."
        )
