"""A team of Ray workers that have one copy of the models of this machine: who is asked, and what becomes of their calls."""

from __future__ import annotations

import asyncio
import hashlib
import math
import pickle
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from longmark.contrib.scale.ray_worker import Worker
from longmark.errors import RequestRefused, ServerFault, UserError
from longmark.options import named
from longmark.progress import counted

_TRIP = 0.25  # seconds that a batch should take
MOST = 64  # items of a batch
DEPTH = 2  # batches that an actor has: one that it works on, one that waits there
_DEATHS = 3  # of workers with one item, after which it is not asked again
STARTS = 3  # times that a worker, or Ray, is started before it is given up
_READY = 120.0  # seconds that a worker may take to start
Item = tuple[Any, "asyncio.Future[bytes | None]"]  # what to do, and where the reply goes


@dataclass(eq=False)
class TeamPlace:
    """A place in a team, the actor that has it (None: it is being replaced), and how many batches that has."""

    actor: Any
    busy: int = 0


@dataclass(eq=False)
class Team:
    """Actors that do the same work. name: of that, in messages; work: pickled; needs: the resources of an actor;
    expected: the facts that theirs must be equal to."""

    ray: Any
    tell: Callable[[str], None]
    name: str
    work: bytes
    needs: Mapping[str, float]
    expected: Mapping[str, str]
    members: list[TeamPlace] = field(default_factory=list)
    _waiting: deque[Item] = field(default_factory=deque)
    _suspects: Counter[bytes] = field(
        default_factory=Counter
    )  # items that a worker died with -> deaths with it alone
    _pace: float = _TRIP  # seconds of an item
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _broken: Exception | None = None

    def _actor(self) -> Any:
        resources = dict(self.needs)
        room = {
            "num_cpus": resources.pop("CPU", 0),
            "num_gpus": resources.pop("GPU", 0),
            "resources": resources,
        }
        retries = {"max_restarts": 0, "max_task_retries": 0}
        return self.ray.remote(Worker).options(**room, **retries).remote(self.work)

    def start(self, size: int) -> None:
        """Starts so many actors and compares them. UserError where none can be started, or one is different."""
        total = self.ray.cluster_resources()
        if short := [f"{name} {n:g}" for name, n in self.needs.items() if n > total.get(name, 0)]:
            have = ", ".join(f"{name} {total.get(name, 0):g}" for name in self.needs)
            raise UserError(
                f"{named('ray_resources')}: no room for {self.name}: it needs {', '.join(short)}, and the cluster "
                f"has {have}"
            )
        actors = [self._actor() for _ in range(size)]
        actor_of = {actor.facts.remote(): actor for actor in actors}
        ready, late = self.ray.wait(list(actor_of), num_returns=size, timeout=_READY)
        if not ready:
            raise UserError(
                f"--executor ray: no worker for {self.name} started within {_READY:g} s"
            )
        for answer in ready:
            try:
                self._compare(*self.ray.get(answer))
            except self.ray.exceptions.RayError as error:
                why = str(error).strip().splitlines()[-1].strip()
                raise UserError(f"--executor ray: a worker did not start: {why}") from None
            self.members.append(TeamPlace(actor_of[answer]))
        for answer in late:
            self.ray.kill(actor_of[answer])
        if late:
            self.tell(f"Ray started {len(ready)} of {counted(size, 'worker')} for {self.name}.")

    def _compare(self, versions: Mapping[str, str], error: str) -> None:
        if error:
            raise UserError(f"--executor ray: a worker cannot be used: {error}")
        names = sorted(versions.keys() | self.expected.keys())
        lines = [
            f"  {name}: {versions.get(name, 'none')}; here {self.expected.get(name, 'none')}"
            for name in names
            if versions.get(name) != self.expected.get(name)
        ]
        if lines:
            headline = (
                "--executor ray: a worker would compute other scores; install there what is here:"
            )
            raise UserError("\n".join([headline, *lines]))

    def ask(self, task: Any) -> asyncio.Future[bytes | None]:
        """A worker's reply. ServerFault where the worker died; RequestRefused where workers always do."""
        if self._broken is not None:
            raise self._broken
        reply: asyncio.Future[bytes | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((task, reply))
        self._send()
        return reply

    def _send(self) -> None:
        """Gives members that have room what waits; while an item is suspected of deaths, one batch to each."""
        for depth in range(1 if self._suspects else DEPTH):
            for member in self.members:
                if self._waiting and member.actor is not None and member.busy == depth:
                    member.busy += 1
                    self._do(self._carry(member, member.actor, self._batch()))

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _batch(self) -> list[Item]:
        """The next items, for about `_TRIP` seconds of work; one that a worker died with travels alone."""
        share = math.ceil(len(self._waiting) / (DEPTH * len(self.members)))
        size = max(1, min(MOST, share, int(_TRIP / max(self._pace, 1e-6))))
        batch: list[Item] = []
        while self._waiting and len(batch) < size:
            task, reply_due = self._waiting[0]
            alone = not reply_due.done() and bool(self._suspects) and _key(task) in self._suspects
            if alone and batch:
                break
            self._waiting.popleft()
            if not reply_due.done():  # else it was left
                batch.append((task, reply_due))
            if alone:
                break
        return batch

    async def _carry(self, member: TeamPlace, actor: Any, batch: list[Item]) -> None:
        try:
            if batch:
                seconds, replies = await actor.do.remote(pickle.dumps([task for task, _ in batch]))
                self._pace = (self._pace + seconds / len(batch)) / 2
                for (sent_task, reply_due), reply in zip(batch, replies, strict=True):
                    if self._suspects:
                        self._suspects.pop(_key(sent_task), None)
                    if not reply_due.done():
                        reply_due.set_result(reply)
        except self.ray.exceptions.RayTaskError as error:
            self._fail(RuntimeError(f"a worker of longmark failed: {error}"), batch)
        except self.ray.exceptions.RayError:
            self._died(member, actor, batch)
        finally:
            if self._broken is not None:
                self._fail(self._broken, batch)
            elif member.actor is actor:
                member.busy -= 1
                self._send()

    def _died(self, member: TeamPlace, actor: Any, batch: list[Item]) -> None:
        for task, reply_due in batch:
            key = _key(task)
            self._suspects[key] += key in self._suspects  # the first time others were with it
            if often := self._suspects[key] >= _DEATHS:
                del self._suspects[key]
            words = (
                f"{_DEATHS} workers for {self.name} died of it; out of memory?"
                if often
                else "its worker died"
            )
            if not reply_due.done():
                reply_due.set_exception(RequestRefused(words) if often else ServerFault(words))
        if member.actor is actor:
            member.actor = None
            member.busy = 0
            self.tell(
                f"A worker for {self.name} died. It is replaced, and its work is asked again."
            )
            self._do(self._replace(member, actor))

    async def _replace(self, member: TeamPlace, actor: Any) -> None:
        """Starts another actor in a member's place."""
        for _ in range(STARTS):
            with suppress(Exception):
                self.ray.kill(actor)
            actor = self._actor()
            try:
                self._compare(*(await asyncio.wait_for(actor.facts.remote(), _READY)))
            except (self.ray.exceptions.RayError, TimeoutError):
                continue
            except UserError as error:
                self._fail(error)
                return
            member.actor = actor
            self._send()
            return
        self.members.remove(member)
        if not self.members:
            self._fail(
                UserError(
                    f"--executor ray: no worker for {self.name} is left; repeat the command to resume"
                )
            )

    def end(self, error: UserError) -> None:
        """Nothing more can be asked, and what was asked has no reply."""
        self._fail(error)
        for task in self._tasks:
            task.cancel()

    def _fail(self, error: Exception, batch: Sequence[Item] = ()) -> None:
        """Nothing more can be asked."""
        self._broken = error
        for _, reply_due in (*batch, *self._waiting):
            if not reply_due.done():
                reply_due.set_exception(error)


def _key(item: Any) -> bytes:
    return hashlib.sha256(pickle.dumps(item)).digest()
