"""Files as every reader opens them: regular files only, read whole only up to a size; what fails is a UserError."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from longmark.errors import UserError


@contextmanager
def opened(path: Path, called: str = "") -> Iterator[BinaryIO]:
    """A regular file, open for reading. called: how messages name it (else by its path).

    UserError where there is no such file, it is a folder, pipe or device, or the system cannot read it (also later,
    inside the block).
    """
    called = called or str(path)
    try:
        if not path.is_file():
            raise UserError(f"{called} {_no_file(path)}")
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise UserError(f"{called} cannot be read: {error.strerror or error}") from error


def _no_file(path: Path) -> str:
    if path.is_dir():
        return "is a folder; name a file"
    if path.exists():
        return "is a pipe or a device; save its content in a file first"
    path.stat()  # raises what the system says
    return "cannot be read"


def content(path: Path, most: int, called: str = "") -> bytes:
    """All bytes of a regular file. UserError as `opened`, and where there are more than `most`."""
    with opened(path, called) as file:
        raw = file.read(most + 1)
    if len(raw) > most:
        limit = f"{most >> 20:,} MiB" if most >> 20 else f"{most >> 10:,} KiB"
        raise UserError(f"{called or path} is larger than the {limit} that are read; make it smaller")
    return raw


def text(path: Path, most: int, called: str = "") -> str:
    """The UTF-8 text of a regular file, without a byte order mark. UserError as `content`, and where it is none."""
    raw = content(path, most, called)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"{called or path}:{line}: is not UTF-8 (byte 0x{raw[error.start]:02X}); save it as UTF-8"
        ) from None
