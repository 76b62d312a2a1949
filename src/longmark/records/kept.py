"""A file of examples that one command reads several times, for its checks and then for the run, and opens once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

LARGEST = (
    16 << 20
)  # bytes of a file whose records are kept: in memory they take several times as much


class KeptFile:
    """What the first reader of a file reads is kept, and the later ones get it from memory, as far as that reader came;
    so all of them see the file as it was. A larger file than `LARGEST` is read again by each."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._files: dict[str, _Kept] = {}

    def __str__(self) -> str:
        return str(self.path)

    def records(
        self, encoding: str, read: Callable[[], Iterator[tuple[int, Any]]]
    ) -> Iterator[tuple[int, Any]]:
        """(line, record), each time from the first. read: opens the file; encoding: that it is read by."""
        if not self.path.is_file() or self.path.stat().st_size > LARGEST:
            return read()
        if encoding not in self._files:
            self._files[encoding] = _Kept(read())
        return self._files[encoding].again()


class _Kept:
    """An iterator that can be gone through again."""

    def __init__(self, records: Iterator[tuple[int, Any]]) -> None:
        self._records = records
        self._seen: list[tuple[int, Any]] = []
        self._error: Exception | None = None

    def again(self) -> Iterator[tuple[int, Any]]:
        place = 0
        while place < len(self._seen) or self._go_on():
            line, record = self._seen[place]
            yield (
                line,
                dict(record) if isinstance(record, dict) else record,
            )  # readers may change their records
            place += 1

    def _go_on(self) -> bool:
        """Whether there is one more record. An error of the file comes again at the same place."""
        if self._error is not None:
            raise self._error
        try:
            self._seen.append(next(self._records))
        except StopIteration:
            return False
        except Exception as error:
            self._error = error
            raise
        return True
