"""The passages of an index: written one after the other, read by their number.

passages.jsonl, .offsets      the passages, one JSON object a line, and where each line begins
"""

from __future__ import annotations

import os
import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from longmark.contrib.make.rag.bm25 import damaged
from longmark.records.files import own_json
from longmark.writing import fresh

LINES = "passages.jsonl"
OFFSETS = "passages.offsets"


@dataclass(frozen=True, slots=True)
class Stored:
    """A passage. id: the document's, with #number behind if the document has several; document: its id;
    start, end: characters of the document."""

    id: str
    text: str
    document: str
    start: int
    end: int


class PassageWriter:
    """Writes passages into a folder, one after the other. A context manager: its end closes the files."""

    def __init__(self, folder: Path) -> None:
        self._lines = fresh(folder / LINES)
        self._offsets = fresh(folder / OFFSETS)
        self._at = 0
        self.count = 0

    def __enter__(self) -> PassageWriter:
        return self

    def add(self, passage: Stored) -> None:
        line = orjson.dumps(passage) + b"\n"
        self._lines.write(line)
        self._offsets.write(self._at.to_bytes(8, "little"))
        self._at += len(line)
        self.count += 1

    def __exit__(self, *_error: object) -> None:
        for file in (self._lines, self._offsets):
            file.flush()
            os.fsync(file.fileno())
            file.close()


class StoredPassages:
    """The passages of a folder by their number; texts are read where they are asked for."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LINES
        self._offsets = array("Q")
        self._offsets.frombytes((folder / OFFSETS).read_bytes())
        if sys.byteorder == "big":
            self._offsets.byteswap()
        self._file = os.open(self._path, os.O_RDONLY)
        self._size = os.fstat(self._file).st_size

    def __len__(self) -> int:
        return len(self._offsets)

    def __getitem__(self, number: int) -> Stored:
        if not 0 <= number < len(self):
            raise damaged()
        start = self._offsets[number]
        end = self._offsets[number + 1] if number + 1 < len(self) else self._size
        if not start < end <= self._size:
            raise damaged()
        return _stored(os.pread(self._file, end - start, start))

    def texts(self) -> Iterator[str]:
        with self._path.open("rb") as file:
            for line in file:
                yield _stored(line).text

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _stored(line: bytes) -> Stored:
    try:
        passage = Stored(**own_json(line))
    except (ValueError, TypeError):
        raise damaged() from None
    if not all(isinstance(text, str) for text in (passage.id, passage.text, passage.document)):
        raise damaged()
    return passage
