"""`--executor ray`: local models and metrics that make no call, on the machines of a Ray cluster.

Actors do the work (`ray_worker`), in batches; Ray retries nothing. What is paid, stored and spent stays here: a worker
that dies is replaced, and what it was doing is asked again, calls by the client that counts attempts.

longmark's own cluster listens on loopback and wants a token made for it. Ray runs code for whoever reaches it, so a
cluster with a public address is refused unless the user accepts it.
"""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import math
import os
import pickle
import secrets
import shutil
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from longmark import errors
from longmark.concurrency import COMPUTING
from longmark.contrib.scale.ray_worker import Worker, WorkerSetup, facts
from longmark.contrib.scale.remote import RemoteModel
from longmark.engine.settings import RayCluster, Settings
from longmark.engine.worker import Results, Task
from longmark.errors import NoScore, RequestRefused, ServerFault, UserError
from longmark.metrics import Selected
from longmark.models import ROLES
from longmark.models.handles import Backends
from longmark.models.protocols import Backend
from longmark.options import named
from longmark.progress import counted

_TRIP = 0.25  # seconds that a batch should take
_MOST = 64  # items of a batch
_CALLS = 8  # of a model under way for each actor, at most
_DEPTH = 2  # batches that an actor has: one that it works on, one that waits there
_DEATHS = 3  # of workers with one item, after which it is not asked again
_STARTS = 3  # times that a worker, or Ray, is started before it is given up
_READY = 120.0  # seconds that a worker may take to start
_ANSWER = 10.0  # seconds that a cluster's port may take to answer
_LOOK = 2.0  # seconds between two looks at the cluster's nodes
_STORE = 200 << 20  # bytes of shared memory for messages, of a cluster of our own
_OWN = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_AUTH_MODE": "token",
}  # 0: every process listens on loopback


@contextmanager
def opened(
    settings: Settings, cluster: RayCluster, tell: Callable[[str], None]
) -> Iterator[RayExecutor]:
    """The executor, with its workers started and compared with this process. UserError before any call."""
    models = _local(settings.backends)
    have = settings.backends.names()
    computing = [
        chosen for chosen in settings.selected if not set(chosen.metric.models) & have.keys()
    ]
    if not models and not computing:
        raise UserError(
            "--executor ray: every metric of the run asks a model at an endpoint, so workers have nothing to do; leave "
            "it out, or use longmark split"
        )
    work = WorkerSetup.of(settings, computing)
    ray = errors.library("ray", "--executor ray", "ray")
    needs = {"CPU": 1.0} if not cluster.resources else dict(cluster.resources)
    own_processors = len(models) * cluster.actors * math.ceil(needs.get("CPU", 0))
    folder = _connect(ray, cluster, _cores() + own_processors)
    try:
        _check_nodes(ray, cluster)
        room = int(ray.available_resources().get("CPU", 0)) - own_processors
        teams = {}
        for model, name in models:
            packed = pickle.dumps(replace(work, metrics=(), model=name))
            teams[id(model)] = Team(ray, tell, model.name, packed, needs, facts([], model))
            teams[id(model)].start(cluster.actors)
        crew = None
        if computing and room > 0:
            crew = Team(
                ray, tell, "the metrics", pickle.dumps(work), {"CPU": 1.0}, facts(computing, None)
            )
            crew.start(room)
        elif computing:
            tell("The Ray cluster has no free CPU for metrics: they are computed here.")
        watching = asyncio.get_running_loop().create_task(
            watch(ray, tell, [*teams.values(), *([crew] if crew else [])])
        )
        try:
            yield RayExecutor(settings.backends, computing if crew else [], crew, teams)
        finally:
            watching.cancel()
    finally:
        ray.shutdown()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _local(backends: Backends) -> list[tuple[Backend, tuple[str, str]]]:
    """The models that run on a machine of ours, each once, with the role and the name to open it by."""
    loaded = {}
    for model in {id(model): model for model in backends.all()}.values():
        if model.width is None:
            continue
        if (name := getattr(model, "opened_as", None)) is None:
            raise UserError(
                f"--executor ray: {model.name} was given as an object; workers open a model by its name"
            )
        loaded[id(model)] = (model, name)
    return list(loaded.values())


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# The cluster -----------------------------------------------------------------------------------------------------


def _connect(ray: Any, cluster: RayCluster, cores: int) -> Path | None:
    """Connects this process to a cluster; the folder of one of our own."""
    if ray.is_initialized():
        raise UserError(
            "--executor ray: this process is connected to Ray already; call ray.shutdown() first"
        )
    quiet = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
    if cluster.address is not None:
        try:
            ray.init(address=cluster.address, **quiet)
        except (ConnectionError, RuntimeError, ValueError) as error:
            why = " ".join(str(error).split())[:300].rstrip(". ")
            raise UserError(
                f"--executor ray={cluster.address}: no cluster that can be used: {why}; give the address that `ray "
                "start` printed, of a cluster with the same versions of Ray and Python"
            ) from None
        return None
    folder = Path(
        tempfile.mkdtemp(prefix="longmark-ray-", dir="/tmp" if os.path.isdir("/tmp") else None)
    )
    processors = {
        "num_cpus": cores,
        "include_dashboard": False,
        "object_store_memory": _STORE,
        "_temp_dir": str(folder),
    }
    try:
        for left in reversed(range(_STARTS)):
            try:
                ray.init(address="local", **processors, **quiet)
                break
            except (
                Exception
            ) as error:  # Ray raises a bare one where its processes need more than 30 s
                ray.shutdown()
                if not left:
                    why = str(error).strip().splitlines()[0]
                    raise UserError(
                        f"--executor ray: Ray did not start: {why} Is this machine too busy?"
                    ) from None
    except BaseException:
        ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


async def prepare(cluster: RayCluster) -> None:
    """Before anything is read: that Ray is installed, and may be started or reached. Ray reads these variables when it
    is imported. MissingExtra, UserError."""
    if cluster.address is None:
        os.environ.update(_OWN)
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    else:
        os.environ.setdefault("RAY_NUM_REDIS_GET_RETRIES", "2")  # of 40 s each; its default are 20
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    errors.library("ray", "--executor ray", "ray")
    if cluster.address not in (None, "auto"):
        host, colon, port = str(cluster.address).rpartition(":")
        if not (colon and port.isdecimal()) or "/" in host:
            raise UserError(f"--executor ray={cluster.address}: expected ray=HOST:PORT or ray=auto")
        try:
            resolved = await asyncio.get_running_loop().getaddrinfo(host.strip("[]"), int(port))
        except OSError as error:
            raise UserError(
                f"--executor ray={cluster.address}: {host} is not found ({error})"
            ) from None
        _refuse_public({str(entry[4][0]) for entry in resolved}, cluster)
        try:  # Ray itself would wait for minutes
            _, writer = await asyncio.wait_for(
                asyncio.open_connection(host.strip("[]"), int(port)), _ANSWER
            )
            writer.close()
        except (OSError, OverflowError) as error:
            raise UserError(
                f"--executor ray={cluster.address}: nothing answers at this address ({error or 'timed out'}); start a "
                f"cluster there (`ray start --head --port {port}`), or give the address that `ray start` printed"
            ) from None


def _check_nodes(ray: Any, cluster: RayCluster) -> None:
    addresses = {node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]}
    if cluster.address is None and not all(
        ipaddress.ip_address(address).is_loopback for address in addresses
    ):
        raise UserError(
            "--executor ray: Ray was imported before longmark could keep it on loopback; use a new process"
        )
    _refuse_public(addresses, cluster)


def _refuse_public(addresses: set[str], cluster: RayCluster) -> None:
    public = sorted(
        address
        for address in addresses
        if ipaddress.ip_address(address.partition("%")[0]).is_global
    )
    if public and not cluster.insecure:
        raise UserError(
            f"--executor ray={cluster.address}: {public[0]} is a public address, and Ray runs code for whoever reaches "
            f"it; use a private network, or add {named('ray_insecure', True)}"
        )


async def watch(ray: Any, tell: Callable[[str], None], teams: Sequence[Team]) -> None:
    """Tells of nodes that leave the cluster, for as long as there is one. Where it is the node through which this
    process reaches the others, the work of all teams ends: no reply comes any more, and no error either."""
    nodes_seen: dict[str, str] = {}
    with suppress(Exception):  # the cluster has ended
        own_node = ray.get_runtime_context().get_node_id()
        while True:
            alive = {
                listed["NodeID"]: listed["NodeManagerAddress"]
                for listed in await asyncio.to_thread(ray.nodes)
                if listed["Alive"]
            }
            for node in nodes_seen.keys() - alive.keys():
                place = f"{nodes_seen[node]} ({node[:8]})"
                if node == own_node:
                    place += ", through which this process was in it, is dead; repeat the command to resume"
                    for team in teams:
                        team.end(UserError(f"--executor ray: the node of the Ray cluster {place}"))
                else:
                    tell(f"A node of the Ray cluster is dead: {place}. Its work is asked again.")
            nodes_seen = alive
            await asyncio.sleep(_LOOK)


# Workers ---------------------------------------------------------------------------------------------------------


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
        for depth in range(1 if self._suspects else _DEPTH):
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
        share = math.ceil(len(self._waiting) / (_DEPTH * len(self.members)))
        size = max(1, min(_MOST, share, int(_TRIP / max(self._pace, 1e-6))))
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
        for _ in range(_STARTS):
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


# The executor ----------------------------------------------------------------------------------------------------


class RayExecutor:
    """An `engine.worker.Executor`. backends: those of the run, with local models held by actors."""

    def __init__(
        self,
        backends: Backends,
        computing: Sequence[Selected],
        crew: Team | None,
        teams: Mapping[int, Team],
    ) -> None:
        self._numbers = {chosen.name: number for number, chosen in enumerate(computing)}
        self._crew = crew
        self.ahead = _DEPTH * _MOST * len(crew.members) if crew else 0

        def held(model: Any) -> Any:
            team = teams.get(id(model))
            return (
                model
                if team is None
                else RemoteModel(model, partial(self._call, team), _CALLS * len(team.members))
            )

        single = {role: held(getattr(backends, role)) for role in ROLES[1:]}
        self.backends = Backends(tuple(map(held, backends.judges)), **single)

    async def _call(self, team: Team, item: tuple[str, tuple[Any, ...]]) -> Any:
        reply = await team.ask(item)
        assert reply is not None
        result = pickle.loads(reply)
        if isinstance(result, Exception):
            raise result
        return result

    def takes(self, task: Task) -> bool:
        return task.chosen.name in self._numbers

    async def results(self, task: Task) -> Results | None:
        """Asked again of another worker where one dies."""
        assert self._crew is not None
        item = self._numbers[task.chosen.name], task.example, task.wanted
        while True:
            answer = self._crew.ask(item)
            under_way = COMPUTING.get(set())
            under_way.add(answer)
            try:
                reply = await answer
            except ServerFault:
                continue
            except RequestRefused as error:
                return dict.fromkeys(
                    task.wanted, NoScore("metric_error", f"{task.chosen.name} failed: {error}.")
                )
            finally:
                under_way.discard(answer)
            if reply is None:
                self._numbers.pop(
                    task.chosen.name, None
                )  # it asks a model: all of it is computed here
                return None
            results: Results = pickle.loads(reply)
            return results
