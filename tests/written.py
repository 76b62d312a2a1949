"""What a command writes, by the names that it opens, and what a stranger may have put at such a name."""

from __future__ import annotations

import errno
import os
import re
import resource
import signal
import sqlite3
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

_OWN = re.compile(r"\.[0-9a-f]{8}\.tmp($|/|-)")  # new names that nobody can foresee
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_PATIENCE = 60.0  # seconds after which a command counts as hung


@dataclass
class Opened:
    """The names below a folder that the code of a block opened for writing, made, moved to or deleted."""

    folder: Path
    names: set[str] = field(default_factory=set)

    def add(self, path: object) -> None:
        if isinstance(path, bytes | str | os.PathLike):
            whole = Path(os.path.abspath(os.fsdecode(path)))
            if (
                whole.is_relative_to(self.folder)
                and whole != self.folder
                and not _OWN.search(str(whole))
            ):
                self.names.add(str(whole.relative_to(self.folder)))


_watching: list[Opened] = []


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watching:
        return
    seen = _watching[-1]
    if (event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITES) or event in (
        "os.mkdir",
        "os.remove",
        "os.rmdir",
        "shutil.rmtree",
    ):
        seen.add(arguments[0])
    elif event == "os.rename":
        seen.add(arguments[1])
    elif (
        event == "sqlite3.connect"
        and arguments[0] not in ("", ":memory:")
        and b"mode=ro" not in os.fsencode(arguments[0])
    ):
        for more in ("", "-wal", "-shm", "-journal"):
            seen.add(os.fsdecode(arguments[0]) + more)


@contextmanager
def watched(folder: Path) -> Iterator[Opened]:
    """Notes what is written below a folder. (An audit hook stays for the life of the process.)"""
    if not getattr(sys, "_longmark_watches", False):
        sys.addaudithook(_audit)
        sys._longmark_watches = True  # type: ignore[attr-defined]
    _watching.append(seen := Opened(folder))
    try:
        yield seen
    finally:
        _watching.pop()


# Attacks --------------------------------------------------------------------------------------------------------------

ATTACKS = ("link to a file", "link to a folder", "dangling link", "pipe", "folder", "file")


def make_outside(folder: Path) -> None:
    """Files of the user that nobody may touch: a text, a folder, a database of another program."""
    (folder / "folder").mkdir(parents=True)
    (folder / "folder" / "own.txt").write_text("mine")
    (folder / "text.txt").write_text("mine\n")
    with sqlite3.connect(folder / "other.sqlite") as database:
        database.execute("CREATE TABLE contacts (name TEXT)")
    database.close()
    for path in (folder / "text.txt", folder / "other.sqlite"):
        path.chmod(0o644)


def put(attack: str, path: Path, outside: Path) -> bool:
    """Puts something at a name; False where that is what stands there anyway."""
    if attack == "file" and (path.is_file() or not path.exists()):
        return False
    if attack == "folder" and path.is_dir():
        return False
    if path.is_dir():
        path.rename(path.with_name(f"{path.name} moved away"))
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    if attack == "link to a file":
        path.symlink_to(outside / ("other.sqlite" if ".sqlite" in path.name else "text.txt"))
    elif attack == "link to a folder":
        path.symlink_to(outside / "folder")
    elif attack == "dangling link":
        path.symlink_to(outside / "none")
    elif attack == "pipe":
        os.mkfifo(path)
    elif attack == "folder":
        path.mkdir()
        (path / "kept.txt").write_text("kept")
    else:
        path.write_text("kept")
    return True


def state(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Name -> mode, time of the last change and content of everything in a folder."""
    found = {}
    for path in sorted([folder, *folder.rglob("*")]):
        its = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(its.st_mode) else b""
        found[str(path.relative_to(folder))] = (its.st_mode, its.st_mtime_ns, content)
    return found


@contextmanager
def no_hang() -> Iterator[None]:
    """A TimeoutError in the block if it takes too long."""

    def ring(*_: object) -> None:
        raise TimeoutError(errno.ETIMEDOUT, "the command hangs")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# Disks ----------------------------------------------------------------------------------------------------------------


@contextmanager
def full_disk(limit: int) -> Iterator[None]:
    """No file can grow beyond so many bytes, whoever writes it: as on a disk that is full, SQLite included."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nothing below a folder can be opened for writing, made, moved or deleted by Python. (The modes of folders do not
    bind the superuser, so they cannot show it.)"""

    def refusing(function: Any, event: str) -> Any:
        def call(path: Any, *more: Any, **options: Any) -> Any:
            flags = more[0] if event == "open" and more else options.get("flags", 0)
            inside = isinstance(path, str | os.PathLike) and Path(
                os.path.abspath(path)
            ).is_relative_to(folder)
            if inside and (event != "open" or flags & _WRITES):
                raise OSError(errno.EROFS, os.strerror(errno.EROFS), os.fspath(path))
            return function(path, *more, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in ("open", "mkdir", "replace", "rename", "unlink", "rmdir", "chmod"):
            patch.setattr(os, name, refusing(getattr(os, name), name))
        yield
