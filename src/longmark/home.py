"""Where longmark keeps what outlives a run: embedded models, paid calls, hashes of files.

The SHA-256 of large files is kept in `home()/hashes.json` by path, length, inode and the times of change: reading a
gigabyte takes seconds, and a model's hash is its identity in the call cache. Anyone can set the time of modification
back (`os.utime`, `cp -p`), but not the time of the last change of the inode (`st_ctime`). Windows has no such time: a
change there that keeps length and modification time goes unnoticed.

What the user trusts (`models.trust`) is in `trust.json`: there too if $LONGMARK_HOME is set, else in the user's folder
of settings, which outlives a cleared cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from longmark.places import expanded, real


def home() -> Path:
    """$LONGMARK_HOME, else `longmark` in the user's cache folder. It need not exist yet."""
    chosen = os.environ.get("LONGMARK_HOME")
    if chosen:
        return expanded(chosen)
    import platformdirs

    return Path(platformdirs.user_cache_dir("longmark"))


def _trust_file() -> Path:
    if os.environ.get("LONGMARK_HOME"):
        return home() / "trust.json"
    import platformdirs

    return Path(platformdirs.user_config_dir("longmark")) / "trust.json"


def trusted(file: Path | None = None) -> dict[str, list[str]]:
    """Of a file, hash of what it is trusted for -> variables of vendors that it may send elsewhere; {} if it is not
    trusted. None: path -> hashes, of every trusted file."""
    stored = _stored(_trust_file())
    files = {path: entry for path, entry in stored.items() if isinstance(entry, dict)}
    if file is None:
        return {path: list(entry) for path, entry in files.items()}
    return {
        key: list(hashes)
        for key, hashes in files.get(str(real(file)), {}).items()
        if isinstance(hashes, list)
    }


def trust(file: Path, hashes: Mapping[str, list[str]] | None) -> None:
    """Trusts a file for these hashes as well; None: for none any more. OSError where that cannot be stored."""
    before = trusted(file) if hashes is not None else {}
    _store(_trust_file(), str(real(file)), {**before, **hashes} if hashes is not None else None)


def digest(path: Path) -> str:
    """The SHA-256 of a file as hexadecimal digits, read anew."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256(path: Path) -> str:
    """The SHA-256 of a file; it is read only if it changed since it was hashed. OSError if unreadable."""
    path = real(path)
    stamp = _stamp(path)
    remembered = _hashes().get(str(path))
    if remembered is not None and remembered[:-1] == stamp:
        return str(remembered[-1])
    computed = digest(path)
    if _stamp(path) == stamp:
        remember(path, computed)
    return computed


def remember(path: Path, file_hash: str) -> None:
    """Stores the hash of a file that has just been computed. Where it cannot be stored it is computed again."""
    path = real(path)
    with contextlib.suppress(OSError):
        _store(home() / "hashes.json", str(path), [*_stamp(path), file_hash])


def _stamp(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def _hashes() -> dict[str, list[int | str]]:
    return {
        path: entry
        for path, entry in _stored(home() / "hashes.json").items()
        if isinstance(entry, list) and entry
    }


def _stored(store: Path) -> dict[str, Any]:
    """The object in a file of ours; {} where there is none."""
    import json

    try:
        stored = json.loads(store.read_bytes())
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}


def _store(store: Path, key: str, value: Any) -> None:
    """Sets a member of the object in a file of ours, which only the user can read; None removes it."""
    import json

    import filelock

    from longmark.writing import replacing_path

    store.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(store.with_suffix(".lock")):
        entries = {
            name: entry
            for name, entry in {**_stored(store), key: value}.items()
            if entry is not None
        }
        with (
            replacing_path(store, private=True) as fresh,
            open(fresh, "w", encoding="utf-8") as file,
        ):
            json.dump(entries, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
