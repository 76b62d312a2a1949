"""A schedule of a simulated world: what is run, by whom, and what goes wrong; then whether every promise was kept.

`Schedule.of(seed)` draws one; `run` lives through it and returns what was broken, or None; `shrunk` makes a failing one
smaller: without faults first, then without sessions, then with fewer examples and less at once.

Each session is `longmark run` as a process (`engine.session.execute` behind its call cache). Users repeat theirs one
after another; several users share the cache. When all is over, one more session for each folder runs with nothing going
wrong and no budget, and what the files hold then is checked:

    a stored reply is not asked for again, and no two processes ask for the same at once
    a session spends no more than its budget: what replies took beyond their requests' limits is left out
    a session that ends by itself has counted as many requests as the endpoint
    every request is in the ledger, as sent, before it leaves; at the end as answered, with what was counted, or as
        unknown; nothing else is there, but for what a kill stopped on its way
    with `--resend-unknown no` no call is sent whose last attempt is unknown
    a reply that came while the disk had room is stored
    a row is written only when the replies that it rests on are stored
    of calls that begin alike, one goes ahead: another is sent only when the reply to the first is stored, or half a
        minute after it was asked for
    every example has one row for every score, in order; a score is the right one, and no score has a reason
    everything ends; errors are those of `longmark.errors`; no task fails unheard; claims are given back

In every eighth schedule the judge's calls go in batches (`batches.py`). There, besides:

    a batch is in the journal as being sent before the request that submits it leaves
    a line is asked for again only if its vendor did not process it, or its reply was of no use; where nobody can know,
        only with `--resend-unknown yes`
    what a vendor processed and still has is stored at the end, and stands in the ledger once
    what waited for a batch that no request has left for stands in the ledger neither as unknown nor at all
    what is in batches counts against the budget; where nothing goes wrong no file is left at the vendor
"""

from __future__ import annotations

import asyncio
import gc
import math
import random
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from tests.simulation.batches import JOBS, WIRE, BatchPlan, House
from tests.simulation.vendor import (
    BEGUN,
    FAULTS,
    SHARED,
    BegunCall,
    Fault,
    SimulatedEmbedder,
    SimulatedJudge,
    SimulatedVendor,
    number_of,
)
from tests.simulation.world import EPOCH, REAL, Patch, Process, Violation, World, inhabited

from longmark.concurrency import concurrently
from longmark.contrib.scale.batches import batcher, tracker
from longmark.contrib.scale.batches.vendors import vendor_of
from longmark.engine.session import RunResult, execute
from longmark.engine.settings import SessionOptions, Settings, choose
from longmark.errors import FolderInUse, LongmarkError, NoScore, UserError
from longmark.metric import Metric, Score
from longmark.metric_sources import names
from longmark.metrics import load
from longmark.models import client, flights, prefixes
from longmark.models.batching import NO_BATCHES, Batching
from longmark.models.budget import Budget
from longmark.models.cache import CallCache
from longmark.models.handles import Backends, Models
from longmark.models.protocols import ChatRequest, Message
from longmark.prompts import fence
from longmark.records import STATUSES, Example, Row

# All processes are one thread: one that paused in the middle of an import would leave half a module to the others.
for metric_name in names():
    load(metric_name)

QR, STEPS, ALIKE = "ccrs.question_relevance", "steps", "alike"
MISHAPS = ("kill", "stop", "stall", "full", "busy", "short", "jump", "same pid")
_MEMORY = Path("/dev/shm")


async def _number(models: Models, text: str) -> int:
    request = ChatRequest((Message("user", text),), max_tokens=40)
    reply = await models.judges[0].chat(request)
    if not reply.text.isdecimal():
        raise NoScore("unparsable", "no number")
    return int(reply.text)


async def _steps(example: Example, models: Models, _params: Any) -> Score:
    """Two rounds of chats, one of them the same for all examples, and embeddings, one of them too."""

    async def asked(text: str) -> int:
        return await _number(models, text)

    first = await asked(f"Read {example.answer}")
    both = await concurrently(asked, [f"{first}? {example.answer}", SHARED])
    vectors = await models.embed([f"{example.answer}", SHARED, f"{both[0]} of {example.answer}"])
    return Score((both[0] / 100 + vectors[0][0]) / 2)


_STEPS = Metric(
    _steps, ("answer",), (0, 1), models=("judge", "embedder"), name=STEPS, source="simulated"
)


async def _alike(example: Example, models: Models, _params: Any) -> Score:
    """Three chats at once that begin with the same text: two follow the first of them."""
    loop = asyncio.get_running_loop()

    async def asked(task: str) -> int:
        BEGUN.set(BegunCall(example.answer or "", loop.time()))
        return await _number(models, f"{fence('answer', example.answer or '')}\n\n{task}")

    numbers = await concurrently(asked, ["Grade it.", "Grade it well.", "Grade it once more."])
    return Score(numbers[0] / 100)


_ALIKE = Metric(_alike, ("answer",), (0, 1), models=("judge",), name=ALIKE, source="simulated")
_OWN = {STEPS: _STEPS, ALIKE: _ALIKE}


@dataclass(frozen=True)
class UserCommand:
    """A command of a user. budget: calls, tokens and dollars; resends: calls whose last attempt is unknown, None: those
    that are in no batch; verb: `run`, or an action of `longmark batches`."""

    user: int
    folder: str
    at_once: int
    budget: tuple[int | None, int | None, float | None] = (None, None, None)
    resends: bool | None = True
    verb: str = "run"


@dataclass(frozen=True)
class Schedule:
    """seed: of latencies and of the order of processes; examples: how many; twins: every second one is asked like the
    one before it; metrics: by name; batches: None where every call goes by itself."""

    seed: int
    examples: int
    twins: bool
    metrics: tuple[str, ...]
    sessions: tuple[UserCommand, ...]
    faults: tuple[Fault, ...]
    batches: BatchPlan | None = None

    @classmethod
    def of(cls, seed: int) -> Schedule:
        rng = random.Random(seed)
        if seed % 8 == 5:
            return cls._in_batches(seed, rng)
        if seed % 16 == 3:
            return cls._of_calls_alike(seed, rng)
        metrics = rng.choice(((QR,), (QR,), (QR,), (STEPS,), (QR, STEPS)))
        examples = rng.randint(1, 3 if STEPS in metrics else 5)
        users = rng.choice((1, 1, 2))
        one_folder = rng.random() < 0.15
        made = []
        for user in range(users):
            for _ in range(rng.choice((1, 1, 2))):
                folder = "a" if one_folder or not user else "b"
                budget = _budget(rng, examples, STEPS in metrics)
                made.append(
                    UserCommand(user, folder, rng.choice((1, 2, 4)), budget, rng.random() < 0.7)
                )
        length = 80 + examples * (60 if STEPS in metrics else 20)  # moments of a session, about
        faults = [_fault(rng, len(made), length) for _ in range(rng.choice((0, 1, 2, 2, 3, 4, 6)))]
        theme = rng.choice(("", "", "money", "disk", "race", "refusals"))
        if theme == "money":  # several replies are lost, in a session that can pay for few calls
            faults += [
                Fault(rng.choice(("cut after", "late", "429", "500")), n)
                for n in range(rng.randint(1, 4))
            ]
            made = [
                replace(session, budget=_budget(rng, examples, STEPS in metrics, every=True))
                for session in made
            ]
        elif theme == "disk":
            faults += [
                Fault("full", rng.randint(30, 30 + length), 1.0),
                Fault("short", rng.randint(1, examples)),
            ]
        elif theme == "race":  # two processes want the same at once, and one of them waits long
            made = [
                replace(made[0], user=0, folder="a"),
                replace(made[-1], user=1, folder=rng.choice("ab")),
            ]
            faults += [Fault(rng.choice(("slow", "late", "429")), rng.randint(0, 3), 20.0)]
        elif theme == "refusals":  # calls end without a reply, while others need the same
            metrics = (STEPS,)
            faults += [Fault("400", rng.randint(0, 6)), Fault("429", rng.randint(0, 6), 400.0)]
        for who in range(len(made)):
            if rng.random() < 0.4:
                faults.append(Fault("kill", rng.randint(1, length), who=who))
        return cls(seed, examples, rng.random() < 0.3, metrics, tuple(made), tuple(faults))

    @classmethod
    def _of_calls_alike(cls, seed: int, rng: random.Random) -> Schedule:
        """One user, whose calls begin alike, so that one of them leads the others."""
        examples = rng.randint(1, 3)  # with more, the endpoint would be known to serve nothing
        budget = _budget(rng, 3 * examples, steps=False)
        sessions = [
            UserCommand(0, "a", rng.choice((1, 2, 4)), budget, rng.random() < 0.7)
            for _ in range(rng.choice((1, 1, 2)))
        ]
        faults = [
            Fault(rng.choice(tuple(FAULTS)), rng.randint(0, 3 * examples), float(rng.randint(1, 5)))
            for _ in range(rng.choice((0, 1, 2, 3)))
        ]
        if rng.random() < 0.3:
            faults.append(Fault("kill", rng.randint(1, 80 + 40 * examples)))
        return cls(seed, examples, False, (ALIKE,), tuple(sessions), tuple(faults))

    @classmethod
    def _in_batches(cls, seed: int, rng: random.Random) -> Schedule:
        metrics = rng.choice(((QR,), (QR,), (STEPS,)))
        steps = STEPS in metrics
        examples = rng.randint(2, 3 if steps else 5)
        made = []
        for user in range(rng.choice((1, 1, 1, 2))):
            for n in range(rng.choice((1, 2, 2, 3))):
                verb = (
                    rng.choice(("run", "run", "run", "fetch", "fetch", "cancel"))
                    if user or n
                    else "run"
                )
                folder = rng.choice("ab") if user else "a"
                budget = _budget(rng, examples, steps)
                made.append(
                    UserCommand(
                        user, folder, 2, budget, rng.choice((None, None, False, True)), verb
                    )
                )
        length = 400 if steps else 250  # moments of a session, about
        faults = [_fault(rng, len(made), length) for _ in range(rng.choice((0, 0, 1)))]
        faults += [
            Fault(rng.choice(tuple(JOBS)), rng.randint(1, 3))
            for _ in range(rng.choice((0, 1, 1, 2)))
        ]
        for _ in range(rng.choice((0, 0, 1, 2))):
            kind = rng.choice(tuple(WIRE))
            size = {
                "wire 429": rng.choice((-1.0, 20.0, 100.0)),
                "wire 500": float(rng.randint(1, 8)),
            }.get(kind, 1.0)
            faults.append(Fault(kind, 1 + int(rng.expovariate(0.2)), size))
        for who in range(len(made)):
            if rng.random() < 0.5:
                faults.append(Fault("kill", rng.randint(length // 3, length), who=who))
        how = BatchPlan(
            rng.choice(("openai", "openai", "mistral", "together", "anthropic", "anthropic")),
            rng.choice((5.0, 60.0, 600.0)),
            rng.choice((0, 0, 1, 3)),
            rng.choice((2, 100, 100)),
        )
        chance = rng.random()
        if chance < 0.1:  # `batches fetch` comes while a run waits for its turn to submit
            made = [replace(made[0], user=0, folder="a"), UserCommand(1, "", 1, verb="fetch")]
            faults = [Fault("wire 429", rng.randint(1, 2), 400.0), Fault("stall", 0, 300.0, who=1)]
        elif chance < 0.35:  # no call goes by itself, and there is money for few
            usd = examples * (3 if steps else 1) * rng.uniform(4e-4, 2e-3)
            made = [replace(session, budget=(None, None, usd)) for session in made]
            how = replace(how, singles=0, most=100)
        elif chance < 0.5:
            faults = [fault for fault in faults if fault.kind != "kill"]
            faults.append(Fault("power", rng.randint(length // 3, 3 * length // 2)))
        elif chance < 0.6:
            faults.append(Fault("wire late", rng.randint(1, 3)))
        return cls(seed, examples, rng.random() < 0.2, metrics, tuple(made), tuple(faults), how)

    def records(self) -> list[dict[str, Any]]:
        items = [number - number % 2 if self.twins else number for number in range(self.examples)]
        return [
            {"id": str(n), "question": f"What is item {item}?", "answer": f"It is item {item}."}
            for n, item in enumerate(items)
        ]

    def __str__(self) -> str:
        lines = [
            f"seed {self.seed}: {self.examples} examples{' in pairs' * self.twins}, metrics {', '.join(self.metrics)}",
            *([f"  {self.batches}"] if self.batches else []),
            *(f"  session {n}: {session}" for n, session in enumerate(self.sessions)),
            *(f"  {fault}" for fault in self.faults),
        ]
        return "\n".join(lines)


def _budget(
    rng: random.Random, examples: int, steps: bool, *, every: bool = False
) -> tuple[int | None, int | None, float | None]:
    calls = examples * (5 if steps else 1)
    share = rng.uniform(0.2, 3)
    kind = rng.random() * (0.35 if every else 1.0)
    if kind < 0.1:
        return max(1, int(calls * share)), None, None
    if kind < 0.2:
        return None, max(1, int(calls * 1_600 * share)), None
    return (None, None, max(1e-4, calls * 2e-3 * share)) if kind < 0.35 else (None, None, None)


def _fault(rng: random.Random, sessions: int, length: int) -> Fault:
    """Any fault but a kill. length: about how many moments a session has."""
    who, moment = rng.randrange(sessions), rng.randint(1, length)
    if rng.random() < 0.75:
        kind = rng.choice(tuple(FAULTS))
        size = {"429": rng.choice((-1.0, 0.0, 1.0, 20.0, 400.0)), "500": float(rng.randint(1, 8))}
        return Fault(kind, int(rng.expovariate(0.25)), size.get(kind, float(rng.randint(1, 5))))
    match rng.choice(MISHAPS[1:]):
        case "full":
            return Fault("full", moment, float(rng.choice((1, 1, 3, 30, 1000))))
        case "jump":
            return Fault("jump", moment, rng.choice((-90000.0, -50.0, 50.0, 100.0, 90000.0)))
        case "stall":
            return Fault("stall", moment, rng.choice((5.0, 70.0, 500.0)), who)
        case "stop":
            return Fault("stop", moment, 0.0, who)
        case "short":
            return Fault("short", rng.randint(1, 6))
        case "same pid":
            return Fault("same pid", 0)
    return Fault("busy", rng.randint(2, 30))


class _ScheduledRun:
    """One life of a schedule."""

    def __init__(self, schedule: Schedule, folder: Path) -> None:
        def of(kind: str) -> list[Fault]:
            return [fault for fault in schedule.faults if fault.kind == kind]

        self.schedule, self.folder, self.of = schedule, folder, of
        self.world = World(
            random.Random(schedule.seed),
            full=tuple((fault.at, int(fault.size)) for fault in of("full")),
            busy=tuple(fault.at for fault in of("busy")),
            short=tuple(fault.at for fault in of("short")),
            jumps=tuple((fault.at, fault.size) for fault in of("jump")),
            power=tuple(fault.at for fault in of("power")),
            database=folder / "calls.sqlite",
        )
        self.world.at_blackout = lambda: self.vendor.forget()
        self.vendor = SimulatedVendor(self.world, schedule.faults, folder / "calls.sqlite")
        self.house = (
            House(self.vendor, schedule.batches, schedule.faults) if schedule.batches else None
        )
        self.records = schedule.records()
        self.sessions: list[tuple[UserCommand, Process]] = []
        self.world.reuses_pids = bool(of("same pid"))
        if schedule.batches:
            self.world.longest = 12 * 3600.0
        self.budgets: dict[Process, Budget] = {}
        self.owners: dict[str, Process] = {}  # of claims
        self.scored: dict[
            str, set[tuple[str, str]]
        ] = {}  # folder -> examples and metrics that have had a score

    def live(self) -> None:
        """Violation where a promise is broken."""
        numbered = list(enumerate(self.schedule.sessions))
        for user in {session.user for session in self.schedule.sessions}:
            self._start([(n, session) for n, session in numbered if session.user == user])
        self.world.run()
        self._check_sessions()
        self.vendor.healed = True
        self.world.heal()
        if self.house is None:
            self._check_ledger()
        for folder in sorted(
            {session.folder for session in self.schedule.sessions if session.verb == "run"}
        ):
            if self.schedule.seed % 8 and self._is_complete(folder):
                self._check_finished(folder)
                continue
            for _ in range(
                2 if self.house else 1
            ):  # what the first learns of a batch can be an error
                self._start([(-1, UserCommand(9, folder, 2))])
                self.world.run()
                if self._is_complete(folder):
                    break
            error = self.sessions[-1][1].error
            if error is not None and not isinstance(error, Violation):
                raise Violation(
                    f"nothing goes wrong any more, and {folder} cannot be finished: {error!r}"
                )
            self._check_sessions()
            self._check_finished(folder)
        if self.house is not None:
            self._check_ledger()
            self._check_lines(self.house)

    def _start(self, commands: list[tuple[int, UserCommand]]) -> None:
        """The first of a user's commands; the others follow."""
        if not commands:
            return
        (number, session), *rest = commands

        async def main(process: Process) -> RunResult | None:
            cache = CallCache(self.folder / "calls.sqlite")
            self.owners[cache.store.owner] = process
            process.at_exit = cache.close
            judge = (
                self.house.judge(process) if self.house else SimulatedJudge(self.vendor, process)
            )
            if session.verb != "run":
                await self._look_after(session.verb, cache, judge)
                return None
            backends = Backends((judge,), embedder=SimulatedEmbedder(self.vendor, process))
            settings = replace(_settings(self.schedule.metrics), backends=backends)
            options = SessionOptions(
                resend_unknown=session.resends,
                concurrency=session.at_once,
                budget=self.budgets[process],
                quiet=True,
                handle_signals=True,
                batching=Batching(True, 8, resend_unknown=session.resends is True)
                if self.house
                else NO_BATCHES,
            )
            folder = self.folder / session.folder
            return await execute(
                self.records, settings, folder, cache, options, self.budgets[process]
            )

        name = f"session {number}" if number >= 0 else f"the last session of {session.folder}"
        process = self.world.start(name, main)
        self.budgets[process] = Budget(*session.budget)
        process.resends, process.resends_lines = (
            session.resends is not False,
            session.resends is True,
        )
        process.limited = session.budget[1:] != (None, None)
        mine = [fault for fault in self.schedule.faults if fault.who == number]
        process.kill_at = min((fault.at for fault in mine if fault.kind == "kill"), default=None)
        process.signals = sorted(fault.at for fault in mine if fault.kind == "stop")
        process.stalls = sorted((fault.at, fault.size) for fault in mine if fault.kind == "stall")
        process.at_end = lambda: self._ended(session, process, rest)
        self.sessions.append((session, process))

    async def _look_after(self, verb: str, cache: CallCache, judge: Any) -> None:
        """`longmark batches fetch` or `cancel`."""
        batches = client.Client(cache, batching=Batching(True)).batches
        try:
            vendor = vendor_of(judge)
            assert vendor is not None
            for batch in batches.journal.batches("sending", "running"):
                with suppress(LongmarkError):
                    if verb == "fetch":
                        await batches.tracker.fetch(vendor, batch.id, wait=False)
                    elif batch.vendor_id is not None:
                        await vendor.cancel(batch.vendor_id)
        finally:
            batches.close()

    def _ended(
        self, session: UserCommand, process: Process, rest: list[tuple[int, UserCommand]]
    ) -> None:
        if not isinstance(process.error, FolderInUse) and session.verb == "run":
            self._check_rows(session.folder, process)
        self._start(rest)

    def _is_complete(self, folder: str) -> bool:
        """Whether a session has finished it, with a score for everything."""
        last = [
            process
            for session, process in self.sessions
            if session.folder == folder and session.verb == "run"
        ][-1]
        complete = len(self.scored.get(folder, ())) == len(self.records) * len(
            self.schedule.metrics
        )
        return complete and isinstance(last.result, RunResult) and last.result.stopped is None

    # What must hold -----------------------------------------------------------------------------------------------
    def _check_rows(self, folder: str, process: Process) -> None:
        """Each score in the file is right, and rests on stored replies."""
        file = self.folder / folder / "rows.jsonl"
        scored, rows = set(), []
        lines = REAL["open"](file, "rb").read().splitlines(keepends=True) if file.exists() else []
        for line in lines:
            try:
                row = orjson.loads(line if line.endswith(b"\n") else b"")
            except ValueError:  # torn; the next session leaves it out
                if isinstance(process.result, RunResult):
                    raise Violation(f"{process.name} left half a row") from None
                continue
            rows.append(row)
            if row["status"] not in STATUSES or (row["status"] == "ok") != (
                row["score"] is not None
            ):
                raise Violation(
                    f"a row of the status {row['status']} with the score {row['score']}"
                )
            if row["status"] != "ok" and not row["reason"]:
                raise Violation(f"no reason for {row['status']}")
            if row["status"] == "ok":
                scored.add((row["example_id"], row["metric"]))
                if row["score"] != self._score(row["example_id"]):
                    raise Violation(
                        f"a wrong score: {row['score']} for example {row['example_id']}"
                    )
        written = [orjson.loads(line) for line in process.written if line.endswith(b"\n")]
        had = self.scored.get(folder, set()) | {
            (r["example_id"], r["metric"]) for r in written if r["status"] == "ok"
        }
        if lost := had - scored:
            raise Violation(f"{process.name} lost {len(lost)} scores of {folder}")
        self.scored[folder] = scored
        self._check_stored(
            [row["example_id"] for row in rows if row["status"] == "ok" and row["metric"] == QR],
            process,
        )

    def _score(self, example: str) -> float:
        return number_of(self.records[int(example)]["answer"]) / 100

    def _check_stored(self, examples: list[str], process: Process) -> None:
        """Of these examples with a score each has its reply in the cache."""
        stored = self.vendor.rows("SELECT reply FROM calls WHERE kind = 'chat'") if examples else []
        if self.world.blackouts:  # a reply to a single call can be lost with the power
            return
        texts = {orjson.loads(reply)["text"] for (reply,) in stored}
        for example in examples:
            if str(number_of(self.records[int(example)]["answer"])) not in texts:
                raise Violation(
                    f"example {example} has a score after {process.name}, and its reply is not stored"
                )

    def _check_sessions(self) -> None:
        if self.world.complaints:
            raise Violation(self.world.complaints[0])
        for session, process in self.sessions:
            error = process.error
            if error is not None and not isinstance(error, UserError | asyncio.CancelledError):
                if isinstance(error, BaseExceptionGroup):
                    error = error.exceptions[0]
                raise (
                    error
                    if isinstance(error, Violation)
                    else Violation(f"{process.name} failed: {error!r}")
                )
            if (
                isinstance(error, UserError)
                and not process.struck
                and not isinstance(error, FolderInUse)
            ):
                raise Violation(f"{process.name} failed without a fault: {error}")
            self._check_spent(session, process)
        for request in self.vendor.books:
            if request.stored and not (
                self.vendor.lapses and len({s.user for s, _ in self.sessions}) > 1
            ):
                raise Violation(f"{request.process.name} asked for a stored reply")

    def _check_ledger(self) -> None:
        """Attempts are what the endpoint saw."""
        cache = CallCache(self.folder / "calls.sqlite")
        cache.bury()
        cache.close()
        columns = "attempts.id, token, count, state, prompt, completion"
        query = f"SELECT {columns} FROM attempts JOIN sessions ON sessions.id = attempts.session"
        ledger = {row[0]: row for row in self.vendor.rows(query)}
        for request in self.vendor.books:
            if request.line or not request.attempt:
                continue
            _, _, _, state, prompt, completion = ledger.pop(request.attempt)
            process, counted = request.process, request.counted
            silent = request.kind in ("cut before", "cut after", "late")
            expected = (
                "unknown" if silent else "unreached" if request.kind == "unreached" else "answered"
            )
            if state != expected and not (process.killed or process.struck or process.error):
                raise Violation(
                    f"an attempt of {process.name} that is {expected} stands as {state}"
                )
            if (
                state == "answered"
                and request.heard
                and counted
                and (prompt, completion) != (counted.prompt, counted.completion)
            ):
                raise Violation(
                    f"the ledger has {prompt} and {completion} tokens of {process.name}, counted were {counted}"
                )
            usable = request.heard and request.kind in ("", "slow", "twice", "prose", "empty")
            ended = (
                request.ended is not None
                and request.ended > process.struck_at
                and not process.killed
            )
            if usable and ended and not all(map(self.vendor.holds, request.keys)):
                raise Violation(f"a reply to {process.name} is not stored, and the disk had room")
            if state == "sent":
                raise Violation(f"an attempt of {process.name} is still sent when it has ended")
        if (
            self.house is not None
        ):  # of lines the attempt is another one where another session has waited for them
            return
        gone = {
            token
            for _, process in self.sessions
            if process.killed or process.error
            for token in process.tokens
        }
        for _, token, _, state, _, _ in ledger.values():
            if token not in gone:
                raise Violation(
                    f"the ledger has an attempt that the endpoint did not see, as {state}"
                )

    def _check_lines(self, house: House) -> None:
        """What became of the lines of batches."""
        if house.files and not self.schedule.faults:
            raise Violation(f"{len(house.files)} files are left at the vendor")
        undisturbed = not self.vendor.lapses
        for key in {line.keys[0] for line in self.vendor.books if line.line}:
            asked = [request for request in self.vendor.books if request.keys == (key,)]
            stored = self.vendor.holds(
                key
            ) or (  # a row can outlive the power that its reply was lost with
                self.world.blackouts
                and self.vendor.rows(
                    "SELECT 1 FROM batch_lines WHERE key = ? AND result <> ''", (key,)
                )
            )
            if any(one.fate == "read" for one in asked) and not stored:
                raise Violation("a reply in a batch is not stored")
            query = "SELECT state, status, prompt, completion, sent FROM attempts WHERE key = ?"
            ledger = self.vendor.rows(query, (key,))
            counts = [
                one.counted
                for one in asked
                if one.counted and one.heard and (one.line or one.attempt)
            ]
            left = [(one.prompt, one.completion) for one in counts]
            for state, status, prompt, completion, sent in ledger:
                if state == "sent":
                    raise Violation("an attempt in a batch is still sent when all has ended")
                if state == "answered" and status == 200 and prompt is not None:
                    if (prompt, completion) not in left:
                        raise Violation(
                            f"the ledger has {prompt} and {completion} tokens that nobody counted"
                        )
                    left.remove((prompt, completion))
                waits = (
                    len(asked) == 1 and asked[0].fate == "read" and sent > EPOCH + asked[0].began
                )
                if state == "unknown" and waits and undisturbed:
                    raise Violation("the ledger has an attempt that only waited for a batch")
            if len(left) > sum(row[0] == "unknown" or row[2] is None for row in ledger):
                raise Violation(f"the ledger has not {len(left)} attempts that were counted")

        for id, key, state in self.vendor.rows(
            "SELECT id, key, state FROM attempts WHERE kind = 'chat'"
        ):
            by_itself = house.how.singles or any(
                one.keys == (key,) and not one.line for one in self.vendor.books
            )
            unsent = not by_itself and id < house.left.get(key, math.inf)
            if state == "queued" or (state == "unknown" and unsent):
                raise Violation(
                    f"the ledger has an attempt for which no request has left, as {state}"
                )

    def _check_spent(self, session: UserCommand, process: Process) -> None:
        calls, tokens, usd = session.budget
        mine = [request for request in self.vendor.books if request.process is process]
        counted = (
            process.result.counts.requests if isinstance(process.result, RunResult) else len(mine)
        )
        if counted < len(mine) or (counted > len(mine) and self.house is None):
            raise Violation(f"{process.name} counted {counted} requests, the endpoint {len(mine)}")
        if calls is not None and len(mine) > calls:
            raise Violation(f"{process.name} sent {len(mine)} requests with a budget of {calls}")
        within = [request for request in mine if request.counted is not None and not request.over]
        took = sum(
            request.counted.prompt + request.counted.completion
            for request in within
            if request.counted
        )
        if tokens is not None and took > tokens:
            raise Violation(f"{process.name} took {took} tokens of {tokens}")
        if usd is not None and (paid := sum(request.usd for request in within)) > usd * (1 + 1e-9):
            raise Violation(f"{process.name} spent ${paid:.6f} of ${usd:.6f}")
        budget = self.budgets[process]
        if not process.killed and (budget._out or budget._tokens_out or budget._usd_out):
            raise Violation(f"{process.name} ended with reservations: {budget}")

    def _check_finished(self, folder: str) -> None:
        """Of a folder whose last session was undisturbed."""
        try:
            rows = [
                Row.from_json(line)
                for line in REAL["open"](self.folder / folder / "rows.jsonl", "rb")
            ]
        except ValueError as error:
            raise Violation(f"rows of {folder}: {error}") from None
        found = [(row.example_id, row.metric) for row in rows]
        wanted = [
            (record["id"], metric) for record in self.records for metric in self.schedule.metrics
        ]
        if found != wanted:
            raise Violation(f"rows of {folder}: {found}, not {wanted}")
        for row in rows:
            prose = (
                self.vendor.prose[number_of(self.records[int(row.example_id)]["answer"])]
                + self.vendor.prose[50]
            )
            if row.status != "ok" and not (row.status == "unparsable" and prose):
                raise Violation(f"a row of {folder} stays {row.status}: {row.reason}")
        left = [
            owner
            for (owner,) in self.vendor.rows("SELECT owner FROM claims WHERE until > 0")
            if not self.owners[owner].killed
        ]
        if left and not self.of("full") and not self.of("busy"):
            raise Violation(f"{len(left)} claims of sessions that ended are left")


def _patches(schedule: Schedule) -> list[Patch]:
    batches = schedule.batches
    if batches is None:
        return [(prefixes, "LEAST", 1)] if ALIKE in schedule.metrics else []
    seldom = (
        (tracker, "_SOON", 2.0),
        (tracker, "_LATE", 600.0),
        (tracker, "_SHARE", 0.5),
        (batcher, "_AGAIN", 2.0),
    )
    singles = (batcher, "SINGLE", batches.singles), (batcher, "_MOST_LINES", batches.most)
    return [*singles, *seldom, (flights, "_LOOK_AGAIN", 29.0)]


@cache
def _settings(metrics: tuple[str, ...]) -> Settings:
    return Settings(choose([_OWN.get(name, name) for name in metrics]), Backends())


def run(schedule: Schedule) -> str | None:
    """What the schedule breaks, None: nothing."""
    folder = Path(
        tempfile.mkdtemp(prefix="longmark-simulation-", dir=_MEMORY if _MEMORY.is_dir() else None)
    )
    life = _ScheduledRun(schedule, folder)
    gc.disable()  # it takes a tenth of the time
    try:
        with inhabited(life.world, *_patches(schedule)):
            life.live()
    except Violation as broken:
        return str(broken)
    finally:
        gc.enable()
        life.vendor.close()
        shutil.rmtree(folder, ignore_errors=True)
    return None


def shrunk(schedule: Schedule) -> Schedule:
    """A smaller schedule that breaks the same promise (its message but for numbers and names), by steps that each leave
    one thing out."""
    like = _kind(run(schedule))
    smaller = True
    while smaller:
        found = next((one for one in _smaller(schedule) if _kind(run(one)) == like), None)
        schedule, smaller = found or schedule, found is not None
    return schedule


def _kind(broken: str | None) -> str:
    return re.sub(r"the last session of \w|session \S+|\S*[\d.]+\S*|\b[ab]\b", "#", broken or "")


def _smaller(schedule: Schedule) -> Iterator[Schedule]:
    for n in range(len(schedule.faults)):
        yield replace(schedule, faults=schedule.faults[:n] + schedule.faults[n + 1 :])
    for n in range(len(schedule.sessions) if len(schedule.sessions) > 1 else 0):
        faults = tuple(
            replace(fault, who=fault.who - (fault.who > n))
            for fault in schedule.faults
            if fault.kind not in ("kill", "stop", "stall") or fault.who != n
        )
        yield replace(
            schedule, sessions=schedule.sessions[:n] + schedule.sessions[n + 1 :], faults=faults
        )
    if len(schedule.metrics) > 1:
        yield from (replace(schedule, metrics=(name,)) for name in schedule.metrics)
    if schedule.twins:
        yield replace(schedule, twins=False)
    if schedule.examples > 1:
        yield replace(schedule, examples=schedule.examples - 1)
    for n, session in enumerate(schedule.sessions):
        for simpler in (replace(session, at_once=1), replace(session, budget=(None, None, None))):
            if simpler != session:
                yield replace(
                    schedule,
                    sessions=(*schedule.sessions[:n], simpler, *schedule.sessions[n + 1 :]),
                )
