"""Which runs a folder holds, in which state, and why one is not shown."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.report.runs import killed, made_up, manifest

from longmark.engine.status import FINISHED, KILLED, RUNNING
from longmark.errors import UserError
from longmark.view import folder as module
from longmark.view.folder import DAMAGED, NO_MANIFEST, NO_RUN, Folder
from longmark.view.site import RunSite
from longmark.workspace import Workspace, reading


def begun(folder: Path, rows: int = 20, **more: Any) -> Path:
    """A run whose last session has no end."""
    made_up(folder, 3)
    described = manifest(
        finished=None, examples={"rows": rows}, sessions=[{**killed(), "before": 0}], **more
    )
    (folder / "manifest.json").write_bytes(orjson.dumps({**described, "system": "first"}))
    (folder / ".lock").touch()
    return folder


def states(root: Path) -> dict[str, str]:
    return {name: run.state for name, run in Folder(root.resolve()).runs().items()}


def test_runs_are_found_beneath_the_folder_and_the_folder_may_be_one(tmp_path: Path):
    made_up(tmp_path / "a" / "first", 2)
    made_up(tmp_path / "b", 2)
    assert states(tmp_path) == {"a/first": FINISHED, "b": FINISHED}
    assert states(tmp_path / "b") == {".": FINISHED}


def test_what_is_no_run_is_listed_with_its_reason(tmp_path: Path):
    made_up(tmp_path / "good", 1)
    (tmp_path / "empty").mkdir()
    (tmp_path / "deep" / "1" / "2" / "3" / "4").mkdir(parents=True)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").touch()
    for name, text in (
        ("torn", "{"),
        ("list", "[]"),
        ("foreign", '{"a": 1}'),
        ("twice", '{"a": 1, "a": 2}'),
    ):
        made_up(tmp_path / name, 1)
        (tmp_path / name / "manifest.json").write_text(text)
    made_up(tmp_path / "rows only", 1)
    (tmp_path / "rows only" / "manifest.json").unlink()
    (tmp_path / "begins").mkdir()
    (tmp_path / "begins" / ".lock").touch()
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "manifest.json")
    why = {
        "begins": (NO_RUN, "a run is about to begin here, or was stopped before its manifest.json"),
        "deep/1/2/3": (NO_RUN, "4 levels deep"),
        "empty": (NO_RUN, "the folder is empty"),
        "foreign": (DAMAGED, "not that of a run (fixed is missing"),
        "good": (FINISHED, ""),
        "list": (DAMAGED, "no JSON object"),
        "notes": (NO_RUN, "there is no manifest.json in it"),
        "pipe": (DAMAGED, "is a pipe or a device"),
        "rows only": (NO_MANIFEST, ""),
        "torn": (DAMAGED, "is damaged"),
        "twice": (DAMAGED, "twice in one object"),
    }
    runs = Folder(tmp_path).runs()
    assert {name: run.state for name, run in runs.items()} == {
        name: state for name, (state, _) in why.items()
    }
    for name, (_, problem) in why.items():
        assert problem in runs[name].problem
        assert bool(problem) == bool(runs[name].problem)


def test_no_link_is_followed(tmp_path: Path):
    outside = made_up(tmp_path / "outside", 1)
    root = tmp_path / "root"
    made_up(root / "a", 1)
    (root / "link").symlink_to(outside)
    (root / "a" / "rows.jsonl").unlink()
    (root / "a" / "rows.jsonl").symlink_to(outside / "rows.jsonl")
    runs = Folder(root).runs()
    assert {name: run.state for name, run in runs.items()} == {"a": DAMAGED, "link": NO_RUN}
    assert all("links are not followed" in run.problem for run in runs.values())


def test_a_huge_manifest_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_LARGEST", 1000)
    made_up(tmp_path / "a", 1)
    assert "larger than the limit" in Folder(tmp_path).runs()["a"].problem


def test_a_run_goes_on_while_its_process_holds_the_folder_and_is_killed_afterwards(tmp_path: Path):
    root, run = Folder(tmp_path), begun(tmp_path / "run")
    with Workspace(run, "manifest.json", "run"):
        assert root.runs()["run"].state == RUNNING
    assert root.runs()["run"].state == KILLED


def test_the_lock_of_a_run_is_looked_at_once_for_each_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root, looks = Folder(tmp_path), list[str]()
    begun(tmp_path / "run")
    made_up(tmp_path / "ended", 1)
    (tmp_path / "ended" / ".lock").touch()

    def look(path: Path) -> AbstractContextManager[bool]:
        looks.append(path.name)
        return reading(path)

    monkeypatch.setattr(module, "reading", look)
    for _ in range(5):
        root.runs()
    assert looks == ["run"]


def test_reading_changes_nothing_in_the_folder(tmp_path: Path):
    begun(tmp_path / "run")
    made_up(tmp_path / "ended", 1)
    for path in sorted(tmp_path.rglob("*"), reverse=True):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = {path: path.stat() for path in tmp_path.rglob("*")}
    site = RunSite(tmp_path)
    for name in site.folder.runs():
        site.answers(site.run(name))
    after = {path: path.stat() for path in tmp_path.rglob("*")}
    assert {path: (its.st_mtime_ns, its.st_size) for path, its in before.items()} == {
        path: (its.st_mtime_ns, its.st_size) for path, its in after.items()
    }
    for path in tmp_path.rglob("*"):
        path.chmod(0o755)


def test_a_file_is_no_folder_of_runs(tmp_path: Path):
    (tmp_path / "x").touch()
    with pytest.raises(UserError, match="is not a folder"):
        RunSite(tmp_path / "x")
