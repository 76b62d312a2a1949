"""Every file and folder that longmark writes: the one module that makes them, opens them for writing, and deletes them.

A path that the user names may pass through links: a home, a project or a disk can stand behind one. A name that
longmark makes up inside a folder (`rows.jsonl` in a run, `tables` in a result, `STUDY.sqlite` beside a study) is a
regular file or a folder, never a link, a pipe or a device, since a folder can come from someone else, and a clone or an
archive keeps its links. Three rules follow:

- A new file is made under a name that nothing has (O_EXCL), and moved to its place: what stood there, a link too, is
  replaced and not followed.
- A file that is opened where it stands (rows, locks, databases) is opened without following a link (O_NOFOLLOW), and
  refused if it is no regular file.
- Only a folder with a mark of longmark is cleared. The mode and the tables of what longmark did not make stay.

A test reads the sources: no other module writes, but for a few that say why.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO

from longmark.errors import UserError

_NEW = (
    os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
)
# O_NONBLOCK: a pipe that nobody reads is an error at once, and not a wait
_IN_PLACE = (
    os.O_CREAT
    | os.O_WRONLY
    | os.O_APPEND
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
)
_IN_PLACE |= getattr(os, "O_NONBLOCK", 0)
_BESIDE_A_DATABASE = ("-journal", "-wal", "-shm")


# What stands at a name ------------------------------------------------------------------------------------------------
def check_ours(*paths: Path) -> None:
    """UserError where a name of ours is taken by something other than a regular file."""
    for path in paths:
        if kind := _other_than_a_file(path):
            raise _refused(path, kind)


def check_within(base: Path, path: Path) -> None:
    """UserError where something on the way from `base`, which the user named, to `path` is a link, a pipe or a device,
    or a file where a folder must be."""
    step = base
    for name in path.relative_to(base).parts:
        step = step / name
        mode = _mode(step)
        if (
            mode is not None
            and not stat.S_ISDIR(mode)
            and not (step == path and stat.S_ISREG(mode))
        ):
            raise _refused(step, _kind(mode))


def _mode(path: Path) -> int | None:
    """Of what has the name itself, not of what a link leads to; None where nothing has it."""
    try:
        return os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror or error}") from error


def _kind(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_ISDIR(mode):
        return "folder"
    return "file" if stat.S_ISREG(mode) else "pipe or a device"


def _other_than_a_file(path: Path) -> str:
    """What has a name, if it is no regular file; "" if it is one, or nothing has the name."""
    mode = _mode(path)
    return "" if mode is None or stat.S_ISREG(mode) else _kind(mode)


def _refused(path: Path, kind: str) -> UserError:
    if kind == "link":
        why = "longmark follows no link at a name that it chooses itself, since the folder can come from someone else"
        return UserError(
            f"{path} cannot be written: it is a link, and {why}. Delete the link, or name another folder"
        )
    return UserError(
        f"{path} cannot be written: it is a {kind}; move it away, or name another folder"
    )


def _check_target(path: Path) -> None:
    """UserError where a file may not take the place of what stands at a path, or of what a link there leads to."""
    if path.is_dir():
        raise UserError(f"{path} is a folder; name a file")
    parent = os.path.realpath(path.parent)
    of_the_system = parent == "/dev" or parent.startswith(
        "/proc/"
    )  # a new file would take the place of a device
    if of_the_system or (path.exists() and not path.is_file()):
        raise UserError(f"{path} is a pipe or a device; name a file")


# Files ----------------------------------------------------------------------------------------------------------------
@contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """A new file to write, which takes the place of `path` when the block ends well and vanishes when it does not.
    private: only its owner reads it.

    UserError if the system cannot write it, in the block too (a full disk), and where a folder, a pipe or a device
    stands at the path.
    """
    try:
        with replacing_path(path, private=private) as beside, open(beside, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror or error}") from error


@contextmanager
def replacing_path(path: Path, *, private: bool = False) -> Iterator[Path]:
    """As `replacing`, for what writes a file by its name; errors of the system stay what they are."""
    _check_target(path)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        os.close(os.open(beside, _NEW, 0o600 if private else 0o666))
        yield beside
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise


def create(path: Path, content: bytes) -> None:
    """Writes a file where nothing has its name, not even a link. FileExistsError otherwise."""
    with open(os.open(path, _NEW, 0o666), "wb") as file:
        try:
            file.write(content)
            file.flush()
        except BaseException:
            path.unlink()
            raise


def fresh(path: Path) -> BinaryIO:
    """A new file under a name for what is not finished yet, such as `.rows.jsonl.new`: what a process that was killed
    left there, or a link, is deleted first. `move` puts it in its place."""
    remove(path)
    return open(os.open(path, _NEW, 0o666), "wb")


def move(path: Path, to: Path) -> None:
    """Gives a finished file the name `to`; a file or a link there is replaced."""
    if _other_than_a_file(to) == "folder":
        raise _refused(to, "folder")
    os.replace(path, to)


def appending(path: Path) -> int:
    """The number of a file that is open for writing at its end, made where it is missing. UserError where its name is
    taken by anything but a regular file; other errors of the system stay what they are."""
    check_ours(path)
    number = os.open(path, _IN_PLACE, 0o666)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise _refused(path, "pipe or a device")
    return number


def remove(path: Path) -> None:
    """Deletes a file of ours, or what else has its name, if anything: of a link the link. UserError for a folder."""
    if _other_than_a_file(path) == "folder":
        raise _refused(path, "folder")
    path.unlink(missing_ok=True)


# Folders --------------------------------------------------------------------------------------------------------------
def folder(path: Path, within: Path | None = None) -> Path:
    """Makes a folder with those above it, if it is missing. within: the folder that the user named; from there on no
    link is followed. UserError where it cannot be made."""
    if within is not None:
        check_within(within, path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = error.strerror or error
        raise UserError(
            f"the folder {path} cannot be made ({why}); give another --out, or make it"
        ) from error
    return path


def clear(path: Path, name: str) -> None:
    """Deletes everything in a folder of ours but the file `kept`; what links lead to stays."""
    for left in path.iterdir():
        if left.name != name:
            shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()


def remove_folder(path: Path) -> None:
    """Deletes a folder of ours with all that is in it, as far as that can be done; of a link not even the link."""
    if not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)


# Databases ------------------------------------------------------------------------------------------------------------
def check_database(path: Path, *, named: bool = False) -> None:
    """UserError where a database, or a file that SQLite keeps beside it, would be written through a link, or is no
    regular file. named: the user named the path, so it may be a link to a database that is there."""
    real = path
    if path.is_symlink() and named:
        real = Path(os.path.realpath(path))
        if not real.is_file() or not real.stat().st_size:
            raise UserError(
                f"{path} cannot be opened: it is a link, and {real} is no database; name the file itself"
            )
    check_ours(real, *(real.with_name(real.name + suffix) for suffix in _BESIDE_A_DATABASE))


def database(
    path: Path, *, private: bool = False, named: bool = False, **options: Any
) -> sqlite3.Connection:
    """A connection to a SQLite file, made where it is missing. private: a new file is readable by its owner alone;
    named: as of `check_database`; options: of `sqlite3.connect`. Whether a file that is there is ours, its tables say:
    nothing is written before the caller has looked at them.

    A file that is there is opened by SQLite only: to open and close it here would end all locks that this process holds
    on it, so that another process removes the log of a database in use.
    """
    check_database(path, named=named)
    if private:
        with suppress(OSError):  # it is there; or SQLite says why it cannot be made
            os.close(os.open(path, _NEW, 0o600))
    connection: sqlite3.Connection = sqlite3.connect(path, **options)
    return connection


def scratch_database(path: Path, **options: Any) -> sqlite3.Connection:
    """A connection to a new SQLite file; what a process that was killed left under its name is deleted first."""
    for name in (path.name, *(path.name + suffix for suffix in _BESIDE_A_DATABASE)):
        remove(path.with_name(name))
    connection: sqlite3.Connection = sqlite3.connect(path, **options)
    return connection


def make_private(path: Path) -> None:
    """Takes the right to read a file of ours from all but its owner. Nothing happens to a link, to a file of another
    user, or on a system without such rights."""
    with suppress(OSError):
        if stat.S_ISREG(os.lstat(path).st_mode):
            os.chmod(path, 0o600)
