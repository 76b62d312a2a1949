"""One session of a run: read and check the examples, resume what an earlier session left, score, put in order."""

from __future__ import annotations

import asyncio
import signal
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from longmark.engine import manifest as manifests
from longmark.engine.folder import Changes, RunFolder
from longmark.engine.pairs import check_kind
from longmark.engine.settings import SessionOptions, Settings, check_turns, unsupported
from longmark.engine.split import PartNotes, limited, same_part
from longmark.engine.worker import Progress, WorkerPool
from longmark.errors import UserError
from longmark.metrics import Selected
from longmark.models.budget import Budget, UnknownPrice
from longmark.models.cache import CallCache
from longmark.models.client import Client, Counts
from longmark.models.handles import Backends
from longmark.models.registry import price_of
from longmark.models.sending import Stopped
from longmark.models.verdicts import VerdictCounter
from longmark.options import YES, listed, named
from longmark.places import real
from longmark.progress import counted
from longmark.records import Answered, Row
from longmark.records.example import question_hash
from longmark.records.parts import part_of
from longmark.records.read import ExampleSource, Reading
from longmark.records.row import Usage
from longmark.records.same import comparable
from longmark.records.verdicts import UnreadableJudge, Verdicts
from longmark.records.write import read_rows
from longmark.workspace import now

if TYPE_CHECKING:
    from longmark.domain import Domain

_LOOK = (
    0.25 if hasattr(signal, "setitimer") else None
)  # seconds between two looks whether a stopped run's loop turns
_ROWS_PER_CALL = (
    2  # rows under way for each call that may be: while one is written, another one's call runs
)


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
    changes: Changes
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
        finished, left = Counter[str](), Counter[str]()
        for row in self.rows():
            if row.status == "over_budget":
                left[row.metric] += 1
            elif (
                row.usage.calls or row.status == "ok"
            ):  # of several scores of one computation, the first has its usage
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
    retry, part = options.retried, part_of(examples)
    options = limited(options, part) if part else options
    settings = replace(settings, turns=part.turns) if part else settings
    check_turns(settings)
    budget = options.budget.unspent() if shared is None else shared
    check_budget(settings.backends, budget)
    if options.ray is not None:
        from longmark.engine import ray_cluster

        await ray_cluster.prepare(options.ray)
    tell_unsupported(settings, options)
    if (
        options.handle_signals
    ):  # asyncio's own handler waits for the event loop, which does not turn while we read
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with RunFolder(out, settings.scores) as folder, ExitStack() as kept:
        space, manifest = folder.space, folder.space.manifest
        space.fix(settings.fixed())
        same_part(space, part)

        def skipped(line: int, fields: Mapping[str, Any], why: str) -> None:
            asked = (
                question_hash(fields["question"]) if fields.get("question") else fields.get("id")
            )
            question, system = fields.get("question_id") or asked, fields.get("system") or ""
            folder.leave_out(
                f"line {line}",
                question,
                system if fields else None,
                "skipped",
                f"Bad record: {why}",
            )

        source = Reading(examples, **options.reading, on_bad=skipped)
        check = (
            ProfileCheck(settings.domain)
            if options.check_profiles and settings.reads_domain
            else None
        )
        notes = kept.enter_context(closing(PartNotes(out, part))) if part else None
        read = notes.places(source) if notes else source
        staged = folder.stage(_due(check.over(read) if check else read, settings.selected, folder))
        check_kind(source, settings.selected, settings.comparison)
        if not space.begun:
            manifest |= manifests.begun(settings, real(out).name, bool(source.pairs))
        elif source.pairs is not None:
            manifests.same_kind(space, source.pairs)
        manifests.keep_rule(space, options.stopping)
        session: dict[str, Any] = {
            "started": now(),
            "ended": None,
        }  # so it stays where the process is killed
        manifest |= {"cluster": options.cluster} if options.cluster else {}
        manifest |= {
            "finished": None,
            "source": source.name,
            "environment": manifests.environment(),
            "examples": {"read": staged, "skipped": source.bad, "limit": options.limit},
            **({"shape": source.shape.name, "ignored": +source.ignored} if source.shape else {}),
            **({"part": asdict(part)} if part else {}),
        }
        space.write()
        changes = folder.adopt(removed_count=options.limit is None)
        manifest["examples"]["absent"] = manifests.absent_hash(out)
        if notes:
            notes.begin()
        said = (
            source.notice,
            source.unanswered,
            *source.ids_for_texts,
            *folder.told_apart.notices(),
        )
        for notice in filter(None, said):
            options.tell(notice)
        _tell_changes(options, source.bad, changes, folder.absent())
        if check is not None and (mismatch := check.message(settings.selected)) is not None:
            options.tell(mismatch)

        if cache.store.read_only:
            options.tell(
                f"This role may only read the call cache {cache.path}: it serves replies, and no call is sent."
            )
        client = Client(
            cache,
            concurrency=options.concurrency,
            budget=budget,
            price_of=price_of,
            run=out,
            resend_unknown=options.resend_unknown is not False,
            batching=options.batching,
        )
        session["ledger"] = client.token
        if options.budget_group is not None:
            client.share_budget(options.budget_group)
        client.stops_when_refused = True
        client.share = part.share if part else 1.0
        verdicts = Verdicts(manifest.get("verdicts"))
        manifest["verdicts"] = verdicts.kept
        if options.retry:
            verdicts.forget()

        def stop() -> None:
            workers.stop()

        counter = VerdictCounter(
            verdicts, space.write, None if options.keep_going else stop
        )  # on disk before a kill
        progress = Progress(folder.rows_to_be(settings.selected), folder.rows_done(retry), client)
        executor = None
        if options.ray is not None and progress.total != progress.done:
            executor = kept.enter_context(ray_cluster.opened(settings, options.ray, options.tell))
            settings = replace(settings, backends=executor.backends)
        workers = WorkerPool(
            folder,
            settings,
            client,
            system=str(manifest["system"]),
            retry=retry,
            on_row=progress.row,
            on_calls=notes.calls if notes else None,
            executor=executor,
            verdicts=counter,
        )
        manifest["examples"]["rows"] = progress.total
        session["before"] = progress.done
        manifest["sessions"].append(session)
        space.write()
        began, stopped = time.monotonic(), None
        finished = progress.total == progress.done
        if verdicts.unreadable() and not options.keep_going and not finished:
            workers.stop()  # as the session before
        nothing_to_show = options.quiet or finished
        try:
            with (
                nullcontext() if nothing_to_show else progress.shown(),
                _interruptible(workers, options) as interrupted,
            ):
                try:
                    if not client.stopped:
                        with client.one_by_one():
                            await _settle(workers, manifest, settings, options)
                    space.write()
                    usual = max(8, _ROWS_PER_CALL * options.concurrency)
                    await workers.run(client.at_once(settings.backends.all(), usual))
                finally:
                    for notice in client.end_batches():
                        options.tell(notice)
                    for model in {id(model): model for model in settings.backends.all()}.values():
                        await model.close()
                    if budget.group is not None:
                        await budget.group.close()
            unreadable = tuple(verdicts.unreadable())
            stopped = "interrupt" if interrupted else "refused" if client.refused else None
            stopped = stopped or ("unreadable" if client.stopped and unreadable else None)
            stopped = stopped or ("budget" if budget.stopped else None)
            folder.put_in_order()
            if client.not_resent:
                options.tell(
                    f"{counted(client.not_resent, 'call')} not sent again: the last attempt may have been billed, and "
                    f"got no reply. Their rows are unscored; {named('resend_unknown', YES)} sends them."
                )
        except BaseException as error:
            stopped = "error" if isinstance(error, Exception) else "interrupt"
            raise
        finally:
            session |= {
                "ended": now(),
                "seconds": round(time.monotonic() - began, 3),
                "rows": progress.written,
                **asdict(client.counts),
                "stopped": stopped,
            }
            manifest["versions"] = _versions(manifest.get("versions"), workers.versions)
            manifest["finished"] = now() if stopped is None else None
            space.write()
        ended = stopped not in ("interrupt", "refused", "unreadable")
        unscored, unjudged, inapplicable = folder.unscored() if ended else ([], [], [])
        return RunResult(
            out,
            client.counts,
            changes,
            source.bad,
            stopped,
            tuple(unscored),
            tuple(inapplicable),
            tuple(client.closed()),
            budget.stopped,
            client.refused,
            progress.total - progress.done,
            tuple(unjudged),
            workers.failed,
            unreadable,
        )


async def _settle(
    workers: WorkerPool, manifest: dict[str, Any], settings: Settings, options: SessionOptions
) -> None:
    """Puts into the manifest what is sent to each chat model, before the first row, and tells what is not."""
    before = manifest.setdefault("settled", {})
    for name, words in (await workers.settle(before)).items():
        before[name] = words
        if words:
            refused = " and ".join(words).removeprefix("no ")
            how = "its samples use" if settings.judging.samples > 1 else "using"
            options.tell(f"{name} does not accept a {refused}; {how} the model's default.")


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


def _versions(before: Any, now: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
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
                f"{named('max_usd')}: no price is known for {model.name}; limit the run by "
                f"{listed(('max_calls', 'max_tokens'), 'or')}"
            )


def tell_unsupported(settings: Settings, options: SessionOptions) -> None:
    wanted = [
        model
        for model in settings.backends.all()
        if model.width is None and options.batching.wants(model)
    ]
    if wanted:
        from longmark.models.batches.vendors import vendor_of

        for name in sorted(
            {model.name for model in wanted if hasattr(model, "chat") and vendor_of(model) is None}
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
    options: SessionOptions, skipped: int, changes: Changes, absent: Mapping[str, int]
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


@contextmanager
def _interruptible(work: WorkerPool, options: SessionOptions) -> Iterator[list[int]]:
    """The first Ctrl-C (or SIGTERM) lets the calls under way at endpoints end, the second one ends at once. Yields the
    list of signals that came.

    The event loop cannot hear a signal while a metric computes. So from the first one on a timer looks whether the
    loop turns; where it does not, what is being computed is left: it raises `Stopped` there and gets no row. After the
    second signal whatever keeps the loop is left.
    """
    came: list[int] = []
    if not options.handle_signals:
        yield came
        return
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    turned = True

    def stop() -> None:
        options.tell("Stopping after the calls in progress. Press Ctrl-C again to stop at once.")
        work.stop()

    def turns() -> None:
        nonlocal turned
        turned = True

    def hear(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        work.begin_nothing()
        loop.call_soon_threadsafe(stop if len(came) == 1 else task.cancel)
        if _LOOK is not None:
            signal.setitimer(signal.ITIMER_REAL, _LOOK, _LOOK)

    def look(_number: int, frame: FrameType | None) -> None:
        nonlocal turned
        if turned:
            turned = False
            loop.call_soon_threadsafe(turns)
        elif len(came) > 1:
            loop.set_exception_handler(
                lambda _loop, _context: None
            )  # which would show where it was
            raise KeyboardInterrupt
        elif work.computes(frame):
            raise Stopped("The run was stopped during this computation.")

    handlers: dict[int, Any] = {signal.SIGINT: hear, signal.SIGTERM: hear}
    if _LOOK is not None:
        handlers[signal.SIGALRM] = look
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield came
    finally:
        if _LOOK is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


# Profiles --------------------------------------------------------------------------------------------------------

_SHOWN = 3  # values of a slot that are named


class ProfileCheck:
    """Whether the examples' profiles are of the run's domain; it counts while examples go through.

    Specificity and masked answer relevance look for what the domain names. On questions of another domain they give
    scores all the same, so that a wrong or a forgotten `--domain` would not be noticed. A slot is unknown where the
    domain has none of that name; a value where the slot has no such value, in any case and spacing. Entries that are
    empty or no text are not checked, nor are examples without a profile.
    """

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._known = {
            slot.name: {_folded(value) for value in slot.all_values} for slot in domain.slots
        }
        self._profiles = self._misfits = 0
        self._slots: Counter[str] = Counter()
        self._values: dict[
            str, Counter[str]
        ] = {}  # slot -> unknown values; no more of them than are shown, and one

    def over(self, examples: Iterable[Answered]) -> Iterator[Answered]:
        """The examples as they are."""
        for example in examples:
            self._count(example)
            yield example

    def _count(self, example: Answered) -> None:
        profile = {name: value for name, value in (example.profile or {}).items() if value}
        slots = [name for name in profile if name not in self._known]
        values = {
            name: value
            for name, value in profile.items()
            if name in self._known
            and isinstance(value, str)
            and _folded(value) not in self._known[name]
        }
        self._profiles += bool(profile)
        self._misfits += bool(slots or values)
        self._slots.update(slots)
        for name, value in values.items():
            seen = self._values.setdefault(name, Counter())
            seen[value if value in seen or len(seen) < _SHOWN else "…"] += 1

    def message(self, selected: Iterable[Selected]) -> str | None:
        """What does not fit, for whoever selected these metrics; None where all fits, or no one reads profiles."""
        minding = dict.fromkeys(chosen.name for chosen in selected if chosen.metric.by_domain)
        if not self._misfits or not minding:
            return None
        differences = []
        if self._slots:
            differences.append(
                "it has no slot "
                + ", ".join(f"{name} ({n:,})" for name, n in self._slots.most_common())
            )
        for name, seen in self._values.items():
            differences.append(f"it has no such {name} ({seen.total():,}: {'; '.join(seen)})")
        return (
            f"{self._misfits:,} of {self._profiles:,} profiles do not fit the domain {self._domain.name}: "
            f"{'; '.join(differences)}. {' and '.join(minding)} use the domain. If it is the wrong one, name another with "
            f"{named('domain', 'FILE.yaml')}."
        )


def _folded(value: str) -> str:
    return comparable(value)
