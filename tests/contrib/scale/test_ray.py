"""`--executor ray` on two one-CPU nodes: the rows of one process, also where workers, nodes or longmark die."""

from __future__ import annotations

import random
import re
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.contrib.scale.ray_cluster import TestCluster, needs_ray, two_nodes
from tests.engine.test_kill_ledger import asked
from tests.program import QR, ended, manifest_of, records, rows_of, run, start, until, write_jsonl
from tests.wire import Server, serve

# a cluster takes about 20 s of CPU, and Ray gives its processes 30 s to start, which a busy machine does not keep
pytestmark = [needs_ray, pytest.mark.slow]
METRICS = f"{QR},score.readability,classic.length"
IN_FLIGHT = 8  # calls of the one actor


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestCluster]:
    with two_nodes(tmp_path_factory.mktemp("cluster")) as found:
        yield found


def answer(_number: int, _path: str, request: Any) -> tuple[int, bytes, str]:
    found = re.search(r"It is the number (\d+)", request["messages"][-1]["content"])
    assert found is not None
    score = int(found[1]) % 101
    return (
        200,
        orjson.dumps({"choices": [{"message": {"content": str(score)}, "finish_reason": "stop"}]}),
        "",
    )


def words(server: Server, cluster: TestCluster | None, out: str, *more: str) -> list[str]:
    judge = f"logged:{server.base_url.removeprefix('http://').removesuffix('/v1')}"
    given = [
        "run",
        "given.jsonl",
        "--metrics",
        f"{METRICS},{more[0]}" if more else METRICS,
        "--judge",
        judge,
    ]
    given += ["--out", out, "--quiet"]
    return given if cluster is None else [*given, "--executor", f"ray={cluster.address}"]


def single(server: Server, cluster: TestCluster, folder: Path, *more: str) -> list[Any]:
    """The rows of one process with a cache of its own."""
    begun = len(server.requests)
    done = run(
        *words(server, None, "one/out", *more),
        home=folder / "other home",
        cwd=folder,
        env=cluster.env,
    )
    assert done.code == 0, done.err
    del server.requests[begun:]
    return rows(folder / "one" / "out")


def rows(folder: Path) -> list[Any]:
    """All of the rows but what a call cost, which depends on who asked first, and whether the cache had it."""
    return [
        (r.example_id, r.metric, r.score, r.status, r.reason, r.evidence, r.signature)
        for r in rows_of(folder)
    ]


def wait_for_calls(server: Server, process: subprocess.Popen[bytes], begun: int) -> None:
    until(lambda: len(server.requests) > begun or process.poll() is not None)


def stored(cache: Path) -> int:
    """How many replies the cache has."""
    if not cache.exists():
        return 0
    with closing(sqlite3.connect(cache, timeout=30)) as database:
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'calls'").fetchone():
            return 0
        return int(database.execute("SELECT count(*) FROM calls").fetchone()[0])


@pytest.mark.parametrize("kills", [1, 20])
def test_workers_that_die_are_replaced_and_the_rows_are_those_of_one_process(
    tmp_path: Path, cluster: TestCluster, kills: int
):
    count = 40 + 20 * kills
    write_jsonl(tmp_path / "given.jsonl", records(count))
    moments = random.Random(20261125)
    with serve(latency=0.05, answer=answer) as server:
        process = start(
            *words(server, cluster, "out"), home=tmp_path / "home", cwd=tmp_path, env=cluster.env
        )
        for _ in range(kills):
            begun = len(server.requests)
            wait_for_calls(server, process, begun)
            time.sleep(moments.uniform(0.0, 0.3))
            if process.poll() is None:
                cluster.kill_a_worker(moments.randrange(100))
        done = ended(process)
        assert done.code == 0, done.err
        requests = Counter(asked(server))
        expected = single(server, cluster, tmp_path)
    assert "It is replaced, and its work is asked again." in done.err
    assert rows(tmp_path / "out") == expected
    assert set(requests) == {str(n) for n in range(count)}
    assert sum(requests.values()) - count <= kills * IN_FLIGHT
    (session,) = manifest_of(tmp_path / "out")["sessions"]
    assert session["calls"] == count
    assert session["requests"] <= count + kills * IN_FLIGHT


@pytest.mark.parametrize("kills", [1, 20])
def test_a_killed_longmark_resumes_and_asks_nothing_again_that_was_stored(
    tmp_path: Path, cluster: TestCluster, kills: int
):
    count, cache = 60 * kills, tmp_path / "home" / "calls.sqlite"
    write_jsonl(tmp_path / "given.jsonl", records(count))
    moments = random.Random(20261126)
    with serve(latency=0.05, answer=answer) as server:
        command = words(server, cluster, "out")
        for _ in range(kills):
            begun = len(server.requests)
            process = start(*command, home=tmp_path / "home", cwd=tmp_path, env=cluster.env)
            wait_for_calls(server, process, begun)
            time.sleep(moments.uniform(0.0, 0.5))
            process.send_signal(signal.SIGKILL)
            assert ended(process).code in (-signal.SIGKILL, 0)
            until(lambda: not cluster.workers())  # the cluster is free again
            until(lambda: server.counts["in_flight"] == 0)
            before, again = stored(cache), len(server.requests)
        last = run(*command, home=tmp_path / "home", cwd=tmp_path, env=cluster.env)
        assert last.code == 0, last.err
        requests = Counter(asked(server))
        assert len(server.requests) - again == count - before  # what was stored was not asked again
        expected = single(server, cluster, tmp_path)
    assert rows(tmp_path / "out") == expected
    assert sum(requests.values()) - count <= kills * IN_FLIGHT


@pytest.mark.parametrize("kills", [1, 20])
def test_a_node_that_dies_is_told_of_and_its_work_is_done_elsewhere(
    tmp_path: Path, cluster: TestCluster, kills: int
):
    for number in range(kills):
        folder = tmp_path / str(number)
        folder.mkdir()
        write_jsonl(folder / "given.jsonl", records(120))
        with serve(latency=0.5, answer=answer) as server:  # Ray takes a second or two to notice
            process = start(
                *words(server, cluster, "out"), home=folder / "home", cwd=folder, env=cluster.env
            )
            wait_for_calls(server, process, 0)
            cluster.say("kill a node")
            cluster.say("add a node")
            done = ended(process)
            if (
                own := "through which this process was in it" in done.err
            ):  # Ray chooses one of those at this address
                ended(
                    start(
                        *words(server, cluster, "out"),
                        home=folder / "home",
                        cwd=folder,
                        env=cluster.env,
                    )
                )
            assert own or done.code == 0, done.err
            requests = Counter(asked(server))
            expected = single(server, cluster, folder)
        assert own or "A node of the Ray cluster is dead: 127.0.0.1" in done.err
        assert rows(folder / "out") == expected
        assert sum(requests.values()) - 120 <= 2 * IN_FLIGHT


def test_a_cluster_of_its_own_gives_the_rows_of_one_process_and_ends_with_ctrl_c(
    tmp_path: Path, cluster: TestCluster
):
    (tmp_path / "mine.py").write_text((tmp_path_package(cluster)).read_text())
    write_jsonl(tmp_path / "given.jsonl", records(200))
    with serve(latency=0.02, answer=answer) as server:
        command = [*words(server, None, "out", "mine.py"), "--executor", "ray"]
        process = start(*command, home=tmp_path / "home", cwd=tmp_path, env=cluster.env)
        until(lambda: server.requests)
        process.send_signal(signal.SIGINT)
        stopped = ended(process)
        assert stopped.code == 130, stopped.err
        assert not cluster.workers()
        done = run(*command, home=tmp_path / "home", cwd=tmp_path, env=cluster.env)
        assert done.code == 0, done.err
        assert rows(tmp_path / "out") == single(server, cluster, tmp_path, "mine.py")


def tmp_path_package(cluster: TestCluster) -> Path:
    return Path(cluster.env["PYTHONPATH"].split(":")[0]) / "logged.py"


def test_a_worker_with_another_longmark_or_another_model_is_refused(
    tmp_path: Path, cluster: TestCluster
):
    write_jsonl(tmp_path / "given.jsonl", records(2))
    (tmp_path / "mine.py").write_text(tmp_path_package(cluster).read_text())
    with serve(answer=answer) as server:
        package = tmp_path / "package"
        package.mkdir()
        for file in tmp_path_package(cluster).parent.iterdir():
            if file.is_dir():
                (package / file.name).mkdir()
                for one in file.iterdir():
                    (package / file.name / one.name).write_bytes(one.read_bytes())
            elif file.is_file():
                (package / file.name).write_text(
                    file.read_text().replace('f"logged:{url}", f"http', 'f"new:{url}", f"http')
                )
        path = cluster.env["PYTHONPATH"].replace(
            str(tmp_path_package(cluster).parent), str(package)
        )
        env = cluster.env | {"PYTHONPATH": path}
        done = run(*words(server, cluster, "out"), home=tmp_path / "home", cwd=tmp_path, env=env)
        assert not server.requests
    assert done.code == 2
    assert (
        "a worker would compute other scores; install there what is here:\n  the model logged:"
        in done.err
    )
