"""The form of a study: stages that each write a file or a folder, and a page of tables and figures.

A study is declared as a list of `Stage`s and the sections of its page (`PageSection`s); nothing here knows a paper.
`study.json` in the study's folder holds its fixed settings and the state of each stage. A stage is done if it was
finished, its output exists, and the hashes of its inputs have not changed; otherwise it is made again (replies that
were paid for come from the call cache). An output that a person has changed is kept, and the stages that use it are
made again. Seconds, calls and tokens are summed over all sessions.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from longmark import home
from longmark.contrib.papers.study_page import SUMMED
from longmark.contrib.papers.study_page import PageSection as PageSection
from longmark.contrib.papers.study_page import notices as notices
from longmark.contrib.papers.study_page import sections as sections
from longmark.contrib.papers.study_page import stage_table as stage_table
from longmark.engine.estimate import dry_run
from longmark.engine.manifest import environment
from longmark.engine.run import finish
from longmark.engine.session import execute
from longmark.engine.settings import RETRIED, SessionOptions, Settings
from longmark.errors import LongmarkError, UserError
from longmark.models.batching import NO_BATCHES, Batching
from longmark.models.budget import Budget
from longmark.models.cache import CallCache
from longmark.models.client import Counts
from longmark.models.handles import Models
from longmark.models.registry import Registry
from longmark.options.groups import CONCURRENCY
from longmark.records import Example
from longmark.records.verdicts import in_words
from longmark.records.write import write_examples
from longmark.report.document import Document
from longmark.report.format import counted
from longmark.workspace import Workspace, now
from longmark.writing import check_within
from longmark.writing import folder as make_folder

if TYPE_CHECKING:
    pass


STATE = "study.json"
BUDGET = "budget"
MISSING = "missing"
INTERRUPT = "interrupt"
UNREADABLE_JUDGE = "unreadable"


class StudyStopped(LongmarkError):
    """A stage is not finished. Repeat the same command to resume. why: `budget`, `missing` (a model gave no reply),
    `interrupt` or `unreadable` (a judge cannot be read)."""

    def __init__(self, why: str, message: str) -> None:
        super().__init__(message)
        self.why = why


@dataclass(frozen=True)
class StudySession:
    """What may differ between two sessions of a study, because it changes no result.

    allow_missing: finish a stage without the lines that have no reply; until: the last part of the stages to
    work on, "" for all; progress: called with what is made, the number done and the total; tell: takes messages for the
    user; registry: opens models (None: one with default timeouts); batching: what goes in batches; keep_going: also
    where a judge cannot be read.
    """

    cache: CallCache
    concurrency: int = CONCURRENCY
    budget: Budget = field(default_factory=Budget)
    allow_missing: bool = False
    until: str = ""
    quiet: bool = True
    handle_signals: bool = False
    resend_unknown: bool | None = None
    tell: Callable[[str], None] = lambda _notice: None
    progress: Callable[[str, int, int | None], None] = lambda _what, _done, _total: None
    registry: Registry | None = None
    batching: Batching = NO_BATCHES
    keep_going: bool = False

    def counter(self, line_kind: str, total: int) -> Callable[[], None]:
        """A function to call after each line of a stage: it reports the progress."""
        numbers = iter(range(1, total + 1))
        return lambda: self.progress(line_kind, next(numbers, total), total)


@dataclass(frozen=True, slots=True)
class Expected:
    """What a stage still requires. rows: lines or scores to make; calls: to send, at most; None: not known yet."""

    rows: int | None
    calls: int | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Made:
    """What one session of a stage made.

    examples: the lines of the stage's file, written when the stage is finished; None: it wrote its own output, of
    `lines` lines. left_out: lines that could not be made, with the reason; no_reply: those of them without a model's
    reply. failed: why there is nothing to write; unreadable: which judge cannot be read; notes: for the page.
    """

    examples: Iterable[Example] | None = None
    lines: int = 0
    left_out: Sequence[str] = ()
    no_reply: Sequence[str] = ()
    failed: str = ""
    unreadable: str = ""
    interrupted: bool = False
    counts: Counts = field(default_factory=Counts)
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage. name: `PART` or `PART: OF WHAT`; out: its file or run folder; expect: what it requires, or a function
    that finds out (its argument: whether its inputs exist); needs: name -> input file; settings: name -> anything else
    it depends on, as text."""

    name: str
    out: Path
    make: Callable[[], Awaitable[Made]]
    expect: Expected | Callable[[bool], Awaitable[Expected]]
    needs: Mapping[str, Path] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)

    def inputs(self) -> dict[str, str]:
        """name -> hash of the input, or setting, as they are now."""
        return {name: digest(path) for name, path in self.needs.items()} | dict(self.settings)


async def made_with(work: Awaitable[Any], models: Models | None) -> tuple[Made, Any]:
    """What a coroutine made with these models, and its own result, which has `examples` and `left_out` (each with
    `again`: a model gave no reply). The models are closed afterwards."""
    if models is not None:
        models.client.at_once(models.backends.all(), 0)
    try:
        work_result = await work
    finally:
        for model in (
            (models.backends.generator, models.backends.embedder) if models is not None else ()
        ):
            if model is not None:
                await model.close()
        if models is not None:
            models.client.end_batches()
    counts = models.client.counts if models is not None else Counts()
    reasons = [str(omission) for omission in work_result.left_out]
    no_reply = [str(omission) for omission in work_result.left_out if omission.again]
    return Made(
        work_result.examples, len(work_result.examples), reasons, no_reply, counts=counts
    ), work_result


_SHARED = (
    "concurrency",
    "budget",
    "quiet",
    "tell",
    "handle_signals",
    "resend_unknown",
    "batching",
    "keep_going",
)  # of a study with its stages


def scoring_stage(
    name: str,
    out: Path,
    answers: Path,
    settings: Settings,
    session: StudySession,
    reading: Mapping[str, Any] | None = None,
) -> Stage:
    """The stage that scores a file of answers into a run folder, as `longmark run` does. reading: limit, mapping,
    encoding and skip_bad, as of `SessionOptions`."""
    read = dict(reading or {})
    shared = {name: getattr(session, name) for name in _SHARED}
    options = SessionOptions(
        **shared, **read, check_profiles=False
    )  # the study checks its questions before anything is paid

    async def make() -> Made:
        make_folder(out.parent)
        if not session.quiet:
            session.tell(f"{name} …")
        result = await execute(answers, settings, out, session.cache, options, session.budget)
        interrupted = result.stopped == INTERRUPT
        rows = [] if interrupted else list(result.rows())
        no_reply = [
            f"{row.example_id} {row.metric}: {row.reason}" for row in rows if row.status in RETRIED
        ]
        failed = f"every call to a model was refused: {result.refused}" if result.refused else ""
        unreadable = in_words(result.unreadable) if result.stopped == UNREADABLE_JUDGE else ""
        scores_made = Made(
            lines=len(rows),
            no_reply=no_reply,
            failed=failed,
            interrupted=interrupted,
            counts=result.counts,
        )
        return replace(scores_made, unreadable=unreadable)

    async def expect(ready: bool) -> Expected:
        if not ready:
            return Expected(None, None, "known after the answers are generated")
        total = (await dry_run(answers, settings, out, session.cache, options)).total
        note = f"{total.cached:,} more are in the cache" if total.cached else ""
        return Expected(total.rows, total.calls, note if total.rows else "done")

    fixed = hashlib.sha256(orjson.dumps(settings.fixed(), option=orjson.OPT_SORT_KEYS)).hexdigest()[
        :16
    ]
    return Stage(
        name,
        out,
        make,
        expect,
        {"answers": answers},
        {"settings": fixed} | ({"reading": repr(read)} if read else {}),
    )


@dataclass(frozen=True)
class PaperStudy:
    """A study. kind: one word; settings: fixed for its folder; stages: in their order; members: role -> label ->
    models, which may be added later; document: the page, from the state of the stages (None: nothing to show yet).

    check: checks what it can before more is paid; pages: writes further pages and returns their paths; unscored: the
    metrics without any score, once there is a page.
    """

    out: Path
    kind: str
    settings: Mapping[str, Any]
    stages: Sequence[Stage]
    session: StudySession
    document: Callable[[Mapping[str, Any]], Document | None]
    members: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    check: Callable[[], None] = lambda: None
    pages: Callable[[], Sequence[Path]] = lambda: ()
    unscored: Callable[[], Sequence[str]] = lambda: ()

    def __post_init__(self) -> None:
        parts = [part for part, _ in self.parts()]
        if self.session.until and self.session.until not in parts:
            raise UserError(f"--until {self.session.until}: it is one of {', '.join(parts)}")

    def parts(self) -> list[tuple[str, list[Stage]]]:
        """The stages that belong together, up to and with `until`."""
        groups = groupby(self.stages, lambda stage: stage.name.partition(":")[0])
        parts = [(part, list(stages)) for part, stages in groups]
        last = next(
            (i for i, (part, _) in enumerate(parts, 1) if part == self.session.until), len(parts)
        )
        return parts[:last]


@dataclass(frozen=True)
class StudyOutcome:
    """The state of a study after a session. stages: name -> state; stopped: why the session ended before the study did,
    None if it did not."""

    study: PaperStudy
    stages: Mapping[str, Any]
    stopped: StudyStopped | None

    @cached_property
    def document(self) -> Document | None:
        """The page; None while there is nothing to show."""
        return self.study.document(self.stages)


def carry_out(study: PaperStudy) -> StudyOutcome:
    """Makes every stage that is not done. UserError and its subclasses if something is wrong, before the first call if
    possible."""
    with opened(study) as folder:
        study.check()
        stopped: StudyStopped | None = None
        try:
            finish(folder.work)
        except StudyStopped as stop:
            stopped = stop
        return StudyOutcome(study, folder.stages, stopped)


def expected(study: PaperStudy) -> list[tuple[str, Expected]]:
    """What every stage still requires. Nothing is sent, and no stage is made."""

    async def work(is_done: Callable[[Stage], bool]) -> list[tuple[str, Expected]]:
        stage_needs = []
        finished_paths = set[Path]()
        outputs = {stage.out for stage in study.stages}
        for stage in study.stages:
            expect = stage.expect
            if is_done(stage):
                finished_paths.add(stage.out)
                expect = Expected(0, 0, "done")
            elif not isinstance(expect, Expected):
                expect = await expect(
                    finished_paths.issuperset(outputs.intersection(stage.needs.values()))
                )
            stage_needs.append((stage.name, expect))
        return stage_needs

    if not (study.out / STATE).exists():
        return finish(lambda: work(lambda _stage: False))
    with opened(study) as folder:
        return finish(lambda: work(folder.is_done))


@contextmanager
def opened(study: PaperStudy) -> Iterator[_Folder]:
    with Workspace(study.out, STATE, "study", stages=dict) as space:
        yield _Folder(study, space)


class _Folder:
    """The folder of a study: the state of its stages, and how they are made."""

    def __init__(self, study: PaperStudy, space: Workspace) -> None:
        self._study = study
        self._space = space
        self._state = space.manifest
        stages = self._state.setdefault("stages", {})
        self._state.setdefault("environment", environment())
        if not any(
            stage.get("finished") for stage in stages.values()
        ):  # unfinished stages fix nothing
            self._state["fixed"] = {}
        space.fix({"kind of study": study.kind, **study.settings})
        space.write()

    @property
    def stages(self) -> dict[str, Any]:
        """name -> state of the stage: seconds, calls, tokens, lines, left_out, notes, finished."""
        return dict(self._state["stages"])

    def is_done(self, stage: Stage) -> bool:
        """Whether the stage need not be made again."""
        state = self._state["stages"].get(stage.name, {})
        return (
            bool(state.get("finished")) and stage.out.exists() and state["inputs"] == stage.inputs()
        )

    async def work(self) -> None:
        """Makes every stage that is not done. StudyStopped if a stage could not be finished; if that is for missing
        replies, after the other stages of its part."""
        self._space.fix(self._state["fixed"], self._study.members)
        self._space.write()
        for _, stages in self._study.parts():
            stopped: list[StudyStopped] = []
            for stage in stages:
                try:
                    await self._make(stage)
                except StudyStopped as stop:
                    if stop.why != MISSING:
                        raise
                    stopped.append(stop)
            if stopped:
                raise StudyStopped(MISSING, "\n".join(map(str, stopped)))

    async def _make(self, stage: Stage) -> None:
        state = self._state["stages"].setdefault(
            stage.name, {"seconds": 0.0, **dict.fromkeys(SUMMED, 0), "usd": 0.0}
        )
        if self.is_done(stage):
            if (output := digest(stage.out)) != state["output"]:
                self._study.session.tell(
                    f"{stage.out} was edited after it was made; the edited file is used."
                )
                state |= {"output": output, "changed_by_hand": True}
                self._space.write()
            return
        if stage.out.is_relative_to(self._study.out):
            check_within(self._study.out, stage.out)
        inputs = stage.inputs()
        began = time.monotonic()
        state["finished"] = None
        self._space.write()  # the state on disk if the process is killed
        stage_made = None
        stop = None
        try:
            new = await stage.make()
            stop = self._unfinished(stage.name, new)
            lines = new.lines
            if new.examples is not None and stop is None:
                make_folder(stage.out.parent)
                lines = write_examples(new.examples, stage.out)
            stage_made = new  # whatever raised before this leaves the stage unfinished
        finally:
            state["seconds"] = round(state["seconds"] + time.monotonic() - began, 3)
            if stage_made is not None:
                _add(state, stage_made.counts)
                state |= {
                    "lines": lines,
                    "left_out": list(stage_made.left_out),
                    "notes": list(stage_made.notes),
                    "inputs": inputs,
                    "output": digest(stage.out),
                    "changed_by_hand": False,
                    "finished": None if stop else now(),
                }
            self._space.write()
        if stop:
            raise stop

    def _unfinished(self, name: str, stage_made: Made) -> StudyStopped | None:
        """Why a stage is not finished; None: it is."""
        session = self._study.session
        if stage_made.interrupted:
            return StudyStopped(
                INTERRUPT, f"{name}: interrupted; repeat the same command to resume"
            )
        if stage_made.unreadable:
            remedy = "Use another judge with another --out, or add --keep-going to score the other rows in any case."
            return StudyStopped(UNREADABLE_JUDGE, f"{name}: {stage_made.unreadable}\n{remedy}")
        if session.budget.stopped:
            resume = "Repeat the command with a larger budget to resume the study."
            return StudyStopped(BUDGET, f"{name}: {session.budget.stopped} {resume}")
        if stage_made.no_reply and not session.allow_missing:
            lines = counted(len(stage_made.no_reply), "line")
            resume = "Repeat the command to request them again, or add --allow-missing to continue"
            first = f"no reply for {lines}, the first: {stage_made.no_reply[0]}"
            return StudyStopped(MISSING, f"{name}: {first}\n{resume} without them")
        return StudyStopped(MISSING, stage_made.failed) if stage_made.failed else None


def _add(state: dict[str, Any], counts: Counts) -> None:
    for name in SUMMED:
        state[name] += getattr(counts, name)
    state["usd"] = None if state["usd"] is None or counts.usd is None else state["usd"] + counts.usd


def digest(path: Path) -> str:
    """The SHA-256 of a file; of a folder, of its `rows.jsonl`; "" if there is none."""
    file = path / "rows.jsonl" if path.is_dir() else path
    return home.digest(file) if file.exists() else ""


# The page -----------------------------------------------------------------------------------------------------------
