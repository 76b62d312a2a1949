"""`--executor ray`: local models and metrics that make no call, on the machines of a Ray cluster.

Actors do the work (`ray_worker`), in batches; Ray retries nothing. What is paid, stored and spent stays here: a worker
that dies is replaced, and what it was doing is asked again, calls by the client that counts attempts.

longmark's own cluster listens on loopback and wants a token made for it. Ray runs code for whoever reaches it, so a
cluster with a public address is refused unless the user accepts it.
"""

from __future__ import annotations

import asyncio
import ipaddress
import math
import os
import pickle
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from longmark import errors
from longmark.concurrency import COMPUTING
from longmark.contrib.scale.ray_team import DEPTH, MOST, STARTS, Team
from longmark.contrib.scale.ray_worker import WorkerSetup, facts
from longmark.contrib.scale.remote import RemoteModel
from longmark.engine.settings import RayCluster, Settings
from longmark.engine.worker import Results, Task
from longmark.errors import NoScore, RequestRefused, ServerFault, UserError
from longmark.metrics import Selected
from longmark.models import ROLES
from longmark.models.handles import Backends
from longmark.models.protocols import Backend
from longmark.options import named

_CALLS = 8  # of a model under way for each actor, at most
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
        for left in reversed(range(STARTS)):
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
        self.ahead = DEPTH * MOST * len(crew.members) if crew else 0

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
