"""A file that a parameter of a metric names, signed with its content: `FILE#HASH`.

A file that has changed since is refused, so a run is never continued with another content under the same signature.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from longmark.errors import UserError
from longmark.records import files

BUILT_IN = "built-in"
_HASHED = re.compile(r"(.*)#([0-9a-f]{16})", re.DOTALL)
_LARGEST = 256 << 20  # bytes of a file


def signed(parameter: str, built_in: Path | None = None) -> str:
    """The value of a parameter with the hash of the file's content. built_in: the file that "" and `built-in` name,
    None: there is none. UserError for a file that cannot be read, or that is not the one of the hash given."""
    hashed = _HASHED.fullmatch(parameter)
    name = (hashed[1] if hashed else parameter) or BUILT_IN
    path = _path(name, built_in)
    digest = hashlib.sha256(files.content(path, _LARGEST, str(path))).hexdigest()[:16]
    if hashed and hashed[2] != digest:
        raise UserError(
            f"{name} has changed: its content is {digest}, not {hashed[2]}; start a new run with this file"
        )
    return f"{name}#{digest}"


def path_of(value: str, built_in: Path | None = None) -> Path:
    """The file of a signed parameter."""
    return _path(value.rpartition("#")[0], built_in)


def _path(name: str, built_in: Path | None) -> Path:
    return built_in if name == BUILT_IN and built_in is not None else Path(name)
