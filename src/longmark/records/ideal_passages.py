"""Whether a file has DeepEval's `retrieval_context`, beside which `context` is the ideal context and no retrieval.

A record without a retrieval may stand before the first one that has it, so that the whole file is looked through, once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from longmark.records import sources

_NAME = re.compile(r"retrieval[ _-]?context", re.IGNORECASE)
_READ = 1 << 20  # bytes at a time
_LONGEST_NAME = len("retrieval_context")
_RECORDS_OF_OWN_KEYS = ("jsonl", "json")
"""Formats in which records may have different columns."""


def retrieval_is_in(examples: Any, kind: str, encoding: str) -> bool:
    """Whether a record of a file, or of a list of records, has a column `retrieval_context`. kind: the file's format. A
    generator is not looked through."""
    if isinstance(examples, Path):
        if kind not in _RECORDS_OF_OWN_KEYS or not (encoding or _is_spelled_in(examples)):
            return False
        return _is_column(record for _, record in sources.records(examples, kind, encoding))
    is_again_readable = isinstance(examples, Iterable) and not isinstance(examples, Iterator)
    return is_again_readable and not sources.is_frame(examples) and _is_column(examples)


def _is_column(records: Iterable[Any]) -> bool:
    return any(
        isinstance(column, str) and _NAME.fullmatch(column.strip())
        for record in records
        if isinstance(record, dict)
        for column in record
    )


def _is_spelled_in(path: Path) -> bool:
    """Whether the name is anywhere in a file, a text of UTF-8."""
    before = b""
    with path.open("rb") as file:
        for block in iter(partial(file.read, _READ), b""):
            text = (before + block).decode("latin-1")
            if _NAME.search(text):
                return True
            before = block[-_LONGEST_NAME:]
    return False
