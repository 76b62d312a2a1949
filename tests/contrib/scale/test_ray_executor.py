"""What longmark does around Ray, with a stand-in of it in this process (`test_ray.py` has the real one)."""

from __future__ import annotations

import asyncio
import pickle
import random
import socket
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from tests.contrib.scale.ray_stand_in import StandInRay
from tests.program import records, rows_of, run, write_jsonl

import longmark
from longmark.contrib.scale import ray_cluster
from longmark.errors import NoScore, UserError
from longmark.metric import Metric, Score
from longmark.models import Scheme, schemes
from longmark.models.protocols import ChatReply
from longmark.testing import FakeChat

METRICS = "score.readability,classic.length,climaqa.exact_match"
QR = "ccrs.question_relevance"


class Counted(FakeChat):
    """A judge on a machine of ours, and what it was asked."""

    asked: ClassVar[list[str]] = []

    def __init__(self, name: str) -> None:
        super().__init__(
            lambda request: str(len(request.messages[-1].content) % 101),
            name=f"counted:{name}",
            width=1,
        )

    async def chat(self, request: Any) -> ChatReply:
        self.asked.append(request.messages[-1].content)
        return await super().chat(request)


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> StandInRay:
    stand_in = StandInRay()
    Counted.asked = []
    monkeypatch.setitem(sys.modules, "ray", stand_in)
    monkeypatch.setenv("RAY_AUTH_TOKEN", "")
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    for name in ("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "RAY_AUTH_MODE", "RAY_USAGE_STATS_ENABLED"):
        monkeypatch.setenv(name, "")
    counted = Scheme("counted:NAME", ("judge",), "", "", lambda _role, name: Counted(name))
    monkeypatch.setitem(schemes(), "counted", counted)
    return stand_in


def scored(
    folder: Path, out: str, given: list[Any], metrics: str = METRICS, **options: Any
) -> list[Any]:
    longmark.run(given, metrics, out=folder / out, cache=folder / f"{out}.sqlite", **options)
    return [
        (r.example_id, r.metric, r.score, r.status, r.reason, r.evidence, r.signature)
        for r in rows_of(folder / out)
    ]


def some(n: int) -> list[Any]:
    given = records(n)
    for number, record in enumerate(given):
        record["references"] = [f"It is the number {number // 2}."] if number % 3 else []
        record["answer"] = "" if number % 7 == 3 else record["answer"]
    return given


def test_rows_are_those_of_one_process(ray: StandInRay, tmp_path: Path):
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from longmark.metric import Metric, Score\n"
        "async def score(example, _models, _params):\n"
        "    return Score(1 / len(example.answer), {'words': tuple(example.answer.split())})\n"
        "METRIC = Metric(score, needs=('answer',))\n"
    )
    wanted = f"{METRICS},{QR},{mine}"
    alone = scored(tmp_path, "alone", some(60), wanted, judges=["counted:j"])
    calls = len(Counted.asked)
    there = scored(tmp_path, "there", some(60), wanted, judges=["counted:j"], executor="ray")
    assert there == alone
    assert len(Counted.asked) == 2 * calls
    assert any(row[3] == "metric_error" and "(mine.py:3)" in row[4] for row in there)
    assert ray.shut_down == 1
    assert ray.init_with["address"] == "local"
    assert ray.init_with["include_dashboard"] is False
    assert not Path(ray.init_with["_temp_dir"]).exists()
    assert ray.batches


@pytest.mark.parametrize("seed", range(5))
def test_whatever_dies_is_asked_again_and_nothing_is_lost(
    ray: StandInRay, tmp_path: Path, seed: int
):
    moments = random.Random(seed)
    ray.dies = lambda _batch: moments.random() < 0.15 and ray.deaths < 20
    told: list[str] = []
    options = {"judges": ["counted:j"], "ray_actors": 2, "executor": "ray", "tell": told.append}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("longmark.models.sending.wait_before", lambda *_: 0.0)
        there = scored(tmp_path, "there", some(80), f"{METRICS},{QR}", **options)
    assert there == scored(tmp_path, "alone", some(80), f"{METRICS},{QR}", judges=["counted:j"])
    assert ray.deaths
    assert sum("It is replaced" in line for line in told) == ray.deaths


def test_an_example_that_every_worker_dies_of_gets_a_reason_and_the_others_their_scores(
    ray: StandInRay, tmp_path: Path
):
    given = [*some(30), {"id": "poison", "question": "Q?", "answer": "poisonous"}]
    ray.dies = lambda batch: b"poisonous" in batch
    there = scored(tmp_path, "there", given, "classic.length", executor="ray")
    dead = [row for row in there if row[0] == "poison"]
    assert {(row[3], row[4]) for row in dead} == {
        (
            "metric_error",
            "classic.length failed: 3 workers for the metrics died of it; out of memory?.",
        )
    }
    assert ray.deaths == 4, "at first with others"
    assert [row for row in there if row[0] != "poison"] == scored(
        tmp_path, "alone", some(30), "classic.length"
    )


def test_a_metric_that_asks_a_model_after_all_is_computed_by_the_coordinator(
    ray: StandInRay, tmp_path: Path
):
    (tmp_path / "asks.py").write_text(
        "from longmark.metric import Metric, Score\n"
        "async def score(example, models, _params):\n"
        "    return Score(float(models.client.dry is False if hasattr(models.client, 'dry') else 1))\n"
        "METRIC = Metric(score, needs=('answer',))\n"
    )
    there = scored(tmp_path, "there", some(6), str(tmp_path / "asks.py"), executor="ray")
    assert there == scored(tmp_path, "alone", some(6), str(tmp_path / "asks.py"))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            "Python",
            "a worker would compute other scores; install there what is here:\n  Python: 3.0; here ",
        ),
        ("regex", "install there what is here:\n  regex: 3.0; here "),
        ("the model counted:j", "install there what is here:\n  the model counted:j: 3.0; here "),
    ],
)
def test_a_worker_that_is_different_is_refused_before_any_call(
    ray: StandInRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, told: str
):
    from longmark.contrib.scale import ray_worker

    real = ray_worker.facts
    monkeypatch.setattr(
        ray_worker,
        "facts",
        lambda *given: {**real(*given), **({change: "3.0"} if change in real(*given) else {})},
    )
    with pytest.raises(UserError) as caught:
        scored(
            tmp_path, "out", some(3), f"classic.length,{QR}", judges=["counted:j"], executor="ray"
        )
    assert told in str(caught.value)
    assert not Counted.asked
    assert ray.shut_down == 1


def test_workers_that_do_not_start_are_told_of(ray: StandInRay, tmp_path: Path):
    told: list[str] = []
    ray.never_starts = lambda number: number == 2
    scored(tmp_path, "out", some(3), executor="ray", tell=told.append)
    assert told == ["Ray started 1 of 2 workers for the metrics."]
    ray.never_starts = lambda _number: True
    with pytest.raises(UserError, match="no worker for the metrics started within 120 s"):
        scored(tmp_path, "none", some(3), executor="ray")
    with pytest.raises(
        UserError, match=r"no room for counted:j: it needs GPU 1, and the cluster has GPU 0"
    ):
        scored(
            tmp_path,
            "gpu",
            some(3),
            QR,
            judges=["counted:j"],
            executor="ray",
            ray_resources='{"GPU": 1}',
        )


async def _mine(example: Any, _models: Any, _params: Any) -> Score:
    return Score(1.0)


@pytest.mark.parametrize(
    ("metrics", "options", "told"),
    [
        (QR, {"judges": [FakeChat("80")]}, "every metric of the run asks a model at an endpoint"),
        (
            QR,
            {"judges": [FakeChat("80", width=1)]},
            "was given as an object; workers open a model by its name",
        ),
        (
            Metric(_mine, needs=("answer",), name="mine"),
            {},
            "mine was given as a declaration, which workers cannot",
        ),
        (METRICS, {"executor": "dask"}, "executor='dask': expected local, ray or ray=HOST:PORT"),
        (
            METRICS,
            {"executor": "ray=nonsense"},
            "--executor ray=nonsense: expected ray=HOST:PORT or ray=auto",
        ),
        (
            METRICS,
            {"executor": "ray=8.8.8.8:6379"},
            "8.8.8.8 is a public address, and Ray runs code for whoever reaches",
        ),
        (METRICS, {"ray_resources": "GPU"}, "ray_resources='GPU': expected JSON such as "),
        (METRICS, {"ray_resources": '{"GPU": -1}'}, "expected JSON such as "),
        (METRICS, {"ray_actors": 0}, "ray_actors=0: expected a whole number from 1"),
        (
            METRICS,
            {"executor": "local", "ray_actors": 2},
            "ray_actors=, ray_resources= and ray_insecure= need executor='ray'",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(
    ray: StandInRay, tmp_path: Path, metrics: Any, options: dict[str, Any], told: str
):
    with pytest.raises(UserError) as caught:
        longmark.run(some(3), metrics, out=tmp_path / "out", **{"executor": "ray", **options})
    assert told in str(caught.value)


def test_a_cluster_with_a_public_node_is_refused_unless_that_is_accepted(
    ray: StandInRay, tmp_path: Path
):
    ray.addresses = {"10.0.0.1": True, "8.8.8.8": True}
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        with pytest.raises(UserError, match=r"8\.8\.8\.8 is a public address"):
            scored(tmp_path, "out", some(3), executor=f"ray={address}")
        scored(tmp_path, "out", some(3), executor=f"ray={address}", ray_insecure=True)
    assert ray.init_with["address"] == address


def test_an_address_that_nothing_listens_at_is_refused_before_ray_waits_for_it(
    ray: StandInRay, tmp_path: Path
):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with pytest.raises(
        UserError, match=rf"ray=127.0.0.1:{port}: nothing answers at this address \(.*`ray start"
    ):
        scored(tmp_path, "out", some(3), executor=f"ray=127.0.0.1:{port}")
    with pytest.raises(UserError, match="nothing answers at this address"):
        scored(tmp_path, "out", some(3), executor="ray=127.0.0.1:99999")  # no port has this number


def test_a_cluster_of_its_own_that_does_not_listen_on_loopback_is_left(
    ray: StandInRay, tmp_path: Path
):
    ray.addresses = {"10.0.0.1": True}
    with pytest.raises(
        UserError, match="Ray was imported before longmark could keep it on loopback"
    ):
        scored(tmp_path, "out", some(3), executor="ray")
    assert ray.shut_down == 1


def test_without_ray_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    given = write_jsonl(tmp_path / "given.jsonl", records(1))
    done = run(
        "run",
        given,
        "--metrics",
        METRICS,
        "--out",
        "out",
        "--executor",
        "ray",
        home=tmp_path / "home",
    )
    assert done.code == 2
    assert (
        done.err == "longmark: --executor ray needs the extra `ray`: pip install 'longmark[ray]'\n"
    )


def test_a_finished_run_starts_no_cluster(ray: StandInRay, tmp_path: Path):
    scored(tmp_path, "out", some(3))
    scored(tmp_path, "out", some(3), executor="ray")
    assert not ray.init_with


def test_a_node_that_dies_is_told_of(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ray_cluster, "_LOOK", 0)
    both = [{"NodeID": one, "NodeManagerAddress": f"10.0.0.{one}", "Alive": True} for one in "12"]
    looks = [[both[0], both[1] | {"Alive": False}], both]
    told: list[str] = []
    context = SimpleNamespace(get_node_id=lambda: "1")
    ray = SimpleNamespace(
        nodes=looks.pop, get_runtime_context=lambda: context
    )  # the third look fails: it has ended
    asyncio.run(ray_cluster.watch(ray, told.append, []))
    assert told == ["A node of the Ray cluster is dead: 10.0.0.2 (2). Its work is asked again."]


def test_without_its_own_node_a_run_ends_and_goes_on_when_it_is_repeated(
    ray: StandInRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ray_cluster, "_LOOK", 0.01)

    def third(_batch: bytes) -> bool:
        ray.addresses["127.0.0.1"] &= len(ray.batches) < 3
        return False

    ray.dies = third
    with pytest.raises(
        UserError,
        match="through which this process was in it, is dead; repeat the command to resume",
    ):
        scored(tmp_path, "there", some(80), f"{METRICS},{QR}", judges=["counted:j"], executor="ray")
    ray.dies = lambda _batch: False
    ray.addresses["127.0.0.1"] = True
    there = scored(
        tmp_path, "there", some(80), f"{METRICS},{QR}", judges=["counted:j"], executor="ray"
    )
    assert there == scored(tmp_path, "alone", some(80), f"{METRICS},{QR}", judges=["counted:j"])


def test_a_reason_travels_between_processes():
    reason = pickle.loads(pickle.dumps(NoScore("undefined", "There is none.", {"claims": []})))
    assert (reason.status, reason.reason, reason.evidence) == (
        "undefined",
        "There is none.",
        {"claims": []},
    )
