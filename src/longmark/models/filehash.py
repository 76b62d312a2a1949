"""SHA-256 of large files, remembered in `home()/hashes.json` by path, length, inode and the times of change.

Reading a gigabyte takes seconds; a model's hash is its identity in the call cache and is asked for at every start.
Anyone can set the time of modification back (`os.utime`, `cp -p`), but not the time of the last change of the inode
(`st_ctime`). Windows has no such time: there a change that keeps length and modification time goes unnoticed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path

import filelock

from longmark.home import home

_CHUNK = 1 << 20


def digest(path: Path) -> str:
    """The SHA-256 of a file as hexadecimal digits, read anew."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            found.update(chunk)
    return found.hexdigest()


def sha256(path: Path) -> str:
    """The SHA-256 of a file, from memory where the file has not changed since it was hashed. OSError if unreadable."""
    path = path.resolve()
    stamp = _stamp(path)
    known = _read().get(str(path))
    if known is not None and known[:-1] == stamp:
        return str(known[-1])
    found = digest(path)
    if _stamp(path) == stamp:
        remember(path, found)
    return found


def remember(path: Path, found: str) -> None:
    """Keep the hash of a file that has just been computed. A memory that cannot be written costs time, nothing else."""
    path = path.resolve()
    store = _store()
    with contextlib.suppress(OSError):
        store.parent.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(store.with_suffix(".lock")):
            known = _read()
            known[str(path)] = [*_stamp(path), found]
            write_atomically(store, json.dumps(known, indent=1).encode())


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file's content so that a reader sees the old one or the new one, also after a crash."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _stamp(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def _store() -> Path:
    return home() / "hashes.json"


def _read() -> dict[str, list[int | str]]:
    try:
        known = json.loads(_store().read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(known, dict):
        return {}
    return {path: entry for path, entry in known.items() if isinstance(entry, list) and entry}
