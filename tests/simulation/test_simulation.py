"""2,000 schedules keep every promise; planted bugs are found among them; what the simulator once found stays mended.

By hand, any number of them: `python -m bench.simulate`.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from itertools import chain
from typing import Any

import pytest
from tests.contrib.scale.batches.strict_server import DIALECTS
from tests.simulation.batches import JOBS, WIRE, BatchPlan
from tests.simulation.mutants import MUTANTS, found
from tests.simulation.schedule import QR, STEPS, Schedule, UserCommand, run, shrunk
from tests.simulation.vendor import FAULTS, Fault
from tests.simulation.world import Killed, Process, Violation, World, inhabited

SCHEDULES = 2000
PARTS = 40  # of the schedules, a test each; four classes, so that workers share them

FOUND_BY: dict[str, tuple[int, ...]] = {
    "a failed commit is not rolled back": (1361,),
    "a failed commit of replies goes unheard": (68,),
    "a claim is granted though the reply is stored": (20,),
    "a claim is not released": (20,),
    "a lost reply leaves nothing behind": (18,),
    "calls under way are not reserved": (71,),
    "rows are rewritten in place": (809,),
    "finished lines of an expired batch are dropped": (173,),
    "submitted money is not counted": (189,),
    "a lost batch is sent again": (77, 373),
    "a batch that no list shows yet was never submitted": (1389,),
    "whoever waits for an earlier batch is an attempt more": (101,),
    "results are deleted before they are stored": (2189, 2573),
    "`batches fetch` forgets what a run is submitting": (533,),
    "a follower is sent before its leader's reply is stored": (19,),
    "the journal is not synchronised": (77,),
}
"""Mutant -> the seeds that are tried first, so that the search is short (`python -m bench.simulate --mutants`, whose
counts are seeds + 1); two where releases of Python find it by different ones. A change of what a session does moves them:
then the search finds another seed and passes, and takes long."""


class _Schedules:
    first: int

    @pytest.mark.parametrize("part", range(PARTS // 4))
    def test_every_promise_is_kept(self, part: int):
        step = SCHEDULES // PARTS
        start = (self.first * (PARTS // 4) + part) * step
        broken = {
            seed: found for seed in range(start, start + step) if (found := run(Schedule.of(seed)))
        }
        assert not broken


class TestFirstQuarter(_Schedules):
    first = 0


class TestSecondQuarter(_Schedules):
    first = 1


class TestThirdQuarter(_Schedules):
    first = 2


class TestFourthQuarter(_Schedules):
    first = 3


class TestPlantedBugs:
    @pytest.mark.parametrize("name", MUTANTS)
    def test_is_found_within_the_schedules(self, name: str):
        seeds = chain(FOUND_BY.get(name, ()), range(SCHEDULES))
        seed, broken = found(name, seeds) or (-1, "")
        assert seed >= 0
        assert "unexpected keyword argument" not in broken, "it no longer fits what it replaces"
        assert run(Schedule.of(seed)) is None


def alone(
    *faults: Fault, examples: int = 4, metrics: tuple[str, ...] = (QR,), twins: bool = False
) -> Schedule:
    """One session of one user, two calls at once."""
    return Schedule(1, examples, twins, metrics, (UserCommand(0, "a", 2),), faults)


# What the simulator found -----------------------------------------------------------------------------------------
def test_rows_that_follow_a_half_written_one_are_kept():
    assert run(alone(Fault("short", 1), examples=2, twins=True)) is None


def test_a_row_whose_place_could_not_be_noted_is_not_cut_off_with_the_next_half_row():
    """Wherever the disk is full for one write: the index has no room for the first row's place, then the second row
    is written by half."""
    for moment in range(60, 110):
        assert run(alone(Fault("full", moment, 1.0), Fault("short", 2))) is None


def test_what_became_of_an_attempt_is_in_the_ledger_though_the_commit_that_told_it_failed():
    for moment in range(55, 115):
        assert run(alone(Fault("full", moment, 1.0), examples=1, metrics=(STEPS,))) is None


def test_a_process_that_dies_while_another_one_claims_its_call_leaves_it_unsent():
    """Under `--resend-unknown no`: the claim looks again, in its own transaction."""
    sessions = UserCommand(0, "a", 4), UserCommand(1, "b", 1, resends=False)
    for moment in range(80, 95):
        for seed in (458, 459, 460):
            assert run(Schedule(seed, 4, False, (QR,), sessions, (Fault("kill", moment),))) is None


def test_a_session_whose_new_folder_another_one_takes_away_is_told_that_it_is_in_use():
    sessions = UserCommand(0, "a", 1), UserCommand(1, "a", 1)
    for moment in range(25, 33):
        for seed in (10795, 10796):
            assert (
                run(Schedule(seed, 1, False, (QR,), sessions, (Fault("full", moment, 1.0),)))
                is None
            )


def test_a_process_that_stood_still_for_longer_than_its_lease_sends_an_attempt_that_is_unknown():
    sessions = UserCommand(0, "a", 1), UserCommand(1, "b", 1)
    assert (
        run(
            Schedule(
                313, 1, False, (STEPS,), sessions, (Fault("jump", 127, 100.0), Fault("400", 0))
            )
        )
        is None
    )


BATCHES = BatchPlan("openai", 5.0, 0, 100)


def in_batches(
    *faults: Fault, resends: bool | None = None, dialect: str = "openai", runs: int = 2
) -> Schedule:
    sessions = tuple(UserCommand(0, "a", 2, resends=resends) for _ in range(runs))
    return Schedule(1, 3, False, (QR,), sessions, faults, replace(BATCHES, dialect=dialect))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_submission_that_arrives_after_it_was_given_up_is_found(dialect: str):
    """Twice the time-out after it began to look, not one time-out after the request."""
    for at in (1, 2):
        assert run(in_batches(Fault("wire late", at), dialect=dialect)) is None


def test_whoever_waits_for_a_batch_after_another_is_no_attempt_more():
    """Also where the second was killed, at any moment, and a third one waits."""
    for moment in range(80, 160, 4):
        assert run(in_batches(Fault("kill", 200), Fault("kill", moment, who=1))) is None


def test_a_lost_line_stays_in_the_ledger_though_the_command_is_repeated():
    assert run(in_batches(Fault("misses", 1))) is None


def test_a_lost_batch_is_sent_again_in_the_same_session_where_that_is_wanted():
    assert run(in_batches(Fault("is lost", 1), Fault("wire 413", 3), resends=True)) is None


def test_a_lost_line_stays_lost_until_a_session_that_may_has_sent_it_again():
    """The one that may is killed, at any moment, and the next one may not."""
    sessions = UserCommand(0, "a", 1, resends=True), UserCommand(0, "a", 1, resends=None)
    for moment in range(216, 306, 6):
        faults = Fault("is lost", 1), Fault("kill", moment)
        assert (
            run(Schedule(1941, 2, False, (QR,), sessions, faults, BatchPlan("openai", 600.0, 1, 2)))
            is None
        )


def test_batches_fetch_leaves_a_batch_to_the_run_that_submits_it():
    sessions = UserCommand(0, "a", 2, resends=None), UserCommand(1, "", 1, verb="fetch")
    for at in (1, 2):
        faults = Fault("wire 429", at, 400.0), Fault("stall", 0, 300.0, who=1)
        assert run(Schedule(1, 3, False, (QR,), sessions, faults, BATCHES)) is None


# The simulator ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("metric", [QR, STEPS])
def test_each_fault_alone_breaks_nothing(kind: str, metric: str):
    assert run(alone(Fault(kind, 1, 3.0), metrics=(metric,))) is None


@pytest.mark.parametrize("kind", [*JOBS, *WIRE])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_fault_of_batches_alone_breaks_nothing(kind: str, dialect: str):
    assert run(in_batches(Fault(kind, 1, 3.0), dialect=dialect, runs=1)) is None


@pytest.mark.parametrize("kind", ["kill", "power"])
@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_an_end_at_each_moment_of_a_run_in_batches_breaks_nothing(kind: str, dialect: str):
    for moment in range(60, 260, 8):
        assert run(in_batches(Fault(kind, moment), dialect=dialect)) is None


def test_a_kill_at_each_moment_of_a_session_breaks_nothing():
    for moment in range(1, 150, 3):
        assert run(alone(Fault("kill", moment), examples=2)) is None


def test_a_seed_is_a_schedule_and_its_course():
    from tests.simulation import schedule as schedules

    courses: list[Any] = []

    class Noted(schedules._ScheduledRun):
        def live(self) -> None:
            super().live()
            books = [
                (r.process.name, r.began, r.ended, r.kind, r.counted) for r in self.vendor.books
            ]
            courses.append(
                (books, [process.moments for _, process in self.sessions], self.world.now)
            )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schedules, "_ScheduledRun", Noted)
        for seed in (3, 14, 3, 14):
            assert Schedule.of(seed) == Schedule.of(seed)
            run(Schedule.of(seed))
    assert courses[:2] == courses[2:]
    assert courses[0] != courses[1]


def test_a_failing_schedule_is_made_smaller(monkeypatch: pytest.MonkeyPatch):
    """A bug that needs a kill and two examples keeps these, and loses the rest."""
    from tests.simulation import schedule as schedules

    def breaks(one: Schedule) -> str | None:
        killed = any(fault.kind == "kill" for fault in one.faults)
        return "broken 17" if killed and one.examples > 1 else None

    monkeypatch.setattr(schedules, "run", breaks)
    faults = (Fault("429", 1), Fault("kill", 40, who=1), Fault("500", 3))
    large = Schedule(
        1,
        6,
        True,
        (QR, STEPS),
        (UserCommand(0, "a", 4, (3, None, None)), UserCommand(1, "b", 2)),
        faults,
    )
    assert shrunk(large) == Schedule(
        1, 2, False, (QR,), (UserCommand(1, "b", 1),), (replace(faults[1], who=0),)
    )


def lived(*mains: Any) -> World:
    """A world in which processes with these main coroutines have lived."""
    world = World(random.Random(0))
    with inhabited(world):
        for number, main in enumerate(mains):
            world.start(f"process {number}", main)
        world.run()
    return world


def test_the_clock_jumps_over_waits_and_all_processes_share_it():
    async def sleeper(process: Process) -> float:
        await asyncio.sleep(1000)
        return process.time()

    assert [process.result for process in lived(sleeper, sleeper).processes] == [1000, 1000]


def test_nothing_runs_after_a_kill(tmp_path: Any):
    said: list[str] = []

    async def main(process: Process) -> None:
        file = open(tmp_path / "file", "wb")  # noqa: SIM115, ASYNC230
        try:
            file.write(b"in the buffer")
            await asyncio.sleep(1)
            process.kill_at = process.moments + 1
            await asyncio.sleep(1)
            said.append("alive")
        finally:
            file.flush()
            said.append("flushed")

    process = lived(main).processes[0]
    assert process.killed
    assert said == []
    assert (tmp_path / "file").read_bytes() == b""


def test_a_kill_before_an_operation_leaves_what_was_written_before_it(tmp_path: Any):
    async def main(process: Process) -> None:
        with open(tmp_path / "file", "wb") as file:  # noqa: ASYNC230
            file.write(b"first")
            file.flush()
            process.kill_at = process.moments + 1
            file.write(b"second")
            try:
                file.flush()
            except Killed:
                (tmp_path / "another").mkdir()

    assert lived(main).processes[0].killed
    assert (tmp_path / "file").read_bytes() == b"first"
    assert not (tmp_path / "another").exists()


def test_a_process_that_waits_for_nothing_hangs():
    async def main(_process: Process) -> None:
        await asyncio.Future()

    with pytest.raises(Violation, match="process 0 waits for nothing"):
        lived(main)


def test_a_task_that_fails_unheard_is_a_complaint():
    async def main(_process: Process) -> None:
        asyncio.get_running_loop().call_soon(lambda: 1 / 0)
        await asyncio.sleep(1)

    assert "ZeroDivisionError" in lived(main).complaints[0]
