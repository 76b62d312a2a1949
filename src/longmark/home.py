"""Where longmark keeps what outlives a run: embedded models, paid calls, hashes of files.

The SHA-256 of large files is kept in `home()/hashes.json` by path, length, inode and the times of change: reading a
gigabyte takes seconds, and a model's hash is its identity in the call cache. Anyone can set the time of modification
back (`os.utime`, `cp -p`), but not the time of the last change of the inode (`st_ctime`). Windows has no such time: a
change there that keeps length and modification time goes unnoticed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path


def home() -> Path:
    """$LONGMARK_HOME, else `longmark` in the user's cache folder. It need not exist yet."""
    chosen = os.environ.get("LONGMARK_HOME")
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("longmark"))


def digest(path: Path) -> str:
    """The SHA-256 of a file as hexadecimal digits, read anew."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256(path: Path) -> str:
    """The SHA-256 of a file; it is read only if it changed since it was hashed. OSError if unreadable."""
    path = path.resolve()
    stamp = _stamp(path)
    known = _hashes().get(str(path))
    if known is not None and known[:-1] == stamp:
        return str(known[-1])
    found = digest(path)
    if _stamp(path) == stamp:
        remember(path, found)
    return found


def remember(path: Path, found: str) -> None:
    """Stores the hash of a file that has just been computed. Where it cannot be stored it is computed again."""
    import json
    import tempfile

    import filelock

    path = path.resolve()
    store = home() / "hashes.json"
    with contextlib.suppress(OSError):
        store.parent.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(store.with_suffix(".lock")), tempfile.TemporaryDirectory(dir=store.parent) as scratch:
            fresh = Path(scratch) / store.name
            with fresh.open("w", encoding="utf-8") as file:
                json.dump({**_hashes(), str(path): [*_stamp(path), found]}, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(store)


def _stamp(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def _hashes() -> dict[str, list[int | str]]:
    import json

    try:
        known = json.loads((home() / "hashes.json").read_bytes())
    except (OSError, ValueError):
        return {}
    entries = known.items() if isinstance(known, dict) else ()
    return {path: entry for path, entry in entries if isinstance(entry, list) and entry}
