"""A folder with fixed settings: one process works in it at a time, always with the same settings.

Runs, studies, benchmarks, grids of `rag` and trainings are such folders; an index is made beside its place and moved
there complete. One JSON file, the manifest, says what is fixed. `.lock` is held by the process that works in the
folder; the kernel frees it when that process dies. A folder in which nothing was begun is taken away again.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, BinaryIO, Self

import orjson

from longmark import __version__, writing
from longmark.errors import FolderInUse, SettingsChanged, UserError
from longmark.options import named as option_named
from longmark.options.groups import spoken
from longmark.places import real
from longmark.records.files import REMAKE, read_object
from longmark.records.manifest_types import check_manifest
from longmark.records.write import write_object

_LOCK = ".lock"
_GLANCE = 0.05  # seconds that a look at a folder's lock takes at most
# what groups settings in a manifest -> how one of them is shown; another setting is an option of its own name
_GROUPS = {
    "params": "",
    "prompts": "--prompts ",
    "models": "--",
    "judging": "--",
    "pair": "--",
    "members": "--",
    "decide": "--",
    "input": "",
    "settings": "",
    "configured": "",  # files, and what a file says
}


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Workspace:
    """A folder, locked. Use it as a context manager.

    file: the name of its manifest; holds: what the folder is, for messages, such as `run`; parts: what the manifest has
    besides `fixed`, with the types; named: the folder in messages. `manifest` is the one of the folder, or a fresh one;
    `write` writes it. begun: whether the folder had one.

    UserError if the folder cannot be made, holds other files, or its manifest is damaged; FolderInUse if another
    process works in it.
    """

    def __init__(
        self, path: Path, file: str, holds: str, *, named: Path | None = None, **parts: type
    ) -> None:
        self.path = path
        self.file = path / file
        self.holds = holds
        self.named = named or path
        self._parts: dict[str, type] = {"fixed": dict, **parts}
        self._was_there = path.exists()

    def __enter__(self) -> Self:
        self._lock = _locked(self.path, self.path, self.file)
        try:
            writing.check_ours(self.file)
            self.begun = self.file.exists()
            self.manifest = self._read() if self.begun else self.fresh()
        except BaseException:
            self._lock.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if (
            not self._was_there and not self.file.exists()
        ):  # locked: no other process has begun here
            writing.remove_folder(self.path)
        self._lock.close()

    @staticmethod
    def fresh() -> dict[str, Any]:
        """The manifest of a folder in which nothing is fixed yet."""
        return {"longmark": __version__, "created": now(), "fixed": {}}

    def _read(self) -> dict[str, Any]:
        manifest = read_object(self.file, REMAKE)
        for part, kind in self._parts.items():
            value = manifest.get(part)
            objects = not isinstance(value, list) or all(isinstance(entry, dict) for entry in value)
            if not objects or not isinstance(value, kind):
                raise UserError(
                    f"{self.file} is damaged ({part} is missing or of another type); {REMAKE}"
                )
        if self.holds == "run":
            check_manifest(manifest, self.file)
        return manifest

    def fix(
        self, settings: Mapping[str, Any], members: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        """Puts the settings into the manifest. SettingsChanged, with each difference, if it has others.

        members: option -> label -> what it names; a folder may get more of them later, but a label stays what it was.
        """
        now = _plain(settings)
        members_fixed = self.manifest.get("members", {})
        lines = list(differences("", self.manifest["fixed"], now)) if self.manifest["fixed"] else []
        for option, labels in _plain(members or {}).items():
            before = members_fixed.setdefault(option, {})
            lines += differences(
                f"members.{option}",
                {label: before.get(label, labels[label]) for label in labels},
                labels,
            )
            before |= labels
        self.refuse(lines)
        self.manifest |= {"fixed": now, **({"members": members_fixed} if members_fixed else {})}

    def refuse(self, lines: Sequence[str]) -> None:
        """SettingsChanged, if there are differences."""
        if lines:
            remedy = f"name another {option_named('out')}, or use the same settings:"
            first = f"{self.named} contains a {self.holds} with other settings; {remedy}"
            raise SettingsChanged("\n".join((first, *lines)))

    def write(self) -> None:
        """Writes the manifest; it is on the disk then."""
        write_object(self.file, self.manifest)


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """As it is when it was written and read again."""
    plain: dict[str, Any] = orjson.loads(orjson.dumps(value, default=str))
    return plain


@contextmanager
def replaced(path: Path, file: str, parts: Collection[str] = ("*",)) -> Iterator[Path]:
    """A new folder to write, which takes the place of `path` when the block ends well and vanishes when it does not.
    file: the mark of a folder that may be replaced; parts: patterns of the names that it has beside the mark. UserError
    for another folder, and if the system cannot write it."""
    place = _replaceable(path, file, parts)
    new, old = (place.with_name(f".{place.name}.{kind}") for kind in ("new", "old"))
    for left in (new, old):
        _check_left(left, file)
    lock = _locked(new, path, None)
    try:
        writing.clear(new, _LOCK)  # of a process that was killed
        yield new
        writing.remove(new / _LOCK)
        writing.remove_folder(old)
        if place.exists():
            os.replace(place, old)
        os.replace(new, place)
    except BaseException as error:
        if old.exists() and not place.exists():
            os.replace(old, place)
        writing.remove_folder(new)
        if isinstance(error, OSError):
            raise UserError(f"{path} cannot be written: {error.strerror or error}") from error
        raise
    finally:
        lock.close()
        writing.remove_folder(old)


def _replaceable(path: Path, file: str, parts: Collection[str]) -> Path:
    """Where a folder stands that may be replaced, or will stand. All of it is deleted, hidden files too, so everything
    in it must be of such a folder; behind a link there must be nothing. UserError otherwise."""
    if path.is_symlink():
        place = real(path)
        if not place.is_dir() or any(place.iterdir()):
            raise UserError(
                f"{option_named('out', str(path))} is a link, and what it leads to would be replaced; name the "
                "folder itself, or a new one"
            )
        return place
    _check_own(path, path / file)
    if path.exists():
        own_files = {file, _LOCK} if (path / file).exists() else {_LOCK}
        patterns = parts if (path / file).exists() else ()
        for entry in sorted(path.iterdir()):
            if entry.name not in own_files and not any(
                fnmatchcase(entry.name, pattern) for pattern in patterns
            ):
                raise UserError(
                    f"{option_named('out', str(path))}: the folder holds other files ({entry.name}); name a new folder"
                )
    return path


def _check_left(path: Path, mark: str) -> None:
    """UserError where the name of a folder that is not finished, or is replaced, is taken by something other than a
    folder that a killed process of ours left: it would be deleted. mark: a file that a finished one has; the others
    have the lock."""
    if not os.path.lexists(path):
        return
    a_folder = path.is_dir() and not path.is_symlink()
    if not a_folder or (
        any(path.iterdir()) and not any((path / name).is_file() for name in (_LOCK, mark))
    ):
        raise UserError(
            f"{path} is in the way, and longmark did not make it; move it away, or name another {option_named('out')}"
        )


def _check_own(path: Path, file: Path) -> None:
    """UserError if a folder holds files, and not this one."""
    if path.exists() and not file.exists():
        if not path.is_dir():
            raise UserError(f"{option_named('out', str(path))} is not a folder; name a new folder")
        if entries := [entry.name for entry in path.iterdir() if entry.name[0] != "."]:
            raise UserError(
                f"{option_named('out', str(path))}: the folder holds other files ({entries[0]}); name a new folder"
            )


def _check_own_or_in_use(path: Path, file: Path, in_use: FolderInUse) -> None:
    """As `_check_own`; a folder that another process has begun and not marked yet is in use."""
    try:
        _check_own(path, file)
    except UserError:
        with reading(path) as is_busy:
            if is_busy:
                raise in_use from None
        raise


@contextmanager
def reading(path: Path) -> Iterator[bool]:
    """Keeps other processes from working in a folder while the block reads it; whether one works there already, which
    goes on. A folder without a lock (a copy, say) is read as it is."""
    try:
        writing.check_ours(path / _LOCK)
        file = open(path / _LOCK, "rb")  # noqa: SIM115 - closed below
    except OSError:
        yield False
        return
    with file:
        try:
            _hold(file, shared=True)
        except BlockingIOError:
            yield True
        except OSError:  # a file system without locks
            yield False
        else:
            yield False


def _locked(path: Path, folder: Path, file: Path | None) -> BinaryIO:
    """Makes a folder and locks it, until the file that is returned is closed. named: as messages call it; file: as of
    `_check_own`."""
    in_use = FolderInUse(
        f"{folder} is in use by another process; wait for it or name another {option_named('out')}"
    )
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if isinstance(error, FileExistsError) and not os.path.lexists(path):
            raise in_use from None  # another process took the folder away just now
        raise UserError(
            f"{option_named('out', str(folder))}: the folder cannot be made ({error.strerror})"
        ) from None
    try:
        if file is not None:
            _check_own_or_in_use(path, file, in_use)
        lock = open(writing.appending(path / _LOCK), "ab")  # noqa: SIM115 - the caller closes it
    except FileNotFoundError:  # another process that had just made the folder takes it away again
        raise in_use from None
    except OSError as error:
        raise UserError(f"{folder} cannot be written: {error.strerror or error}") from None
    try:
        try:
            _hold(lock)
        except OSError:
            time.sleep(_GLANCE)  # `longmark status` may have looked just now
            _hold(lock)
        if not os.path.samestat(os.fstat(lock.fileno()), os.lstat(path / _LOCK)):
            raise FileExistsError
    except (
        OSError
    ):  # or another process took the folder away, with this lock, and may have made it again
        lock.close()
        raise in_use from None
    return lock


def _hold(file: BinaryIO, *, shared: bool = False) -> None:
    """Locks a file until it is closed or the process dies; shared: against those that lock it alone. OSError where
    another one holds it. (The library filelock takes 10 ms to import.)"""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


def differences(path: str, before: Any, after: Any) -> Iterator[str]:
    """A line for each setting that differs, with the option that sets it and both values."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            yield from differences(
                f"{path}.{key}" if path else key, before.get(key), after.get(key)
            )
    elif isinstance(before, list) and isinstance(after, list) and before != after:
        gone = [x for x in before if x not in after]
        added = [x for x in after if x not in before]
        if gone and added:
            yield f"  {_option(path)}: was {_shown(gone)}, now {_shown(added)}"
        elif gone or added:
            yield f"  {_option(path)}: {'removed' if gone else 'added'}: {_shown(gone or added)}"
        else:
            yield f"  {_option(path)}: in another order"
    elif before != after:
        yield f"  {_option(path)}: was {_shown(before)}, now {_shown(after)}"


def _option(path: str) -> str:
    """`models.judge` is `--judge`, `members.lm.P` is `--lm P`, `tie_band` is `--tie-band`."""
    group, _, name = path.partition(".")
    if " " in path:  # no option has such a name
        return path
    option = _GROUPS[group] + name if group in _GROUPS and name else f"--{path}"
    return (
        spoken(option.replace("_", "-").replace(".", " ", 1))
        if option.startswith("--") and " " not in option
        else option
    )


def _shown(value: Any) -> str:
    if value in (None, [], {}):
        return "nothing"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
