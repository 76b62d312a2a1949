"""A Ray cluster for tests: one-CPU nodes on loopback, held by a process of its own, and a package that its workers
import: a model on a machine of ours whose every call a loopback server logs, and a metric."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.program import ROOT, until

needs_ray = pytest.mark.skipif(
    find_spec("ray") is None or not Path("/proc").is_dir(),
    reason="the extra `ray` is not installed, or no /proc",
)

_HOLD = """
import sys, time
from ray.cluster_utils import Cluster
def begin(make):
    for left in (2, 1, 0):
        try:
            return make()
        except Exception:  # Ray gives its processes 30 s
            if not left:
                raise
looks = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 2}
head = {"temp_dir": sys.argv[1], "_system_config": looks}
room = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 100 << 20}
cluster = begin(lambda: Cluster(initialize_head=True, head_node_args={**room, **head}))
del room["include_dashboard"]
node = begin(lambda: cluster.add_node(**room))
print(cluster.address, flush=True)
for word in sys.stdin:
    if word == "kill a node\\n":
        cluster.remove_node(node, allow_graceful=False)
    else:
        node = begin(lambda: cluster.add_node(**room))
    print("done", flush=True)
cluster.shutdown()
"""

_PACKAGE = '''
import asyncio, json, urllib.request
from longmark.metric import Metric, Score
from longmark.models import Scheme
from longmark.models.protocols import Capabilities, ChatReply, Tokens


class Logged:
    """A chat model that asks a server of the tests, so that every call of it is seen."""

    capabilities = Capabilities()
    width = 1

    def __init__(self, url):
        self.name, self.identity, self._url = f"logged:{url}", f"logged:{url}", f"http://{url}/v1/chat/completions"

    async def chat(self, request):
        body = {"model": "m", "messages": [{"role": m.role, "content": m.content} for m in request.messages]}
        return await asyncio.to_thread(self._ask, json.dumps(body).encode())

    def _ask(self, body):
        sent = urllib.request.Request(self._url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(sent, timeout=60) as reply:
            found = json.loads(reply.read())
        return ChatReply(found["choices"][0]["message"]["content"], tokens=Tokens(50, 0, 1))

    async def close(self):
        pass


LOGGED = Scheme("logged:HOST:PORT", ("judge",), "", "asks a server of the tests", lambda _role, url: Logged(url))


async def score(example, _models, _params):
    return Score(float(len(example.answer)), {"question": example.question})


METRIC = Metric(score, needs=("answer",))
'''


@dataclass
class TestCluster:
    """env: of commands that use it. address: HOST:PORT."""

    __test__ = False

    process: subprocess.Popen[str]
    env: dict[str, str]
    address: str = ""

    def say(self, words: str) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{words}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def workers(self) -> list[int]:
        """The processes of actors of longmark in this cluster, and in no other."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                actor = entry.name.isdecimal() and (entry / "cmdline").read_bytes().startswith(
                    b"ray::Worker"
                )
                if (
                    actor
                    and self.env["RAY_AUTH_TOKEN"].encode() in (entry / "environ").read_bytes()
                ):
                    found.append(int(entry.name))
            except OSError:
                continue
        return sorted(found)

    def kill_a_worker(self, number: int) -> None:
        workers = until(self.workers)
        os.kill(workers[number % len(workers)], signal.SIGKILL)


def install_package(folder: Path) -> None:
    """The package as pip lays it down."""
    info = folder / "logged-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: logged\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[longmark.models]\nlogged = logged:LOGGED\n")
    (folder / "logged.py").write_text(_PACKAGE)


@contextmanager
def two_nodes(scratch: Path) -> Iterator[TestCluster]:
    """A head and a node. Their files go where sockets may have long names."""
    install_package(scratch / "package")
    env = {
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_USAGE_STATS_ENABLED": "0",
        "PYTHONPATH": os.pathsep.join((str(scratch / "package"), str(ROOT / "src"), str(ROOT))),
    }
    import tempfile

    with tempfile.TemporaryDirectory(
        prefix="ray-", dir="/tmp", ignore_cleanup_errors=True
    ) as folder:
        process = subprocess.Popen(
            [sys.executable, "-c", _HOLD, folder],
            env={**os.environ, **env, "LONGMARK_HOME": str(scratch / "home")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            address = process.stdout.readline().strip()
            while address and not address[0].isdigit():  # what Ray says of itself
                address = process.stdout.readline().strip()
            assert address, process.stderr and process.stderr.read()[-2000:]
            yield TestCluster(process, env, address)
        finally:
            process.stdin.close()
            process.wait(60)
            process.stdout.close()
