"""What longmark asks of Ray, in this process: actors are objects, and a death is what the test says."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any


class RayError(Exception):
    pass


class RayTaskError(RayError):
    pass


@dataclass
class StandInRay:
    """addresses: of nodes -> whether they are alive; without the first one no reply comes. dies: (batch) -> whether the
    actor dies of it. never_starts: (number of the actor) -> whether it does not."""

    resources: dict[str, float] = field(default_factory=lambda: {"CPU": 2.0})
    addresses: dict[str, bool] = field(default_factory=lambda: {"127.0.0.1": True})
    dies: Callable[[bytes], bool] = lambda _batch: False
    started: int = 0
    deaths: int = 0
    batches: list[bytes] = field(default_factory=list)
    shut_down: int = 0
    init_with: dict[str, Any] = field(default_factory=dict)
    never_starts: Callable[[int], bool] = lambda _number: False
    exceptions: Any = field(
        default_factory=lambda: SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)
    )

    def is_initialized(self) -> bool:
        return False

    def init(self, **options: Any) -> None:
        self.init_with = options

    def shutdown(self) -> None:
        self.shut_down += 1

    def nodes(self) -> list[dict[str, Any]]:
        return [
            {"NodeID": one, "NodeManagerAddress": one, "Alive": alive}
            for one, alive in self.addresses.items()
        ]

    def get_runtime_context(self) -> Any:
        return SimpleNamespace(get_node_id=lambda: next(iter(self.addresses)))

    def cluster_resources(self) -> dict[str, float]:
        return self.resources

    available_resources = cluster_resources

    def remote(self, kind: type) -> Any:
        return SimpleNamespace(
            options=lambda **_: SimpleNamespace(remote=lambda work: _Actor(self, kind(work)))
        )

    def wait(self, asked: list[Any], **_: Any) -> tuple[list[Any], list[Any]]:
        late = [one for one in asked if one.late]
        return [one for one in asked if not one.late], late

    def get(self, asked: Any) -> Any:
        return asked.now()

    def kill(self, actor: _Actor) -> None:
        actor.dead = True


class _PendingReply:
    """A reply to come: awaited, or taken at once."""

    def __init__(self, make: Callable[[], Awaitable[Any]], late: bool) -> None:
        self._make = make
        self.late = late

    def __await__(self) -> Any:
        return self._make().__await__()

    def now(self) -> Any:
        made = self._make().__await__()
        try:
            next(made)
        except StopIteration as end:
            return end.value
        raise AssertionError("it waits")


class _Actor:
    def __init__(self, ray: StandInRay, worker: Any) -> None:
        ray.started += 1
        self.ray = ray
        self.dead = False
        late = ray.never_starts(ray.started)
        self.facts = SimpleNamespace(remote=lambda: _PendingReply(worker.facts, late))
        self.do = SimpleNamespace(
            remote=lambda batch: _PendingReply(lambda: self._do(worker, batch), False)
        )

    async def _do(self, worker: Any, batch: bytes) -> Any:
        if self.dead:
            raise RayError("it is dead")
        self.ray.batches.append(batch)
        await asyncio.sleep(0)
        if not self.dead and self.ray.dies(batch):
            self.dead = True
            self.ray.deaths += 1
            raise RayError("it died")
        if not next(iter(self.ray.addresses.values())):
            await asyncio.Future()
        reply = None if self.dead else await worker.do(batch)
        if self.dead:
            raise RayError("it died meanwhile")
        return reply
