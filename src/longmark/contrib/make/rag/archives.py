"""Files of an archive, with a limit on what they unpack to."""

from __future__ import annotations

import zipfile
import zlib
from lzma import LZMAError

from longmark.contrib.make.rag.markup import MOST_TAGS

# What Python's reader of zip files raises for one that is broken, encrypted or of a method that it does not know.
BROKEN = (KeyError, RuntimeError, NotImplementedError, EOFError, zlib.error, LZMAError)


class Unpacked:
    """The files of an archive. most: bytes of all that are read, counted as they are unpacked: what the archive says of
    their sizes need not be true."""

    def __init__(self, archive: zipfile.ZipFile, limit: int) -> None:
        self._archive = archive
        self._most = limit
        self._bytes = self._tags = 0

    def read(self, name: str) -> bytes:
        with self._archive.open(name) as file:
            content = file.read(self._most - self._bytes + 1)
        self._bytes += len(content)
        self._tags += content.count(b"<")
        if self._bytes > self._most:
            raise ValueError(
                f"has more than {self._most >> 20:,} MiB when unpacked, the most that is read; split it"
            )
        if self._tags > MOST_TAGS:
            raise ValueError(
                f"has {self._tags:,} tags, more than the {MOST_TAGS:,} that are read; split it"
            )
        return content
