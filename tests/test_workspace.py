"""A folder with fixed settings: who may work in it, what it refuses, and what is left when the work ends in between."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from longmark import workspace
from longmark.errors import FolderInUse, SettingsChanged, UserError
from longmark.workspace import Workspace, replaced

FILE = "made.json"


def made(
    path: Path, settings: dict[str, Any], members: dict[str, dict[str, Any]] | None = None
) -> dict[str, Any]:
    with Workspace(path, FILE, "made", lines=int) as space:
        space.fix(settings, members)
        space.manifest["lines"] = 1
        space.write()
        return space.manifest


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ({"tie_band": 0.1}, {"tie_band": 0.2}, "tie_band=: was 0.1, now 0.2"),
        ({"models": {"judge": ["a"]}}, {"models": {"judge": ["b"]}}, "judges=: was a, now b"),
        ({"judging": {"samples": 1}}, {"judging": {"samples": 3}}, "samples=: was 1, now 3"),
        (
            {"params": {"m": {"weight": 1}}},
            {"params": {"m": {"weight": 2}}},
            "m.weight: was 1, now 2",
        ),
        ({"prompts": {"a.b": "0"}}, {"prompts": {"a.b": "1"}}, "--prompts a.b: was 0, now 1"),
        ({"input": {"books": "0"}}, {"input": {"books": "1"}}, "books: was 0, now 1"),
        ({"kind of study": "a"}, {"kind of study": "b"}, "kind of study: was a, now b"),
        ({"metrics": ["a", "b"]}, {"metrics": ["a"]}, "metrics=: removed: b"),
        ({"metrics": ["a"]}, {"metrics": ["a", "b"]}, "metrics=: added: b"),
        ({"metrics": ["a", "b"]}, {"metrics": ["b", "a"]}, "metrics=: in another order"),
        ({"domain": None, "k": 1}, {"domain": "x 1", "k": 1}, "domain=: was nothing, now x 1"),
    ],
)
def test_a_change_is_refused_with_the_option_and_both_values(
    tmp_path: Path, before: dict[str, Any], after: dict[str, Any], line: str
):
    kept = made(tmp_path / "f", before)
    with pytest.raises(SettingsChanged) as raised:
        made(tmp_path / "f", after)
    first = f"{tmp_path / 'f'} contains a made with other settings; name another out=, or use the same settings:"
    assert str(raised.value) == f"{first}\n  {line}"
    assert made(tmp_path / "f", before) == kept


def test_members_are_added_and_stay_what_they_were(tmp_path: Path):
    made(tmp_path / "f", {"k": 1}, {"reader": {"a": "one"}})
    assert made(tmp_path / "f", {"k": 1}, {"reader": {"b": "two"}})["members"] == {
        "reader": {"a": "one", "b": "two"}
    }
    with pytest.raises(SettingsChanged, match="--reader a: was one, now two"):
        made(tmp_path / "f", {"k": 1}, {"reader": {"a": "two"}})


def test_settings_are_compared_as_they_are_stored(tmp_path: Path):
    made(tmp_path / "f", {"sizes": (1, 2), "at": Path("x")})
    made(tmp_path / "f", {"sizes": [1, 2], "at": "x"})


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"fixed": [], "lines": 1}', '{"fixed": {}}'])
def test_a_damaged_manifest_is_refused(tmp_path: Path, text: str):
    made(tmp_path / "f", {"k": 1})
    (tmp_path / "f" / FILE).write_text(text)
    with pytest.raises(
        UserError,
        match=rf"{FILE} is damaged .*; repeat the command that made it with another --out",
    ):
        made(tmp_path / "f", {"k": 1})
    assert (tmp_path / "f" / FILE).read_text() == text


def test_a_folder_in_use_is_refused_and_free_again_afterwards(tmp_path: Path):
    with (
        Workspace(tmp_path / "f", FILE, "made"),
        pytest.raises(FolderInUse, match="in use by another process"),
    ):
        made(tmp_path / "f", {})
    made(tmp_path / "f", {})
    with (
        replaced(tmp_path / "i", FILE),
        pytest.raises(FolderInUse, match=f"{tmp_path / 'i'} is in use"),
    ):
        make_index(tmp_path / "i", "other")


def test_a_folder_where_nothing_was_begun_is_taken_away(tmp_path: Path):
    (tmp_path / "mine").mkdir()
    for name in ("new", "mine"):
        with pytest.raises(RuntimeError), Workspace(tmp_path / name, FILE, "made"):
            raise RuntimeError
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_folder_taken_away_while_it_is_opened_is_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    out, listed = tmp_path / "f", Path.iterdir

    def taken_away(path: Path) -> Iterator[Path]:
        if path == out:
            out.rmdir()
        return listed(path)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "iterdir", taken_away)
        with pytest.raises(FolderInUse, match="another process"):
            made(out, {})
    made(out, {})


def test_a_folder_that_another_process_fills_before_its_mark_is_in_use(tmp_path: Path):
    out = tmp_path / "f"
    with Workspace(out, FILE, "made"):
        (out / "examples.jsonl").write_text("{}\n")
        with pytest.raises(FolderInUse, match="in use by another process"):
            made(out, {})
    out.mkdir()
    (out / "examples.jsonl").write_text("{}\n")
    with pytest.raises(UserError, match="holds other files") as refused:
        made(out, {})
    assert not isinstance(refused.value, FolderInUse)


def test_a_folder_taken_away_while_it_is_made_is_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def mkdir(path: Path, **_: Any) -> None:
        raise FileExistsError(17, "File exists", str(path))

    monkeypatch.setattr(Path, "mkdir", mkdir)
    with pytest.raises(FolderInUse, match="in use by another process"):
        made(tmp_path / "f", {})


def test_a_lock_of_a_folder_that_was_taken_away_meanwhile_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    out, hold = tmp_path / "f", workspace._hold

    def after_it_is_gone(file: Any, **how: Any) -> None:
        shutil.rmtree(out)
        hold(file, **how)

    with monkeypatch.context() as patched:
        patched.setattr(workspace, "_hold", after_it_is_gone)
        with pytest.raises(FolderInUse, match="another process"):
            made(out, {})
    made(out, {})


def make_index(path: Path, text: str) -> None:
    with replaced(path, FILE) as folder:
        (folder / FILE).write_text(text)
        (folder / "part").mkdir()


@pytest.mark.parametrize(
    "make", [lambda path: made(path, {}), lambda path: make_index(path, "new")]
)
def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path, make: Any):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("dear")
    with pytest.raises(UserError, match=r"holds other files \(thesis.txt\); name a new folder"):
        make(tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]
    (tmp_path / "empty").mkdir()
    make(tmp_path / "empty")
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=f"out='{tmp_path / 'file'}'"):
        make(tmp_path / "file")


def test_a_folder_is_replaced_whole_or_not_at_all(tmp_path: Path):
    make_index(tmp_path / "i", "old")
    (tmp_path / ".i.new").mkdir()
    (tmp_path / ".i.new" / ".lock").touch()
    (tmp_path / ".i.new" / "half").write_text("of a process that was killed")
    with suppress(RuntimeError), replaced(tmp_path / "i", FILE) as folder:
        assert [path.name for path in folder.iterdir()] == [".lock"]
        (folder / FILE).write_text("new")
        raise RuntimeError
    assert ((tmp_path / "i" / FILE).read_text(), [path.name for path in tmp_path.iterdir()]) == (
        "old",
        ["i"],
    )
    make_index(tmp_path / "i", "new")
    assert ((tmp_path / "i" / FILE).read_text(), [path.name for path in tmp_path.iterdir()]) == (
        "new",
        ["i"],
    )
    assert sorted(path.name for path in (tmp_path / "i").iterdir()) == [FILE, "part"]
